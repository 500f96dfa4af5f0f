"""Lemmas 2 and 3: how far estimates from gold tasks are off.

Source: Ho, Jabbari, Vaughan (2013), Section 5.2.
"""

from __future__ import annotations

import numpy as np

from workbench.crowd.skills import gold_tasks_needed, quality, quality_radius
from workbench.studies.measures import DeclaredAnalysis, Drawn, Grouped, Part
from workbench.studies.study import Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams

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
    allowed = np.array([quality_radius(float(one)) for one in off])
    moved = allowed > 0
    return {
        "gold": gold,
        "draws": DRAWS,
        "missed": int(np.sum(~close)),
        "error_p": float(off.mean()),
        "stretch": float((quality_off[moved] / allowed[moved]).max(initial=0.0)),
        "broken": int(np.sum(quality_off[close] > quality_radius(radius) + 1e-12)),
    }


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
            ({"skill": [0.5, 0.7, 1.0], "radius": [0.05, 0.2], "delta": [0.05, 0.3]},), 2
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
    analyse=DeclaredAnalysis(
        Part(
            "Estimates beyond the radius",
            Grouped(
                ("skill", "radius", "delta", "gold"),
                {"draws": "sum", "missed": "sum", "stretch": "max"},
                {"share": lambda sums: sums["missed"] / sums["draws"]},
            ),
            (
                "|q̂ − q| is at most {stretch.max:.3f} of 4|p̂ − p| in {draws.sum:,} draws, of whose "
                "estimates {missed.sum:,} are beyond t.",
                lambda _, sums: [f"At worst {(sums['share'] / sums['delta']).max():.2f} δ are."],
            ),
            (
                Drawn(
                    "missed",
                    "Share of estimates further than t from the skill, beside δ",
                    "delta",
                    "share",
                    ("δ", "share of estimates beyond t"),
                    {"series": "skill", "kind": "points", "diagonal": "δ, the promise"},
                ),
            ),
        ),
    ),
)
