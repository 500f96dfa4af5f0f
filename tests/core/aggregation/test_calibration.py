import numpy as np
import pandas as pd
import pytest

from workbench.aggregation.calibration import (
    Calibration,
    calibration,
    mean_calibration,
    reliability,
    temperature_by_gold,
    temperature_by_labels,
    tempered,
)
from workbench.aggregation.dawid_skene import smoothed
from workbench.aggregation.posteriors import Earlier
from workbench.aggregation.voting import Aggregate
from workbench.base.errors import InputError
from workbench.crowd.simulate import dense_votes, one_coin_labels


def fit(votes, known):
    return smoothed(votes, earlier=Earlier(known), seed=0)


def test_tempered_posteriors():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), 50)
    assert tempered(p, 1.0) is p
    for heat in (0.5, 3.0):
        powers = p ** (1 / heat)
        expected = powers / powers.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(tempered(p, heat), expected, rtol=1e-9)
    assert (tempered(p, 7.0).argmax(axis=1) == p.argmax(axis=1)).all()
    with pytest.raises(InputError, match="temperature"):
        tempered(p, 0.0)


@pytest.mark.parametrize("heat", [0.5, 1.0, 4.0])
def test_a_known_temperature_is_found(heat):
    """Classes drawn from posteriors that are then sharpened: gold finds by how much."""
    rng = np.random.default_rng(1)
    honest = rng.dirichlet(np.ones(3), 3000)
    truth = (rng.random((3000, 1)) > honest.cumsum(axis=1)).sum(axis=1)
    votes = dense_votes(truth[:, None], 3)
    seen = []

    def model(some, known):
        assert len(some) == 3000
        seen.append(known)
        empty = np.zeros(3000, dtype=bool)
        sharp = tempered(honest, 1 / heat)
        return Aggregate(truth, empty, empty, empty, "sharp", {"posterior": sharp})

    found = temperature_by_gold(model, votes, truth, seed=0)
    assert found == pytest.approx(heat, rel=0.08)
    hidden = np.array([known < 0 for known in seen])
    assert (hidden.sum(axis=0) == 1).all()  # each control task once


def overdone(seed):
    """Five workers, of whom three copy each other nine times in ten: posteriors are too sure."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 800)
    labels = one_coin_labels(np.full(5, 0.75), truth, 2, seed=seed)
    copy = rng.random((800, 2)) < 0.9
    labels[:, 1:3] = np.where(copy, labels[:, :1], labels[:, 1:3])
    return dense_votes(labels, 2), truth


def test_both_ways_make_confidences_more_honest():
    for seed in range(3):
        votes, truth = overdone(seed)
        known = np.where(np.arange(800) < 100, truth, -1)
        posterior = fit(votes, known).info["posterior"][100:]
        right = (posterior.argmax(axis=1) == truth[100:]).mean()
        sure = posterior.max(axis=1).mean()
        by_gold = temperature_by_gold(fit, votes, known, seed=seed)
        by_labels = temperature_by_labels(fit, votes, np.full(800, -1), seed=seed)
        assert by_gold > 1.5
        cooled = tempered(posterior, by_gold).max(axis=1).mean()
        assert abs(cooled - right) < 0.5 * (sure - right)
        # Held-out labels share the copying: they correct less, never in the wrong direction.
        assert 1 <= by_labels < 1.5 * by_gold


def test_an_honest_model_is_left_alone():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 3000)
    votes = dense_votes(one_coin_labels(rng.uniform(0.6, 0.9, 6), truth, 2, seed=5), 2)
    nothing = np.full(3000, -1)
    assert temperature_by_labels(fit, votes, nothing, seed=0) == pytest.approx(1, abs=0.3)
    known = np.where(np.arange(3000) < 1000, truth, -1)
    assert temperature_by_gold(fit, votes, known, seed=0) == pytest.approx(1, abs=0.2)


def test_too_little_to_calibrate_by():
    votes = dense_votes(np.array([[0], [1]]), 2)
    with pytest.raises(InputError, match="1 control tasks with labels are too few"):
        temperature_by_gold(fit, votes, np.array([0, -1]), seed=0)
    with pytest.raises(InputError, match="too few labels to hold any out"):
        temperature_by_labels(fit, votes, np.array([-1, -1]), seed=0)


def test_reliability_counts():
    rng = np.random.default_rng(2)
    sure, right = rng.random(500), rng.random(500) < 0.7
    sure[:3] = 1.0, 0.0, np.nan
    table = reliability(sure, right, bins=4)
    for row in table.itertuples():
        part = (sure >= row.low) & ((sure < row.high) | (row.high == 1))
        assert (row.tasks, row.right) == (part.sum(), pytest.approx(right[part].mean()))
        assert row.confidence == pytest.approx(sure[part].mean())
    assert table["tasks"].sum() == 499
    assert reliability([], []).empty
    with pytest.raises(InputError, match="shapes"):
        reliability([0.5], pd.Series([1.0, 0.0]))


@pytest.mark.parametrize(("heat", "floor"), [(1.0, 0.0), (3.0, 0.0), (1.0, 0.3), (3.0, 0.2)])
def test_temperature_and_floor_are_recovered(heat, floor):
    """Tasks that mislead everybody, a share of them whatever the posterior, are a floor."""
    rng = np.random.default_rng(4)
    posterior = rng.dirichlet(np.full(3, 0.3), 6000)
    honest = Calibration(heat, floor).apply(posterior)
    np.testing.assert_allclose(honest.sum(axis=1), 1.0)
    assert honest.min() >= floor / 3
    truth = (rng.random((6000, 1)) > honest.cumsum(axis=1)).sum(axis=1)
    fitted = calibration(posterior, np.eye(3)[truth])
    assert fitted.temperature == pytest.approx(heat, rel=0.12)
    assert fitted.floor == pytest.approx(floor, abs=0.03)


def test_shares_of_a_vote_are_calibrated_by_the_same_formula():
    """A method without a posterior has two outcomes: its answer, and another."""
    share = np.array([0.5, 0.6, 0.9, 1.0])
    how = Calibration(2.0, 0.1)
    np.testing.assert_allclose(
        how.confidence(share, 2), how.apply(np.column_stack([share, 1 - share]))[:, 0]
    )


def test_gold_takes_back_what_copies_make_a_model_believe():
    raw, gaps = [], []
    for seed in range(8):
        votes, truth = overdone(seed)
        result = fit(votes, np.full(800, -1))
        posterior, label = result.info["posterior"], result.label
        fitted = calibration(posterior[:100], np.eye(2)[truth[:100]])
        confidence = fitted.apply(posterior)[np.arange(800), label]
        right = (label == truth)[100:].mean()
        raw.append(result.info["confidence"][100:].mean() - right)
        gaps.append(confidence[100:].mean() - right)
    assert np.mean(raw) > 0.15
    assert abs(np.mean(gaps)) < 0.04


def test_a_mean_calibration_is_less_sure_than_the_likeliest_and_learns():
    """All answers right: with few of them a floor stays possible, with many it goes."""
    floors = []
    for n in (10, 40, 400):
        posterior = np.tile([0.98, 0.02], (n, 1))
        both, least = mean_calibration(posterior, np.zeros(n, dtype=np.int64))
        floors.append(both.floor)
        assert least < both.floor
        assert both.temperature >= 1.0
    assert floors[0] > floors[1] > floors[2]
    assert floors[2] < 0.01


def test_a_mean_calibration_foretells_the_errors_that_it_was_fitted_to():
    rng = np.random.default_rng(3)
    top = rng.uniform(0.6, 0.999, 2000)
    posterior = np.column_stack([top, 1.0 - top])
    floor = 0.2
    wrong = rng.random(2000) > (1.0 - floor) * top + floor / 2
    both, least = mean_calibration(posterior, wrong.astype(np.int64))
    assert 0.0 < least < both.floor < floor
    stated = 1.0 - both.apply(posterior).max(axis=1)
    assert stated.mean() == pytest.approx(wrong.mean(), abs=0.02)
