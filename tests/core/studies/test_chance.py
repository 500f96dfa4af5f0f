"""Chance, and errors compared at equal labels."""

import numpy as np
import pandas as pd
import pytest

from workbench.studies.chance import beyond_chance, broken_somewhere, flags, gap, mean_se
from workbench.studies.claiming import NotMeasured, enough


class TestChance:
    def test_few_failures_are_allowed(self):
        """And many questions want more."""
        found = [beyond_chance(broken, 100, 0.05) for broken in (0, 8, 14, 15)]
        assert found == [False, False, True, True]
        assert not beyond_chance(14, 100, 0.05, looks=100)

    def test_false_alarms_are_rare(self):
        """A promise kept with exactly 1 − δ is called broken in about 1 of 1000 samples."""
        rng = np.random.default_rng(1)
        called = [beyond_chance(int(k), 200, 0.1) for k in rng.binomial(200, 0.1, 4000)]
        assert np.mean(called) < 0.003

    def test_one_bad_setting_is_found(self):
        """Eight failures in 100 are within chance at δ = 0.05, but not all at one setting."""
        rows = pd.DataFrame({"delta": 0.05, "epsilon": np.repeat(np.arange(10), 10)})
        spread = pd.Series(np.arange(100) % 13 == 0)
        heaped = pd.Series(np.arange(100) < 8)
        assert not broken_somewhere(rows, spread, ["epsilon"])
        assert broken_somewhere(rows, heaped, ["epsilon"])


class TestGap:
    EQUAL = pd.DataFrame(
        [
            {"repetition": r, "labels": x, "a": x / 100 + r / 10, "b": x / 200 + r / 10}
            for r in range(6)
            for x in (10.0, 20.0, 30.0, 40.0)
        ]
    )

    def test_pairing_takes_out_the_crowd(self):
        """Crowds differ much, the methods' difference on one crowd does not."""
        paired = gap(self.EQUAL, "a", "b")
        assert paired.value == pytest.approx([0.05, 0.1, 0.15, 0.2])
        assert paired.se == pytest.approx(np.zeros(4), abs=1e-12)
        assert gap(self.EQUAL, "a").se.min() > 0.05


def test_rows_and_columns():
    rows = pd.DataFrame({"x": [1, 2]})
    assert enough(rows, 2, "rows") is rows
    with pytest.raises(NotMeasured, match="rows: 2 trials, 3 needed"):
        enough(rows, 3, "rows")
    for column in ([True, None, False], [1.0, None, 0.0]):
        assert flags(pd.Series(column)).tolist() == [True, False, False]
    assert mean_se(pd.Series([1.0, 2.0, 3.0])) == pytest.approx((2.0, 1 / np.sqrt(3)))
