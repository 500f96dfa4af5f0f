"""What labels count: promises held against exact errors, and programs against enumeration."""

import itertools
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from crowd_models import AssignmentProblem
from crowd_models.files import read_problem, write_problem
from crowd_models.gains import GAINS, MOST, gain_of
from tests.core.release import some
from workbench.accuracy.error_rate import vote_errors
from workbench.aggregation.voting import linear_weights, log_odds_weights
from workbench.base.errors import InputError
from workbench.cli.app import main
from workbench.solving import solve

PROBABILITIES = st.lists(st.floats(0.02, 0.98), min_size=1, max_size=9)
HOEFFDING, BHATTACHARYYA = GAINS["hoeffding"], GAINS["bhattacharyya"]
WEIGHTS = {"linear": linear_weights, "log-odds": log_odds_weights}


@pytest.mark.parametrize("gain", GAINS.values(), ids=list(GAINS))
@given(skill=PROBABILITIES)
@settings(max_examples=60, deadline=None)
def test_no_vote_errs_more_than_its_cover_promises(gain, skill):
    p = np.array([skill])
    weights = WEIGHTS[gain.vote](p)
    error = vote_errors(p, weights, np.ones(p.shape, dtype=bool))[0][0]
    assert error <= float(gain.error(gain.quality(p).sum())) + 1e-12


@given(skill=st.floats(0.01, 0.99))
def test_one_label_meets_bhattacharyyas_bound_within_the_geometric_mean(skill):
    # min(p, 1 − p) against √(p(1 − p)): a gain any larger would promise too much near ½.
    promised = float(BHATTACHARYYA.error(BHATTACHARYYA.quality([skill]).sum()))
    assert promised == pytest.approx(math.sqrt(skill * (1 - skill)), rel=1e-12)
    assert promised >= min(skill, 1 - skill)


@pytest.mark.parametrize("gain", GAINS.values(), ids=list(GAINS))
@given(epsilon=st.floats(1e-12, 0.49))
def test_error_is_the_inverse_of_the_requirement(gain, epsilon):
    assert float(gain.error(gain.requirement(epsilon))) == pytest.approx(epsilon, rel=1e-9)


@given(skill=PROBABILITIES, epsilon=st.floats(1e-6, 0.4))
def test_what_the_paper_covers_bhattacharyya_covers(skill, epsilon):
    if HOEFFDING.quality(skill).sum() >= HOEFFDING.requirement(epsilon):
        assert BHATTACHARYYA.quality(skill).sum() >= BHATTACHARYYA.requirement(epsilon)


def test_the_ends_of_the_scale():
    assert BHATTACHARYYA.quality([0.0, 0.5, 1.0]).tolist() == [MOST, 0.0, MOST]
    assert BHATTACHARYYA.quality([1.0], 80.0).tolist() == [80.0]
    assert BHATTACHARYYA.requirement([0.5, 0.7]).tolist() == [0.0, 0.0]
    assert HOEFFDING.quality([0.0, 0.5, 1.0]).tolist() == [1.0, 0.0, 1.0]
    with pytest.raises(InputError, match="gain is 'chernoff': give hoeffding or bhattacharyya"):
        gain_of("chernoff")
    with pytest.raises(InputError, match="quality in nats"):
        AssignmentProblem([[-1.0]], 1, 1.0, gain="bhattacharyya")


def test_an_infallible_label_is_enough():
    need = BHATTACHARYYA.requirement(1e-30)
    problem = AssignmentProblem(
        BHATTACHARYYA.quality([[1.0, 0.6], [1.0, 0.6]], need), 2, need, gain="bhattacharyya"
    )
    for formulation in ("ip", "relaxation", "dual", "typed"):
        assert solve(problem, formulation).solved
    assert solve(problem, "ip").objective == 2


def cheapest(problem):
    """The optimum over all whole plans; None when none covers every task."""
    n, m = problem.shape
    plans = np.array(list(itertools.product([0, 1], repeat=n * m))).reshape(-1, n, m)
    fine = (plans.sum(axis=1) <= problem.capacity).all(axis=1)
    fine &= ((plans * problem.quality).sum(axis=2) >= problem.requirement).all(axis=1)
    return min(((plan * problem.prices).sum() for plan in plans[fine]), default=None)


@pytest.mark.parametrize("seed", some(range(12), 3))
def test_programs_by_bhattacharyya_against_enumeration(seed):
    rng = np.random.default_rng(seed)
    skill = rng.uniform(0.5, 0.98, (3, 4))
    need = BHATTACHARYYA.requirement(rng.uniform(0.05, 0.45, 3))
    problem = AssignmentProblem(
        BHATTACHARYYA.quality(skill, need),
        2,
        need,
        rng.integers(1, 4, (3, 4)).astype(float),
        gain="bhattacharyya",
    )
    best = cheapest(problem)
    for method in ("highs", "mip", "patterns"):
        solution = solve(problem, "ip", method=method)
        assert solution.objective == (None if best is None else pytest.approx(best))
    if best is not None:
        relaxed, dual = solve(problem, "relaxation"), solve(problem, "dual")
        assert relaxed.objective == pytest.approx(dual.objective, rel=1e-7)
        assert relaxed.objective <= best + 1e-9
        chosen = solve(problem, "ip").assignment > 0.5
        errors = vote_errors(skill, log_odds_weights(skill), chosen)[0]
        assert (errors <= BHATTACHARYYA.error(need) + 1e-12).all()


def test_an_infeasible_problem_names_an_error_that_will_do():
    skill = np.full((4, 3), 0.8)
    need = BHATTACHARYYA.requirement(0.05)
    why = solve(
        AssignmentProblem(BHATTACHARYYA.quality(skill), 4, need, gain="bhattacharyya"), "ip"
    ).infeasibility
    # Three labels gather 3 · ln(1.25): the error ½ · 0.8³.
    assert why.epsilon_enough == pytest.approx(0.256, rel=1e-6)


FIELDS = {"skill": [[0.9, 0.8, 0.7]] * 2, "capacity": 2, "epsilon": 0.25}


class TestFiles:
    def write(self, folder, **more):
        path = folder / "problem.json"
        path.write_text(json.dumps({**FIELDS, **more}))
        return path

    @pytest.mark.parametrize("ending", ["json", "npz"])
    def test_round_trip(self, tmp_path, ending):
        problem = read_problem(self.write(tmp_path, gain="bhattacharyya"))
        assert problem.requirement == pytest.approx(math.log(2))
        write_problem(problem, tmp_path / f"again.{ending}")
        again = read_problem(tmp_path / f"again.{ending}")
        assert again.gain == "bhattacharyya"
        assert np.array_equal(again.quality, problem.quality)

    def test_command_and_front_door(self, tmp_path):
        path = self.write(tmp_path)
        by_gain = {gain: wb.solve(path, gain=gain).objective for gain in (None, *GAINS)}
        assert by_gain[None] is by_gain["hoeffding"]
        assert by_gain["hoeffding"] is None
        assert by_gain["bhattacharyya"] == 4
        run = CliRunner().invoke(main, ["solve", str(path), "--gain", "bhattacharyya", "--json"])
        assert json.loads(run.stdout)["objective"] == by_gain["bhattacharyya"]

    @pytest.mark.parametrize(
        ("fields", "gain", "fragment"),
        [
            ({"skill": None, "quality": [[0.5]] * 2}, "bhattacharyya", "give skill and epsilon"),
            ({"epsilon": None, "requirement": 1.0}, "bhattacharyya", "give skill and epsilon"),
            ({"gain": "chernoff"}, None, "gain is 'chernoff'"),
            ({"gain": 3}, None, "give hoeffding or bhattacharyya"),
        ],
    )
    def test_what_does_not_go_together(self, tmp_path, fields, gain, fragment):
        given = {k: v for k, v in {**FIELDS, **fields}.items() if v is not None}
        path = tmp_path / "problem.json"
        path.write_text(json.dumps(given))
        with pytest.raises(InputError, match=fragment):
            read_problem(path, gain=gain)
