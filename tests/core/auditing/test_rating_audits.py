"""Audits of ratings: what is certified is true, recomputed from the certificate, and cheap."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench.auditing import check_audit
from workbench.auditing.certificate import canonical
from workbench.auditing.draws import new_seed, point
from workbench.auditing.losses import ScaleUnits, stratify_by_cost
from workbench.auditing.state import AuditState


def rated(
    seed: int, made: float, *, tasks: int = 300, low: float = 0.0, high: float = 100.0
) -> tuple[pd.DataFrame, np.ndarray]:
    """Answers on a scale and the truth; these are off by `made` of it in the mean."""
    rng = np.random.default_rng(seed)
    truth = np.round(rng.uniform(low + 0.3 * (high - low), high - 0.3 * (high - low), tasks), 1)
    off = np.minimum(rng.exponential(made, tasks), 0.29) * rng.choice([-1, 1], tasks)
    answers = pd.DataFrame({"task": range(tasks), "label": truth + off * (high - low)})
    answers.attrs["scale"] = (low, high)
    return answers, truth


@pytest.mark.parametrize(("low", "high"), [(0.0, 100.0), (-100.0, 100.0)])
def test_an_audit_of_ratings_is_recomputed_from_its_certificate(low, high):
    answers, truth = rated(3, 0.05, low=low, high=high)
    audit = wb.audit(answers, error=0.1, seed=3)
    while asked := audit.next(3):
        for task in asked:
            audit.tell(task, truth[task])
    left = audit.to_frame()
    made = np.abs(left["label"] - truth).mean() / (high - low)
    assert audit.certified
    assert made <= audit.bound() <= 0.1
    content = canonical(audit.certificate()).encode()
    holds, words = check_audit.line_of(content)
    assert holds, words
    assert f"scale from {low:g} to {high:g}" in words
    assert "points" in audit.summary()
    assert audit.to_dict()["most_off"] == pytest.approx(audit.bound() * (high - low))
    for forge in (
        lambda x: x["claim"].update(most_cost=x["claim"]["most_cost"] - 1),
        lambda x: x["start"].update(scale=[low, 2 * high]),
        lambda x: x["start"].update(loss={"1": 2}),
        lambda x: next(e for e in x["events"] if "word" in e).update(word="40"),
        lambda x: next(e for e in x["events"] if "word" in e).update(word="much"),
    ):
        forged = json.loads(content)
        forge(forged)
        assert not check_audit.line_of(canonical(forged).encode())[0]


def test_answers_without_a_rating_and_refusals_count_as_far_off_as_can_be():
    answers, truth = rated(5, 0.02, tasks=120)
    answers.loc[::15, "label"] = np.nan
    answers.attrs["scale"] = (0, 100)
    audit = wb.audit(answers, error=0.15, seed=1)
    refused = set()
    while asked := audit.next():
        for task in asked:
            if task % 20 == 1:
                refused.add(task)
            audit.tell(task, None if task in refused else truth[task])
    left = audit.to_frame()
    off = (np.abs(left["label"].astype(float) - truth) / 100).fillna(1.0)
    assert off.mean() <= audit.bound() + 1e-12
    holds, words = check_audit.line_of(canonical(audit.certificate()).encode())
    assert holds, words


@given(st.decimals(0, 100, places=3), st.decimals(0, 100, places=3))
def test_costs_are_shares_of_the_scale_rounded_up(answer, word):
    cost = ScaleUnits(0.0, 100.0).cost(str(answer), str(word))
    exact = abs(Fraction(answer) - Fraction(word)) / 100
    assert exact <= Fraction(cost, 10**4) < exact + Fraction(1, 10**4)


def checks_of(seed: int, made: float, *, tasks: int = 400) -> tuple[int, bool]:
    """Checks until .10 is certified, and whether more was left."""
    rng = np.random.default_rng(seed)
    units = ScaleUnits(0.0, 1.0)
    shares = np.minimum(rng.exponential(1.0, tasks), 6.0)
    cost = np.ceil(shares * made / shares.mean() * units.one).astype(int)
    strata = stratify_by_cost(np.full(tasks, 0.1), ["0.5"] * tasks, units)
    state, secret = AuditState(strata, 0.1, 0.05, units.one, graded=True), new_seed(seed)
    left = int(cost.sum())
    while not state.certified and state.left:
        if left <= state.most < cost.sum():
            return state.checks, False  # no later certificate is false
        drawn = state.draw(point(secret, len(state.draws)))
        state.hear(len(state.draws) - 1, True, cost=int(cost[drawn.task]))
        left -= int(cost[drawn.task])
    return state.checks, left > state.most


def test_few_checks_where_little_is_off():
    """At .06 made some 70 checks; 118 if a check were taken for one of right and wrong."""
    assert np.median([checks_of(seed, 0.06)[0] for seed in range(5)]) < 100


@pytest.mark.release
def test_certificates_are_seldom_false():
    runs = [checks_of(seed, 0.103, tasks=1000)[1] for seed in range(1000)]
    assert np.mean(runs) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 1000)


def test_what_an_audit_of_ratings_does_not_take_is_refused():
    answers, _ = rated(1, 0.05, tasks=20)
    for more in ({"share": 0.5}, {"loss": {"1": 2}}):
        with pytest.raises(wb.InputError):
            wb.audit(answers, error=0.1, **more)
    with pytest.raises(wb.InputError, match="classes alone"):
        wb.plan_audit(answers)
    audit = wb.audit(answers, error=0.1, seed=1)
    (task,) = audit.next()
    for word in ("much", 101):
        with pytest.raises(wb.InputError, match="no rating from 0 to 100"):
            audit.tell(task, word)
    outside = answers.assign(label=200)
    outside.attrs["scale"] = (0, 100)
    with pytest.raises(wb.InputError, match="no rating from 0 to 100"):
        wb.audit(outside)


def test_an_audit_of_ratings_is_kept(tmp_path):
    answers, truth = rated(2, 0.05, tasks=60)
    audit = wb.audit(answers, error=0.1, seed=4, path=tmp_path / "audit.sqlite")
    (task,) = audit.next()
    audit.tell(task, truth[task])
    again = wb.Auditor.open(tmp_path / "audit.sqlite")
    assert (again.bound(), again.commitment) == (audit.bound(), audit.commitment)
    assert again.to_frame()["label"].dtype == float
    audit.close()
    again.close()


def test_beliefs_come_from_standard_errors():
    answers, truth = rated(7, 0.05, tasks=200)
    far = np.abs(answers["label"] - truth)
    told = answers.assign(standard_error=far * 1.25)
    told.attrs["scale"] = (0, 100)
    checks = []
    for each in (answers, told):
        audit = wb.audit(each, error=0.03, seed=2)
        while asked := audit.next():
            for task in asked:
                audit.tell(task, truth[task])
        checks.append(audit.checks)
    assert checks[1] < checks[0]
