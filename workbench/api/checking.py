"""`check`: what has to be known of labels before anything is built on them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, cast, overload

import numpy as np
import pandas as pd

from workbench.accuracy.agreement import beside_others
from workbench.accuracy.independence import LEVEL, SHARED, dependence
from workbench.accuracy.kappas import kappas
from workbench.accuracy.krippendorff import agreement
from workbench.accuracy.measured import (
    MeasuredError,
    count_errors,
    expected_radius,
    least_rmse,
)
from workbench.aggregation.posteriors import LARGEST
from workbench.api import inputs
from workbench.api.agreeing import agreeing, coefficients, cohen, numbers, rated
from workbench.api.check_tables import (
    leading_shares,
    opposed,
    rate_table,
    relabel_table,
    worker_table,
    wrong_shares,
)
from workbench.api.costs import gold_by_class
from workbench.api.judging import JudgeCheck, check_judge
from workbench.api.measuring import RARE, GoldError
from workbench.api.objections import NAMED, Looked
from workbench.api.result import Figure, Result, facts, listed, names, page, percent, picked
from workbench.api.set_checks import SetCheck, check_sets
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.text import Columns, counted, rounded
from workbench.crowd.gold_rule import gold_codes, majority_loss
from workbench.crowd.kinds import Classes, LabelSets, Scale
from workbench.crowd.label_checks import classes_alike, repeats
from workbench.crowd.votes import Votes

SHOWN = 30
"""Workers, tasks or pairs that are printed among the details."""
RATED = 8
"""Classes of which workers' rates are printed."""
ALSO = 3
"""Objections that are named beside the gravest."""
BRIEF, AGAIN = 10, 5
"""Workers, and tasks to look at again, below the verdict."""
MOST_GOLD = 0.5
"""Share of the tasks up to which more control tasks are spoken of: beyond it so few are left that
their own error is less and less known."""
TOGETHER = "errors go together"
"""The objection that a sentence of its own says."""
NO_GOLD = (
    "no gold: who is right, and whether workers err independently, is not known; give the true "
    "labels of some tasks by `gold`, a table task, gold"
)
REMARKS = {
    "below_chance": "below chance",
    "below_others": "against the others",
    "constant": "constant",
}
"""What is remarked of a worker, by the column that marks it."""
COLUMNS: Columns = {
    "worker": ("worker", ""),
    "labels": ("labels", ""),
    "agrees": ("agrees", ".3f"),
    "answered": ("gold answers", ""),
    "correct": ("correct", ""),
    "skill": ("skill", ".3f"),
    "low": ("95 % from", ".3f"),
    "high": ("to", ".3f"),
    "kappa": ("κ", ".2f"),
    "sensitivity": ("sensitivity", ".2f"),
    "specificity": ("specificity", ".2f"),
    "remark": ("", ""),
}
"""What is printed of each worker."""
TASKS: Columns = {
    "task": ("task", ""),
    "labels": ("labels", ""),
    "answers": ("answers", ""),
    "gold": ("gold", ""),
    "why": ("", ""),
}
"""What is printed of a task to look at again."""


@dataclass(frozen=True, eq=False, repr=False)
class LabelCheck(Looked, Result):
    """What is odd about labels, and how far their workers err independently.

    Attributes
    ----------
    name, seed
        What the labels are called; the seed of the simulated crowds.
    table
        One row a worker, those to look at first before the others (`api.check_tables`): `worker,
        labels, agrees, answered, correct, skill, low, high, kappa, below_chance, below_others,
        constant, group`. Agrees is the mean share of the others' labels of her tasks that are as
        hers, skill the share of right gold answers, low and high its exact (Clopper–Pearson) 95 %
        interval, kappa Cohen's κ of her and gold; below chance is who agrees with gold, below
        others who agrees with them less than by chance, constant who always gives one class where
        others would not have; group numbers those who err together, from 1. Of two classes
        `sensitivity` and `specificity` as well, right on the gold of the second and of the first
        class, with the ends of their intervals, and `prevalence`, the second's share of her gold.
    rates
        Right answers by worker and true class: `worker, class, gold_answers, right, rate, low,
        high`.
    relabel
        Tasks to look at again, least sure first: `task, labels, answers, gold, ahead, why`. One
        label more could turn them, or most labels speak against the gold; ahead is by how many
        labels the first class, or the gold, leads.
    kappas
        Fleiss' κ, Gwet's AC1, and Cohen's κ of pairs of workers, by index in `workers`.
    numbers
        The lowest and the highest number, where the classes are more than two numbers, or places
        in an order; else None.
    prevalence
        Share of each class in the gold.
    found
        How errors go together (`accuracy.independence.Dependence`), workers by index in `workers`.
    workers
        Names of the workers, by index.
    classes, class_labels, alike
        Names of the classes; how many labels are of each; groups of classes that are most likely
        one.
    rated
        Whether the classes read as ratings.
    opposed
        Pairs of workers, by index, who contradict each other on all of so many tasks.
    seen
        Workers who labelled enough shared tasks to be seen if they answered against the others.
    usual
        The commonest class of the gold, and its share; None without gold.
    wrong
        Share of wrong answers on each gold task, shape (k,).
    leading
        Share of the labels that are of its commonest class, of each task of two or more.
    majority
        How often a majority vote errs on the gold tasks, ties by their share.
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
    seen: int
    usual: tuple[str, float] | None
    wrong: FloatArray
    leading: FloatArray
    majority: MeasuredError
    rates: pd.DataFrame
    relabel: pd.DataFrame
    pictured = True

    @property
    def warnings(self) -> list[str]:
        """What stands against taking the labels at their word, one sentence each."""
        return [each.text for each in self.objections]

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
        return (self.majority.wrong + 0.5) / (self.majority.tasks_measured + 1.0)

    def to_frame(self) -> pd.DataFrame:
        """Give one row a worker."""
        return self.given.back(self.table)

    def plot(self) -> Figure:
        """Draw skills, the difficulty of tasks and who errs together; without gold agreement."""
        from workbench.plots import agreed, checked

        title = f"{self._title()}; {agreeing(self)}"
        if self.majority.tasks_measured:
            guess = None if self.usual is None else self.usual[1]
            return checked(self.table, self.wrong, self.found, guess=guess, title=title)
        many = np.array(list(self.class_labels.values()), dtype=np.float64)
        chance = float((many * (many - 1)).sum() / max(many.sum() * (many.sum() - 1), 1))
        pairwise = self.agreement.pairwise
        return agreed(self.table, self.leading, pairwise, chance, title=title)

    def verdict(self) -> list[str]:
        """Say how far the crowd can be trusted, what stands against it, and what to do."""
        counts, workers = self.counts, len(self.workers)
        if self.majority.tasks_measured:
            wrong = GoldError(self.majority, None, np.nan, "").share(" of tasks")
            sentences = [
                f"{self._in_short()}: everybody's majority is wrong on {wrong}, with "
                f"{rounded(counts['labels'] / max(counts['tasks'], 1), 'label')} a task.",
                self._carried(),
            ]
            if self.found.overall.shown:
                sentences.append(
                    f"Errors go together: the {self.found.overall.answers:.2g} labels of a task "
                    f"are worth {self.effective_workers:.2g} from independent workers."
                )
        else:
            sentences = [
                f"Without gold nobody knows how often the majority of these {workers} workers is "
                "wrong: they may agree on errors.",
            ]
        if self.agreement.pairs:
            sentences.append(f"{agreeing(self)}.")
        return [*sentences, self._against(), *self._next()]

    def _against(self) -> str:
        """Say what stands against the labels: the gravest, and what else; or what was looked at."""
        shown = self.majority.tasks_measured and self.found.overall.shown
        left = [each for each in self.objections if not (shown and each.brief == TOGETHER)]
        if left:
            also = [each.brief for each in left[1:]]
            more = f"; and {len(also) - ALSO} more" if len(also) > ALSO else ""
            rest = f" Also: {'; '.join(also[:ALSO])}{more} (--details)." if also else ""
            return f"Beware: {left[0].text}.{rest}"
        looked = [
            f"agreement on {counted(self.agreement.tasks, 'task')}",
            f"of {self.seen} of {counted(len(self.workers), 'worker')} with the others",
            "constant workers, repeated pairs and names of classes",
        ]
        if not self.majority.tasks_measured:
            return f"No warning from what can be seen: {'; '.join(looked)}."
        looked.append(f"errors on {counted(self.majority.tasks_measured, 'gold task')}")
        return f"No{' further' if shown else ''} warning; looked at were {'; '.join(looked)}."

    def _in_short(self) -> str:
        """Whether the majority tells more than a guess, in a few words."""
        assert self.usual is not None
        low, high = self.majority.error_interval
        guess = 1.0 - self.usual[1]
        if high < guess:
            return "These labels tell more than a guess"
        if low > guess:
            return "These labels tell less than a guess"
        return "Your gold does not show that these labels tell more than a guess"

    def _carried(self) -> str:
        """How many workers beat a guess by their gold answers: that of the commonest class."""
        assert self.usual is not None
        name, guess = self.usual
        better = int((self.table["low"] > guess).sum())
        worse = int((self.table["high"] < guess).sum())
        rest = len(self.workers) - better - worse
        return (
            f"Always answering {names([name], 1)} is right on {percent(guess)} of your gold: of "
            f"{counted(len(self.workers), 'worker')} {better} {'beats' if better == 1 else 'beat'} "
            f"that by the 95 % interval of their skill, {worse} "
            f"{'falls' if worse == 1 else 'fall'} below it, and {rest} cannot be judged."
        )

    def _next(self) -> list[str]:
        """What to do with such labels, and before the next."""
        if not self.majority.tasks_measured:
            return [
                "Next, for the labels in hand: answer twenty tasks or more yourself, and give them "
                "as gold, here and to 'workbench aggregate'.",
                "Next, for a next batch: with such gold 'workbench hire' names whom to ask.",
            ]
        return [
            *self._few_of_a_class(),
            "Next, for the labels in hand: 'workbench aggregate' answers the tasks, and measures "
            "its error.",
            "Next, for a next batch: 'workbench hire' names a few workers whose vote errs least "
            "for its price.",
        ]

    def _few_of_a_class(self) -> list[str]:
        """Advise to draw gold by class, where a rare class has few tasks of it."""
        found = {name: share for name, share in self.prevalence.items() if share > 0}
        if min(found.values()) >= RARE / max(len(found), 2):
            return []
        gold = self.counts["gold_tasks"]
        advice = gold_by_class({name: round(share * gold) for name, share in found.items()})
        return [] if advice is None else [advice]

    def brief(self) -> str:
        """Lay out the workers and the tasks to look at first."""
        keys = ["worker", "labels", "agrees"]
        if self.counts["gold_tasks"]:
            keys = ["worker", "labels", "answered", "correct", "skill", "kappa"]
            keys += [key for key in ("sensitivity", "specificity") if key in self.table]
        frame = self.table.assign(remark=self._remarks())
        columns = {key: COLUMNS[key] for key in [*keys, "remark"]}
        workers = listed(frame, columns, BRIEF, " workers")
        workers = f"Workers, by what to look at first:\n{workers}{self._legend()}"
        return "\n\n".join(filter(None, [workers, self._again(AGAIN)]))

    def _legend(self) -> str:
        """Say which class sensitivity is of."""
        if not self.counts["gold_tasks"] or "sensitivity" not in self.table:
            return ""
        no, yes = (names([name], 1) for name in self.classes)
        return f"\n(sensitivity: right where {yes} is true; specificity: right where {no} is)"

    def _again(self, most: int) -> str:
        """Lay out the first tasks to look at again."""
        if self.relabel.empty:
            return ""
        why = self.relabel["why"].value_counts(sort=False)
        kinds = ", ".join(f"{kind}: {many}" for kind, many in why.items())
        columns = {key: TASKS[key] for key in TASKS if key != "gold" or self.counts["gold_tasks"]}
        table = listed(self.relabel, columns, most, " tasks")
        many = counted(len(self.relabel), "task")
        return f"To look at again, least sure first, {many} ({kinds}):\n{table}"

    def details(self) -> str:
        """Give the page of all that was looked at."""
        overall = self.found.overall
        worth = f"{self.effective_workers:.1f} of {overall.answers:.1f} answers a task"
        correlation = f"{overall.correlation:.3f} in the mean of two of all workers (p "
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
            *coefficients(self),
            ("control tasks", self._worth()),
            ("labelled twice", f"{self.repeated.pairs} pairs, {self.repeated.in_conflict} differ"),
            ("classes", names(self.classes, NAMED)),
        ]
        frame, columns = self.table.assign(remark=self._remarks()), COLUMNS
        if not self.counts["gold_tasks"]:
            columns = {key: COLUMNS[key] for key in ("worker", "labels", "agrees", "remark")}
        columns = {key: form for key, form in columns.items() if key in frame}
        warnings = [f"warning: {warning}" for warning in self.warnings] or ["no warnings"]
        return page(
            self._title(),
            "\n".join(warnings),
            facts(rows),
            listed(frame, columns, SHOWN, " workers"),
            self._by_class(),
            self._again(SHOWN),
            notes=[
                "agrees: the share of others' labels of the same tasks that are alike",
                *(self._judged() if self.counts["gold_tasks"] else (NO_GOLD,)),
            ],
        )

    def _by_class(self) -> str:
        """Lay out how often the first workers are right where each class is true."""
        if self.rates.empty or len(self.classes) > RATED:
            return ""
        rows: dict[Any, dict[str, Any]] = {}
        for worker, label, _, _, rate, low, high in self.rates.itertuples(index=False):
            rows.setdefault(worker, {"worker": worker})
            rows[worker][f"right on {label}"] = f"{rate:.2f} ({low:.2f}–{high:.2f})"
        wide = pd.DataFrame(list(rows.values()))
        heads = [f"right on {name}" for name in self.given.classes.all_back(self.classes)]
        columns = {head: (head, "") for head in ("worker", *heads) if head in wide}
        return listed(wide, columns, SHOWN, " workers")

    def _judged(self) -> list[str]:
        """What rests on gold."""
        return [
            "skills are shares of right answers to gold tasks, each with its own exact 95 % "
            "interval",
            "right on a class: of its gold tasks, with an exact 95 % interval",
            f"errors are looked at given the true class; each test raises a false alarm in "
            f"{percent(LEVEL)} of independent crowds",
            *self._further(),
        ]

    def _worth(self) -> str:
        """What the control tasks tell, and what more of them would."""
        error, now = self.majority.error_measured, self.majority.tasks_measured
        if error is None:
            return "none with a label" if self.counts["gold_tasks"] else "none"
        tasks = self.counts["tasks"]
        sentence = f"{now}: a majority vote errs on {error:.3g} of them"
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
        overall, measured = self.found.overall, self.majority
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
                    "workers": self.named((pair.first, pair.second)),
                    **picked(pair, "tasks", "both_wrong", "same_wrong", "correlation", "p_value"),
                }
                for pair in self.found.pairs
            ],
            "agreement": {
                **asdict(self.agreement),
                **picked(self.kappas, "fleiss", "ac1"),
            },
            "cohen": cohen(self),
            "rates": self.rates.to_dict("records"),
            "relabel": self.relabel.to_dict("records"),
            "prevalence": self.prevalence,
            "class_labels": self.class_labels,
            "contradicting": [
                {"workers": self.named((one, other)), "tasks": tasks}
                for one, other, tasks in self.opposed
            ],
            "guess": None if self.usual is None else self.usual[1],
            "majority": {"wrong": measured.wrong, "gold_tasks": measured.tasks_measured},
            "error_majority": measured.error_measured,
            "error_majority_interval": measured.error_interval if measured.tasks_measured else None,
            "repeated": vars(self.repeated),
            "seed": self.seed,
        }

    def _remarks(self) -> list[str]:
        return [
            ", ".join(
                [
                    *(word for word, there in zip(REMARKS.values(), marks, strict=True) if there),
                    *([f"group {group}"] if group else ()),
                ]
            )
            for *marks, group in self.table[[*REMARKS, "group"]].to_numpy(object).tolist()
        ]

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


@overload
def check(
    labels: inputs.LabelTable,
    gold: inputs.Truth | None = None,
    *,
    judge: None = None,
    seed: int = 0,
) -> LabelCheck | SetCheck: ...
@overload
def check(
    labels: inputs.LabelTable,
    gold: inputs.Truth | None = None,
    *,
    judge: str | int,
    seed: int = 0,
) -> JudgeCheck: ...
def check(
    labels: inputs.LabelTable,
    gold: inputs.Truth | None = None,
    *,
    judge: str | int | None = None,
    seed: int = 0,
) -> LabelCheck | JudgeCheck | SetCheck:
    """Look at labels before anything is built on them.

    How far labels agree beyond chance (Krippendorff's α, nominal, and ordinal and interval where
    classes are numbers, with bootstrap intervals over tasks; Fleiss' and Cohen's κ, Gwet's AC1);
    tasks and workers to look at again; skills with intervals, rates by true class, κ with gold;
    workers who answer against gold or the others, who are constant, who contradict each other or
    copy; whether errors go together (and how many independent workers they leave), tasks on which
    nearly all err; pairs labelled twice; and classes that are most likely one, too many, ratings,
    or abstentions. Of sets of labels agreement, prevalence and errors label by label.

    Parameters
    ----------
    labels
        Labels: columns `task`, `worker`, `label`.

        Of a pair that is labelled more than once the first label counts.
    gold
        True labels: columns `task`, `gold`. [default: gold in the labels, if any]

        A Series or a dict by task, too. Without any, only the agreement of labels is given.
    judge
        A worker, most often a model, to compare with people.

        People's labels are the gold, or without gold the majority of all other workers; a random
        sample of the tasks is enough. The result is another: the true share of each class,
        corrected by people's labels, how often the judge is right where each is true, and how many
        labels of people would do.
    seed
        Same seed, same result.

        Of the simulated crowds that show what chance alone does, and of the bootstrap.

    Returns
    -------
    LabelCheck, or with `judge` JudgeCheck; of ratings RatingCheck
        Of ratings the ordinal and the interval α, each worker's bias, slope and noise in points
        against gold or the others, and the tasks to look at again.

    Raises
    ------
    InputError
        Labels or gold cannot be read, do not belong together, or are of too many classes.

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
    0    eve        0          True
    1    ann       10         False
    2    bob       10         False
    """
    source = inputs.given(labels, duplicates="all", kinds=(Classes, Scale, LabelSets))
    if isinstance(source.kind, LabelSets):
        return check_sets(source, gold, judge, seed)
    if isinstance(source.kind, Scale):
        from workbench.api.rating_check import check_ratings

        inputs.refuse(source.kind, {"judge": judge})
        by_points: Any = check_ratings(source, gold, seed=seed)
        return cast(LabelCheck, by_points)
    true: pd.Series[Any] = pd.Series(index=pd.Index([], name="task"), dtype=object)
    if gold is not None or source.gold is not None:
        true, source = inputs.truth(gold, source)
    whole = source.table[["task", "worker", "label"]]
    first = whole.drop_duplicates(["task", "worker"])
    classes = sorted({*first["label"], *true})
    votes = replace(Votes.of(first, classes=classes), kind=source.kind)
    _check_size(votes)
    codes = gold_codes(votes, true)
    if judge is not None:
        known = gold is not None or source.gold is not None
        return check_judge(judge, votes, codes if known else None, source, seed)
    others = beside_others(votes)
    outcome = dependence(votes, codes, seed=seed)
    class_labels = {str(k): int(v) for k, v in whole["label"].value_counts().items()}
    value, prevalence = numbers(votes), _prevalence(codes, classes)
    usual = max(prevalence.items(), key=lambda item: item[1]) if prevalence else None
    table = worker_table(votes, codes, outcome, others, None if usual is None else usual[1])
    return LabelCheck(
        table=table,
        found=outcome,
        workers=votes.workers.tolist(),
        classes=classes,
        class_labels=class_labels,
        alike=classes_alike(class_labels),
        rated=value is not None and rated(votes, value),
        opposed=opposed(votes, others),
        agreement=agreement(votes, value, seed=seed),
        repeated=repeats(whole),
        counts={
            "tasks": len(votes.tasks),
            "gold_tasks": int((codes >= 0).sum()),
            "labels": len(whole),
        },
        given=source,
        name=source.name,
        seed=seed,
        seen=int((others.seen & (others.tasks >= SHARED)).sum()),
        usual=usual,
        wrong=wrong_shares(votes, codes),
        leading=leading_shares(votes),
        rates=source.classes.column(
            source.back(rate_table(votes, codes, table["worker"])), "class"
        ),
        relabel=source.classes.column(source.back(relabel_table(votes, codes)), "gold"),
        kappas=kappas(votes),
        numbers=None if value is None else (float(np.nanmin(value)), float(np.nanmax(value))),
        prevalence=prevalence,
        majority=count_errors(majority_loss(votes, codes), np.flatnonzero(codes >= 0)),
    )


def _check_size(votes: Votes) -> None:
    """Refuse more classes than a method could be fitted to, as `aggregate` does."""
    n, m, L = len(votes.tasks), len(votes.workers), len(votes.classes)
    if L * max(n, m * L) > LARGEST:
        raise InputError(
            f"{L} classes, {m} workers and {n} tasks: too many classes to be compared; are they "
            "free text? code the labels as fewer classes"
        )


def _prevalence(codes: Any, classes: list[Any]) -> dict[str, float]:
    """Share of each class in the gold; empty without gold."""
    count = np.bincount(codes[codes >= 0], minlength=len(classes))
    total = int(count.sum())
    shares = zip(classes, count.tolist(), strict=True)
    return {str(name): many / total for name, many in shares} if total else {}
