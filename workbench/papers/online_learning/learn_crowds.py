"""Section 6.2 on public data: LS_OL with vetting on recorded labels, one task after the other.

The paper's images are not to be had, nor is another crowd given their name. Binary crowds stand
under their own: bluebird, 39 workers who all labelled 108 tasks; dense blocks of five drawn from
it; and blocks of five from rte who share 60 tasks or more (there are 28 such, which overlap). They
are much shorter than the paper's 1000 images. The simulated stand-in has as many; it says what the
shortness costs, and lets the study run without data.

A trial draws a block and an order of its tasks, and replays LS_OL; settings compared meet the same
block, order and coins. Recorded labels are the same when asked for again, so testers are asked for
once (G2 = 0) and the majority of all labels stands for the truth. Section 6.2 gives no G1; here it
is 10, so that about half of bluebird's tasks are testers. Gold is used for scoring alone.

Errors of recorded labels are not independent, as the paper's model has them. So each block is run
once more with each worker's right and wrong answers shuffled over the tasks: what fails there too
is for lack of tasks or skill, what fails with recorded labels alone is for dependence.

The error of a binary task is 0 or 1, so that Figure 8's distribution is taken over trials. Trials
of one data set share its workers: their spread is over blocks and orders, not over crowds.

Source: Liu, Liu (2015), Section 6.2, Table 3, Figures 6, 7 and 8, and Section 3.5.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.best_set import best_set
from workbench.accuracy.majority import majority_accuracy
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed, stream
from workbench.crowd import datasets
from workbench.learning.ls_ol import LsOlOptions
from workbench.learning.recorded import Recorded, recorded, replay
from workbench.learning.schedule import practical
from workbench.papers.online_learning import learning_runs
from workbench.papers.recorded_crowds import at_usual
from workbench.studies.analysis import in_order
from workbench.studies.measures import DeclaredAnalysis, Drawn, Each, Grouped, Part
from workbench.studies.study import Block, Parameter, Params, Record, Size, Study, TrialEnded
from workbench.studies.summary import instance_columns, means, paired_differences
from workbench.studies.trials import Streams

DATA = ("simulated", "bluebird", "rte")
SHARED = 60
"""Tasks that the workers of a block must all have labelled."""
SIMULATED = (15, 1000)
"""Workers and tasks of the stand-in; skills uniform on [0.3, 1]."""
ERROR = 0.1
"""At which vetting drops a worker (Section 6.2)."""
VETTING = ("none", "printed", "supported")
SHARES = (5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
"""Percent of the tasks after which errors are read."""
CURVES = {"error": "LS_OL", "crowd_error": "full crowd", "best_error": "best set by gold"}
"""Errors over time, by the record's name."""
SETTINGS = ("coins", "tests", "vetting", "vote", "order", "horizon")
KEYS = ("crowd", *SETTINGS)
SHOWN = 40
"""Trials whose workers are drawn in the chart of disagreement."""

# The crowd.


@cache
def _loaded(name: str) -> Recorded:
    """Read a data set, once a process; of a pair that occurs twice the first label counts."""
    data = datasets.load(name)
    return recorded(data.labels, data.gold, duplicates="first")


@cache
def blocks(name: str, size: int, least: int = SHARED) -> tuple[tuple[int, ...], ...]:
    """List all blocks of so many workers who share `least` tasks with gold or more."""
    data = _loaded(name)
    given = (data.labels >= 0) & (data.truth >= 0)[:, None]
    able = np.flatnonzero(given.sum(axis=0) >= least).tolist()
    found: list[tuple[tuple[int, ...], BoolArray]] = [((), np.ones(len(given), dtype=bool))]
    for _ in range(size):
        found = [
            ((*block, worker), both)
            for block, shared in found
            for worker in able
            if worker > max(block, default=-1)
            and (both := shared & given[:, worker]).sum() >= least
        ]
    return tuple(block for block, _ in found)


def draw(name: str, size: int | None, order: str, *, seed: Seed) -> Recorded:
    """Draw a block and an order of the tasks with gold that all of it labelled.

    Parameters
    ----------
    name
        One of `DATA`.
    size
        Workers of the block, None for all.
    order
        "file" or "random".
    seed
        Of the stand-in's labels, the block and the order.

    Raises
    ------
    TrialEnded
        `infeasible` where no such workers share `SHARED` tasks.
    """
    data = _simulated(seed) if name == "simulated" else _loaded(name)
    rng = stream(seed, "block")
    m = len(data.workers)
    dense = bool((data.labels >= 0).all())
    if size is None or (dense and size >= m):
        chosen = np.arange(m)
    elif dense:
        chosen = np.sort(rng.choice(m, size, replace=False))
    else:
        there = blocks(name, size)
        if not there:
            raise TrialEnded("infeasible", f"no {size} workers of {name} share {SHARED} tasks")
        chosen = np.array(there[int(rng.integers(len(there)))])
    tasks = np.flatnonzero((data.labels[:, chosen] >= 0).all(axis=1) & (data.truth >= 0))
    if len(tasks) < SHARED:
        raise TrialEnded("infeasible", f"all of {name} share {len(tasks)} tasks: take a block")
    if order == "random":
        tasks = stream(seed, "order").permutation(tasks)
    return replace(
        data,
        labels=data.labels[np.ix_(tasks, chosen)],
        truth=data.truth[tasks],
        tasks=data.tasks[tasks],
        workers=data.workers[chosen],
    )


def independent(data: Recorded, *, seed: Seed) -> Recorded:
    """Put labels in place of the recorded ones: as many right by each worker, drawn apart.

    Each worker's right and wrong answers are shuffled over the tasks, so that her accuracy is
    what it was, and nothing makes two err on the same tasks.
    """
    right = stream(seed, "coins").permuted(data.labels == data.truth[:, None], axis=0)
    return replace(data, labels=_labels(right, data.truth))


def _labels(right: BoolArray, truth: IntArray) -> IntArray:
    return np.where(right, truth[:, None], 1 - truth[:, None])


def _simulated(seed: Seed) -> Recorded:
    m, n = SIMULATED
    truth = stream(seed, "truth").integers(2, size=n)
    skill = stream(seed, "skills").uniform(0.3, 1.0, m)
    right = stream(seed, "labels").random((n, m)) < skill
    tasks, workers = (
        np.array([f"{kind}{i}" for i in range(count)], dtype=object)
        for kind, count in (("t", n), ("w", m))
    )
    return Recorded(_labels(right, truth), truth, tasks, workers, np.array(["0", "1"], object))


# A trial.


def trial(params: Params, streams: Streams) -> Record:
    """Replay one order of one block with one setting of LS_OL."""
    seed = streams.instance
    data = draw(params["data"], params["block"], params["order"], seed=seed)
    n = min(len(data.tasks), params["horizon"] or len(data.tasks))
    if params["coins"]:
        data = independent(data, seed=seed)
    run = replay(
        data,
        practical(params["tests"], 0.0),
        LsOlOptions(
            weighted=params["vote"] == "weighted",
            vetting=learning_runs.vetting_of(params["vetting"], ERROR),
        ),
        horizon=n,
        pool="all",
        seed=seed,
    )
    labels, truth = data.labels[:n], data.truth[:n]
    wrong = (labels != truth[:, None]).mean(axis=0)
    last, seen = run.learner.best, run.learner.disagreement
    gone = run.learner.removed
    worst = [not wrongly for wrongly in learning_runs.dropped_wrongly(gone, -wrong)]
    record: dict[str, Any] = {
        "tasks": n,
        "workers": len(data.workers),
        "mean_skill": float(1 - wrong.mean()),
        "model_error": 1 - majority_accuracy(1 - wrong),
        **errors(run.steps),
        "labels": run.labels_bought / labels.size,
        "explored": float((run.steps["kind"] != "exploit").mean()),
        "off": float(np.abs(run.learner.estimates - (1 - wrong))[run.learner.present].mean()),
        "size": len(last),
        "found": None,
        "set_loss": None,
        "removed_at": gone[0].step if gone else None,
        "removed_worst": worst[0] if gone else None,
        "removals": len(gone),
        "removals_worst": sum(worst),
        **disagreement(labels, wrong),
        "rank_seen": rank_correlation((seen["differed"] / seen["rounds"]).to_numpy(float), wrong),
    }
    if params["vote"] == "majority":
        # The last set in force beside the best by gold: equal or not, and what it loses.
        best = best_set(1 - wrong).workers
        record["found"] = set(last.tolist()) == set(best.tolist())
        record["set_loss"] = _accuracy(labels[:, best], truth) - _accuracy(labels[:, last], truth)
    return record


def errors(steps: pd.DataFrame) -> dict[str, Any]:
    """Mean error so far at each of `SHARES`, and over the steps that exploit."""
    columns = {"error": "right", "crowd_error": "crowd_right", "best_error": "best_right"}
    exploit = (steps["kind"] == "exploit").to_numpy()
    record: dict[str, Any] = {}
    for name, column in columns.items():
        wrong = 1 - steps[column].to_numpy(float)
        for share in SHARES:
            record[f"{name}_{share}"] = float(wrong[: -(-len(wrong) * share // 100)].mean())
        record[f"exploit_{name}"] = float(wrong[exploit].mean()) if exploit.any() else None
    return record


def _accuracy(labels: IntArray, truth: IntArray) -> float:
    """Share that a majority labels right, ties in expectation."""
    ahead = np.sign((2 * labels - 1).sum(axis=1)) * (2 * truth - 1)
    return float((0.5 + 0.5 * ahead).mean())


def disagreement(labels: IntArray, wrong: FloatArray) -> dict[str, Any]:
    """How often each worker differs from the majority of all, over all tasks (Table 3, Figure 6).

    Parameters
    ----------
    labels
        Shape (n, M), 0 or 1; a tie of the majority counts for nobody.
    wrong
        Each worker's share of wrong labels by gold, shape (M,).

    Returns
    -------
    dict
        `told`: whether who differs most is the least accurate (a share where several differ as
        often); `rank`: Spearman's correlation of counts and `wrong`; `lead_from`: the share of
        the tasks after which she has differed most (or as often as another) to the end; and the
        shares `differed` and `wrong` of each worker as text.
    """
    sign = 2 * labels - 1
    crowd = np.sign(sign.sum(axis=1))[:, None]
    count = ((sign != crowd) & (crowd != 0)).cumsum(axis=0)
    top = np.flatnonzero(count[-1] == count[-1].max())
    led = (count[:, top] == count.max(axis=1, keepdims=True)).any(axis=1)
    behind = np.flatnonzero(~led)
    return {
        "told": float((wrong[top] >= wrong.max()).mean()),
        "rank": rank_correlation(count[-1].astype(float), wrong),
        "lead_from": float((behind[-1] + 1 if len(behind) else 0) / len(labels)),
        "differed": _text(count[-1] / len(labels)),
        "wrong": _text(wrong),
    }


def rank_correlation(first: FloatArray, second: FloatArray) -> float | None:
    """Spearman's correlation, ties at mean ranks; None where one of them does not vary."""
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    one, other = (pd.Series(values).rank().to_numpy(float) for values in (first, second))
    return float(np.corrcoef(one, other)[0, 1])


def _text(shares: FloatArray) -> str:
    return " ".join(f"{share:.4f}" for share in shares)


# The analysis.


def named(table: pd.DataFrame) -> pd.DataFrame:
    """Add the column `crowd`: "bluebird, all", "rte, blocks of 5"."""
    block = ["all" if pd.isna(size) else f"blocks of {int(size)}" for size in table["block"]]
    return table.assign(crowd=[f"{a}, {b}" for a, b in zip(table["data"], block, strict=True)])


def at_defaults(rows: pd.DataFrame) -> pd.DataFrame:
    """Trials at the default of each setting; the most frequent value if none."""
    return at_usual(rows, {name: STUDY.parameters[name].default for name in SETTINGS})


def over_time(rows: pd.DataFrame) -> pd.DataFrame:
    """Errors of `CURVES` at each of `SHARES`, at the defaults: a row a trial, curve and share."""
    rows = at_defaults(rows)
    ids = ["crowd", *instance_columns(rows)]
    found = [
        rows[ids].assign(share=share, curve=curve, error=rows[f"{name}_{share}"])
        for name, curve in CURVES.items()
        for share in SHARES
    ]
    return pd.concat(found, ignore_index=True)


def gaps(rows: pd.DataFrame) -> pd.DataFrame:
    """Errors less the full crowd's on the same orders."""
    return paired_differences(
        over_time(rows),
        by=["crowd", "share"],
        method="curve",
        reference="full crowd",
        value="error",
    ).drop(columns="lost")


def by_crowd(rows: pd.DataFrame) -> pd.DataFrame:
    """What is said of each crowd, at the defaults."""
    fields = ("tasks", "error_100", "crowd_error_100", "best_error_100", "labels", "told", "rank")
    found = Grouped(
        ("crowd",),
        {
            "trials": ("removals", "size"),
            "dropping": ("removed_at", "count"),
            "first": ("removed_at", "median"),
            "worst": ("removed_worst", "mean"),
            **dict.fromkeys(fields, "mean"),
        },
        orders={},
    )(at_defaults(rows))
    less = gaps(rows).query("share == 100 and curve == 'LS_OL'")[["crowd", "mean", "se"]]
    return found.merge(less, on="crowd")


def said_of(crowd: Mapping[Any, Any]) -> str:
    """What is said of a row of `by_crowd`."""
    dropped = (
        "someone in {dropping} of {trials} trials, first at task {first:.0f} (median), the least "
        "accurate in {worst:0 %}."
    )
    return (
        "{crowd} ({tasks:.0f} tasks): average error {error_100:.3f}, full crowd "
        "{crowd_error_100:.3f}, best set by gold {best_error_100:.3f}; LS_OL less full crowd "
        "{mean:±4}; {labels:0 %} of the full crowd's labels; who differs most is the least "
        "accurate in {told:0 %}, rank correlation {rank:.2f}; vetting dropped "
    ) + (dropped if crowd["dropping"] else "nobody in {trials} trials.")


def by_setting(*names: str, **fields: str) -> Grouped:
    """Means by crowd and setting, each with its standard error; a name may stand for a field."""
    columns: dict[str, Any] = {"trials": ("error_100", "count")}
    for name, field in {**{name: name for name in names}, **fields}.items():
        columns |= {name: (field, "mean"), f"{name}_se": (field, "se")}
    return Grouped(KEYS, columns, orders={})


def shown(rows: pd.DataFrame) -> pd.DataFrame:
    """Shares of tasks of each worker of the first blocks: wrong, and unlike the majority."""
    first = at_defaults(rows).groupby("crowd", sort=False).head(SHOWN)
    first = in_order(first, {"crowd": first["crowd"].unique().tolist()})
    columns = ["differed", "wrong"]
    split = first[[*columns, "crowd"]].assign(**{name: first[name].str.split() for name in columns})
    found = split.explode(columns).astype(dict.fromkeys(columns, float))
    return found.drop_duplicates(ignore_index=True)


def distribution(rows: pd.DataFrame) -> pd.DataFrame:
    """Corners of the steps, from the least error to the largest of the crowd."""
    parts, curves = [], over_time(rows)
    for crowd, every in curves[curves["share"] == 100].groupby("crowd", sort=False):
        for curve, own in every.groupby("curve", sort=False):
            errors = np.sort(own["error"].to_numpy())
            at = np.unique([every["error"].min(), every["error"].max(), *errors])
            reached = np.searchsorted(errors, at, side="right") / len(errors)
            parts.append(
                pd.DataFrame({"crowd": crowd, "curve": curve, "error": at, "reached": reached})
            )
    return pd.concat(parts, ignore_index=True)


def _paper() -> tuple[Block, ...]:
    here: list[Block] = []
    known: dict[str, Sequence[Any]] = {"bluebird": [None, 5], "rte": [5]}
    for data, block in known.items():
        own: dict[str, Sequence[Any]] = {"data": [data], "block": block}
        here += [
            {**own, "tests": [10.0, 3.0]},
            {**own, "coins": [True]},
            {**own, "vote": ["weighted"]},
            {**own, "order": ["file"]},
            {**own, "block": [5], "vetting": list(VETTING)},
        ]
    return (*here, {"data": ["simulated"], "block": [5]})


STUDY = Study(
    name="learn-crowds",
    title="Online worker selection on recorded crowds",
    source="Liu, Liu (2015), Section 6.2, Table 3, Figures 6, 7 and 8",
    parameters={
        "data": Parameter(
            str, "bluebird", "whose labels; the stand-in is named as such", choices=DATA
        ),
        "block": Parameter(
            int, 5, "workers drawn for a trial; none for all", least=2, optional=True
        ),
        "order": Parameter(str, "random", "order of the tasks", choices=("random", "file")),
        "coins": Parameter(
            bool,
            False,
            "each worker's right answers shuffled over the tasks, so that errors are independent",
            paired=True,
        ),
        "horizon": Parameter(int, None, "tasks; none for all", least=1, optional=True),
        "tests": Parameter(float, 10.0, "G1 of D1(t) = G1 ln t; D2 = 0", least=0, paired=True),
        "vetting": Parameter(
            str,
            "printed",
            "rule that drops workers at 0.1: (13) as printed, with the supported exponent, or none",
            choices=VETTING,
            paired=True,
        ),
        "vote": Parameter(
            str,
            "majority",
            "how exploiting steps vote",
            choices=("majority", "weighted"),
            paired=True,
        ),
    },
    sizes={
        "smoke": Size(
            (
                {
                    "data": ["simulated"],
                    "block": [None, 5],
                    "horizon": [120],
                    "vetting": list(VETTING),
                },
                {"data": ["simulated"], "horizon": [120], "vote": ["weighted"]},
                {"data": ["simulated"], "horizon": [120], "coins": [True]},
            ),
            3,
        ),
        "small": Size(
            ({"data": ["bluebird"], "block": [None, 5]}, {"data": ["rte"], "block": [5]}), 25
        ),
        "paper": Size(_paper(), 100),
    },
    trial=trial,
    analyse=DeclaredAnalysis(
        Part(
            "Settings of LS_OL: means over blocks and orders",
            by_setting(
                error="error_100",
                full_crowd="crowd_error_100",
                best_set="best_error_100",
                **{
                    name: name
                    for name in (
                        "less",
                        "exploit_less",
                        "labels",
                        "size",
                        "found",
                        "set_loss",
                        "off",
                        "mean_skill",
                        "model_error",
                    )
                },
            ),
            (Each(said_of, of=by_crowd),),
            (
                Drawn(
                    "average-error",
                    "Average error over time of LS_OL with vetting, of the full "
                    "crowd and of the best set by gold, which knows what it is judged by (compare "
                    "Figure 7); over blocks and orders, not over crowds",
                    "share",
                    "mean",
                    ("tasks so far (% of all)", "average error"),
                    {"series": "curve", "panel": "crowd"},
                    of=lambda rows: means(over_time(rows), ["crowd", "curve", "share"], "error"),
                ),
                Drawn(
                    "error-distribution",
                    "Distribution over blocks and orders of the error after "
                    "all tasks (compare Figure 8, which is over images)",
                    "error",
                    "reached",
                    ("average error", "share of trials with no more"),
                    {"series": "curve", "panel": "crowd", "kind": "step"},
                    of=distribution,
                ),
                Drawn(
                    "disagreement",
                    "Share of tasks on which a worker differs from the majority of "
                    "all, against her share of wrong labels by gold (compare Table 3)",
                    "wrong",
                    "differed",
                    (
                        "wrong by gold (share of tasks)",
                        "differs from the majority (share of tasks)",
                    ),
                    {"panel": "crowd", "kind": "points"},
                    of=shown,
                    note=f"A mark is a worker of one of the first {SHOWN} blocks.",
                ),
            ),
        ),
        Part("Average error over time, less the full crowd's", gaps),
        Part(
            "Disagreement and vetting",
            by_setting(
                "told",
                "rank",
                "rank_seen",
                "lead_from",
                "dropped",
                first_at="removed_at",
                first_worst="removed_worst",
            ),
        ),
        needs="error_100",
        derived={
            "crowd": lambda rows: named(rows)["crowd"],
            "removed_at": lambda rows: rows["removed_at"].astype(float),
            "less": lambda rows: rows["error_100"] - rows["crowd_error_100"],
            "exploit_less": lambda rows: (
                rows["exploit_error"] - rows["exploit_crowd_error"]
            ).astype(float),
            "dropped": lambda rows: (rows["removals"].where(rows["vetting"] != "none") > 0).astype(
                float
            ),
        },
    ),
    deadline=60.0,
)
