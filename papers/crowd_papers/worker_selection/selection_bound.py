"""Theorem 1: hunt for workers whose weighted vote errs more often than the bound allows.

The theorem is over labels and over ŵ, any unbiased estimate that does not depend on them. Of all
such estimates in [0, 1] the share of right answers to a single control question is the most
spread out (`controls` 1); `controls` 0 stands for skills that are known. Each trial starts
somewhere and climbs (Nelder and Mead) towards the largest ratio of error to bound, where the bound
says something, that is, at most 0.9:

- `few`: some workers, each her own skill; the error is exact, all outcomes listed;
- `many`: equal workers, as many as are asked for; the error lies between two bounds that are exact
  sums. A = "a certain wrong class is ahead", B = "it is ahead or level", C = "two certain wrong
  classes together have at least twice the true class's score":
  (L − 1) P(A) − (L − 1)(L − 2)/2 · P(C) ≤ error ≤ (L − 1) P(B) (Bonferroni);
- `exponents`: a mix of two kinds, in the limit of many workers, where P(B) falls as exp(−m·rate)
  with the rate of Cramér's theorem; a rate below the exponent of the bound breaks it for m large.

The proof's step for a pair of classes, P(B) ≤ exp(−2t²), is measured beside it: the bound is that
times the L − 1 wrong classes.

Source: Li, Liu (2015), Theorem 1 and its proof in the supplement, (12)–(24).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.base import FloatArray
from workbench.selection import informativeness, set_score
from workbench.studies import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Ruling,
    Size,
    Streams,
    Study,
    claim,
    ended,
    enough,
    joined,
    listed,
    measured,
    nonempty,
    records,
)

SEARCHES = ("few", "many", "exponents")
STARTS = 40
"""Random places of which the highest is where a climb starts."""
SURE = 0.9
"""Skill of all workers at which the bound says something in every sweep: one more start."""
STEPS = 240
"""Evaluations that a climb may take."""
SAYS_SOMETHING = math.log(0.9)
"""Logarithm of the bound above which the hunt does not look: guessing alone errs as often."""
EXPONENTS_APART = 1e-6
"""Two exponents whose ratio is no further from 1 count as equal."""
LEAST_LEAN = 1e-3
"""Mean lead (21) below which workers say nothing and a ratio of exponents is rounding."""


class Exact(NamedTuple):
    """Of one vote: its error, between `low` and `high`, and P(a wrong class is ahead or level)."""

    low: float
    high: float
    pair: float


def trial(params: Params, streams: Streams) -> Record:
    """Climb once from a random start; say where it ended.

    Where workers are many the climb is by the pair's probability, which has no holes.
    """
    rng = np.random.default_rng(streams.instance)
    L, n, m = (int(params[name]) for name in ("classes", "controls", "workers"))
    if params["search"] == "exponents":
        return _exponents_record(L, n, rng)
    if params["search"] == "few":
        skill = _climb(lambda w: _ratio(error_of_few(w, L, n).low, w, L), m, rng)
        return _climb_record(skill, skill, L, error_of_few(skill, L, n))

    def height(skill: FloatArray) -> float:
        return _ratio(error_of_many(float(skill[0]), m, L, n).pair, np.repeat(skill, m), L)

    skill = _climb(height, 1, rng)
    error = error_of_many(float(skill[0]), m, L, n)
    return _climb_record(np.repeat(skill, m), skill, L, error)


def _exponents_record(classes: int, controls: int, rng: np.random.Generator) -> Record:
    def height(place: FloatArray) -> float:
        bound, rate = exponents(place[:2], place[2], classes, controls)
        return bound / rate

    place = _climb(height, 3, rng)
    bound, rate = exponents(place[:2], place[2], classes, controls)
    return {
        "skills": _written(place[:2]),
        "share": float(place[2]),
        "exponent_bound": bound,
        "exponent_true": rate,
        "exponent_ratio": bound / rate,
    }


def _ratio(error: float, skill: FloatArray, classes: int) -> float:
    """Logarithm of error over bound; a slope towards places where the bound says something."""
    bound = _log_bounds(skill, classes)[0]
    if bound > SAYS_SOMETHING:
        return -1e3 - bound
    return _log(error) - bound if error > 0 else -1e3


def _climb_record(skill: FloatArray, kinds: FloatArray, classes: int, error: Exact) -> Record:
    """Logarithms, none of what is 0."""
    printed, supported = _log_bounds(skill, classes)
    pairs = math.log(classes - 1)
    numbers = {
        "log_error_low": _log(error.low),
        "log_error_high": _log(error.high),
        "log_bound": printed,
        "log_ratio": _log(error.low) - printed,
        "log_ratio_high": _log(error.high) - printed,
        "log_ratio_supported": _log(error.high) - supported,
        "log_ratio_pair": _log(error.pair) - (printed - pairs),
        "log_ratio_pair_supported": _log(error.pair) - (supported - pairs),
    }
    return {
        "skills": _written(kinds),
        **{name: number if math.isfinite(number) else None for name, number in numbers.items()},
    }


def _climb(
    height: Callable[[FloatArray], float], numbers: int, rng: np.random.Generator
) -> FloatArray:
    """Climb within [0, 1]^numbers, from the highest of some random places."""
    from scipy.optimize import minimize

    starts = [*rng.random((STARTS, numbers)), np.full(numbers, SURE)]
    best = minimize(
        lambda place: -height(np.clip(place, 0.0, 1.0)),
        max(starts, key=height),
        method="Nelder-Mead",
        bounds=[(0.0, 1.0)] * numbers,
        options={"maxfev": STEPS, "xatol": 1e-5, "fatol": 1e-6},
    )
    top: FloatArray = np.clip(best.x, 0.0, 1.0)
    return top


def _log_bounds(skill: FloatArray, classes: int) -> tuple[float, float]:
    """Logarithms of the bound as printed and of the one its proof supports, above 0 too.

    A bound of e⁻²⁰⁰ is not to be had from `error_bound` in full, and one above 1 is cut there.
    """
    score, L = set_score(informativeness(skill, classes)), classes
    printed = -2.0 * score**2 / (L * (L - 1)) ** 2 + math.log(L - 1)
    supported = -(score**2) / (2.0 * (L - 1) ** 4) + math.log(L - 1)
    return printed, supported


def votes_of(skill: float, classes: int, controls: int) -> tuple[FloatArray, FloatArray]:
    """Weights ν̂ = Lŵ − 1 that a worker can get, and their probabilities."""
    from scipy.stats import binom

    if not controls:
        return np.array([classes * skill - 1.0]), np.ones(1)
    right = np.arange(controls + 1)
    return classes * right / controls - 1.0, binom.pmf(right, controls, skill)


def error_of_few(skill: FloatArray, classes: int, controls: int) -> Exact:
    """Exact error of a few workers under fair ties: every weight and label of each is listed."""
    L = classes
    sums, chance = np.zeros((1, L)), np.ones(1)
    for w in skill.tolist():
        weight, likely = votes_of(w, L, controls)
        odds = np.concatenate([[w], np.full(L - 1, (1.0 - w) / (L - 1))])  # class 0 is true
        votes = weight[:, None, None] * np.eye(L)
        sums = (sums[:, None, None] + votes).reshape(-1, L)
        chance = np.multiply.outer(chance, np.multiply.outer(likely, odds)).ravel()
    slack = 1e-9 * L * len(skill)
    winners = sums >= sums.max(axis=1, keepdims=True) - slack
    right = float(chance @ (winners[:, 0] / winners.sum(axis=1)))
    pair = float(chance @ (sums[:, 1] >= sums[:, 0] - slack))
    return Exact(1.0 - right, 1.0 - right, pair)


def error_of_many(skill: float, workers: int, classes: int, controls: int) -> Exact:
    """Bounds on the error of m equal workers, from sums of independent whole numbers."""
    L = classes
    weight, likely = votes_of(skill, L, controls)
    # In units that make weights whole; a known skill's weight can only be for or against.
    whole = np.sign(weight) if not controls else np.rint(controls * weight)
    ahead = _convolved(*_lead_of(whole, likely, skill, L), workers)
    middle = len(ahead) // 2
    level, above = float(ahead[middle]), float(ahead[middle + 1 :].sum())
    pair = min(above + level, 1.0)
    if L == 2:
        low = above + level / 2
        return Exact(low, low, pair)
    twice = _convolved(*_lead_of(whole, likely, skill, L, wrong=2), workers)
    both = float(twice[len(twice) // 2 :].sum())
    low = max((L - 1) * above - (L - 1) * (L - 2) / 2 * both, 0.0)
    return Exact(low, min((L - 1) * pair, 1.0), pair)


def _convolved(values: FloatArray, chances: FloatArray, times: int) -> FloatArray:
    """Distribution of a sum of so many independent whole numbers, 0 in the middle.

    Nothing is subtracted, so that tiny probabilities keep their digits.
    """
    reach = int(np.abs(values).max())
    power = np.bincount((values + reach).astype(np.int64), chances, minlength=2 * reach + 1)
    total = np.ones(1)
    while times:
        if times % 2:
            total = np.convolve(total, power)
        times //= 2
        if times:
            power = np.convolve(power, power)
    return total


def exponents(skill: FloatArray, share: float, classes: int, controls: int) -> tuple[float, float]:
    """Rates at which bound and pair probability fall with m, for a mix of two kinds of workers.

    Returns
    -------
    bound, true
        2μ²/L² of exp(−2t²), with μ the mean lead (21) of a worker; and the rate of Cramér's
        theorem, −min over θ ≥ 0 of the mean of ln E exp(θξ).
    """
    from scipy.optimize import minimize_scalar

    mix = np.array([share, 1.0 - share])
    lead = float(mix @ informativeness(skill, classes)) / (classes - 1)
    if lead < LEAST_LEAN:
        return 0.0, 1.0
    sums = [_lead_of(*votes_of(w, classes, controls), w, classes) for w in skill.tolist()]

    def mean_log(theta: float) -> float:
        return sum(
            float(part * np.log(chance @ np.exp(theta * value)))
            for part, (value, chance) in zip(mix, sums, strict=True)
            if part > 0
        )

    best = minimize_scalar(mean_log, bounds=(0.0, 30.0), method="bounded")
    return 2.0 * lead**2 / classes**2, -float(best.fun)


def _lead_of(
    weight: FloatArray, likely: FloatArray, skill: float, classes: int, wrong: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Values and probabilities of ξ (19), what some wrong classes gain on the true one by a worker.

    Of several the true class's gain counts that many times.
    """
    chance = (1.0 - skill) / (classes - 1)
    return (
        np.concatenate([weight, -wrong * weight, [0.0]]),
        np.concatenate([likely * wrong * chance, likely * skill, [chance * (classes - 1 - wrong)]]),
    )


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _written(skill: FloatArray) -> str:
    return ", ".join(f"{probability:.4f}" for probability in skill)


# What the trials say.

SETTING = ["search", "classes", "controls", "workers"]
OTHERS = ["log_ratio_supported", "log_ratio_pair", "log_ratio_pair_supported"]
"""Logarithms of further ratios, of which the table has the highest."""
LIMIT = [
    "classes",
    "controls",
    "skills",
    "share",
    "exponent_bound",
    "exponent_true",
    "exponent_ratio",
]


def analyse(trials: pd.DataFrame) -> Analysis:
    """Climbs of crowds of some size, and the limit of many workers."""
    parts = [Analysis((ended(trials),))]
    climbs, limit = measured(trials, "log_bound"), measured(trials, "exponent_ratio")
    if len(climbs):
        parts.append(about_climbs(climbs))
    if len(limit):
        parts.append(about_limit(limit))
    return joined(parts)


def about_climbs(rows: pd.DataFrame) -> Analysis:
    """The largest ratios of error to bound."""
    table = worst(rows)
    findings = [
        text
        for two, settings in table.groupby(table["classes"] == 2)
        for text in largest("Two classes" if two else "More than two classes", settings)
    ]
    chart = Chart(
        "ratio",
        "Largest ratio found of the error of equal workers (a lower bound of it) to Theorem 1's "
        "bound as printed, skills estimated from one control question each. Above 1 the theorem "
        "is broken.",
        equal_workers(table),
        x="workers",
        y="ratio",
        x_label="workers",
        y_label="error / bound as printed",
        series="series",
        log_x=True,
        log_y=True,
        references=((1.0, "bound"),),
    )
    caption = "Largest ratio of error to Theorem 1's bound that was found (logarithms)"
    return Analysis(tuple(findings), {caption: table}, nonempty(chart))


def worst(rows: pd.DataFrame) -> pd.DataFrame:
    """Of each setting the climb to the highest ratio, beside the highest other ratios."""
    groups = rows.groupby(SETTING)
    rows = rows.sort_values("log_ratio", na_position="first", kind="stable")
    best = rows.groupby(SETTING).tail(1).set_index(SETTING).sort_index()
    best = best.assign(**groups[OTHERS].max(), trials=groups.size())
    columns = ["skills", "log_error_low", "log_error_high", "log_bound", "log_ratio"]
    return best.reset_index()[[*SETTING, *columns, *OTHERS, "trials"]]


def largest(kind: str, settings: pd.DataFrame) -> list[str]:
    """How far errors go beyond the bound, and the smallest crowd that is beyond it."""
    logarithms = settings[["log_ratio", "log_bound"]].astype(float)
    ratios = settings.assign(
        times=np.exp(logarithms["log_ratio"]), bound=np.exp(logarithms["log_bound"])
    ).dropna(subset="times")
    if ratios.empty:
        return []
    most = ratios.nlargest(1, "times").iloc[0]
    over = ratios[ratios["log_ratio"] > 0]
    supported = math.exp(settings["log_ratio_supported"].max())
    return [
        f"{kind}: the largest error found is {most['times']:.3g} times the bound as printed "
        f"({_place(most)}), and {supported:.3g} times the bound that the proof supports; "
        f"{len(over)} of {len(settings)} settings are above the printed one.",
        *(
            f"The smallest crowd is {_place(least)}: {least['times']:.3g} times a bound of "
            f"{least['bound']:.1e}."
            for _, least in over.nsmallest(1, "workers").iterrows()
        ),
    ]


def _place(row: pd.Series[Any]) -> str:
    return (
        f"L = {row['classes']}, {row['workers']} workers of skill {row['skills']}, "
        f"{row['controls']} control questions"
    )


def equal_workers(table: pd.DataFrame) -> pd.DataFrame:
    """Ratios for many equal workers and one control question each."""
    table = table[(table["search"] == "many") & (table["controls"] == 1)]
    table = table.assign(
        series="L = " + table["classes"].astype(str),
        ratio=np.exp(table["log_ratio"].astype(float)),
    )
    return table.sort_values(["classes", "workers"], kind="stable")


def about_limit(rows: pd.DataFrame) -> Analysis:
    """The largest ratio of exponents at each setting: what happens as the crowd grows."""
    most = rows.groupby(["classes", "controls"])["exponent_ratio"].idxmax()
    table = rows.loc[most, LIMIT].reset_index(drop=True)
    over = table["exponent_ratio"] > 1 + EXPONENTS_APART
    faster = [
        f"{row.exponent_ratio:.3f} (L = {row.classes}, {row.controls} control questions)"
        for row in records(table[over])
    ]
    finding = (
        "As the crowd grows the bound falls faster than the error where its exponent over the true "
        f"one is {', '.join(faster) or 'above 1: nowhere'}; elsewhere that is at most "
        f"{table['exponent_ratio'][~over].max():.3f}."
    )
    caption = "Largest ratio of the bound's exponent to the true one, many workers"
    return Analysis((finding,), {caption: table})


STUDY = Study(
    name="selection-bound",
    title="A hunt for votes beyond Theorem 1's bound",
    source="Li, Liu (2015), Theorem 1",
    parameters={
        "search": Parameter(str, "few", "where the hunt goes", choices=SEARCHES),
        "classes": Parameter(int, 3, "L", least=2, most=10),
        "controls": Parameter(
            int, 1, "control questions behind each ŵ; 0: skills are known", least=0, most=20
        ),
        "workers": Parameter(int, 3, "workers (not for exponents)", least=1, most=2000),
    },
    sizes={
        "smoke": Size(
            (
                {"search": ["few"], "classes": [2, 3], "controls": [0, 1], "workers": [2]},
                {"search": ["many"], "classes": [2, 5], "controls": [0, 1], "workers": [20, 100]},
                {"search": ["exponents"], "classes": [2, 5], "controls": [0, 1]},
            ),
            1,
        ),
        "small": Size(
            (
                {"search": ["few"], "classes": [2, 3, 4], "controls": [0, 1, 2], "workers": [2, 3]},
                {
                    "search": ["many"],
                    "classes": [2, 3, 5],
                    "controls": [0, 1, 2],
                    "workers": [20, 100],
                },
                {"search": ["exponents"], "classes": [2, 3, 5], "controls": [0, 1, 2]},
            ),
            5,
        ),
        "paper": Size(
            (
                {
                    "search": ["few"],
                    "classes": [2, 3, 4, 5],
                    "controls": [0, 1, 2],
                    "workers": [2, 3],
                },
                {"search": ["few"], "classes": [2, 3, 4], "controls": [0, 1], "workers": [4]},
                {
                    "search": ["many"],
                    "classes": [2, 3, 4, 5, 8],
                    "controls": [0, 1],
                    "workers": [20, 50, 100, 200, 400],
                },
                {
                    "search": ["many"],
                    "classes": [2, 3, 4, 5, 8],
                    "controls": [2],
                    "workers": [20, 50, 100],
                },
                {"search": ["exponents"], "classes": [2, 3, 4, 5, 8], "controls": [0, 1, 2, 3, 10]},
            ),
            10,
        ),
    },
    trial=trial,
    analyse=analyse,
    volatile=("skills",),  # where a climb ends: its last digits hang on the processor
)

# What the paper claims.

ROUNDING = 1e-9
"""Rounding allowed where logarithms, or an error and a bound, are compared."""


def hunted(climbs: pd.DataFrame, *, two: bool) -> pd.DataFrame:
    """Climbs of crowds of some size, with two classes or with more.

    Raises
    ------
    NotMeasured
        There are fewer than 20.
    """
    rows = climbs[((climbs["classes"] == 2) == two) & (climbs["search"] != "exponents")]
    return enough(rows, 20, "climbs towards a violation")


def simulated_above(crowds: pd.DataFrame, *, two: bool) -> tuple[int, int]:
    """Crowds whose simulated error is above the bound by 4 standard errors, of how many."""
    crowds = crowds[(crowds["classes"] == 2) == two]
    doubt = 4 * np.sqrt(crowds["error"] * (1 - crowds["error"]) / crowds["votes"])
    above = crowds["error"] - doubt > crowds["bound_printed"] + ROUNDING
    return int(above.sum()), len(crowds)


@claim(
    id="selection-theorem-1-two-classes",
    source="Theorem 1",
    statement="With two classes, weights 2ŵ − 1 and unbiased, independent ŵ, the vote of a set S "
    "is wrong with probability at most exp(−F(S)²/2), where F(S) = Σ(2w − 1)²/√|S|.",
    studies=("selection-bound", "selection-scores"),
)
def theorem_1_two_classes(climbs: pd.DataFrame, crowds: pd.DataFrame) -> Ruling:
    """The hunt's largest ratio with two classes, and simulated errors."""
    rows = hunted(climbs, two=True)
    over, simulations = simulated_above(crowds, two=True)
    figures = (
        f"{len(rows)} searches for the largest ratio of error to bound, 2 to "
        f"{rows['workers'].max()} workers: the "
        f"error is at most {math.exp(rows['log_ratio'].max()):.3g} of the bound. The proof's step "
        f"for a pair is at most {math.exp(rows['log_ratio_pair'].max()):.3g} of its own (known "
        f"skills or 1 to {rows['controls'].max()} control questions, errors exact). Simulated, "
        f"{over} of {simulations} crowds err more often than the bound."
    )
    broken = (rows[["log_ratio", "log_ratio_pair"]] > ROUNDING).any(axis=None)
    return Ruling.refuted(figures) if broken or over else Ruling.holds(figures)


@claim(
    id="selection-theorem-1-more-classes",
    source="Theorem 1",
    statement="With L > 2 classes the vote of a set S is wrong with probability at most "
    "exp(−2F(S)²/(L²(L−1)²) + ln(L−1)), where F(S) = Σ(Lw − 1)²/√|S|.",
    studies=("selection-bound", "selection-scores"),
)
def theorem_1_more_classes(climbs: pd.DataFrame, crowds: pd.DataFrame) -> Ruling:
    """The hunt's violations with more classes, of the printed bound and of the supported one."""
    rows = hunted(climbs, two=False)
    over, simulations = simulated_above(crowds, two=False)
    broken = rows[rows["log_ratio"] > ROUNDING]
    limit = climbs[(climbs["classes"] > 2) & (climbs["search"] == "exponents")]
    above = int((rows["log_ratio_supported"] > ROUNDING).sum())
    figures = (
        f"{len(rows)} searches with L = {listed(np.sort(rows['classes'].unique()))}: {len(broken)} "
        "end at an error above the printed bound, by up to "
        f"{math.exp(rows['log_ratio'].max()):.3g} times.{smallest_violation(broken)}"
        f"{fastest_fall(limit)} The proof bounds ξ by −1 and L − 1, but it ranges from −(L − 1) to "
        "L − 1; with that range the bound is (L − 1) exp(−F²/(2(L − 1)⁴)): "
        f"{above} climbs exceed it, the error is at most "
        f"{math.exp(rows['log_ratio_supported'].max()):.3g} of it. Simulated, {over} of "
        f"{simulations} crowds exceed the bound as printed."
    )
    faster = (limit["exponent_ratio"] > 1 + EXPONENTS_APART).any()
    return Ruling.refuted(figures) if len(broken) or over or faster else Ruling.holds(figures)


def smallest_violation(broken: pd.DataFrame) -> str:
    """Of climbs above the bound the one with fewest workers, for a sentence."""
    if broken.empty:
        return ""
    least = broken.sort_values(["workers", "log_ratio"]).iloc[0]
    every = " or ".join(questions(int(n)) for n in sorted(broken["controls"].unique()))
    return (
        f" Fewest workers: {least['workers']}, all right with {least['skills']}, "
        f"L = {least['classes']}, each ŵ from {questions(int(least['controls']))}: error at least "
        f"{math.exp(least['log_error_low']):.2e}, bound {math.exp(least['log_bound']):.2e}. All "
        f"such ŵ are from {every}."
    )


def fastest_fall(limit: pd.DataFrame) -> str:
    """Where the bound falls fastest beside the error as the crowd grows, for a sentence."""
    if limit.empty:
        return ""
    top = limit.sort_values("exponent_ratio").iloc[-1]
    more = limit.loc[limit["controls"] != 1, "exponent_ratio"]
    others = f", and without single questions {more.max():.3f}" if len(more) else ""
    return (
        " As the crowd grows the bound's exponent is up to "
        f"{top['exponent_ratio']:.3f} times the true one (L = {top['classes']}, "
        f"{questions(int(top['controls']))}){others}."
    )


def questions(controls: int) -> str:
    """Say how many control questions are behind each ŵ."""
    if not controls:
        return "known skills"
    return "one control question" if controls == 1 else f"{controls} control questions"
