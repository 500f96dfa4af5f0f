"""Labels of two classes: the market, and every method.

Each is a function of the market and its own random stream, in `METHODS` with what it promises; a
user's own policies come after them. Paper: Ho, Jabbari, Vaughan (2013), Sections 4 to 6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from crowd_models import AssignmentProblem
from workbench.accuracy.error_rate import lemma_1_bounds, vote_errors
from workbench.aggregation.dawid_skene import smoothed
from workbench.aggregation.messages import message_passing
from workbench.aggregation.voting import Aggregate, majority, weighted_majority
from workbench.assignment import POLICIES
from workbench.assignment.adaptive import AdaptiveSettings, adaptive_assignment
from workbench.assignment.estimates import skills_on_arrival
from workbench.assignment.playing import play
from workbench.assignment.policies import ArrivingWorker, Setting
from workbench.assignment.primal import primal_approximation
from workbench.assignment.weights import OnInfeasible, offline_weights
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import generator
from workbench.comparison.closed_loop import information_limit_row, label_until_sure
from workbench.comparison.protocol import (
    EXACT,
    Buying,
    Method,
    Prediction,
    Purchase,
    bound_row,
)
from workbench.comparison.rows import ComparisonRow
from workbench.comparison.two_classes import ComparedCrowd
from workbench.crowd import align
from workbench.crowd.gold_rule import RuleLabels
from workbench.crowd.graphs import random_pairs, regular_graph
from workbench.crowd.sources import GoldAnswers
from workbench.crowd.votes import Votes
from workbench.solving import Solution, solve
from workbench.solving.claims import CostClaim


@dataclass(frozen=True, eq=False)
class TwoClassMarket:
    """Where every method buys labels of one instance.

    Attributes
    ----------
    seed
        Of gold answers.
    random_seed
        Of the labels that those buy who draw them at random and look at no skills: the same graph
        for all, so that they differ in the vote alone.
    adaptive_seed
        Of the adaptive algorithm, whose number of labels the random methods buy.
    time_limit, on_infeasible
        As `compare` is asked for.
    """

    instance: ComparedCrowd
    seed: np.random.SeedSequence
    random_seed: np.random.SeedSequence
    adaptive_seed: np.random.SeedSequence
    time_limit: float
    on_infeasible: OnInfeasible
    _estimates: dict[int, FloatArray] = field(default_factory=dict)

    @cached_property
    def problem(self) -> AssignmentProblem:
        """The program of the main workers by the skills that are known."""
        return self.instance.problem()

    @cached_property
    def exact(self) -> Solution:
        """Its optimum."""
        return solve(self.problem, "ip", time_limit=self.time_limit)

    @cached_property
    def relaxed(self) -> Solution:
        """Its relaxation's."""
        return solve(self.problem, "typed")

    @property
    def bound(self) -> float | None:
        """Proven lower bound on the cost of covering every task."""
        bounds = (CostClaim.of(solution).checked for solution in (self.exact, self.relaxed))
        return max((bound for bound in bounds if bound is not None), default=None)

    @cached_property
    def gold_answers(self) -> GoldAnswers:
        """Gold answers of all workers, in order of arrival."""
        crowd = self.instance
        return crowd.source.gold_answers(crowd.order, crowd.gold, seed=self.seed)

    @cached_property
    def adaptive(self) -> Purchase:
        """The adaptive algorithm's labels, weighed by the skills that it estimated."""
        crowd, answers = self.instance, self.gold_answers
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
            seed=self.adaptive_seed,
        )
        return self.by_estimates(result.task, result.worker)

    def estimates(self, start: int) -> FloatArray:
        """Skills by gold answers of the workers from the `start` to arrive on, shape (T, k).

        A prior, where one is fitted, rests on the sample, or without one on those who came before.
        """
        if start not in self._estimates:
            crowd, answers = self.instance, self.gold_answers
            sampled = 0 if start else crowd.preliminary
            columns = answers.correct[:, start:], answers.answered[:, start:]
            self._estimates[start] = skills_on_arrival(*columns, sampled, crowd.skills)
        return self._estimates[start]

    def by_estimates(self, task: IntArray, place: IntArray, first: int = 0) -> Purchase:
        """Labels by place in the order of arrival, weighed by the skills that gold answers tell.

        Gold labels of the workers from the `first` to arrive on count.
        """
        crowd, answers = self.instance, self.gold_answers
        # Whoever has no sample learns what workers are like from those who came before.
        skill = np.full(crowd.skill.shape, 0.5)
        skill[:, first:] = self.estimates(first)
        weight = crowd.weights(skill[crowd.kinds[task], place])
        gold = np.zeros(crowd.skill.shape, dtype=np.int64)
        gold[:, crowd.order[first:]] = answers.answered[:, first:]
        return self.weighted(task, crowd.order[place], weight, gold=gold)

    def by_skill(self, chosen: BoolArray) -> Purchase:
        """Labels of an assignment (n, m) of the main workers, weighed by their (true) skills."""
        task, place = np.nonzero(chosen)
        worker = self.instance.main[place]
        skill = self.instance.skill[self.instance.kinds[task], worker]
        return self.weighted(task, worker, self.instance.weights(skill), by_skill=True)

    def weighted(
        self,
        task: IntArray,
        worker: IntArray,
        weight: FloatArray,
        *,
        gold: IntArray | None = None,
        by_skill: bool = False,
    ) -> Purchase:
        """Labels that are voted on by weights; `by_skill` says whether those of (true) skills."""

        def answer(rng: np.random.Generator) -> RuleLabels:
            votes = self.instance.votes(task, worker)
            return self.instance.answers(weighted_majority(votes, weight, seed=rng))

        said = partial(predicted, self.instance, task, worker, weight, by_skill)
        return Purchase(task, worker, answer, said, gold)

    def pairs_at_random(
        self, labels: int, seed: np.random.SeedSequence
    ) -> tuple[IntArray, IntArray]:
        """So many pairs at random, tasks and places in the order of arrival, from the whole crowd.

        Where every pair has a label the graph is random regular, as in Karger, Oh, Shah.
        """
        instance, rng = self.instance, generator(seed)
        mask, capacity = instance.available(instance.order), instance.capacity[instance.order]
        n, crowd = len(instance.tasks), len(instance.order)
        if mask is None:
            each = min(labels // n, crowd, int(np.minimum(capacity, n).sum()) // n)
            return regular_graph(n, crowd, each, seed=rng, capacity=capacity)
        reach = int(np.minimum(capacity, mask.sum(axis=0)).sum())
        return random_pairs(mask, min(labels, reach), seed=rng, capacity=capacity)


def open_market(
    instance: ComparedCrowd,
    *,
    seed: np.random.SeedSequence,
    seeds: dict[str, np.random.SeedSequence],
    time_limit: float,
    on_infeasible: OnInfeasible,
) -> TwoClassMarket:
    """What the methods share, solved when it is first asked for."""
    return TwoClassMarket(
        instance, seed, seeds[MAJORITY], seeds["adaptive"], time_limit, on_infeasible
    )


def covered_tasks(instance: ComparedCrowd, task: IntArray, worker: IntArray) -> int:
    """Count the tasks whose labels gather what is asked, by the crowd's (true) skills."""
    return int(np.count_nonzero(_cover(instance, task, worker) >= instance.need * (1 - 1e-9)))


def _cover(instance: ComparedCrowd, task: IntArray, worker: IntArray) -> FloatArray:
    counted = instance.counted(instance.skill[instance.kinds[task], worker])
    return np.asarray(np.bincount(task, counted, minlength=len(instance.tasks)), dtype=np.float64)


def predicted(
    instance: ComparedCrowd,
    task: IntArray,
    worker: IntArray,
    weight: FloatArray,
    by_skill: bool,
) -> Prediction:
    """What is predicted of a vote by weights."""
    # Voters of a task side by side, in as many columns as the most have.
    counts = np.bincount(task, minlength=len(instance.tasks))
    order = np.argsort(task, kind="stable")
    row = task[order]
    place = np.arange(len(row)) - (np.cumsum(counts) - counts)[row]
    shape = (len(counts), int(counts.max(initial=0)))
    assigned, skills, weights = np.zeros(shape, dtype=bool), np.zeros(shape), np.zeros(shape)
    assigned[row, place], weights[row, place] = True, weight[order]
    skills[row, place] = instance.skill[instance.kinds[row], worker[order]]
    if by_skill and instance.reading.vote != "linear":
        bounds = instance.reading.error(_cover(instance, task, worker))
    else:
        bounds = lemma_1_bounds(skills, weights, assigned)
    return Prediction(
        covered_tasks(instance, task, worker),
        float(bounds.mean()),
        float(vote_errors(skills, weights, assigned)[0].mean()),
    )


def offline(market: TwoClassMarket, _: np.random.SeedSequence) -> Purchase | None:
    """The integer program's assignment."""
    chosen = market.exact.assignment
    return None if chosen is None else market.by_skill(chosen > 0.5)


def relaxation(market: TwoClassMarket, _: np.random.SeedSequence) -> ComparisonRow:
    """The relaxation, beside its own certified bound: fractions buy no labels."""
    return bound_row(market.relaxed)


def dual(market: TwoClassMarket, _: np.random.SeedSequence) -> ComparisonRow:
    """The relaxation's dual, solved for itself."""
    return bound_row(solve(market.problem, "dual", time_limit=market.time_limit))


def primal(market: TwoClassMarket, seed: np.random.SeedSequence) -> Purchase | None:
    """Algorithm 1 with the optimal dual of the perturbed relaxation (Theorem 1)."""
    rng, problem = generator(seed), market.problem
    if problem.cost is not None:
        cost = align.relative(problem.cost, align.typical(problem.cost))
        problem = replace(problem, cost=cost)
    try:
        weights, perturbed, _ = offline_weights(problem, seed=rng)
    except InputError:  # No plan covers all tasks.
        return None
    chosen = primal_approximation(
        perturbed,
        weights,
        problem.capacity,
        cost=problem.cost,
        available=problem.available,
        seed=rng,
    )
    return market.by_skill(chosen)


def adaptive(market: TwoClassMarket, _: np.random.SeedSequence) -> Purchase:
    """Algorithm 2."""
    return market.adaptive


def policy(name: str, market: TwoClassMarket, seed: np.random.SeedSequence) -> Purchase:
    """Labels of an online policy that is given estimated skills, as the adaptive algorithm."""
    crowd, first = market.instance, market.instance.preliminary
    sampled = POLICIES[name].call.uses_sample
    skill, mask = np.full(crowd.skill.shape, 0.5), crowd.available(crowd.order)
    start = 0 if sampled else first
    skill[:, start:] = market.estimates(start)
    workers = tuple(
        ArrivingWorker(
            skill[:, j],
            int(crowd.capacity[worker]),
            None if crowd.price is None else crowd.price[:, worker],
            None if mask is None else mask[:, j],
        )
        for j, worker in enumerate(crowd.order.tolist())
    )
    setting = Setting(
        crowd.kinds,
        crowd.epsilon,
        len(workers) - first,
        workers[:first] if sampled else (),
        on_infeasible=market.on_infeasible,
        gain=crowd.gain,
    )
    run, _ = play(name, setting, workers[first:], seed=generator(seed))
    return market.by_estimates(run.task, run.worker + first, start)


def random_weighted(market: TwoClassMarket, seed: np.random.SeedSequence) -> Purchase:
    """As many labels at random as the adaptive algorithm buys, by the same gold answers."""
    return market.by_estimates(*market.pairs_at_random(len(market.adaptive.task), seed))


def random_blind(
    vote: Callable[[Votes, np.random.Generator], Aggregate],
    market: TwoClassMarket,
    _: np.random.SeedSequence,
) -> Purchase:
    """As many labels at random, with those that the adaptive algorithm buys on gold tasks.

    Parameters
    ----------
    vote
        How they become answers, without any gold.
    """
    instance = market.instance
    labels = len(market.adaptive.task) + int(market.gold_answers.answered.sum())
    task, place = market.pairs_at_random(labels, market.random_seed)
    worker = instance.order[place]

    def answer(rng: np.random.Generator) -> RuleLabels:
        return instance.answers(vote(instance.votes(task, worker), rng))

    def said() -> Prediction:
        if vote is by_majority:
            return predicted(instance, task, worker, np.ones(len(task)), False)
        return Prediction(covered_tasks(instance, task, worker))

    return Purchase(task, worker, answer, said)


def closed_loop(
    buy: Callable[[ComparedCrowd, np.random.SeedSequence], Purchase | ComparisonRow],
    market: TwoClassMarket,
    seed: np.random.SeedSequence,
) -> Purchase | ComparisonRow:
    """Whoever looks at labels as they come needs nothing that the other methods share."""
    return buy(market.instance, seed)


def by_majority(votes: Votes, rng: np.random.Generator) -> Aggregate:
    """Count the votes."""
    return majority(votes, seed=rng)


def by_message_passing(votes: Votes, rng: np.random.Generator) -> Aggregate:
    """Ten rounds of messages (Karger, Oh, Shah)."""
    return message_passing(votes, iterations=10, seed=rng)


def by_dawid_skene(votes: Votes, rng: np.random.Generator) -> Aggregate:
    """Confusion matrices, smoothed."""
    return smoothed(votes, seed=rng)


ONLINE_POLICIES = ("coverage-aware", "re-solve", "dual descent")
"""Online policies beyond the paper, as `workbench.assignment.policies` names them."""
LEARNT = "robust, U and L learnt"
"""`robust` by what quality costs those met so far, the sample first, and so without its promise."""
MAJORITY = "random + majority"


def blind(vote: Callable[[Votes, np.random.Generator], Aggregate]) -> Method:
    """Labels at random, and a vote that looks at no gold."""
    buy: Buying = partial(random_blind, vote)
    return Method(buy, "nothing", "none")


def online(name: str) -> Method:
    """An online policy, which is given skills that gold shows."""
    buy: Buying = partial(policy, name)
    return Method(buy, "each task", "folds")


METHODS: dict[str, Method] = {
    EXACT: Method(offline, "bound", "all"),
    "relaxation": Method(relaxation, "bound", "all"),
    "dual": Method(dual, "bound", "all"),
    "primal approximation": Method(primal, "bound", "folds"),
    "adaptive": Method(adaptive, "each task", "folds"),
    "random + message passing": blind(by_message_passing),
    MAJORITY: blind(by_majority),
    "random + weighted majority": Method(random_weighted, "nothing", "folds"),
    **{name: online(name) for name in ONLINE_POLICIES},
    # New methods come last: each has the random stream of its place.
    "random + Dawid–Skene": blind(by_dawid_skene),
    "label until sure": Method(partial(closed_loop, label_until_sure), "each task", "none"),
    "information limit": Method(partial(closed_loop, information_limit_row), "bound", "all"),
    LEARNT: online("robust"),
}
"""Every method, in the order of the table."""


def methods() -> dict[str, Method]:
    """Give the methods compared: `METHODS`, and the policies of a user's own."""
    return {**METHODS, **{name: online(name) for name in POLICIES.added()}}
