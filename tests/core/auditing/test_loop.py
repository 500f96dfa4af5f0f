"""Labels or checks: shares of the risk, what is foreseen, rehearsals that keep their promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.core.auditing.test_theorem import made_state
from workbench.auditing import loop
from workbench.auditing.loop import (
    SHARES,
    Batch,
    Spending,
    error_of_rest,
    next_expense,
    rehearse_loop,
    risk_of,
)
from workbench.auditing.state import most_wrong


def test_the_audits_share_the_risk():
    assert sum(risk_of(number, 0.05) for number in range(len(SHARES))) == pytest.approx(0.05)
    assert min(SHARES) > 0


@pytest.mark.parametrize("error", [0.02, 0.05, 0.1, 0.29])
def test_of_the_rest_as_many_may_be_wrong_as_of_all(error):
    for tasks in (7, 40, 333, 1000):
        most = most_wrong(error, tasks)
        for rest in range(most + 1, tasks + 1):
            assert most_wrong(error_of_rest(error, tasks, rest), rest) == most


def test_a_halving_costs_what_halvings_have_cost():
    spending = Spending(check=5.0, labels=600.0, believed=0.5 / 2**4, guess=0.5)
    assert spending.halving == pytest.approx(150.0)
    assert Spending(5.0, 600.0, 0.4, 0.5).halving == pytest.approx(600.0)  # one at least


def expense(price, labels, number=0):
    state = made_state((200, 200, 100), error=0.05, risk=0.05, odds=[-4.0, -2.5, -1.0])
    return next_expense(state, number, 0.05, Spending(price, labels, 0.1, 0.5))


def test_expensive_checks_make_labels_the_next_expense_and_cheap_ones_do_not():
    assert expense(price=0.01, labels=1000.0).to == "check"
    assert expense(price=1000.0, labels=1000.0).to == "label"
    costs = [expense(price, 1000.0) for price in (0.5, 1.0, 2.0, 4.0)]
    assert [c.cost for c in costs] == pytest.approx([costs[0].cost * p for p in (1, 2, 4, 8)])
    assert all(math.isfinite(c.cost_labels_first) for c in costs)


def test_an_audit_under_way_may_be_given_up_but_for_the_last():
    state = made_state((200, 200, 100), error=0.05, risk=0.05, odds=[-4.0, -2.5, -1.0])
    state.draw(loop.point(b"seed", 0))
    state.hear(0, True)
    spending = Spending(1000.0, 10.0, 0.1, 0.5)
    assert next_expense(state, 0, 0.05, spending).to == "label"
    assert next_expense(state, len(SHARES) - 1, 0.05, spending).to == "check"


class Shop:
    """Sells labels that halve the error each time, in truth as little as `real` has it."""

    def __init__(self, tasks, rate, real, rng, most=10):
        self.real, self.rng, self.most, self.sold = real, rng, most, []
        self.hard = rng.random(tasks)
        self.rate = rate

    def __call__(self, halvings):
        if halvings > self.most:
            return None
        self.sold.append(halvings)
        wrong = self.hard < self.rate * self.real**halvings
        belief = np.full(len(wrong), self.rate / 2.0 ** (halvings + 1))
        return Batch(wrong, belief, np.zeros(len(wrong), bool), 100.0 * (1 + halvings))


def run(seed, price=20.0, real=0.5, rate=0.2, tasks=150, **more):
    shop = Shop(tasks, rate, real, np.random.default_rng(seed), **more)
    return shop, rehearse_loop(shop, error=0.05, risk=0.05, check=price, guess=0.5, seed=seed)


@pytest.mark.slow
def test_a_rehearsal_ends_with_a_certificate_and_counts_what_was_checked():
    for seed in range(5):
        shop, end = run(seed)
        assert end.audits[-1].certified
        assert not any(audit.certified for audit in end.audits[:-1])
        assert end.checks == end.checked.sum() == sum(a.checks for a in end.audits)
        assert end.most == 7
        assert [audit.risk for audit in end.audits] == pytest.approx(
            [0.05 * share for share in SHARES[: len(end.audits)]]
        )
        assert shop.sold == sorted(shop.sold)


@pytest.mark.release
def test_labels_that_help_are_bought_where_checks_are_dear():
    cheap = [run(seed, price=0.1)[0].sold for seed in range(3)]
    expensive = [run(seed, price=100.0) for seed in range(3)]
    assert all(sold == [0] for sold in cheap)
    assert all(len(shop.sold) > 1 for shop, _ in expensive)
    none = [run(seed, price=100.0, most=0) for seed in range(3)]
    assert all(len(end.audits) == 1 for _, end in none)  # nothing to buy: the audit goes on
    assert np.mean([end.checks for _, end in expensive]) < np.mean([end.checks for _, end in none])


@pytest.mark.release
def test_an_audit_is_given_up_where_labels_did_less_than_was_believed():
    """Labels change nothing: the audit shows it, others follow, and α is shared among them."""
    shop, end = run(1002, price=50.0, real=1.0, tasks=300)
    assert len(end.audits) > 1
    assert end.audits[-1].certified
    assert end.holds
    assert end.checks == end.checked.sum()
    assert len(shop.sold) > 1


@pytest.mark.release
@pytest.mark.parametrize("real", [0.5, 1.0])
def test_promises_hold_whatever_labels_are_worth(real):
    """`real` 1: more labels are believed and change nothing."""
    runs = 20
    broken = sum(not run(seed, real=real, rate=0.12, tasks=80)[1].holds for seed in range(runs))
    assert broken / runs <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)
