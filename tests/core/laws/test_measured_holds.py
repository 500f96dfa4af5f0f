"""What is said to be measured holds on gold that nobody has seen."""

import os
from functools import cache

import numpy as np
import pandas as pd
import pytest

from tests.core.laws import measured

DATA = pytest.mark.skipif("WORKBENCH_DATA" not in os.environ, reason="WORKBENCH_DATA is not set")
TOGETHER, EACH = 0.8, 0.7
"""How often a 90 % interval holds at least: over all ways in, and of each."""


LANES = {"aggregate": "slow"}
ROWS = [
    pytest.param(name, marks=getattr(pytest.mark, LANES.get(name, "release")))
    for name in measured.ROWS
]


@cache
def held(name):
    return measured.held(name)


@DATA
@pytest.mark.parametrize("name", ROWS)
def test_the_interval_of_each_command_holds_on_the_rest_of_the_gold(name):
    found = held(name)
    missed = [entry for entry in found if not entry.holds]
    assert len(missed) <= (1.0 - EACH) * len(found), missed


@pytest.mark.release
@DATA
def test_the_intervals_of_all_commands_hold():
    found = [entry for name in measured.ROWS for entry in held(name)]
    assert np.mean([entry.holds for entry in found]) >= TOGETHER


def test_the_rest_counts_blanks_as_wrong():
    answers = pd.Series({"a": "yes", "b": "no", "c": None}, dtype=object)
    rest = pd.Series({"a": "yes", "b": "yes", "c": "no", "d": "no"})
    assert measured.wrong_on_rest(answers, rest) == 0.75
