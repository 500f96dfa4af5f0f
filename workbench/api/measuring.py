"""A vote's error measured on a user's gold: sentences, lines, warnings, and keys of results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.accuracy.independence import ErrorCorrelation
from workbench.accuracy.measured import Difference, MajorityError, MeasuredError, difference
from workbench.api.costs import amount, measured_payload, measured_sentence
from workbench.api.result import ALIKE, errs, facts, percent, points
from workbench.base.text import rounded
from workbench.crowd.loss import MeasuredCost

if TYPE_CHECKING:
    import pandas as pd

    from workbench.plots.measured import Measured

KEYS = ("error_measured", "error_interval", "error_independent", "tasks_measured", "blank")
SELDOM = 0.5
"""Share of control tasks that meet a plan's requirement, below which there is a warning."""
FEW = 10
"""Measured control tasks, below which a verdict gives the interval alone."""
EVERYBODYS = "everybody's majority"
RARE = 0.5
"""Of an even share: the least frequent class is called rare below it."""


@dataclass(frozen=True)
class RareClass:
    """How many tasks of the least frequent class are found.

    Attributes
    ----------
    name
        The class.
    tasks
        Control tasks of it.
    found, majority
        Expected number of them that the vote, and everybody's majority, name so.
    """

    name: Any
    tasks: int
    found: float
    majority: float | None

    def sentence(self) -> str:
        """Say how many are found."""
        beside = (
            "" if self.majority is None else f"; everybody's majority finds {self.majority:.3g}"
        )
        one = self.tasks == 1
        return (
            f"Of the {self.tasks} gold task{'' if one else 's'} that {'is' if one else 'are'} "
            f"{self.name!s}, it finds {self.found:.3g}{beside}."
        )


def rare_class(
    truth: pd.Series[Any],
    classes: int,
    measured: MeasuredError,
    majority: MajorityError | None = None,
) -> RareClass | None:
    """Look how many control tasks of a rare class a vote finds.

    Parameters
    ----------
    truth
        Class of each control task that was counted, in the order of `measured.counted`.
    classes
        L.

    Returns
    -------
    None where no class is rarer than half of an even share.
    """
    shares = truth.value_counts()
    if shares.empty or shares.iloc[-1] >= RARE * len(truth) / max(len(shares), classes):
        return None
    here = (truth == shares.index[-1]).to_numpy()
    beside = None
    if majority is not None:
        ordered = here[np.argsort(measured.counted)]
        beside = float((1.0 - majority.loss[ordered]).sum())
    found = float((1.0 - measured.loss[here]).sum())
    return RareClass(shares.index[-1], int(here.sum()), found, beside)


@dataclass(frozen=True, eq=False)
class GoldError:
    """The error of a vote, measured on gold, and how far its workers err independently.

    Attributes
    ----------
    measured
        Error and interval.
    correlation
        How the voters' errors go together; None where nobody looked.
    workers
        Labels a task, in the mean.
    how
        How the control tasks were labelled.
    majority
        A majority on the same control tasks; None where none stands beside it.
    whose
        Whose majority it is.
    rare
        How many of a rare class are found; None where none is rare.
    costs
        What the answers cost, where it is said what errors cost; None elsewhere.
    """

    measured: MeasuredError
    correlation: ErrorCorrelation | None
    workers: float
    how: str
    majority: MajorityError | None = None
    whose: str = EVERYBODYS
    rare: RareClass | None = None
    costs: MeasuredCost | None = None

    @property
    def worse(self) -> bool:
        """Whether it errs on more of the control tasks than the majority beside it does."""
        if self.majority is None or not self.measured.tasks_measured:
            return False
        if self.costs is not None and self.costs.beside is not None:
            return self.costs.outcome.cost - self.costs.beside >= ALIKE
        return difference(self.measured, self.majority).more >= ALIKE

    def drawn(self, *, cost: bool = False) -> Measured | None:
        """Give what a picture draws, in the words of the verdict; None where nothing was counted.

        Parameters
        ----------
        cost
            What the answers cost in place of how often they are wrong, where it is known.
        """
        from workbench.plots.measured import Measured

        found, beside = self.measured, self.majority
        write: Callable[[float], str] = percent
        if found.error_measured is None:
            return None
        error, (low, high) = found.error_measured, found.error_interval
        majority = None if beside is None else beside.error
        if cost and self.costs is not None:
            error, (low, high), write = self.costs.outcome.cost, self.costs.interval, amount
            majority = self.costs.beside
        within = f"{write(low)} to {write(high)}"
        said = {"measured": f"{write(error)} ({within})"}
        if found.tasks_measured < FEW:
            said["measured"] = within
        if majority is not None:
            said["majority"] = write(majority) if write is amount else percent(majority, 3)
        return Measured(error, low, high, majority, said)

    @property
    def effective_workers(self) -> float | None:
        """Independent workers that the voters are worth; None where nobody looked."""
        return None if self.correlation is None else self.correlation.effective(self.workers)

    def lines(self, indent: str = "") -> str:
        """What was measured first, what follows from independence second."""
        error = self.measured
        if error.error_measured is None:
            return ""
        low, high = error.error_interval
        left = "any number of tasks" if error.tasks_left is None else f"{error.tasks_left} tasks"
        sure = percent(error.confidence)
        rows = [
            (
                "error, measured on your gold",
                f"{error.error_measured:.3g} ({sure} interval for {left}: {low:.3g} to {high:.3g}; "
                f"{_counted(error)} of {error.tasks_measured} control tasks, {self.how})",
            ),
        ]
        if self.majority is not None:
            rows.append(
                (
                    self.whose,
                    f"{self.majority.error:.3g} on the same tasks, with {self.majority.labels:.3g} "
                    "labels a task",
                )
            )
        if self.costs is not None:
            low, high = self.costs.interval
            interval = f"90 % interval {amount(low)} to {amount(high)}"
            rows.append(("cost, measured", f"{amount(self.costs.outcome.cost)} ({interval})"))
        if error.error_independent is not None:
            where = "" if error.met is None else ", with the labels of the control tasks"
            independent = f"{error.error_independent:.3g}{where}"
            rows.append(("if errors were independent", independent))
        if error.met is not None:
            rows.append(("requirement met", f"on {percent(error.met, 3)} of the control tasks"))
        return facts(rows, indent=indent)

    def verdict(self, subject_is: str, labels: float | None = None) -> list[str]:
        """Say how wrong answers are, and everybody's majority on the same tasks.

        Parameters
        ----------
        subject_is
            Who or what answers, with its verb: "their vote is".
        labels
            Labels a task of this vote, to compare with everybody's.
        """
        error = self.measured
        if self.costs is not None:
            how = f", {self.how}" if self.how else ""
            return [measured_sentence(self.costs, how, self.whose)]
        if not error.tasks_measured:
            return [f"No gold task has a label: how often {subject_is} wrong, nobody knows."]
        blank = " or missing" if error.blank else ""
        subject = subject_is[0].upper() + subject_is[1:]
        found = "" if self.rare is None else f" {self.rare.sentence()}"
        sentences = [f"{subject} wrong{blank} on {self.share(' of tasks')}.{found}"]
        # A majority of less than a label a task has hardly an answer: no rival.
        if self.majority is not None and self.majority.labels >= 1.0:
            beside = (
                f"{self.whose[0].upper()}{self.whose[1:]} is wrong on "
                f"{percent(self.majority.error, 3)} of the same tasks, with "
                f"{rounded(self.majority.labels, 'label')} a task"
            )
            alike = labels is None or f"{labels:.3g}" == f"{self.majority.labels:.3g}"
            takes = ""
            if labels is not None and not alike:
                takes = f" takes {rounded(labels, 'label')} a task, and"
            words = in_words(difference(error, self.majority))
            sentences.append(f"{beside}: this{takes} {words}.")
        return sentences

    def share(self, of: str = "") -> str:
        """Write the share of wrong answers with interval and n: "4 %, measured (… of 50 …)".

        Parameters
        ----------
        of
            What stands behind the share.
        """
        error = self.measured
        low, high = map(percent, error.error_interval)
        interval = f"{percent(error.confidence)} interval"
        shared = "" if float(error.wrong).is_integer() else ", ties by their share"
        how = f", {self.how}" if self.how else ""
        counted = f"{_counted(error)} of {error.tasks_measured} gold tasks{shared}{how}"
        if error.tasks_measured < FEW:
            few = "too few tasks for a single figure"
            return f"{low} to {high}{of}, measured ({interval}; {few}: {counted})"
        share = percent(error.error_measured)
        return f"{share}{of}, measured ({interval} {low} to {high}; {counted})"

    @property
    def thin(self) -> bool:
        """Whether the gold has too few labels a task to speak for or against a plan."""
        return self.measured.met is not None and self.measured.met < SELDOM

    def misses(self, epsilon: float) -> bool:
        """Whether gold that can tell puts all of the interval above the error or cost asked for."""
        if self.thin:
            return False
        if self.costs is not None:
            return self.costs.interval[0] > epsilon
        return self.measured.tasks_measured > 0 and self.measured.error_interval[0] > epsilon

    def together(self) -> list[str]:
        """Say that errors go together, where they do."""
        if self.correlation is None or not self.correlation.shown:
            return []
        return [
            f"The voters' errors go together: {self.workers:.3g} of them are worth "
            f"{self.effective_workers:.2g} independent workers, and more of their kind add little."
        ]

    def cautions(self) -> list[str]:
        """Warn where a promise rests on independence, and where few tasks could show it."""
        cautions = []
        if self.thin:
            cautions.append(
                f"warning: those who labelled the control tasks meet the plan's requirement on "
                f"{percent(self.measured.met, 3)} of them: the error measured is that of fewer "
                "labels, and may be too high"
            )
        if self.correlation is not None and self.correlation.shown:
            instead = "; go by the error measured" if self.measured.tasks_measured else ""
            cautions.append(
                f"warning: errors of these workers go together on your gold (mean correlation "
                f"{self.correlation.correlation:.2f} of two of them, given the class; that of all "
                f"workers is in check): the {self.workers:.3g} voters of a task are worth "
                f"{self.effective_workers:.1f} independent ones, and bounds and expected errors, "
                f"which take them for independent, are too good{instead}"
            )
        return cautions

    def payload(self) -> dict[str, Any]:
        """Give the keys of a result's dictionary."""
        measured = {key: getattr(self.measured, key) for key in KEYS}
        majority = self.majority
        more = None if majority is None else difference(self.measured, majority)
        return {
            **measured,
            "error_majority": None if majority is None else majority.error,
            "labels_majority": None if majority is None else majority.labels,
            "error_more": None if more is None else more.more,
            "error_more_interval": None if more is None else (more.low, more.high),
            "effective_workers": self.effective_workers,
            "rare_class": None if self.rare is None else vars(self.rare),
            **({} if self.costs is None else {"cost_measured": measured_payload(self.costs)}),
        }


def _counted(error: MeasuredError) -> str:
    """How many control tasks have a wrong answer, and how many none."""
    if not error.blank:
        return f"{error.wrong:.4g} wrong"
    return f"{error.wrong - error.blank:.4g} wrong and {error.blank} without an answer"


def in_words(found: Difference) -> str:
    """Say by how many points something errs more or less, and what chance allows."""
    if abs(found.more) < ALIKE:
        return errs(found.more)
    chance = ""
    if found.beyond_chance:
        chance = ", more than chance explains"
    elif found.low < 0.0 < found.high:
        chance = ", which may be chance"
    return f"{errs(found.more)} (90 % interval {_between(found.low, found.high)}){chance}"


def _between(low: float, high: float) -> str:
    """Write the ends of a difference, the nearer to 0 first: "1 to 9 points less"."""
    near, far = sorted((low, high), key=abs)
    if low < 0.0 < high:
        return f"{points(low)} to {points(high)}"
    return f"{100 * abs(near):.2g} to {points(far)}"


def payload_of(error: GoldError | None) -> dict[str, Any]:
    """Give the keys, with nothing in them where nothing was measured."""
    if error is not None:
        return error.payload()
    beside = ("error_majority", "labels_majority", "error_more", "error_more_interval")
    none = dict.fromkeys((*KEYS, *beside, "effective_workers", "rare_class"))
    return {**none, "tasks_measured": 0, "blank": 0}
