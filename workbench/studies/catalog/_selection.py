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
from typing import Any, Literal

import numpy as np
import pandas as pd

from workbench.accuracy.error_rate import vote_error, vote_errors
from workbench.aggregation.voting import expected_accuracy, linear_weights
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import Seed, stream
from workbench.crowd.simulate import dense_votes, one_coin_labels
from workbench.selection.rules import NOBODY, Selection, select, top
from workbench.selection.scores import Scores, informativeness, scores, set_score
from workbench.studies.measures import measured, plus_minus
from workbench.studies.study import Chart, Parameter, Record
from workbench.studies.summary import means, paired_differences

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
    ties: Literal["fair", "first"] = "fair",
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


def best_prefix(
    pool: Pool, budget: int, *, seed: Seed, ties: Literal["fair", "first"] = "fair"
) -> Selection:
    """Of the first 1, 2, … workers by G, the fewest whose vote is the most accurate in truth."""
    ranked = top(pool.known.gain, budget, seed=seed, ties=ties).chosen
    error, _ = vote_errors(
        pool.skill[ranked], pool.weight[ranked], np.tri(len(ranked), dtype=np.bool_)
    )
    curve = 1.0 - error
    best = int(np.argmax(curve >= curve.max() - 1e-9)) + 1
    return Selection(ranked[:best], curve, NOBODY)


def exact_accuracy(pool: Pool, chosen: IntArray) -> float:
    """Probability that the chosen workers' vote on an item is right, of two classes."""
    return 1.0 - vote_error(pool.skill[chosen], pool.weight[chosen]).probability


def measured_accuracy(pool: Pool, chosen: IntArray) -> float:
    """Share of the items that the chosen workers' vote labels right."""
    votes = dense_votes(pool.labels[:, chosen], pool.classes)
    return expected_accuracy(votes, pool.weight[chosen], pool.truth, per="worker")


def choice_record(pool: Pool, method: str, chosen: Selection) -> Record:
    """What a trial measures of one choice."""
    who = chosen.chosen
    exact = exact_accuracy(pool, who) if pool.classes == 2 else None
    return {
        "accuracy": measured_accuracy(pool, who),
        "accuracy_exact": exact,
        "size": len(who),
        "score": chosen.score if method in ("selected", "plug-in") else None,
        "true_score": set_score(informativeness(pool.skill[who], pool.classes)),
        "tied": len(chosen.tied),
    }


def method_parameter(methods: Sequence[str] = METHODS) -> Parameter:
    """The rule as a study's parameter."""
    return Parameter(str, "selected", "who chooses the workers", choices=tuple(methods),
                     paired=True)  # fmt: skip


def budget_parameter(default: int) -> Parameter:
    """K as a study's parameter."""
    return Parameter(int, default, "K, the most workers an item may have", least=1, most=10_000,
                     paired=True)  # fmt: skip


def summaries(table: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Mean accuracy and number of workers of each rule at each setting, rules in legend order.

    Returns
    -------
    DataFrame
        Columns `by, method, accuracy` (over items), `accuracy_exact, se, low, high, size,
        size_se, size_low, size_high, trials, failed`; `se, low, high` are of `accuracy_exact`.
    """
    table = sound(table)
    keys = [*by, "method"]
    exact = means(table, keys, "accuracy_exact").rename(
        columns={"mean": "accuracy_exact", "n": "trials"}
    )
    items = means(table, keys, "accuracy").rename(columns={"mean": "accuracy"})
    sizes = means(table, keys, "size").rename(
        columns={"mean": "size", "se": "size_se", "low": "size_low", "high": "size_high"}
    )
    found = exact.merge(items[[*keys, "accuracy"]], on=keys)
    found = found.merge(sizes[[*keys, "size", "size_se", "size_low", "size_high"]], on=keys)
    place = {name: at for at, name in enumerate(TITLES)}
    found = found.assign(_place=found["method"].map(place)).sort_values(
        ["_place", *by], kind="stable", ignore_index=True
    )
    return found[[
        *keys, "accuracy", "accuracy_exact", "se", "low", "high", "size", "size_se", "size_low",
        "size_high", "trials", "failed",
    ]]  # fmt: skip


def sound(table: pd.DataFrame) -> pd.DataFrame:
    """The table with what a trial measured missing where it did not end ok."""
    fields = ("accuracy", "accuracy_exact", "size", "score", "true_score", "tied")
    return table.assign(**{name: measured(table, name)[name] for name in fields})


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
    found = paired_differences(
        rows, by=by, pair=_pairs(rows), method="method", reference=second, value=value
    )
    least = np.maximum(BEYOND * found["se"], NEGLIGIBLE)
    found = found.assign(ahead=found["mean"] > least, behind=found["mean"] < -least)
    return found[[*by, "n", "mean", "se", "low", "high", "ahead", "behind"]]


def _pairs(rows: pd.DataFrame) -> list[str]:
    """Columns that name a crowd: a table of several runs has their seeds."""
    return ["repetition", "seed"] if "seed" in rows else ["repetition"]


def against(
    table: pd.DataFrame, by: Sequence[str], rivals: Sequence[str], first: str = "selected"
) -> pd.DataFrame:
    """`difference` of one rule to each rival that was run, a column `rival` in front."""
    found = [
        difference(table, by, first, rival).assign(rival=rival)
        for rival in rivals
        if (table["method"] == rival).any()
    ]
    rows = pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=["rival"])
    return rows[["rival", *(name for name in rows if name != "rival")]]


def accuracy_chart(found: pd.DataFrame, name: str, x: str, x_label: str, where: str) -> Chart:
    """Accuracy of each rule against a setting."""
    rows = found[found["method"].isin(DRAWN)]
    return Chart(
        name,
        f"Accuracy of the chosen workers' vote with weights 2ŵ − 1 {where}: probability that an "
        "item is labelled right, ties drawn fairly, from the true skills. Selected is Algorithm 1; "
        "predicted accuracy is by a flat prior; the best prefix of the ranking by G is no rule, as "
        f"it looks at the true skills. Means over {_count(rows)} crowds a mark; bars are 95 % "
        "intervals of the mean.",
        _titled(rows), x, "accuracy_exact", x_label, "accuracy", series="series", low="low",
        high="high",
    )  # fmt: skip


def size_chart(found: pd.DataFrame, name: str, x: str, x_label: str, where: str) -> Chart:
    """Workers used by the rules that choose how many, against a setting."""
    rows = found[found["method"].isin(SIZED)]
    return Chart(
        name,
        f"Workers used {where} by the rules that choose how many. Means over {_count(rows)} crowds "
        "a mark; bars are 95 % intervals of the mean.",
        _titled(rows), x, "size", x_label, "workers used", series="series", low="size_low",
        high="size_high",
    )  # fmt: skip


def _titled(found: pd.DataFrame) -> pd.DataFrame:
    return found.assign(series=found["method"].map(lambda one: TITLES[str(one)]))


def _count(found: pd.DataFrame) -> str:
    least, most = int(found["trials"].min()), int(found["trials"].max())
    return f"{most}" if least == most else f"{least} to {most}"


def told(row: Mapping[Any, Any], digits: int = 4) -> str:
    """A mean difference for a sentence, with its sign and standard error."""
    text = plus_minus(abs(row["mean"]), row["se"], digits)
    return f"{'−' if row['mean'] < 0 else '+'}{text}"
