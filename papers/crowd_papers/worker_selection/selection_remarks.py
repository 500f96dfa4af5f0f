"""What the paper says by the way of scores, weights and crowds, each question on crowds of its own.

- `lead`: Theorem 1's remark (i): the expected lead of the true class over a wrong one is
  √|S| F(S)/(L − 1), and of two sets the one of higher F votes better (`agree`, the share of random
  pairs of sets of which that is so; two classes, skills known).
- `forms`: (25) and (26) of the supplement, two forms of G, for all answers to n questions.
- `bound`: Section 5: what maximises F̂ maximises the lower end of Theorem 3's interval. All sets are
  listed; once with n questions for everyone, and once with half of the workers answering `FEW`.
- `optimum`: Section 5: true F of the sets chosen by F̂, by F̂_plug, and by F itself.
- `growth`: Section 3: time and memory of Algorithm 1, for 2¹⁴ and for 2¹⁸ workers.
- `votes`: Sections 1, 2 and 4: how often votes with linear, log-odds and equal weights are right,
  and linear ones by the true skills, of all workers, of the selected and of the top K; with
  `spammers` more workers who guess.

Source: Li, Liu (2015), Section 1, Section 2, Theorem 1, Section 3, Section 5, (25) and (26).
"""

from __future__ import annotations

import itertools
import math
import time
import tracemalloc

import numpy as np
import pandas as pd

from workbench.accuracy import vote_error, vote_errors
from workbench.aggregation import log_odds_weights
from workbench.base import FloatArray, IntArray, stream
from workbench.crowd import beta
from workbench.selection import algorithm_1, informativeness, interval, scores, select, set_score
from workbench.studies import (
    BEYOND,
    Analysis,
    Block,
    Chart,
    Parameter,
    Params,
    Record,
    Ruling,
    Size,
    Streams,
    Study,
    chance_reaches,
    claim,
    ended,
    enough,
    flags,
    instance_columns,
    joined,
    mean_columns,
    mean_se,
    measured,
    percent,
    plus_minus,
    signed,
)

VOTES = 5000
"""Votes whose lead is averaged."""
PAIRS = 100
"""Pairs of sets compared in one trial."""
FEW = 3
"""Control questions of the workers who answer few."""
MANY = {"small": 2**14, "large": 2**18}
"""Workers that Algorithm 1 is timed with."""


def trial(params: Params, streams: Streams) -> Record:
    """Answer one question on one crowd."""
    L, n, m, K = (int(params[name]) for name in ("classes", "controls", "workers", "budget"))
    seed = streams.instance
    skill = beta(m, a=2.3, b=2.0, seed=seed).skill[0]
    if params["question"] == "lead":
        return _lead(skill[:K], n, L, seed)
    if params["question"] == "forms":
        return {"forms_off": forms_off(n, L)}
    if params["question"] == "growth":
        return _growth(seed)
    skill = np.concatenate([skill, np.full(int(params["spammers"]), 1.0 / L)])
    correct = stream(seed, "controls").binomial(n, skill)
    if params["question"] == "bound":
        return _bound(correct, skill, n, L, seed)
    pool = scores(correct, np.full(len(skill), n), L)
    chosen = {
        rule: select(pool, K, rule, seed=seed).chosen
        for rule in ("selected", "plug-in", "top-skill")
    }
    if params["question"] == "optimum":
        return _optimum(chosen, informativeness(skill, L), K, seed)
    return _votes(chosen, pool.skill, skill)


def _bound(
    correct: IntArray,
    skill: FloatArray,
    controls: int,
    classes: int,
    seed: np.random.SeedSequence,
) -> Record:
    """Whether both maxima are one set, with as many questions for everyone and with fewer."""
    m = len(skill)
    few = np.where(np.arange(m) % 2, FEW, controls)
    again = stream(seed, "few").binomial(few, skill)
    return {
        "same": same_maximiser(correct, np.full(m, controls), classes),
        "same_few": same_maximiser(again, few, classes),
    }


def _optimum(
    chosen: dict[str, IntArray], worth: FloatArray, budget: int, seed: np.random.SeedSequence
) -> Record:
    """True F of two rules' sets and of the best set; `worth` is each worker's part of F."""
    best = algorithm_1(worth, budget, seed=seed).chosen
    return {
        "score_selected": set_score(worth[chosen["selected"]]),
        "score_plug_in": set_score(worth[chosen["plug-in"]]),
        "score_best": set_score(worth[best]),
        "size_selected": len(chosen["selected"]),
        "size_best": len(best),
    }


def _votes(chosen: dict[str, IntArray], estimates: FloatArray, skill: FloatArray) -> Record:
    """How often votes are right, by kind of weights and by who votes."""
    weights = {
        "linear": 2 * estimates - 1,
        "log": log_odds_weights(estimates, 2),
        "majority": np.ones(len(skill)),
        "known": 2 * skill - 1,
    }
    voters = {
        "all": np.arange(len(skill)),
        "selected": chosen["selected"],
        "top": chosen["top-skill"],
    }
    return {
        f"{kind}_{name}": 1.0 - vote_error(skill[who], weight[who]).probability
        for (kind, weight), (name, who) in itertools.product(weights.items(), voters.items())
    }


def _lead(skill: FloatArray, controls: int, classes: int, seed: np.random.SeedSequence) -> Record:
    """Mean lead of the true class over a certain wrong one, weights estimated for every vote."""
    rng, shape = stream(seed, "votes"), (VOTES, len(skill))
    weight = classes * rng.binomial(controls, skill, shape) / controls - 1.0
    right = rng.random(shape) < skill
    wrong = ~right & (rng.integers(classes - 1, size=shape) == 0)
    lead = (weight * right - weight * wrong).sum(axis=1)
    score = set_score(informativeness(skill, classes))
    sets = stream(seed, "sets").random((2 * PAIRS, len(skill))) < 0.5
    sets[:, 0] |= ~sets.any(axis=1)
    error, _ = vote_errors(skill, 2 * skill - 1, sets)
    scored = np.array([set_score(informativeness(skill[some])) for some in sets])
    higher = scored[::2] > scored[1::2]
    return {
        "lead": float(lead.mean()),
        "lead_se": float(lead.std(ddof=1) / math.sqrt(VOTES)),
        "lead_expected": math.sqrt(len(skill)) * score / (classes - 1),
        "agree": float((higher == (error[::2] < error[1::2])).mean()),
    }


def forms_off(controls: int, classes: int) -> float:
    """Largest difference of G, and of (26) in its place, over all numbers of right answers."""
    n, L, right = controls, classes, np.arange(controls + 1)
    gain = scores(right, np.full(n + 1, n), L).gain
    lead = L * right / n - 1 - (L - 2) / (2 * n)
    second = n / (n - 1) * (lead**2 - ((L - 2) ** 2 / (4 * n**2) + (L - 1) / n))
    return float(np.abs(gain - second).max())


def same_maximiser(correct: IntArray, answered: IntArray, classes: int) -> bool:
    """Whether the set of the highest lower end of Theorem 3's interval has the highest F̂."""
    pool = scores(correct, answered, classes)
    sets = [
        np.array(some)
        for size in range(1, len(pool) + 1)
        for some in itertools.combinations(range(len(pool)), size)
    ]
    score = np.array([set_score(pool.gain[some]) for some in sets])
    low = np.array([interval(pool, some)[0] for some in sets])
    return bool(score[int(low.argmax())] >= score.max() - 1e-9)


def _growth(seed: np.random.SeedSequence) -> Record:
    record: dict[str, float] = {}
    for name, workers in MANY.items():
        gain = stream(seed, "gain").normal(size=workers)
        began = time.process_time()
        for _ in range(3):
            algorithm_1(gain, workers, seed=seed)
        record[f"seconds_{name}"] = (time.process_time() - began) / 3
        tracemalloc.start()
        algorithm_1(gain, workers, seed=seed)
        record[f"bytes_{name}"] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return record


# What the trials say.

VOTERS = ("all", "selected", "top")
MEASURES = {
    "lead": ("lead", "lead_expected", "agree"),
    "forms": ("forms_off",),
    "bound": ("same", "same_few"),
    "optimum": ("score_selected", "score_plug_in", "score_best", "size_selected", "size_best"),
    "growth": ("bytes_small", "bytes_large"),
    "votes": tuple(
        f"{weights}_{who}" for weights in ("linear", "log", "majority", "known") for who in VOTERS
    ),
}
"""Record fields of each question that the table has means of."""
SETTING = ["classes", "controls", "workers", "budget", "spammers"]


def analyse(trials: pd.DataFrame) -> Analysis:
    """Means of what each question measures."""
    parts = [Analysis((ended(trials),))]
    for question, fields in MEASURES.items():
        rows = measured(trials[trials["question"] == question], fields[0])
        if len(rows):
            parts.append(about(question, rows))
    return joined(parts)


def about(question: str, rows: pd.DataFrame) -> Analysis:
    """Means of what one question measures, by setting."""
    names = MEASURES[question]
    table = mean_columns(rows, SETTING, names)
    table.insert(len(SETTING), "trials", rows.groupby(SETTING).size().to_numpy())
    accuracy = Chart(
        "votes",
        f"Accuracy of votes, means over crowds; {len(rows):,} trials.",
        table.melt(SETTING, list(names), var_name="vote", value_name="accuracy"),
        x="spammers",
        y="accuracy",
        x_label="spammers",
        y_label="accuracy",
        series="vote",
    )
    charts = (accuracy,) if question == "votes" else ()
    return Analysis((f"{question}: {len(table)} settings measured.",), {question: table}, charts)


def _sweep(small: int) -> tuple[Block, ...]:
    """Points of a sweep, with so many workers where all sets are listed."""
    return (
        {"question": ["lead"], "classes": [2, 3, 4], "workers": [20], "budget": [12]},
        {"question": ["forms"], "classes": [2, 3, 5, 9], "controls": [2, 3, 10, 50]},
        {"question": ["bound"], "workers": [small]},
        {"question": ["optimum"]},
        {"question": ["growth"]},
        {"question": ["votes"], "spammers": [0, 31, 100]},
    )


STUDY = Study(
    name="selection-remarks",
    title="Remarks on scores, weights and crowds",
    source="Li, Liu (2015), Sections 1 to 5, remarks",
    parameters={
        "question": Parameter(str, "lead", "which remark", choices=tuple(MEASURES)),
        "classes": Parameter(int, 2, "L (2 for votes)", least=2, most=20),
        "controls": Parameter(int, 10, "n, control questions a worker", least=2, most=1000),
        "workers": Parameter(int, 31, "m (all sets are listed for bound)", least=1, most=100),
        "budget": Parameter(int, 20, "K, or the size of the fixed set", least=1, most=100),
        "spammers": Parameter(
            int, 0, "workers who guess, beside the m", least=0, most=1000, paired=True
        ),
    },
    sizes={
        "smoke": Size(_sweep(5), 1),
        "small": Size(_sweep(7), 20),
        "paper": Size(_sweep(9), 100),
    },
    trial=trial,
    analyse=analyse,
    volatile=tuple(f"{what}_{name}" for what in ("seconds", "bytes") for name in MANY),
)

# What the paper claims.

CROWDS = 20
"""Least number of crowds for a mean to be looked at."""
ROUNDING = 1e-9
"""Rounding allowed where numbers are compared."""
CLOSE = 0.01
"""Accuracies no further apart count as alike."""
MUCH = 0.02
"""A difference of accuracy that counts as much."""


@claim(
    id="selection-theorem-1-remark-1",
    source="Theorem 1, remark (i)",
    statement="F(S) √|S|/(L − 1) is the expected lead of the votes for the true class, and the "
    "vote is more likely to be right if F(S) is larger. (Read as: of two sets of a crowd the one "
    "of higher F errs less, more often than not.)",
    where={"question": "lead"},
)
def theorem_1_remark_1(trials: pd.DataFrame) -> Ruling:
    """The mean lead beside the expected one, and pairs of sets compared by F."""
    z = ((trials["lead"] - trials["lead_expected"]) / trials["lead_se"]).abs()
    over = int((z > chance_reaches(len(trials))).sum())
    agree, se = mean_se(trials["agree"])
    figures = (
        f"{len(trials)} crowds, 2 to 4 classes: the mean lead differs from √|S| F(S)/(L − 1) by up "
        f"to {z.max():.1f} standard errors, beyond chance in {over} crowds. Of random pairs of "
        f"sets, two classes and skills known, F says in {percent(agree)} which votes better."
    )
    if over or agree < 0.5 - BEYOND * se:
        return Ruling.refuted(figures)
    return Ruling.inconclusive(figures) if agree <= 0.5 + BEYOND * se else Ruling.holds(figures)


@claim(
    id="selection-gain-two-forms",
    source="supplement, (25) and (26)",
    statement="G has two equal forms: (Lŵ − 1)² − L² ŵ(1 − ŵ)/(n − 1), and n/(n − 1) times (Lŵ − "
    "1 − (L − 2)/(2n))² − ((L − 2)²/(4n²) + (L − 1)/n).",
    where={"question": "forms"},
)
def gain_two_forms(trials: pd.DataFrame) -> Ruling:
    """The largest difference of the two forms."""
    off = trials["forms_off"].max()
    settings = trials[["classes", "controls"]].drop_duplicates()
    figures = (
        f"Up to {trials['controls'].max()} questions and {trials['classes'].max()} classes, "
        f"{len(settings)} settings: the two forms differ by at most "
        f"{off:.1e}."
    )
    return Ruling.refuted(figures) if off > ROUNDING else Ruling.holds(figures)


@claim(
    id="selection-complexity",
    source="Section 3",
    statement="Algorithm 1 takes O(M log M) time and O(M) space for M workers.",
    where={"question": "growth"},
)
def complexity(trials: pd.DataFrame) -> Ruling:
    """Growth of time and memory beside that of M log M and of M."""
    seconds = (trials["seconds_large"] / trials["seconds_small"]).median()
    memory = (trials["bytes_large"] / trials["bytes_small"]).median()
    small, large = MANY["small"], MANY["large"]
    time_growth = large * math.log(large) / (small * math.log(small))
    space_growth = large / small
    figures = (
        f"From {small:,} to {large:,} workers the time grows {seconds:.1f} times, where M log M "
        f"grows {time_growth:.1f} times, and the memory {memory:.1f} times, where M grows "
        f"{space_growth:.0f} times. (Medians; twice the growth of M log M is allowed for memory "
        "caches.)"
    )
    beyond = seconds > 2 * time_growth or memory > 1.1 * space_growth
    return Ruling.refuted(figures) if beyond else Ruling.holds(figures)


@claim(
    id="selection-confidence-bound",
    source="Section 5",
    statement="Maximising F̂ also maximises a confidence bound on F, because the width of the "
    "interval often does not depend on the workers.",
    where={"question": "bound"},
)
def confidence_bound(trials: pd.DataFrame) -> Ruling:
    """Crowds in which one set maximises both, with equal n and with unequal."""
    equal, few = flags(trials["same"]).sum(), flags(trials["same_few"]).sum()
    figures = (
        f"{len(trials)} crowds, equally many control questions for all workers: the set whose "
        f"interval (Theorem 3) has the highest lower end has the highest F̂ in {equal}; where "
        f"half of the workers answered {FEW} questions only, in {few}."
    )
    if equal < len(trials):
        return Ruling.refuted(figures)
    return Ruling.holds_as_corrected(figures) if few < len(trials) else Ruling.holds(figures)


@claim(
    id="selection-far-from-optimum",
    source="Section 5",
    statement="With a biased estimate of F, the chosen set may be far from the best set by the "
    "true F. (Read as: the set chosen by the unbiased F̂ has a higher true F than the plug-in "
    "rule's.)",
    where={"question": "optimum"},
)
def far_from_optimum(trials: pd.DataFrame) -> Ruling:
    """True F of the set chosen by F̂, minus that of the plug-in rule's."""
    lead, se = mean_se(trials["score_selected"] - trials["score_plug_in"])
    selected, plug_in, best = (
        plus_minus(*mean_se(trials[f"score_{name}"])) for name in ("selected", "plug_in", "best")
    )
    figures = (
        f"True F at K = 20, n = 10, {len(trials)} crowds of 31 workers: {selected} for the set "
        f"chosen by F̂, {plug_in} for the plug-in rule's, {best} for the best set; F̂'s "
        f"minus the plug-in's {signed(lead, se)}. Both are far from the optimum."
    )
    if lead < -BEYOND * se:
        return Ruling.refuted(figures)
    return Ruling.inconclusive(figures) if lead <= BEYOND * se else Ruling.holds(figures)


@claim(
    id="selection-spammers",
    source="Section 1",
    statement="Adding spammers makes the vote less accurate, unless they are identified perfectly.",
    where={"question": "votes"},
)
def adding_spammers(trials: pd.DataFrame) -> Ruling:
    """Change of the accuracy of everybody's vote as spammers join, by kind of weights."""
    most = trials["spammers"].max()
    kinds = {kind: f"{kind}_all" for kind in ("linear", "majority", "known")}
    wide = trials.pivot_table(
        index=instance_columns(trials), columns="spammers", values=list(kinds.values())
    ).dropna()
    enough(wide, CROWDS, "crowds with spammers and without")
    changes = {kind: mean_se(wide[name][most] - wide[name][0]) for kind, name in kinds.items()}
    linear, majority, true = (signed(*change, 4) for change in changes.values())
    figures = (
        f"{most} spammers join {len(wide)} crowds: accuracy changes by {linear} with linear "
        f"weights, by {majority} with equal weights, and by {true} with weights from true skills."
    )
    worse = [mean < -BEYOND * se for mean, se in (changes[kind] for kind in ("linear", "majority"))]
    better = any(mean > BEYOND * se for mean, se in changes.values())
    if better or abs(changes["known"][0]) > ROUNDING:
        return Ruling.refuted(figures)
    if not any(worse):
        return Ruling.inconclusive(figures)
    return Ruling.holds(figures) if all(worse) else Ruling.holds_as_corrected(figures)


def less_linear(rows: pd.DataFrame, kind: str) -> dict[str, tuple[float, float]]:
    """Accuracy with some weights minus that with linear weights, by who votes."""
    return {name: mean_se(rows[f"{kind}_{name}"] - rows[f"linear_{name}"]) for name in VOTERS}


def by_voters(gaps: dict[str, tuple[float, float]]) -> str:
    """Write differences by who votes, for a sentence."""
    everybody, selected, top = (signed(*gaps[name], 4) for name in VOTERS)
    return f"everybody votes {everybody}, the selected {selected}, the top 20 {top}"


@claim(
    id="selection-weights-alike",
    source="Section 2",
    statement="Linear and log-odds weights work similarly in practice. (Read as: accuracies within "
    "0.01 of each other on simulated crowds, ŵ within 0.001 of 0 and 1.)",
    where={"question": "votes", "spammers": 0},
)
def weights_alike(trials: pd.DataFrame) -> Ruling:
    """Accuracy with log-odds weights minus that with linear weights, by who votes."""
    gaps = less_linear(trials, "log")
    figures = (
        f"Accuracy with log-odds weights minus that with linear weights, {len(trials)} crowds of "
        "31 "
        f"workers, n = 10: {by_voters(gaps)}."
    )
    alike = [abs(mean) + BEYOND * se <= CLOSE for mean, se in gaps.values()]
    apart = [abs(mean) - BEYOND * se > CLOSE for mean, se in gaps.values()]
    if all(apart):
        return Ruling.refuted(figures)
    if not any(apart) and not all(alike):
        return Ruling.inconclusive(figures)
    return Ruling.holds_as_corrected(figures) if any(apart) else Ruling.holds(figures)


@claim(
    id="selection-majority",
    source="Section 4",
    statement="The majority vote tends to perform much worse than all other algorithms. (Read as: "
    "by over 0.02 than the linear vote of the same workers, on simulated crowds.)",
    where={"question": "votes", "spammers": 0},
)
def majority_vote(trials: pd.DataFrame) -> Ruling:
    """Accuracy of the majority minus that of the linear vote, by who votes."""
    gaps = less_linear(trials, "majority")
    figures = (
        f"Accuracy of the majority minus that of the linear vote, {len(trials)} crowds of 31 "
        f"workers, n = 10: {by_voters(gaps)}."
    )
    worse = [mean + BEYOND * se < 0 for mean, se in gaps.values()]
    much = [mean < -MUCH for mean, _ in gaps.values()]
    if not any(much) and not all(worse):
        return Ruling.refuted(figures)
    if all(worse) and all(much):
        return Ruling.holds(figures)
    return Ruling.holds_as_corrected(figures)
