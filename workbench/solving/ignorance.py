"""What not knowing the workers must cost: a bound on every policy, whatever it learns.

Workers are drawn independently from a known prior of skills, and nobody knows who is who. An expert
(`expert_informed`) shows a mark of each label before it is asked for, by which its chance of being
right is known; and of every worker it is known at once which of her answers were right. Both can
but help. Then a task buys labels of known skill, at a price c_g by mark, an error being charged μ;
a worker sells hers, at a cost of 1 each, by a rule of stopping. For any c, μ ≥ 0, with n tasks, m
workers,

    labels ≥ n (V(c, μ) − μ ε) − m G(c),

V what a task pays at least, by dynamic programming over posteriors (`posteriors`), and G the most
that a worker can gain, or 0, by dynamic programming over right answers. Where nobody limits m,
prices at which G is 0 are needed: any prices are scaled until it is. Which prices to try a linear
program says, over policies of a task and rules of a worker; the bound is of the prices alone. The
expert who knows kinds charges for guessers met on the way; the one who counts answers, for that M
of them tell little: the larger bound counts. The proof: docs/proofs/skills-unknown.md.

Source: beyond the papers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from crowd_models.information import needed_information
from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.solving.expert_informed import Expert, Trade
from workbench.solving.highs import optimum
from workbench.solving.linear_model import LinearModel
from workbench.solving.posteriors import BEYOND, Grid, error_at, error_rule, on_grid

WIDTH = 0.01
"""Log-odds between points of the grid; multiples of what a label weighs are points too."""
ROUNDS, GAP = 150, 2e-4
"""Of pricing at most, and the relative gap at which it ends."""
ELSEWHERE = 30.0
"""What a task bought elsewhere costs, in labels that its best workers need: for a start."""
RISES = 2
"""How often that is multiplied by as much again where the workers do not suffice."""
TOWARDS = 0.5
"""Share of the way from the best prices so far to those of the program that is gone."""
LEAST_PRICE = 1e-6
"""Of a mark, in that of the costliest: interpolation loses in proportion to the least."""
ROUNDING = 1e-9
"""Taken off prices and bound: sums of floats."""
LARGEST = 4000
"""Labels of a worker at most: the programs take time as its square."""


@dataclass(frozen=True)
class UnknownSkills:
    """Labels that every policy needs who knows the prior alone.

    Attributes
    ----------
    kinds, others
        By either expert; the larger is the bound.
    seconds
        Processor time.
    """

    kinds: float
    others: float
    seconds: float

    @property
    def labels(self) -> float:
        """The bound."""
        return max(self.kinds, self.others)


def unknown_skills_bound(
    prior: Mapping[float, float],
    capacity: int,
    tasks: int,
    epsilon: float,
    *,
    workers: int | None = None,
    gold_tasks: int = 0,
) -> UnknownSkills:
    """Bound the expected labels of every policy that does not know who is good.

    Parameters
    ----------
    prior
        Share of the workers by skill; one below ½ is worth as much as 1 − p, if it is known.
    capacity
        M, labels that a worker can give, those on gold tasks included.
    tasks, epsilon
        n, and ε: each task is wrong at most ε of the time, or all in the mean.
    workers
        m, how many can be asked; None for as many as one likes.
    gold_tasks
        Tasks of known class that they may be asked about as well: a label costs as much.

    Returns
    -------
    UnknownSkills
        Infinite where no policy of so few workers is so good.

    Raises
    ------
    InputError
        A prior that is none, a number out of range.

    Examples
    --------
    Half of the workers guess; who knows them needs 333 labels:

    >>> from workbench.solving.ignorance import unknown_skills_bound
    >>> bound = unknown_skills_bound({0.8: 0.5, 0.5: 0.5}, capacity=10, tasks=100, epsilon=0.05)
    >>> 460 < bound.kinds < bound.others < 540
    True
    """
    started = time.process_time()
    most = checks.count("tasks", tasks, 1) + checks.count("gold_tasks", gold_tasks)
    most = min(checks.count("capacity", capacity, 1), most)
    if most > LARGEST:
        raise InputError(f"capacity is {most}: give {LARGEST:,} labels a worker or fewer")
    if not checks.is_number(epsilon) or not 0 < epsilon < 0.5:
        raise InputError(f"epsilon is {checks.show(epsilon)}: give a number above 0, below 0.5")
    share = math.inf if workers is None else checks.count("workers", workers, 1) / tasks
    kinds, others = (
        float(tasks * _Exchange(expert, epsilon, share).bound())
        for expert in (Expert.kinds(prior, most), Expert.others(prior, most))
    )
    return UnknownSkills(kinds, others, time.process_time() - started)


@dataclass(frozen=True, eq=False)
class _Prices:
    """c by group of marks, shape (G,), and μ."""

    mark: FloatArray
    error: float

    def towards(self, other: _Prices, share: float) -> _Prices:
        return _Prices(
            (1.0 - share) * self.mark + share * other.mark,
            (1.0 - share) * self.error + share * other.error,
        )

    def scaled(self, share: float) -> _Prices:
        return _Prices(share * self.mark, share * self.error)


@dataclass(eq=False)
class _Exchange:
    """One task, its share of the workers, and the search for prices between them."""

    expert: Expert
    epsilon: float
    workers: float
    buyers: list[tuple[FloatArray, float]] = field(default_factory=list)
    sellers: list[Trade] = field(default_factory=list)

    def __post_init__(self) -> None:
        last = math.log1p(-self.epsilon) - math.log(self.epsilon) + BEYOND
        steps = [np.arange(0.0, last, each) for each in (WIDTH, *self.expert.weight.tolist())]
        self.grid = Grid.of(self.expert.weight, np.concatenate(steps))
        skill = 1.0 - error_at(self.expert.weight)
        nats: FloatArray = (2.0 * skill - 1.0) * self.expert.weight
        self.elsewhere = float(
            ELSEWHERE * needed_information(self.epsilon) / nats.max(initial=1e-300)
        )
        self.first = _Prices(nats, self.elsewhere)

    def bound(self) -> float:
        """Labels a task, at least."""
        if not len(self.expert.weight):
            return math.inf  # no label says anything
        best, centre = 0.0, self.first
        point, risen = self.priced(self.first), 0
        cost = math.inf
        for _ in range(ROUNDS):
            value = self.value(point)
            if value > best:
                best, centre = value, point
            previous, (cost, master, elsewhere) = cost, self.master()
            if best > self.workers * len(self.expert.chance):
                return math.inf  # more than all workers together can give
            if cost - best <= GAP * cost:
                if elsewhere <= 1e-9 or risen == RISES:
                    break
                risen, self.elsewhere = risen + 1, ELSEWHERE * self.elsewhere
            same = previous - cost <= 1e-9 * cost
            point = self.priced(master if same else centre.towards(master, TOWARDS))
        return best

    def priced(self, prices: _Prices) -> _Prices:
        """The same with no price of 0, and, where nobody limits workers, at which none gains."""
        mark = np.maximum(prices.mark, LEAST_PRICE * max(float(prices.mark.max()), LEAST_PRICE))
        prices = _Prices(mark, prices.error)
        trade = self.expert.trade(prices.mark)
        while True:
            self.sellers.append(trade)
            if math.isfinite(self.workers):
                return prices
            share = trade.asked / (trade.asked + trade.profit)
            prices = prices.scaled(share * (1.0 - ROUNDING))
            trade = self.expert.trade(prices.mark)
            if trade.profit <= 0.0:
                return prices

    def value(self, prices: _Prices) -> float:
        """V − μ ε − (m/n) G at some prices; and the best policy of a task goes on the list."""
        rule = error_rule(self.grid, prices.mark, prices.error)
        self.buyers.append(on_grid(self.grid, rule.choice))
        gain = 0.0
        if math.isfinite(self.workers):
            gain = self.workers * max(self.expert.trade(prices.mark).profit, 0.0)
        return (rule.bound - prices.error * self.epsilon - gain) * (1.0 - ROUNDING)

    def master(self) -> tuple[float, _Prices, float]:
        """Labels of the best mixture so far, its dual prices, and the share bought elsewhere.

        Columns: a task bought elsewhere, policies of a task, rules of a worker. Rows: one task,
        its error, the workers, and for each group of marks what is sold less what is bought.
        """
        groups, buyers, sellers = len(self.expert.weight), self.buyers, self.sellers
        matrix = np.zeros((3 + groups, 1 + len(buyers) + len(sellers)))
        matrix[0, : 1 + len(buyers)] = 1.0
        matrix[1, 1 : 1 + len(buyers)] = [error for _, error in buyers]
        matrix[3:, 1 : 1 + len(buyers)] = -np.array([labels for labels, _ in buyers]).T
        matrix[2, 1 + len(buyers) :] = 1.0
        matrix[3:, 1 + len(buyers) :] = np.array([seller.labels for seller in sellers]).T
        cost = np.zeros(matrix.shape[1])
        cost[0] = self.elsewhere
        cost[1 + len(buyers) :] = [seller.asked for seller in sellers]
        filled = matrix != 0
        values, duals = optimum(
            LinearModel(
                cost=cost,
                lower=np.zeros(len(cost)),
                upper=np.full(len(cost), np.inf),
                row_lower=np.concatenate([[1.0, -np.inf, -np.inf], np.zeros(groups)]),
                row_upper=np.concatenate([[1.0, self.epsilon, self.workers], [np.inf] * groups]),
                start=np.append(0, np.cumsum(filled.sum(axis=0))),
                index=np.nonzero(filled.T)[1].astype(np.int32),
                value=matrix.T[filled.T],
            )
        )
        prices = _Prices(np.maximum(duals[3:], 0.0), max(-float(duals[1]), 0.0))
        return float(cost @ values), prices, float(values[0])
