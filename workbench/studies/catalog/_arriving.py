"""Crowds that arrive, as the studies of competitive ratios draw them, and their labels' reach."""

from __future__ import annotations

import numpy as np

from crowd_models import TypedProblem
from workbench.base.arrays import FloatArray
from workbench.crowd import population
from workbench.crowd.arrivals import adversarial, iid, random_permutation
from workbench.crowd.population import Crowd
from workbench.solving import solve
from workbench.studies.catalog._adaptive import COVERED, Instance
from workbench.studies.study import Params
from workbench.studies.trials import Streams

ARRIVALS = ("random", "iid", "worst_first", "best_first", "alternating")
CROWDS = ("spread", "specialists", "hammers", "equal")


def drawn(params: Params, streams: Streams) -> Instance:
    """A crowd in its order of arrival, γm of it sampled beforehand, and its tasks."""
    seed = streams.instance
    sampled = max(1, round(params["gamma"] * params["workers"]))
    crowd = _crowd(params, params["workers"] + sampled, seed)
    arrival = params["arrival"]
    if arrival == "random":
        order = random_permutation(len(crowd), seed)
    elif arrival == "iid":
        order = iid(len(crowd), len(crowd), seed)
    else:
        order = adversarial(crowd, arrival, seed=seed)
    return Instance(crowd.subset(order), sampled, params["tasks"], seed)


def _crowd(params: Params, size: int, seed: np.random.SeedSequence) -> Crowd:
    same = {"seed": seed, "capacity": params["capacity"], "task_types": params["types"]}
    makers = {
        "spread": lambda: population.uniform_range(size, low=0.5, high=1.0, **same),
        "specialists": lambda: population.specialists(size, skilled=0.9, other=0.5, **same),
        "hammers": lambda: population.spammer_hammer(size, hammer=0.9, spammer=0.5, **same),
        "equal": lambda: population.uniform(size, skill=0.9, **same),
    }
    return makers[params["crowd"]]()


def bound_reached(instance: Instance, reached: FloatArray) -> float | None:
    """Certified bound on the labels that gather `reached` (n,), averaged within each type."""
    types = len(instance.crowd.task_types)
    counts = np.bincount(instance.kinds, minlength=types)
    total = np.bincount(instance.kinds, reached, minlength=types)
    mean = np.divide(total, counts, out=np.zeros(types), where=counts > 0)
    workers = instance.main
    # A hair less, as sums are rounded: what the labels gather must not be beyond reach.
    typed = TypedProblem(
        workers.quality, workers.capacity, mean * COVERED, counts,
        np.ones(len(workers), dtype=np.int64),
    )  # fmt: skip
    return solve(typed, "typed").certificate.lower_bound
