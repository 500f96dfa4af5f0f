"""What ε′ costs and keeps, on made-up trials."""

from __future__ import annotations

import pandas as pd
import pytest

from crowd_papers.adaptive_assignment.correction_ablation import correction_costs_accuracy
from workbench.studies import NotMeasured
from workbench.studies.claiming import Word


def trials(fewer: float, worse: float, void: int = 100) -> pd.DataFrame:
    """Ten crowds; with ε′ so many labels fewer, and so much more error; none up to `void`."""
    rows = [
        {
            "crowd": crowd,
            "correction": correction,
            "gold": gold,
            "repetition": repetition,
            "bound": 100.0,
            "labels_task": 100 + repetition % 3 - (fewer if correction == "paper" else 0.0),
            "error": 0.1 + 0.001 * (repetition % 3) + (worse if correction == "paper" else 0.0),
            "covered": 0.5,
        }
        for crowd in ("two-types", "spread")
        for correction in ("none", "paper", "user")
        for gold in (20, 100, 1000)
        for repetition in range(10)
    ]
    table = pd.DataFrame(rows)
    gone = (table["correction"] == "paper") & (table["gold"] <= void)
    table.loc[gone, ["labels_task", "error", "covered"]] = None
    return table


def test_fewer_labels_and_more_errors_wherever_there_is_a_correction():
    ruling = correction_costs_accuracy(trials(30.0, 0.05))
    assert ruling.word is Word.HOLDS
    assert "no ε′ in 40 of 60 trials" in ruling.figures
    assert "from s = 1,000 (spread), s = 1,000 (two types) on" in ruling.figures
    assert "0.71 to 0.71" in ruling.figures
    ours = {value.what: value.ours for value in ruling.numbers}
    assert len(ours) == 2 * 3 + 2  # nothing where the correction is void, nor of a t of one's own
    assert ours["spread, s = 1,000, with ε′, the paper's t"].startswith(
        "ratio 0.71 (0.70 to 0.72), 50 % of the tasks covered, error 0.151 (0.150 to 0.152)"
    )
    assert "wrong labels" in ruling.caption


def test_what_else_may_be_found():
    assert correction_costs_accuracy(trials(-10.0, 0.05)).word is Word.REFUTED  # more labels
    assert correction_costs_accuracy(trials(30.0, 0.0)).word is Word.REFUTED  # no more errors
    with pytest.raises(NotMeasured):
        correction_costs_accuracy(trials(30.0, 0.05, void=1000))
