"""Algorithms 1 and 2 for labels of several classes: prices of cover, and who takes which task.

The joint program's relaxation is linear where it is tight: each task has one softmax-weighted row,
and its dual prices cover by pair of classes, x_i(k, l). A label of worker j is worth
Σ_kl g_j(k, l) x_i(k, l) to task i, which is what v_ij takes the place of q_ij x_i for: Algorithm 1
of Ho, Jabbari, Vaughan (2013) gives each worker the tasks of highest worth beyond its price. Its
prices come from the whole crowd or, in Algorithm 2, from a sample in which each of ℓ workers stands
for 1/γ of the crowd.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowd_models.joint import JointProblem
from workbench.assignment.primal import perturb, primal_approximation
from workbench.assignment.weights import OnInfeasible
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.solving import Termination
from workbench.solving.highs import RunOptions
from workbench.solving.joint.relaxation import JointProof, JointRelaxation, cover_prices, relax

SHORT = 1e-6
"""A task that falls short by less of a label's cover does not."""
WORTH = 1e-7
"""Rounding of a label's worth, in prices: labels in an optimum are worth their price."""


def perturbed(problem: JointProblem, *, seed: Seed) -> JointProblem:
    """Lower every gain by a random hair, so that no two workers are equal (Section 4.3)."""
    return replace(problem, gains=perturb(problem.gains, seed=seed))


def offline_prices(
    problem: JointProblem, options: RunOptions, earlier: JointProof | None = None
) -> FloatArray | None:
    """x* of the relaxation over all workers, shape (T, P); None where it has no solution."""
    return _prices(problem, relax(problem, options.countdown(), earlier))


def sampled_prices(
    sample: JointProblem,
    *,
    gamma: float,
    options: RunOptions,
    on_infeasible: OnInfeasible = "relax",
    least_quality: float = 0.01,
) -> FloatArray:
    """x̂* of the sampled program, shape (T, P): every sampled worker stands for 1/γ.

    Parameters
    ----------
    sample
        The sampled workers with the tasks of the whole crowd.
    gamma
        γ = ℓ/m.
    options
        Seconds for the linear programs.
    on_infeasible, least_quality
        See `weights.OnInfeasible`: a task that falls short is dropped where asked, or no price
        of cover exceeds (highest price)/`least_quality`.

    Raises
    ------
    InputError
        With `error`, when the sample cannot keep the promises.
    """
    # Costs and gains of 1/γ labels, so that capacities stay as they are.
    each = replace(sample, gains=sample.gains / gamma, cost=sample.prices / gamma)
    relaxed = relax(each, options.countdown())
    if relaxed.termination is Termination.INFEASIBLE:
        if on_infeasible == "error":
            raise InputError(
                "the sampled workers cannot cover the tasks: discard tasks (on_infeasible='drop'), "
                "let some fall short ('relax'), sample more workers, or use a larger epsilon"
            )
        ceiling = float(sample.prices.max()) / least_quality
        relaxed = relax(each.with_shortfall(ceiling), options.countdown())
        if on_infeasible == "drop" and relaxed.labels is not None:
            kept = np.where(relaxed.labels[:, -1] > SHORT, 0, each.tasks)
            each = replace(each, tasks=kept)
            relaxed = relax(each, options.countdown())
    prices = _prices(each, relaxed)
    if prices is None:
        raise RuntimeError(f"the sampled program was not solved: {relaxed.termination}")
    return prices


def joint_approximation(problem: JointProblem, prices: FloatArray, *, seed: Seed) -> BoolArray:
    """Algorithm 1 for all workers, each on her own: y, shape (T, m), one task a class."""
    worth = np.einsum("tmp,tp->tm", problem.gains, prices) + WORTH * problem.prices
    return primal_approximation(
        worth,
        np.ones(problem.shape[0]),
        problem.capacity,
        cost=problem.prices,
        available=problem.usable,
        seed=seed,
    )


def _prices(problem: JointProblem, relaxed: JointRelaxation) -> FloatArray | None:
    return None if relaxed.proof is None else cover_prices(problem, relaxed.proof)
