"""Exact against heuristic for recorded labels of several classes: `comparison` by the joint cover.

Workers have confusion matrices, tasks a joint budget of errors (`crowd_models.joint`), and the vote
is the likeliest class. The offline methods know the matrices that all gold tells, the adaptive
algorithm those that its gold answers tell. The bound is that of the joint program.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from crowd_models.gains import MOST
from crowd_models.joint import JointProblem, pair_gains, pair_weights
from workbench.accuracy.independence import ErrorCorrelation, error_correlation
from workbench.accuracy.likeliest import likeliest_error, posteriors
from workbench.aggregation.dawid_skene import smoothed
from workbench.aggregation.voting import majority
from workbench.assignment.joint_weights import (
    SHORT,
    joint_approximation,
    offline_prices,
    perturbed,
    sampled_prices,
)
from workbench.assignment.weights import OnInfeasible
from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.base.seeds import generator, stream
from workbench.comparison import (
    ComparisonRow,
    RecordedOptions,
    measured_on_gold,
    plain_row,
    relaxed_row,
    sample_size,
)
from workbench.crowd import align, frames
from workbench.crowd.arrivals import random_permutation
from workbench.crowd.confusion import class_shares, estimate_confusion, gold_counts
from workbench.crowd.gold_rule import gold_codes, some_votes
from workbench.crowd.graphs import random_pairs
from workbench.crowd.replay import split_gold
from workbench.crowd.votes import TIE, Votes
from workbench.solving.highs import RunOptions
from workbench.solving.joint.relaxation import KEPT, relax
from workbench.solving.joint.route import JointSolution, solve_joint

METHODS = (
    "offline IP",
    "relaxation",
    "primal approximation",
    "adaptive",
    "random + plurality",
    "random + Dawid–Skene",
)
SHORTFALL = 1e3
"""Price of missing cover, in that of the dearest label: tasks bought at it are left out."""
NEAR = 0.01
"""Share of ε within which it is asked who can be served, where capacities are scarce."""
DRAWS = 2_000
"""Answers drawn for the error of a task with many labels: what is told is the mean over tasks."""


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
        half = math.ceil(1000 * float(np.median(least))) / 1000
        raise InputError(
            f"no task can be covered at epsilon {instance.epsilon:g}, not even by all workers: "
            + (
                f"use --epsilon {half:g} to reach half of them, capacity permitting"
                if half < min(idle, 1.0)
                else "half of them have no label that says anything, bring more labels"
            )
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


def compare(
    instance: ComparedClasses,
    *,
    seed: np.random.SeedSequence,
    time_limit: float = 20.0,
    on_infeasible: OnInfeasible = "relax",
) -> Iterator[ComparisonRow]:
    """Run every method on one instance, a row at a time: arguments and rows as in `comparison`."""
    seeds = dict(zip(METHODS, seed.spawn(len(METHODS)), strict=True))
    problem = instance.problem(instance.main, instance.actual)
    options = RunOptions(time_limit)
    exact = solve_joint(problem, time_limit=time_limit)
    relaxed = solve_joint(problem, "relaxation", time_limit=time_limit)
    bound = max((s.bound for s in (exact, relaxed) if s.bound is not None), default=None)
    buyer = _Buyer(instance, problem, exact, relaxed, seeds, options, on_infeasible)
    for name in METHODS:
        if name == "relaxation":
            yield relaxed_row(name, relaxed)
            continue
        started = time.perf_counter() - (exact.seconds if name == "offline IP" else 0.0)
        chosen = buyer.buy(name)
        row = ComparisonRow(name)
        if chosen is not None:
            row = _row(name, instance, chosen, generator(seeds[name].spawn(1)[0]))
        ratio = row.objective / bound if row.objective is not None and bound else None
        seconds = time.perf_counter() - started
        yield replace(row, lower_bound=bound, ratio=ratio, seconds=seconds)


def everybody(instance: ComparedClasses, *, seed: np.random.SeedSequence) -> ComparisonRow:
    """All labels on record of the tasks, by majority: the plainest way, and the dearest."""
    task, worker = np.nonzero(instance.label >= 0)
    votes = replace(instance.votes, task=task, worker=worker, label=instance.label[task, worker])
    true = instance.truth
    wrong = 1.0 - majority(votes, seed=generator(seed)).chance_right(np.maximum(true, 0))
    price = None if instance.price is None else instance.price[instance.kinds[task], worker]
    return plain_row(wrong[true >= 0], instance.correlation, len(task), price, len(true))


@dataclass(frozen=True, eq=False)
class _Buyer:
    """Buys the labels of every method on one instance: who labels what, shape (n, W)."""

    instance: ComparedClasses
    problem: JointProblem
    exact: JointSolution
    relaxed: JointSolution
    seeds: dict[str, np.random.SeedSequence]
    options: RunOptions
    on_infeasible: OnInfeasible

    def buy(self, method: str) -> BoolArray | None:
        if method == "offline IP":
            chosen = self.exact.assignment
            return None if chosen is None else self._main(chosen > 0.5)
        if method == "primal approximation":
            rng = generator(self.seeds[method])
            apart = perturbed(self.problem, seed=rng)
            prices = offline_prices(apart, self.options, self.relaxed.joint_proof)
            if prices is None:
                return None
            return self._main(joint_approximation(apart, prices, seed=rng))
        return self._adaptive if method == "adaptive" else self._random

    def _main(self, chosen: BoolArray) -> BoolArray:
        every: BoolArray = np.zeros(self.instance.label.shape, dtype=np.bool_)
        every[:, self.instance.main] = chosen
        return every

    @cached_property
    def _adaptive(self) -> BoolArray:
        """Algorithm 2: prices from the sample, then Algorithm 1 for whoever arrives."""
        crowd, rng = self.instance, generator(self.seeds["adaptive"])
        sample = crowd.order[: crowd.preliminary]
        prices = sampled_prices(
            perturbed(crowd.problem(sample, crowd.estimate), seed=rng),
            gamma=crowd.preliminary / len(crowd.main),
            options=self.options,
            on_infeasible=self.on_infeasible,
        )
        arriving = perturbed(crowd.problem(crowd.main, crowd.estimate), seed=rng)
        return self._main(joint_approximation(arriving, prices, seed=rng))

    @cached_property
    def _random(self) -> BoolArray:
        """As many labels at random, from the whole crowd; gold labels count as well."""
        crowd = self.instance
        mask, rng = crowd.label >= 0, generator(self.seeds["random + plurality"])
        reach = int(np.minimum(crowd.capacity, mask.sum(axis=0)).sum())
        wanted = int(self._adaptive.sum() + crowd.answered.sum())
        every: BoolArray = np.zeros(mask.shape, dtype=np.bool_)
        every[random_pairs(mask, min(wanted, reach), seed=rng, capacity=crowd.capacity)] = True
        return every


def _row(
    method: str, instance: ComparedClasses, chosen: BoolArray, rng: np.random.Generator
) -> ComparisonRow:
    """What was bought and how right it is: cost, cover, predicted and measured error."""
    task, worker = np.nonzero(chosen)
    kind, n = instance.kinds[task], len(instance.tasks)
    true, judged = instance.truth, instance.truth >= 0
    everybody = np.arange(len(instance.order))
    promised = instance.problem(everybody, instance.actual)
    errors = np.array([promised.error(i, row) for i, row in enumerate(chosen)])
    error_exact = None
    if method.startswith("random"):
        votes = Votes(
            task,
            worker,
            instance.label[task, worker],
            instance.votes.tasks,
            instance.votes.workers,
            instance.votes.classes,
        )
        vote = majority if method == "random + plurality" else smoothed
        wrong = 1.0 - vote(votes, seed=rng).chance_right(np.maximum(true, 0))[judged]
    else:
        by = instance.estimate if method == "adaptive" else instance.actual
        chance = by.confusion[kind, worker, :, instance.label[task, worker]]
        likely = posteriors(chance, task, by.prior, n)
        winning = likely >= likely.max(axis=1, keepdims=True) * (1.0 - TIE)
        wrong = 1.0 - (winning / winning.sum(axis=1, keepdims=True))[judged, true[judged]]
        error_exact = float(
            np.mean(
                [
                    likeliest_error(
                        instance.actual.confusion[k, row],
                        instance.actual.prior,
                        believed=by.confusion[k, row],
                        draws=DRAWS,
                    ).probability
                    for k, row in zip(instance.kinds.tolist(), chosen, strict=True)
                ]
            )
        )
    price = np.ones(instance.answered.shape) if instance.price is None else instance.price
    gold = instance.answered if method == "adaptive" else np.zeros_like(instance.answered)
    objective, cost_gold = float(price[kind, worker].sum()), float((price * gold).sum())
    return ComparisonRow(
        method,
        labels_gold=float(gold.sum()),
        labels_task=float(len(task)),
        cost=objective + cost_gold,
        cost_gold=cost_gold,
        objective=objective,
        tasks_covered=float(np.count_nonzero(errors <= instance.epsilon * (1 + KEPT))),
        error_bound=float(errors.mean()),
        error_exact=error_exact,
        **measured_on_gold(wrong, instance.correlation, len(task) / n),
    )
