"""Column generation over patterns, and whole plans from it.

The master (`master`) prices each worker's capacity, and for each task class the cheapest
pattern at these prices (`knapsack_cover`) joins it, until none is missing. The prices asked at
are drawn toward the best seen so far, which keeps them from swinging (Wentges 1997, "Weighted
Dantzig–Wolfe decomposition"). Whole plans come from diving: as many tasks as the optimum says
follow each pattern, rounded down; the master of the tasks and the capacity that are left is
solved anew, patterns generated for it, and so on. A plan is then improved by taking some tasks
out and planning them again.

Source of the program: Ho, Jabbari, Vaughan (2013), Section 4.2, (1)–(3).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np

from crowd_models import TypedProblem
from crowd_models.patterns import Pattern, limits
from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.highs import RunOptions
from workbench.solving.patterns.bound import pattern_bound
from workbench.solving.patterns.knapsack_cover import cheapest_patterns, improved_patterns
from workbench.solving.patterns.label_limits import cheapest_within
from workbench.solving.patterns.master import Master, MasterOptimum
from workbench.solving.solution import Side

PatternPlan = list[tuple[Pattern, int]]
"""Patterns, and how many tasks follow each."""

COARSE, FINE, EXACT = 4_000, 40_000, 0
"""Steps of a requirement in pricing: at first, then, and at the end, where 0 is for none at all."""
WANTED = 30
"""Patterns taken from a pricing without steps."""
DRAWN = 0.8
"""Weight of the best prices seen so far in those asked at."""
EXTRA = 5
"""Further patterns taken from each pricing."""


class Pricing(Protocol):
    """What a pattern is: how the cheapest are found, and what bounds them all.

    `near` says how near master and L(u) are to come, time after time: in labels at the highest
    price, or as a share of the cost where that is nearer; `loose` the same as a share of the cost
    for the tasks left in a dive, where that is farther.
    """

    near: tuple[tuple[float, float], ...]
    loose: float

    def resolutions(self) -> tuple[int, int, int]:
        """How finely to count, the three times that patterns are generated."""

    def cheapest(
        self,
        task_class: int,
        charge: FloatArray,
        most: IntArray,
        steps: int,
        rng: np.random.Generator,
    ) -> tuple[list[Pattern], float]:
        """Cheap patterns where labels cost `charge`, shape (K,), and about the least price."""

    def bound(self, worker_prices: FloatArray) -> Fraction | float:
        """L(u), bounded from below."""


@dataclass
class CoverPricing:
    """Patterns that meet a cover constraint, within the limits of labels."""

    problem: TypedProblem
    near: tuple[tuple[float, float], ...] = ((0.5, 2e-4), (0.1, 2e-6), (0.01, 2e-7))
    loose: float = 0.0

    def resolutions(self) -> tuple[int, int, int]:
        """Give the three: lower where many task classes price their patterns in turn."""
        share = min(1.0, 10.0 / self.problem.shape[0])
        coarse, fine = COARSE * share, FINE * share
        return max(1000, int(coarse)), max(2000, int(fine)), EXACT

    def cheapest(
        self,
        task_class: int,
        charge: FloatArray,
        most: IntArray,
        steps: int,
        rng: np.random.Generator,
    ) -> tuple[list[Pattern], float]:
        """Solve the knapsack cover."""
        quality, need = self.problem.quality[task_class], self.problem.requirement[task_class]
        if self.problem.limited:
            within = self.problem.label_limits(task_class)
            sets = cheapest_within(quality, float(need), charge, most, within, EXTRA)
            return self._priced(task_class, sets, charge)
        sets = cheapest_patterns(
            quality, float(need), charge, most, steps=steps or COARSE, extra=EXTRA, rng=rng
        )
        if steps == EXACT and sets and need > 0:
            better = improved_patterns(quality, float(need), charge, most, sets[0], wanted=WANTED)
            sets = better or sets[:1]
        return self._priced(task_class, sets, charge)

    def _priced(
        self, task_class: int, sets: list[IntArray], charge: FloatArray
    ) -> tuple[list[Pattern], float]:
        prices = self.problem.prices[task_class]
        patterns = [Pattern(task_class, copies, float(prices @ copies)) for copies in sets]
        return patterns, float(charge @ sets[0]) if sets else np.inf

    def bound(self, worker_prices: FloatArray) -> Fraction:
        """Evaluate it in whole numbers."""
        return pattern_bound(self.problem, worker_prices)


NODES = 1000
"""Of branch and bound over patterns."""


class OutOfTime(Exception):  # noqa: N818 (an ending, not an error)
    """The time is over."""


@dataclass(frozen=True)
class Search:
    """What a search may use: the problem, random numbers, and a time on `time.perf_counter`."""

    problem: TypedProblem
    pricing: Pricing
    rng: np.random.Generator
    until: float = float("inf")
    since: tuple[float, float] = field(
        default_factory=lambda: (time.perf_counter(), time.process_time())
    )
    """Clock and processor time at its beginning."""

    def check(self) -> None:
        """Raise `OutOfTime` when it is."""
        if time.perf_counter() >= self.until:
            raise OutOfTime

    def rest(self, seconds: float) -> tuple[float | None, float | None]:
        """Seconds of the clock, and of the processor, for a part; None for both without an end.

        As many of the clock as give those of the processor, by what they gave so far.

        Raises
        ------
        OutOfTime
            When there is none left.
        """
        self.check()
        if self.until == float("inf"):
            return None, None
        now = time.perf_counter()
        worked = max(time.process_time() - self.since[1], 1e-3)
        stretch = max(1.0, (now - self.since[0]) / worked)
        return max(0.1, min(self.until - now, stretch * seconds)), seconds


@dataclass(frozen=True, eq=False)
class Generated:
    """Patterns that are enough for the master's optimum, the optimum, and the best prices seen.

    `task_prices` are those of the cheapest pattern found of each class at `worker_prices`, shape
    (T,), and `value` is L(u) with them: a lower bound but for rounding. `side_prices` belong to
    `worker_prices`.
    """

    patterns: list[Pattern]
    mix: MasterOptimum
    worker_prices: FloatArray
    task_prices: FloatArray
    value: float
    side_prices: FloatArray

    def promising(self, gap: float, most: int) -> list[Pattern]:
        """The patterns of least reduced cost, `most` of them.

        No plan that costs less than L(u) + `gap` has one whose reduced cost is that or more.
        """
        u, v = self.worker_prices, self.task_prices
        reduced = np.array([p.cost + float(u @ p.copies) - v[p.task_class] for p in self.patterns])
        order = np.argsort(reduced, kind="stable")[:most]
        return [self.patterns[p] for p in order.tolist() if reduced[p] < gap]


def generate(
    search: Search,
    tasks: IntArray,
    supply: FloatArray,
    worker_prices: FloatArray,
    patterns: Iterable[Pattern] = (),
    *,
    tolerance: float,
    steps: Sequence[int],
    rounds: int = 1000,
    sides: Sequence[Side] = (),
    side_prices: Sequence[float] | FloatArray = (),
    decide: float | None = None,
) -> Generated:
    """Generate patterns until master and bound meet; tasks may stay open (`MasterOptimum.short`).

    Parameters
    ----------
    tasks, supply
        Tasks to serve by class (T,), and labels to be had by worker class (K,).
    worker_prices
        u to start from, shape (K,).
    patterns
        Those known already; whichever the supply rules out are left aside.
    tolerance
        Distance between master and L(u) at which to stop, in cost.
    steps
        Resolutions of the pricing, one after the other.
    rounds
        Most rounds in all.
    sides, side_prices
        That plans are to be on, of splits of label counts, and other rows; μ to start from, of the
        first of them.
    decide
        A cost: stop once it is known whether the master's optimum lies above it.

    Raises
    ------
    OutOfTime
        At `search.until`.
    """
    problem = search.problem
    kinds = np.flatnonzero(tasks)
    most = _most(problem, supply, kinds)
    open_prices = _open_prices(problem)
    master = Master(tasks, supply, open_prices, sides)
    limit, size = np.append(supply, [side.limit for side in sides]), len(supply)
    master.add(p for p in patterns if tasks[p.task_class] and (p.copies <= supply).all())
    best, value, drawn = np.append(worker_prices, side_prices), -np.inf, DRAWN
    best = np.append(best, np.zeros(size + len(sides) - len(best)))
    least, resolution = np.zeros(problem.shape[0]), list(steps)
    asked, mix = best, None
    if master.patterns:
        mix = master.solve()
    for _ in range(rounds):
        search.check()
        cheapest, every = open_prices.copy(), []
        for t in kinds.tolist():
            search.check()
            charge = problem.prices[t] + asked[:size]
            for at in np.flatnonzero(asked[size:]).tolist():
                charge += asked[size + at] * sides[at].sign * sides[at].pairs[t]
            # Whoever costs less than nothing is taken, but where labels have limits.
            paid = np.minimum(charge, 0.0) * (not problem.limited)
            charge = charge - paid
            sets, lowest = search.pricing.cheapest(t, charge, most[t], resolution[0], search.rng)
            if sets:
                cheapest[t] = lowest + float(paid @ most[t])
                every += sets
            if paid.any():
                filled = [np.where(paid < 0, most[t], pattern.copies) for pattern in sets]
                every += [Pattern.of(problem, t, copies) for copies in filled]
        new = master.add(every)
        # What it costs to leave a task open bounds what it can be worth.
        price = float(tasks @ np.minimum(cheapest, open_prices) - asked @ limit)
        if price > value:
            best, value, least = asked, price, cheapest
        if mix is None or new:
            mix = master.solve()
        if decide is not None and (mix.cost <= decide or value > decide):
            break
        if mix.cost - value <= tolerance or (not new and drawn == 0.0):
            if len(resolution) == 1:
                break
            # A finer resolution finds cheaper patterns: the bound so far was no bound for those.
            resolution.pop(0)
            value, drawn = -np.inf, DRAWN
            asked = best
            continue
        if not new:
            drawn = max(0.0, drawn - 0.2)
        asked = drawn * best + (1.0 - drawn) * np.append(mix.worker_prices, mix.side_prices)
    assert mix is not None
    return Generated(master.patterns, mix, best[:size], least, value, best[size:])


def dive(
    search: Search, tasks: IntArray, supply: FloatArray, start: Generated, *, share: float = 0.1
) -> PatternPlan | None:
    """Round the master down, plan what is left in the same way, until every task is served.

    Parameters
    ----------
    share
        Where rounding down serves fewer than this share of the tasks, counts of one are taken
        as well, the largest fractions first.

    Returns
    -------
    PatternPlan or None
        None where the capacity left does not allow a pattern for every task.
    """
    left, room = tasks.copy(), supply.copy()
    plan: PatternPlan = []
    at = start
    while left.any():
        _fix(search, at, left, room, plan, share)
        if not left.any():
            break
        at = generate(
            search,
            left,
            room,
            at.mix.worker_prices,
            at.patterns,
            tolerance=max(
                min(0.5, 0.02 * float(left.sum())) * _price(search),
                search.pricing.loose * at.mix.cost,
            ),
            steps=_fine(search),
            rounds=60,
        )
        if at.mix.short.sum() > 0.5 and not _fixable(at, left):
            return None
    return plan


def _fixable(at: Generated, left: IntArray) -> bool:
    """Whether patterns can still serve some task."""
    return any(left[p.task_class] for p in at.patterns) and float(at.mix.counts.sum()) > 1e-6


def _fix(
    search: Search, at: Generated, left: IntArray, room: FloatArray, plan: PatternPlan, share: float
) -> None:
    """Take the whole part of the master, or its largest fractions, into the plan."""
    goal = max(1.0, share * float(left.sum()))
    whole = np.floor(at.mix.counts + 1e-6)
    rest = at.mix.counts - whole
    fixed = sum(
        _take(at.patterns[p], int(whole[p]), left, room, plan) for p in np.flatnonzero(whole)
    )
    for p in np.argsort(-(rest + 1e-3 * search.rng.random(len(rest)))).tolist():
        if fixed >= goal or (fixed and rest[p] < 0.3) or rest[p] <= 1e-9:
            break
        fixed += _take(at.patterns[p], 1, left, room, plan)
    if not fixed:
        for p in np.argsort(-rest).tolist():
            if _take(at.patterns[p], 1, left, room, plan):
                break


def _take(pattern: Pattern, times: int, left: IntArray, room: FloatArray, plan: PatternPlan) -> int:
    """Let some more tasks follow a pattern, as many as there are tasks and capacity."""
    used = pattern.copies > 0
    fits = (room[used] // pattern.copies[used]).min(initial=np.inf)
    times = int(min(times, left[pattern.task_class], fits))
    if times > 0:
        plan.append((pattern, times))
        left[pattern.task_class] -= times
        room -= times * pattern.copies
    return max(times, 0)


def replan(
    search: Search,
    plan: PatternPlan,
    generated: Generated,
    *,
    size: int,
    seconds: float,
    tolerance: float,
) -> PatternPlan | None:
    """Take some tasks out of a plan and plan them anew, the capacity they used included.

    Returns
    -------
    PatternPlan or None
        A cheaper plan; None when none was found.
    """
    problem = search.problem
    served = np.array([times for _, times in plan], dtype=np.int64)
    total = int(served.sum())
    chosen = search.rng.choice(total, min(size, total), replace=False, shuffle=False)
    taken = np.bincount(
        np.searchsorted(np.cumsum(served), chosen, side="right"), minlength=len(plan)
    )
    keep = [(p, int(n - k)) for (p, n), k in zip(plan, taken, strict=True) if n > k]
    out = [(p, int(k)) for (p, _), k in zip(plan, taken, strict=True) if k]
    tasks = np.zeros(problem.shape[0], dtype=np.int64)
    for pattern, times in out:
        tasks[pattern.task_class] += times
    room = problem.supply - used(keep, problem.shape[1])
    before = cost(out)
    start = generate(
        search,
        tasks,
        room,
        generated.worker_prices,
        [*(p for p, _ in plan), *generated.patterns],
        tolerance=tolerance,
        steps=_fine(search),
        rounds=80,
    )
    if start.mix.short.sum() > 1e-6 or _no_better(problem, start.mix.cost, before):
        return None
    better = whole(search, tasks, room, start.patterns, seconds)
    if better is None or not cost(better) < before - 1e-9 * max(1.0, before):
        return None
    return keep + better


def whole(
    search: Search,
    tasks: IntArray,
    supply: FloatArray,
    patterns: Iterable[Pattern],
    seconds: float,
) -> PatternPlan | None:
    """The best plan of some patterns, by branch and bound for a while; None for none.

    Nodes end it, the same everywhere, or the seconds of processor time where the search has a
    time to keep: those of the clock would find less where the machine is loaded.
    """
    master = Master(tasks, supply, _open_prices(search.problem))
    master.add(patterns)
    limit, work = search.rest(seconds)
    seed = int(search.rng.integers(2**31))
    return master.whole(RunOptions(limit, seed=seed, nodes=NODES, work=work))


def _price(search: Search) -> float:
    """What tolerances are measured by: the highest price."""
    return float(search.problem.prices.max()) or 1.0


def _fine(search: Search) -> tuple[int, ...]:
    return search.pricing.resolutions()[1:2]


def _no_better(problem: TypedProblem, mix: float, before: float) -> bool:
    """Whether a master of that cost rules out a plan cheaper than before."""
    least = float(np.ceil(mix - 1e-6)) if problem.integral_cost else mix
    return least >= before - 1e-9 * max(1.0, before)


def cost(plan: PatternPlan) -> float:
    """What a plan costs."""
    return float(sum(pattern.cost * times for pattern, times in plan))


def used(plan: PatternPlan, classes: int) -> FloatArray:
    """Labels a plan asks of each worker class, shape (K,)."""
    total = np.zeros(classes)
    for pattern, times in plan:
        total += times * pattern.copies
    return total


def _most(problem: TypedProblem, supply: FloatArray, kinds: IntArray) -> dict[int, IntArray]:
    """Workers that one task of each class can have of each worker class, given what is left."""
    left = supply.astype(np.int64)
    return {t: np.minimum(limits(problem, t), left) for t in kinds.tolist()}


def _open_prices(problem: TypedProblem) -> FloatArray:
    """More than any pattern of a class costs, shape (T,)."""
    everybody = np.array([limits(problem, t) for t in range(problem.shape[0])])
    open_prices: FloatArray = 2.0 * (problem.prices * everybody).sum(axis=1) + 1.0
    return open_prices
