"""Policies that look at labels, replayed on recorded crowds: error against what was bought.

A pair of a task and a worker can be asked when it is on record; of a repeated pair the first label
counts. Gold scores the labels, and nothing else.

- *On a budget*: policies buy labels from three a task (or all, where there are fewer) up to all on
  record, in `STEPS` equal steps and at half of all. Each is held against `fixed`, so many labels a
  task and Dawid–Skene, in pairs: in an order of one seed both meet the same workers at a task. The
  standard error is of both orders and gold tasks, as crossed.
- *Until sure* (`epsilon`): the policy closes a task when it believes the error to be ε. Some gold
  tasks, asked about like all others, then tell how wrong the labels are
  (`workbench.collection.honest`); the others with gold show what they are. `until-sure` and `mixed`
  hear of their class while they go on, and temper beliefs by it.

Policies that take a visit of each worker are not replayed: nobody on record would have answered
what they would ask. The simulated stand-in, drawn anew in each trial, lets the study run without
data.

Sources: those of `workbench.collection.POLICIES`; Cameron, Gelbach, Miller (2011), "Robust
inference with multiway clustering", for the standard error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from workbench.aggregation.vote_rule import vote_rule
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import stream
from workbench.collection import POLICIES
from workbench.collection.answers import Answers, rehearse
from workbench.collection.honest import calibrated, measured_error, wrong_chances
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger, Pool
from workbench.collection.recorded import recorded as pool_of
from workbench.crowd.datasets import DATASETS
from workbench.papers.recorded_crowds import Recording, recorded, simulated
from workbench.studies.analysis import ended, in_order, joined, measured, nonempty, percent
from workbench.studies.study import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Size,
    Study,
    TrialEnded,
)
from workbench.studies.trials import Streams

STAND_IN = "simulated"
CROWDS = (
    "bluebird",
    "rte",
    "sp_amt",
    "weather_amt",
    "sat12",
    "web",
    "face",
    "sentiment",
    "zencrowd_us",
    "sentence_polarity",
    "product",
    "music_genre",
)
ONE_BUDGET = "product"
"""It has three labels a task, so that there is nothing to draw."""
FEW = (ONE_BUDGET, "music_genre")
"""Crowds of fewer than five labels a task, of which half says nothing."""
SMALL = "sat12"
"""It has 32 tasks with gold: ten of them are controls."""
STOPPED = ("bluebird", "rte", "sp_amt", "face", "sentiment", "zencrowd_us")
"""Crowds on which `until-sure` stops by hidden gold."""
REPLAYED = tuple(
    name for name in POLICIES if name not in ("algorithm-2", "re-solve", "dual-descent")
)
DRAWN = tuple(
    name for name in ("fixed", "margin", "uncertain-drawn", "until-sure") if name in POLICIES
)
LEAST, STEPS = 3, 11
"""Labels a task from which on policies are compared; steps up to all labels."""
ENOUGH = 0.9
"""Share of the budgets at which a policy must not be worse."""


def trial(params: Params, streams: Streams) -> Record:
    """Replay one policy on one crowd."""
    name = params["data"]
    crowd = simulated(name, seed=streams.instance) if name == STAND_IN else recorded(name)
    pool, answers = replayed(crowd)
    drawn = stream(streams.instance, "orders").integers(2**31, size=params["orders"])
    orders = np.atleast_1d(drawn).tolist()
    if params["epsilon"] is None:
        return _bought(params["policy"], pool, answers, orders)
    if params["controls"] >= (scored := int((answers.truth >= 0).sum())):
        raise TrialEnded("infeasible", f"{params['controls']} control tasks of {scored}")
    ends = pd.DataFrame([_stopped(params, pool, answers, order) for order in orders])
    return {
        "labels": int((answers.label >= 0).sum()),
        "tasks": len(pool.tasks),
        **{str(name): float(mean) for name, mean in ends.astype(float).mean().items()},
    }


@lru_cache(maxsize=2)
def replayed(crowd: Recording) -> tuple[Pool, Answers]:
    """Make a pool of the labels on record."""
    votes, with_gold = crowd.votes, crowd.truth >= 0
    gold = pd.Series(votes.classes[crowd.truth[with_gold]], votes.tasks[with_gold])
    return pool_of(votes.table(), gold, pd.Index([]))


def _bought(policy: str, pool: Pool, answers: Answers, orders: list[int]) -> Record:
    """Error after each step, beside that of `fixed`."""
    n, labels = len(pool.tasks), int((answers.label >= 0).sum())
    steps = np.linspace(min(LEAST * n, labels), labels, STEPS + 1).round().astype(np.int64)
    budgets = {**{str(at): int(b) for at, b in enumerate(steps)}, "half": labels // 2}
    own, base = (
        np.stack(
            [bought(name, pool, answers, tuple(budgets.values()), order)[1] for order in orders]
        )
        for name in (policy, "fixed")
    )
    record: dict[str, Any] = {"labels": labels, "tasks": n, "scored": own.shape[2]}
    for at, (step, budget) in enumerate(budgets.items()):
        less = own[:, at] - base[:, at]
        record |= {
            f"budget_{step}": budget,
            f"error_{step}": float(own[:, at].mean()),
            f"more_{step}": float(less.mean()),
            f"se_{step}": crossed_error(less),
        }
    return record


@lru_cache(maxsize=32)
def bought(
    policy: str, pool: Pool, answers: Answers, budgets: tuple[int, ...], order: int
) -> tuple[list[int], FloatArray]:
    """Labels bought by each budget, and the chance of a wrong label of each scored task.

    Money is added when it is spent; a policy that plans by its budget begins anew.

    Returns
    -------
    Shapes (budgets,) and (budgets, tasks).
    """
    kind = POLICIES[policy].call
    wrong: dict[int, FloatArray] = {}
    labels: dict[int, int] = {}
    for b in sorted(set(budgets)):
        if not wrong or not getattr(kind, "anytime", True):
            ledger = Ledger(pool, b)
            deciding = kind(ledger, Goal(), order)
        ledger.total = b
        while len(ask := deciding.next()):
            ledger.ask(ask)
            ledger.tell(ask, answers.of(ask))
            deciding.told(ask, answers.of(ask))
        wrong[b] = wrong_chances(deciding.belief().posterior, answers.truth)
        labels[b] = len(ledger.labels)
    return [labels[b] for b in budgets], np.stack([wrong[b] for b in budgets])


def crossed_error(values: FloatArray) -> float:
    """Standard error of the mean of a table whose rows and columns are both samples.

    Variance of the mean over rows, plus that over columns, less what both count: that of the mean
    if all cells were independent. Never less than either.
    """
    rows, columns = values.shape
    by_row, by_column = values.mean(axis=1), values.mean(axis=0)
    of_rows = by_row.var(ddof=1) / rows if rows > 1 else 0.0
    of_columns = by_column.var(ddof=1) / columns if columns > 1 else 0.0
    rest = values - by_row[:, None] - by_column + values.mean()
    cells = max((rows - 1) * (columns - 1), 1) * rows * columns
    both = of_rows + of_columns - float((rest**2).sum()) / cells
    return float(np.sqrt(max(both, of_rows, of_columns)))


def _stopped(params: Params, pool: Pool, answers: Answers, order: int) -> Record:
    """Error that is believed at the end, measured on some gold tasks, and actual on the others."""
    drawn = stream(order, "controls").permutation(np.flatnonzero(answers.truth >= 0))
    control, rest = drawn[: params["controls"]], np.sort(drawn[params["controls"] :])
    controls: IntArray = np.full(len(pool.tasks), -1, dtype=np.int64)
    controls[control] = answers.truth[control]
    kind, goal = POLICIES[params["policy"]].call, Goal(params["epsilon"])
    done = rehearse(kind, replace(pool, hidden=controls), answers, goal, seed=order)
    stated = measured_error(done.ledger, controls, seed=order)
    rule = vote_rule(done.ledger.votes(), "dawid-skene-smoothed")(controls)
    actual = float(rule.label(rest).loss(answers.truth[rest]).mean())
    low, high = stated.error_interval
    shut = rest[done.belief.closed[rest]]
    wrong = wrong_chances(done.belief.posterior[shut], answers.truth[shut])
    return {
        "a_task": len(done.ledger.labels) / len(pool.tasks),
        "closed": float(done.belief.closed.mean()),
        "closed_believed": float(done.belief.error[shut].sum()) / max(len(shut), 1),
        "closed_error": float(wrong.sum()) / max(len(shut), 1),
        "believed": float(done.belief.error[rest].mean()),
        "calibrated": float(1.0 - calibrated(done.ledger, controls)[rest].max(axis=1).mean()),
        "measured": stated.error_measured,
        "actual": actual,
        "held": low - 1e-12 <= actual <= high + 1e-12,
    }


# What the trials say.

ORDERS: dict[str, Sequence[Any] | None] = {"data": (STAND_IN, *CROWDS), "policy": REPLAYED}


def analyse(trials: pd.DataFrame) -> Analysis:
    """Policies on a budget, beside `fixed`; and where they stopped by their beliefs."""
    parts = (about_budgets(measured(trials, "error_0")), about_ends(measured(trials, "believed")))
    return joined([Analysis((ended(trials),)), *parts])


def about_budgets(rows: pd.DataFrame) -> Analysis:
    """Errors of policies beside that of `fixed` for as many labels."""
    if rows.empty:
        return Analysis()
    table = by_crowd(rows)
    findings = [
        compared(str(policy), crowds) for policy, crowds in table.groupby("policy", sort=False)
    ]
    curves = steps(rows)
    drawn = curves["policy"].isin(DRAWN) & (curves["step"] != "half")
    chart = Chart(
        "curves",
        "Share of wrong labels, by the share of all labels on record that was bought; "
        f"{len(rows):,} trials.",
        curves[drawn & (curves["data"] != ONE_BUDGET)],
        "share",
        "error",
        "share of the labels bought",
        "error",
        series="policy",
        panel="data",
        log_y=True,
    )
    tables = {"On a budget, beside fixed k and Dawid–Skene": table}
    return Analysis(tuple(findings), tables, nonempty(chart))


def steps(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a crowd, policy and step: budget, error, and how much more than that of `fixed`."""
    names = ("budget", "error", "more", "se")
    parts = []
    for step in (*map(str, range(STEPS + 1)), "half"):
        columns = {f"{name}_{step}": name for name in names}
        part = rows[["data", "policy", "labels", "tasks", "scored", *columns]]
        parts.append(part.rename(columns=columns).assign(step=step))
    table = pd.concat(parts, ignore_index=True)
    return in_order(table.assign(share=table["budget"] / table["labels"]), ORDERS)


def by_crowd(rows: pd.DataFrame) -> pd.DataFrame:
    """What a policy reaches on each crowd.

    Columns `within` (share of the budgets at which it is not worse than `fixed` by more than a
    standard error), `wins` (better by more than one), `more` (mean over budgets), `half` and `all`
    (errors), `gold_se` (standard error of `all` by the number of gold tasks), `enough` (half is
    within it).
    """
    points, keys = steps(rows), ["data", "policy"]
    curve = points[points["step"] != "half"]
    curve = curve.assign(
        within=curve["more"] <= curve["se"] + 1e-12,
        wins=curve["more"] < -curve["se"] - 1e-12,
    )
    table = curve.groupby(keys, sort=False)[["within", "wins", "more"]].mean()
    for name, step in (("half", "half"), ("all", str(STEPS))):
        table[name] = points[points["step"] == step].groupby(keys, sort=False)["error"].mean()
    scored = points.groupby(keys, sort=False)["scored"].first()
    table["gold_se"] = np.sqrt(table["all"] * (1.0 - table["all"]) / scored)
    table["enough"] = table["half"] <= table["all"] + table["gold_se"]
    return table.reset_index()


def compared(policy: str, crowds: pd.DataFrame) -> str:
    """On how many crowds a policy is good enough, by either measure."""
    near = crowds["within"] >= ENOUGH
    behind = crowds.loc[~near, "data"]
    exceptions = f" (not on {', '.join(behind)})" if len(behind) else ""
    several = crowds[~crowds["data"].isin(FEW)]
    return (
        f"{policy}: not worse than fixed by more than a standard error at 90 % of the budgets on "
        f"{near.sum()} of {len(crowds)} crowds{exceptions}; better by more than one at "
        f"{percent(crowds['wins'].mean(), 0)} of them in the mean; half of the labels within a "
        f"standard error of the gold of all on {several['enough'].sum()} of {len(several)}."
    )


ENDS = [
    "data",
    "policy",
    "epsilon",
    "controls",
    "orders",
    "a_task",
    "closed",
    "closed_believed",
    "closed_error",
    "believed",
    "calibrated",
    "measured",
    "actual",
    "held",
]
"""Columns of the table of policies that stopped."""


def about_ends(rows: pd.DataFrame) -> Analysis:
    """Believed, calibrated, measured and actual error where the policy stopped, by crowd."""
    if rows.empty:
        return Analysis()
    table = in_order(rows[ENDS], {**ORDERS, "epsilon": None, "controls": None})
    findings = [stopped(crowds) for _, crowds in table.groupby(["policy", "epsilon", "controls"])]
    return Analysis(tuple(findings), {"Stopped at a believed ε": table})


def stopped(crowds: pd.DataFrame) -> str:
    """How far beliefs of one policy are off, and whether the intervals hold."""
    policy, epsilon, controls = crowds[["policy", "epsilon", "controls"]].iloc[0]
    by_excess = crowds.assign(times=crowds["actual"] / crowds["believed"]).sort_values("times")
    worst, least = by_excess.iloc[-1], crowds.sort_values("held").iloc[0]
    return (
        f"{policy}, stopped at a believed {epsilon:g} on {len(crowds)} crowds: the actual error is "
        f"{by_excess['times'].median():.1f} times the believed one in the median, most on "
        f"{worst['data']} ({worst['believed']:.3f} believed, {worst['actual']:.3f}). {controls} "
        f"control tasks: the 90 % interval holds it in {percent(crowds['held'].mean())} of the "
        f"orders in the mean of the crowds, least on {least['data']}, {percent(least['held'], 0)}."
    )


STUDY = Study(
    name="collect-recorded",
    title="Policies that look at labels, on recorded crowds",
    source="beyond the papers",
    parameters={
        "data": Parameter(
            str,
            STAND_IN,
            "whose labels; the stand-in is named as such",
            choices=(STAND_IN, *DATASETS),
        ),
        "policy": Parameter(
            str, "uncertain-drawn", "who decides", choices=(*REPLAYED,), paired=True
        ),
        "orders": Parameter(int, 10, "orders of workers, and of controls", least=1, paired=True),
        "epsilon": Parameter(
            float,
            None,
            "error at which a task is closed; none for budgets",
            least=1e-6,
            most=0.5,
            optional=True,
        ),
        "controls": Parameter(int, 40, "with ε, gold tasks to measure the error on", least=2),
    },
    sizes={
        "smoke": Size(
            ({"policy": list(DRAWN), "orders": [1]}, {"epsilon": [0.05], "orders": [1]}), 1
        ),
        "small": Size(
            (
                {"data": ["bluebird", "sp_amt"], "policy": list(REPLAYED), "orders": [5]},
                {"data": ["bluebird", "sp_amt"], "epsilon": [0.05]},
            ),
            1,
        ),
        "paper": Size(
            (
                {"data": list(CROWDS), "policy": list(DRAWN)},
                {
                    "data": [name for name in CROWDS if name != SMALL],
                    "epsilon": [0.05],
                    "orders": [10],
                },
                {"data": [SMALL], "epsilon": [0.05], "orders": [10], "controls": [10]},
                {
                    "data": list(STOPPED),
                    "policy": ["until-sure"],
                    "epsilon": [0.05],
                    "orders": [10],
                },
                {"data": list(CROWDS), "policy": list(REPLAYED)},
            ),
            1,
        ),
    },
    trial=trial,
    analyse=analyse,
    version=2,
    deadline=1800.0,
)
