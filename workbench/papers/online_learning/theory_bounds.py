"""The theorems' bounds at their printed constants, and the lemmas behind them.

Each question takes the skills, shape (M,), and a generator, and gives a record of `learn-theory`.

Source: Liu, Liu (2015), Sections 3.1 to 3.4 and 4.2, Theorems 3 and 5, Lemmas 1 to 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from workbench.accuracy.best_set import best_set, crowd_constants, majority_subsets
from workbench.accuracy.majority import majority_accuracy, prefix_accuracies_many
from workbench.accuracy.weighted import smallest_weight_gap
from workbench.base.arrays import FloatArray
from workbench.learning import regret_bounds
from workbench.learning.draws import Draws
from workbench.learning.engine import simulate
from workbench.learning.ls_ol import LsOl
from workbench.learning.schedule import Schedule, practical, theoretical
from workbench.studies.study import Record

EQUAL = 1e-12
"""Accuracies this close are equal."""
TRIES = 300
"""Random instances of an inequality in one trial."""
Z = 0.5
"""z of the theorems, 0 < z < 1."""


def _random_schedule(rng: np.random.Generator) -> tuple[Schedule, int]:
    """G1 and G2 from 0.1 to 30, and a horizon from 30 to 100,000."""
    tests, repeats = 10 ** rng.uniform(-1, 1.5, 2)
    return practical(float(tests), float(repeats)), int(10 ** rng.uniform(1.5, 5))


def steps(skill: FloatArray, rng: np.random.Generator) -> Record:
    """Count the exploring steps of a random schedule, and their regret (Lemma 1)."""
    schedule, horizon = _random_schedule(rng)
    first = sum(phase.steps for phase in schedule.phases(horizon) if phase.kind == "new tester")
    explored = schedule.exploration_steps(horizon)
    best = best_set(skill).accuracy
    regret = best * explored - first * majority_accuracy(skill) - (explored - first) / 2
    d1, d2 = schedule.d1(horizon), schedule.d2(horizon)
    return {
        "explored": explored,
        "d1": d1,
        "d2": d2,
        "explore_regret": regret,
        "steps_share": explored / (d1 * d2),
        "regret_share": regret / (best * d1 * d2),
    }


def costs(skill: FloatArray, rng: np.random.Generator) -> Record:
    """Extra cost of exploring steps, at 1 a label, beside Section 3.4's bound of it.

    `cost_share` by D1 and D2 as printed, `whole_share` by the whole numbers ⌊D⌋ + 1.
    """
    schedule, horizon = _random_schedule(rng)
    first = sum(phase.steps for phase in schedule.phases(horizon) if phase.kind == "new tester")
    again = schedule.exploration_steps(horizon) - first
    m, outside = len(skill), len(skill) - len(best_set(skill).workers)
    cost = outside * first + m * again
    d1, d2 = schedule.d1(horizon), schedule.d2(horizon)
    whole_1, whole_2 = math.floor(d1) + 1, math.floor(d2) + 1
    return {
        "d1": d1,
        "d2": d2,
        "cost_share": cost / cost_bound(outside, m, d1, d2),
        "whole_share": cost / cost_bound(outside, m, whole_1, whole_2),
    }


def cost_bound(outside: int, workers: int, d1: float, d2: float) -> float:
    """Σ_{i∉S*} c_i D1 + Σ_i c_i D1 (D2 − 1) at 1 a label."""
    return max(outside * d1 + workers * d1 * (d2 - 1), EQUAL)


def slips(skill: FloatArray, rng: np.random.Generator) -> Record:
    """Count the exploiting steps that choose another set than S*, and those that rank wrongly."""
    draws = Draws(skill, 1, seed=int(rng.integers(2**62)))
    schedule = practical(2.0, 2.0)
    runs = simulate(draws, schedule, 1000)
    learner, stream = LsOl(len(skill), schedule, seed=draws.coins(0)), draws.stream(0)
    best, ranked = set(best_set(skill).workers.tolist()), np.argsort(-skill, kind="stable")
    count = 0
    for task in range(1000):
        ask = learner.ask(task)
        learner.tell(stream.answers(int(ask.task), ask.workers, task))
        wrong = (np.diff(learner.estimates[ranked]) >= 0).any()
        count += ask.kind == "exploit" and bool(wrong or set(ask.workers.tolist()) != best)
    return {
        "exploit_regret": float(runs.exploitation_regret[0, -1]),
        "slip_bound": crowd_constants(skill).gap_max * count,
    }


def inverse(skill: FloatArray, _: np.random.Generator) -> Record:
    """Bound (6) of a crowd, and once all are a little more able, differences as they were.

    `regret_ratio` is the bound after by the bound before, a million tasks, and `factor_ratio` that
    of 1/(a_min − ½)² alone.
    """
    able = skill + 0.5 * (1 - skill.max())
    before, after = (regret_bounds.theorem_3(p, 10**6, z=Z) for p in (skill, able))
    return {
        "a_min_gain": crowd_constants(able).a_min - crowd_constants(skill).a_min,
        "regret_ratio": after.regret / before.regret,
        "factor_ratio": after.repeats / before.repeats,
    }


def bounds(skill: FloatArray, rng: np.random.Generator) -> Record:
    """Theorems 3 and 5 for T = 2000 and a million, and the estimates of D1(T) testers."""
    known = crowd_constants(skill)
    m = len(skill)
    three, late = (
        regret_bounds.theorem_3(skill, 2000, z=Z),
        regret_bounds.theorem_3(skill, 10**6, z=Z),
    )
    five = regret_bounds.theorem_5(skill, 10**6, epsilon=_weight_epsilon(skill), z=Z)
    epsilon = 0.99 * min(known.gap_min, known.skill_gap_min) / 2
    alpha = 0.5 / known.largest_count
    counted = sum(n * majority_subsets(n) for n in range(1, m + 1, 2))
    odd = m - 1 + m % 2

    def slip(t: float) -> float:
        """2/t² + 1/(αε t^(2−z)), a factor of (10) and (11)."""
        return 2.0 / t**2 + 1.0 / (alpha * epsilon * math.pow(t, 2.0 - Z))

    return {
        "share_2000": three.regret / 2000,
        "share_million": late.regret / 1e6,
        "share_million_5": five.regret / 1e6,
        "cost_share_million": (late.cost_regret or math.nan) / (m * 1e6),
        "mean_trusted": known.trusted,
        "enough": known.enough,
        "a_min": known.a_min,
        "needed": min(known.needed, 1e9),
        "factor_1": regret_bounds.testers_factor(known.largest_count, epsilon, alpha),
        "explored_2000": theoretical(skill).exploration_steps(2000),
        "speaks_at": first_below_1(lambda t: regret_bounds.theorem_3(skill, t, z=Z).regret / t),
        "lemma_3_speaks_at": first_below_1(lambda t: counted * slip(t)),
        "lemma_4_speaks_at": first_below_1(lambda t: m * slip(t)),
        "lemma_3_bound": min(1.0, counted * slip(2000)),
        "lemma_4_bound": min(1.0, m * slip(2000)),
        "order_printed": 2.0**odd * math.sqrt(odd) / math.sqrt(2 * math.pi),
        "order_true": odd * majority_subsets(odd),
        **_as_if_explored(skill, epsilon, rng),
    }


def _weight_epsilon(skill: FloatArray) -> float:
    """ε < δ^W_min/2 for which log-odds within ε/4 of a skill exist."""
    gap = smallest_weight_gap(skill)
    return float(min(0.495 * gap, 2 * np.minimum(skill, 1 - skill).min(), 0.01))


def first_below_1(bound: Callable[[int], float]) -> float:
    """Where a falling bound comes below 1, within one part in a thousand."""
    low, high = 1.0, 1e60
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if bound(int(middle) + 1) < 1 else (middle, high)
    return high


def _as_if_explored(skill: FloatArray, epsilon: float, rng: np.random.Generator) -> Record:
    """Estimates that the printed D1 and D2 would give at t = 2000, were there tasks enough.

    D1 testers; y* of each is the other class with the probability that more than half of D2 rounds
    are wrong. A worker's estimate is a share of D1 labels that agree with y*.
    """
    from scipy.stats import binom

    t, draws = 2000, 200
    schedule = theoretical(skill)
    rounds, testers = int(schedule.d2(t)) + 1, int(schedule.d1(t)) + 1
    wrong = float(binom.cdf(rounds // 2, rounds, majority_accuracy(skill)))
    agree = skill * (1 - wrong) + (1 - skill) * wrong
    known = rng.binomial(testers, agree, (draws, len(skill))) / testers
    ordered = (np.diff(known[:, np.argsort(-skill, kind="stable")], axis=1) < 0).all(axis=1)
    best = set(best_set(skill).workers.tolist())
    other = np.array([set(best_set(row).workers.tolist()) != best for row in known])
    return {
        "estimates_drawn": draws,
        "wrong_order": int((~ordered).sum()),
        "wrong_set": int((other & ordered).sum()),
        "wrong_tester": wrong,
        "wrong_tester_bound": t**-2.0,
        "beyond_epsilon": int((np.abs(known - skill) > epsilon).any(axis=1).sum()),
    }


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


def _largest_ratio(left: FloatArray, right: FloatArray) -> float:
    return float(np.divide(left, right, out=np.zeros_like(left), where=right > 0).max())


def _lemma_6(p: FloatArray, near: FloatArray, epsilon: float) -> int:
    """Instances of Û(S^m) ≥ Û(S*) in which no estimate of the two is off by more than ε, (24)."""
    if not 0 < epsilon < 1:
        return 0
    truth, guess = prefix_accuracies_many(p[None])[0, 1::2], prefix_accuracies_many(near)[:, 1::2]
    best = int(truth.argmax())
    other = np.arange(len(truth)) != best
    taken = guess[:, other] >= guess[:, [best]]
    above = guess[:, other] > truth[other] + epsilon - EQUAL
    below = guess[:, [best]] < truth[best] - epsilon + EQUAL
    return int((taken & ~above & ~below).sum())


def _lemma_8(p: FloatArray, rng: np.random.Generator) -> Record:
    """Slopes of the log-odds beside 2C, for skills in (½, 1), and votes in doubt within Lemma 5."""
    p = np.clip(0.5 + np.abs(p - 0.5), 0.5 + 1e-6, 1 - 1e-3)
    epsilon = _weight_epsilon(p)
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
    true, seen = votes @ _odds(p), (votes * _odds(extreme)).sum(axis=1)
    ahead = true > 1e-9 * np.abs(_odds(p)).sum()
    return {
        **record,
        "lemma_5_missed": int((seen[ahead] < epsilon).sum()),
        "lemma_5_votes": int(ahead.sum()),
        "weight_epsilon": epsilon,
    }


def printed_slope(skill: FloatArray, epsilon: float) -> float:
    """Least C that Section 4.2 allows, as printed."""
    e = epsilon / 4
    return float(np.max([(1 + e) / skill, (1 - e) / (1 - skill), e / skill, e / (1 - skill)]))


def _odds(p: FloatArray) -> FloatArray:
    return np.log(p) - np.log1p(-p)
