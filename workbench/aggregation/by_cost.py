"""Answers of least expected cost, from the chances of the classes that a method gives.

Where missing class z costs l_z, naming k costs Σ l_z p_z over z ≠ k in expectation, the least for
the class of largest l_k p_k. It is a matter of the decision: a model is fitted, and calibrated, as
if every error cost the same. Where shares of the classes are stated the chances are first brought
to these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from workbench.aggregation.calibration import calibration
from workbench.aggregation.choice import choice
from workbench.aggregation.posteriors import normalised
from workbench.aggregation.vote_rules import fixed_rule
from workbench.aggregation.voting import Aggregate, fair_choice
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.confusion import class_shares
from workbench.crowd.gold_rule import FittedRule, GoldRule, class_sums
from workbench.crowd.loss import Stakes, reweighed
from workbench.crowd.votes import TIE, Votes

DEFAULT_BY_COST = "dawid-skene-smoothed"
"""The method where it is said what errors cost and there is no gold: the chances of the pooled
models are too even where many agree, which makes false alarms of rare classes (cost .053, here
.020)."""
LOG_ODDS = "weighted-log-odds"
"""The vote whose sums are logarithms of chances."""
NO_CHANCES = "bwa"
"""Its shares are no probabilities."""


def chances_of(aggregate: Aggregate, votes: Votes) -> tuple[FloatArray, FloatArray] | None:
    """Chances of the classes, shape (n, L), and the shares that they take these to have, (L,).

    Returns
    -------
    None of a method that gives none, as a majority.
    """
    n, L = len(votes.tasks), len(votes.classes)
    even: FloatArray = np.full(L, 1.0 / L)
    posterior, info = aggregate.info.get("posterior"), aggregate.info
    if posterior is not None:
        prior = info.get("shares", info.get("class_prior"))
        return posterior, even if prior is None else prior
    if aggregate.info.get("log_odds"):
        sums = class_sums(votes.task, votes.label, info["weight"][votes.worker], (n, L))
        return normalised(sums)[0], even
    return None


def by_cost(aggregate: Aggregate, votes: Votes, stakes: Stakes, *, seed: Seed) -> Aggregate | None:
    """Answer each task by the class of least expected cost; None without chances of the classes.

    Parameters
    ----------
    aggregate, votes
        Labels of n tasks by some method, and what they came from.
    stakes
        What errors cost, by the classes of the votes.
    seed
        Of the draw where classes tie.
    """
    found = chances_of(aggregate, votes)
    if found is None:
        return None
    posterior, fitted = found
    return _decided(aggregate, stakes.known(fitted).shifted(posterior, fitted), stakes, seed)


def at_stake(
    aggregate: Aggregate, votes: Votes, method: str, stakes: Stakes, *, seed: Seed
) -> Aggregate:
    """As `by_cost`, of stakes by any names; `method` is what the labels are of.

    Raises
    ------
    InputError
        The method gives no chances of the classes.
    """
    decided = None
    if method == LOG_ODDS:
        aggregate = replace(aggregate, info={**aggregate.info, "log_odds": True})
    if method != NO_CHANCES:
        decided = by_cost(aggregate, votes, stakes.over(votes.classes.tolist()), seed=seed)
    if decided is None:
        raise InputError(
            "`loss` and `class_share` are for methods that give chances of the classes, and "
            f"{method} gives none: take {DEFAULT_BY_COST!r}, or leave `method` out"
        )
    return decided


def _decided(aggregate: Aggregate, posterior: FloatArray, stakes: Stakes, seed: Seed) -> Aggregate:
    weighed = posterior * stakes.loss
    weighed = weighed / weighed.sum(axis=1, keepdims=True)
    ranked = np.sort(weighed, axis=1)
    candidates = weighed >= (ranked[:, -1] - TIE)[:, None]
    winners = candidates | aggregate.unlabelled[:, None]
    label = fair_choice(winners, stream(seed, "ties"))
    at = np.arange(len(label))
    missed = posterior @ stakes.loss - posterior[at, label] * stakes.loss[label]
    info = {
        "posterior": posterior,
        "confidence": posterior[at, label],
        "expected_cost": np.where(aggregate.unlabelled, np.nan, missed),
        "stakes": stakes,
    }
    return replace(
        aggregate,
        label=label,
        score=ranked[:, -1] - ranked[:, -2] if ranked.shape[1] > 1 else ranked[:, -1],
        tied=(candidates.sum(axis=1) > 1) & ~aggregate.unlabelled,
        info={**aggregate.info, **info},
        winners=winners,
    )


def candidates_by_cost(
    candidates: Mapping[str, Aggregate], votes: Votes, gold: IntArray, stakes: Stakes, *, seed: Seed
) -> dict[str, Aggregate]:
    """Let each candidate answer by least expected cost, its chances calibrated by the gold.

    One that gives no chances of the classes, as a majority, answers as it does; one whose shares
    are no chances is left out.

    Parameters
    ----------
    candidates, votes
        Labels of n tasks by method, none taught by the gold that is to judge them.
    gold
        Class of the gold tasks, −1 of all others, shape (n,).
    stakes, seed
        As for `by_cost`.
    """
    control, L = gold >= 0, len(votes.classes)
    there, made = class_shares(gold, L), {}
    for name, aggregate in candidates.items():
        if name == NO_CHANCES:
            continue
        found = chances_of(aggregate, votes)
        if found is None:
            made[name] = replace(aggregate, info={**aggregate.info, "stakes": stakes})
            continue
        posterior, fitted = found
        shares = fitted if stakes.share is None else stakes.share
        posterior = stakes.known(fitted).shifted(posterior, fitted)
        judged, raw = control & ~aggregate.unlabelled, dict[str, object]()
        if judged.any():
            # Gold may be drawn by class: chances are calibrated as frequent as classes are there.
            drawn = shares if stakes.share is None else there
            as_drawn = reweighed(posterior, shares, drawn)
            how = calibration(as_drawn[judged], np.eye(L)[gold[judged]])
            posterior = reweighed(how.apply(as_drawn), drawn, shares)
            raw = {"calibration": how, "confidence_raw": aggregate.info.get("confidence")}
        decided = _decided(aggregate, posterior, stakes, seed)
        made[name] = replace(decided, info={**decided.info, **raw})
    return made


def choosing_by_cost(
    candidates: Mapping[str, Aggregate], votes: Votes, stakes: Stakes, *, seed: Seed
) -> GoldRule:
    """Make a rule of the choice by cost, as `choosing_rule` is of that by errors."""
    nothing = np.full(len(votes.tasks), -1, dtype=np.int64)

    def fit(gold: IntArray) -> FittedRule:
        made = candidates_by_cost(candidates, votes, gold, stakes, seed=seed)
        enough = (gold >= 0).sum() >= 2
        best = choice(made, gold, stakes) if enough else next(iter(made))
        return fixed_rule(made[best], votes, nothing)(gold)

    return fit
