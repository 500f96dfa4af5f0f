"""The best online policy beside the offline optimum, and policies beside the best one.

A ratio to the offline optimum mixes two losses. Each trial takes a small instance, equal tasks and
workers of a few types, by a known law or in random order, computes the best online policy and the
offline optimum, both with the same repair, and lets one policy play so many times:

- `unavoidable`: expected cost of the best online policy over that of the offline optimum;
- `avoidable`: a policy's mean cost over that of the best online policy;
- `lost`: 1 and what its choices lose, by the dynamic programme, over the cost of the best online
  policy: the same in expectation, never below 1, and with less noise.

Policies are told true skills and how many workers will come; those that use a sample are given γm
workers of the same law, who get no task.

Source: beyond Ho, Jabbari, Vaughan (2013).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from crowd_models.online import IndependentArrivals, OnlineProblem, RandomOrder
from workbench.online.dynamic_program import OnlineOptimum, offline_optimum, online_optimum
from workbench.studies.catalog.online_runs import ONLINE, run_units
from workbench.studies.measures import DeclaredAnalysis, Drawn, Grouped, Part
from workbench.studies.study import Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams

GAMMA = 0.3
ARRIVALS = ("independent", "random order")


@lru_cache(maxsize=4)
def solved(
    quality: str,
    requirement: int,
    tasks: int,
    workers: int,
    capacity: int,
    arrival: str,
    repair: float,
) -> tuple[OnlineOptimum, float]:
    """The best online policy and the offline optimum of an instance."""  # fmt: skip
    units = tuple(int(q) for q in quality.split())
    count = len(units)
    arrivals = (
        RandomOrder(tuple(len(part) for part in np.array_split(range(workers), count)))
        if arrival == "random order"
        else IndependentArrivals(workers, (1 / count,) * count)
    )
    problem = OnlineProblem(
        (requirement,), (tasks,), (units,), (capacity,) * count, (1.0,) * count, arrivals, repair
    )
    return online_optimum(problem), offline_optimum(problem)


def trial(params: Params, streams: Streams) -> Record:
    """Let one policy play an instance."""
    best, offline = solved(
        *(params[name] for name in ("quality", "requirement", "tasks", "workers", "capacity",
                                    "arrival", "repair"))
    )  # fmt: skip
    crowd, own = np.random.default_rng(streams.instance), streams.method(params["policy"])
    costs, losses = np.transpose([
        play(best, params["policy"], crowd, np.random.default_rng(seed))
        for seed in own.spawn(params["runs"])
    ])  # fmt: skip
    return {
        "online": best.cost,
        "offline": offline,
        "states": best.states.size,
        "unavoidable": best.cost / offline,
        "avoidable": costs.mean() / best.cost,
        "avoidable_error": costs.std(ddof=1) / math.sqrt(len(costs)) / best.cost,
        "lost": 1 + losses.mean() / best.cost,
        "lost_error": losses.std(ddof=1) / math.sqrt(len(losses)) / best.cost,
    }


def play(
    best: OnlineOptimum, policy: str, crowd: np.random.Generator, seed: np.random.Generator
) -> tuple[float, float]:
    """Cost of one run, repair included, and what its choices lost."""
    problem = best.problem
    arrivals, node, path = problem.arrivals, problem.arrivals.root, []
    first = arrivals.after(node)
    chances = [one.factor for one in first]
    while coming := arrivals.after(node):
        path.append(coming[crowd.choice(len(coming), p=[one.factor for one in coming])])
        node = path[-1].node
    sample = crowd.choice([one.kind for one in first], math.ceil(GAMMA * len(path)), p=chances)
    met = run_units(problem, policy, [one.kind for one in path], sample=sample.tolist(), seed=seed)
    state, cost, lost = problem.start, 0.0, 0.0
    for t, ((_, kind, node), (_, given, left)) in enumerate(zip(path, met, strict=True)):
        cost += problem.price[kind] * len(given)
        lost += best.cost_of(t, node, kind, given, left) - best.choice(t, node, state, kind)[0]
        state = left
    return cost + problem.repairs(state), lost


KEYS = ("arrival", "quality", "capacity", "repair")

STUDY = Study(
    name="online-optimum",
    title="The best online policy, exactly",
    source="beyond Ho, Jabbari, Vaughan (2013)",
    parameters={
        "policy": Parameter(str, "re-solve", "who assigns", choices=ONLINE, paired=True),
        "quality": Parameter(str, "1 2 4", "what labels bring by worker type, whole units"),
        "requirement": Parameter(int, 12, "C, units a task needs", least=1, most=30),
        "tasks": Parameter(int, 6, "n", least=1, most=12),
        "workers": Parameter(int, 12, "m", least=1, most=30),
        "capacity": Parameter(int, 3, "M, tasks a worker", least=1, most=12),
        "arrival": Parameter(str, "independent", "types of workers", choices=ARRIVALS),
        "repair": Parameter(float, 2.0, "U, price of a unit that is lacking", least=0.01, most=100),
        "runs": Parameter(int, 60, "times a policy plays", least=2, most=100_000),
    },
    sizes={
        "smoke": Size(
            ({"policy": ["paper", "re-solve", "dual descent", "greedy"], "requirement": [4],
              "tasks": [3], "workers": [5], "capacity": [2], "runs": [8]},), 2,
        ),
        "small": Size(({"policy": list(ONLINE), "capacity": [6, 3]},), 1),
        "paper": Size(
            ({"policy": list(ONLINE), "quality": ["1 2 4", "1 3 6", "2 3 4"],
              "capacity": [6, 4, 3], "arrival": list(ARRIVALS), "repair": [1.0, 2.0, 4.0]},), 1,
        ),
    },
    trial=trial,
    analyse=DeclaredAnalysis(
        Part(
            "Two losses: of the best online policy over the offline optimum, of a policy over it",
            Grouped(("policy", *KEYS), {
                "trials": ("lost", "size"), "unavoidable": "mean", "lost": "mean",
                "lost_error": "max", "avoidable": "mean", "avoidable_error": "max",
            }),
            ("Not knowing who comes costs {unavoidable.min:.3f} to {unavoidable.max:.3f} of the "
             "offline optimum, whatever the policy.",
             lambda rows, _: [
                 f"{str(name).capitalize()} costs {own['lost'].min():.3f} to "
                 f"{own['lost'].max():.3f} of the best online policy."
                 for name, own in rows.groupby("policy", sort=False)
             ],
             "The lowest mean cost of a policy is {lowest.min:+.1f} standard errors from that of "
             "the best online policy."),
            (Drawn("lost", "Cost of a policy over that of the best online policy, by what labels "
                   "bring and by capacity", "instance", "lost",
                   ("qualities, M", "policy / best online policy"),
                   {"series": "policy", "panel": "arrival", "kind": "points", "log_y": True},
                   of=Grouped(("policy", "arrival", "instance"),
                              {"trials": ("lost", "size"), "lost": "mean"})),),
        ),
        derived={
            "lowest": lambda ok: (ok["avoidable"] - 1) / ok["avoidable_error"],
            "instance": lambda ok: ok["quality"] + ", " + ok["capacity"].astype(str),
        },
    ),
)  # fmt: skip
