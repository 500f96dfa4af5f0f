"""Worker selection on recorded crowds: an exam out of a data set's own gold, a choice, a vote.

Where everybody labelled everything (`SHARED`), some items are drawn as control questions for all;
workers are chosen once, by their answers to these, and label the other items. This is the paper's
protocol.

Where each worker labelled a few items, any ten items would examine almost nobody. There a worker's
exam is drawn from her own answers to items with gold, at most half of her labels. These answers
are set aside: they do not vote. The budget is per item, as the paper has it, so the choice is made
for each item among those who labelled it. An item may be in one worker's exam and be voted on by
others.

In both, items with gold that have a label left are scored, and gold is used for nothing else but
by `in_hindsight`. Workers with fewer than two control answers are not in the pool: their skill has
no variance.

Source: Li, Liu (2015), Section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd

from workbench.aggregation import (
    AGGREGATORS,
    Aggregate,
    expected_accuracy,
    linear_weights,
    log_odds_weights,
)
from workbench.base import BoolArray, FloatArray, IntArray, Seed, stream
from workbench.crowd import TIE, Votes
from workbench.ranking import Recording, kept, places, recorded
from workbench.selection import Scores, informativeness, scores, select, select_per_task, top
from workbench.studies import TrialEnded

SHARED = ("simulated", "bluebird", "sat12")
"""Crowds of which everybody labelled everything, or nearly so."""
SPARSE = ("simulated sparse", "rte", "sp_amt", "weather_amt")
"""Crowds of which each worker labelled some items."""
SIMULATED = ("simulated", "simulated sparse")
"""Stand-ins drawn anew in each trial: one-coin workers with skills from Beta(2.3, 2)."""

EM: dict[str, dict[str, Any]] = {
    "full": {},
    "full, uniform prior": {"class_prior": "uniform"},
    "full, smoothed": {"smoothing": 1.0},
    "one-coin": {"confusion": "one-coin"},
    "one-coin, uniform prior": {"confusion": "one-coin", "class_prior": "uniform"},
}
"""Variants of Dawid–Skene: confusion matrices or one coin per worker, with an estimated class prior
where none is named, and without smoothing where it is not (else one vote a cell)."""

Vote = Literal["linear", "log-odds", "majority", "EM"]

REFITS = 99
"""Data sets drawn from the fitted one-coin model, to judge how badly it fits."""


def at_usual(rows: pd.DataFrame, usual: Mapping[str, Any]) -> pd.DataFrame:
    """Trials at one value of each setting: the usual one where it was run, else the most frequent.

    Parameters
    ----------
    rows
        One row per trial.
    usual
        A setting's value, missing where that is usual; or what tells it of the rows.
    """
    for name, value in usual.items():
        wanted = pd.Series(value(rows) if callable(value) else value, index=rows.index)
        own = (rows[name] == wanted) | (rows[name].isna() & wanted.isna())
        if len(rows) and not own.any():
            own = rows[name] == rows[name].mode().iloc[0]
        rows = rows[own]
    return rows


@dataclass(frozen=True, eq=False)
class Exam:
    """What is known of the workers, and what is left to vote with.

    Attributes
    ----------
    scores
        Scores of the m workers by their control answers.
    votes
        The other labels.
    truth
        True class of the items that are scored, shape (n,); −1 for the others.
    shared
        Whether all workers had one exam, and are chosen once for all items.
    """

    scores: Scores
    votes: Votes
    truth: IntArray
    shared: bool


def examine(recording: Recording, aside: BoolArray, *, shared: bool) -> Exam:
    """Take the labels marked in `aside`, of items with gold, as control answers."""
    votes, m = recording.votes, len(recording.votes.workers)
    right = votes.label == recording.truth[votes.task]
    answered = np.bincount(votes.worker[aside], minlength=m)
    correct = np.bincount(votes.worker[aside & right], minlength=m)
    rest = kept(votes, ~aside)
    labelled = np.bincount(rest.task, minlength=len(votes.tasks)) > 0
    return Exam(
        scores(correct, answered, len(votes.classes)),
        rest,
        np.where(labelled, recording.truth, -1),
        shared,
    )


def shared_controls(recording: Recording, controls: int, *, seed: Seed) -> BoolArray:
    """Mark all labels of some items with gold, drawn at random; those of fewer are among them.

    Raises
    ------
    TrialEnded
        `infeasible` where no item with gold would be left to score.
    """
    gold = np.flatnonzero(recording.truth >= 0)
    if controls >= len(gold):
        raise TrialEnded(
            "infeasible", f"{controls} control questions of {len(gold)} items with gold: none left"
        )
    drawn = stream(seed, "controls").permutation(gold)[:controls]
    return np.isin(recording.votes.task, drawn)


def own_controls(recording: Recording, controls: int, *, seed: Seed) -> BoolArray:
    """Mark up to so many labels of each worker on items with gold, at most half of her labels."""
    votes = recording.votes
    lot = stream(seed, "controls").random(len(votes))
    lot[recording.truth[votes.task] < 0] = np.inf
    most = np.minimum(controls, np.bincount(votes.worker, minlength=len(votes.workers)) // 2)
    return (places(votes.worker, lot) < most[votes.worker]) & np.isfinite(lot)


def in_hindsight(exam: Exam) -> Exam:
    """Put each worker's share of right labels on the scored items for ŵ, and (Lŵ − 1)² for G.

    So Algorithm 1 maximises F itself (5), with the skills that the votes turn out to have.
    """
    votes, pool, m = exam.votes, exam.scores, len(exam.scores)
    true = exam.truth[votes.task]
    answers = np.bincount(votes.worker[true >= 0], minlength=m)
    right = np.bincount(votes.worker[(true >= 0) & (votes.label == true)], minlength=m)
    skill = right / np.maximum(answers, 1)
    skill[answers == 0] = 1.0 / pool.classes
    worth = np.where(pool.eligible, informativeness(skill, pool.classes), -np.inf)
    skill = np.where(pool.eligible, skill, np.nan)
    return replace(exam, scores=replace(pool, skill=skill, gain=worth, plug_in=worth))


def choose(exam: Exam, rule: str, budget: int, *, seed: Seed) -> BoolArray:
    """Mark the votes of the chosen: at most `budget` workers, once or for each item.

    Parameters
    ----------
    exam
        The workers and their votes.
    rule
        One of `select.rules.RULES` but "threshold"; "top-gain": the K highest G, the ranking in
        which Algorithm 1 stops somewhere; "as many": as many as it takes, at random.
    budget
        K.
    seed
        Of draws among equals, and of random workers.
    """
    pool = exam.scores
    if rule == "as many":
        return _as_many(exam, choose(exam, "selected", budget, seed=seed), seed)
    if exam.shared:
        best = top(pool.gain, budget, seed=seed) if rule == "top-gain" else None
        chosen = (best or select(pool, budget, rule, seed=seed)).chosen
        return np.isin(exam.votes.worker, chosen)
    value = {
        "selected": pool.gain,
        "top-gain": pool.gain,
        "plug-in": pool.plug_in,
        "top-informative": pool.plug_in,
        "top-skill": pool.skill,
        "random": np.zeros(len(pool)),
    }[rule]
    value = np.where(pool.eligible, value, -np.inf)
    stop = rule in ("selected", "plug-in")
    return select_per_task(exam.votes, value, budget, stop=stop, seed=seed)


def _as_many(exam: Exam, model: BoolArray, seed: Seed) -> BoolArray:
    votes = exam.votes
    if exam.shared:
        size = len(np.unique(votes.worker[model]))
        return choose(exam, "random", size, seed=seed)
    lot = stream(seed, "as many").random(len(votes))
    lot[~exam.scores.eligible[votes.worker]] = np.inf
    many = np.bincount(votes.task[model], minlength=len(votes.tasks))
    return (places(votes.task, lot) < many[votes.task]) & np.isfinite(lot)


def vote(
    exam: Exam, marked: BoolArray, kind: Vote, *, truncate: float = 1e-3, em: str = "full"
) -> tuple[float, Aggregate | None]:
    """Share of the scored items that the marked votes label right, fair draws in expectation.

    Parameters
    ----------
    exam, marked
        The votes, and which of them count.
    kind
        Weights ŵ − 1/L, log-odds, equal ones, or Dawid–Skene on these votes alone.
    truncate
        Of the log-odds.
    em
        Variant, one of `EM`.

    Returns
    -------
    The share, and what EM has to say.
    """
    votes = kept(exam.votes, marked)
    if kind == "EM":
        estimate = AGGREGATORS["dawid-skene"].call(
            votes, **EM[em], seed=0
        )  # the seed draws labels that are not read
        return _posterior_accuracy(estimate, exam.truth), estimate
    skill = np.where(exam.scores.eligible, exam.scores.skill, 0.5)
    L = exam.scores.classes
    weights: FloatArray | None = None
    if kind != "majority":
        weights = (
            linear_weights(skill, L)
            if kind == "linear"
            else log_odds_weights(skill, L, truncate=truncate)
        )
    return expected_accuracy(votes, weights, exam.truth), None


def _posterior_accuracy(estimate: Aggregate, truth: IntArray) -> float:
    posterior = np.where(estimate.unlabelled[:, None], 1.0, estimate.info["posterior"])
    winners = posterior >= posterior.max(axis=1, keepdims=True) - TIE
    at = np.flatnonzero(truth >= 0)
    return float((winners[at, truth[at]] / winners[at].sum(axis=1)).mean())


@cache
def misfit(name: str) -> tuple[float, float]:
    """How badly one coin per worker explains a data set's labels, given its gold.

    The likelihood ratio of a confusion matrix per worker to one coin, Λ = 2 Σ ln, beside its mean
    over data sets drawn from the fitted coins.

    Returns
    -------
    Λ over that mean, and Λ's distance from it in standard deviations.
    """
    recording = recorded(name)
    votes, truth = recording.votes, recording.truth
    m, L = len(votes.workers), len(votes.classes)
    with_gold = truth[votes.task] >= 0
    counts = np.zeros((m, L, L), dtype=np.int64)
    np.add.at(
        counts, (votes.worker[with_gold], truth[votes.task[with_gold]], votes.label[with_gold]), 1
    )
    chance = _one_coin(counts)
    rng = stream(0, "misfit")
    drawn = [_ratio(rng.multinomial(counts.sum(axis=2), chance)) for _ in range(REFITS)]
    ratio = _ratio(counts)
    return float(ratio / np.mean(drawn)), float((ratio - np.mean(drawn)) / np.std(drawn, ddof=1))


def _one_coin(counts: IntArray) -> FloatArray:
    """Fitted chance of each answer, shape (m, L, L), true class by class named."""
    L = counts.shape[1]
    total = np.maximum(counts.sum(axis=(1, 2)), 1)
    skill = (np.trace(counts, axis1=1, axis2=2) / total)[:, None, None]
    chance: FloatArray = np.where(np.eye(L, dtype=bool), skill, (1.0 - skill) / (L - 1))
    return chance


def _ratio(counts: IntArray) -> float:
    """2 Σ c ln(p̂/p̂₁), p̂ of confusion matrices, p̂₁ of one coin; cells without a count add 0."""
    full = counts / np.maximum(counts.sum(axis=2, keepdims=True), 1)
    met = counts > 0
    return float(2 * (counts[met] * np.log(full[met] / _one_coin(counts)[met])).sum())
