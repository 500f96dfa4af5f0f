"""Audits of what answers cost."""

import json

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.auditing import check_audit
from workbench.auditing.certificate import canonical
from workbench.auditing.draws import new_seed, point
from workbench.auditing.losses import CostUnits, stratify_by_cost
from workbench.auditing.state import AuditState

LOSS = {"yes": 5}


def audited(seed, loss, error, *, refusing=False, tasks=150):
    """An audit to its end, and what the answers cost then."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(tasks) < 0.15, "yes", "no")
    wrong = rng.random(tasks) < 0.06
    said = np.where(wrong, np.where(truth == "yes", "no", "yes"), truth).astype(object)
    if refusing:
        said[::40] = None
    answers = pd.DataFrame(
        {"task": range(tasks), "label": said, "confidence": rng.uniform(0.7, 1, tasks)}
    )
    audit = wb.audit(answers, error=error, seed=seed, loss=loss)
    while asked := audit.next(2):
        refused = refusing and rng.random() < 0.03
        for task in asked:
            audit.tell(task, None if refused else str(truth[task]))
    left = audit.to_frame()["label"].to_numpy()
    units = CostUnits.of(loss)
    costs = [
        (units.most(a) if a is None else units.missed(z)) * (a != z)
        for a, z in zip(left, truth, strict=True)
    ]
    return audit, sum(costs) / units.one / tasks


@pytest.mark.parametrize(
    ("loss", "refusing"),
    [
        ({"yes": 2.5, "no": 0.5}, True),
        pytest.param(LOSS, False, marks=pytest.mark.slow),
        pytest.param(LOSS, True, marks=pytest.mark.slow),
    ],
)
def test_an_audit_of_costs_is_recomputed_from_its_certificate(loss, refusing):
    audit, cost = audited(3, loss, 0.15, refusing=refusing)
    assert cost <= audit.bound() + 1e-12
    content = canonical(audit.certificate()).encode()
    holds, words = check_audit.line_of(content)
    assert holds, words
    assert "where missing a class costs" in words
    forged = json.loads(content)
    forged["claim"]["most_cost"] -= 1
    assert not check_audit.line_of(canonical(forged).encode())[0]
    cheaper = json.loads(content)
    cheaper["start"]["loss"]["yes"] = 2
    assert not check_audit.line_of(canonical(cheaper).encode())[0]
    assert ("cost at most" if audit.certified else "may cost up to") in audit.summary()
    assert audit.to_dict()["most_wrong"] is None


def test_losses_of_one_are_the_audit_of_errors():
    one, error = (audited(5, loss, 0.08)[0] for loss in ({"yes": 1}, None))
    assert one.bound() == error.bound()
    draws = [[e.get("draw") for e in each.certificate()["events"]] for each in (one, error)]
    assert draws[0] == draws[1]
    assert "loss" not in error.certificate()["start"]


def test_what_an_audit_of_costs_does_not_take_is_refused():
    answers = pd.DataFrame({"task": [1, 2], "label": ["yes", "no"]})
    for more in ({"share": 0.5}, {"error": 5.0}, {"error": 0}):
        with pytest.raises(wb.InputError):
            wb.audit(answers, **{"error": 0.1, "loss": LOSS, **more})
    with pytest.raises(wb.InputError, match="six digits"):
        wb.audit(answers, error=0.1, loss={"yes": 1 / 3})


def false_certificates(runs, start=0):
    """Audits that certify while more than is asked is left, beliefs turned against them."""
    false = 0
    names = np.array(["a", "b", "c"], dtype=object)
    for seed in range(start, start + runs):
        rng = np.random.default_rng(seed)
        tasks, error = 60, float(rng.choice([0.04, 0.08, 0.15]))
        loss = dict(zip(names, np.round(rng.uniform(0.1, 1.0, 3), 1).tolist(), strict=True))
        units = CostUnits.of(loss)
        said, other = rng.integers(0, 3, tasks), rng.integers(1, 3, tasks)
        truth, cost, most = said.copy(), 0, int(round(error * tasks * units.one, 6))
        for task in rng.permutation(tasks):  # the least cost above what is asked
            if cost > most:
                break
            truth[task] = (said[task] + other[task]) % 3
            cost += units.missed(names[truth[task]])
        right = said == truth
        sure = rng.choice([0.02, 0.3])
        belief = np.where(right, 0.5, sure) * rng.uniform(0.5, 1.0, tasks)
        strata = stratify_by_cost(belief, names[said].tolist(), units)
        state, word = AuditState(strata, error, 0.05, units.one), new_seed(seed)
        left = cost
        while not state.ended:
            number = len(state.draws)
            task = state.draw(point(word, number)).task
            mine = 0 if right[task] else units.missed(names[truth[task]])
            state.hear(number, bool(mine), cost=mine)
            left -= mine
            if left <= most:
                break
        false += bool(state.certified and left > most)
    return false


@pytest.mark.slow
def test_few_certificates_of_costs_are_false():
    assert false_certificates(100) <= 100 * 0.05 + 2 * np.sqrt(100 * 0.05 * 0.95)


@pytest.mark.release
def test_of_two_thousand_certificates_of_costs_few_are_false():
    assert false_certificates(2000, 1000) <= 2000 * 0.05 + 2 * np.sqrt(2000 * 0.05 * 0.95)
