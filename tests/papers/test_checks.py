"""Each check: spoil what it looks at, and the verdict is another."""

import pytest

from tests.core.release import some
from tests.papers.made_up import (
    Tables,
    claims_of,
    error_1,
    error_2,
    figure_1,
    figure_2,
    spoil,
    verdict_on,
)
from workbench.studies.claiming import Word
from workbench.studies.judging import judge

OWN = claims_of("adaptive")
HOLDS, CAVEAT, VOID = Word.HOLDS, Word.CORRECTED, Word.VOID
NOT, UNMEASURED = Word.REFUTED, Word.UNMEASURED


def verdict(tables, claim):
    return verdict_on(f"adaptive-{claim}", tables)


EXPECTED = {
    "lemma-1": HOLDS,
    "requirement": HOLDS,
    "lemma-2": HOLDS,
    "lemma-3": HOLDS,
    "theorem-1": HOLDS,
    "theorem-2": VOID,
    "toy-example": HOLDS,
    "theorem-3": VOID,
    "theorem-4": VOID,
    "theorem-5": VOID,
    "figure-1-message-passing": HOLDS,
    "figure-1-adaptive": HOLDS,
    "figure-2-message-passing": HOLDS,
    "figure-2-adaptive": HOLDS,
    "extension-costs": HOLDS,
    "extension-structure": HOLDS,
    "theorem-5-sample": HOLDS,
    "made-gold": HOLDS,
    "correction": UNMEASURED,  # `adaptive_assignment/test_correction.py` makes up its trials
}


def test_in_good_order(tables):
    rulings = {one.claim.id: one.word for one in judge(Tables(tables), OWN)}
    assert rulings == {f"adaptive-{name}": ruling for name, ruling in EXPECTED.items()}


SPOILED = [
    # study, claim, rows (None: all), column, value, verdict
    ("weighted-vote", "lemma-1", None, "error_any", 0.7, NOT),
    ("weighted-vote", "requirement", None, "error_hired", 0.06, NOT),
    ("gold-estimates", "lemma-2", None, "missed", 80, NOT),
    ("gold-estimates", "lemma-2", None, "missed", 50, HOLDS),
    ("gold-estimates", "lemma-3", None, "stretch", 1.1, NOT),
    ("offline-assignment", "theorem-1", "repetition == 0", "short", 1, NOT),
    ("offline-assignment", "theorem-1", None, "tied", 1, UNMEASURED),
    ("offline-assignment", "extension-costs", "repetition == 1", "cost", 45.0, NOT),
    ("offline-assignment", "extension-structure", "repetition == 0", "short", 1, NOT),
    ("sampled-weights", "theorem-2", "crowd == 'able' and dearest == 1", "cost", 500.0, NOT),
    ("sampled-weights", "theorem-2", "tasks == 1000", "error_stands", True, HOLDS),
    ("sampled-weights", "theorem-2", "tasks == 1000", "tasks", 999, UNMEASURED),
    ("sampled-weights", "extension-costs", "dearest == 3", "unit_blind", 2.0, NOT),
    ("sampled-weights", "extension-structure", "crowd == 'difficulty'", "cost", 500.0, NOT),
    ("toy-example", "toy-example", None, "requirement", 1.496, NOT),
    ("estimated-skills", "theorem-3", "repetition == 0", "approximated", 10.1, NOT),
    ("estimated-skills", "theorem-3", None, "stands", False, UNMEASURED),
    ("estimated-skills", "theorem-4", "repetition == 0", "beyond", 1, NOT),
    ("main-algorithm", "theorem-3", None, "lemma_2_radius", 0.01, HOLDS),
    ("main-algorithm", "theorem-4", None, "lemma_2_radius", 0.01, HOLDS),
    ("main-algorithm", "theorem-5", "tasks == 24", "labels", 700, NOT),
    ("main-algorithm", "theorem-5", "tasks == 1000", "stands", True, HOLDS),
    ("sample-size", "theorem-5-sample", "place == 0", "labels", 200_000, NOT),
    ("sample-size", "theorem-5-sample", "place == 0", "error_promise", 1.0, CAVEAT),
    ("sample-size", "theorem-5-sample", "place == 1", "labels", 200_000, HOLDS),
    ("made-gold", "made-gold", "crowd == 'uniform' and labels == 300", "missed_made", 40, NOT),
    ("made-gold", "made-gold", "crowd == 'uniform' and labels == 5", "missed_made", 40, CAVEAT),
    ("structured-tasks", "extension-structure", "exploration == 'ability'", "error", 0.2, NOT),
    ("structured-tasks", "extension-structure", None, "exploration", "known", UNMEASURED),
]


@pytest.mark.parametrize(("study", "claim", "rows", "column", "value", "ruling"), some(SPOILED, 5))
def test_spoiled(tables, study, claim, rows, column, value, ruling):
    if column == "stands" and study == "main-algorithm":
        tables[study] = spoil(tables[study], "not stands", "ratio_promise", 6.0)
    tables[study] = spoil(tables[study], rows, column, value)
    assert verdict(tables, claim).word is ruling


class TestCaveats:
    def test_lemma_1_is_one_sided(self, tables):
        """Votes that lean the wrong way may break the bound as printed; others may not."""
        votes = tables["weighted-vote"]
        votes.loc[:5, ["lean", "error_any"]] = [-1.0, 0.9]
        found = verdict(tables, "lemma-1")
        assert found.word is CAVEAT
        assert "of 6 votes that lean the wrong way" in found.figures

    def test_theorem_1_where_capacities_bind(self, tables):
        offline = tables["offline-assignment"]
        offline.loc[offline.index[:8], ["tied", "short"]] = [1, 2]
        found = verdict(tables, "theorem-1")
        assert found.word is CAVEAT
        assert "36 of 40" in found.figures
        assert "4 of those leave a task short" in found.figures

    def test_probable_promises_may_fail_now_and_then(self, tables):
        """δ = 0.05: one trial in forty beyond the ratio is no contradiction."""
        sampled = tables["sampled-weights"]
        at = sampled.query("crowd == 'able' and dearest == 1").index[:1]
        sampled.loc[at, "cost"] = 500.0
        found = verdict(tables, "theorem-2")
        assert found.word is VOID
        assert "1 of 80 trials exceed the ratio" in found.figures


FIGURES = [
    # figure, error by method, setting and labels, verdicts
    (
        1,
        lambda one, at, labels: error_1(one, at, labels) + 0.1 * (at["crowd"] == "two-types"),
        {"message-passing": NOT},
    ),
    (
        1,
        lambda one, at, labels: (
            error_1(one, at, labels) + 0.1 * (at["crowd"] == "two-types" and labels < 15)
        ),
        {"message-passing": CAVEAT},
    ),
    (
        1,
        lambda one, at, labels: 0.3 - 0.004 * labels + 0.05 * (one == "adaptive"),
        {"adaptive": NOT},
    ),
    # With two types, behind at 10 labels and ahead at 30.
    (
        1,
        lambda one, at, labels: (
            0.3
            + (one == "adaptive") * (0.05 if at["crowd"] == "one-type" else 0.005 * (18 - labels))
        ),
        {"adaptive": CAVEAT},
    ),
    (1, lambda one, at, labels: 0.3, {"adaptive": NOT}),
    (2, lambda one, at, labels: 0.3 - 0.004 * labels, {"message-passing": NOT, "adaptive": NOT}),
    (
        2,
        lambda one, at, labels: error_2("message passing", at, labels),
        {"message-passing": HOLDS, "adaptive": NOT},
    ),
    (
        2,
        lambda one, at, labels: 0.2 + (0.1 if one == "adaptive" else 0.15) * (at["types"] - 1),
        {"adaptive": CAVEAT},
    ),
]


@pytest.mark.parametrize(("number", "error", "expected"), some(FIGURES, 4))
def test_other_curves(tables, number, error, expected):
    tables[f"adaptive-figure-{number}"] = {1: figure_1, 2: figure_2}[number](error)
    for who, ruling in expected.items():
        assert verdict(tables, f"figure-{number}-{who}").word is ruling


def test_smaller_crowds_do_not_count(tables):
    tables["adaptive-figure-2"]["tasks"] = 60
    assert verdict(tables, "figure-2-adaptive").word is UNMEASURED


class TestTrials:
    def test_missing_study_is_named(self, tables):
        del tables["weighted-vote"]
        found = verdict(tables, "lemma-1")
        assert found.word is UNMEASURED
        assert "workbench study run weighted-vote" in found.figures
        assert verdict(tables, "lemma-2").word is HOLDS

    def test_too_few(self, tables):
        tables["weighted-vote"] = tables["weighted-vote"][:10]
        found = verdict(tables, "lemma-1")
        assert found.word is UNMEASURED
        assert "10 trials of weighted-vote, 20 needed" in found.figures

    def test_infeasible_trials_are_answers_but_no_evidence(self, tables):
        tables["weighted-vote"].loc[:1, "status"] = "infeasible"
        found = verdict(tables, "lemma-1")
        assert found.word is HOLDS
        assert (found.evidence[0].trials, found.evidence[0].infeasible) == (40, 2)
        tables["weighted-vote"].loc[:30, "status"] = "infeasible"
        assert verdict(tables, "lemma-1").word is UNMEASURED

    def test_too_many_failures(self, tables):
        tables["weighted-vote"].loc[:5, "status"] = "deadline"
        found = verdict(tables, "lemma-1")
        assert found.word is UNMEASURED
        assert "6 of 40 trials of weighted-vote failed" in found.figures
