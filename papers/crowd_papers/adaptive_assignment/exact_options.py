"""Solver options and formulations: what helps branch and bound on the integer program.

Each trial draws a crowd and gives the integer program (1)–(3) to HiGHS once, with one thing changed
against `plain`, how the workbench calls it: a solver's option, or the program it gets.

- `no presolve`, `root cuts only`, `no symmetry` (orbits of equal tasks and workers are neither
  detected nor used), `no heuristics`, `interior point` (for the root relaxation), `two threads`;
- `tightened`: no label counts more than its task asks for, q_ij ← min(q_ij, C_i);
- `covers`: with the knapsack-cover cuts that the relaxation violates (`cover_cuts`);
- `no start`: without the rounded relaxation as a first plan;
- `patterns`: the Dantzig–Wolfe reformulation (`workbench.solving.patterns`), for comparison.

Crowds: `ties`, three task types and skills 0.6, 0.75 or 0.9, full of symmetry; `spread`, three task
types and skills uniform on [0.6, 0.95]; `easy`, the same with an error so large that good labels
count more than a task asks for (ε = 0.7); `pairs`, a skill for every pair; `priced`, a price for
every pair too, on [0.5, 2]. Settings meet the same crowds. `gap` is what is left open at the end,
in percent of the cost. `cpu_seconds`, of the processor, so that other work on the machine counts
less, are those until HiGHS stops, cuts and start included; the limit is one of the clock. What
depends on the machine is volatile.

Source: Ho, Jabbari, Vaughan (2013), (1)–(3); Carr, Fleischer, Leung, Phillips (2000) for the cuts;
Dolan, Moré (2002) for profiles.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from crowd_papers.adaptive_assignment.assignment_trials import relaxation
from crowd_papers.adaptive_assignment.cover_cuts import strengthened
from workbench.base import generator
from workbench.crowd import task_types
from workbench.solving import (
    RunOptions,
    Termination,
    primal_arrays,
    primal_checks,
    rounded,
    run,
    solve,
    tightened,
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
    capital,
    ended,
    in_order,
    means,
    measured,
    nonempty,
    performance_profile,
    records,
)

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no presolve": {"presolve": "off"},
    "root cuts only": {"mip_allow_cut_separation_at_nodes": False},
    "no symmetry": {"mip_detect_symmetry": False},
    "no heuristics": {"mip_heuristic_effort": 0.0},
    "interior point": {"mip_lp_solver": "ipx"},
    "two threads": {"parallel": "on"},
}
"""Options of HiGHS by setting."""
PROGRAMS = ("no start", "tightened", "covers", "patterns")
"""Settings that change the program, or how it is begun."""
SETTINGS = (*OPTIONS, *PROGRAMS)
CROWDS = ("ties", "spread", "easy", "pairs", "priced")
TYPES = 3
SOON = 0.01
"""Processor seconds below which times are taken to be the same."""
ROUNDING = 1e-6
"""Share of the cost that counts as none, as everywhere."""
MEASURED = ("cost", "bound", "gap", "proven", "cpu_seconds", "cuts")


def trial(params: Params, streams: Streams) -> Record:
    """Solve one crowd's integer program under one setting."""
    problem, setting = _instance(params, streams), params["setting"]
    relaxed = relaxation(problem, "the crowd cannot cover every task")
    limit, started, cuts = params["time_limit"], time.process_time(), 0
    if setting == "patterns":
        solution = solve(problem, "ip", method="patterns", time_limit=limit, isolated=False)
        cost, bound = solution.objective, solution.bound
        if solution.termination is Termination.INFEASIBLE:
            raise TrialEnded("infeasible", "no whole assignment covers every task")
    else:
        program = tightened(problem) if setting == "tightened" else problem
        threads = 2 if setting == "two threads" else 1
        options = RunOptions(limit, threads=threads, more=tuple(OPTIONS.get(setting, {}).items()))
        model = primal_arrays(program, integer=True)
        if setting == "covers":
            model, cuts = strengthened(problem, RunOptions(limit))
        start = rounded(problem, relaxed.assignment)[problem.pairs]
        result = run(model, options, None if setting == "no start" else start)
        if result.termination is Termination.INFEASIBLE:
            raise TrialEnded("infeasible", "no whole assignment covers every task")
        cost, bound = None, result.bound
        if result.values is not None:  # noqa: PD011
            plan = problem.matrix(np.round(result.values))
            if not all(check.passed for check in primal_checks(problem, plan, whole=True)):
                raise TrialEnded("numerics", "the solver's plan does not cover every task")
            cost = float((problem.prices * plan).sum())
    gap = 100.0
    if cost is not None and bound is not None:
        gap = 100.0 * (cost - bound) / cost if cost - bound > ROUNDING * cost else 0.0
    return {
        "lp_bound": relaxed.bound,
        "cost": cost,
        "bound": bound,
        "gap": gap,
        "proven": gap == 0.0,
        "cpu_seconds": time.process_time() - started,
        "cuts": cuts,
    }


def _instance(params: Params, streams: Streams) -> AssignmentProblem:
    rng, crowd = generator(streams.instance), params["crowd"]
    n, m = params["tasks"], params["workers"]
    kinds = task_types(n, n if crowd in ("pairs", "priced") else TYPES)
    shape = int(kinds.max()) + 1, m
    if crowd == "ties":
        skill = rng.choice([0.6, 0.75, 0.9], shape)
    else:
        skill = rng.uniform(0.6, 0.95, shape)
    cost = rng.uniform(0.5, 2.0, shape) if crowd == "priced" else None
    need = requirement(0.7 if crowd == "easy" else params["epsilon"])
    return AssignmentProblem(((2 * skill - 1) ** 2)[kinds], params["capacity"], need, cost)


# What the trials say.

KEYS = ["crowd", "tasks", "workers", "capacity", "epsilon", "repetition"]


def analyse(trials: pd.DataFrame) -> Analysis:
    """What each setting proves, in what time beside `plain`, and the performance profiles."""
    rows = measured(trials, "gap")
    if rows.empty:
        return Analysis((ended(trials),))
    beside = beside_plain(rows)
    findings = [
        f"{capital(row.setting)}: an optimum proven in {row.proven:,} of {row.n:,}, in "
        f"{row.mean:.2f} times the processor seconds of plain on the same crowd (95 % interval "
        f"{row.low:.2f} to {row.high:.2f})."
        for row in records(beside[beside["setting"] != "plain"])
    ]
    tables = {
        "Optima proven, seconds, and gaps in percent, by crowd and setting": by_setting(rows),
        "Processor seconds over those of plain on the same crowd, geometric means with 95 % "
        "intervals": beside,
    }
    chart = Chart(
        "profile",
        "Performance profile: share of the instances that a setting solves in at most so many "
        f"times the processor seconds of the fastest. Times below {SOON:g} s count as that.",
        profile(rows),
        x="ratio",
        y="share",
        x_label="processor seconds / those of the fastest",
        y_label="share of instances",
        series="setting",
        panel="changed",
        kind="step",
        log_x=True,
    )
    return Analysis((ended(trials), *findings), tables, nonempty(chart))


def by_setting(rows: pd.DataFrame) -> pd.DataFrame:
    """Optima proven, and medians of seconds and gaps, by crowd and setting."""
    rows = in_order(rows, {"crowd": CROWDS, "setting": SETTINGS})
    table = rows.groupby(["crowd", "setting"], sort=False).agg(
        trials=("gap", "size"),
        proven=("proven", "sum"),
        seconds_median=("cpu_seconds", "median"),
        gap_median=("gap", "median"),
        gap_worst=("gap", "max"),
        cuts=("cuts", "median"),
    )
    return table.reset_index()


def beside_plain(rows: pd.DataFrame) -> pd.DataFrame:
    """Processor seconds over those of `plain` on the same crowd: geometric means, 95 %."""
    seconds = rows["cpu_seconds"].clip(lower=SOON).astype(float)
    plain = seconds.where(rows["setting"] == "plain").groupby([rows[key] for key in KEYS])
    ratio = np.log(seconds / plain.transform("first"))
    table = means(rows.assign(ratio=ratio), ["setting"], "ratio")
    table[["mean", "low", "high"]] = np.exp(table[["mean", "low", "high"]])
    count = rows.groupby("setting")["proven"].sum()
    columns = ["setting", "n", "proven", "mean", "low", "high"]
    return table.assign(proven=table["setting"].map(count))[columns]


def profile(rows: pd.DataFrame) -> pd.DataFrame:
    """Profiles of the processor seconds to an optimum; `plain` in both panels."""
    proven = rows["proven"].eq(True)
    seconds = rows["cpu_seconds"].clip(lower=SOON).where(proven).astype(float)
    least = seconds.groupby([rows[key] for key in KEYS]).transform("min")
    rows = rows.assign(seconds=seconds, least=least)
    steps = performance_profile(rows, ["setting"], "seconds", "least")
    shared, programs = steps["setting"] == "plain", steps["setting"].isin(PROGRAMS)
    return pd.concat(
        [
            steps[~programs].assign(changed="solver option"),
            steps[programs | shared].assign(changed="program"),
        ]
    )


_ONE: Block = {"setting": list(SETTINGS), "crowd": list(CROWDS)}

STUDY = Study(
    name="exact-options",
    title="Solver options and formulations of the integer program",
    source="Ho, Jabbari, Vaughan (2013), (1)–(3)",
    parameters={
        "setting": Parameter(str, "plain", "what is changed", choices=SETTINGS, paired=True),
        "crowd": Parameter(str, "spread", "see the study's text", choices=CROWDS),
        "tasks": Parameter(int, 40, "n", least=1, most=5000),
        "workers": Parameter(int, 24, "m", least=1, most=5000),
        "capacity": Parameter(int, 22, "M, the most tasks a worker takes", least=1),
        "epsilon": Parameter(
            float, 0.2, "ε, error asked for (0.7 where `easy`)", least=1e-9, most=0.9
        ),
        "time_limit": Parameter(
            float, 10.0, "seconds for the integer program", least=0.1, most=3600, paired=True
        ),
    },
    sizes={
        "smoke": Size(
            (
                {
                    **_ONE,
                    "crowd": ["spread"],
                    "tasks": [6],
                    "workers": [10],
                    "capacity": [6],
                    "epsilon": [0.5],
                    "time_limit": [600.0],
                },
            ),
            1,
        ),
        "small": Size(
            ({**_ONE, "tasks": [30], "workers": [20], "capacity": [22], "epsilon": [0.25]},),
            2,
        ),
        "paper": Size(
            (
                {**_ONE, "tasks": [40], "workers": [24], "capacity": [22], "time_limit": [60.0]},
                {
                    **_ONE,
                    "tasks": [60],
                    "workers": [32],
                    "capacity": [28],
                    "epsilon": [0.15],
                    "time_limit": [60.0],
                },
            ),
            3,
        ),
    },
    trial=trial,
    analyse=analyse,
    volatile=MEASURED,
    limited=("cost", "bound", "gap", "proven"),
    deadline=900.0,
)
