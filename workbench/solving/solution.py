"""What a solve gives back: why it stopped, apart from what is proven."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray


class Termination(StrEnum):
    """Why the solve stopped."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    """Of a model of the user's: its objective has no best value."""
    TIME_LIMIT = "time_limit"
    SEARCH_ENDED = "search_ended"
    """Nothing more was tried and the gap is open: more time is of no use."""
    INTERRUPTED = "interrupted"
    NUMERICS = "numerics"
    """The answer failed its certificate, contradicted itself or was none; or the solver died."""


@dataclass(frozen=True)
class Incumbent:
    """What was known at a time: the best cost so far, and the best bound; None for none yet.

    Seconds count from the start of the solve.
    """

    seconds: float
    objective: float | None
    bound: float | None

    def described(self) -> str:
        """Cost, bound and gap in a few words."""
        cost, bound = (
            "none" if value is None else f"{value:.10g}" for value in (self.objective, self.bound)
        )
        bounded = self.objective and self.bound is not None
        gap = f", gap {100 * self.open_share:.3g} %" if bounded else ""
        return f"cost {cost}, bound {bound}{gap}"

    @property
    def open_share(self) -> float:
        """Share of the cost that is open, from 0 to 1."""
        if self.objective is None or self.bound is None:
            return 1.0
        slack = max(0.0, self.objective - self.bound)
        return min(1.0, slack / self.objective) if self.objective > 0 else 0.0

    def in_prices(self, unit: float) -> Incumbent:
        """The same in prices, where it counts in a unit of them."""
        cost, bound = (None if v is None else v * unit for v in (self.objective, self.bound))
        return Incumbent(self.seconds, cost, bound)


@dataclass(frozen=True, eq=False)
class PatternProof:
    """What proves a bound over patterns: see `workbench.solving.patterns.bound`.

    Attributes
    ----------
    worker_prices
        u by worker class, shape (K,).
    """

    worker_prices: FloatArray


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a split, or another row: sign × (labels of some pairs) ≤ `limit`.

    Attributes
    ----------
    pairs
        Which task classes and worker classes are meant, shape (T, K); of another row what a label
        of each counts, in whole numbers.
    sign
        1 or −1.
    limit
        Whole, like the number of labels.
    """

    pairs: BoolArray | IntArray
    sign: int
    limit: int

    @property
    def counts_labels(self) -> bool:
        """Whether it is of a split, where every label counts one."""
        return self.pairs.dtype == np.bool_

    @property
    def most(self) -> int:
        """What a label counts at most, of either sign."""
        return int(np.abs(self.pairs.astype(np.int64)).max(initial=0))

    def unserved(self, task_class: int) -> int:
        """What a task counts that is left open: as a label where there are to be more."""
        own = self.pairs[task_class]
        if self.counts_labels:
            return min(0, self.sign) * int(own.any())
        return int(np.minimum(self.sign * own, 0).sum())


def two_sides(pairs: BoolArray | IntArray, most: int) -> tuple[Side, Side]:
    """Some pairs have so many labels at most, or more."""
    return Side(pairs, 1, most), Side(pairs, -1, -(most + 1))


@dataclass(frozen=True, eq=False)
class Leaf:
    """Prices that prove a bound where label counts are on some sides.

    Attributes
    ----------
    worker_prices
        u by worker class, shape (K,).
    side_prices
        μ of each side on the way to the leaf, from the root, shape (D,).
    """

    worker_prices: FloatArray
    side_prices: FloatArray


@dataclass(frozen=True, eq=False)
class Split:
    """Some pairs, shape (T, K), have `most` labels or fewer, or more: the proof of either side."""

    pairs: BoolArray
    most: int
    below: Split | Leaf
    above: Split | Leaf

    @property
    def sides(self) -> tuple[tuple[Side, Split | Leaf], tuple[Side, Split | Leaf]]:
        """Both, each with its proof."""
        below, above = two_sides(self.pairs, self.most)
        return (below, self.below), (above, self.above)


@dataclass(frozen=True, eq=False)
class BranchProof:
    """What proves a bound over patterns, split by label counts.

    See `workbench.solving.patterns.bound.branch_bound`.

    Attributes
    ----------
    root
        Its pairs and prices are by class of tasks and workers.
    alone
        They are by task and worker instead: each is a class by itself.
    """

    root: Split | Leaf
    alone: bool = False

    def nodes(self) -> Iterator[tuple[int, Split | Leaf]]:
        """Every node, and how many splits are above it."""
        waiting: list[tuple[int, Split | Leaf]] = [(0, self.root)]
        while waiting:
            depth, node = waiting.pop()
            yield depth, node
            if isinstance(node, Split):
                waiting += [(depth + 1, node.below), (depth + 1, node.above)]


@dataclass(frozen=True, eq=False)
class CountProof:
    """What proves a bound from least numbers of labels: see `workbench.solving.search.count_bound`.

    Attributes
    ----------
    task_weights, label_weights
        v and w, shape (n,).
    worker_prices
        u, shape (m,).
    """

    task_weights: FloatArray
    label_weights: FloatArray
    worker_prices: FloatArray


@dataclass(frozen=True, eq=False)
class RelaxationProof:
    """What proves a bound by the relaxation in which no label adds more than its task asks for.

    Attributes
    ----------
    task_weights, worker_prices
        v, shape (n,), and u, shape (m,).
    """

    task_weights: FloatArray
    worker_prices: FloatArray


Proof = PatternProof | BranchProof | CountProof | RelaxationProof


@dataclass(frozen=True)
class Check:
    """One checked property: the largest violation found, and how much is rounding."""

    name: str
    passed: bool
    violation: float
    tolerance: float


@dataclass(frozen=True)
class Certificate:
    """What was checked against the problem's data, without trusting the solver.

    Attributes
    ----------
    status
        `proven`: the solution is feasible and a checked bound meets its objective.
        `feasible`: the solution is feasible; what lies between it and `lower_bound` rests on
        the solver's branch and bound, or is open.
        `bound`: no solution to check, but `lower_bound` holds.
        `infeasible`: a checked Farkas combination shows that no solution exists.
        `unproven`: nothing could be checked. `failed`: a check failed.
    lower_bound
        The highest bound recomputed from the data; rounded up where all prices have a common step.
    exact_bound
        The same before rounding up, in exact rational arithmetic, when asked for.
    bound_from
        `relaxation`: the Lagrangian; `tightened relaxation`, `patterns`, `branches over patterns`,
        `label counts`: bounds that hold for whole assignments only; empty without a bound.
    bounds
        Every bound recomputed, by these names.
    """

    status: str
    checks: tuple[Check, ...] = ()
    lower_bound: float | None = None
    exact_bound: Fraction | None = None
    bound_from: str = ""
    bounds: dict[str, float] = field(default_factory=dict)

    @property
    def failed(self) -> str:
        """Names of the checks that failed."""
        return ", ".join(check.name for check in self.checks if not check.passed)

    def as_dict(self) -> dict[str, Any]:
        """Plain types, for JSON."""
        return {
            "status": self.status,
            "lower_bound": self.lower_bound,
            "bound_from": self.bound_from or None,
            "bounds": self.bounds,
            "exact_bound": None if self.exact_bound is None else str(self.exact_bound),
            "checks": [
                vars(check)
                | {"violation": check.violation if math.isfinite(check.violation) else None}
                for check in self.checks
            ],
        }


@dataclass(frozen=True)
class Infeasibility:
    """Why a problem has no solution, and what would mend it (Section 5.1, note on feasibility).

    Attributes
    ----------
    alone
        Tasks that all available workers together cannot cover, whatever the capacities.
    drop
        Tasks to discard so that the relaxation of the rest is feasible, the fewest where
        `drop_fewest`; of equal tasks, the last.
        For a problem stated by class, the classes that have such tasks.
    scale_limit
        No requirement above this share of the asked one can be met for all tasks (weak duality).
    scale_enough
        At this share of the requirements a whole assignment was found (for a problem stated by
        class, a fractional one), so it can be met.
    epsilon_limit, epsilon_enough
        The same two as errors: no ε below the first will do, the second does. None when the
        tasks differ in ε.
    proven
        Whether a checked Farkas combination shows that the relaxation is infeasible, or the
        program over patterns (`pattern_prices`).
    drop_least
        No fewer tasks can be dropped, proven in rational arithmetic (`solving.dropping`).
    drop_fewest
        Whether `drop` has the fewest tasks, by that proof or by the solver's branch and bound.
    limits
        Where it is for the least or most labels of a task: why, of the task `worst`.
    limits_mend
        What to do about that.
    pattern_prices
        u by worker class, which `certify.pattern_farkas` recomputes; None where the relaxation
        has no solution either, or nothing is proven.
    """

    alone: tuple[int, ...]
    drop: tuple[int, ...]
    scale_limit: float
    scale_enough: float
    epsilon_limit: float | None
    epsilon_enough: float | None
    proven: bool
    drop_least: int = 0
    drop_fewest: bool = True
    limits: str = ""
    worst: int = -1
    limits_mend: str = ""

    def of(self, tasks: Sequence[int]) -> Infeasibility:
        """The same, where task k of the problem is `tasks[k]` of another."""
        return replace(
            self,
            alone=tuple(sorted(tasks[i] for i in self.alone)),
            drop=tuple(sorted(tasks[i] for i in self.drop)),
            worst=tasks[self.worst] if self.worst >= 0 else -1,
        )

    pattern_prices: tuple[float, ...] | None = None

    def sentence(self, names: Sequence[object] | None = None) -> str:
        """One line: what cannot be covered, and what to do; tasks by name where names are given."""
        return f"{self.why(names)}. Next: {self.mend()}."

    def why(self, names: Sequence[object] | None = None) -> str:
        """Say that there is no plan, how that is known, and what cannot be covered."""
        if self.limits:
            who = f"{_listed((self.worst,), names)} {self.limits}"
        elif self.alone:
            who = f"all workers together cannot cover {_listed(self.alone, names)}"
        elif self.drop:
            tasks = _listed(self.drop, names)
            who = f"the workers' capacities cannot cover {tasks} beside the rest"
        else:
            who = "no whole assignment covers every task"
        known = "which is proven" if self.proven else "by HiGHS's word"
        return f"There is no plan, {known}: {who}"

    def mend(self) -> str:
        """Say what to do."""
        if self.limits_mend:
            return self.limits_mend
        perhaps = "" if self.drop_fewest else " (perhaps fewer would do)"
        if self.drop_fewest and self.drop_least < len(self.drop):
            perhaps = " (no fewer will do, by HiGHS's word)"
        mends = [f"drop {'it' if len(self.drop) == 1 else 'them'}{perhaps}"] if self.drop else []
        if self.epsilon_enough is not None:
            mends.append(f"use --epsilon {_shown(self.epsilon_enough, ROUND_CEILING)} or larger")
        elif self.scale_enough > 0:
            mends.append(
                f"multiply the requirements by {_shown(self.scale_enough, ROUND_FLOOR)} or less"
            )
        return " or ".join(mends) or "hire more workers"


@dataclass(frozen=True)
class RawAnswer:
    """What a route brings back from the solver, unchecked.

    `pairs` has one value for each pair of `problem.pairs`; `bound` is the solver's own word;
    `note` says what went wrong, if anything did. `proofs` are checked by `certify`. `relaxed` is
    the relaxation solved before an integer program, `why` says why there is no solution.
    """

    termination: Termination
    pairs: FloatArray | None = None
    task_weights: FloatArray | None = None
    worker_prices: FloatArray | None = None
    bound: float | None = None
    seconds: float = 0.0
    note: str = ""
    proofs: tuple[Proof, ...] = ()
    history: tuple[Incumbent, ...] = ()
    relaxed: RawAnswer | None = None
    why: Infeasibility | None = None

    @property
    def duals(self) -> tuple[FloatArray | None, FloatArray | None]:
        """Task weights and worker prices, signs cleaned; None unless there are both."""
        if self.task_weights is None or self.worker_prices is None:
            return None, None
        return np.maximum(self.task_weights, 0.0), np.maximum(self.worker_prices, 0.0)

    def in_prices(self, unit: float) -> RawAnswer:
        """The same in prices, where it counts in a unit of them."""
        weights, prices, bound = self.task_weights, self.worker_prices, self.bound
        return replace(
            self,
            task_weights=None if weights is None else weights * unit,
            worker_prices=None if prices is None else prices * unit,
            bound=None if bound is None else bound * unit,
            history=tuple(moment.in_prices(unit) for moment in self.history),
        )


@dataclass(frozen=True, eq=False)
class Solution:
    """A solved problem and what is proven of it.

    Attributes
    ----------
    objective
        Cost of `assignment`, recomputed from the data; for the dual, the bound its weights prove;
        None when there is none.
    bound
        Lower bound on the optimum: the certificate's, or the solver's branch and bound where
        that is higher (`certificate.lower_bound` tells them apart).
    gap
        (objective − bound) / objective; 0 when proven optimal.
    assignment
        y, shape (n, m), 0 or 1 for the integer program; class counts (T, K) for a
        `TypedProblem`.
    task_weights, worker_prices
        x (n,) and z (m,): dual values of the relaxation. Task values are q x − c.
    seconds
        Time in the solver.
    note
        What went wrong, if anything did: the solver process died, a method contradicted itself.
    method
        How the integer program was solved, and why so: `mip` (branch and bound) or `patterns`
        (column generation); for large programs by class, `cutting planes`. Where another method
        had to take over, `note` says which.
    history
        Cost and bound as they improved, for an integer program.
    proofs
        Of bounds for whole assignments: `certify` takes them, to check them once more.
    """

    formulation: str
    route: str
    termination: Termination
    objective: float | None = None
    bound: float | None = None
    assignment: FloatArray | None = None
    task_weights: FloatArray | None = None
    worker_prices: FloatArray | None = None
    certificate: Certificate = field(default_factory=lambda: Certificate("unproven"))
    seconds: float = 0.0
    infeasibility: Infeasibility | None = None
    versions: dict[str, str] = field(default_factory=dict)
    note: str = ""
    method: str = ""
    history: tuple[Incumbent, ...] = ()
    proofs: tuple[Proof, ...] = ()

    @property
    def gap(self) -> float | None:
        """Relative distance between objective and bound; None when either is missing."""
        if self.objective is None or self.bound is None:
            return None
        slack = self.objective - self.bound
        return 0.0 if slack <= 1e-9 * abs(self.objective) else slack / abs(self.objective)

    def primal_dual_integral(self, until: float) -> float | None:
        """Mean gap from the start to a time: 1 while plan or bound is missing.

        The primal–dual integral of mixed-integer benchmarks (Berthold 2013), as a share.

        Parameters
        ----------
        until
            Seconds; what was known last is taken to have lasted.
        """
        if not self.history or until <= 0:
            return None
        times = [0.0, *(min(moment.seconds, until) for moment in self.history), until]
        gaps = [1.0, *(moment.open_share for moment in self.history)]
        return float(np.diff(times) @ gaps) / until

    @property
    def solved(self) -> bool:
        """Whether an optimum was found and nothing speaks against it.

        So it is when time ran out just as the bound met the cost.
        """
        ended = self.termination is Termination.OPTIMAL or self.gap == 0
        return ended and self.certificate.status in ("proven", "feasible")

    def as_dict(self) -> dict[str, Any]:
        """Plain types, for JSON; the assignment as `[task, worker]` pairs where it is whole."""
        whole = self.formulation == "ip" and self.assignment is not None
        return {
            "formulation": self.formulation,
            "route": self.route,
            "termination": str(self.termination),
            "objective": self.objective,
            "bound": self.bound,
            "gap": self.gap,
            "certificate": self.certificate.as_dict(),
            "task_weights": _listing(self.task_weights),
            "worker_prices": _listing(self.worker_prices),
            "assignment": np.argwhere(self.assignment > 0.5).tolist()
            if whole and self.assignment is not None
            else None,
            "seconds": self.seconds,
            "method": self.method or None,
            "history": [vars(moment) for moment in self.history],
            "infeasibility": None if self.infeasibility is None else vars(self.infeasibility),
            "message": self.note or None
            if self.infeasibility is None
            else self.infeasibility.sentence(),
            "versions": self.versions,
        }


def _listing(values: FloatArray | None) -> list[float] | None:
    return None if values is None else values.tolist()


def _listed(tasks: tuple[int, ...], names: Sequence[object] | None) -> str:
    shown = ", ".join(str(task if names is None else names[task]) for task in tasks[:10])
    more = f" and {len(tasks) - 10} more" if len(tasks) > 10 else ""
    return f"task{'s' if len(tasks) > 1 else ''} {shown}{more}"


def _shown(share: float, rounding: str) -> str:
    """Three digits or more of a number in (0, 1), rounded so that, used, it does as promised."""
    exact = Decimal(str(share))
    for digits in range(3, 18):
        step = Decimal(1).scaleb(exact.adjusted() + 1 - digits)
        shown = exact.quantize(step, rounding=rounding)
        if shown < 1:
            break
    return str(float(shown))
