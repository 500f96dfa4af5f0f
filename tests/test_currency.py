"""Multiplying all prices by a unit of money changes no decision, of any method or command."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models import AssignmentProblem
from tests.assignment.test_assignment_policies import crowd
from workbench.assignment import POLICIES
from workbench.assignment.adaptive import AdaptiveSettings, adaptive_assignment
from workbench.assignment.make_plan import AssignmentTerms, make_plan
from workbench.assignment.policies import Setting, play
from workbench.assignment.primal import primal_approximation
from workbench.assignment.session import AssignmentSession
from workbench.comparison import METHODS, compare, simulated
from workbench.crowd.align import relative, typical
from workbench.crowd.population import specialists
from workbench.learning.draws import Draws
from workbench.learning.engine import simulate
from workbench.learning.schedule import practical
from workbench.selection.money import within_money
from workbench.solving import solve

UNITS = st.one_of(
    st.integers(-20, 20).map(lambda power: 2.0**power),
    st.floats(1e-6, 1e6),
    st.sampled_from([1e-6, 0.01, 0.1, 1 / 3, 100.0, 1e6]),
)
FEW = (2.0**-20, 0.01, 1 / 3, 1e6)


def prices(rng, shape, kind):
    """Prices in tenths, all equal, with nothing in common, some free, or far apart."""
    return [
        rng.integers(1, 20, shape) / 10,
        np.full(shape, 0.3),
        rng.uniform(0.5, 2, shape),
        rng.integers(0, 3, shape).astype(float),
        10 ** rng.uniform(-3, 3, shape),
    ][kind % 5]


@given(seed=st.integers(0, 10**6), unit=UNITS)
@settings(max_examples=66, deadline=None)
def test_relative_prices(seed, unit):
    rng = np.random.default_rng(seed)
    price = prices(rng, 20, seed)
    told = relative(price, typical(price))
    assert np.array_equal(relative(price * unit, typical(price * unit)), told)
    assert told * typical(price) == pytest.approx(price, rel=1e-7)


class TestPolicies:
    @pytest.mark.parametrize("name", POLICIES)
    def test_equal_prices_are_no_prices(self, name):
        for seed in (1, 2):
            setting, workers = crowd(seed, m=60, capacity=20)
            plain, _ = play(name, setting, workers, seed=7)
            for price in (0.3,):
                dear = [
                    tuple(one._replace(cost=np.full(2, price)) for one in group)
                    for group in (setting.sample, workers)
                ]
                same = Setting(setting.task_class, 0.3, len(workers), *dear)
                run, _ = play(name, same, dear[1], seed=7)
                assert np.array_equal(run.task, plain.task)
                assert np.array_equal(run.worker, plain.worker)


class TestMainAlgorithm:
    @given(seed=st.integers(0, 10**6), unit=UNITS)
    @settings(max_examples=8, deadline=None)
    def test_decisions_and_weights(self, seed, unit):
        rng = np.random.default_rng(seed)
        answered = np.full((2, 30), 10)
        correct = rng.binomial(answered, rng.uniform(0.5, 1, (2, 30)))
        price = prices(rng, (2, 30), seed)
        mask = rng.random((24, 30)) < 0.7 if seed % 2 else None
        rule = ("relax", "drop")[seed // 2 % 2]
        first, other = (
            adaptive_assignment(
                correct, answered, np.full(30, 6), np.arange(24) % 2,
                AdaptiveSettings(0.3, 20, 10, on_infeasible=rule),
                cost=price * factor, available=mask, seed=3,
            )
            for factor in (1.0, unit)
        )  # fmt: skip
        assert np.array_equal(first.task, other.task)
        assert np.array_equal(first.worker, other.worker)
        assert other.task_weights == pytest.approx(first.task_weights * unit)

    @pytest.mark.parametrize("unit", FEW)
    def test_session(self, unit, tmp_path):
        """Prices that a stream is told, saved and taken up on the way."""
        rng = np.random.default_rng(4)
        tasks = pd.Series({f"t{i}": "ab"[i % 2] for i in range(30)})
        gold = pd.DataFrame(
            {"label": list("yn") * 10, "task_type": ["a"] * 10 + ["b"] * 10},
            index=[f"g{i}" for i in range(20)],
        )
        right = {j: dict(zip(gold.index, rng.random(20) < 0.8, strict=True)) for j in range(20)}
        cost = rng.integers(1, 20, (20, 2)) / 10
        open_to = [tasks.index[rng.random(30) < 0.7].to_list() for _ in range(20)]

        def serve(factor):
            session, asked = (
                AssignmentSession(tasks, gold, workers=12, preliminary=8, epsilon=0.3, seed=1), []
            )  # fmt: skip
            for j in range(20):
                price = {"a": cost[j, 0] * factor, "b": cost[j, 1] * factor}
                first = session.arrive(f"w{j}", 9, cost=price, available=open_to[j])
                session.save(tmp_path / "session.json")
                session = AssignmentSession.load(tmp_path / "session.json")
                flip = {"y": "n", "n": "y"}
                told = gold["label"].to_dict()
                answers = {g: told[g] if right[j][g] else flip[told[g]] for g in first.tasks}
                asked.append(session.observe(f"w{j}", answers).tasks)
            return asked

        bought = serve(1.0)
        assert sum(map(len, bought)) > 30
        assert serve(unit) == bought


class TestAlgorithm1:
    @given(seed=st.integers(0, 10**6), unit=UNITS)
    @settings(max_examples=33, deadline=None)
    def test_task_weights_and_prices_in_one_unit(self, seed, unit):
        rng = np.random.default_rng(seed)
        quality, weights = rng.uniform(0, 1, (9, 6)), rng.uniform(0, 4, 9)
        price, capacity = prices(rng, (9, 6), seed), rng.integers(0, 10, 6)
        quality[0] = price[0] / weights[0] * (quality[0] > 0.5)  # worth nothing, or less
        first, other = (
            primal_approximation(
                quality, weights * factor, capacity, cost=price * factor, seed=2
            )
            for factor in (1.0, unit)
        )  # fmt: skip
        assert np.array_equal(first, other)


class TestSelection:
    @given(seed=st.integers(0, 10**6), unit=UNITS)
    @settings(max_examples=8, deadline=None)
    def test_within_money(self, seed, unit):
        rng = np.random.default_rng(seed)
        m, budget = int(rng.integers(2, 12)), int(rng.integers(1, 6))
        # As few answers as this leave many of one gain.
        gain = (10 * (2 * rng.integers(0, 11, m) / 10 - 1) ** 2 - 1) / 9
        cost = prices(rng, m, seed)
        money = float(rng.choice(cost, min(budget, m), replace=False).sum())  # met to the penny
        first, other = (
            within_money(
                gain, cost * factor, budget, money * factor, seed=1
            )
            for factor in (1.0, unit)
        )  # fmt: skip
        assert first.chosen.tolist() == other.chosen.tolist()
        assert first.heuristic.tolist() == other.heuristic.tolist()
        assert first.score == other.score
        assert other.spent == pytest.approx(first.spent * unit)


class TestSolve:
    """Every formulation and method buys the same labels, also where many plans are equally good."""

    @staticmethod
    def problem(seed, unit):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 9)), int(rng.integers(3, 10))
        quality = rng.integers(0, 11, (n, m)) / 10 if seed % 2 else rng.uniform(0, 1, (n, m))
        need = rng.uniform(0.1, 0.5, n) * quality.sum(axis=1)
        mask = rng.random((n, m)) < 0.9 if seed % 3 == 0 else None
        cost = prices(rng, (n, m), seed) * unit
        return AssignmentProblem(quality, rng.integers(1, n + 1, m), need, cost, mask)

    @pytest.mark.parametrize(
        ("formulation", "method"),
        [
            *(("ip", method) for method in ("auto", "highs", "mip")),
            *((formulation, "auto") for formulation in ("relaxation", "dual", "typed")),
            ("typed", "cutting-planes"),
        ],
    )
    @given(seed=st.integers(0, 10**6), unit=UNITS)
    @settings(max_examples=8, deadline=None)
    def test_plans(self, formulation, method, seed, unit):
        self.check(formulation, method, seed, unit)

    def check(self, formulation, method, seed, unit):
        first, other = (
            solve(self.problem(seed, factor), formulation, method=method) for factor in (1.0, unit)
        )
        assert first.termination == other.termination
        if first.assignment is None:
            assert other.infeasibility.drop == first.infeasibility.drop
            return
        assert np.array_equal(first.assignment, other.assignment)
        assert other.objective == pytest.approx(first.objective * unit)
        assert other.bound == pytest.approx(first.bound * unit)
        assert (first.task_weights is None) == (other.task_weights is None)
        if first.task_weights is not None:
            assert other.task_weights == pytest.approx(first.task_weights * unit)
        assert first.certificate.status == other.certificate.status


@pytest.mark.parametrize("unit", FEW)
def test_learning_with_costs(unit):
    skill, cost = [0.9, 0.8, 0.7, 0.65, 0.6], np.array([0.3, 0.1, 0.2, 0.0, 1.7])
    first, other = (
        simulate(Draws(skill, 3, seed=4), practical(2, 3), 200, costs=cost * factor)
        for factor in (1.0, unit)
    )
    assert np.array_equal(first.chosen, other.chosen)
    assert np.array_equal(first.labels, other.labels)
    assert other.cost_regret == pytest.approx(first.cost_regret * unit)


@pytest.mark.parametrize("unit", FEW)
def test_plan(unit):
    """Prices with nothing in common: one plan is best, in any currency."""
    rng = np.random.default_rng(3)
    skills = pd.DataFrame(
        rng.uniform(0.6, 1, (9, 2)), index=[f"w{j}" for j in range(9)], columns=["a", "b"]
    )
    tasks = pd.Series({f"t{i}": "ab"[i % 2] for i in range(6)})
    cost = pd.DataFrame(rng.uniform(0.5, 2, (9, 2)), index=skills.index, columns=["a", "b"])
    first, other = (
        make_plan(skills, tasks, AssignmentTerms(4, 0.3, cost * factor), time_limit=None)
        for factor in (1.0, unit)
    )
    assert other.solution.objective == pytest.approx(first.solution.objective * unit)
    assert other.solution.bound == pytest.approx(first.solution.bound * unit)
    count = [plan.table.value_counts("worker").to_dict() for plan in (first, other)]
    assert count[0] == count[1]


def priced_instance(unit, kind=0):
    given = simulated(
        specialists(40, seed=1, task_types=2, skilled=0.9, capacity=30),
        tasks=24, preliminary=10, gold=10, epsilon=0.2, seed=np.random.SeedSequence(3),
    )  # fmt: skip
    price = prices(np.random.default_rng(2), (2, 40), kind) * unit
    return type(given)(**{**vars(given), "price": price})


def test_comparison():
    tables = {
        unit: {
            row.method: row
            for row in compare(priced_instance(unit, 2), seed=np.random.SeedSequence(4))
        }
        for unit in (1.0, 0.01)
    }
    for unit in (0.01,):
        for method in METHODS:
            first, other = tables[1.0][method], tables[unit][method]
            for name in ("cost", "cost_gold", "objective", "lower_bound"):
                known = getattr(first, name)
                if known is not None:
                    assert getattr(other, name) == pytest.approx(known * unit, rel=1e-9), method
            if method not in ("offline IP", "relaxation", "dual"):  # of equal plans, any
                for name in ("labels_gold", "labels_task", "tasks_covered", "error_measured"):
                    assert getattr(other, name) == getattr(first, name), method
