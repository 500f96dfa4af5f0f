"""Tables in, plan out: skills by worker, pairs that may be assigned, workers without history."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.assignment.make_plan import AssignmentTerms, as_pairs, make_plan, offline_problem
from workbench.base.errors import InputError

NAN = float("nan")
SKILLS = pd.Series({"ann": 0.9, "bob": 0.9, "cay": 0.9, "new": NAN})
TASKS = pd.Series("all", index=["a", "b"])
# Two labels of skill 0.9 cover 2 ln(1/0.6) = 1.02, one does not.
ASKED = {"capacity": 2, "epsilon": 0.6, "time_limit": None}
PAIRS = [("a", "ann"), ("a", "bob"), ("b", "ann"), ("b", "cay"), ("b", "new")]


TERMS = ("capacity", "epsilon", "costs", "availability")


def _plan(skills, tasks, **given):
    return make_plan(skills, tasks, _terms(given), **given)


def _problem(skills, tasks, **given):
    return offline_problem(skills, tasks, _terms(given))


def _terms(given):
    terms = {name: given.pop(name) for name in TERMS if name in given}
    if isinstance(terms.get("availability"), list):
        terms["availability"] = as_pairs(terms["availability"])
    return AssignmentTerms(**terms, promise="bound", gain="hoeffding")  # the paper's


def pairs_of(plan):
    return set(plan.table[["task", "worker"]].itertuples(index=False, name=None))


def test_pairs():
    frame = pd.DataFrame(PAIRS, columns=["task", "worker"]).assign(since=2020)
    for told in (as_pairs(pair for pair in PAIRS), frame):
        plan = _plan(SKILLS, TASKS, availability=told, **ASKED)
        assert plan.solution.solved
        assert pairs_of(plan) == set(PAIRS[:4])
    for wrong in ("a,ann", dict(PAIRS), pd.Series(PAIRS), [*PAIRS, ("a", "ann", 1)]):
        with pytest.raises(InputError, match=r"^availability.*; give a data frame with columns"):
            as_pairs(wrong)


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

    def test_are_named_where_there_is_no_plan(self):
        asked = {**ASKED, "epsilon": 0.01}
        plan = _plan(SKILLS, TASKS, **asked)
        assert plan.message is not None
        assert plan.message.startswith("There is no plan, which is proven: all workers together")
        assert "cover tasks a, b (left out, skill unknown: 'new'). Next: " in plan.message
        known = _plan(SKILLS.dropna(), TASKS, **asked)
        assert "unknown" not in str(known.message)


def test_a_pair_of_a_stranger_opens_no_other():
    pairs = [("a", "ann"), ("a", "bob"), ("a", "stranger"), ("b", "stranger")]
    problem = _problem(SKILLS.dropna(), TASKS, capacity=2, epsilon=0.6, availability=pairs)
    assert problem.mask.tolist() == [[True, True, False], [False, False, False]]


WORKERS = list(SKILLS.index)


def planned(skills=SKILLS, tasks=TASKS, **asked):
    return _plan(skills, tasks, **{**ASKED, **asked})


BAD = {
    "nothing known": (lambda: planned(SKILLS * NAN), "skills: none is known; give that of one"),
    "one skill for two types": (
        lambda: planned(tasks=pd.Series({"a": "birds", "b": "dogs"})),
        "skills: one for each worker, and 2 types of task ('birds', 'dogs'); give a column",
    ),
    "no capacity": (
        lambda: planned(capacity=pd.Series(2, index=["bob", "cay", "new"])),
        "capacity: worker 'ann' has none; give every worker one",
    ),
    "pair of another task": (
        lambda: planned(availability=[("z", "ann")]),
        "availability: no task 'z' to be labelled",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_get_one_line_with_the_mend(case):
    call, fragment = BAD[case]
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(fragment)
    assert "\n" not in str(caught.value)
