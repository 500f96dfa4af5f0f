"""How much to explore, and the variants of Section 3.5: vetting, delay, unknown gaps.

The paper calls G1 and G2 "sufficiently large" and gives no numbers: here they go from a half to
thirty. Beside them: dropping the worker who differs most from the majority, with the error 0.1 of
Section 6.2 by the printed and by the supported exponent; a random delay before a tester may be
assigned again; log^(1+2η) t in place of log t; and crowds whose mean skill is below ½, which LS_OL
assumes away.

Source: Liu, Liu (2015), Sections 2.3, 3.5.1, 3.5.2, 3.5.3, 6.1 and 6.2.
"""

from __future__ import annotations

import itertools

import pandas as pd

from crowd_papers.online_learning.learning_runs import (
    PAPER_T,
    RUNS,
    STATED,
    checkpoint_near,
    is_less,
    repeats_label,
    rewards,
    run_once,
    run_parameters,
    schedule_label,
    share_of,
    with_means,
)
from workbench.studies import (
    Analysis,
    Chart,
    NotMeasured,
    Parameter,
    Ruling,
    Size,
    Study,
    claim,
    ended,
    ended_well,
    enough,
    mean_chart,
    mean_se,
    nonempty,
    only,
    percent,
    plus_minus,
    records,
    wilson,
)

# What the trials say.

KEYS = ["crowd", "workers", "vote", "tests", "repeats", "vetting", "delay", "eta"]
AT_THE_END = [
    "explored",
    "new_testers",
    "off",
    "off_reversed",
    "found_best",
    "ordered",
    "last_accuracy",
    "best_accuracy",
    "full_accuracy",
]
"""What is recorded of what runs know at the end."""


def analyse(trials: pd.DataFrame) -> Analysis:
    """Rewards by setting, what runs know at the end, and what vetting drops."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    table, dropped = gains(rows), vetted(rows)
    end = rows.groupby([*KEYS, "horizon"], sort=False, dropna=False)[AT_THE_END].mean()
    end = end.reset_index()
    findings = (
        ended(trials),
        *extremes(table),
        *variants(table),
        *distrusted(end),
        *vetting_texts(dropped),
    )
    tables = {"Average reward by setting": table, "What runs know at the end": end}
    if len(dropped):
        tables["Vetting"] = dropped
    return Analysis(findings, tables, nonempty(sensitivity_chart(table)))


def gains(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean reward, and its gain over the full crowd's, at the paper's T and at the horizons."""
    runs = rewards(rows, KEYS)
    ends = runs[runs["tasks"].isin({*rows["horizon"].unique(), PAPER_T})]
    return with_means(ends, [*KEYS, "tasks"], "gain", "reward")


def extremes(table: pd.DataFrame) -> list[str]:
    """Schedules with the most and the least reward, where there are four or more."""
    texts = []
    for (crowd, tasks), own in table[plain(table)].groupby(["crowd", "tasks"], sort=False):
        if len(own) >= 4:
            least, *_, most = (
                f"{schedule_label(row.tests, row.repeats)} ({plus_minus(row.gain, row.se, 4)})"
                for row in records(own.sort_values("gain"))
            )
            texts.append(
                f"{crowd}, T = {tasks:,}: reward minus the full crowd's, most at {most}, least at "
                f"{least}."
            )
    return texts


def plain(table: pd.DataFrame) -> pd.Series[bool]:
    """Whether G1 and G2 alone may differ from the default."""
    return (table["vetting"] == "none") & (table["delay"] == 0) & (table["eta"] == 0)


def variants(table: pd.DataFrame) -> list[str]:
    """Rewards with a delay, and with more exploration than log t."""
    return [
        f"{name} {getattr(row, name):g}, {row.crowd}, T = {row.tasks:,}: reward "
        f"{plus_minus(row.reward, row.se, 4)}."
        for name in ("delay", "eta")
        for row in records(table[table[name] > 0])
    ]


def distrusted(end: pd.DataFrame) -> list[str]:
    """What runs know at the end of crowds whose mean skill is below ½."""
    return [
        f"Mean skill below ½ ({row.crowd}, {row.vote}): the last set is right with "
        f"{row.last_accuracy:.3f} where {row.best_accuracy:.3f} can be had; estimates are off by "
        f"{row.off:.3f} from p, by {row.off_reversed:.3f} from 1 − p."
        for row in records(end[end["crowd"] == "distrusted"])
    ]


def vetted(rows: pd.DataFrame) -> pd.DataFrame:
    """What vetting drops, by crowd, G1, G2 and variant.

    Columns `crowd, tests, repeats, vetting, runs, dropping` (runs that drop somebody),
    `first_wrong` (of those, the first dropped was not the least able), `share, low, high` (of
    that, Wilson), `stated` (mean of the error the rule stated), `step` (median of the first drop),
    `drops, wrong` (all drops, and those of somebody not the least able of those left).
    """
    rows = rows[rows["vetting"] != "none"]
    rows = rows.assign(dropping=rows["dropped"] > 0)
    by = ["crowd", "tests", "repeats", "vetting"]
    table = rows.groupby(by, sort=False, dropna=False).agg(
        runs=("dropped", "size"),
        dropping=("dropping", "sum"),
        first_wrong=("first_wrong", "sum"),
        share=("first_wrong", "mean"),
        low=("first_wrong", "sum"),
        high=("first_wrong", "sum"),
        stated=("first_error", "mean"),
        step=("first_step", "median"),
        drops=("dropped", "sum"),
        wrong=("wrongly", "sum"),
    )
    table = table.reset_index()
    low, high = wilson(table["first_wrong"], table["dropping"])
    return table.assign(low=low, high=high)


def vetting_texts(table: pd.DataFrame) -> list[str]:
    """Say of each rule that drops somebody whom, when, and what error it states."""
    return [
        f"Vetting, {row.vetting}, {row.crowd}, {schedule_label(row.tests, row.repeats)}: drops in "
        f"{row.dropping} of {row.runs} runs, the first at step {row.step:.0f} (median); not the "
        f"least able in {row.first_wrong} ({row.low:.3f} to {row.high:.3f}), where it states "
        f"{row.stated:.3f}."
        for row in records(table[table["dropping"] > 0])
    ]


def sensitivity_chart(table: pd.DataFrame) -> Chart:
    """Draw gains by G1 and G2, where several G1 were run."""
    table = table[plain(table)]
    table = table[table.groupby(["crowd", "tasks"])["tests"].transform("nunique") > 1]
    table = table.sort_values(["tasks", "crowd", "tests"], kind="stable")
    panels = zip(table["crowd"], table["tasks"], strict=True)
    table = table.assign(
        series=[repeats_label(repeats) for repeats in table["repeats"]],
        panel=[f"{crowd}, T = {tasks:,}" for crowd, tasks in panels],
    )
    return mean_chart(
        "sensitivity",
        "Average reward minus the accuracy of the full crowd's vote, by G1 and G2.",
        table,
        "tests",
        ("G1", "average reward minus the full crowd's"),
        y="gain",
        unit="runs",
        series="series",
        panel="panel",
        log_x=True,
        references=((0.0, "full crowd"),),
    )


_VETTED = ["one-bad", "table-1", "from-0.6", "alike"]
_CROWDS = ["from-0.6", "table-1", "spread"]

STUDY = Study(
    name="learn-exploration",
    title="How much to explore, vetting, and delay",
    source="Liu, Liu (2015), Sections 2.3, 3.5, 6.1 and 6.2",
    parameters=run_parameters(
        vetting=Parameter(
            str,
            "none",
            "who drops the worker that differs most",
            choices=("none", "printed", "supported"),
            paired=True,
        ),
        delay=Parameter(
            int,
            0,
            "τ_max, steps before a tester may be assigned again",
            least=0,
            most=100_000,
            paired=True,
        ),
        eta=Parameter(float, 0.0, "η of log^(1+2η) t", least=0, most=5, paired=True),
    ),
    sizes={
        "smoke": Size(
            (
                {
                    "crowd": ["from-0.6"],
                    "tests": [1.0, 10.0],
                    "repeats": [1.0, 5.0],
                    "horizon": [600],
                },
                {"crowd": ["one-bad"], "vetting": ["printed", "supported"], "horizon": [600]},
                {"delay": [20], "horizon": [600]},
                {"eta": [0.25], "repeats": [1.0], "horizon": [600]},
                {"crowd": ["distrusted"], "repeats": [5.0], "horizon": [600]},
            ),
            1,
        ),
        "small": Size(
            (
                {
                    "crowd": _CROWDS,
                    "tests": [1.0, 3.0, 10.0],
                    "repeats": [1.0, 5.0, 20.0],
                    "horizon": [20_000],
                },
                {"crowd": ["one-bad", "table-1"], "vetting": ["printed", "supported"]},
                {"delay": [0, 20], "horizon": [20_000]},
                {"crowd": ["distrusted"], "repeats": [5.0]},
            ),
            25,
        ),
        "paper": Size(
            (
                {
                    "crowd": _CROWDS,
                    "tests": [0.5, 1.0, 3.0, 10.0, 30.0],
                    "repeats": [None, 0.5, 1.0, 2.0, 5.0, 20.0],
                    "horizon": [20_000],
                },
                {
                    "crowd": _VETTED,
                    "repeats": [5.0],
                    "vetting": ["none", "printed", "supported"],
                    "horizon": [20_000],
                },
                {
                    "crowd": _VETTED,
                    "tests": [1.0],
                    "repeats": [20.0],
                    "vetting": ["printed", "supported"],
                    "horizon": [20_000],
                },
                {"repeats": [5.0], "delay": [0, 5, 20, 100], "horizon": [20_000]},
                {
                    "crowd": ["table-1"],
                    "repeats": [5.0],
                    "delay": [0, 5, 20, 100],
                    "horizon": [20_000],
                },
                {
                    "crowd": ["clear"],
                    "tests": [1.0],
                    "repeats": [1.0],
                    "eta": [0.0, 0.25, 0.5],
                    "horizon": [100_000],
                },
                {"crowd": ["distrusted"], "repeats": [5.0], "vote": ["majority", "weighted"]},
            ),
            100,
        ),
    },
    trial=run_once,
    analyse=analyse,
)

# What the paper claims.


@claim(
    id="learn-delay",
    source="Section 3.5.1",
    statement="If a task is assigned again only after a random delay of at most τ_max, the regret "
    "is at most τ_max times larger.",
)
def delay(trials: pd.DataFrame) -> Ruling:
    """Regret with a delay beside τ_max times the regret without one, on the same crowds."""
    rows = only(trials, 0, "runs", vetting="none", vote="majority", eta=0)
    texts, larger = [], False
    settings = rows.groupby(["crowd", "tests", "repeats", "horizon"], sort=False, dropna=False)
    for (crowd, _, _, horizon), own in settings:
        if (own["delay"] == 0).sum() < RUNS:
            continue
        regret = own[f"regret_{horizon}"].astype(float).groupby(own["delay"]).mean()
        times = (regret / regret[0]).drop(0)
        texts += [f"{crowd}, τ_max = {most}: {value:.3f} times" for most, value in times.items()]
        larger |= bool((times > times.index.to_numpy().clip(1)).any())
    if not texts:
        raise NotMeasured(f"no setting has {RUNS} runs with and without a delay")
    figures = f"Regret with a delay divided by regret without delay: {'; '.join(texts)}."
    return Ruling.refuted(figures) if larger else Ruling.holds(figures)


@claim(
    id="learn-decreasing",
    source="Section 3.5.2",
    statement="If log^(1+2η) t replaces log t, no gap need be known, and the additional regret is "
    "bounded. (Read as: exploiting costs ever less a task.)",
)
def decreasing(trials: pd.DataFrame) -> Ruling:
    """Exploiting regret a task over two stretches, with log^(1+2η) t in place of log t."""
    rows = only(trials, 0, "runs", vetting="none", vote="majority", delay=0)
    more = rows[rows["eta"] > 0]
    rows = rows[rows["crowd"].isin(more["crowd"]) & (rows["horizon"] == more["horizon"].max())]
    if rows.empty:
        raise NotMeasured("no runs with η above 0")
    last = int(rows["horizon"].max())
    marks = [checkpoint_near(rows, last / 100), checkpoint_near(rows, last / 10), last]
    stretches = {
        float(str(eta)): exploiting_costs(own, marks)
        for eta, own in rows.groupby("eta")
        if len(own) >= RUNS
    }
    if not stretches:
        raise NotMeasured(f"no η has {RUNS} runs")
    texts = [
        f"η = {eta:g}: {plus_minus(*early, 5)}, then {plus_minus(*late, 5)}"
        for eta, (early, late) in stretches.items()
    ]
    figures = (
        f"Regret of exploiting per task, from {marks[0]:,} to {marks[1]:,} tasks and from there to "
        f"{last:,}: {'; '.join(texts)}. The more is explored the less exploiting costs; that it "
        "costs ever less per task cannot be seen yet where it does not fall."
    )
    if all(is_less(late, early) for eta, (early, late) in stretches.items() if eta > 0):
        return Ruling.holds(figures)
    late_by_most = stretches[max(stretches)][1]
    late_by_least = stretches[0.0][1] if 0.0 in stretches else (0.0, 0.0)
    if is_less(late_by_most, late_by_least):
        return Ruling.holds_as_corrected(figures)
    return Ruling.refuted(figures)


def exploiting_costs(rows: pd.DataFrame, marks: list[int]) -> list[tuple[float, float]]:
    """Mean regret of exploiting steps, a task, and its error: from each mark to the next."""
    regret = [(rows[f"regret_{n}"] - rows[f"exploring_{n}"]).astype(float) for n in marks]
    return [
        mean_se((after - before) / (until - since))
        for (before, since), (after, until) in itertools.pairwise(zip(regret, marks, strict=True))
    ]


@claim(
    id="learn-vetting-speed",
    source="Section 3.5.3",
    statement="Finding the worst worker takes O(log T) assignments, while learning the skills "
    "takes O(log²T). (Read as: before half of the exploring steps.)",
)
def vetting_speed(trials: pd.DataFrame) -> Ruling:
    """Step of the first drop beside the steps that learning the skills takes."""
    rows = trials[(trials["vetting"] == "printed") & (trials["dropped"] > 0)]
    rows = enough(rows[rows["crowd"] != "alike"], RUNS, "runs in which the printed rule drops")
    step = rows["first_step"].astype(float)
    share = float((step / rows["explored"].astype(float)).median())
    right = 1 - share_of(rows, "first_wrong")
    figures = (
        f"{len(rows)} runs by the printed exponent: the first drop is at step {step.median():.0f} "
        f"(median; 90 in the paper's Section 6.2), after {percent(share)} of the exploring steps "
        f"of the whole run; it is the least able in {percent(right)}."
    )
    if share >= 0.5:
        return Ruling.refuted(figures)
    return Ruling.holds(figures) if right >= 1 - STATED else Ruling.holds_as_corrected(figures)
