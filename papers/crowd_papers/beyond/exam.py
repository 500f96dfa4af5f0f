"""When an exam pays: labels bought with and without G gold tasks for each worker first.

Workers are drawn independently: a share is of skill `good`, the others guess; each can give M
labels. *Until-sure* knows nothing of this prior. With an exam of G, everybody whom it would ask
labels G gold tasks before anything else, which cost as much and are of her M labels. Beside what is
paid stands the bound on every policy that knows the prior (`workbench.solving.ignorance`), at the
error that was measured over all trials of a cell, gold tasks at hand.

The other policies that collect by themselves are run on the same crowds, without an exam: none may
be below the bound.

Source: beyond the papers; Wald (1945).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from crowd_papers.rivals.until_sure import UntilSure
from workbench.collection import POLICIES, Goal, Policy, Questions, rehearse, simulated
from workbench.solving import unknown_skills_bound
from workbench.studies import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Size,
    Streams,
    Study,
    ended,
    ended_well,
)

EXAM = "until-sure"
"""The policy that may begin with an exam."""
OTHERS = tuple(
    name
    for name in POLICIES
    if name not in (EXAM, "sequential-plan", "ratings", "algorithm-2", "re-solve", "dual-descent")
)
"""Policies that need nobody's skill and no gold."""
CHANCE = 2.0
"""Standard errors."""


class Examined(UntilSure):
    """Until-sure, everybody's first questions being all gold tasks."""

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:
        """The exam of the first of those who would be asked and have not taken it, if any."""
        ask = super().next(worker, most)
        ledger = self.ledger
        for who in np.unique(ask.worker).tolist():
            exam = np.flatnonzero(ledger.gold_open[:, who])[: ledger.left[who]]
            if len(exam):
                return Questions(exam, np.full(len(exam), who), gold=True)
        return ask


def trial(params: Params, streams: Streams) -> Record:
    """Draw a crowd, and collect until the policy is done."""
    rng = np.random.default_rng(streams.instance)
    good = rng.random(params["workers"]) < params["share"]
    skill = np.where(good, params["good"], 0.5)
    gold = params["exam"]
    pool, answers = simulated(
        skill,
        params["tasks"],
        capacity=params["capacity"],
        gold=gold,
        seed=int(rng.integers(2**31)),
    )
    policy: type[Policy] = Examined if params["exam"] else POLICIES[params["policy"]].call
    seed = int(streams.method("policy").generate_state(1)[0])
    end = rehearse(policy, pool, answers, Goal(params["epsilon"]), seed=seed)
    return {
        "paid": float(end.ledger.spent),
        "paid_gold": len(end.ledger.gold_labels),
        "error": float(end.belief.misses(answers.truth).mean()),
        "closed": float(end.belief.closed.mean()),
    }


# What the trials say.

CELL = ["good", "share", "capacity", "epsilon", "policy", "exam"]


def analyse(trials: pd.DataFrame) -> Analysis:
    """What an exam costs or saves, and how far every policy is above the bound."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    table = bounded(rows)
    exams = table[table["policy"] == EXAM]
    below = table[table["paid"] + CHANCE * table["paid_se"] < table["bound"] * table["tasks"]]
    worth = [best_exam(cell) for _, cell in exams.groupby(CELL[:4])]
    findings = (
        ended(trials),
        *[sentence for sentence in worth if sentence],
        f"In {len(below):,} of {len(table):,} cells the mean paid is below the bound at the error "
        f"measured by more than {CHANCE:g} standard errors.",
    )
    chart = Chart(
        "exam",
        f"Labels per task, exam included, by its length; {len(rows):,} trials.",
        exams.assign(each=exams["paid"] / exams["tasks"]),
        x="exam",
        y="each",
        x_label="G, gold tasks a worker labels first",
        y_label="labels per task",
        series="epsilon",
        panel="capacity",
    )
    caption = "Labels paid, error measured, and the least labels of any policy at that error"
    return Analysis(findings, {caption: table}, (chart,))


def bounded(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per cell: means, and the bound at the error pooled over the cell's trials.

    The bound is convex in ε and of the expectation, so that at the mean error it is below what the
    mean trial pays.
    """
    table = (
        rows.groupby([*CELL, "tasks", "workers"])
        .agg(
            trials=("paid", "size"),
            paid=("paid", "mean"),
            paid_se=("paid", "sem"),
            paid_gold=("paid_gold", "mean"),
            error=("error", "mean"),
            error_se=("error", "sem"),
            closed=("closed", "mean"),
        )
        .reset_index()
    )
    table["bound"] = [_bound(row) for row in table.to_dict("records")]
    table["ratio"] = table["paid"] / (table["tasks"] * table["bound"])
    return table


def _bound(row: dict[Any, Any]) -> float:
    """Labels per task, at least."""
    # None seen is no reason for infinity; half of the answers wrong need no label.
    error = min(max(row["error"], 0.5 / (row["tasks"] * row["trials"])), 0.499)
    prior = {row["good"]: row["share"], 0.5: 1.0 - row["share"]}
    bound = unknown_skills_bound(
        prior,
        row["capacity"],
        row["tasks"],
        error,
        workers=row["workers"],
        gold_tasks=row["exam"],
    )
    return bound.labels / float(row["tasks"])


def best_exam(cell: pd.DataFrame) -> str:
    """Say whether an exam pays in one cell, among those that keep ε; nothing without a choice."""
    rows = cell.to_dict("records")
    none = next((row for row in rows if row["exam"] == 0), None)
    if none is None or len(rows) == 1:
        return ""
    where = (
        f"{none['share']:.0%} of skill {none['good']:g}, M = {none['capacity']}, "
        f"ε = {none['epsilon']:g}: "
    )
    kept = [row for row in rows if row["error"] <= row["epsilon"] + CHANCE * row["error_se"]]
    if not kept:
        return f"{where}ε is kept neither with an exam nor without."
    best = min(kept, key=lambda row: float(row["paid"]))
    if best["exam"] == 0:
        return f"{where}no exam pays ({_paid(best)}; the bound {best['bound']:.2f})."
    return (
        f"{where}an exam of {best['exam']} pays: {_paid(best)}; without one {_paid(none)}; the "
        f"bound {best['bound']:.2f}."
    )


def _paid(row: dict[Any, Any]) -> str:
    each, spread = row["paid"] / row["tasks"], row["paid_se"] / row["tasks"]
    return f"{each:.2f} ± {spread:.2f} labels per task, {row['error']:.3f} wrong"


SMALL = {"tasks": [100], "workers": [400]}

STUDY = Study(
    name="exam",
    title="When an exam pays",
    source="beyond the papers",
    parameters={
        "tasks": Parameter(int, 200, "tasks to label", least=2, most=5000),
        "workers": Parameter(int, 1200, "workers who can be asked", least=2, most=5000),
        "capacity": Parameter(int, 50, "M, labels that a worker can give", least=1, most=2000),
        "good": Parameter(float, 0.8, "skill of the good", least=0.51, most=1.0),
        "share": Parameter(float, 0.5, "chance that a worker is good", least=0.05, most=0.95),
        "exam": Parameter(
            int, 0, "G, gold tasks that each worker labels first", least=0, most=500, paired=True
        ),
        "policy": Parameter(
            str, EXAM, "who decides; until-sure with an exam", choices=(EXAM, *OTHERS), paired=True
        ),
        "epsilon": Parameter(
            float, 0.05, "error that each task may have", least=1e-3, most=0.4, paired=True
        ),
    },
    sizes={
        "smoke": Size(
            (
                {"tasks": [40], "workers": [60], "capacity": [10], "exam": [0, 5]},
                {"tasks": [40], "workers": [60], "capacity": [10], "policy": ["fixed", "margin"]},
            ),
            2,
        ),
        "small": Size(
            (
                SMALL
                | {
                    "capacity": [10, 50],
                    "share": [0.5, 0.2],
                    "exam": [0, 5, 10],
                    "epsilon": [0.05, 0.02],
                },
                SMALL | {"capacity": [50], "policy": list(OTHERS)},
            ),
            3,
        ),
        "paper": Size(
            (
                {
                    "tasks": [1000],
                    "workers": [5000],
                    "capacity": [10, 50, 200],
                    "share": [0.5, 0.2, 0.8],
                    "good": [0.8, 0.7],
                    "exam": [0, 3, 5, 10, 20, 40],
                    "epsilon": [0.05, 0.02],
                },
                {"capacity": [10, 50, 200], "policy": list(OTHERS)},
            ),
            20,
        ),
    },
    trial=trial,
    analyse=analyse,
)
