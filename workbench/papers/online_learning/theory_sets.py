"""Which sets of workers are best: all sets of a crowd, by simple and by weighted vote.

Each question takes the skills, shape (M,), and a generator, and gives a record of `learn-theory`.

Source: Liu, Liu (2015), Sections 2.2, 2.3, 4 and 5, Theorems 1, 2 and 4, footnotes 1 and 2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from workbench.accuracy.best_set import best_set, crowd_constants
from workbench.accuracy.majority import majority_accuracy, prefix_accuracies_many
from workbench.accuracy.plurality import plurality_error
from workbench.accuracy.weighted import log_odds, weighted_accuracies_many
from workbench.base.arrays import BoolArray, FloatArray
from workbench.learning.context_skills import smooth_skills
from workbench.papers.online_learning.learning_runs import FIXED
from workbench.papers.online_learning.theory_votes import differs
from workbench.studies.study import Record

Draw = Callable[[int, np.random.Generator], FloatArray]

EQUAL = 1e-12
"""Accuracies this close are equal."""
CLASSES = (3, 5)
"""Numbers of classes beyond two."""
RANGES = {"half": 0.5, "able": 0.6, "spread": 0.3}
"""Least skill of the crowds for which one round a tester is looked at."""
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
        kept = [
            majority_accuracy(at[own])
            for own, part in zip(chosen, parts, strict=True)
            for at in part
        ]
        record[f"loss_{v}"] = float(np.mean(best - kept))
        share = max(share, float(np.max(best - kept)) * v / (2 * m * SLOPE))
    return {**record, "share": share}
