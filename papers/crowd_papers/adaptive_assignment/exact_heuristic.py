"""The integer program beside its heuristics, over sizes up to what it can prove.

The paper calls the integer program (1)–(3) hard and works with its relaxation. Here both stand on
one instance: skills uniform on [0.5, 1], for each pair on its own (`types` 0) or by task type, and
a requirement of half of what the whole crowd could give the
poorest task, with capacity for two fifths of the tasks. Skills are known to all but the
adaptive method; the crowd is sampled beforehand where a method wants that.

- `exact`: the integer program by whichever method suits, within a time limit, with its bound;
- `primal approximation`: Algorithm 1 with the optimal dual of the perturbed relaxation;
- `rounding`: the relaxation rounded, the least covered task first;
- `sampled weights`, `adaptive`: Algorithm 2 with true, and with estimated skills;
- `random`: a random regular graph, with the fewest labels a task that cover every task.

Estimated skills need task types, so `adaptive` and `sampled weights` are run with types only. The
certified bound of the relaxation (`lp_bound`) stands beside every method. A method that leaves
tasks short (`covered` below 1) has solved another problem: in the performance profile it counts as
failed. Where the integer program is not proven in time, a ratio to its optimum is an interval.

What a time limit decides may differ from run to run: `best`, `proven_bound`, `proven` and
`method_seconds` are volatile.

Source: Ho, Jabbari, Vaughan (2013), Sections 4.2, 4.3 and 5; Dolan, Moré (2002) for profiles.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem
from crowd_papers.adaptive_assignment.assignment_trials import played, relaxation
from workbench.assignment import COVERED, Setting, offline_weights, primal_approximation
from workbench.base import BoolArray, FloatArray, InputError
from workbench.crowd import estimate_skills, quality, regular_graph, task_types
from workbench.solving import Termination, rounded, solve
from workbench.studies import (
    Analysis,
    Block,
    Chart,
    Parameter,
    Params,
    Record,
    Scalar,
    Size,
    Streams,
    Study,
    TrialEnded,
    capital,
    ended,
    ended_well,
    in_order,
    joined,
    mean_chart,
    means,
    nonempty,
    percent,
    performance_profile,
    plus_minus,
    records,
)

ONLINE = ("sampled weights", "adaptive")
METHODS = ("exact", "primal approximation", "rounding", *ONLINE, "random")
GAMMA = 0.3
"""γ of the online methods."""


def trial(params: Params, streams: Streams) -> Record:
    """Run one method on one instance, beside the relaxation's certified bound."""
    skill, sample, problem = _instance(params, streams)
    relaxed = relaxation(problem, "the crowd cannot cover every task")
    method, own = params["method"], streams.method(params["method"])
    measured: dict[str, Scalar] = dict.fromkeys(
        ("labels", "covered", "best", "proven_bound", "proven")
    )
    started = time.perf_counter()
    chosen: BoolArray | None = None
    if method == "exact":
        measured |= _exact(problem, params["time_limit"])
    elif method == "primal approximation":
        weights, perturbed, _ = offline_weights(problem, seed=own)
        chosen = primal_approximation(perturbed, weights, problem.capacity, seed=own)
    elif method == "rounding":
        chosen = rounded(problem, relaxed.assignment) > 0.5
    elif method == "random":
        chosen = _random(problem, own)
    else:
        chosen = _online(params, streams, skill, sample, problem)
    seconds = time.perf_counter() - started
    if chosen is not None:
        covered = (problem.quality * chosen).sum(axis=1) >= problem.requirement * COVERED
        measured |= {"labels": int(chosen.sum()), "covered": float(np.mean(covered))}
    return {
        "lp_bound": relaxed.bound,
        "lp_value": relaxed.solution.objective,
        **measured,
        "method_seconds": seconds,
    }


def _instance(params: Params, streams: Streams) -> tuple[FloatArray, FloatArray, AssignmentProblem]:
    """Skills of the main and the sampled workers by type (or by task), and the offline problem."""
    rng = np.random.default_rng(streams.instance)
    n, m = params["tasks"], params["workers"]
    rows = params["types"] or n
    skill = rng.uniform(0.5, 1, (rows, m))
    sample = rng.uniform(0.5, 1, (rows, max(1, round(GAMMA * m))))
    kinds = task_types(n, rows)
    qualities = quality(skill)[kinds]
    need = params["need"] * qualities.sum(axis=1).min()
    capacity = max(1, round(params["capacity"] * n))
    return skill, sample, AssignmentProblem(qualities, capacity, need, task_types=kinds)


def _exact(problem: AssignmentProblem, time_limit: float) -> dict[str, float | bool | None]:
    solution = solve(problem, "ip", time_limit=time_limit)
    if solution.termination is Termination.INFEASIBLE:
        raise TrialEnded("infeasible", "no whole assignment covers every task")
    if solution.termination is Termination.NUMERICS:
        raise TrialEnded("numerics", solution.note)
    if solution.objective is None:
        raise TrialEnded(
            "limit", f"no solution within {time_limit:g} s", {"proven_bound": solution.bound}
        )
    proven = solution.termination is Termination.OPTIMAL
    return {"best": solution.objective, "proven_bound": solution.bound, "proven": proven}


def _random(problem: AssignmentProblem, seed: np.random.SeedSequence) -> BoolArray:
    """Try one label a task, two, … until every task is covered or no worker has room."""
    n, m = problem.shape
    most = min(m, int(np.minimum(problem.capacity, n).sum()) // n)
    chosen = np.zeros((n, m), dtype=bool)
    for each in range(1, most + 1):
        chosen[:] = False
        chosen[regular_graph(n, m, each, seed=seed, capacity=problem.capacity)] = True
        if ((problem.quality * chosen).sum(axis=1) >= problem.requirement * COVERED).all():
            break
    return chosen


def _online(
    params: Params,
    streams: Streams,
    skill: FloatArray,
    sample: FloatArray,
    problem: AssignmentProblem,
) -> BoolArray:
    """Algorithm 2 with true or estimated skills."""
    if not params["types"]:
        raise InputError(f"types is 0: {params['method']} needs task types; give 1 or more")
    crowd = np.hstack([sample, skill])
    if params["method"] == "adaptive":
        answered = np.full(crowd.shape, params["gold"], dtype=np.int64)
        correct = np.random.default_rng(streams.method("gold")).binomial(answered, crowd)
        crowd = estimate_skills(correct, answered).skill
    assert problem.task_types is not None
    epsilon = float(np.exp(-problem.requirement[0] / 2))
    run, _ = played(
        "paper",
        Setting(problem.task_types, epsilon, problem.shape[1]),
        crowd,
        np.full(crowd.shape[1], problem.capacity[0]),
        seed=streams.method(params["method"]),
    )
    chosen = np.zeros(problem.shape, dtype=bool)
    chosen[run] = True
    return chosen


# What the trials say.

KEYS = ["types", "tasks", "workers", "capacity", "need"]
SIZE = "pairs of task and worker, n m"
NO_TYPES = "each pair its own skill"


def analyse(trials: pd.DataFrame) -> Analysis:
    """What the integer program proves, and the methods beside it."""
    rows = ended_well(trials)
    if rows.empty or "best" not in rows:
        return Analysis((ended(trials),))
    rows = beside_exact(rows)
    orders = {"method": METHODS, "types": None, "pairs": None, "repetition": None}
    rows = in_order(rows, orders)
    parts = [Analysis((ended(trials),)), beside_optimum(rows)]
    exact = rows[rows["method"] == "exact"]
    if len(exact):
        parts.insert(1, proofs(exact))
    return joined(parts)


def beside_exact(rows: pd.DataFrame) -> pd.DataFrame:
    """Trials with their size's name, and the exact trial's bounds on the same instance."""
    rows = rows.assign(
        **rows[["best", "proven_bound", "labels", "covered"]].astype(float),
        proven=rows["proven"].eq(True),
        kind=np.where(rows["types"] == 0, NO_TYPES, "skills by task type"),
        size=rows["tasks"].astype(str) + " × " + rows["workers"].astype(str),
        pairs=rows["tasks"] * rows["workers"],
    )
    bounds = rows.groupby([*KEYS, "repetition"])[["best", "proven_bound"]].transform("first")
    cost, exact = rows["labels"].fillna(rows["best"]), rows["method"] == "exact"
    throughout = rows.groupby(["kind", "method", "pairs"])["proven"].transform("all")
    return rows.assign(
        cost=cost,
        ratio_least=cost / bounds["best"],
        ratio_most=cost / bounds["proven_bound"].fillna(rows["lp_bound"]),
        above=cost / rows["lp_bound"],
        gap=(rows["best"] - rows["proven_bound"]) / rows["best"],
        above_lp=rows["best"] / rows["lp_bound"] - 1,
        feasible=exact | rows["covered"].ge(COVERED),
        covered=rows["covered"].where(~exact, 1.0),
        largest=rows["size"].where(throughout),
    )


def proofs(rows: pd.DataFrame) -> Analysis:
    """How much of the integer program is proven, by kind of skills and by size."""
    table = rows.groupby(["kind", "size"], sort=False).agg(
        trials=("proven", "size"),
        proven=("proven", "sum"),
        gap_mean=("gap", "mean"),
        gap_most=("gap", "max"),
        best_above_lp=("above_lp", "mean"),
        seconds_median=("method_seconds", "median"),
    )
    kinds = rows.groupby("kind", sort=False).agg(
        trials=("proven", "size"),
        proven=("proven", "sum"),
        above_lp=("above_lp", "mean"),
        largest=("largest", "last"),
    )
    findings = tuple(
        f"Integer program, {row.Index}: proven in {row.proven:,} of {row.trials:,} trials; the "
        f"largest size proven throughout is {row.largest}; the best solution is "
        f"{percent(row.above_lp, 2)} above the LP bound in the mean."
        for row in records(kinds)
    )
    caption = "The integer program: how much is proven"
    return Analysis(findings, {caption: table.reset_index()})


def beside_optimum(rows: pd.DataFrame) -> Analysis:
    """Labels over the optimum, cover and seconds of each method."""
    groups = rows.groupby(["method", "kind"], sort=False)
    table = groups.agg(
        trials=("cost", "size"),
        feasible=("feasible", "sum"),
        covered=("covered", "mean"),
        ratio_least=("ratio_least", "mean"),
        ratio_least_se=("ratio_least", "sem"),
        ratio_most=("ratio_most", "mean"),
        ratio_most_se=("ratio_most", "sem"),
    ).reset_index()
    findings = tuple(
        f"{capital(row.method)}, {row.kind}: {ratio_to_optimum(row)} times the optimum's labels; "
        f"{row.feasible:,} of {row.trials:,} results cover every task, {percent(row.covered)} of "
        "the tasks in the mean."
        for row in records(table[table["method"] != "exact"])
    )
    caption = (
        "Labels over the optimum (between its best known value and its proven bound), and cover"
    )
    charts = nonempty(above_bound_chart(rows), profile_chart(rows), seconds_chart(rows))
    return Analysis(findings, {caption: table}, charts)


def ratio_to_optimum(row: Any) -> str:
    """A ratio to the optimum; an interval where the optimum is not proven."""
    least = plus_minus(row.ratio_least, row.ratio_least_se)
    if row.ratio_most - row.ratio_least <= 5e-4:
        return least
    return f"{least} to {plus_minus(row.ratio_most, row.ratio_most_se)}"


def above_bound_chart(rows: pd.DataFrame) -> Chart:
    """Draw labels over the relaxation's bound, by size."""
    table = means(rows, ["method", "kind", "pairs"], "above")
    return mean_chart(
        "above-bound",
        "Labels over the relaxation's certified bound, by size; results that leave tasks short are "
        "included (the table counts them).",
        in_order(table, {"method": METHODS, "pairs": None}),
        "pairs",
        (SIZE, "labels / LP bound"),
        series="method",
        panel="kind",
        log_x=True,
        references=((1.0, "LP bound"),),
    )


def profile_chart(rows: pd.DataFrame) -> Chart:
    """Draw the performance profile; a method that leaves tasks short has not solved it."""
    return Chart(
        "profile",
        "Performance profile: share of instances in which a method covers every task with at most "
        "so many times the fewest labels of any method. Methods that leave tasks short have not "
        "solved the instance.",
        profile(rows.assign(cost=rows["cost"].where(rows["feasible"]))),
        x="ratio",
        y="share",
        x_label="labels / fewest labels of any method",
        y_label="share of instances",
        series="method",
        panel="kind",
        kind="step",
    )


def profile(rows: pd.DataFrame) -> pd.DataFrame:
    """Steps of the Dolan–Moré profile over instances, from ratio 1 to a common end.

    Returns
    -------
    DataFrame
        Columns `kind, method, ratio, share`. A row without a cost is an instance not solved.
    """
    least = rows.groupby([*KEYS, "repetition"])["cost"].transform("min")
    return performance_profile(rows.assign(least=least), ["kind", "method"], "cost", "least")


def seconds_chart(rows: pd.DataFrame) -> Chart:
    """Draw each method's seconds, by size."""
    seconds = rows.groupby(["method", "kind", "pairs"], sort=False)["method_seconds"]
    return Chart(
        "seconds",
        "Seconds a method takes on one instance, without the common bound; the integer program "
        "stops at its time limit. Medians; bars from least to most.",
        seconds.agg(median="median", low="min", high="max").reset_index(),
        x="pairs",
        y="median",
        x_label=SIZE,
        y_label="seconds",
        series="method",
        panel="kind",
        low="low",
        high="high",
        log_x=True,
        log_y=True,
    )


_OFFLINE: Block = {"method": ["exact", "primal approximation", "rounding", "random"]}
_ALL: Block = {"method": list(METHODS)}

STUDY = Study(
    name="exact-heuristic",
    title="The integer program and its heuristics",
    source="Ho, Jabbari, Vaughan (2013), Sections 4.2, 4.3 and 5",
    parameters={
        "method": Parameter(str, "exact", "who assigns", choices=METHODS, paired=True),
        "tasks": Parameter(int, 20, "n", least=1, most=5000),
        "workers": Parameter(int, 15, "m", least=1, most=5000),
        "types": Parameter(int, 0, "task types; 0 gives each pair its own skill", least=0, most=50),
        "capacity": Parameter(float, 0.4, "M as a share of the tasks", least=0.01, most=1),
        "need": Parameter(
            float, 0.5, "C as a share of all quality on the poorest task", least=0.01, most=1
        ),
        "gold": Parameter(int, 20, "s, gold tasks per worker and type", least=1, paired=True),
        "time_limit": Parameter(
            float, 20.0, "seconds for the integer program", least=0.1, most=500, paired=True
        ),
    },
    sizes={
        "smoke": Size(
            (
                {**_OFFLINE, "tasks": [6], "workers": [20], "time_limit": [500.0]},
                {**_ALL, "tasks": [8], "workers": [20], "types": [2], "time_limit": [500.0]},
            ),
            1,
        ),
        "small": Size(
            (
                {**_OFFLINE, "tasks": [10], "workers": [20], "time_limit": [5.0]},
                {**_OFFLINE, "tasks": [20], "workers": [30], "time_limit": [5.0]},
                {**_ALL, "tasks": [20], "workers": [30], "types": [2], "time_limit": [5.0]},
                {**_ALL, "tasks": [60], "workers": [60], "types": [2], "time_limit": [5.0]},
            ),
            3,
        ),
        "paper": Size(
            tuple(
                {**_OFFLINE, "tasks": [n], "workers": [m]}
                for n, m in ((10, 20), (20, 30), (40, 60), (60, 100))
            )
            + tuple(
                {**_ALL, "tasks": [n], "workers": [m], "types": [3]}
                for n, m in ((12, 20), (30, 40), (60, 60), (120, 100), (201, 60))
            ),
            10,
        ),
    },
    trial=trial,
    analyse=analyse,
    volatile=("best", "proven_bound", "proven", "method_seconds"),
    limited=("best", "proven_bound", "proven"),
)
