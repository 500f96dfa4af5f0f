"""`audit`: what an expert's checks of drawn tasks prove of a labelled set, whatever the crowd."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench.api.inputs import Table, Truth
from workbench.api.result import SCHEMA, Figure, Result, listed, percent
from workbench.api.sets import as_sets, names_in
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.errors import InputError
from workbench.base.text import Columns
from workbench.crowd.kinds import Scale, written
from workbench.crowd.libraries import to_pandas
from workbench.crowd.loss import stakes_of
from workbench.crowd.reading import TextTable, as_number, as_text, is_missing, open_table
from workbench.crowd.tables import column, read_gold

if TYPE_CHECKING:
    from workbench.auditing.loop import NextExpense, Spending
    from workbench.auditing.record import AuditRecord
    from workbench.auditing.strata import Strata

NORMAL = math.sqrt(2.0 / math.pi)
"""Mean distance from the mean of a normal number, in standard deviations."""
QUANTILES = (0.1, 0.5, 0.9)
AS_BELIEVED, AS_GOLD = "as believed", "as gold has them"
SCENES: dict[str, float | None] = {
    AS_BELIEVED: 1.0,
    "half as many again": 1.5,
    "half as many": 0.5,
    "as many as may be": None,
}
"""Errors of a plan, as multiples of what is believed; of the last the share is ε."""


@dataclass(frozen=True, eq=False)
class _Answers:
    """Answers as they came: ids, labels (None: no answer), belief that each is wrong."""

    tasks: list[str | int]
    labels: list[str | None]
    wrong: FloatArray
    believed: bool
    scale: tuple[float, float] | None = None

    @property
    def unanswered(self) -> BoolArray:
        return np.array([label is None for label in self.labels])


class Auditor:
    """An audit under way; `wb.audit` begins one, `Auditor.open` continues one kept in a file.

    Examples
    --------
    >>> import pandas as pd
    >>> import workbench as wb
    >>> answers = pd.DataFrame({"task": range(40), "label": ["yes"] * 40})
    >>> audit = wb.audit(answers, error=0.2, seed=1)
    >>> while not audit.certified:
    ...     for task in audit.next():
    ...         audit.tell(task, "yes")
    >>> audit.bound()
    0.2
    """

    def __init__(self, record: AuditRecord) -> None:
        self._record = record
        self._answers = {label for label in record.opening.answers if label}
        scale = record.opening.scale
        self._scale = None if scale is None else Scale(*scale)
        self._classes = {label.casefold(): label for label in self._answers}
        self._sets = bool(self._answers) and None not in map(names_in, self._answers)

    @classmethod
    def open(cls, path: str | Path, origin: str = "python") -> Auditor:
        """Go on with an audit that is kept in a file.

        Raises
        ------
        InputError
            There is none, or it is damaged.
        """
        from workbench.auditing.record import AuditRecord

        return cls(AuditRecord.open(path, origin))

    def close(self) -> None:
        """Close the file that keeps it; nothing more can be drawn or entered."""
        self._record.close()

    @property
    def certified(self) -> bool:
        """Whether what was asked for is shown, at confidence 1 − α.

        That is: of all answers, as corrected, at most ε are wrong; or, where a `share` was asked
        for, of so many of them.
        """
        return self._record.state.certified

    @property
    def share(self) -> float:
        """Share of the answers that is certified: those of `to_frame()` where `certified`."""
        state = self._record.state
        return state.certified_tasks / state.tasks

    def rest(self) -> list[Any]:
        """Give the tasks whose answers are not certified, for an expert to label."""
        inside = self._record.state.in_share().tolist()
        tasks = zip(self._record.opening.tasks, inside, strict=True)
        return [task for task, certified in tasks if not certified]

    @property
    def checks(self) -> int:
        """Tasks that were checked."""
        return self._record.state.checks

    @property
    def errors(self) -> int:
        """Wrong answers among them."""
        return self._record.state.errors

    @property
    def commitment(self) -> str:
        """Digest of answers, settings and the seed's digest: let somebody else keep it."""
        return self._record.opening.sha256

    def next(self, most: int = 1) -> list[Any]:
        """Give tasks to check: those that wait for their label, then new draws.

        None once it is certified. A draw is kept before its task is given. What is drawn must be
        checked: a task may not be skipped.

        Parameters
        ----------
        most
            How many, 1 or more. More at once are drawn with less knowledge.
        """
        return list(self._record.draw(checks.count("most", most, 1)))

    def tell(self, task: Hashable, label: Hashable | None) -> None:
        """Take the expert's label of a drawn task; None where she refuses, which counts as wrong.

        Raises
        ------
        InputError
            The task was not drawn, or got another label before; or the label is a known one in
            another spelling.
        """
        self.tell_all({task: label})

    def tell_all(self, labels: Mapping[Any, Any]) -> None:
        """Take labels by task, all or none of them.

        Raises
        ------
        InputError
            As `tell`.
        """
        words: dict[str, str | None] = {}
        for task, label in labels.items():
            word = None if label is None else as_text(label).strip()
            if word is not None and self._sets:
                word = self._set(task, word)
            if word == "" or (isinstance(label, float) and np.isnan(label)):
                raise InputError(f"task {checks.show(task)} has no label: give one, or None")
            if self._scale is not None:
                words[as_text(task)] = None if word is None else _rating(task, word, self._scale)
                continue
            spelling = self._classes.get((word or "").casefold(), word)
            if spelling != word and word not in self._answers:
                raise InputError(
                    f"task {checks.show(task)} is labelled {checks.show(word)}, and answers say "
                    f"{checks.show(spelling)}: write both alike"
                )
            words[as_text(task)] = word
        self._record.hear(words)

    def _set(self, task: Hashable, word: str) -> str:
        """Write the set that an expert gives as the answers are written."""
        names = names_in(word)
        if names is None:
            raise InputError(
                f"task {checks.show(task)} is labelled {checks.show(word)}, and answers are sets "
                f"of labels: give a list, as {written([word])}"
            )
        return written(names)

    def next_expense(self, number: int, risk: float, spending: Spending) -> NextExpense:
        """Say whether a check or labels are cheaper now; see `workbench.auditing.loop`."""
        from workbench.auditing.loop import next_expense

        return next_expense(self._record.state, number, risk, spending)

    def bound(self) -> float:
        """Largest share of the answers that may still be wrong, at confidence 1 − α.

        Where it is said what errors cost: the most that an answer may cost in the mean. Of ratings:
        how far an answer may be off in the mean, as a share of the scale.
        """
        return self._record.state.bound() / (self._record.state.tasks * self._record.units.one)

    def certificate(self) -> dict[str, Any]:
        """Everything by which `workbench verify` recomputes what is claimed.

        Once no draw is to come it shows the seed, by which each draw can be made again.
        """
        self._record.refresh()
        return self._record.certificate()

    def to_frame(self) -> pd.DataFrame:
        """Give the answers as corrected: `task, label, checked, corrected, certified`."""
        record = self._record
        labels: list[str | None] = list(record.opening.answers)
        checked = np.zeros(len(labels), dtype=bool)
        corrected = np.zeros(len(labels), dtype=bool)
        for number, word in record.words.items():
            place = record.state.draws[number].task
            checked[place] = True
            corrected[place] = word != labels[place]
            labels[place] = word
        given: list[Any] = [*labels]
        if self._scale is not None:
            given = [None if label is None else float(label) for label in labels]
        return pd.DataFrame(
            {
                "task": list(record.opening.tasks),
                "label": given,
                "checked": checked,
                "corrected": corrected,
                "certified": record.state.in_share(),
            }
        )

    def summary(self) -> str:
        """Say what is proven, after which work, and what comes next."""
        state = self._record.state
        sure, bound = percent(1.0 - state.risk, 6), state.bound()
        share = percent(bound / state.tasks, 3)
        fixed = state.errors - len(state.refused)
        sets = " (a set of labels is wrong where any of them is)" if self._sets else ""
        work = (
            f"{state.checks:,} tasks were checked, {state.errors:,} of their answers were wrong"
            f"{sets}, {fixed:,} are corrected."
        )
        if self._record.opening.share is not None:
            return self._summary_of_share(work)
        if self._record.opening.loss is not None:
            return self._summary_of_cost(work, sure)
        if self._scale is not None:
            return self._summary_of_ratings(self._scale, sure)
        if state.certified:
            return (
                f"At most {share} of the {state.tasks:,} answers are wrong, with {sure} "
                f"confidence, after {state.checks:,} checks, of which {fixed:,} were corrected.\n"
                f"{work} This is audited: it holds whatever the crowd, if the expert is right.\n"
                "Next: 'workbench verify' recomputes the certificate."
            )
        waits = len(self._record.waiting)
        nothing = "nothing is asked: all tasks are checked" if state.left == 0 else "go on checking"
        return (
            f"Not certified: up to {share} of the {state.tasks:,} answers may be wrong, with "
            f"{sure} confidence; at most {percent(state.error, 6)} is asked.\n"
            f"{work}{f' {waits:,} drawn tasks wait for their label.' if waits else ''}\n"
            f"Next: {nothing}."
        )

    def _summary_of_cost(self, work: str, sure: str) -> str:
        state, loss = self._record.state, self._record.opening.loss or {}
        costs = ", ".join(f"{cost:g} for {name}" for name, cost in loss.items())
        named = f"Missing a class costs {costs}, and 1 for any other."
        if state.certified:
            return (
                f"The {state.tasks:,} answers cost at most {self.bound():.4g} each in the mean, "
                f"with {sure} confidence. {named}\n"
                f"{work} This is audited: it holds whatever the crowd, if the expert is right.\n"
                "Next: 'workbench verify' recomputes the certificate."
            )
        return (
            f"Not certified: the {state.tasks:,} answers may cost up to {self.bound():.4g} each in "
            f"the mean, with {sure} confidence; at most {state.error:.4g} is asked. {named}\n"
            f"{work}\nNext: go on checking."
        )

    def _summary_of_ratings(self, scale: Scale, sure: str) -> str:
        state, length = self._record.state, scale.high - scale.low
        off = f"{self.bound() * length:.3g} points ({percent(self.bound(), 3)} of the scale)"
        work = f"{state.checks:,} tasks were rated by the expert; their answers are hers now."
        if state.certified:
            return (
                f"The {state.tasks:,} answers are off by at most {off} in the mean, with {sure} "
                f"confidence.\n{work} This is audited: it holds whatever the crowd, if the expert "
                "is right.\nNext: 'workbench verify' recomputes the certificate."
            )
        return (
            f"Not certified: the {state.tasks:,} answers may be off by up to {off} in the mean, "
            f"with {sure} confidence; at most {state.error * length:.3g} points are asked.\n"
            f"{work}\nNext: go on checking."
        )

    def _summary_of_share(self, work: str) -> str:
        state, share = self._record.state, self._record.opening.share or 0.0
        sure, rest = percent(1.0 - state.risk, 6), state.tasks - state.certified_tasks
        if state.certified_tasks:
            wrong = percent(state.most_in_share() / state.certified_tasks, 3)
            head = (
                f"Of {percent(self.share, 3)} of the {state.tasks:,} answers at most {wrong} are "
                f"wrong, with {sure} confidence, after {state.checks:,} checks."
            )
        else:
            head = (
                f"No share of the {state.tasks:,} answers is certified yet, with {sure} confidence."
            )
        if state.certified:
            head += "\nThis is audited: it holds whatever the crowd, if the expert is right."
            last = f"Next: {rest:,} answers are the rest, for an expert to label."
        else:
            last = f"Next: go on checking; {percent(share, 3)} is asked."
            if state.ended:
                last = f"Next: no more can be certified; {rest:,} answers are the rest."
        return f"{head}\n{work}\n{last}"

    def plot(self) -> Figure:
        """Draw the bound falling with the checks."""
        from workbench.plots import audit

        state = self._record.state
        return audit(
            state.bounds(),
            tasks=state.tasks * self._record.units.one,
            error=state.error if self._record.opening.share is None else None,
            title=repr(self).partition(": ")[2],
        )

    def to_dict(self) -> dict[str, Any]:
        """Give what is known in plain types, as `status --json` prints it."""
        state = self._record.state
        return {
            "schema": SCHEMA,
            "certified": state.certified,
            "bound": self.bound(),
            "share": self.share,
            "certified_tasks": state.certified_tasks,
            "certified_wrong": state.most_in_share(),
            "checks": state.checks,
            "errors": state.errors,
            "corrected": state.errors - len(state.refused),
            "refused": len(state.refused),
            "waiting": [
                self._record.opening.tasks[state.draws[number].task]
                for number in self._record.waiting
            ],
            "tasks": state.tasks,
            "error": state.error,
            "risk": state.risk,
            "most_wrong": state.bound(),
            "commitment": self.commitment,
            **self._cost_payload(),
        }

    def _cost_payload(self) -> dict[str, Any]:
        loss, scale = self._record.opening.loss, self._record.opening.scale
        if scale is not None:
            none = dict.fromkeys(("most_wrong", "certified_wrong"))
            return {**none, "scale": [*scale], "most_off": self.bound() * (scale[1] - scale[0])}
        if loss is None:
            return {}
        none = dict.fromkeys(("most_wrong", "certified_wrong"))
        return {**none, "loss": dict(loss), "most_cost": self.bound()}

    def __repr__(self) -> str:
        return f"Auditor: {self.summary().splitlines()[0]}"


def audit(
    answers: Table,
    error: float = 0.1,
    risk: float = 0.05,
    seed: int | None = None,
    *,
    share: float | None = None,
    loss: Mapping[Any, float] | None = None,
    path: str | Path | None = None,
    origin: str = "python",
) -> Auditor:
    """Begin to prove that at most a share of the answers is wrong, by an expert's checks.

    Parameters
    ----------
    answers
        Columns `task`, `label`, and perhaps confidence; an empty label is wrong.

        Ratings are known by the scale that `aggregate` or `read_labels` left with the table; a
        column standard_error takes the place of the confidence. A set of labels is one answer, and
        wrong where any of its labels is. Answers are fixed from here on.
    error
        Share of the answers that may be wrong. Of ratings how far off they may be in the mean, as a
        share of the scale.

        ε, in the end.
    risk
        Highest chance that the proof is false.

        α, however often the certificate is looked at.
    seed
        Seed of the draws, for studies. [default: secret, from the operating system]
    share
        Certify this share of the answers, the most confident; the others are listed.

        What is certified then is that at most ε of *these* are wrong. All of them, with the wrong
        ones that are found corrected, where it is None.
    loss
        What it costs to miss a class. [default: 1 each]

        `error` is then the cost of an answer in the mean.

        By true class, {"yes": 5}; a class that is not named costs 1, a task without an answer as
        much as the costliest class.
    path
        File that keeps every step. [default: in memory]
    origin
        Where steps come from.

    Raises
    ------
    InputError
        A task comes twice or has no id, a confidence is no number from 0 to 1, or the file cannot
        be made.

    Examples
    --------
    >>> import pandas as pd
    >>> import workbench as wb
    >>> answers = pd.DataFrame({"task": range(200), "label": ["cat"] * 200})
    >>> audit = wb.audit(answers, error=0.1, seed=1)
    >>> audit.next(most=20) == audit.next(most=20)  # they wait for their labels
    True
    >>> audit.tell_all({task: "cat" for task in audit.next(most=20)})
    >>> audit.checks, audit.errors, audit.certified
    (20, 0, False)
    """
    from workbench.auditing.losses import CostUnits, ScaleUnits, stratify_by_cost
    from workbench.auditing.record import AuditRecord
    from workbench.auditing.strata import stratify

    risk = checks.inside("risk", risk)
    costs, rate = None, error
    if loss is None:
        error = checks.inside("error", error)
    else:
        costs = _losses(loss, error, share)
        rate = min(error / max(1.0, *costs.values()), 0.99)
    if share is not None and share != 1:
        share = checks.inside("share", share)
    table = _read(answers, rate)
    if table.scale is not None:
        for name, value in (("loss", loss), ("share", share)):
            if value is not None:
                raise InputError(f"`{name}` is for answers that are classes, these are ratings")
        strata = stratify_by_cost(table.wrong, table.labels, ScaleUnits(*table.scale))
    elif costs is None:
        strata = stratify(table.wrong, table.unanswered)
    else:
        strata = stratify_by_cost(table.wrong, table.labels, CostUnits.of(costs))
    record = AuditRecord.begin(
        table.tasks,
        table.labels,
        strata,
        loss=costs,
        scale=table.scale,
        error=error,
        risk=risk,
        share=None if share is None else float(share),
        seed=seed,
        path=path,
        origin=origin,
    )
    return Auditor(record)


def _losses(loss: Mapping[Any, float], error: float, share: float | None) -> dict[str, float]:
    """What it costs to miss a class, by its text."""
    if share is not None:
        raise InputError("share: counts errors of equal cost; leave it or `loss` out")
    stakes = stakes_of(loss, None, [as_text(name) for name in loss])
    assert stakes is not None
    costs = dict(zip(stakes.classes, stakes.loss.tolist(), strict=True))
    most = max(1.0, *costs.values())
    if not 0 < checks.number("error", error, 0.0, most) < most:
        raise InputError(
            f"error is {error:g}: give a cost above 0 and below {most:g}, the highest of a class"
        )
    return costs


@dataclass(frozen=True, eq=False, repr=False)
class AuditPlan(Result):
    """How many checks an audit will take.

    Attributes
    ----------
    tasks, error, risk, runs, seed
        As asked.
    believed
        Whether the answers came with confidences; without, half of ε is taken to be wrong.
    table
        By how many errors there are: the share wrong, and quantiles of the checks.
    """

    tasks: int
    error: float
    risk: float
    runs: int
    seed: int
    believed: bool
    table: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Give the table."""
        return self.table

    def plot(self) -> Figure:
        """Draw how many checks it takes, in each row of the table."""
        from workbench.plots import checks_needed

        asked = f"at most {percent(self.error, 6)} of {self.tasks:,} answers are wrong"
        return checks_needed(self.table, title=f"Checks that prove that {asked}")

    def details(self) -> str:
        """Say how many checks it takes, if beliefs are right and if they are not."""
        first, more, most = (self.table.iloc[place] for place in (0, 1, 3))
        basis = "if the confidences are right" if self.believed else "if half of that is wrong now"
        more_wrong = (
            f"By their confidences {percent(first['wrong'])} of the answers are wrong, more than "
            f"{percent(self.error, 6)}: errors must be checked and corrected until enough are "
            "gone.\n"
            if first["wrong"] > self.error
            else ""
        )
        head = more_wrong + (
            f"To prove that at most {percent(self.error, 6)} of {self.tasks:,} answers are wrong "
            f"takes about {first['q50']:,.0f} checks {basis} ({first['q10']:,.0f} to "
            f"{first['q90']:,.0f} in 8 of 10 audits).\n"
            f"With 1.5 times as many errors it takes about {more['q50']:,.0f}: recorded crowds are "
            f"often higher than they should be. Where {percent(self.error, 6)} are wrong it takes "
            f"about {most['q50']:,.0f}.\n"
            f"{self._by_gold()}"
            "The proof holds in any case: confidences only decide how long it takes.\n"
            "Next: 'workbench audit start' fixes the answers and begins."
        )
        columns: Columns = {
            "errors": ("errors", ""),
            "wrong": ("share wrong now", ".3f"),
            "q10": ("lucky (10 %)", ".0f"),
            "q50": ("typical (50 %)", ".0f"),
            "q90": ("unlucky (90 %)", ".0f"),
        }
        return f"{head}\n\n{listed(self.table, columns, len(self.table))}"

    def _by_gold(self) -> str:
        rows = self.table[self.table["errors"] == AS_GOLD]
        if rows.empty:
            return ""
        row = rows.iloc[0]
        return f"With {percent(row['wrong'], 3)} wrong, as gold has it: {row['q50']:,.0f} checks.\n"

    def _payload(self) -> dict[str, Any]:
        return {**super()._payload(), "table": self.table.to_dict("records")}


def plan_audit(
    answers: Table,
    error: float = 0.1,
    risk: float = 0.05,
    runs: int = 100,
    seed: int = 0,
    *,
    gold: Truth | None = None,
) -> AuditPlan:
    """Say how many checks an audit will take, by rehearsing it on errors drawn from the beliefs.

    Parameters
    ----------
    answers, error, risk
        As for `audit`.
    runs
        Simulated audits per row.
    seed
        Same seed, same result.

        Of the rehearsal.
    gold
        True labels of some tasks: columns `task`, `gold`.

        To see what the audit would have cost.

        Had an expert said so, as a row of its own. Gold is of no use in the audit itself: nobody
        drew it.

    Examples
    --------
    >>> import pandas as pd
    >>> import workbench as wb
    >>> answers = pd.DataFrame({"task": range(200), "label": ["cat"] * 200, "confidence": 0.97})
    >>> plan = wb.plan_audit(answers, error=0.1, runs=50)
    >>> plan.to_frame()["errors"].tolist()
    ['as believed', 'half as many again', 'half as many', 'as many as may be']
    """
    from workbench.auditing.simulation import rehearse
    from workbench.auditing.state import most_wrong
    from workbench.auditing.strata import stratify
    from workbench.base.seeds import stream

    error, risk = checks.inside("error", error), checks.inside("risk", risk)
    checks.count("runs", runs, 2)
    table = _classes_alone(_read(answers, error))
    strata = stratify(table.wrong, table.unanswered)
    size = strata.size
    rows = []
    for name, rate in _scenes(table, strata, error, gold).items():
        rng = stream(seed, f"audit, {name}")
        wrong = rng.binomial(size.astype(np.int64), rate, (runs, len(size))).astype(np.float64)
        audits = rehearse(
            strata.log_odds,
            strata.sure,
            size,
            wrong,
            error=error,
            risk=risk,
            most=most_wrong(error, len(table.tasks)),
            rng=rng,
        )
        q10, q50, q90 = np.quantile(audits.checks, QUANTILES).tolist()
        share = float(wrong.sum(axis=1).mean() / size.sum())
        rows.append({"errors": name, "wrong": share, "q10": q10, "q50": q50, "q90": q90})
    return AuditPlan(len(table.tasks), error, risk, runs, seed, table.believed, pd.DataFrame(rows))


def expected_checks(
    answers: Table, error: float, risk: float = 0.05, gold: Truth | None = None
) -> float:
    """Say at once about how many checks an audit will take: `plan_audit` rehearses it.

    Parameters
    ----------
    answers, error, risk
        As for `audit`.
    gold
        As for `plan_audit`; with it the answers err as often as it has them, and else as often as
        their confidences say.
    """
    from workbench.auditing.plan import fluid_plan
    from workbench.auditing.state import most_wrong
    from workbench.auditing.strata import stratify

    table = _classes_alone(_read(answers, error))
    strata = stratify(table.wrong, table.unanswered)
    scenes = _scenes(table, strata, error, gold)
    rate = np.clip(scenes[AS_GOLD if gold is not None else AS_BELIEVED], 1e-6, 1.0 - 1e-6)
    most = most_wrong(error, len(table.tasks))
    return float(fluid_plan(strata.size, rate, most, math.log(1.0 / risk)).checks)


def _scenes(
    table: _Answers, strata: Strata, error: float, gold: Truth | None
) -> dict[str, FloatArray]:
    """Share of wrong answers in each bin: as believed, and if that is wrong; as gold has it."""
    size, bins = strata.size, len(strata.size)
    belief = table.wrong if table.believed else np.full(len(table.tasks), error / 2)
    mean = np.bincount(strata.bin, belief, bins) / size
    as_asked = error * size.sum() / max(float((size * mean).sum()), 1e-12)
    rates = {
        name: np.minimum(mean * (as_asked if times is None else times), 1.0)
        for name, times in SCENES.items()
    }
    if gold is not None:
        true = read_gold(pd.Series(gold) if isinstance(gold, Mapping) else to_pandas(gold))
        truth = true.reindex([str(task) for task in table.tasks])
        truth = truth.where(truth.isna(), as_sets(truth.fillna("").tolist()))
        judged = truth.notna().to_numpy() & ~table.unanswered
        if not judged.any():
            raise InputError("gold: names no task that has an answer; mend its ids")
        wrong = judged & (truth.to_numpy() != np.array(table.labels, dtype=object))
        among = np.bincount(strata.bin, judged, bins)
        overall = wrong.sum() / judged.sum()
        # Bins with little gold are as wrong as all: one answer's worth.
        rates[AS_GOLD] = (np.bincount(strata.bin, wrong, bins) + overall) / (among + 1.0)
    return {name: np.where(strata.sure, 1.0, rate) for name, rate in rates.items()}


def _read(answers: Table, error: float) -> _Answers:
    """Read a table task, label, confidence."""
    source: Any = to_pandas(answers)
    table = open_table(source, "answers")
    (names,) = table.words("task")
    if len(set(names)) < len(names):
        table.once("an audit has one answer a task: leave one of them out", task=names)
    tasks: list[str | int] = [*names]
    if isinstance(source, pd.DataFrame):
        cells = column(source, "task", "answers").tolist()
        tasks = [
            int(cell) if _is_whole(cell) else text for cell, text in zip(cells, tasks, strict=True)
        ]
    texts = as_sets(table.columns[table.place("label")][:])
    labels = [None if is_missing(text) else text for text in texts]
    answered = np.array([label is not None for label in labels])
    wrong = np.full(len(tasks), error)
    scale = frame_scale(source)
    if scale is not None:
        return _ratings(table, tasks, labels, error, scale)
    place = table.find("confidence")
    if place is not None:
        if not answered.all():
            table = table.keep(np.flatnonzero(answered).tolist())
        wrong[answered] = 1.0 - np.array(table.numbers(place, "confidence"))
    return _Answers(tasks, labels, wrong, place is not None)


def _ratings(
    table: TextTable,
    tasks: list[str | int],
    labels: list[str | None],
    error: float,
    scale: Scale,
) -> _Answers:
    """Answers that are ratings: how far each is believed to be off, as a share of the scale."""
    texts = [
        None if label is None else _rating(task, label, scale)
        for task, label in zip(tasks, labels, strict=True)
    ]
    off = np.full(len(tasks), error)
    header = list(table.header)
    if "standard_error" in header:
        cells = pd.to_numeric(
            pd.Series(table.columns[header.index("standard_error")][:], dtype=object),
            errors="coerce",
        )
        known = cells.notna().to_numpy()
        spread = cells.to_numpy(dtype=np.float64)[known] * NORMAL / (scale.high - scale.low)
        off[known] = np.clip(spread, 0.0, 0.99)
    return _Answers(tasks, texts, off, False, (scale.low, scale.high))


def _rating(task: object, text: str, scale: Scale) -> str:
    """Write a rating as ratings are written.

    Raises
    ------
    InputError
        It is no number of the scale.
    """
    number = as_number(text)
    if number is None or not scale.low <= number <= scale.high:
        raise InputError(
            f"task {checks.show(task)}: {checks.show(text)} is no rating from {scale.low:g} to "
            f"{scale.high:g}: mend it"
        )
    return as_text(number + 0.0)


def frame_scale(answers: object) -> Scale | None:
    """The scale that `aggregate` or `read_labels` left with a frame; None where there is none."""
    known = answers.attrs.get("scale") if isinstance(answers, pd.DataFrame) else None
    return None if known is None else Scale(*known)


def _classes_alone(table: _Answers) -> _Answers:
    """Refuse ratings, of which nothing is rehearsed."""
    if table.scale is not None:
        raise InputError("answers: are ratings, and checks are rehearsed of classes alone")
    return table


def _is_whole(cell: object) -> bool:
    return isinstance(cell, (int, np.integer)) and not isinstance(cell, bool)
