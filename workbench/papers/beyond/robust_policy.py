"""One policy that hardly loses: `robust` beside the best of five others in every setting.

Trials, settings and measures are those of the study `assignment-policies`: a policy is judged by
its mean `ratio_repaired` over that of the best of the five in the same setting. The policy is told
U and L of the crowd that arrives, or estimates them from those met (`rates`); m it is told always.

Source: docs/robust-policy.md, beyond Ho, Jabbari, Vaughan (2013).
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from workbench.papers.beyond import assignment_policies as policies
from workbench.studies.measures import DeclaredAnalysis, Drawn, Grouped, Part, means_of
from workbench.studies.study import Block, Parameter, Params, Record, Size, Study
from workbench.studies.summary import means
from workbench.studies.trials import Streams

RIVALS = ("paper", "coverage-aware", "re-solve", "dual descent", "greedy")
RATES = ("told", "estimated")
ASKED = {"true": 1.08, "estimated": 1.15}
"""Cost over that of the best of the rivals, by what is known of skills."""


def trial(params: Params, streams: Streams) -> Record:
    """Let one policy assign one crowd, as in `assignment-policies`."""
    return policies.trial(params, streams, told_rates=params["rates"] == "told")


def beside_best(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean repaired cost of each policy over that of the best rival, by setting.

    Returns
    -------
    DataFrame
        Columns of `assignment_policies.SETTINGS`, `policy, rates, n, mean, se, best, beside`: who
        of the rivals is best, and the mean over the best one's.
    """
    setting = list(policies.SETTINGS)
    found = means(rows, [*setting, "policy", "rates"], "ratio_repaired")
    rivals = found[found["policy"].isin(RIVALS)]
    best = rivals.loc[rivals.groupby(setting)["mean"].idxmin(), [*setting, "policy", "mean"]]
    best = best.rename(columns={"policy": "best", "mean": "least"})
    joined = found.merge(best, on=setting)
    joined["beside"] = joined["mean"] / joined["least"]
    return joined.drop(columns=["least", "low", "high"], errors="ignore")


def _robust(rows: pd.DataFrame) -> pd.DataFrame:
    """The robust policy's rows of `beside_best`, the worst first, less what never varies."""
    found = beside_best(rows)
    own = found[found["policy"] == "robust"].sort_values("beside", ascending=False, kind="stable")
    return own.drop(
        columns=[n for n in policies.SETTINGS if n != "information" and len(set(own[n])) < 2]
    )


def _said(_: pd.DataFrame, found: pd.DataFrame) -> list[str]:
    """How far `robust` is from the best rival, and in how many settings it is within `ASKED`."""
    told = []
    for (rates, known), own in found.groupby(["rates", "information"], sort=False):
        most = ASKED[str(known)]
        within = int((own["beside"] <= most).sum())
        ahead = int((own["beside"] < 1 - policies.TIED).sum())
        told.append(
            f"L and U {rates}, {known} skills: within {most:g} times the best of the five in "
            f"{within} of {len(own)} settings, below it in {ahead}; at worst "
            f"{own['beside'].max():.3f}, in the mean {own['beside'].mean():.3f}."
        )
    return told


def _profile(rows: pd.DataFrame) -> pd.DataFrame:
    """Share of settings in which a policy's mean is within a factor of the best rival's."""
    found = beside_best(rows)
    found["series"] = found["policy"].where(
        found["rates"] == "told", found["policy"] + ", L and U estimated"
    )
    parts = []
    found = found.iloc[(found["policy"] != "robust").argsort(kind="stable")]  # it leads the legend
    for (series, known), own in found.groupby(["series", "information"], sort=False):
        factors = own["beside"].sort_values()
        share = [(at + 1) / len(factors) for at in range(len(factors))]
        parts.append(
            pd.DataFrame(
                {"series": series, "panel": f"{known} skills", "factor": factors, "share": share}
            )
        )
    return pd.concat(parts, ignore_index=True)


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
    kept = [one for one in blocks if "skills" not in one and one["policy"] != ["hindsight"]]
    rivals: list[Block] = [{**one, "policy": list(RIVALS)} for one in kept]
    own: list[Block] = [{**one, "policy": ["robust"], "rates": list(RATES)} for one in kept]
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
    analyse=DeclaredAnalysis(
        Part(
            "The robust policy beside the best of the five, by setting",
            _robust,
            (_said,),
            charts=(
                Drawn(
                    "profile",
                    "Share of settings in which a policy's mean cost, repair included, is within "
                    "a factor of the best of the five's",
                    "factor",
                    "share",
                    ("mean cost / that of the best of the five", "share of settings"),
                    {"series": "series", "panel": "panel", "kind": "step", "log_x": True},
                    of=_profile,
                    note="",
                ),
            ),
        ),
        Part(
            "Every policy in every setting",
            Grouped(
                (*policies.SETTINGS, "policy", "rates"),
                {"trials": ("ratio", "size"), **means_of("ratio", "covered", "ratio_repaired")},
            ),
        ),
        needs="ratio_repaired",
    ),
    version=1,
    deadline=300.0,
)
