"""Whom to hire when workers have prices: at most K workers, within an amount of money.

Prices make the problem hard where it was a matter of sorting: for a given size it is a knapsack.
`within_money` solves it by integer programming, with a fast heuristic beside it; neither stands
without a bound that is checked against the data. The money is for one task: every hired worker
labels every task, each label at the worker's price, so that a project of n tasks costs n times
as much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crowd_models import SelectionProblem
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import Seed, stream
from workbench.selection.rules import NOBODY
from workbench.selection.scoring import prefix_scores
from workbench.solving.claims import CostClaim
from workbench.solving.hiring import relative_gap, solve_selection
from workbench.solving.hiring_bound import (
    SelectionCertificate,
    SizeBounds,
    certify_selection,
    selection_score,
    size_bounds,
)
from workbench.solving.solution import Termination


@dataclass(frozen=True, eq=False)
class MoneySelection:
    """Workers chosen within the money, by heuristic and exactly, and what is proven of both.

    Attributes
    ----------
    chosen
        Indices of the chosen workers, highest gain first: the best set that is known. Empty when
        nobody can be hired.
    score
        Σ G / √|S| of `chosen`; None when nobody can be hired.
    spent
        Their prices together: what a task costs that all of them label.
    heuristic, heuristic_score
        The heuristic's set and its score, which is never above `score`.
    bound
        No set of at most K workers within the money has a higher score: the solver's bound, or
        the certificate's where it gave none.
    certificate
        What was checked of `chosen` without trusting the solver, and the bound proven by weak
        duality, `certificate.upper_bound`.
    termination
        Why the solver stopped.
    tied
        Workers of whom some are chosen and some are not, at equal gain and price (and evidence,
        where it counts): they were drawn among. Empty when there are none.
    note
        What has to be said about the choice; empty when nothing.
    """

    chosen: IntArray
    score: float | None
    spent: float
    heuristic: IntArray
    heuristic_score: float | None
    bound: float | None
    certificate: SelectionCertificate
    termination: Termination
    tied: IntArray
    note: str = ""

    @property
    def gap(self) -> float | None:
        """(bound − score) / |score|: 0 when `chosen` is best; None where it has no meaning."""
        return relative_gap(self.score, self.bound, proven=self.certificate.status == "proven")

    @property
    def claim(self) -> CostClaim:
        """What is known of the score: that of a cost, with the sign turned round."""
        if self.score is None or self.bound is None:
            return CostClaim(None)
        proven, upper = self.certificate.status == "proven", self.certificate.upper_bound
        checked = self.score if proven else upper
        return CostClaim(-self.score, None if checked is None else -checked, -self.bound)

    @property
    def heuristic_gap(self) -> float | None:
        """The same of the heuristic's set: at most how far, relative, it is from the best."""
        if self.heuristic_score == self.score:
            return self.gap
        return relative_gap(self.heuristic_score, self.bound)


def within_money(
    gain: ArrayLike,
    costs: ArrayLike,
    budget: int,
    money: float,
    *,
    seed: Seed,
    time_limit: float | None = None,
    evidence: IntArray | None = None,
) -> MoneySelection:
    """Choose 1 to K workers of the highest Σ gain / √|S| whose prices the money covers.

    Workers of equal gain and price are drawn among fairly. Of different sets with the same
    score, any may be chosen.

    Parameters
    ----------
    gain
        G of each worker, shape (m,); −∞ leaves a worker out.
    costs
        Price of one label by each worker, shape (m,), ≥ 0; a scalar stands for every worker.
    budget
        K ≥ 1, the most workers.
    money
        B ≥ 0, what the labels of one task may cost, in the unit of the prices.
    seed
        Of the draw among equal workers.
    time_limit
        Seconds for the solver; the best set so far is chosen when they are up.
    evidence
        Control answers of each worker, shape (m,): of equal gain and price who has more comes
        first, and only equals in all three are drawn among. None takes no account of it.

    Raises
    ------
    InputError
        Gains, prices, budget, money or time limit out of range.
    """
    problem = SelectionProblem(gain, budget, costs, money)
    if not problem.largest:
        nothing, why = certify_selection(problem), Termination.INFEASIBLE
        return MoneySelection(
            NOBODY, None, 0.0, NOBODY, None, None, nothing, why, NOBODY, problem.nobody()
        )
    # Shuffled, whoever comes first among equals is drawn fairly.
    order = stream(seed, "ties").permutation(len(problem.gain))
    answers = np.zeros(len(order), dtype=np.int64) if evidence is None else evidence
    order = order[np.argsort(-answers[order], kind="stable")]
    assert problem.costs is not None
    shuffled = SelectionProblem(
        problem.gain[order], problem.budget, problem.costs[order], problem.money
    )
    bounds = size_bounds(shuffled)
    rough = greedy(shuffled, bounds)
    solution = solve_selection(shuffled, start=rough, time_limit=time_limit)
    best, certificate = solution.chosen, solution.certificate
    if best is None:
        best, certificate = rough, certify_selection(shuffled, rough, bounds)
    score = selection_score(shuffled, best)
    notes = [solution.note] if solution.note else []
    if score <= 0:
        notes.append(
            "no affordable worker is shown to be better than guessing: the best score is not above "
            "0, and one worker is named because the rule names at least one"
        )
    chosen, tied = _first_of_equals(shuffled, best, answers[order])
    heuristic, _ = _first_of_equals(shuffled, rough, answers[order])
    chosen, heuristic = (_by_gain(problem, order[hired]) for hired in (chosen, heuristic))
    return MoneySelection(
        chosen,
        score,
        math.fsum(problem.costs[chosen].tolist()),
        heuristic,
        selection_score(shuffled, rough),
        certificate.upper_bound if solution.bound is None else solution.bound,
        certificate,
        solution.termination,
        np.sort(order[tied]),
        "; ".join(notes),
    )


def greedy(problem: SelectionProblem, bounds: SizeBounds) -> IntArray:
    """Choose a good set within the money, fast: fill by several rankings, then swap.

    The rankings are by gain net of prices, G − μc: at μ = 0, and at the μ that bounds the sets of
    each size. Each is walked down, taking whoever is still affordable, and gives its best prefix.
    In the best of these, one worker is swapped for another, the best swap first, until none
    raises the score.

    Parameters
    ----------
    problem
        With at least one worker who can be hired.
    bounds
        What `size_bounds` gives for it: the μ.

    Returns
    -------
    Indices of the set, ascending.
    """
    who = problem.hireable
    gain = problem.gain[who]
    costs = np.zeros(len(who)) if problem.costs is None else problem.costs[who]
    fills = [
        # Of equal worth the higher gain first, of equal gain the cheaper.
        _filled(gain, costs, problem, np.lexsort((costs, -gain, mu * costs - gain)))
        for mu in np.unique([0.0, *bounds.money_price])
    ]
    best = max(fills, key=lambda hired: selection_score(problem, who[hired]))
    return np.sort(who[_swapped(gain, costs, problem.limit, best)])


def _filled(
    gain: FloatArray, costs: FloatArray, problem: SelectionProblem, ranking: IntArray
) -> IntArray:
    """The best prefix of the workers taken when a ranking is walked down within the money."""
    money, workers = problem.limit, []
    for worker, cost in zip(ranking.tolist(), costs[ranking].tolist(), strict=True):
        if cost <= money:
            workers.append(worker)
            money -= cost
            if len(workers) == problem.budget:
                break
    best = int(np.argmax(prefix_scores(gain[workers])))
    return np.array(workers[: best + 1], dtype=np.int64)


def _swapped(gain: FloatArray, costs: FloatArray, limit: float, hired: IntArray) -> IntArray:
    """Swap one worker for another who adds more, as long as the money allows; best swap first."""
    chosen = np.zeros(len(gain), dtype=bool)
    chosen[hired] = True
    while not chosen.all():
        inside, outside = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        more = gain[outside][None, :] - gain[inside][:, None]
        extra = costs[outside][None, :] - costs[inside][:, None]
        more[costs[chosen].sum() + extra > limit] = -np.inf
        leaves, comes = np.unravel_index(np.argmax(more), more.shape)
        if more[leaves, comes] <= 0:
            break
        chosen[[inside[leaves], outside[comes]]] = False, True
    return np.flatnonzero(chosen)


def _first_of_equals(
    problem: SelectionProblem, chosen: IntArray, evidence: IntArray
) -> tuple[IntArray, IntArray]:
    """The same set but for equal workers, who are taken in order; and those drawn among."""
    assert problem.costs is not None
    who = np.flatnonzero(problem.gain > -np.inf)
    pairs = np.column_stack([problem.gain[who], problem.costs[who]]) + 0.0  # −0.0 is 0.0
    _, group = np.unique(pairs, axis=0, return_inverse=True)
    hired = np.isin(who, chosen)
    members_of, tied = [], []
    for each in np.unique(group[hired]):
        members = who[group == each]
        places = int(hired[group == each].sum())
        members_of.append(members[:places])
        answers = evidence[members]
        if places < len(members) and answers[places - 1] == answers[places]:
            tied.append(members[answers == answers[places]])
    return np.concatenate(members_of), np.concatenate([NOBODY, *tied])


def _by_gain(problem: SelectionProblem, chosen: IntArray) -> IntArray:
    """The same workers, highest gain first, and by index among equals."""
    return chosen[np.lexsort((chosen, -problem.gain[chosen]))]
