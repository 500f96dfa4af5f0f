"""The robust policy: its price beside the integrals that define it, its bounds beside optima."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.assignment.playing import play
from workbench.assignment.policies import ArrivingWorker, Setting
from workbench.assignment.robust import ALARM, STEPS, Account, RankTest, Robust, posted_price
from workbench.base.errors import InputError


def condition(curve, theta, z, p):
    """∫₀ᶻ max(Φ − αp, 1 − α) ds + (1 − z)(θ − αp), Φ straight between its steps."""
    alpha, ends = curve.ratio, np.arange(STEPS + 1) / STEPS
    s = np.linspace(0, z, 4001)
    inside = np.maximum(np.interp(s, ends, curve.price) - alpha * p, 1 - alpha)
    return np.trapezoid(inside, s) + (1 - z) * (theta - alpha * p)


def optimum(offers, theta):
    """Least cost of a cover of 1 from (supply, price), the rest at θ: by price, divisible."""
    lacking, cost = 1.0, 0.0
    for supply, price in sorted(offers, key=lambda one: one[1]):
        taken = min(supply, lacking) if price < theta else 0.0
        lacking, cost = lacking - taken, cost + taken * price
    return cost + lacking * theta


class TestPostedPrice:
    @pytest.mark.parametrize(("theta", "ratio"), [(2, 1.307), (3, 1.551), (5, 1.950), (12, 2.976)])
    def test_it_is_the_smallest_price_its_integrals_allow(self, theta, ratio):
        curve = posted_price(theta)
        assert curve.ratio == pytest.approx(ratio, abs=3e-3)
        traded = (1 - 1 / curve.ratio) * math.exp(1 / curve.ratio)  # 1 − 1/θ at the lower bound
        assert traded >= 1 - 1 / theta
        assert (np.diff(curve.price) <= 1e-9).all()
        assert curve.price[[0, -1]] == pytest.approx([theta / curve.ratio, 1], abs=1e-3)
        assert curve.price[:-1].mean() <= curve.ratio + 1e-5
        for z in np.linspace(0, 0.98, 15):
            p = np.interp(z, np.arange(STEPS + 1) / STEPS, curve.price)
            assert condition(curve, theta, z, p) <= 0.01
            assert condition(curve, theta, z, 0.97 * p) > 0

    def test_no_smaller_ratio_would_do(self):
        curve = posted_price(3.0)
        least = curve._replace(ratio=curve.ratio - 0.02)
        assert condition(least, 3.0, 0.9, curve.price[int(0.9 * STEPS)]) > 0.005

    def test_one_price_leaves_nothing_to_choose(self):
        assert posted_price(1.0).ratio == pytest.approx(1, abs=1e-5)
        with pytest.raises(InputError, match="U/L"):
            posted_price(0.9)


def cost(qualities, theta, need, *, tasks, capacity):
    """Labels and repair of `robust` without a sample, and the relaxed optimum, a task."""
    workers = [ArrivingWorker(np.array([(1 + math.sqrt(q)) / 2]), capacity) for q in qualities]
    rates = (np.array([1.0]), np.array([float(theta)]))
    setting = Setting(
        np.zeros(tasks, dtype=np.int64), math.exp(-need / 2), max(1, len(workers)), rates=rates
    )
    run, policy = play("robust", setting, workers, seed=0)
    repair = np.ceil(policy.remaining() * theta - 1e-6).sum()
    supply = min(capacity, tasks) / tasks / need
    least = optimum([(q * supply, 1 / q) for q in qualities], theta) * need
    return (len(run.task) + repair) / tasks, least


class TestAnyOrder:
    """Whole labels, nobody sampled: α(θ) times the optimum, and 1 + ln(θ/α) labels a task."""

    def test_every_sequence_of_three_qualities(self):
        theta, curve = 3, posted_price(3.0)
        worst = -math.inf
        for qualities in itertools.product([1 / 3, 0.6, 1.0], repeat=4):
            paid, best = cost(np.repeat(qualities, 2), theta, 3.0, tasks=1, capacity=1)
            assert paid <= curve.ratio * best + 1 + math.log(theta / curve.ratio)
            worst = max(worst, paid - curve.ratio * best)
        assert 0 < worst <= 1  # nearer than the theorem has it

    @pytest.mark.release
    @settings(max_examples=15, deadline=None)
    @given(
        theta=st.sampled_from([2, 3, 5]),
        prices=st.lists(st.floats(0, 1), min_size=1, max_size=6),
        repeats=st.integers(1, 5),
        capacity=st.integers(1, 4),
        seed=st.integers(0, 99),
    )
    def test_workers_who_cannot_do_all_tasks(self, theta, prices, repeats, capacity, seed):
        ladder = sorted(prices) if seed % 2 else prices
        qualities = np.repeat([theta ** (x - 1) for x in ladder], repeats)
        paid, best = cost(qualities, theta, 6.0, tasks=4, capacity=capacity)
        ratio = posted_price(theta).ratio
        assert paid <= ratio * best + 1 + math.log(theta / ratio)


@pytest.mark.parametrize("theta", [1.0, 1.0001, 1.001, 1.01, 1.05, 1.3, 2.0, 3.14159, 7.77])
def test_rates_that_are_stated_keep_their_own_ratio(theta):
    """Divisible labels at ever lower prices, as many as could do all; the rest is bought at U."""
    rates = (np.array([1.0]), np.array([theta]))
    setting = Setting(np.zeros(1, dtype=np.int64), 0.2, 1, rates=rates)
    (curve,) = Robust(setting, seed=0).curves
    prices = np.geomspace(theta, 1.0, 2000)
    # Steps of cover for which the posted price is the offer's or above it.
    bought = np.array([np.count_nonzero(curve.price[:-1] >= p) for p in prices]) / STEPS
    paid = np.cumsum(np.diff(bought, prepend=0.0) * prices)
    worst = ((paid + (1 - bought) * theta) / prices).max()
    assert worst <= posted_price(theta).ratio + 1e-6


class TestAccount:
    @settings(max_examples=30, deadline=None)
    @given(seed=st.integers(0, 10**6), theta=st.floats(1.0, 12.0), trend=st.integers(-1, 1))
    def test_whatever_is_posted_stays_within_its_ratio(self, seed, theta, trend):
        rng = np.random.default_rng(seed)
        low, high = np.array([1.0]), np.array([theta])
        account, prices = Account(low, high), theta ** rng.random(120)
        offers, paid, cover = [], 0.0, 0.0
        if trend:
            prices = np.sort(prices)[::trend]
        wish = theta ** rng.uniform(-0.5, 1.2)  # a price that someone trusts, and sticks to
        for price in prices:
            supply = rng.choice([0.003, 0.03, 0.3]) * rng.random()
            offers.append((supply, price))
            least, most = account.bounds(np.array([supply]), np.array([price]))
            if price <= max(min(wish, most[0]), least[0]):
                bought = min(supply, 1 - cover)
                paid, cover = paid + bought * price, cover + bought
                account.book(np.array([bought]), np.array([bought * price]))
            if cover >= 1 - 1e-12:
                break
            assert paid + (1 - cover) * theta <= account.ratio[0] * optimum(offers, theta) + 1e-6
        assert paid <= account.ratio[0] + 1e-6


class TestRankTest:
    def test_a_random_order_hardly_alarms_and_a_trend_soon_does(self):
        rng = np.random.default_rng(0)

        def gain(scores):
            test = RankTest(rng)
            for score in scores:
                test.see(score)
            return test.highest

        alarms = [gain(rng.permutation(60) // 4) >= ALARM for _ in range(150)]
        assert sum(alarms) <= 6
        assert min(gain(np.arange(25.0)), gain(-np.arange(25.0))) >= ALARM


def test_an_order_against_it_costs_re_solve_dear_and_robust_not():
    rng = np.random.default_rng(1)
    skills = -np.sort(-rng.uniform(0.5, 1, 80))
    everyone = [ArrivingWorker(np.array([p]), 20) for p in skills]
    rates = (np.array([1.0]), np.array([3.0]))
    setting = Setting(
        np.zeros(40, dtype=np.int64), 0.2, 60, sample=tuple(everyone[:20]), rates=rates
    )
    repaired = {}
    for name in ("re-solve", "robust"):
        run, policy = play(name, setting, everyone[20:], seed=0)
        repaired[name] = len(run.task) + np.ceil(3 * policy.remaining() - 1e-6).sum()
    assert repaired["robust"] < 0.9 * repaired["re-solve"]
