"""One task, bought label by label: what it must cost, and whom to ask, by dynamic programming.

Two equally likely classes, skills known. All that labels have said of a task is its *lead*, the
log-odds x ≥ 0 of the likelier class, whose error is b(x) = 1/(1 + eˣ). A label of skill p weighs
w = ln(p/(1 − p)) and moves the lead to x + w with chance pq + (1 − p)(1 − q), q = 1 − b, else to
|x − w|. Whom to ask, where a label of class k is charged c_k:

    error:      V(x) = min{μ b(x), min_k c_k + E V(x′)}, an error being charged μ;
    posterior:  V(x) = 0 where b(x) ≤ ε, else min_k c_k + E V(x′).

Both are computed from below, so that V(0) is a bound on every policy of a task (`ErrorRule.bound`,
`PosteriorRule.bound`), and both lead to a rule that can be followed at any lead (`ask`), whose
cost and error `follow` computes without the grid.

- *error*: V is concave in q (a minimum over policies, each linear in q), so that linear
  interpolation between points of a grid is below it, and the fixed point of the interpolated
  equation is too. A rule's value is solved for and improved (Howard 1960); what rounding leaves is
  taken off by scaling: if W ≤ (1 + r) times what follows it, W/(1 + r) is below V.
- *posterior*: V jumps, so nothing is interpolated. U(x) = V(x)·2 cosh(x/2) satisfies the same
  equation with constant weights √(p(1 − p)); U is bounded from below on cells of leads, the best
  place in every cell that a label may lead to being taken. Value iteration begins at 0.

Source: Wald (1945); Arrow, Blackwell, Girshick (1949); Lovejoy (1991) for bounds by interpolation.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from workbench.base.arrays import FloatArray, IntArray

MOST = 40.0
"""Log-odds of a label of skill 1."""
SURE = 1e-9
"""A lead that lacks so little of what ε asks for has it: .95 closes a task at ε = .05."""
BEYOND = 6.0
"""Log-odds past those of ε up to which the grid goes; from there on to certainty one step."""
SWEEPS, STEPS = 25, 60
"""Sweeps of value iteration before rules are solved for; improvements of a rule at most."""
LONGEST = 20_000
"""Sweeps of value iteration at most."""
MANY, SELDOM = 3000, (1e-14, 1e-9)
"""A rule is followed no further from leads come to so seldom: from few leads, and from many."""
SAME = 1e-9
"""Leads that differ by less are one."""


def log_odds(skill: FloatArray) -> FloatArray:
    """w = ln(p/(1 − p)), any shape, p ≥ ½; at most `MOST`."""
    with np.errstate(divide="ignore"):
        weight: FloatArray = np.minimum(np.log(skill) - np.log1p(-skill), MOST)
    return weight


def error_at(lead: FloatArray) -> FloatArray:
    """b(x), the posterior error, any shape; 0 at leads that free labels add up to."""
    with np.errstate(over="ignore"):
        wrong: FloatArray = 1.0 / (1.0 + np.exp(lead))
    return wrong


def after(lead: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Chance that a label speaks for the leader, and the lead if so and if not; broadcast."""
    right, wrong = error_at(-weight), error_at(lead)
    return (1 - wrong) * right + wrong * (1 - right), lead + weight, np.abs(lead - weight)


class Rule(Protocol):
    """Whom to ask at a lead, or to stop."""

    @property
    def weight(self) -> FloatArray:
        """w by class."""
        ...

    @property
    def asked(self) -> IntArray:
        """Classes that may be asked."""
        ...

    @property
    def bound(self) -> float:
        """V(0), from below."""
        ...

    def closing(self, lead: FloatArray) -> FloatArray:
        """What stopping here is charged, shape of `lead`; infinite where it is not allowed."""
        ...

    def worth(self, lead: FloatArray) -> FloatArray:
        """V, about, shape of `lead`."""
        ...

    def asking(self, lead: FloatArray, workers: IntArray) -> FloatArray:
        """What asking is charged, all that follows included, shape (workers, leads)."""
        ...


@dataclass(frozen=True, eq=False)
class Grid:
    """Leads at which V is computed, and where a label of each class leads to from there.

    Attributes
    ----------
    weight
        w, shape (K,).
    wrong
        b at the points, decreasing to 0, shape (N,).
    chance
        That the label speaks for the leader, shape (K, N).
    place, share
        Of the two leads that may follow: the point before, shape (2, K, N), and the share of the
        next point.
    """

    weight: FloatArray
    wrong: FloatArray
    chance: FloatArray
    place: IntArray
    share: FloatArray

    @classmethod
    def of(cls, weight: FloatArray, leads: FloatArray) -> Grid:
        """Lay it out over some leads ≥ 0; 0 and certainty are added."""
        leads = np.unique(np.append(leads, 0.0))
        leads = leads[np.append(np.diff(leads) > SAME, True)]
        wrong = np.append(error_at(leads), 0.0)
        chance, ahead, behind = after(leads, weight[:, None])
        chance = np.hstack([chance, error_at(-weight)[:, None]])
        place = np.empty((2, *chance.shape), dtype=np.int64)
        share = np.empty(place.shape)
        last = len(wrong) - 1
        for side, to in enumerate((ahead, behind)):
            # From certainty no label leads away.
            follows = np.hstack([error_at(to), np.zeros((len(weight), 1))])
            before = last - np.searchsorted(wrong[::-1], follows, side="left")
            before = np.clip(before, 0, last - 1)
            place[side] = before
            step = wrong[before] - wrong[before + 1]
            share[side] = np.clip((wrong[before] - follows) / step, 0.0, 1.0)
        return cls(weight, wrong, chance, place, share)

    def expected(self, value: FloatArray, workers: IntArray) -> FloatArray:
        """E V(x′) by worker and point, V interpolated."""
        place, share = self.place[:, workers], self.share[:, workers]
        low = value[place]
        led = low + share * (value[place + 1] - low)
        chance = self.chance[workers]
        mean: FloatArray = chance * led[0] + (1.0 - chance) * led[1]
        return mean


def undominated(weight: FloatArray, charge: FloatArray) -> IntArray:
    """Workers than whom nobody tells more for less: the others need not be asked (Blackwell)."""
    order = np.lexsort((charge, -weight))
    cheaper = np.minimum.accumulate(np.append(np.inf, charge[order]))[:-1]
    return order[(charge[order] < cheaper) & (weight[order] > 0)]


@dataclass(frozen=True, eq=False)
class ErrorRule:
    """Ask while that costs less than the errors that stopping makes; see the module.

    Attributes
    ----------
    weight, charge
        w and c, shape (K,).
    per_error
        μ.
    wrong, value
        b at the points of the grid, decreasing, and V there, from below, shape (N,).
    asked
        Classes than which none tells more for less.
    choice
        Class asked at each point, −1 to stop, shape (N,).
    """

    weight: FloatArray
    charge: FloatArray
    per_error: float
    wrong: FloatArray
    value: FloatArray
    asked: IntArray
    choice: IntArray

    @property
    def bound(self) -> float:
        """V(0): no policy of a task is charged less."""
        return float(self.value[0])

    @property
    def closes_at(self) -> float:
        """Posterior error at which a task is closed: stopping pays up to one, V being concave."""
        return float(self.wrong[self.choice < 0].max())

    def saved(self) -> dict[str, Any]:
        """All of it in values that JSON knows."""
        return _saved(self)

    @classmethod
    def loaded(cls, saved: Mapping[str, Any]) -> Self:
        """Take up what `saved` gave."""
        return cls(**_arrays(saved, whole=("asked", "choice")))

    def closing(self, lead: FloatArray) -> FloatArray:
        """μ b."""
        return self.per_error * error_at(lead)

    def worth(self, lead: FloatArray) -> FloatArray:
        """V, interpolated."""
        between: FloatArray = np.interp(error_at(lead), self.wrong[::-1], self.value[::-1])
        return between

    def asking(self, lead: FloatArray, workers: IntArray) -> FloatArray:
        """c_k + E V(x′)."""
        return _asking(self, self.charge, lead, workers)


def error_rule(grid: Grid, charge: FloatArray, per_error: float) -> ErrorRule:
    """Compute V where an error is charged μ; see the module."""
    workers = undominated(grid.weight, charge)
    fee, closing = charge[workers][:, None], per_error * grid.wrong
    value = closing.copy()
    choice = np.full(len(closing), -1, dtype=np.int64)
    if len(workers):
        for _ in range(SWEEPS):
            value = np.minimum(closing, (fee + grid.expected(value, workers)).min(axis=0))
        rule = None
        for _ in range(STEPS):
            asking = fee + grid.expected(value, workers)
            best = np.where(
                asking.min(axis=0) < closing - 1e-15 * per_error, asking.argmin(axis=0), -1
            )
            if rule is not None and (best == rule).all():
                break
            rule = best
            choice = np.where(rule >= 0, workers[rule], -1)
            value = np.minimum(value, _value_of(grid, charge, closing, choice))
        follows = np.minimum(closing, (fee + grid.expected(value, workers)).min(axis=0))
        excess = max(float(np.max(value - follows)), 0.0) / max(float(fee.min()), 1e-300)
        value = value / (1.0 + excess)
    return ErrorRule(grid.weight, charge, per_error, grid.wrong, value, workers, choice)


def _value_of(grid: Grid, charge: FloatArray, closing: FloatArray, choice: IntArray) -> FloatArray:
    """What a rule is charged on the grid."""
    points = np.flatnonzero(choice >= 0)
    paid = closing.copy()
    paid[points] = charge[choice[points]]
    solved: FloatArray = spsolve(_stays(grid, choice), paid)
    return solved


def on_grid(grid: Grid, choice: IntArray) -> tuple[FloatArray, float]:
    """Labels by class and the error of a rule on the grid, leads between points going to either.

    A slope of `ErrorRule.value` at 0 by charges and μ: quicker than to follow the rule, and not
    what it costs.
    """
    start = np.zeros(len(choice))
    start[0] = 1.0
    visits: FloatArray = spsolve(_stays(grid, choice).T.tocsc(), start)
    points = np.flatnonzero(choice >= 0)
    labels = np.zeros(len(grid.weight))
    np.add.at(labels, choice[points], visits[points])
    ends = choice < 0
    return labels, float(visits[ends] @ grid.wrong[ends])


def _stays(grid: Grid, choice: IntArray) -> sparse.csc_array:
    """The identity less the moves of a rule from point to point."""
    points = np.flatnonzero(choice >= 0)
    who = choice[points]
    up = grid.chance[who, points]
    rows, columns, entries = [], [], []
    for side, chance in enumerate((up, 1.0 - up)):
        place, share = grid.place[side, who, points], grid.share[side, who, points]
        rows += [points, points]
        columns += [place, place + 1]
        entries += [chance * (1.0 - share), chance * share]
    size = len(choice)
    moves = sparse.coo_array(
        (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), (size, size)
    )
    return (sparse.eye_array(size) - moves).tocsc()


@dataclass(frozen=True, eq=False)
class PosteriorRule:
    """Ask until the posterior error is at most ε; see the module.

    Attributes
    ----------
    weight, charge
        w and c, shape (K,).
    enough
        The lead at which a task is closed.
    cells
        U on N cells of equal width from 0 to `enough`, from below.
    asked
        Classes that are the best choice in a cell, or at a lead of 0.
    bound
        V(0).
    """

    weight: FloatArray
    charge: FloatArray
    enough: float
    cells: FloatArray
    asked: IntArray
    bound: float

    @property
    def closes_at(self) -> float:
        """Posterior error at which a task is closed."""
        return float(error_at(np.array(self.enough)))

    def saved(self) -> dict[str, Any]:
        """All of it in values that JSON knows."""
        return _saved(self)

    @classmethod
    def loaded(cls, saved: Mapping[str, Any]) -> Self:
        """Take up what `saved` gave."""
        return cls(**_arrays(saved, whole=("asked",)))

    def closing(self, lead: FloatArray) -> FloatArray:
        """0 from `enough` on, infinite below."""
        return np.where(lead >= self.enough, 0.0, np.inf)

    def worth(self, lead: FloatArray) -> FloatArray:
        """V in the cell of the lead."""
        size = len(self.cells)
        cell = np.minimum((lead * (size / self.enough)).astype(np.int64), size - 1)
        return np.where(lead >= self.enough, 0.0, self.cells[cell] / (2.0 * np.cosh(lead / 2)))

    def asking(self, lead: FloatArray, workers: IntArray) -> FloatArray:
        """c_k + E V(x′)."""
        return _asking(self, self.charge, lead, workers)


def posterior_rule(
    weight: FloatArray,
    charge: FloatArray,
    epsilon: float,
    cells: int,
    workers: IntArray | None = None,
    until: float = math.inf,
) -> PosteriorRule:
    """Bound V from below where a task may be closed at posterior error ε; see the module.

    Parameters
    ----------
    cells
        How many: the more, the nearer the bound.
    workers
        Classes that may be asked, for a quick rule; None for all: only then is `bound` one.
    until
        Processor time at which to end: the bound is lower then.
    """
    enough = math.log1p(-epsilon) - math.log(epsilon) - SURE
    width = enough / cells
    asked = np.flatnonzero(weight > 0) if workers is None else workers
    shrink = 0.5 / np.cosh(weight[asked] / 2)  # √(p(1 − p))
    moves = np.floor(weight[asked] / width + 1e-12).astype(np.int64)
    unit = 2.0 * np.cosh(width * np.arange(cells) / 2)
    steps = list(zip(charge[asked].tolist(), shrink.tolist(), moves.tolist(), strict=True))
    value, beyond = np.zeros(cells), np.zeros(cells + 2)

    def options() -> Iterator[FloatArray]:
        """What asking each class comes to, cell by cell."""
        # Mirrored to the left; 0 from `enough` on. A move ends in one of two cells.
        line = np.concatenate([beyond, value[::-1], value, beyond])
        pair = np.minimum(line[:-1], line[1:])
        zero = len(beyond) + cells
        for fee, rate, move in steps:
            left, right = max(zero - move - 1, 0), zero + min(move, cells)
            yield fee * unit + rate * (pair[left : left + cells] + pair[right : right + cells])

    for _ in range(LONGEST if len(asked) else 0):
        best = np.full(cells, np.inf)
        for option in options():
            np.minimum(best, option, out=best)
        change = float(np.max(best - value, initial=0.0))
        value = np.maximum(value, best)
        if change <= 1e-9 * float(value.max(initial=0.0)) or time.process_time() > until:
            break
    ends = np.where(moves < cells, value[np.minimum(moves, cells - 1)], 0.0)
    start = charge[asked] + shrink * ends
    useful = [bool((option <= value * (1 + 1e-9)).any()) for option in options()]
    useful = np.array(useful, dtype=bool) | (start <= start.min(initial=np.inf))
    bound = float(start.min(initial=np.inf))
    return PosteriorRule(weight, charge, enough, value, asked[useful], bound)


def _saved(rule: ErrorRule | PosteriorRule) -> dict[str, Any]:
    """Fields in values that JSON knows."""
    values = {field.name: getattr(rule, field.name) for field in fields(rule)}
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}


def _arrays(saved: Mapping[str, Any], whole: tuple[str, ...]) -> dict[str, Any]:
    """Lists as arrays, of whole numbers or not."""
    return {
        name: np.array(value, dtype=np.int64 if name in whole else np.float64)
        if isinstance(value, list)
        else float(value)
        for name, value in saved.items()
    }


def _asking(rule: Rule, charge: FloatArray, lead: FloatArray, workers: IntArray) -> FloatArray:
    chance, ahead, behind = after(lead, rule.weight[workers][:, None])
    asking: FloatArray = charge[workers][:, None] + (
        chance * rule.worth(ahead) + (1.0 - chance) * rule.worth(behind)
    )
    return asking


@dataclass(frozen=True, eq=False)
class Followed:
    """What following a rule comes to, exactly.

    Attributes
    ----------
    labels
        Expected labels by class, shape (K,).
    error
        How often it ends at the wrong class.
    leads
        That it passes through.
    asking
        Chance that it asks for label 1, 2, …
    open
        Chance that a task was closed before the rule would have closed it.
    """

    labels: FloatArray
    error: float
    leads: FloatArray
    asking: FloatArray
    open: float


def follow(rule: Rule, until: float = math.inf, most: float = math.inf) -> Followed:
    """Follow a rule from a lead of 0, all leads that it comes to listed.

    A lead that is hardly ever come to is stopped at (`SELDOM`), and each after so much processor
    time, or so many labels.
    """
    workers = rule.asked
    labels = np.zeros(len(rule.weight))
    lead, chance = np.zeros(1), np.ones(1)
    error, left_open = 0.0, 0.0
    passed: list[FloatArray] = []
    asks: list[float] = []
    while len(lead):
        if len(workers):
            asking = rule.asking(lead, workers)
            best = asking.argmin(axis=0)
            going = asking[best, np.arange(len(lead))] < rule.closing(lead)
        else:
            best, going = np.zeros(len(lead), dtype=np.int64), np.isinf(rule.closing(lead))
        over = not len(workers) or len(asks) >= most or time.process_time() > until
        rare = going & (over | (chance < SELDOM[len(lead) > MANY]))
        left_open += float(chance[rare].sum())
        going &= ~rare
        error += float(chance[~going] @ error_at(lead[~going]))
        passed.append(lead[chance > 1e-5])
        lead, chance, who = lead[going], chance[going], workers[best[going]]
        np.add.at(labels, who, chance)
        asks.append(float(chance.sum()))
        up, ahead, behind = after(lead, rule.weight[who])
        lead = np.concatenate([ahead, behind])
        chance = np.concatenate([chance * up, chance * (1.0 - up)])
        order = np.argsort(lead)
        lead, chance = lead[order], chance[order]
        first = np.flatnonzero(np.diff(lead, prepend=-np.inf) > SAME)
        lead = lead[first]
        chance = np.add.reduceat(chance, first) if len(first) else chance
    return Followed(labels, error, np.concatenate(passed), np.array(asks), left_open)
