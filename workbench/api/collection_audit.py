"""`audit_collection`: labels or checks, and audits of what was collected until one certifies.

What is done, and why it may be trusted, stands in `workbench.auditing.loop`; this is the same for a
collection with people. The collection's journal keeps what is promised, and each audit's beginning
and end; the audits have journals of their own beside it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from workbench.api.auditing import Auditor, audit
from workbench.api.result import SCHEMA, percent
from workbench.base import checks
from workbench.base.errors import InputError
from workbench.collection.audits import AuditLog
from workbench.collection.events import Audited, AuditPlanned
from workbench.collection.pool import HIGHEST_PRICE

if TYPE_CHECKING:
    from workbench.auditing.loop import NextExpense
    from workbench.collection.collector import Collector

Next = Literal["label", "newcomer", "check", "nothing"]


class CollectionAudit:
    """Audits of a collection's answers, one after another; made by `audit_collection`.

    Attributes
    ----------
    collector
        Whose answers they are.
    auditor
        The last audit that was begun; None before the first.
    coin
        What was estimated when `go_on` last chose between checks and labels; None before.
    """

    def __init__(self, collector: Collector, seed: int | None, origin: str) -> None:
        self.collector, self._seed, self._origin = collector, seed, origin
        self.auditor: Auditor | None = None
        self.coin: NextExpense | None = None
        self._memory: dict[int, Auditor] = {}

    # ---- where it stands ----

    @property
    def plan(self) -> AuditPlanned:
        """What is promised, and the share of the risk that each audit has."""
        plan = AuditLog(self.collector).plan
        assert plan is not None
        return plan

    @property
    def certified(self) -> bool:
        """Whether an audit has shown what is promised."""
        audits = AuditLog(self.collector).audits
        return bool(audits) and audits[-1].stage == "certified"

    @property
    def checks(self) -> int:
        """Answers that were checked, in all audits."""
        return sum(audit.checks for audit in AuditLog(self.collector).audits)

    def bound(self) -> float:
        """Largest share of all answers that may still be wrong, by the last audit."""
        audits = AuditLog(self.collector).audits
        return audits[-1].bound / len(self.collector.tasks) if audits else 1.0

    # ---- going on ----

    def go_on(self, now: bool = False) -> Next:
        """Do what is due, and say what to do next.

        Parameters
        ----------
        now
            Begin an audit though workers would be asked more.

        Returns
        -------
        "label": ask workers (`collector.next`) until they are asked no more, then go on here.
        "newcomer": nobody who is here is asked more; ask somebody new, by name, then go on here.
        "check": let the expert label what `auditor.next` gives, then go on here.
        "nothing": what is promised is shown.
        """
        audits = AuditLog(self.collector).audits
        if audits and audits[-1].stage == "certified":
            self.auditor = self._opened(audits[-1])
            return "nothing"
        if audits and audits[-1].stage == "under way":
            self.auditor = self._opened(audits[-1])
            if self.auditor.certified:
                self._note(len(audits) - 1, "certified")
                return "nothing"
            if step := self._labels_first(self.auditor, len(audits) - 1):
                self._note(len(audits) - 1, "given up")
                return step
            self._note(len(audits) - 1, "under way")
            return "check"
        if not now and (step := self._asks()):
            return step
        return self._begin(len(audits), now)

    def _asks(self) -> Literal["label", "newcomer", ""]:
        """Whom the collection would ask more: those who are here, newcomers, or nobody."""
        if self.collector.asks_more():
            return "label"
        return "newcomer" if self.collector.asks_newcomers() else ""

    def _begin(self, number: int, now: bool) -> Next:
        from workbench.auditing.loop import error_of_rest

        table = self.collector.answers()
        rest = table[~table["task"].isin(self._words())]
        plan = self.plan
        error = error_of_rest(plan.error, len(table), len(rest))
        risk, path = plan.shares[number] * plan.risk, self._path(number)
        trial = audit(rest, error, risk, 0)
        if not now and not trial.certified and (step := self._labels_first(trial, number)):
            return step
        self.collector.halt("paused")
        if path is not None and path.exists():  # begun by another, or before a break
            self.auditor = Auditor.open(path, origin=self._origin)
        else:
            self.auditor = audit(rest, error, risk, self._seed, path=path, origin=self._origin)
        self._memory[number] = self.auditor
        self._note(number, "under way")
        return self.go_on()

    def _labels_first(self, auditor: Auditor, number: int) -> Literal["label", "newcomer", ""]:
        """Buy labels next, where they seem cheaper and there are any to buy."""
        from workbench.auditing.loop import MOST_HALVINGS, Spending

        collector, plan = self.collector, self.plan
        belief, guess = collector.belief(), 1.0 - 1.0 / len(collector.classes)
        spending = Spending(plan.price, collector.cost, float(belief.error.mean()), guess)
        self.coin = expense = auditor.next_expense(number, plan.risk, spending)
        goal = collector.goal
        if expense.to == "check" or goal is None or not collector.policy.begins_again:
            return ""
        if math.log2(plan.error / goal) + expense.halvings > MOST_HALVINGS:
            return ""
        collector.change(epsilon=goal / 2.0**expense.halvings)
        collector.halt("")
        if step := self._asks():
            return step
        collector.change(epsilon=goal)
        if number < len(AuditLog(collector).audits):
            collector.halt("paused")
        return ""

    # ---- the audits and their files ----

    def _path(self, number: int) -> Path | None:
        store = self.collector.path
        return None if store is None else store.with_name(f"{store.stem}.audit-{number + 1}.sqlite")

    def _opened(self, audited: Audited) -> Auditor:
        if audited.number in self._memory:
            return self._memory[audited.number]
        store = self.collector.path
        if store is None:
            raise InputError("the audits of a collection without a path went with the program")
        auditor = Auditor.open(store.with_name(audited.file), origin=self._origin)
        if auditor.commitment != audited.commitment:
            raise InputError(f"{audited.file}: is another audit than the one that was begun")
        self._memory[audited.number] = auditor
        return auditor

    def _note(self, number: int, stage: Literal["under way", "given up", "certified"]) -> None:
        auditor, path = self._memory[number], self._path(number)
        state = auditor.to_dict()
        AuditLog(self.collector).note(
            Audited(
                number,
                "" if path is None else path.name,
                auditor.commitment,
                state["tasks"],
                state["checks"],
                state["errors"],
                state["most_wrong"],
                stage,
            )
        )

    def _words(self) -> dict[Any, Any]:
        """What the expert labelled in audits that were given up, by task."""
        words: dict[Any, Any] = {}
        for audited in AuditLog(self.collector).audits:
            if audited.stage == "given up":
                frame = self._opened(audited).to_frame()
                own = frame[frame["checked"] & frame["label"].notna()]
                words |= dict(zip(own["task"], own["label"], strict=True))
        return words

    # ---- what comes of it ----

    def answers(self) -> pd.DataFrame:
        """Give the answers as the last audit has them, corrected: `task, label, checked`."""
        table = self.collector.answers()
        tasks, labels = (
            table["task"].tolist(),
            dict(zip(table["task"], table["label"], strict=True)),
        )
        checked, words = set[Any](), self._words()
        if AuditLog(self.collector).audits:
            last = self._opened(AuditLog(self.collector).audits[-1]).to_frame()
            labels |= dict(zip(last["task"], last["label"], strict=True))
            checked |= set(last.loc[last["checked"], "task"])
        labels |= words
        checked |= set(words)
        return pd.DataFrame(
            {
                "task": tasks,
                "label": [labels[task] for task in tasks],
                "checked": [task in checked for task in tasks],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Give what is known in plain types, as the command's `--json` prints it."""
        return {
            "schema": SCHEMA,
            "certified": self.certified,
            "bound": self.bound(),
            "checks": self.checks,
            "audited": self.collector.status()["audited"],
            "coin": None if self.coin is None else vars(self.coin),
        }

    def summary(self) -> str:
        """Say what is shown, and what to do next."""
        audits, plan, tasks = AuditLog(self.collector).audits, self.plan, len(self.collector.tasks)
        sure = percent(1.0 - plan.risk, 6)
        if self.certified:
            first = (
                f"Audited: at most {percent(self.bound(), 3)} of the {tasks:,} answers are wrong, "
                f"with {sure} confidence, whatever the crowd, after {self.checks:,} checks."
            )
        else:
            first = (
                f"Not certified yet: at most {percent(plan.error, 6)} of the {tasks:,} answers are "
                f"to be wrong, with {sure} confidence; {self.checks:,} checks so far, in "
                f"{len(audits)} audits."
            )
        return first

    def next_step(self, step: Next) -> str:
        """Say what to do now, as `go_on` has it."""
        if step == "nothing":
            return "Next: nothing; `workbench audit status` writes the certificate."
        store = as_typed(self.collector.path)
        if step in ("label", "newcomer"):
            cheaper = self.coin is not None and self.coin.to == "label"
            whom = (
                f"ask workers (`workbench collect next {store}`)"
                if step == "label"
                else f"ask somebody new (`workbench collect next {store} --worker NAME`): nobody "
                "who is here is asked more"
            )
            return (
                f"Next: {whom}, then come back here.{self._labels_are_cheaper() if cheaper else ''}"
            )
        file = as_typed(self._path(AuditLog(self.collector).audits[-1].number))
        return (
            f"Next: let the expert check what `workbench audit next {file}` gives, then come back "
            f"here.{self._checks_to_come()}"
        )

    def _checks_to_come(self) -> str:
        return "" if self.coin is None else f" Some {self.coin.checks:,.0f} checks are expected."

    def _labels_are_cheaper(self) -> str:
        assert self.coin is not None
        return (
            f" More labels and then an audit seem to cost {self.coin.cost_labels_first:,.0f}, and "
            f"checks alone {self.coin.cost:,.0f}."
        )

    def __repr__(self) -> str:
        return f"CollectionAudit: {self.summary()}"


def as_typed(path: Path | None) -> Path | str:
    """A path as it is typed here."""
    if path is None:
        return "STORE"
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def audit_collection(
    collector: Collector,
    price: float | None = None,
    error: float | None = None,
    risk: float | None = None,
    *,
    seed: int | None = None,
    origin: str = "python",
) -> CollectionAudit:
    """Begin, or go on, to prove how many of a collection's answers are wrong, whatever the crowd.

    Once workers are asked no more the answers are fixed and an expert checks tasks that are drawn.
    Where more labels seem cheaper than the checks to come, this audit is given up, workers are
    asked again, and another audit draws anew, with a share of the risk that was named beforehand.

    Parameters
    ----------
    collector
        A collection, with the goal `epsilon`.
    price
        Price of an expert's check, in the money of labels; the first time.
    error
        Share of all answers that may be wrong in the end. [default: the collection's epsilon]
    risk
        Highest chance that what is certified is false. [default: 0.05]
    seed
        Seed of the draws, for studies. [default: secret, from the operating system]
    origin
        Where steps come from.

    Raises
    ------
    InputError
        No price the first time, another promise than before, or a collection without a goal, or
        whose errors have costs, or of ratings.

    Examples
    --------
    >>> import workbench as wb
    >>> tasks = [f"t{i}" for i in range(30)]
    >>> collector = wb.Collector(tasks, ["ann"], classes=["no", "yes"], epsilon=0.2)
    >>> loop = wb.audit_collection(collector, price=2.0, seed=1)
    >>> while loop.go_on() == "label":
    ...     for asked in collector.next():
    ...         collector.tell(asked.worker, {asked.task: "yes"})
    >>> while loop.go_on() == "check":
    ...     for task in loop.auditor.next():
    ...         loop.auditor.tell(task, "yes")
    >>> loop.certified, loop.bound()
    (True, 0.2)
    """
    from workbench.auditing.loop import SHARES

    if collector.ledger.pool.loss is not None:
        raise InputError(
            "loss: these audits prove how many answers are wrong, not what they cost; take the "
            "answers, and `audit` them with `loss`"
        )
    if collector.scale is not None:
        raise InputError(
            "ratings: these audits count wrong answers, and an estimate is off by so many points; "
            "take the answers, and `audit` them"
        )
    plan = AuditLog(collector).plan
    if plan is None:
        if price is None:
            raise InputError("price: give the price of a check, the first time")
        if error is None:
            error = collector.goal
        if error is None:
            raise InputError("error: give the share of the answers that may be wrong")
        plan = AuditPlanned(
            checks.inside("error", error),
            checks.inside("risk", 0.05 if risk is None else risk),
            checks.number("price", price, 0, HIGHEST_PRICE),
            SHARES,
        )
        AuditLog(collector).note(plan)
    for name, value in (("price", price), ("error", error), ("risk", risk)):
        before = getattr(AuditLog(collector).plan, name)
        if value is not None and value != before:
            raise InputError(f"{name} is {value:g}, and {before:g} was promised before: leave it")
    return CollectionAudit(collector, seed, origin)
