"""What Li, Liu (2015) claim of selection on recorded crowds (Sections 4 and 5).

Standard errors are over draws of the control questions of one data set, not over crowds. Two
methods are compared on the same draws. A budget is large from half of a data set's largest on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.papers.worker_selection.selection_crowds import (
    BUDGETS,
    EM_METHODS,
    PAPER,
    POOL,
    TITLES,
)
from workbench.studies.analysis import listed, percent
from workbench.studies.chance import BEYOND, mean_se
from workbench.studies.claim import NotMeasured
from workbench.studies.measures import sentences
from workbench.studies.summary import instance_columns

DRAWS = 20
"""Draws of control questions needed at each point."""
SETS = 3
"""Data sets needed for a claim about all."""
LARGE = 0.5
"""Share of a data set's largest budget from which a budget counts as large."""
CLOSE = 0.01
"""Accuracies no further apart count as equally good."""
MUCH = 0.02
"""A difference of accuracy that counts as much."""
LINEAR, LOG = "WMV-lin selected", "WMV-log selected"
SELECTED = (LINEAR, LOG, "EM selected")
ONE_COIN = "one-coin, uniform prior"
RIVALS = ("EM top K", "EM random K")
REJECTED = 3.0
"""Standard deviations by which one coin a worker must misfit to be rejected."""
TRUNCATED = 0.05
"""Heavier truncation: half of what one answer of ten weighs."""


def _own(rows: pd.DataFrame, *data: str) -> pd.DataFrame:
    """Trials of recorded crowds at the paper's settings; EM in every variant.

    Raises
    ------
    NotMeasured
        No trials of a data set that is named, or of fewer than `SETS` where none is.
    """
    pool = rows["data"].map(POOL).astype(float)
    own = (rows["pool"].astype(float) == pool) | (rows["pool"].isna() & pool.isna())
    rows = rows[own & (rows["controls"] == 10) & (rows["truncate"] == 0.001)]
    rows = rows[rows["data"].isin(data or tuple(BUDGETS))]
    missing = [name for name in data if not (rows["data"] == name).any()]
    if missing:
        raise NotMeasured(f"no trials of {missing[0]} at the paper's settings")
    if not data and rows["data"].nunique() < SETS:
        raise NotMeasured(f"{rows['data'].nunique()} recorded crowds, {SETS} needed")
    return rows


def _wide(rows: pd.DataFrame, em: str = "full", value: str = "accuracy") -> pd.DataFrame:
    """A row a data set, budget and draw; a column a method, EM in one variant."""
    variant = np.where(rows["method"].isin(EM_METHODS), em, "full")
    own = rows[rows["em"] == variant]
    return own.pivot_table(
        index=["data", "budget", *instance_columns(own)], columns="method", values=value
    )


def _gap(wide: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """Mean of first − second: columns `data, budget, n, mean, se, ahead, behind, large`.

    Raises
    ------
    NotMeasured
        No point has `DRAWS` draws of both.
    """
    for name in (first, second):
        if name not in wide:
            raise NotMeasured(f"no trials of {name}")
    apart = (wide[first] - wide[second]).dropna()
    points = apart.groupby(level=["data", "budget"]).agg(["size", "mean", "sem"]).reset_index()
    points.columns = pd.Index(["data", "budget", "n", "mean", "se"])
    points = points[points["n"] >= DRAWS]
    if points.empty:
        raise NotMeasured(f"{first} and {second}: no point has {DRAWS} draws of both")
    most = wide.index.to_frame(index=False).groupby("data")["budget"].max()
    return points.assign(
        ahead=points["mean"] > BEYOND * points["se"],
        behind=points["mean"] < -BEYOND * points["se"],
        large=points["budget"] >= LARGE * points["data"].map(most),
        largest=points["budget"] == points["data"].map(most),
    )


def _large(points: pd.DataFrame) -> pd.DataFrame:
    return points[points["large"]]


def _by_data(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Rows of each data set, in the order of the study."""
    names = rows["data"] if "data" in rows else rows.index.get_level_values("data")
    return [(name, rows[names == name]) for name in BUDGETS if (names == name).any()]


def _ends(points: pd.DataFrame, digits: int = 3) -> str:
    """First and last difference of some points, by budget."""
    ends = points.sort_values("budget").iloc[[0, -1]].drop_duplicates("budget")
    return ", ".join(sentences(f"{{gap:+±{digits}}} (K = {{budget:g}})", _named(ends)))


def _named(points: pd.DataFrame) -> pd.DataFrame:
    return points.assign(gap=points["mean"], gap_se=points["se"])


def _share(fine: Sequence[bool], against: bool = True) -> dict[str, bool]:
    """Everywhere it holds, somewhere with a caveat; nowhere not, if anything speaks against it."""
    return {
        "refuted": against and not any(fine),
        "inconclusive": not any(fine),
        "caveat": not all(fine),
    }


def _better(points: pd.DataFrame) -> bool:
    return bool(points["ahead"].mean() > 0.5 and not points["behind"].any())


def bluebird_em(rows: pd.DataFrame) -> dict[str, Any]:
    """WMV-lin selected against EM on top K and random K, large K, by variant of EM."""
    rows = _own(rows, "bluebird")
    fine, texts, behind = [], [], False
    for em, title in TITLES.items():
        gaps = {rival: _large(_gap(_wide(rows, em), LINEAR, rival)) for rival in RIVALS}
        fine.append(all(_better(points) for points in gaps.values()))
        behind = behind or any(points["behind"].any() for points in gaps.values())
        texts += [f"{title}, less {rival}: {_ends(points)}" for rival, points in gaps.items()]
    return {"gaps": ". ".join(texts), **_share(fine, behind)}


def selected_against_em(rows: pd.DataFrame) -> dict[str, Any]:
    """Three votes of the selected against EM on top K and random K, by data set and variant."""
    rows = _own(rows)
    fine, texts, every = [], [], []
    for em, title in TITLES.items():
        wide = _wide(rows, em)
        points = pd.concat(_large(_gap(wide, mine, rival)) for mine in SELECTED for rival in RIVALS)
        every.append(points)
        fine += [_better(part) for _, part in _by_data(points)]
        counts = [
            f"{data} {part['ahead'].sum()} and {part['behind'].sum()} of {len(part)}"
            for data, part in _by_data(points)
        ]
        texts.append(f"{title}: {', '.join(counts)}")
    ahead, behind = pd.concat(every)[["ahead", "behind"]].sum()
    return {
        "counts": ". ".join(texts),
        "refuted": behind and ahead <= behind,
        "inconclusive": ahead <= behind,
        "caveat": not all(fine),
    }


def _as_good(rows: pd.DataFrame) -> dict[str, Any]:
    """Whether the selected are within `CLOSE` of the top K with at most half of their workers."""
    sizes = _wide(rows, value="size").groupby(level=["data", "budget"]).mean().reset_index()
    points = _large(_gap(_wide(rows), LINEAR, "WMV top K"))
    points = points.merge(sizes[["data", "budget", LINEAR, "WMV top K"]])
    fine, texts = [], []
    for data, part in _by_data(points):
        last = part.sort_values("budget").iloc[-1]
        near = (part["mean"] - BEYOND * part["se"] >= -CLOSE).all()
        fine.append(bool(near and last[LINEAR] <= last["WMV top K"] / 2))
        many = f"with {last[LINEAR]:.1f} workers for {last['WMV top K']:.1f}"
        texts.append(f"{data} {_ends(part, 4)}, {many}")
    return {"gaps": "; ".join(texts), **_share(fine)}


def bluebird_top_k(rows: pd.DataFrame) -> dict[str, Any]:
    """WMV-lin selected less WMV top K on bluebird at large K."""
    return _as_good(_own(rows, "bluebird"))


def as_good(rows: pd.DataFrame) -> dict[str, Any]:
    """The same on all data sets."""
    return _as_good(_own(rows))


def bluebird_workers(rows: pd.DataFrame) -> dict[str, Any]:
    """Workers selected on bluebird, by budget."""
    size = _wide(_own(rows, "bluebird"), value="size")[LINEAR].dropna()
    points = size.groupby(level="budget").agg(["size", "mean", "sem", "median"])
    share = (size <= 9).groupby(level="budget").mean()
    last = points.iloc[-1]
    return {
        "means": ", ".join(f"{mean:.1f} (K = {budget})" for budget, mean in points["mean"].items()),
        "last": (last["mean"], last["sem"]),
        "median": last["median"],
        "share": share.iloc[-1],
        "draws": last["size"],
        "refuted": (share + BEYOND * np.sqrt(share * (1 - share) / points["size"]) < 0.5).any(),
        "inconclusive": (share < 0.5).any(),
    }


def few_workers(rows: pd.DataFrame) -> dict[str, Any]:
    """Mean number selected at the budget where it is largest, on all data sets.

    Beyond chance above 10 on the paper's own crowd, it is not so; on others alone, the claim does
    not transfer.
    """
    size = _wide(_own(rows), value="size")[LINEAR].dropna()
    by = size.groupby(level=["data", "budget"]).agg(["mean", "sem"]).reset_index()
    most = {data: part.nlargest(1, "mean").iloc[0] for data, part in _by_data(by)}
    sizes = [f"{data} {row['mean']:.1f}" for data, row in most.items()]
    above = {data: row["mean"] - BEYOND * row["sem"] >= 10 for data, row in most.items()}
    return {
        "sizes": ", ".join(sizes),
        "refuted": above.get("bluebird", False),
        "does_not_transfer": any(above.values()),
        "caveat": any(row["mean"] >= 10 for row in most.values()),
    }


def optimal_number(rows: pd.DataFrame) -> dict[str, Any]:
    """Number selected at the largest K beside the number of top-ranked workers that is best.

    It is not close where it is more than 2 off and more accuracy than `CLOSE` is lost, beyond
    chance. Where that is so on crowds that are not the paper's alone, or the number is as far off
    there, the claim does not transfer.
    """
    rows = _own(rows)
    wide, sizes = _wide(rows), _wide(rows, value="size")
    near, dear, texts = {}, {}, []
    for data, part in _by_data(wide):
        best, own, odd = _best_budget(part["WMV top G"]), sizes.loc[data], _odd(part)
        most = part.index.get_level_values("budget").max()
        number = own["WMV top G"].xs(best, level="budget").mean()
        selected = own[LINEAR].xs(most, level="budget").mean()
        at_best = odd["WMV top G"].xs(best, level="budget")
        lost, se = mean_se((at_best - odd[LINEAR].xs(most, level="budget")).dropna())
        near[data] = abs(selected - number) <= 2
        dear[data] = lost - BEYOND * se > CLOSE
        texts.append(f"{data} {selected:.1f} for {number:.1f}, loses {lost:.4f} ± {se:.4f}")
    far = not near.get("bluebird", True)
    return {
        "sizes": "; ".join(texts),
        "refuted": far and dear["bluebird"],
        "does_not_transfer": not far and not all(near.values()),
        "caveat": far,
    }


def _best_budget(accuracy: pd.Series[float]) -> int:
    """Budget with the highest mean on the even draws, so that the odd ones can measure it."""
    even = accuracy[accuracy.index.get_level_values("repetition") % 2 == 0]
    curve = even.groupby(level="budget").mean()
    return int(curve.index.to_numpy()[curve.to_numpy().argmax()])


def _odd(wide: pd.DataFrame) -> pd.DataFrame:
    odd = wide[wide.index.get_level_values("repetition") % 2 == 1].droplevel("data")
    draws = odd.index.get_level_values("repetition").nunique()
    if draws < DRAWS // 2:
        raise NotMeasured(f"{draws} odd draws")
    return odd


def em_top_k(rows: pd.DataFrame) -> dict[str, Any]:
    """Rise of EM top K from the least K to its peak, and fall to the largest K."""
    rows = _own(rows)
    fine, texts = [], []
    for em, title in TITLES.items():
        peaks = []
        for data, part in _by_data(_wide(rows, em)):
            best = _best_budget(part["EM top K"])
            curve = _odd(part).pivot_table(index="repetition", columns="budget", values="EM top K")
            rise, rise_se = mean_se(curve[best] - curve[curve.columns.min()])
            fall, fall_se = mean_se(curve[best] - curve[curve.columns.max()])
            fine.append(rise > BEYOND * rise_se and fall > BEYOND * fall_se)
            peaks.append(
                f"{data} up {rise:.3f} ± {rise_se:.3f} to K = {best}, then down {fall:.4f} ± "
                f"{fall_se:.4f}"
            )
        texts.append(f"{title}: {', '.join(peaks)}")
    return {"peaks": ". ".join(texts), **_share(fine)}


def majority(rows: pd.DataFrame) -> dict[str, Any]:
    """Majority on the top K less each other method, at large K."""
    rows = _own(rows)
    gaps = [_gap(_wide(rows), "MV top K", name) for name in PAPER]
    gaps += [_gap(_wide(rows, ONE_COIN), "MV top K", name) for name in EM_METHODS]
    points = _large(pd.concat(gaps))
    points = points.assign(much=points["behind"] & (points["mean"] < -MUCH))
    texts = [
        f"{data} {percent(part['much'].mean())}, {percent(part['behind'].mean())}, "
        f"{percent(part['ahead'].mean())} ({part['mean'].mean():+.3f} on average)"
        for data, part in _by_data(points)
    ]
    fine = [
        bool(part["much"].mean() > 0.5 and part["much"].sum() > part["ahead"].sum())
        for _, part in _by_data(points)
    ]
    caveat = not all(fine) or points["ahead"].any()
    return {"shares": "; ".join(texts), **_share(fine), "caveat": caveat}


def log_odds(rows: pd.DataFrame) -> dict[str, Any]:
    """WMV-log less WMV-lin on the selected, n = 10."""
    points = _gap(_wide(_own(rows)), LOG, LINEAR)
    texts = [
        f"{data} {_ends(part, 4)}, behind at K = {listed(part.loc[part['behind'], 'budget'])}, "
        f"ahead at {listed(part.loc[part['ahead'], 'budget'])}"
        for data, part in _by_data(points)
    ]
    made, simulated = _swept(rows, "simulated"), ""
    if made is not None:
        mean, se = mean_se((made[LOG][10, 0.001] - made[LINEAR][10, 0.001]).dropna())
        simulated = f" Simulated one-coin crowds, K = 20: {mean:+.4f} ± {se:.4f}."
    ahead, behind = points["ahead"], points["behind"]
    return {
        "gaps": "; ".join(texts),
        "simulated": simulated,
        "refuted": ahead.any() and behind.sum() <= ahead.sum(),
        "inconclusive": behind.sum() <= ahead.sum(),
        "caveat": behind.mean() <= 0.5 or ahead.any(),
    }


def _swept(rows: pd.DataFrame, data: str) -> pd.DataFrame | None:
    """Accuracy by method, n and truncation at K = 20, a row a draw; None if there is too little."""
    rows = rows[
        (rows["data"] == data) & (rows["budget"] == 20) & rows["method"].isin([LOG, LINEAR])
    ]
    columns = ["method", "controls", "truncate"]
    wide = rows.pivot_table(index=instance_columns(rows), columns=columns, values="accuracy")
    need = [(LOG, 10, 0.001), (LOG, 10, TRUNCATED), (LOG, 40, 0.001), (LINEAR, 10, 0.001)]
    if any(one not in wide or wide[one].count() < DRAWS for one in need):
        return None
    return wide


def log_odds_mends(rows: pd.DataFrame) -> dict[str, Any]:
    """Change of WMV-log from n = 10 to 40, and by heavier truncation at n = 10."""
    fine, texts = [], []
    for data in ("bluebird", "simulated"):
        wide = _swept(rows, data)
        if wide is None:
            raise NotMeasured(f"{data}: too few trials with n = 40 and truncation at {TRUNCATED}")
        log = wide[LOG]
        more, more_se = mean_se((log[40, 0.001] - log[10, 0.001]).dropna())
        cut, cut_se = mean_se((log[10, TRUNCATED] - log[10, 0.001]).dropna())
        fine += [more > BEYOND * more_se, cut > BEYOND * cut_se]
        levels = ", ".join(
            f"{mean:.4f} (at {truncate:g})" for truncate, mean in log[10].mean().items()
        )
        texts.append(
            f"{data}: n = 10 to 40 {more:+.4f} ± {more_se:.4f}, truncation at {TRUNCATED:g} in "
            f"place of 0.001 {cut:+.4f} ± {cut_se:.4f}; n = 10 by truncation: {levels}"
        )
    return {"changes": ". ".join(texts), **_share(fine)}


def score(rows: pd.DataFrame) -> dict[str, Any]:
    """Sets chosen by F̂, and by F itself, where one coin a worker is rejected."""
    rows = _own(rows)
    fit = rows.groupby("data")[["misfit", "misfit_sd"]].first()
    rejected = fit[fit["misfit_sd"] > REJECTED].index
    if len(rejected) < SETS:
        raise NotMeasured(f"one coin a worker is rejected on {len(rejected)} data sets")
    wide = _wide(rows[rows["data"].isin(rejected)])
    random = _named(_gap(wide, LINEAR, "WMV as many"))
    known = _gap(wide, "hindsight selected", "hindsight top K")
    both = random.merge(known, on=["data", "budget"], suffixes=("", "_known"))
    if len(both) < SETS:
        raise NotMeasured(f"{len(both)} data sets have the yardsticks")
    both = both.assign(
        misfit=both["data"].map(fit["misfit"]), known=both["mean_known"], known_se=both["se_known"]
    )
    text = "{data} (misfit {misfit:.1f} times chance's) {gap:+±3} and {known:+±4}"
    fine = [bool(each) for each in both["ahead"] & both["ahead_known"]]
    return {"gaps": "; ".join(sentences(text, both)), **_share(fine)}
