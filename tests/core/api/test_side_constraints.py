"""The six rows of docs/how-to/side-constraints.md, each held to brute force."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest

import workbench as wb
from crowd_models import offline_ip
from tests.core.release import some
from workbench.solving import own_rows, row_proofs

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "side-constraints.md"
TASKS, WORKERS = 3, 4
PLANS = np.array(list(itertools.product((0, 1), repeat=TASKS * WORKERS))).reshape(
    -1, TASKS, WORKERS
)
"""Every plan."""
KEPT = {
    "per_type": lambda plans, _: (
        (plans[:, :2].sum(axis=1).max(axis=1) <= 2) & (plans[:, 2:].sum(axis=1).max(axis=1) <= 2)
    ),
    "fair": lambda plans, _: np.ptp(plans.sum(axis=1), axis=1) <= 1,
    "apart": lambda plans, _: (plans[:, :, 0] + plans[:, :, 1]).max(axis=1) <= 1,
    "must": lambda plans, _: plans[:, 0, 3] == 1,
    "group_budget": lambda plans, price: (plans * price)[:, :, [0, 3]].sum(axis=(1, 2)) <= 6,
    "labels_a_task": lambda plans, _: (plans.sum(axis=2) == 3).all(axis=1),
}
"""What each of the page's functions asks for, of tasks 0 and 1 that are equal and a third."""


@pytest.fixture(scope="module")
def page():
    """The names that the page's code leaves."""
    names = {}
    for code in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.S | re.M):
        exec(code, names)
    return names


def random_problem(seed):
    rng = np.random.default_rng(seed)
    types = rng.uniform(0.2, 0.9, (2, WORKERS)).round(2)
    price = np.repeat(rng.integers(1, 4, (1, WORKERS)) * 1.0, TASKS, axis=0)
    need = rng.uniform(0.6, 1.6)
    return wb.AssignmentProblem(types[[0, 0, 1]], rng.integers(2, 4, WORKERS), need, cost=price)


def brute_force(problem, kept):
    covers = (PLANS * problem.quality).sum(axis=2) >= problem.requirement - 1e-9
    good = covers.all(axis=1) & (PLANS.sum(axis=1) <= problem.capacity).all(axis=1)
    good &= kept(PLANS, problem.prices)
    cost = (PLANS * problem.prices).sum(axis=(1, 2))[good]
    return cost.min() if len(cost) else None


def holds(name, seeds, page, solver=None):
    ends = []
    for seed in seeds:
        problem = random_problem(seed)
        page["price"] = problem.prices
        solved = wb.solve(problem, constraints=page[name], solver=solver)
        least = brute_force(problem, KEPT[name])
        ends.append(least)
        if least is None:
            assert solved.termination == "infeasible", seed
            free = brute_force(problem, lambda plans, _: np.full(len(plans), True))
            assert (solved.without.objective is None) == (free is None), seed
            assert solved.denied, seed
            continue
        assert solved.objective == pytest.approx(least), seed
        assert solved.solved
        if solver is None:
            assert solved.proven == pytest.approx(least), seed
    return ends


@pytest.mark.parametrize("name", some(KEPT, 2))
def test_a_row_of_the_users_own_is_kept_at_the_least_cost(name, page):
    assert any(least is not None for least in holds(name, range(8), page))


@pytest.mark.release
@pytest.mark.parametrize("name", KEPT)
def test_sixty_instances_equal_brute_force(name, page):
    ends = holds(name, range(60), page)
    assert sum(least is not None for least in ends) > 15


def test_the_page_says_what_a_model_has(page):
    model = page["solved"].model
    for cell in re.findall(r"^\| (`.*?`) \| [a-z]", PAGE.read_text("utf-8"), re.M):
        for name in re.findall(r"`([a-zA-Z_]+)[`\[]", cell):
            if not name.startswith("solved"):
                assert hasattr(model, name), name


def test_the_optimum_of_a_small_program_is_proven_with_its_rows(page):
    solved = page["solved"]
    assert wb.solve(page["problem"]).objective < solved.objective == solved.proven
    assert solved.verdict()[1] == "It is proven that none is cheaper."


def test_what_is_proven_without_the_rows_holds_with_them(page, monkeypatch):
    """Of a program too large to be branched with them."""
    monkeypatch.setattr(own_rows, "TINY", 0)
    problem = page["problem"]
    page["price"] = problem.prices
    bare = wb.solve(problem)
    solved = wb.solve(problem, constraints=page["apart"])
    assert solved.objective == bare.objective == solved.proven
    assert solved.verdict()[1] == "It is proven that none is cheaper."
    solved = wb.solve(problem, constraints=page["labels_a_task"])
    assert bare.objective == solved.proven < solved.objective == solved.bound
    assert "By HiGHS's word alone it holds that none is cheaper." in solved.verdict()
    assert "Proven from the data, without the rows of your own" in solved.summary()


def test_nothing_is_said_of_rows_where_there_are_none(page, monkeypatch):
    problem = page["problem"]
    assert wb.solve(problem, solver="highs").verdict()[1] == "It is proven that none is cheaper."
    monkeypatch.setattr(own_rows, "bound_with_rows", lambda *_: None)
    monkeypatch.setattr(own_rows, "LEAST_SECONDS", math.inf)
    last = wb.solve(problem, solver="highs").verdict()[-1]
    assert last == "Proven from the data: none is cheaper than 11."


@pytest.mark.parametrize("formulation", ["typed", "dual"])
def test_a_linear_program_without_rows_is_proven(page, formulation):
    solved = wb.solve(page["problem"], formulation, solver="highs")
    assert solved.proven == solved.objective
    assert solved.verdict()[1].startswith("It is proven that none is ")


def test_what_is_proven_of_a_selection_holds_with_rows_of_the_users_own(monkeypatch):
    problem = wb.SelectionProblem([0.3, 0.5, 0.2, 0.7], 2)
    free = wb.solve(problem)

    def never_last(model):
        model.never_last = pyo.Constraint(expr=model.x[3] == 0)

    solved = wb.solve(problem, solver="highs")
    assert solved.objective == pytest.approx(free.objective)
    assert solved.verdict()[1] == "It is proven that none is better."
    solved = wb.solve(problem, constraints=never_last)
    assert solved.objective == solved.proven < free.objective
    monkeypatch.setattr(row_proofs, "proven_by_rows", lambda *_: False)
    solved = wb.solve(problem, constraints=never_last)
    assert solved.objective < solved.proven == pytest.approx(free.objective)


def random_rows(rng, model):
    """Add a few rows of whole numbers and others, equations, bounds and values that are fixed."""
    model.rows = pyo.ConstraintList()
    for _ in range(rng.integers(1, 4)):
        scale = rng.choice([1.0, 0.1, np.pi])
        row = sum(scale * int(rng.integers(-3, 4)) * y for y in model.y.values())
        side = scale * int(rng.integers(-2, 4))
        model.rows.add(
            (row <= side, row >= -side, row == side, (-side - scale, row, side))[rng.integers(4)]
            if not isinstance(row, (int, float))
            else model.y[0, 0] <= 1
        )
    i, j = rng.integers(TASKS), rng.integers(WORKERS)
    (model.y[i, j].fix, model.y[i, j].setub, model.y[i, j].setlb)[rng.integers(3)](
        int(rng.integers(2))
    )


def keeps(model, plans):
    """Which plans keep the rows and bounds that `random_rows` has added, to within 1e-6."""
    good = np.full(len(plans), True)
    for at, plan in enumerate(plans):
        for pair, y in model.y.items():
            value = int(plan[pair])
            good[at] &= value == y.value if y.fixed else y.lb <= value <= y.ub
        if good[at]:
            for (i, j), y in model.y.items():
                y.set_value(int(plan[i, j]), skip_validation=True)
            good[at] = all(
                (row.lower is None or pyo.value(row.body) >= pyo.value(row.lower) - 1e-6)
                and (row.upper is None or pyo.value(row.body) <= pyo.value(row.upper) + 1e-6)
                for row in model.rows.values()
            )
    return good


@pytest.mark.parametrize("seed", range(12))
def test_no_bound_with_rows_is_above_what_enumeration_finds(seed):
    """Whatever cost is asked about, attained or not."""
    rng = np.random.default_rng(seed)
    problem = random_problem(seed)
    model = offline_ip(problem)
    random_rows(rng, model)
    covers = (PLANS * problem.quality).sum(axis=2) >= problem.requirement - 1e-9
    covers = covers.all(axis=1) & (PLANS.sum(axis=1) <= problem.capacity).all(axis=1)
    plans = PLANS[covers]
    plans = plans[keeps(model, plans)]
    costs = (plans * problem.prices).sum(axis=(1, 2))
    least = costs.min(initial=math.inf)
    for asked in {least, least + 1} - {math.inf}:
        bound = own_rows.bound_with_rows(problem, model, asked, 5.0 if asked == least else 0.3)
        assert bound is None or bound <= least + 1e-9
        assert asked > least or bound == pytest.approx(least)
    assert own_rows.bound_with_rows(problem, model, 1.0, 5.0) >= min(1.0, least)
    if not len(problem.uncoverable()):
        assert own_rows.is_denied(problem, model, 5.0) == (not len(plans))


def test_of_a_function_that_does_more_than_add_rows_the_problems_data_say_nothing(page):
    """What is proven is proven by the rows of the model as it stands."""

    def uncovered(model):
        model.cover.deactivate()

    def cheaper(model):
        model.cost.set_value(0.5 * model.cost.expr)

    def wider(model):
        model.y[0, 0].domain = page["pyo"].Reals

    def fixed(model):
        model.y[0, 0].fix(1)

    problem = page["problem"]
    least = wb.solve(problem).objective
    for change, most in ((uncovered, 0.0), (cheaper, 0.5 * least), (wider, least)):
        solved = wb.solve(problem, constraints=change)
        assert solved.termination == "optimal"
        assert solved.objective <= most
        assert solved.proven in (None, solved.objective)
    assert wb.solve(problem, constraints=fixed).proven is not None


def test_an_infeasible_model_says_whether_it_was_feasible_without(page):
    def never(model):
        model.never = page["pyo"].Constraint(expr=model.y[0, 0] + model.y[0, 1] >= 3)

    problem = page["problem"]
    first, second = wb.solve(problem, constraints=never).verdict()
    assert first.startswith("By HiGHS's word no answer keeps every row")
    assert second.startswith("Without the rows of your own there is one, of cost")
    tight = wb.AssignmentProblem(problem.quality, 1, 1.0)
    second = wb.solve(tight, constraints=never).verdict()[1]
    assert second.startswith("Nor without the rows of your own. There is no plan, which is proven")


def test_duals_of_the_relaxation_price_a_row_of_the_users_own(page):
    """A unit less of a worker's tasks costs what its dual value says."""
    problem, pyo = page["problem"], page["pyo"]

    def at_most(tasks):
        def add(model):
            model.few = pyo.Constraint(expr=sum(model.y[:, 1]) + sum(model.y[:, 2]) <= tasks)

        return wb.solve(problem, "relaxation", constraints=add)

    solved = at_most(5.0)
    change = (solved.objective - at_most(5.0 - 1e-3).objective) / 1e-3
    assert solved.duals["few"] == pytest.approx(change, abs=1e-6)
    assert solved.duals["few"] < 0
    assert solved.reduced_costs.index.tolist()[0] == "y[0,0]"


def test_a_result_goes_into_json_and_files(page, tmp_path):
    solved = wb.solve(page["problem"], constraints=page["apart"])
    told = solved.to_dict()
    assert told["assignment"] == solved.to_frame().to_numpy().tolist()
    assert set(told["slacks"]) == set(solved.slacks.index)
    for ending in ("lp", "mps"):
        solved.write(tmp_path / f"x.{ending}")
        assert "apart" in (tmp_path / f"x.{ending}").read_text()
    with pytest.raises(wb.InputError, match=r"ends in \.lp or \.mps"):
        solved.write(tmp_path / "x.txt")
    again = wb.solve(solved.model)
    assert again.objective == pytest.approx(solved.objective)
    assert again == wb.solve(solved.model)


def test_types_are_those_that_the_problem_names():
    def few(model):
        model.few = pyo.Constraint(
            model.TYPES, rule=lambda m, t: sum(m.y[i, 0] for i in m.tasks_of[t]) <= 1
        )

    quality, types = np.full((4, 3), 0.8), ["bird", "dog", "bird", "dog"]
    problem = wb.AssignmentProblem(quality, 4, 0.8, task_types=types)
    model = wb.solve(problem, constraints=few).model
    assert list(model.TYPES) == ["bird", "dog"]
    assert model.tasks_of == {"bird": [0, 2], "dog": [1, 3]}
    assert (
        wb.solve(wb.AssignmentProblem(quality, 4, 0.8), constraints=few).slacks.index.tolist()[-1]
        == "few[0]"
    )


@pytest.mark.parametrize("seed", range(12))
def test_a_row_in_whole_numbers_lets_every_plan_through_that_keeps_it(seed):
    """Rows without a common step among them, and each as tight as a plan can make it."""
    rng = np.random.default_rng(seed)
    problem = random_problem(seed)
    values = rng.choice([1.0, 0.01, 1e3, 1e6]) * rng.uniform(-1, 1, (TASKS, WORKERS))
    if seed % 3 == 0:
        values = np.round(values, 2)
    used = (PLANS * values).sum(axis=(1, 2))
    for plan in rng.integers(len(PLANS), size=8):
        model = offline_ip(problem)
        limit = float(used[plan])
        row = sum(float(values[pair]) * y for pair, y in model.y.items())
        model.row = pyo.Constraint(expr=(row <= limit) if seed % 2 else (row >= limit))
        sign = 1 if seed % 2 else -1
        (side,) = own_rows.own_rows(problem, model)
        through = (PLANS * side.pairs).sum(axis=(1, 2)) <= side.limit
        over = sign * (used - limit)
        assert through[over <= 0].all()
        assert not through[over > 2e-6 * max(1.0, np.abs(values).max())].any()
