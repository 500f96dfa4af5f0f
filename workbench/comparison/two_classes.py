"""Labels of two classes: a crowd and its tasks, as every method meets them.

The crowd's skills (true ones, or those that all gold tells) are known to the offline methods only;
the bound is that of the program by one reading of what a label counts (`crowd_models.gains`), and
so is the ratio. Beside a recorded crowd stands one instance for each fold of its gold.
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
from workbench.assignment.primal import PERTURBATION
from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.comparison.instances import (
    RecordedOptions,
    fold_numbers,
    nothing_in_reach,
    sample_size,
)
from workbench.crowd import align
from workbench.crowd.arrivals import random_permutation
from workbench.crowd.empirical_bayes import fitted_skills
from workbench.crowd.gold_rule import RuleLabels
from workbench.crowd.population import Crowd
from workbench.crowd.replay import RecordedLabels
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
        p, shape (T, W): true skills, or for recorded labels those measured on the gold that is
        known here.
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
    judged
        Which of these, by place, the answers are judged on, shape (c,).
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
    folds
        Of recorded labels, an instance for each fold of the gold: there its gold is not known, and
        the answers to its tasks are judged. Where tasks do not compete for workers these are all
        tasks that it has.
    """

    source: LabelSource
    skill: FloatArray
    capacity: IntArray
    order: IntArray
    preliminary: int
    gold: int
    epsilon: float
    tasks: IntArray
    judged: IntArray
    left_out: tuple[str, ...] = ()
    price: FloatArray | None = None
    notes: tuple[str, ...] = ()
    gain: str = "hoeffding"
    skills: SkillEstimate = "plug-in"
    correlation: ErrorCorrelation | None = None
    folds: tuple[ComparedCrowd, ...] = ()

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

    @property
    def names(self) -> Names:
        """Names of the tasks, shape (n,)."""
        return self.source.tasks[self.tasks]

    @property
    def judged_truth(self) -> IntArray:
        """True class of the tasks that are judged, shape (c,)."""
        return self.source.truth[self.tasks[self.judged]]

    def problem(self) -> AssignmentProblem:
        """The offline problem of the main workers, by the skills that are known here.

        What other folds' gold says is in reach, and all gold says is not, is to be covered as far
        as it can be.
        """
        quality = self.counted(self.skill[:, self.main])[self.kinds]
        mask = self.available(self.main)
        reach = quality.sum(axis=1) if mask is None else np.einsum("nm,nm->n", quality, mask)
        return AssignmentProblem(
            quality,
            self.capacity[self.main],
            # Perturbed qualities are to reach it, too.
            np.minimum(self.need, reach * (1.0 - 2.0 * PERTURBATION)),
            None if self.price is None else self.price[:, self.main][self.kinds],
            mask,
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

    def answers(self, given: Aggregate) -> RuleLabels:
        """Answers to the tasks, by chance over ties; none where there is no label."""
        classes = np.stack(
            [given.chance_right(np.full(len(given.label), k)) for k in range(self.classes)], axis=1
        )
        chance: FloatArray = classes[self.tasks]
        chance[given.unlabelled[self.tasks]] = np.nan
        return RuleLabels(chance)

    def on_record(self) -> tuple[IntArray, IntArray]:
        """Every pair with a label on record: tasks and workers."""
        mask = self.available(self.order)
        if mask is None:
            raise InputError("the crowd is simulated: there is no record of labels to take all of")
        task, place = np.nonzero(mask)
        return task, self.order[place]

    def by_majority(self, task: IntArray, worker: IntArray, rng: np.random.Generator) -> RuleLabels:
        """Answers by the majority of some labels."""
        return self.answers(majority(self.votes(task, worker), seed=rng))


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
    if len(order) <= preliminary:
        raise InputError(
            f"the crowd has {len(order)} workers and {preliminary} are preliminary: leave at least "
            "one to assign tasks to"
        )
    instance = ComparedCrowd(
        source,
        crowd.skill,
        crowd.capacity,
        order,
        preliminary,
        gold,
        epsilon,
        np.arange(tasks),
        np.arange(tasks),
        gain=gain,
        skills=skills,
    )
    need = np.full(tasks, instance.need)
    return _within_reach(instance, replace(instance.problem(), requirement=need))


def recorded(
    labels: pd.DataFrame,
    gold: pd.Series[Any],
    options: RecordedOptions,
    *,
    seed: np.random.SeedSequence,
) -> ComparedCrowd:
    """An instance of recorded labels: what was never recorded cannot be assigned.

    Nobody knows the true skills: the offline methods get those that all gold tells, by the share of
    right answers (one right and one wrong added) or fitted to one another; in a fold those that the
    other folds tell.

    Raises
    ------
    InputError
        For data the adaptive model is not made for (not two classes, less than two gold tasks), or
        when no task can be covered at this ε.
    """
    record = RecordedLabels(labels, gold, task_types=options.task_types)
    number = fold_numbers(record.truth, seed=seed)
    workers = len(record.workers)
    capacity = len(record.tasks) if options.capacity is None else options.capacity
    price = None
    if options.costs is not None:
        price = align.prices(record.workers, record.task_types, options.costs)
    assert record.available is not None
    every = np.nonzero(record.available)
    known_estimate(options.skills)
    source, skill = _knowing(record, number >= 0, options.skills)
    whole = ComparedCrowd(
        source,
        skill,
        align.capacities(record.workers, capacity),
        random_permutation(workers, seed=seed),
        sample_size(workers, options.gamma),
        options.gold_tasks,
        options.epsilon,
        np.arange(len(record.tasks)),
        np.flatnonzero(number >= 0),
        price=price,
        notes=(
            "true skills are unknown: the offline methods and the predicted errors take "
            + HINDSIGHT[options.skills],
        ),
        gain=options.gain,
        skills=options.skills,
        correlation=error_correlation(collect(record, *every), record.truth),
    )
    parts = [
        (fold, *_knowing(record, (number >= 0) & (number != fold), options.skills))
        for fold in range(number.max() + 1)
    ]
    scarce = bool((whole.capacity < record.available.sum(axis=0))[whole.main].any())
    whole = _only(whole, _reached(whole, [(number == fold, skill) for fold, _, skill in parts]))
    if scarce:
        whole = _within_reach(whole, whole.problem())
    return replace(
        whole,
        judged=np.flatnonzero(number[whole.tasks] >= 0),
        folds=tuple(
            _fold(replace(whole, source=source, skill=skill), number == fold, scarce=scarce)
            for fold, source, skill in parts
            if (number[whole.tasks] == fold).any()
        ),
    )


HINDSIGHT: dict[str, str] = {
    "plug-in": "the share of right answers on all gold (one right, one wrong added)",
    "fitted": "skills from all gold (posterior means, their prior fitted to the crowd)",
    "median": "skills from all gold (posterior means, their prior fitted to the crowd)",
}


def _knowing(
    record: RecordedLabels, known: BoolArray, skills: SkillEstimate
) -> tuple[RecordedLabels, FloatArray]:
    """The record where some of the gold is known, and the skills (T, W) that it tells."""
    source = record.examined_on(np.flatnonzero(known))
    estimate = estimate_skills(source.control_correct, source.control_answered, prior=(1.0, 1.0))
    return source, estimate.skill if skills == "plug-in" else fitted_skills(estimate).skill


def _fold(instance: ComparedCrowd, members: BoolArray, *, scarce: bool) -> ComparedCrowd:
    """The instance of a fold: with all tasks where they compete for workers, else with its own."""
    own = members[instance.tasks]
    if scarce:
        return replace(instance, judged=np.flatnonzero(own))
    return replace(instance, tasks=instance.tasks[own], judged=np.arange(int(own.sum())))


def _reached(whole: ComparedCrowd, parts: list[tuple[BoolArray, FloatArray]]) -> IntArray:
    """Tasks that all main workers together cover, gold tasks by the skills of other folds.

    Parameters
    ----------
    parts
        For each fold, which tasks it has, and the skills that the others tell.
    """
    mask, cover = whole.available(whole.main), np.empty(len(whole.tasks))
    assert mask is not None
    rest = ~np.logical_or.reduce([members for members, _ in parts])
    for members, skill in [*parts, (rest, whole.skill)]:
        counted = whole.counted(skill[:, whole.main])
        cover[members] = np.einsum("nm,nm->n", counted[whole.kinds[members]], mask[members])
    keep = np.flatnonzero(cover >= whole.need * (1 - 1e-12))
    if not len(keep):
        raise _nothing(whole, cover)
    return keep


def _nothing(instance: ComparedCrowd, cover: FloatArray) -> InputError:
    """Say that no task can be covered, given what all main workers together bring to each."""
    reach, best, idle = (
        float(instance.reading.error(each)) for each in (np.median(cover), cover.max(), 0.0)
    )
    return nothing_in_reach(instance.epsilon, reach, best, idle)


def _only(instance: ComparedCrowd, keep: IntArray) -> ComparedCrowd:
    """The same with some of the tasks, the others named."""
    out = np.setdiff1d(np.arange(len(instance.tasks)), keep)
    place = np.full(len(instance.tasks), -1)
    place[keep] = np.arange(len(keep))
    judged = place[instance.judged]
    names = tuple(str(name) for name in instance.names[out])
    return replace(
        instance,
        tasks=instance.tasks[keep],
        judged=judged[judged >= 0],
        left_out=instance.left_out + names,
    )


def _within_reach(instance: ComparedCrowd, problem: AssignmentProblem) -> ComparedCrowd:
    """Leave out tasks until the main workers can cover the rest within capacity."""
    why = solve(problem, "typed").infeasibility
    if why is None:
        return instance
    out = np.union1d(why.alone, why.drop).astype(np.int64)
    keep = np.setdiff1d(np.arange(len(instance.tasks)), out)
    if not len(keep):
        raise _nothing(instance, (problem.quality * problem.mask).sum(axis=1))
    return _only(instance, keep)
