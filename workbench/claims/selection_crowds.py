"""What Li, Liu (2015) claim of selection on recorded crowds (Sections 4 and 5).

Standard errors are over draws of the control questions of one data set, not over crowds. Two
methods are compared on the same draws. A budget is large from half of a data set's largest on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workbench.claims.claim import Claim, Finding, NotMeasured, Ruling, Tables
from workbench.claims.reading import BEYOND, ended_well, listed, mean_se, percent
from workbench.studies.catalog.selection_crowds import (
    BUDGETS,
    EM_METHODS,
    PAPER,
    POOL,
    TITLES,
    pair,
)

SOURCE = "Li, Liu 2015"
STUDY = "selection-crowds"
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
SELECTED = ("WMV-lin selected", "WMV-log selected", "EM selected")
ONE_COIN = "one-coin, uniform prior"
RIVALS = ("EM top K", "EM random K")
REJECTED = 3.0
"""Standard deviations by which one coin a worker must misfit to be rejected."""
TRUNCATED = 0.05
"""Heavier truncation: half of what one answer of ten weighs."""


def _rows(tables: Tables, *data: str) -> pd.DataFrame:
    """Trials of recorded crowds at the paper's settings; EM in every variant.

    Raises
    ------
    NotMeasured
        No trials of a data set that is named, or of fewer than `SETS` where none is.
    """
    rows = ended_well(tables[STUDY])
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
    return own.pivot_table(index=["data", "budget", *pair(own)], columns="method", values=value)


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


def _by_data(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Rows of each data set, in the order of the study."""
    names = rows["data"] if "data" in rows else rows.index.get_level_values("data")
    return [(name, rows[names == name]) for name in BUDGETS if (names == name).any()]


def _told(points: pd.DataFrame, digits: int = 3) -> str:
    """First and last difference of some points, by budget."""
    ends = points.sort_values("budget").iloc[[0, -1]].drop_duplicates("budget")
    return ", ".join(
        f"{row['mean']:+.{digits}f} ± {row['se']:.{digits}f} (K = {row['budget']:g})"
        for row in ends.to_dict("records")
    )


def _ruling(fine: Sequence[bool]) -> Ruling:
    """Everywhere, somewhere, nowhere."""
    if all(fine):
        return Ruling.HOLDS
    return Ruling.CAVEAT if any(fine) else Ruling.NOT_REPRODUCED


def _better(points: pd.DataFrame) -> bool:
    return bool(points["ahead"].mean() > 0.5 and not points["behind"].any())


def no_data(tables: Tables) -> Finding:  # noqa: ARG001
    """Nothing to measure."""
    return Finding(
        Ruling.NO_DATA,
        "The authors collected the data themselves and did not publish them. The public data sets "
        "of the study stand under their own names.",
    )


def bluebird_em(tables: Tables) -> Finding:
    """WMV-lin selected against EM on top K and random K, large K, by variant of EM."""
    rows = _rows(tables, "bluebird")
    fine, texts = [], []
    for em, title in TITLES.items():
        wide = _wide(rows, em)
        parts = []
        for rival in RIVALS:
            points = _gap(wide, "WMV-lin selected", rival)
            points = points[points["large"]]
            parts.append(_better(points))
            texts.append(f"{title}, less {rival}: {_told(points)}")
        fine.append(all(parts))
    figures = f"Accuracy of WMV-lin selected at large K. {'. '.join(texts)}."
    return Finding(_ruling(fine), figures)


def selected_against_em(tables: Tables) -> Finding:
    """Three votes of the selected against EM on top K and random K, by data set and variant."""
    rows = _rows(tables)
    fine, texts, ahead, behind = [], [], 0, 0
    for em, title in TITLES.items():
        wide = _wide(rows, em)
        gaps = [_gap(wide, mine, rival) for mine in SELECTED for rival in RIVALS]
        points = pd.concat(gaps)
        points = points[points["large"]]
        fine += [_better(part) for _, part in _by_data(points)]
        ahead, behind = ahead + int(points["ahead"].sum()), behind + int(points["behind"].sum())
        told = ", ".join(
            f"{data} {part['ahead'].sum()} and {part['behind'].sum()} of {len(part)}"
            for data, part in _by_data(points)
        )
        texts.append(f"{title}: {told}")
    figures = (
        "WMV-lin, WMV-log and EM on the selected against EM on the top K and on K at random, at "
        f"large K: ahead and behind by 2 standard errors. {'. '.join(texts)}."
    )
    if all(fine):
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if ahead > behind else Ruling.NOT_REPRODUCED, figures)


def _as_good(rows: pd.DataFrame) -> tuple[list[bool], list[str]]:
    """Whether the selected are within `CLOSE` of the top K with at most half of their workers."""
    points = _gap(_wide(rows), "WMV-lin selected", "WMV top K")
    points = points[points["large"]]
    sizes = _wide(rows, value="size").groupby(level=["data", "budget"]).mean().reset_index()
    points = points.merge(sizes[["data", "budget", "WMV-lin selected", "WMV top K"]])
    fine, texts = [], []
    for data, part in _by_data(points):
        near = part["mean"] - BEYOND * part["se"] >= -CLOSE
        last = part.sort_values("budget").iloc[-1]
        many = bool(last["WMV-lin selected"] > last["WMV top K"] / 2)
        fine.append(bool(near.all()) and not many)
        texts.append(
            f"{data} {_told(part, 4)}, with {last['WMV-lin selected']:.1f} workers for "
            f"{last['WMV top K']:.1f}"
        )
    return fine, texts


def bluebird_top_k(tables: Tables) -> Finding:
    """WMV-lin selected less WMV top K on bluebird at large K."""
    fine, texts = _as_good(_rows(tables, "bluebird"))
    return Finding(_ruling(fine), f"Selected less top K, large K: {texts[0]}.")


def as_good(tables: Tables) -> Finding:
    """The same on all data sets."""
    fine, texts = _as_good(_rows(tables))
    figures = (
        f"WMV-lin on the selected less on the top K, large K: {'; '.join(texts)}. As good is read "
        f"as {CLOSE:g} behind at most, 2 standard errors included; much smaller as half at most."
    )
    return Finding(_ruling(fine), figures)


def bluebird_workers(tables: Tables) -> Finding:
    """Workers selected on bluebird, by budget."""
    rows = _rows(tables, "bluebird")
    size = _wide(rows, value="size")["WMV-lin selected"].dropna()
    points = size.groupby(level="budget").agg(["size", "mean", "sem", "median"])
    share = (size <= 9).groupby(level="budget").mean()
    last = points.iloc[-1]
    figures = (
        "Mean number selected: "
        + ", ".join(f"{mean:.1f} (K = {budget})" for budget, mean in points["mean"].items())
        + f"; at the largest {last['mean']:.2f} ± {last['sem']:.2f}, median {last['median']:g}, no "
        f"more than 9 in {percent(share.iloc[-1])} of {last['size']:g} draws."
    )
    fine = (share >= 0.5).all()
    return Finding(Ruling.HOLDS if fine else Ruling.NOT_REPRODUCED, figures)


def few_workers(tables: Tables) -> Finding:
    """Mean number selected at the largest budget, on all data sets."""
    size = _wide(_rows(tables), value="size")["WMV-lin selected"].dropna()
    by = size.groupby(level=["data", "budget"]).mean().reset_index(name="size")
    most = {data: float(part["size"].max()) for data, part in _by_data(by)}
    few = [mean < 10 for mean in most.values()]
    figures = (
        "Largest mean number of workers selected over the budgets (for an item where labels are "
        f"sparse): {', '.join(f'{data} {mean:.1f}' for data, mean in most.items())}."
    )
    if all(few):
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if np.mean(few) > 0.5 else Ruling.NOT_REPRODUCED, figures)


def optimal_number(tables: Tables) -> Finding:
    """Number selected at the largest K beside the number of top-ranked workers that is best."""
    rows = _rows(tables)
    wide, sizes = _wide(rows), _wide(rows, value="size")
    near, little, texts = [], [], []
    for data, part in _by_data(wide):
        best = _best_budget(part["WMV top G"])
        own = sizes.loc[data]
        number = own["WMV top G"].xs(best, level="budget").mean()
        most = part.index.get_level_values("budget").max()
        selected = own["WMV-lin selected"].xs(most, level="budget").mean()
        odd = _odd(part)
        at_best = odd["WMV top G"].xs(best, level="budget")
        lost, se = mean_se((at_best - odd["WMV-lin selected"].xs(most, level="budget")).dropna())
        near.append(abs(selected - number) <= 2)
        little.append(lost <= CLOSE)
        texts.append(f"{data} {selected:.1f} for {number:.1f}, loses {lost:.4f} ± {se:.4f}")
    figures = (
        "Workers selected at the largest K, for the best number of workers in the ranking by G "
        f"(of the budgets tried; on half of the draws), and accuracy lost (on the other half): "
        f"{'; '.join(texts)}."
    )
    if all(near):
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if all(little) else Ruling.NOT_REPRODUCED, figures)


def _best_budget(accuracy: pd.Series[float]) -> int:
    """Budget with the highest mean on the even draws, so that the odd ones can measure it."""
    even = accuracy[accuracy.index.get_level_values("repetition") % 2 == 0]
    curve = even.groupby(level="budget").mean()
    return int(curve.index.to_numpy()[curve.to_numpy().argmax()])


def _odd(wide: pd.DataFrame) -> pd.DataFrame:
    odd = wide[wide.index.get_level_values("repetition") % 2 == 1].droplevel("data")
    if odd.index.get_level_values("repetition").nunique() < DRAWS // 2:
        raise NotMeasured(f"{odd.index.get_level_values('repetition').nunique()} odd draws")
    return odd


def em_top_k(tables: Tables) -> Finding:
    """Rise of EM top K from the least K to its peak, and fall to the largest K."""
    rows = _rows(tables)
    fine, texts = [], []
    for em, title in TITLES.items():
        told = []
        for data, part in _by_data(_wide(rows, em)):
            best = _best_budget(part["EM top K"])
            curve = _odd(part).pivot_table(index="repetition", columns="budget", values="EM top K")
            rise, rise_se = mean_se(curve[best] - curve[curve.columns.min()])
            fall, fall_se = mean_se(curve[best] - curve[curve.columns.max()])
            fine.append(rise > BEYOND * rise_se and fall > BEYOND * fall_se)
            told.append(
                f"{data} up {rise:.3f} ± {rise_se:.3f} to K = {best}, then down {fall:.4f} ± "
                f"{fall_se:.4f}"
            )
        texts.append(f"{title}: {', '.join(told)}")
    figures = (
        f"The peak is found on half of the draws, rise and fall are measured on the other half. "
        f"{'. '.join(texts)}."
    )
    return Finding(_ruling(fine), figures)


def majority(tables: Tables) -> Finding:
    """Majority on the top K less each other method, at large K."""
    rows = _rows(tables)
    gaps = [_gap(_wide(rows), "MV top K", name) for name in PAPER]
    gaps += [_gap(_wide(rows, ONE_COIN), "MV top K", name) for name in EM_METHODS]
    points = pd.concat(gaps)
    points = points[points["large"]]
    points = points.assign(much=points["behind"] & (points["mean"] < -MUCH))
    told = "; ".join(
        f"{data} {percent(part['much'].mean())}, {percent(part['behind'].mean())}, "
        f"{percent(part['ahead'].mean())} ({part['mean'].mean():+.3f} on average)"
        for data, part in _by_data(points)
    )
    figures = (
        "Majority vote of the top K against the seven methods of the plots, EM in two variants, at "
        f"large K: share of comparisons in which it is behind by over {MUCH:g}, behind, ahead (2 "
        f"standard errors): {told}."
    )
    fine = [
        bool(part["much"].mean() > 0.5 and part["much"].sum() > part["ahead"].sum())
        for _, part in _by_data(points)
    ]
    if all(fine):
        return Finding(Ruling.CAVEAT if points["ahead"].any() else Ruling.HOLDS, figures)
    return Finding(_ruling(fine), figures)


def log_odds(tables: Tables) -> Finding:
    """WMV-log less WMV-lin on the selected, n = 10."""
    points = _gap(_wide(_rows(tables)), "WMV-log selected", "WMV-lin selected")
    told = "; ".join(
        f"{data} {_told(part, 4)}, behind at K = "
        f"{listed(part.loc[part['behind'], 'budget'].to_numpy(float))}, ahead at "
        f"{listed(part.loc[part['ahead'], 'budget'].to_numpy(float))}"
        for data, part in _by_data(points)
    )
    made = _swept(tables, "simulated")
    figures = f"Log-odds less linear weights, ŵ within 0.001 of 0 and 1: {told}."
    if made is not None:
        log, linear = made["WMV-log selected"], made["WMV-lin selected"]
        mean, se = mean_se((log[10, 0.001] - linear[10, 0.001]).dropna())
        figures += f" Simulated one-coin crowds, K = 20: {mean:+.4f} ± {se:.4f}."
    if points["behind"].mean() > 0.5 and not points["ahead"].any():
        return Finding(Ruling.HOLDS, figures)
    part = points["behind"].sum() > points["ahead"].sum()
    return Finding(Ruling.CAVEAT if part else Ruling.NOT_REPRODUCED, figures)


def _swept(tables: Tables, data: str) -> pd.DataFrame | None:
    """Accuracy by method, n and truncation at K = 20, a row a draw; None if there is too little."""
    rows = ended_well(tables[STUDY])
    rows = rows[(rows["data"] == data) & (rows["budget"] == 20)]
    rows = rows[rows["method"].isin(["WMV-log selected", "WMV-lin selected"])]
    wide = rows.pivot_table(
        index=pair(rows), columns=["method", "controls", "truncate"], values="accuracy"
    )
    log = "WMV-log selected"
    need = [(log, 10, 0.001), (log, 10, TRUNCATED), (log, 40, 0.001)]
    need += [("WMV-lin selected", 10, 0.001)]
    if any(one not in wide or wide[one].count() < DRAWS for one in need):
        return None
    return wide


def log_odds_mends(tables: Tables) -> Finding:
    """Change of WMV-log from n = 10 to 40, and by heavier truncation at n = 10."""
    fine, texts = [], []
    for data in ("bluebird", "simulated"):
        wide = _swept(tables, data)
        if wide is None:
            raise NotMeasured(f"{data}: too few trials with n = 40 and truncation at {TRUNCATED}")
        log = wide["WMV-log selected"]
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
    return Finding(_ruling(fine), f"WMV-log on the selected, K = 20. {'. '.join(texts)}.")


def score(tables: Tables) -> Finding:
    """Sets chosen by F̂, and by F itself, where one coin a worker is rejected."""
    rows = _rows(tables)
    fit = rows.groupby("data")[["misfit", "misfit_sd"]].first()
    rejected = fit[fit["misfit_sd"] > REJECTED].index
    if len(rejected) < SETS:
        raise NotMeasured(f"one coin a worker is rejected on {len(rejected)} data sets")
    wide = _wide(rows[rows["data"].isin(rejected)])
    random = _gap(wide, "WMV-lin selected", "WMV as many")
    known = _gap(wide, "hindsight selected", "hindsight top K")
    both = random.merge(known, on=["data", "budget"], suffixes=("", "_known"))
    if len(both) < SETS:
        raise NotMeasured(f"{len(both)} data sets have the yardsticks")
    told = "; ".join(
        f"{row['data']} (misfit {fit.loc[row['data'], 'misfit']:.1f} times chance's) "
        f"{row['mean']:+.3f} ± {row['se']:.3f} and {row['mean_known']:+.4f} ± {row['se_known']:.4f}"
        for row in both.to_dict("records")
    )
    figures = (
        "Where one coin a worker is rejected by the labels: accuracy of the selected less that of "
        "as many at random; and, with the skills that the votes turn out to have, of the set of "
        f"the highest F less that of all workers: {told}."
    )
    fine = [bool(one) for one in both["ahead"] & both["ahead_known"]]
    return Finding(_ruling(fine), figures)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "selection-figure-3-crowd-test",
        f"{SOURCE}, Figure 3",
        "On the Crowd-test data (31 workers, 75 knowledge questions with four options) EM on the "
        "top K first gets better and from about K = 10 on worse; Algorithm 1 selects far fewer "
        "workers and does much better than the top K and random K.",
        (),
        no_data,
    ),
    Claim(
        "selection-figure-4-disambiguity",
        f"{SOURCE}, Figure 4(a)",
        "On the Disambiguity data (35 workers, 50 questions with four options) the results are "
        "similar, and usually no more than 6 workers are selected.",
        (),
        no_data,
    ),
    Claim(
        "selection-figure-4-bluebird-em",
        f"{SOURCE}, Figure 4(b)",
        "On bluebird the selected workers do better than EM on the top K and on K at random, when "
        "K is large.",
        (STUDY,),
        bluebird_em,
    ),
    Claim(
        "selection-figure-4-bluebird-top-k",
        f"{SOURCE}, Figure 4(b)",
        "On bluebird the selected workers do as well as, or better than, the top K with linear "
        "weights when K is large, and are far fewer.",
        (STUDY,),
        bluebird_top_k,
    ),
    Claim(
        "selection-figure-4-bluebird-workers",
        f"{SOURCE}, Section 4.2",
        "On bluebird usually no more than 9 workers are selected.",
        (STUDY,),
        bluebird_workers,
    ),
    Claim(
        "selection-crowds-against-em",
        f"{SOURCE}, Section 4.2",
        "WMV-lin, WMV-log and EM on the selected workers do better than EM on the top K or on K at "
        "random, when K is large. (Measured on public data sets.)",
        (STUDY,),
        selected_against_em,
    ),
    Claim(
        "selection-crowds-as-good",
        f"{SOURCE}, Abstract and Section 4",
        "A small number of selected workers does as well as, sometimes better than, the much "
        "larger crowd that the budget allows. (Measured on public data sets.)",
        (STUDY,),
        as_good,
    ),
    Claim(
        "selection-crowds-few-workers",
        f"{SOURCE}, Section 4",
        "Algorithm 1 selects fewer than 10 workers in all experiments. (Here on public data sets, "
        "on average, n = 10.)",
        (STUDY,),
        few_workers,
    ),
    Claim(
        "selection-crowds-optimal-number",
        f"{SOURCE}, Section 4",
        "The number of workers selected is very close to the optimal number of top-ranked workers "
        "in practice. (Read as: within 2, on public data sets.)",
        (STUDY,),
        optimal_number,
    ),
    Claim(
        "selection-crowds-em-top-k",
        f"{SOURCE}, Sections 4.2 and 5",
        "EM on the top K workers generally first gets better as K grows, and worse when K is "
        "large. (Measured on public data sets.)",
        (STUDY,),
        em_top_k,
    ),
    Claim(
        "selection-crowds-majority",
        f"{SOURCE}, Section 4",
        "The majority vote performs much worse than all the other algorithms. (Read as: of the top "
        "K, on public data sets.)",
        (STUDY,),
        majority,
    ),
    Claim(
        "selection-crowds-log-odds",
        f"{SOURCE}, Section 5",
        "With n = 10 control questions log-odds weights are not as good as linear ones on the "
        "selected workers. (Measured on public data sets.)",
        (STUDY,),
        log_odds,
    ),
    Claim(
        "selection-crowds-log-odds-mends",
        f"{SOURCE}, Section 5",
        "The vote with log-odds weights improves with larger n or heavier truncation of ŵ.",
        (STUDY,),
        log_odds_mends,
    ),
    Claim(
        "selection-crowds-score",
        f"{SOURCE}, Theorem 1, remark (ii)",
        "F remains an efficient score for selection where the one-coin assumption does not seem to "
        "hold. (Read as: the workers it selects vote better than as many at random, and those it "
        "selects by their true skills better than everybody.)",
        (STUDY,),
        score,
    ),
)
