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

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import stream
from workbench.selection.bounds import error_bound, interval
from workbench.selection.rules import algorithm_1
from workbench.selection.scores import informativeness, scores, set_score
from workbench.studies.measures import DeclaredAnalysis, Drawn, Each, Grouped, Part, means_of
from workbench.studies.study import Block, Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams

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
    known = scores(sheets.ravel(), np.full(sheets.size, n), L)
    gain, plug_in = known.gain.reshape(sheets.shape), known.plug_in.reshape(sheets.shape)
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
    one = scores([controls], [controls], classes)
    low, high = interval(one, np.zeros(1, dtype=np.int64), confidence=confidence)
    return (high - low) / 2


def _promised_bias(skill: FloatArray, controls: int, classes: int) -> float:
    """Σ L² w(1 − w)/n / √|S|, what the plug-in is said to add (supplement, Lemma 2)."""
    return set_score(classes**2 * skill * (1 - skill) / controls)


def _optimism(value: FloatArray, worth: FloatArray, budget: int, streams: Streams) -> float:
    """Score of the set that Algorithm 1 chooses less the set's true score."""
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


BY = ("crowd", "classes", "controls", "workers", "budget")
"""What makes a setting."""
TABLE = Grouped(
    BY,
    {
        "crowds": ("bias", "size"),
        "score": "mean",
        **means_of("bias", "plug_in_bias"),
        "promised": ("plug_in_bias_promised", "mean"),
        **means_of("optimism"),
        **dict.fromkeys(
            (
                "plug_in_optimism",
                "half_width_95",
                "error",
                "bound_printed",
                "bound_supported",
                "missed_95",
                "missed_chosen_95",
                "missed_50",
                "missed_chosen_50",
            ),
            "mean",
        ),
    },
)
"""Means by setting; of misses, shares of the sheets."""
BIASES = {
    "F̂, set fixed beforehand": "bias",
    "F̂_plug, set fixed beforehand": "plug_in_bias",
    "F̂, set chosen by the same answers": "optimism",
}
"""Measures in the chart."""
SHARES = {
    f"{missed}_{name}": lambda rows, missed=f"{missed}_{name}", base=base: (
        rows[missed] / rows[base]
    ).astype(float)
    for name in CONFIDENCES
    for missed, base in (("missed", "sheets_drawn"), ("missed_chosen", "choices"))
}
"""Misses as shares of the sheets."""


def drawn(rows: pd.DataFrame) -> pd.DataFrame:
    """Means as shares of the interval's half-width, which makes numbers of classes comparable."""
    found = TABLE(rows)
    found = found[found["budget"] == found["budget"].min()]
    largest = found.groupby("crowd")["workers"].transform("max")
    found = found[found["workers"] == largest]
    found = found.sort_values("crowd", ascending=False, kind="stable")
    every: pd.DataFrame = pd.concat(
        found.assign(value=found[name], se=found[f"{name}_se"], series=series)
        for series, name in BIASES.items()
    )
    half, value, doubt = every["half_width_95"], every["value"], 2 * every["se"]
    of_m, of_n = every["workers"].astype(str), every["controls"].astype(str)
    return every.assign(
        share=value / half,
        low=(value - doubt) / half,
        high=(value + doubt) / half,
        panel=every["crowd"] + ", m = " + of_m + ", n = " + of_n,
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
    analyse=DeclaredAnalysis(
        Part(
            "Scores: bias, misses of the interval, optimism; error beside Theorem 1's bound",
            TABLE,
            (
                "Fixed sets: F̂ − F is {bias.mean:+.4f} on average (standard error {bias.sem:.4f}), "
                "F̂_plug − F is {plug_in_bias.mean:.4f} ({plug_in_bias.sem:.4f}; "
                "{plug_in_bias_promised.mean:.4f} expected); Theorem 3's 95 % interval misses F in "
                "at most {found.missed_95.max:2 %} of the sheets of any setting, the 50 % interval "
                "in {found.missed_50.max:2 %}.",
                "Sets chosen by the same answers: F̂ is too high by {found.optimism.min:.3f} to "
                "{found.optimism.max:.3f}, by setting (F̂_plug by {found.plug_in_optimism.min:.3f} to "
                "{found.plug_in_optimism.max:.3f}).",
                Each(
                    "The 95 % interval misses F of a chosen set in up to {missed_chosen_95:1 %} "
                    "({crowd}, L = {classes}, m = {workers}, n = {controls}, K = {budget}).",
                    of=lambda rows: TABLE(rows).nlargest(1, "missed_chosen_95"),
                ),
                "The error is at most {share.max:.3g} of Theorem 1's bound as printed.",
            ),
            (
                Drawn(
                    "bias",
                    "How far a score is above the true F on average, as a share of the "
                    "half-width of Theorem 3's 95 % interval: of {budget.min} workers fixed "
                    "beforehand, and of at most as many chosen by the same control answers; "
                    "{crowds.min} crowds",
                    "classes",
                    "share",
                    ("classes, L", "(score less F) / half-width"),
                    {
                        "series": "series",
                        "panel": "panel",
                        "low": "low",
                        "high": "high",
                        "references": ((0.0, "unbiased"), (1.0, "half-width of the interval")),
                    },
                    of=drawn,
                    note="Bars are ± 2 standard errors.",
                ),
            ),
        ),
        needs="bias",
        derived={**SHARES, "share": lambda rows: rows["error"] / rows["bound_printed"]},
    ),
)
