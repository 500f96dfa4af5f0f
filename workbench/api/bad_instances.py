"""`bad_instance`: a search for an instance on which an online policy does badly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from workbench.api.meter import Progress, meter
from workbench.api.ratios import online_policies, share
from workbench.api.result import Figure, Result, page
from workbench.assignment.adversary import (
    AIMS,
    ORDERS,
    Hunt,
    PolicyScore,
    SmallInstance,
    replay_bad_instance,
    search_bad_instance,
    worst_arrival,
)
from workbench.assignment.policies import COVERED, WrongChoiceError
from workbench.assignment.registry import POLICIES
from workbench.base import checks
from workbench.base.errors import InputError
from workbench.base.registry import failure_of_own
from workbench.base.text import counted
from workbench.crowd import quality


@dataclass(frozen=True, eq=False, repr=False)
class BadInstance(Result):
    """The worst small instance that a search found for a policy.

    Attributes
    ----------
    policy, aim, order, seed
        What was searched for, and the seed by which it is replayed.
    instance
        Skills (T, ℓ + m), the ℓ sampled workers first; capacities; number of tasks; ε.
    ratio, covered
        Labels over the proven optimum, and the share of tasks covered: means over the orders.
    optimum
        Labels of the optimum.
    found_at, evaluations
        Which of how many instances it was.
    """

    policy: str
    aim: str
    order: str
    seed: int
    instance: SmallInstance
    ratio: float
    covered: float
    optimum: float
    found_at: int
    evaluations: int
    pictured = True

    @property
    def problem(self) -> AssignmentProblem:
        """The offline problem of the workers who come."""
        return self.instance.problem()

    def replay(self, policy: str | None = None) -> PolicyScore | None:
        """Measure the policy, or another, on the instance anew: ratio, share covered, optimum."""
        name = self.policy if policy is None else online_policies([policy])[0]
        return replay_bad_instance(self.instance, name, self.order, self.seed)

    def to_frame(self) -> pd.DataFrame:
        """Give the sampled workers, who get no task, then the others in the order they come in."""
        small = self.instance
        skills = {f"skill_{kind}": row for kind, row in enumerate(small.skill)}
        count = len(small.capacity)
        sampled = [at < small.sample for at in range(count)]
        return pd.DataFrame({"sampled": sampled, "capacity": small.capacity, **skills})

    def details(self) -> str:
        """Say how bad it is, and show the instance."""
        small = self.instance
        come = "as listed" if self.order == "adversarial" else "at random (mean over six orders)"
        return page(
            f"{self.policy}: {self.ratio:.3f} times the proven optimum ({self.optimum:g} labels), "
            f"{share(self.covered)} of the tasks covered.",
            f"{counted(small.tasks, 'task')} of {counted(len(small.skill), 'type')}, ε = "
            f"{small.epsilon:g}; workers come {come}:",
            self.to_frame().to_string(index=False),
            notes=[
                f"found by search, instance {self.found_at + 1} of {self.evaluations}: the worst "
                "case is at least as bad, and may be worse; more `evaluations` search longer.",
                ".replay() measures it again, .replay(name) another policy on it.",
            ],
        )

    def plot(self) -> Figure:
        """Draw what each label counts, in order of arrival, what the policy chose, and an optimum.

        Of random orders, that of the six on which it did worst.
        """
        from workbench import plots

        small, run, best = worst_arrival(
            self.instance, self.policy, self.order, self.seed, aim=self.aim
        )
        n, known, count = small.tasks, small.sample, len(small.capacity)
        chosen = np.zeros((2, n, count), dtype=bool)
        chosen[0, run.task, known + run.worker] = True
        chosen[1, :, known:] = best
        units = small.problem().quality[run.task, run.worker]
        gathered = np.bincount(run.task, units, minlength=n)
        covered = int((gathered >= requirement(small.epsilon) * COVERED).sum())
        said = f"{self.policy}: {counted(len(run.task), 'label')}, {covered} of {n} tasks covered"
        order = "" if self.order == "adversarial" else ", the worst of six random orders"
        return plots.choices(
            quality(small.skill)[small.kinds],
            {said: chosen[0], f"optimum: {counted(int(best.sum()), 'label')}": chosen[1]},
            sampled=known,
            workers=[f"{at + 1}" for at in range(count)],
            tasks=[f"{at}, type {kind}" for at, kind in enumerate(small.kinds.tolist())],
            title=f"A bad instance for {self.policy}: each task is to gather "
            f"{requirement(small.epsilon):.3g}{order}",
        )

    def _payload(self) -> dict[str, Any]:
        payload = {name: value for name, value in vars(self).items() if name != "instance"}
        return {**payload, "instance": vars(self.instance)}


def bad_instance(
    policy: str,
    *,
    aim: str = "labels",
    order: str = "adversarial",
    types: int = 2,
    workers: int = 8,
    sample: int = 3,
    evaluations: int = 200,
    seed: int = 0,
    progress: Progress = None,
) -> BadInstance:
    """Search for a small instance on which an online assignment policy does badly.

    Skills are multiples of 0.1 from 0.5 to 1, ε is 0.2, 0.3, 0.4 or 0.5, and there are between T
    and 2 T + 1 tasks, in equal shares of the T types; a worker takes any number of them.

    Parameters
    ----------
    policy
        Name of a registered policy.
    aim
        What is made as bad as can be.

        `labels`, labels over the optimum among instances on which every task gets covered, or
        `cover`, the share of tasks covered where everybody together could cover them all.
    order
        Order of the workers: `adversarial`, the worst, or `random`, the mean over six orders.
    types
        Task types, from 1 to 10.
    workers, sample
        Workers who come, and workers seen before, who get no task: from 1 to 12 each, as every
        optimum is proven.
    evaluations
        Instances tried, 1 or more: hill climbing with restarts.
    seed
        Same seed, same result.
    progress
        A function that takes the progress, one line at a time; True draws a bar.

    Returns
    -------
    BadInstance
        With `ratio`, `covered`, `problem` and `replay()`.

    Raises
    ------
    InputError
        An unknown policy, numbers out of range, or no instance found; a policy that fails.

    Examples
    --------
    >>> import workbench as wb
    >>> found = wb.bad_instance("greedy", workers=6, sample=2, evaluations=20)
    >>> found.covered, found.ratio > 1, found.replay().ratio == found.ratio
    (1.0, True, True)
    """
    online_policies([policy])
    for name, value, allowed in (("aim", aim, AIMS), ("order", order, ORDERS)):
        if value not in allowed:
            raise InputError(f"{name} is {checks.show(value)}: give {' or '.join(allowed)}")
    for name, size, most in (
        ("types", types, 10),
        ("workers", workers, 12),
        ("sample", sample, 12),
    ):
        if checks.count(name, size, 1) > most:
            raise InputError(f"{name} is {size}: give {most} or fewer, each optimum is proven")
    checks.count("evaluations", evaluations, 1)
    checks.count("seed", seed)
    hunt = Hunt(policy, aim, order, types, workers, sample, evaluations)
    done = meter(progress, "instances")
    try:
        found = search_bad_instance(hunt, seed, lambda at: done(at, evaluations))
    except Exception as error:
        if isinstance(error, InputError) and not isinstance(error, WrongChoiceError):
            raise
        raise failure_of_own(f"policy {policy!r}", POLICIES[policy].call, error) from error
    done(evaluations, evaluations)
    if found is None:
        raise InputError("no instance that was tried can be covered: give more `evaluations`")
    small, score, at = found
    return BadInstance(policy, aim, order, seed, small, *score, at, evaluations)
