"""The integer program at the paper's size: column generation beside HiGHS alone, at equal time.

The paper holds its algorithms against the relaxation, because the integer program (1)–(3) is hard.
Here each trial draws a crowd of the size of its experiments and solves the integer program by one
method within a time limit. Methods meet the same crowds.

- `patterns`: column generation over patterns (`workbench.solving.patterns`);
- `mip`: heuristic, label counts, then branch and bound on what is left open;
- `highs`: HiGHS alone, from the rounded relaxation.

Crowds by type: `spread`, skills uniform on [0.6, 0.95], no two alike; `three`, skills 0.5, 0.7 or
0.9; `hammers`, 0.5 or 0.9, where ties are everywhere and the relaxation's bound stays far below.
Crowds without types: `pairs`, every worker with a skill of her own, uniform on [0.5, 1], for every
task; `priced`, the same with a price for each pair, uniform on [0.5, 2].

`gap` is what is left at the end, in percent of the cost: (cost − bound)/cost; `gap_20` what was
left after 20 seconds. `certified_gap` counts only the bound recomputed from the data, without any
solver's word. `mean_gap` is the primal–dual integral over the time limit, as a share. The
relaxation's certified bound (`lp_bound`) is the same for all. The rest depends on the machine and
is volatile.

Source: Ho, Jabbari, Vaughan (2013), Sections 4.2 and 6; Berthold (2013) for the integral.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from crowd_papers.adaptive_assignment.assignment_trials import relaxation
from workbench.base import generator
from workbench.crowd import Crowd, from_table, task_types, uniform_range
from workbench.solving import Solution, solve
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
    capital,
    count_of,
    ended,
    measured,
    nonempty,
    records,
)

METHODS = ("patterns", "mip", "highs")
FEW = {"three": (0.5, 0.7, 0.9), "hammers": (0.5, 0.9)}
CROWDS = ("spread", *FEW, "pairs", "priced")
EARLY = 20.0
"""Seconds after which the gap is noted as well."""
MEASURED = (
    "cost",
    "bound",
    "certified_bound",
    "bound_from",
    "gap",
    "certified_gap",
    "gap_20",
    "mean_gap",
    "proven",
    "solve_seconds",
)


def trial(params: Params, streams: Streams) -> Record:
    """Solve one crowd's integer program by one method."""
    problem = _instance(params, streams)
    relaxed = relaxation(problem, "the crowd cannot cover every task")
    solution = solve(
        problem,
        "ip",
        method=params["method"],
        time_limit=params["time_limit"],
        seed=int(streams.method(params["method"]).generate_state(1)[0]),
    )
    certified = solution.certificate.lower_bound
    cost = solution.objective
    return {
        "lp_bound": relaxed.bound,
        "cost": cost,
        "bound": solution.bound,
        "certified_bound": certified,
        "bound_from": solution.certificate.bound_from or None,
        "gap": _percent(cost, solution.bound),
        "certified_gap": _percent(cost, certified),
        "gap_20": _gap_after(solution, EARLY),
        "mean_gap": solution.primal_dual_integral(params["time_limit"]),
        "proven": solution.certificate.status == "proven",
        "solve_seconds": solution.seconds,
    }


def _instance(params: Params, streams: Streams) -> AssignmentProblem:
    need = requirement(params["epsilon"])
    if params["crowd"] in ("pairs", "priced"):
        rng = generator(streams.instance)
        shape = params["tasks"], params["workers"]
        quality = (2 * rng.uniform(0.5, 1.0, shape) - 1) ** 2
        prices = rng.uniform(0.5, 2.0, shape) if params["crowd"] == "priced" else None
        return AssignmentProblem(quality, params["capacity"], need, prices)
    kinds = task_types(params["tasks"], params["types"])
    crowd = _crowd(params, streams.instance)
    return AssignmentProblem(crowd.quality[kinds], crowd.capacity, need, task_types=kinds)


def _crowd(params: Params, seed: np.random.SeedSequence) -> Crowd:
    size, types, capacity = params["workers"], params["types"], params["capacity"]
    if params["crowd"] == "spread":
        return uniform_range(
            size, low=0.6, high=0.95, seed=seed, capacity=capacity, task_types=types
        )
    skill = generator(seed).choice(FEW[params["crowd"]], (size, types))
    return from_table(pd.DataFrame(skill), capacity)


def _percent(cost: float | None, bound: float | None) -> float | None:
    if cost is None or bound is None:
        return None
    return 100.0 * max(0.0, cost - bound) / cost if cost else 0.0


def _gap_after(solution: Solution, seconds: float) -> float | None:
    """What was left open at a time; None while there was no plan or no bound."""
    moments = [moment for moment in solution.history if moment.seconds <= seconds]
    return _percent(moments[-1].objective, moments[-1].bound) if moments else None


# What the trials say.

FLOOR = 1e-3
"""Least gap drawn, in percent: a proven optimum has gap 0, which a logarithmic axis lacks."""
KEYS = ["crowd", "epsilon", "method"]


def analyse(trials: pd.DataFrame) -> Analysis:
    """Gaps and seconds by crowd, ε and method, and every trial by itself."""
    rows = measured(trials, "gap")
    if rows.empty:
        return Analysis((ended(trials),))
    table = by_setting(rows)
    findings = [
        f"{capital(row.method)}, crowd {row.crowd}, ε = {row.epsilon:g}: gap "
        f"{row.gap_median:.3g} % in the median, certified {row.certified_worst:.3g} % at worst; "
        f"after {EARLY:.0f} s {row.gap_20_worst:.3g} % at worst; optimum proven from the data in "
        f"{count_of(row.proven, row.trials)}."
        for row in records(table)
    ]
    tables = {
        "Gaps in percent of the cost, and seconds, by crowd, ε and method": table,
        "Every trial": rows[[*KEYS, "repetition", "lp_bound", *MEASURED]],
    }
    chart = gap_chart(rows[rows["crowd"] == "spread"])
    return Analysis((ended(trials), *findings), tables, nonempty(chart))


def by_setting(rows: pd.DataFrame) -> pd.DataFrame:
    """Medians and worst of gaps and seconds by crowd, ε and method, in the order of the trials."""
    table = rows.groupby(KEYS, sort=False).agg(
        trials=("gap", "size"),
        gap_median=("gap", "median"),
        gap_worst=("gap", "max"),
        certified_worst=("certified_gap", "max"),
        gap_20_median=("gap_20", "median"),
        gap_20_worst=("gap_20", "max"),
        proven=("proven", "sum"),
        seconds_median=("solve_seconds", "median"),
        seconds_worst=("solve_seconds", "max"),
        mean_gap=("mean_gap", "mean"),
    )
    return table.reset_index()


def gap_chart(rows: pd.DataFrame) -> Chart:
    """Draw the certified gaps of crowds with many different qualities."""
    gaps = rows.groupby(["method", "epsilon"], sort=False)["certified_gap"]
    spread = gaps.agg(median="median", low="min", high="max").clip(lower=FLOOR)
    return Chart(
        "gap",
        "Certified gap at the time limit, many different qualities. Medians, bars from least to "
        f"most; proven optima are drawn at {FLOOR:g} %.",
        spread.reset_index(),
        x="epsilon",
        y="median",
        x_label="error asked for, ε",
        y_label="certified gap, % of the cost",
        series="method",
        low="low",
        high="high",
        log_x=True,
        log_y=True,
        references=((0.05, "0.05 %"),),
    )


_SPREAD: Block = {"crowd": ["spread"], "epsilon": [0.1, 0.01, 0.001]}
_TIES: Block = {"crowd": list(FEW), "epsilon": [0.1, 0.01]}
_PAIRS: Block = {
    "method": list(METHODS),
    "crowd": ["pairs", "priced"],
    "tasks": [200],
    "workers": [100],
    "time_limit": [10.0],
}
# Of so few tasks every plan is proven, long before the limit: no clock decides what comes out.
_SMOKE: Block = {"tasks": [24], "workers": [20], "capacity": [24], "time_limit": [600.0]}
_SMALL: Block = {"tasks": [120], "workers": [40], "capacity": [40], "time_limit": [3.0]}

STUDY = Study(
    name="exact-at-size",
    title="The integer program at the paper's size",
    source="Ho, Jabbari, Vaughan (2013), Sections 4.2 and 6",
    parameters={
        "method": Parameter(str, "patterns", "who solves it", choices=METHODS, paired=True),
        "crowd": Parameter(
            str,
            "spread",
            "by type: skills uniform on [0.6, 0.95]; 0.5, 0.7, 0.9; or 0.5, 0.9; by pair: uniform "
            "on [0.5, 1], without and with prices",
            choices=CROWDS,
        ),
        "tasks": Parameter(int, 1000, "n", least=1, most=100_000),
        "workers": Parameter(int, 300, "m", least=1, most=100_000),
        "types": Parameter(int, 3, "T, task types", least=1, most=1000),
        "capacity": Parameter(int, 200, "M, the most tasks a worker takes", least=1),
        "epsilon": Parameter(
            float, 0.001, "ε, error asked for", least=1e-12, most=0.999, paired=True
        ),
        "time_limit": Parameter(
            float, 60.0, "seconds for the integer program", least=0.1, most=3600, paired=True
        ),
    },
    sizes={
        "smoke": Size(
            (
                {**_SMOKE, "method": list(METHODS), "epsilon": [0.2]},
                {**_SMOKE, "method": ["patterns"], "crowd": list(FEW), "epsilon": [0.2]},
            ),
            1,
        ),
        "small": Size(
            (
                {**_SMALL, "method": list(METHODS), "epsilon": [0.2, 0.1]},
                {**_SMALL, "method": list(METHODS), "crowd": list(FEW), "epsilon": [0.2]},
                {**_SMALL, "method": list(METHODS), "crowd": ["pairs", "priced"], "epsilon": [0.2]},
            ),
            2,
        ),
        "paper": Size(
            (
                {**_SPREAD, "method": ["patterns", "highs"]},
                {**_TIES, "method": ["patterns", "highs"]},
                {**_PAIRS, "epsilon": [0.1], "capacity": [18]},
                {**_PAIRS, "epsilon": [0.01], "capacity": [32]},
            ),
            10,
        ),
    },
    trial=trial,
    analyse=analyse,
    volatile=MEASURED,
    limited=("cost", "bound", "certified_bound", "gap", "certified_gap", "proven"),
    deadline=900.0,
)
