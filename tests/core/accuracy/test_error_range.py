"""Ranges from what was believed and made; when labels tell nothing of one another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.accuracy.believed import (
    TAIL,
    ErrorRange,
    _Overlap,
    error_range,
    spread,
    untold,
    untold_in_parts,
)
from workbench.base.errors import InputError
from workbench.crowd.votes import Votes


def log_odds(share):
    return np.log(share / (1 - share))


def test_the_range_grows_with_what_is_believed_and_stays_a_share():
    shares = np.linspace(0, 1, 101)
    ranges = [error_range(float(share)) for share in shares]
    lows, highs = (np.array([getattr(one, end) for one in ranges]) for end in ("low", "high"))
    assert ((lows > 0) & (lows < highs) & (highs < 1)).all()
    assert (np.diff(lows) >= 0).all()
    assert (np.diff(highs) >= 0).all()
    assert {one.crowds for one in ranges} == {12}
    with pytest.raises(InputError, match="believed"):
        error_range(1.1)


def test_the_spread_by_hand():
    """Each crowd's residuals from the others' line, each crowd one vote."""
    rng = np.random.default_rng(0)
    crowd = np.repeat([f"c{at}" for at in range(6)], [1, 2, 3, 4, 10, 40])
    believed, made = rng.uniform(0.05, 0.4, 60), rng.uniform(0.02, 0.5, 60)
    x, y = log_odds(believed), log_odds(made)
    vote = np.array([1.0 / (crowd == name).sum() for name in crowd])

    def line(rows):
        slope, level = np.polyfit(x[rows], y[rows], 1, w=np.sqrt(vote[rows]))
        return level, slope

    off = np.empty(60)
    for name in set(crowd):
        level, slope = line(crowd != name)
        own = crowd == name
        off[own] = y[own] - level - slope * x[own]
    every = sorted(zip(off, vote, strict=True))
    ends = []
    for tail in (TAIL, 1 - TAIL):
        total = 0.0
        for value, weight in every:
            total += weight / 6
            if total >= tail:
                ends.append(value)
                break
    level, slope = line(np.full(60, True))
    fitted = spread(crowd.tolist(), believed, made)
    assert (fitted.level, fitted.slope) == pytest.approx((level, slope))
    assert (fitted.low, fitted.high) == pytest.approx(tuple(ends))
    found = fitted.at(0.2)
    assert log_odds(found.low) == pytest.approx(level + slope * log_odds(0.2) + ends[0])
    with pytest.raises(InputError, match="three or more"):
        spread(["a", "b"], [0.1, 0.2], [0.1, 0.2])


def test_a_sentence_has_the_range_and_not_the_figure():
    said = ErrorRange(0.0042, 0.347, 0.123, 12).sentence()
    assert "0.42 to 35 % of the answers" in said
    assert "12 recorded crowds" in said
    assert "12 %" not in said


def votes(labels):
    """Votes of a table tasks × workers, −1 where there is no label."""
    task, worker = np.nonzero(labels >= 0)
    n, m = labels.shape
    return Votes(task, worker, labels[task, worker], np.arange(n), np.arange(m), np.arange(3))


def test_labels_of_one_worker_twice_do_not_overlap():
    once = votes(np.where(np.eye(4, 3, dtype=bool), 1, -1))
    assert "no task has two labels" in untold(once)
    twice = Votes(
        np.r_[once.task, 0],
        np.r_[once.worker, 0],
        np.r_[once.label, 2],
        once.tasks,
        once.workers,
        once.classes,
    )
    assert "no task has labels of two workers" in untold(twice)


@pytest.mark.parametrize("sides", [(3.0, 2.0, 1.0), (16.0, 2.0, 1.0)])
def test_toss_ups_are_told_from_agreement(sides):
    """One time in a hundred coins seem to agree, whatever their sides' shares; workers do."""
    told = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        labels = rng.choice(3, (60, 8), p=rng.dirichlet(sides))
        told.append(untold(votes(np.where(rng.random((60, 8)) < 0.8, labels, -1))) is None)
    assert np.mean(told) < 0.035
    assert np.mean(told) > 0.001
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, 60)
        right = rng.random((60, 3)) < 0.85
        assert untold(votes(np.where(right, truth[:, None], 1 - truth[:, None]))) is None


def test_a_few_tasks_that_overlap_tell_as_much_as_they_do():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 100)
    for overlapping, told in ((19, False), (40, True)):
        labels = np.full((100, 3), -1)
        labels[:, 0] = truth
        labels[:overlapping, 1] = truth[:overlapping]
        assert (untold(votes(labels)) is None) == told
    small = np.repeat(truth[:12, None], 3, axis=1)
    assert untold(votes(small)) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_in_parts_the_same_is_said_as_at_once(seed, parts):
    rng = np.random.default_rng(seed)
    n, m, classes = int(rng.integers(2, 50)), int(rng.integers(1, 6)), int(rng.integers(1, 4))
    labels = rng.integers(0, classes, (n, m))
    agree = rng.random(n) < rng.random()
    labels[agree] = labels[agree, :1]
    labels[rng.random((n, m)) < rng.random()] = -1
    whole = votes(labels)
    ends = np.sort(rng.integers(0, n + 1, parts - 1))
    some = [votes(part) for part in np.split(labels, ends) if len(part)]
    assert untold_in_parts(some) == untold(whole)


def test_agreement_is_held_to_hoeffdings_variance():
    """The sums over tasks come to the formula as it stands in the paper."""
    rng = np.random.default_rng(1)
    size = rng.integers(2, 9, 300)
    task = np.repeat(np.arange(300), size)
    label = rng.choice(3, len(task), p=[0.6, 0.3, 0.1])
    worker = np.arange(len(task)) - np.repeat(np.cumsum(size) - size, size)
    seen = _Overlap()
    seen.add(Votes(task, worker, label, np.arange(300), np.arange(9), np.arange(3)))
    p = np.bincount(label) / len(label)
    a, cubes = (p**2).sum(), (p**3).sum()
    pairs = (size * (size - 1) / 2).sum()
    same = sum(
        (label[task == i][:, None] == label[task == i]).sum() - n for i, n in enumerate(size)
    )
    alone = pairs * (a + a**2 - 2 * cubes)
    unlike = (cubes - a**2) * (size * (size - 1 - 2 * pairs / len(label)) ** 2).sum()
    expected = (same / 2 - a * pairs) / np.sqrt(alone + unlike)
    assert seen.beyond_chance() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("tasks", "agree", "few"), [(7, 6, True), (7, 3, True), (300, 150, False)])
def test_labels_too_few_to_tell_chance_from_agreement_are_said_to_be(tasks, agree, few):
    """Six of seven tasks: workers may well agree, and it may be chance."""
    first = np.arange(tasks) % 2
    label = np.stack([first, np.where(np.arange(tasks) < agree, first, 1 - first)], axis=1)
    why = untold(votes(label))
    assert why is not None
    assert ("too few to tell whether they agree" in why) == few
    assert ("no more than chance explains" in why) == (not few)
