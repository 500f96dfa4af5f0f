"""What trials of worker selection share: a pool, a rule's choice from it, how the chosen vote.

Each worker has a skill w, has answered control questions, and labels every item. A rule sees the
control answers alone. The chosen vote with weights Lŵ − 1; the same crowd, answers and labels are
met by every rule, budget and number of control questions (of which the first n count).

`accuracy` is the share of items labelled right, fair ties counted as the chance of a right draw;
`accuracy_exact` its expectation over the labels, from the true skills: the same quantity without
the items' noise. By the first the paper measured; the second tells rules apart sooner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.error_rate import vote_error, vote_errors
from workbench.aggregation.voting import expected_accuracy, linear_weights
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import Seed, stream
from workbench.crowd.simulate import dense_votes, one_coin_labels
from workbench.selection.rules import NOBODY, Selection, Ties, select, top
from workbench.selection.scores import Scores, informativeness, scores, set_score
from workbench.studies.measures import (
    bars,
    fill,
    in_order,
    sentences,
    summarise,
)
from workbench.studies.study import Chart, Parameter, Params, Record
from workbench.studies.summary import paired_differences

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


BEYOND = 2.0
"""Standard errors by which a mean difference must differ from 0 to count."""
MEASURED = ("accuracy", "accuracy_exact", "size", "score", "true_score", "tied")
"""Fields of `choice_record`."""
NEGLIGIBLE = 1e-4
"""A mean difference no larger counts as none: no digit of it would be printed."""


@dataclass(frozen=True, eq=False)
class Pool:
    """m workers: who they are, what they answered to control questions, their labels of N items.

    Attributes
    ----------
    skill
        w, shape (m,).
    known
        What the control answers say.
    labels
        Class index, shape (N, m).
    truth
        True class, shape (N,).
    """

    skill: FloatArray
    known: Scores
    labels: IntArray
    truth: IntArray

    @property
    def classes(self) -> int:
        """L."""
        return self.known.classes

    @property
    def weight(self) -> FloatArray:
        """(Lŵ − 1)/(L − 1) of each worker."""
        return linear_weights(self.known.skill, self.classes)


def draw_pool(
    skill: FloatArray, answered: IntArray, items: int, *, classes: int, seed: np.random.SeedSequence
) -> Pool:
    """Draw control answers and labels of workers of known skill.

    A worker's first answers are the same however many she gives.
    """
    asked = int(answered.max())
    right = stream(seed, "controls").random((asked, len(skill))) < skill
    correct = (right & (np.arange(asked)[:, None] < answered)).sum(axis=0)
    truth = stream(seed, "truth").integers(classes, size=items)
    labels = one_coin_labels(skill, truth, classes, seed=seed)
    return Pool(skill, scores(correct, answered, classes), labels, truth)


def choose(
    pool: Pool,
    method: str,
    budget: int,
    *,
    seed: Seed,
    prior: tuple[float, float] | None = None,
    ties: Ties = "fair",
) -> Selection:
    """Choose at most `budget` workers by a rule of `METHODS`; `prior` is the true one."""
    if method == "accuracy, true prior":
        assert prior is not None
        known = replace(pool.known, prior=prior)
        return select(known, budget, "accuracy", seed=seed, ties=ties)
    if method == "best prefix":
        return best_prefix(pool, budget, seed=seed, ties=ties)
    if method == "all":
        return select(pool.known, len(pool.skill), "top-informative", seed=seed, ties=ties)
    return select(pool.known, budget, method, seed=seed, ties=ties)


def best_prefix(pool: Pool, budget: int, *, seed: Seed, ties: Ties = "fair") -> Selection:
    """Of the first 1, 2, … workers by G, the fewest whose vote is the most accurate in truth."""
    ranked = top(pool.known.gain, budget, seed=seed, ties=ties).chosen
    error, _ = vote_errors(
        pool.skill[ranked], pool.weight[ranked], np.tri(len(ranked), dtype=np.bool_)
    )
    curve = 1.0 - error
    best = int(np.argmax(curve >= curve.max() - 1e-9)) + 1
    return Selection(ranked[:best], curve, NOBODY)


def choice_record(pool: Pool, method: str, selection: Selection) -> Record:
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


def budget_parameter(default: int) -> Parameter:
    """K as a study's parameter."""
    what = "K, the most workers an item may have"
    return Parameter(int, default, what, least=1, most=10_000, paired=True)


CONTROLS = Parameter(int, 10, "n, control questions a worker", least=2, most=1000, paired=True)
"""n as a study's parameter."""
TIES = Parameter(
    str, "fair", "workers of equal worth at the cut: drawn among, or the first",
    choices=("fair", "first"), paired=True,
)  # fmt: skip
"""How equals are treated, as a study's parameter."""


def sound(table: pd.DataFrame) -> pd.DataFrame:
    """The table with what a trial measured missing where it did not end ok."""
    fields = table.reindex(columns=list(MEASURED)).where(table["status"].astype(str) == "ok")
    return table.assign(**{name: fields[name] for name in MEASURED})


def summaries(table: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Mean accuracy and number of workers of each rule at each setting, rules in legend order.

    Returns
    -------
    DataFrame
        Columns `by, method, accuracy` (over items), `accuracy_exact, se, low, high, size,
        size_se, size_low, size_high, trials, failed`; `se, low, high` are of `accuracy_exact`.
    """
    points = summarise(
        sound(table),
        [*by, "method"],
        {
            "accuracy": ("accuracy", "mean"),
            "accuracy_exact": ("accuracy_exact", "mean"),
            **{name: ("accuracy_exact", name) for name in ("se", "low", "high")},
            "size": ("size", "mean"),
            **{f"size_{name}": ("size", name) for name in ("se", "low", "high")},
            "trials": ("accuracy_exact", "count"),
            "failed": ("accuracy_exact", "failed"),
        },
    )
    ordered = in_order(points, {"method": tuple(TITLES), **dict.fromkeys(by)})
    return ordered.reset_index(drop=True)


def difference(
    table: pd.DataFrame, by: Sequence[str], first: str, second: str, value: str = "accuracy_exact"
) -> pd.DataFrame:
    """Mean of first − second on the same crowds, at each setting.

    Returns
    -------
    DataFrame
        Columns `by, n, mean, se, low, high, ahead, behind`; the last two say whether the
        difference is above or below 0 by more than `BEYOND` standard errors and `NEGLIGIBLE`.
    """
    rows = sound(table)
    rows = rows[rows["method"].isin([first, second])]
    if not {first, second} <= set(rows["method"]):
        return pd.DataFrame(columns=[*by, "n", "mean", "se", "low", "high", "ahead", "behind"])
    apart = paired_differences(rows, by=by, method="method", reference=second, value=value)
    least = np.maximum(BEYOND * apart["se"], NEGLIGIBLE)
    apart = apart.assign(ahead=apart["mean"] > least, behind=apart["mean"] < -least)
    return apart[[*by, "n", "mean", "se", "low", "high", "ahead", "behind"]]


def against(
    table: pd.DataFrame, by: Sequence[str], rivals: Sequence[str], first: str = "selected"
) -> pd.DataFrame:
    """`difference` of one rule to each rival that was run, a column `rival` in front."""
    apart = [
        difference(table, by, first, rival).assign(rival=rival)
        for rival in rivals
        if (table["method"] == rival).any()
    ]
    rows = pd.concat(apart, ignore_index=True) if apart else pd.DataFrame(columns=["rival"])
    return rows[["rival", *(name for name in rows if name != "rival")]]


def choice_charts(
    points: pd.DataFrame, suffix: str, x: str, x_label: str, where: str
) -> tuple[Chart, Chart]:
    """Accuracy of each rule against a setting, and workers used by those that choose how many."""
    titled = points.assign(series=points["method"].map(TITLES))
    drawn, sized = (titled[titled["method"].isin(names)] for names in (DRAWN, SIZED))
    accuracy = Chart(
        f"accuracy{suffix}",
        f"Accuracy of the chosen workers' vote with weights 2ŵ − 1 {where}: probability that an "
        "item is labelled right, ties drawn fairly, from the true skills. Selected is Algorithm 1; "
        "predicted accuracy is by a flat prior; the best prefix of the ranking by G is no rule, as "
        f"it looks at the true skills. {bars(drawn['trials'], 'crowds')}",
        drawn, x, "accuracy_exact", x_label, "accuracy", series="series", low="low", high="high",
    )  # fmt: skip
    size = Chart(
        f"size{suffix}",
        f"Workers used {where} by the rules that choose how many. "
        f"{bars(sized['trials'], 'crowds')}",
        sized, x, "size", x_label, "workers used", series="series", low="size_low",
        high="size_high",
    )  # fmt: skip
    return accuracy, size


def choice_sentences(
    points: pd.DataFrame, apart: pd.DataFrame, x: str, shown: Sequence[float]
) -> list[str]:
    """Accuracy and size of each rule at some settings, and how far selected is from its rivals."""
    texts = []
    for value in dict.fromkeys(shown):
        here, less = (rows[rows[x] == value] for rows in (points, apart))
        rules = "{method} {accuracy_exact:±4} ({size:±2} workers)"
        levels = sentences(rules, here.assign(accuracy_exact_se=here["se"]))
        gaps = [f"{row['rival']} {signed(row)}" for row in less.to_dict("records")]
        texts.append(
            f"{x} = {value:g}, accuracy: {', '.join(levels)}; selected less {', '.join(gaps)}."
        )
    rows = apart[apart["rival"] == "plug-in"].to_dict("records")
    if rows:
        gaps = [f"{signed(row)} at {x} = {row[x]:g}" for row in rows]
        texts.append(f"Selected less plug-in: {', '.join(gaps)}.")
    return texts


def signed(row: Mapping[Any, Any], digits: int = 4) -> str:
    """A mean difference for a sentence, with its sign and standard error."""
    return fill(f"{{mean:+±{digits}}}", {"mean": (row["mean"], row["se"])})
