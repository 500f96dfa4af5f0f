"""`hire` where answers are sets of labels: the workers whose vote errs least over all labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench.api import inputs
from workbench.api.result import Figure, Result, facts, listed, names, page, percent
from workbench.api.sets import BY_LABEL, MeasuredSets, apart, beside_majority
from workbench.base import checks
from workbench.base.arrays import BoolArray, IntArray
from workbench.base.text import Columns, counted
from workbench.crowd.set_votes import SetVotes
from workbench.selection.set_hiring import SetHiring, hire_for_sets, measure_set_hiring

LISTED = 10
"""Of the hired, those that are named and laid out."""
COLUMNS: Columns = {
    "worker": ("worker", ""),
    "answered": ("gold answers", ""),
    "exact": ("whole set right", ""),
    "alone": ("label error alone", ".3f"),
}
NEXT = (
    "Next: 'workbench aggregate --workers chosen.csv' answers all tasks by their labels, and "
    "'workbench plan --workers chosen.csv' plans a next batch by them; --out chosen.csv writes "
    "that file."
)
NEXT_ALL = "Next: answer the tasks from all labels, with 'workbench aggregate'."


@dataclass(frozen=True, eq=False, repr=False)
class HiredForSets(Result):
    """Whom to hire for sets of labels, and what is known of them.

    Attributes
    ----------
    name, seed, budget
        What the labels are called; the seed; K.
    workers
        One row a worker, the chosen first: `worker, answered, exact, alone, chosen`. Answered is
        her control answers, exact how many of these sets are wholly right, alone the expected error
        of her answers by themselves in the mean over the labels.
    by_label
        One row a label: `label, expected`, the expected error of the vote of the chosen, if they
        err independently.
    error
        Errors of such a vote, measured on gold.
    unlabelled
        How many of the tasks none of the chosen has labelled, and of how many.
    """

    name: str
    seed: int
    budget: int
    workers: pd.DataFrame
    by_label: pd.DataFrame
    error: MeasuredSets
    unlabelled: tuple[int, int]
    pictured = True

    @property
    def chosen(self) -> list[Any]:
        """The workers to hire, in the order in which they were added."""
        return [*self.workers.loc[self.workers["chosen"], "worker"]]

    @property
    def solved(self) -> bool:
        """Whether there is somebody to hire."""
        return bool(self.workers["chosen"].any())

    def to_frame(self) -> pd.DataFrame:
        """Give the chosen workers, as `aggregate(…, workers=…)` takes them."""
        return self.workers[self.workers["chosen"]].drop(columns="chosen")

    def plot(self) -> Figure:
        """Draw error and F1 of each label."""
        from workbench.plots import by_label

        return by_label(self.error.table, title=self._title())

    def verdict(self) -> list[str]:
        """Say whom to hire, how wrong their vote is, and everybody's majority."""
        if not self.solved:
            return [f"Hire nobody of {len(self.workers)} workers: none has a gold answer."]
        of = counted(len(self.workers), "worker")
        who = f"{len(self.chosen)} of {of}: {names(self.chosen, LISTED)}"
        sentences = [f"Hire {who}."]
        if self.error.worse:
            sentences = [
                f"Do not hire these {who}. Their vote errs on more of your gold than everybody's "
                "majority."
            ]
        blank, tasks = self.unlabelled
        if blank:
            sentences.append(
                f"{blank} of {counted(tasks, 'task')} get no answer: none of these labelled them."
            )
        sentences += self.error.verdict("their vote errs")
        other = self.error.worse or 2 * blank > tasks
        return [*sentences, NEXT_ALL if other else NEXT]

    def brief(self) -> str:
        """Lay out those to hire."""
        rows = self.workers[self.workers["chosen"]]
        return listed(rows, COLUMNS, LISTED) if len(rows) else ""

    def details(self) -> str:
        """Give errors by label, and all workers."""
        expected = self.by_label["expected"].mean()
        return page(
            self._title(),
            listed(self.error.table, BY_LABEL, 100),
            facts(
                [
                    ("label error, expected", f"{percent(expected)} if they err independently"),
                    ("criterion", "the expected error of their vote, in the mean over the labels"),
                ]
            ),
            listed(self.workers, COLUMNS, len(self.chosen) + LISTED, ", left out"),
            notes=["each label is weighed by what its worker says where it is true, and where not"],
        )

    def _title(self) -> str:
        return (
            f"{self.name}: {len(self.chosen)} of {len(self.workers)} workers for sets of "
            f"{len(self.by_label)} labels; budget {self.budget}, seed {self.seed}"
        )

    def _payload(self) -> dict[str, Any]:
        return {
            "chosen": self.chosen,
            "budget": self.budget,
            **self.error.payload(),
            "unlabelled": self.unlabelled[0],
            "label_error_expected": float(self.by_label["expected"].mean()),
            "workers": self.workers.to_dict("records"),
            "seed": self.seed,
        }


def hire_sets(
    source: inputs.Given,
    gold: inputs.Truth | None,
    budget: int,
    seed: int,
) -> HiredForSets:
    """Choose at most K workers for sets of labels, as `hire`."""
    checks.count("budget", budget, 1)
    true, source = inputs.truth(gold, source)
    votes, codes = apart(source, true)
    hired = hire_for_sets(votes, codes, budget)
    errors = measure_set_hiring(votes, codes, budget, seed=seed)
    measured = beside_majority(votes, codes, errors, "each judged by workers chosen without it")
    blank = len(votes.tasks) - len(np.unique(votes.task[np.isin(votes.worker, hired.chosen)]))
    by_label = pd.DataFrame({"label": votes.names, "expected": hired.expected})
    workers = source.back(_workers(votes, codes, hired))
    return HiredForSets(
        source.name, seed, budget, workers, by_label, measured, (blank, len(votes.tasks))
    )


def _workers(votes: SetVotes, gold: IntArray, hired: SetHiring) -> pd.DataFrame:
    """One row a worker, the chosen first, then by their own error."""
    m = len(votes.workers)
    judged: BoolArray = np.all(gold >= 0, axis=1)
    known = judged[votes.task]
    right = known & (votes.said == gold[votes.task]).all(axis=1)
    rest = np.setdiff1d(np.argsort(hired.alone, kind="stable"), hired.chosen, assume_unique=True)
    order = np.concatenate([hired.chosen, rest])
    return pd.DataFrame(
        {
            "worker": votes.workers[order],
            "answered": np.bincount(votes.worker[known], minlength=m)[order],
            "exact": np.bincount(votes.worker[right], minlength=m)[order],
            "alone": hired.alone[order],
            "chosen": np.arange(m) < len(hired.chosen),
        }
    )
