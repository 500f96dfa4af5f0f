"""Plans for several classes: against enumeration, the pair program, and their own certificates."""

import itertools

import numpy as np
import pytest

import workbench as wb
from crowd_models import AssignmentProblem
from crowd_models.gains import GAINS
from crowd_models.joint import JointProblem, pair_gains, pair_weights
from tests.core.models.test_joint import crowd
from tests.core.release import some
from workbench.solving import solve
from workbench.solving.highs import RunOptions
from workbench.solving.joint.relaxation import proven_bound, relax
from workbench.solving.joint.route import _by_sets, solve_joint


def small(seed):
    """Two task classes of one and two tasks, four workers, three classes of labels."""
    rng = np.random.default_rng(seed)
    confusion, prior = crowd(rng, 4, 3, types=2)
    return JointProblem(
        pair_gains(confusion),
        pair_weights(prior),
        rng.uniform(0.15, 0.5, 2),
        [1, 2],
        2,
        rng.integers(1, 4, (2, 4)) if seed % 2 else None,
        rng.random((2, 4)) < 0.9 if seed % 3 == 0 else None,
    )


def cheapest(problem):
    """Cost of the cheapest plan, over all plans; None for none."""
    kinds = np.repeat(np.arange(problem.shape[0]), problem.tasks)
    rows = [
        [
            np.array(row)
            for row in itertools.product([0, 1], repeat=problem.shape[1])
            if problem.error(t, row) <= problem.epsilon[t] * (1 + 1e-9)
            and not (np.array(row) > problem.usable[t]).any()
        ]
        for t in kinds
    ]
    costs = [
        sum(float(problem.prices[t] @ row) for t, row in zip(kinds, plan, strict=True))
        for plan in itertools.product(*rows)
        if (sum(plan) <= problem.capacity).all()
    ]
    return min(costs, default=None)


@pytest.mark.parametrize("seed", some(range(16), 3))
def test_small_problems_against_enumeration(seed):
    problem = small(seed)
    best, solution = cheapest(problem), solve_joint(problem)
    if best is None:
        assert solution.assignment is None
        assert solution.termination == "infeasible"
        return
    assert solution.objective == pytest.approx(best)
    assert solution.certificate.lower_bound <= best + 1e-9
    relaxed = solve_joint(problem, "relaxation")
    assert relaxed.objective <= best + 1e-7
    assert relaxed.bound == pytest.approx(relaxed.objective, rel=1e-6)  # strong duality
    assert (solution.errors <= problem.epsilon[solution.task_class] * (1 + 1e-9)).all()


@pytest.mark.parametrize("seed", range(6))
def test_generated_sets_make_plans_that_hold(seed):
    problem = small(seed)
    best = cheapest(problem)
    if best is None:
        return
    options = RunOptions(time_limit=2.0)
    proof = relax(problem, options.countdown()).proof
    plan, _ = _by_sets(problem, proof, options.countdown(), options)
    kinds = np.repeat(np.arange(2), problem.tasks)
    if plan is not None:
        assert (plan.sum(axis=0) <= problem.capacity).all()
        for t, row in zip(kinds, plan, strict=True):
            assert problem.error(t, row) <= problem.epsilon[t] * (1 + 1e-9)
        assert (problem.prices[kinds] * plan).sum() >= best - 1e-9


def test_two_classes_have_the_optimum_of_the_gain():
    rng = np.random.default_rng(3)
    skill = rng.uniform(0.55, 0.95, 6)
    gains = pair_gains(np.stack([[[p, 1 - p], [1 - p, p]] for p in skill]))
    joint = solve_joint(JointProblem(gains[None], pair_weights([0.5, 0.5]), 0.1, 5, 4))
    gain = GAINS["bhattacharyya"]
    need = gain.requirement(0.1)
    plain = solve(
        AssignmentProblem(gain.quality(np.tile(skill, (5, 1))), 4, need, gain=gain.name), "ip"
    )
    assert joint.objective == plain.objective


@pytest.mark.release
def test_a_mid_size_crowd_is_planned_near_its_bound():
    confusion, prior = crowd(np.random.default_rng(5), 40, 4)
    problem = JointProblem(pair_gains(confusion), pair_weights(prior), 0.1, 60, 20)
    solution = solve_joint(problem, gap=0.05, time_limit=600.0)
    assert solution.certificate.status in ("feasible", "proven")
    assert solution.bound <= solution.objective <= 1.05 * solution.bound
    # Permuted workers leave the relaxation's optimum where it was.
    order = np.random.default_rng(0).permutation(40)
    turned = JointProblem(problem.gains[:, order], problem.weights, 0.1, 60, 20)
    one, other = (solve_joint(p, "relaxation").objective for p in (problem, turned))
    assert other == pytest.approx(one, rel=1e-6)


def test_a_wrong_multiplier_proves_less_and_never_too_much():
    problem = small(2)
    best = cheapest(problem)
    proof = relax(problem, RunOptions().countdown()).proof
    rng = np.random.default_rng(0)
    for _ in range(20):
        wrong = type(proof)(
            proof.task_class,
            proof.points + rng.normal(0, 0.3, proof.points.shape),
            proof.multipliers * rng.uniform(0, 3, len(proof.multipliers)),
            proof.worker_prices + rng.uniform(0, 0.5, 4),
        )
        assert proven_bound(problem, wrong, whole=True) <= best + 1e-9


def test_what_cannot_be_covered_names_a_least_error_a_pair_and_an_epsilon():
    blunt = np.full((3, 3), 0.25) + 0.25 * np.eye(3)
    blunt[2] = blunt[1] = [0.2, 0.4, 0.4]  # the last two are never told apart
    problem = JointProblem(pair_gains([[blunt] * 3]), pair_weights([1 / 3] * 3), 0.05, 2, 2)
    solution = solve_joint(problem)
    assert solution.termination == "infeasible"
    assert solution.worst_pair == (1, 2)
    assert solution.least_error[0] >= 1 / 3
    enough = solution.infeasibility.epsilon_enough
    again = JointProblem(problem.gains, problem.weights, enough, 2, 2)
    assert solve_joint(again).assignment is not None


def test_the_front_door_solves_it():
    problem = small(1)
    solved = wb.solve(problem)
    pairs = solved.to_frame()
    assert len(pairs) == int(solved.solution.assignment.sum())
    assert "joint cover, whole plans, 3 tasks × 4 workers" in solved.details()
    assert solved.to_dict()["certificate"]["lower_bound"] <= solved.objective
    assert wb.solve(problem, "relaxation").objective <= solved.objective + 1e-7
    with pytest.raises(wb.InputError, match="a joint problem has none"):
        wb.solve(problem, method="patterns")
    with pytest.raises(wb.InputError, match="give ip or relaxation"):
        wb.solve(problem, "typed")


def test_a_task_whose_labels_on_record_suffice_needs_nobody():
    """A set that is empty is worth having, and leaves every capacity as it was."""
    confusion, prior = crowd(np.random.default_rng(4), 12, 5, types=2)
    gains = pair_gains(confusion)
    recorded = np.stack([np.full(gains.shape[2], 9.0), np.zeros(gains.shape[2])])
    problem = JointProblem(gains, pair_weights(prior), 0.3, [40, 20], 30, recorded=recorded)
    solution = solve_joint(problem, gap=0.05, time_limit=600.0)
    assert solution.certificate.status in ("feasible", "proven")
    bought = solution.assignment.sum(axis=1)
    assert not bought[:40].any()
    assert (bought[40:] > 0).all()
    assert (solution.errors <= 0.3 * (1 + 1e-9)).all()
