"""Theorem 1: the Primal Approximation with the optimal dual, beside the integer optimum.

Qualities are drawn for each pair on its own: no task structure is used. With prices, the cost in
place of the number of labels (Section 7).

Source: Ho, Jabbari, Vaughan (2013), Section 4.3 and Section 7.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem
from crowd_papers.adaptive_assignment.theorems import theorem_1
from workbench.assignment import offline_weights, primal_approximation
from workbench.solving import Termination, solve
from workbench.studies import (
    BEYOND,
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Ruling,
    Size,
    Streams,
    Study,
    TrialEnded,
    broken_somewhere,
    claim,
    ended,
    ended_well,
    enough,
    flags,
    mean_se,
    only,
    percent,
)


def trial(params: Params, streams: Streams) -> Record:
    """Draw an instance, solve it exactly, run the algorithm with the relaxation's dual."""
    rng = np.random.default_rng(streams.instance)
    shape = n, _ = params["tasks"], params["workers"]
    quality = rng.uniform(0.05, 1, shape)
    cost = rng.uniform(1, params["dearest"], shape) if params["dearest"] > 1 else None
    need = np.full(n, params["need"] * quality.sum(axis=1).min())
    problem = AssignmentProblem(quality, round(params["capacity"] * n), need, cost)
    exact = solve(problem, "ip")
    if exact.termination is Termination.INFEASIBLE:
        raise TrialEnded("infeasible", "no whole assignment covers every task")
    if exact.termination is not Termination.OPTIMAL or exact.objective is None:
        raise TrialEnded("numerics", f"the integer program ended {exact.termination}")
    own = np.random.default_rng(streams.method("primal approximation"))
    weights, perturbed, _ = offline_weights(problem, seed=own)
    chosen = primal_approximation(perturbed, weights, problem.capacity, cost=cost, seed=own)
    short = (quality * chosen).sum(axis=1) < need
    promise = theorem_1(problem, weights, perturbed)
    return {
        "optimum": exact.objective,
        "cost": float(problem.prices[chosen].sum()),
        "promise": promise.labels,
        "dearest_label": float(problem.prices.max()),
        "tied": promise.terms["tied"],
        "short": int(short.sum()),
        "full": int(((chosen.sum(axis=0) == problem.capacity) & (problem.capacity < n)).sum()),
    }


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Feasibility and cost above the integer optimum, where no capacity cuts through a tie."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    rows = rows.assign(
        untied=rows["tied"] == 0,
        feasible=rows["short"] == 0,
        excess=rows["cost"] - rows["optimum"],
    )
    groups = rows.groupby(["tasks", "workers", "capacity", "dearest", "untied"])
    table = groups.agg(
        trials=("short", "size"),
        feasible=("feasible", "sum"),
        short=("short", "mean"),
        excess=("excess", "mean"),
        most_excess=("excess", "max"),
        promise=("promise", "max"),
    ).reset_index()
    feasible, untied = rows["feasible"], rows["untied"]
    finding = (
        f"The perturbation assumption holds in {untied.sum():,} of {len(rows):,} instances; there "
        f"{(feasible & untied).sum():,} results are feasible, in all {feasible.sum():,}."
    )
    shares = rows.groupby(["capacity", "dearest"])["untied"].mean().reset_index()
    prices = ["unit prices" if most == 1 else f"prices 1 to {most:g}" for most in shares["dearest"]]
    chart = Chart(
        "ties",
        "Share of instances in which no capacity cuts through tasks of equal value; "
        f"{len(rows):,} trials.",
        shares.assign(prices=prices),
        x="capacity",
        y="untied",
        x_label="capacity, share of the tasks",
        y_label="share of instances",
        series="prices",
    )
    tables = {"Feasibility and cost above the integer optimum": table}
    return Analysis((ended(trials), finding), tables, (chart,))


STUDY = Study(
    name="offline-assignment",
    title="The Primal Approximation with the optimal dual",
    source="Ho, Jabbari, Vaughan (2013), Theorem 1 and Section 7",
    parameters={
        "tasks": Parameter(int, 20, "n", least=2, most=200),
        "workers": Parameter(int, 15, "m", least=2, most=200),
        "capacity": Parameter(float, 1.0, "M as a share of the tasks", least=0.1, most=1),
        "need": Parameter(
            float, 0.3, "C as a share of all quality on the poorest task", least=0.01, most=1
        ),
        "dearest": Parameter(
            float, 1.0, "prices are drawn from 1 to this; 1 for unit prices", least=1, most=100
        ),
    },
    sizes={
        "smoke": Size(
            ({"tasks": [8], "workers": [8], "capacity": [1.0, 0.3], "dearest": [1.0, 3.0]},), 2
        ),
        "small": Size(
            ({"tasks": [12], "workers": [12], "capacity": [1.0, 0.4, 0.3], "dearest": [1.0, 3.0]},),
            40,
        ),
        "paper": Size(
            (
                {
                    "tasks": [20],
                    "workers": [15],
                    "capacity": [1.0, 0.4, 0.3, 0.25],
                    "dearest": [1.0, 3.0],
                },
                {"tasks": [12], "workers": [30], "capacity": [1.0, 0.3], "dearest": [1.0]},
            ),
            50,
        ),
    },
    trial=trial,
    analyse=analyse,
    deadline=180.0,
)

# What the paper claims.


@claim(
    id="adaptive-theorem-1",
    source="Theorem 1",
    statement="If no two tasks of a worker tie, the Primal Approximation Algorithm with the "
    "relaxation's optimal dual needs at most min(m, n) labels more than the integer optimum.",
    where={"dearest": 1},
    least=40,
)
def feasible_and_near_optimum(trials: pd.DataFrame) -> Ruling:
    """Results short or too dear, where the perturbation assumption holds, and where not."""
    untied = trials[trials["tied"] == 0]
    enough(untied, 20, "instances where the assumption holds")
    others = trials[trials["tied"] > 0]
    excess = untied["cost"] - untied["optimum"]
    wrong = int(((untied["short"] > 0) | (excess > untied["promise"] * (1 + 1e-9))).sum())
    figures = (
        f"The perturbation assumption holds in {len(untied)} of {len(trials)} perturbed instances. "
        f"In {(untied['full'] > 0).sum()} of these some capacity is used up (with room to spare "
        f"each task is on its own). {wrong} results are infeasible or more than min(m, n) labels "
        f"above the integer optimum; the most is {excess.max():.0f} label(s), min(m, n) = "
        f"{untied['promise'].max():.0f}."
    )
    if wrong:
        return Ruling.refuted(figures)
    short = int((others["short"] > 0).sum())
    if not short:
        return Ruling.holds(figures)
    return Ruling.holds_as_corrected(
        f"{figures} Perturbing cannot bring the assumption about where capacities bind: it fails "
        f"in {len(others)} instances, and {short} of those leave a task short."
    )


@claim(
    id="adaptive-extension-costs",
    source="Section 7",
    statement="If labels have different prices, the same techniques apply to the cost Σ c y in "
    "place of the number of labels. (Read as: Theorem 1's promise in units of the dearest label, "
    "and cost saved by heeding prices with sampled weights.)",
    studies=("offline-assignment", "sampled-weights"),
    least=40,
)
def prices_in_place_of_labels(trials: pd.DataFrame, sampled_weights: pd.DataFrame) -> Ruling:
    """Theorem 1 with prices, and what heeding them saves with sampled weights."""
    untied = trials[(trials["dearest"] > 1) & (trials["tied"] == 0)]
    enough(untied, 20, "priced instances where the perturbation assumption holds")
    excess, dearest = untied["cost"] - untied["optimum"], untied["dearest_label"]
    dearer = excess > untied["promise"] * dearest * (1 + 1e-9)
    broken = int(((untied["short"] > 0) | dearer).sum())
    online = sampled_weights[sampled_weights["dearest"] > 1]
    enough(online, 8, "priced trials of the sampled program")
    ratio = online["cost"] / online["bound"]
    saved = 1 - online["unit_cost"] / online["unit_blind"].astype(float)
    mean, se = mean_se(saved.dropna())
    figures = (
        f"{broken} of {len(untied)} results are infeasible or cost more than the integer optimum "
        f"plus the min(m, n) most expensive labels. They are at most {excess.max():.2f} above it, "
        "with the "
        f"optimal dual and prices drawn from 1 to {untied['dearest'].max():g} (to "
        f"{dearest.max():.2f}), where no capacity cuts through a tie. With weights from a sample "
        f"the cost is {ratio.mean():.2f} of the relaxation's ({len(ratio)} trials), and heeding "
        f"prices saves {percent(mean)} ± {percent(se)} (one standard error) of the cost of a unit "
        "of quality."
    )
    return Ruling.refuted(figures) if broken or mean <= BEYOND * se else Ruling.holds(figures)


@claim(
    id="adaptive-extension-structure",
    source="Section 7",
    statement="Only exploration depends on task types: with another structure of skills, the rest "
    "of the algorithm and its analysis stay the same.",
    studies=("offline-assignment", "sampled-weights", "structured-tasks"),
)
def structure_matters_to_exploration_only(
    trials: pd.DataFrame, sampled_weights: pd.DataFrame, structured_tasks: pd.DataFrame
) -> Ruling:
    """Theorems 1 and 2 without task types, and errors by what is explored."""
    untied = trials[(trials["dearest"] == 1) & (trials["tied"] == 0)]
    enough(untied, 20, "instances where the perturbation assumption holds")
    excess = untied["cost"] - untied["optimum"]
    broken = int(((untied["short"] > 0) | (excess > untied["promise"])).sum())
    own_easiness = only(sampled_weights, 0, "", crowd="difficulty")
    online = own_easiness[flags(own_easiness["ratio_stands"])]
    enough(online, 8, "trials of the sampled program without types")
    ratio = online["cost"] / online["bound"]
    dearer = ratio > online["ratio_promise"] * (1 + 1e-6)
    fitted = only(structured_tasks, 10, "trials that fit abilities", exploration="ability")
    by_type = only(structured_tasks, 10, "trials that explore by type", exploration="type")
    over, se = mean_se(fitted["error"] - fitted["epsilon"])
    figures = (
        f"If every pair of a worker and a task has its own quality: {broken} of {len(untied)} "
        "offline results "
        "break "
        f"Theorem 1. Every task its own easiness: {dearer.sum()} of {len(dearer)} break Theorem "
        f"2's ratio ({ratio.mean():.2f} on average). Abilities fitted to "
        f"{fitted['gold'].mean():.0f} gold tasks per worker put skills off by "
        f"{fitted['off'].mean():.3f} and give a mean error {fitted['error'].mean():.3f} at ε = "
        f"{fitted['epsilon'].mean():.3f} on average, with "
        f"{(fitted['labels'] / fitted['bound']).mean():.2f} of the relaxation's labels; exploring "
        f"each type takes {by_type['gold'].mean():,.0f} gold tasks, for "
        f"{by_type['off'].mean():.3f}, {by_type['error'].mean():.3f} and "
        f"{(by_type['labels'] / by_type['bound']).mean():.2f}."
    )
    theorem_2 = broken_somewhere(online, dearer, ["crowd", "epsilon", "gamma", "tasks"])
    if broken or theorem_2 or over > BEYOND * se:
        return Ruling.refuted(figures)
    return Ruling.holds(figures)
