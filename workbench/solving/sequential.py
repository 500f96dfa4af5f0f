"""The sequential optimum, bounded and reached: policies of a task priced by dynamic programming.

`crowd_models.sequential_policies` has the program. Its dual prices λ of workers' time and μ of
errors charge a single task, whose best rule `posteriors` computes: a column, whose labels and error
are those of *following* it, not those of the grid (ties would make it 9 to 19 % costlier), and a
bound, for any λ, μ ≥ 0:

    OPT ≥ Σ_t n_t V_t(λ, μ) − μ·(errors allowed) − λ·C.

So the bound holds whatever the linear program says, and the cost is what the policies cost.

At first more errors than are allowed, or tasks left open, have a penalty. Where that is paid in the
end, labels cost nothing but λ and the program looks for policies that keep the promise: for the
least error e that every budget of errors can be held to, or, where posteriors are promised, for as
few tasks as possible that stay open. The same duality bounds that from below, so that "there is no
policy" is said only where it is proven (`Shortfall`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

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
from workbench.solving.information import information_limit
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
    telling,
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
SOLVED = 0.01
"""Relative gap beyond which it is not called solved."""
ROUNDING, CLOSE = 1e-11, 1e-6
"""Taken off the bound, sums of floats; a bound above the cost by less is the cost: linear programs
are solved to that."""
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
PENALTY = 16.0
"""The penalty of an error too many, or of an open task, in prices of errors for a start."""
RECENT = 8
"""Rules whose leads are put into the grid."""
LEAST_CHARGE = 1e-5
"""No label is taken to be cheaper than this share of what it is worth where a task is wrong with a
chance of ε: rules that ask for free labels come to an end."""
WITHIN = 1e-9
"""Errors above ε by this share, and this share of the tasks left open, keep the promise."""
LABELS, BEYOND_ALL = 3000, 20
"""A rule asks for no more labels of a task, and so many times all that there are."""
UNFINISHED = 1e-6
"""Chance of an open task with which a rule that promises a posterior is no policy."""


@dataclass(frozen=True, eq=False)
class Column:
    """A policy of a task: what it does in the mean, and the rule to follow."""

    policy: TaskPolicy
    rule: Rules


@dataclass(frozen=True)
class Shortfall:
    """Why no policy keeps the promise.

    Attributes
    ----------
    least
        Proven: with all labels that there are each budget of errors is held to no less than this
        share of wrong tasks; where the posterior is promised, so many tasks or more stay open.
    types
        Task types that fall short together.
    """

    least: float
    types: list[int]


@dataclass(frozen=True, eq=False)
class SequentialOptimum:
    """What a promise costs, label by label.

    Attributes
    ----------
    problem
        What was asked.
    status
        `solved`: policies that cost at most 1 % more than the bound; `feasible`: policies, and a
        lower bound; `none`: no policy keeps the promise, which is proven (`shortfall`); `open`:
        none was found, or, of more than four classes, none is looked for. Then only the bound is
        there.
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
    shortfall
        None unless there is none.
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
    shortfall: Shortfall | None = None

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


class _Prices(NamedTuple):
    """λ, shape (K,), μ by type, shape (T,), and by what the prices of labels count, 1 or 0."""

    worker: FloatArray
    error: FloatArray
    money: float = 1.0

    def towards(self, other: _Prices, share: float) -> _Prices:
        return self._replace(
            worker=(1 - share) * self.worker + share * other.worker,
            error=(1 - share) * self.error + share * other.error,
        )


class _Bounding:
    """What pricing of two classes and of several have in common."""

    problem: SequentialTerms
    types: list[int]
    until: float
    """Processor time at which the search is to end."""
    posterior = False
    """Whether posteriors are promised."""
    relaxed = False
    """Whether columns are of a relaxation, and no policies."""

    def charged(self, task_type: int, prices: _Prices, worth: FloatArray) -> _Charges:
        """What labels are charged, workers who give no information aside (`LEAST_CHARGE`).

        Parameters
        ----------
        worth
            What a label of each class takes off an error of ε, as a share of it, shape (K,).
        """
        asked = prices.money * self.problem.prices[task_type] + prices.worker
        least = LEAST_CHARGE * self.problem.epsilon * float(prices.error[task_type] * worth.max())
        if self.posterior:
            least = LEAST_CHARGE * float(asked.max()) or 1.0
        charge, tells = np.maximum(asked, least), worth > 0
        ratio = asked[tells] / np.maximum(charge[tells], 1e-300)
        return _Charges(charge, float(ratio.min(initial=1.0)))

    def bound(self, prices: _Prices, values: Sequence[float]) -> float:
        """What no policy is below, by V of each type that has tasks: its cost, or what it lacks."""
        problem, many = self.problem, self.problem.tasks[self.types]
        most = np.inf if prices.money or not self.posterior else 1.0
        total = float(many @ np.minimum(values, most)) - float(problem.supply @ prices.worker)
        charged = sum(allowed * float(prices.error[own[0]]) for own, allowed in problem.error_rows)
        if prices.money or self.posterior:
            return total - charged
        return total * problem.epsilon / max(charged, 1e-300)

    def finest(self, best: float, prices: _Prices, other: _Prices) -> tuple[float, _Prices]:  # noqa: ARG002
        """The best bound of two prices, on a finer grid where there is one."""
        return best, prices

    def refine(self, passed: dict[int, list[FloatArray]]) -> None:
        """Make the grid finer, where it can be."""


class _Charges(NamedTuple):
    """What labels are charged in a rule, and a share of V there that is below V as it is asked.

    V is concave in the charges, and not below 0: at charges of a share or more it is that share of
    V or more.
    """

    charge: FloatArray
    share: float


class _ClassPricing(_Bounding):
    """Rules by prices, of K classes, for each task type."""

    def __init__(self, problem: SequentialClassProblem, until: float) -> None:
        self.problem: SequentialClassProblem = problem
        self.until = until
        self.types = np.flatnonzero(problem.tasks > 0).tolist()
        self.relaxed = len(problem.share) > MOST_CLASSES
        self.worth = {t: telling(problem.confusion[t], problem.share) for t in self.types}
        confusion = {t: problem.confusion[t] for t in self.types}
        if self.relaxed:
            self.named = {t: named_grids(each, problem.share) for t, each in confusion.items()}
        else:
            self.grids = {t: SimplexGrid.of(each, problem.share) for t, each in confusion.items()}

    def start(self) -> _Prices:
        """Prices to begin with."""
        return _class_start(self.problem)

    def refine(self, passed: dict[int, list[FloatArray]]) -> None:  # noqa: ARG002
        """Halve the steps of the grids, those of named classes being fine enough."""
        if not self.relaxed:
            self.grids = {t: grid.finer() for t, grid in self.grids.items()}

    def rule(
        self, task_type: int, prices: _Prices, **_: bool
    ) -> tuple[SimplexRule | NamedRule, float]:
        """The best rule of a type, or of each set of named classes; and V, from below."""
        worth = self.worth[task_type]
        charge, share = self.charged(task_type, prices, worth)
        charge = np.where(worth > 0, charge, np.inf)  # who tells nothing is not asked
        mu = float(prices.error[task_type])
        if not self.relaxed:
            rule = simplex_rule(self.grids[task_type], charge, mu, self.until)
            return rule, share * rule.bound
        chance, grids = self.named[task_type]
        named = NamedRule(chance, [simplex_rule(grid, charge, mu, self.until) for grid in grids])
        return named, share * named.bound

    def column(self, task_type: int, rule: Rules) -> tuple[Column | None, Followed]:
        """Follow a rule, or those of all sets."""
        assert isinstance(rule, SimplexRule | NamedRule)
        if isinstance(rule, SimplexRule):
            result = follow_simplex(rule, self.until)
            labels, error = result.labels, result.error
        else:
            ended = [follow_simplex(each, self.until) for each in rule.rules]
            labels = rule.chance @ np.array([each.labels for each in ended])
            error, result = float(rule.chance @ [each.error for each in ended]), ended[0]
        return Column(TaskPolicy.of(self.problem, task_type, labels, error), rule), result


class _Pricing(_Bounding):
    """Rules by prices, for each task type."""

    def __init__(self, problem: SequentialProblem, until: float) -> None:
        self.problem: SequentialProblem = problem
        self.until = until
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

    def start(self) -> _Prices:
        """Prices to begin with."""
        return _start(self.problem)

    def rule(
        self, task_type: int, prices: _Prices, *, quick: bool = False
    ) -> tuple[ErrorRule | PosteriorRule, float]:
        """The best rule of a type, and V, from below; a quick one over workers worth it before."""
        worth = (2.0 * self.problem.skill[task_type] - 1.0) ** 2
        charge, share = self.charged(task_type, prices, worth)
        if not self.posterior:
            error = error_rule(self.grids[task_type], charge, float(prices.error[task_type]))
            return error, share * error.bound
        useful = self.useful[task_type]
        rule = posterior_rule(
            self.weight[task_type],
            charge,
            self.problem.epsilon,
            self.cells,
            useful if quick else None,
            self.until,
        )
        self.useful[task_type] = np.union1d(useful, rule.asked)
        return rule, share * rule.bound

    def column(self, task_type: int, rule: Rules) -> tuple[Column | None, Followed]:
        """Follow a rule; None where tasks are left open that may not be closed."""
        assert isinstance(rule, ErrorRule | PosteriorRule)
        result = follow(rule, self.until, LABELS + BEYOND_ALL * float(self.problem.supply.sum()))
        if self.posterior and result.open > UNFINISHED:
            return None, result
        policy = TaskPolicy.of(self.problem, task_type, result.labels, result.error)
        return Column(policy, rule), result

    def finest(self, best: float, prices: _Prices, other: _Prices) -> tuple[float, _Prices]:
        """The best bound of two prices, on the finest cells where there are cells."""
        tried = [(best, prices)]
        if self.posterior:
            self.cells = FINE
            for point in (prices, other):
                values = [self.rule(t, point)[1] for t in self.types]
                tried.append((self.bound(point, values), point))
        return max(tried, key=lambda entry: entry[0])

    def refine(self, passed: dict[int, list[FloatArray]]) -> None:
        """Put leads that policies come to into the grid."""
        self.cells = min(2 * self.cells, FINE)
        for t in self.grids:
            self.leads[t] = np.unique(np.concatenate([self.leads[t], *passed.get(t, [])]))
            self.grids[t] = Grid.of(self.weight[t], self.leads[t])


def _pricing(
    problem: SequentialProblem | SequentialClassProblem, until: float
) -> _Pricing | _ClassPricing:
    if isinstance(problem, SequentialClassProblem):
        return _ClassPricing(problem, until)
    return _Pricing(problem, until)


class _Stage(NamedTuple):
    """What the master counts.

    Attributes
    ----------
    money
        By what the cost of labels counts, 1 or 0.
    penalty
        Of an error too many in each task, or of each open task by type; None: there are none.
    """

    money: float
    penalty: FloatArray | None


class _Ended(NamedTuple):
    """What pricing came to: how often each column, its value, what is lacking; bound and prices."""

    counts: FloatArray
    value: float
    lacking: FloatArray
    master: _Prices
    bound: float
    prices: _Prices


class _Search:
    """Policies by pricing, with a penalty for what is lacking until nothing is."""

    def __init__(
        self, problem: SequentialProblem | SequentialClassProblem, gap: float, until: float
    ) -> None:
        self.problem, self.gap, self.until = problem, gap, until
        self.pricing = _pricing(problem, until)
        self.columns: list[Column] = []
        self.passed: dict[int, list[FloatArray]] = {}
        self.start = self.pricing.start()
        many = np.array([most / problem.epsilon for _, most in problem.error_rows])
        """Tasks of each budget of errors."""
        charged = np.array([float(self.start.error[own[0]]) for own, _ in problem.error_rows])
        posterior = self.pricing.posterior
        self.penalty = PENALTY * (
            self.start.error if posterior else np.array([float(charged @ many)])
        )
        self.enough = WITHIN * float(problem.tasks.sum()) if posterior else WITHIN * problem.epsilon
        """What may be lacking where the promise is kept."""
        self.most = self.enough if posterior else self.enough + problem.epsilon
        """And the open tasks, or the error, that `kept` may come to then."""

    @property
    def late(self) -> bool:
        """Whether time is over."""
        return time.process_time() > self.until

    def add(self, prices: _Prices, *, quick: bool = False) -> float:
        """Add the best policy of each type, and give the bound."""
        values = []
        for t in self.pricing.types:
            rule, value = self.pricing.rule(t, prices, quick=quick)
            column, result = self.pricing.column(t, rule)
            if column is not None:
                self.columns.append(column)
            self.passed.setdefault(t, []).append(result.leads)
            values.append(value)
        return self.pricing.bound(prices, values)

    def cheapest(self) -> _Ended:
        """The cheapest policies, with a penalty for what is lacking."""
        if not self.pricing.posterior:
            self.add(self.start._replace(error=0 * self.start.error))  # ask nobody
        bound = self.add(self.start)
        first = _Stage(1.0, self.penalty)
        return self.priced(first, max(bound, 0.0), self.start, self.near)

    def kept(self) -> _Ended:
        """Policies that keep the promise, where there are any; or a proof that there are none."""

        def known(value: float, bound: float) -> bool:
            return value <= self.most or bound > self.most

        return self.priced(_Stage(0.0, np.ones(len(self.penalty))), 0.0, None, known)

    def near(self, value: float, bound: float) -> bool:
        """Whether a cost and a bound are as near as is asked for."""
        return value - bound <= self.gap * max(value, 1e-9)

    def master(self, stage: _Stage) -> tuple[FloatArray, float, FloatArray, _Prices]:
        """The best use of the policies so far: counts, value, what is lacking, dual prices."""
        policies = [column.policy for column in self.columns]
        if stage.penalty is None:
            arrays = master_arrays(self.problem, policies)
        else:
            arrays = _elastic_arrays(self.problem, policies, stage.money, stage.penalty)
        values, duals = optimum(arrays)
        types, classes = self.problem.prices.shape
        error = np.zeros(types)
        for r, (members, _) in enumerate(self.problem.error_rows):
            error[members] = max(-float(duals[types + classes + r]), 0.0)
        worker = np.maximum(-duals[types : types + classes], 0.0)
        values = np.maximum(values, 0.0)
        counts, lacking = np.split(values, [len(policies)])
        return counts, float(values @ arrays.cost), lacking, _Prices(worker, error, stage.money)

    def priced(
        self,
        stage: _Stage,
        best: float,
        prices: _Prices | None,
        met: Callable[[float, float], bool],
    ) -> _Ended:
        """Add policies at prices on the way to the master's, until value and bound meet."""
        pricing, exact, refined, values = self.pricing, False, 0, [math.inf]
        while True:
            counts, value, lacking, master = self.master(stage)
            prices = master if prices is None else prices
            ended = _Ended(counts, value, lacking, master, best, prices)
            if met(value, best) or self.late or len(values) > ROUNDS:
                return ended
            still = values[-1] - value <= 1e-9 * abs(value)
            # Where posteriors are promised the best of the grid is not waited for.
            slow = len(values) > TAIL and values[-TAIL] - value <= SLOW * value
            slow &= pricing.posterior and float(lacking.sum()) <= self.enough
            values.append(value)
            if slow or (exact and still):
                # The grid has no more to say: a finer one.
                if refined == FINER:
                    return ended
                refined, values = refined + 1, [math.inf, value]
                pricing.refine({t: leads[-RECENT:] for t, leads in self.passed.items()})
            # Where the way between found nothing new, the prices of the master themselves.
            exact = still
            point = master if exact else prices.towards(master, TOWARDS)
            quick = pricing.posterior and len(values) % SELDOM != 2 and not exact
            bound = self.add(point, quick=quick)
            if bound > best and not quick:
                best, prices = bound, point


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
    search = _Search(problem, gap, math.inf if time_limit is None else started + time_limit)
    found = _searched(search)
    return replace(found, seconds=time.process_time() - started)


def _searched(search: _Search) -> SequentialOptimum:
    """The cheapest policies, or what is known where there are none."""
    ended = search.cheapest()
    if ended.lacking.sum() > search.enough:
        kept, most = search.kept(), search.most
        if kept.bound > most:
            return _without(search, "none", kept, Shortfall(kept.bound, _short(search, kept)))
        if kept.value > most:
            return _without(search, "open", ended)
        ended = search.priced(_Stage(1.0, None), ended.bound, ended.prices, search.near)
    if search.pricing.relaxed:
        return _without(search, "open", ended)
    bound, prices = search.pricing.finest(ended.bound, ended.prices, ended.master)
    problem = search.problem
    used = np.flatnonzero(ended.counts > 1e-9 * max(1.0, float(problem.tasks.sum())))
    cost = float(ended.counts @ [column.policy.cost for column in search.columns])
    bound = max(bound * (1 - ROUNDING), 0.0)
    if cost < bound <= cost * (1 + CLOSE):
        bound = cost
    return SequentialOptimum(
        problem,
        "solved" if cost - bound <= max(search.gap, SOLVED) * cost else "feasible",
        bound,
        cost,
        [search.columns[i] for i in used],
        ended.counts[used],
        prices.worker,
        prices.error,
        0.0,
    )


def _without(
    search: _Search, status: str, ended: _Ended, shortfall: Shortfall | None = None
) -> SequentialOptimum:
    """What is known where there are no policies."""
    return SequentialOptimum(
        search.problem,
        status,
        0.0 if shortfall else max(ended.bound * (1 - ROUNDING), 0.0),
        None,
        [],
        np.zeros(0),
        ended.prices.worker,
        ended.prices.error,
        0.0,
        shortfall,
    )


def _short(search: _Search, ended: _Ended) -> list[int]:
    """Task types that are held to no less: whose errors have a price, or that stay open."""
    problem, types = search.problem, search.pricing.types
    part = ended.lacking if search.pricing.posterior else ended.prices.error * problem.tasks
    return [t for t in types if part[t] > WITHIN * part.sum()]


def _class_start(problem: SequentialClassProblem) -> _Prices:
    """Prices to begin with, by Bhattacharyya's bound of pairs."""
    root = np.sqrt(problem.confusion)
    information = -np.log(np.maximum(np.einsum("twka,twla->twkl", root, root), 1e-300))
    rate = information / np.maximum(problem.prices, 1e-9)[:, :, None, None]
    classes = len(problem.share)
    first, second = np.triu_indices(classes, 1)
    least = rate.max(axis=1)[:, first, second].min(axis=1)
    need = math.log(max((classes - 1) / (2.0 * problem.epsilon), math.e))
    usual = np.maximum(need / np.maximum(least, 1e-9), problem.prices.max(axis=1))
    # Where all labels are free any price of errors will do.
    unit = float(problem.prices.max()) or 1.0
    error = usual.clip(unit, 1e4 * unit) / problem.epsilon
    error = np.where(problem.tasks > 0, error, 0.0)
    if problem.promise == "mean":
        error = np.full(len(error), float(error.max()))
    return _Prices(np.zeros(len(problem.supply)), error)


def _start(problem: SequentialProblem) -> _Prices:
    """Prices to begin with, by the information limit."""
    kinds = np.flatnonzero(problem.tasks > 0)
    nobody = np.zeros(len(problem.supply))
    skill, prices = problem.skill[kinds], problem.prices[kinds]
    labels = needed_information(problem.epsilon) / np.maximum((2 * skill - 1) ** 2, 1e-9)
    # Where all labels are free any price of errors will do.
    unit = float(prices.max(initial=0.0)) or 1.0
    high = np.zeros(len(problem.tasks))
    high[kinds] = 2 * (prices * labels).max(axis=1).clip(unit, 1e4 * unit) / problem.epsilon
    if problem.promise == "mean":
        high = np.full(len(high), float(high[kinds].mean()))
    limit = information_limit(
        problem.skill,
        capacity=np.ceil(problem.supply / MANY),
        tasks=np.ceil(problem.tasks),
        epsilon=problem.epsilon,
        cost=problem.prices,
        workers=MANY,
    )
    if limit.labels is None:
        return _Prices(nobody, high)
    assert limit.problem.task_class is not None
    assert limit.problem.worker_class is not None
    weights = limit.task_weights[limit.problem.task_class]
    slope, _ = tangents(problem.epsilon)
    worker = limit.worker_prices[limit.problem.worker_class]
    error = -float(slope) * weights
    if problem.promise == "mean":
        error = np.full(len(error), float(error[kinds].mean()))
    return _Prices(worker, np.where(error > 0, error, high))


def master_arrays(problem: SequentialTerms, policies: Sequence[TaskPolicy]) -> LinearModel:
    """`policy_master` as arrays: columns x; rows tasks, capacity, errors."""
    cost = np.array([policy.cost for policy in policies])
    return _linear(
        problem, cost, _rows(problem, policies), [most for _, most in problem.error_rows]
    )


def _elastic_arrays(
    problem: SequentialTerms, policies: Sequence[TaskPolicy], money: float, penalty: FloatArray
) -> LinearModel:
    """The same with what is lacking: errors too many in each task, or open tasks by type.

    Without money labels are free, and no errors are allowed but those.
    """
    rows, (types, classes) = _rows(problem, policies), problem.prices.shape
    budgets = np.array([most for _, most in problem.error_rows])
    more = np.zeros((len(rows), len(penalty)))
    if len(budgets):
        more[types + classes :, 0] = -budgets / problem.epsilon
    else:
        more[:types] = np.eye(types)
    cost = np.array([money * policy.cost for policy in policies])
    return _linear(
        problem, np.append(cost, penalty), np.hstack([rows, more]), (money * budgets).tolist()
    )


def _rows(problem: SequentialTerms, policies: Sequence[TaskPolicy]) -> FloatArray:
    """Coefficients of policies: tasks, labels, errors."""
    types, classes = problem.prices.shape
    matrix = np.zeros((types + classes + len(problem.error_rows), len(policies)))
    if policies:
        kinds = np.array([policy.task_type for policy in policies])
        matrix[kinds, np.arange(len(policies))] = 1.0
        matrix[types : types + classes] = np.array([policy.labels for policy in policies]).T
        wrong = np.array([policy.error for policy in policies])
        for r, (members, _) in enumerate(problem.error_rows):
            matrix[types + classes + r] = np.where(np.isin(kinds, members), wrong, 0.0)
    return matrix


def _linear(
    problem: SequentialTerms, cost: FloatArray, matrix: FloatArray, allowed: Sequence[float]
) -> LinearModel:
    filled = matrix != 0
    starts = np.append(0, np.cumsum(filled.sum(axis=0)))
    limits = len(problem.supply) + len(allowed)
    return LinearModel(
        cost=cost,
        lower=np.zeros(len(cost)),
        upper=np.full(len(cost), np.inf),
        row_lower=np.concatenate([problem.tasks, np.full(limits, -np.inf)]),
        row_upper=np.concatenate([problem.tasks, problem.supply, allowed]),
        start=starts,
        index=np.nonzero(filled.T)[1].astype(np.int32),
        value=matrix.T[filled.T],
    )
