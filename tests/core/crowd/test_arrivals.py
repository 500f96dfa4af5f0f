"""Orders in which workers come."""

import numpy as np

from workbench.crowd import population
from workbench.crowd.arrivals import adversarial
from workbench.crowd.population import Crowd


def crowd_of(*skill):
    m = len(skill)
    return Crowd(np.array([skill]), np.ones(m), np.arange(m), np.array(["x"]))


def test_adversarial_orders():
    crowd = crowd_of(0.9, 0.5, 0.0, 0.7, 0.6)  # a perfect liar is as good as an oracle
    assert adversarial(crowd, "worst_first").tolist() == [1, 4, 3, 0, 2]
    assert adversarial(crowd, "best_first").tolist() == [2, 0, 3, 4, 1]
    assert adversarial(crowd, "alternating").tolist() == [1, 2, 4, 0, 3]
    assert adversarial(crowd_of(0.9, 0.5), "alternating").tolist() == [1, 0]


def test_quality_is_totalled_over_types_and_ties_are_named():
    crowd = population.specialists(30, seed=1, task_types=3)
    for kind in ("worst_first", "best_first"):
        assert adversarial(crowd, kind).tolist() == list(range(30))
        mixed = adversarial(crowd, kind, seed=1)
        assert mixed.tolist() != list(range(30))
        assert sorted(mixed) == list(range(30))
        assert np.array_equal(mixed, adversarial(crowd, kind, seed=1))
    # Equal totals of unequal terms tie although their sums differ in the last bits.
    skill = (1 + np.sqrt([[0.3, 0.1], [0.2, 0.2], [0.1, 0.3]])) / 2
    pair = Crowd(skill, np.ones(2), np.arange(2), np.arange(3))
    assert adversarial(pair, "worst_first").tolist() == [0, 1]
    assert adversarial(pair, "best_first").tolist() == [0, 1]
