"""Online assignment policies: what each may do and may not, and slow loops beside fast ones."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models import TypedProblem
from workbench.assignment import POLICIES
from workbench.assignment.adaptive import AdaptiveSettings, adaptive_assignment
from workbench.assignment.playing import play
from workbench.assignment.policies import (
    COVERED,
    ArrivingWorker,
    CoverageAware,
    DualDescent,
    Hindsight,
    Paper,
    ReSolve,
    Setting,
    WrongChoiceError,
    run_policy,
    type_prices,
)
from workbench.assignment.primal import perturb, primal_approximation
from workbench.assignment.weights import offline_weights
from workbench.base.errors import InputError
from workbench.crowd.skills import quality
from workbench.solving import solve

CLOSING = ("coverage-aware", "re-solve", "dual descent", "greedy")


def crowd(seed, *, n=30, m=25, sample=10, types=2, capacity=12, masked=False, priced=False):
    """A setting and its workers, with true skills known."""
    rng = np.random.default_rng(seed)
    everyone = tuple(
        ArrivingWorker(
            rng.uniform(0.5, 1, types),
            int(rng.integers(0, capacity + 1)),
            rng.integers(1, 4, types).astype(float) if priced else None,
            rng.random(n) < 0.7 if masked else None,
        )
        for _ in range(sample + m)
    )
    kind = np.arange(n) % types
    workers = everyone[sample:]
    return Setting(kind, 0.3, m, everyone[:sample], workers), workers


def gathered(setting, workers, run):
    seen = np.stack([quality(one.skill) for one in workers], axis=1)
    return np.bincount(
        run.task, seen[setting.task_class[run.task], run.worker], minlength=len(setting.task_class)
    )


class TestEveryPolicy:
    @pytest.mark.parametrize("name", CLOSING)
    @settings(max_examples=4, deadline=None)
    @given(seed=st.integers(0, 10_000))
    def test_a_covered_task_takes_no_more_labels(self, name, seed):
        setting, workers = crowd(seed)
        run, _ = play(name, setting, workers, seed=seed)
        had = np.zeros(len(setting.task_class))
        for i, j in zip(run.task, run.worker, strict=True):
            assert had[i] < setting.need * COVERED
            had[i] += quality(workers[j].skill)[setting.task_class[i]]

    def test_a_policy_that_cheats_is_found_out(self):
        _, workers = crowd(1, masked=True)

        class Cheat:
            def __init__(self, tasks):
                self.tasks = np.asarray(tasks)

            def assign(self, worker):
                return self.tasks

        first = workers[0]._replace(capacity=5)
        open_, closed = (int(np.flatnonzero(first.available == may)[0]) for may in (True, False))
        free = first._replace(available=None)
        for chosen, worker, said in (
            (range(6), first, "chose 6 tasks for worker eve, who takes 5 at most"),
            ([open_] * 2, first, f"chose task {open_} twice for worker eve"),
            ([closed], first, f"chose task {closed} for worker eve, who may not do it"),
            ([len(first.available)], first, "for worker eve: tasks are numbered from 0 to"),
            ([-1], free, "chose task -1 for worker eve: tasks are numbered from 0"),
            (first.available, first, "for worker eve: give the numbers of tasks"),
            ([0.0], free, "for worker eve: give the numbers of tasks"),
        ):
            with pytest.raises(WrongChoiceError, match=re.escape(said)) as raised:
                run_policy(Cheat(chosen), [worker], ["eve"])
            assert "\n" not in str(raised.value)
        assert not len(run_policy(Cheat([]), [first]).task)

    def test_unknown_names_and_missing_knowledge(self):
        setting, workers = crowd(1)
        with pytest.raises(InputError, match="no policy 'best'"):
            play("best", setting, workers, seed=0)
        blind = Setting(setting.task_class, 0.3, len(workers))
        with pytest.raises(InputError, match="preliminary"):
            play("paper", blind, workers, seed=0)
        with pytest.raises(InputError, match="give `future`"):
            play("hindsight", blind, workers, seed=0)
        for name in ("re-solve", "dual descent", "greedy"):
            assert len(play(name, blind, workers, seed=0)[0].task) > 0


class TestPaper:
    def test_is_the_main_algorithm(self):
        setting, workers = crowd(3)
        everyone = (*setting.sample, *workers)
        skill = np.stack([one.skill for one in everyone], axis=1)
        # 1000 gold tasks of which a share p was right give the skill p to three digits.
        correct = np.round(skill * 1000).astype(int)
        told = [one._replace(skill=correct[:, j] / 1000) for j, one in enumerate(everyone)]
        first = len(setting.sample)
        result = adaptive_assignment(
            correct,
            np.full(skill.shape, 1000),
            np.array([one.capacity for one in everyone]),
            setting.task_class,
            AdaptiveSettings(0.3, len(workers), first),
            seed=5,
        )
        run, _ = play(
            "paper",
            Setting(setting.task_class, 0.3, len(workers), tuple(told[:first])),
            told[first:],
            seed=5,
        )
        assert np.array_equal(run.task, result.task)
        assert np.array_equal(run.worker + first, result.worker)


class TestCoverageAware:
    @settings(max_examples=4, deadline=None)
    @given(seed=st.integers(0, 10_000))
    def test_no_worker_gets_more_than_from_the_paper_with_the_same_weights(self, seed):
        setting, workers = crowd(seed)
        plain, aware = Paper(setting, seed=seed), CoverageAware(setting, seed=seed)
        assert np.array_equal(plain.assigner.task_weights, aware.task_weights)
        for worker in workers:
            # A value within rounding of 0 may be on either side of it for the two perturbations.
            assert len(aware.assign(worker)) <= len(plain.assign(worker))

    @settings(max_examples=4, deadline=None)
    @given(seed=st.integers(0, 10_000))
    def test_equals_a_plain_loop(self, seed):
        setting, workers = crowd(seed, masked=seed % 2 == 1, priced=seed % 3 == 1)
        fast, slow = CoverageAware(setting, seed=seed), CoverageAware(setting, seed=seed)
        for worker in workers:
            assert np.array_equal(fast.assign(worker), plainly(slow, worker))
        assert np.allclose(fast.gathered, slow.gathered)


def plainly(policy, worker):
    """Tasks one after another, the best value first, then the neediest, then by the same draw."""
    setting, weights = policy.setting, policy.assigner.state().weights
    seen, price = policy.perceived(worker), policy.assigner.relative(worker.cost, 2)
    candidates = []
    for i, kind in enumerate(setting.task_class):
        if policy.gathered[i] >= setting.need * COVERED or weights[i] < 0:
            continue
        if worker.available is not None and not worker.available[i]:
            continue
        value = seen[kind] * weights[i] - price[kind]
        if value >= -1e-9 * price[kind]:
            candidates.append((i, value))
    if len(candidates) > worker.capacity:
        order = policy.rng.permutation(np.array([i for i, _ in candidates]))
        place = {int(i): at for at, i in enumerate(order)}
        candidates.sort(key=lambda one: (-one[1], policy.gathered[one[0]], place[one[0]]))
        candidates = candidates[: worker.capacity]
    chosen = sorted(i for i, _ in candidates)
    for i in chosen:
        policy.gathered[i] += seen[setting.task_class[i]]
    return np.array(chosen, dtype=np.int64)


class TestReSolve:
    def test_first_prices_are_the_sampled_lps(self):
        setting, workers = crowd(4, capacity=20, sample=30)
        policy = ReSolve(setting, seed=1)
        policy.assign(workers[0])
        seen = [*setting.sample, workers[0]]
        rows = np.stack([quality(one.skill) for one in seen], axis=1)
        counts = np.bincount(setting.task_class)
        typed = TypedProblem(
            rows,
            np.array([one.capacity for one in seen]),
            np.full(2, setting.need * len(seen) / len(workers)),
            counts,
            np.ones(len(seen), dtype=np.int64),
        )
        assert np.allclose(policy.prices, solve(typed, "typed").task_weights, rtol=1e-3)

    @settings(max_examples=40, deadline=None)
    @given(seed=st.integers(0, 10_000))
    def test_the_price_of_one_type_is_the_programs(self, seed):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(1, 12))
        rows = rng.random((1, k)) ** 3 * (rng.random(k) < 0.9)
        cost = np.ones((1, k)) if seed % 2 else rng.choice([0.0, 1.0, 2.0, 3.3], (1, k))
        capacity, tasks = rng.integers(0, 6, k), rng.integers(0, 8, 1)
        need = rng.uniform(0, 2, 1) * (rng.random() < 0.9)
        most = 100 * max(cost.max(), 1.0)
        price = type_prices(rows, capacity, need, tasks, cost, most, gain="hoeffding")
        program = TypedProblem(rows, capacity, need, tasks, np.ones(k, dtype=np.int64), cost)
        weight = solve(program.with_shortfall(most), "typed").task_weights
        assert np.allclose(price, np.where(tasks > 0, weight, 0.0), rtol=1e-7, atol=1e-9)

    @settings(max_examples=4, deadline=None)
    @given(seed=st.integers(0, 10_000))
    def test_equal_workers_cover_all_tasks_that_they_have_room_for(self, seed):
        rng = np.random.default_rng(seed)
        n, capacity, skill = int(rng.integers(5, 40)), int(rng.integers(1, 5)), rng.uniform(0.7, 1)
        setting = Setting(np.zeros(n, dtype=np.int64), rng.uniform(0.1, 0.9), 1)
        each = math.ceil(setting.need / quality(skill))
        m = math.ceil(n * each / capacity)  # no worker to spare
        workers = [ArrivingWorker(np.array([skill]), capacity)] * m
        setting = Setting(setting.task_class, setting.epsilon, m, tuple(workers[: m // 4]))
        run, policy = play("re-solve", setting, workers, seed=seed)
        assert not policy.open.any()
        assert len(run.task) == n * each


class TestDualDescent:
    def test_one_step_by_hand(self):
        kind = np.zeros(2, dtype=np.int64)
        setting = Setting(kind, 0.3, 4)
        policy = DualDescent(setting, seed=1, start=2.0)
        assert len(policy.assign(ArrivingWorker(np.array([0.6]), 2))) == 0  # 0.04 · 2 is below 1
        assert policy.prices[0] == pytest.approx(2.0 + 0.5 * 1.0)
        assert (
            len(policy.assign(ArrivingWorker(np.array([1.0]), 1))) == 1
        )  # half of the tasks, quality 1
        rate = setting.need / 4
        assert policy.prices[0] == pytest.approx(2.5 + 0.5 * (setting.need / 3 - 0.5) / rate, 1e-4)


class TestGreedy:
    def test_covers_everything_it_can_and_skips_what_says_nothing(self):
        kind = np.zeros(3, dtype=np.int64)
        setting = Setting(kind, 0.3, 20)
        workers = [ArrivingWorker(np.array([p]), 3) for p in [0.5, 0.52, *[0.9] * 18]]
        run, policy = play("greedy", setting, workers, seed=1)
        each = math.ceil(setting.need / 0.64)
        assert np.bincount(run.task).tolist() == [each] * 3
        assert set(run.worker) == set(range(2, 2 + each))
        assert not policy.open.any()


class TestHindsight:
    @pytest.mark.parametrize("masked", [False, True])
    def test_is_the_primal_approximation_with_offline_weights(self, masked):
        setting, workers = crowd(6, m=60, capacity=20, masked=masked)
        run, policy = play("hindsight", setting, workers, seed=3)
        rng = np.random.default_rng(3)
        skill = np.stack([one.skill for one in workers], axis=1)
        seen = perturb(quality(skill), seed=rng)[setting.task_class]
        assert np.array_equal(seen, policy.problem.quality)
        weights, _, _ = offline_weights(policy.problem)
        chosen = primal_approximation(
            seen, weights, policy.problem.capacity, available=policy.problem.available, seed=rng
        )
        found = np.zeros_like(chosen)
        found[run.task, run.worker] = True
        assert np.array_equal(found, chosen)


@pytest.mark.release
def test_every_run_that_covers_costs_at_least_the_certified_bound():
    reached = 0
    for seed in range(3):
        setting, workers = crowd(seed, m=60, capacity=20)
        bound = solve(Hindsight(setting, seed=0).problem, "typed").certificate.lower_bound
        for name in POLICIES:
            run, _ = play(name, setting, workers, seed=seed)
            if (gathered(setting, workers, run) >= setting.need * COVERED).all():
                reached += 1
                assert len(run.task) >= bound * (1 - 1e-4)  # perturbed by 1e-5
    assert reached > 5
