"""`check`: what has to be known of labels before anything is built on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.independence import LEVEL, NEARLY_ALL, Dependence, below_chance, dependence
from workbench.accuracy.measured import error_interval, expected_radius, least_rmse
from workbench.api import inputs
from workbench.api.result import Figure, Result, facts, listed, names, page, percent, picked
from workbench.base.arrays import FloatArray
from workbench.base.text import Columns
from workbench.crowd.gold_rule import VotesByTask, gold_codes, majority_loss
from workbench.crowd.label_checks import (
    Agreement,
    Repeats,
    agreement,
    classes_alike,
    repeats,
)
from workbench.crowd.votes import Votes
from workbench.selection.hire import skill_interval

CONFIDENCE = 0.95
"""Of the intervals of skills."""
SHOWN, NAMED = 30, 8
"""Workers that are printed among the details, and that are named in a line."""
BRIEF = 10
"""Workers below the verdict."""
POINTS, MOST_GOLD = 12, 0.5
"""Numbers of control tasks that are drawn, up to this share of the tasks: beyond it so few are left
that their own error is less and less known."""
NO_GOLD = (
    "no gold: who is right, and whether workers err independently, is not known; give the true "
    "labels of some tasks by `gold`, a table task, gold"
)
COLUMNS: Columns = {
    "worker": ("worker", ""),
    "labels": ("labels", ""),
    "agrees": ("agrees", ".3f"),
    "answered": ("gold answers", ""),
    "correct": ("correct", ""),
    "skill": ("skill", ".3f"),
    "low": ("95 % from", ".3f"),
    "high": ("to", ".3f"),
    "remark": ("", ""),
}
"""What is printed of each worker."""


@dataclass(frozen=True, eq=False, repr=False)
class LabelCheck(Result):
    """What is odd about labels, and how far their workers err independently.

    Attributes
    ----------
    name, seed
        What the labels are called; the seed of the simulated crowds.
    table
        One row a worker, the most gold answers first: `worker, labels, agrees, answered, correct,
        skill, low, high, below_chance, group`. Agrees is the mean share of the others' labels of
        her tasks that are as hers, skill the share of right gold answers, low and high its
        exact (Clopper–Pearson) 95 % interval; group numbers those who err together, from 1.
    found
        How errors go together (`accuracy.independence.Dependence`), workers by index in `workers`.
    workers
        Names of the workers, by index.
    classes, alike
        Names of the classes; groups of them that are most likely one.
    wrong
        Share of wrong answers on each gold task, shape (k,).
    majority
        Wrong labels of a majority vote, ties by their share, on how many gold tasks.
    agreement
        How far labels of the same task agree, whoever is right.
    repeated
        Pairs labelled more than once; the first label counts.
    counts
        Tasks, tasks with gold, and labels.
    given
        The labels that came in, and their ids.
    """

    name: str
    seed: int
    table: pd.DataFrame
    found: Dependence
    workers: list[Any]
    classes: list[Any]
    alike: list[tuple[str, ...]]
    wrong: FloatArray
    majority: tuple[float, int]
    agreement: Agreement
    repeated: Repeats
    counts: dict[str, int]
    given: inputs.Given
    pictured = True

    @property
    def effective_workers(self) -> float:
        """Independent workers that a task's answers are worth."""
        return self.found.overall.effective()

    @property
    def groups(self) -> list[list[Any]]:
        """Workers who err together, as copies or one model do: groups of two or more."""
        return [self._names(group) for group in self.found.groups]

    @property
    def warnings(self) -> list[str]:
        """What stands against taking the labels at their word, one sentence each."""
        return [
            *self._of_dependence(),
            *self._of_workers(),
            *self._of_table(),
        ]

    def gold_needed(self, controls: int) -> tuple[float, float]:
        """How well so many control tasks would tell the error of a majority vote.

        Parameters
        ----------
        controls
            Of the tasks that are here.

        Returns
        -------
        Half the expected width of its 90 % interval for the other tasks, and the root mean square
        error that no estimate is below. The error rate is that on the gold that there is.
        """
        left, rate = self.counts["tasks"] - controls, self._rate()
        return expected_radius(rate, controls, left), least_rmse(rate, controls, left)

    def _rate(self) -> float:
        wrong, tasks = self.majority
        return (wrong + 0.5) / (tasks + 1.0)

    def to_frame(self) -> pd.DataFrame:
        """Give one row a worker."""
        return self.given.back(self.table)

    def plot(self) -> Figure:
        """Draw skills, the difficulty of tasks, and who errs together."""
        from workbench.plots import checked

        now, tasks = self.majority[1], self.counts["tasks"]
        many = np.geomspace(min(5, tasks), max(tasks * MOST_GOLD, 6), POINTS).astype(int)
        many = np.unique([*many[many < tasks], *([now] if 0 < now < tasks else [])])
        gold = [(int(c), *self.gold_needed(int(c))) for c in many]
        return checked(self.table, self.wrong, self.found, gold, now, title=self._title())

    def verdict(self) -> list[str]:
        """Say how far the crowd can be trusted, what stands against it, and what to do."""
        wrong, tasks = self.majority
        counts, workers = self.counts, len(self.workers)
        if tasks:
            interval = error_interval(wrong, tasks, None)
            sentences = [
                f"Everybody's majority is wrong on {percent(wrong / tasks)} of tasks (90 % "
                f"interval {percent(interval[0])} to {percent(interval[1])}; {wrong:.4g} of "
                f"{tasks} gold tasks{_shared(wrong)}), with "
                f"{counts['labels'] / max(counts['tasks'], 1):.3g} labels a task.",
                self._carried(),
                f"{'Errors go together: the' if self.found.overall.shown else 'The'} labels of a "
                f"task tell as much as {self.effective_workers:.2g} from workers who err apart.",
            ]
        else:
            sentences = [
                f"Without gold nobody knows how often the majority of these {workers} workers is "
                "wrong: they may agree on errors.",
                f"{_agreement(self.agreement)}.",
            ]
        warnings = self.warnings[int(bool(tasks) and self.found.overall.shown) :]
        if warnings:
            more = f" ({len(warnings) - 1} more: --details)" if len(warnings) > 1 else ""
            sentences.append(f"Beware: {warnings[0].removesuffix('.')}{more}.")
        elif not self.warnings:
            sentences.append("Nothing stands against taking the labels at their word.")
        return [*sentences, self._next()]

    def _carried(self) -> str:
        """How many workers carry the crowd, and how many do not, by their gold answers."""
        guess = 1.0 / max(len(self.classes), 1)
        better = int((self.table["low"] > guess).sum())
        worse = int((self.table["high"] < guess).sum())
        rest = len(self.workers) - better - worse
        return (
            f"{better} of {len(self.workers)} workers are surely better than a guess, {worse} "
            f"surely worse; {rest} cannot be told from guessing by their gold answers."
        )

    def _next(self) -> str:
        """What to do with such labels."""
        if not self.majority[1]:
            return "Next: answer twenty tasks or more yourself, and give them as gold."
        return "Next: 'workbench hire' names a few workers whose vote errs least for its price."

    def brief(self) -> str:
        """Lay out the workers, those most labelled first."""
        keys = ["worker", "labels", "agrees"]
        if self.counts["gold_tasks"]:
            keys = ["worker", "labels", "answered", "correct", "skill", "remark"]
        frame = self.table.assign(remark=self._remarks())
        return listed(frame, {key: COLUMNS[key] for key in keys}, BRIEF, " workers")

    def details(self) -> str:
        """Give the page of all that was looked at."""
        overall = self.found.overall
        worth = f"{self.effective_workers:.1f} of {overall.answers:.1f} answers a task"
        correlation = f"{overall.correlation:.3f} in the mean of two workers (p "
        correlation += f"{'≤' if overall.p_value <= 0.005 else '='} {overall.p_value:.3g})"
        hard = f"{percent(overall.hard, 3)} of {overall.hard_judged} gold tasks"
        by_gold = [
            ("errors correlate", correlation),
            ("effective workers", worth),
            ("nearly all err", f"{hard}; {percent(overall.hard_expected, 3)} if independent"),
            ("groups", "; ".join(names(group, NAMED) for group in self.groups) or "none"),
        ]
        rows = [
            *(by_gold if self.counts["gold_tasks"] else ()),
            ("agreement", _agreement(self.agreement)),
            ("control tasks", self._worth()),
            ("labelled twice", f"{self.repeated.pairs} pairs, {self.repeated.in_conflict} differ"),
            ("classes", names(self.classes, NAMED)),
        ]
        frame, columns = self.table.assign(remark=self._remarks()), COLUMNS
        if not self.counts["gold_tasks"]:
            frame = frame.sort_values("labels", ascending=False, kind="stable")
            columns = {key: COLUMNS[key] for key in ("worker", "labels", "agrees")}
        warnings = [f"warning: {warning}" for warning in self.warnings] or ["no warnings"]
        return page(
            self._title(),
            "\n".join(warnings),
            facts(rows),
            listed(frame, columns, SHOWN, " workers"),
            notes=[
                "agrees: the share of others' labels of the same tasks that are alike",
                *(self._judged() if self.counts["gold_tasks"] else (NO_GOLD,)),
            ],
        )

    def _judged(self) -> list[str]:
        """What rests on gold."""
        return [
            "skills are shares of right answers to gold tasks, each with its own exact 95 % "
            "interval",
            f"errors are looked at given the true class; each test raises a false alarm in "
            f"{percent(LEVEL)} of independent crowds",
            *self._further(),
        ]

    def _worth(self) -> str:
        """What the control tasks tell, and what more of them would."""
        (wrong, now), tasks = self.majority, self.counts["tasks"]
        if not now:
            return "none with a label" if self.counts["gold_tasks"] else "none"
        sentence = f"{now}: a majority vote errs on {wrong / now:.3g} of them"
        if now == tasks:
            return f"{sentence}, which are all tasks"
        sentence += f", known to ± {self.gold_needed(now)[0]:.2g} for the other tasks (90 %)"
        more = next((times * now for times in (4, 2) if times * now <= MOST_GOLD * tasks), None)
        if more is None:
            return sentence
        return f"{sentence}; {more} would make it ± {self.gold_needed(more)[0]:.2g}"

    def _title(self) -> str:
        return (
            f"{self.name}: {self.counts['labels']} labels of {self.counts['tasks']} tasks by "
            f"{len(self.workers)} workers, {self.counts['gold_tasks']} tasks with gold, "
            f"{len(self.classes)} classes"
        )

    def _payload(self) -> dict[str, Any]:
        overall = self.found.overall
        return {
            "warnings": self.warnings,
            "effective_workers": self.effective_workers if self.counts["gold_tasks"] else None,
            "groups": self.groups,
            "groups_copying": list(self.found.copying),
            "workers": self.to_frame().to_dict("records"),
            **self.counts,
            "classes": self.given.classes.all_back(self.classes),
            "classes_alike": [self.given.classes.all_back(group) for group in self.alike],
            "independence": {
                **picked(overall, "correlation", "p_value", "answers"),
                "typical": self.found.typical,
                "dependent": self.found.dependent,
            },
            "difficulty": picked(overall, "hard", "hard_expected", "hard_judged"),
            "pairs": [
                {
                    "workers": self._names((pair.first, pair.second)),
                    **picked(pair, "tasks", "both_wrong", "same_wrong", "correlation", "p_value"),
                }
                for pair in self.found.pairs
            ],
            "agreement": vars(self.agreement),
            "majority": {"wrong": self.majority[0], "gold_tasks": self.majority[1]},
            "repeated": vars(self.repeated),
            "seed": self.seed,
        }

    def _names(self, workers: tuple[int, ...]) -> list[Any]:
        return self.given.workers.all_back(self.workers[at] for at in workers)

    def _remarks(self) -> list[str]:
        return [
            ", ".join(
                filter(None, ("below chance" if below else "", f"group {group}" if group else ""))
            )
            for below, group in zip(
                self.table["below_chance"], self.table["group"].tolist(), strict=True
            )
        ]

    def _of_dependence(self) -> list[str]:
        overall, lines = self.found.overall, []
        if overall.shown:
            lines.append(
                f"errors go together (mean correlation {overall.correlation:.2f}): "
                f"{overall.answers:.1f} answers to a task are worth {self.effective_workers:.1f} "
                "independent ones, and predictions and bounds that rest on independence are too "
                f"good; on {percent(overall.hard, 3)} of the gold tasks at least "
                f"{percent(NEARLY_ALL)} of the answers are wrong, where independence expects "
                f"{percent(overall.hard_expected, 3)}"
            )
        lines += [
            f"workers {names(group, NAMED)} name the same wrong classes far beyond chance: they "
            "copy, or are one model; count them as one"
            if copying
            else f"workers {names(group, NAMED)} err on the same tasks far beyond difficulty: "
            "their labels count for less than so many"
            for group, copying in zip(self.groups, self.found.copying, strict=True)
        ]
        loose = [
            pair
            for pair in self.found.pairs
            if not any({pair.first, pair.second} <= set(group) for group in self.found.groups)
        ]
        if loose:
            first = names(self._names((loose[0].first, loose[0].second)), 2)
            lines.append(
                f"{len(loose)} pairs of workers err together more than most, the clearest {first} "
                f"(correlation {loose[0].correlation:.2f})"
            )
        return lines

    def _of_workers(self) -> list[str]:
        below = self.table.loc[self.table["below_chance"], "worker"].tolist()
        return (
            [
                f"below chance, beyond doubt: {names(below, NAMED)}; they have the classes the "
                "wrong way round, or answer against the question"
            ]
            if below
            else []
        )

    def _of_table(self) -> list[str]:
        lines = []
        if self.repeated.pairs:
            pairs = self.repeated.pairs
            lines.append(
                f"{pairs} {'pair' if pairs == 1 else 'pairs'} of task and worker labelled more "
                f"than once, {self.repeated.in_conflict} in conflict; the first label counts here"
            )
        lines += [
            f"classes {names(group, NAMED)} are most likely one: write them alike"
            for group in self.alike
        ]
        return lines

    def _further(self) -> list[str]:
        untested = int((self.table["answered"] == 0).sum())
        lines = []
        if untested:
            lines.append(f"workers without a gold answer, of whom nothing is known: {untested}")
        if self.found.looked_at < len(self.workers) - untested:
            lines.append(
                f"pairs were looked at among the {self.found.looked_at} workers with the most gold "
                "answers"
            )
        return lines


def check(
    labels: inputs.LabelTable, gold: inputs.Truth | None = None, *, seed: int = 0
) -> LabelCheck:
    """Look at labels before anything is built on them.

    Skills with intervals, workers below chance, whether errors go together (and how many
    independent workers they leave), tasks on which nearly all err, workers who copy, how far labels
    agree, pairs labelled twice, and classes that are most likely one.

    Parameters
    ----------
    labels
        Labels: columns task, worker, label.

        Of a pair that is labelled more than once the first label counts.
    gold
        True labels of some or all tasks: columns task, gold. [default: gold in the labels, if any]

        A Series or a dict by task, too. Without any, only how far labels agree is told.
    seed
        Of the simulated crowds that tell what chance alone does.

    Raises
    ------
    InputError
        Labels or gold cannot be read, or do not belong together.

    Examples
    --------
    >>> import pandas as pd
    >>> import workbench as wb
    >>> said = {"ann": "abababbaab", "bob": "abababbaab", "eve": "bababaabba"}
    >>> labels = pd.DataFrame(
    ...     [(task, name, answer) for name in said for task, answer in enumerate(said[name])],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> found = wb.check(labels, dict(enumerate("abababbaab")))
    >>> found.to_frame()[["worker", "correct", "below_chance"]]
      worker  correct  below_chance
    0    ann       10         False
    1    bob       10         False
    2    eve        0          True
    """
    source = inputs.given(labels, duplicates="all")
    true: pd.Series[Any] = pd.Series(index=pd.Index([], name="task"), dtype=object)
    if gold is not None or source.gold is not None:
        true, source = inputs.truth(gold, source)
    whole = source.table[["task", "worker", "label"]]
    first = whole.drop_duplicates(["task", "worker"])
    classes = sorted({*first["label"], *true})
    votes = Votes.of(first, classes=classes)
    codes = gold_codes(votes, true)
    outcome = dependence(votes, codes, seed=seed)
    missed = majority_loss(votes, codes)
    return LabelCheck(
        source.name,
        seed,
        _workers(votes, codes, outcome),
        outcome,
        votes.workers.tolist(),
        classes,
        classes_alike({str(k): int(v) for k, v in whole["label"].value_counts().items()}),
        _wrong(votes, codes),
        (float(np.nansum(missed)), int((~np.isnan(missed)).sum())),
        agreement(votes),
        repeats(whole),
        {"tasks": len(votes.tasks), "gold_tasks": int((codes >= 0).sum()), "labels": len(whole)},
        source,
    )


def _shared(wrong: float) -> str:
    """Say that ties count by their share, where they show."""
    return "" if float(wrong).is_integer() else ", ties by their share"


def _agreement(agreement: Agreement) -> str:
    """Say how far labels agree."""
    if agreement.pairwise is None:
        return "no task with two labels"
    alpha = (
        "undefined, as all are of one class"
        if agreement.alpha is None
        else f"{agreement.alpha:.3f}"
    )
    return f"{percent(agreement.pairwise, 3)} of pairs of labels agree; Krippendorff's α {alpha}"


def _workers(votes: Votes, codes: Any, outcome: Dependence) -> pd.DataFrame:
    correct, gold_labels = VotesByTask(votes).answers(codes)
    low, high = skill_interval(correct, gold_labels, CONFIDENCE)
    group = np.full(len(votes.workers), None, dtype=object)
    for number, members in enumerate(outcome.groups, 1):
        group[list(members)] = number
    table = pd.DataFrame(
        {
            "worker": votes.workers,
            "labels": np.bincount(votes.worker, minlength=len(votes.workers)),
            "agrees": _agrees(votes),
            "answered": gold_labels,
            "correct": correct,
            "skill": np.where(gold_labels > 0, correct / np.maximum(gold_labels, 1), np.nan),
            "low": low,
            "high": high,
            "below_chance": below_chance(correct, gold_labels, len(votes.classes)),
            "group": group,
        }
    )
    return table.sort_values("answered", ascending=False, kind="stable", ignore_index=True)


def _agrees(votes: Votes) -> FloatArray:
    """Mean share of the others' labels of her tasks that are as hers, NaN of no others: (m,)."""
    cell = votes.task * len(votes.classes) + votes.label
    others = np.bincount(votes.task)[votes.task] - 1
    alike = np.bincount(cell)[cell] - 1
    common, m = others > 0, len(votes.workers)
    share = np.bincount(votes.worker[common], (alike[common] / others[common]), minlength=m)
    tasks = np.bincount(votes.worker[common], minlength=m)
    mean: FloatArray = np.where(tasks > 0, share / np.maximum(tasks, 1), np.nan)
    return mean


def _wrong(votes: Votes, codes: Any) -> FloatArray:
    judged = codes[votes.task] >= 0
    task = votes.task[judged]
    labels = np.bincount(task, minlength=len(votes.tasks))
    erred = np.bincount(task[votes.label[judged] != codes[task]], minlength=len(votes.tasks))
    share: FloatArray = (erred / np.maximum(labels, 1))[labels > 0]
    return share
