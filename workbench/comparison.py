"""Exact against heuristic: one crowd, one table (floor 4).

Every method gets the same crowd, the same recorded or potential labels and the same gold
answers; its cost stands beside a proven lower bound, and its measured error beside the error
its assignment predicts. The crowd's skills are known to the offline methods only. The bound is that
of the program by one reading of what a label counts (`crowd_models.gains`), and so is the ratio.
Paper: Ho, Jabbari, Vaughan (2013), Sections 4 to 6.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem
from crowd_models.gains import Gain, gain_of
from workbench.accuracy.error_rate import lemma_1_bounds, vote_errors
from workbench.accuracy.independence import ErrorCorrelation, error_correlation
from workbench.accuracy.measured import error_interval
from workbench.aggregation.dawid_skene import smoothed
from workbench.aggregation.message_passing import message_passing
from workbench.aggregation.voting import (
    Aggregate,
    majority,
    promised_weights,
    weighted_majority,
)
from workbench.assignment import POLICIES
from workbench.assignment.adaptive import AdaptiveSettings, adaptive_assignment
from workbench.assignment.estimates import SkillEstimate, known_estimate, skills_on_arrival
from workbench.assignment.policies import ArrivingWorker, Setting, play
from workbench.assignment.primal import primal_approximation
from workbench.assignment.weights import OnInfeasible, offline_weights
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import generator
from workbench.collection.answers import Answers, rehearse
from workbench.collection.policy import Goal
from workbench.collection.pool import Pool
from workbench.collection.sure import UntilSure
from workbench.crowd import align
from workbench.crowd.arrivals import random_permutation
from workbench.crowd.empirical_bayes import fitted_skills
from workbench.crowd.graphs import random_pairs, regular_graph
from workbench.crowd.population import Crowd
from workbench.crowd.replay import RecordedLabels, split_gold
from workbench.crowd.simulate import SimulatedLabels, task_types, truth
from workbench.crowd.skills import estimate_skills
from workbench.crowd.sources import GoldAnswers, LabelSource, collect
from workbench.crowd.votes import Votes
from workbench.solving import Solution, Termination, solve
from workbench.solving.information_limit import information_limit


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


@dataclass(frozen=True)
class ComparisonRow:
    """One method's line in the table; None where a figure has no meaning for it.

    Attributes
    ----------
    labels_gold, labels_task
        Labels bought on gold tasks and on real tasks.
    cost, cost_gold, objective
        Price of all of them, of those on gold tasks and of those on real tasks. A gold label is
        bought like any other: at its worker's price for a task of its type.
    lower_bound, ratio
        Proven lower bound on the cost of covering every task, and objective / bound.
    tasks_covered
        Tasks whose labels gather the required quality, by the crowd's (true) skills.
    error_bound, error_exact
        Mean over tasks of a bound, and of the exact error of the weighted vote. The bound is the
        gain's where the vote is by the (true) skills, otherwise Lemma 1's, for any weights.
    error_measured, error_se
        Share of wrong labels on tasks with known truth, ties as a half; its standard error.
    error_low, error_high
        90 % interval of that share among any number of further tasks.
    tasks_measured
        Tasks with known truth.
    effective_workers
        Independent workers that those who label a task are worth, by how errors on gold go
        together; None on simulated crowds.
    """

    method: str
    labels_gold: float | None = None
    labels_task: float | None = None
    cost: float | None = None
    cost_gold: float | None = None
    objective: float | None = None
    lower_bound: float | None = None
    ratio: float | None = None
    tasks_covered: float | None = None
    error_bound: float | None = None
    error_exact: float | None = None
    error_measured: float | None = None
    error_se: float | None = None
    error_low: float | None = None
    error_high: float | None = None
    tasks_measured: float | None = None
    effective_workers: float | None = None
    seconds: float | None = None


COLUMNS = tuple(field.name for field in fields(ComparisonRow))

ONLINE_POLICIES = ("coverage-aware", "re-solve", "dual descent")
"""Online policies beyond the paper, as `workbench.assignment.policies` names them."""

LEARNT = "robust, U and L learnt"
"""`robust` by what quality costs those met so far, the sample first, and so without its promise."""

METHODS = (
    "offline IP",
    "relaxation",
    "dual",
    "primal approximation",
    "adaptive",
    "random + message passing",
    "random + majority",
    "random + weighted majority",
    *ONLINE_POLICIES,  # new methods come last: each has the random stream of its place
    "random + Dawid–Skene",
    "label until sure",
    "information limit",
    LEARNT,
)


EVERYBODY = "all labels + majority"
"""Beside the methods, of recorded crowds: what is there without choosing anything."""


def methods() -> tuple[str, ...]:
    """Name the methods compared: `METHODS`, and the policies of a user's own."""
    return (*METHODS, *POLICIES.added())


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


@dataclass(frozen=True, eq=False)
class RecordedOptions:
    """How a recorded crowd is made into an instance.

    Attributes
    ----------
    control
        How many, or which share, of the tasks with gold serve as control tasks.
    gamma
        γ: a share γ/(1+γ) of the workers, drawn at random, is the preliminary sample.
    gold_tasks
        s, gold tasks asked of a worker by type.
    epsilon
        ε, the error each task may have.
    task_types, capacity, costs
        Type by task, M by worker or for all, price by worker and type; None for a single type, no
        limit, 1.
    gain, skills
        As in `ComparedCrowd`.
    """

    control: float
    gamma: float
    gold_tasks: int
    epsilon: float
    task_types: pd.Series[Any] | None = None
    capacity: pd.Series[Any] | int | None = None
    costs: pd.DataFrame | None = None
    gain: str = "bhattacharyya"
    skills: SkillEstimate = "fitted"


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


def sample_size(workers: int, gamma: float) -> int:
    """Give the size of the preliminary sample, a share γ/(1+γ) of the workers.

    Raises
    ------
    InputError
        That leaves nobody for the sample, or nobody else.
    """
    preliminary = round(gamma / (1 + gamma) * workers)
    if not 0 < preliminary < workers:
        raise InputError(
            f"gamma is {gamma:g}: it leaves {preliminary} of {workers} workers for the sample; "
            "give a share that leaves some for both"
        )
    return preliminary


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
        idle = float(instance.reading.error(0.0))
        half = math.ceil(1000 * float(instance.reading.error(np.median(reachable)))) / 1000
        raise InputError(
            f"no task can be covered at epsilon {instance.epsilon:g}, not even by all workers: "
            + (
                f"use --epsilon {half:g} to reach half of them, capacity permitting"
                if half < idle
                else "half of them have no label that says anything, bring more labels"
            )
        )
    return replace(
        instance,
        tasks=instance.tasks[keep],
        left_out=tuple(str(name) for name in instance.source.tasks[instance.tasks[out]]),
    )


@dataclass(frozen=True, eq=False)
class Assigned:
    """Labels a method bought: task (index into the instance's tasks), worker, vote weight.

    And those on gold tasks, by type and worker, shape (T, W); None for none. `by_skill` says
    whether the weights are those of the (true) skills.
    """

    task: IntArray
    worker: IntArray
    weight: FloatArray
    gold: IntArray | None = None
    by_skill: bool = False


def compare(
    instance: ComparedCrowd,
    *,
    seed: np.random.SeedSequence,
    time_limit: float = 20.0,
    on_infeasible: OnInfeasible = "relax",
) -> Iterator[ComparisonRow]:
    """Run every method on one instance, a row at a time.

    Parameters
    ----------
    seed
        Of the methods; the instance has its own.
    time_limit
        Seconds for the integer program.
    on_infeasible
        What the adaptive algorithm does when its sample cannot cover the tasks.

    Yields
    ------
    ComparisonRow
        In the order of `methods()`. The lower bound is the integer program's, the same for every
        method that buys labels; relaxation and dual stand beside their own.
    """
    names = methods()
    seeds = dict(zip(names, seed.spawn(len(names)), strict=True))
    problem = instance.problem(instance.main)
    exact, relaxed = solve(problem, "ip", time_limit=time_limit), solve(problem, "typed")
    bound = max((s.bound for s in (exact, relaxed) if s.bound is not None), default=None)
    buyer = _Buyer(instance, problem, exact, relaxed, seed, seeds, on_infeasible)
    for name in names:
        if name in ("relaxation", "dual"):
            dual = name == "dual"
            solution = solve(problem, "dual", time_limit=time_limit) if dual else relaxed
            yield relaxed_row(name, solution)
            continue
        if name in CLOSED_LOOP:
            yield CLOSED_LOOP[name](instance, seeds[name])
            continue
        rng = generator(seeds[name].spawn(1)[0])
        started = time.perf_counter() - (exact.seconds if name == "offline IP" else 0.0)
        bought = buyer.buy(name)
        row = ComparisonRow(name)
        if bought is not None:
            votes = collect(instance.source, instance.tasks[bought.task], bought.worker)
            outcome = VOTES.get(name, _weighted)(votes, bought.weight, rng)
        seconds = time.perf_counter() - started
        if bought is not None:
            row = _measured(name, instance, bought, outcome)
        ratio = _ratio(row.objective, bound)
        yield replace(row, lower_bound=bound, ratio=ratio, seconds=seconds)


def everybody(instance: ComparedCrowd, *, seed: np.random.SeedSequence) -> ComparisonRow:
    """All labels on record of the tasks, by majority: the plainest way, and the dearest."""
    mask = instance.available(instance.order)
    if mask is None:
        raise InputError("the crowd is simulated: there is no record of labels to take all of")
    task, place = np.nonzero(mask)
    worker = instance.order[place]
    votes = collect(instance.source, instance.tasks[task], worker)
    right = majority(votes, seed=generator(seed)).chance_right(instance.source.truth)
    at = instance.tasks[instance.source.truth[instance.tasks] >= 0]
    price = None if instance.price is None else instance.price[instance.kinds[task], worker]
    return plain_row(1.0 - right[at], instance.correlation, len(task), price, len(instance.tasks))


def plain_row(
    wrong: FloatArray,
    correlation: ErrorCorrelation | None,
    labels: int,
    price: FloatArray | None,
    tasks: int,
) -> ComparisonRow:
    """The row of `EVERYBODY`: what the labels cost, and how often their majority is wrong."""
    cost = float(labels) if price is None else float(price.sum())
    return ComparisonRow(
        EVERYBODY,
        labels_gold=0.0,
        labels_task=float(labels),
        cost=cost,
        cost_gold=0.0,
        objective=cost,
        **measured_on_gold(wrong, correlation, labels / tasks),
    )


def _weighted(votes: Votes, weight: FloatArray, rng: np.random.Generator) -> Aggregate:
    return weighted_majority(votes, weight, seed=rng)


MAJORITY = "random + majority"
VOTES: dict[str, Callable[[Votes, FloatArray, np.random.Generator], Aggregate]] = {
    "random + message passing": lambda votes, _, rng: message_passing(
        votes, iterations=10, seed=rng
    ),
    MAJORITY: lambda votes, _, rng: majority(votes, seed=rng),
    "random + Dawid–Skene": lambda votes, _, rng: smoothed(votes, seed=rng),
}
"""How labels are voted on where not by the buyer's weights."""


@dataclass(frozen=True, eq=False)
class _Buyer:
    """Buys the labels of every method on one instance."""

    instance: ComparedCrowd
    problem: AssignmentProblem
    exact: Solution
    relaxed: Solution
    seed: np.random.SeedSequence
    seeds: Mapping[str, np.random.SeedSequence]
    on_infeasible: OnInfeasible

    def buy(self, method: str) -> Assigned | None:
        """Buy a method's labels; None where it can buy none."""
        own = self.seeds[method]
        if method == "offline IP":
            chosen = self.exact.assignment
            return None if chosen is None else self._offline(chosen > 0.5)
        if method == "primal approximation":
            infeasible = self.relaxed.termination is Termination.INFEASIBLE
            return None if infeasible else self._offline(_algorithm_1(self.problem, own))
        if method == "adaptive":
            return self._adaptive
        if method == "random + weighted majority":
            return self._random(self._answers, own)
        if method in VOTES:
            # One graph for all: they differ in the vote alone.
            return self._random(None, self.seeds[MAJORITY])
        return self._policy(method, own)

    def _offline(self, chosen: BoolArray) -> Assigned:
        """Labels of an assignment (n, m) of the main workers, weighed by their (true) skills."""
        task, place = np.nonzero(chosen)
        worker = self.instance.main[place]
        skill = self.instance.skill[self.instance.kinds[task], worker]
        return Assigned(task, worker, self.instance.weights(skill), by_skill=True)

    @cached_property
    def _answers(self) -> GoldAnswers:
        crowd = self.instance
        return crowd.source.gold_answers(crowd.order, crowd.gold, seed=self.seed)

    @cached_property
    def _adaptive(self) -> Assigned:
        """The adaptive algorithm's labels, weighed by the skills that it estimated."""
        crowd, answers = self.instance, self._answers
        order, first = crowd.order, crowd.preliminary
        result = adaptive_assignment(
            answers.correct,
            answers.answered,
            crowd.capacity[order],
            crowd.kinds,
            AdaptiveSettings(
                crowd.epsilon,
                len(order) - first,
                first,
                on_infeasible=self.on_infeasible,
                gain=crowd.gain,
                skills=crowd.skills,
            ),
            cost=None if crowd.price is None else crowd.price[:, order],
            available=crowd.available(order),
            seed=self.seeds["adaptive"],
        )
        return self._by_estimates(result.task, result.worker)

    def _told(self, start: int) -> FloatArray:
        """Skills as gold answers tell them, of the workers from the `start` to arrive on, (T, k).

        A prior, where one is fitted, rests on the sample, or without one on those who came before.
        """
        crowd, answers = self.instance, self._answers
        sampled = 0 if start else crowd.preliminary
        columns = answers.correct[:, start:], answers.answered[:, start:]
        return skills_on_arrival(*columns, sampled, crowd.skills)

    def _by_estimates(self, task: IntArray, place: IntArray, first: int = 0) -> Assigned:
        """Labels by place in the order of arrival, weighed by the skills that gold answers tell.

        Gold labels of the workers from the `first` to arrive on count.
        """
        crowd, answers = self.instance, self._answers
        # Whoever has no sample learns what workers are like from those who came before.
        skill = np.full(crowd.skill.shape, 0.5)
        skill[:, first:] = self._told(first)
        weight = crowd.weights(skill[crowd.kinds[task], place])
        gold = np.zeros(crowd.skill.shape, dtype=np.int64)
        gold[:, crowd.order[first:]] = answers.answered[:, first:]
        return Assigned(task, crowd.order[place], weight, gold)

    def _policy(self, name: str, seed: np.random.SeedSequence) -> Assigned:
        """Labels of an online policy that is told estimated skills, as the adaptive algorithm."""
        crowd, first = self.instance, self.instance.preliminary
        name = "robust" if name == LEARNT else name
        sampled = POLICIES[name].call.uses_sample
        skill, mask = np.full(crowd.skill.shape, 0.5), crowd.available(crowd.order)
        start = 0 if sampled else first
        skill[:, start:] = self._told(start)
        workers = tuple(
            ArrivingWorker(
                skill[:, j],
                int(crowd.capacity[worker]),
                None if crowd.price is None else crowd.price[:, worker],
                None if mask is None else mask[:, j],
            )
            for j, worker in enumerate(crowd.order.tolist())
        )
        sample = workers[:first] if sampled else ()
        many = len(workers) - first
        setting = Setting(
            crowd.kinds,
            crowd.epsilon,
            many,
            sample,
            on_infeasible=self.on_infeasible,
            gain=crowd.gain,
        )
        run, _ = play(name, setting, workers[first:], seed=generator(seed))
        return self._by_estimates(run.task, run.worker + first, start)

    def _random(self, answers: GoldAnswers | None, seed: np.random.SeedSequence) -> Assigned:
        """As many labels at random, from the whole crowd; gold answers, where used, count as well.

        Where every pair has a label the graph is random regular, as in Karger, Oh, Shah.
        """
        instance, rng = self.instance, generator(seed)
        budget = len(self._adaptive.task)
        if answers is None:
            budget += int(self._answers.answered.sum())
        mask, capacity = instance.available(instance.order), instance.capacity[instance.order]
        n, crowd = len(instance.tasks), len(instance.order)
        if mask is None:
            each = min(budget // n, crowd, int(np.minimum(capacity, n).sum()) // n)
            task, place = regular_graph(n, crowd, each, seed=rng, capacity=capacity)
        else:
            reach = int(np.minimum(capacity, mask.sum(axis=0)).sum())
            task, place = random_pairs(mask, min(budget, reach), seed=rng, capacity=capacity)
        if answers is None:
            return Assigned(task, instance.order[place], np.ones(len(task)))
        return self._by_estimates(task, place)


def _ratio(objective: float | None, bound: float | None) -> float | None:
    return None if objective is None or not bound else objective / bound


def relaxed_row(method: str, solution: Solution) -> ComparisonRow:
    """The relaxation or its dual, beside its own certified bound: fractions buy no labels."""
    bound = solution.certificate.lower_bound
    return ComparisonRow(
        method,
        objective=solution.objective,
        lower_bound=bound,
        ratio=_ratio(solution.objective, bound),
        seconds=solution.seconds,
    )


def _algorithm_1(problem: AssignmentProblem, seed: np.random.SeedSequence) -> BoolArray:
    """Algorithm 1 with the optimal dual of the perturbed relaxation (Theorem 1)."""
    rng = generator(seed)
    if problem.cost is not None:
        cost = align.relative(problem.cost, align.typical(problem.cost))
        problem = replace(problem, cost=cost)
    weights, perturbed, _ = offline_weights(problem, seed=rng)
    return primal_approximation(
        perturbed,
        weights,
        problem.capacity,
        cost=problem.cost,
        available=problem.available,
        seed=rng,
    )


def _measured(
    method: str, instance: ComparedCrowd, bought: Assigned, outcome: Aggregate
) -> ComparisonRow:
    """What was bought and how right it is: cost, cover, predicted and measured error."""
    shape = (len(instance.tasks), len(instance.order))
    kind = instance.kinds[bought.task]
    skill = instance.skill[kind, bought.worker]
    covered = np.bincount(bought.task, instance.counted(skill), minlength=shape[0])
    need = instance.need
    price = np.ones(instance.skill.shape) if instance.price is None else instance.price
    gold = np.zeros_like(price) if bought.gold is None else bought.gold
    error_bound = error_exact = None
    if VOTES.get(method) in (None, VOTES[MAJORITY]):
        at = (bought.task, bought.worker)
        assigned, skills, weights = np.zeros(shape, dtype=bool), np.zeros(shape), np.zeros(shape)
        assigned[at], skills[at], weights[at] = True, skill, bought.weight
        error_exact = float(vote_errors(skills, weights, assigned)[0].mean())
        if bought.by_skill and instance.reading.vote != "linear":
            error_bound = float(instance.reading.error(covered).mean())
        else:
            error_bound = float(lemma_1_bounds(skills, weights, assigned).mean())
    # Wrong where the truth is known, a tie as a half.
    true = instance.source.truth[instance.tasks]
    drawn = (outcome.tied | outcome.unlabelled)[instance.tasks]
    wrong = np.where(drawn, 0.5, outcome.label[instance.tasks] != true)[true >= 0]
    objective, cost_gold = float(price[kind, bought.worker].sum()), float((price * gold).sum())
    return ComparisonRow(
        method,
        labels_gold=float(gold.sum()),
        labels_task=float(len(bought.task)),
        cost=objective + cost_gold,
        cost_gold=cost_gold,
        objective=objective,
        tasks_covered=float(np.count_nonzero(covered >= need * (1 - 1e-9))),
        error_bound=error_bound,
        error_exact=error_exact,
        **measured_on_gold(wrong, instance.correlation, len(bought.task) / shape[0]),
    )


def measured_on_gold(
    wrong: FloatArray, correlation: ErrorCorrelation | None, voters: float
) -> dict[str, float | None]:
    """Give the measured figures of a row.

    Parameters
    ----------
    wrong
        Chance over ties of a wrong label, of each task with known truth.
    correlation, voters
        How errors go together, and workers a task.
    """
    tasks = len(wrong)
    low, high = error_interval(float(wrong.sum()), tasks, None) if tasks else (None, None)
    return {
        "error_measured": float(wrong.mean()) if tasks else None,
        "error_se": float(wrong.std(ddof=1) / math.sqrt(tasks)) if tasks > 1 else None,
        "error_low": low,
        "error_high": high,
        "tasks_measured": float(tasks),
        "effective_workers": None if correlation is None else correlation.effective(voters),
    }


def _until_sure(instance: ComparedCrowd, seed: np.random.SeedSequence) -> ComparisonRow:
    """The closed loop: labels are looked at as they come, and no gold is asked.

    It covers nothing beforehand; its bound is the information limit at its measured error, where
    the true skills are known.
    """
    started = time.perf_counter()
    workers = instance.main
    n, m = len(instance.tasks), len(workers)
    mask = instance.available(workers)
    task, place = np.nonzero(np.ones((n, m), dtype=bool) if mask is None else mask)
    label = np.full((n, m), -1, dtype=np.int64)
    label[task, place] = instance.source.labels(instance.tasks[task], workers[place])
    nobody = np.empty(0, dtype=np.int64)
    pool = Pool(
        tasks=np.arange(n),
        workers=np.arange(m),
        classes=instance.source.classes,
        capacity=instance.capacity[workers],
        price=np.ones((len(instance.skill), m))
        if instance.price is None
        else instance.price[:, workers],
        kind=instance.kinds,
        share=np.full(2, 0.5),
        gold=nobody,
        gold_kind=nobody,
        available=mask,
    )
    true = instance.source.truth[instance.tasks]
    done = rehearse(
        UntilSure,
        pool,
        Answers(label, np.empty((0, m), dtype=np.int64), true),
        Goal(instance.epsilon),
        arrivals=np.arange(m),
        seed=int(generator(seed).integers(2**32)),
    )
    wrong = done.belief.misses(true)
    judged, cost = len(wrong), float(done.ledger.spent)
    error = float(wrong.mean()) if judged else None
    limit = None if error is None else _limit(instance, max(error, 0.5 / (judged + 1)))
    return ComparisonRow(
        "label until sure",
        labels_gold=0.0,
        labels_task=float(len(done.ledger.labels)),
        cost=cost,
        cost_gold=0.0,
        objective=cost,
        lower_bound=limit,
        ratio=_ratio(cost, limit),
        **measured_on_gold(wrong, instance.correlation, len(done.ledger.labels) / n),
        seconds=time.perf_counter() - started,
    )


def _information_limit(instance: ComparedCrowd, _: np.random.SeedSequence) -> ComparisonRow:
    """What every policy of mean error ε pays at least, in expectation."""
    started = time.perf_counter()
    limit = _limit(instance, instance.epsilon)
    return ComparisonRow(
        "information limit",
        objective=limit,
        lower_bound=limit,
        ratio=_ratio(limit, limit),
        seconds=time.perf_counter() - started,
    )


def _limit(instance: ComparedCrowd, error: float) -> float | None:
    """The limit at a mean error; None where skills are not known, or where there is none."""
    if not isinstance(instance.source, SimulatedLabels):
        return None
    price = None if instance.price is None else instance.price[:, instance.main]
    value = information_limit(
        instance.skill[:, instance.main],
        capacity=instance.capacity[instance.main],
        tasks=np.bincount(instance.kinds, minlength=len(instance.skill)),
        epsilon=min(error, 0.5),
        cost=price,
        average=True,
    ).value
    return float(value) if math.isfinite(value) else None


CLOSED_LOOP = {"label until sure": _until_sure, "information limit": _information_limit}
"""Rows of those who look at labels as they come, beside what they must pay."""


def summarise(trials: pd.DataFrame) -> pd.DataFrame:
    """Mean of each figure over trials, by method; the error's standard error across trials.

    Parameters
    ----------
    trials
        One row a trial and method: column `trial` and those of `ComparisonRow`.

    Returns
    -------
    DataFrame
        Columns of `ComparisonRow` and `trials`, in the order of `METHODS`.
    """
    groups = trials.groupby("method", sort=False)
    table = groups[list(COLUMNS[1:])].mean()
    if len(set(trials["trial"])) > 1:
        table["error_se"] = groups["error_measured"].sem()
    table["trials"] = groups.size()
    return table.reset_index()
