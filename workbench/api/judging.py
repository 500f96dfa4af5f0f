"""`check(judge=)`: one worker, most often a model, beside what people say of some of the tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.accuracy.judged import Ranged, VerdictCounts
from workbench.accuracy.kappas import pair_kappas
from workbench.api import inputs
from workbench.api.result import Figure, Result, facts, listed, names, page, percent
from workbench.base.arrays import BoolArray, IntArray
from workbench.base.checks import show
from workbench.base.errors import InputError
from workbench.base.text import Columns, counted, guess
from workbench.crowd.label_checks import Repeats, repeats
from workbench.crowd.tables import as_text
from workbench.crowd.votes import Votes

REACH = 0.05
"""How well true shares are to be known: five points."""
FEW = 5
"""Tasks of a verdict with people's labels, below which that is said."""
CHANCE = 1e-3
"""Chance of verdicts as uneven as among the tasks that people labelled, below which these are no
random sample of all."""
NAMED, SHOWN, BRIEF = 5, 30, 5
"""Workers that are named in a line; rows that are printed among the details, and below them."""
POINTS = 25
"""Numbers of labels that are drawn."""
COLUMNS: Columns = {
    "class": ("class", ""),
    "said": ("judge says", ".2f"),
    "true": ("true share (95 %)", ""),
    "right": ("right where it is true", ""),
    "holds": ("true where judge says it", ""),
}
"""What is printed of each class."""
DIFFER: Columns = {"task": ("task", ""), "verdict": ("judge", ""), "people": ("people", "")}
"""What is printed of a task on which judge and people differ."""


class LabelsNeeded(NamedTuple):
    """Labels of people for ± 5 points of all true shares; None where all tasks are too few.

    Attributes
    ----------
    at_random
        Drawn among all judged tasks.
    by_verdict
        By class, how many to draw of the tasks with that verdict: these tell most.
    alone
        Without the judge.
    """

    at_random: int | None
    by_verdict: dict[Any, int] | None
    alone: int | None


@dataclass(frozen=True, eq=False, repr=False)
class JudgeCheck(Result):
    """How far a judge's verdicts can be trusted, and what they make known of the tasks.

    Attributes
    ----------
    name
        What the labels are called.
    judge
        The worker who is looked at.
    people
        Whose labels are taken for true: "gold", or the workers whose majority is.
    table
        One row a class: `class, verdicts, labels, true_labels`, and shares with the ends of their
        95 % intervals (`…_low, …_high`): `share_judged` is the share of tasks that the judge calls
        so, `share` the true share, corrected by people's labels, `share_people` that of the labels
        alone (missing where these are no random sample of the tasks), `rate` how often the judge
        is right where the class is true, `precision` how often it is true where the judge says so.
        Of two classes the second's rate is the sensitivity, the first's the specificity. Verdicts
        are tasks that the judge calls so, labels those of them with people's label, true labels
        those that people call so.
    found
        The counts behind it (`accuracy.judged.VerdictCounts`), by index in `classes`.
    kappa
        Cohen's κ of judge and people over all judged tasks, and its 95 % interval; None where one
        class alone is named.
    kappas
        Mean κ of two other workers, and of the judge and one of them; None where too few share
        tasks.
    needed
        Labels of people that bring the true shares to ± 5 points.
    relabel
        Tasks on which judge and people differ: `task, verdict, people`.
    at_random
        Whether the tasks with people's labels may be a random sample of those judged, by verdict.
    ties, unjudged
        Tasks left out as people tie, and tasks with people's label and without a verdict.
    repeated
        Tasks that the judge labelled more than once; the first verdict counts.
    classes
        Names of the classes.
    given
        The labels that came in, and their ids.
    """

    name: str
    judge: Any
    people: str | list[Any]
    table: pd.DataFrame
    found: VerdictCounts
    kappa: tuple[float, float, float] | None
    kappas: tuple[float, float] | None
    needed: LabelsNeeded
    relabel: pd.DataFrame
    at_random: bool
    ties: int
    unjudged: int
    repeated: Repeats
    classes: list[Any]
    given: inputs.Given
    pictured = True

    @property
    def warnings(self) -> list[str]:
        """What stands against these numbers, one sentence each."""
        lines = [
            f"of the tasks that the judge calls {names([row['class']], 1)} people labelled "
            f"{row['labels']} of {row['verdicts']}: too few to tell how often it is right there"
            for row in self._rows()
            if row["verdicts"] and row["labels"] < FEW
        ]
        if self.kappa is not None and self.kappa[2] < 0:
            lines.append(
                "the judge agrees with people less than by chance: it, or people, have the classes "
                "the wrong way round"
            )
        elif self.kappa is not None and self.kappa[1] <= 0:
            lines.append(
                "the judge agrees with people no better than chance may: it is not known to save "
                "any labels"
            )
        if not self.at_random:
            lines.append(
                "the tasks that people labelled are no random sample of all that were judged: "
                f"{self._mix()}; these numbers hold only if they were drawn at random within each "
                "verdict"
            )
        return lines

    def _mix(self) -> str:
        """How often the verdict whose share differs most is among the labelled tasks."""
        share = self.table["labels"] / self.found.labelled
        at = int((share - self.table["share_judged"]).abs().to_numpy().argmax())
        name = names([self.table["class"][at]], 1)
        all_tasks = percent(float(self.table["share_judged"][at]))
        return f"the judge calls {percent(float(share[at]))} of them {name}, of all {all_tasks}"

    def _rows(self) -> list[dict[Any, Any]]:
        """The table, row by row, with classes as they are: a Series would make 1 a 1.0."""
        return self.table.to_dict("records")

    def to_frame(self) -> pd.DataFrame:
        """Give one row a class."""
        return self.table

    def plot(self) -> Figure:
        """Draw rates with intervals, shares raw and corrected, and what labels of people buy."""
        from workbench.plots import judged

        found, most = self.found, max(self.needed.alone or 0, self.found.labelled, 40)
        many = np.unique(np.geomspace(10, 1.5 * most, POINTS).astype(int))
        there = many[many <= found.tasks]
        curves = (
            [(int(n), found.reach(found.weight * n)) for n in there],
            [(int(n), found.reach_alone(int(n))) for n in many],
        )
        return judged(self.table, curves, (found.labelled, REACH), title=self._title())

    def verdict(self) -> list[str]:
        """Say what share is truly of a class, how good the judge is, and how many labels do."""
        sentences = [self._shares(), self._agreement()]
        if len(self.classes) == 2:
            sentences.append(self._rates())
        sentences.append(self._labels())
        against = [f"Beware: {line}." for line in self.warnings[:1]]
        rests = (
            "All this holds if the tasks for people were drawn at random, among all judged tasks "
            "or among those of each verdict."
        )
        return [
            *sentences,
            *(against or [rests]),
            *self._next(),
        ]

    def _truth(self) -> str:
        """Whose labels are taken for true."""
        if isinstance(self.people, str):
            return "gold"
        many = len(self.people)
        return "one other worker" if many == 1 else f"the majority of {many} others"

    def _shares(self) -> str:
        """The true share of the second of two classes, or of the one that is corrected most."""
        table = self.table
        far = (table["share"] - table["share_judged"]).abs().where(table["true_labels"] > 0, 0.0)
        row = self._rows()[1 if len(table) == 2 else int(far.to_numpy().argmax())]
        text = (
            f"Of tasks like these {self.found.tasks} the judge calls "
            f"{percent(row['share_judged'], 3)} {names([row['class']], 1)}; corrected by "
            f"{self._truth()} on {counted(self.found.labelled, 'task')} it is "
            f"{percent(row['share'], 3)} (95 % interval {_ends(row, 'share')})"
        )
        if not self.at_random:
            return f"{text}."
        alone = f"{percent(row['share_people'], 3)} ({_ends(row, 'share_people')})"
        return f"{text}. These labels without the judge: {alone}."

    def _agreement(self) -> str:
        """How far the judge agrees with people, and people with one another."""
        same, many = int(np.trace(self.found.labels)), self.found.labelled
        text = f"{names([self.judge], 1)} agrees with {self._truth()} on {same} of {many} tasks"
        if self.kappa is None:
            return f"{text}; one class alone is named, and κ is not defined."
        value, low, high = self.kappa
        text += f"; Cohen's κ is {value:.2f} (95 % interval {low:.2f} to {high:.2f})."
        if self.kappas is not None:
            others, judge = self.kappas
            text += (
                f" Two of the others agree with each other by κ {others:.2f} in the mean, the "
                f"judge with one of them by {judge:.2f}."
            )
        return text

    def _rates(self) -> str:
        """Sensitivity and specificity."""
        no, yes = self._rows()
        parts = [
            f"{names([row['class']], 1)} is true it says so on {percent(row['rate'])} of tasks "
            f"({what}; {_ends(row, 'rate', 2)})"
            for row, what in ((yes, "sensitivity"), (no, "specificity"))
            if row["true_labels"]
        ]
        return f"Where {', where '.join(parts)}."

    def _labels(self) -> str:
        """How many labels of people bring five points."""
        needed, reach = self.needed, self._reach()
        known = f"The true share is known to ± {100 * reach:.2g} points"
        alone = "" if needed.alone is None else f"; without the judge {needed.alone}"
        if needed.at_random is None or needed.by_verdict is None:
            return (
                f"{known}; ± {100 * REACH:g} cannot be had from these "
                f"{self.found.tasks} tasks, even if people label all of them: let it judge "
                f"more{alone}."
            )
        by_verdict = sum(needed.by_verdict.values())
        each = ", ".join(f"{many} {names([name], 1)}" for name, many in needed.by_verdict.items())
        text = f"{known}; ± {100 * REACH:g} take people's labels of "
        text += f"{counted(needed.at_random, 'task')} drawn at random"
        if len(needed.by_verdict) <= NAMED and by_verdict < needed.at_random:
            text += f", or of {by_verdict} drawn by verdict ({each})"
        return f"{text}{alone}."

    def _reach(self) -> float:
        """Half the interval of the share that is known worst."""
        return float((self.table["share_high"] - self.table["share_low"]).max()) / 2.0

    def _next(self) -> list[str]:
        """What to do with such a judge."""
        steps = []
        if not self.relabel.empty:
            steps.append(
                "read the tasks on which they differ, and mend the judge's instructions or the "
                "labels"
            )
        if self._reach() > REACH:
            steps.append("have more tasks labelled by people, and check again")
        return [f"Next: {'; then '.join(steps or ['report the corrected share'])}."]

    def brief(self) -> str:
        """Lay out the classes, and the first tasks on which judge and people differ."""
        return "\n\n".join(filter(None, [self._classes(), self._differing(BRIEF)]))

    def _classes(self) -> str:
        rows = self.table.assign(
            said=self.table["share_judged"],
            true=[_whole(row, "share") for row in self._rows()],
            right=[_whole(row, "rate") for row in self._rows()],
            holds=[_whole(row, "precision") for row in self._rows()],
        )
        return listed(rows, COLUMNS, SHOWN, " classes")

    def _differing(self, most: int) -> str:
        if self.relabel.empty:
            return ""
        table = listed(self.relabel, DIFFER, most, " tasks")
        return f"Judge and people differ on {counted(len(self.relabel), 'task')}:\n{table}"

    def details(self) -> str:
        """Give the page of all that was looked at."""
        people = self.people if isinstance(self.people, str) else names(self.people, SHOWN)
        rows = [
            ("judge", f"{names([self.judge], 1)}, {counted(self.found.tasks, 'verdict')}"),
            ("taken for true", f"{people}, on {counted(self.found.labelled, 'task')}"),
            ("left out", f"{self.ties} ties of people, {self.unjudged} tasks without a verdict"),
            (
                "judged twice",
                f"{counted(self.repeated.pairs, 'task')}, {self.repeated.in_conflict} differ",
            ),
        ]
        warnings = [f"warning: {warning}" for warning in self.warnings] or ["no warnings"]
        return page(
            self._title(),
            "\n".join(warnings),
            facts(rows),
            self._classes(),
            self._counts(),
            self._differing(SHOWN),
            notes=[
                "true share: what people say of tasks of each verdict, weighted by how often the "
                "judge gives it; the interval is for tasks like these, by MOVER on Jeffreys's "
                "intervals",
                "right where it is true, and κ: of all judged tasks, not only of those that people "
                "labelled",
                "people's labels are taken for true; where people err, so does all this",
            ],
        )

    def _counts(self) -> str:
        """Verdicts by what people say."""
        if len(self.classes) > SHOWN:
            return ""
        heads = {f"people_{at}": (f"people: {name}", "") for at, name in enumerate(self.classes)}
        counts = pd.DataFrame(self.found.labels, columns=list(heads))
        counts.insert(0, "verdict", self.table["class"])
        return listed(counts, {"verdict": ("judge", ""), **heads}, SHOWN, " verdicts")

    def _title(self) -> str:
        return (
            f"{self.name}: {counted(self.found.tasks, 'verdict')} of {names([self.judge], 1)}, "
            f"beside {self._truth()} on {counted(self.found.labelled, 'task')}"
        )

    def _payload(self) -> dict[str, Any]:
        return {
            "warnings": self.warnings,
            "judge": self.judge,
            "people": self.people,
            "tasks": self.found.tasks,
            "tasks_labelled": self.found.labelled,
            "classes": self._rows(),
            "counts": self.found.labels,
            "kappa": None if self.kappa is None else self.kappa[0],
            "kappa_interval": None if self.kappa is None else self.kappa[1:],
            "kappa_of_others": None if self.kappas is None else self.kappas[0],
            "kappa_with_others": None if self.kappas is None else self.kappas[1],
            "needed": self.needed._asdict(),
            "at_random": self.at_random,
            "ties": self.ties,
            "unjudged": self.unjudged,
            "repeated": vars(self.repeated),
            "relabel": self.relabel.to_dict("records"),
        }


def check_judge(
    judge: str | int, votes: Votes, gold: IntArray | None, given: inputs.Given, seed: int
) -> JudgeCheck:
    """Hold a worker's labels against gold, or against the majority of the others.

    Parameters
    ----------
    votes
        Labels, of each pair the first.
    gold
        True class of each task, −1 where it is not known; None for the majority of the others.
    given
        The labels as they came.

    Raises
    ------
    InputError
        There is no such worker, or nobody else labelled a task that she labelled.
    """
    at = _place(judge, votes, given)
    mine = votes.worker == at
    verdict = np.full(len(votes.tasks), -1, dtype=np.int64)
    verdict[votes.task[mine]] = votes.label[mine]
    tied = np.zeros(len(verdict), dtype=np.bool_)
    people: str | list[Any] = "gold"
    if gold is None:
        gold, tied = _majority(votes, ~mine)
        people = given.workers.all_back(votes.workers[np.unique(votes.worker[~mine])])
    both = np.flatnonzero((verdict >= 0) & (gold >= 0))
    name = given.workers.back(votes.workers[at])
    if not len(both):
        raise InputError(
            f"judge {show(name)}: people labelled none of the tasks that it judged; give `gold`, "
            "or labels of others"
        )
    used = np.unique(np.concatenate([verdict[verdict >= 0], gold[both]]))
    place = np.full(len(votes.classes), -1)
    place[used] = np.arange(len(used))
    table = np.zeros((len(used), len(used)), dtype=np.int64)
    np.add.at(table, (place[verdict[both]], place[gold[both]]), 1)
    found = VerdictCounts(np.bincount(place[verdict[verdict >= 0]], minlength=len(used)), table)
    classes, at_random = given.classes.all_back(votes.classes[used]), _at_random(found)
    differ = both[verdict[both] != gold[both]]
    relabel = pd.DataFrame(
        {
            "task": votes.tasks[differ],
            "verdict": votes.classes[verdict[differ]],
            "people": votes.classes[gold[differ]],
        }
    )
    raw = given.table
    return JudgeCheck(
        name=given.name,
        judge=name,
        people=people,
        table=_table(found, classes, at_random),
        found=found,
        kappa=found.kappa(seed),
        kappas=_among(votes, at),
        needed=_needed(found, classes),
        relabel=given.classes.column(given.back(relabel), "verdict", "people"),
        at_random=at_random,
        ties=int((tied & (verdict >= 0)).sum()),
        unjudged=int(((verdict < 0) & (gold >= 0)).sum()),
        repeated=repeats(raw[raw["worker"] == votes.workers[at]]),
        classes=classes,
        given=given,
    )


def _place(judge: str | int, votes: Votes, given: inputs.Given) -> int:
    """Index of the judge among the workers."""
    there = [str(name) for name in votes.workers]
    text = as_text(judge)
    if text not in there:
        raise InputError(
            f"`judge`: no worker {show(text)} in {given.name}; {guess(text, there)}workers are "
            f"{names(there, NAMED)}"
        )
    return there.index(text)


def _majority(votes: Votes, rows: BoolArray) -> tuple[IntArray, BoolArray]:
    """Class that most of some votes name, −1 without one, and which tasks tie, shapes (n,)."""
    n, L = len(votes.tasks), max(len(votes.classes), 1)
    cell, count = np.unique(votes.task[rows] * L + votes.label[rows], return_counts=True)
    order = np.lexsort((-count, cell // L))
    cell, count = cell[order], count[order]
    task = cell // L
    first = np.flatnonzero(np.diff(task, prepend=-1))
    most, tied = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    next_ = np.minimum(first + 1, len(task) - 1)
    even = (next_ > first) & (task[next_] == task[first]) & (count[next_] == count[first])
    most[task[first]] = np.where(even, -1, cell[first] % L)
    tied[task[first]] = even
    return most, tied


def _at_random(found: VerdictCounts) -> bool:
    """Whether verdicts among the labelled tasks are as among all (χ²)."""
    from scipy.special import chdtrc

    there = found.verdicts > 0
    expected = found.labelled * found.weight[there]
    far = float(((found.labels.sum(axis=1)[there] - expected) ** 2 / expected).sum())
    return int(there.sum()) < 2 or float(chdtrc(int(there.sum()) - 1, far)) >= CHANCE


def _table(found: VerdictCounts, classes: list[Any], at_random: bool) -> pd.DataFrame:
    """The table; `JudgeCheck` tells the columns."""
    columns: dict[str, Any] = {
        "class": classes,
        "verdicts": found.verdicts,
        "labels": found.labels.sum(axis=1),
        "true_labels": found.labels.sum(axis=0),
        "share_judged": found.weight,
    }
    missing = np.full(len(classes), np.nan)
    alone = found.shares_of_people() if at_random else Ranged(missing, missing, missing)
    for name, ranged in (
        ("share", found.shares()),
        ("share_people", alone),
        ("rate", found.rates()),
        ("precision", found.precisions()),
    ):
        columns |= {name: ranged.value, f"{name}_low": ranged.low, f"{name}_high": ranged.high}
    return pd.DataFrame(columns)


def _among(votes: Votes, judge: int) -> tuple[float, float] | None:
    """Mean κ of two others, and of the judge and one of them; None without either."""
    pairs = pair_kappas(votes)
    with_judge = (pairs.first == judge) | (pairs.second == judge)
    defined = np.isfinite(pairs.kappa)
    others, own = (pairs.kappa[of & defined] for of in (~with_judge, with_judge))
    return (float(others.mean()), float(own.mean())) if len(others) and len(own) else None


def _needed(found: VerdictCounts, classes: list[Any]) -> LabelsNeeded:
    """Labels for ± `REACH`."""
    total = found.needed(REACH, by_verdict=True)
    drawn = None
    if total is not None:
        many = np.ceil(found.allotted(total) - 1e-9).astype(int)
        drawn = {
            name: int(k)
            for name, k, there in zip(classes, many, found.verdicts, strict=True)
            if there
        }
    return LabelsNeeded(found.needed(REACH), drawn, found.needed_alone(REACH))


def _ends(row: dict[Any, Any], what: str, digits: int = 3) -> str:
    """An interval in percent."""
    low, high = (percent(float(row[f"{what}_{end}"]), digits) for end in ("low", "high"))
    return f"{low} to {high}"


def _whole(row: dict[Any, Any], what: str) -> str:
    """A share and its interval, two digits each; a dash where nothing is known of it."""
    value, low, high = (float(row[f"{what}{end}"]) for end in ("", "_low", "_high"))
    return "–" if np.isnan(value) else f"{value:.2f} ({low:.2f}–{high:.2f})"
