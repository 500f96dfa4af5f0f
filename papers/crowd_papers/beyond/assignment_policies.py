"""Online assignment policies side by side: labels bought, tasks covered, who is best where.

Each trial draws a crowd, orders it, lets one policy of `workbench.assignment.policies` assign
tasks, and measures against the certified bound of the offline relaxation with true skills. The
skills a policy is told are the true ones (then all that is lost is lost to not knowing who comes)
or those estimated from s gold tasks per type: shares of right answers, as the paper's algorithm
always has them, or means or medians of posteriors whose prior is fitted to the workers sampled
before (or met before, where there is no sample). Hindsight always has the true ones. All policies
meet the same workers, orders and gold answers.

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
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pandas as pd

from crowd_models import requirement
from crowd_papers.adaptive_assignment import assignment_trials as shared
from crowd_papers.adaptive_assignment.assignment_trials import (
    ARRIVALS,
    CROWDS,
    LABELS,
    Bought,
    Instance,
)
from crowd_papers.adaptive_assignment.theorems import Guarantee, theorem_1, theorem_2
from workbench.assignment import (
    COVERED,
    LEAST_QUALITY,
    POLICIES,
    AssignmentPolicy,
    CoverageAware,
    Hindsight,
    Paper,
    PolicyRun,
    Setting,
    SkillEstimate,
    skills_on_arrival,
)
from workbench.base import FloatArray
from workbench.studies import (
    Analysis,
    Block,
    Chart,
    Parameter,
    Params,
    Record,
    Scalar,
    Size,
    Streams,
    Study,
    along,
    base_point,
    ended,
    in_order,
    joined,
    mean_chart,
    mean_columns,
    means,
    measured,
    paired_differences,
    percent,
    plus_minus,
    varies,
)

ONLINE = tuple(name for name in POLICIES if POLICIES[name].call.online)
INFORMATION = ("true", "estimated")
SKILLS = get_args(SkillEstimate)
SETTINGS = (
    "information",
    "skills",
    "arrival",
    "crowd",
    "tasks",
    "workers",
    "capacity",
    "types",
    "gamma",
    "epsilon",
    "gold",
)
SWEPT = ("skills", "arrival", "crowd", "tasks", "workers", "gamma", "epsilon", "gold")
ORDERS: dict[str, Sequence[str]] = {
    "policy": tuple(POLICIES),
    "information": INFORMATION,
    "arrival": ARRIVALS,
    "crowd": CROWDS,
    "skills": SKILLS,
}
MEASURES = [
    "ratio",
    "covered",
    "ratio_reached",
    "ratio_repaired",
    "ratio_solved",
    "ratio_all",
    "error",
]
ENOUGH = 0.99
"""Mean share of tasks covered from which on a policy counts as covering."""
REFIT = 32
"""Workers between two fits of the prior, for a policy that asks for them."""
TIED = 1e-9
"""Means no further apart than this are equal."""


def trial(params: Params, streams: Streams, *, told_rates: bool = False) -> Record:
    """Let one policy assign one crowd, beside the certified bound; perhaps tell it L and U."""
    instance = shared.drawn(params, streams)
    need = float(requirement(params["epsilon"]))
    relaxed = shared.relaxation(instance.offline(need), proven=True)
    own, crowd = streams.method(params["policy"]), instance.crowd
    skill, gold = _told(instance, params)
    rates = _rates(instance) if told_rates else None
    setting = Setting(instance.kinds, params["epsilon"], len(instance.main), rates=rates)
    run, policy = shared.played(
        params["policy"], setting, skill, crowd.capacity, seed=own, true=crowd.skill
    )
    run = PolicyRun(run.task, run.worker + instance.preliminary)
    promise = _promise(policy, params, instance, relaxed, run)
    gathered = instance.gathered(*run)
    covered = gathered >= need * COVERED
    repair = _repair(instance, np.where(covered, 0.0, need - gathered))
    labels, bound, solved = len(run.task), relaxed.bound, bool(covered.all())
    return {
        **Bought(*run, skill, promise, gold).record(instance, relaxed),
        "solved": solved,
        "ratio_solved": labels / bound if solved else None,
        "repair": repair,
        "ratio_repaired": None if repair is None else (labels + repair) / bound,
        "error": instance.vote_error(*run, skill, own),
        "guarantee": promise.name,
    }


def _told(instance: Instance, params: Params) -> tuple[FloatArray, int]:
    """Skills as the policy is told them, (T, γm + m), and the gold labels they cost."""
    if params["information"] == "true" or params["policy"] == "hindsight":
        return instance.crowd.skill, 0
    crowd = np.arange(len(instance.crowd))
    correct, answered = instance.source.gold_answers(crowd, params["gold"], seed=instance.seed)
    kind, sampled = POLICIES[params["policy"]].call, instance.preliminary
    sample, first = kind.uses_sample, 0 if kind.uses_sample else sampled
    how: Any = "plug-in" if params["policy"] == "paper" else params["skills"]
    skill = np.full(correct.shape, 0.5)
    skill[:, first:] = skills_on_arrival(
        correct[:, first:],
        answered[:, first:],
        sampled if sample else 0,
        how,
        every=REFIT if kind.refits else None,
    )
    return skill, int(answered[:, first:].sum())


def _rates(instance: Instance) -> tuple[FloatArray, FloatArray]:
    """L and U by type: labels for a unit of quality from the best worker, and from a random one."""
    quality = instance.main.quality
    best, mean = quality.max(axis=1), quality.mean(axis=1)
    return 1 / np.maximum(best, LEAST_QUALITY), 1 / np.maximum(mean, LEAST_QUALITY)


def _repair(instance: Instance, lacking: FloatArray) -> float | None:
    """Labels by workers drawn at random that would bring what each task (n,) lacks."""
    mean = instance.main.quality.mean(axis=1)[instance.kinds]
    if not (mean[lacking > 0] > 0).all():
        return None
    return float(np.ceil(np.divide(lacking, mean, where=mean > 0, out=np.zeros(len(mean)))).sum())


def _promise(
    policy: AssignmentPolicy,
    params: Params,
    instance: Instance,
    relaxed: shared.Relaxation,
    run: PolicyRun,
) -> Guarantee:
    """What is proven of the policy here; of most, no bound with explicit constants."""
    if isinstance(policy, Hindsight):
        return theorem_1(policy.problem, policy.task_weights)
    if not isinstance(policy, (Paper, CoverageAware)):
        kind = "none" if POLICIES[params["policy"]].call.promise == "none" else "order only"
        return Guarantee(kind, failed=(kind,))
    assert policy.assigner.sampled is not None
    sample = shared.sampling(instance, params, policy.assigner.sampled.least_quality_used)
    random = params["arrival"] in ("random", "iid")
    beyond = () if random else ("order of arrival is not random",)
    if params["information"] == "true":
        promise = theorem_2(sample)
    else:
        promise = shared.promised_5(instance, params, relaxed, sample, *run)
        beyond = ("run without the ε′ correction", *beyond)
    return replace(promise, failed=(*promise.failed, *beyond))


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """The best policy of each setting, guarantees, and means along each parameter."""
    rows = measured(trials, "ratio")
    if rows.empty:
        return Analysis((ended(trials),))
    rows = rows.assign(panel=rows["information"] + " skills")
    rows = in_order(rows, {"policy": ORDERS["policy"], "repetition": None})
    settings = [name for name in SETTINGS if varies(rows, name)]
    defaults = {name: parameter.default for name, parameter in PARAMETERS.items()}
    base = base_point(rows, list(dict.fromkeys([*SWEPT, *SETTINGS])), defaults)
    parts = [Analysis((ended(trials),)), about_best(rows, settings)]
    parts.append(Analysis(tables={"Guarantees beside measured ratios": guarantees(rows)}))
    for name in SWEPT:
        own = along(rows, base, name, "information", "policy")
        if varies(own, name):
            by = ("information", "policy", name, "repetition")
            parts.append(along_parameter(in_order(own, {key: ORDERS.get(key) for key in by}), name))
    parts.append(Analysis(tables={"Every setting": summary_table(rows, settings)}))
    return joined(parts)


def about_best(rows: pd.DataFrame, settings: Sequence[str]) -> Analysis:
    """The best policy of every setting."""
    best = best_policies(rows, settings)
    findings = (
        "Best is the least mean of labels bought and labels that workers drawn at random would "
        "need to finish, over the proven bound; hindsight does not compete. Each interval is of "
        "one comparison with the runner-up, in pairs of the same crowd, order and gold answers.",
        *(best_in_words(row, settings) for row in best.to_dict("records")),
        tally(best),
    )
    caption = "Best policy of each setting: least labels, repair included, over the proven bound"
    return Analysis(findings, {caption: best})


def best_policies(
    table: pd.DataFrame, by: Sequence[str], *, policies: Sequence[str] = ONLINE
) -> pd.DataFrame:
    """Name the best policy of every setting, by the least mean `ratio_repaired`.

    Parameters
    ----------
    table
        One row per trial, with `policy, repetition, ratio, covered, ratio_repaired`.
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
    groups = [*by, "policy"]
    scores = means(rows, groups, "ratio_repaired")
    scores = scores.merge(mean_columns(rows, groups, ["ratio", "covered"], sort=False), on=groups)
    settings = scores.groupby(list(by), sort=False) if by else [((), scores)]
    best = []
    for setting, own in settings:
        names = dict(zip(by, setting, strict=True))
        best.append({**names, **best_of(own, along(rows, names))})
    return pd.DataFrame(best)


def best_of(scores: pd.DataFrame, rows: pd.DataFrame) -> dict[str, Any]:
    """The best policy of one setting, from its policies' scores and its trials."""
    ranked = scores[scores["failed"] == 0].sort_values("mean", kind="stable")
    tied = ranked["mean"] <= ranked["mean"].min() + TIED
    best, others = ranked[tied], ranked[~tied]
    covering = scores[scores["covered"] >= ENOUGH].sort_values("ratio", kind="stable")
    first, second = first_value(best, "policy", "none"), first_value(others, "policy", "none")
    behind = pd.Series(math.nan, index=["mean", "low", "high"])
    if len(others):
        pairs = rows[rows["policy"].isin([first, second])]
        behind = paired_differences(
            pairs, method="policy", reference=first, value="ratio_repaired"
        ).iloc[0]
    return {
        "best": first,
        "alike": ", ".join(best["policy"].iloc[1:]),
        "score": first_value(best, "mean"),
        "score_se": first_value(best, "se"),
        "runner_up": second,
        "behind": behind["mean"],
        "behind_low": behind["low"],
        "behind_high": behind["high"],
        "told_apart": bool(behind["low"] > 0),
        "covering": first_value(covering, "policy", "none"),
        "covering_ratio": first_value(covering, "ratio"),
    }


def first_value(rows: pd.DataFrame, column: str, missing: Any = math.nan) -> Any:
    """A column's value in the first row, where there is one."""
    return rows[column].iloc[0] if len(rows) else missing


def best_in_words(row: Mapping[Any, Any], settings: Sequence[str]) -> str:
    """The best policy of a setting, its runner-up, and the cheapest that covers, in a sentence."""
    place = ", ".join(f"{name} {row[name]}" for name in settings) or "the one setting"
    if row["best"] == "none":
        return f"{place}: no policy could be repaired in every trial."
    alike = f" (and {row['alike']}, equal)" if row["alike"] else ""
    text = f"{place}: {row['best']}{alike}, {plus_minus(row['score'], row['score_se'])}"
    if row["runner_up"] != "none":
        interval = f"({row['behind_low']:.3f} to {row['behind_high']:.3f})"
        if row["told_apart"]:
            text += f", before {row['runner_up']} by {row['behind']:.3f} {interval}"
        else:
            text += f", not told apart from {row['runner_up']} {interval}"
    if row["covering"] not in ("none", row["best"]):
        text += (
            f"; of those that cover {percent(ENOUGH, 0)}, {row['covering']} buys the fewest, "
            f"{row['covering_ratio']:.3f}"
        )
    return f"{text}."


def tally(best: pd.DataFrame) -> str:
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


def guarantees(rows: pd.DataFrame) -> pd.DataFrame:
    """By policy, information and order: what is promised, and what was measured."""
    promise, keys = rows["promise"].astype(float), ["policy", "information", "arrival"]
    rows = rows.assign(kept=(rows["ratio"] <= promise).where(promise.notna()))
    rows = in_order(rows, {key: ORDERS[key] for key in keys})
    table = rows.groupby([*keys, "guarantee"], sort=False).agg(
        trials=("ratio", "size"),
        holds=("promise", "count"),
        kept=("kept", "sum"),
        promise=("promise", "median"),
        formula_median=("formula", "median"),
        ratio=("ratio", "mean"),
        worst_ratio=("ratio", "max"),
        covered=("covered", "mean"),
        ratio_repaired=("ratio_repaired", "mean"),
    )
    table = table.reset_index()
    calls = [POLICIES[name].call for name in table["policy"]]
    return table.assign(
        stated=[call.promise for call in calls], needs=[call.needs for call in calls]
    )


def summary_table(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Means and standard errors of the measures, by information, parameters and policy."""
    by = list(dict.fromkeys(["information", *names, "policy"]))
    table = rows.groupby(by, sort=False).agg(
        trials=("ratio", "size"), solved=("solved", "mean"), worst=("ratio_repaired", "max")
    )
    return table.reset_index().merge(mean_columns(rows, by, MEASURES, sort=False), on=by)


def along_parameter(rows: pd.DataFrame, name: str) -> Analysis:
    """Table and charts along one parameter; gold tasks matter where skills are estimated."""
    if name == "gold":
        rows = rows[rows["information"] == "estimated"]
    if rows.empty:
        return Analysis()
    tables = {f"Along {LABELS[name]}": summary_table(rows, [name])}
    return Analysis((), tables, (repaired_chart(rows, name), covered_chart(rows, name)))


def repaired_chart(rows: pd.DataFrame, name: str) -> Chart:
    """Draw labels with those that would finish the tasks, over the bound, along a parameter."""
    table = means(rows, ["panel", "policy", name], "ratio_repaired")
    return mean_chart(
        f"repaired-{name}",
        "Labels bought, and those that workers drawn at random would need to finish, over the "
        f"proven bound, along {LABELS[name]}. Hindsight has the true skills.",
        table,
        name,
        (LABELS[name], "labels / proven bound"),
        references=((1.0, "proven bound"),),
        log_y=bool(table["mean"].max() > 3),
        **chart_style(name),
    )


def covered_chart(rows: pd.DataFrame, name: str) -> Chart:
    """Draw the share of tasks covered along a parameter."""
    table = means(rows, ["panel", "policy", name], "covered")
    # A share; Student's interval does not know.
    table[["low", "high"]] = table[["low", "high"]].clip(0, 1)
    return mean_chart(
        f"covered-{name}",
        f"Share of tasks with the required quality, along {LABELS[name]}. Hindsight has the true "
        "skills.",
        table,
        name,
        (LABELS[name], "share of tasks"),
        **chart_style(name),
    )


def chart_style(name: str) -> dict[str, Any]:
    """What the charts along a parameter have in common."""
    kind: dict[str, Any] = {"kind": "points"} if name in ORDERS else {"log_x": True}
    return {"series": "policy", "panel": "panel", **kind}


PARAMETERS = {
    "policy": Parameter(str, "paper", "who assigns", choices=POLICIES, paired=True),
    "information": Parameter(
        str,
        "true",
        "skills that a policy is told: true ones, or from gold tasks",
        choices=INFORMATION,
        paired=True,
    ),
    "skills": Parameter(
        str,
        "median",
        "how skills are estimated, but for the paper's policy: it has shares",
        choices=SKILLS,
        paired=True,
    ),
    **shared.ARRIVING,
}

_BOTH: Block = {"policy": list(ONLINE), "information": list(INFORMATION)}
_KNOWN: Block = {"policy": ["hindsight"], "information": ["true"]}

_SKILLS: Block = {
    "policy": [name for name in ONLINE if name != "paper"],
    "information": ["estimated"],
    "skills": ["plug-in", "fitted"],
}
_GOLD: Block = {"policy": list(ONLINE), "information": ["estimated"], "gold": [5, 50, 200]}


def _each(**values: list[Scalar]) -> tuple[Block, Block]:
    """Every policy; hindsight once, as it does not go by what others are told."""
    return {**_BOTH, **values}, {**_KNOWN, **values}


STUDY = Study(
    name="assignment-policies",
    title="Online assignment policies beside the proven bound",
    source="beyond Ho, Jabbari, Vaughan (2013), Theorems 1, 2 and 5",
    parameters=PARAMETERS,
    sizes={
        "smoke": Size(
            _each(
                tasks=[60],
                workers=[40],
                capacity=[60],
                gamma=[0.5],
                arrival=["random", "worst_first"],
                crowd=["spread", "hammers"],
            ),
            1,
        ),
        "small": Size(
            (
                *_each(tasks=[300], workers=[150], arrival=list(ARRIVALS)),
                *_each(tasks=[300], workers=[150], crowd=list(CROWDS)),
                *_each(tasks=[300], workers=[150], epsilon=[0.2, 0.01]),
            ),
            10,
        ),
        "paper": Size(
            (
                *_each(arrival=list(ARRIVALS), crowd=list(CROWDS)),
                *_each(tasks=[250, 500]),
                *_each(epsilon=[0.2, 0.01, 0.001]),
                *_each(gamma=[0.05, 0.1, 1.0]),
                _SKILLS,
                _GOLD,
            ),
            15,
        ),
    },
    trial=trial,
    analyse=analyse,
    version=3,
    deadline=300.0,
)
