"""The claims of the remarks."""

from __future__ import annotations

import pytest

from crowd_papers.worker_selection import selection_remarks
from tests.papers.worker_selection.made_selection import (
    CORRECTED,
    HOLDS,
    INCONCLUSIVE,
    REFUTED,
    word_of_spoiled,
    words_of,
)


def test_claims_hold_in_good_order():
    assert set(words_of(selection_remarks).values()) == {HOLDS}


SPOILED = [
    # study, claim, rows (None: all), column, value, verdict
    ("remarks", "theorem-1-remark-1", "repetition == 3", "lead", 2.2, REFUTED),
    ("remarks", "theorem-1-remark-1", None, "agree", 0.5, INCONCLUSIVE),
    ("remarks", "gain-two-forms", "repetition == 3", "forms_off", 0.01, REFUTED),
    ("remarks", "complexity", None, "seconds_large", 256.0, REFUTED),
    ("remarks", "confidence-bound", "repetition == 3", "same", False, REFUTED),
    ("remarks", "confidence-bound", "repetition == 3", "same_few", False, CORRECTED),
    ("remarks", "far-from-optimum", None, "score_plug_in", 1.3, REFUTED),
    ("remarks", "far-from-optimum", None, "score_plug_in", 1.2, INCONCLUSIVE),
    ("remarks", "spammers", "spammers == 100", "known_all", 0.9, REFUTED),
    ("remarks", "weights-alike", None, "log_top", 0.9, CORRECTED),
    ("remarks", "majority", None, "majority_top", 0.94, CORRECTED),
]


@pytest.mark.parametrize(("study", "claim", "rows", "column", "value", "word"), SPOILED)
def test_spoiled(study, claim, rows, column, value, word):
    assert word_of_spoiled(claim, study, rows, column, value) is word
