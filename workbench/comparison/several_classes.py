"""Labels of several classes: a crowd and its tasks, as every method meets them.

Workers have confusion matrices, tasks a joint budget of errors (`crowd_models.joint`), and the vote
is the likeliest class. The offline methods know the matrices that all gold tells, the adaptive
algorithm those that its gold answers tell. The bound is that of the joint program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from crowd_models.gains import MOST
from crowd_models.joint import JointProblem, pair_gains, pair_weights
from workbench.accuracy.independence import ErrorCorrelation, error_correlation
from workbench.aggregation.voting import Aggregate, majority
from workbench.assignment.joint_weights import SHORT
from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.base.seeds import stream
from workbench.comparison.instances import (
    RecordedOptions,
    fold_numbers,
    nothing_in_reach,
    sample_size,
)
from workbench.crowd import align, frames
from workbench.crowd.arrivals import random_permutation
from workbench.crowd.confusion import class_shares, estimate_confusion, gold_counts
from workbench.crowd.gold_rule import RuleLabels, gold_codes, some_votes
from workbench.crowd.votes import Votes
from workbench.solving.highs import RunOptions
from workbench.solving.joint.relaxation import relax

SHORTFALL = 1e3
"""Price of missing cover, in that of the most expensive label: tasks bought at it are left out."""
RESERVE = 1e-3
"""Share by which the least error that a task can be promised is exceeded, so that it can be."""
NEAR = 0.01
"""Share of ε within which it is asked who can be served, where capacities are scarce."""


@dataclass(frozen=True, eq=False)
class Matrices:
    """What somebody knows of the workers: π, shape (T, W, K, K), and the prior ρ, shape (K,)."""

    confusion: FloatArray
    prior: FloatArray


@dataclass(frozen=True, eq=False)
class ComparedClasses:
    """One recorded crowd and its tasks, as every method meets them.

    Attributes
    ----------
    votes, label
        Recorded labels of the n tasks that can be assigned; the same by task and worker, shape
        (n, W), −1 for none.
    truth, kinds
        True class, −1 where unknown, and type of each task, shape (n,).
    judged
        Which tasks, by place, the answers are judged on, shape (c,).
    actual, estimate
        The workers as all gold that is known here tells, and as the gold answers tell that they
        are asked for.
    answered
        How many of these, shape (T, W).
    capacity, order, preliminary, epsilon, price, left_out, notes, correlation, folds
        As in `ComparedCrowd`.
    """

    votes: Votes
    label: IntArray
    truth: IntArray
    kinds: IntArray
    judged: IntArray
    actual: Matrices
    estimate: Matrices
    answered: IntArray
    capacity: IntArray
    order: IntArray
    preliminary: int
    epsilon: float
    price: FloatArray | None = None
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    correlation: ErrorCorrelation | None = None
    folds: tuple[ComparedClasses, ...] = ()

    @property
    def classes(self) -> int:
        """K, three or more."""
        return len(self.votes.classes)

    @property
    def tasks(self) -> Names:
        """The tasks that all methods are held to, shape (n,)."""
        return self.votes.tasks

    @property
    def names(self) -> Names:
        """Names of the tasks, shape (n,)."""
        return self.votes.tasks

    @property
    def main(self) -> IntArray:
        """Workers who get real tasks, in order of arrival."""
        return self.order[self.preliminary :]

    @property
    def judged_truth(self) -> IntArray:
        """True class of the tasks that are judged, shape (c,)."""
        return self.truth[self.judged]

    @property
    def scarce(self) -> bool:
        """Whether tasks compete for workers: whether anybody has more labels than capacity."""
        return bool((self.capacity < (self.label >= 0).sum(axis=0))[self.main].any())

    def offline(self) -> JointProblem:
        """The program of the main workers by the matrices that are known here.

        What other folds' gold says is in reach, and all gold says is not, is to be covered as far
        as it can be.
        """
        problem = self.problem(self.main, self.actual)
        # Perturbed gains are to reach it, too.
        least = problem.least_error() * (1.0 + RESERVE)
        return replace(problem, epsilon=np.maximum(problem.epsilon, least))

    def problem(self, workers: IntArray, by: Matrices) -> JointProblem:
        """The program with some of the workers: every task is a class of its own."""
        return JointProblem(
            pair_gains(by.confusion[:, workers])[self.kinds],
            pair_weights(by.prior),
            self.epsilon,
            np.ones(len(self.kinds), dtype=np.int64),
            self.capacity[workers],
            None if self.price is None else self.price[:, workers][self.kinds],
            self.label[:, workers] >= 0,
        )

    def labels(self, task: IntArray, worker: IntArray) -> Votes:
        """Labels of some pairs, the tasks as index into those of the instance."""
        return replace(self.votes, task=task, worker=worker, label=self.label[task, worker])

    def answers(self, given: Aggregate) -> RuleLabels:
        """Answers to the tasks, by chance over ties; none where there is no label."""
        classes = [given.chance_right(np.full(len(self.kinds), k)) for k in range(self.classes)]
        chance: FloatArray = np.stack(classes, axis=1)
        chance[given.unlabelled] = np.nan
        return RuleLabels(chance)

    def on_record(self) -> tuple[IntArray, IntArray]:
        """Every pair with a label on record: tasks and workers."""
        task, worker = np.nonzero(self.label >= 0)
        return task, worker

    def by_majority(self, task: IntArray, worker: IntArray, rng: np.random.Generator) -> RuleLabels:
        """Answers by the majority of some labels."""
        return self.answers(majority(self.labels(task, worker), seed=rng))


def recorded(
    labels: pd.DataFrame,
    gold: pd.Series[Any],
    options: RecordedOptions,
    *,
    seed: np.random.SeedSequence,
) -> ComparedClasses:
    """An instance of recorded labels: what was never recorded cannot be assigned.

    Raises
    ------
    InputError
        A gain or an estimate that is for two classes; less than two gold tasks; no task that can
        be covered.
    """
    for name, value, only in (
        ("gain", options.gain, "bhattacharyya"),
        ("skills", options.skills, "fitted"),
    ):
        if value != only:
            raise InputError(
                f"{name} {value!r}: is for labels of two classes, here are more; leave it out"
            )
    every = Votes.of(frames.label_table(labels), classes=sorted({*labels["label"], *gold}))
    workers, codes = every.workers, gold_codes(every, gold)
    number = fold_numbers(codes, seed=seed)
    types, kind = frames.type_index(options.task_types, pd.Index(every.tasks))
    kinds = kind.loc[every.tasks].to_numpy().astype(np.int64)
    order = random_permutation(len(workers), seed=seed)
    preliminary = sample_size(len(workers), options.gamma)
    label: IntArray = np.full((len(every.tasks), len(workers)), -1, dtype=np.int64)
    label[every.task, every.worker] = every.label
    capacity = len(every.tasks) if options.capacity is None else options.capacity

    def knowing(known: IntArray) -> dict[str, Any]:
        exam = _asked(every, kinds, known, options.gold_tasks, seed)
        counts = gold_counts(exam, known, kinds, len(types))
        own = gold_counts(every, known, kinds, len(types))
        return _matrices(every, known, own, counts, order[:preliminary])

    whole = ComparedClasses(
        every,
        label,
        codes,
        kinds,
        np.flatnonzero(codes >= 0),
        **knowing(codes),
        capacity=align.capacities(workers, capacity),
        order=order,
        preliminary=preliminary,
        epsilon=options.epsilon,
        price=None if options.costs is None else align.prices(workers, types, options.costs),
        notes=(
            "true confusion matrices are unknown: the offline methods and the predicted errors "
            "take those from all gold (posterior means, their prior fitted to the crowd)",
        ),
        correlation=error_correlation(every, codes),
    )
    parts = [
        replace(whole, **knowing(np.where(number == fold, -1, codes)))
        for fold in range(number.max() + 1)
    ]
    keep = _within_reach(whole, [(number == fold, part) for fold, part in enumerate(parts)])
    out = np.setdiff1d(np.arange(len(every.tasks)), keep)
    folds = []
    for fold, part in enumerate(parts):
        own = np.flatnonzero(number[keep] == fold)
        among = keep if whole.scarce else keep[own]
        judged = own if whole.scarce else np.arange(len(own))
        if len(own):
            folds.append(replace(_only(part, among), judged=judged))
    return replace(
        _only(whole, keep),
        left_out=tuple(str(name) for name in every.tasks[out]),
        folds=tuple(folds),
    )


def _matrices(
    every: Votes, known: IntArray, own: IntArray, counts: IntArray, sample: IntArray
) -> dict[str, Any]:
    """Matrices as all of the known gold tells, and as the workers' gold answers tell.

    Parameters
    ----------
    own, counts
        By type and worker, how all labels on known gold fell, and those that are asked for.
    sample
        Workers to whom the prior of the estimates is fitted.
    """
    workers, classes = every.workers, every.classes
    share = class_shares(known, len(classes))
    fitted = [estimate_confusion(of_type, share, workers, classes).confusion for of_type in own]
    estimates = [
        estimate_confusion(of_type[sample], share, workers[sample], classes).drawn(of_type)
        for of_type in counts
    ]
    return {
        "actual": Matrices(np.stack(fitted), share),
        "estimate": Matrices(np.stack(estimates), share),
        "answered": counts.sum(axis=(2, 3)),
    }


def _asked(
    votes: Votes, kinds: IntArray, gold: IntArray, most: int, seed: np.random.SeedSequence
) -> Votes:
    """Labels on gold tasks that workers are judged by: at most so many a worker and type."""
    rows = stream(seed, "gold").permutation(np.flatnonzero(gold[votes.task] >= 0))
    answers = pd.DataFrame({"worker": votes.worker[rows], "kind": kinds[votes.task[rows]]})
    place = answers.groupby(["worker", "kind"]).cumcount().to_numpy()
    return some_votes(votes, np.sort(rows[place < most]))


def _only(instance: ComparedClasses, keep: IntArray) -> ComparedClasses:
    """The same with some of the tasks."""
    every = instance.votes
    place = np.full(len(every.tasks), -1)
    place[keep] = np.arange(len(keep))
    within = place[every.task] >= 0
    votes = Votes(
        place[every.task[within]],
        every.worker[within],
        every.label[within],
        every.tasks[keep],
        every.workers,
        every.classes,
    )
    return replace(
        instance,
        votes=votes,
        label=instance.label[keep],
        truth=instance.truth[keep],
        kinds=instance.kinds[keep],
        judged=np.flatnonzero(instance.truth[keep] >= 0),
    )


def _within_reach(
    whole: ComparedClasses, parts: list[tuple[BoolArray, ComparedClasses]]
) -> IntArray:
    """Tasks that the main workers can cover together, gold tasks by the gold of other folds.

    Parameters
    ----------
    parts
        For each fold, which tasks it has, and the instance in which their gold is not known.
    """
    rest = ~np.logical_or.reduce([members for members, _ in parts])
    least = np.empty(len(whole.tasks))
    for members, instance in [*parts, (rest, whole)]:
        if members.any():
            within = _only(instance, np.flatnonzero(members))
            least[members] = within.problem(within.main, within.actual).least_error()
    most = whole.epsilon * (1.0 - NEAR) if whole.scarce else whole.epsilon
    keep = np.flatnonzero(least <= most)
    if whole.scarce:
        keep = _served(whole, keep)
    if not len(keep):
        idle = float(whole.problem(whole.main, whole.actual).weights.sum())
        raise nothing_in_reach(
            whole.epsilon, float(np.median(least)), float(least.min()), min(idle, 1.0)
        )
    return keep


def _served(instance: ComparedClasses, keep: IntArray) -> IntArray:
    """Tasks that scarce workers can serve together: those short of most cover are left out.

    Cover is looked at for a little less than ε, within a little of it: so it is there at ε.
    """
    while len(keep):
        within = _only(instance, keep).offline()
        within = replace(within, epsilon=within.epsilon * (1.0 - NEAR))
        price = SHORTFALL * float(within.prices.max())
        plan = relax(within.with_shortfall(price), RunOptions, near=NEAR)
        assert plan.labels is not None
        missing = MOST * plan.labels[:, -1]
        if missing.max() <= SHORT:
            break
        each = math.log(max(float(within.weights.sum()) / instance.epsilon, 2.0))
        dropped = np.argsort(-missing, kind="stable")[: max(1, int(missing.sum() / each))]
        keep = np.delete(keep, dropped)
    return keep
