"""Means and paired differences, against references and simulation."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.studies.summary import estimate, means, paired_differences, wilson

numbers = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))
samples = st.lists(numbers, min_size=2, max_size=30)


@settings(deadline=None)
@given(samples)
def test_t_is_scipys(values):
    got = estimate(values)
    assert got.n == len(values)
    assert got.mean == pytest.approx(np.mean(values))
    if len(set(values)) == 1:
        assert (got.se, got.low, got.high) == (0, got.mean, got.mean)
        return
    assert got.se == pytest.approx(scipy.stats.sem(values))
    ends = scipy.stats.t.interval(0.95, len(values) - 1, got.mean, got.se)
    assert (got.low, got.high) == pytest.approx(ends)


@settings(deadline=None)
@given(st.integers(1, 500), st.data())
def test_wilson_is_scipys(n, data):
    k = data.draw(st.integers(0, n))
    ends = scipy.stats.binomtest(k, n).proportion_ci(0.95, "wilson")
    low, high = wilson(k, n)
    assert (float(low), float(high)) == pytest.approx((ends.low, ends.high), abs=1e-12)
    assert np.isnan(wilson(0, 0)).all()


def test_too_few_values_tell_no_doubt():
    assert np.isnan(estimate([])[1:]).all()
    assert estimate([5.0])[1] == 5
    assert np.isnan(estimate([5.0])[2:]).all()


# Means by group.


def trials():
    return pd.DataFrame(
        {
            "method": ["b", "a", "b", "a", "b", "a"],
            "gamma": [None, 0.3, None, 0.3, 0.3, 0.3],
            "repetition": [0, 0, 1, 1, 0, 2],
            "status": ["ok", "ok", "error", "ok", "ok", "deadline"],
            "cost": [4.0, 1, None, 2, 8, None],
            "done": [True, True, None, False, True, None],
        }
    )


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
    whole = means(trials(), [], "done")
    assert whole.loc[0, ["n", "mean", "failed"]].tolist() == [4, 0.75, 2]
    empty = means(trials()[:0], ["method"], "cost")
    assert len(empty) == 0
    assert empty["n"].dtype == np.int64
    failed = trials().assign(status="crashed").drop(columns="cost")
    assert means(failed, ["method"], "cost")["failed"].tolist() == [3, 3]


# Paired differences.


def paired_trials(rng, pairs=12):
    luck = rng.normal(0, 5, pairs)
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "method": name,
                    "repetition": range(pairs),
                    "size": "s",
                    "cost": luck + shift + rng.normal(0, 0.1, pairs),
                }
            )
            for name, shift in [("ours", 1.0), ("theirs", 1.5), ("third", -2.0)]
        ],
        ignore_index=True,
    )


def test_differences_are_those_of_the_pairs():
    table = paired_trials(np.random.default_rng(0))
    got = paired_differences(
        table.sample(frac=1, random_state=1),
        by=["size"],
        method="method",
        reference="ours",
        value="cost",
    ).set_index("method")
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
        by=["size"],
        method="method",
        reference="ours",
        value="cost",
    )
    assert none.loc[none["size"] == "y", "n"].tolist() == [0, 0]
    assert none.loc[none["size"] == "y", "lost"].tolist() == [3, 3]
