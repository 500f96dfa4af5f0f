"""One policy that hardly loses: `robust` beside the best of five others in every setting.

Trials, settings and measures are those of the study `assignment-policies`: a policy is judged by
its mean `ratio_repaired` over that of the best of the five in the same setting. The policy is told
U and L of the crowd that arrives, or estimates them from those met (`rates`); m it is told always.

Source: docs/proofs/robust-policy.md, beyond Ho, Jabbari, Vaughan (2013).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from crowd_papers.beyond import assignment_policies as policies
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
    ended,
    mean_columns,
    means,
    measured,
    nonempty,
    varies,
)

RIVALS = ("paper", "coverage-aware", "re-solve", "dual descent", "greedy")
RATES = ("told", "estimated")
ASKED = {"true": 1.08, "estimated": 1.15}
"""Cost over that of the best of the rivals, by what is known of skills."""


def trial(params: Params, streams: Streams) -> Record:
    """Let one policy assign one crowd, as in `assignment-policies`."""
    return policies.trial(params, streams, told_rates=params["rates"] == "told")


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """The robust policy beside the best of the five, and every policy in every setting."""
    rows = measured(trials, "ratio_repaired")
    if rows.empty:
        return Analysis((ended(trials),))
    beside = beside_best(rows)
    robust = robust_settings(beside)
    by = [*policies.SETTINGS, "policy", "rates"]
    counts = rows.groupby(by).agg(trials=("ratio", "size")).reset_index()
    every = counts.merge(mean_columns(rows, by, ["ratio", "covered", "ratio_repaired"]), on=by)
    tables = {
        "The robust policy beside the best of the five, by setting": robust,
        "Every policy in every setting": every,
    }
    chart = Chart(
        "profile",
        "Share of settings in which a policy's mean cost, repair included, is within a factor of "
        "the best of the five's.",
        profile(beside),
        x="factor",
        y="share",
        x_label="mean cost / that of the best of the five",
        y_label="share of settings",
        series="series",
        panel="panel",
        kind="step",
        log_x=True,
    )
    tables = {caption: table for caption, table in tables.items() if len(table)}
    return Analysis((ended(trials), *within_asked(robust)), tables, nonempty(chart))


def beside_best(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean repaired cost of each policy over that of the best rival, by setting.

    Returns
    -------
    DataFrame
        Columns of `assignment_policies.SETTINGS`, `policy, rates, n, mean, se, failed, best,
        beside`: who of the rivals is best, and the mean over the best one's.
    """
    setting = list(policies.SETTINGS)
    table = means(rows, [*setting, "policy", "rates"], "ratio_repaired")
    rivals = table[table["policy"].isin(RIVALS)]
    best = rivals.loc[rivals.groupby(setting)["mean"].idxmin(), [*setting, "policy", "mean"]]
    best = best.rename(columns={"policy": "best", "mean": "least"})
    table = table.merge(best, on=setting)
    table["beside"] = table["mean"] / table["least"]
    return table.drop(columns=["least", "low", "high"])


def robust_settings(beside: pd.DataFrame) -> pd.DataFrame:
    """The robust policy's rows of `beside_best`, the worst first, less what never varies."""
    own = beside[beside["policy"] == "robust"]
    own = own.sort_values("beside", ascending=False, kind="stable")
    same = [name for name in policies.SETTINGS if name != "information" and not varies(own, name)]
    return own.drop(columns=same)


def within_asked(robust: pd.DataFrame) -> list[str]:
    """How far `robust` is from the best rival, and in how many settings it is within `ASKED`."""
    findings = []
    for (rates, information), own in robust.groupby(["rates", "information"], sort=False):
        most, beside = ASKED[str(information)], own["beside"]
        findings.append(
            f"L and U {rates}, {information} skills: within {most:g} times the best of the five in "
            f"{(beside <= most).sum()} of {len(own)} settings, below it in "
            f"{(beside < 1 - policies.TIED).sum()}; at worst {beside.max():.3f}, in the mean "
            f"{beside.mean():.3f}."
        )
    return findings


def profile(beside: pd.DataFrame) -> pd.DataFrame:
    """Share of settings in which a policy's mean is within a factor of the best rival's."""
    estimated = beside["policy"] + ", L and U estimated"
    table = beside.assign(series=beside["policy"].where(beside["rates"] == "told", estimated))
    table = table.iloc[(table["policy"] != "robust").argsort(kind="stable")]  # it leads the legend
    steps = []
    for (series, information), own in table.groupby(["series", "information"], sort=False):
        step = pd.DataFrame({"factor": own["beside"].sort_values()})
        step["share"] = np.arange(1, len(step) + 1) / len(step)
        steps.append(step.assign(series=str(series), panel=f"{information} skills"))
    return pd.concat(steps, ignore_index=True)


PARAMETERS = {
    **policies.PARAMETERS,
    "rates": Parameter(
        str,
        "told",
        "whether a policy that goes by L and U is told them, or estimates them",
        choices=RATES,
        paired=True,
    ),
}


def _beside(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The settings of blocks in which skills are estimated as everywhere, for all policies."""
    others = [
        block for block in blocks if "skills" not in block and block["policy"] != ["hindsight"]
    ]
    rivals: list[Block] = [{**block, "policy": list(RIVALS)} for block in others]
    own: list[Block] = [{**block, "policy": ["robust"], "rates": list(RATES)} for block in others]
    return (*rivals, *own)


_FEW: Block = {
    "information": ["true", "estimated"],
    "arrival": ["random", "worst_first"],
    "tasks": [60],
    "workers": [40],
    "capacity": [60],
    "gamma": [0.5],
    "policy": [],
}

STUDY = Study(
    name="robust-policy",
    title="One policy beside the best of five in every setting",
    source="beyond Ho, Jabbari, Vaughan (2013)",
    parameters=PARAMETERS,
    sizes={
        "smoke": Size(_beside([_FEW]), 1),
        "small": Size(_beside(policies.STUDY.sizes["small"].sweep), 5),
        "paper": Size(_beside(policies.STUDY.sizes["paper"].sweep), 15),
    },
    trial=trial,
    analyse=analyse,
    version=1,
    deadline=300.0,
)
