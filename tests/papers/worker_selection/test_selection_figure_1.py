"""The claims of Figure 1."""

from __future__ import annotations

import pandas as pd
import pytest

from crowd_papers.worker_selection import selection_figure_1
from tests.core.release import some
from tests.papers.worker_selection.made_selection import (
    CORRECTED,
    HOLDS,
    INCONCLUSIVE,
    REFUTED,
    UNMEASURED,
    accuracy_1,
    figure_1,
    lifted,
    word_of,
    word_of_spoiled,
    words_of,
)


@pytest.mark.release
def test_claims_hold_in_good_order():
    assert set(words_of(selection_figure_1).values()) == {HOLDS}


SPOILED = [
    # study, claim, rows (None: all), column, value, verdict
    (
        "figure-1",
        "figure-1-workers",
        "method == 'selected' and budget == 31",
        "size",
        12.0,
        REFUTED,
    ),
    ("figure-1", "figure-1-workers", None, "items", 100, UNMEASURED),
    ("figure-1", "figure-1-plug-in-size", "method == 'plug-in'", "size", 8.0, REFUTED),
    ("figure-1", "optimal-number", "method == 'best prefix'", "size", 16.0, CORRECTED),
]


@pytest.mark.parametrize(("study", "claim", "rows", "column", "value", "word"), SPOILED)
def test_spoiled(study, claim, rows, column, value, word):
    assert word_of_spoiled(claim, study, rows, column, value) is word


MOVED = [
    # claim, what a rule gains (by method and setting), verdict
    ("figure-1-dominates", lambda one, at: 0.02 * (one == "plug-in"), REFUTED),
    (
        "figure-1-dominates",
        lambda one, at: 0.04 * (one == "top-skill" and at["budget"] == 31),
        CORRECTED,
    ),
    (
        "figure-1-top-k",
        lambda one, at: 0.04 * (one == "top-skill" and at["budget"] == 31),
        CORRECTED,
    ),
    ("figure-1-top-k", lambda one, at: 0.04 * (one == "top-skill"), REFUTED),
    ("figure-1-plug-in-accuracy", lambda one, at: 0.02 * (one == "plug-in"), REFUTED),
    ("figure-1-plug-in-accuracy", lambda one, at: 0.01 * (one == "plug-in"), INCONCLUSIVE),
    (
        "figure-1-plug-in-accuracy",
        lambda one, at: 0.02 * (one == "plug-in" and at["budget"] == 3),
        CORRECTED,
    ),
    ("unbiasedness", lambda one, at: 0.02 * (one == "plug-in" and at["budget"] == 3), CORRECTED),
]


@pytest.mark.parametrize(("claim", "gain", "word"), some(MOVED, 4))
def test_other_accuracies(claim, gain, word):
    table = figure_1(lifted(accuracy_1, gain))
    assert word_of(claim, figure_1=table) is word


def test_other_settings_and_few_crowds():
    """Trials with another n do not mix with the figure's own; few crowds are no verdict."""
    own = figure_1()
    more = figure_1(lambda method, where: 0.5 + 0.1 * (method == "plug-in"))
    both = pd.concat([own, more.assign(controls=3)], ignore_index=True)
    assert word_of("figure-1-dominates", figure_1=both) is HOLDS
    few = own[own["repetition"] < 10]
    assert word_of("figure-1-dominates", figure_1=few) is UNMEASURED
