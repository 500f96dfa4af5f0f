"""α, κ and AC1 beside three packages on sixty random tables, and on printed examples.

`coefficients.json` holds the tables, a text a task with a digit a worker ("." where she gave no
label), and what krippendorff, irrCAC and statsmodels make of them.
"""

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.core.release import some
from workbench.accuracy.independence import SHARED
from workbench.accuracy.kappas import by_gold, kappas, pair_kappas
from workbench.accuracy.krippendorff import agreement, alpha
from workbench.crowd.votes import Votes

REFERENCE = json.loads(Path(__file__).with_name("coefficients.json").read_text())
TABLES = REFERENCE["tables"]
PRINTED = ["11.1", "2232", *["3333"] * 2, "2222", "1234", "4444", "1121", "2222", ".555", "..11"]
"""Krippendorff (2011), section C, but for a task of one label; Gwet (2014) has it too."""
FLEISS = """0 0 0 0 14; 0 2 6 4 2; 0 0 3 5 6; 0 3 9 2 0; 2 2 8 1 1; 7 7 0 0 0; 3 2 6 3 0; 2 5 3 2 2;
6 5 2 1 0; 0 2 2 3 7"""
"""A printed example of fourteen raters: labels of each class, a row a task."""


def votes_of(units):
    rows = [
        (task, worker, label)
        for task, unit in enumerate(units)
        for worker, label in enumerate(unit)
        if label != "."
    ]
    table = pd.DataFrame(rows, columns=["task", "worker", "label"])
    return Votes.of(table, workers=range(len(units[0])))


def numbers(votes):
    return np.array([float(name) for name in votes.classes])


def test_there_are_sixty_tables_of_named_versions():
    assert len(TABLES) == 60
    assert set(REFERENCE["made_with"]) == {"krippendorff", "irrCAC", "statsmodels"}


@pytest.mark.parametrize("table", some(TABLES, 4), ids=lambda table: table["name"])
def test_coefficients_are_the_packages(table):
    votes = votes_of(table["units"])
    found = agreement(votes, numbers(votes))
    near = {"rel": 0, "abs": 1e-9}
    assert found.alpha == pytest.approx(table["nominal"], **near)
    assert found.ordinal.value == pytest.approx(table["ordinal"], **near)
    assert found.interval.value == pytest.approx(table["interval"], **near)
    both = kappas(votes)
    assert both.fleiss == pytest.approx(table["fleiss"], **near)
    assert both.ac1 == pytest.approx(table["ac1"], **near)
    if table["fleiss_statsmodels"] is not None:
        assert both.fleiss == pytest.approx(table["fleiss_statsmodels"], **near)
    pairs = both.cohen
    told = {
        (a, b): kappa for a, b, kappa in zip(pairs.first, pairs.second, pairs.kappa, strict=True)
    }
    assert len(told) == len(table["cohen"])
    for a, b, kappa in table["cohen"]:
        assert told[a, b] == pytest.approx(np.nan if kappa is None else kappa, nan_ok=True, **near)


def test_the_printed_example_of_alpha():
    votes = votes_of([*PRINTED, "..3."])
    found = agreement(votes, numbers(votes))
    assert round(found.alpha, 3) == 0.743
    assert round(found.ordinal.value, 3) == 0.815
    assert round(found.interval.value, 3) == 0.849
    assert (round(kappas(votes).fleiss, 5), round(kappas(votes).ac1, 5)) == (0.76117, 0.77544)


def test_the_printed_examples_of_kappa():
    units = [
        "".join(str(c) * int(k) for c, k in enumerate(row.split())) for row in FLEISS.split(";")
    ]
    assert round(kappas(votes_of(units)).fleiss, 3) == 0.210
    two = ["yy"] * 20 + ["yn"] * 5 + ["ny"] * 10 + ["nn"] * 15
    assert pair_kappas(votes_of(two)).kappa.tolist() == [pytest.approx(0.4)]


def test_where_a_coefficient_is_not_defined():
    alone, same = votes_of(["1.", ".2", "1."]), votes_of(["11", "11", "1."])
    for votes in (alone, same):
        assert alpha(votes) is None
        assert alpha(votes, numbers(votes), "ordinal") is None
        assert (kappas(votes).fleiss, kappas(votes).ac1) == (None, None)
    assert pair_kappas(alone).mean is None
    constant = pair_kappas(votes_of(["11"] * SHARED))
    assert np.isnan(constant.kappa).all()
    assert constant.mean is None


def test_classes_that_are_no_numbers_do_not_count_for_order():
    votes = votes_of(["12", "23", "33", "1?", "?2"])
    value = np.array([1.0, 2.0, 3.0, np.nan])
    rest = votes_of(["12", "23", "33"])
    for level in ("ordinal", "interval"):
        assert alpha(votes, value, level).value == alpha(rest, value[:3], level).value


def test_alpha_hangs_on_order_and_distance_as_it_should():
    votes = votes_of(["12", "23", "33", "11", "91", "39"])
    far = agreement(votes, numbers(votes))
    near = agreement(votes, np.array([1.0, 2.0, 3.0, 4.0]))
    moved = agreement(votes, numbers(votes) * -7.0 + 1e6)
    assert far.ordinal.value == near.ordinal.value == pytest.approx(moved.ordinal.value)
    assert far.interval.value != near.interval.value
    assert far.interval.value == pytest.approx(moved.interval.value, abs=1e-9)


@pytest.mark.parametrize("level", some(["nominal", "ordinal", "interval"], 3))
def test_the_interval_is_that_of_draws_of_the_tasks(level):
    """Beside draws that are made one by one, of which α is taken as of any labels."""
    rng = np.random.default_rng(3)
    truth = rng.integers(4, size=300)
    label = np.where(rng.random((300, 4)) < 0.6, truth[:, None], rng.integers(4, size=(300, 4)))
    units = np.array(["".join(map(str, row)) for row in label])
    votes = votes_of(units)
    found = alpha(votes, numbers(votes), level, seed=1)
    again = [
        alpha(votes_of(units[rng.integers(300, size=300)]), np.arange(4.0), level).value
        for _ in range(80)
    ]
    assert [found.low, found.high] == pytest.approx(np.quantile(again, [0.025, 0.975]), abs=0.025)
    assert found == alpha(votes, numbers(votes), level, seed=1)
    assert found.low < found.value < found.high


def test_a_hundred_thousand_labels_are_quick():
    rng = np.random.default_rng(4)
    worker = np.argsort(rng.random((20_000, 30)), axis=1)[:, :5]
    truth = rng.integers(5, size=(20_000, 1))
    label = np.where(rng.random((20_000, 5)) < 0.7, truth, rng.integers(5, size=(20_000, 5)))
    task = np.repeat(np.arange(20_000), 5)
    votes = Votes(
        task, worker.ravel(), label.ravel(), np.arange(20_000), np.arange(30), np.arange(5)
    )
    start = time.process_time()
    agreement(votes, np.arange(5.0))
    pair_kappas(votes)
    assert time.process_time() - start < 5.0


def test_workers_beside_gold_class_by_class():
    units = ["0.1", "00.", "01.", "111", "1.0", "0.1"]
    gold = np.array([0, 0, 0, 1, 1, -1])
    found = by_gold(votes_of(units), gold)
    assert found.answered.tolist() == [[3, 2], [2, 1], [1, 2]]
    assert found.right.tolist() == [[3, 2], [1, 1], [0, 1]]
    assert found.kappa[:2].tolist() == pytest.approx([1.0, (2 / 3 - 4 / 9) / (5 / 9)])
    always = by_gold(votes_of(["0.", "0.", "01", "0."]), np.array([0, 0, 1, -1]))
    assert always.kappa[0] == 0.0  # right on two of three, and no better than a guess
    nothing = by_gold(votes_of(["0.", ".1"]), np.array([0, -1]))
    assert np.isnan(nothing.kappa).all()
