"""LS_OL beside other ways to choose workers without ground truth, on the same tasks and labels.

The comparators are no part of the paper, which compares with the full crowd alone: explore then
commit, ε-greedy, upper confidence bounds and Thompson sampling on agreement, a refitted Dawid–Skene
model, the full crowd with weights, and the optimum with known skills. `workbench.learning.learners`
says what each learns from.

Source: beyond Liu, Liu (2015), Section 6.1.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from workbench.learning.draws import Draws
from workbench.learning.learners import LEARNERS as COMPARATORS
from workbench.learning.learners import Learner
from workbench.learning.ls_ol import LsOl
from workbench.learning.playing import play
from workbench.learning.schedule import practical
from workbench.papers.online_learning import learning_runs
from workbench.studies.analysis import bars
from workbench.studies.measures import DeclaredAnalysis, sentences, summarise
from workbench.studies.study import Analysis, Block, Chart, Parameter, Params, Record, Size, Study
from workbench.studies.summary import means, paired_differences
from workbench.studies.trials import Streams

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
KEYS = ["crowd", "workers", "policy"]
REFERENCE = "full crowd"
"""What the others are compared with, run by run: what the paper compares with."""


def trial(params: Params, streams: Streams) -> Record:
    """Let one policy label the tasks of one crowd."""
    seed, T = streams.instance, int(params["horizon"])
    skill = learning_runs.draw_crowd(params["crowd"], int(params["workers"]), seed)
    draws = Draws(skill, 1, seed=seed)
    coins, policy = draws.coins(0), str(params["policy"])
    learner: Learner = (
        LsOl(len(skill), practical(*LEARNERS[policy]), seed=coins)
        if policy in LEARNERS
        else COMPARATORS[policy].call(skill, coins)
    )
    tasks = learning_runs.grid(T)
    played = play(learner, draws, 0, T, checkpoints=tasks, against="majority")
    size = float(played.size[-1])
    return {
        "best_accuracy": played.best_accuracy,
        "reward": float(played.reward[-1]) / T,
        "realised": float(played.realised[-1]) / T,
        "labels_per_task": float(played.labels[-1]) / T,
        "size": None if math.isnan(size) else size,
        "explored": int(played.explored[-1]),
        **learning_runs.curve_fields(tasks, regret=played.regret),
    }


def analyse(rows: pd.DataFrame) -> Analysis:
    """Accuracy, regret, labels and set sizes by policy and crowd; and differences in pairs."""
    curves = learning_runs.long(rows, [*KEYS, "horizon"])
    last = curves["horizon"].max()
    ends = curves[curves["tasks"] == last]
    found = summarise(
        rows,
        KEYS,
        {
            **learning_runs.mean_of("reward", "reward"),
            "labels_per_task": "mean",
            **{f"labels_{end}": ("labels_per_task", end) for end in ("low", "high")},
            "size": "mean",
            "best_accuracy": "mean",
        },
    )
    regret = summarise(ends, KEYS, learning_runs.mean_of("value", "regret"))
    regret = regret.merge(behind(ends), on=KEYS, how="left")
    tables = {
        "Average accuracy, labels a task, mean size of a set": found,
        f"Regret after {last:,} tasks, against the best set by majority; and regret less that "
        f"of the {REFERENCE}, in pairs": regret,
        "Regret over time": means(curves, [*KEYS, "tasks"], "value"),
    }
    found, regret = (
        one.assign(panel=one["crowd"] + ", M = " + one["workers"].astype(str))
        for one in (found, regret)
    )
    said = "{policy} {reward:±4} ({labels_per_task:.1f} labels a task)"
    return Analysis(
        tuple(
            f"{crowd}: average accuracy {', '.join(sentences(said, own))}."
            for crowd, own in found.sort_values("reward", ascending=False).groupby("panel")
        ),
        tables,
        tuple(
            chart
            for group in GROUPS
            for chart in _charts(group, last, found, regret)
            if len(chart.data)
        ),
    )


def _charts(group: str, last: int, *tables: pd.DataFrame) -> tuple[Chart, ...]:
    found, regret = (some[some["policy"].isin(GROUPS[group])] for some in tables)
    style: dict[str, Any] = {"series": "policy", "kind": "points", "low": "low", "high": "high"}
    count = bars(tables[0]["n"], "runs")
    return (
        Chart(
            f"accuracy-{group}",
            f"Expected average accuracy against labels bought a task, all steps counted. {count}",
            found,
            "labels_per_task",
            "reward",
            "labels bought per task",
            "average accuracy",
            panel="panel",
            x_low="labels_low",
            x_high="labels_high",
            **style,
        ),
        Chart(
            f"regret-{group}",
            f"Regret after {last:,} tasks, against the best set by majority "
            f"(a weighted vote may gain more: below 0). {count}",
            regret,
            "panel",
            "regret",
            "crowd",
            "regret R(T) (tasks)",
            **style,
        ),
    )


def behind(ends: pd.DataFrame) -> pd.DataFrame:
    """Regret less that of `REFERENCE` on the same tasks and labels: `KEYS, more, more_se`."""
    if not (ends["policy"] == REFERENCE).any():
        return pd.DataFrame(columns=[*KEYS, "more", "more_se"])
    found = paired_differences(
        ends,
        by=["crowd", "workers"],
        method="policy",
        reference=REFERENCE,
        value="value",
    )
    return found.rename(columns={"mean": "more", "se": "more_se"})[[*KEYS, "more", "more_se"]]


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
            choices=learning_runs.CROWDS,
        ),
        "workers": Parameter(int, 5, "M", least=1, most=15),
        "policy": Parameter(
            str, next(iter(LEARNERS)), "who chooses the workers", choices=POLICIES, paired=True
        ),
        "horizon": Parameter(int, 2000, "T, tasks", least=2, most=100_000, paired=True),
    },
    sizes={
        "smoke": Size((_block("from-0.6", 5, 200),), 2),
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
    analyse=DeclaredAnalysis(analyse),
    version=2,
)
