"""Run a learner many times on simulated workers, and summarise the runs.

The summary has curves with standard errors, a table of the workers, and the bounds of the theory.

Source: Liu, Liu (2015), Section 6.1: regret over time, mean of many runs, beside Theorems 3 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.accuracy.best_sets import best_set
from workbench.accuracy.majority import majority_accuracy
from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.bar import Step, no_step
from workbench.base.errors import InputError
from workbench.learning import regret_bounds
from workbench.learning.agreement import Structure, structure
from workbench.learning.draws import Draws
from workbench.learning.em import PRICE
from workbench.learning.engine import Runs, simulate
from workbench.learning.ls_ol import PLAIN, LsOlOptions
from workbench.learning.playing import play, set_accuracy
from workbench.learning.policies import POLICIES, Terms
from workbench.learning.schedule import Schedule

MOST_SHOWN = 2000
"""At most so many simulated tasks are used to measure how far workers agree."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """What a learner did with simulated workers, over all runs.

    Attributes
    ----------
    runs
        Each run by itself.
    steps
        One row per checkpoint; `tasks` says how many tasks there were by then. Means over the
        runs, each with a standard error in the column of the same name and `_se` (NaN with a
        single run): `accuracy, regret, exploration_regret, exploitation_regret, cost_regret,
        size` (of the set in force), `labels`. Without standard errors: `crowd_accuracy,
        best_accuracy, explored`, and `asked`, labels bought per task since the last checkpoint.
    workers
        One row per worker: `worker, skill, estimate` (mean over the runs), `estimate_low,
        estimate_high` (90 % of the runs lie between them), `in_best_set` (share of the runs that
        end with her in the set), `in_best_set_hindsight` (whether she is in `best`), `removed`
        (share of the runs).
    best
        The best set by the true skills.
    learnt, learnt_share
        The set that is in force at the end of the most runs, and the share of these runs.
    learnt_accuracy
        Mean accuracy, by the true skills, of the sets in force at the end.
    structure
        What the workers' agreement says of the crowd, from the labels of the first run.
    bounds
        Theorem 3, or Theorem 5 for weighted votes: `source`, `holds`, and `why` it does not.
        Where the bound can be computed also `regret`, `cost_regret`, `says_something` and
        `failing`, the conditions that do not hold. None for other learners than LS_OL, and for
        fewer than two tasks.
    """

    runs: Runs
    steps: pd.DataFrame
    workers: pd.DataFrame
    best: IntArray
    learnt: IntArray
    learnt_share: float
    learnt_accuracy: float
    structure: Structure
    bounds: dict[str, Any] | None


def simulated(
    skill: ArrayLike,
    schedule: Schedule,
    horizon: int,
    runs: int,
    options: LsOlOptions = PLAIN,
    *,
    policy: str = "ls-ol",
    price: float = PRICE,
    costs: Sequence[float] | None = None,
    seed: int,
    step: Step = no_step,
) -> Simulated:
    """Run a learner many times on workers of given skills.

    Parameters
    ----------
    skill
        p of each worker, shape (M,).
    schedule, horizon, options, costs
        As for `engine.simulate`.
    runs
        How many runs.
    policy
        The learner, one of `POLICIES`.
    price
        What a label costs, for the policies that weigh this.
    step
        Is called after each run.

    Raises
    ------
    InputError
        As `engine.simulate`.
    """
    p: FloatArray = np.asarray(skill, dtype=np.float64)
    draws = Draws(p, runs, seed=seed)
    stream = draws.stream(0)
    sample = np.stack([stream.labels(task) for task in range(min(horizon, MOST_SHOWN))])
    if policy == "ls-ol":
        played = simulate(draws, schedule, horizon, options, costs=costs, step=step)
        end_accuracy = [
            options.vote.accuracies(p[None, chosen], estimate[None, chosen], chosen.sum()[None])[0]
            for chosen, estimate in zip(played.chosen, played.estimates, strict=True)
        ]
    else:
        if costs is not None:
            raise InputError("`costs` are counted for the policy 'ls-ol': leave them out")
        terms = Terms(len(p), 2, checks.count("horizon", horizon, 1), schedule, options, price)
        played, end_accuracy = _played(draws, terms, policy, step)
    best = best_set(p, weighted=options.weighted).workers
    sets, times = np.unique(played.chosen, axis=0, return_counts=True)
    return Simulated(
        played,
        _curves(played, p),
        _workers(played, p, best),
        best,
        np.flatnonzero(sets[times.argmax()]),
        float(times.max() / runs),
        float(np.mean(end_accuracy)),
        structure(sample, seed=seed),
        _bounds(p, horizon, costs, options.weighted) if policy == "ls-ol" else None,
    )


def _played(draws: Draws, terms: Terms, policy: str, step: Step) -> tuple[Runs, list[float]]:
    """Play a policy in every run; return the runs, and the accuracy of each final set."""
    M = draws.workers
    games, learners = [], []
    for run in range(draws.runs):
        learners.append(POLICIES[policy].call(terms, draws.coins(run)))
        games.append(play(learners[-1], draws, run, terms.horizon, against="majority"))
        step()
    tasks = games[0].tasks
    best = [best_set(skill) for skill in draws.skill]
    cost = np.array([len(optimum.workers) for optimum in best], dtype=np.float64)
    labels = np.stack([game.labels for game in games])
    explored = np.stack([game.explored for game in games])
    spent = labels.astype(np.float64)
    runs = Runs(
        tasks=tasks,
        best_accuracy=np.array([optimum.accuracy for optimum in best]),
        best_cost=cost,
        exploration_regret=np.stack([game.exploration_regret for game in games]),
        exploitation_regret=np.stack([game.exploitation_regret for game in games]),
        spent=spent,
        cost_regret=spent - cost[:, None] * tasks,
        labels=labels,
        new_testers=explored,
        retests=np.zeros_like(explored),
        size=np.stack([game.size for game in games]),
        estimates=np.stack([learner.estimates for learner in learners]),
        chosen=np.stack([np.isin(np.arange(M), learner.best) for learner in learners]),
        removed=((),) * draws.runs,
    )
    end_accuracy = [
        set_accuracy(learner, skill, learner.best)
        for learner, skill in zip(learners, draws.skill, strict=True)
    ]
    return runs, end_accuracy


def _curves(runs: Runs, skill: FloatArray) -> pd.DataFrame:
    """Means over the runs, and their standard errors, at every checkpoint."""
    R, n = len(runs.labels), runs.tasks
    columns: dict[str, Any] = {"tasks": n}
    for name in (
        "accuracy",
        "regret",
        "exploration_regret",
        "exploitation_regret",
        "cost_regret",
        "size",
        "labels",
    ):
        values = runs.reward / n if name == "accuracy" else getattr(runs, name).astype(float)
        columns[name] = values.mean(axis=0)
        columns[f"{name}_se"] = values.std(axis=0, ddof=1) / math.sqrt(R) if R > 1 else np.nan
    columns["crowd_accuracy"] = majority_accuracy(skill)
    columns["best_accuracy"] = runs.best_accuracy[0]
    columns["explored"] = runs.explored.mean(axis=0)
    columns["asked"] = np.diff(columns["labels"], prepend=0) / np.diff(n, prepend=0)
    return pd.DataFrame(columns)


def _workers(runs: Runs, skill: FloatArray, best: IntArray) -> pd.DataFrame:
    low, high = np.quantile(runs.estimates, [0.05, 0.95], axis=0)
    dropped = np.zeros(len(skill))
    for removal in chain.from_iterable(runs.removed):
        dropped[removal.worker] += 1 / len(runs.labels)
    return pd.DataFrame(
        {
            "worker": [str(i) for i in range(len(skill))],
            "skill": skill,
            "estimate": runs.estimates.mean(axis=0),
            "estimate_low": low,
            "estimate_high": high,
            "in_best_set": runs.chosen.mean(axis=0),
            "in_best_set_hindsight": np.isin(np.arange(len(skill)), best),
            "removed": dropped,
        }
    )


def _bounds(
    skill: FloatArray, T: int, costs: Sequence[float] | None, weighted: bool
) -> dict[str, Any] | None:
    """Compute the bound of Theorem 3, or 5 for weighted votes, or say why it cannot be."""
    if T < 2:
        return None
    bound: dict[str, Any] = {"source": "Theorem 5" if weighted else "(6) and (7)", "holds": False}
    try:
        promise = (
            regret_bounds.theorem_5(skill, T)
            if weighted
            else regret_bounds.theorem_3(skill, T, costs=costs)
        )
    except InputError as error:
        return bound | {"why": str(error)}
    except ArithmeticError:
        why = f"for {len(skill)} workers its constants are too large for a computer"
        return bound | {"why": why}
    failing = [condition.statement for condition in promise.conditions if not condition.holds]
    if len(failing) > 1 and failing[-1].startswith("ε"):
        failing.pop()  # Where another condition fails no ε would do: this adds nothing.
    return {
        "source": bound["source"],
        "regret": promise.regret,
        "cost_regret": promise.cost_regret,
        "holds": promise.stands,
        "says_something": promise.says_something,
        "failing": failing,
        "why": None if promise.stands else f"this does not hold: {'; '.join(failing)}",
    }
