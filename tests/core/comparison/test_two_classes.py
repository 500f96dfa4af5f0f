"""The comparison's arithmetic, on instances small enough to recompute."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crowd_models import requirement
from workbench.base.errors import InputError
from workbench.comparison.instances import RecordedOptions
from workbench.comparison.protocol import everybody
from workbench.comparison.rows import COLUMNS, summarise
from workbench.comparison.running import compare, methods, recorded
from workbench.comparison.two_class_methods import LEARNT, ONLINE_POLICIES
from workbench.comparison.two_classes import simulated
from workbench.crowd.population import Crowd, specialists

METHODS = methods()


def instance(**changes):
    crowd = specialists(52, seed=1, task_types=2, skilled=0.9, capacity=30)
    settings = {"tasks": 30, "preliminary": 12, "gold": 15, "epsilon": 0.2, **changes}
    return simulated(crowd, seed=np.random.SeedSequence(3), **settings)


def rows(given):
    return {row.method: row for row in compare(given, seed=np.random.SeedSequence(4))}


@pytest.fixture(scope="module")
def plain():
    """Rows of the instance as it is."""
    return rows(instance())


def test_every_method_once_in_order(plain):
    assert list(plain) == list(METHODS)


def test_preliminary_workers_get_no_task_and_the_rest_do(plain):
    given = instance()
    assert len(given.main) == 40
    assert len(set(given.order)) == 52
    exact = plain["offline IP"]
    # Specialists of quality 0.64 and strangers of 0: five labels a task at 2 ln 5.
    assert exact.objective == 30 * np.ceil(float(requirement(0.2)) / 0.64)
    assert exact.error_bound == pytest.approx(np.exp(-0.5 * 6 * 0.64))


@pytest.mark.release
def test_prices_enter_cost_objective_and_bound(plain):
    given = instance()
    doubled = type(given)(**{**vars(given), "price": np.full((2, 52), 2.0)})
    dear = rows(doubled)
    assert dear["offline IP"].objective == 2 * plain["offline IP"].objective
    assert dear["offline IP"].lower_bound == pytest.approx(2 * plain["offline IP"].lower_bound)
    for method in METHODS[4:]:
        if method == "information limit":
            continue
        row = dear[method]
        assert row.objective == 2 * row.labels_task
        assert row.cost_gold == 2 * row.labels_gold
        assert row.cost == row.objective + row.cost_gold
        # Twice the price is the same choice.
        assert row.labels_task == plain[method].labels_task
        assert row.cost == 2 * plain[method].cost


@pytest.mark.release
def test_a_gold_label_costs_what_its_worker_charges_for_its_type():
    given = instance()
    price = np.random.default_rng(1).integers(1, 9, (2, 52)) / 10
    dear = rows(type(given)(**{**vars(given), "price": price}))
    assert dear["adaptive"].cost_gold == pytest.approx(15 * price.sum())
    assert dear["re-solve"].cost_gold == pytest.approx(15 * price.sum())
    # Dual descent sees no preliminary worker.
    assert dear["dual descent"].cost_gold == pytest.approx(15 * price[:, given.main].sum())
    assert dear["random + majority"].cost_gold == dear["offline IP"].cost_gold == 0


def test_policies_know_only_their_gold_answers_and_pay_for_them(plain):
    table = plain
    assert table["coverage-aware"].labels_gold == table["adaptive"].labels_gold == 52 * 2 * 15
    assert table["re-solve"].labels_gold == 52 * 2 * 15
    assert table["dual descent"].labels_gold == 40 * 2 * 15  # no preliminary worker
    assert table["coverage-aware"].labels_task <= table["adaptive"].labels_task
    assert table[LEARNT].labels_gold == 52 * 2 * 15
    for method in (*ONLINE_POLICIES, LEARNT):
        row = table[method]
        assert row.labels_task > 0
        assert row.cost == row.labels_task + row.labels_gold
        assert row.ratio == row.objective / table["offline IP"].lower_bound


def test_a_method_added_at_the_end_leaves_the_others_as_they_were():
    few, more = np.random.SeedSequence(4).spawn(8), np.random.SeedSequence(4).spawn(len(METHODS))
    assert [one.spawn_key for one in few] == [one.spawn_key for one in more[:8]]
    latest = ("random + Dawid–Skene", "label until sure", "information limit", LEARNT)
    assert METHODS[8:] == (*ONLINE_POLICIES, *latest)


@pytest.mark.release
def test_the_closed_loop_stands_over_the_information_limit():
    price = np.random.default_rng(2).integers(1, 9, (2, 52)) / 10
    given = instance()
    table = rows(type(given)(**{**vars(given), "price": price}))
    loop, limit = table["label until sure"], table["information limit"]
    assert loop.labels_gold == loop.cost_gold == 0
    assert loop.objective == loop.cost > 0
    assert loop.ratio == loop.objective / loop.lower_bound
    assert loop.tasks_covered is loop.error_bound is loop.error_exact is None
    assert 0 < limit.objective == limit.lower_bound < table["offline IP"].lower_bound
    assert limit.cost is limit.labels_task is limit.error_measured is None
    # The fewer errors it makes the more it must pay; at its own error it does.
    assert (loop.lower_bound >= limit.objective) == (loop.error_measured <= given.epsilon)


@pytest.mark.release
@pytest.mark.parametrize("epsilon", [0.05, 0.2])
def test_by_either_gain_the_offline_methods_keep_the_promise(epsilon):
    """Certified bounds, Theorem 1 and exact errors of covered tasks, over random crowds."""
    for seed in range(2):
        skill = np.random.default_rng(seed).uniform(0.45, 0.99, (1, 45))
        crowd = Crowd(skill, 12, np.arange(45), np.array(["all"]))
        options = {"tasks": 12, "preliminary": 12, "gold": 20, "epsilon": epsilon}
        optimum = {}
        for gain, skills in (("hoeffding", "plug-in"), ("bhattacharyya", "fitted")):
            given = simulated(
                crowd, **options, gain=gain, skills=skills, seed=np.random.SeedSequence(seed)
            )
            assert len(given.tasks) == 12
            table = rows(given)
            exact, paper = table["offline IP"], table["primal approximation"]
            assert exact.lower_bound <= exact.objective == exact.cost
            assert exact.tasks_covered == 12
            assert exact.error_exact <= exact.error_bound <= epsilon
            assert paper.objective <= table["relaxation"].objective + 12 + 1e-6
            assert table["dual"].objective == pytest.approx(table["relaxation"].objective)
            for row in table.values():
                if row.error_bound is not None:
                    assert row.error_exact <= row.error_bound + 1e-9
                    # Whoever covers all tasks pays no less than the bound.
                    assert row.tasks_covered < 12 or row.ratio >= 1 - 1e-9
            optimum[gain] = exact.objective
        assert optimum["bhattacharyya"] < optimum["hoeffding"]


def test_dawid_skene_votes_on_the_labels_of_the_majority_row(plain):
    table = plain
    told, plain = table["random + Dawid–Skene"], table["random + majority"]
    for name in ("labels_task", "cost", "objective", "tasks_covered", "ratio"):
        assert getattr(told, name) == getattr(plain, name)
    assert told.error_exact is told.error_bound is None
    assert 0 <= told.error_measured <= 0.5


def test_fitted_skills_of_recorded_labels_differ_in_nothing_but_the_estimates():
    rng = np.random.default_rng(2)
    true = rng.integers(0, 2, 60)
    good = rng.beta(6, 2, 25)
    labels = pd.DataFrame(
        [
            (f"t{i}", f"w{j}", int(true[i] ^ (rng.random() > good[j])))
            for i in range(60)
            for j in range(25)
        ],
        columns=["task", "worker", "label"],
    )
    gold = pd.Series(true, index=[f"t{i}" for i in range(60)])
    one, other = (
        recorded(
            labels,
            gold,
            RecordedOptions(0.5, 10, 0.2, skills=skills),
            seed=np.random.SeedSequence(1),
        )
        for skills in ("plug-in", "fitted")
    )
    assert (one.order == other.order).all()
    assert (
        one.source.labels(np.arange(20), np.arange(20))
        == other.source.labels(np.arange(20), np.arange(20))
    ).all()
    # Posterior means lie between the shares and what the crowd is like.
    assert other.skill.std() < one.skill.std()
    assert np.corrcoef(one.skill[0], other.skill[0])[0, 1] > 0.99


def test_of_a_simulated_crowd_nothing_is_on_record():
    with pytest.raises(InputError, match="the crowd is simulated"):
        everybody(instance(), seed=np.random.SeedSequence(1))


@pytest.mark.release
def test_unknown_truth_is_not_scored():
    labels = pd.DataFrame(
        [(f"t{i}", f"w{j}", "ab"[i % 2]) for i in range(12) for j in range(9)],
        columns=["task", "worker", "label"],
    )
    gold = pd.Series({f"t{i}": "ab"[i % 2] for i in range(6)}, name="gold")
    given = recorded(labels, gold, RecordedOptions(0.5, 2, 0.4), seed=np.random.SeedSequence(1))
    assert len(given.tasks) == 12
    row = rows(given)["primal approximation"]
    assert row.error_measured == 0
    assert row.error_se == 0
    assert row.tasks_measured == 6


@pytest.mark.release
def test_the_epsilon_named_where_no_task_can_be_covered_reaches_half_of_them():
    options = {"tasks": 12, "preliminary": 4, "gold": 3, "seed": np.random.SeedSequence(1)}
    for seed in range(20):
        skill = np.random.default_rng(seed).uniform(0.4, 0.8, (12, 8))
        crowd = Crowd(skill, 12, np.arange(8), np.arange(12).astype(str))
        with pytest.raises(InputError, match="no task can be covered") as refused:
            simulated(crowd, epsilon=1e-9, **options)
        named = float(str(refused.value).split("`epsilon` ")[1].split()[0])
        assert len(simulated(crowd, epsilon=named, **options).tasks) >= 6
    coins = Crowd(np.full((1, 8), 0.5), 12, np.arange(8), np.array(["all"]))
    with pytest.raises(InputError, match="bring more labels"):
        simulated(coins, epsilon=0.1, **options)


def test_summarise(plain):
    one = pd.DataFrame([vars(row) for row in plain.values()])
    trials = pd.concat([one.assign(trial=0), one.assign(trial=1, error_measured=0.5)])
    summary = summarise(trials, 0.2)
    assert summary["method"].tolist() == list(METHODS)
    assert set(COLUMNS) < set(summary.columns)
    assert summary["trials"].tolist() == [2] * len(METHODS)
    adaptive = summary.set_index("method").loc["adaptive"]
    measured = trials.loc[trials["method"] == "adaptive", "error_measured"]
    assert adaptive["error_measured"] == pytest.approx(measured.mean())
    assert adaptive["error_se"] == pytest.approx(measured.std() / np.sqrt(2))
    assert summarise(one.assign(trial=0), 0.2)["error_se"].iloc[0] == one["error_se"].iloc[0]
