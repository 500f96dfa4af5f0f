"""Lemma 1: how wrong a weighted vote is, beside the bound; and the requirement drawn from it.

Source: Ho, Jabbari, Vaughan (2013), Section 4.1.
"""

from __future__ import annotations

import numpy as np

from crowd_models import requirement
from workbench.accuracy.error_rate import lemma_1_bound, vote_error
from workbench.base.arrays import FloatArray
from workbench.studies.measures import DeclaredAnalysis, Drawn, Grouped, Part
from workbench.studies.study import Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams

SKILLS = {"weak": (0.5, 0.7), "mixed": (0.0, 1.0), "able": (0.6, 0.95)}
"""Range from which skills are drawn uniformly."""

NEARBY = 100
"""Weight vectors tried around the one said to be the best."""


def trial(params: Params, streams: Streams) -> Record:
    """Draw voters; hold the exact error of some weighted votes against the lemma's bound.

    Weights are drawn at random, so that the vote may lean the wrong way (`lean` below 0), and are
    the lemma's 2p − 1. Then voters are hired one by one until Σq reaches C = 2 ln(1/ε).
    """
    rng = np.random.default_rng(streams.instance)
    low, high = SKILLS[params["skills"]]
    skill: FloatArray = rng.uniform(low, high, int(params["voters"]))
    best = 2 * skill - 1
    other = rng.normal(size=len(skill))
    any_way = vote_error(skill, other)
    linear = vote_error(skill, best)
    scales = 10.0 ** rng.uniform(-3, 0.5, NEARBY)
    nearby = [
        lemma_1_bound(skill, best + scale * rng.normal(size=len(skill)) * np.abs(best).max())
        for scale in scales
    ]
    return {
        "lean": float(other @ best),
        "error_any": any_way.probability,
        "error_any_radius": any_way.radius,
        # As printed the bound takes no notice of the sign of the lean.
        "bound_any": min(lemma_1_bound(skill, other), lemma_1_bound(skill, -other)),
        "error_best": linear.probability,
        "error_best_radius": linear.radius,
        "bound_best": lemma_1_bound(skill),
        "bound_nearby": min(nearby),
        "closed_form": float(np.exp(-0.5 * np.sum(best**2))),
        **_hired(params, rng),
    }


def _hired(params: Params, rng: np.random.Generator) -> Record:
    """Error once enough quality is gathered, with voters of the same kind."""
    low, high = SKILLS[params["skills"]]
    need = float(requirement(params["epsilon"]))
    pool = rng.uniform(low, high, 4096)
    gathered = np.cumsum((2 * pool - 1) ** 2)
    count = int(np.searchsorted(gathered, need)) + 1
    error = vote_error(pool[:count], 2 * pool[:count] - 1)
    return {
        "hired": count,
        "gathered": float(gathered[count - 1]),
        "error_hired": error.probability,
        "error_hired_radius": error.radius,
    }


STUDY = Study(
    name="weighted-vote",
    title="A weighted vote's error beside Lemma 1",
    source="Ho, Jabbari, Vaughan (2013), Lemma 1 and Section 4.1",
    parameters={
        "voters": Parameter(int, 9, "voters on the task", least=1, most=200),
        "skills": Parameter(str, "mixed", "how skills are drawn", choices=tuple(SKILLS)),
        "epsilon": Parameter(float, 0.05, "ε of the requirement", least=1e-6, most=0.5),
    },
    sizes={
        "smoke": Size(({"voters": [5, 120], "skills": list(SKILLS), "epsilon": [0.05, 0.001]},), 5),
        "small": Size(
            ({"voters": [1, 3, 9, 120], "skills": list(SKILLS), "epsilon": [0.2, 0.05, 0.001]},), 10
        ),
        "paper": Size(
            (
                {
                    "voters": [1, 2, 3, 5, 9, 15, 25, 120],
                    "skills": list(SKILLS),
                    "epsilon": [0.4, 0.2, 0.05, 0.01, 0.001],
                },
            ),
            10,
        ),
    },
    trial=trial,
    analyse=DeclaredAnalysis(
        Part(
            "Error of the vote as a share of its bound",
            Grouped(
                ("skills", "voters"),
                {
                    "trials": ("share", "size"),
                    "mean": ("share", "mean"),
                    "largest": ("share", "max"),
                    "largest_of_epsilon": ("promised", "max"),
                },
            ),
            (
                "The error of the linear vote is at most {share.max:.3g} times Lemma 1's bound, and "
                "with Σq ≥ C at most {promised.max:.3g} ε, in {trials:,} trials.",
            ),
            (
                Drawn(
                    "share",
                    "Largest share of Lemma 1's bound that the exact error takes",
                    "voters",
                    "largest",
                    ("voters", "error / bound"),
                    {"series": "skills", "references": ((1.0, "bound"),)},
                ),
            ),
        ),
        derived={
            "share": lambda ok: ok["error_best"] / ok["bound_best"],
            "promised": lambda ok: ok["error_hired"] / ok["epsilon"],
        },
    ),
)
