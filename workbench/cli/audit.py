"""`workbench audit`: prove by an expert's checks how many answers are wrong at most."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.checks import show as show_value
from workbench.base.errors import InputError
from workbench.cli import options
from workbench.cli.help import PartedGroup
from workbench.cli.output import as_csv, as_png, deliver, emit, show_written, working, write_files
from workbench.cli.streams import say, show, show_prose

if TYPE_CHECKING:
    from workbench.api.auditing import Auditor


@click.group(
    cls=PartedGroup,
    epilog="\b\nExample:\n"
    "  workbench audit start audit.sqlite --answers answers.csv --error 0.1\n"
    "  workbench audit next audit.sqlite --most 10 --out ask.csv\n"
    "  workbench audit tell audit.sqlite --labels expert.csv\n"
    "  workbench audit status audit.sqlite --certificate certificate.json\n"
    "  workbench verify certificate.json",
)
def command() -> None:
    """Prove that at most so many answers are wrong, whatever the crowd, by few checks.

    `start` fixes the answers, `next` draws tasks for an expert, `tell` takes her labels, `status`
    says what is proven. `plan` estimates how many checks an audit will take.
    """


STORE = click.argument("store", type=click.Path(path_type=Path))
ANSWERS = options.csv("--answers", required=True)
ERROR = options.number("--error", default=0.1)
RISK = options.number("--risk", default=0.05)


@options.command(
    "workbench audit start audit.sqlite --answers answers.csv --error 0.1 --risk 0.05",
    group=command,
    draws=None,
    of=("auditing:audit",),
)
@STORE
@ANSWERS
@ERROR
@RISK
@options.number("--share")
@options.loss
@options.whole("--seed")
def start(
    store: Path,
    answers: str,
    error: float,
    risk: float,
    share: float | None,
    loss: dict[str, float] | None,
    seed: int | None,
    as_json: bool,
) -> int:
    """Fix the answers and begin an audit, kept in the file STORE.

    Whoever keeps STORE secret keeps the draws secret. Hand the digest that is printed to somebody
    else now: with it the certificate shows that nothing was changed or begun again.
    """
    from workbench import audit

    auditor = audit(
        answers, error, risk, seed, share=share, loss=loss, path=store, origin="command"
    )
    return _status(auditor, as_json, f"digest of the beginning: {auditor.commitment}")


@options.command(
    "workbench audit next audit.sqlite --most 10 --out ask.csv",
    group=command,
    name="next",
    draws=False,
)
@STORE
@options.whole("--most", "Most tasks to give.", 1, least=1)
@options.path("--out", "The tasks, a .csv: task.", ".csv")
def next_(store: Path, most: int, out: Path | None, as_json: bool) -> int:
    """Give the tasks to check: those that wait for a label, then new draws.

    STORE has a draw before it is printed.
    """
    import pandas as pd

    auditor = _open(store)
    questions = pd.DataFrame({"task": auditor.next(most)})
    if out is not None:
        write_files({out: as_csv(questions, out)})
    if as_json:
        emit({"asks": questions.to_dict("records"), "certified": auditor.certified})
    else:
        show(questions.to_csv(index=False).rstrip("\n"))
    if questions.empty:
        say("there is nothing to check: `workbench audit status STORE` says what is proven")
    return 0


@options.command(
    "workbench audit tell audit.sqlite --labels expert.csv", group=command, draws=False
)
@STORE
@options.csv(
    "--labels",
    "The expert's labels of tasks that were drawn: columns task, label; or the STORE of a "
    "collection in which the expert gave them.",
)
@options.csv("--refused", "Drawn tasks that get no label, and count as wrong: column task.")
def tell(store: Path, labels: str | None, refused: str | None, as_json: bool) -> int:
    """Take the expert's labels, and say what they prove.

    Labels that are given twice count once.
    """
    from workbench.api.inputs import of_store
    from workbench.crowd.tables import read_gold, read_task_types

    if labels is None and refused is None:
        raise InputError("there is nothing to tell: give --labels, --refused or both")
    auditor = _open(store)
    words: dict[str, str | None] = {}
    if refused is not None:
        words |= dict.fromkeys(read_task_types(refused, default="").index)
    if labels is not None:
        given = of_store(labels)
        table = given if isinstance(given, (str, Path)) else given[["task", "label"]]
        for task, label in read_gold(table).items():
            if task in words:
                raise InputError(
                    f"task {show_value(task)} is in --labels and in --refused: leave it out of one"
                )
            words[str(task)] = label
    auditor.tell_all(words)
    return _status(auditor, as_json)


@options.command("workbench audit status audit.sqlite --json", group=command, draws=False)
@STORE
@options.path("--certificate", "What `workbench verify` recomputes, a .json.", ".json")
@options.path("--out", "The answers, as corrected so far, a .csv.", ".csv")
@options.path("--rest", "The tasks whose answers are not certified, a .csv: task.", ".csv")
@options.path("--plot", "Picture of the bound falling with the checks, a .png.", ".png")
def status(
    store: Path,
    certificate: Path | None,
    out: Path | None,
    rest: Path | None,
    plot: Path | None,
    as_json: bool,
) -> int:
    """Say what is proven so far."""
    import pandas as pd

    auditor = _open(store)
    files: dict[Path, str | bytes] = {}
    if certificate is not None:
        from workbench.auditing.certificate import canonical

        files[certificate] = canonical(auditor.certificate()) + "\n"
    if out is not None:
        files[out] = as_csv(auditor.to_frame(), out)
    if rest is not None:
        files[rest] = as_csv(pd.DataFrame({"task": auditor.rest()}), rest)
    if plot is not None:
        files[plot] = as_png(auditor)
    write_files(files)
    return _status(auditor, as_json, written=files)


@options.command(
    "workbench audit plan --answers answers.csv --error 0.1 --risk 0.05",
    group=command,
    of=("auditing:plan_audit", "auditing:audit"),
)
@ANSWERS
@ERROR
@RISK
@options.csv("--gold")
@options.whole("--runs", default=100, least=2)
def plan(
    answers: str,
    error: float,
    risk: float,
    gold: str | None,
    runs: int,
    seed: int,
    as_json: bool,
) -> int:
    """Estimate how many checks an audit will take, if confidences are right and if not."""
    from workbench.api.auditing import plan_audit

    with working("rehearsing", after=3.0):
        deliver(plan_audit(answers, error, risk, runs, seed, gold=gold), as_json)
    return 0


def _open(store: Path) -> Auditor:
    from workbench.api.auditing import Auditor

    return Auditor.open(store, origin="command")


def _status(auditor: Auditor, as_json: bool, *more: str, written: Iterable[Path] = ()) -> int:
    if as_json:
        emit(auditor.to_dict())
    else:
        show_prose("\n".join([auditor.summary(), *more]))
        show_written(written)
    return 0
