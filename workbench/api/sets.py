"""Sets of labels at the front door: taken apart, answered label by label, put together again.

Each function of the front door takes sets here: every label is a question of its own, yes or no,
and one purchase answers all of them. A set is wrong where any of its labels is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench.accuracy.errors_by_label import SetErrors, set_errors
from workbench.accuracy.measured import MeasuredError
from workbench.api import inputs
from workbench.api.result import MOST, Figure, Result, facts, listed, page, percent
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.text import Columns, counted
from workbench.crowd import kinds
from workbench.crowd.kinds import LabelSets, written
from workbench.crowd.libraries import to_pandas
from workbench.crowd.reading import as_text, open_table
from workbench.crowd.set_votes import SetVotes

if TYPE_CHECKING:
    from workbench.api.labelling import Labels


def in_words(names: Any) -> str:
    """Write a set in a line."""
    if names is None:
        return "–"
    return ", ".join(sorted(map(str, names))) or "(none)"


BRIEF, SHOWN = 5, 20
"""Answers below the verdict, and among the details."""
RARE_GOLD = 5
"""Control tasks with a label, below which its F1 says little."""
BY_LABEL: Columns = {
    "label": ("label", ""),
    "share": ("in gold", ".3f"),
    "error": ("error", ".3f"),
    "low": ("90 % from", ".3f"),
    "high": ("to", ".3f"),
    "recall": ("recall", ".2f"),
    "f1": ("F1", ".2f"),
}
"""What is printed of each label."""
ANSWERS: Columns = {
    "task": ("task", ""),
    "label": ("labels", in_words),
    "confidence": ("confidence", ".4f"),
}
NEXT_AUDIT = (
    "Next: 'workbench audit plan' says how many checks would prove how few sets are wrong; a set "
    "is wrong there where any label is."
)


def apart(
    source: inputs.Given, gold: pd.Series[Any] | None = None, also: Iterable[str] = ()
) -> tuple[SetVotes, IntArray]:
    """Take sets apart, label by label: labels that only the gold names too, and others `also`.

    Returns
    -------
    The votes, and whether each task has each label by its gold, −1 without gold, shape (n, L).
    """
    assert source.coded is not None
    votes = source.coded.votes
    assert isinstance(votes.kind, LabelSets)
    true = {} if gold is None else {task: votes.kind.value(text) for task, text in gold.items()}
    by_label = votes.by_label()
    blank = np.zeros(len(votes), dtype=np.int64)
    for name in frozenset(also).union(*true.values()) - set(by_label):
        first = next(iter(by_label.values()))
        by_label[name] = replace(first, label=blank)
    by_label = {name: by_label[name] for name in sorted(by_label)}
    codes = np.full((len(votes.tasks), len(by_label)), -1, dtype=np.int64)
    for at, task in enumerate(votes.tasks):
        if task in true:
            codes[at] = [name in true[task] for name in by_label]
    return SetVotes.of(by_label), codes


def refuse(what: str, given: Mapping[str, object]) -> None:
    """Refuse options that are not for sets.

    Raises
    ------
    InputError
        One is given.
    """
    for name in (name for name, value in given.items() if value not in (None, False)):
        raise InputError(
            f"`{name}`: {what} sets of labels does not take it; leave it out, or ask about one "
            "label: a table with yes or no in place of each set"
        )


@dataclass(frozen=True, eq=False)
class MeasuredSets:
    """Errors of sets, measured on gold, and those of everybody's majority, label by label.

    Attributes
    ----------
    names
        The labels.
    errors, majority
        On the same control tasks; no majority where none stands beside.
    how
        How the control tasks were answered.
    answers
        Everybody's sets of labels a control task.
    """

    names: list[str]
    errors: SetErrors
    majority: SetErrors | None
    how: str
    answers: float

    @property
    def worse(self) -> bool:
        """Whether sets are wrong on more of the control tasks than by everybody's majority."""
        if self.majority is None or not self.errors.whole.tasks_measured:
            return False
        return self.errors.whole.wrong - self.majority.whole.wrong >= 0.5

    def missed(self, epsilon: float) -> list[str]:
        """Labels of which the error measured is above ε, all of its interval."""
        above = [each.error_interval[0] > epsilon for each in self.errors.by_label]
        return [name for name, missed in zip(self.names, above, strict=True) if missed]

    def verdict(self, subject_errs: str) -> list[str]:
        """Say how wrong labels and sets are, and everybody's majority on the same tasks.

        Parameters
        ----------
        subject_errs
            Who or what answers, with its verb: "their vote errs".
        """
        whole = self.errors.whole
        if not whole.tasks_measured:
            return [f"No gold task has a label: how often {subject_errs}, nobody knows."]
        low, high = map(percent, whole.error_interval)
        blank = " or missing" if whole.blank else ""
        sentences = [
            f"{subject_errs[0].upper()}{subject_errs[1:]} on {percent(self.errors.label_error)} of "
            f"the labels, and {percent(whole.error_measured)} of the sets are wrong{blank} in one, "
            f"measured ({percent(whole.confidence)} interval {low} to {high}; {whole.wrong:.4g} of "
            f"{whole.tasks_measured} gold tasks, {self.how}){self._f1(self.errors, '; ')}."
        ]
        if self.majority is not None:
            beside = self.majority
            sentences.append(
                f"Everybody's majority, label by label, errs on {percent(beside.label_error)} of "
                f"the labels, and {percent(beside.whole.error_measured)} of the sets are wrong, on "
                f"the same tasks, with {self.answers:.3g} sets a task{self._f1(beside, '; ')}."
            )
        return sentences

    @staticmethod
    def _f1(errors: SetErrors, before: str) -> str:
        return "" if errors.macro_f1 is None else f"{before}macro F1 is {errors.macro_f1:.2f}"

    @property
    def table(self) -> pd.DataFrame:
        """One row a label: `label, share, error, low, high, recall, f1, majority`."""
        errors = self.errors
        frame = pd.DataFrame(
            {
                "label": self.names,
                "share": errors.share,
                "error": [each.error_measured for each in errors.by_label],
                "low": [each.error_interval[0] for each in errors.by_label],
                "high": [each.error_interval[1] for each in errors.by_label],
                "recall": errors.recall,
                "f1": errors.f1,
            }
        )
        if self.majority is not None:
            frame["majority"] = [each.error_measured for each in self.majority.by_label]
        return frame

    def payload(self) -> dict[str, Any]:
        """Give the keys of a result's dictionary."""
        errors, beside = self.errors, self.majority
        return {
            "label_error_measured": errors.label_error,
            "error_measured": errors.whole.error_measured,
            "error_interval": errors.whole.error_interval,
            "tasks_measured": errors.whole.tasks_measured,
            "macro_f1": errors.macro_f1,
            "labels_majority": None if beside is None else self.answers,
            "label_error_majority": None if beside is None else beside.label_error,
            "error_majority": None if beside is None else beside.whole.error_measured,
            "macro_f1_majority": None if beside is None else beside.macro_f1,
            "by_label": self.table.to_dict("records"),
        }


def nothing_measured() -> dict[str, Any]:
    """Give the keys of `MeasuredSets.payload`, with nothing in them."""
    keys = ("label_error_measured", "error_measured", "error_interval", "macro_f1")
    more = (
        "labels_majority",
        "label_error_majority",
        "error_majority",
        "macro_f1_majority",
        "by_label",
    )
    return {**dict.fromkeys((*keys, *more)), "tasks_measured": 0}


def beside_majority(votes: SetVotes, gold: IntArray, errors: SetErrors, how: str) -> MeasuredSets:
    """Set errors beside those of everybody's majority on the same control tasks."""
    control: BoolArray = (gold >= 0).all(axis=1)
    answers = float(control[votes.task].sum() / max(control.sum(), 1))
    return MeasuredSets(votes.names, errors, majority_sets(votes, gold), how, answers)


def majority_sets(votes: SetVotes, gold: IntArray) -> SetErrors:
    """How wrong everybody's majority is, label by label, ties by their share."""
    n = len(votes.tasks)
    many = np.bincount(votes.task, minlength=n)
    yes = np.zeros((n, votes.said.shape[1]))
    np.add.at(yes, votes.task, votes.said)
    with np.errstate(invalid="ignore"):
        share = yes / np.where(many > 0, many, np.nan)[:, None]
    said = np.where(np.isnan(share), np.nan, np.where(share == 0.5, 0.5, share > 0.5))
    control = np.flatnonzero((gold >= 0).all(axis=1))
    return set_errors(np.abs(said[control] - gold[control]), gold[control], control)


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
    parts: Mapping[str, Labels]
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
        from workbench.api.labelling import IN_WORDS

        methods = pd.Series([part.found.method for part in self.parts.values()]).value_counts()
        if len(methods) == 1:
            return f"by {IN_WORDS.get(str(methods.index[0]), str(methods.index[0]))}"
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
    source
        Sets of labels.
    gold, truth, plan
        As of `aggregate`; a plan has the scores of every label.
    how
        `method`, `workers` and `options` of `aggregate`.
    """
    from workbench.api.labelling import aggregate

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
    parts: Mapping[str, Labels],
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
    from workbench.api.set_plans import SetPlan

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


def as_sets(texts: Sequence[str]) -> list[str]:
    """Write cells alike where they are sets of labels; others stay as they are.

    They are sets where one is a list of two names or more, or of none.
    """
    parts = [names_in(text) for text in texts]
    if not any(names is not None and len(names) != 1 for names in parts):
        return [*texts]
    return [
        text if names is None else written(names) for text, names in zip(texts, parts, strict=True)
    ]


def names_in(text: str) -> set[str] | None:
    """Names of the set that a cell holds as a list; None where it holds none."""
    parts = kinds.listed(text)
    if parts is None or any(isinstance(part, (list, tuple, dict, set)) for part in parts):
        return None
    return {as_text(part) for part in parts} - {""}
