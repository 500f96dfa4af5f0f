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

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from workbench.aggregation.voting import linear_weights, weighted_majority
from workbench.assignment.adaptive import AdaptiveAssigner, AdaptiveSettings
from workbench.assignment.primal import perturb, primal_approximation
from workbench.assignment.theorems import (
    Guarantee,
    mean_qualities,
    theorem_1,
    theorem_2,
    theorem_5,
)
from workbench.assignment.weights import offline_weights
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import generator
from workbench.crowd.sources import collect
from workbench.studies.catalog._adaptive import COVERED, Instance, Relaxation, relaxation
from workbench.studies.catalog._arriving import ARRIVALS, CROWDS, bound_reached, drawn
from workbench.studies.measures import ended, measured, plus_minus
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
    TrialEnded,
)
from workbench.studies.summary import means
from workbench.studies.trials import Streams

METHODS = ("offline weights", "sampled weights", "adaptive")
SWEPT = ("tasks", "workers", "gamma", "epsilon", "gold", "types", "crowd", "arrival")
MEASURES = {
    "ratio": "labels / proven bound",
    "ratio_reached": "labels / bound at the cover reached",
    "covered": "share of tasks covered",
}


def trial(params: Params, streams: Streams) -> Record:
    """Run one method on one crowd, beside the certified bound."""
    instance = drawn(params, streams)
    need = float(requirement(params["epsilon"]))
    relaxed = relaxation(
        instance.offline(need), "the crowd cannot cover every task at this epsilon"
    )
    bound = relaxed.bound
    if relaxed.solution.certificate.status != "proven":
        note = relaxed.solution.note or "no bound"
        raise TrialEnded("numerics", f"the relaxation was not proven: {note}")
    own = streams.method(params["method"])
    run = {"offline weights": _offline, "sampled weights": _sampled, "adaptive": _adaptive}
    task, worker, skill, gold, promise, formula = run[params["method"]](
        instance, params, relaxed, own
    )
    gathered = instance.gathered(task, worker)
    reached = bound_reached(instance, np.minimum(gathered, need))
    votes = collect(instance.source, task, worker)
    weight = linear_weights(skill[instance.kinds[task], worker])
    error = None if promise.error is None else float(np.max(promise.error))
    return {
        "bound": bound,
        "labels_task": len(task),
        "labels_gold": gold,
        "ratio": len(task) / bound,
        "ratio_all": (len(task) + gold) / bound,
        "covered": float(np.mean(gathered >= need * COVERED)),
        "cover": float(np.minimum(gathered / need, 1).mean()),
        "bound_reached": reached,
        "ratio_reached": len(task) / reached if reached else None,
        "error": instance.error_of(weighted_majority(votes, weight, seed=own)),
        "promise": promise.ratio if promise.holds else None,
        "promised_error": error if promise.holds else None,
        "formula": formula if formula is not None and math.isfinite(formula) else None,
        "void": "; ".join(promise.failed),
    }


_Run = tuple[IntArray, IntArray, FloatArray, int, Guarantee, float | None]
"""Tasks and workers of the labels, skills the vote uses, gold labels, promise, its formula."""


def _offline(
    instance: Instance, params: Params, relaxed: Relaxation, own: np.random.SeedSequence
) -> _Run:
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
    return task, place + instance.preliminary, instance.crowd.skill, 0, promise, ratio


def _sampled(
    instance: Instance,
    params: Params,
    relaxed: Relaxation,  # noqa: ARG001 (methods are called alike)
    own: np.random.SeedSequence,
) -> _Run:
    """Algorithm 2 without its gold tasks: every skill is seen as it is (Section 5.1)."""
    crowd = instance.crowd
    settings = AdaptiveSettings(params["epsilon"], len(instance.main), instance.preliminary)
    assigner = AdaptiveAssigner(instance.kinds, settings, seed=own)
    capacity = crowd.capacity.tolist()
    for j in range(instance.preliminary):
        assigner.sample(crowd.skill[:, j], capacity[j])
    chosen = [
        assigner.assign(crowd.skill[:, j], capacity[j])
        for j in range(instance.preliminary, len(crowd))
    ]
    assert assigner.sampled is not None
    promise = theorem_2(
        epsilon=params["epsilon"], delta=params["delta"], gamma=settings.gamma,
        n=instance.tasks, m=len(instance.main),
        least_quality=assigner.sampled.least_quality_used,
    )  # fmt: skip
    counts = [len(tasks) for tasks in chosen]
    worker = np.repeat(np.arange(instance.preliminary, len(crowd)), counts)
    return np.concatenate(chosen), worker, crowd.skill, 0, promise, promise.ratio


def _adaptive(
    instance: Instance, params: Params, relaxed: Relaxation, own: np.random.SeedSequence
) -> _Run:
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
    labels = np.maximum(np.bincount(result.task, minlength=instance.tasks), 1)
    promise = theorem_5(
        epsilon=params["epsilon"], delta=params["delta"], gamma=gamma, gold=params["gold"],
        n=instance.tasks, m=len(instance.main), types=params["types"],
        mean_quality_least=max(least, 1e-12),
        least_quality=result.sampled.least_quality_used,
        mean_quality=instance.gathered(result.task, result.worker) / labels,
    )  # fmt: skip
    formula = promise.ratio
    if not corrected:
        failed = (*promise.failed, "run without the ε′ correction")
        promise = Guarantee(promise.name, promise.labels, promise.ratio, promise.error, failed)
    return result.task, result.worker, result.skill, result.labels_gold, promise, formula


def analyse(table: pd.DataFrame) -> Analysis:
    """Ratios and cover along each swept parameter, and the theorems' promises beside them."""
    ok = measured(table, "ratio")
    base = {name: ok[name].mode().iloc[0] for name in SWEPT} if len(ok) else {}
    swept = {name: _along(ok, base, name) for name in base}
    swept = {name: rows for name, rows in swept.items() if len(rows[name].unique()) > 1}
    at_base = _at(ok, base, SWEPT)
    tables = {"At the base point": _summary(at_base, [])}
    charts = []
    for name, rows in swept.items():
        tables[f"Along {name}"] = _summary(rows, [name])
        charts += _charts(rows, name)
    charts += [
        _exploration(swept[name], name) for name in ("tasks", "gold", "epsilon") if name in swept
    ]
    promises = _promises(ok)
    if len(promises):
        tables["The theorems' promises: where they hold, and why not"] = promises
    return Analysis(
        findings=(
            ended(table), *_base_sentences(at_base, base), *_arrival_sentences(swept),
            *_promise_sentences(ok),
        ),
        tables=tables,
        charts=tuple(charts),
    )  # fmt: skip


def _at(ok: pd.DataFrame, base: dict[str, Scalar], names: tuple[str, ...]) -> pd.DataFrame:
    for name in names:
        if name in base:
            ok = ok[ok[name] == base[name]]
    return ok


def _along(ok: pd.DataFrame, base: dict[str, Scalar], name: str) -> pd.DataFrame:
    """Trials at the base point in all but one parameter, in its order."""
    rows = _at(ok, base, tuple(other for other in SWEPT if other != name))
    order = {"arrival": ARRIVALS, "crowd": CROWDS}.get(name)
    place = rows[name].map({one: at for at, one in enumerate(order)}) if order else rows[name]
    method = rows["method"].map({one: at for at, one in enumerate(METHODS)})
    return rows.assign(_place=place, _method=method).sort_values(
        ["_method", "_place", "repetition"], kind="stable"
    )


def _summary(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Means and standard errors of the measures, by method and parameter."""
    keys = ["method", *by]
    found = rows.groupby(keys, as_index=False, sort=False).agg(trials=("ratio", "size"))
    for field in ("ratio", "covered", "ratio_reached", "ratio_all", "error"):
        one = means(rows, keys, field).rename(columns={"mean": field, "se": f"{field}_se"})
        found = found.merge(one[[*keys, field, f"{field}_se"]], on=keys)
    return found


def _charts(rows: pd.DataFrame, name: str) -> list[Chart]:
    """Ratios and cover side by side; apart where ratios are so large that cover would vanish."""
    parts = {
        title: means(rows, ["method", name], field).assign(measure=title)
        for field, title in MEASURES.items()
    }
    data = pd.concat(parts.values(), ignore_index=True)
    ratios = data[data["measure"] != MEASURES["covered"]]
    count = f"Means over {_span(data['n'])} trials a mark; bars are 95 % "
    count += "intervals of the mean."
    caption = (
        "Labels bought on real tasks over the proven bound for covering every task, and over the "
        f"bound for the cover reached, along {_label(name)}; gold labels are not counted. {count}"
    )
    cover = f"Share of tasks whose labels gather the required quality, along {_label(name)}."
    log_x, one = name in ("tasks", "gold", "epsilon"), ((1.0, "proven bound"),)

    def drawn(stem: str, text: str, marks: pd.DataFrame, label: str, *, log_y: bool) -> Chart:
        return Chart(
            f"{stem}-{name}", text, marks, name, "mean", _label(name), label, series="method",
            panel="measure", low="low", high="high", log_x=log_x, log_y=log_y,
            references=one if stem == "ratio" else (),
        )  # fmt: skip

    if ratios["mean"].max() <= 4:
        text = f"{caption} {cover}"
        return [drawn("ratio", text, data, "ratio, or share", log_y=False)]
    covered = parts[MEASURES["covered"]]
    return [
        drawn("ratio", caption, ratios, "ratio", log_y=True),
        drawn("covered", f"{cover} {count}", covered, "share", log_y=False),
    ]


def _span(counts: pd.Series[int]) -> str:
    least, most = int(counts.min()), int(counts.max())
    return f"{least}" if least == most else f"{least} to {most}"


def _exploration(rows: pd.DataFrame, name: str) -> Chart:
    data = means(rows, ["method", name], "ratio_all")
    return Chart(
        f"exploration-{name}",
        f"All labels bought, gold labels and preliminary workers' included, over the proven bound, "
        f"along {_label(name)}. Means over {_span(data['n'])} trials a mark; "
        "bars are 95 % intervals of the mean.",
        data, name, "mean", _label(name), "all labels / proven bound", series="method",
        low="low", high="high", log_x=True, references=((1.0, "proven bound"),),
    )  # fmt: skip


def _label(name: str) -> str:
    return {
        "tasks": "tasks n", "workers": "workers m", "gamma": "sampled workers per worker, γ",
        "epsilon": "error asked for, ε", "gold": "gold tasks a worker and type, s",
        "types": "task types T", "crowd": "crowd", "arrival": "order of arrival",
    }[name]  # fmt: skip


def _base_sentences(rows: pd.DataFrame, base: dict[str, Scalar]) -> list[str]:
    if rows.empty:
        return []
    where = ", ".join(f"{name} {value}" for name, value in base.items())
    sentences = [f"Base point: {where}."]
    sentences += [
        f"{str(row['method']).capitalize()}: {plus_minus(row['ratio'], row['ratio_se'])} times the "
        f"proven bound, with {100 * row['covered']:.1f} % of the tasks covered; "
        f"{plus_minus(row['ratio_reached'], row['ratio_reached_se'])} times the bound for the "
        f"cover reached; {plus_minus(row['ratio_all'], row['ratio_all_se'])} times the bound with "
        f"gold labels ({row['trials']} trials)."
        for row in _summary(rows, []).to_dict("records")
    ]
    return sentences


def _arrival_sentences(swept: dict[str, pd.DataFrame]) -> list[str]:
    if "arrival" not in swept:
        return []
    found = _summary(swept["arrival"], ["arrival"])
    return [
        f"{str(row['method']).capitalize()} when workers come {row['arrival'].replace('_', ' ')}: "
        f"ratio {plus_minus(row['ratio'], row['ratio_se'])}, {100 * row['covered']:.1f} % covered, "
        f"{plus_minus(row['ratio_reached'], row['ratio_reached_se'])} at the cover reached."
        for row in found.to_dict("records")
        if row["arrival"] in ("worst_first", "best_first", "alternating")
        and row["method"] != "offline weights"
    ]


def _promises(ok: pd.DataFrame) -> pd.DataFrame:
    """How often each method's theorem holds, its ratio there, and the reasons where it is void."""
    if ok.empty:
        return pd.DataFrame()
    reasons = ok["void"].fillna("").str.replace(r"[\d.e+-]*\d", "#", regex=True)
    return (
        ok.assign(
            reason=reasons.where(reasons != "", "holds"),
            kept=(ok["ratio"] <= ok["promise"]).where(ok["promise"].notna()),
        )
        .groupby(["method", "reason"], as_index=False)
        .agg(
            trials=("ratio", "size"), ratio=("ratio", "mean"), worst_ratio=("ratio", "max"),
            promise=("promise", "min"), kept=("kept", "sum"), formula_median=("formula", "median"),
        )
        .sort_values(["method", "trials"], ascending=[True, False], ignore_index=True)
    )  # fmt: skip


def _promise_sentences(ok: pd.DataFrame) -> list[str]:
    sentences = []
    names = dict(zip(METHODS, ("Theorem 1", "Theorem 2", "Theorem 5"), strict=True))
    for method, theorem in names.items():
        rows = ok[ok["method"] == method]
        if rows.empty:
            continue
        holds = rows[rows["promise"].notna()]
        text = f"{theorem}'s conditions hold in {len(holds):,} of {len(rows):,} trials"
        if len(holds):
            kept = int((holds["ratio"] <= holds["promise"]).sum())
            text += (
                f"; there its ratio ({holds['promise'].min():.3g} to "
                f"{holds['promise'].max():.3g}) is kept in {kept:,}, the measured one being "
                f"{holds['ratio'].mean():.3f} in the mean"
            )
        void = rows[rows["promise"].isna()]["formula"].dropna()
        if len(void):
            text += f"; where void its expression has the median {void.median():.4g}"
        sentences.append(text + ".")
    return sentences


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
        "tasks": Parameter(int, 1000, "n", least=1, most=100_000),
        "workers": Parameter(int, 300, "m, without preliminary workers", least=2, most=100_000),
        "capacity": Parameter(int, 200, "M, the most tasks a worker takes", least=1),
        "types": Parameter(int, 3, "T, task types", least=1, most=50),
        "crowd": Parameter(
            str, "spread",
            "skills spread over [0.5, 1]; 0.9 at one type and 0.5 at others; half 0.9, half 0.5; "
            "all 0.9",
            choices=CROWDS,
        ),
        "gamma": Parameter(float, 0.3, "γ, sampled workers for each worker", least=1e-6, most=10),
        "epsilon": Parameter(
            float, 0.05, "ε, error asked for", least=1e-300, most=0.999, paired=True
        ),
        "gold": Parameter(int, 20, "s, gold tasks a worker and type", least=1, paired=True),
        "arrival": Parameter(
            str, "random", "order of arrival of sampled and main workers", choices=ARRIVALS,
            paired=True,
        ),
        "delta": Parameter(
            float, 0.05, "δ of the theorems", least=1e-12, most=0.499, paired=True
        ),
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
