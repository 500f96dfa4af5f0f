"""Sets of labels at the front door: taken apart, answered label by label, put together again.

Each function of the front door takes sets here: every label is a question of its own, yes or no,
and one purchase answers all of them. A set is wrong where any of its labels is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.errors_by_label import SetErrors, set_errors
from workbench.api import inputs
from workbench.api.measuring import FEW, GoldError
from workbench.api.result import percent
from workbench.base.arrays import BoolArray, IntArray
from workbench.base.text import Columns
from workbench.crowd import kinds
from workbench.crowd.kinds import LabelSets, written
from workbench.crowd.reading import as_text
from workbench.crowd.set_votes import SetVotes

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
        share = GoldError(whole, None, np.nan, self.how).share(" of the sets")
        errs = f"{subject_errs[0].upper()}{subject_errs[1:]}"
        wrong = f"wrong in some label are {share}{self._f1(self.errors, '; ')}."
        sentences = [f"{errs} on {percent(self.errors.label_error)} of the labels; {wrong}"]
        if whole.tasks_measured < FEW:  # too few for a single figure
            sentences = [wrong[0].upper() + wrong[1:]]
        if self.majority is not None:
            beside = self.majority
            sentences.append(
                f"Everybody's majority, label by label, errs on {percent(beside.label_error)} of "
                f"the labels; {percent(beside.whole.error_measured)} of the sets are wrong, on "
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
    control: BoolArray = np.all(gold >= 0, axis=1)
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
