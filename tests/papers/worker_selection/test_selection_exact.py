"""The exact studies of selection, and their claims."""

from __future__ import annotations

import numpy as np
import pytest

from crowd_papers.worker_selection import selection_exact
from tests.core.studies.study_runs import one_record
from tests.papers.worker_selection.made_selection import (
    HOLDS,
    REFUTED,
    UNMEASURED,
    word_of_spoiled,
    words_of,
)


class TestExact:
    def test_inequalities(self):
        """Equal gains: Σ/√k is √k, whose steps shrink: submodular, and not supermodular."""
        found = selection_exact._modular(np.ones(3))
        assert found == {"inequalities": 6, "not_submodular": 0, "not_supermodular": 6}
        level = selection_exact._modular(np.zeros(3))
        assert level == {"inequalities": 6, "not_submodular": 0, "not_supermodular": 0}
        # A gain of 1 beside nothing: −1 + 1/√2, then −1/√2 + 1/√3: the steps grow.
        found = selection_exact._modular(np.array([1.0, 0.0, 0.0]))
        assert found["not_submodular"] > 0

    def test_questions_are_answered(self):
        score, money, right = (
            one_record("selection-exact", question=question, workers=m, budget=4)
            for question, m in (("score", 8), ("money", 10), ("accuracy", 6))
        )
        assert score["score"] == pytest.approx(score["score_slices"])
        assert score["score"] == pytest.approx(score["score_listed"])
        assert money["spent"] <= 0.5 * 4 + 1e-9
        assert money["score_heuristic"] <= money["score"] + 1e-12
        for rule in ("prefix", "selected", "plug_in", "top_skill", "top_informative"):
            assert right["predicted_best"] >= right[f"predicted_{rule}"] - 1e-9


def test_claims_hold_in_good_order():
    assert set(words_of(selection_exact).values()) == {HOLDS}


SPOILED = [
    # study, claim, rows (None: all), column, value, verdict
    ("exact", "theorem-4", "repetition == 0", "score_slices", 1.6, REFUTED),
    ("exact", "theorem-4", None, "question", "money", UNMEASURED),
    ("exact", "pareto", "repetition == 0", "dominating", 1, REFUTED),
    ("exact", "modularity", None, "not_submodular", 0, REFUTED),
]


@pytest.mark.parametrize(("study", "claim", "rows", "column", "value", "word"), SPOILED)
def test_spoiled(study, claim, rows, column, value, word):
    assert word_of_spoiled(claim, study, rows, column, value) is word
