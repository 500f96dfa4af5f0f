"""Proofs that trust no solver: everything is recomputed from the problem's data.

A solution is checked against its constraints. A bound is the Lagrangian of the relaxation,

    L(v, u) = Σ C_i v_i − Σ M_j u_j − Σ_ij max(0, q_ij v_i − u_j − c_ij),

which bounds the optimum from below for every v, u ≥ 0, right or wrong (weak duality; it is the
dual of Section 4.3 with the best t filled in). The same expression without prices, when it is
positive, shows that no solution exists at all (Farkas). Both can be evaluated exactly: floats
are fractions. Whole assignments have a higher bound over patterns (`pattern_bound`), exact as well,
and a higher one where label counts are split (`branch_bound`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from crowd_models.patterns import SLACK
from crowd_models.problem import Problem
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.solving.patterns.bound import branch_bound, pattern_bound
from workbench.solving.scaling import is_loose, tightened
from workbench.solving.search.count_bound import count_lagrangian
from workbench.solving.solution import (
    BranchProof,
    Certificate,
    Check,
    CountProof,
    Leaf,
    PatternProof,
    Proof,
    RelaxationProof,
    Split,
)

FEASIBILITY = 1e-6
"""Largest constraint violation of a fractional solution, relative to the right-hand side.

Relative throughout: a requirement of 1e-8 is not met by nothing at all.
"""
WHOLE_FEASIBILITY = SLACK
"""The same, 1e-9, for a whole assignment, which has no excuse but rounding in a sum."""
OPTIMALITY = 1e-6
"""Largest relative distance between an objective and the bound that proves it."""

LARGEST = 1e100
"""Of any number in a solution or a proof: beyond it sums leave what floats can hold."""
DEEPEST = 100
"""Splits above one another in a proof."""


def lagrangian(
    problem: Problem, task_weights: FloatArray, worker_prices: FloatArray, *, priced: bool = True
) -> float:
    """Lower bound L(v, u) on the cost of every assignment that covers all tasks.

    Parameters
    ----------
    task_weights, worker_prices
        v and u, by task and worker (or class); negative entries count as 0.
    priced
        False leaves out the prices c: the Farkas expression.

    Raises
    ------
    InputError
        For weights or prices of another length than the problem's, or not finite.
    """
    v, u = _multipliers(problem, task_weights, worker_prices)
    surplus = _surplus(problem, v, u, priced=priced)
    gains = np.maximum(surplus, 0.0) * problem.mask * problem.sizes
    return float(problem.demand @ v - problem.supply @ u - gains.sum())


def exact_lagrangian(
    problem: Problem, task_weights: FloatArray, worker_prices: FloatArray, *, priced: bool = True
) -> Fraction:
    """The same in rational arithmetic: the data's floats are taken at their exact values."""
    v, u = _multipliers(problem, task_weights, worker_prices)
    # Whatever lies clearly below zero in floats is zero in the sum; the rest is worked exactly.
    scale = 1.0 + float(v.max(initial=0.0)) + float(u.max(initial=0.0)) + problem.prices.max()
    # What is no number there, being beyond floats, is worked exactly too.
    near = ~(_surplus(problem, v, u, priced=priced) <= -1e-12 * scale) & problem.mask
    weights, charges = [Fraction(x) for x in v.tolist()], [Fraction(x) for x in u.tolist()]
    tasks, workers = problem.tasks.tolist(), problem.workers.tolist()
    needs, limits = problem.requirement.tolist(), problem.capacity.tolist()
    value = Fraction(0)
    for weight, need, count in zip(weights, needs, tasks, strict=True):
        value += count * Fraction(need) * weight
    for charge, limit, count in zip(charges, limits, workers, strict=True):
        value -= count * limit * charge
    prices = problem.prices if priced else np.zeros(problem.shape)
    for i, j in np.argwhere(near).tolist():
        gain = Fraction(float(problem.quality[i, j])) * weights[i] - charges[j]
        gain -= Fraction(float(prices[i, j]))
        if gain > 0:
            value -= tasks[i] * workers[j] * gain
    return value


def _multipliers(
    problem: Problem, task_weights: FloatArray, worker_prices: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """v and u, checked, without negative entries."""
    n, m = problem.shape
    for name, values, length in (
        ("task weights", task_weights, n),
        ("worker prices", worker_prices, m),
    ):
        _numbers(name, values)
        _shaped(name, values, (length,))
        if not _small(values):
            raise InputError(f"the {name} hold NaN or infinity, or as much: they prove nothing")
    return np.maximum(task_weights, 0.0), np.maximum(worker_prices, 0.0)


def _surplus(problem: Problem, v: FloatArray, u: FloatArray, *, priced: bool) -> FloatArray:
    """q v − u − c: what a label is worth beyond its price."""
    surplus: FloatArray = problem.quality * v[:, None] - u[None, :]
    return surplus - problem.prices if priced else surplus


def farkas(
    problem: Problem,
    task_weights: FloatArray,
    worker_prices: FloatArray,
) -> bool:
    """Whether (v, u) proves, in exact arithmetic, that the relaxation has no solution."""
    if not (_small(task_weights) and _small(worker_prices)):
        return False
    return exact_lagrangian(problem, task_weights, worker_prices, priced=False) > 0


def pattern_farkas(problem: Problem, worker_prices: FloatArray) -> bool:
    """Whether u, by worker class, proves in exact arithmetic that there is no whole assignment.

    Were there one, patterns for all tasks would fit the capacities, and L(u) without prices could
    not be above 0. The relaxation may have a solution all the same.
    """
    if not _small(worker_prices):
        return False
    free = replace(problem.typed, cost=np.zeros(problem.typed.shape))
    return pattern_bound(free, worker_prices) > 0


def rounding_error(problem: Problem, task_weights: FloatArray, worker_prices: FloatArray) -> float:
    """Bound how far the float `lagrangian` may lie from the exact one: ulps times magnitudes."""
    v, u = np.maximum(task_weights, 0.0), np.maximum(worker_prices, 0.0)
    terms = problem.quality * v[:, None] + u[None, :] + problem.prices
    near = problem.quality * v[:, None] * (1 + 1e-9) >= u[None, :] + problem.prices
    magnitude = problem.demand @ v + problem.supply @ u + (terms * near * problem.sizes).sum()
    return float(magnitude) * (sum(problem.shape) + 10) * 2.0**-52


def rounded_up(
    problem: Problem,
    bound: float | Fraction,
    task_weights: FloatArray,
    worker_prices: FloatArray,
) -> float:
    """Round the bound of (v, u) up to the next cost where all prices are multiples of one step.

    It is first lowered by what requirements `WHOLE_FEASIBILITY` lower would make of it: 0.1 and
    0.3 are to cover 0.4, though as binary fractions they miss it. A float bound is also lowered
    by what its evaluation can have been off.
    """
    if isinstance(problem, TypedProblem) or not problem.price_step:
        return float(bound)
    slack = WHOLE_FEASIBILITY * float(problem.demand @ np.maximum(task_weights, 0.0))
    # Prices are such multiples but for the last bit.
    slack += 1e-14 * abs(float(bound))
    if isinstance(bound, Fraction):
        return _next_cost(problem, bound - Fraction(slack))
    return _next_cost(problem, bound - slack - rounding_error(problem, task_weights, worker_prices))


def primal_checks(problem: Problem, assignment: FloatArray, *, whole: bool) -> list[Check]:
    """Hold an assignment against every constraint: bounds, mask, (1), (2) and (3)."""
    tolerance = WHOLE_FEASIBILITY if whole else FEASIBILITY
    ceiling = problem.sizes
    box = np.maximum(-assignment, assignment - ceiling) / np.maximum(1.0, ceiling)
    over = (assignment.sum(axis=0) - problem.supply) / np.maximum(1.0, problem.supply)
    voting = assignment if problem.recorded is None else assignment + problem.recorded
    covered = (problem.quality * voting).sum(axis=1)
    short = (problem.demand - covered) / np.where(problem.demand > 0, problem.demand, 1.0)
    checks = [
        _check("0 ≤ y ≤ 1", box, tolerance),
        _check("capacity (1)", over, tolerance),
        _check("cover (2)", short, tolerance),
    ]
    if problem.available is not None:
        checks.append(_check("only available pairs", assignment[~problem.available], 0.0))
    if whole:
        for name, limits, sign in (("least", problem.least, 1), ("most", problem.most, -1)):
            if limits is not None:
                missed = sign * (limits - assignment.sum(axis=1))
                checks.append(_check(f"{name} labels", missed, tolerance))
        checks.append(_check("whole (3)", np.abs(assignment - np.round(assignment)), 0.0))
    return checks


def complementary_slackness(
    problem: Problem,
    assignment: FloatArray,
    task_weights: FloatArray,
    worker_prices: FloatArray,
) -> Check:
    """Hold a primal and a dual solution against each other, term by term.

    x_i > 0 only where a task is just covered, z_j > 0 only where a worker is full, y at 0 where
    q x − c − z < 0 and at its upper bound where it is > 0. The violation is the largest product.
    """
    cost = float((problem.prices * assignment).sum())
    covered = (problem.quality * assignment).sum(axis=1) - problem.demand
    room = problem.supply - assignment.sum(axis=0)
    surplus, sizes = _surplus(problem, task_weights, worker_prices, priced=True), problem.sizes
    if problem.available is not None:  # in a table of records most pairs are not
        surplus, sizes, assignment = (each[problem.pairs] for each in (surplus, sizes, assignment))
    products = [
        np.abs(task_weights * covered),
        np.abs(worker_prices * room),
        np.maximum(surplus, 0.0) * (sizes - assignment),
        np.maximum(-surplus, 0.0) * assignment,
    ]
    worst = np.array([product.max(initial=0.0) for product in products])
    return _check("complementary slackness", worst / cost_scale(problem, cost), OPTIMALITY)


def certify(
    problem: Problem,
    *,
    assignment: FloatArray | None = None,
    task_weights: FloatArray | None = None,
    worker_prices: FloatArray | None = None,
    proofs: Sequence[Proof] = (),
    whole: bool = False,
    exact: bool = False,
) -> Certificate:
    """Check a solution and a bound against the problem's data.

    Parameters
    ----------
    assignment
        y, shape (n, m), or class counts for a `TypedProblem`; None when there is none.
    task_weights, worker_prices
        x and z, for the Lagrangian bound; None when there are none.
    proofs
        Of higher bounds, for whole assignments of an `AssignmentProblem`.
    whole
        The assignment claims to be an integer solution.
    exact
        Evaluate the bound in rational arithmetic as well.

    Returns
    -------
    Certificate
        `status` is `failed` when any check fails: then no number in it is to be used.

    Raises
    ------
    InputError
        Arrays of another shape, or of anything but numbers; proofs of no kind that there is, and
        splits at no whole number of labels or of anything but pairs.
    """
    _canonical(problem, proofs)
    finite = _finite(problem, assignment, task_weights, worker_prices, proofs)
    if not finite.passed:
        return Certificate("failed", (finite,))
    checks = [finite]
    bounds: dict[str, tuple[float, Fraction | None]] = {}
    cost = None if assignment is None else float((problem.prices * assignment).sum())
    if task_weights is not None and worker_prices is not None:
        bounds["relaxation"] = _relaxed(
            problem, task_weights, worker_prices, whole=whole, exact=exact
        )
    if whole and isinstance(problem, AssignmentProblem):
        for proof in proofs:
            name, value = _proven(problem, proof, exact=exact)
            if math.isfinite(value[0]) and value[0] > bounds.get(name, (-math.inf,))[0]:
                bounds[name] = value
    bound_from = max(bounds, key=lambda name: bounds[name][0], default="")
    bound, fraction = bounds.get(bound_from, (None, None))
    if bound is not None:
        checks.append(_check("bound is a number", np.array([bound - bound]), 0.0))
    if assignment is not None and cost is not None:
        checks += primal_checks(problem, assignment, whole=whole)
        unit = cost_scale(problem, cost)
        if bound is not None:
            checks.append(_check("bound ≤ cost", np.array([bound - cost]) / unit, OPTIMALITY))
        if not whole and task_weights is not None and worker_prices is not None:
            checks.append(complementary_slackness(problem, assignment, task_weights, worker_prices))
    if not all(check.passed for check in checks):
        return Certificate("failed", tuple(checks))
    status = "unproven"
    if cost is not None:
        meet = bound is not None and is_met(problem, cost, bound, whole=whole)
        status = "proven" if meet else "feasible"
    elif bound is not None:
        status = "bound"
    every = {name: value for name, (value, _) in bounds.items()}
    return Certificate(status, tuple(checks), bound, fraction, bound_from, every)


def _next_cost(problem: AssignmentProblem, bound: float | Fraction) -> float:
    """The least cost that a plan can have at or above a bound."""
    step = problem.price_step
    if not step:
        return float(bound)
    return step * math.ceil(bound / (Fraction(step) if isinstance(bound, Fraction) else step))


def is_met(problem: Problem, cost: float, bound: float, *, whole: bool) -> bool:
    """Whether a bound proves that no answer is cheaper than one of that cost."""
    # Costs and rounded bounds that are multiples of one step are the same or a step apart.
    step = problem.price_step if whole and isinstance(problem, AssignmentProblem) else 0.0
    return cost - bound <= (step / 2 if step else OPTIMALITY * cost_scale(problem, cost))


def next_cost(problem: AssignmentProblem, bound: Fraction) -> float:
    """Round a bound on all plans up to the next cost; prices are its multiples but for a bit."""
    less = bound * (1 - Fraction(1, 10**14)) if problem.price_step else bound
    return _next_cost(problem, less)


def cost_scale(problem: Problem, cost: float) -> float:
    """What a difference of costs is measured by: the cost, or a minimum where that is near zero.

    The minimum is a millionth of what the labels cost at the highest price, were all perfect.
    """
    labels = max(1.0, float(problem.demand.sum()))
    return max(cost, 1e-6 * problem.highest_price * labels) or 1.0


def _canonical(problem: Problem, proofs: Sequence[Proof]) -> None:
    """Take no proof that says a thing in another way than ours: half a label, a pair twice."""
    for proof in proofs:
        if type(proof) not in (PatternProof, BranchProof, CountProof, RelaxationProof):
            raise InputError(f"proofs: {type(proof).__name__} is no kind of proof")
        if isinstance(proof, BranchProof):
            for depth, node in proof.nodes():
                _canonical_node(_classes(problem, proof).shape, node, depth)


def _classes(problem: Problem, proof: BranchProof) -> TypedProblem:
    """The classes that a proof of branches is by."""
    if proof.alone and isinstance(problem, AssignmentProblem):
        return problem.alone
    return problem.typed


def _canonical_node(shape: tuple[int, int], node: Split | Leaf, depth: int) -> None:
    if depth > DEEPEST:
        raise InputError(f"a proof splits label counts more than {DEEPEST} times in a row")
    if type(node) not in (Split, Leaf):
        raise InputError(f"a proof of branches has a {type(node).__name__} for a split or a leaf")
    if isinstance(node, Split):
        if type(node.most) is not int:
            kind = type(node.most).__name__
            raise InputError(f"a split is at a {kind}: give a whole number of labels, an int")
        if not isinstance(node.pairs, np.ndarray) or node.pairs.dtype != np.bool_:
            raise InputError("the pairs of a split are not booleans: a pair is meant or it is not")
        _shaped("pairs of a split", node.pairs, shape)


def _finite(
    problem: Problem,
    assignment: FloatArray | None,
    task_weights: FloatArray | None,
    worker_prices: FloatArray | None,
    proofs: Sequence[Proof],
) -> Check:
    n, m = problem.shape
    bad = 0
    parts = [part for proof in proofs for part in _parts(problem, proof)]
    for name, values, shape in (
        ("assignment", assignment, (n, m)),
        ("task weights", task_weights, (n,)),
        ("worker prices", worker_prices, (m,)),
    ):
        if values is not None:
            parts.append((name, values, shape))
    for what, numbers, asked in parts:
        _numbers(what, numbers)
        _shaped(what, numbers, asked)
        bad += int(np.count_nonzero(~(np.abs(numbers) <= LARGEST)))
    return _check("finite numbers", np.array([float(bad)]), 0.0)


def _parts(problem: Problem, proof: Proof) -> list[tuple[str, FloatArray, tuple[int, ...]]]:
    """The numbers a proof is made of, with their names and the shapes they have to have."""
    n, m = problem.shape
    if isinstance(proof, PatternProof):
        return [("pattern prices", proof.worker_prices, (problem.typed.shape[1],))]
    if isinstance(proof, BranchProof):
        parts: list[tuple[str, FloatArray, tuple[int, ...]]] = []
        for depth, node in proof.nodes():
            if isinstance(node, Leaf):
                workers = _classes(problem, proof).shape[1]
                parts.append(("pattern prices", node.worker_prices, (workers,)))
                parts.append(("side prices", node.side_prices, (depth,)))
        return parts
    return [
        (name.replace("_", " "), values, (m,) if name == "worker_prices" else (n,))
        for name, values in vars(proof).items()
    ]


def _relaxed(
    problem: Problem,
    task_weights: FloatArray,
    worker_prices: FloatArray,
    *,
    whole: bool,
    exact: bool,
) -> tuple[float, Fraction | None]:
    """The Lagrangian bound, rounded up for whole plans; and exactly, when asked for."""
    value = lagrangian(problem, task_weights, worker_prices)
    fraction = exact_lagrangian(problem, task_weights, worker_prices) if exact else None
    if whole:
        best = value if fraction is None else fraction
        value = rounded_up(problem, best, task_weights, worker_prices)
    return value, fraction


def _proven(
    problem: AssignmentProblem, proof: Proof, *, exact: bool
) -> tuple[str, tuple[float, Fraction | None]]:
    """The name of a proof, its bound, and the same in exact terms where there are such."""
    if isinstance(proof, RelaxationProof):
        name = "tightened relaxation" if is_loose(problem) else "relaxation"
        weights, prices = proof.task_weights, proof.worker_prices
        return name, _relaxed(tightened(problem), weights, prices, whole=True, exact=exact)
    if isinstance(proof, PatternProof | BranchProof):
        if isinstance(proof, PatternProof):
            name, fraction = "patterns", pattern_bound(problem.typed, proof.worker_prices)
        else:
            name, classes = "branches over patterns", _classes(problem, proof)
            fraction = branch_bound(classes, proof.root)
        return name, (next_cost(problem, fraction), fraction if exact else None)
    with np.errstate(over="ignore", invalid="ignore"):
        counted = count_lagrangian(tightened(problem), proof)
    if not math.isfinite(counted):  # weights beyond all measure prove nothing
        return "label counts", (-math.inf, None)
    return "label counts", (_next_cost(problem, counted), None)


def _shaped(name: str, values: FloatArray | IntArray | BoolArray, shape: tuple[int, ...]) -> None:
    if np.shape(values) != shape:
        raise InputError(f"the {name} have shape {np.shape(values)}: the problem's is {shape}")


def _numbers(name: str, values: FloatArray) -> None:
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
        raise InputError(f"the {name} are not an array of numbers")


def _small(values: FloatArray) -> bool:
    """Whether all are numbers that sums of them can be worked out of."""
    return bool((np.abs(values) <= LARGEST).all())


def _check(name: str, violations: FloatArray, tolerance: float) -> Check:
    # A NaN goes through the maximum and fails the comparison.
    worst = float(np.max(violations, initial=0.0))
    return Check(name, bool(worst <= tolerance), worst, tolerance)
