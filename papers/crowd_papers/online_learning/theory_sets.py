"""Which sets of workers are best: all sets of a crowd, by simple and by weighted vote.

Each question takes the skills, shape (M,), and a generator, and gives a record of `learn-theory`.

Source: Liu, Liu (2015), Sections 2.2, 2.3, 4 and 5, Theorems 1, 2 and 4, footnotes 1 and 2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from crowd_papers.online_learning.learning_runs import EQUAL, FIXED, RUNS
from crowd_papers.online_learning.theory_votes import differs
from workbench.accuracy import (
    best_set,
    crowd_constants,
    log_odds,
    majority_accuracy,
    plurality_error,
    prefix_accuracies_many,
    weighted_accuracies_many,
)
from workbench.base import BoolArray, FloatArray
from workbench.learning import smooth_skills
from workbench.studies import (
    Record,
    Ruling,
    claim,
    counts,
    enough,
    flags,
    mean_se,
    percent,
    plus_minus,
    span,
)

Draw = Callable[[int, np.random.Generator], FloatArray]

CLASSES = (3, 5)
"""Numbers of classes beyond two."""
RANGES = {"half": 0.5, "able": 0.6, "spread": 0.3}
"""Least skill of the crowds for which one round per tester is looked at."""
INTERVALS = (2, 4, 8, 16, 32)
"""Numbers of intervals that a continuum of contexts is cut into."""
CONTEXTS = 64
"""Contexts looked at, evenly spread over [0, 1]."""
SLOPE = 2.0
"""Lipschitz constant of the skills in a continuum."""


def solved(m: int, rng: np.random.Generator) -> FloatArray:
    """Different skills, of which the best alone is as good as the best three, and no set better.

    p₁p₂ + p₁p₃ + p₂p₃ − 2p₁p₂p₃ = p₁ is solved for p₂; (0.99, 11/12, 0.9) is one of them.
    """
    while True:
        first, third = rng.uniform(0.8, 0.999), rng.uniform(0.55, 0.95)
        second = first * (1 - third) / (first + third - 2 * first * third)
        if third < second < first:
            rest = rng.uniform(0, 0.5, max(0, m - 3))
            return np.concatenate([[first, second, third], rest])[:m]


def dominant(m: int, rng: np.random.Generator) -> FloatArray:
    """One whose weight exceeds all others' together: (0.999, 0.95, 0.9) is one of them."""
    rest = rng.uniform(0.55, 0.9, m - 1)
    weight = float(log_odds(rest).sum()) + rng.uniform(0.1, 2.0)
    return np.concatenate([[1 / (1 + math.exp(-weight))], rest])


CROWDS: dict[str, Draw] = {
    "any": lambda m, rng: rng.uniform(0, 1, m),
    "able": lambda m, rng: rng.uniform(0.5, 1, m),
    # Few values, so that many are equal; and some always right, some tossing coins.
    "alike": lambda m, rng: rng.choice([0.5, 0.6, 0.7, 0.8, 0.9], m),
    "sure": lambda m, rng: rng.choice([0.5, 0.75, 1.0], m),
    "solved": solved,
    "dominant": dominant,
    "table-1": lambda _m, _rng: np.array(FIXED["table-1"]),
}
"""How the skills of M workers are drawn; Table 1's five are given."""


def sets(skill: FloatArray, _: np.random.Generator) -> Record:
    """Compare sets of odd size with others, and sets of the best workers with others."""
    member, simple, weighted = all_sets(skill)
    least = np.where(member, skill, np.inf).min(axis=1)
    most = np.where(member, -np.inf, skill).max(axis=1)
    # Monotone as printed: all in the set are better than all outside, strictly.
    top, strictly = least >= most, least > most
    odd = member.sum(axis=1) % 2 == 1
    best, best_w = simple.max(), weighted.max()
    optimal, optimal_w = simple >= best - EQUAL, weighted >= best_w - EQUAL
    return {
        "even_ahead": float(simple[~odd].max(initial=0.0) - simple[odd].max()),
        "even_optimal": bool((optimal & ~odd).any()),
        "other_ahead": float(simple[~top].max(initial=0.0) - simple[top].max()),
        "other_optimal": bool((optimal & ~strictly).any()),
        "search_off": float(abs(best_set(skill).accuracy - best)),
        "weighted_other_ahead": float(weighted[~top].max(initial=0.0) - weighted[top].max()),
        "weighted_other_optimal": bool((optimal_w & ~strictly).any()),
        "weighted_search_off": float(abs(best_set(skill, weighted=True).accuracy - best_w)),
        "weighted_less_simple": float(best_w - best),
        "different": bool(len(np.unique(skill)) == len(skill)),
        "prefix_gap": float(min(crowd_constants(skill).prefix_gap_min, 1.0)),
    }


def all_sets(skill: FloatArray) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Every set of one or more: who is in it, and its accuracy by simple and weighted vote."""
    member = np.array(list(itertools.product((False, True), repeat=len(skill))))[1:]
    simple, weighted = np.empty(len(member)), np.empty(len(member))
    size = member.sum(axis=1)
    for n in range(1, len(skill) + 1):
        at = np.flatnonzero(size == n)
        rows = np.stack([skill[row] for row in member[at]])
        simple[at] = prefix_accuracies_many(rows)[:, -1]
        weighted[at] = weighted_accuracies_many(rows)[:, -1]
    return member, simple, weighted


def weighted_vote(skill: FloatArray, _: np.random.Generator) -> Record:
    """Compare the weighted vote of all with the best guess, and its optimum with the simple one's.

    `off`: from the accuracy of the maximum a posteriori label, both classes being as likely;
    `gain`: its best set over the simple vote's; `even_ahead`: of even sets over odd ones.
    """
    member, simple, weighted = all_sets(skill)
    right = np.array(list(itertools.product((0, 1), repeat=len(skill))))
    chance = np.where(right == 1, skill, 1 - skill).prod(axis=1)
    posterior = np.maximum(chance, chance[::-1]).sum() / 2  # reversed: the same labels, class 0
    odd = member.sum(axis=1) % 2 == 1
    return {
        "off": float(abs(weighted[-1] - posterior)),
        "gain": float(weighted.max() - simple.max()),
        "even_ahead": float(weighted[~odd].max() - weighted[odd].max()),
    }


def classes(skill: FloatArray, _: np.random.Generator) -> Record:
    """Compare even with odd sets of the most able where tasks have more than two classes."""
    p = np.sort(skill)[::-1]
    record: dict[str, float] = {}
    for count in CLASSES:
        sizes = range(1, len(p) + 1)
        error = np.array([plurality_error(p[:m], np.ones(m), count).probability for m in sizes])
        record[f"even_ahead_{count}"] = float(error[::2].min() - error[1::2].min())
    return record


def one_round(skill: FloatArray, _: np.random.Generator) -> Record:
    """Where G2 is 0: the set that rates of agreement with the majority choose, beside S*.

    A tester's one round teaches whether a worker agrees with the majority, her own vote included,
    so that this rate is what p̂ tends to. `wrong_…` and `loss_…` for skills stretched to each of
    `RANGES`, odd M.
    """
    m = len(skill) - 1 + len(skill) % 2
    record: dict[str, float | bool] = {}
    for name, low in RANGES.items():
        p = np.sort(low + (1 - low) * (2 * skill[:m] - 1))[::-1]
        agreed = np.array([1 - differs(p, i) for i in range(m)])
        best, chosen = best_set(p), best_set(agreed).workers
        loss = best.accuracy - majority_accuracy(p[chosen])
        record |= {f"wrong_{name}": bool(loss > EQUAL), f"loss_{name}": float(loss)}
    return record


def intervals(skill: FloatArray, rng: np.random.Generator) -> Record:
    """What the best set of an interval of contexts loses at a context in it.

    `loss_v` is the mean over contexts of U_w(S*(w)) − U_w(S*(B)) with v intervals, B's skills
    being its mean ones; `share` the largest of all losses over 2M · Lipschitz constant/v, the
    bound that Lemma 6 without its factor gives.
    """
    m = len(skill)
    crowd = smooth_skills(m, lipschitz=SLOPE, seed=int(rng.integers(2**62)))
    p = crowd.at(((np.arange(CONTEXTS) + 0.5) / CONTEXTS).tolist())
    best = np.array([best_set(at).accuracy for at in p])
    record, share = {}, 0.0
    for v in INTERVALS:
        parts = p.reshape(v, -1, m)
        chosen = [best_set(part.mean(axis=0)).workers for part in parts]
        accuracy = [
            majority_accuracy(at[own])
            for own, part in zip(chosen, parts, strict=True)
            for at in part
        ]
        record[f"loss_{v}"] = float(np.mean(best - accuracy))
        share = max(share, float(np.max(best - accuracy)) * v / (2 * m * SLOPE))
    return {**record, "share": share}


# What the paper claims.

ROUNDING = 1e-9
"""Accuracies of weighted votes, and of prefixes of solved crowds, this close are equal."""


@claim(
    id="learn-theorem-1",
    source="Theorem 1",
    statement="Under the simple majority vote the optimal number of workers is odd.",
    studies=("learn-theory",),
    where={"question": "sets"},
)
def theorem_1(trials: pd.DataFrame) -> Ruling:
    """The best set of even size beside the best of odd size."""
    ahead = trials["even_ahead"].max()
    tied = trials[flags(trials["even_optimal"])]
    figures = (
        f"All sets of {len(trials):,} crowds of {span(trials['workers'])} workers: the best set "
        f"of even size is ahead of the best of odd size by at most {ahead:.1e}; as good as it, so "
        f"that an optimal set may be even, in {len(tied)} crowds ({counts(tied['crowd'])})."
    )
    if ahead > EQUAL:
        return Ruling.refuted(figures)
    return Ruling.holds_as_corrected(figures) if len(tied) else Ruling.holds(figures)


@claim(
    id="learn-theorem-2",
    source="Theorem 2",
    statement="The optimal set is monotone: every worker in the set is better than every worker "
    "outside. So a search over odd prefixes of the ranking finds it.",
    studies=("learn-theory",),
    where={"question": "sets"},
)
def theorem_2(trials: pd.DataFrame) -> Ruling:
    """The best set that leaves out a better worker beside all others, and the search."""
    ahead, off = trials["other_ahead"].max(), trials["search_off"].max()
    optimal, different = flags(trials["other_optimal"]), flags(trials["different"])
    tied, alike = trials[optimal & different], trials[optimal & ~different]
    figures = (
        f"All sets of {len(trials):,} crowds: a set that is not monotone is ahead of all others by "
        f"at most {ahead:.1e}; optimal as well in {len(tied)} crowds whose "
        f"skills all differ, and in {len(alike)} with equal ones ({counts(alike['crowd'])}). The "
        f"search over odd prefixes misses the best accuracy by at most {off:.1e}."
    )
    if ahead > EQUAL or off > EQUAL:
        return Ruling.refuted(figures)
    return Ruling.holds_as_corrected(figures) if len(tied) else Ruling.holds(figures)


@claim(
    id="learn-linear-search",
    source="Section 2.2",
    statement="S* consists of the best workers by skill, and their number is odd, so a search "
    "takes O(M/2) steps.",
    studies=("learn-theory",),
    where={"question": "sets"},
)
def linear_search(trials: pd.DataFrame) -> Ruling:
    """The best of the odd prefixes beside the best of all sets, by size of the crowd."""
    off = trials["search_off"].max()
    sizes = sorted(trials["workers"].unique())
    numbers = [f"{(m + 1) // 2} of {2**m - 1} at M = {m}" for m in sizes]
    figures = (
        f"{len(trials):,} crowds: the accuracy of the best odd prefix differs from that of the "
        "best set by at "
        f"most {off:.1e}. Accuracies looked at: {'; '.join(numbers)}. The number of sets is linear "
        "in M; all their accuracies together take about M²/2 products, one pass over the ranking."
    )
    return Ruling.refuted(figures) if off > EQUAL else Ruling.holds(figures)


@claim(
    id="learn-footnote-2",
    source="Section 3.2, footnote 2",
    statement="If all skills differ, no two monotone sets S^m are equally good.",
    studies=("learn-theory",),
    where={"question": "sets"},
)
def footnote_2(trials: pd.DataFrame) -> Ruling:
    """Crowds of different skills in which another odd prefix is exactly as good as S*."""
    rows = enough(trials[flags(trials["different"])], RUNS, "crowds of different skills")
    tied = rows[rows["prefix_gap"] <= ROUNDING]
    drawn, others = (int((table["crowd"] != "solved").sum()) for table in (tied, rows))
    figures = (
        f"{len(rows):,} crowds whose skills all differ: in {len(tied)} ({counts(tied['crowd'])}) "
        "another odd prefix is exactly as good as S*. One such crowd is (0.99, 11/12, 0.9), where "
        "one and all three are right with 0.99; Δ_min is 0 there and the printed constants are "
        f"infinite. Skills have to be solved for: of {others:,} crowds drawn otherwise it is so in "
        f"{drawn}. False as stated, true for almost all p."
    )
    if drawn:
        return Ruling.refuted(figures)
    return Ruling.holds_as_corrected(figures) if len(tied) else Ruling.holds(figures)


@claim(
    id="learn-footnote-1",
    source="Section 2.1, footnote 1",
    statement="The assumption of two classes is easily relaxed; Section 6.2 applies the algorithm "
    "to tasks of several. (Read: with the vote of most labels, an odd number of workers is still "
    "best, so that the search may stay.)",
    studies=("learn-theory",),
    where={"question": "classes"},
)
def footnote_1(trials: pd.DataFrame) -> Ruling:
    """Sets of even size beside those of odd size, with three classes and five."""
    ahead = trials[["even_ahead_3", "even_ahead_5"]].astype(float)
    shares = (ahead > EQUAL).mean()
    figures = (
        f"{len(trials):,} crowds, errors spread evenly: an even size is better than all odd sizes "
        f"in {percent(shares['even_ahead_3'])} with three classes and in "
        f"{percent(shares['even_ahead_5'])} with five, by up to {ahead.max().max():.3f}. Two wrong "
        "votes need not agree, so that Theorem 1 and the search over odd prefixes are for two "
        "classes."
    )
    return Ruling.holds_as_corrected(figures) if shares.any() else Ruling.holds(figures)


@claim(
    id="learn-theorem-4",
    source="Theorem 4",
    statement="Under the weighted vote the optimal set is monotone if all p are at least ½.",
    studies=("learn-theory",),
    where={"question": "sets"},
)
def theorem_4(trials: pd.DataFrame) -> Ruling:
    """The best set that leaves out a better worker beside all others, by weighted vote."""
    rows = trials[trials["crowd"] != "any"]
    ahead = rows["weighted_other_ahead"].max()
    tied = rows[flags(rows["weighted_other_optimal"]) & flags(rows["different"])]
    figures = (
        f"All sets of {len(rows):,} crowds: a set that is not monotone is ahead of all others by "
        "at "
        f"most {ahead:.1e}; optimal as well in {len(tied)} crowds "
        f"whose skills all differ ({counts(tied['crowd'])}). In (0.999, 0.95, 0.9) the first "
        "outweighs the others, so that she with the third is as good as she alone."
    )
    if ahead > ROUNDING or rows["weighted_search_off"].max() > ROUNDING:
        return Ruling.refuted(figures)
    return Ruling.holds_as_corrected(figures) if len(tied) else Ruling.holds(figures)


@claim(
    id="learn-weighted-map",
    source="Section 4.1, (14)",
    statement="With equal priors the vote with log-odds weights gives the most probable label.",
    studies=("learn-theory",),
    where={"question": "weighted-vote"},
)
def weighted_map(trials: pd.DataFrame) -> Ruling:
    """The weighted vote's accuracy beside that of the most probable label."""
    off = trials["off"].max()
    figures = (
        f"All answers of {len(trials)} crowds: the weighted vote's accuracy is off that of the "
        f"most probable label by at most {off:.1e}."
    )
    return Ruling.refuted(figures) if off > ROUNDING else Ruling.holds(figures)


@claim(
    id="learn-weighted-optimum",
    source="Section 4.2",
    statement="The best set by the weighted vote is more accurate than the best set by the simple "
    "vote.",
    studies=("learn-theory",),
    where={"question": "weighted-vote"},
)
def weighted_optimum(trials: pd.DataFrame) -> Ruling:
    """The best set's accuracy by weighted vote less that by simple vote."""
    gain = trials["gain"]
    figures = (
        f"{len(trials)} crowds: the best set's accuracy by the weighted vote minus that by the "
        "simple vote is at least "
        f"{gain.min():.1e}, in the mean {plus_minus(*mean_se(gain), 4)}, above 0 in "
        f"{percent((gain > ROUNDING).mean())}."
    )
    return Ruling.refuted(figures) if gain.min() < -ROUNDING else Ruling.holds(figures)


@claim(
    id="learn-weighted-even",
    source="Section 4.1",
    statement="Under the weighted vote the optimal number of workers need not be odd.",
    studies=("learn-theory",),
    where={"question": "weighted-vote"},
)
def weighted_even(trials: pd.DataFrame) -> Ruling:
    """How often a set of even size is better than all of odd size."""
    ahead = trials["even_ahead"] > ROUNDING
    figures = (
        f"A set of even size is better than all of odd size in {ahead.sum()} of {len(trials)} "
        f"crowds, by up to {trials['even_ahead'].max():.4f}; in "
        f"{percent(ahead[trials['workers'] % 2 == 0].mean())} of those with an even number of "
        "workers."
    )
    return Ruling.holds(figures) if ahead.any() else Ruling.refuted(figures)


@claim(
    id="learn-contexts-parts",
    source="Section 5",
    statement="With a continuum of contexts the regret has two causes: the wrong set is chosen "
    "for an interval, or the best set for an interval is not the best for the context; the "
    "second part shrinks with the intervals.",
    studies=("learn-theory",),
    where={"question": "intervals"},
)
def parts_of_a_continuum(trials: pd.DataFrame) -> Ruling:
    """What the best set of an interval loses at its contexts, as intervals get finer."""
    loss = trials[[f"loss_{number}" for number in INTERVALS]].astype(float).mean()
    share = trials["share"].max()
    texts = [f"{loss[f'loss_{number}']:.4f} with {number}" for number in INTERVALS]
    figures = (
        f"The best set of an interval loses {texts[0]} and {texts[-1]} intervals in the mean over "
        f"contexts; {len(trials)} crowds of Lipschitz skills: {', '.join(texts[1:-1])}, and at "
        f"most {share:.2f} of 2M times the Lipschitz constant times the interval's length "
        "anywhere. The first part is Lemma 3's, void as it is there."
    )
    if share > 1 or not loss.is_monotonic_decreasing:
        return Ruling.refuted(figures)
    return Ruling.holds(figures)
