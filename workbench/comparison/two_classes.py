"""Labels of two classes: a crowd and its tasks, as every method meets them.

The crowd's skills are known to the offline methods only; the bound is that of the program by one
reading of what a label counts (`crowd_models.gains`), and so is the ratio.
Paper: Ho, Jabbari, Vaughan (2013), Sections 4 to 6.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem
from crowd_models.gains import Gain, gain_of
from workbench.accuracy.independence import ErrorCorrelation, error_correlation
from workbench.aggregation.voting import Aggregate, majority, promised_weights
from workbench.assignment.estimates import SkillEstimate, known_estimate
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.comparison.instances import RecordedOptions, nothing_in_reach, sample_size
from workbench.crowd import align
from workbench.crowd.arrivals import random_permutation
from workbench.crowd.empirical_bayes import fitted_skills
from workbench.crowd.population import Crowd
from workbench.crowd.replay import RecordedLabels, split_gold
from workbench.crowd.simulate import SimulatedLabels, task_types, truth
from workbench.crowd.skills import estimate_skills
from workbench.crowd.sources import LabelSource, collect
from workbench.crowd.votes import Votes
from workbench.solving import solve


@dataclass(frozen=True, eq=False)
class ComparedCrowd:
    """One crowd and its tasks, as every method meets them.

    Attributes
    ----------
    source
        Where labels come from.
    skill
        p, shape (T, W): true skills, or for recorded labels those measured on all gold.
    capacity
        M, shape (W,).
    order
        Worker indices in order of arrival, shape (W,).
    preliminary
        γm: how many of them come first and only do gold tasks in the adaptive algorithm.
    gold
        s, gold tasks a worker and type.
    tasks
        Indices of the tasks that all methods are held to.
    left_out
        Names of tasks that the crowd cannot cover at this ε, left out for every method.
    price
        Price of a label by type and worker, shape (T, W); None for 1.
    notes
        What the reader of the table must know.
    gain
        What a label counts, by `crowd_models.gains`: of every method, its vote and the bound.
    skills
        How those who learn skills from gold answers estimate them: `assignment.estimates`.
    correlation
        How far the crowd's errors on gold go together; None where they are simulated apart.
    """

    source: LabelSource
    skill: FloatArray
    capacity: IntArray
    order: IntArray
    preliminary: int
    gold: int
    epsilon: float
    tasks: IntArray
    left_out: tuple[str, ...] = ()
    price: FloatArray | None = None
    notes: tuple[str, ...] = ()
    gain: str = "hoeffding"
    skills: SkillEstimate = "plug-in"
    correlation: ErrorCorrelation | None = None

    @property
    def classes(self) -> int:
        """K, always two."""
        return 2

    @property
    def main(self) -> IntArray:
        """Workers who get real tasks, in order of arrival."""
        return self.order[self.preliminary :]

    @property
    def kinds(self) -> IntArray:
        """Type of each task, shape (n,)."""
        return self.source.task_type[self.tasks]

    def available(self, workers: IntArray) -> BoolArray | None:
        """Which pairs of the tasks and some workers may be assigned; None for all."""
        mask = self.source.available
        return None if mask is None else mask[np.ix_(self.tasks, workers)]

    def problem(self, workers: IntArray) -> AssignmentProblem:
        """The offline problem with some of the workers and their (true) skills."""
        return AssignmentProblem(
            self.counted(self.skill[:, workers])[self.kinds],
            self.capacity[workers],
            np.full(len(self.tasks), self.need),
            None if self.price is None else self.price[:, workers][self.kinds],
            self.available(workers),
            self.kinds,
            self.gain,
        )

    @property
    def reading(self) -> Gain:
        """What a label counts, what is asked, and what vote it is for."""
        return gain_of(self.gain)

    @property
    def need(self) -> float:
        """What each task must gather."""
        return float(self.reading.requirement(self.epsilon))

    def counted(self, skill: FloatArray) -> FloatArray:
        """What labels of a skill count, any shape."""
        return self.reading.quality(skill, self.need)

    def weights(self, skill: FloatArray) -> FloatArray:
        """Vote weights of labels of a skill, any shape: those that keep the gain's promise."""
        return promised_weights(self.reading.vote, skill)

    def votes(self, task: IntArray, worker: IntArray) -> Votes:
        """Labels of some pairs, the tasks as index into those of the instance."""
        return collect(self.source, self.tasks[task], worker)

    def wrong(self, answers: Aggregate) -> FloatArray:
        """Chance over ties that an answer is wrong, of each task with known truth."""
        judged = self.tasks[self.source.truth[self.tasks] >= 0]
        return (1.0 - answers.chance_right(self.source.truth))[judged]

    def on_record(self) -> tuple[IntArray, IntArray]:
        """Every pair with a label on record: tasks and workers."""
        mask = self.available(self.order)
        if mask is None:
            raise InputError("the crowd is simulated: there is no record of labels to take all of")
        task, place = np.nonzero(mask)
        return task, self.order[place]

    def majority_wrong(
        self, task: IntArray, worker: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Chance that the majority of some labels is wrong, of each task with known truth."""
        return self.wrong(majority(self.votes(task, worker), seed=rng))


def simulated(
    crowd: Crowd,
    *,
    tasks: int,
    preliminary: int,
    gold: int,
    epsilon: float,
    gain: str = "hoeffding",
    skills: SkillEstimate = "plug-in",
    seed: np.random.SeedSequence,
) -> ComparedCrowd:
    """An instance of a simulated crowd: tasks in equal shares of its types, random arrival.

    The first `preliminary` of the crowd's workers to arrive are the paper's γm extra ones.

    Raises
    ------
    InputError
        When the crowd is no larger than its preliminary part, or cannot cover any task.
    """
    kinds = task_types(tasks, len(crowd.task_types))
    source = SimulatedLabels(crowd, kinds, truth(tasks, seed=seed), seed)
    order = random_permutation(len(crowd), seed=seed)
    return _within_reach(
        ComparedCrowd(
            source,
            crowd.skill,
            crowd.capacity,
            order,
            preliminary,
            gold,
            epsilon,
            np.arange(tasks),
            gain=gain,
            skills=skills,
        )
    )


def recorded(
    labels: pd.DataFrame,
    gold: pd.Series[Any],
    options: RecordedOptions,
    *,
    seed: np.random.SeedSequence,
) -> ComparedCrowd:
    """An instance of recorded labels: what was never recorded cannot be assigned.

    Nobody knows the true skills: the offline methods get those that all gold tells, by the share of
    right answers (one right and one wrong added) or fitted to one another.

    Raises
    ------
    InputError
        For data the adaptive model is not made for (not two classes, no gold), or when no task
        can be covered at this ε.
    """
    chosen, _ = split_gold(gold, control=options.control, seed=seed)
    source = RecordedLabels(labels, gold, control=chosen, task_types=options.task_types)
    workers = len(source.workers)
    capacity = len(source.tasks) if options.capacity is None else options.capacity
    price = None
    if options.costs is not None:
        price = align.prices(source.workers, source.task_types, options.costs)
    assert source.available is not None
    every = np.nonzero(source.available)
    return _within_reach(
        ComparedCrowd(
            source,
            _hindsight(source, options.skills),
            align.capacities(source.workers, capacity),
            random_permutation(workers, seed=seed),
            sample_size(workers, options.gamma),
            options.gold_tasks,
            options.epsilon,
            np.arange(len(source.tasks)),
            price=price,
            notes=(
                "true skills are unknown: the offline methods and the predicted errors take "
                + HINDSIGHT[options.skills],
            ),
            gain=options.gain,
            skills=options.skills,
            correlation=error_correlation(collect(source, *every), source.truth),
        )
    )


HINDSIGHT: dict[str, str] = {
    "plug-in": "the share of right answers on all gold (one right, one wrong added)",
    "fitted": "skills from all gold (posterior means, their prior fitted to the crowd)",
    "median": "skills from all gold (posterior means, their prior fitted to the crowd)",
}


def _hindsight(source: RecordedLabels, skills: SkillEstimate) -> FloatArray:
    """Skills by all gold, control and evaluation, shape (T, W)."""
    known_estimate(skills)
    correct, answered = source.control_correct.copy(), source.control_answered.copy()
    assert source.available is not None
    task, worker = np.nonzero(source.available & (source.truth >= 0)[:, None])
    right = source.labels(task, worker) == source.truth[task]
    at = (source.task_type[task], worker)
    np.add.at(answered, at, 1)
    np.add.at(correct, at, right.astype(np.int64))
    estimate = estimate_skills(correct, answered, prior=(1.0, 1.0))
    return estimate.skill if skills == "plug-in" else fitted_skills(estimate).skill


def _within_reach(instance: ComparedCrowd) -> ComparedCrowd:
    """Leave out tasks until the main workers can cover the rest, and name them."""
    if len(instance.order) <= instance.preliminary:
        raise InputError(
            f"the crowd has {len(instance.order)} workers and {instance.preliminary} are "
            "preliminary: leave at least one to assign tasks to"
        )
    problem = instance.problem(instance.main)
    reachable = (problem.quality * problem.mask).sum(axis=1)
    why = solve(problem, "typed").infeasibility
    if why is None:
        return instance
    out = np.union1d(why.alone, why.drop).astype(np.int64)
    keep = np.setdiff1d(np.arange(len(instance.tasks)), out)
    if not len(keep):
        reach, best, idle = (
            float(instance.reading.error(cover))
            for cover in (np.median(reachable), reachable.max(), 0.0)
        )
        raise nothing_in_reach(instance.epsilon, reach, best, idle)
    return replace(
        instance,
        tasks=instance.tasks[keep],
        left_out=tuple(str(name) for name in instance.source.tasks[instance.tasks[out]]),
    )
