"""The error of the likeliest class: listed against drawn, and against the two-class vote."""

import numpy as np
import pytest

from tests.core.models.test_joint import crowd, exact_error
from workbench.accuracy import likeliest
from workbench.accuracy.error_rate import vote_error
from workbench.accuracy.likeliest import likeliest_error
from workbench.aggregation.voting import log_odds_weights
from workbench.base.errors import InputError


@pytest.mark.parametrize("seed", range(6))
def test_listed_and_drawn_agree(seed, monkeypatch):
    confusion, prior = crowd(np.random.default_rng(seed), 4, 3)
    listed = likeliest_error(confusion[0], prior)
    assert listed.method == "exact"
    assert listed.probability == pytest.approx(exact_error(confusion[0], prior), abs=1e-12)
    monkeypatch.setattr(likeliest, "LISTED", 1)
    drawn = likeliest_error(confusion[0], prior, seed=seed)
    assert drawn.method == "sampled"
    assert abs(drawn.probability - listed.probability) <= drawn.radius


def test_two_classes_of_one_coin_are_the_log_odds_vote():
    skill = np.array([0.9, 0.7, 0.65, 0.55, 0.8])
    coins = np.stack([[[p, 1 - p], [1 - p, p]] for p in skill])
    vote = vote_error(skill, log_odds_weights(skill))
    assert likeliest_error(coins, [0.5, 0.5]).probability == pytest.approx(vote.probability)


def test_nobody_names_the_commonest_class():
    assert likeliest_error(np.zeros((0, 3, 3)), [0.5, 0.3, 0.2]).probability == pytest.approx(0.5)
    with pytest.raises(InputError, match="confusion has shape"):
        likeliest_error(np.zeros((1, 2, 2)), [0.5, 0.3, 0.2])
