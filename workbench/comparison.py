"""Exact against heuristic: one crowd, one table (floor 4).

Every method gets the same crowd, the same recorded or potential labels and the same gold
answers; its cost stands beside a proven lower bound, and its measured error beside the error
its assignment predicts. The crowd's skills are known to the offline methods only. Paper: Ho,
Jabbari, Vaughan (2013), Sections 4 to 6.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from workbench.accuracy.error_rate import lemma_1_bounds, vote_errors
from workbench.aggregation.message_passing import message_passing
from workbench.aggregation.voting import Aggregate, linear_weights, majority, weighted_majority
from workbench.assignment import POLICIES
from workbench.assignment.adaptive import AdaptiveResult, AdaptiveSettings, adaptive_assignment
from workbench.assignment.policies import ArrivingWorker, Setting, play
from workbench.assignment.primal import primal_approximation
from workbench.assignment.weights import OnInfeasible, offline_weights
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import generator
from workbench.crowd import align
from workbench.crowd.arrivals import random_permutation
from workbench.crowd.graphs import random_pairs, regular_graph
from workbench.crowd.population import Crowd
from workbench.crowd.replay import RecordedLabels, split_gold
from workbench.crowd.simulate import SimulatedLabels, task_types, truth
from workbench.crowd.skills import estimate_skills, quality
from workbench.crowd.sources import GoldAnswers, LabelSource, collect
from workbench.crowd.votes import Votes
from workbench.solving import Solution, Termination, solve


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
            quality(self.skill[:, workers])[self.kinds],
            self.capacity[workers],
            np.full(len(self.tasks), float(requirement(self.epsilon))),
            None if self.price is None else self.price[:, workers][self.kinds],
            self.available(workers),
            self.kinds,
        )


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
        Mean over tasks of Lemma 1's bound, and of the exact error of the weighted vote.
    error_measured, error_se
        Share of wrong labels on tasks with known truth, ties as a half; its standard error.
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
    seconds: float | None = None


COLUMNS = tuple(field.name for field in fields(ComparisonRow))

ONLINE_POLICIES = ("coverage-aware", "re-solve", "dual descent")
"""Online policies beyond the paper, as `workbench.assignment.policies` names them."""

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
)


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
            source, crowd.skill, crowd.capacity, order, preliminary, gold, epsilon,
            np.arange(tasks),
        )
    )  # fmt: skip


def recorded(
    labels: pd.DataFrame,
    gold: pd.Series[Any],
    *,
    control: float,
    gamma: float,
    gold_tasks: int,
    epsilon: float,
    seed: np.random.SeedSequence,
    task_types: pd.Series[Any] | None = None,
    capacity: pd.Series[Any] | int | None = None,
    costs: pd.DataFrame | None = None,
) -> ComparedCrowd:
    """An instance of recorded labels: what was never recorded cannot be assigned.

    Part of the gold serves as control tasks; a share γ/(1+γ) of the workers, drawn at random,
    is the preliminary sample. Nobody knows the true skills: the offline methods get the share
    of right answers on all gold, one right and one wrong answer added.

    Raises
    ------
    InputError
        For data the adaptive model is not made for (not two classes, no gold), or when no task
        can be covered at this ε.
    """
    chosen, _ = split_gold(gold, control=control, seed=seed)
    source = RecordedLabels(labels, gold, control=chosen, task_types=task_types)
    workers = len(source.workers)
    preliminary = round(gamma / (1 + gamma) * workers)
    if not 0 < preliminary < workers:
        raise InputError(
            f"gamma is {gamma:g}: it leaves {preliminary} of {workers} workers for the sample; "
            "give a share that leaves some for both"
        )
    return _within_reach(
        ComparedCrowd(
            source,
            _hindsight(source),
            align.capacities(source.workers, len(source.tasks) if capacity is None else capacity),
            random_permutation(workers, seed=seed),
            preliminary,
            gold_tasks,
            epsilon,
            np.arange(len(source.tasks)),
            price=None if costs is None else align.prices(source.workers, source.task_types, costs),
            notes=(
                "true skills are unknown: the offline methods and the predicted errors take the "
                "share of right answers on all gold (one right, one wrong added)",
            ),
        )
    )


def _hindsight(source: RecordedLabels) -> FloatArray:
    """Share of right labels on all gold, control and evaluation, add-one smoothed, (T, W)."""
    shape = source.control_answered.shape
    correct, answered = source.control_correct.copy(), source.control_answered.copy()
    assert source.available is not None
    task, worker = np.nonzero(source.available & (source.truth >= 0)[:, None])
    right = source.labels(task, worker) == source.truth[task]
    at = (source.task_type[task], worker)
    np.add.at(answered, at, 1)
    np.add.at(correct, at, right.astype(np.int64))
    assert correct.shape == shape
    return estimate_skills(correct, answered, prior=(1.0, 1.0)).skill


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
        half = math.ceil(1000 * math.exp(-np.median(reachable) / 2)) / 1000
        raise InputError(
            f"no task can be covered at epsilon {instance.epsilon:g}, not even by all workers: "
            + (f"use --epsilon {half:g} to reach half of them, capacity permitting" if half < 1
               else "half of them have no label that says anything, bring more labels")
        )  # fmt: skip
    return replace(
        instance,
        tasks=instance.tasks[keep],
        left_out=tuple(str(name) for name in instance.source.tasks[instance.tasks[out]]),
    )


@dataclass(frozen=True, eq=False)
class Assigned:
    """Labels a method bought: task (index into the instance's tasks), worker, vote weight.

    And those on gold tasks, by type and worker, shape (T, W); None for none.
    """

    task: IntArray
    worker: IntArray
    weight: FloatArray
    gold: IntArray | None = None


def compare(
    instance: ComparedCrowd,
    *,
    seed: np.random.SeedSequence,
    time_limit: float = 20.0,
    on_infeasible: OnInfeasible = "relax",
    iterations: int = 10,
    threads: int = 1,
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
    iterations
        Of message passing.

    Yields
    ------
    ComparisonRow
        In the order of `methods()`. The lower bound is the integer program's, the same for every
        method that buys labels; relaxation and dual stand beside their own.
    """
    names = methods()
    seeds = dict(zip(names, seed.spawn(len(names)), strict=True))
    problem = instance.problem(instance.main)
    exact = solve(problem, "ip", time_limit=time_limit, threads=threads)
    relaxed = solve(problem, "typed")
    bound = _lower_bound(exact, relaxed)
    yield _exact_row("offline IP", instance, exact, bound, seeds["offline IP"])
    yield _relaxed_row("relaxation", relaxed)
    yield _relaxed_row("dual", solve(problem, "dual", time_limit=time_limit, threads=threads))
    if relaxed.termination is not Termination.INFEASIBLE:
        yield _row(
            "primal approximation", instance, bound, seeds["primal approximation"],
            partial(_offline_heuristic, instance, problem, seeds["primal approximation"]),
        )  # fmt: skip
    else:
        yield ComparisonRow("primal approximation")
    started = time.perf_counter()
    answers = instance.source.gold_answers(instance.order, instance.gold, seed=seed)
    adaptive = _adaptive(instance, answers, on_infeasible, seeds["adaptive"])
    elapsed = time.perf_counter() - started
    yield _row(
        "adaptive", instance, bound, seeds["adaptive"],
        partial(_adaptive_labels, instance, adaptive, answers), extra_seconds=elapsed,
    )  # fmt: skip
    budget = adaptive.labels_gold + adaptive.labels_task
    voters: dict[str, Callable[[Votes, FloatArray, np.random.Generator], Aggregate]] = {
        "random + message passing": lambda votes, _, rng: message_passing(
            votes, iterations=iterations, seed=rng
        ),
        "random + majority": lambda votes, _, rng: majority(votes, seed=rng),
        "random + weighted majority": lambda votes, weight, rng: weighted_majority(
            votes, weight, seed=rng
        ),
    }
    for method, vote in voters.items():
        known = answers if method.endswith("weighted majority") else None
        # One graph for majority and message passing: they differ in the vote alone.
        graph = seeds["random + majority" if known is None else method]
        yield _row(
            method, instance, bound, seeds[method],
            partial(_random_labels, instance, budget, known, graph),
            vote, exact_error=method != "random + message passing",
        )  # fmt: skip
    for method in (*ONLINE_POLICIES, *POLICIES.added()):
        yield _row(
            method, instance, bound, seeds[method],
            partial(_policy_labels, instance, answers, method, on_infeasible, seeds[method]),
        )  # fmt: skip


def _lower_bound(exact: Solution, relaxed: Solution) -> float | None:
    known = [s.bound for s in (exact, relaxed) if s.bound is not None]
    return max(known) if known else None


def _ratio(objective: float | None, bound: float | None) -> float | None:
    return None if objective is None or not bound else objective / bound


def _relaxed_row(method: str, solution: Solution) -> ComparisonRow:
    """The relaxation or its dual, beside its own certified bound: fractions buy no labels."""
    return ComparisonRow(
        method,
        objective=solution.objective,
        lower_bound=solution.certificate.lower_bound,
        ratio=_ratio(solution.objective, solution.certificate.lower_bound),
        seconds=solution.seconds,
    )


def _exact_row(
    method: str,
    instance: ComparedCrowd,
    solution: Solution,
    bound: float | None,
    seed: np.random.SeedSequence,
) -> ComparisonRow:
    if solution.assignment is None:
        return ComparisonRow(method, lower_bound=bound, seconds=solution.seconds)
    task, place = np.nonzero(solution.assignment > 0.5)
    worker = instance.main[place]
    weight = linear_weights(instance.skill[instance.kinds[task], worker])
    return _row(
        method, instance, bound, seed, lambda: Assigned(task, worker, weight),
        extra_seconds=solution.seconds,
    )  # fmt: skip


def _offline_heuristic(
    instance: ComparedCrowd, problem: AssignmentProblem, seed: np.random.SeedSequence
) -> Assigned:
    """Algorithm 1 with the optimal dual of the perturbed relaxation (Theorem 1)."""
    rng = generator(seed)
    if problem.cost is not None:
        cost = align.relative(problem.cost, align.typical(problem.cost))
        problem = replace(problem, cost=cost)
    weights, perturbed, _ = offline_weights(problem, seed=rng)
    chosen = primal_approximation(
        perturbed, weights, problem.capacity,
        cost=problem.cost, available=problem.available, seed=rng,
    )  # fmt: skip
    task, place = np.nonzero(chosen)
    worker = instance.main[place]
    return Assigned(task, worker, linear_weights(instance.skill[instance.kinds[task], worker]))


def _adaptive(
    instance: ComparedCrowd,
    answers: GoldAnswers,
    on_infeasible: OnInfeasible,
    seed: np.random.SeedSequence,
) -> AdaptiveResult:
    order = instance.order
    return adaptive_assignment(
        answers.correct,
        answers.answered,
        instance.capacity[order],
        instance.kinds,
        AdaptiveSettings(
            instance.epsilon,
            len(order) - instance.preliminary,
            instance.preliminary,
            on_infeasible=on_infeasible,
        ),
        cost=None if instance.price is None else instance.price[:, order],
        available=instance.available(order),
        seed=seed,
    )


def _adaptive_labels(
    instance: ComparedCrowd, result: AdaptiveResult, answers: GoldAnswers
) -> Assigned:
    """The adaptive algorithm's labels; its weights are what it estimated, 2p̂ − 1."""
    weight = linear_weights(result.skill[instance.kinds[result.task], result.worker])
    gold = _gold(instance, answers)
    return Assigned(result.task, instance.order[result.worker], weight, gold)


def _gold(instance: ComparedCrowd, answers: GoldAnswers, first: int = 0) -> IntArray:
    """Gold labels by type and worker (T, W), of the workers from the `first` to arrive on."""
    gold = np.zeros(instance.skill.shape, dtype=np.int64)
    gold[:, instance.order[first:]] = answers.answered[:, first:]
    return gold


def _policy_labels(
    instance: ComparedCrowd,
    answers: GoldAnswers,
    name: str,
    on_infeasible: OnInfeasible,
    seed: np.random.SeedSequence,
) -> Assigned:
    """Labels of an online policy that is told estimated skills, as the adaptive algorithm is."""
    order, first = instance.order, instance.preliminary
    skill = estimate_skills(*answers).skill
    cost = None if instance.price is None else instance.price[:, order]
    mask = instance.available(order)
    told = tuple(
        ArrivingWorker(
            skill[:, j],
            capacity,
            None if cost is None else cost[:, j],
            None if mask is None else mask[:, j],
        )
        for j, capacity in enumerate(instance.capacity[order].tolist())
    )
    sampled = POLICIES[name].call.uses_sample
    setting = Setting(
        instance.kinds, instance.epsilon, len(order) - first, told[:first] if sampled else (),
        on_infeasible=on_infeasible,
    )  # fmt: skip
    run, _ = play(name, setting, told[first:], seed=generator(seed))
    place = run.worker + first
    weight = linear_weights(skill[instance.kinds[run.task], place])
    gold = _gold(instance, answers, 0 if sampled else first)
    return Assigned(run.task, order[place], weight, gold)


def _random_labels(
    instance: ComparedCrowd,
    budget: int,
    answers: GoldAnswers | None,
    seed: np.random.SeedSequence,
) -> Assigned:
    """As many labels at random, from the whole crowd; gold answers, where used, count as well.

    Where every pair has a label the graph is random regular, as in Karger, Oh, Shah.
    """
    rng = generator(seed)
    spent = 0 if answers is None else int(answers.answered.sum())
    mask = instance.available(instance.order)
    n, crowd = len(instance.tasks), len(instance.order)
    capacity = instance.capacity[instance.order]
    room = int(np.minimum(capacity, n).sum())
    if mask is None:
        each = min((budget - spent) // n, crowd, room // n)
        task, place = regular_graph(n, crowd, each, seed=rng, capacity=capacity)
    else:
        reach = int(np.minimum(capacity, mask.sum(axis=0)).sum())
        task, place = random_pairs(mask, min(budget - spent, reach), seed=rng, capacity=capacity)
    if answers is None:
        return Assigned(task, instance.order[place], np.ones(len(task)))
    weight = linear_weights(estimate_skills(*answers).skill[instance.kinds[task], place])
    return Assigned(task, instance.order[place], weight, _gold(instance, answers))


def _row(
    method: str,
    instance: ComparedCrowd,
    bound: float | None,
    seed: np.random.SeedSequence,
    labels: Callable[[], Assigned],
    vote: Callable[[Votes, FloatArray, np.random.Generator], Aggregate] | None = None,
    *,
    exact_error: bool = True,
    extra_seconds: float = 0.0,
) -> ComparisonRow:
    """Buy the labels, vote, and measure: cost, cover, predicted and measured error."""
    rng = generator(seed.spawn(1)[0])
    started = time.perf_counter()
    bought = labels()
    n, workers = len(instance.tasks), len(instance.order)
    votes = collect(instance.source, instance.tasks[bought.task], bought.worker)
    if vote is None:
        outcome = weighted_majority(votes, bought.weight, per="vote", seed=rng)
    else:
        outcome = vote(votes, bought.weight, rng)
    seconds = time.perf_counter() - started + extra_seconds
    skill = instance.skill[instance.kinds[bought.task], bought.worker]
    covered = np.bincount(bought.task, quality(skill), minlength=n)
    asked = float(requirement(instance.epsilon))
    price = np.ones(instance.skill.shape) if instance.price is None else instance.price
    gold = np.zeros_like(price) if bought.gold is None else bought.gold
    error_bound = error_exact = None
    if exact_error:
        shape = (n, workers)
        assigned = np.zeros(shape, dtype=bool)
        skills, weights = np.zeros(shape), np.zeros(shape)
        at = (bought.task, bought.worker)
        assigned[at], skills[at], weights[at] = True, skill, bought.weight
        error_exact = float(vote_errors(skills, weights, assigned)[0].mean())
        error_bound = float(lemma_1_bounds(skills, weights, assigned).mean())
    measured, deviation = _measured(instance, outcome)
    objective = float(price[instance.kinds[bought.task], bought.worker].sum())
    cost_gold = float((price * gold).sum())
    return ComparisonRow(
        method,
        labels_gold=float(gold.sum()),
        labels_task=float(len(bought.task)),
        cost=objective + cost_gold,
        cost_gold=cost_gold,
        objective=objective,
        lower_bound=bound,
        ratio=_ratio(objective, bound),
        tasks_covered=float(np.count_nonzero(covered >= asked * (1 - 1e-9))),
        error_bound=error_bound,
        error_exact=error_exact,
        error_measured=measured,
        error_se=deviation,
        seconds=seconds,
    )


def _measured(instance: ComparedCrowd, outcome: Aggregate) -> tuple[float | None, float | None]:
    """Share of wrong labels where the truth is known, a tie as a half, and its standard error."""
    true = instance.source.truth[instance.tasks]
    label, tied = outcome.label[instance.tasks], outcome.tied[instance.tasks]
    tied = tied | outcome.unlabelled[instance.tasks]
    known = true >= 0
    if not known.any():
        return None, None
    wrong = np.where(tied, 0.5, label != true)[known]
    spread = wrong.std(ddof=1) / math.sqrt(len(wrong)) if len(wrong) > 1 else None
    return float(wrong.mean()), None if spread is None else float(spread)


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
