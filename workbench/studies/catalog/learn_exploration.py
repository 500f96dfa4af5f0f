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

from workbench.studies.catalog import learning_runs
from workbench.studies.measures import ended_well, plus_minus, sentences
from workbench.studies.study import Analysis, Chart, Parameter, Size, Study
from workbench.studies.summary import means, wilson

KEYS = ["crowd", "workers", "vote", "tests", "repeats", "vetting", "delay", "eta"]
KNOWN = ["explored", "new_testers", "off", "off_reversed", "found_best", "ordered",
         "last_accuracy", "best_accuracy", "full_accuracy"]  # fmt: skip
"""What runs know at the end."""


@learning_runs.of_runs
def analyse(table: pd.DataFrame) -> Analysis:
    """Reward by G1 and G2, what vetting drops, and what delay, η and distrust change."""
    runs = learning_runs.rewards(table, KEYS)
    at = runs[runs["tasks"].isin({*table["horizon"].unique(), learning_runs.PAPER_T})]
    keys = [*KEYS, "tasks"]
    gains = means(at, keys, "gain").rename(columns={"mean": "gain"})
    gains = learning_runs.with_means(gains, at, keys, reward="reward").drop(columns="failed")
    plain = (gains["vetting"] == "none") & (gains["delay"] == 0) & (gains["eta"] == 0)
    values = ended_well(table).astype(dict.fromkeys(KNOWN, float))
    knows = values.groupby([*KEYS, "horizon"], dropna=False, sort=False)[KNOWN].mean().reset_index()
    tables = {"Average reward by setting": gains, "What runs know at the end": knows}
    vetted = vetting_table(table)
    if len(vetted):
        tables["Vetting"] = vetted
    grid = gains[plain]
    several = grid.groupby(["crowd", "tasks"])["tests"].transform("nunique") > 1
    grid = grid[several].sort_values(["tasks", "crowd", "tests"], kind="stable")
    grid = grid.assign(
        series=[learning_runs.repeats_label(repeats) for repeats in grid["repeats"]],
        panel=[f"{a}, T = {b:,}" for a, b in zip(grid["crowd"], grid["tasks"], strict=True)],
    )
    chart = Chart(
        "sensitivity", "Average reward less the accuracy of the full crowd's vote, by G1 and G2; "
        "bars are 95 % intervals of the mean.", grid, "tests", "gain", "G1",
        "average reward less the full crowd's", series="series", panel="panel",
        low="low", high="high", log_x=True, references=((0.0, "full crowd"),),
    )  # fmt: skip
    return Analysis(
        findings=(
            *_extremes(gains[plain]),
            *sentences(
                "Vetting, {vetting}, {crowd}, {schedule}: drops in {dropping} of {runs} runs, the "
                "first at step {step:.0f} (median); not the least able in {first_wrong} "
                "({low:.3f} to {high:.3f}), where it states {stated:.3f}.",
                _scheduled(vetted[vetted["dropping"] > 0] if len(vetted) else vetted),
            ),
            *_variants(gains, "delay"),
            *_variants(gains, "eta"),
            *sentences(
                "Mean skill below ½ ({crowd}, {vote}): the last set is right with "
                "{last_accuracy:.3f} where {best_accuracy:.3f} can be had; estimates are off by "
                "{off:.3f} from p, by {off_reversed:.3f} from 1 − p.",
                knows[knows["crowd"] == "distrusted"],
            ),
        ),
        tables=tables,
        charts=(chart,) if len(grid) else (),
    )


def _variants(gains: pd.DataFrame, name: str) -> list[str]:
    rows = gains[gains[name] > 0].rename(columns={"se": "reward_se"})
    said = f"{name} {{{name}:g}}, {{crowd}}, T = {{tasks:,}}: average reward {{reward:±4}}."
    return sentences(said, rows)


def _scheduled(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(
        schedule=[learning_runs.schedule_label(row) for row in rows.to_dict("records")]
    )


def vetting_table(table: pd.DataFrame) -> pd.DataFrame:
    """What vetting drops, by crowd, G1, G2 and variant.

    Columns `crowd, tests, repeats, vetting, runs, dropping` (runs that drop somebody),
    `first_wrong` (of those, the first dropped was not the least able), `share, low, high` (of
    that, Wilson), `stated` (mean of the error the rule stated), `step` (median of the first drop),
    `drops, wrong` (all drops, and those of somebody not the least able of those left).
    """
    ok = ended_well(table)
    rows = []
    keys = ["crowd", "tests", "repeats", "vetting"]
    for names, own in ok[ok["vetting"] != "none"].groupby(keys, dropna=False, sort=False):
        dropping = own[own["dropped"] > 0]
        wrong = int(dropping["first_wrong"].astype(float).sum())
        low, high = wilson(wrong, len(dropping))
        rows.append({
            **dict(zip(keys, names, strict=True)), "runs": len(own), "dropping": len(dropping),
            "first_wrong": wrong, "share": wrong / len(dropping) if len(dropping) else None,
            "low": float(low), "high": float(high),
            "stated": dropping["first_error"].astype(float).mean(),
            "step": dropping["first_step"].astype(float).median(),
            "drops": int(own["dropped"].sum()), "wrong": int(own["wrongly"].sum()),
        })  # fmt: skip
    return pd.DataFrame(rows)


def _extremes(plain: pd.DataFrame) -> list[str]:
    """Schedules with the most and the least reward, where there are four or more."""
    said = []
    for (crowd, tasks), own in plain.groupby(["crowd", "tasks"], sort=False):
        if len(own) >= 4:
            worst, *_, best = (
                f"{learning_runs.schedule_label(row)} ({plus_minus(row['gain'], row['se'], 4)}"
                for row in own.sort_values("gain").to_dict("records")
            )
            said.append(
                f"{crowd}, T = {tasks:,}: most reward at {best} against the full crowd), least at "
                f"{worst})."
            )
    return said


_VETTED = ["one-bad", "table-1", "from-0.6", "alike"]
_CROWDS = ["from-0.6", "table-1", "spread"]

STUDY = Study(
    name="learn-exploration",
    title="How much to explore, vetting, and delay",
    source="Liu, Liu (2015), Sections 2.3, 3.5, 6.1 and 6.2",
    parameters=learning_runs.run_parameters(
        vetting=Parameter(str, "none", "who drops the worker that differs most",
                          choices=("none", "printed", "supported"), paired=True),
        delay=Parameter(int, 0, "τ_max, steps before a tester may be assigned again", least=0,
                        most=100_000, paired=True),
        eta=Parameter(float, 0.0, "η of log^(1+2η) t", least=0, most=5, paired=True),
    ),
    sizes={
        "smoke": Size(
            ({"crowd": ["from-0.6"], "tests": [1.0, 10.0], "repeats": [1.0, 5.0],
              "horizon": [600]},
             {"crowd": ["one-bad"], "vetting": ["printed", "supported"], "horizon": [600]},
             {"delay": [20], "horizon": [600]},
             {"eta": [0.25], "repeats": [1.0], "horizon": [600]},
             {"crowd": ["distrusted"], "repeats": [5.0], "horizon": [600]}), 4,
        ),
        "small": Size(
            ({"crowd": _CROWDS, "tests": [1.0, 3.0, 10.0], "repeats": [1.0, 5.0, 20.0],
              "horizon": [20_000]},
             {"crowd": ["one-bad", "table-1"], "vetting": ["printed", "supported"]},
             {"delay": [0, 20], "horizon": [20_000]},
             {"crowd": ["distrusted"], "repeats": [5.0]}), 25,
        ),
        "paper": Size(
            ({"crowd": _CROWDS, "tests": [0.5, 1.0, 3.0, 10.0, 30.0],
              "repeats": [None, 0.5, 1.0, 2.0, 5.0, 20.0], "horizon": [20_000]},
             {"crowd": _VETTED, "repeats": [5.0], "vetting": ["none", "printed", "supported"],
              "horizon": [20_000]},
             {"crowd": _VETTED, "tests": [1.0], "repeats": [20.0],
              "vetting": ["printed", "supported"], "horizon": [20_000]},
             {"repeats": [5.0], "delay": [0, 5, 20, 100], "horizon": [20_000]},
             {"crowd": ["table-1"], "repeats": [5.0], "delay": [0, 5, 20, 100],
              "horizon": [20_000]},
             {"crowd": ["clear"], "tests": [1.0], "repeats": [1.0], "eta": [0.0, 0.25, 0.5],
              "horizon": [100_000]},
             {"crowd": ["distrusted"], "repeats": [5.0], "vote": ["majority", "weighted"]}), 100,
        ),
    },
    trial=learning_runs.run_once,
    analyse=analyse,
)  # fmt: skip
