"""The theorems' bounds at their printed constants, and the lemmas on single steps.

Each question takes the skills, shape (M,), and a generator, and gives a record of `learn-theory`.

Source: Liu, Liu (2015), Sections 2.3 and 3.1 to 3.4, Theorems 3 and 5, Lemmas 1 to 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from crowd_papers.online_learning.learning_runs import (
    DEFAULT,
    EQUAL,
    PAPER_T,
    mean_of,
    share_of,
    simulated,
)
from crowd_papers.online_learning.theory_proofs import weight_epsilon
from workbench.accuracy import best_set, crowd_constants, majority_accuracy, majority_subsets
from workbench.base import FloatArray
from workbench.learning import (
    Draws,
    LsOl,
    Schedule,
    practical,
    regret_bounds,
    simulate,
    theoretical,
)
from workbench.studies import (
    NotMeasured,
    Record,
    Ruling,
    beyond_chance,
    claim,
    flags,
    only,
    percent,
    plus_minus,
    span,
)

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
    """Extra cost of exploring steps, at 1 per label, beside Section 3.4's bound of it.

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
    """Σ_{i∉S*} c_i D1 + Σ_i c_i D1 (D2 − 1) at 1 per label."""
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
    constants = crowd_constants(skill)
    m = len(skill)
    three, late = (
        regret_bounds.theorem_3(skill, 2000, z=Z),
        regret_bounds.theorem_3(skill, 10**6, z=Z),
    )
    five = regret_bounds.theorem_5(skill, 10**6, epsilon=weight_epsilon(skill), z=Z)
    epsilon = 0.99 * min(constants.gap_min, constants.skill_gap_min) / 2
    alpha = 0.5 / constants.largest_count
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
        "mean_trusted": constants.trusted,
        "enough": constants.enough,
        "a_min": constants.a_min,
        "needed": min(constants.needed, 1e9),
        "factor_1": regret_bounds.testers_factor(constants.largest_count, epsilon, alpha),
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
    estimates = rng.binomial(testers, agree, (draws, len(skill))) / testers
    ordered = (np.diff(estimates[:, np.argsort(-skill, kind="stable")], axis=1) < 0).all(axis=1)
    best = set(best_set(skill).workers.tolist())
    other = np.array([set(best_set(row).workers.tolist()) != best for row in estimates])
    return {
        "estimates_drawn": draws,
        "wrong_order": int((~ordered).sum()),
        "wrong_set": int((other & ordered).sum()),
        "wrong_tester": wrong,
        "wrong_tester_bound": t**-2.0,
        "beyond_epsilon": int((np.abs(estimates - skill) > epsilon).any(axis=1).sum()),
    }


# What the paper claims.

NEITHER_SMALL = 10.0
"""D1 and D2 above which their being whole numbers matters little."""
FALL = 1.1
"""A ratio that grows by more, from the smallest crowds to the largest, is not constant."""


@claim(
    id="learn-conditions",
    source="Section 2.3",
    statement="If p̄ > ½ and M > ln 2/(2(p̄ − ½)²), the majority of all workers is right more "
    "often than not: a_min > ½.",
    studies=("learn-theory",),
    where={"question": "bounds"},
)
def conditions(trials: pd.DataFrame) -> Ruling:
    """Crowds that meet both conditions, and their a_min; and whether Table 1's does."""
    met = flags(trials["enough"]) & flags(trials["mean_trusted"])
    broken = int((trials.loc[met, "a_min"] <= 0.5).sum())
    own = only(trials, 1, "trials of Table 1's crowd", crowd="table-1")
    figures = (
        f"In {met.sum()} of {len(trials)} crowds both conditions hold, and a_min is at most ½ in "
        f"{broken} of these. The crowd of Table 1 needs M > {own['needed'].max():.2f} and has "
        f"{own['workers'].max()}, though its a_min is {own['a_min'].max():.3f}; of those drawn "
        f"from [½, 1] {percent(1 - met[trials['crowd'] != 'table-1'].mean())} do not meet it."
    )
    if broken:
        return Ruling.refuted(figures)
    fine = flags(own["enough"]).all()
    return Ruling.holds(figures) if fine else Ruling.holds_as_corrected(figures)


@claim(
    id="learn-theorem-3",
    source="Theorem 3, bound (6)",
    statement="With the printed D1 and D2 the regret R(T) is at most of order log²T.",
    studies=("learn-theory", "learn-regret"),
    where={"question": "bounds"},
)
def theorem_3(trials: pd.DataFrame, runs: pd.DataFrame) -> Ruling:
    """Bound (6) as a share of T beside the measured regret."""
    own = trials[trials["crowd"] == "table-1"]
    least = (own if len(own) else trials).min(numeric_only=True)
    regret, se = mean_of(simulated(runs, "table-1"), f"regret_{PAPER_T}")
    figures = (
        f"Table 1's crowd: bound (6) is {least['share_2000']:.2g} T at T = {PAPER_T}, "
        f"{least['share_million']:.2g} T at a million, and comes below T at T = "
        f"{least['speaks_at']:.2g}. Its G1 of {least['factor_1']:.2g} explores in all of "
        f"{least['explored_2000']:.0f} of the first {PAPER_T} steps. Of crowds drawn from [½, 1] "
        f"with {span(trials['workers'])} workers the least bound is "
        f"{trials['share_million'].min():.2g} T at a million. Measured with G1 = "
        f"{DEFAULT['tests']:g}: R({PAPER_T}) = {plus_minus(regret, se, 1)}."
    )
    if regret > least["share_2000"] * PAPER_T:
        return Ruling.refuted(figures)
    return Ruling.void(figures) if least["share_2000"] >= 1 else Ruling.holds(figures)


@claim(
    id="learn-theorem-3-cost",
    source="Theorem 3, bound (7)",
    statement="The cost regret R_C(T) is also at most of order log²T.",
    studies=("learn-theory",),
    where={"question": "bounds"},
)
def theorem_3_cost(trials: pd.DataFrame) -> Ruling:
    """Bound (7) as a share of the price of all labels."""
    share = trials["cost_share_million"].min()
    figures = f"Bound (7) at a million tasks is at least {share:.2g} times the price of all labels."
    return Ruling.void(figures) if share >= 1 else Ruling.holds(figures)


@claim(
    id="learn-a-min-inverse",
    source="Section 3.2, remark to Theorem 3",
    statement="The bound falls as a_min, the accuracy of the crowd, rises.",
    studies=("learn-theory",),
    where={"question": "inverse"},
)
def a_min_inverse(trials: pd.DataFrame) -> Ruling:
    """Bound (6), and 1/(a_min − ½)² alone, once all skills are raised alike."""
    rows = trials[trials["a_min_gain"] > EQUAL]
    factor, bound = rows["factor_ratio"], rows["regret_ratio"]
    larger = bound > 1
    figures = (
        f"All skills raised alike, in {len(rows)} crowds of {span(trials['workers'])} workers: the "
        f"factor 1/(a_min − ½)² falls to {factor.median():.2f} of what it was (median), bound (6) "
        f"to {bound.median():.2f}; the bound grows in {larger.sum()}, where Δ_min shrinks by more."
    )
    if (factor >= 1).any() or larger.mean() > 0.5:
        return Ruling.refuted(figures)
    return Ruling.holds_as_corrected(figures) if larger.any() else Ruling.holds(figures)


@claim(
    id="learn-order",
    source="Section 3.2, remark to Theorem 3",
    statement="max m·n(S^m) is roughly of the order 2^M √M/√(2π).",
    studies=("learn-theory",),
    where={"question": "bounds"},
)
def order(trials: pd.DataFrame) -> Ruling:
    """max m·n(S^m) beside its printed order, as M grows."""
    ratio = (trials["order_true"] / trials["order_printed"]).groupby(trials["workers"]).first()
    if len(ratio) < 2:
        raise NotMeasured("one number of workers: 2 needed")
    texts = [f"{value:.2f} at M = {m}" for m, value in ratio.items()]
    figures = (
        "max m·n(S^m) is M·2^(M−1) for odd M; divided by the printed 2^M √M/√(2π) that is "
        f"{', '.join(texts)}: √(πM/2) times as much, not of the same order."
    )
    grows = ratio.iloc[-1] > FALL * ratio.iloc[0]
    return Ruling.refuted(figures) if grows else Ruling.holds(figures)


@claim(
    id="learn-lemma-1",
    source="Lemma 1, (8)",
    statement="The regret of exploring is at most U(S*)·D1(T)·D2(T), because there are at most "
    "D1·D2 exploring steps.",
    studies=("learn-theory",),
    where={"question": "steps"},
)
def lemma_1(trials: pd.DataFrame) -> Ruling:
    """Exploring steps and their regret beside D1·D2, and the same of whole numbers."""
    explored, d1, d2 = trials["explored"], trials["d1"], trials["d2"]
    over = trials["regret_share"] > 1
    more = int((explored > d1 * d2).sum())
    beyond = int((explored > (np.floor(d1) + 1) * (np.floor(d2) + 1)).sum())
    is_large = (d1 > NEITHER_SMALL) & (d2 > NEITHER_SMALL)
    figures = (
        f"{len(trials):,} schedules: there are more than D1(T)·D2(T) exploring steps in {more}, as "
        "the counts are whole numbers above D1 and D2; never more than (⌊D1⌋ + 1)(⌊D2⌋ + 1) but in "
        f"{beyond}. Their regret exceeds U(S*)·D1·D2 in {over.sum()}, and in "
        f"{over[is_large].sum()} of {is_large.sum()} with D1 and D2 above {NEITHER_SMALL:g}, as a "
        "step costs U(S*) − ½ rather than U(S*); there it is at most "
        f"{trials.loc[is_large, 'regret_share'].max():.2f} of the bound."
    )
    if beyond or over[is_large].any():
        return Ruling.refuted(figures)
    return Ruling.holds_as_corrected(figures) if more or over.any() else Ruling.holds(figures)


@claim(
    id="learn-exploring-cost",
    source="Section 3.4",
    statement="The cost regret of exploring steps is at most Σ_{i∉S*} c_i D1 + Σ_i c_i D1 (D2 − "
    "1).",
    studies=("learn-theory",),
    where={"question": "costs"},
)
def exploring_cost(trials: pd.DataFrame) -> Ruling:
    """Extra cost of exploring beside its bound, and beside the same of whole numbers."""
    over = int((trials["cost_share"] > 1 + EQUAL).sum())
    whole = trials["whole_share"].max()
    large = trials[(trials["d1"] > NEITHER_SMALL) & (trials["d2"] > NEITHER_SMALL)]
    figures = (
        f"{len(trials):,} schedules, labels at a price of 1: the extra cost exceeds the bound "
        f"in {over}, as the numbers of test tasks and of rounds are whole numbers above D1 and "
        "D2; with ⌊D1⌋ + 1 and ⌊D2⌋ + 1 in their "
        f"place it is at most {whole:.3f} of it. In {len(large)} with D1 and D2 above "
        f"{NEITHER_SMALL:g} it is at most {large['cost_share'].max():.2f} of the bound as printed."
    )
    if whole > 1 + EQUAL:
        return Ruling.refuted(figures)
    return Ruling.holds_as_corrected(figures) if over else Ruling.holds(figures)


@claim(
    id="learn-lemma-2",
    source="Lemma 2, (9)",
    statement="The regret of exploiting is at most Δ_max times the number of steps that choose "
    "another set than S* or rank workers wrongly.",
    studies=("learn-theory",),
    where={"question": "slips"},
)
def lemma_2(trials: pd.DataFrame) -> Ruling:
    """One run's regret of exploiting beside Δ_max times its wrong choices."""
    regret, bound = trials["exploit_regret"], trials["slip_bound"]
    over = int((regret > bound + 1e-9).sum())
    figures = (
        f"{len(trials)} runs of 1000 tasks: the regret of exploiting steps exceeds Δ_max times "
        f"the number of wrong choices in {over}; on average it is "
        f"{percent((regret / bound)[bound > 0].mean())} of it."
    )
    return Ruling.refuted(figures) if over else Ruling.holds(figures)


@claim(
    id="learn-lemma-3",
    source="Lemma 3, (10)",
    statement="An exploiting step chooses another set than S* with probability at most Σ "
    "m·n(S^m)·(2/t² + 1/(αε t^(2−z))).",
    studies=("learn-theory", "learn-regret"),
    where={"question": "bounds"},
)
def lemma_3(trials: pd.DataFrame, runs: pd.DataFrame) -> Ruling:
    """How often estimates of D1(t) testers choose another set, beside (10)."""
    practical = 1 - share_of(simulated(runs), "found_best")
    return ruling_on_estimates(
        trials, runs, "lemma_3", "wrong_set", "choose another set than S*", practical
    )


@claim(
    id="learn-lemma-4",
    source="Lemma 4, (11)",
    statement="An exploiting step ranks workers wrongly with probability at most M(2/t² + 1/(αε "
    "t^(2−z))).",
    studies=("learn-theory", "learn-regret"),
    where={"question": "bounds"},
)
def lemma_4(trials: pd.DataFrame, runs: pd.DataFrame) -> Ruling:
    """How often estimates of D1(t) testers rank two workers wrongly, beside (11)."""
    practical = 1 - share_of(simulated(runs), "ordered")
    return ruling_on_estimates(
        trials, runs, "lemma_4", "wrong_order", "rank two workers wrongly", practical
    )


def ruling_on_estimates(
    trials: pd.DataFrame, runs: pd.DataFrame, lemma: str, wrong: str, what: str, practical: float
) -> Ruling:
    """Rule on what estimates of D1(t) testers do wrong, and how often practical ones do it.

    Parameters
    ----------
    trials, runs
        Of `learn-theory`, and of `learn-regret` with practical constants.
    lemma
        Beginning of the names of the fields of its bound.
    wrong, what
        Field that counts it, and what it is.
    practical
        Share of the runs in which estimates do it at the end.
    """
    own = only(trials, 1, "trials of Table 1's crowd", crowd="table-1")
    speaks, explored = own[f"{lemma}_speaks_at"].min(), int(own["explored_2000"].min())
    testers = int((trials["wrong_tester"] > trials["wrong_tester_bound"]).sum())
    figures = (
        f"With the printed D1, at t = {PAPER_T}, {trials[wrong].sum():.0f} of "
        f"{trials['estimates_drawn'].sum():,.0f} random estimates {what}. A tester's y* is "
        f"wrong more often than 1/t² in {testers} of {len(trials)} crowds. For Table 1's crowd the "
        f"bound is below 1 from t = {speaks:.2g} on, and {explored} of the first {PAPER_T} steps "
        f"explore. With G1 = {DEFAULT['tests']:g} the estimates {what} at the end of "
        f"{percent(practical)} of {len(simulated(runs))} runs: what is promised for the printed "
        "constants says nothing of practical ones."
    )
    looked_at = trials[trials[f"{lemma}_bound"] < 1]
    broken = any(
        beyond_chance(int(count), int(drawn), float(delta), looks=len(trials))
        for count, drawn, delta in zip(
            looked_at[wrong],
            looked_at["estimates_drawn"],
            looked_at[f"{lemma}_bound"],
            strict=True,
        )
    )
    if broken or testers:
        return Ruling.refuted(figures)
    void = speaks > PAPER_T or explored >= PAPER_T - 1
    return Ruling.void(figures) if void else Ruling.holds(figures)


@claim(
    id="learn-theorem-5",
    source="Theorem 5",
    statement="Under the weighted vote the regret is at most of order log²T.",
    studies=("learn-theory",),
    where={"question": "bounds"},
)
def theorem_5(trials: pd.DataFrame) -> Ruling:
    """The bound as a share of T, and beside bound (6)."""
    share = trials["share_million_5"].min()
    times = (trials["share_million_5"] / trials["share_million"]).median()
    figures = (
        f"The bound is at least {share:.2g} T at a million tasks in {len(trials)} crowds, "
        f"{times:.2g} times bound (6) (median)."
    )
    return Ruling.void(figures) if share >= 1 else Ruling.holds(figures)
