"""The hunt beyond Theorem 1's bound, and its claims."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from crowd_papers.worker_selection import selection_bound
from tests.core.studies.study_runs import one_record
from tests.papers.worker_selection.made_selection import (
    HOLDS,
    REFUTED,
    UNMEASURED,
    word_of_spoiled,
    words_of,
)
from workbench.accuracy.plurality import plurality_error


class TestBound:
    @pytest.mark.parametrize(("classes", "controls"), [(2, 1), (2, 3), (3, 2), (4, 1)])
    def test_few_with_estimates(self, classes, controls):
        """Over control answers and labels: the mean over answers of the exact error given them."""
        w = np.array([0.6, 0.85])
        total = 0.0
        for right in itertools.product(range(controls + 1), repeat=2):
            weight = classes * np.array(right) / controls - 1
            error = plurality_error(w, weight, classes).probability
            total += float(binom.pmf(right, controls, w).prod()) * error
        found = selection_bound.error_of_few(w, classes, controls)
        assert found.low == pytest.approx(total, abs=1e-9)

    @pytest.mark.parametrize(("classes", "controls"), [(2, 0), (2, 2), (3, 1), (4, 2)])
    def test_many_hold_few_between_them(self, classes, controls):
        for skill, workers in itertools.product((0.15, 0.5, 0.8), (1, 3, 4)):
            few = selection_bound.error_of_few(np.full(workers, skill), classes, controls)
            many = selection_bound.error_of_many(skill, workers, classes, controls)
            assert many.pair == pytest.approx(few.pair)
            assert many.low - 1e-12 <= few.low <= many.high + 1e-12
            if classes == 2:
                assert many.low == pytest.approx(few.low)

    def test_the_counterexample_in_whole_numbers(self):
        """Theorem 1 as printed fails: 8 classes, 60 workers of skill 17/20, one control question.

        Every probability is a fraction, and none is rounded. P(error) is at least
        7 P(s₁ > s₀) − 21 P(s₁ + s₂ ≥ 2 s₀), class 0 being the true one (Bonferroni).
        """
        L, workers = 8, 60
        w = Fraction(17, 20)
        told = (1 - w) / (L - 1)

        def chance(classes, least):
            """P(some wrong classes, together that often named, have `least` or more)."""
            step = np.array([Fraction(0)] * 29)
            for weight, likely in ((L - 1, w), (-1, 1 - w)):  # Lŵ − 1, ŵ from one answer
                step[14 + weight] += likely * told * classes
                step[14 - weight * classes] += likely * w
                step[14] += likely * told * (L - 1 - classes)
            assert step.sum() == 1
            whole, sums = (step * 7 * 400 * 20).astype(object), np.array([1], dtype=object)
            assert all(part.denominator == 1 for part in whole)
            for _ in range(workers):
                sums = np.convolve(sums, [int(part) for part in whole])
            return Fraction(int(sums[14 * workers + least :].sum()), int(sums.sum()))

        ahead, both = chance(1, 1), chance(2, 0)
        error = 7 * ahead - 21 * both
        score = float(L * w - 1) ** 2 * math.sqrt(workers)
        log_bound = -2 * score**2 / (L * (L - 1)) ** 2 + math.log(L - 1)
        log_error = math.log(error.numerator) - math.log(error.denominator)
        assert log_error - log_bound > math.log(2)
        found = selection_bound.error_of_many(0.85, workers, L, 1)
        assert math.log(found.low) == pytest.approx(log_error)
        assert log_error < -(score**2) / (2 * (L - 1) ** 4) + math.log(L - 1)

    def test_the_hunt_finds_it(self):
        record = one_record("selection-bound", search="many", classes=8, controls=1, workers=60)
        assert record["log_ratio"] > 0
        assert record["log_ratio_supported"] < 0
        record = one_record("selection-bound", search="exponents", classes=3, controls=1)
        assert 1.05 < record["exponent_ratio"] < 1.08
        record = one_record("selection-bound", search="many", classes=2, controls=1, workers=60)
        assert record["log_ratio"] < math.log(0.5)


def test_claims_hold_in_good_order():
    assert set(words_of(selection_bound).values()) == {HOLDS}


SPOILED = [
    # study, claim, rows (None: all), column, value, verdict
    (
        "bound",
        "theorem-1-two-classes",
        "classes == 2 and repetition == 0",
        "log_ratio",
        0.1,
        REFUTED,
    ),
    ("bound", "theorem-1-two-classes", "classes == 3", "log_ratio", 0.1, HOLDS),
    ("scores", "theorem-1-two-classes", "repetition == 0", "error", 0.9, REFUTED),
    (
        "bound",
        "theorem-1-more-classes",
        "classes == 3 and repetition == 2",
        "log_ratio",
        0.1,
        REFUTED,
    ),
    ("bound", "theorem-1-more-classes", "classes == 2", "log_ratio", 0.1, HOLDS),
    ("scores", "theorem-1-more-classes", "repetition == 1", "error", 0.9, REFUTED),
    ("bound", "theorem-1-more-classes", None, "search", "exponents", UNMEASURED),
]


@pytest.mark.parametrize(("study", "claim", "rows", "column", "value", "word"), SPOILED)
def test_spoiled(study, claim, rows, column, value, word):
    assert word_of_spoiled(claim, study, rows, column, value) is word
