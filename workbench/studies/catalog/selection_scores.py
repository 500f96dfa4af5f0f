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
from collections.abc import Mapping

import numpy as np
import pandas as pd

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import stream
from workbench.selection.bounds import error_bound, interval
from workbench.selection.rules import algorithm_1
from workbench.selection.scores import informativeness, scores, set_score
from workbench.studies.measures import ended, measured, plus_minus
from workbench.studies.study import Analysis, Block, Chart, Parameter, Params, Record, Size, Study
from workbench.studies.summary import estimate
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
    L, n, m = (int(params[name]) for name in ("classes", "controls", "workers"))
    rng = stream(streams.instance, "crowd")
    skill: FloatArray = rng.beta(2.3, 2.0, m) if params["crowd"] == "mixed" else np.full(m, 1 / L)
    sheets = stream(streams.instance, "controls").binomial(n, skill, (int(params["sheets"]), m))
    known = scores(sheets.ravel(), np.full(sheets.size, n), L)
    gain, plug_in = known.gain.reshape(sheets.shape), known.plug_in.reshape(sheets.shape)
    worth = informativeness(skill, L)
    reach = {name: _half_width(n, L, value) for name, value in CONFIDENCES.items()}
    # Workers are in random order, so that the first are any.
    return {
        **_fixed(gain, plug_in, worth, int(params["budget"]), reach),
        "plug_in_bias_promised": _promised_bias(skill, n, L, int(params["budget"])),
        **_chosen(gain, plug_in, worth, int(params["budget"]), reach, streams),
        **{f"half_width_{name}": value for name, value in reach.items()},
        **_votes(skill, n, L, int(params["budget"]), streams),
    }


def _half_width(controls: int, classes: int, confidence: float) -> float:
    """Half the length of Theorem 3's interval: with one n it is the same for every set."""
    one = scores([controls], [controls], classes)
    low, high = interval(one, np.zeros(1, dtype=np.int64), confidence=confidence)
    return (high - low) / 2


def _fixed(
    gain: FloatArray,
    plug_in: FloatArray,
    worth: FloatArray,
    size: int,
    reach: Mapping[str, float],
) -> Record:
    """Of the first `size` workers: mean error of both scores, and misses of the interval."""
    true = set_score(worth[:size])
    off = gain[:, :size].sum(axis=1) / math.sqrt(size) - true
    return {
        "sheets_drawn": len(gain),
        "score": true,
        "bias": float(off.mean()),
        "plug_in_bias": float((plug_in[:, :size].sum(axis=1) / math.sqrt(size) - true).mean()),
        **{f"missed_{name}": int((np.abs(off) > far).sum()) for name, far in reach.items()},
    }


def _promised_bias(skill: FloatArray, controls: int, classes: int, size: int) -> float:
    """Σ L² w(1 − w)/n / √|S|, what the plug-in is said to add (supplement, Lemma 2)."""
    chosen = skill[:size]
    return set_score(classes**2 * chosen * (1 - chosen) / controls)


def _chosen(
    gain: FloatArray,
    plug_in: FloatArray,
    worth: FloatArray,
    budget: int,
    reach: Mapping[str, float],
    streams: Streams,
) -> Record:
    """Score of the chosen set less its true score, for both rules, and misses of the interval."""
    own = np.empty((2, min(CHOICES, len(gain))))
    for at in range(own.shape[1]):
        for rule, value in enumerate((gain[at], plug_in[at])):
            chosen = algorithm_1(value, budget, seed=streams.method("ties"))
            score = chosen.score
            assert score is not None
            own[rule, at] = score - set_score(worth[chosen.chosen])
    return {
        "choices": own.shape[1],
        "optimism": float(own[0].mean()),
        "plug_in_optimism": float(own[1].mean()),
        **{
            f"missed_chosen_{name}": int((np.abs(own[0]) > far).sum())
            for name, far in reach.items()
        },
    }


def _votes(skill: FloatArray, controls: int, classes: int, size: int, streams: Streams) -> Record:
    """Error of the first `size` workers' vote, by simulation of answers and labels together.

    Without loss of generality the true class is 0.
    """
    rng = stream(streams.instance, "votes")
    w = skill[:size]
    weight = classes * rng.binomial(controls, w, (VOTES, size)) / controls - 1.0
    right = rng.random((VOTES, size)) < w
    label = np.where(right, 0, rng.integers(1, classes, (VOTES, size)))
    score = set_score(informativeness(w, classes))
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


def analyse(table: pd.DataFrame) -> Analysis:
    """Bias of both scores, misses of the interval, optimism, and error beside the bound."""
    rows = measured(table, "bias")
    if rows.empty:
        return Analysis(findings=(ended(table),))
    keys = ["crowd", "classes", "controls", "workers", "budget"]
    found = rows.groupby(keys, as_index=False).agg(
        crowds=("bias", "size"), score=("score", "mean"), bias=("bias", "mean"),
        bias_se=("bias", "sem"), plug_in_bias=("plug_in_bias", "mean"),
        plug_in_bias_se=("plug_in_bias", "sem"), promised=("plug_in_bias_promised", "mean"),
        optimism=("optimism", "mean"), optimism_se=("optimism", "sem"),
        plug_in_optimism=("plug_in_optimism", "mean"),
        half_width_95=("half_width_95", "mean"), error=("error", "mean"),
        bound_printed=("bound_printed", "mean"), bound_supported=("bound_supported", "mean"),
    )  # fmt: skip
    for name in CONFIDENCES:
        for field, base in (
            (f"missed_{name}", "sheets_drawn"),
            (f"missed_chosen_{name}", "choices"),
        ):
            sums = rows.groupby(keys)[[field, base]].sum()
            found[field] = (sums[field] / sums[base]).to_numpy()
    return Analysis(
        findings=(ended(table), *_sentences(found, rows)),
        tables={
            "Scores: bias, misses of the interval, optimism; error beside Theorem 1's bound": found
        },
        charts=(_chart(found),),
    )


def _sentences(found: pd.DataFrame, rows: pd.DataFrame) -> list[str]:
    worst = max(found.to_dict("records"), key=lambda row: float(row["missed_chosen_95"]))
    share = (rows["error"] / rows["bound_printed"]).max()
    bias, plug_in = (estimate(rows[name].to_numpy(float)) for name in ("bias", "plug_in_bias"))
    return [
        f"Fixed sets: F̂ − F is {bias.mean:+.4f} ± {bias.se:.4f} on average, F̂_plug − F is "
        f"{plus_minus(plug_in.mean, plug_in.se, 4)} "
        f"({rows['plug_in_bias_promised'].mean():.4f} expected); Theorem 3's 95 % interval misses "
        f"F in at most {100 * found['missed_95'].max():.2f} % of the sheets of any setting, the "
        f"50 % interval in {100 * found['missed_50'].max():.2f} %.",
        f"Sets chosen by the same answers: F̂ is too high by {found['optimism'].min():.3f} to "
        f"{found['optimism'].max():.3f}, by setting (F̂_plug by "
        f"{found['plug_in_optimism'].min():.3f} to {found['plug_in_optimism'].max():.3f}); the "
        f"95 % interval misses F in up to {100 * worst['missed_chosen_95']:.1f} % "
        f"({worst['crowd']}, L = {worst['classes']}, m = {worst['workers']}, n = "
        f"{worst['controls']}, K = {worst['budget']}).",
        f"The error is at most {share:.3g} of Theorem 1's bound as printed.",
    ]


def _chart(found: pd.DataFrame) -> Chart:
    """Means as shares of the interval's half-width, which makes numbers of classes comparable."""
    shown = {
        "F̂, set fixed beforehand": ("bias", "bias_se"),
        "F̂_plug, set fixed beforehand": ("plug_in_bias", "plug_in_bias_se"),
        "F̂, set chosen by the same answers": ("optimism", "optimism_se"),
    }
    rows = found[found["budget"] == found["budget"].min()]
    largest = rows.groupby("crowd")["workers"].transform("max")
    rows = rows[rows["workers"] == largest].sort_values("crowd", ascending=False, kind="stable")
    every = pd.concat(
        [rows.assign(value=rows[mean], se=rows[se], series=name)
         for name, (mean, se) in shown.items()]
    )  # fmt: skip
    every = every.assign(
        share=every["value"] / every["half_width_95"],
        low=(every["value"] - 2 * every["se"]) / every["half_width_95"],
        high=(every["value"] + 2 * every["se"]) / every["half_width_95"],
        panel=[
            f"{crowd}, m = {m}, n = {n}"
            for crowd, m, n in zip(every["crowd"], every["workers"], every["controls"], strict=True)
        ],
    )
    return Chart(
        "bias",
        "How far a score is above the true F on average, as a share of the half-width of Theorem "
        f"3's 95 % interval: of {rows['budget'].iloc[0]} workers fixed beforehand, and of at most "
        "as many chosen by the same control answers. Bars are ± 2 standard errors over "
        f"{int(rows['crowds'].min())} crowds.",
        every, "classes", "share", "classes, L", "(score less F) / half-width", series="series",
        panel="panel", low="low", high="high",
        references=((0.0, "unbiased"), (1.0, "half-width of the interval")),
    )  # fmt: skip


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
            ({**_MIXED, "classes": [2, 4], "sheets": [100]},
             {"crowd": ["guessers"], "workers": [300], "sheets": [100]}),
            2,
        ),
        "small": Size((_MIXED, {"crowd": ["guessers"], "workers": [31, 300]}), 10),
        "paper": Size(
            (_MIXED,
             {**_MIXED, "controls": [3]},
             {"crowd": ["guessers"], "classes": [2, 4], "workers": [31, 300], "budget": [20]},
             {"crowd": ["guessers"], "classes": [2], "workers": [300], "budget": [100]}),
            100,
        ),
    },
    trial=trial,
    analyse=analyse,
)  # fmt: skip
