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
from workbench.assignment.adaptive import AdaptiveAssigner, AdaptiveSettings
from workbench.assignment.policies import COVERED
from workbench.assignment.primal import primal_approximation
from workbench.assignment.weights import offline_weights
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.errors import InputError
from workbench.crowd.graphs import regular_graph
from workbench.crowd.simulate import task_types
from workbench.crowd.skills import estimate_skills, quality
from workbench.solving import Solution, Termination, solve
from workbench.solving.feasibility import rounded
from workbench.studies.catalog.assignment_trials import relaxation
from workbench.studies.measures import (
    ended,
    ended_well,
    fill,
    in_order,
    mean_chart,
    means_of,
    summarise,
)
from workbench.studies.study import (
    Analysis,
    Block,
    Chart,
    Parameter,
    Params,
    Record,
    Size,
    Study,
    TrialEnded,
)
from workbench.studies.summary import means
from workbench.studies.trials import Streams

ONLINE = ("sampled weights", "adaptive")
METHODS = ("exact", "primal approximation", "rounding", *ONLINE, "random")
GAMMA = 0.3
"""γ of the online methods."""


def trial(params: Params, streams: Streams) -> Record:
    """Run one method on one instance, beside the relaxation's certified bound."""
    skill, sample, problem = _instance(params, streams)
    relaxed = relaxation(problem, "the crowd cannot cover every task")
    method, own = params["method"], streams.method(params["method"])
    volatile: dict[str, float | bool | None] = {"best": None, "proven_bound": None, "proven": None}
    started = time.perf_counter()
    chosen: BoolArray | None = None
    if method == "exact":
        volatile.update(_exact(problem, params["time_limit"]))
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
    gathered = None if chosen is None else (problem.quality * chosen).sum(axis=1)
    return {
        "lp_bound": relaxed.bound,
        "lp_value": relaxed.solution.objective,
        "labels": None if chosen is None else int(chosen.sum()),
        "covered": None
        if gathered is None
        else float(np.mean(gathered >= problem.requirement * COVERED)),
        **volatile,
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
    given = quality(skill)[kinds]
    need = params["need"] * given.sum(axis=1).min()
    capacity = max(1, round(params["capacity"] * n))
    return skill, sample, AssignmentProblem(given, capacity, need, task_types=kinds)


def _exact(problem: AssignmentProblem, time_limit: float) -> dict[str, float | bool | None]:
    solution: Solution = solve(problem, "ip", time_limit=time_limit)
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
        drawn = np.random.default_rng(streams.method("gold")).binomial(answered, crowd)
        crowd = estimate_skills(drawn, answered).skill
    kinds = problem.task_types
    assert kinds is not None
    epsilon = float(np.exp(-problem.requirement[0] / 2))
    first = sample.shape[1]
    settings = AdaptiveSettings(epsilon, problem.shape[1], first)
    assigner = AdaptiveAssigner(kinds, settings, seed=streams.method(params["method"]))
    capacity = int(problem.capacity[0])
    for j in range(first):
        assigner.sample(crowd[:, j], capacity)
    chosen = np.zeros(problem.shape, dtype=bool)
    for j in range(problem.shape[1]):
        chosen[assigner.assign(crowd[:, first + j], capacity), j] = True
    return chosen


def analyse(table: pd.DataFrame) -> Analysis:
    """Share proven by size, ratios to the optimum or its interval, profile and seconds."""
    rows = _compared(table)
    if rows.empty:
        return Analysis(findings=(ended(table),))
    exact = rows[rows["method"] == "exact"]
    ratios = _ratios(rows)
    return Analysis(
        findings=(ended(table), *_sentences(exact, ratios)),
        tables={
            "The integer program: how much is proven": summarise(
                exact,
                ["kind", "size"],
                {"trials": ("proven", "size"), "proven": ("proven", "sum"),
                 "gap_mean": ("gap", "mean"), "gap_most": ("gap", "max"),
                 "best_above_lp": ("above_lp", "mean"),
                 "seconds_median": ("method_seconds", "median")},
            ),
            "Labels over the optimum (between its best known value and its proven bound), "
            "and cover": ratios,
        },
        charts=_charts(rows),
    )  # fmt: skip


_KEYS = ["types", "tasks", "workers", "capacity", "need"]


def _compared(table: pd.DataFrame) -> pd.DataFrame:
    """Ok trials with their size's name, and the exact trial's bounds on the same instance."""
    ok = ended_well(table)
    if ok.empty or "best" not in ok:
        return ok.iloc[:0]
    ok = ok.assign(
        **ok[["best", "proven_bound", "labels", "covered"]].astype(float),
        proven=ok["proven"].eq(True),
    )
    exact = ok.loc[ok["method"] == "exact", [*_KEYS, "repetition", "best", "proven_bound"]]
    bounds = exact.rename(columns={"best": "upper", "proven_bound": "lower"})
    ok = ok.merge(bounds, on=[*_KEYS, "repetition"], how="left")
    cost, lower = ok["labels"].fillna(ok["best"]), ok["lower"].fillna(ok["lp_bound"])
    ok = ok.assign(
        cost=cost, least=cost / ok["upper"], most=cost / lower, above=cost / ok["lp_bound"],
        gap=(ok["best"] - ok["proven_bound"]) / ok["best"],
        above_lp=ok["best"] / ok["lp_bound"] - 1,
        feasible=(ok["method"] == "exact") | ok["covered"].ge(COVERED),
        kind=np.where(ok["types"] == 0, "each pair its own skill", "skills by task type"),
        size=ok["tasks"].astype(str) + " × " + ok["workers"].astype(str),
        pairs=ok["tasks"] * ok["workers"],
    )  # fmt: skip
    orders = {"method": METHODS, "types": None, "pairs": None, "repetition": None}
    return in_order(ok, orders).reset_index(drop=True)


def _ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Means of cost/best and cost/bound: the ratio to the optimum lies between."""
    ratios = {f"ratio_{name}": rows[name] for name in ("least", "most")}
    covered = rows["covered"].where(rows["method"] != "exact", 1.0)
    return summarise(
        rows.assign(covered=covered, **ratios),
        ["method", "kind"],
        {
            "trials": ("cost", "size"),
            "feasible": ("feasible", "sum"),
            "covered": ("covered", "mean"),
            **means_of(*ratios),
        },
    )


def _sentences(exact: pd.DataFrame, ratios: pd.DataFrame) -> list[str]:
    said = []
    for kind, rows in exact.groupby("kind", sort=False):
        through = rows[rows.groupby("pairs")["proven"].transform("all")]
        largest = through["size"][through["pairs"] == through["pairs"].max()]
        upto = f"; the largest size proven throughout is {largest.iloc[0]}" if len(largest) else ""
        said.append(
            f"Integer program, {kind}: proven in {int(rows['proven'].sum())} of {len(rows)} "
            f"trials{upto}; the best solution is {100 * rows['above_lp'].mean():.2f} % above the "
            "LP bound in the mean."
        )
    others = ratios[ratios["method"] != "exact"]
    wide = others["ratio_most"] - others["ratio_least"] > 5e-4
    for row, open_ in zip(others.to_dict("records"), wide, strict=True):
        said.append(
            fill(
                "{method:cap}, {kind}: {ratio_least:±3}"
                + " to {ratio_most:±3}" * open_
                + " times the optimum's labels; {feasible:,} of {trials:,} results cover every "
                "task, {covered:1 %} of the tasks in the mean.",
                row,
            )
        )
    return said


def _charts(rows: pd.DataFrame) -> tuple[Chart, ...]:
    keys = ["method", "kind", "pairs"]
    shared: dict[str, Any] = {"series": "method", "panel": "kind"}
    size = "pairs of task and worker, n m"
    above = means(rows, keys, "above")
    spread = {"median": "median", "low": "min", "high": "max"}
    seconds = summarise(
        rows, keys, {name: ("method_seconds", what) for name, what in spread.items()}
    )
    return (
        mean_chart(
            "above-bound",
            "Labels over the relaxation's certified bound, by size; results that leave tasks short "
            "are included (the table counts them).",
            in_order(above, {"method": METHODS, "pairs": None}),
            "pairs",
            (size, "labels / LP bound"),
            **shared,
            log_x=True,
            references=((1.0, "LP bound"),),
        ),
        Chart(
            "profile",
            "Performance profile: share of instances in which a method covers every task with at "
            "most so many times the fewest labels of any method. Methods that leave tasks short do "
            "not count as having solved the instance.",
            profile(rows.assign(cost=rows["cost"].where(rows["feasible"]))),
            "ratio",
            "share",
            "labels / fewest labels of any method",
            "share of instances",
            **shared,
            kind="step",
        ),
        Chart(
            "seconds",
            "Seconds a method takes on one instance (solving the relaxation for the common bound "
            "not counted): medians, bars from least to most. The integer program stops at its time "
            "limit.",
            seconds,
            "pairs",
            "median",
            size,
            "seconds",
            **shared,
            low="low",
            high="high",
            log_x=True,
            log_y=True,
        ),
    )


def profile(rows: pd.DataFrame) -> pd.DataFrame:
    """Steps of the Dolan–Moré profile over instances, from ratio 1 to a common end.

    Returns
    -------
    DataFrame
        Columns `kind, method, ratio, share`. A row without a cost is an instance not solved.
    """
    ratio = rows["cost"] / rows.groupby([*_KEYS, "repetition"])["cost"].transform("min")
    end = max(1.05, 1.02 * float(ratio.quantile(0.98)))
    steps = []
    for (kind, method), own in ratio.groupby([rows["kind"], rows["method"]], sort=False):
        at = np.sort(own.dropna().to_numpy())
        grid = np.unique(np.concatenate([[1.0], at[at <= end], [end]]))
        share = np.searchsorted(at, grid + 1e-12, side="right") / len(own)
        steps.append(pd.DataFrame({"kind": kind, "method": method, "ratio": grid, "share": share}))
    return pd.concat(steps, ignore_index=True)


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
        "gold": Parameter(int, 20, "s, gold tasks a worker and type", least=1, paired=True),
        "time_limit": Parameter(
            float, 20.0, "seconds for the integer program", least=0.1, most=500, paired=True
        ),
    },
    sizes={
        "smoke": Size(
            ({**_OFFLINE, "tasks": [6], "workers": [20], "time_limit": [5.0]},
             {**_ALL, "tasks": [8], "workers": [20], "types": [2], "time_limit": [5.0]}),
            2,
        ),
        "small": Size(
            ({**_OFFLINE, "tasks": [10], "workers": [20], "time_limit": [5.0]},
             {**_OFFLINE, "tasks": [20], "workers": [30], "time_limit": [5.0]},
             {**_ALL, "tasks": [20], "workers": [30], "types": [2], "time_limit": [5.0]},
             {**_ALL, "tasks": [60], "workers": [60], "types": [2], "time_limit": [5.0]}),
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
    deadline=600.0,
)  # fmt: skip
