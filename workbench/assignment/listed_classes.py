"""Small plans of several classes, solved as asked: over all sets of workers that are enough.

More labels never make the likeliest class wrong more often, so the least sets that keep ε say all
of "each", and branches over them prove that no plan is cheaper. Of the worst class there are two
lists: of sets whose vote, as it would be handed over, keeps ε; and of sets of which no prior shows
that no vote does. The first gives the plan, the second bounds its cost. Of the mean all sets are
listed with their errors, and what is known of the cost is HiGHS's word.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from crowd_models.problem import price_step
from workbench.accuracy.class_error import class_error
from workbench.accuracy.likeliest import LISTED, likeliest_error
from workbench.assignment.class_program import ClassProgram
from workbench.assignment.cover_plan import ROUNDING, CoverPlan, PlanPromise
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving import Certificate, Infeasibility, Solution, Termination
from workbench.solving.claims import CostClaim
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear_model import LinearModel
from workbench.solving.patterns.listed_sets import (
    FEW,
    SECONDS,
    LeastSets,
    SetProgram,
    least_sets,
    proof_above,
    proof_of_none,
)
from workbench.solving.patterns.set_choice import choose
from workbench.solving.solution import BranchProof, Check
from workbench.solving.solver import versions

COLUMNS = 20_000
"""Sets of all tasks together up to which a promise in the mean is solved over all of them."""
TIGHTER = 1e-6
"""By how much ε is lowered, relative, where HiGHS's tolerance takes a mean above it."""


class TooMany(Exception):  # noqa: N818 (what it is)
    """A set whose answers are too many to list."""


@dataclass(frozen=True, eq=False)
class _Kind:
    """Sets of workers for a kind of task, by how many of each group of equal workers.

    `fixed` are the matrices of labels on record, `values` those of the groups, (G, K, A); `group`
    is that of each worker, (m,), and `sizes` says how many of each may be asked.
    """

    program: ClassProgram
    epsilon: float
    by_class: bool
    fixed: FloatArray
    values: FloatArray
    group: IntArray
    sizes: list[int]
    known: dict[tuple[int, ...], tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, program: ClassProgram, task: int, epsilon: float, *, by_class: bool) -> _Kind:
        own = program.confusion[program.kinds[task]]
        values, group = np.unique(own, axis=0, return_inverse=True)
        right = np.einsum("gkk,k->g", values[:, :, : values.shape[1]], program.prior)
        able = np.argsort(-right, kind="stable")
        group, values = np.argsort(able)[group.reshape(-1)], values[able]
        sizes = np.bincount(group[program.usable[task]], minlength=len(values)).tolist()
        fixed = own[program.given.recorded[task]]
        return cls(program, epsilon, by_class, fixed, values, group, sizes)

    def errors(self, numbers: tuple[int, ...]) -> tuple[float, float]:
        """Error of the vote of so many of each group, and a bound below that of any vote."""
        if numbers not in self.known:
            voters = np.concatenate([self.fixed, np.repeat(self.values, numbers, axis=0)])
            if len(voters) * math.log(self.values.shape[2]) > math.log(LISTED):
                raise TooMany
            if self.by_class:
                found = class_error(voters)
                self.known[numbers] = found.greatest, found.least
            else:
                error = likeliest_error(voters, self.program.prior).probability
                self.known[numbers] = error, error
        return self.known[numbers]

    def hope(self, numbers: tuple[int, ...]) -> bool:
        """Whether nothing shows that no vote of so many keeps ε."""
        try:
            return self.errors(numbers)[1] <= self.epsilon * (1 + ROUNDING)
        except TooMany:
            return True

    def enough(self, numbers: tuple[int, ...]) -> bool:
        """Whether the vote of so many keeps ε."""
        return self.errors(numbers)[0] <= self.epsilon * (1 + ROUNDING)

    def hoped(self, numbers: tuple[int, ...]) -> bool:
        """The same as `hope`, where all answers can be listed."""
        return self.errors(numbers)[1] <= self.epsilon * (1 + ROUNDING)


@dataclass(frozen=True, eq=False)
class Lists:
    """What is asked, and the lists made of it."""

    program: ClassProgram
    epsilon: float
    promise: PlanPromise
    until: float

    @cached_property
    def alike(self) -> tuple[list[int], IntArray]:
        """The first task of each kind, and the kind of each task."""
        program = self.program
        rows = np.column_stack([program.kinds, program.usable, program.given.recorded])
        _, first, own = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return first.tolist(), own.ravel()

    @cached_property
    def kinds(self) -> list[_Kind]:
        """Sets of workers for each kind of task."""
        return [
            _Kind.of(self.program, task, self.epsilon, by_class=self.promise == "class")
            for task in self.alike[0]
        ]

    @property
    def limits(self) -> tuple[IntArray, IntArray]:
        """Fewest and most further labels by task, shape (n,)."""
        n, m = self.program.usable.shape
        few, many = self.program.given.limits()
        return (
            np.zeros(n, dtype=np.int64) if few is None else few,
            np.full(n, m) if many is None else np.minimum(many, m),
        )

    def sets(self, enough: Callable[[_Kind], Callable[[tuple[int, ...]], bool]]) -> SetProgram:
        """The program over least sets, where they are few enough to list.

        Raises
        ------
        TooMany
            They are not.
        """
        listed = []
        for kind in self.kinds:
            numbers = least_sets(kind.sizes, enough(kind), kind.hope, self.until)
            if numbers is None:
                raise TooMany
            listed.append(LeastSets(kind.group, numbers))
        program, own = self.program, self.alike[1]
        first: dict[tuple[bytes, ...], int] = {}
        workers = [
            first.setdefault(
                (
                    program.confusion[:, j].tobytes(),
                    program.prices[:, j].tobytes(),
                    bytes([min(int(program.capacity[j]), 255)]),
                ),
                j,
            )
            for j in range(len(program.capacity))
        ]
        return SetProgram(
            program.prices,
            program.usable,
            program.capacity,
            [listed[k] for k in own.tolist()],
            *self.limits,
            own,
            np.array(workers),
        )

    @property
    def apart(self) -> float:
        """The least by which costs of two plans differ; 0 where that is not known."""
        program = self.program
        return 1.0 if program.cost is None else price_step(program.prices[program.usable])


def by_lists(
    program: ClassProgram, epsilon: float, promise: PlanPromise, options: RunOptions
) -> CoverPlan | None:
    """The cheapest plan of all sets that keep a promise, or that there is none, and the proof.

    Parameters
    ----------
    program, epsilon, promise, options
        As of `SeveralClasses.keep`.

    Returns
    -------
    CoverPlan or None
        None where the sets are too many to list, or time is out.
    """
    n, m = program.usable.shape
    if n * m > FEW:
        return None
    limit = SECONDS if options.time_limit is None else min(SECONDS, options.time_limit / 4)
    lists = Lists(program, epsilon, promise, time.perf_counter() + limit)
    try:
        return _in_mean(lists, options) if promise == "mean" else _of_each(lists, options)
    except TooMany:
        return None


def _of_each(lists: Lists, options: RunOptions) -> CoverPlan | None:
    left = options.countdown()
    program = lists.sets(lambda kind: kind.enough)
    ran, pairs = choose(program, left())
    if lists.promise == "class":
        wider = lists.sets(lambda kind: kind.hoped)
        below, _ = choose(wider, left())
    else:
        wider, below = program, ran
    if below.termination is Termination.INFEASIBLE:
        proof = proof_of_none(wider, time.perf_counter() + SECONDS)
        return _none(lists, proof)
    if ran.termination is Termination.INFEASIBLE:
        return _none_of_votes(lists)
    if pairs is None:
        return None
    chosen = _without_idle(lists, program, pairs > 0.5)
    cost = float((lists.program.prices * chosen).sum())
    if cost == 0:
        return made_of(lists, chosen, CostClaim(0.0, 0.0), None, Termination.OPTIMAL)
    if below.bound is None:
        return made_of(lists, chosen, CostClaim(cost), None, ran.termination)
    step = lists.apart
    least = step * math.ceil(below.bound / step - 1e-6) if step else below.bound
    least = cost if cost - least <= 1e-6 * cost else max(least, 0.0)
    proof = _proof(lists, wider, least)
    claim = CostClaim(cost, None if proof is None else least, least)
    return made_of(lists, chosen, claim, proof, ran.termination)


def _proof(lists: Lists, program: SetProgram, least: float) -> BranchProof | None:
    """What proves that no plan of a program costs less than `least`; None where nothing does."""
    if least <= 0:
        return None
    apart = lists.apart or 5e-7 * least
    return proof_above(program, least - apart, 1e-4 * apart, time.perf_counter() + SECONDS)


def _without_idle(lists: Lists, program: SetProgram, chosen: BoolArray) -> BoolArray:
    """The same plan without labels that no task needs: free ones, beside a set that is enough."""
    kept: BoolArray = np.zeros_like(chosen)
    fewest = lists.limits[0]
    for i, row in enumerate(chosen):
        own = program.sets[i]
        have = np.bincount(own.group[row], minlength=own.numbers.shape[1])
        inside = own.numbers[(own.numbers <= have).all(axis=1)]
        numbers = inside[inside.sum(axis=1).argmin()]
        order = np.flatnonzero(row)[np.argsort(program.prices[i, row], kind="stable")]
        for g, many in enumerate(numbers.tolist()):
            kept[i, order[own.group[order] == g][:many]] = True
        rest = order[~kept[i, order]]
        kept[i, rest[: max(int(fewest[i]) - int(kept[i].sum()), 0)]] = True
    return kept


def _in_mean(lists: Lists, options: RunOptions) -> CoverPlan | None:
    """Over all sets with their errors: HiGHS's word that no plan is cheaper."""
    columns = _every_set(lists)
    model, task, members, error = _mean_model(lists, columns, 1.0 + ROUNDING)
    left = options.countdown()
    ran = run(model, left())
    if ran.termination is Termination.INFEASIBLE:
        return _none(lists, None)
    if ran.values is None:
        return None
    believed, values, n = ran.bound, ran.values, len(lists.program.kinds)
    if float(error[values > 0.5].sum()) > lists.epsilon * n * (1 + ROUNDING):
        tighter = run(_mean_model(lists, columns, 1.0 - TIGHTER)[0], left())
        if tighter.values is None:
            return None
        values = tighter.values
    chosen: BoolArray = np.zeros_like(lists.program.usable)
    for at in np.flatnonzero(values > 0.5).tolist():
        chosen[task[at], members[at]] = True
    cost = float((lists.program.prices * chosen).sum())
    claim = CostClaim(cost, None, None if believed is None else min(believed, cost))
    return made_of(lists, chosen, claim, None, ran.termination)


def _every_set(lists: Lists) -> list[list[tuple[IntArray, float]]]:
    """All sets of each kind of task with their errors, those above 2ε left out."""
    every = []
    n = len(lists.program.kinds)
    for task, kind in zip(lists.alike[0], lists.kinds, strict=True):
        able = np.flatnonzero(lists.program.usable[task])
        if n * 2 ** len(able) > COLUMNS:
            raise TooMany
        fewest, most = (int(limit[task]) for limit in lists.limits)
        sets = []
        for number in range(2 ** len(able)):
            if time.perf_counter() > lists.until:
                raise TooMany
            who = able[[bool(number >> k & 1) for k in range(len(able))]]
            if not fewest <= len(who) <= most:
                continue
            numbers = np.bincount(kind.group[who], minlength=len(kind.sizes)).tolist()
            error = kind.errors(tuple(numbers))[0]
            if error <= 2 * lists.epsilon * (1 + ROUNDING):
                sets.append((who, error))
        every.append(sets)
    return every


def _mean_model(
    lists: Lists, every: list[list[tuple[IntArray, float]]], share: float
) -> tuple[LinearModel, list[int], list[IntArray], FloatArray]:
    """Choose a set for each task: Σ_S z_iS = 1, Σ e z ≤ share · nε, and capacities.

    Returns the model, and of each column its task, its workers and its error.
    """
    from scipy import sparse

    program = lists.program
    n, m = program.usable.shape
    task, members, error = [], [], []
    for i, kind in enumerate(lists.alike[1].tolist()):
        for who, wrong in every[kind]:
            task.append(i)
            members.append(who)
            error.append(wrong)
    place = np.repeat(np.arange(len(task)), [len(who) for who in members])
    workers = np.concatenate([*members, np.zeros(0)]).astype(np.int64)
    at = np.arange(len(task))
    row = np.concatenate([task, np.full(len(task), n), n + 1 + workers])
    column = np.concatenate([at, at, place])
    value = np.concatenate([np.ones(len(task)), error, np.ones(len(workers))])
    matrix = sparse.csc_matrix((value, (row, column)), shape=(n + 1 + m, len(task)))
    prices = np.array([program.prices[i, who].sum() for i, who in zip(task, members, strict=True)])
    model = LinearModel(
        prices,
        np.zeros(len(task)),
        np.ones(len(task)),
        np.concatenate([np.ones(n), np.full(1 + m, -np.inf)]),
        np.concatenate([np.ones(n), [share * n * lists.epsilon], program.capacity]),
        matrix.indptr,
        matrix.indices.astype(np.int32),
        matrix.data,
        integer=True,
    )
    return model, task, members, np.array(error)


def made_of(
    lists: Lists,
    chosen: BoolArray,
    claim: CostClaim,
    proof: BranchProof | None,
    termination: Termination,
) -> CoverPlan | None:
    """The plan, checked against what was asked; None where a check fails."""
    program = lists.program
    over = float((chosen.sum(axis=0) - program.capacity).max(initial=0.0))
    fewest, most = lists.limits
    counts = chosen.sum(axis=1)
    beyond = float(np.maximum(fewest - counts, counts - most).max(initial=0.0))
    checks = (
        Check("capacity", over <= 0, max(over, 0.0), 0.0),
        Check("only usable pairs", not (chosen & ~program.usable).any(), 0.0, 0.0),
        Check("least and most labels", beyond <= 0, beyond, 0.0),
    )
    bounds = {} if claim.checked is None else {"listed sets": claim.checked}
    status = "proven" if claim.proven else "feasible"
    solution = Solution(
        "ip",
        "arrays",
        termination,
        claim.cost,
        claim.bound,
        chosen.astype(np.float64),
        certificate=Certificate(
            status, checks, claim.checked, None, "listed sets" if bounds else "", bounds
        ),
        versions=versions(),
        method="sets of workers by the error of their vote",
        proofs=() if proof is None else (proof,),
    )
    levels = np.full(int(program.kinds.max()) + 1, lists.epsilon)
    made = program.reported(solution, levels, chosen, lists.promise)
    judged = program.judged(chosen | program.given.recorded, lists.promise)
    if not all(check.passed for check in checks):
        return None
    if not program.keeps(made, judged, lists.epsilon, lists.promise):
        return None
    return replace(made, claim=claim, levels=_levels(lists, made))


def _levels(lists: Lists, made: CoverPlan) -> FloatArray:
    """By task type the error that all its sets promise as covers, shape (T,)."""
    program = lists.program
    assert made.bounds is not None
    scale = len(program.prior) if lists.promise == "class" else 1
    most = np.full(int(program.kinds.max()) + 1, np.nan)
    for t in np.unique(program.kinds).tolist():
        most[t] = made.bounds[program.kinds == t].max() / scale
    levels: FloatArray = np.clip(most, 1e-12, 1.0 - 1e-12)
    return levels


def _none(lists: Lists, proof: BranchProof | None) -> CoverPlan:
    """No plan: proven, or by HiGHS's word."""
    why, note = None, "no plan keeps the promise, by HiGHS's word"
    if proof is not None:
        why, note = Infeasibility((), (), 0.0, 0.0, None, None, proven=True), ""
        fewest, most = lists.limits
        if fewest.any() or (most < lists.program.usable.shape[1]).any():
            hardest = "is the hardest: no plan keeps the promise within the least and most labels"
            everybody = lists.program.usable | lists.program.given.recorded
            worst = int(lists.program.judged(everybody, lists.promise).errors.argmax())
            why = replace(why, limits=hardest, worst=worst)
    solution = Solution(
        "ip",
        "arrays",
        Termination.INFEASIBLE,
        certificate=Certificate("infeasible" if proof is not None else "unproven"),
        infeasibility=why,
        versions=versions(),
        note=note,
        method="sets of workers by the error of their vote",
        proofs=() if proof is None else (proof,),
    )
    return CoverPlan(solution, np.full(int(lists.program.kinds.max()) + 1, lists.epsilon))


def _none_of_votes(lists: Lists) -> CoverPlan:
    """No plan whose vote keeps the promise was found; that there is none is not proven."""
    solution = Solution(
        "ip",
        "arrays",
        Termination.SEARCH_ENDED,
        versions=versions(),
        note="no vote found keeps the error of every class",
    )
    return CoverPlan(solution, np.full(int(lists.program.kinds.max()) + 1, lists.epsilon))
