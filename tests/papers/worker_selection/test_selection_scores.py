"""The scores of sets of workers, and the claims on them."""

from __future__ import annotations

import math

import pytest

from crowd_papers.worker_selection import selection_scores
from tests.core.studies.study_runs import one_record, streams_of
from tests.papers.worker_selection.made_selection import (
    CORRECTED,
    HOLDS,
    REFUTED,
    word_of_spoiled,
    words_of,
)
from workbench.base.seeds import stream
from workbench.selection.scoring import informativeness, set_score


class TestScores:
    def test_fixed_set_over_all_answers(self):
        """Lemma 2, and what the plug-in adds: means over many sheets, against the exact ones."""
        given = {"workers": 3, "budget": 2, "controls": 4, "classes": 3, "sheets": 20_000}
        record = one_record("selection-scores", **given)
        drawn = stream(streams_of("selection-scores", **given).instance, "crowd")
        skill = drawn.beta(2.3, 2.0, 3)
        assert record["score"] == pytest.approx(set_score(informativeness(skill[:2], 3)))
        assert record["plug_in_bias_promised"] == pytest.approx(
            9 * (skill[:2] * (1 - skill[:2])).sum() / 4 / math.sqrt(2)
        )
        assert record["plug_in_bias"] == pytest.approx(record["plug_in_bias_promised"], abs=0.1)
        assert record["bias"] == pytest.approx(0, abs=0.1)


def test_claims_hold_in_good_order():
    assert set(words_of(selection_scores).values()) == {HOLDS}


SPOILED = [
    # study, claim, rows (None: all), column, value, verdict
    ("scores", "lemma-2", "classes == 3", "bias", 0.05, REFUTED),
    ("scores", "plug-in-bias", None, "plug_in_bias_promised", 0.5, REFUTED),
    ("scores", "theorem-3", "classes == 3", "missed_95", 100, REFUTED),
    ("scores", "theorem-3", "classes == 2", "missed_chosen_95", 40, CORRECTED),
]


@pytest.mark.parametrize(("study", "claim", "rows", "column", "value", "word"), SPOILED)
def test_spoiled(study, claim, rows, column, value, word):
    assert word_of_spoiled(claim, study, rows, column, value) is word
