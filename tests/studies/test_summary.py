"""Means, differences, ratios and profiles, against definitions, references and simulation."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base.errors import InputError
from workbench.studies.summary import (
    estimate,
    means,
    paired_differences,
    performance_profile,
    primal_integral,
    ratio_interval,
    shifted_geometric_mean,
    wilson,
)

numbers = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))
samples = st.lists(numbers, min_size=2, max_size=30)


# One mean.


@settings(deadline=None)
@given(samples, st.floats(0.5, 0.999))
def test_t_is_scipys(values, confidence):
    got = estimate(values, confidence=confidence)
    assert got.n == len(values)
    assert got.mean == pytest.approx(np.mean(values))
    if len(set(values)) == 1:
        assert (got.se, got.low, got.high) == (0, got.mean, got.mean)
        return
    assert got.se == pytest.approx(scipy.stats.sem(values))
    ends = scipy.stats.t.interval(confidence, len(values) - 1, got.mean, got.se)
    assert (got.low, got.high) == pytest.approx(ends)


@settings(deadline=None)
@given(st.integers(1, 500), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_is_scipys(n, data, confidence):
    k = data.draw(st.integers(0, n))
    ends = scipy.stats.binomtest(k, n).proportion_ci(confidence, "wilson")
    low, high = wilson(k, n, confidence=confidence)
    assert (float(low), float(high)) == pytest.approx((ends.low, ends.high), abs=1e-12)
    got = estimate([1] * k + [0] * (n - k), method="wilson", confidence=confidence)
    assert (got.low, got.high) == (low, high)
    assert got.mean == k / n


def test_wilson_solves_the_score_equation():
    low, high = wilson([3, 0, 20], [20, 20, 20])
    z = scipy.stats.norm.ppf(0.975)
    for share, end in [(0.15, low[0]), (0.15, high[0]), (0, high[1]), (1, low[2])]:
        assert abs(share - end) == pytest.approx(z * math.sqrt(end * (1 - end) / 20))
    assert (low[1], high[2]) == (0, 1)
    assert np.isnan(wilson(0, 0)).all()


def test_too_few_values_tell_no_doubt():
    assert np.isnan(estimate([])[1:]).all()
    for method in ("t", "bootstrap"):
        one = estimate([3], method=method)
        assert one[:2] == (1, 3)
        assert np.isnan(one[2:]).all()
    assert estimate([1], method="wilson").low == pytest.approx(0.2065, abs=1e-4)
    assert estimate([2, 2, 2], method="bootstrap")[1:] == (2, 0, 2, 2)


def test_bootstrap_is_bca():
    """Against the formula of Efron (1987) written out, with the same resamples."""
    x = np.sort(np.random.default_rng(3).exponential(size=25))
    rng = np.random.Generator(np.random.PCG64(11))
    # scipy draws the resamples of a batch at once; here one batch holds them all
    resampled = np.sort(x[rng.integers(0, 25, (9999, 25))].mean(axis=1))
    z0 = scipy.stats.norm.ppf(
        (np.sum(resampled < x.mean()) + 0.5 * np.sum(resampled == x.mean())) / 9999
    )
    left_out = (x.sum() - x) / 24
    off = left_out.mean() - left_out
    a = np.sum(off**3) / (6 * np.sum(off**2) ** 1.5)
    z = z0 + scipy.stats.norm.ppf([0.025, 0.975])
    ends = np.quantile(resampled, scipy.stats.norm.cdf(z0 + z / (1 - a * z)))
    got = estimate(x, method="bootstrap", seed=11)
    assert (got.low, got.high) == pytest.approx(tuple(ends), rel=5e-3)
    again = estimate(x[::-1], method="bootstrap", seed=11)
    assert again == got, "neither order nor call changes it"
    assert estimate(x, method="bootstrap", seed=12)[3:] != got[3:]


def coverage(draw, truth, method, *, rounds, confidence=0.9):
    rng = np.random.default_rng(20)
    hits = 0
    for at in range(rounds):
        got = estimate(draw(rng), confidence=confidence, method=method, seed=at)
        hits += got.low <= truth <= got.high
    return hits / rounds


@pytest.mark.parametrize("n", [2, 5, 40])
def test_t_covers_as_it_says(n):
    share = coverage(lambda rng: rng.normal(3, 2, n), 3, "t", rounds=4000)
    assert share == pytest.approx(0.9, abs=0.015)  # three standard errors


@pytest.mark.parametrize(("n", "p"), [(10, 0.3), (50, 0.05), (200, 0.5)])
def test_wilson_covers_on_average(n, p):
    # Counts are discrete: coverage swings about its nominal value. Compare with the exact one.
    counts = np.arange(n + 1)
    low, high = wilson(counts, n, confidence=0.9)
    exact = scipy.stats.binom.pmf(counts, n, p)[(low <= p) & (p <= high)].sum()
    assert exact == pytest.approx(0.9, abs=0.07)
    share = coverage(lambda rng: rng.random(n) < p, p, "wilson", rounds=3000)
    assert share == pytest.approx(exact, abs=0.02)


@pytest.mark.slow
def test_bootstrap_covers_skewed_values_better_than_t_on_the_far_side():
    rng = np.random.default_rng(4)
    misses = {"t": [0, 0], "bootstrap": [0, 0]}
    for at in range(400):
        x = rng.exponential(size=30)
        for method, missed in misses.items():
            got = estimate(x, confidence=0.9, method=method, seed=at)
            missed[0] += got.low > 1
            missed[1] += got.high < 1
    total = {method: sum(missed) / 400 for method, missed in misses.items()}
    assert 0.06 <= total["bootstrap"] <= 0.16
    # Five a hundred are meant to fall on either side.
    lopsided = {method: missed[1] - missed[0] for method, missed in misses.items()}
    assert 0 < lopsided["bootstrap"] < lopsided["t"]


@pytest.mark.parametrize("method", ["t", "bootstrap"])
@settings(max_examples=15, deadline=None)
@given(
    values=st.lists(st.integers(-50, 50), min_size=3, max_size=12), scale=st.sampled_from([2, 8])
)
def test_interval_moves_with_the_values(method, values, scale):
    got = np.array(estimate(values, method=method)[1:])
    moved = estimate([scale * v + 64 for v in values], method=method)
    np.testing.assert_allclose(moved[1:], scale * got + [64, 0, 64, 64], atol=1e-9)
    mirrored = estimate([-v for v in values], method="t")
    assert (mirrored.low, mirrored.high) == pytest.approx(
        tuple(-end for end in estimate(values)[:2:-1])
    )


@given(samples, st.sampled_from(["t", "bootstrap"]))
@settings(max_examples=30, deadline=None)
def test_interval_holds_the_mean_and_widens_with_confidence(values, method):
    narrow = estimate(values, confidence=0.8, method=method)
    wide = estimate(values, confidence=0.99, method=method)
    slack = 1e-9 * max(map(abs, values), default=0)
    assert min(values) <= narrow.mean <= max(values)
    assert wide.low - slack <= narrow.low <= narrow.high <= wide.high + slack


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        ([1, math.nan], {}, "a value is nan"),
        ([1, math.inf], {}, "a value is inf"),
        ([1, 2], {"confidence": 1}, "confidence is 1"),
        ([1, 2], {"method": "normal"}, "choose from t, bootstrap, wilson"),
        ([0.5, 1], {"method": "wilson"}, "a value is 0.5: wilson is for values 0 and 1"),
    ],
)
def test_bad_values(values, options, words):
    with pytest.raises(InputError, match=words):
        estimate(values, **options)


def test_bad_counts():
    with pytest.raises(InputError, match="successes"):
        wilson(3, 2)
    with pytest.raises(InputError, match="confidence"):
        wilson(1, 2, confidence=0)


# Means by group.


def trials():
    return pd.DataFrame({
        "method": ["b", "a", "b", "a", "b", "a"],
        "gamma": [None, 0.3, None, 0.3, 0.3, 0.3],
        "repetition": [0, 0, 1, 1, 0, 2],
        "status": ["ok", "ok", "error", "ok", "ok", "deadline"],
        "cost": [4.0, 1, None, 2, 8, None],
        "done": [True, True, None, False, True, None],
    })  # fmt: skip


def test_means_count_the_failed():
    got = means(trials(), ["method", "gamma"], "cost")
    assert list(got) == ["method", "gamma", "n", "mean", "se", "low", "high", "failed"]
    assert got["method"].tolist() == ["b", "a", "b"], "in the order first met"
    assert np.isnan(got["gamma"][0])
    assert got["n"].tolist() == [1, 2, 1]
    assert got["failed"].tolist() == [1, 1, 0]
    assert got["mean"].tolist() == [4, 1.5, 8]
    assert got["se"][1] == pytest.approx(0.5)
    assert got["n"].sum() + got["failed"].sum() == len(trials())


def test_means_of_all_and_of_none():
    whole = means(trials(), [], "done", method="wilson")
    assert whole.loc[0, ["n", "mean", "failed"]].tolist() == [4, 0.75, 2]
    empty = means(trials()[:0], ["method"], "cost")
    assert len(empty) == 0
    assert empty["n"].dtype == np.int64
    failed = trials().assign(status="crashed").drop(columns="cost")
    assert means(failed, ["method"], "cost")["failed"].tolist() == [3, 3]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", object, float])
def test_means_read_any_column_of_numbers(dtype):
    table = pd.DataFrame({"cost": pd.Series([1, 2, None, 3], dtype=dtype)})
    got = means(table, [], "cost").loc[0]
    assert got[["n", "mean", "failed"]].tolist() == [3, 2, 1]


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(6)))
def test_means_do_not_depend_on_the_order_of_rows(order):
    sort = ["method", "gamma"]
    got = means(trials().iloc[order], sort, "cost", method="bootstrap").sort_values(sort)
    want = means(trials(), sort, "cost", method="bootstrap").sort_values(sort)
    pd.testing.assert_frame_equal(got.reset_index(drop=True), want.reset_index(drop=True))


def test_groups_do_not_disturb_each_other():
    table = pd.DataFrame({"x": [1] * 30 + [2] * 30})
    table["y"] = np.random.default_rng(1).gamma(1, size=60)
    both = means(table, ["x"], "y", method="bootstrap")
    alone = means(table[table["x"] == 2], ["x"], "y", method="bootstrap")
    assert both.iloc[1].tolist() == alone.iloc[0].tolist()


@pytest.mark.parametrize(
    ("table", "by", "value", "words"),
    [
        (trials(), ["nobody"], "cost", "no column 'nobody': the table has method, gamma"),
        (trials(), ["method"], "nothing", "no column 'nothing'"),
        (trials(), [], "method", "method is not a column of numbers"),
        (trials().assign(cost=list("123456")), [], "cost", "cost is not a column of numbers"),
        (trials().assign(cost=math.inf), [], "cost", "row 0: cost is infinite"),
        (trials().rename(columns={"gamma": "n"}), ["n"], "cost", "'n' has the name of a result"),
    ],
)
def test_bad_tables(table, by, value, words):
    with pytest.raises(InputError, match=words):
        means(table, by, value)


# Paired differences.


def paired_trials(rng, pairs=12):
    luck = rng.normal(0, 5, pairs)
    return pd.concat([
        pd.DataFrame({
            "method": name, "repetition": range(pairs), "size": "s",
            "cost": luck + shift + rng.normal(0, 0.1, pairs),
        })
        for name, shift in [("ours", 1.0), ("theirs", 1.5), ("third", -2.0)]
    ], ignore_index=True)  # fmt: skip


def test_differences_are_those_of_the_pairs():
    table = paired_trials(np.random.default_rng(0))
    got = paired_differences(
        table.sample(frac=1, random_state=1), by=["size"], method="method",
        reference="ours", value="cost",
    ).set_index("method")  # fmt: skip
    wide = table.pivot(index="repetition", columns="method", values="cost")
    for name in ("theirs", "third"):
        test = scipy.stats.ttest_rel(wide[name], wide["ours"])
        ends = test.confidence_interval(0.95)
        assert got.loc[name, ["n", "lost"]].tolist() == [12, 0]
        assert got.loc[name, ["low", "high"]].tolist() == pytest.approx([ends.low, ends.high])
    unpaired = means(table, ["method"], "cost")
    assert got["se"].max() < unpaired["se"].min() / 10, "the instance's luck has cancelled"


def test_lost_pairs_are_counted():
    table = paired_trials(np.random.default_rng(0), 5)
    table.loc[[0, 6], "cost"] = None  # ours at 0, theirs at 1
    table = table.drop(index=[7])  # theirs at 2 is not there
    got = paired_differences(table, method="method", reference="ours", value="cost")
    got = got.set_index("method")
    assert got.loc["theirs", ["n", "lost"]].tolist() == [2, 3]
    assert got.loc["third", ["n", "lost"]].tolist() == [4, 1]
    none = paired_differences(
        table[(table["method"] != "ours") | (table["repetition"] > 2)].assign(
            size=lambda one: np.where(one["repetition"] > 2, "x", "y")
        ),
        by=["size"], method="method", reference="ours", value="cost",
    )  # fmt: skip
    assert none.loc[none["size"] == "y", "n"].tolist() == [0, 0]
    assert none.loc[none["size"] == "y", "lost"].tolist() == [3, 3]


def test_pairs_named_by_several_columns():
    table = paired_trials(np.random.default_rng(0), 5)
    table = pd.concat([table.assign(seed=0), table.assign(seed=1)], ignore_index=True)
    keys = {"method": "method", "reference": "ours", "value": "cost"}
    with pytest.raises(InputError, match="row 15 is a second one of its method for its pair"):
        paired_differences(table, **keys)
    got = paired_differences(table, pair=["seed", "repetition"], interval="bootstrap", **keys)
    assert got["n"].tolist() == [10, 10]
    with pytest.raises(InputError, match="no row has method = 'nobody': there is ours, theirs"):
        paired_differences(table, method="method", reference="nobody", value="cost")


# Ratios.


def test_ratio_is_an_interval_until_the_optimum_is_proven():
    low, high = ratio_interval([12, 12, 12, np.nan], [8, 10, 0, 1], [10, 10, np.inf, 2])
    np.testing.assert_allclose(low, [1.2, 1.2, 0, np.nan])
    np.testing.assert_allclose(high, [1.5, 1.2, np.inf, np.nan])
    low, high = ratio_interval(3, 1 + 1e-12, 1)
    assert low <= 3 <= high, "bounds that cross by rounding alone still make an interval"


@given(st.floats(0, 100), st.floats(0.01, 100), st.floats(0.01, 100), st.floats(0, 1))
def test_ratio_interval_holds_the_ratio(cost, one, other, where):
    lower, upper = sorted((one, other))
    optimum = lower + where * (upper - lower)
    low, high = ratio_interval(cost, lower, upper)
    assert low * (1 - 1e-12) <= cost / optimum <= high * (1 + 1e-12)


def test_bad_ratios():
    with pytest.raises(InputError, match="lower is 3 and upper 2"):
        ratio_interval(1, 3, 2)
    with pytest.raises(InputError, match="cost is -1: give 0 or more"):
        ratio_interval(-1, 1, 2)


# Solvers.


@settings(deadline=None)
@given(st.lists(st.floats(0, 1e5), min_size=1, max_size=20), st.sampled_from([1, 10]))
def test_shifted_geometric_mean(values, shift):
    got = shifted_geometric_mean(values, shift)
    assert got == pytest.approx(
        scipy.stats.gmean(np.array(values) + shift) - shift, rel=1e-9, abs=1e-8
    )
    assert min(values) - 1e-8 <= got <= max(values) + 1e-6
    assert got <= np.mean(values) + 1e-6


def test_shifted_geometric_mean_by_hand():
    assert shifted_geometric_mean([1, 100], 0) == pytest.approx(10)
    assert shifted_geometric_mean([0, 30], 10) == pytest.approx(10)  # √(10·40) − 10
    assert shifted_geometric_mean([0, 30], 0) == 0


@pytest.mark.parametrize(
    ("values", "shift", "words"),
    [([], 1, "empty"), ([1], -1, "shift"), ([1, math.nan], 1, "nan"), ([-1], 2, "a value is -1")],
)
def test_bad_shifted_geometric_means(values, shift, words):
    with pytest.raises(InputError, match=words):
        shifted_geometric_mean(values, shift)


def test_performance_profile_by_hand():
    runs = pd.DataFrame({
        "solver": ["A", "A", "A", "A", "B", "B", "B"],
        "instance": [1, 2, 3, 4, 1, 2, 3],
        "time": [1.0, 4, 2, 9, 3, 2, 2],
        "status": ["ok", "ok", "ok", "limit", "ok", "ok", "ok"],
    })  # fmt: skip
    got = performance_profile(runs, "solver", "instance", "time")
    # Instance 4 nobody solves: it stays in the denominator.
    assert got.query("solver == 'A'")[["ratio", "share"]].to_numpy().tolist() == [
        [1, 0.5], [2, 0.75], [3, 0.75],
    ]  # fmt: skip
    assert got.query("solver == 'B'")[["ratio", "share"]].to_numpy().tolist() == [
        [1, 0.5], [3, 0.75],
    ]  # fmt: skip
    assert len(performance_profile(runs[:0], "solver", "instance", "time")) == 0


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=3, max_size=3), min_size=1),
    st.floats(1, 12),
)
def test_performance_profile_is_its_definition(costs, tau):
    names = ["A", "B", "C"]
    runs = pd.DataFrame([
        {"solver": name, "instance": at, "cost": None if value is None else float(value)}
        for at, row in enumerate(costs)
        for name, value in zip(names, row, strict=True)
    ]).astype({"cost": float})  # fmt: skip
    got = performance_profile(runs.sample(frac=1, random_state=0), "solver", "instance", "cost")
    for at, name in enumerate(names):
        solved = 0
        for row in costs:
            known = [value for value in row if value is not None]
            solved += row[at] is not None and row[at] <= tau * min(known)
        steps = got[(got["solver"] == name) & (got["ratio"] <= tau)]
        assert steps["share"].iloc[-1] == pytest.approx(solved / len(costs))
    assert got.groupby("solver")["ratio"].max().nunique() == 1, "all end together"


def test_bad_profiles():
    runs = pd.DataFrame({"solver": ["A", "A"], "instance": [1, 1], "cost": [1.0, 2]})
    with pytest.raises(InputError, match="row 1 is a second one of its solver"):
        performance_profile(runs, "solver", "instance", "cost")
    with pytest.raises(InputError, match="cost is -1"):
        performance_profile(runs.assign(cost=[1.0, -1]), "solver", "instance", "cost")


def test_primal_integral_by_hand():
    assert primal_integral([], [], 10, 60) == 60
    assert primal_integral([0], [10], 10, 60) == 0
    # 5 s with nothing, 15 s at a gap of ½, then optimal; what comes after the end is not seen.
    assert primal_integral([5, 20, 70], [20, 10, 9], 10, 60) == pytest.approx(5 + 15 / 2)
    assert primal_integral([0], [-1], 1, 10) == 10, "signs differ"
    assert primal_integral([0, 4], [3, 0], 0, 10) == 4, "best is 0"
    assert primal_integral([3], [0], 0, 0) == 0


@given(
    st.lists(st.tuples(st.floats(0, 100), st.integers(-5, 5)), max_size=8),
    st.integers(-5, 5),
    st.floats(0.1, 120),
)
def test_primal_integral_is_the_area(found, best, horizon):
    found.sort(key=lambda pair: pair[0])
    got = primal_integral([t for t, _ in found], [v for _, v in found], best, horizon)
    assert 0 <= got <= horizon * (1 + 1e-12)

    def gap(time):
        seen = [v for t, v in found if t <= time]
        if not seen:
            return 1.0
        if seen[-1] == best:
            return 0.0
        if seen[-1] * best < 0:
            return 1.0
        return abs(seen[-1] - best) / max(abs(seen[-1]), abs(best))

    grid = np.unique([0, horizon, *(min(t, horizon) for t, _ in found)])
    area = sum((b - a) * gap((a + b) / 2) for a, b in itertools.pairwise(grid))
    assert got == pytest.approx(area, abs=1e-9)


@pytest.mark.parametrize(
    ("times", "values", "horizon", "words"),
    [
        ([1, 2], [1], 5, "one value a time"),
        ([2, 1], [1, 1], 5, "in the order"),
        ([-1], [1], 5, "seconds from 0 on"),
        ([1], [math.nan], 5, "finite"),
    ],
)
def test_bad_primal_integrals(times, values, horizon, words):
    with pytest.raises(InputError, match=words):
        primal_integral(times, values, 1, horizon)
