"""The scores of sets of workers: bias, coverage, optimism, and Theorem 1's bound beside the error.

A trial draws one crowd and many sheets of control answers. For a set fixed beforehand it measures
the mean of F̂ (Lemma 2) and of F̂_plug (remark ii) less F, and how often Theorem 3's interval holds
F. The same for the set that Algorithm 1, or the plug-in rule, chooses by the same answers: of two
workers who are equally good it takes the one who was lucky, so that her score is too high. Last,
the error of the fixed set's vote over control answers and labels, beside Theorem 1's bound as
printed and as its proof supports it.

- `crowd`: `mixed` Beta(2.3, 2); `guessers` all right with 1/L, where every score above 0 is luck.

Source: Li, Liu (2015), Theorem 1, Lemma 2 and its remarks, Theorem 3.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from workbench.base import BoolArray, FloatArray, IntArray, stream
from workbench.selection import (
    algorithm_1,
    error_bound,
    informativeness,
    interval,
    scores,
    set_score,
)
from workbench.studies import (
    BEYOND,
    Analysis,
    Block,
    Chart,
    NotMeasured,
    Parameter,
    Params,
    Record,
    Ruling,
    Size,
    Streams,
    Study,
    along,
    beyond_chance,
    chance_reaches,
    claim,
    ended,
    mean_se,
    measured,
    percent,
    plus_minus,
    signed,
)

CROWDS = ("mixed", "guessers")
CONFIDENCES = {"95": 0.95, "50": 0.5}
"""Of the intervals, 1 − 2 exp(−2α²), by the end of their fields' names."""
CHOICES = 100
"""Sheets of control answers by which sets are chosen in one trial."""
VOTES = 5000
"""Items voted on in one trial, each by newly estimated weights."""


def trial(params: Params, streams: Streams) -> Record:
    """Measure a fixed set of one crowd, and the sets that rules choose from it."""
    L, n, m, K = (int(params[name]) for name in ("classes", "controls", "workers", "budget"))
    rng = stream(streams.instance, "crowd")
    skill: FloatArray = rng.beta(2.3, 2.0, m) if params["crowd"] == "mixed" else np.full(m, 1 / L)
    sheets = stream(streams.instance, "controls").binomial(n, skill, (int(params["sheets"]), m))
    pool = scores(sheets.ravel(), np.full(sheets.size, n), L)
    gain, plug_in = pool.gain.reshape(sheets.shape), pool.plug_in.reshape(sheets.shape)
    worth = informativeness(skill, L)
    reach = {name: _half_width(n, L, value) for name, value in CONFIDENCES.items()}
    # Workers are in random order, so that the first are any.
    fixed, true = skill[:K], set_score(worth[:K])
    off, plug_in_off = (score[:, :K].sum(axis=1) / math.sqrt(K) - true for score in (gain, plug_in))
    chosen_off, chosen_plug_in_off = (
        np.array([_optimism(score, worth, K, streams) for score in sheet_scores[:CHOICES]])
        for sheet_scores in (gain, plug_in)
    )
    return {
        "sheets_drawn": len(sheets),
        "score": true,
        "bias": float(off.mean()),
        "plug_in_bias": float(plug_in_off.mean()),
        **{f"missed_{name}": int((np.abs(off) > far).sum()) for name, far in reach.items()},
        "plug_in_bias_promised": _promised_bias(fixed, n, L),
        "choices": len(chosen_off),
        "optimism": float(chosen_off.mean()),
        "plug_in_optimism": float(chosen_plug_in_off.mean()),
        **{
            f"missed_chosen_{name}": int((np.abs(chosen_off) > far).sum())
            for name, far in reach.items()
        },
        **{f"half_width_{name}": value for name, value in reach.items()},
        **_votes(fixed, n, L, streams),
    }


def _half_width(controls: int, classes: int, confidence: float) -> float:
    """Half the length of Theorem 3's interval: with one n it is the same for every set."""
    worker = scores([controls], [controls], classes)
    low, high = interval(worker, np.zeros(1, dtype=np.int64), confidence=confidence)
    return (high - low) / 2


def _promised_bias(skill: FloatArray, controls: int, classes: int) -> float:
    """Σ L² w(1 − w)/n / √|S|, what the plug-in is said to add (supplement, Lemma 2)."""
    return set_score(classes**2 * skill * (1 - skill) / controls)


def _optimism(value: FloatArray, worth: FloatArray, budget: int, streams: Streams) -> float:
    """Score of the set that Algorithm 1 chooses minus the set's true score."""
    selection = algorithm_1(value, budget, seed=streams.method("ties"))
    assert selection.score is not None
    return selection.score - set_score(worth[selection.chosen])


def _votes(skill: FloatArray, controls: int, classes: int, streams: Streams) -> Record:
    """Error of the vote, by simulation of answers and labels together.

    Without loss of generality the true class is 0.
    """
    rng, shape = stream(streams.instance, "votes"), (VOTES, len(skill))
    weight = classes * rng.binomial(controls, skill, shape) / controls - 1.0
    right = rng.random(shape) < skill
    label = np.where(right, 0, rng.integers(1, classes, shape))
    score = set_score(informativeness(skill, classes))
    return {
        "votes": VOTES,
        "error": float(1 - _right(weight, label, classes).mean()),
        "bound_printed": error_bound(score, classes, variant="printed"),
        "bound_supported": error_bound(score, classes, variant="supported"),
    }


def _right(weight: FloatArray, label: IntArray, classes: int) -> FloatArray:
    """Chance, under fair ties, that class 0 wins each vote; both (votes, workers)."""
    sums = np.stack([np.where(label == k, weight, 0.0).sum(axis=1) for k in range(classes)])
    slack = 1e-9 * np.abs(weight).sum(axis=1)
    winners: BoolArray = sums >= sums.max(axis=0) - slack
    right: FloatArray = winners[0] / winners.sum(axis=0)
    return right


# What the trials say.

SETTING = ["crowd", "classes", "controls", "workers", "budget"]
BIASES = {
    "F̂, set fixed beforehand": "bias",
    "F̂_plug, set fixed beforehand": "plug_in_bias",
    "F̂, set chosen by the same answers": "optimism",
}
"""Measures in the chart."""


def analyse(trials: pd.DataFrame) -> Analysis:
    """Bias of fixed sets, misses of the interval, optimism of chosen sets, errors beside bounds."""
    rows = measured(trials, "bias")
    if rows.empty:
        return Analysis((ended(trials),))
    table = by_setting(rows)
    worst = table.nlargest(1, "missed_chosen_95").iloc[0]
    optimism = table["optimism"]
    findings = (
        ended(trials),
        f"Fixed sets: F̂ − F is {signed(*mean_se(rows['bias']), 4)} on average, F̂_plug − F is "
        f"{plus_minus(*mean_se(rows['plug_in_bias']), 4)} "
        f"({rows['plug_in_bias_promised'].mean():.4f} expected); Theorem 3's 95 % interval misses "
        f"F in at most {percent(table['missed_95'].max(), 2)} of the sheets of any setting, the "
        f"50 % interval in {percent(table['missed_50'].max(), 2)}.",
        f"Sets chosen by the same answers: F̂ is too high by {optimism.min():.3f} to "
        f"{optimism.max():.3f}, by setting (F̂_plug by {table['plug_in_optimism'].min():.3f} to "
        f"{table['plug_in_optimism'].max():.3f}).",
        f"The 95 % interval misses F of a chosen set in up to "
        f"{percent(worst['missed_chosen_95'])} ({worst['crowd']}, L = {worst['classes']}, "
        f"m = {worst['workers']}, n = {worst['controls']}, K = {worst['budget']}).",
        f"The error is at most {(rows['error'] / rows['bound_printed']).max():.3g} of Theorem 1's "
        "bound as printed.",
    )
    caption = "Scores: bias, misses of the interval, optimism; error beside Theorem 1's bound"
    return Analysis(findings, {caption: table}, (bias_chart(table),))


def by_setting(rows: pd.DataFrame) -> pd.DataFrame:
    """Means by setting; of misses, shares of the sheets."""
    shares = {
        f"{missed}_{name}": (rows[f"{missed}_{name}"] / rows[sheets]).astype(float)
        for name in CONFIDENCES
        for missed, sheets in (("missed", "sheets_drawn"), ("missed_chosen", "choices"))
    }
    groups = rows.assign(**shares).groupby(SETTING)
    table = groups.agg(
        crowds=("bias", "size"),
        score=("score", "mean"),
        bias=("bias", "mean"),
        bias_se=("bias", "sem"),
        plug_in_bias=("plug_in_bias", "mean"),
        plug_in_bias_se=("plug_in_bias", "sem"),
        promised=("plug_in_bias_promised", "mean"),
        optimism=("optimism", "mean"),
        optimism_se=("optimism", "sem"),
        plug_in_optimism=("plug_in_optimism", "mean"),
        half_width_95=("half_width_95", "mean"),
        error=("error", "mean"),
        bound_printed=("bound_printed", "mean"),
        bound_supported=("bound_supported", "mean"),
        missed_95=("missed_95", "mean"),
        missed_chosen_95=("missed_chosen_95", "mean"),
        missed_50=("missed_50", "mean"),
        missed_chosen_50=("missed_chosen_50", "mean"),
    )
    return table.reset_index()


def bias_chart(table: pd.DataFrame) -> Chart:
    """Draw the means as shares of the interval's half-width, which makes L comparable."""
    table = table[table["budget"] == table["budget"].min()]
    table = table[table["workers"] == table.groupby("crowd")["workers"].transform("max")]
    table = table.sort_values("crowd", ascending=False, kind="stable")
    marks = pd.concat(
        table.assign(
            series=series,
            share=table[name] / table["half_width_95"],
            low=(table[name] - 2 * table[f"{name}_se"]) / table["half_width_95"],
            high=(table[name] + 2 * table[f"{name}_se"]) / table["half_width_95"],
        )
        for series, name in BIASES.items()
    )
    workers, controls = marks["workers"].astype(str), marks["controls"].astype(str)
    return Chart(
        "bias",
        "How far a score is above the true F on average, as a share of the half-width of Theorem "
        f"3's 95 % interval: of {table['budget'].min()} workers fixed beforehand, and of at most "
        f"as many chosen by the same control answers; {table['crowds'].min()} crowds. Bars are ± 2 "
        "standard errors.",
        marks.assign(panel=marks["crowd"] + ", m = " + workers + ", n = " + controls),
        x="classes",
        y="share",
        x_label="classes, L",
        y_label="(score less F) / half-width",
        series="series",
        panel="panel",
        low="low",
        high="high",
        references=((0.0, "unbiased"), (1.0, "half-width of the interval")),
    )


_MIXED: Block = {"crowd": ["mixed"], "classes": [2, 3, 4, 5]}

STUDY = Study(
    name="selection-scores",
    title="Scores of sets of workers",
    source="Li, Liu (2015), Theorems 1 and 3, Lemma 2",
    parameters={
        "crowd": Parameter(str, "mixed", "skills from Beta(2.3, 2), or all 1/L", choices=CROWDS),
        "classes": Parameter(int, 2, "L", least=2, most=10),
        "controls": Parameter(int, 10, "n, control questions a worker", least=2, most=1000),
        "workers": Parameter(int, 31, "m", least=1, most=2000),
        "budget": Parameter(
            int, 20, "size of the fixed set, and most workers of a chosen one", least=1, most=2000
        ),
        "sheets": Parameter(int, 1000, "sheets of control answers", least=1, most=100_000),
    },
    sizes={
        "smoke": Size(
            (
                {**_MIXED, "classes": [2, 4], "sheets": [100]},
                {"crowd": ["guessers"], "workers": [300], "sheets": [100]},
            ),
            2,
        ),
        "small": Size((_MIXED, {"crowd": ["guessers"], "workers": [31, 300]}), 10),
        "paper": Size(
            (
                _MIXED,
                {**_MIXED, "controls": [3]},
                {"crowd": ["guessers"], "classes": [2, 4], "workers": [31, 300], "budget": [20]},
                {"crowd": ["guessers"], "classes": [2], "workers": [300], "budget": [100]},
            ),
            100,
        ),
    },
    trial=trial,
    analyse=analyse,
)

# What the paper claims.

CROWDS_NEEDED = 20
"""Least number of crowds for a setting's mean to be looked at."""


def settings_off(rows: pd.DataFrame, off: pd.Series[float]) -> tuple[int, int, float]:
    """Settings whose mean of `off` is not 0 but for chance, of how many, and the largest |z|.

    Raises
    ------
    NotMeasured
        No setting has enough crowds.
    """
    points = rows.assign(_off=off).groupby(SETTING)["_off"].agg(["mean", "sem", "size"])
    points = points[points["size"] >= CROWDS_NEEDED]
    if points.empty:
        raise NotMeasured(f"no setting has {CROWDS_NEEDED} crowds")
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (points["mean"].abs() / points["sem"]).fillna(0.0)
    return int((z > chance_reaches(len(points))).sum()), len(points), float(z.max())


@claim(
    id="selection-lemma-2",
    source="Lemma 2",
    statement="F̂(S) = Σ((Lŵ − 1)² − L² var̂(ŵ))/√|S| is an unbiased estimate of F(S).",
)
def lemma_2(trials: pd.DataFrame) -> Ruling:
    """Mean of F̂ − F of fixed sets, setting by setting."""
    over, points, z = settings_off(trials, trials["bias"])
    figures = (
        f"{trials['sheets_drawn'].sum():,} sheets of control answers from {len(trials):,} crowds: "
        f"the mean of F̂ − F is {signed(*mean_se(trials['bias']), 4)}; by setting it differs from "
        f"0 by up to {z:.1f} standard errors, beyond chance in {over} of {points} settings."
    )
    return Ruling.refuted(figures) if over else Ruling.holds(figures)


@claim(
    id="selection-plug-in-bias",
    source="Section 3, remark (ii)",
    statement="F̂_plug leaves out the variance in F̂, and is biased by Σ L² var(ŵ)/√|S|.",
)
def plug_in_bias(trials: pd.DataFrame) -> Ruling:
    """Mean of F̂_plug − F of fixed sets, beside Σ L² var(ŵ) / √|S|."""
    promised = trials["plug_in_bias_promised"]
    over, points, z = settings_off(trials, trials["plug_in_bias"] - promised)
    mean, se = mean_se(trials["plug_in_bias"])
    figures = (
        f"F̂_plug − F is {plus_minus(mean, se)} on average, where Σ L² var(ŵ)/√|S| is "
        f"{promised.mean():.3f}; by setting they differ by up to {z:.1f} standard errors, beyond "
        f"chance in {over} of {points} settings."
    )
    if over or mean < -BEYOND * se:
        return Ruling.refuted(figures)
    return Ruling.inconclusive(figures) if mean <= BEYOND * se else Ruling.holds(figures)


@claim(
    id="selection-theorem-3",
    source="Theorem 3",
    statement="The interval F̂(S) ± α n(L−1)²/(n−1) covers F(S) with probability at least "
    "1 − 2 exp(−2α²).",
)
def theorem_3(trials: pd.DataFrame) -> Ruling:
    """Misses of the interval: sets fixed beforehand, and sets chosen by the same answers."""
    counts = ["missed_95", "missed_50", "sheets_drawn", "missed_chosen_95", "choices"]
    sums = trials.groupby(SETTING)[counts].sum()
    points = len(sums)

    def failing(missed: str, sheets: str, delta: float, looks: int) -> int:
        pairs = zip(sums[missed].astype(int), sums[sheets].astype(int), strict=True)
        return sum(beyond_chance(count, drawn, delta, looks=looks) for count, drawn in pairs)

    figures = (
        f"Sets fixed beforehand, {points} settings: the 95 % interval misses F in at most "
        f"{percent((sums['missed_95'] / sums['sheets_drawn']).max(), 2)} of the sheets, the 50 % "
        f"interval in {percent((sums['missed_50'] / sums['sheets_drawn']).max(), 2)}."
    )
    fixed_95 = failing("missed_95", "sheets_drawn", 0.05, 2 * points)
    if fixed_95 or failing("missed_50", "sheets_drawn", 0.5, 2 * points):
        return Ruling.refuted(figures)
    chosen = failing("missed_chosen_95", "choices", 0.05, points)
    if not chosen:
        return Ruling.holds(figures)
    sums["share"] = sums["missed_chosen_95"] / sums["choices"]
    worst = sums.reset_index().sort_values("share").iloc[-1]
    here = trials[(trials[SETTING] == worst[SETTING]).all(axis=1)]
    return Ruling.holds_as_corrected(
        f"{figures} Not so for the set that Algorithm 1 chooses by the same answers: the 95 % "
        f"interval misses its F in more than 5 % of the choices in {chosen} settings, most often, "
        f"in {percent(worst['share'])}, with n = {worst['controls']}, m = {worst['workers']}, K = "
        f"{worst['budget']}, L = {worst['classes']} ({worst['crowd']}), where F̂ is too high by "
        f"{here['optimism'].mean():.2f} on average; in the paper's simulated setting it is too "
        f"high by {optimism_in_the_paper(trials)}."
    )


def optimism_in_the_paper(rows: pd.DataFrame) -> str:
    """Mean optimism in the paper's simulated setting, for a sentence."""
    paper = {"crowd": "mixed", "workers": 31, "controls": 10, "classes": 2}
    optimism = along(rows, paper)["optimism"]
    return f"{optimism.mean():.2f}" if len(optimism) else "an amount not measured"
