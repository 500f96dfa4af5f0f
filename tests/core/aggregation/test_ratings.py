"""Ratings: posterior by linear algebra, the fit on crowds it is true of, left-out tasks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_models.ratings import RatingTerms
from workbench.aggregation.ratings import (
    RatingModel,
    Ratings,
    fit_ratings,
    leave_out,
    promising,
)
from workbench.base.errors import InputError


def made_up(
    seed: int,
    *,
    tasks: int = 120,
    workers: int = 20,
    each: int = 10,
    slope: float = 0.6,
    floor: float = 40.0,
    gains: float = 0.0,
) -> tuple[Ratings, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Ratings of which the model is true, the truth, and the workers' noise and gain."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(50, 18, tasks)
    noise = rng.gamma(3.0, 80.0, workers)
    level = rng.normal(15, 6, workers)
    off = rng.normal(0, np.sqrt(floor), tasks)
    who = np.array([rng.choice(workers, each, replace=False) for _ in range(tasks)])
    task, worker = np.repeat(np.arange(tasks), each), who.ravel()
    gain = np.maximum(rng.normal(1, gains, workers), 0.0)
    value = level[worker] + gain[worker] * (slope * truth[task] + off[task])
    value = value + rng.normal(size=len(task)) * np.sqrt(noise[worker])
    return Ratings(task, worker, value, tasks, workers), truth, (noise, gain)


NUMBERS = st.floats(0.1, 10.0)


@given(
    st.lists(
        st.tuples(NUMBERS, st.floats(0.1, 3), st.floats(-5, 5), st.floats(-20, 20)),
        min_size=1,
        max_size=5,
    ),
    NUMBERS,
    st.one_of(st.just(0.0), NUMBERS),
    NUMBERS,
    st.floats(-5, 5),
)
def test_posterior_is_that_of_the_joint_normal(
    workers: list[tuple[float, float, float, float]],
    slope: float,
    floor: float,
    variance: float,
    mean: float,
) -> None:
    noise, gain, level, value = (np.array(each) for each in zip(*workers, strict=True))
    k = len(workers)
    model = RatingModel(
        RatingTerms(slope, floor, variance), mean, level, gain, noise, np.ones(k, dtype=int)
    )
    found = model.estimates(Ratings(np.zeros(k, dtype=int), np.arange(k), value, 2, k))
    joint = np.outer(gain, gain) * (slope**2 * variance + floor) + np.diag(noise)
    with_z = slope * variance * gain
    told = np.linalg.solve(joint, with_z)
    off = value - level - slope * gain * mean
    assert found.value[0] == pytest.approx(mean + told @ off, rel=1e-6, abs=1e-6)
    assert found.error[0] ** 2 == pytest.approx(variance - told @ with_z, rel=1e-6)
    assert (found.value[1], found.error[1]) == pytest.approx((mean, np.sqrt(variance)))


def test_fit_finds_what_the_ratings_were_made_of() -> None:
    ratings, truth, (noise, _) = made_up(1, tasks=1500, each=12)
    model = fit_ratings(ratings, truth)
    assert model.terms.slope == pytest.approx(0.6, abs=0.02)
    assert model.terms.floor == pytest.approx(40.0, rel=0.15)
    assert model.noise == pytest.approx(noise, rel=0.25)
    assert np.corrcoef(model.noise, noise)[0, 1] > 0.98
    assert model.gain == pytest.approx(1.0, abs=0.1)


def test_floor_is_right_in_the_mean_of_few_tasks() -> None:
    """Slope and mean take two of twelve tasks' worth of it, which is given back."""
    floors = []
    for seed in range(250):
        ratings, truth, _ = made_up(seed, tasks=12, workers=8, each=8, floor=400.0, slope=2.0)
        floors.append(fit_ratings(ratings, truth).terms.floor)
    assert np.mean(floors) == pytest.approx(400.0, rel=0.1)


def test_fit_finds_gains() -> None:
    ratings, truth, (_, made) = made_up(1, tasks=1500, each=12, gains=0.5)
    found = fit_ratings(ratings, truth).gain
    assert found / found.mean() == pytest.approx(made / made.mean(), abs=0.12)


def test_who_always_names_one_number_counts_little() -> None:
    ratings, truth, _ = made_up(2)
    value = np.where(ratings.worker < 4, 0.0, ratings.value)
    still = Ratings(ratings.task, ratings.worker, value, ratings.tasks, ratings.workers)
    model = fit_ratings(still, truth)
    assert model.precision[:4].max() < 0.1 * np.median(model.precision[4:])


@pytest.mark.parametrize(("each", "gains"), [(4, 0.0), (10, 0.0), (4, 0.5)])
def test_promise_is_kept_by_what_is_made(each: int, gains: float) -> None:
    """Half of the gold teaches; the other half is estimated and foretold, of three crowds."""
    made, foretold = [], []
    for seed in range(3):
        ratings, truth, _ = made_up(seed, tasks=100, each=each, gains=gains)
        known = np.where(np.arange(len(truth)) < 50, truth, np.nan)
        model = promising(fit_ratings(ratings, known), ratings, leave_out(ratings, known))
        found = model.estimates(ratings)
        made.append(((found.value - truth)[50:] ** 2).mean())
        foretold.append((found.error[50:] ** 2).mean())
    assert 0.9 < np.sqrt(np.mean(made) / np.mean(foretold)) < 1.1


def test_left_out_tasks_are_not_looked_at() -> None:
    ratings, truth, _ = made_up(3, tasks=40)
    left = leave_out(ratings, truth)
    other = truth.copy()
    other[7] += 60.0
    again = leave_out(ratings, other)
    assert again.value[7] == left.value[7]
    assert again.value[8] != left.value[8]


def test_parts_leave_all_tasks_out_once() -> None:
    ratings, truth, _ = made_up(4, tasks=130, each=3)
    truth[5] = np.nan
    left = leave_out(ratings, truth, seed=1)
    assert left.tasks.tolist() == [i for i in range(130) if i != 5]
    for task, model in zip(left.tasks, left.models, strict=True):
        gave = ratings.worker[ratings.task == task]
        everybody = np.bincount(ratings.worker[ratings.task != 5], minlength=ratings.workers)
        assert (model.told[gave] < everybody[gave]).all()


def test_floor_is_raised_until_the_error_made_is_foretold() -> None:
    ratings, truth, _ = made_up(5, tasks=40)
    left = leave_out(ratings, truth)
    model = promising(fit_ratings(ratings, truth), ratings, left)
    foretold = [
        each.with_floor(model.terms.floor).estimates(ratings).error[task] ** 2
        for task, each in zip(left.tasks, left.models, strict=True)
    ]
    assert np.mean(foretold) == pytest.approx(((left.value - left.truth) ** 2).mean(), rel=1e-6)


def test_medians_and_means() -> None:
    rng = np.random.default_rng(0)
    task = rng.integers(0, 9, 60)
    value = rng.normal(size=60)
    ratings = Ratings(task, rng.integers(0, 5, 60), value, 10, 5)
    for i in range(9):
        own = value[task == i]
        assert ratings.medians()[i] == pytest.approx(np.median(own))
        assert ratings.means()[i] == pytest.approx(own.mean())
    assert np.isnan([ratings.medians()[9], ratings.means()[9]]).all()


def test_gold_that_tells_nothing_is_refused() -> None:
    ratings, truth, _ = made_up(6, tasks=30)
    with pytest.raises(InputError, match="all are alike"):
        fit_ratings(ratings, np.full(30, 5.0))
    with pytest.raises(InputError, match="do not rise"):
        fit_ratings(ratings, -truth)
