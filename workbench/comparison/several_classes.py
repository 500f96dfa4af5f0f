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
from workbench.base.arrays import FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.base.seeds import stream
from workbench.comparison.instances import RecordedOptions, nothing_in_reach, sample_size
from workbench.crowd import align, frames
from workbench.crowd.arrivals import random_permutation
from workbench.crowd.confusion import class_shares, estimate_confusion, gold_counts
from workbench.crowd.gold_rule import gold_codes, some_votes
from workbench.crowd.replay import split_gold
from workbench.crowd.votes import Votes
from workbench.solving.highs import RunOptions
from workbench.solving.joint.relaxation import relax

SHORTFALL = 1e3
"""Price of missing cover, in that of the dearest label: tasks bought at it are left out."""
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
    actual, estimate
        The workers as all gold tells, and as the gold answers tell that they are asked for.
    answered
        How many of these, shape (T, W).
    capacity, order, preliminary, epsilon, price, left_out, notes, correlation
        As in `ComparedCrowd`.
    """

    votes: Votes
    label: IntArray
    truth: IntArray
    kinds: IntArray
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

    @property
    def classes(self) -> int:
        """K, three or more."""
        return len(self.votes.classes)

    @property
    def tasks(self) -> Names:
        """Names of the tasks that all methods are held to, shape (n,)."""
        return self.votes.tasks

    @property
    def main(self) -> IntArray:
        """Workers who get real tasks, in order of arrival."""
        return self.order[self.preliminary :]

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

    def wrong(self, answers: Aggregate) -> FloatArray:
        """Chance over ties that an answer is wrong, of each task with known truth."""
        judged = self.truth >= 0
        return 1.0 - answers.chance_right(np.maximum(self.truth, 0))[judged]

    def on_record(self) -> tuple[IntArray, IntArray]:
        """Every pair with a label on record: tasks and workers."""
        task, worker = np.nonzero(self.label >= 0)
        return task, worker

    def majority_wrong(
        self, task: IntArray, worker: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Chance that the majority of some labels is wrong, of each task with known truth."""
        return self.wrong(majority(self.labels(task, worker), seed=rng))


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
        A gain or an estimate that is for two classes; no gold; no task that can be covered.
    """
    for name, value, only in (
        ("gain", options.gain, "bhattacharyya"),
        ("skills", options.skills, "fitted"),
    ):
        if value != only:
            raise InputError(
                f"{name} {value!r}: is for labels of two classes, here are more; leave it out"
            )
    control, _ = split_gold(gold, control=options.control, seed=seed)
    every = Votes.of(frames.label_table(labels), classes=sorted({*labels["label"], *gold}))
    workers, codes = every.workers, gold_codes(every, gold)
    types, kind = frames.type_index(options.task_types, pd.Index(every.tasks))
    kinds = kind.loc[every.tasks].to_numpy().astype(np.int64)
    order = random_permutation(len(workers), seed=seed)
    preliminary = sample_size(len(workers), options.gamma)
    judged = pd.Index(every.tasks).isin(control)
    controls = np.where(judged, codes, -1)
    exam = _asked(every, kinds, controls, options.gold_tasks, seed)
    counts = gold_counts(exam, codes, kinds, len(types))
    own = gold_counts(every, codes, kinds, len(types))
    shares = [
        class_shares(truth, len(every.classes)) for truth in (codes, np.where(judged, codes, -1))
    ]
    fitted = [
        estimate_confusion(of_type, shares[0], workers, every.classes).confusion for of_type in own
    ]
    sample = order[:preliminary]
    estimates = [
        estimate_confusion(of_type[sample], shares[1], workers[sample], every.classes).drawn(
            of_type
        )
        for of_type in counts
    ]
    label: IntArray = np.full((len(every.tasks), len(workers)), -1, dtype=np.int64)
    label[every.task, every.worker] = every.label
    rest = np.flatnonzero(~judged)
    truth = np.where(judged, -1, codes)
    capacity = len(rest) if options.capacity is None else options.capacity
    whole = ComparedClasses(
        every,
        label,
        codes,
        kinds,
        Matrices(np.stack(fitted), shares[0]),
        Matrices(np.stack(estimates), shares[1]),
        counts.sum(axis=(2, 3)),
        align.capacities(workers, capacity),
        order,
        preliminary,
        options.epsilon,
        None if options.costs is None else align.prices(workers, types, options.costs),
        notes=(
            "true confusion matrices are unknown: the offline methods and the predicted errors "
            "take those from all gold (posterior means, their prior fitted to the crowd)",
        ),
        correlation=error_correlation(every, truth),
    )
    return _within_reach(_only(whole, rest))


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
    )


def _within_reach(instance: ComparedClasses) -> ComparedClasses:
    """Leave out tasks until the main workers can cover the rest, and name them."""
    problem = instance.problem(instance.main, instance.actual)
    least = problem.least_error()
    idle = float(problem.weights.sum())
    keep = np.flatnonzero(least <= instance.epsilon)
    if (instance.capacity < (instance.label >= 0).sum(axis=0))[instance.main].any():
        keep = _served(instance, np.flatnonzero(least <= instance.epsilon * (1.0 - NEAR)))
    if not len(keep):
        raise nothing_in_reach(
            instance.epsilon, float(np.median(least)), float(least.min()), min(idle, 1.0)
        )
    out = np.setdiff1d(np.arange(len(instance.tasks)), keep)
    return replace(_only(instance, keep), left_out=tuple(str(name) for name in instance.tasks[out]))


def _served(instance: ComparedClasses, keep: IntArray) -> IntArray:
    """Tasks that scarce workers can serve together: those short of most cover are left out.

    Cover is looked at for a little less than ε, within a little of it: so it is there at ε.
    """
    while len(keep):
        within = _only(instance, keep).problem(instance.main, instance.actual)
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
