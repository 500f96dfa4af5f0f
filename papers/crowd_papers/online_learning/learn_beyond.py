"""A learner that uses every label bought, beside LS_OL's schedules, the majority and EM on all.

Simulated crowds: nine workers, three of them good (.95 .93 .9 .55 .55 .52 .5 .5 .58); the same with
three workers who copy another's label, always or four times in five; and skills uniform on [½, 1].
Regret is against the best set by majority and exact by the true skills; where workers copy there
are labels that are right, counted, alone. Recorded crowds: tasks in an order drawn anew in each
trial; a label that a worker gave a task twice counts once, the first. Learners that are compared
meet the same tasks, labels and order.

Source: beyond Liu, Liu (2015), Sections 6.1 and 6.2.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_papers.online_learning.learning_runs import (
    curve_fields,
    draw_crowd,
    grid,
    over_time,
    with_means,
)
from crowd_papers.online_learning.recorded_blocks import loaded
from workbench.accuracy import best_set
from workbench.aggregation import majority, smoothed
from workbench.base import InputError, IntArray, Seed, stream
from workbench.crowd import DATASETS, dense_votes, random_pairs
from workbench.learning import (
    POLICIES,
    Draws,
    LsOlOptions,
    Recorded,
    Schedule,
    Terms,
    play,
    practical,
    replay,
    simulate,
)
from workbench.studies import (
    Analysis,
    Block,
    Chart,
    Parameter,
    Params,
    Record,
    Size,
    Streams,
    Study,
    TrialEnded,
    ended,
    ended_well,
    having,
    in_order,
    joined,
    mean_chart,
    means,
    measured,
    nonempty,
    plus_minus,
    records,
)

NINE = (0.95, 0.93, 0.9, 0.55, 0.55, 0.52, 0.5, 0.5, 0.58)
COPIES: dict[str, tuple[int, tuple[int, ...], float]] = {
    "copied .55": (3, (5, 6, 7), 1.0),
    "copied .58": (8, (5, 6, 7), 1.0),
    "copied .95": (0, (5, 6, 7), 1.0),
    "copied .55 noisily": (3, (5, 6, 7), 0.8),
}
"""Whose label is copied in the crowd of nine, by whom, and how often."""
SCHEDULES = {
    f"LS_OL {g1:g}/{g2:g}": (g1, g2) for g1, g2 in ((3, 5), (3, 1), (5, 0), (30, 0), (100, 0))
}
RECORDED = ("LS_OL 5/0", "LS_OL 30/0", "LS_OL 100/0")
"""Those that recorded labels are for: in a second round they are the same."""
ALL = ("majority of all", "EM on all")
"""Those who buy every label; EM is smoothed Dawid–Skene, of all tasks in the end."""
METHODS = ("em", *SCHEDULES, *ALL)
SIMULATED = ("nine", *COPIES, "uniform")


def shuffled(name: str, seed: np.random.SeedSequence) -> Recorded:
    """A recorded crowd, its tasks in an order drawn at random.

    Raises
    ------
    TrialEnded
        `infeasible` where the crowd is not at hand.
    """
    try:
        data = loaded(name)
    except InputError as error:
        raise TrialEnded("infeasible", str(error)) from None
    order = stream(seed, "order").permutation(len(data.tasks))
    return Recorded(
        data.labels[order], data.truth[order], data.tasks[order], data.workers, data.classes
    )


def trial(params: Params, streams: Streams) -> Record:
    """Let one method label the tasks of one crowd."""
    crowd, method = str(params["crowd"]), str(params["method"])
    when = practical(*SCHEDULES[method]) if method in SCHEDULES else None
    if crowd not in SIMULATED:
        return _on_record(shuffled(crowd, streams.instance), method, when, streams)
    T, seed = int(params["horizon"]), streams.instance
    skill = np.array(NINE)
    if crowd == "uniform":
        skill = draw_crowd("from-0.5", int(params["workers"]), seed)
    draws, tasks = Draws(skill, 1, seed=seed), grid(T)
    if crowd in COPIES or method in ALL:
        return _counted(draws, crowd, method, when, T, seed)
    best = best_set(skill).accuracy
    if when is not None:
        runs = simulate(draws, when, T, LsOlOptions(), checkpoints=tasks)
        regret, labels = runs.regret[0], runs.labels[0, -1]
    else:
        learner = POLICIES[method].call(Terms(len(skill), 2, T), draws.coins(0))
        played = play(learner, draws, 0, T, checkpoints=tasks, against="majority")
        regret, labels = played.regret, played.labels[-1]
    return {
        "accuracy": best - float(regret[-1]) / T,
        "best_accuracy": best,
        "labels_share": float(labels) / (T * len(skill)),
        "regret": float(regret[-1]),
        **curve_fields(tasks, regret=regret),
    }


def _counted(
    draws: Draws, crowd: str, method: str, when: Schedule | None, T: int, seed: Seed
) -> Record:
    """Count the right labels of a simulated stream, in which workers may copy."""
    tasks, M = draws.stream(0), draws.workers
    truth = np.array([tasks.truth(t) for t in range(T)])

    def labels_of(task: int, step: int) -> IntArray:
        labels = tasks.labels(task, step)
        if crowd in COPIES:
            source, who, often = COPIES[crowd]
            copied = [i for i in who if copying[step, i] < often]
            labels[copied] = labels[source]
        return labels

    copying = stream(seed, "copies").random((T, M))
    if method in ALL:
        labels = np.stack([labels_of(t, t) for t in range(T)])
        return {**_by_all(labels, truth, method, draws.coins(0)), "best_accuracy": None}
    policy = "em" if when is None else "ls-ol"
    learner = POLICIES[policy].call(Terms(M, 2, T, when), draws.coins(0))
    right = bought = 0
    for t in range(T):
        ask = learner.ask(t)
        labels = labels_of(int(ask.task), t)
        answer = learner.tell({int(i): int(labels[i]) for i in ask.workers})
        right += answer.label == truth[t]
        bought += len(ask.workers)
    return {"accuracy": right / T, "best_accuracy": None, "labels_share": bought / (T * M)}


def _by_all(
    labels: IntArray, truth: IntArray, method: str, seed: Seed, classes: int = 2
) -> dict[str, float]:
    """What a vote on all labels, or a model of them, comes to."""
    votes = dense_votes(labels, classes)
    result = (majority if method == ALL[0] else smoothed)(votes, seed=seed)
    right = result.chance_right(np.maximum(truth, 0))[truth >= 0]
    return {"accuracy": float(right.mean()), "labels_share": 1.0}


def _on_record(data: Recorded, method: str, when: Schedule | None, streams: Streams) -> Record:
    seed, K = streams.method(), len(data.classes)
    if method in ALL:
        return {**_by_all(data.labels, data.truth, method, seed, K), "best_accuracy": None}
    policy = "em" if when is None else "ls-ol"
    run = replay(data, when, policy=policy, seed=seed)
    there = data.labels >= 0
    share = run.labels_bought / int(there.sum())
    chosen = np.zeros_like(there)
    chosen[random_pairs(there, run.labels_bought, seed=stream(seed, "drawn"))] = True
    drawn = _by_all(np.where(chosen, data.labels, -1), data.truth, ALL[1], seed, K)
    return {
        "accuracy": run.accuracy,
        "best_accuracy": None,
        "labels_share": share,
        "random_accuracy": drawn["accuracy"],
    }


# What the trials say.

KEYS = ["crowd", "workers", "method"]


def analyse(trials: pd.DataFrame) -> Analysis:
    """Simulated crowds and recorded ones, each by themselves."""
    rows = ended_well(trials)
    orders = {"crowd": (*SIMULATED, *DATASETS), "workers": None, "method": METHODS}
    rows = in_order(rows, orders)
    simulated = rows["crowd"].isin(SIMULATED)
    parts = [Analysis((ended(trials),))]
    if simulated.any():
        parts.append(about_simulated(rows[simulated]))
    if not simulated.all():
        parts.append(about_recorded(rows[~simulated]))
    return joined(parts)


def about_simulated(rows: pd.DataFrame) -> Analysis:
    """Accuracy, regret and labels of each method on simulated crowds, and regret over time."""
    table = at_end(rows)
    own = Analysis(tuple(texts(table)), {"Simulated crowds": table})
    rows = measured(rows, "regret")
    if rows.empty:
        return own
    curves = over_time(rows, KEYS)
    tables = {"Regret over time, against the best set by majority": curves}
    return joined([own, Analysis((), tables, nonempty(regret_chart(curves)))])


def about_recorded(rows: pd.DataFrame) -> Analysis:
    """Accuracy and labels of each method on recorded crowds."""
    table = at_end(rows)
    chart = mean_chart(
        "recorded",
        "Accuracy minus that of the majority of all labels.",
        table,
        "crowd",
        ("crowd", "accuracy minus the majority's"),
        y="gain",
        low="gainlow",
        high="gainhigh",
        series="method",
        kind="points",
    )
    return Analysis(tuple(texts(table)), {"Recorded crowds": table}, (chart,))


def at_end(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracy, regret and labels of each method on each crowd, and its lead over the majority.

    `random`: of smoothed Dawid–Skene on as many recorded labels, drawn at random.
    """
    rows = having(rows, "regret", "random_accuracy")
    regret = means(rows, KEYS, "regret")
    table = with_means(rows, KEYS, "accuracy").assign(
        regret=regret["mean"],
        regret_se=regret["se"],
        labels_share=means(rows, KEYS, "labels_share")["mean"],
        random=means(rows, KEYS, "random_accuracy")["mean"],
    )
    majority_of_all = table.loc[table["method"] == ALL[0], ["crowd", "workers", "accuracy"]]
    majority_of_all = majority_of_all.rename(columns={"accuracy": "base"})
    table = table.merge(majority_of_all, on=["crowd", "workers"], how="left")
    base = table.pop("base")
    return table.assign(
        gain=table["accuracy"] - base,
        gainlow=table["low"] - base,
        gainhigh=table["high"] - base,
    )


def texts(table: pd.DataFrame) -> list[str]:
    """A sentence of each row of `at_end`."""
    return [
        f"{row.crowd}{f', {row.workers} workers' if row.crowd == 'uniform' else ''}, {row.method}: "
        f"{plus_minus(row.accuracy, row.se, 4)} with {row.labels_share:.0%} of all labels"
        f"{'' if pd.isna(row.regret) else f', regret {plus_minus(row.regret, row.regret_se, 1)}'}."
        for row in records(table)
    ]


def regret_chart(curves: pd.DataFrame) -> Chart:
    """Draw those of uniform skills, the best schedules alone, at a few checkpoints."""
    table = curves[(curves["crowd"] == "uniform") & curves["method"].isin(["em", *RECORDED])]
    few = (table["tasks"] % 1000 == 0) | (table["tasks"] == table["tasks"].max())
    return mean_chart(
        "regret",
        "Regret, against the best set by majority.",
        table[few].assign(panel=table["workers"].astype(str) + " workers"),
        "tasks",
        ("tasks", "regret R(t) (tasks)"),
        unit="runs",
        series="method",
        panel="panel",
    )


def _block(crowds: list[str], horizon: int, workers: list[int], *methods: str) -> Block:
    return {
        "crowd": list(crowds),
        "horizon": [horizon],
        "workers": list(workers),
        "method": list(methods or METHODS),
    }


_NINE = ["nine", *COPIES]
_CROWDS = [name for name in DATASETS if name not in ("product", "sentence_polarity", "sat12")]

STUDY = Study(
    name="learn-beyond",
    title="A learner that uses every label bought, beside LS_OL",
    source="beyond Liu, Liu (2015), Sections 6.1 and 6.2",
    parameters={
        "crowd": Parameter(
            str, "nine", "a simulated crowd, or a data set", choices=(*SIMULATED, *DATASETS)
        ),
        "workers": Parameter(int, 9, "M of uniform skills", least=4, most=16),
        "horizon": Parameter(int, 4000, "T, tasks of a simulated crowd", least=2, most=100_000),
        "method": Parameter(
            str, METHODS[0], "who chooses and labels", choices=METHODS, paired=True
        ),
    },
    sizes={
        "smoke": Size(
            (_block(["nine", "copied .55", "uniform"], 150, [5], "em", "LS_OL 3/1", *ALL),), 1
        ),
        "small": Size(
            (
                _block(_NINE, 4000, [9]),
                _block(["uniform"], 10_000, [5, 9, 15]),
                _block(_CROWDS, 4000, [9], "em", *RECORDED, *ALL),
            ),
            5,
        ),
        "paper": Size(
            (
                _block(_NINE, 4000, [9]),
                _block(["uniform"], 10_000, [5, 9, 15]),
                _block(_CROWDS, 4000, [9], "em", *RECORDED, *ALL),
            ),
            20,
        ),
    },
    trial=trial,
    analyse=analyse,
)
