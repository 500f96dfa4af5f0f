"""`workbench aggregate`: from labels to one answer a task."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import InputError
from workbench.base.text import cell, table
from workbench.cli.output import (
    as_csv,
    check_output,
    emit,
    json_option,
    seed_option,
    working,
    write_file,
)
from workbench.cli.streams import show

if TYPE_CHECKING:
    import pandas as pd

    from workbench.aggregation.votes import Aggregate
    from workbench.base.arrays import FloatArray, IntArray
    from workbench.crowd.votes import Votes

METHODS = ("majority", "weighted-linear", "weighted-log-odds", "dawid-skene", "one-coin")
WEIGHTED = ("weighted-linear", "weighted-log-odds")
LEARNT = ("dawid-skene", "one-coin")
CONFIDENCE = {
    "majority": "the share of the task's labels that agree",
    "weighted-log-odds": "the probability of the label, skills being as estimated and classes "
    "equally likely",
    "dawid-skene": "the posterior of the label",
    "one-coin": "the posterior of the label",
}
"""What the column `confidence` holds; the linear vote has none."""
SHOWN = 10
"""Tasks that are printed."""


@click.command(
    epilog="\b\nExamples:\n"
    "  workbench aggregate --labels labels.csv --method dawid-skene --out answers.csv\n"
    "  workbench aggregate --labels labels.csv --workers chosen.csv \\\n"
    "    --method weighted-linear --gold control.csv --truth truth.csv"
)
@click.option("--labels", required=True, metavar="CSV", help="Labels: columns task, worker, label.")
@click.option(
    "--workers",
    metavar="CSV",
    help="Only these workers' labels count: column worker and, if weights are to follow from it, "
    "skill, as workbench select writes them.",
)
@click.option(
    "--method", type=click.Choice(METHODS), default="majority", show_default=True, help="The rule."
)
@click.option(
    "--gold",
    metavar="CSV",
    help="Control tasks, columns task, gold: skills for the weighted methods (before those of "
    "--workers). They are labelled like all others, and no accuracy is measured on them.",
)
@click.option(
    "--truth", metavar="CSV", help="True labels, columns task, gold: accuracy is measured."
)
@click.option(
    "--truncate",
    type=float,
    help="weighted-log-odds: skills are moved into [X, 1 − X].  [default: 0.001]",
)
@click.option(
    "--classes",
    type=int,
    metavar="L",
    help="Weighted methods: number of classes, where some are unused. [default: those used]",
)
@click.option(
    "--class-prior",
    type=click.Choice(["estimated", "uniform"]),
    help="dawid-skene, one-coin: of the classes.  [default: estimated]",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    help="dawid-skene, one-coin: steps at most.  [default: 100]",
)
@click.option(
    "--duplicates",
    type=click.Choice(["error", "first", "last"]),
    default="error",
    show_default=True,
    help="Which label counts when a worker labels a task twice.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The answers, a .csv with columns task, label, score, confidence, tied, unlabelled.",
)
@seed_option
@json_option
def command(out: Path | None, as_json: bool, **options: Any) -> int:
    """Give every task one label, by a vote or by expectation-maximisation.

    Classes that tie are drawn among fairly, and counted. A task that the workers did not label
    gets no label.
    """
    check_output(out, (".csv",))
    _check_options(options)

    from workbench.cli.select import read_labels
    from workbench.crowd import tables

    labels = read_labels(options)
    gold, truth = (
        None if options[name] is None else tables.read_gold(options[name], labels)
        for name in ("gold", "truth")
    )
    hired = None if options["workers"] is None else tables.read_workers(options["workers"])
    votes = _votes(labels, hired, gold, truth)
    notes = [] if hired is None else _idle(hired, votes)
    L = _class_count(options["classes"], votes)
    weights = None
    if options["method"] in WEIGHTED:
        weights = _weights(_skills(labels, gold, hired, votes), L, options, votes, notes)
    with working(f"labelling {len(votes.tasks)} tasks", after=5.0):
        found = _aggregate(votes, weights, options)
    answers = _answers(found, votes, weights, L, options["method"])
    accuracy = None if truth is None else _accuracy(found, votes, weights, truth, gold)
    notes += _notes(found, options, gold, truth, hired)
    payload = {
        "method": options["method"],
        "variant": found.info.get("variant"),
        "tasks": len(votes.tasks),
        "workers": len(votes.workers),
        "votes": len(votes),
        "classes": votes.classes,
        "ties": int(found.tied.sum()),
        "unlabelled": int(found.unlabelled.sum()),
        "accuracy": None if accuracy is None else accuracy[0],
        "accuracy_tasks": None if accuracy is None else accuracy[1],
        "iterations": found.info.get("iterations"),
        "converged": found.info.get("converged"),
        "class_prior": found.info.get("class_prior"),
        "weights": _by_worker(votes, weights),
        "skills": _by_worker(votes, found.info.get("skill")),
        "answers": answers.to_dict("records"),
        "notes": notes,
        "seed": options["seed"],
    }
    if out is not None:
        write_file(out, as_csv(answers, out))
    if as_json:
        emit(payload)
    else:
        show(_page(payload, Path(options["labels"]).name, out))
    return 0


def _check_options(options: dict[str, Any]) -> None:
    """Refuse options that the method would not look at: they are a misunderstanding."""
    method = options["method"]
    meant = {
        "truncate": ("weighted-log-odds",),
        "classes": WEIGHTED,
        "class_prior": LEARNT,
        "iterations": LEARNT,
    }
    for name, methods in meant.items():
        if options[name] is not None and method not in methods:
            raise InputError(
                f"--{name.replace('_', '-')} is for {' and '.join(methods)}, not {method}: "
                "leave it out"
            )
    if method in WEIGHTED and options["gold"] is None and options["workers"] is None:
        raise InputError(f"{method} needs skills: give --gold, or --workers with a column skill")


def _votes(
    labels: pd.DataFrame,
    hired: pd.DataFrame | None,
    gold: pd.Series[Any] | None,
    truth: pd.Series[Any] | None,
) -> Votes:
    """The labels that count; tasks and classes are those of all labels."""
    from workbench.crowd.votes import Votes

    workers = labels["worker"].drop_duplicates()
    if hired is not None:
        workers = workers[workers.isin(hired.index)]
        if workers.empty:
            raise InputError(
                f"none of the chosen workers ({_few(list(hired.index))}) gave a label: mend the ids"
            )
    known = [labels["label"], *(series for series in (gold, truth) if series is not None)]
    return Votes.of(
        labels,
        tasks=labels["task"].unique(),
        workers=workers.to_numpy(),
        classes=sorted({name for series in known for name in series}),
    )


def _idle(hired: pd.DataFrame, votes: Votes) -> list[str]:
    idle = [worker for worker in hired.index if worker not in set(votes.workers)]
    return [f"chosen workers who gave no label, {len(idle)}: {_few(idle)}"] if idle else []


def _few(names: list[str]) -> str:
    more = f", … ({len(names)} in all)" if len(names) > 8 else ""
    return ", ".join(map(cell, names[:8])) + more


def _class_count(classes: int | None, votes: Votes) -> int:
    named = len(votes.classes)
    if classes is not None and classes < named:
        raise InputError(
            f"--classes is {classes}, and {named} are used ({_few(list(votes.classes))}): give "
            f"{named} or more, or mend the labels"
        )
    return named if classes is None else classes


def _skills(
    labels: pd.DataFrame, gold: pd.Series[Any] | None, hired: pd.DataFrame | None, votes: Votes
) -> FloatArray:
    """ŵ of each worker, shape (m,): from the control tasks, else as given; NaN where unknown."""
    import numpy as np
    import pandas as pd

    if gold is not None:
        from workbench.crowd.skills import skills_from_gold

        tested = skills_from_gold(labels, gold)
        share = np.where(tested.estimates.answered[0] > 0, tested.estimates.skill[0], np.nan)
        known: pd.Series[float] = pd.Series(share, index=tested.workers)
    elif hired is not None and "skill" in hired:
        known = hired["skill"]
    else:
        raise InputError("--workers: no column 'skill' to weight by; add it, or give --gold")
    return np.asarray(known.reindex(votes.workers), dtype=np.float64)


def _weights(
    skill: FloatArray, L: int, options: dict[str, Any], votes: Votes, notes: list[str]
) -> FloatArray:
    """Weight of each worker, shape (m,); 0 for who answered no control task."""
    import numpy as np

    from workbench.aggregation.votes import linear_weights, log_odds_weights

    known = ~np.isnan(skill)
    weight = np.zeros(len(skill))
    if options["method"] == "weighted-linear":
        weight[known] = linear_weights(skill[known], L)
    else:
        cut = 1e-3 if options["truncate"] is None else options["truncate"]
        weight[known] = log_odds_weights(skill[known], L, truncate=cut)
        moved = int(((skill[known] < cut) | (skill[known] > 1 - cut)).sum())
        notes.append(f"skills moved into [{cut:g}, {1 - cut:g}] before the log-odds: {moved}")
    if not known.all():
        strangers = votes.workers[~known].tolist()
        notes.append(
            f"workers without a control answer, who do not count, {len(strangers)}: "
            f"{_few(strangers)}"
        )
    return weight


def _aggregate(votes: Votes, weights: FloatArray | None, options: dict[str, Any]) -> Aggregate:
    from workbench.aggregation.dawid_skene import dawid_skene
    from workbench.aggregation.votes import majority, weighted_majority

    seed = options["seed"]
    if weights is not None:
        return weighted_majority(votes, weights, per="worker", seed=seed)
    if options["method"] == "majority":
        return majority(votes, seed=seed)
    return dawid_skene(
        votes,
        confusion="full" if options["method"] == "dawid-skene" else "one-coin",
        class_prior=options["class_prior"] or "estimated",
        iterations=options["iterations"] or 100,
        seed=seed,
    )


def _answers(
    found: Aggregate, votes: Votes, weights: FloatArray | None, L: int, method: str
) -> pd.DataFrame:
    """`task, label, score, confidence, tied, unlabelled`; no label where there is none to go by."""
    import numpy as np

    from workbench.aggregation.votes import tally

    answers = found.table(votes)
    row = np.arange(len(votes.tasks))
    if "posterior" in found.info:
        confidence = found.info["posterior"][row, found.label]
    elif method == "weighted-linear":
        confidence = np.full(len(row), np.nan)
    else:
        # Votes for each class; of log-odds also the exponents of its likelihood, one-coin.
        weight = np.ones(len(votes)) if weights is None else weights[votes.worker]
        counted = tally(votes, weight)
        lead = counted.of(found.label)
        if weights is None:
            confidence = lead / np.maximum(np.bincount(votes.task, minlength=len(row)), 1)
        else:
            top = np.maximum(counted.best, 0.0)
            seen = np.exp(counted.total - top[counted.task])
            unseen = L - np.bincount(counted.task, minlength=len(row))
            likely = np.bincount(counted.task, seen, minlength=len(row)) + unseen * np.exp(-top)
            confidence = np.exp(lead - top) / likely
    answers.insert(3, "confidence", np.where(found.unlabelled, np.nan, confidence))
    answers["label"] = answers["label"].astype(object).where(~answers["unlabelled"], None)
    return answers


def _accuracy(
    found: Aggregate,
    votes: Votes,
    weights: FloatArray | None,
    truth: pd.Series[Any],
    gold: pd.Series[Any] | None,
) -> tuple[float, int]:
    """Share of tasks labelled right under fair draws, and how many tasks; control tasks apart."""
    import numpy as np
    import pandas as pd

    from workbench.aggregation.votes import TIE, expected_accuracy

    judged = truth if gold is None else truth[~truth.index.isin(gold.index)]
    true: IntArray = np.full(len(votes.tasks), -1, dtype=np.int64)
    at = pd.Index(votes.tasks).get_indexer(judged.index)
    true[at] = pd.Index(votes.classes).get_indexer(pd.Index(judged))
    if "posterior" not in found.info:
        return expected_accuracy(votes, weights, true), len(judged)
    posterior = found.info["posterior"]
    best = (posterior >= posterior.max(axis=1, keepdims=True) - TIE) | found.unlabelled[:, None]
    right = best[at, true[at]] / best[at].sum(axis=1)
    return (float(right.mean()) if len(judged) else float("nan")), len(judged)


def _by_worker(votes: Votes, value: FloatArray | None) -> dict[str, float] | None:
    if value is None:
        return None
    return dict(zip(votes.workers.tolist(), value.tolist(), strict=True))


def _notes(
    found: Aggregate,
    options: dict[str, Any],
    gold: pd.Series[Any] | None,
    truth: pd.Series[Any] | None,
    hired: pd.DataFrame | None,
) -> list[str]:
    method = options["method"]
    notes = []
    if found.tied.any():
        notes.append(f"ties, drawn fairly with seed {options['seed']}: {int(found.tied.sum())}")
    if found.info.get("converged") is False:
        notes.append("the iterations ended before the likelihood settled: give more --iterations")
    if gold is not None and method in WEIGHTED:
        notes.append(
            f"skills are shares of right answers to the {len(gold)} control tasks, which are "
            "labelled by the same vote and never used for its accuracy"
        )
    elif gold is not None:
        notes.append(
            f"{method} uses no control tasks: the {len(gold)} are only left out of the accuracy"
        )
    if truth is not None:
        notes.append(
            "the accuracy counts its share of a tie, and 1/L where the workers gave no label"
        )
        if method in WEIGHTED and gold is None and hired is not None:
            notes.append(
                "the skills were given: where they rest on tasks of the truth the accuracy is too "
                "high; give these tasks as --gold to leave them out"
            )
    return notes


def _page(payload: dict[str, Any], name: str, out: Path | None) -> str:
    """Give it as a person reads it."""
    named = ", ".join(cell(str(name)) for name in payload["classes"][:8])
    more = ", …" if len(payload["classes"]) > 8 else ""
    lines = [
        f"{name}: {payload['tasks']} tasks, {payload['votes']} labels by {payload['workers']} "
        f"workers, classes {named}{more}; {payload['method']}, seed {payload['seed']}",
        "",
        _table(payload["answers"]),
    ]
    hidden = payload["tasks"] - len(_shown(payload["answers"]))
    if hidden:
        lines.append(f"… and {hidden} more (--out writes them, --json lists them)")
    lines.append("")
    if payload["variant"]:
        steps = "" if payload["converged"] else ", not converged"
        lines.append(f"{'variant':<11} {payload['variant']}")
        lines.append(f"{'iterations':<11} {payload['iterations']}{steps}")
    lines += [f"{'ties':<11} {payload['ties']}", f"{'unlabelled':<11} {payload['unlabelled']}"]
    if payload["accuracy_tasks"]:
        lines.append(
            f"{'accuracy':<11} {payload['accuracy']:.4f} on {payload['accuracy_tasks']} tasks"
        )
    elif payload["accuracy_tasks"] == 0:
        lines.append(f"{'accuracy':<11} none: every task of the truth is a control task")
    if out is not None:
        lines.append(f"{'written':<11} {out}")
    notes = [_columns(payload["method"]), *payload["notes"]]
    return "\n".join([*lines, "", *(f"- {note}" for note in notes)])


def _columns(method: str) -> str:
    lead = "posterior" if method in LEARNT else "sum of votes" if method == "majority" else "sum"
    said = f"score: how far the label's {lead} is ahead of the next class"
    return f"{said}; confidence: {CONFIDENCE[method]}" if method in CONFIDENCE else said


def _shown(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return answers if len(answers) <= SHOWN + 2 else answers[:SHOWN]


def _table(answers: list[dict[str, Any]]) -> str:
    rows = [
        (
            str(row["task"]),
            "–" if row["label"] is None else str(row["label"]),
            f"{row['score']:.4g}",
            "–" if math.isnan(row["confidence"]) else f"{row['confidence']:.4f}",
            "yes" if row["tied"] else "",
        )
        for row in _shown(answers)
    ]
    return table(("task", "label", "score", "confidence", "tied"), rows)
