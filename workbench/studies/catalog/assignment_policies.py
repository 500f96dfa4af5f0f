"""Online assignment policies side by side: labels bought, tasks covered, who is best where.

Each trial draws a crowd, orders it, lets one policy of `workbench.assignment.policies` assign
tasks, and measures against the certified bound of the offline relaxation with true skills. The
skills a policy is told are the true ones (then all that is lost is lost to not knowing who comes)
or those estimated from s gold tasks a type, as the paper's algorithm has them; hindsight always has
the true ones. All policies meet the same workers, orders and gold answers.

The figures are those of the study `competitive-ratio`, and one more:

- `ratio`: labels on real tasks over the bound for covering every task at ε;
- `covered`: share of tasks whose labels gather 2 ln(1/ε) of true quality; `solved`: whether all do.
  Where a policy that leaves tasks short does not count as solving the problem, `ratio_solved` is
  the ratio over the trials that are solved;
- `ratio_reached`: labels over a bound for what was reached, never below 1;
- `ratio_repaired`: the labels, and those it takes workers drawn at random from the crowd to make
  up for what is lacking (each task's lack over the type's mean quality, rounded up), over the
  bound. Doing nothing costs what random assignment costs: no policy gains by leaving tasks short.

The best policy of a setting is the one of the least mean `ratio_repaired`, hindsight apart. It is
told apart from the runner-up where the 95 % interval of their difference, in pairs, excludes 0.
Beside it stands the policy of fewest labels among those that cover 99 % of the tasks in the mean.

Source: beyond Ho, Jabbari, Vaughan (2013), Theorems 1, 2 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from crowd_models import requirement
from workbench.aggregation.voting import linear_weights, weighted_majority
from workbench.assignment import POLICIES
from workbench.assignment.policies import (
    ArrivingWorker,
    AssignmentPolicy,
    CoverageAware,
    Hindsight,
    Paper,
    Setting,
    play,
)
from workbench.assignment.theorems import (
    Guarantee,
    mean_qualities,
    theorem_1,
    theorem_2,
    theorem_5,
)
from workbench.base.arrays import FloatArray, IntArray
from workbench.crowd.skills import estimate_skills
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
from workbench.studies.summary import means, paired_differences
from workbench.studies.trials import Streams

ONLINE = tuple(name for name in POLICIES if POLICIES[name].call.online)
INFORMATION = ("true", "estimated")
SETTINGS = (
    "information", "arrival", "crowd", "tasks", "workers", "capacity", "types", "gamma",
    "epsilon", "gold",
)  # fmt: skip
ENOUGH = 0.99
"""Mean share of tasks covered from which on a policy counts as covering."""
TIED = 1e-9
"""Means no further apart than this are equal."""
LABELS = {
    "information": "skills known", "arrival": "order of arrival", "crowd": "crowd",
    "tasks": "tasks n", "workers": "workers m", "gamma": "sampled workers per worker, γ",
    "epsilon": "error asked for, ε", "gold": "gold tasks a worker and type, s",
}  # fmt: skip


def trial(params: Params, streams: Streams) -> Record:
    """Let one policy assign one crowd, beside the certified bound."""
    instance = drawn(params, streams)
    need = float(requirement(params["epsilon"]))
    relaxed = relaxation(
        instance.offline(need), "the crowd cannot cover every task at this epsilon"
    )
    if relaxed.solution.certificate.status != "proven":
        raise TrialEnded("numerics", relaxed.solution.note or "the relaxation was not proven")
    name, own = params["policy"], streams.method(params["policy"])
    skill, gold = _told(instance, params)
    setting, workers = _setting(instance, params, skill)
    run, policy = play(name, setting, workers, seed=own)
    task, worker = run.task, run.worker + instance.preliminary
    gathered = instance.gathered(task, worker)
    covered = gathered >= need * COVERED
    bound, reached = relaxed.bound, bound_reached(instance, np.minimum(gathered, need))
    promise = _promise(policy, params, instance, relaxed, task, worker)
    used = instance.crowd.skill if name == "hindsight" else skill
    weight = linear_weights(used[instance.kinds[task], worker])
    votes = collect(instance.source, task, worker)
    repair = _repair(instance, np.where(covered, 0.0, need - gathered))
    solved = bool(covered.all())
    return {
        "bound": bound,
        "labels_task": len(task),
        "labels_gold": gold,
        "ratio": len(task) / bound,
        "ratio_all": (len(task) + gold) / bound,
        "covered": float(covered.mean()),
        "solved": solved,
        "ratio_solved": len(task) / bound if solved else None,
        "bound_reached": reached,
        "ratio_reached": len(task) / reached if reached else None,
        "repair": repair,
        "ratio_repaired": None if repair is None else (len(task) + repair) / bound,
        "error": instance.error_of(weighted_majority(votes, weight, seed=own)),
        "guarantee": promise.name,
        "promise": promise.ratio if promise.holds else None,
        "formula": _finite(promise.ratio),
        "void": "; ".join(promise.failed),
    }


def _told(instance: Instance, params: Params) -> tuple[FloatArray, int]:
    """Skills as the policy is told them, (T, γm + m), and the gold labels they cost."""
    if params["information"] == "true" or params["policy"] == "hindsight":
        return instance.crowd.skill, 0
    crowd = np.arange(len(instance.crowd))
    correct, answered = instance.source.gold_answers(crowd, params["gold"], seed=instance.seed)
    first = 0 if POLICIES[params["policy"]].call.uses_sample else instance.preliminary
    return estimate_skills(correct, answered).skill, int(answered[:, first:].sum())


def _setting(
    instance: Instance, params: Params, skill: FloatArray
) -> tuple[Setting, tuple[ArrivingWorker, ...]]:
    capacity = instance.crowd.capacity.tolist()
    told = [ArrivingWorker(skill[:, j], limit) for j, limit in enumerate(capacity)]
    true = [ArrivingWorker(instance.crowd.skill[:, j], limit) for j, limit in enumerate(capacity)]
    kind, first = POLICIES[params["policy"]].call, instance.preliminary
    setting = Setting(
        instance.kinds, params["epsilon"], len(instance.main),
        tuple(told[:first]) if kind.uses_sample else (),
        () if kind.online else tuple(true[first:]),
    )  # fmt: skip
    return setting, tuple(told[first:])


def _repair(instance: Instance, lacking: FloatArray) -> float | None:
    """Labels by workers drawn at random that would bring what each task (n,) lacks."""
    if not lacking.any():
        return 0.0
    mean = instance.main.quality.mean(axis=1)[instance.kinds]
    if not (mean[lacking > 0] > 0).all():
        return None
    return float(np.ceil(np.divide(lacking, mean, where=mean > 0, out=np.zeros(len(mean)))).sum())


def _promise(
    policy: AssignmentPolicy,
    params: Params,
    instance: Instance,
    relaxed: Relaxation,
    task: IntArray,
    worker: IntArray,
) -> Guarantee:
    """What is proven of the policy here; of most, no bound with explicit constants."""
    if isinstance(policy, Hindsight):
        found = theorem_1(policy.problem, policy.task_weights)
        assert found.labels is not None
        ratio = 1 + found.labels / relaxed.bound if relaxed.bound else None
        return Guarantee(found.name, ratio=ratio, failed=found.failed)
    if not isinstance(policy, (Paper, CoverageAware)):
        known = "none" if POLICIES[params["policy"]].call.promise == "none" else "order only"
        return Guarantee(known, failed=(known,))
    assert policy.assigner.sampled is not None
    m, random = len(instance.main), params["arrival"] in ("random", "iid")
    beyond = () if random else ("order of arrival is not random",)
    given = {
        "epsilon": params["epsilon"], "delta": params["delta"],
        "gamma": instance.preliminary / m, "n": instance.tasks, "m": m,
        "least_quality": policy.assigner.sampled.least_quality_used,
    }  # fmt: skip
    if params["information"] == "true":
        found = theorem_2(**given)
        return Guarantee(found.name, ratio=found.ratio, failed=(*found.failed, *beyond))
    labels = np.maximum(np.bincount(task, minlength=instance.tasks), 1)
    least = float(mean_qualities(instance.quality, relaxed.assignment).min())
    found = theorem_5(
        **given, gold=params["gold"], types=params["types"],
        mean_quality_least=max(least, 1e-12),
        mean_quality=instance.gathered(task, worker) / labels,
    )  # fmt: skip
    failed = (*found.failed, "run without the ε′ correction", *beyond)
    return Guarantee(found.name, ratio=found.ratio, failed=failed)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def best_policies(
    table: pd.DataFrame,
    by: Sequence[str],
    *,
    policies: Sequence[str] = ONLINE,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Name the best policy of every setting, by the least mean `ratio_repaired`.

    Parameters
    ----------
    table
        A row a trial, with `policy, repetition, ratio, covered, ratio_repaired`.
    by
        Columns that make the settings.
    policies
        Those that compete.

    Returns
    -------
    DataFrame
        Columns `by, best, alike, score, score_se, runner_up, behind, behind_low, behind_high,
        told_apart, covering, covering_ratio`: who has the same mean as the best, to rounding (where
        all good labels are equal, several policies buy the optimum); how far the next one is
        behind in pairs, with its interval; and who buys the fewest labels among those that cover
        `ENOUGH` of the tasks ("none"). A policy that could not be repaired in some trial does not
        compete.
    """
    rows = table[table["policy"].isin(policies)]
    scores = means(rows, [*by, "policy"], "ratio_repaired")
    for field in ("ratio", "covered"):
        one = means(rows, [*by, "policy"], field).rename(columns={"mean": field})
        scores = scores.merge(one[[*by, "policy", field]], on=[*by, "policy"])
    found = []
    groups = scores.groupby(list(by), sort=False, dropna=False) if by else [((), scores)]
    for where, own in groups:
        names = dict(zip(by, where if isinstance(where, tuple) else (where,), strict=True))
        ranked = own[own["failed"] == 0].sort_values("mean", kind="stable")
        covering = own[own["covered"] >= ENOUGH].sort_values("ratio", kind="stable")
        line: dict[str, object] = {
            **names, "best": "none", "alike": "", "score": math.nan, "score_se": math.nan,
            "runner_up": "none", "behind": math.nan, "behind_low": math.nan,
            "behind_high": math.nan, "told_apart": False,
            "covering": covering["policy"].iloc[0] if len(covering) else "none",
            "covering_ratio": covering["ratio"].iloc[0] if len(covering) else math.nan,
        }  # fmt: skip
        if len(ranked):
            first = ranked.iloc[0]
            tied = ranked["mean"] <= first["mean"] + TIED
            line |= {
                "best": first["policy"], "alike": ", ".join(ranked[tied]["policy"].iloc[1:]),
                "score": first["mean"], "score_se": first["se"],
            }  # fmt: skip
            ranked = ranked[~tied]
        if len(ranked):
            second = ranked.iloc[0]["policy"]
            pair = rows[rows["policy"].isin([line["best"], second])]
            for name, value in names.items():
                pair = pair[pair[name] == value]
            gap = paired_differences(
                pair, pair=_pairs(pair), method="policy", reference=line["best"],
                value="ratio_repaired", confidence=confidence,
            ).iloc[0]  # fmt: skip
            line |= {
                "runner_up": second, "behind": gap["mean"], "behind_low": gap["low"],
                "behind_high": gap["high"], "told_apart": bool(gap["low"] > 0),
            }  # fmt: skip
        found.append(line)
    return pd.DataFrame(found)


def _pairs(table: pd.DataFrame) -> list[str]:
    return [one for one in ("seed", "repetition") if one in table]


def analyse(table: pd.DataFrame) -> Analysis:
    """The best policy of each setting, all measures, and what is promised beside them."""
    ok = measured(table, "ratio")
    if ok.empty:
        return Analysis(findings=(ended(table),))
    ok = ok.assign(_place=ok["policy"].map({name: at for at, name in enumerate(POLICIES)}))
    ok = ok.sort_values(["_place", "repetition"], kind="stable").drop(columns="_place")
    varied = [name for name in SETTINGS if len(ok[name].unique()) > 1]
    base = {name: _base(ok, name) for name in SETTINGS}
    best = best_policies(ok, varied)
    tables = {
        "Best policy of each setting: least labels, repair included, over the proven bound": best,
        "Guarantees beside measured ratios": _guarantees(ok),
    }
    charts = []
    for name, label in LABELS.items():
        rows = _along(ok, base, name)
        if name == "gold":
            rows = rows[rows["information"] == "estimated"]
        if name != "information" and len(rows[name].unique()) > 1:
            tables[f"Along {label}"] = _summary(rows, [name])
            charts += _charts(rows, name)
    tables["Every setting"] = _summary(ok, varied)
    return Analysis(
        findings=(
            ended(table),
            "Best is the least mean of labels bought and labels that workers drawn at random would "
            "need to finish, over the proven bound; hindsight does not compete. Each interval "
            "is of one comparison with the runner-up, in pairs of the same crowd, order and gold "
            "answers.",
            *_best_sentences(best, varied),
            _tally(best),
        ),
        tables=tables,
        charts=tuple(charts),
    )  # fmt: skip


def _base(ok: pd.DataFrame, name: str) -> Scalar:
    """The default where it was run, else the most frequent value."""
    default = STUDY.parameters[name].default
    return default if (ok[name] == default).any() else ok[name].mode().iloc[0]


def _along(ok: pd.DataFrame, base: dict[str, Scalar], name: str) -> pd.DataFrame:
    """Trials at the base point in all but one parameter and the information, in its order."""
    rows = ok
    for other in SETTINGS:
        if other not in (name, "information"):
            rows = rows[rows[other] == base[other]]
    order = {"arrival": ARRIVALS, "crowd": CROWDS}.get(name)
    place = rows[name].map({one: at for at, one in enumerate(order)}) if order else rows[name]
    policy = rows["policy"].map({one: at for at, one in enumerate(POLICIES)})
    told = rows["information"].map({one: at for at, one in enumerate(INFORMATION)})
    return rows.assign(_told=told, _policy=policy, _at=place).sort_values(
        ["_told", "_policy", "_at", "repetition"], kind="stable"
    )


def _summary(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Means and standard errors of the measures, by information, parameter and policy."""
    keys = list(dict.fromkeys(["information", *by, "policy"]))
    found = rows.groupby(keys, as_index=False, sort=False).agg(
        trials=("ratio", "size"), solved=("solved", "mean"), worst=("ratio_repaired", "max")
    )
    found["solved"] = found["solved"].astype(float)
    fields = ("ratio", "covered", "ratio_reached", "ratio_repaired", "ratio_solved", "ratio_all")
    for field in (*fields, "error"):
        one = means(rows, keys, field).rename(columns={"mean": field, "se": f"{field}_se"})
        found = found.merge(one[[*keys, field, f"{field}_se"]], on=keys)
    return found


def _guarantees(ok: pd.DataFrame) -> pd.DataFrame:
    """By policy, information and order: what is promised, and what was measured."""
    keys = ["policy", "information", "arrival"]
    order = {name: at for at, name in enumerate(ARRIVALS)}
    found = (
        ok.assign(
            kept=(ok["ratio"] <= ok["promise"].astype(float)).where(ok["promise"].notna()),
            _at=ok["arrival"].map(order),
            _told=ok["information"].map({one: at for at, one in enumerate(INFORMATION)}),
        )
        .groupby(["policy", "_told", "_at", *keys[1:], "guarantee"], as_index=False, sort=False)
        .agg(
            trials=("ratio", "size"), holds=("promise", "count"), kept=("kept", "sum"),
            promise=("promise", "median"), formula_median=("formula", "median"),
            ratio=("ratio", "mean"), worst_ratio=("ratio", "max"), covered=("covered", "mean"),
            ratio_repaired=("ratio_repaired", "mean"),
        )
    )  # fmt: skip
    found["_policy"] = found["policy"].map({one: at for at, one in enumerate(POLICIES)})
    found = found.sort_values(["_policy", "_told", "_at"], kind="stable", ignore_index=True)
    found["stated"] = found["policy"].map({name: POLICIES[name].call.promise for name in POLICIES})
    found["needs"] = found["policy"].map({name: POLICIES[name].call.needs for name in POLICIES})
    return found.drop(columns=["_told", "_at", "_policy"])


def _charts(rows: pd.DataFrame, name: str) -> list[Chart]:
    told = rows["information"].map({"true": "true skills", "estimated": "estimated skills"})
    rows = rows.assign(panel=told)
    words = name in ("arrival", "crowd")
    charts = []
    for field, stem, text, label in (
        ("ratio_repaired", "repaired", "Labels bought, and those it would take workers drawn at "
         "random to cover what is left short, over the proven bound", "labels / proven bound"),
        ("covered", "covered", "Share of tasks whose labels gather the required quality",
         "share of tasks"),
    ):  # fmt: skip
        data = means(rows, ["panel", "policy", name], field)
        if stem == "covered":  # a share; Student's interval does not know
            data = data.assign(low=data["low"].clip(0, 1), high=data["high"].clip(0, 1))
        least, most = int(data["n"].min()), int(data["n"].max())
        trials = f"{least}" if least == most else f"{least} to {most}"
        charts.append(
            Chart(
                f"{stem}-{name}",
                f"{text}, along {LABELS[name]}. Hindsight has the true skills. Means over "
                f"{trials} trials a mark; bars are 95 % intervals of the mean.",
                data,
                name,
                "mean",
                LABELS[name],
                label,
                series="policy",
                panel="panel",
                low="low",
                high="high",
                kind="points" if words else "line",
                log_x=not words,
                log_y=stem == "repaired" and bool(data["mean"].max() > 3),
                references=((1.0, "proven bound"),) if stem == "repaired" else (),
            )
        )
    return charts


def _best_sentences(best: pd.DataFrame, varied: Sequence[str]) -> list[str]:
    said = []
    for row in best.to_dict("records"):
        where = ", ".join(f"{name} {row[name]}" for name in varied) or "the one setting"
        if row["best"] == "none":
            said.append(f"{where}: no policy could be repaired in every trial.")
            continue
        alike = f" (and {row['alike']}, equal)" if row["alike"] else ""
        text = f"{where}: {row['best']}{alike}, {plus_minus(row['score'], row['score_se'])}"
        if row["runner_up"] != "none":
            interval = f"{row['behind_low']:.3f} to {row['behind_high']:.3f}"
            text += (
                f", before {row['runner_up']} by {row['behind']:.3f} ({interval})"
                if row["told_apart"]
                else f", not told apart from {row['runner_up']} ({interval})"
            )
        if row["covering"] not in ("none", row["best"]):
            text += (
                f"; of those that cover {100 * ENOUGH:.0f} %, {row['covering']} buys the fewest, "
                f"{row['covering_ratio']:.3f}"
            )
        said.append(text + ".")
    return said


def _tally(best: pd.DataFrame) -> str:
    """How often each policy is best, alone or beside equals, and how often told apart."""
    winners = [
        [row["best"], *(row["alike"].split(", ") if row["alike"] else [])]
        for row in best.to_dict("records")
    ]
    everyone = list(dict.fromkeys(name for one in winners for name in one))
    counts = {name: sum(name in one for one in winners) for name in everyone}
    apart = {
        name: int((best["told_apart"] & (best["alike"] == "") & (best["best"] == name)).sum())
        for name in everyone
    }
    listed = ", ".join(
        f"{name} in {counts[name]} ({apart[name]} alone and told apart)"
        for name in sorted(everyone, key=lambda one: -counts[one])
    )
    return f"Best in {len(best)} settings, equals counted for each: {listed}."


_BOTH: Block = {"policy": list(ONLINE), "information": list(INFORMATION)}
_KNOWN: Block = {"policy": ["hindsight"], "information": ["true"]}

_GOLD: Block = {"policy": list(ONLINE), "information": ["estimated"], "gold": [5, 50, 200]}


def _each(**values: list[Scalar]) -> tuple[Block, Block]:
    """Every policy; hindsight once, as it does not go by what others are told."""
    return {**_BOTH, **values}, {**_KNOWN, **values}


STUDY = Study(
    name="assignment-policies",
    title="Online assignment policies beside the proven bound",
    source="beyond Ho, Jabbari, Vaughan (2013), Theorems 1, 2 and 5",
    parameters={
        "policy": Parameter(str, "paper", "who assigns", choices=tuple(POLICIES), paired=True),
        "information": Parameter(
            str, "true", "skills that a policy is told: true ones, or from gold tasks",
            choices=INFORMATION, paired=True,
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
    },
    sizes={
        "smoke": Size(
            _each(tasks=[60], workers=[40], capacity=[60], gamma=[0.5],
                  arrival=["random", "worst_first"], crowd=["spread", "hammers"]), 2,
        ),
        "small": Size(
            (*_each(tasks=[300], workers=[150], arrival=list(ARRIVALS)),
             *_each(tasks=[300], workers=[150], crowd=list(CROWDS)),
             *_each(tasks=[300], workers=[150], epsilon=[0.2, 0.01])), 10,
        ),
        "paper": Size(
            (*_each(arrival=list(ARRIVALS), crowd=list(CROWDS)),
             *_each(tasks=[250, 500]),
             *_each(epsilon=[0.2, 0.01, 0.001]),
             *_each(gamma=[0.05, 0.1, 1.0]),
             _GOLD), 15,
        ),
    },
    trial=trial,
    analyse=analyse,
    version=2,
    deadline=300.0,
)  # fmt: skip
