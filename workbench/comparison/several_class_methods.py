"""Labels of several classes: the market, and every method.

Each is a function of the market and its own random stream, in `METHODS` with what it promises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from crowd_models.joint import KEPT, JointProblem
from workbench.accuracy.likeliest import likeliest_error, posteriors
from workbench.aggregation.dawid_skene import smoothed
from workbench.aggregation.voting import Aggregate, majority
from workbench.assignment.joint_weights import (
    joint_approximation,
    offline_prices,
    perturbed,
    sampled_prices,
)
from workbench.assignment.weights import OnInfeasible
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.seeds import generator
from workbench.comparison.protocol import (
    EXACT,
    Buying,
    Method,
    Prediction,
    Purchase,
    bound_row,
)
from workbench.comparison.rows import ComparisonRow
from workbench.comparison.several_classes import ComparedClasses, Matrices
from workbench.crowd.gold_rule import RuleLabels
from workbench.crowd.graphs import random_pairs
from workbench.crowd.votes import TIE, Votes
from workbench.solving.claims import CostClaim
from workbench.solving.highs import RunOptions
from workbench.solving.joint.route import JointSolution, solve_joint

DRAWS = 2_000
"""Answers drawn for the error of a task with many labels: the mean over tasks is reported."""
PLURALITY = "random + plurality"


@dataclass(frozen=True, eq=False)
class SeveralClassMarket:
    """Where every method buys labels of one instance: who labels what, shape (n, W).

    Attributes
    ----------
    random_seed
        Of the labels that those buy who draw them at random: the same for all.
    adaptive_seed
        Of the adaptive algorithm, whose number of labels the random methods buy.
    options, on_infeasible
        As `compare` is asked for.
    """

    instance: ComparedClasses
    random_seed: np.random.SeedSequence
    adaptive_seed: np.random.SeedSequence
    options: RunOptions
    on_infeasible: OnInfeasible

    @cached_property
    def problem(self) -> JointProblem:
        """The program of the main workers by the matrices that are known."""
        return self.instance.offline()

    @cached_property
    def exact(self) -> JointSolution:
        """Its optimum."""
        return solve_joint(self.problem, time_limit=self.options.time_limit)

    @cached_property
    def relaxed(self) -> JointSolution:
        """Its relaxation's."""
        return solve_joint(self.problem, "relaxation", time_limit=self.options.time_limit)

    @property
    def bound(self) -> float | None:
        """Proven lower bound on the cost of covering every task."""
        bounds = (CostClaim.of(solution).checked for solution in (self.exact, self.relaxed))
        return max((bound for bound in bounds if bound is not None), default=None)

    def of_main(self, chosen: BoolArray) -> BoolArray:
        """An assignment of the main workers, as one of all workers."""
        every: BoolArray = np.zeros(self.instance.label.shape, dtype=np.bool_)
        every[:, self.instance.main] = chosen
        return every

    @cached_property
    def adaptive(self) -> BoolArray:
        """Algorithm 2: prices from the sample, then Algorithm 1 for whoever arrives."""
        crowd, rng = self.instance, generator(self.adaptive_seed)
        sample = crowd.order[: crowd.preliminary]
        prices = sampled_prices(
            perturbed(crowd.problem(sample, crowd.estimate), seed=rng),
            gamma=crowd.preliminary / len(crowd.main),
            options=self.options,
            on_infeasible=self.on_infeasible,
        )
        arriving = perturbed(crowd.problem(crowd.main, crowd.estimate), seed=rng)
        return self.of_main(joint_approximation(arriving, prices, seed=rng))

    @cached_property
    def random(self) -> BoolArray:
        """As many labels at random, from the whole crowd; gold labels count as well."""
        crowd = self.instance
        mask, rng = crowd.label >= 0, generator(self.random_seed)
        reach = int(np.minimum(crowd.capacity, mask.sum(axis=0)).sum())
        labels = int(self.adaptive.sum() + crowd.answered.sum())
        every: BoolArray = np.zeros(mask.shape, dtype=np.bool_)
        every[random_pairs(mask, min(labels, reach), seed=rng, capacity=crowd.capacity)] = True
        return every

    def likeliest(self, chosen: BoolArray, by: Matrices) -> Purchase:
        """Labels of an assignment, of which the likeliest class by some matrices is the answer."""
        instance = self.instance
        task, worker = np.nonzero(chosen)
        kind = instance.kinds[task]

        def answer(_: np.random.Generator) -> RuleLabels:
            chance = by.confusion[kind, worker, :, instance.label[task, worker]]
            likely = posteriors(chance, task, by.prior, len(instance.tasks))
            winning = likely >= likely.max(axis=1, keepdims=True) * (1.0 - TIE)
            right: FloatArray = winning / winning.sum(axis=1, keepdims=True)
            right[~chosen.any(axis=1)] = np.nan
            return RuleLabels(right)

        def said() -> Prediction:
            exact = float(np.mean(self._errors_of_likeliest(chosen, by)))
            return replace(promised(instance, chosen), error_exact=exact)

        gold = instance.answered if by is instance.estimate else None
        return Purchase(task, worker, answer, said, gold)

    def _errors_of_likeliest(self, chosen: BoolArray, by: Matrices) -> list[float]:
        """Exact error of the likeliest class of each task, by the crowd's own matrices."""
        actual = self.instance.actual
        return [
            likeliest_error(
                actual.confusion[kind, row],
                actual.prior,
                believed=by.confusion[kind, row],
                draws=DRAWS,
            ).probability
            for kind, row in zip(self.instance.kinds.tolist(), chosen, strict=True)
        ]


def open_market(
    instance: ComparedClasses,
    *,
    seed: np.random.SeedSequence,  # noqa: ARG001 — gold answers stand in the instance
    seeds: dict[str, np.random.SeedSequence],
    time_limit: float,
    on_infeasible: OnInfeasible,
) -> SeveralClassMarket:
    """What the methods share, solved when it is first asked for."""
    return SeveralClassMarket(
        instance, seeds[PLURALITY], seeds["adaptive"], RunOptions(time_limit), on_infeasible
    )


def promised(instance: ComparedClasses, chosen: BoolArray) -> Prediction:
    """What the joint cover promises of an assignment."""
    everybody = np.arange(len(instance.order))
    program = instance.problem(everybody, instance.actual)
    errors = np.array([program.error(i, row) for i, row in enumerate(chosen)])
    covered = int(np.count_nonzero(errors <= instance.epsilon * (1 + KEPT)))
    return Prediction(covered, float(errors.mean()))


def offline(market: SeveralClassMarket, _: np.random.SeedSequence) -> Purchase | None:
    """The integer program's assignment."""
    chosen = market.exact.assignment
    if chosen is None:
        return None
    return market.likeliest(market.of_main(chosen > 0.5), market.instance.actual)


def relaxation(market: SeveralClassMarket, _: np.random.SeedSequence) -> ComparisonRow:
    """The relaxation, beside its own certified bound: fractions buy no labels."""
    return bound_row(market.relaxed)


def primal(market: SeveralClassMarket, seed: np.random.SeedSequence) -> Purchase | None:
    """Algorithm 1 with the optimal prices of the perturbed relaxation."""
    rng = generator(seed)
    apart = perturbed(market.problem, seed=rng)
    prices = offline_prices(apart, market.options)
    if prices is None:
        return None
    chosen = market.of_main(joint_approximation(apart, prices, seed=rng))
    return market.likeliest(chosen, market.instance.actual)


def adaptive(market: SeveralClassMarket, _: np.random.SeedSequence) -> Purchase:
    """Algorithm 2."""
    return market.likeliest(market.adaptive, market.instance.estimate)


def random_blind(
    vote: Callable[[Votes, np.random.Generator], Aggregate],
    market: SeveralClassMarket,
    _: np.random.SeedSequence,
) -> Purchase:
    """As many labels at random, with those that the adaptive algorithm buys on gold tasks.

    Parameters
    ----------
    vote
        How they become answers, without any gold.
    """
    task, worker = np.nonzero(market.random)

    def answer(rng: np.random.Generator) -> RuleLabels:
        return market.instance.answers(vote(market.instance.labels(task, worker), rng))

    return Purchase(task, worker, answer, partial(promised, market.instance, market.random))


def by_plurality(votes: Votes, rng: np.random.Generator) -> Aggregate:
    """Count the votes."""
    return majority(votes, seed=rng)


def by_dawid_skene(votes: Votes, rng: np.random.Generator) -> Aggregate:
    """Confusion matrices, smoothed."""
    return smoothed(votes, seed=rng)


def blind(vote: Callable[[Votes, np.random.Generator], Aggregate]) -> Method:
    """Labels at random, and a vote that looks at no gold."""
    buy: Buying = partial(random_blind, vote)
    return Method(buy, "nothing", "none")


METHODS: dict[str, Method] = {
    EXACT: Method(offline, "bound", "all"),
    "relaxation": Method(relaxation, "bound", "all"),
    "primal approximation": Method(primal, "bound", "folds"),
    "adaptive": Method(adaptive, "each task", "folds"),
    PLURALITY: blind(by_plurality),
    "random + Dawid–Skene": blind(by_dawid_skene),
}
"""Every method, in the order of the table."""


def methods() -> dict[str, Method]:
    """Give the methods compared."""
    return METHODS
