"""`check` where answers are sets of labels: agreement, prevalence and errors label by label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.krippendorff import agreement
from workbench.api import inputs
from workbench.api.result import MOST, Figure, Result, facts, listed, names, page, percent
from workbench.api.sets import MeasuredSets, apart, majority_sets
from workbench.base.errors import InputError
from workbench.base.text import Columns, counted
from workbench.crowd.set_votes import SetVotes

LOW = 0.2
"""α of a label, from which on down its workers hardly agree beyond chance."""
LISTED = 8
"""Labels and workers that are named in a line."""
COLUMNS: Columns = {
    "label": ("label", ""),
    "given": ("in labels", ".3f"),
    "alpha": ("α", ".3f"),
    "low": ("95 % from", ".3f"),
    "high": ("to", ".3f"),
    "share": ("in gold", ".3f"),
    "recall": ("recall", ".2f"),
    "error": ("error", ".3f"),
}
"""What is printed of each label; recall and error are of everybody's majority."""
WITHOUT_GOLD = ("label", "given", "alpha", "low", "high")


@dataclass(frozen=True, eq=False, repr=False)
class SetCheck(Result):
    """What is odd about sets of labels.

    Attributes
    ----------
    name, seed
        What the labels are called; the seed of the bootstrap.
    by_label
        One row a label: `label, given, alpha, low, high`, the share of the sets that have it, and
        Krippendorff's α (nominal, of yes and no) with its bootstrap interval over tasks; with gold
        `share, recall, error`, its share there, and recall and error of everybody's majority.
    workers
        One row a worker: `worker, sets, labels_a_set, constant`; constant who gives one set
        throughout.
    relabel
        Tasks to look at again, most open labels first: `task, sets, open`; open are the labels that
        one set more could turn.
    sizes
        Share of the sets by their number of labels.
    counts
        Tasks, tasks with gold, and sets.
    error
        Errors of everybody's majority, label by label; None without gold.
    """

    name: str
    seed: int
    by_label: pd.DataFrame
    workers: pd.DataFrame
    relabel: pd.DataFrame
    sizes: pd.Series[float]
    counts: dict[str, int]
    error: MeasuredSets | None
    pictured = True

    @property
    def mean_size(self) -> float:
        """Labels a set, in the mean."""
        return float((self.sizes.index.to_numpy(float) * self.sizes).sum())

    def to_frame(self) -> pd.DataFrame:
        """Give one row a label."""
        return self.by_label

    def plot(self) -> Figure:
        """Draw errors of everybody's majority, by label.

        Raises
        ------
        InputError
            There is no gold.
        """
        from workbench.plots import by_label

        if self.error is None:
            raise InputError("plot: errors by label take gold; give the true sets of some tasks")
        return by_label(self.error.table, title=self._title())

    def verdict(self) -> list[str]:
        """Say how far labels agree, how wrong their majority is, and what stands against them."""
        sentences = []
        if self.error is None:
            sentences.append(
                "Without gold nobody knows how often these workers are wrong: they may agree on "
                "errors."
            )
        else:
            sentences += self.error.verdict("everybody's majority, label by label, errs")
        known = self.by_label["alpha"].dropna()
        agreed = (
            "no label has an α" if known.empty else f"α is {known.min():.2f} to {known.max():.2f}"
        )
        sentences.append(
            f"A set has {self.mean_size:.2g} of {counted(len(self.by_label), 'label')} in the "
            f"mean; label by label Krippendorff's {agreed}."
        )
        sentences.append(self._against())
        after = "hire' names whom to ask, 'workbench aggregate" if self.error else "aggregate"
        sentences.append(f"Next: 'workbench {after}' answers each label by itself.")
        return sentences[:MOST]

    def _against(self) -> str:
        """Say what stands against the labels."""
        low = self.by_label.loc[self.by_label["high"] < LOW, "label"].tolist()
        zero = self.by_label.loc[self.by_label["low"] <= 0, "label"].tolist()
        still = self.workers.loc[self.workers["constant"], "worker"].tolist()
        against = []
        if weak := sorted({*low, *zero}):
            against.append(f"on {names(weak, LISTED)} workers hardly agree beyond chance")
        if still:
            against.append(f"{names(still, LISTED)} give one and the same set throughout")
        if not against:
            return "No warning from agreement by label and constant workers."
        return f"Beware: {'; '.join(against)}."

    def brief(self) -> str:
        """Lay out the labels."""
        columns = COLUMNS if self.error is not None else {k: COLUMNS[k] for k in WITHOUT_GOLD}
        return listed(self.by_label, columns, 12, " labels")

    def details(self) -> str:
        """Give labels, sizes and workers."""
        columns = COLUMNS if self.error is not None else {k: COLUMNS[k] for k in WITHOUT_GOLD}
        sizes = ", ".join(f"{size}: {percent(share)}" for size, share in self.sizes.items())
        workers: Columns = {
            "worker": ("worker", ""),
            "sets": ("sets", ""),
            "labels_a_set": ("labels a set", ".2f"),
            "constant": ("", lambda constant: "constant" if constant else ""),
        }
        return page(
            self._title(),
            listed(self.by_label, columns, 100, " labels"),
            facts([("sizes of sets", sizes)]),
            listed(self.workers, workers, 20, " workers"),
            notes=["α: of yes and no for each label; recall and error: of everybody's majority"],
        )

    def _title(self) -> str:
        return (
            f"{self.name}: {self.counts['sets']} sets of {len(self.by_label)} labels, of "
            f"{self.counts['tasks']} tasks by {len(self.workers)} workers, "
            f"{self.counts['gold_tasks']} tasks with gold"
        )

    def _payload(self) -> dict[str, Any]:
        return {
            "by_label": self.by_label.to_dict("records"),
            "workers": self.workers.to_dict("records"),
            "relabel": self.relabel.to_dict("records"),
            "sizes": {str(size): float(share) for size, share in self.sizes.items()},
            "mean_size": self.mean_size,
            **self.counts,
            "majority": None if self.error is None else self.error.payload(),
            "seed": self.seed,
        }


def check_sets(
    source: inputs.Given, gold: inputs.Truth | None, judge: str | int | None, seed: int
) -> SetCheck:
    """Look at sets of labels before anything is built on them; as `check`."""
    inputs.refuse(source.kind, {"judge": judge})
    true = None
    if gold is not None or source.gold is not None:
        true, source = inputs.truth(gold, source)
    votes, codes = apart(source, true)
    rows = []
    for name, each in votes.by_label.items():
        found = agreement(each, seed=seed)
        rows.append((name, each.label.mean(), found.alpha, found.low, found.high))
    by_label = pd.DataFrame(rows, columns=[*WITHOUT_GOLD])
    by_label = by_label.astype(dict.fromkeys(WITHOUT_GOLD[1:], float))
    error = None
    judged = int((codes >= 0).all(axis=1).sum())
    if judged:
        errors = majority_sets(votes, codes)
        error = MeasuredSets(votes.names, errors, None, "which it does not see", 0.0)
        by_label = by_label.assign(
            share=errors.share,
            recall=errors.recall,
            error=np.array([each.error_measured for each in errors.by_label], dtype=float),
        )
    size = votes.said.sum(axis=1)
    counts = {"tasks": len(votes.tasks), "gold_tasks": judged, "sets": len(votes.task)}
    sizes = pd.Series(size).value_counts(normalize=True).sort_index()
    workers = source.back(_workers(votes, size))
    again = source.back(_relabel(votes))
    return SetCheck(source.name, seed, by_label, workers, again, sizes, counts, error)


def _relabel(votes: SetVotes) -> pd.DataFrame:
    """Tasks with labels of which as many say yes as no, or one more."""
    n = len(votes.tasks)
    many, yes = np.bincount(votes.task, minlength=n), np.zeros((n, votes.said.shape[1]))
    np.add.at(yes, votes.task, votes.said)
    near = (np.abs(2 * yes - many[:, None]) <= 1) & (many > 0)[:, None]
    order = np.argsort(-near.sum(axis=1), kind="stable")
    order = order[near[order].any(axis=1)]
    names = np.array(votes.names, dtype=object)
    turned = [frozenset(names[row].tolist()) for row in near[order]]
    frame = {"task": votes.tasks[order], "sets": many[order]}
    return pd.DataFrame({**frame, "open": pd.Series(turned, dtype=object)})


def _workers(votes: SetVotes, size: np.ndarray) -> pd.DataFrame:
    """One row a worker, the constant first."""
    m = len(votes.workers)
    many = np.bincount(votes.worker, minlength=m)
    frame = pd.DataFrame(
        {
            "worker": votes.workers,
            "sets": many,
            "labels_a_set": np.bincount(votes.worker, size, m) / np.maximum(many, 1),
            "constant": votes.constant,
        }
    )
    return frame.sort_values(
        ["constant", "sets"], ascending=False, kind="stable", ignore_index=True
    )
