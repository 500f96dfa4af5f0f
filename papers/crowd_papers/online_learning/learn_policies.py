"""LS_OL beside other ways to choose workers without ground truth, on the same tasks and labels.

The comparators are no part of the paper, which compares with the full crowd alone: explore then
commit, ε-greedy, upper confidence bounds and Thompson sampling on agreement, a refitted Dawid–Skene
model, the full crowd with weights, and the optimum with known skills. `workbench.learning.learners`
says what each learns from.

Source: beyond Liu, Liu (2015), Section 6.1.
"""

from __future__ import annotations

import math

import pandas as pd

from crowd_papers.online_learning.learning_runs import (
    CROWDS,
    curve_fields,
    draw_crowd,
    grid,
    long,
    with_means,
)
from workbench.learning import LEARNERS as COMPARATORS
from workbench.learning import Draws, Learner, LsOl, play, practical
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
    ended,
    ended_well,
    mean_chart,
    means,
    nonempty,
    paired_differences,
    plus_minus,
    records,
)

LEARNERS = {
    "LS_OL, G1 = 1, G2 = 1": (1.0, 1.0),
    "LS_OL, G1 = 3, G2 = 1": (3.0, 1.0),
    "LS_OL, G1 = 3, G2 = 5": (3.0, 5.0),
}
"""LS_OL by (G1, G2): much larger ones, (5, 10) for one, explore all of 2000 tasks."""
OTHERS = (
    "oracle",
    "full crowd",
    "full crowd, true weights",
    "full crowd, learned weights",
    "explore then commit",
    "ε-greedy",
    "UCB",
    "Thompson",
    "Dawid–Skene",
)
POLICIES = (*LEARNERS, *OTHERS)
GROUPS = {
    "full-crowd": (*LEARNERS, *OTHERS[:4]),
    "learners": (*tuple(LEARNERS)[:2], OTHERS[0], *OTHERS[4:]),
}
"""Policies drawn in one chart: no more than can be told apart."""


def trial(params: Params, streams: Streams) -> Record:
    """Let one policy label the tasks of one crowd."""
    seed, T = streams.instance, int(params["horizon"])
    skill = draw_crowd(params["crowd"], int(params["workers"]), seed)
    draws = Draws(skill, 1, seed=seed)
    coins, policy = draws.coins(0), str(params["policy"])
    learner: Learner = (
        LsOl(len(skill), practical(*LEARNERS[policy]), seed=coins)
        if policy in LEARNERS
        else COMPARATORS[policy].call(skill, coins)
    )
    tasks = grid(T)
    played = play(learner, draws, 0, T, checkpoints=tasks, against="majority")
    size = float(played.size[-1])
    return {
        "best_accuracy": played.best_accuracy,
        "reward": float(played.reward[-1]) / T,
        "realised": float(played.realised[-1]) / T,
        "labels_per_task": float(played.labels[-1]) / T,
        "size": None if math.isnan(size) else size,
        "explored": int(played.explored[-1]),
        **curve_fields(tasks, regret=played.regret),
    }


# What the trials say.

KEYS = ["crowd", "workers", "policy"]
REFERENCE = "full crowd"
"""What the others are compared with, run by run: what the paper compares with."""


def analyse(trials: pd.DataFrame) -> Analysis:
    """Accuracy, regret, labels and set sizes by policy and crowd; and differences in pairs."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    curves = long(rows, [*KEYS, "horizon"])
    last = curves["horizon"].max()
    accuracy, regret = accuracies(rows), regret_at(curves[curves["tasks"] == last])
    tables = {
        "Average accuracy, labels per task, mean size of a set": accuracy,
        f"Regret after {last:,} tasks, against the best set by majority; and regret less that "
        f"of the {REFERENCE}, in pairs": regret,
        "Regret over time": means(curves, [*KEYS, "tasks"], "value"),
    }
    accuracy, regret = with_panel(accuracy), with_panel(regret)
    findings = []
    for panel, own in accuracy.sort_values("reward", ascending=False).groupby("panel"):
        texts = [
            f"{row.policy} {plus_minus(row.reward, row.se, 4)} ({row.labels_per_task:.1f} labels "
            "a task)"
            for row in records(own)
        ]
        findings.append(f"{panel}: average accuracy {', '.join(texts)}.")
    charts = []
    for group, policies in GROUPS.items():
        charts.append(accuracy_chart(group, accuracy[accuracy["policy"].isin(policies)]))
        charts.append(regret_chart(group, last, regret[regret["policy"].isin(policies)]))
    return Analysis((ended(trials), *findings), tables, nonempty(*charts))


def accuracies(rows: pd.DataFrame) -> pd.DataFrame:
    """Average accuracy by policy and crowd, labels per task (and the interval), size of a set."""
    table = with_means(rows, KEYS, "reward", "labels_per_task")
    labels, size, best = (
        means(rows, KEYS, name) for name in ("labels_per_task", "size", "best_accuracy")
    )
    return table.assign(
        labels_low=labels["low"],
        labels_high=labels["high"],
        size=size["mean"],
        best_accuracy=best["mean"],
    )


def regret_at(ends: pd.DataFrame) -> pd.DataFrame:
    """Regret at the last checkpoint, and minus that of `REFERENCE` on the same tasks and labels."""
    regret = with_means(ends.rename(columns={"value": "regret"}), KEYS, "regret")
    return regret.merge(behind(ends), on=KEYS, how="left")


def behind(ends: pd.DataFrame) -> pd.DataFrame:
    """Regret minus that of `REFERENCE` on the same tasks and labels: `KEYS, more, more_se`."""
    if not (ends["policy"] == REFERENCE).any():
        return pd.DataFrame(columns=[*KEYS, "more", "more_se"])
    table = paired_differences(
        ends, by=["crowd", "workers"], method="policy", reference=REFERENCE, value="value"
    )
    return table.rename(columns={"mean": "more", "se": "more_se"})[[*KEYS, "more", "more_se"]]


def with_panel(table: pd.DataFrame) -> pd.DataFrame:
    """Add the column `panel`, which names the crowd and its size."""
    return table.assign(panel=table["crowd"] + ", M = " + table["workers"].astype(str))


def accuracy_chart(group: str, table: pd.DataFrame) -> Chart:
    """Draw the accuracy of some policies against the labels that they buy."""
    return mean_chart(
        f"accuracy-{group}",
        "Expected average accuracy against labels bought per task, all steps counted.",
        table,
        "labels_per_task",
        ("labels bought per task", "average accuracy"),
        y="reward",
        unit="runs",
        series="policy",
        panel="panel",
        kind="points",
        x_low="labels_low",
        x_high="labels_high",
    )


def regret_chart(group: str, tasks: int, table: pd.DataFrame) -> Chart:
    """Draw the regret of some policies after so many tasks."""
    return mean_chart(
        f"regret-{group}",
        f"Regret after {tasks:,} tasks, against the best set by majority (a weighted vote may gain "
        "more: below 0).",
        table,
        "panel",
        ("crowd", "regret R(T) (tasks)"),
        y="regret",
        unit="runs",
        series="policy",
        kind="points",
    )


def _block(crowd: str, workers: int, horizon: int) -> Block:
    return {"policy": list(POLICIES), "crowd": [crowd], "workers": [workers], "horizon": [horizon]}


STUDY = Study(
    name="learn-policies",
    title="LS_OL beside other policies without ground truth",
    source="beyond Liu, Liu (2015), Section 6.1",
    parameters={
        "crowd": Parameter(
            str,
            "from-0.6",
            "the skills: given, or drawn from a range",
            choices=CROWDS,
        ),
        "workers": Parameter(int, 5, "M", least=1, most=15),
        "policy": Parameter(
            str, next(iter(LEARNERS)), "who chooses the workers", choices=POLICIES, paired=True
        ),
        "horizon": Parameter(int, 2000, "T, tasks", least=2, most=100_000, paired=True),
    },
    sizes={
        "smoke": Size((_block("from-0.6", 5, 200),), 1),
        "small": Size((_block("from-0.6", 5, 2000), _block("spread-trusted", 5, 2000)), 10),
        "paper": Size(
            (
                _block("from-0.6", 5, 2000),
                _block("spread-trusted", 5, 2000),
                _block("from-0.6", 15, 2000),
            ),
            20,
        ),
    },
    trial=trial,
    analyse=analyse,
    version=2,
)
