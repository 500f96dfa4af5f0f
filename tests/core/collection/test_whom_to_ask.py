"""Whom to ask: what is to come is reckoned once, and nobody is looked through in vain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.collection import trusted
from workbench.collection.collector import Collector
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger, Questions
from workbench.collection.setup import People
from workbench.collection.simulation import simulated
from workbench.collection.trusted import UntilTrusted


def test_who_is_asked_about_nothing_costs_no_look_at_each_task(monkeypatch):
    """Those to come tell far more for their price; a page that asks for one is answered at once."""
    looks = []
    ascending = trusted._ascending
    monkeypatch.setattr(trusted, "_ascending", lambda *given: looks.append(1) or ascending(*given))
    experts = {f"w{j}": 0.99 for j in range(30)}
    collector = Collector(
        [f"t{i}" for i in range(50)],
        ["ann", *experts],
        classes=["no", "yes"],
        epsilon=0.1,
        people=People(skills={"ann": 0.55, **experts}),
    )
    assert collector.next("ann", 1) == []
    assert looks == []
    assert collector.next("w3", 2)
    assert looks


def test_the_price_of_nats_to_come_does_not_hang_on_how_it_is_counted():
    """Of one price workers are counted together; of prices that hardly differ one by one."""
    rng = np.random.default_rng(14)
    pool, answers = simulated(rng.uniform(0.5, 0.95, 30), 60, capacity=20, seed=14)
    prices = []
    for price in (pool.price, pool.price * (1.0 + 1e-9 * rng.random(pool.price.shape))):
        ledger = Ledger(replace(pool, price=price))
        policy = UntilTrusted(ledger, Goal(0.05), 0)
        for worker in range(8):
            ask = Questions(np.arange(20), np.full(20, worker))
            ledger.ask(ask)
            ledger.tell(ask, answers.of(ask))
            policy.told(ask, answers.of(ask))
            policy.came[worker] = True
        policy.refit()
        worth = policy.worker_index
        prices.append(worth.price_to_come(policy.beliefs, np.arange(60), policy.came))
    assert prices[0][0] > 0.0
    np.testing.assert_allclose(*prices, rtol=1e-6)
