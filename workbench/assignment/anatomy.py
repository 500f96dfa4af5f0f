"""The adaptive algorithm taken apart: what the sample costs, and where the guarantee is void.

Tables for notebooks and talks. Source: Ho, Jabbari, Vaughan (2013), Sections 5.1 and 5.3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from workbench.assignment.guarantees import theorem_2, theorem_5
from workbench.assignment.primal import perturb, primal_approximation
from workbench.assignment.weights import sampled_weights
from workbench.base.arrays import IntArray
from workbench.base.seeds import Seed, generator
from workbench.crowd.arrivals import iid
from workbench.crowd.population import Crowd
from workbench.solving import solve


def sample_spread(
    crowd: Crowd,
    task_type: IntArray,
    *,
    epsilon: float,
    gammas: Sequence[float],
    draws: int,
    seed: Seed,
) -> pd.DataFrame:
    """Task weights and their consequences over repeated samples of workers with known skills.

    Each draw samples γm workers from the crowd (with replacement), prices the tasks by the
    sampled LP, and runs Algorithm 1 over the whole crowd.

    Parameters
    ----------
    crowd
        m workers; their skills are taken as known.
    task_type
        Type of each task, shape (n,).
    gammas
        γ, as shares of m.

    Returns
    -------
    DataFrame
        One row a draw: `gamma, draw, weight` (mean task weight), `weight_offline`, `ratio`
        (labels bought / relaxation's optimum), `covered` (share of the tasks), `bound`
        (Theorem 2's ratio at δ = 0.05, NaN where its conditions fail).
    """
    rng = generator(seed)
    n, m = len(task_type), len(crowd)
    counts = np.bincount(task_type, minlength=len(crowd.task_types))
    need = np.full(len(counts), float(requirement(epsilon)))
    offline = solve(AssignmentProblem(crowd.quality[task_type], crowd.capacity, need[0]), "typed")
    if offline.objective is None or offline.task_weights is None:
        raise ValueError("the crowd cannot cover the tasks: use a larger epsilon")
    rows = []
    for gamma in gammas:
        size = max(1, round(gamma * m))
        for draw in range(draws):
            sampled = crowd.subset(iid(m, size, rng))
            sample = sampled_weights(
                perturb(sampled.quality, seed=rng),
                sampled.capacity,
                need,
                counts,
                gamma=size / m,
                on_infeasible="relax",
            )
            weights = sample.weights[task_type]
            quality = perturb(crowd.quality, seed=rng)[task_type]
            chosen = primal_approximation(quality, weights, crowd.capacity, seed=rng)
            gathered = (crowd.quality[task_type] * chosen).sum(axis=1)
            promise = theorem_2(
                epsilon=epsilon,
                delta=0.05,
                gamma=size / m,
                n=n,
                m=m,
                least_quality=sample.least_quality_used,
            )
            rows.append(
                {
                    "gamma": gamma,
                    "draw": draw,
                    "weight": float(weights.mean()),
                    "weight_offline": float(offline.task_weights.mean()),
                    "ratio": float(chosen.sum() / offline.objective),
                    "covered": float(np.mean(gathered >= need[0] * (1 - 1e-9))),
                    "bound": promise.ratio if promise.holds else np.nan,
                }
            )
    return pd.DataFrame(rows)


def guarantee_by_gold(
    golds: Sequence[int],
    *,
    epsilon: float,
    delta: float,
    gamma: float,
    n: int,
    m: int,
    types: int,
    quality: float,
) -> pd.DataFrame:
    """Theorem 5 as the number of gold tasks grows, all labels used having one quality.

    Returns
    -------
    DataFrame
        One row for each s: `gold, radius` (t), `needed` (s the theorem asks for), `ratio`,
        `error`, `holds`, `fails` (the conditions that do not hold).
    """
    rows = []
    for gold in golds:
        promise = theorem_5(
            epsilon=epsilon,
            delta=delta,
            gamma=gamma,
            gold=gold,
            n=n,
            m=m,
            types=types,
            mean_quality_least=quality,
            least_quality=quality,
            mean_quality=np.array([quality]),
        )
        rows.append(
            {
                "gold": gold,
                "radius": promise.terms["t"],
                "needed": promise.terms["s_needed"],
                "ratio": promise.ratio,
                "error": None if promise.error is None else float(np.max(promise.error)),
                "holds": promise.holds,
                "fails": "; ".join(promise.failed),
            }
        )
    return pd.DataFrame(rows)
