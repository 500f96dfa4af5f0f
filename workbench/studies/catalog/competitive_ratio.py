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

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from workbench.assignment.adaptive import AdaptiveAssigner, AdaptiveSettings
from workbench.assignment.primal import perturb, primal_approximation
from workbench.assignment.theorems import Guarantee, mean_qualities, theorem_1, theorem_2
from workbench.assignment.weights import offline_weights
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import generator
from workbench.studies.catalog.assignment_trials import (
    ARRIVALS,
    ARRIVING,
    CROWDS,
    LABELS,
    Instance,
    Relaxation,
    drawn,
    labels_record,
    promised_5,
    proven_relaxation,
    sampling,
)
from workbench.studies.measures import (
    along,
    base_point,
    ended,
    in_order,
    mean_chart,
    means_of,
    measured,
    sentences,
    summarise,
    varies,
)
from workbench.studies.study import (
    Analysis,
    Block,
    Chart,
    Parameter,
    Params,
    Record,
    Scalar,
    Size,
    Study,
)
from workbench.studies.summary import means
from workbench.studies.trials import Streams

METHODS = ("offline weights", "sampled weights", "adaptive")
THEOREMS = dict(zip(METHODS, ("Theorem 1", "Theorem 2", "Theorem 5"), strict=True))
SWEPT = ("tasks", "workers", "gamma", "epsilon", "gold", "types", "crowd", "arrival")
ORDERS = {"arrival": ARRIVALS, "crowd": CROWDS}
MEASURES = {
    "ratio": "labels / proven bound",
    "ratio_reached": "labels / bound at the cover reached",
    "covered": "share of tasks covered",
}


@dataclass(frozen=True, eq=False)
class MethodRun:
    """What a method bought: tasks and workers of the labels, gold labels, skills its vote uses."""

    task: IntArray
    worker: IntArray
    skill: FloatArray
    promise: Guarantee
    gold: int = 0


def trial(params: Params, streams: Streams) -> Record:
    """Run one method on one crowd, beside the certified bound."""
    instance = drawn(params, streams)
    need = float(requirement(params["epsilon"]))
    relaxed = proven_relaxation(instance, need)
    own = streams.method(params["method"])
    method = {"offline weights": _offline, "sampled weights": _sampled, "adaptive": _adaptive}
    run = method[params["method"]](instance, params, relaxed, own)
    promise = run.promise
    gathered = instance.gathered(run.task, run.worker)
    promised = None if promise.error is None else float(np.max(promise.error))
    return {
        **labels_record(instance, relaxed, need, run.task, run.worker, run.gold, promise),
        "cover": float(np.minimum(gathered / need, 1).mean()),
        "error": instance.vote_error(run.task, run.worker, run.skill, own),
        "promised_error": promised if promise.holds else None,
    }


def _offline(
    instance: Instance, params: Params, relaxed: Relaxation, own: np.random.SeedSequence
) -> MethodRun:
    """Algorithm 1 with the optimal dual, qualities perturbed by type and worker.

    Perturbed pair by pair, as Theorem 1 wants it, no two tasks could be counted together, and
    the relaxation would take seconds. By type, tasks of a type share their marginal worker:
    covered all the same, at up to n labels above the optimum in place of min(m, n).
    """
    rng = generator(own)
    problem = instance.offline(float(requirement(params["epsilon"])))
    seen = perturb(instance.main.quality, seed=rng)[instance.kinds]
    perturbed = AssignmentProblem(seen, problem.capacity, problem.requirement)
    weights, _, _ = offline_weights(perturbed)
    task, place = np.nonzero(primal_approximation(seen, weights, problem.capacity, seed=rng))
    promise = theorem_1(problem, weights, seen)
    bound = relaxed.bound
    ratio = None if promise.labels is None or not bound else 1 + promise.labels / bound
    promise = Guarantee(promise.name, ratio=ratio, failed=promise.failed)
    return MethodRun(task, place + instance.preliminary, instance.crowd.skill, promise)


def _sampled(
    instance: Instance,
    params: Params,
    relaxed: Relaxation,  # noqa: ARG001 (methods are called alike)
    own: np.random.SeedSequence,
) -> MethodRun:
    """Algorithm 2 without its gold tasks: every skill is seen as it is (Section 5.1)."""
    crowd, first = instance.crowd, instance.preliminary
    settings = AdaptiveSettings(params["epsilon"], len(instance.main), first)
    assigner = AdaptiveAssigner(instance.kinds, settings, seed=own)
    capacity = crowd.capacity.tolist()
    for j in range(first):
        assigner.sample(crowd.skill[:, j], capacity[j])
    chosen = [assigner.assign(crowd.skill[:, j], capacity[j]) for j in range(first, len(crowd))]
    assert assigner.sampled is not None
    promise = theorem_2(sampling(instance, params, assigner.sampled.least_quality_used))
    worker = np.repeat(np.arange(first, len(crowd)), [len(tasks) for tasks in chosen])
    return MethodRun(np.concatenate(chosen), worker, crowd.skill, promise)


def _adaptive(
    instance: Instance, params: Params, relaxed: Relaxation, own: np.random.SeedSequence
) -> MethodRun:
    """The Main Algorithm; corrected, it is told t of Theorem 5 and, in hindsight, q̄*_min."""
    least = float(mean_qualities(instance.quality, relaxed.assignment).min())
    gamma = instance.preliminary / len(instance.main)
    union = math.log(4 * params["types"] * (1 + gamma) * len(instance.main) / params["delta"])
    corrected = params["corrected"] and least > 0
    result = instance.run_adaptive(
        epsilon=params["epsilon"], gold=params["gold"], seed=own,
        radius=math.sqrt(union / (2 * params["gold"])) if corrected else None,
        mean_quality_least=least if corrected else None,
    )  # fmt: skip
    given = sampling(instance, params, result.sampled.least_quality_used)
    promise = promised_5(instance, params, relaxed, given, result.task, result.worker)
    if not corrected:
        promise = replace(promise, failed=(*promise.failed, "run without the ε′ correction"))
    return MethodRun(result.task, result.worker, result.skill, promise, result.labels_gold)


def analyse(table: pd.DataFrame) -> Analysis:
    """Ratios and cover along each swept parameter, and the theorems' promises beside them."""
    ok = measured(table, "ratio")
    base = base_point(ok, SWEPT)
    at_base = _summary(along(ok, base), [])
    swept = {name: _along(ok, base, name) for name in base}
    swept = {name: rows for name, rows in swept.items() if varies(rows, name)}
    tables = {"At the base point": at_base}
    tables |= {f"Along {name}": _summary(rows, [name]) for name, rows in swept.items()}
    charts = [chart for name, rows in swept.items() for chart in _charts(rows, name)]
    charts += [
        mean_chart(
            f"exploration-{name}",
            "All labels bought, gold labels and preliminary workers' included, over the proven "
            f"bound, along {LABELS[name]}.",
            means(swept[name], ["method", name], "ratio_all"),
            name,
            (LABELS[name], "all labels / proven bound"),
            series="method",
            log_x=True,
            references=((1.0, "proven bound"),),
        )
        for name in ("tasks", "gold", "epsilon")
        if name in swept
    ]
    tables["The theorems' promises: where they hold, and why not"] = _promises(ok)
    where = ", ".join(f"{name} {value}" for name, value in base.items())
    said = sentences(
        "{method:cap}: {ratio:±3} times the proven bound, with {covered:1 %} of the tasks covered; "
        "{ratio_reached:±3} times the bound for the cover reached; {ratio_all:±3} times the bound "
        "with gold labels ({trials} trials).",
        at_base,
    )
    if "arrival" in swept:
        found = tables["Along arrival"]
        adverse = ~found["arrival"].isin(["random", "iid"]) & (found["method"] != METHODS[0])
        said += sentences(
            "{method:cap} when workers come {arrival}: ratio {ratio:±3}, {covered:1 %} covered, "
            "{ratio_reached:±3} at the cover reached.",
            found[adverse].assign(arrival=found["arrival"].str.replace("_", " ")),
        )
    return Analysis(
        findings=(ended(table), f"Base point: {where}.", *said, *_promise_sentences(ok)),
        tables=tables,
        charts=tuple(charts),
    )


def _along(ok: pd.DataFrame, base: dict[str, Scalar], name: str) -> pd.DataFrame:
    """Trials at the base point in all but one parameter, in its order."""
    orders = {"method": METHODS, name: ORDERS.get(name), "repetition": None}
    return in_order(along(ok, base, name), orders)


def _summary(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Means and standard errors of the measures, by method and parameter."""
    fields = means_of("ratio", "covered", "ratio_reached", "ratio_all", "error")
    return summarise(rows, ["method", *by], {"trials": ("ratio", "size"), **fields})


def _charts(rows: pd.DataFrame, name: str) -> list[Chart]:
    """Ratios and cover side by side; apart where ratios are so large that cover would vanish."""
    label = LABELS[name]
    parts = [
        means(rows, ["method", name], field).assign(measure=title)
        for field, title in MEASURES.items()
    ]
    ratios = pd.concat(parts[:2], ignore_index=True)
    bought = (
        "Labels bought on real tasks over the proven bound for covering every task, and over the "
        f"bound for the cover reached, along {label}; gold labels are not counted."
    )
    cover = f"Share of tasks whose labels gather the required quality, along {label}."
    style = {"series": "method", "panel": "measure", "log_x": name in ("tasks", "gold", "epsilon")}
    line = {"references": ((1.0, "proven bound"),)}
    if ratios["mean"].max() <= 4:
        both, labels = pd.concat(parts, ignore_index=True), (label, "ratio, or share")
        return [
            mean_chart(f"ratio-{name}", f"{bought} {cover}", both, name, labels, **style, **line)
        ]
    return [
        mean_chart(
            f"ratio-{name}", bought, ratios, name, (label, "ratio"), **style, **line, log_y=True
        ),
        mean_chart(f"covered-{name}", cover, parts[2], name, (label, "share"), **style),
    ]


def _promises(ok: pd.DataFrame) -> pd.DataFrame:
    """How often each method's theorem holds, its ratio there, and the reasons where it is void."""
    reasons = ok["void"].fillna("").str.replace(r"[\d.e+-]*\d", "#", regex=True)
    found = summarise(
        ok.assign(reason=reasons.where(reasons != "", "holds"), kept=_kept(ok)),
        ["method", "reason"],
        {
            "trials": ("ratio", "size"),
            "ratio": ("ratio", "mean"),
            "worst_ratio": ("ratio", "max"),
            "promise": ("promise", "min"),
            "kept": ("kept", "sum"),
            "formula_median": ("formula", "median"),
        },
        sort=True,
    )
    return found.sort_values(["method", "trials"], ascending=[True, False], ignore_index=True)


def _kept(ok: pd.DataFrame) -> pd.Series[bool]:
    """Whether a promise is kept; missing where there is none."""
    return (ok["ratio"] <= ok["promise"]).where(ok["promise"].notna())


def _promise_sentences(ok: pd.DataFrame) -> list[str]:
    said = []
    for method, theorem in THEOREMS.items():
        rows = ok[ok["method"] == method]
        holds, void = rows["promise"].notna(), rows[rows["promise"].isna()]["formula"].dropna()
        if rows.empty:
            continue
        text = f"{theorem}'s conditions hold in {holds.sum():,} of {len(rows):,} trials"
        if holds.any():
            promise = rows["promise"][holds]
            text += (
                f"; there its ratio ({promise.min():.3g} to {promise.max():.3g}) is kept in "
                f"{_kept(rows).sum():,}, the measured one being {rows['ratio'][holds].mean():.3f} "
                "in the mean"
            )
        if len(void):
            text += f"; where void its expression has the median {void.median():.4g}"
        said.append(text + ".")
    return said


_EVERY: Block = {"method": list(METHODS)}
_WITHIN: Block = {
    "method": ["sampled weights", "adaptive"], "tasks": [20], "workers": [3000], "gamma": [1.0],
    "epsilon": [1e-200], "delta": [0.1], "crowd": ["equal"], "types": [1], "gold": [20_000],
    "corrected": [True],
}  # fmt: skip
"""Far from any real crowd: here the conditions of Theorems 2 and 5 hold."""

STUDY = Study(
    name="competitive-ratio",
    title="Competitive ratio of the adaptive assignment",
    source="Ho, Jabbari, Vaughan (2013), Theorems 1, 2 and 5",
    parameters={
        "method": Parameter(
            str, "adaptive", "what is known: all, skills, or nothing beforehand",
            choices=METHODS, paired=True,
        ),
        **ARRIVING,
        "corrected": Parameter(
            bool, False, "whether ε′ is used, with Theorem 5's t", paired=True
        ),
    },
    sizes={
        "smoke": Size(
            ({**_EVERY, "tasks": [60, 120], "workers": [40], "capacity": [60], "gamma": [0.5]},
             {**_EVERY, "tasks": [60], "workers": [40], "capacity": [60], "gamma": [0.5],
              "arrival": ["iid", "worst_first", "best_first", "alternating"]},
             {**_WITHIN, "tasks": [5], "gold": [20_000]}),
            2,
        ),
        "small": Size(
            ({**_EVERY, "tasks": [100, 300, 1000], "workers": [150]},
             {**_EVERY, "tasks": [300], "workers": [150], "gamma": [0.1, 1.0]},
             {**_EVERY, "tasks": [300], "workers": [150], "epsilon": [0.2, 0.01]},
             {**_EVERY, "tasks": [300], "workers": [150], "gold": [5, 100]},
             {**_EVERY, "tasks": [300], "workers": [150], "arrival": list(ARRIVALS)},
             _WITHIN),
            5,
        ),
        "paper": Size(
            ({**_EVERY, "tasks": [100, 250, 500, 1000, 2000]},
             {**_EVERY, "workers": [100, 200, 300, 600]},
             {**_EVERY, "gamma": [0.05, 0.1, 0.2, 0.3, 0.5, 1.0]},
             {**_EVERY, "epsilon": [0.2, 0.1, 0.05, 0.02, 0.01, 0.001]},
             {**_EVERY, "gold": [5, 10, 20, 50, 200, 1000]},
             {**_EVERY, "types": [1, 2, 3, 5]},
             {**_EVERY, "crowd": list(CROWDS)},
             {**_EVERY, "arrival": list(ARRIVALS)},
             _WITHIN),
            50,
        ),
    },
    trial=trial,
    analyse=analyse,
    version=2,
    deadline=300.0,
)  # fmt: skip
