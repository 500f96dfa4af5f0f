"""Labels bought beside the proven least: the competitive ratio, measured.

The paper bounds the ratio of the labels an online algorithm buys to the offline optimum (Theorems
1, 2 and 5) and never measures it. Here each trial draws a crowd, solves the offline relaxation for
a certified lower bound, and runs one of three methods, each with one thing less known:

- `offline weights`: Algorithm 1 with the relaxation's own dual and true skills (Theorem 1);
- `sampled weights`: task weights from γm sampled workers, true skills (Theorem 2);
- `adaptive`: the Main Algorithm, skills from gold tasks (Theorem 5).

A ratio says little of an assignment that leaves tasks short, so three figures stand together.
`ratio` is labels on real tasks over the bound for covering every task at ε. `covered` is the share
of tasks whose labels do gather 2 ln(1/ε) of true quality. `ratio_reached` is labels over a bound
for what was reached: each task's requirement cut down to what its labels gather, averaged by type
(which only lowers the bound: solutions of equal tasks may be averaged). It is never below 1.
`ratio_all` counts gold labels, preliminary workers' included, as the paper's `(1 + γ) m s` do.

`promise` is the theorem's ratio where all its conditions hold, else none, and `void` says why;
`formula` is what its expression comes to all the same. A base point is varied one parameter at a
time; the order of arrival is random as the theorems want it, drawn with replacement, or set by an
adversary against the sample. One block is far from any crowd but within the theorems' conditions.

Source: Ho, Jabbari, Vaughan (2013), Theorems 1, 2 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from crowd_papers.adaptive_assignment import assignment_trials as shared
from crowd_papers.adaptive_assignment.theorems import theorem_1, theorem_2
from workbench.assignment import Paper, Setting, offline_weights, perturb, primal_approximation
from workbench.base import generator
from workbench.studies import (
    Analysis,
    Block,
    Chart,
    Parameter,
    Params,
    Record,
    Size,
    Streams,
    Study,
    along,
    base_point,
    capital,
    ended,
    in_order,
    joined,
    mean_chart,
    mean_columns,
    means,
    measured,
    percent,
    plus_minus,
    records,
    varies,
)

METHODS = ("offline weights", "sampled weights", "adaptive")
SWEPT = ("tasks", "workers", "gamma", "epsilon", "gold", "types", "crowd", "arrival")
MEASURES = {
    "ratio": "labels / proven bound",
    "ratio_reached": "labels / bound at the cover reached",
    "covered": "share of tasks covered",
}
ORDERS = {"arrival": shared.ARRIVALS, "crowd": shared.CROWDS}


def trial(params: Params, streams: Streams) -> Record:
    """Run one method on one crowd, beside the certified bound."""
    instance = shared.drawn(params, streams)
    need = float(requirement(params["epsilon"]))
    relaxed = shared.relaxation(instance.offline(need), proven=True)
    own = streams.method(params["method"])
    if params["method"] == "offline weights":
        bought = _offline(instance, relaxed, own)
    elif params["method"] == "sampled weights":
        bought = _sampled(instance, params, own)
    else:
        bought = _adaptive(instance, params, relaxed, own)
    gathered, promise = instance.gathered(bought.task, bought.worker), bought.promise
    promised = None if promise.error is None else float(np.max(promise.error))
    return {
        **bought.record(instance, relaxed),
        "cover": float(np.minimum(gathered / need, 1).mean()),
        "error": instance.vote_error(bought.task, bought.worker, bought.skill, own),
        "promised_error": promised if promise.holds else None,
    }


def _offline(
    instance: shared.Instance, relaxed: shared.Relaxation, own: np.random.SeedSequence
) -> shared.Bought:
    """Algorithm 1 with the optimal dual, qualities perturbed by type and worker.

    Perturbed pair by pair, as Theorem 1 wants it, no two tasks could be counted together, and
    the relaxation would take seconds. By type, tasks of a type share their marginal worker:
    covered all the same, at up to n labels above the optimum in place of min(m, n).
    """
    rng, problem = generator(own), relaxed.problem
    estimates = perturb(instance.main.quality, seed=rng)[instance.kinds]
    perturbed = AssignmentProblem(estimates, problem.capacity, problem.requirement)
    weights, _, _ = offline_weights(perturbed)
    task, place = np.nonzero(primal_approximation(estimates, weights, problem.capacity, seed=rng))
    promise = theorem_1(problem, weights, estimates)
    return shared.Bought(task, place + instance.preliminary, instance.crowd.skill, promise)


def _sampled(
    instance: shared.Instance, params: Params, own: np.random.SeedSequence
) -> shared.Bought:
    """Algorithm 2 without its gold tasks: every skill is seen as it is (Section 5.1)."""
    crowd, setting = instance.crowd, Setting(instance.kinds, params["epsilon"], len(instance.main))
    run, policy = shared.played("paper", setting, crowd.skill, crowd.capacity, seed=own)
    assert isinstance(policy, Paper)
    assert policy.assigner.sampled is not None
    sample = shared.sampling(instance, params, policy.assigner.sampled.least_quality_used)
    return shared.Bought(
        run.task, run.worker + instance.preliminary, crowd.skill, theorem_2(sample)
    )


def _adaptive(
    instance: shared.Instance,
    params: Params,
    relaxed: shared.Relaxation,
    own: np.random.SeedSequence,
) -> shared.Bought:
    """The Main Algorithm; corrected, it is told t of Theorem 5 and, in hindsight, q̄*_min."""
    least = relaxed.mean_quality_least
    corrected = params["corrected"] and least > 0
    radius = shared.theorem_5_radius(params, instance.preliminary / len(instance.main))
    result = instance.run_adaptive(params, own, (radius, least) if corrected else None)
    sample = shared.sampling(instance, params, result.sampled.least_quality_used)
    promise = shared.promised_5(instance, params, relaxed, sample, result.task, result.worker)
    if not corrected:
        promise = replace(promise, failed=(*promise.failed, "run without the ε′ correction"))
    return shared.Bought(result.task, result.worker, result.skill, promise, result.labels_gold)


# What the trials say.

THEOREMS = dict(zip(METHODS, ("Theorem 1", "Theorem 2", "Theorem 5"), strict=True))
MEANS = ["ratio", "covered", "ratio_reached", "ratio_all", "error"]


def analyse(trials: pd.DataFrame) -> Analysis:
    """Ratios at the base point and along each parameter, and the theorems' promises."""
    rows = measured(trials, "ratio")
    if rows.empty:
        return Analysis((ended(trials),))
    base = base_point(rows, SWEPT)
    place = ", ".join(f"{name} {value}" for name, value in base.items())
    parts = [Analysis((ended(trials), f"Base point: {place}."))]
    at_base = along(rows, base)
    if len(at_base):
        parts.append(about_base(at_base))
    parts += [along_parameter(own, name) for name, own in sweeps(rows, SWEPT, ORDERS)]
    explored = sweeps(rows, ("tasks", "gold", "epsilon"))
    charts = tuple(exploration_chart(own, name) for name, own in explored)
    parts += [Analysis(charts=charts), promises(rows)]
    return joined(parts)


def sweeps(
    rows: pd.DataFrame, names: Sequence[str], orders: Mapping[str, Sequence[str]] | None = None
) -> list[tuple[str, pd.DataFrame]]:
    """Each parameter with several values at the base point, and its trials in order."""
    base = base_point(rows, SWEPT)
    result = []
    for name in names:
        own = along(rows, base, name)
        if varies(own, name):
            order = {"method": METHODS, name: (orders or {}).get(name), "repetition": None}
            result.append((name, in_order(own, order)))
    return result


def mean_ratios(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Number of trials, and means of the measures, in the order of the trials."""
    counts = rows.groupby(by, sort=False).agg(trials=("ratio", "size")).reset_index()
    return counts.merge(mean_columns(rows, by, MEANS, sort=False), on=by)


def about_base(rows: pd.DataFrame) -> Analysis:
    """The methods at the base point."""
    table = mean_ratios(rows, ["method"])
    findings = tuple(
        f"{capital(row.method)}: {plus_minus(row.ratio, row.ratio_se)} times the proven bound, "
        f"with {percent(row.covered)} of the tasks covered; "
        f"{plus_minus(row.ratio_reached, row.ratio_reached_se)} times the bound for the cover "
        f"reached; {plus_minus(row.ratio_all, row.ratio_all_se)} times the bound with gold labels "
        f"({row.trials} trials)."
        for row in records(table)
    )
    return Analysis(findings, {"At the base point": table})


def along_parameter(rows: pd.DataFrame, name: str) -> Analysis:
    """Means along a parameter; of the order of arrival, what adversaries do is said as well."""
    table = mean_ratios(rows, ["method", name])
    findings = adversaries(table) if name == "arrival" else ()
    return Analysis(findings, {f"Along {name}": table}, tuple(ratio_charts(rows, name)))


def adversaries(table: pd.DataFrame) -> tuple[str, ...]:
    """What orders set against the sample do to the methods that sample."""
    adverse = ~table["arrival"].isin(["random", "iid"]) & (table["method"] != "offline weights")
    return tuple(
        f"{capital(row.method)}, {row.arrival}: {plus_minus(row.ratio, row.ratio_se)} times the "
        f"bound, {percent(row.covered)} covered, "
        f"{plus_minus(row.ratio_reached, row.ratio_reached_se)} times the bound for the cover "
        "reached."
        for row in records(table[adverse])
    )


def ratio_charts(rows: pd.DataFrame, name: str) -> list[Chart]:
    """Ratios and cover side by side; apart where ratios are so large that cover would vanish."""
    tables = [
        means(rows, ["method", name], field).assign(measure=title)
        for field, title in MEASURES.items()
    ]
    ratios, label = pd.concat(tables[:2], ignore_index=True), shared.LABELS[name]
    what = f"Labels on real tasks (gold not counted) and cover, along {label}."
    style: dict[str, Any] = {
        "series": "method",
        "panel": "measure",
        "log_x": name in ("tasks", "gold", "epsilon"),
    }
    line = {**style, "references": ((1.0, "proven bound"),)}
    if ratios["mean"].max() <= 4:
        together = pd.concat(tables, ignore_index=True)
        labels = (label, "ratio, or share")
        return [mean_chart(f"ratio-{name}", what, together, name, labels, **line)]
    return [
        mean_chart(f"ratio-{name}", what, ratios, name, (label, "ratio"), **line, log_y=True),
        mean_chart(f"covered-{name}", what, tables[2], name, (label, "share"), **style),
    ]


def exploration_chart(rows: pd.DataFrame, name: str) -> Chart:
    """Draw all labels, exploration's included, over the bound, along a parameter."""
    label = shared.LABELS[name]
    return mean_chart(
        f"exploration-{name}",
        "All labels bought, gold labels and preliminary workers' included, over the proven bound, "
        f"along {label}.",
        means(rows, ["method", name], "ratio_all"),
        name,
        (label, "all labels / proven bound"),
        series="method",
        log_x=True,
        references=((1.0, "proven bound"),),
    )


def promises(rows: pd.DataFrame) -> Analysis:
    """How often each method's theorem holds, its ratio there, and the reasons where it is void."""
    reason = rows["void"].fillna("").str.replace(r"[\d.e+-]*\d", "#", regex=True)
    rows = rows.assign(
        kept=(rows["ratio"] <= rows["promise"]).where(rows["promise"].notna()),
        reason=reason.where(reason != "", "holds"),
        theorem=rows["method"].map(THEOREMS),
    )
    table = rows.groupby(["method", "reason"]).agg(
        trials=("ratio", "size"),
        ratio=("ratio", "mean"),
        worst_ratio=("ratio", "max"),
        promise=("promise", "min"),
        kept=("kept", "sum"),
        formula_median=("formula", "median"),
    )
    table = table.reset_index().sort_values(
        ["method", "trials"], ascending=[True, False], ignore_index=True
    )
    theorems = rows.groupby("theorem").agg(
        trials=("ratio", "size"),
        holds=("promise", "count"),
        promise=("promise", "min"),
        most=("promise", "max"),
        kept=("kept", "sum"),
        formula=("formula", "median"),
    )
    findings = tuple(
        f"{row.Index}'s conditions hold in {row.holds:,} of {row.trials:,} trials{kept_there(row)}"
        f"; its expression has the median {row.formula:.4g}."
        for row in records(theorems)
    )
    return Analysis(findings, {"The theorems' promises: where they hold, and why not": table})


def kept_there(row: Any) -> str:
    """How often a theorem's ratio is kept where its conditions hold; empty where they never do."""
    if not row.holds:
        return ""
    return f"; there its ratio ({row.promise:.3g} to {row.most:.3g}) is kept in {row.kept:.0f}"


_EVERY: Block = {"method": list(METHODS)}
_WITHIN: Block = {
    "method": ["sampled weights", "adaptive"],
    "tasks": [20],
    "workers": [3000],
    "gamma": [1.0],
    "epsilon": [1e-200],
    "delta": [0.1],
    "crowd": ["equal"],
    "types": [1],
    "gold": [20_000],
    "corrected": [True],
}
"""Far from any real crowd: here the conditions of Theorems 2 and 5 hold."""

STUDY = Study(
    name="competitive-ratio",
    title="Competitive ratio of the adaptive assignment",
    source="Ho, Jabbari, Vaughan (2013), Theorems 1, 2 and 5",
    parameters={
        "method": Parameter(
            str,
            "adaptive",
            "what is known: all, skills, or nothing beforehand",
            choices=METHODS,
            paired=True,
        ),
        **shared.ARRIVING,
        "corrected": Parameter(bool, False, "whether ε′ is used, with Theorem 5's t", paired=True),
    },
    sizes={
        "smoke": Size(
            (
                {**_EVERY, "tasks": [60, 120], "workers": [40], "capacity": [60], "gamma": [0.5]},
                {
                    **_EVERY,
                    "tasks": [60],
                    "workers": [40],
                    "capacity": [60],
                    "gamma": [0.5],
                    "arrival": ["iid", "worst_first", "best_first", "alternating"],
                },
                {**_WITHIN, "tasks": [5], "gold": [20_000]},
            ),
            1,
        ),
        "small": Size(
            (
                {**_EVERY, "tasks": [100, 300, 1000], "workers": [150]},
                {**_EVERY, "tasks": [300], "workers": [150], "gamma": [0.1, 1.0]},
                {**_EVERY, "tasks": [300], "workers": [150], "epsilon": [0.2, 0.01]},
                {**_EVERY, "tasks": [300], "workers": [150], "gold": [5, 100]},
                {**_EVERY, "tasks": [300], "workers": [150], "arrival": list(shared.ARRIVALS)},
                _WITHIN,
            ),
            5,
        ),
        "paper": Size(
            (
                {**_EVERY, "tasks": [100, 250, 500, 1000, 2000]},
                {**_EVERY, "workers": [100, 200, 300, 600]},
                {**_EVERY, "gamma": [0.05, 0.1, 0.2, 0.3, 0.5, 1.0]},
                {**_EVERY, "epsilon": [0.2, 0.1, 0.05, 0.02, 0.01, 0.001]},
                {**_EVERY, "gold": [5, 10, 20, 50, 200, 1000]},
                {**_EVERY, "types": [1, 2, 3, 5]},
                {**_EVERY, "crowd": list(shared.CROWDS)},
                {**_EVERY, "arrival": list(shared.ARRIVALS)},
                _WITHIN,
            ),
            50,
        ),
    },
    trial=trial,
    analyse=analyse,
    version=2,
    deadline=300.0,
)
