"""Parts of the answers: what is certified of them is true but for α, and can be recomputed."""

from __future__ import annotations

import copy
import math
import os

import numpy as np
import pytest

from tests.core.auditing.made import answers, looks, record, run
from tests.core.auditing.test_certificates import content
from tests.core.auditing.test_theorem import error_sets
from workbench.auditing import bets, check_audit, selective
from workbench.auditing.draws import DrawPoint
from workbench.auditing.record import AuditRecord
from workbench.auditing.selective import SelectiveState
from workbench.auditing.state import most_wrong
from workbench.auditing.strata import Strata

RUNS = int(os.environ.get("WORKBENCH_AUDITS", "20"))
"""Audits of each kind of belief; 120 before a release."""


def made_state(sizes, sure=0, error=0.3, risk=0.3, share=1.0):
    bins = np.repeat(np.arange(len(sizes)), sizes)
    is_sure = np.arange(len(sizes)) >= len(sizes) - sure
    return SelectiveState(
        Strata(bins, np.linspace(-3.0, 1.0, len(sizes)), is_sure), error, risk, share
    )


def walk(audit, errors, chance=1.0):
    """Every path, by the chances that are stated; where it ends, its chance and the state."""
    if audit.ended:
        yield chance, audit
        return
    now = audit.prepare()
    left = audit._urns.left
    mass = left * now.q
    for bin_ in np.flatnonzero(mass).tolist():
        for place in range(int(left[bin_])):
            follower = copy.deepcopy(audit)
            middle = (mass[:bin_].sum() + mass[bin_] / 2) / mass.sum()
            at = DrawPoint(0.5, float(middle), (2 * place + 1 << 127) // int(left[bin_]))
            drawn = follower.draw(at)
            assert drawn.bin == bin_
            follower.hear(len(follower.draws) - 1, bool(errors[drawn.task]))
            yield from walk(follower, errors, chance * float(now.q[bin_]))


@pytest.mark.parametrize(
    ("sizes", "sure", "first"),
    [((1, 1, 1), 0, 0.1), ((2, 1), 0, 0.1), ((1, 1, 1), 1, 0.1), ((1, 1, 1), 0, 0.6)],
)
def test_no_part_is_shown_falsely_beyond_the_risk(sizes, sure, first, monkeypatch):
    """And the evidence against each part has mean 1 where as many are wrong as is tested."""
    monkeypatch.setattr(selective, "FIRST", first)
    monkeypatch.setattr(selective, "OWN_RISK", (0.5, 0.5))
    audit = made_state(sizes, sure, error=0.34, risk=0.4)
    for errors in error_sets(audit):
        wrong = np.array([sum(errors[: int(size)]) for size in audit._size])
        false, total, mean = 0.0, 0.0, np.zeros(len(wrong))
        for chance, end in walk(audit, errors):
            total += chance
            false += chance * bool((end._refuted & (wrong > end._most)).any())
            mean += chance * np.exp(bets.mixed(end._part_products))
        assert total == pytest.approx(1.0, abs=1e-12)
        assert false <= 0.4
        # Where T is what is tested the stopped product is a martingale; below it can only fall.
        tested = wrong == audit._most + 1
        assert mean[tested] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.release
@pytest.mark.parametrize("belief", ["right", "reversed", "adversarial", "flat"])
def test_false_certificates_are_few(belief):
    runs, risk, error, false = RUNS, 0.05, 0.1, 0
    sizes = (60, 40, 30, 30, 40)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        audit = made_state(sizes, error=error, risk=risk)
        if belief == "adversarial":  # one more than is allowed in the first part, and none behind
            chosen = rng.choice(60, most_wrong(error, 60) + 1, replace=False)
        else:
            weight = {"right": [1, 2, 3, 4, 6], "reversed": [6, 4, 3, 2, 1], "flat": [1] * 5}
            chance = np.repeat(np.array(weight[belief], float), sizes)
            chosen = rng.choice(200, 24, replace=False, p=chance / chance.sum())
        wrong = np.zeros(200, dtype=bool)
        wrong[chosen] = True
        while not audit.ended:
            drawn = audit.draw(DrawPoint(0.5, rng.random(), int(rng.integers(2**62)) << 66))
            audit.hear(len(audit.draws) - 1, bool(wrong[drawn.task]))
        inside = audit.in_share()
        false += wrong[inside].sum() > most_wrong(error, int(inside.sum()))
    assert false / runs <= risk + 2 * math.sqrt(risk * (1 - risk) / runs)


def test_parts_hand_their_share_of_the_risk_on():
    audit = made_state((20, 30, 30, 20), error=0.3, risk=0.05)
    own, sizes = selective.OWN_RISK, audit._size.tolist()
    assert sizes == [20, 50, 80, 100]
    assert audit._starts == (0, 1)

    def risks(*shown):
        audit._refuted[:] = np.isin(np.arange(4), shown)
        return np.exp(math.log(1 / 0.05) - audit._needs()).tolist()

    assert risks() == pytest.approx([own[0], own[1], 0, 0])
    assert risks(0) == pytest.approx([own[0], 1, 0, 0])
    assert risks(1) == pytest.approx([own[0], own[1], own[1], 0])
    assert risks(0, 1, 2) == pytest.approx([own[0], 1, 1, 1])
    # Of parts that are not shown, each has its own: together no more than the whole.
    for shown in ((), (0,), (1,), (2,), (0, 2), (1, 2), (0, 1)):
        rest = [risk for part, risk in enumerate(risks(*shown)) if part not in shown]
        assert sum(rest) <= 1 + 1e-12


def test_what_is_certified_holds_and_the_rest_is_the_rest():
    table, truth = answers(300, 0.12, seed=2)
    audit = run(record(table, share=0.5), truth)
    state = audit.state
    assert state.certified
    inside = state.in_share()
    assert inside.sum() == state.certified_tasks >= 150
    # Those believed right first.
    confidence = table["confidence"].to_numpy()
    assert confidence[inside].min() >= confidence[~inside].max()
    wrong = (table["label"] != table["task"].map(truth)).to_numpy()
    assert wrong[inside].sum() <= most_wrong(0.1, int(inside.sum()))
    assert state.bound() >= state.most_in_share()
    assert [row[1] for row in state.bounds(10**6)][-1] == state.bound()


def test_beliefs_that_say_nothing_leave_all_or_none():
    table, truth = answers(80, 0.02, seed=2)
    audit = run(record(table.assign(confidence=0.9), share=0.3), truth)
    assert audit.state.certified_tasks == 80


def test_where_nothing_can_be_certified_it_ends():
    table, truth = answers(60, 0.1, seed=2)
    audit = run(record(table.assign(label="bird"), share=0.5), truth)
    assert audit.state.ended
    assert not audit.state.certified
    assert audit.state.checks < 60
    assert audit.draw(1) == []


def test_in_a_journal_it_is_the_same(tmp_path):
    table, truth = answers(80, 0.1, seed=4, unanswered=4)
    memory, kept = record(table, share=0.7), record(table, share=0.7, path=tmp_path / "a.sqlite")
    for audit in (memory, kept):
        run(audit, truth, 30, 2, refuse=("t3",))
    kept.close()
    assert looks(memory) == looks(AuditRecord.open(tmp_path / "a.sqlite", "python"))


@pytest.mark.release
@pytest.mark.parametrize("seed", range(10))
def test_its_certificate_is_recomputed(seed):
    rng = np.random.default_rng(seed)
    share = float(rng.choice([0.3, 0.6, 1.0]))
    unanswered = int(rng.integers(0, 4))
    table, truth = answers(int(rng.integers(8, 200)), 0.1, seed, unanswered)
    audit = record(table, float(rng.choice([0.1, 0.2])), seed=seed, share=share)
    raw = run(
        audit, truth, int(rng.integers(1, 120)), int(rng.integers(1, 4)), ("t1",)
    ).certificate()
    holds, line = check_audit.line_of(content(raw))
    assert holds, line
    for name, change in FORGERIES.items():
        forged = copy.deepcopy(raw)
        change(forged["claim"])
        if forged != raw:
            holds, _ = check_audit.line_of(content(forged))
            assert not holds, name


FORGERIES = {
    "certified": lambda claim: claim.update(certified=True),
    "a task more": lambda claim: claim.update(certified_tasks=claim["certified_tasks"] + 1),
    "fewer wrong": lambda claim: claim.update(certified_wrong=max(claim["certified_wrong"] - 1, 0)),
    "fewer wrong in all": lambda claim: claim.update(most_wrong=max(claim["most_wrong"] - 1, 0)),
    "more evidence": lambda claim: claim.update(evidence=claim["evidence"] + 1e-6),
}
