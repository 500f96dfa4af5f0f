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
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.base.arrays import FloatArray
from workbench.selection.scores import informativeness, set_score
from workbench.studies.measures import DeclaredAnalysis, Drawn, Part, fill, sentences
from workbench.studies.study import Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams

SEARCHES = ("few", "many", "exponents")
STARTS = 40
"""Random places of which the highest is where a climb starts."""
SURE = 0.9
"""Skill of all workers at which the bound says something in every sweep: one more start."""
STEPS = 240
"""Evaluations that a climb may take."""
SAYS_SOMETHING = math.log(0.9)
"""Logarithm of the bound above which the hunt does not look: guessing alone errs as often."""
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
        **{name: one if math.isfinite(one) else None for name, one in numbers.items()},
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
    found: FloatArray = np.clip(best.x, 0.0, 1.0)
    return found


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
        told = np.concatenate([[w], np.full(L - 1, (1.0 - w) / (L - 1))])  # class 0 is true
        given = weight[:, None, None] * np.eye(L)
        sums = (sums[:, None, None] + given).reshape(-1, L)
        chance = np.multiply.outer(chance, np.multiply.outer(likely, told)).ravel()
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
    told = (1.0 - skill) / (classes - 1)
    return (
        np.concatenate([weight, -wrong * weight, [0.0]]),
        np.concatenate([likely * wrong * told, likely * skill, [told * (classes - 1 - wrong)]]),
    )


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _written(skill: FloatArray) -> str:
    return ", ".join(f"{one:.4f}" for one in skill)


KEYS = ["search", "classes", "controls", "workers"]
OTHERS = ["log_ratio_supported", "log_ratio_pair", "log_ratio_pair_supported"]
LIMIT = [
    "classes",
    "controls",
    "skills",
    "share",
    "exponent_bound",
    "exponent_true",
    "exponent_ratio",
]
PLACE = "L = {classes}, {workers} workers of skill {skills}, {controls} control questions"


def worst(rows: pd.DataFrame) -> pd.DataFrame:
    """Of each setting the climb to the highest ratio, beside the highest other ratios."""
    groups = rows.groupby(KEYS)
    best = rows.sort_values("log_ratio", na_position="first", kind="stable").groupby(KEYS).tail(1)
    best = best.set_index(KEYS).sort_index().assign(**groups[OTHERS].max(), trials=groups.size())
    columns = ["skills", "log_error_low", "log_error_high", "log_bound", "log_ratio"]
    return best.reset_index()[[*KEYS, *columns, *OTHERS, "trials"]]


def largest(_: pd.DataFrame, found: pd.DataFrame) -> list[str]:
    """How far errors go, for two classes and for more, and the smallest crowd beyond the bound."""
    said = []
    for two, rows in found.groupby(found["classes"] == 2):
        times = rows.assign(times=np.exp(rows["log_ratio"].astype(float))).dropna(subset="times")
        if times.empty:
            continue
        most = times.nlargest(1, "times").iloc[0]
        numbers = {
            "kind": "Two classes" if two else "More than two classes",
            "supported": math.exp(rows["log_ratio_supported"].max()),
            "over": int((rows["log_ratio"] > 0).sum()),
            "settings": len(rows),
            **most,
        }
        said.append(
            fill(
                "{kind}: the largest error found is {times:.3g} times the bound as printed "
                f"({PLACE}), and {{supported:.3g}} times the bound that the proof supports; "
                "{over} of {settings} settings are above the printed one.",
                numbers,
            )
        )
        least = times[times["log_ratio"] > 0].nsmallest(1, "workers")
        said += sentences(
            f"The smallest crowd is {PLACE}: {{times:.3g}} times a bound of {{bound:.1e}}.",
            least.assign(bound=np.exp(least["log_bound"].astype(float))),
        )
    return said


def limits(rows: pd.DataFrame) -> pd.DataFrame:
    """The largest ratio of exponents at each setting."""
    most = rows.groupby(["classes", "controls"])["exponent_ratio"].idxmax()
    return rows.loc[most, LIMIT].reset_index(drop=True)


def faster(_: pd.DataFrame, most: pd.DataFrame) -> list[str]:
    """What becomes of bound and error as the crowd grows."""
    over = most["exponent_ratio"] > 1 + 1e-6
    broken = sentences(
        "{exponent_ratio:.3f} (L = {classes}, {controls} control questions)", most[over]
    )
    others = f"{most['exponent_ratio'][~over].max():.3f}"
    return [
        "As the crowd grows the bound falls faster than the error where its exponent over the true "
        f"one is {', '.join(broken) or 'above 1: nowhere'}; elsewhere that is at most {others}."
    ]


def equal_workers(rows: pd.DataFrame) -> pd.DataFrame:
    """Ratios for many equal workers and one control question each."""
    found = worst(rows)
    found = found[(found["search"] == "many") & (found["controls"] == 1)]
    return found.assign(
        series="L = " + found["classes"].astype(str),
        ratio=np.exp(found["log_ratio"].astype(float)),
    ).sort_values(["classes", "workers"], kind="stable")


def questions(controls: int) -> str:
    """Say how many control questions are behind each ŵ."""
    if not controls:
        return "known skills"
    return "one control question" if controls == 1 else f"{controls} control questions"


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
            2,
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
    analyse=DeclaredAnalysis(
        Part(
            "Largest ratio of error to Theorem 1's bound that was found (logarithms)",
            worst,
            (largest,),
            (
                Drawn(
                    "ratio",
                    "Largest ratio found of the error of equal workers (a lower bound of "
                    "it) to Theorem 1's bound as printed, skills estimated from one control "
                    "question each",
                    "workers",
                    "ratio",
                    ("workers", "error / bound as printed"),
                    {
                        "series": "series",
                        "log_x": True,
                        "log_y": True,
                        "references": ((1.0, "bound"),),
                    },
                    of=equal_workers,
                    note="Above 1 the theorem is broken.",
                ),
            ),
            needs="log_bound",
        ),
        Part(
            "Largest ratio of the bound's exponent to the true one, many workers",
            limits,
            (faster,),
            needs="exponent_ratio",
        ),
    ),
)
