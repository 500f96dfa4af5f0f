"""Online policies on problems of given data: by hand, by brute force, by several processes."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.assignment import COVERED, POLICIES, ArrivingWorker, AssignmentPolicy, Setting, play
from workbench.base import Entry, InputError
from workbench.base.registry import load_plugin
from workbench.comparison.arrivals import Order, ProblemArrivals, optimum
from workbench.comparison.pooled import Processes
from workbench.comparison.ratios import summed_up

METHODS = ["greedy", "dual descent"]


def drawn(seed, tasks=3, workers=4, **given):
    """A small problem of two types with prices and some pairs closed."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(2, size=tasks)
    skill = rng.choice([0.6, 0.8, 0.9, 1.0], size=(2, workers))
    cost = rng.integers(1, 4, size=(2, workers))[kinds]
    return wb.AssignmentProblem(
        (2 * skill[kinds] - 1) ** 2,
        rng.integers(1, tasks + 1, size=workers),
        wb.requirement(0.7),
        cost,
        rng.random((tasks, workers)) < 0.9,
        **given,
    )


def by_enumeration(problem):
    """Least cost of a cover, of all there are; None for none."""
    n, m = problem.shape
    best = None
    for bits in itertools.product((0, 1), repeat=n * m):
        plan = np.array(bits).reshape(n, m)
        if (plan > problem.mask).any() or (plan.sum(axis=0) > problem.capacity).any():
            continue
        if ((plan * problem.quality).sum(axis=1) < problem.requirement * COVERED).any():
            continue
        cost = float((plan * problem.prices).sum())
        best = cost if best is None else min(best, cost)
    return best


def test_the_optimum_is_that_of_brute_force_and_no_cover_beats_it():
    problems = [drawn(seed) for seed in range(8)]
    least = [by_enumeration(problem) for problem in problems]
    assert None in least
    found = wb.compare(problems, METHODS, trials=2)
    assert set(found.left_out) == {at for at, cost in enumerate(least) if cost is None}
    for row in found.optima.to_dict("records"):
        assert row["proven"]
        assert row["bound"] == pytest.approx(least[row["problem"]])
    covering = found.plays[found.plays["covered"] == 1]
    assert len(covering) > 5
    assert (covering["ratio"] >= 1 - 1e-12).all()


@pytest.mark.parametrize("gain", ["hoeffding", "bhattacharyya"])
def test_a_run_is_what_it_is_by_hand(gain):
    problem = drawn(3, tasks=6, workers=9)
    if gain == "bhattacharyya":
        skill = (1 + np.sqrt(problem.quality)) / 2
        nats = -np.log(2 * np.sqrt(skill * (1 - skill)).clip(1e-30)).clip(None, 50.0)
        nats = np.where(skill == 1, 50.0, nats)
        problem = wb.AssignmentProblem(nats, problem.capacity, 0.4, problem.cost, gain=gain)
    found = wb.compare(problem, ["greedy"], trials=3, seed=5)
    order = Order(5, 0, 2, 0.3)
    come = order.arrival(9)
    arrivals = ProblemArrivals(problem)
    # Skills and prices of each type as any task of it has them.
    assert arrivals.skills.shape[0] == len(np.unique(problem.quality, axis=0))
    workers = [
        ArrivingWorker(
            arrivals.skills[:, j],
            int(problem.capacity[j]),
            np.array(
                [problem.cost[arrivals.kinds == k, j][0] for k in range(len(arrivals.skills))]
            ),
            None if problem.available is None else problem.available[:, j],
        )
        for j in come
    ]
    setting = Setting(arrivals.kinds, arrivals.epsilon, 9, gain=gain)
    assert setting.need == pytest.approx(problem.requirement[0])
    run, _ = play("greedy", setting, workers, seed=order.stream(2))
    paid = sum(problem.prices[i, come[j]] for i, j in zip(run.task, run.worker, strict=True))
    gathered = np.zeros(6)
    for i, j in zip(run.task, run.worker, strict=True):
        gathered[i] += problem.quality[i, come[j]]
    row = found.plays[found.plays["trial"] == 2].iloc[0]
    assert row["cost"] == paid
    assert row["labels"] == len(run.task)
    assert row["covered"] == np.mean(gathered >= problem.requirement * COVERED)
    assert row["ratio"] == paid / optimum(problem, 20.0).bound


def test_every_policy_meets_the_same_order_and_sample_whoever_else_is_compared():
    problem = drawn(3, tasks=6, workers=9)
    both = wb.compare(problem, ["paper", "greedy"], trials=4).plays
    alone = wb.compare(problem, ["greedy"], trials=4).plays
    own = both[both["method"] == "greedy"].reset_index(drop=True)
    pd.testing.assert_frame_equal(own, alone)


def test_means_intervals_and_differences_are_those_by_hand():
    rng = np.random.default_rng(1)
    plays = pd.DataFrame(
        [
            {"problem": p, "trial": t, "method": m, "ratio": rng.random(), "covered": rng.random()}
            for p in range(5)
            for t in range(3)
            for m in ("b", "a")
        ]
    )
    table = summed_up(plays, ["a", "b"]).set_index("method")
    mean = plays.groupby(["method", "problem"])[["ratio", "covered"]].mean()
    student = 2.7764451051977987  # 4 degrees of freedom
    for measure in ("ratio", "covered"):
        own, first = (mean.loc[name, measure].to_numpy() for name in ("b", "a"))
        reach = student * own.std(ddof=1) / np.sqrt(5)
        assert table.loc["b", measure] == pytest.approx(own.mean())
        assert table.loc["b", f"{measure}_low"] == pytest.approx(own.mean() - reach)
        more = own - first
        reach = student * more.std(ddof=1) / np.sqrt(5)
        assert table.loc["b", f"{measure}_more"] == pytest.approx(more.mean())
        assert table.loc["b", f"{measure}_more_high"] == pytest.approx(more.mean() + reach)
        assert np.isnan(table.loc["a", f"{measure}_more"])
    # Of one problem, orders are what is drawn.
    one = summed_up(plays[plays["problem"] == 0], ["a", "b"]).set_index("method")
    x = plays[(plays["problem"] == 0) & (plays["method"] == "a")]["ratio"].to_numpy()
    reach = 4.302652729911275 * x.std(ddof=1) / np.sqrt(3)
    assert one.loc["a", "ratio_high"] == pytest.approx(x.mean() + reach)


PLUGIN = '''
from workbench.assignment import POLICIES, AssignmentPolicy
from workbench.base import Entry
import numpy as np

class First(AssignmentPolicy):
    """The first tasks that she may do."""

    def assign(self, worker):
        may = np.arange(len(self.setting.task_class))
        return (may if worker.available is None else may[worker.available])[: worker.capacity]

POLICIES.register(Entry("first tasks", First, "the first tasks", "a test"))
'''


def test_several_processes_give_what_one_gives_with_a_policy_from_a_file(tmp_path):
    file = tmp_path / "first_tasks.py"
    file.write_text(PLUGIN)
    load_plugin(file)
    try:
        problems = [drawn(seed, tasks=5, workers=8) for seed in range(3)]
        given = {"trials": 12, "seed": 3}
        one, two = (
            wb.compare(problems, ["greedy", "first tasks"], processes=count, **given)
            for count in (1, 2)
        )
    finally:
        file.write_text("")
        load_plugin(file)
    pd.testing.assert_frame_equal(one.plays, two.plays)
    assert one == two


@pytest.fixture
def registered():
    """Register a policy, and forget it again."""
    added = []

    def register(kind):
        POLICIES.register(Entry("mine", kind, "mine", "a test"))
        added.append("mine")

    yield register
    for name in added:
        del POLICIES._entries[name]


def test_a_policy_of_this_session_alone_needs_one_process(registered):
    registered(type("Mine", (AssignmentPolicy,), {"__module__": "__main__"}))
    with pytest.raises(InputError, match="processes=1, or save it in a file") as refused:
        wb.compare(drawn(3), ["mine"], processes=2)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([0, 0], "chose 2 tasks for worker"),
        ([99], "tasks are numbered from 0 to"),
        ([-1], "tasks are numbered from 0 to"),
        ("boom", "ZeroDivisionError"),
    ],
)
def test_a_policy_that_fails_is_named_in_one_line(registered, given, said):
    class Mine(AssignmentPolicy):
        def assign(self, worker):
            return np.array([1 // 0]) if given == "boom" else np.array(given)

    registered(Mine)
    with pytest.raises(InputError, match=r"policy 'mine' \(test_arrival_jobs\.py") as refused:
        wb.compare(drawn(3, workers=9), ["mine"])
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def _share(x):
    return x * x


def _fail(_):
    raise InputError("it is no good")


def test_jobs_end_in_any_order_and_a_failure_is_one_line():
    with Processes(2) as pool:
        assert dict(pool.each(_share, ((k,) for k in range(5)))) == {k: k * k for k in range(5)}
        with pytest.raises(InputError, match=r"^it is no good$"):
            list(pool.each(_fail, [(1,)]))
