"""The pattern route: column generation from the relaxation to a plan with its proof.

Patterns and prices are refined until the bound over patterns stands; plans come from dives and
are improved; whatever is found is reported at once, so that a stop loses nothing.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowd_models import AssignmentProblem
from crowd_models.patterns import Pattern, deal
from workbench.base.arrays import FloatArray
from workbench.solving.certificates import OPTIMALITY
from workbench.solving.highs import RunOptions
from workbench.solving.patterns.branching import above_cost
from workbench.solving.patterns.column_generation import (
    CoverPricing,
    Generated,
    OutOfTime,
    PatternPlan,
    Pricing,
    Search,
    cost,
    dive,
    generate,
    replan,
    whole,
)
from workbench.solving.patterns.levelling import plan_at_cost
from workbench.solving.solution import BranchProof, PatternProof, RawAnswer, Termination

PROMISING = 2000
"""Patterns of least reduced cost that are tried as an integer program at once."""
WHOLE_SECONDS = 3.0
"""For one such program."""
SMALL, LARGE = 30, 150
"""Tasks planned anew at a time."""
TURN = 4
"""Attempts, of which one looks at the bound and one at all tasks."""
LEAVES = 12
"""Of the branching, where a plan at the bound is looked for once the first attempts are in vain."""

OnAnswer = Callable[[RawAnswer], None]


@dataclass
class _Best:
    """The best plan and bound so far, and how they came about.

    `cost` is that of the pairs in `answer`; `plan` is None while those are not of patterns.
    """

    problem: AssignmentProblem
    pricing: Pricing
    report: OnAnswer
    started: float
    answer: RawAnswer
    cost: float | None = None
    plan: PatternPlan | None = None

    def offer(self, plan: PatternPlan | None) -> bool:
        """Keep a plan that is cheaper; say whether it is."""
        if plan is None:
            return False
        if self.plan is None or cost(plan) < cost(self.plan):
            self.plan = plan
        if self.cost is not None and cost(plan) >= self.cost:
            return False
        self.cost = cost(plan)
        pairs = deal(self.problem.typed, plan)[self.problem.pairs]
        self._tell(replace(self.answer, pairs=pairs))
        return True

    def prove(self, prices: FloatArray) -> None:
        """Keep worker prices that prove a higher bound."""
        value = self.pricing.bound(prices)
        bound = float(math.ceil(value)) if self.problem.integral_cost else float(value)
        if self.answer.bound is None or bound > self.answer.bound:
            self._tell(replace(self.answer, bound=bound, proofs=(PatternProof(prices),)))

    @property
    def in_whole_costs(self) -> bool:
        """Whether plans cost whole numbers, and patterns are all sets that cover a requirement."""
        covers = isinstance(self.pricing, CoverPricing) and not self.problem.limited
        return self.problem.integral_cost and covers

    def plan_at_bound(self, search: Search, at: Generated) -> bool:
        """Look for a plan that costs no more than the bound, where costs are whole."""
        bound = self.answer.bound or 0.0
        return self.in_whole_costs and self.offer(plan_at_cost(search, at, bound))

    def branch(self, search: Search, at: Generated, leaves: int) -> list[Generated]:
        """Look for a proof that no plan costs as little as the bound, where costs are whole.

        Gives the masters of leaves where such a plan may be, and ends at so many of them.
        """
        if not self.in_whole_costs or self.cost is None or self.answer.bound is None:
            return []
        least = math.ceil(self.answer.bound - 1e-6)
        if self.cost != least + 1:
            return []
        root, may = above_cost(search, at, least, leaves=leaves)
        if root is not None:
            proofs = (*self.answer.proofs, BranchProof(root))
            self._tell(replace(self.answer, bound=float(least + 1), proofs=proofs))
        return may

    def _tell(self, answer: RawAnswer) -> None:
        self.answer = replace(answer, seconds=time.perf_counter() - self.started)
        self.report(self.answer)

    @property
    def open(self) -> float:
        """cost − bound; infinite while either is missing."""
        if self.cost is None or self.answer.bound is None:
            return math.inf
        return max(0.0, self.cost - self.answer.bound)

    @property
    def gap(self) -> float:
        """(cost − bound) / cost; infinite while either is missing."""
        if self.cost == 0 and self.answer.bound is not None:
            return 0.0
        return self.open / (self.cost or 1.0)


def run_patterns(
    problem: AssignmentProblem,
    worker_prices: FloatArray,
    options: RunOptions,
    report: OnAnswer,
    *,
    start: FloatArray | None = None,
    bound: float | None = None,
    patience: int | None = None,
    pricing: Pricing | None = None,
) -> RawAnswer:
    """Solve the integer program by column generation.

    Parameters
    ----------
    worker_prices
        z by worker class, from the relaxation over class counts: the prices to start from.
    report
        Is given the answer so far whenever plan or bound improve.
    start
        A whole solution known beforehand, by pair.
    bound
        A lower bound known beforehand, as from the relaxation.
    patience
        Attempts in a row that may fail to improve the plan; None for no end but the gap, the
        time and Ctrl-C.
    pricing
        What a pattern is; None for the sets that meet the cover constraints.

    Returns
    -------
    RawAnswer
        `optimal` where plan and bound meet (up to the gap asked for), otherwise `time_limit`.
        Its bound is certified by its proof, without any solver's word. No pairs where no
        whole plan was found.
    """
    started = time.perf_counter()
    until = math.inf if options.time_limit is None else started + options.time_limit
    rng = np.random.Generator(np.random.PCG64(options.seed))
    search = Search(problem.typed, pricing or CoverPricing(problem.typed), rng, until)
    blank = RawAnswer(Termination.TIME_LIMIT, start, bound=bound)
    cost = None if start is None else float(problem.prices[problem.pairs] @ start)
    best = _Best(problem, search.pricing, report, started, blank, cost)
    enough = max(options.gap, 0.0 if problem.integral_cost else OPTIMALITY)
    with contextlib.suppress(OutOfTime):
        generated = _refine(search, best, worker_prices, enough)
        _improve(search, best, generated, enough, patience)
    ending = Termination.OPTIMAL if best.gap <= enough else Termination.TIME_LIMIT
    return replace(best.answer, termination=ending, seconds=time.perf_counter() - started)


def _refine(search: Search, best: _Best, prices: FloatArray, enough: float) -> Generated:
    """Patterns, bound and plan, nearer and nearer to the master's optimum."""
    problem = search.problem
    unit = float(problem.prices.max()) or 1.0
    *rough, finer = search.pricing.resolutions()
    best.prove(prices)
    patterns: list[Pattern] = []
    for (labels, share), steps in zip(search.pricing.near, (rough, [finer], [finer]), strict=True):
        tolerance = min(labels * unit, share * (best.answer.bound or math.inf))
        generated = generate(
            search,
            problem.tasks,
            problem.supply,
            prices,
            patterns,
            tolerance=tolerance,
            steps=steps,
        )
        if best.plan is None and generated.mix.short.sum() > 1e-6:
            break
        prices, patterns = generated.worker_prices, generated.patterns
        best.prove(prices)
        if steps is not rough and best.gap > enough:
            few = generated.promising(best.open, PROMISING) + [p for p, _ in best.plan or ()]
            best.offer(whole(search, problem.tasks, problem.supply, few, WHOLE_SECONDS))
        if best.gap > enough:
            best.offer(dive(search, problem.tasks, problem.supply, generated))
        if best.gap <= enough:
            break
    return generated


def _improve(
    search: Search, best: _Best, start: Generated, enough: float, patience: int | None
) -> None:
    """Plan some tasks anew, now and then all, or at the bound, until the gap is closed."""
    problem, failed, size = search.problem, 0, SMALL
    masters = [start]
    if best.plan is None and start.mix.short.sum() > 1e-6:
        return
    while best.gap > enough and (patience is None or failed < patience):
        if failed == 0:
            best.branch(search, start, leaves=1)
        elif failed == TURN:
            masters = [start, *best.branch(search, start, leaves=LEAVES)]
        if best.gap <= enough:
            continue
        due = [masters[failed // TURN % len(masters)]] if failed % TURN == 0 else []
        if failed == TURN and len(masters) > 1:
            due = masters[1:]
        if any(best.plan_at_bound(search, at) for at in due):
            continue
        if best.plan is None or failed % TURN == TURN - 1:
            plan = dive(search, problem.tasks, problem.supply, start, share=0.05)
            if best.plan is None and plan is None and failed > 3:
                return
        else:
            plan = replan(
                search,
                best.plan,
                start,
                size=size,
                seconds=WHOLE_SECONDS,
                tolerance=0.1 * best.open,
            )
            size = min(2 * size, LARGE) if size < LARGE else SMALL
        failed = 0 if best.offer(plan) else failed + 1
