"""Lemmas 2 and 3: how far estimates from gold tasks are off.

Source: Ho, Jabbari, Vaughan (2013), Section 5.2.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.crowd import gold_tasks_needed, quality, quality_radius
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
    beyond_chance,
    claim,
    ended,
    ended_well,
    percent,
)

DRAWS = 4000
"""Workers simulated in one trial."""


def trial(params: Params, streams: Streams) -> Record:
    """Give as many gold tasks as Lemma 2 asks, to many workers; count estimates beyond t.

    `stretch` is the largest |q̂ − q| as a share of Lemma 3's radius for the same |p̂ − p|.
    """
    rng = np.random.default_rng(streams.instance)
    skill, radius = params["skill"], params["radius"]
    gold = gold_tasks_needed(radius, params["delta"])
    estimate = rng.binomial(gold, skill, DRAWS) / gold
    off = np.abs(estimate - skill)
    quality_off = np.abs(quality(estimate) - quality(float(skill)))
    close = off <= radius
    allowed = np.array([quality_radius(float(distance)) for distance in off])
    moved = allowed > 0
    return {
        "gold": gold,
        "draws": DRAWS,
        "missed": int(np.sum(~close)),
        "error_p": float(off.mean()),
        "stretch": float((quality_off[moved] / allowed[moved]).max(initial=0.0)),
        "broken": int(np.sum(quality_off[close] > quality_radius(radius) + 1e-12)),
    }


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Estimates beyond the radius, and how far Lemma 3's radius is used up."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    groups = rows.groupby(["skill", "radius", "delta", "gold"])
    table = groups.agg(
        draws=("draws", "sum"), missed=("missed", "sum"), stretch=("stretch", "max")
    ).reset_index()
    table = table.assign(share=table["missed"] / table["draws"])
    findings = (
        ended(trials),
        f"|q̂ − q| is at most {rows['stretch'].max():.3f} of 4|p̂ − p| in {rows['draws'].sum():,} "
        f"draws, of whose estimates {rows['missed'].sum():,} are beyond t.",
        f"At worst {(table['share'] / table['delta']).max():.2f} δ are.",
    )
    chart = Chart(
        "missed",
        f"Share of estimates further than t from the skill, beside δ; {len(rows):,} trials.",
        table,
        x="delta",
        y="share",
        x_label="δ",
        y_label="share of estimates beyond t",
        series="skill",
        kind="points",
        diagonal="δ, the promise",
    )
    return Analysis(findings, {"Estimates beyond the radius": table}, (chart,))


STUDY = Study(
    name="gold-estimates",
    title="Skill and quality estimated from gold tasks",
    source="Ho, Jabbari, Vaughan (2013), Lemmas 2 and 3",
    parameters={
        "skill": Parameter(float, 0.7, "p, the worker's skill", least=0, most=1),
        "radius": Parameter(float, 0.1, "t, how far the estimate may be off", least=0.01, most=0.9),
        "delta": Parameter(float, 0.05, "δ, how often it may be further off", least=1e-4, most=0.9),
    },
    sizes={
        "smoke": Size(
            ({"skill": [0.5, 0.7, 1.0], "radius": [0.05, 0.2], "delta": [0.05, 0.3]},), 1
        ),
        "small": Size(
            (
                {
                    "skill": [0.5, 0.6414, 0.7, 0.95, 1.0],
                    "radius": [0.02, 0.05, 0.1, 0.3],
                    "delta": [0.01, 0.05, 0.2, 0.5],
                },
            ),
            5,
        ),
        "paper": Size(
            (
                {
                    "skill": [0.0, 0.05, 0.3, 0.5, 0.6414, 0.7, 0.95, 0.99, 1.0],
                    "radius": [0.02, 0.05, 0.1, 0.2, 0.3, 0.5],
                    "delta": [0.01, 0.05, 0.1, 0.2, 0.5, 0.8],
                },
            ),
            10,
        ),
    },
    trial=trial,
    analyse=analyse,
)

# What the paper claims.


@claim(
    id="adaptive-lemma-2",
    source="Lemma 2",
    statement="With ln(2/δ)/(2t²) gold tasks the share of right answers is within t of the skill "
    "with probability 1 − δ.",
)
def lemma_2(trials: pd.DataFrame) -> Ruling:
    """Estimates beyond t, counted at each skill, t and δ."""
    groups = trials.groupby(["skill", "radius", "delta"], as_index=False)
    points = groups[["missed", "draws"]].sum()
    points["share"] = points["missed"] / points["draws"]
    over = sum(
        beyond_chance(point["missed"], point["draws"], point["delta"], looks=len(points))
        for point in points.to_dict("records")
    )
    worst = points.iloc[int((points["share"] / points["delta"]).argmax())]
    figures = (
        f"{points['draws'].sum():,} estimates at {len(points)} settings of p, t and δ: at "
        f"{over} of these settings estimates are off by more than t significantly more often than "
        "δ. Nearest to δ: "
        f"{percent(worst['share'])} beyond t = {worst['radius']:g}, δ = {percent(worst['delta'])}, "
        f"p = {worst['skill']:g}."
    )
    return Ruling.refuted(figures) if over else Ruling.holds(figures)


@claim(
    id="adaptive-lemma-3",
    source="Lemma 3",
    statement="If the estimate p̂ of a skill is off by at most t, the quality (2p̂−1)² is off by "
    "at most 4t.",
)
def lemma_3(trials: pd.DataFrame) -> Ruling:
    """The largest |q̂ − q| as a share of 4|p̂ − p|, and estimates beyond 4t."""
    stretch, broken = trials["stretch"].max(), trials["broken"].sum()
    figures = (
        f"{trials['draws'].sum():,} estimates: |q̂ − q| is at most {stretch:.3f} of 4|p̂ − p|; of "
        f"those with |p̂ − p| ≤ t, {broken} have |q̂ − q| > 4t."
    )
    return Ruling.refuted(figures) if broken or stretch > 1 + 1e-9 else Ruling.holds(figures)
