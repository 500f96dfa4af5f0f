"""Cheapest patterns of a task class, by dynamic programming: the pricing problem.

Qualities are counted in steps of C/`steps`, rounded to the nearest, so that a sum of twenty is
off by a step or so either way; states a little below and above the requirement are then read
back, and only patterns that meet it by their true qualities are given. So every pattern is
feasible, and the best is close to the cheapest: close enough at first. At the end
`improved_patterns` finds the cheapest itself, without steps. What bounds the cheapest from below is
`bound`, which shares no code with this.
"""

from __future__ import annotations

import numpy as np

from crowd_models.patterns import SLACK
from workbench.base.arrays import BoolArray, FloatArray, IntArray

MOST_CELLS = 300_000_000
"""Of the table, a byte each: with many workers steps are fewer."""
MANY, FEW = 100_000, 20
"""States of the search without steps from which on the last lots, so many, are listed at once."""
MOST_STATES = 2_000_000
"""Of it at most."""
MARGIN = 6
"""States read back on either side of the requirement."""


def cheapest_patterns(
    quality: FloatArray,
    need: float,
    price: FloatArray,
    most: IntArray,
    *,
    steps: int,
    extra: int,
    rng: np.random.Generator,
) -> list[IntArray]:
    """Patterns that meet a requirement cheaply, the cheapest first.

    Parameters
    ----------
    quality, price
        q and c + u by worker class, shape (K,).
    need
        C; 0 needs nobody.
    most
        Workers of each class that can be had, shape (K,).
    steps
        Resolution: C in so many steps.
    extra
        How many more patterns to read from the table: each the best of fewer workers.

    Returns
    -------
    list
        Counts by worker class, shape (K,) each, all different; empty when no pattern meets
        the requirement.
    """
    if need <= 0:
        return [np.zeros(len(quality), dtype=np.int64)]
    owner, copies = _pieces(quality, most)
    q, c = quality[owner] * copies, price[owner] * copies
    always, free = _core(q, c, need)
    if always is None:
        return []
    patterns = [np.zeros(len(quality), dtype=np.int64)]
    left = need - q[always].sum()
    np.add.at(patterns[0], owner[always], copies[always])
    if left <= need * SLACK / 10:
        return patterns
    free = rng.permutation(np.flatnonzero(free))
    table = _Table(q[free], c[free], left, min(steps, max(1000, MOST_CELLS // len(free))))
    sets = [s for state in table.near() if (s := table.read(len(free), state)) is not None]
    for _ in range(extra if sets else 0):
        # The best pattern without the last worker used, and so on.
        shorter = table.read(int(sets[-1].max()), table.goal)
        if shorter is None:
            break
        sets.append(shorter)
    base, different = patterns[0], {}
    enough = need * (1 - SLACK / 10)
    for chosen in sets:
        counts = base.copy()
        np.add.at(counts, owner[free[chosen]], copies[free[chosen]])
        if quality @ counts >= enough:
            different[counts.tobytes()] = counts
    if not different:
        # Rounding hid every pattern near the requirement: take one from farther above.
        return _greedy(quality, need, price, most)
    return sorted(different.values(), key=lambda counts: float(price @ counts))


def improved_patterns(
    quality: FloatArray,
    need: float,
    price: FloatArray,
    most: IntArray,
    pattern: IntArray,
    wanted: int,
) -> list[IntArray]:
    """Patterns cheaper than `pattern`, the cheapest of all first, without any steps.

    The states are undominated pairs of cover and price, as in `bound`; the most informative lots
    come first, and what those to come can win back at most shows most states to be expensive. Where
    more than `MOST_STATES` are left the search ends with what it has.

    Parameters
    ----------
    quality, need, price, most
        As in `cheapest_patterns`.
    pattern
        Its counts, shape (K,): the cheaper it is, the fewer states.
    wanted
        How many of those that are met on the way are kept.
    """
    need *= 1 - SLACK / 10
    owner, copies = _pieces(quality, most)
    q, c = quality[owner] * copies, price[owner] * copies
    rate, always, free = _free_lots(q, c, need, float(price @ pattern))
    left, least = need - q[always].sum(), float(price @ pattern) - float(c[always].sum())
    reduced = c - rate * q
    gains = np.minimum(reduced[free], 0.0)
    to_come = gains.sum() - np.cumsum(gains)
    covers, prices = np.zeros(1), np.zeros(1)
    trail: list[tuple[int, IntArray]] = []
    ends: list[tuple[float, int, int, IntArray]] = []
    for done, (lot, gain) in enumerate(zip(free.tolist(), to_come.tolist(), strict=True)):
        more, paid = covers + q[lot], prices + c[lot]
        meets = np.flatnonzero((more >= left) & (paid < least))
        meets = meets[np.argsort(paid[meets], kind="stable")[:wanted]]
        ends += [(float(paid[i]), done, i, free[done : done + 1]) for i in meets.tolist()]
        if len(meets):
            least = float(paid[meets[0]])
        more, paid = np.append(covers, more), np.append(prices, paid)
        cheap = np.flatnonzero((more < left) & (paid + rate * (left - more) + gain < least))
        kept = cheap[_undominated(more[cheap], paid[cheap])]
        trail.append((len(covers), kept))
        covers, prices = more[kept], paid[kept]
        if len(kept) > MANY and len(free) - done - 1 <= FEW:
            last = free[done + 1 :]
            for state, lots in _completed(covers, prices, left, q, c, last, wanted):
                ends.append((float(prices[state] + c[lots].sum()), done + 1, state, lots))
            break
        if len(kept) > MOST_STATES:
            break
    base = np.zeros(len(quality), dtype=np.int64)
    np.add.at(base, owner[always], copies[always])
    cheaper = {}
    for _, steps, end, last in sorted(ends, key=lambda state: state[0])[:wanted]:
        chosen = _read_back(trail, free, steps, end) + last.tolist()
        counts = base.copy()
        np.add.at(counts, owner[chosen], copies[chosen])
        if quality @ counts >= need:
            cheaper[counts.tobytes()] = counts
    return list(cheaper.values())


def _free_lots(
    q: FloatArray, c: FloatArray, need: float, upper: float
) -> tuple[float, BoolArray, IntArray]:
    """The rate that breaks the greedy order, and lots by what tells of patterns below `upper`.

    Those that every such pattern has, as a mask; and those that it may have, telling most first.
    """
    order = np.argsort(c / q, kind="stable")
    at = min(int(np.searchsorted(np.cumsum(q[order]), need)), len(order) - 1)
    rate = float(c[order[at]] / q[order[at]])
    reduced = c - rate * q
    apart = upper - (rate * need + np.minimum(reduced, 0.0).sum()) + 1e-9 * upper
    free = np.flatnonzero(np.abs(reduced) <= apart)
    return rate, reduced < -apart, free[np.argsort(-np.abs(reduced[free]), kind="stable")]


def _read_back(
    trail: list[tuple[int, IntArray]], lots: IntArray, steps: int, state: int
) -> list[int]:
    """Which lots make up a state.

    `trail` says of each step how many states there were before it, and which of those, without and
    with the step's lot, were kept.
    """
    chosen = []
    for step in range(steps - 1, -1, -1):
        size, kept = trail[step]
        taken, state = divmod(int(kept[state]), size)
        chosen += [int(lots[step])] * taken
    return chosen


def _completed(
    covers: FloatArray,
    prices: FloatArray,
    left: float,
    q: FloatArray,
    c: FloatArray,
    lots: IntArray,
    wanted: int,
) -> list[tuple[int, IntArray]]:
    """States that get cheapest to the requirement with some of the last lots, and those."""
    more, paid, sets = np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.int64)
    for bit, lot in enumerate(lots.tolist()):
        more, paid = np.append(more, more + q[lot]), np.append(paid, paid + c[lot])
        sets = np.append(sets, sets + 2**bit)
        kept = _undominated(more, paid)
        more, paid, sets = more[kept], paid[kept], sets[kept]
    at = np.searchsorted(more, left - covers)
    meets = np.flatnonzero(at < len(more))
    total = prices[meets] + paid[at[meets]]
    completions = []
    for i in np.argsort(total, kind="stable")[:wanted].tolist():
        chosen = sets[at[meets[i]]] >> np.arange(len(lots)) & 1 == 1
        completions.append((int(meets[i]), lots[chosen]))
    return completions


def _undominated(covers: FloatArray, prices: FloatArray) -> IntArray:
    """Indices of states that cover more than every cheaper one, by rising price."""
    order = np.argsort(prices, kind="stable")
    covers = covers[order]
    more = np.ones(len(covers), dtype=bool)
    np.greater(covers[1:], np.maximum.accumulate(covers)[:-1], out=more[1:])
    return order[more]


def _greedy(quality: FloatArray, need: float, price: FloatArray, most: IntArray) -> list[IntArray]:
    """Workers by price a quality until the requirement is met, then without the superfluous."""
    counts = np.zeros(len(quality), dtype=np.int64)
    order = np.argsort(price / np.maximum(quality, 1e-200), kind="stable")
    for k in order.tolist():
        missing = need - quality @ counts
        if missing <= need * SLACK / 10 or quality[k] <= 0:
            break
        counts[k] = min(int(most[k]), int(np.ceil(missing / quality[k] - 1e-12)))
    for k in order[::-1].tolist():
        while counts[k] and quality @ counts - quality[k] >= need:
            counts[k] -= 1
    return [counts] if quality @ counts >= need * (1 - SLACK / 10) else []


def _pieces(quality: FloatArray, most: IntArray) -> tuple[IntArray, IntArray]:
    """Split m workers of a class into lots of 1, 2, 4, …: subsets of the lots give every count."""
    owners: list[int] = []
    copies: list[int] = []
    useful = np.flatnonzero((most > 0) & (quality > 0))
    if (most[useful] == 1).all():
        return useful, np.ones(len(useful), dtype=np.int64)
    for k in useful.tolist():
        left, lot = int(most[k]), 1
        while left > 0:
            owners.append(k)
            copies.append(min(lot, left))
            left, lot = left - lot, 2 * lot
    return np.array(owners, dtype=np.int64), np.array(copies, dtype=np.int64)


def _core(q: FloatArray, c: FloatArray, need: float) -> tuple[IntArray | None, BoolArray]:
    """Lots that every cheapest pattern has, and those it may have.

    With the price r of the lot that breaks the greedy order, a lot whose price differs from r q
    by more than the greedy pattern costs above the relaxation is settled by that sign.
    """
    order = np.argsort(c / np.maximum(q, 1e-200), kind="stable")
    reached = np.cumsum(q[order])
    at = int(np.searchsorted(reached, need * (1 - SLACK)))
    if at >= len(order):
        # All of them may miss the requirement by rounding alone.
        return None, np.zeros(len(q), dtype=bool)
    rate = c[order[at]] / q[order[at]]
    # Within the slack the greedy set may miss the requirement: then it costs too little.
    excess = max(0.0, reached[at] - need * (1 - SLACK)) * rate + 1e-9 * (rate * need or 1.0)
    reduced = c - rate * q
    always = np.flatnonzero(reduced < -excess)
    free = np.abs(reduced) <= excess
    return always, free


class _Table:
    """The least price of at least s steps from the first k lots, and which lots that takes."""

    def __init__(self, q: FloatArray, c: FloatArray, need: float, steps: int) -> None:
        step = need / steps
        self.goal = steps
        self.top = steps + MARGIN
        self.weight = np.minimum(np.rint(q / step).astype(np.int64), self.top)
        self.taken = np.zeros((len(q), self.top + 1), dtype=bool)
        least = np.full(self.top + 1, np.inf)
        least[0] = 0.0
        beside = np.empty_like(least)
        for k, (w, price) in enumerate(zip(self.weight.tolist(), c.tolist(), strict=True)):
            if w == 0:
                continue
            beside[0] = 0.0
            beside[1:w] = price
            np.add(least[: self.top + 1 - w], price, out=beside[w:])
            np.less(beside, least, out=self.taken[k])
            np.minimum(least, beside, out=least)

    def near(self) -> range:
        """States about the requirement."""
        return range(max(1, self.goal - MARGIN), self.top + 1)

    def read(self, lots: int, state: int) -> IntArray | None:
        """The cheapest set of the first `lots` with at least `state` steps; None for none."""
        chosen = []
        k = lots - 1
        while state > 0:
            while k >= 0 and not self.taken[k, state]:
                k -= 1
            if k < 0:
                return None
            chosen.append(k)
            state = max(state - int(self.weight[k]), 0)
            k -= 1
        return np.array(chosen, dtype=np.int64)
