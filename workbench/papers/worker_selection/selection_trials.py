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
from functools import partial
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
from workbench.studies.analysis import in_order, without_failures
from workbench.studies.measures import Drawn, Part, means_of, sentences, summarise
from workbench.studies.study import Parameter, Params, Record
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
class TestedPool:
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
) -> TestedPool:
    """Draw control answers and labels of workers of known skill.

    A worker's first answers are the same however many she gives.
    """
    asked = int(answered.max())
    right = stream(seed, "controls").random((asked, len(skill))) < skill
    correct = (right & (np.arange(asked)[:, None] < answered)).sum(axis=0)
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
    known = pool.known
    if method == "accuracy, true prior":
        assert prior is not None
        known, method = replace(known, prior=prior), "accuracy"
    elif method == "all":
        budget, method = len(known), "top-informative"
    return select(known, budget, method, seed=seed, ties=ties)


def best_prefix(pool: TestedPool, budget: int, *, seed: Seed, ties: Ties = "fair") -> Selection:
    """Of the first 1, 2, … workers by G, the fewest whose vote is the most accurate in truth."""
    ranked = top(pool.known.gain, budget, seed=seed, ties=ties).chosen
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
    int, 20, "K, the most workers an item may have", least=1, most=10_000, paired=True
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


def summaries(table: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Mean accuracy and number of workers of each rule at each setting, rules in legend order.

    Returns
    -------
    DataFrame
        Columns `by, method, accuracy` (over items), `accuracy_exact, se, low, high, size,
        size_se, size_low, size_high, trials, failed`; `se, low, high` are of `accuracy_exact`.
    """
    columns: dict[str, Any] = {
        "accuracy": "mean",
        "accuracy_exact": "mean",
        **{name: ("accuracy_exact", name) for name in ("se", "low", "high")},
        **means_of("size", ends=True),
        "trials": ("accuracy_exact", "count"),
        "failed": ("accuracy_exact", "failed"),
    }
    points = summarise(table, [*by, "method"], columns)
    ordered = in_order(points, {"method": tuple(TITLES), **dict.fromkeys(by)})
    return ordered.reset_index(drop=True)


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
    parts = [pd.DataFrame(columns=columns)]
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
    found = parts[1:] or parts
    return pd.concat(found, ignore_index=True)[columns]


def difference(
    table: pd.DataFrame, by: Sequence[str], first: str, second: str, value: str = "accuracy_exact"
) -> pd.DataFrame:
    """`against` one rival alone, of trials that ended ok."""
    sound = without_failures(table, MEASURED)
    return against(sound, by, [second], first, value).drop(columns="rival")


def parts_along(
    column: str, label: str, where: str, at: Sequence[float], name: str = "", panel: str = ""
) -> tuple[Part, Part]:
    """Differences and levels along one setting.

    Parameters
    ----------
    column, label
        The setting, and its axis' label.
    where
        What the captions of charts say.
    at
        Values of which all rules are told, or the nearest to them.
    name
        End of the tables' captions; of a sweep, `panel`.
    """

    def told(found: pd.DataFrame, template: str, what: str) -> list[str]:
        near = [found[column].iloc[(found[column] - one).abs().argmin()] for one in at]
        return [
            f"{column} = {value:g}, {what}"
            f"{', '.join(sentences(template, found[found[column] == value]))}."
            for value in dict.fromkeys(near)
        ]

    def levels(_: pd.DataFrame, found: pd.DataFrame) -> list[str]:
        return told(found, "{method} {accuracy_exact:±4} ({size:±2} workers)", "accuracy: ")

    def gaps(_: pd.DataFrame, found: pd.DataFrame) -> list[str]:
        every = sentences(f"{{mean:+±4}} at {{{column}:g}}", found[found["rival"] == "plug-in"])
        said = told(found, "{rival} {mean:+±4}", "selected less ") if len(found) else []
        return [*said, f"Selected less plug-in, {column}: {', '.join(every)}."]

    def drawn(rules: Sequence[str], rows: pd.DataFrame) -> pd.DataFrame:
        found = summaries(rows, [column])
        return found.assign(series=found["method"].map(TITLES))[found["method"].isin(rules)]

    suffix = f"-{panel}" if panel else ""
    charts = (
        Drawn(
            f"accuracy{suffix}",
            "Accuracy of the chosen workers' vote with weights 2ŵ − 1 "
            f"{where}: probability that an item is labelled right, ties drawn fairly, from the "
            "true skills. Selected is Algorithm 1; predicted accuracy is by a flat prior; the best "
            "prefix of the ranking by G is no rule, as it looks at the true skills",
            column,
            "accuracy_exact",
            (label, "accuracy"),
            {"series": "series", "low": "low", "high": "high"},
            of=partial(drawn, DRAWN),
            unit="crowds",
        ),
        Drawn(
            f"size{suffix}",
            f"Workers used {where} by the rules that choose how many",
            column,
            "size",
            (label, "workers used"),
            {"series": "series", "low": "size_low", "high": "size_high"},
            of=partial(drawn, SIZED),
            unit="crowds",
        ),
    )
    own = (lambda rows: rows["sweep"] == panel) if panel else None
    rivals = partial(against, by=[column], rivals=METHODS[1:])
    apart = f"Accuracy of Algorithm 1's choice less a rival's, {name or 'on the same crowds'}"
    points = f"All points, {name}" if name else "All points"
    return (
        Part(apart, rivals, (gaps,), where=own),
        Part(points, partial(summaries, by=[column]), (levels,), charts, where=own),
    )
