"""The audit's study: fixed-sequence tests by even draws are valid, and loops are counted."""

from __future__ import annotations

import numpy as np
import pytest

from crowd_papers.beyond import audit
from workbench.auditing.state import most_wrong
from workbench.auditing.strata import Strata
from workbench.studies.trials import Streams

STREAMS = Streams(7, (0,), b"a trial")


def params(**values):
    return {name: one.default for name, one in audit.STUDY.parameters.items()} | values


def test_fixed_sequences_certify_falsely_no_more_often_than_the_risk():
    """One more is wrong in the first part than may be: anything that is certified is false."""
    size, error, risk = 60, 0.1, 0.2
    strata = Strata(np.repeat(np.arange(2), (30, 30)), np.array([-3.0, -1.0]), np.zeros(2, bool))
    wrong = np.zeros(size, dtype=bool)
    wrong[: most_wrong(error, 30) + 1] = True
    rng = np.random.default_rng(3)
    shares = [audit.fixed_sequence(strata, wrong, 40, error, risk, rng) for _ in range(600)]
    false = np.mean(np.array(shares) > 0)
    assert 0.02 < false <= risk + 2 * np.sqrt(risk * (1 - risk) / 600)


def test_fixed_sequences_of_all_draws_certify_what_is_true():
    strata = Strata(np.repeat(np.arange(3), 20), np.arange(3.0), np.zeros(3, bool))
    wrong = np.zeros(60, dtype=bool)
    wrong[40:] = True
    rng = np.random.default_rng(3)
    assert audit.fixed_sequence(strata, wrong, 60, 0.1, 0.05, rng) == pytest.approx(2 / 3)


@pytest.mark.release
def test_a_loop_counts_its_sets():
    record = audit.trial(
        params(question="loop", crowd="half .8", tasks=12, workers=6, price=1.0, error=0.2, runs=2),
        STREAMS,
    )
    assert record["sets"] == 2
    assert 0 <= record["misses"] <= 2
    assert record["cost"] == pytest.approx(record["bought"] + record["checks"])
    assert record["left"] <= record["allowed"] == 2


@pytest.mark.parametrize("question", ["cost", "share"])
def test_records_have_no_name_of_a_parameter(question, monkeypatch):
    """A trial whose record has one is an error, as each of these questions' was."""
    rng = np.random.default_rng(5)
    belief = rng.beta(0.6, 3.0, 60)
    monkeypatch.setattr(audit, "answered", lambda *_: (belief, rng.random(60) < belief))
    record = audit.trial(params(question=question, error=0.1, runs=2), STREAMS)
    assert record["answers"] == 60
    assert not set(record) & set(audit.STUDY.parameters)
