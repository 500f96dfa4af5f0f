"""The claims of Figure 2."""

from __future__ import annotations

import pytest

from crowd_papers.worker_selection import selection_figure_2
from tests.papers.worker_selection.made_selection import (
    CORRECTED,
    HOLDS,
    INCONCLUSIVE,
    REFUTED,
    accuracy_2,
    figure_2,
    lifted,
    word_of,
    words_of,
)


def test_claims_hold_in_good_order():
    assert set(words_of(selection_figure_2).values()) == {HOLDS}


MOVED = [
    # claim, what a rule gains (by method and setting), verdict
    (
        "figure-2-controls",
        lambda one, at: -0.05 * (at["sweep"] == "controls" and at["controls"] == 5),
        CORRECTED,
    ),
    ("figure-2-controls", lambda one, at: 0.3 / at["controls"] * (one == "selected"), REFUTED),
    (
        "figure-2-plug-in",
        lambda one, at: (one == "plug-in") * (0.2 / at["controls"] - at["controls"] / 900),
        REFUTED,
    ),
    # Nearer from the other side.
    ("figure-2-plug-in", lambda one, at: (one == "plug-in") * 0.4 / at["controls"], HOLDS),
    ("figure-2-prior-top-k", lambda one, at: 0.2 * (at["a"] == 1.0), CORRECTED),
    (
        "figure-2-prior-top-k",
        lambda one, at: -0.02 * at["a"] * (one == "top-skill"),
        INCONCLUSIVE,
    ),
    ("figure-2-prior-selected", lambda one, at: 0.018 * at["a"] * (one == "selected"), REFUTED),
    # Worst at a = 5, and as fast as the top K from there.
    (
        "figure-2-prior-selected",
        lambda one, at: -0.07 * (one != "top-skill" and at["a"] == 5.0),
        CORRECTED,
    ),
]


@pytest.mark.parametrize(("claim", "gain", "word"), MOVED)
def test_other_accuracies(claim, gain, word):
    table = figure_2(lifted(accuracy_2, gain))
    assert word_of(claim, figure_2=table) is word
