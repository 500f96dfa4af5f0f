"""Tables in, plan out: skills by worker, pairs that may be assigned, workers without history."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.assignment.make_plan import AssignmentTerms, make_plan, offline_problem
from workbench.base.errors import InputError
from workbench.crowd.skills import skills_from_gold

NAN = float("nan")
SKILLS = pd.Series({"ann": 0.9, "bob": 0.9, "cay": 0.9, "new": NAN})
TASKS = pd.Series("all", index=["a", "b"])
# Two labels of skill 0.9 cover 2 ln(1/0.6) = 1.02, one does not.
ASKED = {"capacity": 2, "epsilon": 0.6, "time_limit": None}
PAIRS = [("a", "ann"), ("a", "bob"), ("b", "ann"), ("b", "cay"), ("b", "new")]


TERMS = ("capacity", "epsilon", "costs", "availability")


def _plan(skills, tasks, **given):
    terms = AssignmentTerms(**{name: given.pop(name) for name in TERMS if name in given})
    return make_plan(skills, tasks, terms, **given)


def _problem(skills, tasks, **given):
    return offline_problem(skills, tasks, AssignmentTerms(**given))


def pairs_of(plan):
    return set(plan.table.itertuples(index=False, name=None))


@pytest.mark.parametrize("form", ["list", "generator", "frame", "frame with more columns"])
def test_pairs_in_any_form(form):
    frame = pd.DataFrame(PAIRS, columns=["task", "worker"])
    given = {
        "list": PAIRS,
        "generator": (pair for pair in PAIRS),
        "frame": frame,
        "frame with more columns": frame.assign(since=2020)[["since", "worker", "task"]],
    }[form]
    plan = _plan(SKILLS, TASKS, availability=given, **ASKED)
    assert plan.solution.solved
    assert pairs_of(plan) == set(PAIRS[:4])


def test_names_of_any_type():
    skills = pd.Series([0.9, 0.9], index=[7, "w"])
    tasks = pd.Series(["all"], index=[("batch", 1)])
    pairs = [(("batch", 1), 7), (("batch", 1), "w")]
    plan = _plan(skills, tasks, availability=pairs, **ASKED)
    assert pairs_of(plan) == set(pairs)


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_the_cheapest_of_all_plans(data):
    """Against every plan there is: skills unknown here and there, prices, pairs."""
    n, m = data.draw(st.integers(1, 2)), data.draw(st.integers(1, 4))
    tasks = pd.Series(data.draw(st.lists(st.sampled_from("xy"), min_size=n, max_size=n)))
    unit = st.sampled_from([NAN, 0.1, 0.5, 0.8, 0.95, 1.0])
    skills = pd.DataFrame(
        {kind: data.draw(st.lists(unit, min_size=m, max_size=m)) for kind in "xy"}
    )
    if skills.isna().to_numpy().all():
        skills.iloc[0, 0] = 0.9
    costs = pd.Series(data.draw(st.lists(st.integers(0, 3), min_size=m, max_size=m)))
    every = list(itertools.product(range(n), range(m)))
    pairs = data.draw(st.none() | st.lists(st.sampled_from(every), unique=True))
    plan = _plan(
        skills, tasks, capacity=1, epsilon=0.7, costs=costs, availability=pairs, time_limit=None
    )
    known = skills.notna().to_numpy()[:, tasks.map({"x": 0, "y": 1})].T
    open_pairs = [(i, j) for i, j in every if known[i, j] and (pairs is None or (i, j) in pairs)]
    quality = (2 * skills.to_numpy()[:, tasks.map({"x": 0, "y": 1})].T - 1) ** 2
    best = None
    for size in range(len(open_pairs) + 1):
        for chosen in itertools.combinations(open_pairs, size):
            gathered = np.zeros(n)
            for i, j in chosen:
                gathered[i] += quality[i, j]
            one_each = len({j for _, j in chosen}) == len(chosen)
            if one_each and (gathered >= -2 * np.log(0.7) - 1e-9).all():
                cost = sum(int(costs[j]) for _, j in chosen)
                best = cost if best is None else min(best, cost)
    assert plan.solution.objective == (None if best is None else pytest.approx(best, abs=1e-9))
    assert pairs_of(plan) <= set(open_pairs)
    unknown = skills.index[skills.isna().all(axis=1)]
    assert plan.without_history == tuple(unknown)


class TestWithoutHistory:
    def test_is_left_out_even_where_free(self):
        """A label of unknown worth costs nothing here, and is still not asked for."""
        costs = pd.Series({"ann": 1.0, "bob": 1.0, "cay": 1.0, "new": 0.0})
        plan = _plan(SKILLS, TASKS, costs=costs, **ASKED)
        assert plan.without_history == ("new",)
        assert "new" not in set(plan.table["worker"])
        assert plan.skills.loc["new"].tolist() == [0.5]
        problem = _problem(SKILLS, TASKS, costs=costs, capacity=2, epsilon=0.6)
        assert problem.mask.tolist() == [[True, True, True, False]] * 2

    def test_changes_nothing_for_the_others(self):
        without = _plan(SKILLS.dropna(), TASKS, **ASKED)
        assert _plan(SKILLS, TASKS, **ASKED).table.equals(without.table)
        assert without.without_history == ()

    def test_are_named_where_there_is_no_plan(self):
        asked = {**ASKED, "epsilon": 0.01}
        plan = _plan(SKILLS, TASKS, **asked)
        assert plan.message is not None
        assert plan.message.startswith("infeasible: all workers together cannot cover tasks a, b")
        assert plan.message.endswith("(left out, skill unknown: 'new')")
        known = _plan(SKILLS.dropna(), TASKS, **asked)
        assert "unknown" not in str(known.message)


def test_a_pair_of_a_stranger_opens_no_other():
    pairs = [("a", "ann"), ("a", "bob"), ("a", "stranger"), ("b", "stranger")]
    problem = _problem(SKILLS.dropna(), TASKS, capacity=2, epsilon=0.6, availability=pairs)
    assert problem.mask.tolist() == [[True, True, False], [False, False, False]]


WORKERS = list(SKILLS.index)
LABELS = pd.DataFrame({"task": ["a", "b"], "worker": "w", "label": ["0", "1"]})
GOLD = pd.Series({"a": "0", "b": "1"}, name="gold")
FRAME = pd.DataFrame({"worker": WORKERS, "cost": 1.0, "capacity": 2})


def planned(skills=SKILLS, tasks=TASKS, **asked):
    return _plan(skills, tasks, **{**ASKED, **asked})


BAD = {
    "skills in a list": (lambda: planned([0.9]), "skills: a list; give a Series of skill"),
    "skills with a column worker": (
        lambda: planned(pd.DataFrame({"worker": ["w"], "skill": [0.9]})),
        "skills: worker is a column; make it the index, as tables.read_skills does",
    ),
    "skill above 1": (
        lambda: planned(SKILLS.replace(0.9, 1.5)),
        "skills: worker 'ann' has 1.5; give a probability from 0 to 1",
    ),
    "skill of a type": (
        lambda: planned(pd.DataFrame({"all": [0.9], "dogs": ["good"]}, index=["w"])),
        "skills: worker 'w' has 'good' for 'dogs'; give a probability",
    ),
    "worker twice": (
        lambda: planned(pd.Series(0.9, index=["w", "w"])), "skills: worker 'w' appears twice; keep",
    ),
    "type twice": (
        lambda: planned(pd.DataFrame([[0.9, 0.8]], index=["w"], columns=["all", "all"])),
        "skills: task type 'all' appears twice; keep one",
    ),
    "nothing known": (lambda: planned(SKILLS * NAN), "skills: none is known; give that of one"),
    "one skill for two types": (
        lambda: planned(tasks=pd.Series({"a": "birds", "b": "dogs"})),
        "skills: one for each worker, and 2 types of task ('birds', 'dogs'); give a column",
    ),
    "tasks in a frame": (
        lambda: planned(tasks=pd.DataFrame({"task": ["a"], "task_type": ["all"]})),
        "tasks: a data frame; give a Series of task_type by task, as "
        "frame.set_index('task')['task_type']",
    ),
    "tasks in a list": (lambda: planned(tasks=["a"]), "tasks: a list; give a Series of task_type"),
    "task twice": (
        lambda: planned(tasks=pd.Series("all", index=["a", "a"])), "tasks: task 'a' appears twice",
    ),
    "task without type": (
        lambda: planned(tasks=pd.Series({"a": "all", "b": None})), "tasks: task 'b' has no value",
    ),
    "no task": (lambda: planned(tasks=TASKS[:0]), "tasks: none; give at least one"),
    "capacity in a frame": (
        lambda: planned(capacity=FRAME),
        "capacity: a data frame; give a Series of capacity by worker, as "
        "frame.set_index('worker')['capacity']",
    ),
    "capacity in a list": (lambda: planned(capacity=[2] * 4), "capacity: a list; give a Series"),
    "half a task": (lambda: planned(capacity=1.5), "capacity is 1.5: give a whole number"),
    "half a task by worker": (
        lambda: planned(capacity=pd.Series(1.5, index=WORKERS)),
        "capacity: worker 'ann' has 1.5; give a whole number of 0 or more",
    ),
    "capacity unknown": (
        lambda: planned(capacity=pd.Series([2, 2, NAN, 2], index=WORKERS)),
        "capacity: worker 'cay' has nan; give a whole number",
    ),
    "two capacities": (
        lambda: planned(capacity=pd.Series(2, index=[*WORKERS, "ann"])),
        "capacity: worker 'ann' appears twice; keep one",
    ),
    "no capacity": (
        lambda: planned(capacity=pd.Series(2, index=["bob", "cay", "new"])),
        "capacity: worker 'ann' has none; give every worker one",
    ),
    "costs in a list": (lambda: planned(costs=[1.0] * 4), "costs: a list; give a Series of cost"),
    "costs with a column worker": (
        lambda: planned(costs=FRAME), "costs: worker is a column; make it the index",
    ),
    "two prices": (
        lambda: planned(costs=pd.DataFrame({"all": 1.0}, index=[*WORKERS, "bob"])),
        "costs: worker 'bob' appears twice; keep one",
    ),
    "price of a type": (
        lambda: planned(costs=pd.DataFrame({"all": [1, 1, -1, 1]}, index=WORKERS)),
        "costs: worker 'cay' has -1; give a price of 0 or more",
    ),
    "price unknown": (
        lambda: planned(costs=pd.Series([1, NAN, 1, 1], index=WORKERS)),
        "costs: worker 'bob' has nan; give a price",
    ),
    "pairs in a Series": (
        lambda: planned(availability=pd.Series(PAIRS)),
        "availability: a Series; give a data frame with columns task, worker, or a list of pairs",
    ),
    "pairs in a dict": (lambda: planned(availability=dict(PAIRS)), "availability: a dict; give"),
    "pairs as text": (lambda: planned(availability="a,ann"), "availability: a str; give"),
    "three in a pair": (
        lambda: planned(availability=[*PAIRS, ("a", "ann", 1)]),
        "availability, pair 5: ('a', 'ann', 1); give",
    ),
    "pairs without the columns": (
        lambda: planned(availability=pd.DataFrame(PAIRS)), "availability: no column 'task'; give",
    ),
    "half a pair": (
        lambda: planned(availability=pd.DataFrame({"task": ["a", "b"], "worker": ["ann", None]})),
        "availability, row 1: worker is missing; fill it in",
    ),
    "pair of another task": (
        lambda: planned(availability=[("z", "ann")]), "availability: no task 'z' to be labelled",
    ),
    "gold in a frame": (
        lambda: skills_from_gold(LABELS, GOLD.rename_axis("task").reset_index()),
        "gold: a data frame; give a Series of gold by task, as frame.set_index('task')['gold']",
    ),
    "gold in a dict": (lambda: skills_from_gold(LABELS, dict(GOLD)), "gold: a dict; give a Series"),
    "gold types in a frame": (
        lambda: skills_from_gold(LABELS, GOLD, LABELS), "task_types: a data frame; give a Series",
    ),
    "labels in a Series": (
        lambda: skills_from_gold(LABELS.set_index(["task", "worker"])["label"], GOLD),
        "labels: a Series; give a data frame with columns task, worker, label",
    ),
    "labels without the columns": (
        lambda: skills_from_gold(LABELS.rename(columns={"worker": "who"}), GOLD),
        "labels: no column 'worker'; name the columns task, worker, label",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_get_one_line_with_the_mend(case):
    call, fragment = BAD[case]
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(fragment)
    assert "\n" not in str(caught.value)
