"""What stands against labels: objections in a sentence and in a few words, the gravest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from workbench.accuracy.independence import NEARLY_ALL, Dependence
from workbench.accuracy.kappas import Kappas
from workbench.accuracy.krippendorff import Agreement
from workbench.api import inputs
from workbench.api.result import names, percent
from workbench.base.text import counted
from workbench.crowd.label_checks import Repeats, abstentions

NAMED = 8
"""Workers or classes that are named in a line."""
PER_CLASS = 10
"""Tasks for each class, below which there are many classes; two never are."""
HALF = 0.5
"""Share of the labels from which on abstentions come first."""


class Objection(NamedTuple):
    """What stands against labels: in a few words, and in a sentence without its stop."""

    brief: str
    text: str


ONE = "--fold joins what differs in case or blanks alone; write others alike"
"""What to do about names that are alike."""


@dataclass(frozen=True, eq=False, repr=False)
class Looked:
    """What was seen of labels; `LabelCheck` describes the attributes."""

    table: pd.DataFrame
    found: Dependence
    workers: list[Any]
    classes: list[Any]
    class_labels: dict[str, int]
    alike: list[tuple[str, ...]]
    rated: bool
    opposed: list[tuple[int, int, int]]
    agreement: Agreement
    kappas: Kappas
    numbers: tuple[float, float] | None
    prevalence: dict[str, float]
    repeated: Repeats
    counts: dict[str, int]
    given: inputs.Given

    @property
    def effective_workers(self) -> float:
        """Independent workers that a task's answers are worth."""
        return self.found.overall.effective()

    @property
    def groups(self) -> list[list[Any]]:
        """Workers who err together, as copies or one model do: groups of two or more."""
        return [self.named(group) for group in self.found.groups]

    @cached_property
    def objections(self) -> list[Objection]:
        """What stands against taking the labels at their word, the gravest first."""
        return _objections(self)

    def named(self, workers: Iterable[int]) -> list[Any]:
        """Give names of workers by index."""
        return self.given.workers.all_back(self.workers[at] for at in workers)


def _objections(check: Looked) -> list[Objection]:
    """List what stands against taking labels at their word, the gravest first."""
    none = _of_abstentions(check)
    first = bool(none) and _share(check, abstentions(check.class_labels)) >= HALF
    return [
        *(none if first else ()),
        *_of_agreement(check),
        *(() if first else none),
        *_of_dependence(check),
        *_of_workers(check),
        *_of_many_classes(check),
        *_of_ratings(check),
        *_of_spelling(check),
    ]


def _share(check: Looked, classes: list[str]) -> float:
    """Share of the labels that are of some classes."""
    counts = check.class_labels
    return sum(counts[name] for name in classes) / max(sum(counts.values()), 1)


def _of_abstentions(check: Looked) -> list[Objection]:
    """Whether classes read as no answer."""
    mute = abstentions(check.class_labels)
    if not mute:
        return []
    share = percent(_share(check, mute))
    return [
        Objection(
            f"{share} abstentions",
            f"{share} of the labels read as no answer ({names(mute, NAMED)}), which is counted as "
            f"a class here: leave them out, with --skip {','.join(mute)}, and check again",
        )
    ]


def _of_agreement(check: Looked) -> list[Objection]:
    """Whether labels of a task agree beyond chance, where any can."""
    found = check.agreement
    if not found.tasks:
        text = (
            "no task has two labels, so that none can be compared and α is not defined: only gold "
            "tells who is right"
        )
        return [Objection("nothing to compare", text)]
    if found.alpha is None or found.low is None or found.high is None:
        only = next(iter(names([k], 1) for k, v in check.class_labels.items() if v))
        return [
            Objection(
                "one class alone",
                f"all labels are {only}: agreement on that tells nothing, and α is not defined",
            )
        ]
    by_order = check.rated and found.ordinal is not None and found.ordinal.low > 0
    if by_order:
        return []
    if found.high < 0:
        return [
            Objection(
                "labels contradict each other",
                "labels of a task agree less than by chance: workers have the classes different "
                "ways round, or do not answer the same question",
            )
        ]
    if found.low <= 0:
        tasks = counted(found.tasks, "task")
        return [
            Objection(
                "labels agree no better than chance",
                f"labels agree no better than chance on {tasks} with two labels or more: they may "
                "be guesses, and so may their majority",
            )
        ]
    return []


def _of_dependence(check: Looked) -> list[Objection]:
    """Whether errors go together, of all or of some."""
    overall, lines = check.found.overall, []
    if overall.shown:
        lines.append(
            Objection(
                "errors go together",
                f"errors go together (mean correlation {overall.correlation:.2f} of two of all "
                "workers): "
                f"{overall.answers:.1f} answers to a task are worth {check.effective_workers:.1f} "
                "independent ones, and predictions and bounds that rest on independence are too "
                f"good; on {percent(overall.hard, 3)} of the gold tasks at least "
                f"{percent(NEARLY_ALL)} of the answers are wrong, where independence expects "
                f"{percent(overall.hard_expected, 3)}",
            )
        )
    lines += [
        Objection(
            "workers who copy",
            f"workers {names(group, NAMED)} name the same wrong classes far beyond chance: they "
            "copy, or are one model; count them as one",
        )
        if copying
        else Objection(
            "workers who err together",
            f"workers {names(group, NAMED)} err on the same tasks far beyond difficulty: "
            "their labels count for less than so many",
        )
        for group, copying in zip(check.groups, check.found.copying, strict=True)
    ]
    loose = [
        pair
        for pair in check.found.pairs
        if not any({pair.first, pair.second} <= set(group) for group in check.found.groups)
    ]
    if loose:
        first = names(check.named((loose[0].first, loose[0].second)), 2)
        lines.append(
            Objection(
                "pairs who err together",
                f"err together more than most: {counted(len(loose), 'pair')} of workers, the "
                f"clearest {first} (correlation {loose[0].correlation:.2f})",
            )
        )
    return lines


def _of_workers(check: Looked) -> list[Objection]:
    """Who answers against gold or the others, or always alike."""
    table, lines = check.table, []
    below = table.loc[table["below_chance"], "worker"].tolist()
    if below:
        lines.append(
            Objection(
                f"below chance: {names(below, NAMED)}",
                f"below chance, beyond doubt: {names(below, NAMED)}; they have the classes the "
                "wrong way round, or answer against the question",
            )
        )
    for one, other, tasks in check.opposed:
        pair = " and ".join(names([worker], 1) for worker in check.named((one, other)))
        lines.append(
            Objection(
                f"{pair} contradict each other",
                f"{pair} contradict each other on every one of the {tasks} tasks that they share: "
                "one has the classes the wrong way round, or answers another question",
            )
        )
    named = {worker for one, other, _ in check.opposed for worker in (one, other)}
    named = {check.workers[at] for at in named}.union(below)
    against = [w for w in table.loc[table["below_others"], "worker"] if w not in named]
    if against:
        lines.append(
            Objection(
                f"against the others: {names(against, NAMED)}",
                "agree with the others less than by chance, beyond doubt: "
                f"{names(against, NAMED)}; they have the classes the wrong way round, or answer "
                "another question",
            )
        )
    same = table.loc[table["constant"], "worker"].tolist()
    if same:
        lines.append(
            Objection(
                f"constant: {names(same, NAMED)}",
                f"constant, beyond chance: {names(same, NAMED)}; each gives one class always, "
                "where the others do not on the same tasks: such labels tell nothing",
            )
        )
    return lines


def _of_many_classes(check: Looked) -> list[Objection]:
    """Whether there are too many classes to learn of each."""
    many, tasks = len(check.classes), check.counts["tasks"]
    if many > 2 and many * PER_CLASS > tasks:
        return [
            Objection(
                f"{many} classes",
                f"{many} classes are many for {tasks} tasks: where labels are free text, code them "
                "as a few classes; else too few tasks of each are there to learn from",
            )
        ]
    return []


def _of_ratings(check: Looked) -> list[Objection]:
    """Whether classes read as numbers of which a vote is not the best to be made."""
    if not check.rated:
        return []
    return [
        Objection(
            "classes read as ratings",
            "classes read as ratings on a scale: take the median or the mean of a task's labels, "
            "for their majority often errs by a step; ordinal and interval α count a step as less "
            "than the whole scale",
        )
    ]


def _of_spelling(check: Looked) -> list[Objection]:
    """What is written twice, or in two ways."""
    lines = []
    if check.repeated.pairs:
        pairs = check.repeated.pairs
        lines.append(
            Objection(
                f"{counted(pairs, 'pair')} labelled more than once",
                f"{counted(pairs, 'pair')} of task and worker labelled more than once, "
                f"{check.repeated.in_conflict} in conflict; the first label counts here",
            )
        )
    lines += [
        Objection(
            f"classes alike, which --fold may join: {names(group, NAMED)}",
            f"classes {names(group, NAMED)} are most likely one: {ONE}",
        )
        for group in check.alike
    ]
    return lines
