"""The best online policy, three ways: dynamic programme, linear program, every policy tried."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest

from crowd_models.online import (
    IndependentArrivals,
    OnlineProblem,
    RandomOrder,
    SequenceMix,
    occupation_program,
)
from crowd_papers.beyond.dynamic_program import (
    LackLevels,
    StateSpace,
    histograms,
    offline_optimum,
    online_optimum,
    ranks,
)
from crowd_papers.beyond.online_optimum import STUDY, judged, play, trial
from crowd_papers.beyond.online_optimum import drawn as run_drawn
from crowd_papers.beyond.online_runs import ONLINE
from tests.core.release import before_a_release
from workbench.base.errors import InputError
from workbench.solving.highs import RunOptions
from workbench.solving.pyomo_route import run_model
from workbench.studies.study import TrialEnded
from workbench.studies.trials import Streams

MOST_POLICIES = 20_000


def drawn(seed):
    """A tiny problem: one or two classes, up to three types, any law of arrivals."""
    rng = np.random.default_rng(seed)

    def wholes(low, high, size):
        return tuple(rng.integers(low, high, size).tolist())

    classes, types, workers = (int(rng.integers(1, high)) for high in (3, 4, 4))
    sequences = tuple({wholes(0, types, rng.integers(0, 4)) for _ in range(4)})
    law = [
        IndependentArrivals(workers, tuple(rng.dirichlet(np.ones(types)).tolist())),
        RandomOrder(wholes(0, 3, types)),
        SequenceMix(sequences, wholes(1, 9, len(sequences))),
    ][seed % 3]
    return OnlineProblem(
        wholes(1, 6, classes),
        wholes(1, 3, classes),
        tuple(wholes(0, 4, types) for _ in range(classes)),
        wholes(1, 4, types),
        tuple(rng.choice([0.5, 1.0, 1.5, 2.0], types).tolist()),
        law,
        float(rng.choice([0.7, 2.0, 4.0])),
        int(rng.integers(1, 3)),
    )


def linear_program(problem):
    model = occupation_program(problem)
    for variable, value in run_model(model, RunOptions(), integer=False).values.items():
        variable.set_value(max(value, 0.0))
    return pyo.value(model.cost)


def every_policy(problem, node, state):
    """Cost of each deterministic policy from here on; None where there are too many."""
    arrivals = problem.arrivals
    found = np.array([arrivals.end(node) * problem.repairs(state)], dtype=float)
    for factor, kind, after in arrivals.after(node):
        ways = []
        for given, left in problem.choices(state, kind):
            later = every_policy(problem, after, left)
            if later is None:
                return None
            paid = arrivals.weight(after) * problem.price[kind] * len(given)
            ways.append(factor * (paid + later))
        if len(found) * sum(map(len, ways)) > MOST_POLICIES:
            return None
        found = np.add.outer(found, np.concatenate(ways)).ravel()
    return found


@pytest.mark.release
def test_the_programme_is_the_linear_program_and_the_best_of_all_policies():
    enumerated = 0
    for seed in range(30):
        enumerated += agree(seed)
    assert enumerated >= 15


@before_a_release
@pytest.mark.release
def test_they_agree_on_two_hundred_more():
    assert sum(agree(seed) for seed in range(30, 230)) >= 100


def agree(seed):
    """Check one problem; whether its policies were few enough to try each."""
    problem = drawn(seed)
    weight, best = problem.arrivals.weight(problem.arrivals.root), online_optimum(problem)
    assert linear_program(problem) / weight == pytest.approx(best.cost, abs=1e-9)
    offline = offline_optimum(problem)
    assert offline <= best.cost + 1e-9
    if isinstance(problem.arrivals, RandomOrder):  # a plan can be carried out in any order
        assert offline == pytest.approx(best.cost, abs=1e-9)
    tried = every_policy(problem, problem.arrivals.root, problem.start)
    if tried is not None:
        assert tried.min() / weight == pytest.approx(best.cost, abs=1e-9)
    return tried is not None


def test_offline_is_the_best_of_every_assignment():
    for seed in (1, 4, 7, 10):
        problem = drawn(seed)  # a known crowd
        kinds = np.repeat(np.arange(len(problem.price)), problem.arrivals.counts).tolist()
        known = replace(problem, arrivals=SequenceMix((tuple(kinds),), (1,)))
        tasks = len(problem.start)
        subsets = [
            [
                s
                for n in range(min(problem.capacity[k], tasks) + 1)
                for s in itertools.combinations(range(tasks), n)
            ]
            for k in kinds
        ]
        least = np.inf
        for plan in itertools.product(*subsets):
            left, cost = list(problem.start), 0.0
            for kind, chosen in zip(kinds, plan, strict=True):
                cost += problem.price[kind] * len(chosen)
                for i in chosen:
                    left[i] = problem.helped(left[i], kind)
            least = min(least, cost + problem.repairs(tuple(left)))
        assert offline_optimum(known) == pytest.approx(least)
        assert online_optimum(known).cost == pytest.approx(least)


SMALL = OnlineProblem(
    (5,), (3,), ((1, 2, 3),), (2, 2, 2), (1.0,) * 3, IndependentArrivals(4, (0.4, 0.3, 0.3)), 2.0
)


def test_capacity_binds_and_tasks_do_not_separate():
    """With room for all tasks the value is n times one task's; with less it is more."""
    one = online_optimum(replace(SMALL, tasks=(1,))).cost
    assert online_optimum(replace(SMALL, capacity=(3, 3, 3))).cost == pytest.approx(3 * one)
    assert online_optimum(SMALL).cost > 3 * one + 0.5


def test_what_it_chooses_costs_what_it_says():
    """Follow the policy along every sequence of arrivals."""
    best = online_optimum(SMALL)
    total = 0.0
    for kinds in itertools.product(range(3), repeat=4):
        state, cost = SMALL.start, 0.0
        for t, kind in enumerate(kinds):
            _, given, state = best.choice(t, t + 1, state, kind)
            cost += SMALL.price[kind] * len(given)
        total += np.prod([(0.4, 0.3, 0.3)[k] for k in kinds]) * (cost + SMALL.repairs(state))
        if len(set(kinds)) == 1:
            assert (
                cost + SMALL.repairs(state)
                >= offline_optimum(replace(SMALL, arrivals=SequenceMix((kinds,), (1,)))) - 1e-9
            )
    assert total == pytest.approx(best.cost)


@pytest.mark.parametrize("policy", ONLINE)
def test_no_policy_is_below_it(policy):
    """What a run costs is the optimum, what its choices lose, and chance of mean 0."""
    best = online_optimum(SMALL)
    runs = []
    for own in np.random.SeedSequence(5).spawn(25):
        draw = run_drawn(SMALL, None, 0.3, 0, own)
        runs.append(judged(best, draw.coming, play(SMALL, policy, draw, own)))
    lost, cost = np.transpose(runs)
    assert (lost >= -1e-9).all()
    chance = cost - lost - best.cost
    assert abs(chance.mean()) < 4 * chance.std(ddof=1) / np.sqrt(len(chance))
    assert lost.mean() > 0


def played(**given):
    small = {
        "requirement": 5,
        "quality": "1 2 3",
        "tasks": 3,
        "workers": 5,
        "capacity": 2,
        "runs": 5,
    }
    defaults = {name: one.default for name, one in STUDY.parameters.items()}
    return trial(defaults | small | given, Streams(3, (1,), b"one"))


class TestFactors:
    """A ratio is future × algorithm × skills."""

    @pytest.mark.parametrize("arrival", ["independent", "worst_first"])
    def test_endless_gold_is_as_good_as_skills_told(self, arrival):
        told = played(policy="dual descent", arrival=arrival)
        gold = played(policy="dual descent", arrival=arrival, gold=10**7)
        assert told["skills_lost"] == 1
        assert gold["lost"] == told["lost"] >= 1
        assert gold["skills_lost"] == pytest.approx(1)
        assert gold["split_ratio"] == pytest.approx(told["unavoidable"] * told["lost"])

    def test_three_answers_cost_something(self):
        found = played(policy="re-solve", gold=3, runs=20)
        assert found["skills_lost"] > 1.01
        factors = found["unavoidable"] * found["lost"] * found["skills_lost"]
        assert found["split_ratio"] == pytest.approx(factors)

    def test_a_known_crowd_and_one_type_of_worker_cost_nothing(self):
        assert played(arrival="random order")["unavoidable"] == pytest.approx(1)
        assert played(quality="2")["unavoidable"] == pytest.approx(1)

    def test_one_order_of_three_is_no_harder_than_any(self):
        any_order, *each = (
            played(policy="greedy", arrival=arrival)
            for arrival in ("any of these", "worst_first", "best_first", "alternating")
        )
        assert any_order["unavoidable"] >= max(one["unavoidable"] for one in each) - 1e-9
        worst = max(one["unavoidable"] * one["lost"] for one in each)
        assert any_order["split_ratio"] == pytest.approx(worst)

    def test_no_correction_from_few_gold_answers(self):
        with pytest.raises(TrialEnded, match="not below"):
            played(policy="paper, corrected", gold=20)


class TestLevels:
    def test_equal_lacks_are_one_level(self):
        """Repair in labels of three, qualities multiples of three: 1, 2 and 3 lack the same."""
        problem = replace(SMALL, quality=((3, 6, 9),), requirement=(7,), repair_quality=3)
        assert LackLevels.of(problem, 0).level == {0: 0, 1: 1, 4: 2, 7: 3}
        mixed = replace(SMALL, quality=((2, 3, 9),), requirement=(7,), repair_quality=9)
        levels = LackLevels.of(mixed, 0).level
        assert levels[1] == levels[2]
        assert levels[3] != levels[2]

    def test_states_are_numbered_in_the_order_listed(self):
        listed = histograms(5, 4)
        assert len({tuple(row) for row in listed.tolist()}) == len(listed) == 56
        assert ranks(listed, 5).tolist() == list(range(56))

    def test_too_many(self):
        with pytest.raises(InputError, match="states, more than"):
            StateSpace(replace(SMALL, tasks=(40,), requirement=(12,)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"quality": (1, 2, 3)}, "quality has shape"),
        ({"capacity": (1,)}, "capacity has shape"),
        ({"price": (1.0, -1.0, 1.0)}, r"price\[1\]"),
        ({"repair_price": 0.0}, "repair_price is 0"),
        ({"requirement": (1.5,)}, "requirement"),
        ({"arrivals": RandomOrder((1, 1, 1, 1))}, "arrivals know 4 types"),
    ],
)
def test_bad_numbers_are_told(change, said):
    with pytest.raises(InputError, match=said):
        replace(SMALL, **change)


@pytest.mark.parametrize(
    ("law", "given", "said"),
    [
        (IndependentArrivals, (3, (0.5, 0.6)), "of sum 1"),
        (IndependentArrivals, (-1, (1.0,)), "workers is -1"),
        (RandomOrder, ((1, -1),), r"counts\[1\]"),
        (SequenceMix, (((0,), (1,)), (1,)), "weights has 1"),
        (SequenceMix, (((0,),), (0,)), "weights are not all"),
        (SequenceMix, (((0, -1),), (1,)), r"sequences\[0\]"),
    ],
)
def test_a_bad_law_is_told(law, given, said):
    with pytest.raises(InputError, match=said):
        law(*given)
