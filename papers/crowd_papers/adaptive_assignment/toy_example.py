"""The toy example of Section 5.2: three perfect workers, the others nearly useless.

The three are judged a little worse than they are; the algorithm is run with that judgement, with
ε as it is and with ε′.

Source: Ho, Jabbari, Vaughan (2013), Section 5.2.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from workbench.assignment import corrected_epsilon, offline_weights, primal_approximation
from workbench.solving import Termination, solve
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
    TrialEnded,
    claim,
    ended,
    ended_well,
    enough,
    flags,
    nonempty,
)

EPSILON = 0.224
TASKS = 4
PERFECT = 3


def trial(params: Params, streams: Streams) -> Record:
    """Labels bought for one task by the algorithm that believes q̂, and by the optimum."""
    rng = np.random.default_rng(streams.method())
    others = params["workers"] - PERFECT
    true = np.tile(np.r_[np.ones(PERFECT), np.full(others, params["poor"])], (TASKS, 1))
    judged = true.copy()
    judged[:, :PERFECT] = params["judged"]
    radius = (1 - np.sqrt(params["judged"])) / 2  # |p̂ − p|, since p̂ = (1 + √q̂)/2
    used = EPSILON
    if params["corrected"]:
        used = corrected_epsilon(EPSILON, radius=radius, mean_quality_least=1.0).epsilon_corrected
    believed = AssignmentProblem(judged, TASKS, requirement(used))
    if solve(believed, "typed").termination is Termination.INFEASIBLE:
        raise TrialEnded("infeasible", "all workers together are not believed good enough")
    weights, perturbed, _ = offline_weights(believed, seed=rng)
    chosen = primal_approximation(perturbed, weights, believed.capacity, seed=rng)
    best = solve(AssignmentProblem(true, TASKS, requirement(EPSILON)), "typed")
    # ȳ* takes the three only, but for the share of a label that rounding C = 2.992 leaves.
    assert best.assignment is not None
    return {
        "requirement": float(requirement(EPSILON)),
        "optimum": float(np.ceil(best.assignment.sum(axis=1) - 1e-9).max()),
        "optimum_others": float(best.assignment[:, PERFECT:].sum()),
        "labels": float(chosen.sum() / TASKS),
        "labels_others": float(chosen[:, PERFECT:].sum() / TASKS),
    }


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Labels per task by judgement of the three perfect workers, beside the optimum."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    groups = rows.groupby(["corrected", "poor", "judged"])
    table = groups.agg(
        trials=("labels", "size"), labels=("labels", "mean"), optimum=("optimum", "max")
    ).reset_index()
    finding = (
        f"The optimum takes {rows['optimum'].max():.0f} labels per task; with the three judged too "
        f"low the algorithm takes up to {table['labels'].max():,.0f}."
    )
    chart = Chart(
        "labels",
        f"Labels per task, the three perfect workers judged too low; {len(rows):,} trials.",
        table[~table["corrected"].astype(bool)],
        x="judged",
        y="labels",
        x_label="judged quality of the three",
        y_label="labels per task",
        series="poor",
        log_y=True,
        references=((3.0, "optimum"),),
    )
    return Analysis((ended(trials), finding), {"Labels per task": table}, nonempty(chart))


STUDY = Study(
    name="toy-example",
    title="Three perfect workers judged too low",
    source="Ho, Jabbari, Vaughan (2013), Section 5.2",
    parameters={
        "workers": Parameter(int, 6000, "m, the three and the others", least=10, most=20_000),
        "poor": Parameter(float, 1e-4, "quality of the others", least=1e-6, most=0.1),
        "judged": Parameter(float, 1.0, "q̂ of the three", least=0.5, most=1),
        "corrected": Parameter(bool, False, "ε′ in place of ε", paired=True),
    },
    sizes={
        "smoke": Size(
            (
                {
                    "workers": [1000],
                    "poor": [1e-4, 1e-3],
                    "judged": [1.0, 0.99],
                    "corrected": [False, True],
                },
            ),
            1,
        ),
        "small": Size(
            ({"poor": [1e-4, 1e-3], "judged": [1.0, 0.99, 0.95], "corrected": [False, True]},), 5
        ),
        "paper": Size(
            (
                {
                    "poor": [1e-4, 1e-3, 1e-2],
                    "judged": [1.0, 0.995, 0.99, 0.95, 0.9],
                    "corrected": [False, True],
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
    id="adaptive-toy-example",
    source="Section 5.2",
    statement="If three workers have quality 1, all others quality 10⁻⁴, and ε is 0.224, the "
    "optimum asks only the three good workers; if their skills are underestimated, arbitrarily "
    "many others get tasks.",
    least=8,
)
def poor_workers_are_asked(trials: pd.DataFrame) -> Ruling:
    """Labels per task with the three perfect workers judged rightly, too low, and corrected."""
    corrected = flags(trials["corrected"])
    plain = trials[~corrected]
    right = enough(plain[plain["judged"] == 1], 2, "trials with q̂ = 1 for the three")
    low = enough(plain[plain["judged"] < 0.992], 2, "trials with q̂ < 0.992 for the three")
    mended = enough(trials[corrected], 2, "trials with ε′")
    by_quality = low.pivot_table(values="labels_others", index="judged", columns="poor")
    poorest, next_poorest = sorted(float(poor) for poor in by_quality.columns)[:2]
    poorer = next_poorest / poorest
    growth = by_quality[poorest] / by_quality[next_poorest]
    optimum, need = trials["optimum"].max(), trials["requirement"].iloc[0]
    three_alone = (
        abs(need - 3) < 0.01
        and optimum == right["labels"].max() == 3
        and trials["optimum_others"].max() < 1e-6
    )
    many_more = low.loc[low["poor"] == poorest, "labels"].min() > 10 * optimum
    dearest = low.nlargest(1, "labels").iloc[0]
    figures = (
        f"C = {need:.3f}. The optimum takes {optimum:.0f} labels per task; with true qualities "
        f"the algorithm takes {right['labels'].max():.0f}. With the three judged "
        f"{dearest['judged']:g} it "
        f"takes {dearest['labels']:,.0f} (others of quality {dearest['poor']:g}); others "
        f"{poorer:.0f} times poorer cost at least {growth.min():.1f} times the labels. With ε′ it "
        f"takes at most {mended['labels'].max():.0f}."
    )
    if three_alone and many_more and growth.min() > 0.8 * poorer:
        return Ruling.holds(figures)
    return Ruling.refuted(figures)
