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
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from crowd_models import requirement
from workbench.assignment import POLICIES
from workbench.assignment.policies import (
    COVERED,
    ArrivingWorker,
    AssignmentPolicy,
    CoverageAware,
    Hindsight,
    Paper,
    Setting,
    play,
)
from workbench.assignment.theorems import Guarantee, theorem_1, theorem_2
from workbench.base.arrays import FloatArray, IntArray
from workbench.crowd.skills import estimate_skills
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
    fill,
    in_order,
    mean_chart,
    means_of,
    measured,
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
from workbench.studies.summary import means, paired_differences
from workbench.studies.trials import Streams

ONLINE = tuple(name for name in POLICIES if POLICIES[name].call.online)
INFORMATION = ("true", "estimated")
SETTINGS = (
    "information", "arrival", "crowd", "tasks", "workers", "capacity", "types", "gamma",
    "epsilon", "gold",
)  # fmt: skip
SWEPT = ("arrival", "crowd", "tasks", "workers", "gamma", "epsilon", "gold")
ORDERS: dict[str, Sequence[str]] = {
    "policy": tuple(POLICIES), "information": INFORMATION, "arrival": ARRIVALS, "crowd": CROWDS,
}  # fmt: skip
ENOUGH = 0.99
"""Mean share of tasks covered from which on a policy counts as covering."""
TIED = 1e-9
"""Means no further apart than this are equal."""


def trial(params: Params, streams: Streams) -> Record:
    """Let one policy assign one crowd, beside the certified bound."""
    instance = drawn(params, streams)
    need = float(requirement(params["epsilon"]))
    relaxed = proven_relaxation(instance, need)
    name, own = params["policy"], streams.method(params["policy"])
    skill, gold = _told(instance, params)
    setting, workers = _setting(instance, params, skill)
    run, policy = play(name, setting, workers, seed=own)
    task, worker = run.task, run.worker + instance.preliminary
    promise = _promise(policy, params, instance, relaxed, task, worker)
    gathered = instance.gathered(task, worker)
    covered = gathered >= need * COVERED
    repair = _repair(instance, np.where(covered, 0.0, need - gathered))
    used = instance.crowd.skill if name == "hindsight" else skill
    labels, bound, solved = len(task), relaxed.bound, bool(covered.all())
    return {
        **labels_record(instance, relaxed, need, task, worker, gold, promise),
        "solved": solved,
        "ratio_solved": labels / bound if solved else None,
        "repair": repair,
        "ratio_repaired": None if repair is None else (labels + repair) / bound,
        "error": instance.vote_error(task, worker, used, own),
        "guarantee": promise.name,
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
    given = sampling(instance, params, policy.assigner.sampled.least_quality_used)
    random = params["arrival"] in ("random", "iid")
    beyond = () if random else ("order of arrival is not random",)
    if params["information"] == "true":
        found = theorem_2(given)
    else:
        found = promised_5(instance, params, relaxed, given, task, worker)
        beyond = ("run without the ε′ correction", *beyond)
    return replace(found, failed=(*found.failed, *beyond))


def best_policies(
    table: pd.DataFrame, by: Sequence[str], *, policies: Sequence[str] = ONLINE
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
    scores = summarise(
        rows,
        [*by, "policy"],
        {**{name: ("ratio_repaired", name) for name in ("mean", "se", "failed")},
         "ratio": ("ratio", "mean"), "covered": ("covered", "mean")},
    )  # fmt: skip
    found = []
    for where, own in scores.groupby(list(by), sort=False) if by else [((), scores)]:
        names = dict(zip(by, where, strict=True))
        ranked = own[own["failed"] == 0].sort_values("mean", kind="stable")
        tied = ranked["mean"] <= ranked["mean"].min() + TIED
        best, others = ranked[tied], ranked[~tied]
        covering = own[own["covered"] >= ENOUGH].sort_values("ratio", kind="stable")
        first, second = _first(best, "policy", "none"), _first(others, "policy", "none")
        gap = pd.Series(math.nan, index=["mean", "low", "high"])
        if len(others):
            pair = along(rows[rows["policy"].isin([first, second])], names)
            gap = paired_differences(
                pair, method="policy", reference=first, value="ratio_repaired"
            ).iloc[0]  # fmt: skip
        found.append({
            **names, "best": first, "alike": ", ".join(best["policy"].iloc[1:]),
            "score": _first(best, "mean"), "score_se": _first(best, "se"), "runner_up": second,
            "behind": gap["mean"], "behind_low": gap["low"], "behind_high": gap["high"],
            "told_apart": bool(gap["low"] > 0), "covering": _first(covering, "policy", "none"),
            "covering_ratio": _first(covering, "ratio"),
        })  # fmt: skip
    return pd.DataFrame(found)


def _first(rows: pd.DataFrame, column: str, missing: Any = math.nan) -> Any:
    return rows[column].iloc[0] if len(rows) else missing


def analyse(table: pd.DataFrame) -> Analysis:
    """The best policy of each setting, all measures, and what is promised beside them."""
    ok = measured(table, "ratio")
    ok = in_order(ok, {"policy": ORDERS["policy"], "repetition": None})
    varied = [name for name in SETTINGS if varies(ok, name)]
    defaults = {name: known.default for name, known in STUDY.parameters.items()}
    base = base_point(ok, SETTINGS, defaults)
    best = best_policies(ok, varied)
    tables = {
        "Best policy of each setting: least labels, repair included, over the proven bound": best,
        "Guarantees beside measured ratios": _guarantees(ok),
    }
    charts = []
    for name in SWEPT:
        rows = in_order(
            along(ok, base, name, "information"),
            {key: ORDERS.get(key) for key in ("information", "policy", name, "repetition")},
        )
        if name == "gold":
            rows = rows[rows["information"] == "estimated"]
        if varies(rows, name):
            tables[f"Along {LABELS[name]}"] = _summary(rows, [name])
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
    )


def _summary(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Means and standard errors of the measures, by information, parameter and policy."""
    keys = list(dict.fromkeys(["information", *by, "policy"]))
    counts = {
        "trials": ("ratio", "size"),
        "solved": ("solved", "mean"),
        "worst": ("ratio_repaired", "max"),
    }
    fields = means_of(
        "ratio", "covered", "ratio_reached", "ratio_repaired", "ratio_solved", "ratio_all", "error"
    )
    return summarise(rows, keys, {**counts, **fields})


def _guarantees(ok: pd.DataFrame) -> pd.DataFrame:
    """By policy, information and order: what is promised, and what was measured."""
    promise = ok["promise"].astype(float)
    rows = ok.assign(kept=(ok["ratio"] <= promise).where(promise.notna()))
    keys = ("policy", "information", "arrival")
    found = summarise(
        in_order(rows, {key: ORDERS[key] for key in keys}),
        [*keys, "guarantee"],
        {"trials": ("ratio", "size"), "holds": ("promise", "count"), "kept": ("kept", "sum"),
         "promise": ("promise", "median"), "formula_median": ("formula", "median"),
         "ratio": ("ratio", "mean"), "worst_ratio": ("ratio", "max"),
         "covered": ("covered", "mean"), "ratio_repaired": ("ratio_repaired", "mean")},
    )  # fmt: skip
    kinds = [POLICIES[name].call for name in found["policy"]]
    return found.assign(
        stated=[kind.promise for kind in kinds], needs=[kind.needs for kind in kinds]
    )


def _charts(rows: pd.DataFrame, name: str) -> list[Chart]:
    told = {"true": "true skills", "estimated": "estimated skills"}
    rows = rows.assign(panel=rows["information"].map(told))
    words, keys = name in ORDERS, ["panel", "policy", name]
    where = f"along {LABELS[name]}. Hindsight has the true skills."
    style = {
        "series": "policy", "panel": "panel", "kind": "points" if words else "line",
        "log_x": not words,
    }  # fmt: skip
    repaired, covered = (means(rows, keys, field) for field in ("ratio_repaired", "covered"))
    # Covered is a share; Student's interval does not know.
    covered[["low", "high"]] = covered[["low", "high"]].clip(0, 1)
    return [
        mean_chart(
            f"repaired-{name}",
            "Labels bought, and those it would take workers drawn at random to cover what is left "
            f"short, over the proven bound, {where}",
            repaired,
            name,
            (LABELS[name], "labels / proven bound"),
            **style,
            log_y=bool(repaired["mean"].max() > 3),
            references=((1.0, "proven bound"),),
        ),
        mean_chart(
            f"covered-{name}",
            f"Share of tasks whose labels gather the required quality, {where}",
            covered,
            name,
            (LABELS[name], "share of tasks"),
            **style,
        ),
    ]


def _best_sentences(best: pd.DataFrame, varied: Sequence[str]) -> list[str]:
    said = []
    for row in best.to_dict("records"):
        where = ", ".join(f"{name} {row[name]}" for name in varied) or "the one setting"
        text = "no policy could be repaired in every trial"
        if row["best"] != "none":
            text = "{best}" + " (and {alike}, equal)" * bool(row["alike"]) + ", {score:±3}"
        if row["runner_up"] != "none":
            apart = ", before {runner_up} by {behind:.3f}", ", not told apart from {runner_up}"
            text += apart[not row["told_apart"]] + " ({behind_low:.3f} to {behind_high:.3f})"
        if row["best"] != "none" and row["covering"] not in ("none", row["best"]):
            text += "; of those that cover {enough:0 %}, {covering} buys the fewest, "
            text += "{covering_ratio:.3f}"
        said.append(fill("{where}: " + text + ".", {**row, "where": where, "enough": ENOUGH}))
    return said


def _tally(best: pd.DataFrame) -> str:
    """How often each policy is best, alone or beside equals, and how often told apart."""
    winners = [
        [row["best"], *filter(None, row["alike"].split(", "))] for row in best.to_dict("records")
    ]
    counts = Counter(name for equals in winners for name in equals)
    apart = Counter(best["best"][best["told_apart"] & (best["alike"] == "")])
    each = ", ".join(
        f"{name} in {count} ({apart[name]} alone and told apart)"
        for name, count in counts.most_common()
    )
    return f"Best in {len(best)} settings, equals counted for each: {each}."


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
        **ARRIVING,
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
