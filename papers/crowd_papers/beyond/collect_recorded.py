"""Policies that look at labels, replayed on recorded crowds: error against what was bought.

A pair of a task and a worker can be asked when it is on record; of a repeated pair the first label
counts. Gold scores the labels, and nothing else.

- *On a budget*: policies buy labels from three a task (or all, where there are fewer) up to all on
  record, in `STEPS` equal steps and at half of all. Each is held against `fixed`, so many labels a
  task and Dawid–Skene, in pairs: in an order of one seed both meet the same workers at a task. The
  standard error is of both orders and gold tasks, as crossed.
- *So many labels per task* (`budgets`): 1, 2, 3 and 5 for each task in the mean, as far as they are
  on record, held against as many for every task and EBCC, and against as many by `uncertain`, in
  pairs and with the same standard error.
- *Closed at ε* (`epsilon`): the policy closes a task when it believes the error to be ε. Some gold
  tasks, asked about like all others, then tell how wrong the labels are
  (`workbench.collection.honest`); the others with gold show what they are. `until-trusted`,
  `until-sure` and `mixed` hear of their class while they go on, and temper beliefs by it. With no
  such task they believe that workers err independently.

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

from workbench.aggregation import AGGREGATORS, vote_rule
from workbench.base import FloatArray, IntArray, stream
from workbench.collection import (
    POLICIES,
    Answers,
    Collected,
    Fixed,
    Goal,
    Ledger,
    Pool,
    calibrated,
    measured_error,
    rehearse,
    wrong_chances,
)
from workbench.crowd import DATASETS
from workbench.ranking import bought, recorded, replayed, simulated, spend
from workbench.studies import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Size,
    Streams,
    Study,
    TrialEnded,
    ended,
    in_order,
    joined,
    measured,
    nonempty,
    percent,
)

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
"""It has three labels per task, so that there is nothing to draw."""
FEW = (ONE_BUDGET, "music_genre")
"""Crowds of fewer than five labels per task, of which half says nothing."""
ALL, EACH = "up to all", "a task"
"""Budgets: steps from three labels per task up to all on record, or `A_TASK`."""
SMALL = "sat12"
"""It has 32 tasks with gold: ten of them are controls."""
STOPPED = ("bluebird", "rte", "sp_amt", "face", "sentiment", "zencrowd_us")
"""Crowds on which `until-sure` stops by hidden gold."""
REPLAYED = tuple(
    name for name in POLICIES if name not in ("algorithm-2", "ratings", "re-solve", "dual-descent")
)
DRAWN = tuple(
    name for name in ("fixed", "margin", "uncertain-drawn", "until-sure") if name in POLICIES
)
A_TASK = (1, 2, 3, 5)
"""Labels per task in the mean at which policies are held against EBCC and `PLAIN`."""
PLAIN = "uncertain"
"""The plain way to look at labels: the task in most doubt, any worker, answers by `pooled`."""
RESTARTS = 2
"""Random starts of EBCC: ten, its default, take five times as long."""
MUCH, MARGIN = 1.3, 0.01
"""A belief holds where the error made is at most `MUCH` times it, and `MARGIN`, and two standard
errors."""
LEAST, STEPS = 3, 11
"""Labels per task from which on policies are compared; steps up to all labels."""
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
        bought_ = _bought if params["budgets"] == ALL else _bought_a_task
        return bought_(params["policy"], pool, answers, orders)
    if params["controls"] >= (scored := int((answers.truth >= 0).sum())):
        raise TrialEnded("infeasible", f"{params['controls']} control tasks of {scored}")
    ends = pd.DataFrame([_stopped(params, pool, answers, order) for order in orders])
    means = ends.astype(float).mean()
    return {
        "labels": int((answers.label >= 0).sum()),
        "tasks": len(pool.tasks),
        **{str(name): None if np.isnan(mean) else float(mean) for name, mean in means.items()},
    }


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


def _bought_a_task(policy: str, pool: Pool, answers: Answers, orders: list[int]) -> Record:
    """Error at so many labels per task, beside that of as many for each and EBCC, and `PLAIN`'s."""
    n, labels = len(pool.tasks), int((answers.label >= 0).sum())
    each = [b for b in A_TASK if b * n <= labels]
    budgets = tuple(b * n for b in each)
    own, plain = (
        np.stack([bought(name, pool, answers, budgets, order)[1] for order in orders])
        for name in (policy, PLAIN)
    )
    base = np.stack([by_ebcc(pool, answers, budgets, order) for order in orders])
    record: dict[str, Any] = {"labels": labels, "tasks": n, "scored": own.shape[2]}
    for at, b in enumerate(each):
        more, beyond = own[:, at] - base[:, at], own[:, at] - plain[:, at]
        record |= {
            f"own_at_{b}": float(own[:, at].mean()),
            f"ebcc_at_{b}": float(base[:, at].mean()),
            f"more_at_{b}": float(more.mean()),
            f"se_at_{b}": crossed_error(more),
            f"plain_at_{b}": float(plain[:, at].mean()),
            f"beyond_at_{b}": float(beyond.mean()),
            f"beyond_se_at_{b}": crossed_error(beyond),
        }
    return record


@lru_cache(maxsize=32)
def by_ebcc(pool: Pool, answers: Answers, budgets: tuple[int, ...], order: int) -> FloatArray:
    """Chance of a wrong label of each scored task by EBCC of labels drawn evenly; as `bought`."""
    ledger = Ledger(pool, 0)
    policy, wrong = Fixed(ledger, Goal(), order), []
    for b in budgets:
        ledger.total = b
        spend(policy, ledger, answers)
        fit = AGGREGATORS["ebcc"].call(ledger.votes(), restarts=RESTARTS, seed=order)
        wrong.append(wrong_chances(fit.info["posterior"], answers.truth))
    return np.stack(wrong)


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
    hidden = controls if len(control) else None
    done = rehearse(kind, replace(pool, hidden=hidden), answers, goal, seed=order)
    rule = vote_rule(done.ledger.votes(), "dawid-skene-smoothed")(controls)
    actual = float(rule.label(rest).loss(answers.truth[rest]).mean())
    shut = rest[done.belief.closed[rest]]
    own, plain = done.belief.posterior, _plain(pool, answers, done, order)
    wrong, of_shut, of_plain = (
        wrong_chances(posterior[rows], answers.truth[rows])
        for posterior, rows in ((own, rest), (own, shut), (plain, rest))
    )
    record = {
        "a_task": len(done.ledger.labels) / len(pool.tasks),
        "closed": float(done.belief.closed.mean()),
        "closed_believed": float(done.belief.error[shut].mean()) if len(shut) else None,
        "closed_error": float(of_shut.mean()) if len(shut) else None,
        "believed": float(done.belief.error[rest].mean()),
        "error": float(wrong.mean()),
        "plain": float(of_plain.mean()),
        "actual": actual,
    }
    if hidden is None:
        return record | dict.fromkeys(("calibrated", "measured", "held"))
    stated = measured_error(done.ledger, controls, seed=order)
    low, high = stated.error_interval
    return record | {
        "calibrated": float(1.0 - calibrated(done.ledger, controls)[rest].max(axis=1).mean()),
        "measured": stated.error_measured,
        "held": low - 1e-12 <= actual <= high + 1e-12,
    }


def _plain(pool: Pool, answers: Answers, done: Collected, order: int) -> FloatArray:
    """Posterior that `PLAIN` has for as many labels, shape (n, K)."""
    many = len(done.ledger.labels)
    end = rehearse(POLICIES[PLAIN].call, pool, answers, Goal(), total=many, seed=order)
    return end.belief.posterior


# What the trials say.

ORDERS: dict[str, Sequence[Any] | None] = {"data": (STAND_IN, *CROWDS), "policy": REPLAYED}


def analyse(trials: pd.DataFrame) -> Analysis:
    """Policies on a budget, beside `fixed`; and where they stopped by their beliefs."""
    parts = (
        about_budgets(measured(trials, "error_0")),
        about_labels_a_task(measured(trials, "own_at_1")),
        about_ends(measured(trials, "believed")),
    )
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
    """One row per crowd, policy and step: budget, error, and how much more than that of `fixed`."""
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


AT_EACH = ("own", "ebcc", "more", "se", "plain", "beyond", "beyond_se")
"""What a trial has at each of `A_TASK`: errors, differences and their standard errors."""


def about_labels_a_task(rows: pd.DataFrame) -> Analysis:
    """Errors at so many labels per task, beside as many for each task and EBCC, and `PLAIN`'s."""
    if rows.empty:
        return Analysis()
    parts = []
    for b in A_TASK:
        columns = {f"{name}_at_{b}": name for name in AT_EACH}
        some = rows.reindex(columns=["data", "policy", "orders", "scored", *columns])
        parts.append(some.rename(columns=columns).assign(a_task=b).dropna(subset=["own"]))
    table = pd.concat(parts, ignore_index=True)
    table["within"] = table["more"] <= table["se"] + 1e-12
    table = in_order(table, {**ORDERS, "a_task": A_TASK})
    findings = []
    for policy, points in table.groupby("policy", sort=False):
        near = points.groupby("data", sort=False)["within"].mean() >= ENOUGH
        behind = ", ".join(str(name) for name in near.index[~near])
        findings.append(
            f"{policy}, at 1, 2, 3 and 5 labels per task: not worse than as many for each and EBCC "
            f"by more than a standard error at 90 % of the budgets on {near.sum()} of {len(near)} "
            f"crowds{f' (not on {behind})' if behind else ''}, and at {points['within'].sum()} of "
            f"{len(points)} budgets in all; wrong on {points['more'].mean():+.4f} more in the mean."
        )
        if policy != PLAIN:
            findings.append(beside_plain(str(policy), points))
    caption = f"On so many labels per task, beside fixed k and EBCC, and {PLAIN}"
    return Analysis(tuple(findings), {caption: table}, (side_by_side(table),))


def side_by_side(table: pd.DataFrame) -> Chart:
    """Errors of policies, of `PLAIN` and of even labels and EBCC, one panel per crowd."""
    parts = [table[["data", "a_task", "policy", "own"]].rename(columns={"own": "error"})]
    for name, column in ((PLAIN, "plain"), ("as many for each, EBCC", "ebcc")):
        part = table[["data", "a_task", column]].rename(columns={column: "error"})
        parts.append(part.assign(policy=name))
    shown = pd.concat(parts, ignore_index=True)
    return Chart(
        "labels-a-task",
        "Share of wrong labels, by labels per task in the mean, mean of orders of workers; "
        f"{table['data'].nunique()} crowds.",
        shown.astype({"policy": str}).drop_duplicates(["data", "a_task", "policy"]),
        "a_task",
        "error",
        "labels per task",
        "error",
        series="policy",
        panel="data",
    )


def beside_plain(policy: str, points: pd.DataFrame) -> str:
    """Where one policy is behind `PLAIN` by more than two standard errors, by labels per task."""
    parts = []
    for b, some in points.groupby("a_task"):
        behind = some.loc[some["beyond"] > 2.0 * some["beyond_se"] + 1e-12, "data"].astype(str)
        parts.append(
            f"at {b} on {', '.join(behind) or 'none'} of {len(some)} crowds "
            f"({some['beyond'].mean():+.4f} in the mean)"
        )
    return (
        f"{policy}, behind {PLAIN} for as many labels by more than two standard errors: "
        f"{'; '.join(parts)}."
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
    "error",
    "plain",
    "calibrated",
    "measured",
    "actual",
    "held",
]
"""Columns of the table of policies that stopped; `actual` is the error of Dawid–Skene's labels,
`error` that of the policy's, and `plain` that of `PLAIN` for as many."""
KEYS = ENDS[:5]


def about_ends(rows: pd.DataFrame) -> Analysis:
    """Believed, calibrated, measured and actual error where the policy stopped, by crowd."""
    if rows.empty:
        return Analysis()
    rows = rows.reindex(columns=[*KEYS, *ENDS[5:]])  # trials of before have none of `PLAIN`
    numbers = rows.astype(dict.fromkeys(ENDS[5:], float))
    groups = numbers.groupby(KEYS, sort=False)
    means, errors = groups[ENDS[5:]].mean(), groups[["closed_error", "error"]].sem()
    table = means.join(errors.add_suffix("_se")).assign(trials=groups.size()).reset_index()
    table = in_order(table, {**ORDERS, "epsilon": None, "controls": None})
    findings = [
        sentence
        for _, crowds in table.groupby(["policy", "epsilon", "controls"])
        for sentence in (holds(crowds), stopped(crowds))
        if sentence
    ]
    return Analysis(tuple(findings), {"Stopped at a believed ε": table})


def holds(crowds: pd.DataFrame) -> str:
    """On how many crowds one policy is right about its own labels."""
    policy, epsilon, controls = crowds[["policy", "epsilon", "controls"]].iloc[0]
    parts = []
    for name, made, believed in (
        ("closed tasks", "closed_error", "closed_believed"),
        ("all tasks", "error", "believed"),
    ):
        some = crowds.dropna(subset=[made])
        room = 2.0 * some[f"{made}_se"].fillna(0.0)
        right = some[made] <= MUCH * some[believed] + MARGIN + room
        behind = ", ".join(some.loc[~right, "data"].astype(str))
        parts.append(f"{name} on {right.sum()} of {len(some)}{f' (not {behind})' * bool(behind)}")
    nothing = ", ".join(crowds.loc[crowds["closed"] == 0.0, "data"].astype(str))
    return (
        f"{policy}, ε {epsilon:g}, {controls} hidden tasks: wrong on at most {MUCH:g} times what "
        f"it believes, .01 and two standard errors of {parts[0]} crowds, of {parts[1]}; it closes "
        f"nothing on {nothing or 'none'}."
    )


def stopped(crowds: pd.DataFrame) -> str:
    """How far beliefs of one policy are off, and whether the intervals hold; "" of no controls."""
    policy, epsilon, controls = crowds[["policy", "epsilon", "controls"]].iloc[0]
    if crowds["held"].isna().all():
        return ""
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
        "controls": Parameter(
            int,
            40,
            "with ε, gold tasks to measure the error on, of which the policy hears",
            least=0,
        ),
        "budgets": Parameter(
            str, ALL, "without ε, labels that may be bought", choices=(ALL, EACH), paired=True
        ),
    },
    sizes={
        "smoke": Size(
            (
                {"policy": ["fixed", "margin", "uncertain-drawn"], "orders": [1]},
                {"policy": ["fixed", "until-trusted"], "budgets": [EACH], "orders": [2]},
                {"epsilon": [0.05], "orders": [1], "controls": [0, 40]},
                {"epsilon": [0.05], "orders": [1], "policy": ["until-sure"]},
            ),
            1,
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
    version=3,
    deadline=1800.0,
)
