"""What trials of worker selection share: a pool, a rule's choice from it, how the chosen vote.

Each worker has a skill w, has answered control questions, and labels every item. A rule sees the
control answers alone. The chosen vote with weights Lŵ − 1; the same crowd, answers and labels are
met by every rule, budget and number of control questions (of which the first n count).

`accuracy` is the share of items labelled right, fair ties counted as the chance of a right draw;
`accuracy_exact` its expectation over the labels, from the true skills: the same quantity without
the items' noise. By the first the paper measured; the second tells rules apart sooner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy import vote_error, vote_errors
from workbench.aggregation import expected_accuracy, linear_weights
from workbench.base import FloatArray, IntArray, Seed, stream
from workbench.crowd import dense_votes, one_coin_labels
from workbench.selection import (
    NOBODY,
    Scores,
    Selection,
    Ties,
    informativeness,
    scores,
    select,
    set_score,
    top,
)
from workbench.studies import (
    BEYOND,
    Analysis,
    Chart,
    NotMeasured,
    Parameter,
    Params,
    Record,
    Ruling,
    Value,
    in_order,
    mean_chart,
    mean_within,
    means,
    paired_differences,
    plus_minus,
    records,
    signed,
    without_failures,
)

TITLES: dict[str, str] = {
    "selected": "selected",
    "plug-in": "plug-in",
    "top-skill": "top K by ŵ",
    "top-informative": "top K by |ŵ − 1/L|",
    "random": "random K",
    "accuracy": "predicted accuracy",
    "accuracy, true prior": "predicted accuracy, true prior",
    "best prefix": "best prefix",
    "all": "all workers",
}
"""Rules by name, in the order of legends. The best prefix looks at the true skills."""

METHODS = tuple(name for name in TITLES if name != "all")
"""Rules that heed the budget."""
DRAWN = ("selected", "plug-in", "top-skill", "top-informative", "accuracy", "best prefix")
"""Rules in charts of accuracy; the others are in the tables."""
SIZED = ("selected", "plug-in", "accuracy", "accuracy, true prior", "best prefix")
"""Rules that choose how many workers."""

MEASURED = ("accuracy", "accuracy_exact", "size", "score", "true_score", "tied")
"""Fields of `choice_record`."""
NEGLIGIBLE = 1e-4
"""A mean difference no larger counts as none: no digit of it would be printed."""


@dataclass(frozen=True, eq=False)
class TestedPool:
    """m workers: who they are, what they answered to control questions, their labels of N items.

    Attributes
    ----------
    skill
        w, shape (m,).
    scores
        What the control answers say.
    labels
        Class index, shape (N, m).
    truth
        True class, shape (N,).
    """

    skill: FloatArray
    scores: Scores
    labels: IntArray
    truth: IntArray

    @property
    def classes(self) -> int:
        """L."""
        return self.scores.classes

    @property
    def weight(self) -> FloatArray:
        """(Lŵ − 1)/(L − 1) of each worker."""
        return linear_weights(self.scores.skill, self.classes)


def draw_pool(
    skill: FloatArray, answered: IntArray, items: int, *, classes: int, seed: np.random.SeedSequence
) -> TestedPool:
    """Draw control answers and labels of workers of known skill.

    A worker's first answers are the same however many she gives.
    """
    questions = int(answered.max())
    right = stream(seed, "controls").random((questions, len(skill))) < skill
    correct = (right & (np.arange(questions)[:, None] < answered)).sum(axis=0)
    truth = stream(seed, "truth").integers(classes, size=items)
    labels = one_coin_labels(skill, truth, classes, seed=seed)
    return TestedPool(skill, scores(correct, answered, classes), labels, truth)


def choose(
    pool: TestedPool,
    method: str,
    budget: int,
    *,
    seed: Seed,
    prior: tuple[float, float] | None = None,
    ties: Ties = "fair",
) -> Selection:
    """Choose at most `budget` workers by a rule of `METHODS`; `prior` is the true one."""
    if method == "best prefix":
        return best_prefix(pool, budget, seed=seed, ties=ties)
    scores = pool.scores
    if method == "accuracy, true prior":
        assert prior is not None
        scores, method = replace(scores, prior=prior), "accuracy"
    elif method == "all":
        budget, method = len(scores), "top-informative"
    return select(scores, budget, method, seed=seed, ties=ties)


def best_prefix(pool: TestedPool, budget: int, *, seed: Seed, ties: Ties = "fair") -> Selection:
    """Of the first 1, 2, … workers by G, the fewest whose vote is the most accurate in truth."""
    ranked = top(pool.scores.gain, budget, seed=seed, ties=ties).chosen
    error, _ = vote_errors(
        pool.skill[ranked], pool.weight[ranked], np.tri(len(ranked), dtype=np.bool_)
    )
    curve = 1.0 - error
    best = int(np.argmax(curve >= curve.max() - 1e-9)) + 1
    return Selection(ranked[:best], curve, NOBODY)


def choice_record(pool: TestedPool, method: str, selection: Selection) -> Record:
    """What a trial measures of one choice.

    `accuracy` is the share of the items labelled right, `accuracy_exact` (two classes) the
    probability that one is.
    """
    who = selection.chosen
    skill, weight = pool.skill[who], pool.weight[who]
    votes = dense_votes(pool.labels[:, who], pool.classes)
    exact = 1.0 - vote_error(skill, weight).probability if pool.classes == 2 else None
    return {
        "accuracy": expected_accuracy(votes, weight, pool.truth, per="worker"),
        "accuracy_exact": exact,
        "size": len(who),
        "score": selection.score if method in ("selected", "plug-in") else None,
        "true_score": set_score(informativeness(skill, pool.classes)),
        "tied": len(selection.tied),
    }


def choice_trial(
    params: Params,
    skill: FloatArray,
    answered: IntArray,
    seed: np.random.SeedSequence,
    *,
    classes: int = 2,
    prior: tuple[float, float] | None = None,
) -> Record:
    """Let one rule choose from a crowd of known skill, and measure the vote of the chosen.

    Ties are the instance's, so that rules which stop at the same number choose the same workers.
    """
    pool = draw_pool(skill, answered, int(params["items"]), classes=classes, seed=seed)
    method, budget = params["method"], int(params["budget"])
    selection = choose(pool, method, budget, seed=seed, prior=prior, ties=params["ties"])
    return choice_record(pool, method, selection)


def method_parameter(methods: Sequence[str] = METHODS) -> Parameter:
    """The rule as a study's parameter."""
    what = "who chooses the workers"
    return Parameter(str, "selected", what, choices=tuple(methods), paired=True)


BUDGET = Parameter(
    int, 20, "K, the most workers per item may have", least=1, most=10_000, paired=True
)
"""K as a study's parameter."""
CONTROLS = Parameter(int, 10, "n, control questions a worker", least=2, most=1000, paired=True)
"""n as a study's parameter."""
TIES = Parameter(
    str,
    "fair",
    "workers of equal worth at the cut: drawn among, or the first",
    choices=("fair", "first"),
    paired=True,
)
"""How equals are treated, as a study's parameter."""


# What the trials say.


def summaries(table: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Mean accuracy and number of workers of each rule at each setting, rules in legend order.

    Returns
    -------
    DataFrame
        Columns `by, method, accuracy` (over items), `accuracy_exact, se, low, high, size,
        size_se, size_low, size_high, trials, failed`; `se, low, high` are of `accuracy_exact`.
    """
    keys = [*by, "method"]
    exact, size = means(table, keys, "accuracy_exact"), means(table, keys, "size")
    points = exact[keys].assign(
        accuracy=means(table, keys, "accuracy")["mean"],
        accuracy_exact=exact["mean"],
        se=exact["se"],
        low=exact["low"],
        high=exact["high"],
        size=size["mean"],
        size_se=size["se"],
        size_low=size["low"],
        size_high=size["high"],
        trials=exact["n"],
        failed=exact["failed"],
    )
    orders = {"method": tuple(TITLES), **dict.fromkeys(by)}
    return in_order(points, orders).reset_index(drop=True)


def against(
    table: pd.DataFrame,
    by: Sequence[str],
    rivals: Sequence[str],
    first: str = "selected",
    value: str = "accuracy_exact",
) -> pd.DataFrame:
    """Mean of one rule less each rival that was run, on the same crowds, at each setting.

    Returns
    -------
    DataFrame
        Columns `rival, by, n, mean, se, low, high, ahead, behind`; the last two say whether the
        difference is above or below 0 by more than `BEYOND` standard errors and `NEGLIGIBLE`.
    """
    columns = ["rival", *by, "n", "mean", "se", "low", "high", "ahead", "behind"]
    parts = []
    for rival in rivals:
        rows = table[table["method"].isin([first, rival])]
        if {first, rival} <= set(rows["method"]):
            apart = paired_differences(rows, by=by, method="method", reference=rival, value=value)
            least = np.maximum(BEYOND * apart["se"], NEGLIGIBLE)
            parts.append(
                apart.assign(
                    rival=rival, ahead=apart["mean"] > least, behind=apart["mean"] < -least
                )
            )
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat(parts, ignore_index=True)[columns]


@dataclass(frozen=True)
class Axis:
    """A setting along which rules are compared.

    Attributes
    ----------
    column, label
        The parameter, and its axis' label.
    where
        What the captions of charts say.
    near
        Values of which all rules are told, or the nearest to them that were run.
    name
        End of the tables' captions, and `panel` that of the charts' names, where a study has
        several.
    """

    column: str
    label: str
    where: str
    near: tuple[float, ...]
    name: str = ""
    panel: str = ""


def analyse_along(rows: pd.DataFrame, axis: Axis) -> Analysis:
    """Differences to Algorithm 1 and levels along one setting."""
    apart = against(rows, [axis.column], METHODS[1:])
    points = summaries(rows, [axis.column])
    tables = {
        f"Accuracy of Algorithm 1's choice less a rival's, {axis.name or 'on the same crowds'}": (
            apart
        ),
        f"All points, {axis.name}" if axis.name else "All points": points,
    }
    return Analysis(
        (*gaps(apart, axis), *levels(points, axis)),
        {caption: table for caption, table in tables.items() if len(table)},
        charts_along(points, axis),
    )


def nearest_values(table: pd.DataFrame, axis: Axis) -> list[float]:
    """The values to tell of, each once."""
    values = table[axis.column]
    return list(dict.fromkeys(values.iloc[(values - at).abs().argmin()] for at in axis.near))


def gaps(apart: pd.DataFrame, axis: Axis) -> list[str]:
    """Differences to every rival at some values, and to the plug-in rule at all."""
    findings = []
    for value in nearest_values(apart, axis) if len(apart) else ():
        rivals = [
            f"{row.rival} {signed(row.mean, row.se, 4)}"
            for row in records(apart[apart[axis.column] == value])
        ]
        findings.append(f"{axis.column} = {value:g}, selected less {', '.join(rivals)}.")
    plug_in = apart[apart["rival"] == "plug-in"]
    every = [
        f"{signed(row.mean, row.se, 4)} at {value:g}"
        for row, value in zip(records(plug_in), plug_in[axis.column], strict=True)
    ]
    return [*findings, f"Selected minus plug-in, {axis.column}: {', '.join(every)}."]


def levels(points: pd.DataFrame, axis: Axis) -> list[str]:
    """Accuracy and workers of every rule at some values."""
    findings = []
    for value in nearest_values(points, axis):
        rules = [
            f"{row.method} {plus_minus(row.accuracy_exact, row.se, 4)} "
            f"({plus_minus(row.size, row.size_se, 2)} workers)"
            for row in records(points[points[axis.column] == value])
        ]
        findings.append(f"{axis.column} = {value:g}, accuracy: {', '.join(rules)}.")
    return findings


def charts_along(points: pd.DataFrame, axis: Axis) -> tuple[Chart, ...]:
    """Accuracy and workers used along one setting."""
    points = points.assign(series=points["method"].map(TITLES))
    accurate = points[points["method"].isin(DRAWN)]
    sized = points[points["method"].isin(SIZED)]
    suffix = f"-{axis.panel}" if axis.panel else ""
    charts = []
    if len(accurate):
        what = (
            f"Accuracy of the chosen workers' vote with weights 2ŵ − 1 {axis.where}: probability "
            "that an item is labelled right, ties drawn fairly, from the true skills. Selected is "
            "Algorithm 1; predicted accuracy is by a flat prior; the best prefix of the ranking by "
            "G is no rule, as it looks at the true skills."
        )
        charts.append(
            mean_chart(
                f"accuracy{suffix}",
                what,
                accurate,
                axis.column,
                (axis.label, "accuracy"),
                y="accuracy_exact",
                series="series",
                unit="crowds",
            )
        )
    if len(sized):
        charts.append(
            mean_chart(
                f"size{suffix}",
                f"Workers used {axis.where} by the rules that choose how many.",
                sized,
                axis.column,
                (axis.label, "workers used"),
                y="size",
                low="size_low",
                high="size_high",
                series="series",
                unit="crowds",
            )
        )
    return tuple(charts)


# What claims are made of.

CROWDS = 20
"""Least number of crowds for a mean to be looked at."""
MOST = 0.5
"""Share of the settings beyond which a difference counts as the rule."""
RIVALS = {
    "plug-in": "the plug-in rule",
    "top-skill": "the K of highest ŵ",
    "top-informative": "the K with ŵ farthest from ½",
}
"""Rules that the selected are compared with."""
SHOWN_AT = (5, 10, 20, 31)
"""Budgets of the values that stand beside the paper's words."""


def difference(
    table: pd.DataFrame,
    first: str,
    second: str,
    value: str = "accuracy_exact",
    by: Sequence[str] = ("budget",),
) -> pd.DataFrame:
    """Mean of first − second on the same crowds, setting by setting: columns as of `against`.

    Raises
    ------
    NotMeasured
        At fewer than 3 settings are there enough crowds.
    """
    apart = against(without_failures(table, MEASURED), list(by), [second], first, value)
    apart = apart[apart["n"] >= CROWDS].sort_values(list(by), ignore_index=True)
    if len(apart) < 3:
        raise NotMeasured(f"{first} and {second}: fewer than 3 settings have {CROWDS} crowds")
    return apart.astype({"ahead": bool, "behind": bool})


def nearest(apart: pd.DataFrame, budget: int) -> pd.Series[Any]:
    """Row of the budget nearest to one."""
    return apart.assign(far=(apart["budget"] - budget).abs()).sort_values("far").iloc[0]


def difference_at(apart: pd.DataFrame, budget: int, digits: int = 4) -> str:
    """Write the mean difference at the budget nearest to one."""
    row = nearest(apart, budget)
    return signed(row["mean"], row["se"], digits)


def ahead_and_behind(apart: pd.DataFrame, rival: str) -> str:
    """Where the first is ahead of a rival and where behind, for a sentence."""
    spans = []
    for name in ("ahead", "behind"):
        budgets = apart.loc[apart[name], "budget"]
        places = f" (K = {budgets.min():g} to {budgets.max():g})"
        spans.append(f"{len(budgets)}{places}" if len(budgets) else "none")
    some = "; ".join(
        f"K = {nearest(apart, budget)['budget']:g}: {difference_at(apart, budget)}"
        for budget in (10, 20, 31)
    )
    return (
        f"Less {RIVALS[rival]}: ahead at {spans[0]}, behind at {spans[1]} of {len(apart)} budgets "
        f"({some})"
    )


def values_at(apart: pd.DataFrame, what: str, printed: str, digits: int = 4) -> list[Value]:
    """Mean differences at some budgets of `difference`, beside the paper's words."""
    rows = apart[apart["budget"].isin(SHOWN_AT)]
    return [
        Value(
            f"{what}, K = {row.budget:g}",
            printed,
            mean_within(row.mean, row.low, row.high, digits),
        )
        for row in records(rows)
    ]


def ruling_on_lead(figures: str, *apart: pd.DataFrame) -> Ruling:
    """Rule on the claim that the first is ahead of every rival, a table of differences each.

    It holds where it is ahead at most settings and behind at none, and as corrected where it is
    ahead at more settings than behind. Where it is neither, and nowhere behind but for chance,
    nothing is shown.
    """
    if all(table["ahead"].mean() > MOST and not table["behind"].any() for table in apart):
        return Ruling.holds(figures)
    if all(table["ahead"].sum() > table["behind"].sum() for table in apart):
        return Ruling.holds_as_corrected(figures)
    behind = any(table["behind"].any() for table in apart)
    return Ruling.refuted(figures) if behind else Ruling.inconclusive(figures)
