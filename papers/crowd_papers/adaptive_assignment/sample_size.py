"""Theorem 5 between the sample that it asks for and the one that its proof needs.

Printed is γ ≥ 1/C_ε. The proof applies Theorem 2 to the program with ε′, which asks for γ ≥ 1/C_ε′,
larger by the factor 1/(1 − l1), l1 = 4t/q̄*_min. Here γ is `place` of the way, on a logarithmic
scale, from the one to the other or beyond, and s is such that l1 is as given. A trial is one of
`main_algorithm`, in crowds whose q̄*_min is known: all workers 0.6414, or half 0.5 and half 0.7.

Source: Ho, Jabbari, Vaughan (2013), Theorems 2 and 5.
"""

from __future__ import annotations

import math

import pandas as pd

from crowd_models import requirement
from crowd_papers.adaptive_assignment import main_algorithm
from workbench.crowd import quality
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
    broken_somewhere,
    claim,
    ended,
    ended_well,
    enough,
    flags,
)

BEST = {"uniform": 0.6414, "spammer-hammer": 0.7}
"""Skill of the workers whom the relaxation's optimum asks."""


def trial(params: Params, streams: Streams) -> Record:
    """Run the Main Algorithm with γ and s chosen; say which conditions on γ hold."""
    m, lost, need = params["workers"], params["lost"], float(requirement(params["epsilon"]))
    sample = math.ceil(m / need * (1 - lost) ** -params["place"] - 1e-9)
    radius = lost * quality(BEST[params["crowd"]]) / 4
    union = math.log(4 * (1 + sample / m) * m / params["delta"])
    settings = {
        **params,
        "gamma": sample / m,
        "types": 1,
        "gold": math.ceil(union / (2 * radius**2)),
    }
    return {
        **main_algorithm.trial(settings, streams),
        "sampled": sample,
        "printed": sample / m * need >= 1 - 1e-12,
        "needed": sample / m * need * (1 - lost) >= 1 - 1e-12,
    }


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Labels over the bound and errors, by γ."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    rows = rows.assign(ratio=rows["labels"] / rows["bound"])
    groups = rows.groupby(["crowd", "epsilon", "lost", "place"])
    table = groups.agg(
        trials=("ratio", "size"),
        sampled=("sampled", "mean"),
        needed=("needed", "sum"),
        ratio=("ratio", "mean"),
        largest=("ratio", "max"),
        promise=("ratio_promise", "min"),
        error=("error", "max"),
        error_promise=("error_promise", "min"),
    ).reset_index()
    between = rows["ratio"][~rows["needed"].astype(bool)]
    finding = (
        f"In {between.count():,} of {len(rows):,} trials γ is as printed but not as the proof "
        f"needs; labels there are at most {between.max():.2f} times the bound."
    )
    chart = Chart(
        "error",
        "Largest error of a task, by where γ is between 1/C_ε (0) and 1/C_ε′ (1); "
        f"{len(rows):,} trials.",
        table,
        x="place",
        y="error",
        x_label="place of γ",
        y_label="error",
        series="lost",
        panel="epsilon",
        kind="points",
    )
    tables = {"Labels over the bound and errors, by γ": table}
    return Analysis((ended(trials), finding), tables, (chart,))


STUDY = Study(
    name="sample-size",
    title="Theorem 5 where its sample is smaller than its proof needs",
    source="Ho, Jabbari, Vaughan (2013), Theorem 5",
    parameters={
        "tasks": Parameter(int, 20, "n", least=1, most=2000),
        "workers": Parameter(int, 400, "m", least=1, most=5000),
        "capacity": Parameter(int, 20, "M, tasks per worker", least=1),
        "crowd": Parameter(str, "uniform", "how skills are drawn", choices=tuple(BEST)),
        "epsilon": Parameter(float, 0.2, "ε, error of each task", least=1e-300, most=0.499),
        "delta": Parameter(float, 0.05, "δ, failure probability", least=1e-6, most=0.49),
        "lost": Parameter(float, 0.5, "l1 = 4t/q̄*_min", least=0.01, most=0.99),
        "place": Parameter(
            float, 0.5, "γ, from 1/C_ε (0) to 1/C_ε′ (1) or beyond", least=0, most=10
        ),
    },
    sizes={
        "smoke": Size(({"place": [0.0, 0.5, 1.0]},), 2),
        "small": Size(({"crowd": list(BEST), "lost": [0.3, 0.6], "place": [0.0, 0.5, 1.0]},), 5),
        "paper": Size(
            (
                {
                    "crowd": list(BEST),
                    "epsilon": [0.3, 0.2, 0.1],
                    "lost": [0.2, 0.4, 0.6],
                    "place": [0.0, 0.3, 0.6, 0.9, 1.0],
                },
            ),
            20,
        ),
    },
    trial=trial,
    analyse=analyse,
)

# What the paper claims.


@claim(
    id="adaptive-theorem-5-sample",
    source="Theorem 5, the condition on γ",
    statement="The bounds of Theorem 5 hold if γ ≥ 1/C_ε. (Its proof applies Theorem 2 with ε′ in "
    "place of ε, and so needs γ ≥ 1/C_ε′, which is larger. Read as: they stand between the two.)",
)
def smaller_sample_suffices(trials: pd.DataFrame) -> Ruling:
    """Promises broken, or empty, where γ is as printed but not as the proof needs."""
    trials = trials.assign(ratio=trials["labels"] / trials["bound"])
    needed = flags(trials["needed"])
    between = enough(trials[~needed], 20, "trials with γ between 1/C_ε and 1/C_ε′")
    larger = enough(trials[needed], 8, "trials with γ of 1/C_ε′ or more")
    promise = between["ratio_promise"].astype(float)
    dearer = between["ratio"] > promise * (1 + 1e-6)
    broken = dearer | (between["broken"].astype(float) > 0)
    empty = between["error_promise"].astype(float) >= 1
    least, most = 1 / (1 - trials["lost"].min()), 1 / (1 - trials["lost"].max())
    figures = (
        f"The proof needs a sample {least:.2f} to {most:.2f} times as large as the printed one. "
        "With γ between "
        f"the two {dearer.sum()} of {len(between)} trials exceed the promised ratio (largest "
        f"measured {between['ratio'].max():.2f}, least promised {promise.min():,.0f}), and the "
        f"promised error is 1, which says nothing, in {empty.sum()}. So it is wherever l2 ≥ 1: an "
        "error below 1 is promised from γC_ε′ > (6 ln(4/δ))² on, more than 155, so that the "
        f"difference is to no effect. The largest error of a task is {between['error'].max():.3f} "
        f"there, {larger['error'].max():.3f} with γ as the proof needs it."
    )
    if broken_somewhere(between, broken, ["crowd", "epsilon", "lost", "place"]):
        return Ruling.refuted(figures)
    return Ruling.holds_as_corrected(figures) if empty.any() else Ruling.holds(figures)
