"""Theorems 1 to 5 and Lemmas 1 to 8, computed: what holds, what is void, what fails.

Each question is a kind of trial; a record has the fields of its question, the others are missing.

- `sets`: all subsets of a crowd, by simple and by weighted vote (Theorems 1, 2, 4; footnote 2).
- `steps`: exploring steps and their regret beside D1·D2 (Lemma 1).
- `slips`: one run's exploiting regret beside its wrong choices (Lemma 2).
- `bounds`: Theorems 3 and 5 at the printed constants, their conditions, and the estimates that so
  many testers would give (Lemmas 3, 4).
- `steps-of-proofs`: random and extreme instances of the inequalities (Lemmas 5 to 8).
- `disagreement`: how often a labeler differs from the majority, (12), and how often two are ranked
  the wrong way round, (13), both exact.
- `agreement`: what labels without truth tell of the assumption p̄ > ½ (Section 2.3).

Source: Liu, Liu (2015), Sections 2 to 4 and appendices.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from workbench.accuracy.best_set import best_set, crowd_constants, majority_subsets
from workbench.accuracy.majority import majority_accuracy, prefix_accuracies_many
from workbench.accuracy.weighted import (
    log_odds,
    smallest_weight_gap,
    weighted_accuracies_many,
)
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.seeds import stream
from workbench.learning import regret_bounds
from workbench.learning.agreement import structure
from workbench.learning.engine import simulate
from workbench.learning.schedule import KINDS as STEPS
from workbench.learning.schedule import practical, theoretical
from workbench.learning.vetting import FACTOR, disagreement_rate
from workbench.studies.catalog._learning import FIXED
from workbench.studies.measures import ended
from workbench.studies.study import Analysis, Chart, Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams

EQUAL = 1e-12
"""Accuracies this close are equal."""
TRIES = 300
"""Random instances of an inequality in one trial."""
Z = 0.5
"""z of the theorems, 0 < z < 1."""


# Crowds.


def _any(m: int, rng: np.random.Generator) -> FloatArray:
    return rng.uniform(0, 1, m)


def _able(m: int, rng: np.random.Generator) -> FloatArray:
    return rng.uniform(0.5, 1, m)


def _alike(m: int, rng: np.random.Generator) -> FloatArray:
    """Few values, so that many are equal."""
    return rng.choice([0.5, 0.6, 0.7, 0.8, 0.9], m)


def _sure(m: int, rng: np.random.Generator) -> FloatArray:
    """Some always right, some tossing coins."""
    return rng.choice([0.5, 0.75, 1.0], m)


def _solved(m: int, rng: np.random.Generator) -> FloatArray:
    """Different skills, of which the best alone is as good as the best three, and no set better.

    p₁p₂ + p₁p₃ + p₂p₃ − 2p₁p₂p₃ = p₁ is solved for p₂; (0.99, 11/12, 0.9) is one of them.
    """
    while True:
        first, third = rng.uniform(0.8, 0.999), rng.uniform(0.55, 0.95)
        second = first * (1 - third) / (first + third - 2 * first * third)
        if third < second < first:
            rest = rng.uniform(0, 0.5, max(0, m - 3))
            return np.concatenate([[first, second, third], rest])[:m]


def _dominant(m: int, rng: np.random.Generator) -> FloatArray:
    """One whose weight exceeds all others' together: (0.999, 0.95, 0.9) is one of them."""
    rest = rng.uniform(0.55, 0.9, m - 1)
    weight = float(log_odds(rest).sum()) + rng.uniform(0.1, 2.0)
    return np.concatenate([[1 / (1 + math.exp(-weight))], rest])


def _table_1(m: int, rng: np.random.Generator) -> FloatArray:
    """Ignores both arguments: five given labelers."""
    del m, rng
    return np.array(FIXED["table-1"])


CROWDS: dict[str, Callable[[int, np.random.Generator], FloatArray]] = {
    "any": _any, "able": _able, "alike": _alike, "sure": _sure, "solved": _solved,
    "dominant": _dominant, "table-1": _table_1,
}  # fmt: skip


# Questions.


def sets(skill: FloatArray, rng: np.random.Generator) -> Record:
    """Compare sets of odd size with others, and sets of the best labelers with others."""
    del rng
    member, simple, weighted = all_sets(skill)
    size = member.sum(axis=1)
    least = np.where(member, skill, np.inf).min(axis=1)
    most = np.where(member, -np.inf, skill).max(axis=1)
    # Monotone as printed: all in the set are better than all outside, strictly.
    top, strictly = least >= most, least > most
    odd = size % 2 == 1
    best, best_w = simple.max(), weighted.max()
    optimal, optimal_w = simple >= best - EQUAL, weighted >= best_w - EQUAL
    known = crowd_constants(skill)
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
        "prefix_gap": float(min(known.prefix_gap_min, 1.0)),
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


def steps(skill: FloatArray, rng: np.random.Generator) -> Record:
    """Count the exploring steps of a random schedule, and their regret."""
    G1, G2 = 10 ** rng.uniform(-1, 1.5, 2)
    horizon = int(10 ** rng.uniform(1.5, 5))
    schedule = practical(float(G1), float(G2))
    first = sum(one.steps for one in schedule.phases(horizon) if one.kind == "new tester")
    explored = schedule.exploration_steps(horizon)
    best = best_set(skill).accuracy
    regret = best * explored - first * majority_accuracy(skill) - (explored - first) / 2
    d1, d2 = schedule.d1(horizon), schedule.d2(horizon)
    return {
        "explored": explored, "d1": d1, "d2": d2, "explore_regret": regret,
        "steps_share": explored / (d1 * d2), "regret_share": regret / (best * d1 * d2),
    }  # fmt: skip


def slips(skill: FloatArray, rng: np.random.Generator) -> Record:
    """Count the exploiting steps that choose another set than S*, and those that rank wrongly."""
    runs = simulate(
        skill, practical(2.0, 2.0), 1000, runs=1, seed=int(rng.integers(2**62)), trace=True
    )
    trace = runs.traces[0]
    exploits = trace.kind == STEPS.index("exploit")
    best = np.zeros(len(skill), dtype=bool)
    best[best_set(skill).workers] = True
    other = exploits & (trace.asked != best).any(axis=1)
    ranked = trace.estimates[:, np.argsort(-skill, kind="stable")]
    wrong = exploits & (np.diff(ranked, axis=1) >= 0).any(axis=1)
    known = crowd_constants(skill)
    return {
        "exploit_regret": float(runs.exploitation_regret[0, -1]),
        "slip_bound": known.gap_max * int((other & ~wrong).sum() + wrong.sum()),
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
        "speaks_at": _first(lambda t: regret_bounds.theorem_3(skill, t, z=Z).regret / t),
        "lemma_3_speaks_at": _first(lambda t: counted * _slip(t, alpha, epsilon)),
        "lemma_4_speaks_at": _first(lambda t: m * _slip(t, alpha, epsilon)),
        "lemma_3_bound": min(1.0, counted * _slip(2000, alpha, epsilon)),
        "lemma_4_bound": min(1.0, m * _slip(2000, alpha, epsilon)),
        "order_printed": 2.0**odd * math.sqrt(odd) / math.sqrt(2 * math.pi),
        "order_true": odd * majority_subsets(odd),
        **_as_if_explored(skill, epsilon, rng),
    }


def _weight_epsilon(skill: FloatArray) -> float:
    """ε < δ^W_min/2 for which log-odds within ε/4 of a skill exist."""
    gap = smallest_weight_gap(skill)
    return float(min(0.495 * gap, 2 * np.minimum(skill, 1 - skill).min(), 0.01))


def _slip(t: float, alpha: float, epsilon: float) -> float:
    """2/t² + 1/(αε t^(2−z)), a factor of (10) and (11)."""
    return 2.0 / t**2 + 1.0 / (alpha * epsilon * math.pow(t, 2.0 - Z))


def _first(bound: Callable[[int], float]) -> float:
    """Where a falling bound comes below 1, within one part in a thousand."""
    low, high = 1.0, 1e60
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if bound(int(middle) + 1) < 1 else (middle, high)
    return high


def _as_if_explored(skill: FloatArray, epsilon: float, rng: np.random.Generator) -> Record:
    """Estimates that the printed D1 and D2 would give at t = 2000, were there tasks enough.

    D1 testers; y* of each is the other class with the probability that more than half of D2 rounds
    are wrong. A labeler's estimate is a share of D1 labels that agree with y*.
    """
    t, draws = 2000, 200
    schedule = theoretical(skill)
    from scipy.stats import binom

    a = majority_accuracy(skill)
    rounds = int(schedule.d2(t)) + 1
    wrong = float(binom.cdf(rounds // 2, rounds, a))
    agree = skill * (1 - wrong) + (1 - skill) * wrong
    testers = int(schedule.d1(t)) + 1
    known = rng.binomial(testers, agree, (draws, len(skill))) / testers
    order = np.argsort(-skill, kind="stable")
    ordered = (np.diff(known[:, order], axis=1) < 0).all(axis=1)
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


def printed_slope(skill: FloatArray, epsilon: float) -> float:
    """Least C that Section 4.2 allows, as printed."""
    e = epsilon / 4
    return float(
        np.max([(1 + e) / skill, (1 - e) / (1 - skill), e / skill, e / (1 - skill)])
    )  # fmt: skip


def proofs(skill: FloatArray, rng: np.random.Generator) -> Record:
    """Try the inequalities of Lemmas 5 to 8 on estimates near and far, and at the extremes."""
    m = len(skill) - 1 + len(skill) % 2
    p = np.sort(skill[:m])[::-1]
    scale = 10 ** rng.uniform(-3, 0, (TRIES, 1))
    near = np.clip(p + scale * rng.uniform(-1, 1, (TRIES, m)), 0, 1)
    corner = (rng.random((TRIES, m)) < 0.5).astype(float)
    seven = [_ratio(np.abs(q.prod(axis=1) - p.prod()), np.abs(q - p).sum(axis=1))
             for q in (near, corner)]  # fmt: skip
    off = [_ratio(np.abs(prefix_accuracies_many(q)[:, -1] - majority_accuracy(p)),
                  np.abs(q - p).sum(axis=1)) for q in (near, corner)]  # fmt: skip
    known = crowd_constants(p)
    six = _lemma_6(p, near, 0.495 * known.prefix_gap_min)
    return {
        "lemma_7": float(np.max(seven)),
        "lemma_6": float(np.max(off)) / majority_subsets(m),
        "lemma_6_without": float(np.max(off)),
        "lemma_6_missed": six,
        **_lemma_8(p, rng),
    }


def _ratio(left: FloatArray, right: FloatArray) -> float:
    return float(np.divide(left, right, out=np.zeros_like(left), where=right > 0).max())


def _lemma_6(p: FloatArray, near: FloatArray, epsilon: float) -> int:
    """Instances of Û(S^m) ≥ Û(S*) in which no estimate of the two is off by more than ε, (24)."""
    truth, guess = prefix_accuracies_many(p[None])[0, 1::2], prefix_accuracies_many(near)[:, 1::2]
    best = int(truth.argmax())
    if not 0 < epsilon < 1:
        return 0
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
    values: dict[str, float] = {}
    # The worst crowd for the printed C has a labeler at ½ + ε/8, where its two largest terms meet.
    edge = np.array([0.5 + epsilon / 8])
    for name, crowd, slope in (
        ("printed", p, printed_slope(p, epsilon)),
        ("printed_edge", edge, printed_slope(edge, epsilon)),
        ("needed", p, needed),
    ):
        reach = epsilon / (4 * slope * len(crowd))
        some = crowd + reach * rng.uniform(0, 1, (TRIES, 1)) * side[:, : len(crowd)]
        some = np.clip(some, 1e-9, 1 - 1e-9)
        moved = np.abs(_odds(some) - _odds(crowd))
        values[f"lemma_8_{name}"] = _ratio(
            moved.ravel(), (2 * slope * np.abs(some - crowd)).ravel()
        )
    extreme = np.clip(p + 0.999 * epsilon / (4 * needed * len(p)) * side, 1e-9, 1 - 1e-9)
    votes = rng.choice([-1.0, 1.0], (TRIES, len(p)))
    true, seen = votes @ _odds(p), (votes * _odds(extreme)).sum(axis=1)
    ahead = true > 1e-9 * np.abs(_odds(p)).sum()
    return {
        **values,
        "lemma_5_missed": int((seen[ahead] < epsilon).sum()),
        "lemma_5_votes": int(ahead.sum()),
        "weight_epsilon": epsilon,
    }


def _odds(p: FloatArray) -> FloatArray:
    odds: FloatArray = np.log(p) - np.log1p(-p)
    return odds


def disagreement(skill: FloatArray, rng: np.random.Generator) -> Record:
    """P(Z_i = 1) exactly and as printed; and the chance to rank two labelers the wrong way."""
    del rng
    m = len(skill) - 1 + len(skill) % 2
    p = np.sort(skill[:m])[::-1]
    full = majority_accuracy(p)
    printed = np.array([disagreement_rate(float(one), full) for one in p])
    exact = np.array([_differs(p, i) for i in range(m)])
    record: dict[str, float | int | bool | None] = {
        "rates": m,
        "rate_off": float((printed - exact).max()),
        "rate_below": float((printed - exact).min()),
        "rate_printed": float(printed.mean()),
        "rate_exact": float(exact.mean()),
        "full_right": full > 0.5,
        "order_broken": bool((np.diff(exact) < -EQUAL).any()),
    }
    only_i, only_j = _one_differs(p, 0, m - 1)
    gap = only_j - only_i
    for rounds in (20, 100, 400):
        error = _misranked(only_i, only_j, rounds)
        log = math.log(error) if error > 0 else -math.inf
        for name, factor in FACTOR.items():
            excess = log + factor * gap**2 * rounds
            record[f"excess_{name}_{rounds}"] = excess if gap > 0 and error > 1e-250 else None
    return record


def _rights(p: FloatArray) -> FloatArray:
    """Distribution of the number of labelers who are right, shape (m + 1,)."""
    found = np.ones(1)
    for one in p.tolist():
        found = np.convolve(found, [1 - one, one])
    return found


def _differs(p: FloatArray, i: int) -> float:
    """P(i differs from the majority of all), odd m."""
    m = len(p)
    others = _rights(np.delete(p, i))
    wrong_alone = others[(m + 1) // 2 :].sum()  # the majority is right without i
    right_alone = others[: (m - 1) // 2].sum()  # it is wrong although i is right
    return float((1 - p[i]) * wrong_alone + p[i] * right_alone)


def _one_differs(p: FloatArray, i: int, j: int) -> tuple[float, float]:
    """P(i differs from the majority and j does not), and the other way round; odd m."""
    m = len(p)
    others = np.append(_rights(np.delete(p, [i, j])), np.zeros(2))
    majority_right = float(others[(m - 1) // 2 :].sum())  # with one of the two right
    only_i = (1 - p[i]) * p[j] * majority_right + p[i] * (1 - p[j]) * (1 - majority_right)
    only_j = (1 - p[j]) * p[i] * majority_right + p[j] * (1 - p[i]) * (1 - majority_right)
    return float(only_i), float(only_j)


def _misranked(only_i: float, only_j: float, rounds: int) -> float:
    """P(Σ Z_i ≥ Σ Z_j) after so many rounds: the better i differs as often as j, or more."""
    found, power = np.ones(1), np.array([only_j, 1 - only_i - only_j, only_i])
    left = rounds
    while left:
        if left % 2:
            found = np.convolve(found, power)
        power, left = np.convolve(power, power), left // 2
    return float(found[rounds:].sum())


def agreement(skill: FloatArray, rng: np.random.Generator) -> Record:
    """What `structure` says of a crowd and of its mirror image, by labels of 200 tasks."""
    if rng.random() < 0.5:
        skill = 1 - skill
    kind = rng.integers(3)
    if kind == 2:  # a crowd of coins, or nearly
        skill = 0.5 + 0.1 * (skill - 0.5)
    truth = rng.integers(2, size=200)
    labels = (rng.random((200, len(skill))) < skill) == truth[:, None]
    labels = labels.astype(np.int64)
    seed = int(rng.integers(2**62))
    blind = structure(labels, seed=seed)
    mirrored = structure(1 - labels, seed=seed)
    told = structure(labels, np.where(np.arange(200) < 30, truth, -1), seed=seed)
    distance = abs(float(skill.mean()) - 0.5)
    return {
        "trusted": bool(skill.mean() > 0.5),
        "distance": distance,
        "warned": bool(blind.low <= 0.02),
        "covered": bool(blind.low <= distance <= blind.high),
        "blind_answers": blind.trusted is not None,
        "mirror_same": bool(np.allclose(blind.lean, mirrored.lean, equal_nan=True)),
        "told_sign": told.sign,
    }


QUESTIONS: dict[str, Callable[[FloatArray, np.random.Generator], Record]] = {
    "sets": sets, "steps": steps, "slips": slips, "bounds": bounds, "steps-of-proofs": proofs,
    "disagreement": disagreement, "agreement": agreement,
}  # fmt: skip


def trial(params: Params, streams: Streams) -> Record:
    """Draw a crowd and answer one question on it."""
    rng = stream(streams.instance, "theory")
    skill = CROWDS[params["crowd"]](int(params["workers"]), rng)
    # A question may call what another module computes under another name: look it up when asked.
    return QUESTIONS[params["question"]](skill, rng)


def analyse(table: pd.DataFrame) -> Analysis:
    """Say what was found of each question."""
    ok = table[table["status"].astype(str) == "ok"]
    sentences, tables = [ended(table)], {}
    for question in QUESTIONS:
        rows = ok[ok["question"] == question]
        if rows.empty:
            continue
        fields = [name for name in FIELDS[question] if name in rows]
        values = rows[["crowd", "workers", *fields]].astype(dict.fromkeys(fields, float))
        found = values.groupby(["crowd", "workers"], sort=False)[fields].agg(["mean", "max"])
        found.columns = ["_".join(map(str, pair)) for pair in found.columns.to_list()]
        tables[question] = found.reset_index()
        top = ", ".join(f"{name} {values[name].max():.4g}" for name in fields)
        sentences.append(f"{question}, {len(rows):,} crowds, largest values: {top}.")
    charts = []
    if "bounds" in tables:
        bound = tables["bounds"].assign(series=tables["bounds"]["crowd"])
        charts.append(
            Chart("bound", "Bound (6) of Theorem 3 at the printed constants as a share of T, a "
                  "million tasks: above 1 it says nothing. Mean over crowds.", bound, "workers",
                  "share_million_mean", "labelers M", "bound (6) / T", series="series",
                  kind="points", log_y=True, references=((1.0, "no regret is larger"),)),
        )  # fmt: skip
    return Analysis(findings=tuple(sentences), tables=tables, charts=tuple(charts))


FIELDS: dict[str, tuple[str, ...]] = {
    "sets": ("even_ahead", "even_optimal", "other_ahead", "other_optimal", "search_off",
             "weighted_other_ahead", "weighted_other_optimal", "weighted_search_off"),
    "steps": ("steps_share", "regret_share"),
    "slips": ("exploit_regret", "slip_bound"),
    "bounds": ("share_2000", "share_million", "share_million_5", "cost_share_million", "enough",
               "needed", "factor_1", "speaks_at", "lemma_3_speaks_at", "lemma_4_speaks_at",
               "wrong_order", "wrong_set"),
    "steps-of-proofs": ("lemma_6", "lemma_6_without", "lemma_6_missed", "lemma_7",
                        "lemma_8_printed", "lemma_8_printed_edge", "lemma_8_needed",
                        "lemma_5_missed"),
    "disagreement": ("rate_printed", "rate_exact", "rate_off", "order_broken",
                     "excess_printed_20", "excess_printed_100", "excess_printed_400",
                     "excess_supported_20", "excess_supported_100", "excess_supported_400"),
    "agreement": ("warned", "covered", "blind_answers", "mirror_same"),
}  # fmt: skip

_PAPER = {"question": ["steps", "slips", "bounds", "steps-of-proofs", "disagreement", "agreement"]}
_RANDOM = ["any", "able"]

STUDY = Study(
    name="learn-theory",
    title="The theorems and lemmas of online labeler selection, computed",
    source="Liu, Liu (2015), Sections 2 to 4, footnote 2, appendices",
    parameters={
        "question": Parameter(str, "sets", "what is computed", choices=tuple(QUESTIONS)),
        "crowd": Parameter(str, "able", "how skills are drawn", choices=tuple(CROWDS)),
        "workers": Parameter(int, 5, "M", least=3, most=9),
    },
    sizes={
        "smoke": Size(
            ({"question": ["sets"], "crowd": ["able", "alike", "solved"]},
             {**_PAPER, "crowd": ["able"]}), 3,
        ),
        "small": Size(
            ({"question": ["sets"], "crowd": [c for c in CROWDS if c != "table-1"],
              "workers": [3, 5]},
             {**_PAPER, "crowd": ["able", "table-1"]}), 20,
        ),
        "paper": Size(
            ({"question": ["sets"], "crowd": [c for c in CROWDS if c != "table-1"],
              "workers": [3, 4, 5, 6, 7]},
             {"question": ["steps", "slips", "disagreement", "agreement"], "crowd": ["able"],
              "workers": [3, 5, 7, 9]},
             {"question": ["bounds", "steps-of-proofs"], "crowd": ["able"],
              "workers": [3, 5, 7]},
             {**_PAPER, "crowd": ["table-1"]}), 100,
        ),
    },
    trial=trial,
    analyse=analyse,
)  # fmt: skip
