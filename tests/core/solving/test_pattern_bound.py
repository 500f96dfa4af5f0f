from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import by_enumeration, small_problems

import workbench.solving.patterns.bound as bound
from crowd_models import AssignmentProblem
from crowd_models.patterns import limits
from workbench.solving import PatternProof, certify, solve
from workbench.solving.patterns.bound import pattern_bound


def plainly(problem, prices):
    """L(u) by listing every pattern; None where a class has none."""
    total = -float(problem.supply @ prices)
    for t in range(problem.shape[0]):
        sets = np.array(list(product(*(range(m + 1) for m in limits(problem, t).tolist()))))
        good = sets @ problem.quality[t] >= problem.requirement[t] * (1 - 1e-9) - 1e-12
        if problem.tasks[t] and not good.any():
            return None
        if problem.tasks[t]:
            total += problem.tasks[t] * (sets[good] @ (problem.prices[t] + prices)).min()
    return total


@given(small_problems(), st.integers(0, 2**31))
@settings(deadline=None, max_examples=32)
def test_it_never_exceeds_the_optimum(problem, seed):
    prices = np.random.default_rng(seed).exponential(0.7, problem.typed.shape[1])
    prices[np.random.default_rng(seed + 1).random(len(prices)) < 0.4] = 0
    # A price on capacity that nobody can use up only lowers the bound, by what floats cannot say.
    prices[problem.typed.capacity > problem.shape[0]] = 0
    found, best = pattern_bound(problem.typed, prices), by_enumeration(problem)
    if best is not None:
        assert found <= Fraction(best) + Fraction(1, 10**9)
    exact = plainly(problem.typed, prices)
    if exact is not None:
        assert float(found) <= exact + 1e-9
        # Tenths: rounding up by a step or two of 2³⁰ makes no other set a pattern.
        assert float(found) == pytest.approx(exact, abs=1e-6)


@given(small_problems(), st.integers(0, 2**31), st.sampled_from([8, 2**20]))
@settings(deadline=None, max_examples=40)
def test_counted_in_steps_it_is_lower_at_most(problem, seed, steps):
    """As where states are too many: few steps lose something, many next to nothing."""
    prices = np.random.default_rng(seed).exponential(0.7, problem.typed.shape[1])
    prices[problem.typed.capacity > problem.shape[0]] = 0
    exact = plainly(problem.typed, prices)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("CELLS", 0), ("FEWEST", 1), ("DENSER", steps)):
            patch.setattr(bound, name, value)
        found = float(pattern_bound(problem.typed, prices))
    if exact is not None:
        assert found <= exact + 1e-9
        assert steps == 8 or found == pytest.approx(exact, abs=1e-6)


def test_it_proves_what_the_relaxation_cannot():
    """Two of 0.64 cover 1, and so does no single label: the relaxation sees 1.56 labels a task."""
    problem = AssignmentProblem(np.full((30, 6), 0.64), 20, 1.0)
    relaxed = solve(problem, "typed")
    assert relaxed.bound < 47
    proof = certify(
        problem,
        assignment=solve(problem, "ip", method="patterns").assignment,
        proofs=[PatternProof(np.zeros(1))],
        whole=True,
        exact=True,
    )
    assert (proof.status, proof.lower_bound, proof.bound_from) == ("proven", 60, "patterns")
    assert proof.exact_bound == 60
