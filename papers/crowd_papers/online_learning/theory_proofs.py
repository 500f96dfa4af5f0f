"""The inequalities behind the theorems, tried on estimates near and far, and at the extremes.

The question takes the skills, shape (M,), and a generator, and gives a record of `learn-theory`.

Source: Liu, Liu (2015), Section 4.2 and appendices, Lemmas 5 to 8.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_papers.online_learning.learning_runs import EQUAL, RUNS
from workbench.accuracy import (
    crowd_constants,
    majority_accuracy,
    majority_subsets,
    prefix_accuracies_many,
    smallest_weight_gap,
)
from workbench.base import FloatArray
from workbench.learning import regret_bounds
from workbench.studies import Record, Ruling, claim, only

TRIES = 300
"""Random instances of an inequality in one trial."""


def proofs(skill: FloatArray, rng: np.random.Generator) -> Record:
    """Try the inequalities of Lemmas 5 to 8 on estimates near and far, and at the extremes."""
    m = len(skill) - 1 + len(skill) % 2
    p = np.sort(skill[:m])[::-1]
    scale = 10 ** rng.uniform(-3, 0, (TRIES, 1))
    near = np.clip(p + scale * rng.uniform(-1, 1, (TRIES, m)), 0, 1)
    corner = (rng.random((TRIES, m)) < 0.5).astype(float)
    seven, six = [], []
    for estimate in (near, corner):
        off = np.abs(estimate - p).sum(axis=1)
        accuracy = prefix_accuracies_many(estimate)[:, -1]
        seven.append(_largest_ratio(np.abs(estimate.prod(axis=1) - p.prod()), off))
        six.append(_largest_ratio(np.abs(accuracy - majority_accuracy(p)), off))
    return {
        "lemma_7": max(seven),
        "lemma_6": max(six) / majority_subsets(m),
        "lemma_6_without": max(six),
        "lemma_6_missed": _lemma_6(p, near, 0.495 * crowd_constants(p).prefix_gap_min),
        **_lemma_8(p, rng),
    }


def _largest_ratio(numerator: FloatArray, denominator: FloatArray) -> float:
    return float(
        np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0).max()
    )


def _lemma_6(p: FloatArray, near: FloatArray, epsilon: float) -> int:
    """Instances of Û(S^m) ≥ Û(S*) in which no estimate of the two is off by more than ε, (24)."""
    if not 0 < epsilon < 1:
        return 0
    truth, guess = prefix_accuracies_many(p[None])[0, 1::2], prefix_accuracies_many(near)[:, 1::2]
    best = int(truth.argmax())
    other = np.arange(len(truth)) != best
    misranking = guess[:, other] >= guess[:, [best]]
    above = guess[:, other] > truth[other] + epsilon - EQUAL
    below = guess[:, [best]] < truth[best] - epsilon + EQUAL
    return int((misranking & ~above & ~below).sum())


def _lemma_8(p: FloatArray, rng: np.random.Generator) -> Record:
    """Slopes of the log-odds beside 2C, for skills in (½, 1), and votes in doubt within Lemma 5."""
    p = np.clip(0.5 + np.abs(p - 0.5), 0.5 + 1e-6, 1 - 1e-3)
    epsilon = weight_epsilon(p)
    needed = regret_bounds.slope_constant(p, epsilon)
    side = rng.choice([-1.0, 1.0], (TRIES, len(p)))
    # The worst crowd for the printed C has a worker at ½ + ε/8, where its two largest terms meet.
    edge = np.array([0.5 + epsilon / 8])
    record: dict[str, float] = {}
    for name, crowd, slope in (
        ("printed", p, printed_slope(p, epsilon)),
        ("printed_edge", edge, printed_slope(edge, epsilon)),
        ("needed", p, needed),
    ):
        reach = epsilon / (4 * slope * len(crowd))
        near = crowd + reach * rng.uniform(0, 1, (TRIES, 1)) * side[:, : len(crowd)]
        near = np.clip(near, 1e-9, 1 - 1e-9)
        moved = np.abs(_odds(near) - _odds(crowd))
        allowed = 2 * slope * np.abs(near - crowd)
        record[f"lemma_8_{name}"] = _largest_ratio(moved.ravel(), allowed.ravel())
    extreme = np.clip(p + 0.999 * epsilon / (4 * needed * len(p)) * side, 1e-9, 1 - 1e-9)
    votes = rng.choice([-1.0, 1.0], (TRIES, len(p)))
    margin, lead = votes @ _odds(p), (votes * _odds(extreme)).sum(axis=1)
    ahead = margin > 1e-9 * np.abs(_odds(p)).sum()
    return {
        **record,
        "lemma_5_missed": int((lead[ahead] < epsilon).sum()),
        "lemma_5_votes": int(ahead.sum()),
        "weight_epsilon": epsilon,
    }


def printed_slope(skill: FloatArray, epsilon: float) -> float:
    """Least C that Section 4.2 allows, as printed."""
    e = epsilon / 4
    return float(np.max([(1 + e) / skill, (1 - e) / (1 - skill), e / skill, e / (1 - skill)]))


def weight_epsilon(skill: FloatArray) -> float:
    """ε < δ^W_min/2 for which log-odds within ε/4 of a skill exist."""
    gap = smallest_weight_gap(skill)
    return float(min(0.495 * gap, 2 * np.minimum(skill, 1 - skill).min(), 0.01))


def _odds(p: FloatArray) -> FloatArray:
    return np.log(p) - np.log1p(-p)


# What the paper claims.


@claim(
    id="learn-lemma-5",
    source="Lemma 5",
    statement="The class that leads by the true weights also leads, by ε, under the estimated "
    "weights, except with probability |S|(2/t² + 1/(αε t^(2−z))).",
    studies=("learn-theory",),
)
def lemma_5(trials: pd.DataFrame) -> Ruling:
    """Votes that fall short of ε at the extremes; and whether the probability says anything."""
    rows = only(trials, RUNS, question="steps-of-proofs")
    bounds = only(trials, RUNS, question="bounds")
    missed, share = rows["lemma_5_missed"].sum(), bounds["share_million_5"].min()
    figures = (
        f"Estimates off by up to ε/(4C|S|): {missed:.0f} of {rows['lemma_5_votes'].sum():,.0f} "
        "votes ahead by the true weights fall short of ε, with Lemma 8's C. The probability is "
        f"that of Lemma 4, void as it is there (Theorem 5's bound is {share:.2g} T or more at a "
        "million)."
    )
    if missed > 0:
        return Ruling.refuted(figures)
    return Ruling.void(figures) if share >= 1 else Ruling.holds(figures)


@claim(
    id="learn-lemma-6",
    source="Lemma 6, (24) and (25)",
    statement="A wrong set is chosen only if the estimated accuracy of some set S is off by more "
    "than ε, so that the errors of the estimated skills add up to more than ε/n(S).",
    studies=("learn-theory",),
    where={"question": "steps-of-proofs"},
)
def lemma_6(trials: pd.DataFrame) -> Ruling:
    """|Û(S) − U(S)| beside n(S)·Σ|p̂ − p|, and wrong choices by accuracies within ε."""
    ratio, missed = trials["lemma_6"].max(), trials["lemma_6_missed"].sum()
    figures = (
        f"{len(trials)} crowds: |Û(S) − U(S)| is at most {ratio:.3f} of n(S)·Σ|p̂ − p|, and "
        f"{missed:.0f} wrong choices have both accuracies within ε. Without the factor n(S) the "
        f"ratio is at most {trials['lemma_6_without'].max():.3f}: π changes with each p by the "
        "chance to be pivotal, no more than 1, so that n(S^m) can be dropped from D1 (for five "
        "workers 5 in place of 80, a D1 256 times smaller)."
    )
    broken = ratio > 1 + EQUAL or missed > 0
    return Ruling.refuted(figures) if broken else Ruling.holds(figures)


@claim(
    id="learn-lemma-7",
    source="Lemma 7",
    statement="|∏ l − ∏ q| ≤ Σ |l − q| for numbers in [0, 1].",
    studies=("learn-theory",),
    where={"question": "steps-of-proofs"},
)
def lemma_7(trials: pd.DataFrame) -> Ruling:
    """The difference of the products beside the sum of the differences."""
    ratio = trials["lemma_7"].max()
    figures = (
        f"{len(trials)} crowds, near and extreme: the left side is at most {ratio:.4f} "
        "of the right."
    )
    return Ruling.refuted(figures) if ratio > 1 + EQUAL else Ruling.holds(figures)


@claim(
    id="learn-lemma-8",
    source="Lemma 8 and Section 4.2",
    statement="The log-odds of p̂ and p differ by at most 2C|p̂ − p|, with C above 1/p, 1/p̂, 1/(1 "
    "− p) and 1/(1 − p̂).",
    studies=("learn-theory",),
    where={"question": "steps-of-proofs"},
)
def lemma_8(trials: pd.DataFrame) -> Ruling:
    """By how much log-odds move, beside 2C|p̂ − p| with the C of the lemma and of Section 4.2."""
    needed = trials["lemma_8_needed"].max()
    printed = trials[["lemma_8_printed", "lemma_8_printed_edge"]].max(axis=1)
    over = int((printed > 1 + EQUAL).sum())
    figures = (
        f"{len(trials)} crowds: the log-odds move by at most {needed:.3f} of 2C|p̂ − p| with the C "
        f"of the lemma; with the least C that Section 4.2 allows by up to 1 + "
        f"{printed.max() - 1:.1e} of it, more than 1 in {over} (a worker at ½ + ε/8)."
    )
    if needed > 1 + EQUAL:
        return Ruling.refuted(figures)
    return Ruling.holds_as_corrected(figures) if over else Ruling.holds(figures)
