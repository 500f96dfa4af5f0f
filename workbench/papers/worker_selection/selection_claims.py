"""What Li, Liu (2015) claim, as far as theory and simulation decide it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.papers.worker_selection.selection_sweep import SETTING, at_own_budget
from workbench.papers.worker_selection.selection_trials import difference
from workbench.studies.analysis import listed
from workbench.studies.chance import BEYOND, mean_se
from workbench.studies.claim import NotMeasured
from workbench.studies.measures import fill
from workbench.studies.summary import instance_columns

ROUNDING = 1e-9
"""Rounding allowed where numbers are compared."""
CROWDS = 20
"""Least number of crowds for a mean to be looked at."""
SMALL = 10
"""Workers below which the paper calls a selection small."""
CLOSE = 2.0
"""Two mean numbers of workers no further apart than this count as very close."""
LITTLE = 0.005
"""An accuracy lost that is no more than this counts as little."""
MOST = 0.5
"""Share of the settings beyond which a difference counts as the rule."""


def _apart(
    rows: pd.DataFrame,
    first: str,
    second: str,
    value: str = "accuracy_exact",
    by: Sequence[str] = ("budget",),
) -> pd.DataFrame:
    """Mean of first − second on the same crowds, setting by setting (`difference`).

    Raises
    ------
    NotMeasured
        At fewer than 3 settings are there enough crowds.
    """
    apart = difference(rows, list(by), first, second, value)
    apart = apart[apart["n"] >= CROWDS].sort_values(list(by), ignore_index=True)
    if len(apart) < 3:
        raise NotMeasured(f"{first} and {second}: fewer than 3 settings have {CROWDS} crowds")
    return apart.astype({"ahead": bool, "behind": bool})


def _at(apart: pd.DataFrame, budget: int) -> pd.Series[Any]:
    """Row of the budget nearest to one, its mean with a standard error."""
    near = apart.assign(far=(apart["budget"] - budget).abs()).sort_values("far")
    return near.iloc[0]


def _shown(apart: pd.DataFrame, budget: int, digits: int = 4) -> str:
    row = _at(apart, budget)
    return fill(f"{{mean:+±{digits}}}", {"mean": (row["mean"], row["se"])})


def _ahead(apart: pd.DataFrame, rival: str) -> str:
    """Where the first is ahead of a rival and where behind, for a sentence."""
    spans = []
    for name in ("ahead", "behind"):
        budgets = apart.loc[apart[name], "budget"]
        places = f" (K = {budgets.min():g} to {budgets.max():g})"
        spans.append(f"{len(budgets)}{places}" if len(budgets) else "none")
    some = "; ".join(
        f"K = {_at(apart, budget)['budget']:g}: {_shown(apart, budget)}" for budget in (10, 20, 31)
    )
    return (
        f"Less {rival}: ahead at {spans[0]}, behind at {spans[1]} of {len(apart)} budgets ({some})"
    )


def _better(*gaps: pd.DataFrame) -> dict[str, bool]:
    """Whether the first is ahead as a rule and never behind; at more settings than not; or not.

    Where it is neither, and nowhere behind but for chance, nothing is shown.
    """
    fine = all(apart["ahead"].mean() > MOST and not apart["behind"].any() for apart in gaps)
    partly = all(apart["ahead"].sum() > apart["behind"].sum() for apart in gaps)
    behind = any(apart["behind"].any() for apart in gaps)
    return {"refuted": behind and not partly, "inconclusive": not partly, "caveat": not fine}


RIVALS = {
    "plug-in": "the plug-in rule",
    "top-skill": "the K of highest ŵ",
    "top-informative": "the K with ŵ farthest from ½",
}
"""Rules that the selected are compared with."""


def against(rows: pd.DataFrame, rivals: Sequence[str], judged: int) -> dict[str, Any]:
    """Accuracy of Algorithm 1's choice less each rival's, by budget; the first are judged."""
    gaps = {rival: _apart(rows, "selected", rival) for rival in rivals}
    texts = [_ahead(gap, RIVALS[rival]) for rival, gap in gaps.items()]
    return {"gaps": ". ".join(texts), **_better(*list(gaps.values())[:judged])}


def _sizes(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    """Mean workers used by budget."""
    points = rows[rows["method"] == method].groupby("budget")["size"].agg(["mean", "sem", "size"])
    points = points[points["size"] >= CROWDS]
    if points.empty:
        raise NotMeasured(f"{method}: no budget has {CROWDS} crowds")
    return points


def figure_1_workers(rows: pd.DataFrame) -> dict[str, Any]:
    """Mean number of workers that Algorithm 1 uses, by budget."""
    points = _sizes(rows, "selected")
    top = points.sort_values("mean").iloc[-1]
    return {
        "top": (top["mean"], top["sem"]),
        "budget": top.name,
        "points": len(points),
        "many": int((points["mean"] >= SMALL).sum()),
        "largest": int(rows.loc[rows["method"] == "selected", "size"].max()),
        "refuted": (points["mean"] - BEYOND * points["sem"] >= SMALL).any(),
        "caveat": (points["mean"] >= SMALL).any(),
    }


def figure_1_plug_in_size(rows: pd.DataFrame) -> dict[str, Any]:
    """Workers that the plug-in rule uses beyond Algorithm 1."""
    apart = _apart(rows, "plug-in", "selected", "size")
    return {
        "least": apart["mean"].min(),
        "most": apart["mean"].max(),
        "at": _shown(apart, 20, 2),
        "more": int(apart["ahead"].sum()),
        "fewer": int(apart["behind"].sum()),
        "points": len(apart),
        "refuted": apart["behind"].any() and not apart["ahead"].any(),
        "inconclusive": not apart["ahead"].any(),
        "caveat": apart["ahead"].mean() <= MOST or apart["behind"].any(),
    }


def optimal_number(rows: pd.DataFrame) -> dict[str, Any]:
    """Workers used by Algorithm 1 less those of the best prefix of its ranking, K ≥ 20."""
    rows = rows[rows["budget"] >= 20]
    sizes = _apart(rows, "selected", "best prefix", "size")
    lost = _apart(rows, "best prefix", "selected")["mean"]
    best = _sizes(rows, "best prefix")["mean"]
    far = (sizes["mean"].abs() > CLOSE).any()
    return {
        "first": sizes["budget"].min(),
        "last": sizes["budget"].max(),
        "selected": _sizes(rows, "selected")["mean"].mean(),
        "fewest": best.min(),
        "most": best.max(),
        "at": _shown(sizes, 20, 2),
        "at_last": _shown(sizes, 31, 2),
        "near": _at(sizes, 31)["budget"],
        "lost": lost.min(),
        "lost_most": lost.max(),
        "refuted": far and (lost > LITTLE).any(),
        "caveat": far,
    }


SHOWN = ("selected", "plug-in", "top-skill")
"""Rules of the paper's Figure 2."""


def figure_2_controls(rows: pd.DataFrame) -> dict[str, Any]:
    """Accuracy by n on the same crowds: from each n to the next, and from the first to the last."""
    texts, fine, up, down = [], True, True, False
    for method in SHOWN:
        wide = _wide(rows[rows["method"] == method], "controls")
        steps = wide.diff(axis=1).iloc[:, 1:]
        fall = steps.mean() < -BEYOND * steps.sem()
        mean, se = mean_se(wide.iloc[:, -1] - wide.iloc[:, 0])
        fine, up = fine and not fall.any(), up and mean > BEYOND * se
        down = down or mean < -BEYOND * se
        texts.append(
            f"{method} {wide.iloc[:, 0].mean():.3f} to {wide.iloc[:, -1].mean():.3f} "
            f"({mean:+.4f} ± {se:.4f}; falls at n = {listed(steps.columns[fall])})"
        )
    return {
        "least": rows["controls"].min(),
        "most": rows["controls"].max(),
        "rules": ", ".join(texts),
        "refuted": down,
        "inconclusive": not up,
        "caveat": not fine,
    }


def _wide(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Accuracy, a row a crowd and a column a value of a parameter; crowds that have all.

    Raises
    ------
    NotMeasured
        Too few crowds, or fewer than 3 values.
    """
    wide = rows.pivot_table(
        index=instance_columns(rows), columns=column, values="accuracy_exact"
    ).dropna()
    if len(wide) < CROWDS or wide.shape[1] < 3:
        raise NotMeasured(
            f"{len(wide)} crowds and {wide.shape[1]} values of {column}: {CROWDS} and 3 needed"
        )
    return wide


def figure_2_plug_in(rows: pd.DataFrame) -> dict[str, Any]:
    """|selected − plug-in| at small and at large n, each half of the values of n averaged."""
    selected, plug_in = (
        _wide(rows[rows["method"] == method], "controls") for method in ("selected", "plug-in")
    )
    apart = (selected - plug_in).dropna(axis=1).dropna()
    half = apart.shape[1] // 2
    small, large = apart.iloc[:, :half].mean(axis=1), apart.iloc[:, half:].mean(axis=1)
    shrunk, se = mean_se((small - large) * (1.0 if small.mean() >= 0 else -1.0))
    return {
        "means": ", ".join(f"{value:+.4f} (n = {n})" for n, value in apart.mean().items()),
        "half": half,
        "rest": apart.shape[1] - half,
        "small": small.mean(),
        "large": large.mean(),
        "shrunk": (shrunk, se),
        "refuted": shrunk < -BEYOND * se or abs(large.mean()) >= abs(small.mean()),
        "inconclusive": shrunk <= BEYOND * se,
    }


def _by_prior(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    """Mean accuracy and its standard error, by a.

    Raises
    ------
    NotMeasured
        Fewer than 3 values of a have enough crowds.
    """
    points = rows[rows["method"] == method].groupby("a")["accuracy_exact"]
    means = points.agg(["mean", "sem", "size"])
    means = means[means["size"] >= CROWDS]
    if len(means) < 3:
        raise NotMeasured(f"{method}: fewer than 3 values of a have {CROWDS} crowds")
    return means


def _rise(points: pd.DataFrame, first: Any) -> tuple[float, float]:
    """Rise of the mean from one a to the largest, and its standard error."""
    ends = points.loc[[first, points.index[-1]]]
    return float(ends["mean"].diff().iloc[-1]), math.hypot(*ends["sem"])


def figure_2_prior_top_k(rows: pd.DataFrame) -> dict[str, Any]:
    """Accuracy of the top K by skill as a grows."""
    points = _by_prior(rows, "top-skill")
    mean, sem = points["mean"], points["sem"].to_numpy()
    falls = points.index[1:][np.diff(mean) < -BEYOND * np.hypot(sem[1:], sem[:-1])]
    rise, se = _rise(points, mean.idxmin())
    return {
        "first": mean.iloc[0],
        "a_first": points.index[0],
        "lowest": mean.min(),
        "a_lowest": mean.idxmin(),
        "last": mean.iloc[-1],
        "a_last": points.index[-1],
        "rise": (rise, se),
        "falls": falls,
        "refuted": rise <= BEYOND * se and len(falls),
        "inconclusive": rise <= BEYOND * se,
        "caveat": len(falls),
    }


def figure_2_prior_selected(rows: pd.DataFrame) -> dict[str, Any]:
    """Rise of both rules beside the top K's, from where the top K and the selected are worst."""
    points = {method: _by_prior(rows, method) for method in SHOWN}
    texts, slight = [], []
    for start in (points["top-skill"]["mean"].idxmin(), points["selected"]["mean"].idxmin()):
        rises = {method: _rise(points[method], start) for method in SHOWN}
        whole, doubt = rises["top-skill"]
        slight.append(
            min(
                (whole / 2 - rises[method][0]) / math.hypot(doubt / 2, rises[method][1])
                for method in ("selected", "plug-in")
            )
        )
        rules = ", ".join(
            f"{method} {rise:+.3f} ± {se:.3f}" for method, (rise, se) in rises.items()
        )
        texts.append(f"from a = {start:g}: {rules}")
    return {
        "a_last": points["selected"].index[-1],
        "rises": "; ".join(texts),
        "refuted": slight[0] < -BEYOND,
        "inconclusive": slight[0] <= BEYOND,
        "caveat": slight[1] <= BEYOND,
    }


def unbiasedness(
    figure_1: pd.DataFrame, figure_2: pd.DataFrame, sweep: pd.DataFrame
) -> dict[str, Any]:
    """Accuracy of Algorithm 1's choice less the plug-in rule's, setting by setting."""
    sweep = sweep.assign(accuracy_exact=sweep["accuracy_exact"].fillna(sweep["accuracy"]))
    studies = {
        "selection-figure-1": (figure_1, ["budget"]),
        "selection-figure-2": (figure_2, ["sweep", "controls", "a"]),
        "selection-sweep": (at_own_budget(sweep), SETTING),
    }
    gaps = {
        study: _apart(rows, "selected", "plug-in", by=by) for study, (rows, by) in studies.items()
    }
    counts = [
        f"{study} ahead {apart['ahead'].sum()}, behind {apart['behind'].sum()} of {len(apart)}"
        for study, apart in gaps.items()
    ]
    own = gaps["selection-sweep"]
    crowds = {}
    for name in ("ahead", "behind"):
        many = own.loc[own[name], "crowd"].value_counts()
        crowds[name] = ", ".join(f"{crowd} {count}" for crowd, count in many.items()) or "none"
    return {
        "counts": "; ".join(counts),
        "ahead": crowds["ahead"] or "none",
        "behind": crowds["behind"] or "none",
        **_better(pd.concat(gaps.values())),
    }
