"""`aggregate` where answers are sets of labels: each label by itself, put together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from workbench.accuracy.errors_by_label import set_errors
from workbench.accuracy.measured import MeasuredError
from workbench.aggregation.labelling import Labelled
from workbench.api import inputs
from workbench.api.measuring import GoldError
from workbench.api.result import MOST, Figure, Result, facts, listed, page
from workbench.api.set_plans import SetPlan
from workbench.api.sets import BY_LABEL, MeasuredSets, apart, beside_majority, nothing_measured
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.text import Columns, counted
from workbench.crowd.kinds import LabelSets
from workbench.crowd.libraries import to_pandas
from workbench.crowd.reading import open_table
from workbench.crowd.set_votes import SetVotes


def in_words(names: Any) -> str:
    """Write a set in a line."""
    if names is None:
        return "–"
    return ", ".join(sorted(map(str, names))) or "(none)"


BRIEF, SHOWN = 5, 20
"""Answers below the verdict, and among the details."""
RARE_GOLD = 5
"""Control tasks with a label, below which its F1 says little."""
ANSWERS: Columns = {
    "task": ("task", ""),
    "label": ("labels", in_words),
    "confidence": ("confidence", ".4f"),
}
NEXT_AUDIT = (
    "Next: 'workbench audit plan' says how many checks would prove how few sets are wrong; a set "
    "is wrong there where any label is."
)


class AnsweredLabel(Protocol):
    """What `aggregate` finds of one label's answers "yes" and "no"."""

    @property
    def found(self) -> Labelled:
        """Answers and method."""
        ...

    @property
    def error(self) -> GoldError | None:
        """Error measured on gold."""
        ...

    @property
    def by(self) -> str:
        """The method in words."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class AnsweredSets(Result):
    """One set of labels for each task: each label answered by itself.

    Attributes
    ----------
    name, seed
        What the labels are called; the seed of draws among ties.
    parts
        By label, what `aggregate` found of its answers "yes" and "no".
    given
        The labels that came in, and their ids.
    error
        Errors measured on gold; None without.
    """

    name: str
    seed: int
    parts: Mapping[str, AnsweredLabel]
    given: inputs.Given
    error: MeasuredSets | None = None

    @property
    def labels(self) -> pd.Series[Any]:
        """Set by task, a frozenset; None where nobody labelled it."""
        return self.to_frame().set_index(self._tasks())["label"]

    @property
    def confidence(self) -> pd.Series[float]:
        """Confidence in the set, by task: the product of those in its labels.

        It takes labels to be wrong independently. NaN where a label has none.
        """
        return self.to_frame().set_index(self._tasks())["confidence"]

    def _tasks(self) -> pd.Index[Any]:
        first = next(iter(self.parts.values()))
        return self.given.tasks.index(first.found.answers["task"])

    def to_frame(self) -> pd.DataFrame:
        """Give one row a task: `task, label, confidence, unlabelled`, labels being frozensets."""
        answers = {name: part.found.answers for name, part in self.parts.items()}
        first = next(iter(answers.values()))
        yes = np.stack([(each["label"] == "yes").to_numpy() for each in answers.values()], axis=1)
        sure = np.prod([each["confidence"].to_numpy(float) for each in answers.values()], axis=0)
        names = np.array([*answers], dtype=object)
        empty = first["unlabelled"].to_numpy(dtype=bool)
        sets = [
            None if blank else frozenset(names[row].tolist())
            for row, blank in zip(yes, empty.tolist(), strict=True)
        ]
        frame = pd.DataFrame(
            {
                "task": first["task"],
                "label": pd.Series(sets, dtype=object, index=first.index),
                "confidence": sure,
                "unlabelled": empty,
            }
        )
        return self.given.tasks.column(frame, "task")

    def plot(self) -> Figure:
        """Draw error and F1 of each label.

        Raises
        ------
        InputError
            Nothing was measured.
        """
        from workbench.plots import by_label

        if self.error is None:
            raise InputError("plot: errors by label take gold; give the true sets of some tasks")
        return by_label(self.error.table, title=self._title())

    def verdict(self) -> list[str]:
        """Say how many tasks are answered, and how wrong labels and sets are."""
        frame = self.to_frame()
        empty = int(frame["unlabelled"].sum())
        labels = counted(len(self.parts), "label")
        sentences = [
            f"{len(frame) - empty} tasks are answered with sets of {labels}, each label by itself, "
            f"yes or no, {self._by()}."
        ]
        if self.error is not None:
            sentences += self.error.verdict("the answers err")
        else:
            sentences.append(
                "How many are wrong, only tasks of known answer can tell: give the true sets of "
                "twenty or more as `gold`."
            )
        if empty:
            sentences.append(f"{empty} tasks have no label that counts, and no answer.")
        return [*sentences[: MOST - 1], *([NEXT_AUDIT] if self.error is not None else [])]

    def _by(self) -> str:
        """Say by which methods."""
        methods = pd.Series([part.found.method for part in self.parts.values()]).value_counts()
        if len(methods) == 1:
            return f"by {next(iter(self.parts.values())).by}"
        many = ", ".join(f"{name} ({times})" for name, times in methods.items())
        return f"by the method that its gold prefers: {many}"

    def brief(self) -> str:
        """Lay out the first answers."""
        columns = {key: ANSWERS[key] for key in ("task", "label")}
        if self.error is not None:
            columns["confidence"] = ANSWERS["confidence"]
        return listed(self.to_frame(), columns, BRIEF)

    def details(self) -> str:
        """Give errors by label, answers and methods."""
        methods = [(name, part.found.method) for name, part in self.parts.items()]
        return page(
            self._title(),
            "" if self.error is None else listed(self.error.table, BY_LABEL, 100),
            listed(self.to_frame(), ANSWERS, SHOWN),
            facts(methods, 11),
            notes=[
                "confidence: the product of those of the labels, as if they were wrong "
                "independently",
                f"F1 of a label that fewer than {RARE_GOLD} gold tasks have says little",
            ],
        )

    def _title(self) -> str:
        first = next(iter(self.parts.values()))
        return (
            f"{self.name}: {len(first.found.answers)} tasks, {first.found.votes} sets of "
            f"{len(self.parts)} labels by {len(first.found.workers)} workers; seed {self.seed}"
        )

    def _payload(self) -> dict[str, Any]:
        return {
            "labels": list(self.parts),
            "methods": {name: part.found.method for name, part in self.parts.items()},
            **(nothing_measured() if self.error is None else self.error.payload()),
            "answers": self.to_frame().to_dict("records"),
            "seed": self.seed,
        }


def aggregate_sets(
    aggregate: Callable[..., AnsweredLabel],
    source: inputs.Given,
    gold: inputs.Truth | None,
    truth: inputs.Truth | None,
    plan: Any,
    seed: int,
    **how: Any,
) -> AnsweredSets:
    """Answer each label by itself, as `aggregate` answers a label of two classes.

    Parameters
    ----------
    aggregate
        Answers one label.
    source
        Sets of labels.
    gold, truth, plan
        As of `aggregate`; a plan has the scores of every label.
    how
        `method`, `workers` and `options` of `aggregate`.
    """
    if gold is truth is None and source.gold is not None:
        truth = source.gold
    known: dict[str, pd.Series[Any] | None] = {"gold": None, "truth": None}
    for what, given in (("gold", gold), ("truth", truth)):
        if given is not None:
            known[what], source = inputs.truth(given, source, what=what)
    scores = None if plan is None else scores_of(plan)
    votes = _apart_for(source, known, scores)
    parts = {}
    for name, each in votes.by_label.items():
        more = dict(how)
        for what, true in known.items():
            one = None if true is None else _one(true, name)
            # Where nobody says what is true there is nothing to learn or to choose by.
            if one is not None and set(one) & set(each.classes[each.label]):
                more[what] = one
        if scores is not None:
            own = scores[scores["of"] == name]
            if own.empty:
                raise InputError(
                    f"plan: has no scores of label {name!r}; plan again with gold that has it"
                )
            more["plan"] = own.drop(columns="of")
        parts[name] = aggregate(each.table(), seed=seed, **more)
    errors = _measured(parts, votes, source, known)
    return AnsweredSets(source.name, seed, parts, source, errors)


def _apart_for(
    source: inputs.Given,
    known: Mapping[str, pd.Series[Any] | None],
    scores: pd.DataFrame | None,
) -> SetVotes:
    """Votes of every label that sets, truth or plan name."""
    true = [each for each in known.values() if each is not None]
    also = set() if scores is None else set(scores["of"])
    for each in true:
        also |= set(apart(source, each)[0].names)
    return apart(source, None, also)[0]


def _one(true: pd.Series[Any], name: str) -> pd.Series[Any]:
    """Whether each control task has a label, "yes" or "no"."""
    kind = LabelSets()
    return true.map(lambda text: "yes" if name in kind.value(text) else "no")


def _measured(
    parts: Mapping[str, AnsweredLabel],
    votes: SetVotes,
    source: inputs.Given,
    known: Mapping[str, pd.Series[Any] | None],
) -> MeasuredSets | None:
    """Errors of the sets, from those of the labels on the same control tasks."""
    of = {name: part.error for name, part in parts.items() if part.error is not None}
    judged = known["gold"] if known["truth"] is None else known["truth"]
    if not of or judged is None:
        return None
    _, gold = apart(source, judged, votes.names)
    first = next(iter(of.values()))
    control, unstable = np.sort(first.measured.counted), np.zeros(len(parts))
    loss = np.empty((len(control), len(parts)))
    for at, (name, part) in enumerate(parts.items()):
        if name in of:
            loss[:, at] = _in_order(of[name].measured)
            unstable[at] = of[name].measured.unstable
        else:  # answered without its gold
            said = (part.found.answers["label"] == "yes").to_numpy()[control]
            loss[:, at] = np.abs(said - gold[control, at])
    errors = set_errors(
        loss,
        gold[control],
        control,
        first.measured.tasks_left,
        unstable=unstable,
        folds=first.measured.folds,
    )
    hidden = np.full_like(gold, -1)
    hidden[control] = gold[control]
    return beside_majority(votes, hidden, errors, first.how)


def _in_order(measured: MeasuredError) -> FloatArray:
    """Loss on the control tasks, in their order; NaN without an answer."""
    order = np.argsort(measured.counted)
    loss = measured.loss.astype(np.float64)
    if measured.named is not None:
        loss = np.where(np.isnan(measured.named[:, 0]), np.nan, loss)
    return loss[order]


def scores_of(plan: Any) -> pd.DataFrame:
    """Read what the answers of a plan say of each label.

    Raises
    ------
    InputError
        It is no plan of sets.
    """
    if isinstance(plan, SetPlan):
        return plan.vote
    table = open_table(to_pandas(plan), "plan")
    if "of" not in table.header:
        raise InputError(
            f"{table.name}: no column of, which names the label that a score is of; give what "
            "`plan --vote` wrote for sets of labels, or the plan itself"
        )
    frame = {name: list(table.columns[at][:]) for at, name in enumerate(table.header)}
    return pd.DataFrame(frame)
