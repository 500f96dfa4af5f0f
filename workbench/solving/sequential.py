"""The sequential optimum, bounded and reached: policies of a task priced by dynamic programming.

`crowd_models.sequential_policies` has the program. Its dual prices λ of workers' time and μ of
errors charge a single task, whose best rule `posteriors` computes: a column, whose labels and error
are those of *following* it, not those of the grid (ties would make it 9 to 19 % dearer), and a
bound, for any λ, μ ≥ 0:

    OPT ≥ Σ_t n_t V_t(λ, μ) − μ·(errors allowed) − λ·C.

So the bound holds whatever the linear program says, and the cost is what the policies cost.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from crowd_models.information import needed_information, tangents
from crowd_models.sequential_policies import (
    SequentialClassProblem,
    SequentialProblem,
    SequentialTerms,
    TaskPolicy,
)
from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.highs import optimum
from workbench.solving.information_limit import information_limit
from workbench.solving.linear_model import LinearModel
from workbench.solving.posteriors import (
    BEYOND,
    ErrorRule,
    Followed,
    Grid,
    PosteriorRule,
    error_rule,
    follow,
    log_odds,
    posterior_rule,
)
from workbench.solving.simplex import (
    MOST_CLASSES,
    NamedRule,
    SimplexGrid,
    SimplexRule,
    follow_simplex,
    named_grids,
    simplex_rule,
)

Rules: TypeAlias = ErrorRule | PosteriorRule | SimplexRule | NamedRule
WIDTH = 0.02
"""Log-odds between points of the grid."""
CELLS, FINE = 1500, 12_000
"""Cells of leads where columns are looked for, and where the bound is computed in the end."""
ROUNDS = 400
"""Of pricing at most."""
GAP = 2e-4
"""Relative gap at which pricing ends."""
ROUNDING = 1e-11
"""Taken off the bound: sums of floats."""
SELDOM = 8
"""Every so many rounds all workers are looked at, where posteriors are promised."""
TAIL, SLOW = 10, 1e-4
"""Rounds that gain no more than this share end the search where posteriors are promised."""
FINER = 3
"""How often leads that the policies come to are put into the grid."""
TOWARDS = 0.5
"""Share of the way from the best prices so far to those of the master that is gone."""
MANY = 100
"""Workers of a class, for a start: nobody limits how often a class is asked about a task."""
DEAR = 30.0
"""What a task bought elsewhere costs, in costs of the information limit: for a start."""
DEARER = 3
"""How often that is multiplied where no policies within the capacities come up."""


@dataclass(frozen=True, eq=False)
class Column:
    """A policy of a task: what it does in the mean, and the rule to follow."""

    policy: TaskPolicy
    rule: Rules


@dataclass(frozen=True, eq=False)
class SequentialOptimum:
    """What a promise costs, label by label.

    Attributes
    ----------
    problem
        What was asked.
    status
        `solved`; `open`: no policies within the capacities came up, or, of more than four classes,
        none are looked for; then only the bound is there.
    lower_bound
        No policy costs less; at most the optimum.
    cost
        Of the policies, capacities held in the mean; None where there are none.
    columns, counts
        The policies, and how many tasks follow each.
    worker_prices, error_prices
        λ, shape (K,), and μ, shape (T,), of the bound.
    seconds
        Processor time.
    """

    problem: SequentialTerms
    status: str
    lower_bound: float
    cost: float | None
    columns: list[Column]
    counts: FloatArray
    worker_prices: FloatArray
    error_prices: FloatArray
    seconds: float

    @property
    def labels(self) -> FloatArray:
        """Expected labels by task type and worker class, shape (T, K)."""
        total = np.zeros(self.problem.prices.shape)
        for column, count in zip(self.columns, self.counts.tolist(), strict=True):
            total[column.policy.task_type] += count * column.policy.labels
        return total

    @property
    def errors(self) -> FloatArray:
        """Expected share of wrong tasks by type, shape (T,)."""
        wrong = np.zeros(len(self.problem.tasks))
        for column, count in zip(self.columns, self.counts.tolist(), strict=True):
            wrong[column.policy.task_type] += count * column.policy.error
        share: FloatArray = wrong / np.maximum(self.problem.tasks, 1e-300)
        return share


@dataclass(frozen=True, eq=False)
class _Prices:
    """λ, shape (K,), μ by type, shape (T,)."""

    worker: FloatArray
    error: FloatArray

    def towards(self, other: _Prices, share: float) -> _Prices:
        return _Prices(
            (1 - share) * self.worker + share * other.worker,
            (1 - share) * self.error + share * other.error,
        )


class _Bounding:
    """What pricing of two classes and of several have in common."""

    problem: SequentialTerms
    types: list[int]
    posterior = False
    """Whether posteriors are promised."""
    relaxed = False
    """Whether columns are of a relaxation, and no policies."""

    def bound(self, prices: _Prices, values: Sequence[float]) -> float:
        """Σ n V − μ·(errors allowed) − λ·C, for V of each type that has tasks."""
        problem = self.problem
        total = sum(float(problem.tasks[t]) * v for t, v in zip(self.types, values, strict=True))
        for types, allowed in problem.error_rows:
            total -= allowed * float(prices.error[types[0]])
        return total - float(problem.supply @ prices.worker)

    def finest(self, best: float, prices: _Prices, other: _Prices) -> tuple[float, _Prices]:  # noqa: ARG002
        """The best bound of two prices, on a finer grid where there is one."""
        return best, prices

    def refine(self, passed: dict[int, list[FloatArray]]) -> None:
        """Make the grid finer, where it can be."""


class _ClassPricing(_Bounding):
    """Rules by prices, of K classes, for each task type."""

    def __init__(self, problem: SequentialClassProblem) -> None:
        self.problem: SequentialClassProblem = problem
        self.types = np.flatnonzero(problem.tasks > 0).tolist()
        self.relaxed = len(problem.share) > MOST_CLASSES
        confusion = {t: problem.confusion[t] for t in self.types}
        if self.relaxed:
            self.named = {t: named_grids(each, problem.share) for t, each in confusion.items()}
        else:
            self.grids = {t: SimplexGrid.of(each, problem.share) for t, each in confusion.items()}

    def start(self) -> tuple[_Prices, FloatArray]:
        """Prices to begin with, and what a task may cost at most."""
        return _class_start(self.problem)

    def refine(self, passed: dict[int, list[FloatArray]]) -> None:  # noqa: ARG002
        """Halve the steps of the grids, those of named classes being fine enough."""
        if not self.relaxed:
            self.grids = {t: grid.finer() for t, grid in self.grids.items()}

    def rule(self, task_type: int, prices: _Prices, **_: bool) -> SimplexRule | NamedRule:
        """The best rule of a type, or of each set of classes that may be named."""
        charge = self.problem.prices[task_type] + prices.worker
        per_error = float(prices.error[task_type])
        if not self.relaxed:
            return simplex_rule(self.grids[task_type], charge, per_error)
        chance, grids = self.named[task_type]
        return NamedRule(chance, [simplex_rule(grid, charge, per_error) for grid in grids])

    def column(self, task_type: int, rule: Rules) -> tuple[Column, Followed]:
        """Follow a rule, or those of all sets."""
        assert isinstance(rule, SimplexRule | NamedRule)
        if isinstance(rule, SimplexRule):
            result = follow_simplex(rule)
            labels, error = result.labels, result.error
        else:
            ended = [follow_simplex(each) for each in rule.rules]
            labels = rule.chance @ np.array([each.labels for each in ended])
            error, result = float(rule.chance @ [each.error for each in ended]), ended[0]
        return Column(TaskPolicy.of(self.problem, task_type, labels, error), rule), result


class _Pricing(_Bounding):
    """Rules by prices, for each task type."""

    def __init__(self, problem: SequentialProblem) -> None:
        self.problem: SequentialProblem = problem
        self.weight = log_odds(problem.skill)
        self.types = np.flatnonzero(problem.tasks > 0).tolist()
        self.posterior = problem.promise == "posterior"
        self.cells = CELLS
        last = math.log1p(-problem.epsilon) - math.log(problem.epsilon) + BEYOND
        leads = np.arange(0.0, last, WIDTH)
        self.leads = dict.fromkeys(self.types, leads)
        self.useful: dict[int, IntArray] = {t: np.zeros(0, dtype=np.int64) for t in self.types}
        self.grids: dict[int, Grid] = {}
        if not self.posterior:
            self.grids = {t: Grid.of(self.weight[t], leads) for t in self.types}

    def start(self) -> tuple[_Prices, FloatArray]:
        """Prices to begin with, and what a task may cost at most."""
        return _start(self.problem)

    def rule(
        self, task_type: int, prices: _Prices, *, quick: bool = False
    ) -> ErrorRule | PosteriorRule:
        """The best rule of a type; a quick one over workers who were worth it before."""
        charge = self.problem.prices[task_type] + prices.worker
        if not self.posterior:
            return error_rule(self.grids[task_type], charge, float(prices.error[task_type]))
        useful = self.useful[task_type]
        rule = posterior_rule(
            self.weight[task_type],
            charge,
            self.problem.epsilon,
            self.cells,
            useful if quick else None,
        )
        self.useful[task_type] = np.union1d(useful, rule.asked)
        return rule

    def column(self, task_type: int, rule: Rules) -> tuple[Column, Followed]:
        """Follow a rule."""
        assert isinstance(rule, ErrorRule | PosteriorRule)
        result = follow(rule)
        policy = TaskPolicy.of(self.problem, task_type, result.labels, result.error)
        return Column(policy, rule), result

    def finest(self, best: float, prices: _Prices, other: _Prices) -> tuple[float, _Prices]:
        """The best bound of two prices, on the finest cells where there are cells."""
        tried = [(best, prices)]
        if self.posterior:
            self.cells = FINE
            for point in (prices, other):
                values = [self.rule(t, point).bound for t in self.types]
                tried.append((self.bound(point, values), point))
        return max(tried, key=lambda entry: entry[0])

    def refine(self, passed: dict[int, list[FloatArray]]) -> None:
        """Put leads that policies come to into the grid."""
        self.cells *= 2
        for t in self.grids:
            self.leads[t] = np.unique(np.concatenate([self.leads[t], *passed.get(t, [])]))
            self.grids[t] = Grid.of(self.weight[t], self.leads[t])


def _pricing(
    problem: SequentialProblem | SequentialClassProblem,
) -> _Pricing | _ClassPricing:
    if isinstance(problem, SequentialClassProblem):
        return _ClassPricing(problem)
    return _Pricing(problem)


def sequential_optimum(
    problem: SequentialProblem | SequentialClassProblem,
    *,
    gap: float = GAP,
    time_limit: float | None = None,
) -> SequentialOptimum:
    """Bound what any policy pays for a promise, and find policies that pay hardly more.

    Parameters
    ----------
    gap
        Relative gap at which the search may end.
    time_limit
        Seconds of processor time; None for as many as it takes.

    Returns
    -------
    SequentialOptimum

    Examples
    --------
    Lead by two labels with chance .797, else by three:

    >>> from crowd_models.sequential_policies import SequentialProblem
    >>> from workbench.solving.sequential import sequential_optimum
    >>> result = sequential_optimum(SequentialProblem([[0.8]], [1000], [10000], 0.05))
    >>> round(result.lower_bound, 3), round(result.cost, 3)
    (3328.125, 3328.125)
    """
    started = time.process_time()
    until = math.inf if time_limit is None else started + time_limit
    pricing = _pricing(problem)
    centre, elsewhere = pricing.start()
    best, best_prices = -math.inf, centre
    columns: list[Column | None] = [None] * len(pricing.types)
    policies = [
        TaskPolicy(t, np.zeros(len(problem.supply)), 0.0, elsewhere[t]) for t in pricing.types
    ]
    passed: dict[int, list[FloatArray]] = {}
    counts, cost, refined, dearer = np.zeros(0), math.inf, 0, 0
    costs: list[float] = []
    point, master, exact = centre, centre, False
    for turn in range(ROUNDS):
        quick = pricing.posterior and turn % SELDOM > 0 and not exact
        rules = [pricing.rule(t, point, quick=quick) for t in pricing.types]
        bound = pricing.bound(point, [rule.bound for rule in rules])
        if bound > best and not quick:
            best, best_prices = bound, point
        for t, rule in zip(pricing.types, rules, strict=True):
            column, result = pricing.column(t, rule)
            columns.append(column)
            policies.append(column.policy)
            passed.setdefault(t, []).append(result.leads)
        previous = cost
        counts, master = _master(problem, policies)
        cost = float(counts @ [policy.cost for policy in policies])
        costs.append(cost)
        if time.process_time() > until:
            break
        bought = bool(counts[: len(pricing.types)].sum() > 1e-9 * problem.tasks.sum())
        if cost - best <= gap * max(abs(cost), 1e-9):
            if not bought or dearer == DEARER:
                break
            # Policies may do it all the same, at higher prices.
            dearer += 1
            policies[: len(pricing.types)] = [
                replace(policy, cost=DEAR * policy.cost)
                for policy in policies[: len(pricing.types)]
            ]
        # Where posteriors are promised the best of the grid is not waited for.
        late = (
            pricing.posterior
            and not bought
            and len(costs) > TAIL
            and costs[-TAIL] - cost <= SLOW * cost
        )
        if late or (exact and previous - cost <= 1e-9 * abs(cost)):
            # The grid has no more to say: a finer one.
            if refined == FINER:
                break
            refined += 1
            costs.clear()
            pricing.refine({t: _recent(leads) for t, leads in passed.items()})
        # Where the way between found nothing new, the prices of the master themselves.
        exact = previous - cost <= 1e-9 * abs(cost)
        point = master if exact else best_prices.towards(master, TOWARDS)
    best, best_prices = pricing.finest(best, best_prices, master)
    used = np.flatnonzero(counts > 1e-9 * max(1.0, float(problem.tasks.sum())))
    chosen = [(columns[i], float(counts[i])) for i in used]
    if pricing.relaxed:
        chosen = [(None, 0.0)]
    solved = all(column is not None for column, _ in chosen)
    return SequentialOptimum(
        problem,
        "solved" if solved else "open",
        max(best * (1 - ROUNDING), 0.0),
        cost if solved else None,
        [column for column, _ in chosen if column is not None],
        np.array([count for column, count in chosen if column is not None]),
        best_prices.worker,
        best_prices.error,
        time.process_time() - started,
    )


def _recent(leads: list[FloatArray]) -> list[FloatArray]:
    return leads[-8:]


def _class_start(problem: SequentialClassProblem) -> tuple[_Prices, FloatArray]:
    """Prices to begin with, and what a task may cost at most, by Bhattacharyya's bound of pairs."""
    root = np.sqrt(problem.confusion)
    told = -np.log(np.maximum(np.einsum("twka,twla->twkl", root, root), 1e-300))
    rate = told / np.maximum(problem.prices, 1e-9)[:, :, None, None]
    classes = len(problem.share)
    first, second = np.triu_indices(classes, 1)
    least = rate.max(axis=1)[:, first, second].min(axis=1)
    need = math.log(max((classes - 1) / (2.0 * problem.epsilon), math.e))
    usual = np.maximum(need / np.maximum(least, 1e-9), problem.prices.max(axis=1))
    dear = DEAR * usual.clip(max=1e4 * float(problem.prices.max()))
    error = np.where(problem.tasks > 0, usual / problem.epsilon, 0.0).clip(max=1e4)
    if problem.promise == "mean":
        error = np.full(len(error), float(error.max()))
    return _Prices(np.zeros(len(problem.supply)), error), dear


def _start(problem: SequentialProblem) -> tuple[_Prices, FloatArray]:
    """Prices to begin with, by the information limit, and what a task may cost at most."""
    kinds = np.flatnonzero(problem.tasks > 0)
    limit = information_limit(
        problem.skill,
        capacity=np.ceil(problem.supply / MANY),
        tasks=np.ceil(problem.tasks),
        epsilon=problem.epsilon,
        cost=problem.prices,
        workers=MANY,
    )
    skill, prices = problem.skill[kinds], problem.prices[kinds]
    labels = needed_information(problem.epsilon) / np.maximum((2 * skill - 1) ** 2, 1e-9)
    dear = np.zeros(len(problem.tasks))
    dear[kinds] = DEAR * (prices * labels).max(axis=1).clip(max=1e4 * prices.max())
    nothing = _Prices(np.zeros(len(problem.supply)), dear)
    if limit.labels is None:
        return nothing, dear
    assert limit.problem.task_class is not None
    assert limit.problem.worker_class is not None
    weights = limit.task_weights[limit.problem.task_class]
    slope, _ = tangents(problem.epsilon)
    worker = limit.worker_prices[limit.problem.worker_class]
    error = -float(slope) * weights
    if problem.promise == "mean":
        error = np.full(len(error), float(error[kinds].mean()))
    return _Prices(worker, error), dear


def master_arrays(problem: SequentialTerms, policies: Sequence[TaskPolicy]) -> LinearModel:
    """`policy_master` as arrays: columns x; rows tasks, capacity, errors."""
    types, classes = problem.prices.shape
    rows = problem.error_rows
    matrix = np.zeros((types + classes + len(rows), len(policies)))
    kinds = np.array([policy.task_type for policy in policies])
    matrix[kinds, np.arange(len(policies))] = 1.0
    matrix[types : types + classes] = np.array([policy.labels for policy in policies]).T
    wrong = np.array([policy.error for policy in policies])
    for r, (members, _) in enumerate(rows):
        matrix[types + classes + r] = np.where(np.isin(kinds, members), wrong, 0.0)
    filled = matrix != 0
    starts = np.append(0, np.cumsum(filled.sum(axis=0)))
    return LinearModel(
        cost=np.array([policy.cost for policy in policies]),
        lower=np.zeros(len(policies)),
        upper=np.full(len(policies), np.inf),
        row_lower=np.concatenate([problem.tasks, np.full(classes + len(rows), -np.inf)]),
        row_upper=np.concatenate([problem.tasks, problem.supply, [most for _, most in rows]]),
        start=starts,
        index=np.nonzero(filled.T)[1].astype(np.int32),
        value=matrix.T[filled.T],
    )


def _master(problem: SequentialTerms, policies: Sequence[TaskPolicy]) -> tuple[FloatArray, _Prices]:
    """Counts, and dual prices."""
    values, duals = optimum(master_arrays(problem, policies))
    types, classes = problem.prices.shape
    error = np.zeros(types)
    for r, (members, _) in enumerate(problem.error_rows):
        error[members] = max(-float(duals[types + classes + r]), 0.0)
    worker = np.maximum(-duals[types : types + classes], 0.0)
    return np.maximum(values, 0.0), _Prices(worker, error)
