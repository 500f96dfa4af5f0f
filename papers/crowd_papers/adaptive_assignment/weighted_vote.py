"""Lemma 1: how wrong a weighted vote is, beside the bound; and the requirement drawn from it.

Source: Ho, Jabbari, Vaughan (2013), Section 4.1.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_models import requirement
from workbench.accuracy import lemma_1_bound, vote_error
from workbench.base import FloatArray
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
    ended_well,
)

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


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """The linear vote's error as a share of its bound, and of ε where enough voters are hired."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    rows = rows.assign(
        share=rows["error_best"] / rows["bound_best"],
        promised=rows["error_hired"] / rows["epsilon"],
    )
    groups = rows.groupby(["skills", "voters"])
    table = groups.agg(
        trials=("share", "size"),
        mean=("share", "mean"),
        largest=("share", "max"),
        largest_of_epsilon=("promised", "max"),
    ).reset_index()
    finding = (
        f"The error of the linear vote is at most {rows['share'].max():.3g} times Lemma 1's bound, "
        f"and with Σq ≥ C at most {rows['promised'].max():.3g} ε, in {len(rows):,} trials."
    )
    chart = Chart(
        "share",
        f"Largest share of Lemma 1's bound that the exact error takes; {len(rows):,} trials.",
        table,
        x="voters",
        y="largest",
        x_label="voters",
        y_label="error / bound",
        series="skills",
        references=((1.0, "bound"),),
    )
    tables = {"Error of the vote as a share of its bound": table}
    return Analysis((ended(trials), finding), tables, (chart,))


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
        "smoke": Size(({"voters": [5, 120], "skills": list(SKILLS), "epsilon": [0.05, 0.001]},), 1),
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
    analyse=analyse,
)

# What the paper claims.

SLACK = 1 + 1e-9
"""Rounding by which a bound may be exceeded."""


@claim(
    id="adaptive-lemma-1",
    source="Lemma 1",
    statement="A vote with weights w is wrong with probability at most exp(−½ (Σw(2p−1))² / Σw²). "
    "The bound is least for w = 2p−1, where it is exp(−½ Σq).",
)
def lemma_1(trials: pd.DataFrame) -> Ruling:
    """Random votes and the linear one beside the bound, and the bound at weights nearby."""
    bound = trials["bound_best"]
    above = trials["error_any"] - trials["error_any_radius"] > trials["bound_any"] * SLACK
    best = trials["error_best"] - trials["error_best_radius"] > bound * SLACK
    beaten = trials["bound_nearby"] < bound * (1 - 1e-9)
    closed_form = trials["closed_form"]
    closed = (bound - closed_form).abs() > 1e-6 * closed_form
    leaning = trials["lean"] >= 0
    figures = (
        f"Of {leaning.sum():,} random votes with Σw(2p−1) ≥ 0, {(above & leaning).sum()} err more "
        f"often than the bound. With w = 2p−1 {best.sum()} of {len(trials):,} do (at most "
        f"{(trials['error_best'] / bound).max():.2f} of the bound), {beaten.sum()} times weights "
        f"nearby have a smaller bound, and {closed.sum()} times it is not exp(−½Σq)."
    )
    if (best | beaten | closed | (above & leaning)).any():
        return Ruling.refuted(figures)
    turned = trials["lean"] < 0
    if not (above & turned).any():
        return Ruling.holds(figures)
    return Ruling.holds_as_corrected(
        f"{figures} Hoeffding's inequality is one-sided: of {turned.sum():,} votes that lean the "
        f"wrong way, Σw(2p−1) < 0, {(above & turned).sum():,} err more often than the bound as "
        "printed."
    )


@claim(
    id="adaptive-requirement",
    source="Section 4.1",
    statement="If the qualities of a task's labels add up to 2 ln(1/ε), the vote with weights "
    "2p−1 has an error below ε.",
)
def requirement_suffices(trials: pd.DataFrame) -> Ruling:
    """The exact error of voters hired until Σq reaches C, beside ε."""
    epsilon = trials["epsilon"]
    above = int((trials["error_hired"] - trials["error_hired_radius"] > epsilon).sum())
    share = trials["error_hired"] / epsilon
    figures = (
        f"Workers are hired until Σq ≥ C: their exact error is above ε in {above} of "
        f"{len(trials):,} "
        f"trials, with ε from {epsilon.min():g} to {epsilon.max():g}; it is {share.mean():.3f} ε "
        f"on average and {share.max():.3f} ε at most."
    )
    return Ruling.refuted(figures) if above else Ruling.holds(figures)
