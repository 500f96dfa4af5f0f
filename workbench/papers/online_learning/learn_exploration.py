"""How much to explore, and the variants of Section 3.5: vetting, delay, unknown gaps.

The paper calls G1 and G2 "sufficiently large" and gives no numbers: here they go from a half to
thirty. Beside them: dropping the worker who differs most from the majority, with the error 0.1 of
Section 6.2 by the printed and by the supported exponent; a random delay before a tester may be
assigned again; log^(1+2η) t in place of log t; and crowds whose mean skill is below ½, which LS_OL
assumes away.

Source: Liu, Liu (2015), Sections 2.3, 3.5.1, 3.5.2, 3.5.3, 6.1 and 6.2.
"""

from __future__ import annotations

import pandas as pd

from workbench.papers.online_learning import learning_runs
from workbench.studies.measures import DeclaredAnalysis, Drawn, Each, Grouped, Part, sentences
from workbench.studies.study import Parameter, Size, Study
from workbench.studies.summary import wilson

KEYS = ["crowd", "workers", "vote", "tests", "repeats", "vetting", "delay", "eta"]
KNOWN = [
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
"""What runs know at the end."""


def gains(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean reward, and its gain over the full crowd's, at the paper's T and at the horizons."""
    runs = learning_runs.rewards(rows, KEYS)
    at = runs[runs["tasks"].isin({*rows["horizon"].unique(), learning_runs.PAPER_T})]
    columns = {**learning_runs.mean_of("gain", "gain"), "reward": "mean"}
    return Grouped((*KEYS, "tasks"), columns, orders={})(at)


def plain(found: pd.DataFrame) -> pd.Series[bool]:
    """Whether G1 and G2 alone may differ from the default."""
    return (found["vetting"] == "none") & (found["delay"] == 0) & (found["eta"] == 0)


def grid(rows: pd.DataFrame) -> pd.DataFrame:
    """Gains where several G1 were run, with the legend of the chart."""
    found = gains(rows)
    found = found[plain(found)]
    found = found[found.groupby(["crowd", "tasks"])["tests"].transform("nunique") > 1]
    found = found.sort_values(["tasks", "crowd", "tests"], kind="stable")
    return found.assign(
        series=[learning_runs.repeats_label(repeats) for repeats in found["repeats"]],
        panel=[f"{a}, T = {b:,}" for a, b in zip(found["crowd"], found["tasks"], strict=True)],
    )


def vetted(rows: pd.DataFrame) -> pd.DataFrame:
    """What vetting drops, by crowd, G1, G2 and variant.

    Columns `crowd, tests, repeats, vetting, runs, dropping` (runs that drop somebody),
    `first_wrong` (of those, the first dropped was not the least able), `share, low, high` (of
    that, Wilson), `stated` (mean of the error the rule stated), `step` (median of the first drop),
    `drops, wrong` (all drops, and those of somebody not the least able of those left).
    """
    own = rows[rows["vetting"] != "none"]
    own = own.assign(dropping=own["dropped"] > 0)
    found = Grouped(
        ("crowd", "tests", "repeats", "vetting"),
        {
            "runs": ("dropped", "size"),
            "dropping": "sum",
            "first_wrong": "sum",
            "share": ("first_wrong", "mean"),
            "low": ("first_wrong", "sum"),
            "high": ("first_wrong", "sum"),
            "stated": ("first_error", "mean"),
            "step": ("first_step", "median"),
            "drops": ("dropped", "sum"),
            "wrong": ("wrongly", "sum"),
        },
        orders={},
    )(own)
    low, high = wilson(found["first_wrong"], found["dropping"])
    return found.assign(low=low, high=high)


def extremes(_: pd.DataFrame, found: pd.DataFrame) -> list[str]:
    """Schedules with the most and the least reward, where there are four or more."""
    said = []
    for (crowd, tasks), own in found[plain(found)].groupby(["crowd", "tasks"], sort=False):
        if len(own) >= 4:
            said_of = sentences(
                "{schedule} ({gain:±4})",
                own.sort_values("gain").assign(schedule=learning_runs.schedule_labels),
            )
            said.append(
                f"{crowd}, T = {tasks:,}: reward less the full crowd's, most at {said_of[-1]}, "
                f"least at {said_of[0]}."
            )
    return said


_VETTED = ["one-bad", "table-1", "from-0.6", "alike"]
_CROWDS = ["from-0.6", "table-1", "spread"]

STUDY = Study(
    name="learn-exploration",
    title="How much to explore, vetting, and delay",
    source="Liu, Liu (2015), Sections 2.3, 3.5, 6.1 and 6.2",
    parameters=learning_runs.run_parameters(
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
            4,
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
    trial=learning_runs.run_once,
    analyse=DeclaredAnalysis(
        Part(
            "Average reward by setting",
            gains,
            (
                extremes,
                Each(
                    "delay {delay:g}, {crowd}, T = {tasks:,}: reward {reward:±4}.",
                    where=lambda found: found["delay"] > 0,
                ),
                Each(
                    "eta {eta:g}, {crowd}, T = {tasks:,}: reward {reward:±4}.",
                    where=lambda found: found["eta"] > 0,
                ),
            ),
            (
                Drawn(
                    "sensitivity",
                    "Average reward less the accuracy of the full crowd's vote, by G1 and G2",
                    "tests",
                    "gain",
                    ("G1", "average reward less the full crowd's"),
                    {
                        "series": "series",
                        "panel": "panel",
                        "low": "low",
                        "high": "high",
                        "log_x": True,
                        "references": ((0.0, "full crowd"),),
                    },
                    of=grid,
                    unit="runs",
                ),
            ),
        ),
        Part(
            "What runs know at the end",
            Grouped((*KEYS, "horizon"), dict.fromkeys(KNOWN, "mean"), orders={}),
            (
                Each(
                    "Mean skill below ½ ({crowd}, {vote}): the last set is right with "
                    "{last_accuracy:.3f} where {best_accuracy:.3f} can be had; estimates are off by "
                    "{off:.3f} from p, by {off_reversed:.3f} from 1 − p.",
                    where=lambda found: found["crowd"] == "distrusted",
                ),
            ),
        ),
        Part(
            "Vetting",
            vetted,
            (
                Each(
                    "Vetting, {vetting}, {crowd}, {schedule}: drops in {dropping} of {runs} runs, "
                    "the first at step {step:.0f} (median); not the least able in {first_wrong} "
                    "({low:.3f} to {high:.3f}), where it states {stated:.3f}.",
                    of=lambda rows: vetted(rows).assign(schedule=learning_runs.schedule_labels),
                    where=lambda found: found["dropping"] > 0,
                ),
            ),
        ),
    ),
)
