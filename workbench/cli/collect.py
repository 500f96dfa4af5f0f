"""`workbench collect`: whom to ask next, and when to stop, in rehearsal or live."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import pandas as pd

from workbench.base.errors import InputError
from workbench.cli import options
from workbench.cli.output import as_csv, deliver, emit, show_written, working, write_files
from workbench.cli.streams import say, show, show_prose

POLICY = options.choice("--policy", options.RegistryChoice("workbench.collection:POLICIES"))
EPSILON = options.number("--epsilon")
TOTAL = options.number("--total")
MEAN = options.flag("--mean")
COSTS = options.csv("--costs")
GROUPS = options.csv("--groups")
CONFIDENCES = options.csv("--confidences")
HAVE = options.csv("--have")
LEAST = options.whole("--least", default=0)
MOST = options.whole("--most", least=1)
CAPACITY = options.text("--capacity", "N|CSV")


@options.command(
    "workbench collect --crowd spammer-hammer --epsilon 0.05 --json",
    "workbench collect --labels labels.csv --gold gold.csv --total 500",
    "workbench collect start labels.sqlite --tasks tasks.csv --workers 20 \\\n"
    "    --classes yes,no --epsilon 0.05",
    plugins=True,
    details=True,
    parts=True,
    of=(
        "collecting:collect",
        "collecting:KnownTasks",
        "collection.setup:People",
        "collection.setup:ClosingRules",
        options.SIMULATE,
    ),
)
@options.labels()
@options.csv("--gold")
@options.number("--control", default=0.0)
@options.number("--hidden", default=0.0)
@options.whole("--hidden-tasks", default=0)
@options.simulated_crowd
@options.whole("--gold-tasks", default=0)
@CAPACITY
@EPSILON
@TOTAL
@options.loss
@MEAN
@HAVE
@LEAST
@MOST
@POLICY
@COSTS
@GROUPS
@CONFIDENCES
@options.number("--audit")
@options.number("--risk", default=0.05)
@options.flag("--arrivals")
@options.text("--prior", "SKILL:SHARE,…")
@options.path("--out", "One row a task: task, label, confidence, closed; a .csv.", ".csv")
@options.path("--plot", "Picture of cost and error, a .png.", ".png")
@click.pass_context
def command(
    context: click.Context,
    /,
    out: Path | None,
    plot: Path | None,
    as_json: bool,
    **arguments: Any,
) -> int | None:
    """Ask until the error asked for is reached, or the money is spent.

    As a rehearsal, on a simulated crowd or on labels on record; or live: `start` a collection in a
    file, ask it for the `next` labels, and `tell` it those that came; several people may do so at
    the same time.
    """
    if context.invoked_subcommand is not None:
        return None
    import workbench as wb
    from workbench.api.keywords import gather

    if arguments["capacity"] is not None:
        arguments["capacity"] = options.number_or_file("--capacity", arguments["capacity"])
    recorded = None if arguments["labels"] is None else "--labels"
    crowd = options.crowd_of(arguments, recorded, ask=True)
    arguments["labels"] = crowd or arguments["labels"]
    gather(arguments, known=wb.KnownTasks, people=wb.People, closing=wb.ClosingRules)
    with working("collecting", after=5.0) as progress:
        result = wb.collect(**arguments, progress=progress)
    deliver(result, as_json, out=out, plot=plot)
    return 0


LABEL_STUDIO = click.option(
    "--label-studio",
    metavar="URL",
    help="Keep a project of this Label Studio in step; its token: variable LABEL_STUDIO_API_KEY.",
)
PROJECT = options.whole("--project", "Number of the project. [default: a new one]", least=1)
STORE = click.argument("store", type=click.Path(path_type=Path))


@options.command(
    "workbench collect start labels.sqlite --tasks tasks.csv --workers 9 --gold gold.csv "
    "--epsilon 0.05",
    group=command,  # type: ignore[arg-type]
    plugins=True,
    of=(
        "collecting:FromFiles",
        "collecting:collect",
        "collection.setup:People",
        "collection.setup:ClosingRules",
    ),
)
@STORE
@options.csv("--tasks", required=True)
@options.text("--workers", "N|CSV", required=True)
@options.csv("--skills")
@options.csv("--gold")
@options.csv("--hidden")
@options.text("--classes", "A,B,…")
@options.scale
@options.stakes
@CAPACITY
@EPSILON
@TOTAL
@MEAN
@HAVE
@LEAST
@MOST
@POLICY
@COSTS
@GROUPS
@CONFIDENCES
def start(store: Path, as_json: bool, **arguments: Any) -> int:
    """Begin a collection, kept in the journal STORE."""
    import workbench as wb
    from workbench.api.collecting import FromFiles
    from workbench.api.keywords import gather

    for name in ("capacity", "workers"):
        if arguments[name] is not None:
            arguments[name] = options.number_or_file(f"--{name}", arguments[name])
    gather(arguments, people=wb.People, closing=wb.ClosingRules)
    return _status(FromFiles(**arguments, path=store), as_json)


@options.command(
    "workbench collect next labels.sqlite --worker ann --most 10",
    group=command,  # type: ignore[arg-type]
    draws=False,
    name="next",
    plugins=True,
)
@STORE
@click.option("--worker", metavar="NAME", help="Who asks. [default: anybody]")
@options.whole("--most", "Most questions to give.", least=1)
@click.option(
    "--task", metavar="NAME", help="The task to ask about next, where the policy allows a choice."
)
@options.path("--out", "The questions, a .csv: task, worker, gold.", ".csv")
def next_(
    store: Path,
    worker: str | None,
    most: int | None,
    task: str | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Ask for the next labels: whom, about what.

    A worker who has not answered yet is asked the same again. STORE is written before anything is
    printed, so that no question is lost, and none asked twice.
    """
    running = _open(store)
    who = None if worker is None else _names(running.workers).get(worker, worker)
    what = None if task is None else _names(running.tasks).get(task, task)
    questions = pd.DataFrame(running.next(who, most, task=what), columns=["task", "worker", "gold"])
    if out is not None:
        write_files({out: as_csv(questions, out)})
    status = running.status()
    if as_json:
        emit({**status, "asks": questions.to_dict("records")})
    else:
        show(questions.to_csv(index=False).rstrip("\n"))
        for note in status["notes"]:
            say(note)
    if questions.empty:
        say(_idle(running, worker))
    return 0


def _idle(running: Any, worker: str | None) -> str:
    """Say why there is no question, and what to do."""
    from workbench import standing

    found = standing(running)
    if found.state == "asking" and worker is not None:
        return f"there is nothing to ask {worker} now; others are asked still"
    open_questions = f" {found.waiting} questions are open: --worker NAME shows hers."
    return f"{found.why()}{open_questions * bool(found.waiting)} {found.next()}"


@options.command(
    "workbench collect tell labels.sqlite --labels came.csv --out answers.csv",
    group=command,  # type: ignore[arg-type]
    draws=False,
    plugins=True,
)
@STORE
@options.csv("--labels", "Labels that came: columns task, worker, label; or another STORE.")
@options.csv("--missing", "Labels that will not come, and are not paid: columns task, worker.")
@options.csv("--taken-back", "Labels that do not count any more: columns task, worker.")
@options.path("--out", "The answers so far, a .csv: task, label, confidence, closed.", ".csv")
def tell(
    store: Path,
    labels: str | None,
    missing: str | None,
    taken_back: str | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Take labels that came, all or none, and say how far the collection is.

    Labels that are given twice count once.
    """
    from workbench.api.inputs import of_store
    from workbench.crowd import tables

    running = _open(store)
    workers, classes = _names(running.workers), _names(running.classes)
    tasks = _names([*running.tasks, *running.gold])
    if taken_back is not None:
        pairs = tables.read_pairs(taken_back)
        for worker, own in pairs.groupby("worker", sort=False):
            running.take_back(
                workers.get(str(worker), worker), [tasks.get(task, task) for task in own["task"]]
            )
    rows = [] if labels is None else [tables.read_labels(of_store(labels))]
    if missing is not None:
        rows.append(tables.read_pairs(missing).assign(label=None))
    by_worker: dict[Any, dict[Any, Any]] = {}
    for table in rows:
        for task, worker, label in table[["task", "worker", "label"]].itertuples(index=False):
            own_labels = by_worker.setdefault(workers.get(worker, worker), {})
            name = tasks.get(task, task)
            if name in own_labels:
                raise InputError(
                    f"worker {worker!r} has task {task!r} twice, with a label and missing: keep one"
                )
            own_labels[name] = classes.get(label, label)
    running.tell_all(by_worker)
    if out is not None:
        write_files({out: as_csv(running.answers(), out)})
    return _status(running, as_json, *([] if out is None else [out]))


@options.command(
    "workbench collect status labels.sqlite",
    group=command,  # type: ignore[arg-type]
    draws=False,
    name="status",
    plugins=True,
)
@STORE
def status_(store: Path, as_json: bool) -> int:
    """Say how far a collection is."""
    return _status(_open(store), as_json)


@options.command(
    "workbench collect change labels.sqlite --epsilon 0.1",
    "workbench collect change labels.sqlite --total 500 --newcomers 2",
    group=command,  # type: ignore[arg-type]
    draws=False,
    plugins=True,
)
@STORE
@options.number("--epsilon", "The error that is asked for from now on.")
@options.number("--total", "What all labels may cost from now on.")
@options.whole(
    "--newcomers", "How many more workers may come, whose names are given when they do.", least=1
)
@options.choice(
    "--halt", ("paused", "closed", "no"), "Ask nothing new from now on, or, by `no`, ask again."
)
def change(
    store: Path,
    epsilon: float | None,
    total: float | None,
    newcomers: int | None,
    halt: str | None,
    as_json: bool,
) -> int:
    """Change what is asked, what it may cost, or who may come; and say where it stands then."""
    if epsilon is None and total is None and newcomers is None and halt is None:
        raise InputError(
            "there is nothing to change: give --epsilon, --total, --newcomers or --halt"
        )
    running = _open(store)
    if epsilon is not None or total is not None:
        running.change(epsilon=epsilon, total=total)
    if newcomers is not None:
        running.expect(newcomers)
    if halt is not None:
        running.halt("" if halt == "no" else halt)
    return _status(running, as_json)


@options.command(
    "workbench collect answers labels.sqlite --out answers.csv",
    "workbench collect answers labels.sqlite --at 2026-03-01T12:00",
    group=command,  # type: ignore[arg-type]
    draws=False,
    plugins=True,
)
@STORE
@click.option(
    "--at", metavar="TIME", help="As they were then, as 2026-03-01T12:00 (this machine's time)."
)
@options.path("--out", "One row a task: task, label, confidence, closed; a .csv.", ".csv")
def answers(store: Path, at: str | None, out: Path | None, as_json: bool) -> int:
    """Give the answers as they stand, or as they stood at some time."""
    table = _open(store).answers(None if at is None else _time(at))
    if out is not None:
        write_files({out: as_csv(table, out)})
    if as_json:
        emit({"answers": table.astype(object).where(table.notna(), None).to_dict("records")})
    elif out is None:
        show(table.to_csv(index=False).rstrip("\n"))
    else:
        show_written([out])
    return 0


@options.command(
    "workbench collect labels labels.sqlite --out labels.csv",
    group=command,  # type: ignore[arg-type]
    draws=False,
    name="labels",
    plugins=True,
)
@STORE
@options.path("--out", "One row a label: task, worker, label, time, gold, hidden; a .csv.", ".csv")
def labels_(store: Path, out: Path | None, as_json: bool) -> int:
    """Give all labels so far, gold tasks included, in the order in which they came.

    `gold` is the class of a task where it is known, and `hidden` whether the task stands among the
    others. Every command that takes --labels takes STORE itself too.
    """
    from workbench.api.inputs import written

    table = _open(store).labels()
    table["time"] = written(table["time"])
    if out is not None:
        write_files({out: as_csv(table, out)})
    if as_json:
        emit({"labels": table.astype(object).where(table.notna(), None).to_dict("records")})
    elif out is None:
        show(table.to_csv(index=False).rstrip("\n"))
    else:
        show_written([out])
    return 0


@options.command(
    "workbench collect audit labels.sqlite --price 10",
    "workbench collect audit labels.sqlite --out answers.csv",
    group=command,  # type: ignore[arg-type]
    draws=False,
    plugins=True,
    of=("collection_audit:audit_collection",),
)
@STORE
@options.number("--price")
@options.number("--error")
@options.number("--risk")
@options.flag("--now", "Begin the audit now, even where more labels seem worth asking for.")
@options.path("--out", "The answers, as the expert corrected them, a .csv.", ".csv")
def audit(
    store: Path,
    price: float | None,
    error: float | None,
    risk: float | None,
    now: bool,
    out: Path | None,
    as_json: bool,
) -> int:
    """Prove by an expert's checks how many answers are wrong, and say what to pay for next.

    Once workers are asked no more the answers are fixed, and an audit of them begins in a file
    beside STORE: use it with `workbench audit`. Where more labels seem cheaper than the checks to
    come, workers are asked again, and another audit follows. Run it again after labels, or checks.
    """
    from workbench import audit_collection

    loop = audit_collection(_open(store), price, error, risk, origin="command")
    step = loop.go_on(now)
    files = {} if out is None else {out: as_csv(loop.answers(), out)}
    write_files(files)
    if as_json:
        emit({**loop.to_dict(), "next": step})
        return 0
    show_prose("\n".join([loop.summary(), loop.next_step(step)]))
    show_written(files)
    return 0


@options.command(
    "workbench collect history labels.sqlite",
    group=command,  # type: ignore[arg-type]
    draws=False,
    plugins=True,
)
@STORE
@options.whole("--most", "Only the latest N events.", least=1)
def history(store: Path, most: int | None, as_json: bool) -> int:
    """Say what happened: one row an event, with its time, who, and where it came from."""
    table = _open(store).history(most)
    table = table.assign(time=[time.isoformat(timespec="seconds") for time in table["time"]])
    if as_json:
        emit({"events": table.to_dict("records")})
        return 0
    show(table.assign(undone=table["undone"].map({True: "undone", False: ""})).to_csv(index=False))
    return 0


@options.command(
    "workbench collect undo labels.sqlite 2",
    group=command,  # type: ignore[arg-type]
    draws=False,
    plugins=True,
)
@STORE
@click.argument("events", type=click.IntRange(1))
def undo(store: Path, events: int, as_json: bool) -> int:
    """Take back the last EVENTS events: they count no more, and stay in the history."""
    running = _open(store)
    running.undo(events)
    return _status(running, as_json)


@options.command(
    "workbench collect serve labels.sqlite --port 8000 --tasks shown.csv --instructions ask.md",
    "workbench collect serve labels.sqlite --workers ann,bob --new-links",
    "workbench collect serve labels.sqlite --label-studio http://127.0.0.1:8080 --project 7",
    group=command,  # type: ignore[arg-type]
    draws=False,
    plugins=True,
)
@STORE
@options.whole("--port", "Port to listen at.", 8000, most=65535)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen at: this machine alone by default.",
)
@click.option("--url", metavar="URL", help="How links begin, where another server stands in front.")
@click.option(
    "--proxy",
    metavar="ADDRESS",
    multiple=True,
    help="Address of that server, which is trusted to say whose requests it forwards. Repeatable.",
)
@click.option(
    "--workers", metavar="A,B,…", help="Who gets a link. [default: all workers that are named]"
)
@options.csv(
    "--tasks", "What workers see: task, text, image, …; it is kept, and corrected by running again."
)
@click.option(
    "--instructions",
    metavar="FILE.md",
    type=click.Path(path_type=Path),
    help="What is asked, in Markdown: # title, question, instructions and examples.",
)
@options.flag("--unsure", "Let workers say that they are unsure, beside skipping.")
@click.option("--images-from", metavar="HOST", multiple=True, help="Host of pictures. Repeatable.")
@options.csv("--audit", "Journal of an audit of the answers, for the owner's picture.")
@options.flag("--new-links", "Make all links anew; those made before stop working.")
@LABEL_STUDIO
@PROJECT
def serve(
    store: Path,
    port: int,
    host: str,
    url: str | None,
    proxy: tuple[str, ...],
    workers: str | None,
    tasks: str | None,
    instructions: Path | None,
    unsure: bool,
    images_from: tuple[str, ...],
    audit: str | None,
    new_links: bool,
    label_studio: str | None,
    project: int | None,
    as_json: bool,
) -> int:
    """Let people label in browsers, and programs by HTTP: print secret links, and serve.

    Who has a link acts for the one it was made for. Only hashes of links are kept: they are printed
    once, and stay valid when the server is started again.
    """
    from workbench.serve.run import Announcement, Serving, is_loopback
    from workbench.serve.run import serve as run

    def announce(news: Announcement) -> None:
        links = [
            {"role": role, "worker": worker, "url": link.address(news.base)}
            for link in news.links
            for role, worker in [link.holder]
        ]
        if as_json:
            emit(
                {
                    "url": news.base,
                    "links": links,
                    "earlier": news.earlier,
                    "project": news.project,
                }
            )
            return
        for link in links:
            show(f"{link['role'] if link['worker'] is None else link['worker']}: {link['url']}")
        if news.earlier:
            say(f"{news.earlier} links made before are valid; --new-links makes all anew")
        if news.corrected:
            say(f"{len(news.corrected)} tasks are shown otherwise than before; see the history")
        if news.project is not None:
            say(f"in step with {news.project}, where annotators choose among the tasks offered")
        if is_loopback(host) and url is None and label_studio is None:
            say(
                "links open on this machine alone; for people in the same network give "
                "--host 0.0.0.0, for others --url"
            )
        say(f"serving {store} at {news.base}; Ctrl-C ends it")

    if not is_loopback(host) and not (url or "").startswith("https://"):
        say("warning: others on the network can read what is sent; put a server with TLS before")
    names = None if workers is None else [name.strip() for name in workers.split(",") if name]
    run(
        Serving(
            store,
            host,
            port,
            None if url is None else url.rstrip("/"),
            names,
            None if tasks is None else Path(tasks),
            images_from,
            None if audit is None else Path(audit),
            new_links,
            _studio(label_studio),
            project,
            proxy,
            instructions,
            unsure,
        ),
        announce,
        say,
    )
    return 0


@options.command(
    "workbench collect pull labels.sqlite --label-studio http://127.0.0.1:8080 --project 7",
    group=command,  # type: ignore[arg-type]
    draws=False,
    plugins=True,
)
@STORE
@LABEL_STUDIO
@PROJECT
def pull(store: Path, label_studio: str | None, project: int | None, as_json: bool) -> int:
    """Take what annotators of Label Studio did since the last time, and set its queue, once.

    Tasks that the project has not are put into it. The token stands in the variable
    LABEL_STUDIO_API_KEY.
    """
    from workbench.serve.in_step import InStep

    studio = _studio(label_studio)
    if studio is None:
        raise InputError("give --label-studio URL, the address of Label Studio")
    step = InStep(store, studio, project, say)
    try:
        pulled = step.pull()
        queue = step.steer()
        address = step.address
    finally:
        step.close()
    if as_json:
        emit({**pulled._asdict(), "queue": queue, "project": address})
    else:
        show(
            f"{pulled.new} labels are new, {pulled.changed} changed, {pulled.taken_back} taken "
            f"back; {queue} annotations are wanted at {address}"
        )
    return 0


def _studio(url: str | None) -> Any:
    """Give the server of Label Studio, by the token in the environment."""
    from workbench.serve.label_studio import LabelStudio

    return None if url is None else LabelStudio(url, os.environ.get("LABEL_STUDIO_API_KEY", ""))


@options.command(
    "workbench collect backup labels.sqlite copy.sqlite",
    group=command,  # type: ignore[arg-type]
    draws=False,
)
@STORE
@click.argument("file", type=click.Path(path_type=Path))
def backup(store: Path, file: Path, as_json: bool) -> int:
    """Copy a collection to FILE while it goes on, its head and what is served with it too.

    The copy is checked from its first event to its last.
    """
    from workbench.base.journal import Journal
    from workbench.collection.events import JOURNAL
    from workbench.serve.beside import Beside, beside_path

    if beside_path(file).exists():
        raise InputError(f"{beside_path(file)}: there is one already; name another file")
    with Journal.open(store, JOURNAL) as journal:
        position = journal.backup(file)
    if beside_path(store).exists():
        beside = Beside.of(store)
        beside.backup(beside_path(file))
        beside.close()
    if as_json:
        emit({"events": position.number, "checksum": position.checksum})
    else:
        show(f"written: {file}, {position.number} events, the last {position.checksum[:16]}…")
    return 0


def _open(store: Path) -> Any:
    import workbench as wb

    return wb.Collector.open(store, origin="command")


def _names(names: Iterable[Any]) -> dict[str, Any]:
    """Names of a collection by their text: a program may have begun it with numbers."""
    return {str(name): name for name in names}


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"--at is {text!r:.60}: give a time, as 2026-03-01T12:00") from None
    return time.astimezone() if time.tzinfo is None else time


def _status(running: Any, as_json: bool, *written: Path) -> int:
    """Say where a collection stands, in sentences and with what to do next; or as JSON."""
    from workbench import standing

    found = standing(running)
    if as_json:
        emit(found.to_dict())
    else:
        show_prose(found.summary())
        show_written(written)
    return 0
