"""How much to explore, and the variants of Section 3.5: vetting, delay, unknown gaps.

The paper calls G1 and G2 "sufficiently large" and gives no numbers: here they go from a half to
thirty. Beside them: dropping the labeler who differs most from the majority, with the error 0.1 of
Section 6.2 by the printed and by the supported exponent; a random delay before a tester may be
assigned again; log^(1+2η) t in place of log t; and crowds whose mean skill is below ½, which LS_OL
assumes away.

Source: Liu, Liu (2015), Sections 2.3, 3.5.1, 3.5.2, 3.5.3, 6.1 and 6.2.
"""

from __future__ import annotations

import pandas as pd

from workbench.studies.catalog._learning import (
    repeats_label,
    rewards,
    run_once,
    run_parameters,
)
from workbench.studies.measures import ended, plus_minus
from workbench.studies.study import Analysis, Chart, Parameter, Params, Record, Size, Study
from workbench.studies.summary import means
from workbench.studies.trials import Streams

PAPER_T = 2000
"""Tasks of a run of the paper."""
KEYS = ["crowd", "workers", "vote", "tests", "repeats", "vetting", "delay", "eta"]


def trial(params: Params, streams: Streams) -> Record:
    """Run LS_OL once."""
    return run_once(params, streams)


def analyse(table: pd.DataFrame) -> Analysis:
    """Reward by G1 and G2, what vetting drops, and what delay, η and distrust change."""
    runs = rewards(table, KEYS)
    if runs.empty:
        return Analysis(findings=(ended(table),))
    ends = {int(one) for one in table["horizon"].unique()}
    at = runs[runs["tasks"].isin(ends | {PAPER_T})]
    gains = means(at, [*KEYS, "tasks"], "gain").rename(columns={"mean": "gain"})
    gains = gains.merge(
        means(at, [*KEYS, "tasks"], "reward").rename(columns={"mean": "reward"})[
            [*KEYS, "tasks", "reward"]
        ],
        on=[*KEYS, "tasks"],
    ).drop(columns="failed")
    knows = _knows(table)
    grid = gains[_plain(gains)]
    several = grid.groupby(["crowd", "tasks"])["tests"].transform("nunique") > 1
    grid = grid[several].sort_values(["tasks", "crowd", "tests"], kind="stable")
    grid = grid.assign(
        series=[repeats_label(one) for one in grid["repeats"]],
        panel=[f"{a}, T = {b:,}" for a, b in zip(grid["crowd"], grid["tasks"], strict=True)],
    )
    vetted = vetting_table(table)
    sentences = [ended(table), *_grid_sentences(gains), *_vetting_sentences(vetted),
                 *_others(table, gains)]  # fmt: skip
    tables = {"Average reward by setting": gains, "What runs know at the end": knows}
    if len(vetted):
        tables["Vetting"] = vetted
    charts = []
    if len(grid):
        charts.append(
            Chart("sensitivity", "Average reward less the accuracy of the full crowd's vote, by G1 "
                  "and G2; bars are 95 % intervals of the mean.", grid, "tests", "gain", "G1",
                  "average reward less the full crowd's", series="series", panel="panel",
                  low="low", high="high", log_x=True, references=((0.0, "full crowd"),))
        )  # fmt: skip
    return Analysis(findings=tuple(sentences), tables=tables, charts=tuple(charts))


def _plain(rows: pd.DataFrame) -> pd.Series[bool]:
    """Rows of LS_OL as it is, without the variants."""
    return (rows["vetting"] == "none") & (rows["delay"] == 0) & (rows["eta"] == 0)


def _knows(table: pd.DataFrame) -> pd.DataFrame:
    ok = table[table["status"].astype(str) == "ok"]
    fields = ["explored", "new_testers", "off", "off_reversed", "found_best", "ordered",
              "last_accuracy", "best_accuracy", "full_accuracy"]  # fmt: skip
    frame = ok[[*KEYS, "horizon", *fields]].astype(dict.fromkeys(fields, float))
    return frame.groupby([*KEYS, "horizon"], dropna=False, sort=False)[fields].mean().reset_index()


def vetting_table(table: pd.DataFrame) -> pd.DataFrame:
    """What vetting drops, by crowd, G1, G2 and variant.

    Columns `crowd, tests, repeats, vetting, runs, dropping` (runs that drop somebody),
    `first_wrong` (of those, the first dropped was not the least able), `share, low, high` (of
    that, Wilson), `stated` (mean of the error the rule stated), `step` (median of the first drop),
    `drops, wrong` (all drops, and those of somebody not the least able of those left).
    """
    ok = table[(table["status"].astype(str) == "ok") & (table["vetting"] != "none")]
    from workbench.studies.summary import wilson

    rows = []
    keys = ["crowd", "tests", "repeats", "vetting"]
    for names, own in ok.groupby(keys, dropna=False, sort=False):
        some = own[own["dropped"] > 0]
        wrong = int(some["first_wrong"].astype(float).sum())
        low, high = wilson(wrong, len(some))
        rows.append({
            **dict(zip(keys, names, strict=True)), "runs": len(own), "dropping": len(some),
            "first_wrong": wrong, "share": wrong / len(some) if len(some) else None,
            "low": float(low), "high": float(high),
            "stated": some["first_error"].astype(float).mean(),
            "step": some["first_step"].astype(float).median(),
            "drops": int(own["dropped"].sum()), "wrong": int(own["wrongly"].sum()),
        })  # fmt: skip
    return pd.DataFrame(rows)


def _grid_sentences(gains: pd.DataFrame) -> list[str]:
    sentences = []
    plain = gains[_plain(gains)]
    for (crowd, tasks), own in plain.groupby(["crowd", "tasks"], sort=False):
        if len(own) < 4:
            continue
        ranked = own.sort_values("gain")
        worst, best = ranked.iloc[0], ranked.iloc[-1]
        sentences.append(
            f"{crowd}, T = {tasks:,}: most reward at G1 = {best['tests']:g}, "
            f"{repeats_label(best['repeats'])} "
            f"({plus_minus(best['gain'], best['se'], 4)} against the full crowd), least at G1 = "
            f"{worst['tests']:g}, {repeats_label(worst['repeats'])} "
            f"({plus_minus(worst['gain'], worst['se'], 4)})."
        )
    return sentences


def _vetting_sentences(vetted: pd.DataFrame) -> list[str]:
    return [
        f"Vetting, {row['vetting']}, {row['crowd']}, G1 = {row['tests']:g}, "
        f"{repeats_label(row['repeats'])}: drops in {row['dropping']} of {row['runs']} runs, the "
        f"first at step {row['step']:.0f} (median); not the least able in "
        f"{row['first_wrong']} ({row['low']:.3f} to {row['high']:.3f}), where it states "
        f"{row['stated']:.3f}."
        for row in vetted.to_dict("records")
        if row["dropping"]
    ]


def _others(table: pd.DataFrame, gains: pd.DataFrame) -> list[str]:
    sentences = []
    for name in ("delay", "eta"):
        own = gains[gains[name] > 0]
        sentences += [
            f"{name} {row[name]:g}, {row['crowd']}, T = {row['tasks']:,}: average reward "
            f"{plus_minus(row['reward'], row['se'], 4)}."
            for row in own.to_dict("records")
        ]
    knows = _knows(table)
    sentences += [
        f"Mean skill below ½ ({row['crowd']}, {row['vote']}): the last set is right with "
        f"{row['last_accuracy']:.3f} where {row['best_accuracy']:.3f} can be had; estimates "
        f"are off by {row['off']:.3f} from p, by {row['off_reversed']:.3f} from 1 − p."
        for row in knows[knows["crowd"] == "distrusted"].to_dict("records")
    ]
    return sentences


_VETTED = ["one-bad", "table-1", "from-0.6", "alike"]
_CROWDS = ["from-0.6", "table-1", "spread"]

STUDY = Study(
    name="learn-exploration",
    title="How much to explore, vetting, and delay",
    source="Liu, Liu (2015), Sections 2.3, 3.5, 6.1 and 6.2",
    parameters=run_parameters(
        vetting=Parameter(str, "none", "who drops the labeler that differs most",
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
    trial=trial,
    analyse=analyse,
)  # fmt: skip
