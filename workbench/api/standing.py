"""`standing`: where a collection stands: asked, known and how surely, to come, and what to do next.

One object for all who look: the owner's page, `collect status`, and the verdict of a rehearsal.
"""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.accuracy.believed import error_range, untold
from workbench.accuracy.measured import MajorityError, count_errors
from workbench.api.auditing import expected_checks
from workbench.api.collection_audit import as_typed
from workbench.api.collection_progress import (
    MOST_STEPS,
    CollectionProgress,
    Step,
    answers_step,
    by_help,
    counted_so_far,
    going_on,
    more_money,
    more_people,
    overall,
    to_come,
)
from workbench.api.costs import amount, losses_in_words
from workbench.api.costs import measured_payload as cost_payload
from workbench.api.measuring import FEW, GoldError, payload_of
from workbench.api.rating_standing import RatingStanding, rating_standing
from workbench.api.result import percent, picked
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.text import counted, shown
from workbench.collection.policy import Belief
from workbench.crowd.loss import Stakes

if TYPE_CHECKING:
    from workbench.collection.collector import Collector
    from workbench.collection.pool import Ledger, Pool

HOW_HIDDEN = "which are hidden among the others and also tell when to stop"
MEASURED = ("error_measured", "error_interval", "tasks_measured", "blank")
HIDDEN = 40
"""Tasks of known class that are advised to be hidden; half of all where these are fewer."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Standing(CollectionProgress):
    """Where a collection of classes stands: its progress, and how wrong the answers are.

    Attributes
    ----------
    measured, measured_closed, measured_open
        Error on tasks of known class that are hidden among the others (in a rehearsal: whose gold
        the policy did not see), on those that are closed, and on the others; None without any.
    proven
        What an expert's checks prove, in a sentence; "" without.
    believed
        What may be said without a task of known class; "" with one.
    believed_error, believed_closed
        Mean chance of an error by the policy's own model, of all and of closed tasks.
    believed_range
        Errors that were made on recorded crowds where so much was believed; None where an error was
        measured, or nothing can be believed.
    audited
        What audits have come to, as `Collector.status` has it; None without.
    proven_error
        Share of the answers that may be wrong at most, by an audit; None without.
    loss
        What it costs to miss each class, by class; None where every error costs 1. ε is then an
        expected cost, and what was measured has `costs`.
    believed_cost
        Expected cost of an answer by the policy's own model; None without `loss`.
    """

    measured: GoldError | None
    measured_closed: GoldError | None
    measured_open: GoldError | None
    proven: str
    believed: str
    believed_error: float
    believed_closed: float | None
    believed_range: tuple[float, float] | None
    audited: dict[str, Any] | None = None
    proven_error: float | None = None
    loss: dict[str, float] | None = None
    believed_cost: float | None = None

    # ---- in sentences ----

    @property
    def asked(self) -> str:
        """What is asked."""
        if self.epsilon is None and self.total is None:
            return "Goal: labels of tasks as they arrive."
        costs = "" if self.loss is None else f", where {losses_in_words(self.loss)}"
        if self.epsilon is None:
            return f"Goal: the best answers that {shown(self.total, '.6g')} buys{costs}."
        of = "all answers" if self.mean else "the closed tasks"
        money = "" if self.total is None else f", with a budget of {shown(self.total, '.6g')}"
        if self.loss is not None:
            each = "an answer" if self.mean else "an answer that closes a task"
            return f"Goal: {each} costs at most {amount(self.epsilon)}{costs}{money}."
        return f"Goal: at most {percent(self.epsilon)} of {of} wrong{money}."

    def known(self) -> list[str]:
        """Say how wrong the answers are, as surely as it is known."""
        proven = [self.proven] if self.proven else []
        if self.measured is None:
            cost = f"By the policy's own model an answer costs {amount(self.believed_cost or 0.0)}."
            own = [cost] if self.believed_cost is not None and self.labels else []
            return [*proven, self.believed, *own]
        which = "the answers so far are" if self.state == "asking" else "the answers are"
        if self.proven and not self.audited:
            which = "before the checks the answers are"
        return [*proven, *self.measured.verdict(which, self.labels / max(self.tasks, 1))]

    def parts(self) -> list[str]:
        """Say how wrong the closed tasks are, which is all that ε promises, and the others."""
        closed, still_open = self.measured_closed, self.measured_open
        if closed is None or still_open is None or self.epsilon is None:
            return []
        if closed.costs is not None and still_open.costs is not None:
            own, rest = closed.costs, amount(still_open.costs.outcome.cost)
            low, high = (amount(end) for end in own.interval)
            cost = f"cost {amount(own.outcome.cost)} each (90 % interval {low} to {high})"
            return [f"The answers to the {self.closed} closed tasks {cost}, the others {rest}."]
        beside = still_open.measured
        rest = f"{percent(beside.error_measured)} (of {beside.tasks_measured} gold tasks)"
        wrong = closed.share(" are wrong")
        left = self.tasks - self.closed
        return [f"Of the {self.closed} closed tasks {wrong}; of the {left} open ones, {rest}."]

    def kept(self) -> list[str]:
        """Hold ε to the closed tasks, or to all in the mean, where it is not clearly kept."""
        held = self.measured if self.mean else self.measured_closed
        if self.epsilon is None or held is None or self.state == "asking":
            return []
        within = held.measured.error_interval if held.costs is None else held.costs.interval
        if within[1] <= self.epsilon:
            return []
        whose = "all answers" if self.mean else "the closed tasks"
        if held.costs is not None:
            most = f"{whose} cost at most {amount(self.epsilon)} each in the mean"
            if self.missed:
                return [f"The gold speaks against the goal that {most}."]
            return [f"The gold tasks are too few to tell whether {most}."]
        if self.missed:
            more = f"more than {percent(self.epsilon)} of {whose} seem to be wrong"
            return [f"The gold speaks against the goal: {more}."]
        most = f"at most {percent(self.epsilon)} of {whose} are wrong"
        return [f"The gold tasks are too few to tell whether {most}."]

    @property
    def missed(self) -> bool:
        """Whether the gold speaks against what was asked."""
        held = self.measured if self.mean else self.measured_closed
        return self.epsilon is not None and held is not None and held.misses(self.epsilon)

    # ---- in plain types ----

    def point(self) -> dict[str, Any]:
        """Give what a picture over time draws."""
        found = self.measured
        low, high = self.believed_range or (None, None)
        if found is not None and found.measured.tasks_measured:
            low, high = found.measured.error_interval
        return {
            "labels": self.labels + self.gold_labels,
            "cost": self.cost,
            "answered": self.answered,
            "closed": self.closed,
            "error": None if found is None else found.measured.error_measured,
            "low": low,
            "high": high,
            "proven": self.proven_error,
        }

    def drawn(self) -> dict[str, str]:
        """Write what a picture draws last, by the name of its line, in the words of the verdict."""
        now, lines = self.point(), dict[str, str]()
        if self.epsilon is not None and self.loss is None:
            lines["asked"] = f"{percent(self.epsilon)} at most"
        if now["low"] is not None:
            within = f"{percent(now['low'])} to {percent(now['high'])}"
            if now["error"] is None:
                lines["believed"] = within
            elif self.measured is not None and self.measured.measured.tasks_measured < FEW:
                lines["measured"] = within
            else:
                lines["measured"] = f"{percent(now['error'])} ({within})"
        if now["proven"] is not None:
            lines["proven"] = f"{percent(now['proven'], 3)} at most"
        return lines

    def _payload(self) -> dict[str, Any]:
        return {
            **super()._payload(),
            **payload_of(self.measured),
            "measured": self.measured is not None,
            "measured_closed": measured_payload(self.measured_closed),
            "measured_open": measured_payload(self.measured_open),
            "lead": self.lead(),
            "far": [self.far()[0], *self.parts()],
            "drawn": self.drawn(),
        }


def measured_payload(found: GoldError | None) -> dict[str, Any] | None:
    """What was measured of some tasks, as `to_dict` gives it."""
    if found is None:
        return None
    costs = {} if found.costs is None else {"cost_measured": cost_payload(found.costs)}
    return {**picked(found.measured, *MEASURED), **costs}


# ---- what is known ----


class Counted(NamedTuple):
    """Whether answers are right.

    Attributes
    ----------
    known
        Class of the tasks that count, −1 of all others, shape (n,).
    loss
        Of each task that counts, NaN without an answer.
    elsewhere
        Tasks that are of no use here, for they tell when to stop, shape (n,).
    named
        Which class each task that counts is answered by, a row of the unit matrix, NaN without an
        answer, shape (k, K); None where every error costs 1.
    stakes
        What errors cost; None where every error costs 1.
    """

    known: IntArray
    loss: FloatArray
    elsewhere: BoolArray | None = None
    named: FloatArray | None = None
    stakes: Stakes | None = None

    @classmethod
    def of(
        cls, belief: Belief, known: IntArray, ledger: Ledger, elsewhere: BoolArray | None = None
    ) -> Counted:
        """Hold what is answered against the known classes, −1 where they are not, shape (n,)."""
        loss, pool = belief.loss(known, ledger.counts), ledger.pool
        if pool.loss is None or belief.label is None:
            return cls(known, loss, elsewhere)
        said = belief.label[known >= 0]
        named = np.where((said >= 0)[:, None], np.eye(len(pool.loss))[said], np.nan)
        return cls(known, loss, elsewhere, named, Stakes(tuple(pool.classes.tolist()), pool.loss))

    def error(
        self, some: BoolArray, how: str = "", beside: MajorityError | None = None, whose: str = ""
    ) -> GoldError | None:
        """Count errors on some of the tasks, shape (n,); None where none of them is known."""
        known = np.flatnonzero(self.known >= 0)
        tasks = known[some[known]]
        if not len(tasks):
            return None
        left = some & (self.known < 0)
        if self.elsewhere is not None:
            left &= ~self.elsewhere
        here = some[known]
        named = None if self.named is None else self.named[here]
        found = count_errors(self.loss[here], tasks, int(left.sum()), named=named)
        costs = None if self.stakes is None else found.cost(self.stakes, self.known, beside)
        return GoldError(found, None, np.nan, how, beside, whose, costs=costs)


def believed_of(ledger: Ledger, error: float) -> tuple[str, tuple[float, float] | None]:
    """What may be said of answers that nobody measured, in a sentence and as a range.

    Parameters
    ----------
    ledger
        Labels, and perhaps hidden tasks, with which beliefs are brought into line.
    error
        Mean chance of an error, by the policy's own model.
    """
    if ledger.pool.hidden is not None:
        sentence = (
            f"Believed, in line with the hidden tasks: {percent(error)} of the answers are wrong."
        )
        return sentence, None
    if not len(ledger.labels):
        return "How many are wrong cannot be known: nobody has labelled anything yet.", None
    if why := untold(ledger.votes()):
        return why, None
    found = error_range(error)
    return found.sentence(), (found.low, found.high)


def believed_costs(belief: Belief, pool: Pool) -> dict[str, Any]:
    """What errors cost, and an answer in the mean as it is believed, as `Standing` has both."""
    if pool.loss is None:
        return {}
    loss = dict(zip(map(str, pool.classes.tolist()), pool.loss.tolist(), strict=True))
    weighed = belief.posterior * pool.loss
    if belief.label is not None:
        weighed *= belief.label[:, None] != np.arange(len(pool.loss))
    return {"loss": loss, "believed_cost": float(weighed.sum() / max(len(weighed), 1))}


# ---- a live collection ----


def standing(collector: Collector) -> Standing | RatingStanding:
    """Say where a collection stands: what is asked, known and how surely, to come, and to do next.

    Parameters
    ----------
    collector
        A collection, in memory or opened from its journal.

    Returns
    -------
    Standing; of ratings RatingStanding
        Of ratings errors are in points.

    Examples
    --------
    >>> import workbench as wb
    >>> tasks = ["a", "b"]
    >>> collector = wb.Collector(tasks, ["ann"], classes=["no", "yes"], total=2, policy="fixed")
    >>> collector.tell("ann", {asked.task: "yes" for asked in collector.next("ann", 2)})
    >>> found = wb.standing(collector)
    >>> found.state, found.answered, found.cost
    ('spent', 2, 2.0)
    >>> found.verdict()[-1]
    '2 labels bought (1 a task).'
    """
    if collector.scale is not None:
        return rating_standing(collector)
    found = to_come(known_so_far(collector), collector)
    return replace(found, steps=tuple(_steps(found, collector)))


def known_so_far(collector: Collector) -> Standing:
    """Say what was asked, what is there and what is known; not what is to come, which takes longer.

    It is taken to go on asking, unless the owner has halted it.
    """
    running, status = collector._now, collector.status()
    belief, ledger = running.policy.belief(), running.ledger
    hidden = ledger.pool.hidden
    measured = measured_closed = measured_open = None
    sentence, within = "", None
    if hidden is not None:
        many = int((hidden >= 0).sum())
        sentence = f"How many are wrong is not known yet: none of {many} hidden tasks has a label."
        heard = np.where(ledger.counts > 0, hidden, -1)
        known = Counted.of(belief, heard, ledger)
        measured = known.error(np.ones(len(hidden), dtype=bool), HOW_HIDDEN)
        measured_closed, measured_open = known.error(belief.closed), known.error(~belief.closed)
    else:
        sentence, within = believed_of(ledger, status["believed_error"])
    return Standing(
        **counted_so_far(collector),
        measured=measured,
        measured_closed=measured_closed,
        measured_open=measured_open,
        proven=_proven(status["audited"], status["tasks"]),
        believed="" if measured is not None else sentence,
        believed_error=status["believed_error"],
        believed_closed=overall(belief, belief.closed),
        believed_range=within,
        audited=status["audited"],
        proven_error=None if status["audited"] is None else status["audited"]["bound"],
        **believed_costs(belief, ledger.pool),
    )


def _proven(audited: dict[str, Any] | None, tasks: int) -> str:
    """What audits prove so far, in a sentence."""
    if audited is None:
        return ""
    checks = counted(audited["checks"], "check")
    if audited["stage"] != "certified":
        return f"An audit is {audited['stage']}: {checks} so far, {audited['errors']} wrong."
    return (
        f"Proven: at most {percent(audited['bound'], 3)} of the {tasks:,} answers are wrong, with "
        f"{percent(1 - audited['risk'], 6)} confidence, whatever the crowd, after {checks}."
    )


def _steps(found: Standing, collector: Collector) -> list[Step]:
    """What to do next with a live collection."""
    store = shlex.quote(str(as_typed(collector.path)))
    change = f"workbench collect change {store}"
    if going := going_on(found, store, resumes=found.proven == ""):
        return going
    steps = more_people(found, store)
    if found.state in ("exhausted", "newcomers", "spent"):
        steps += accept(found, f"{change} --epsilon ")
    proof = f"workbench collect audit {store}"
    if found.audited is None:
        steps += _prove(found, collector, f"{proof} --price PRICE")
    elif found.audited["stage"] == "under way":
        steps.append(Step("prove", "go on with the audit", proof))
    if found.state in ("exhausted", "spent"):
        steps += more_money(found, f"{change} --total ")
    if found.measured is None and found.epsilon is not None:
        command = "workbench collect start NEW --hidden known.csv …"
        many = min(HIDDEN, found.tasks // 2)
        says = f"hide {many} tasks of known class among the others next time"
        steps += [Step("hide", says, command)] * (many > 1)
    return [*by_help(steps, found)[: MOST_STEPS - 1], answers_step(store)]


def accept(found: Standing, command: str) -> list[Step]:
    """Accept the error that was measured, where that is more than was asked."""
    held = found.measured
    few = held is None or held.measured.tasks_measured < FEW
    if held is None or few or found.epsilon is None or found.proven:
        return []
    made = held.measured.error_measured if held.costs is None else held.costs.outcome.cost
    error = math.ceil(100 * float(made or 0.0) - 1e-9) / 100
    if not found.epsilon < error < 0.5:
        return []
    says = f"accept {percent(error)}" if held.costs is None else f"accept a cost of {error:g}"
    return [Step("accept", says, f"{command}{error:g}", error)]


def _prove(found: Standing, collector: Collector, command: str) -> list[Step]:
    """Let an expert prove what was asked; about how many checks that takes."""
    if found.epsilon is None or not found.answered or found.loss is not None:
        return []
    checks = _checks(collector, found.epsilon)
    says = f"prove {percent(found.epsilon)}: about {checks:,} checks by an expert"
    return [Step("prove", says, command, checks)]


def _checks(collector: Collector, error: float) -> int:
    """About how many checks an audit takes, with as many errors as the hidden tasks have."""
    hidden, gold = collector.ledger.pool.hidden, None
    if hidden is not None:
        names, classes = list(collector.tasks), list(collector.classes)
        gold = {names[at]: classes[int(hidden[at])] for at in np.flatnonzero(hidden >= 0).tolist()}
    return math.ceil(expected_checks(collector.answers(), error, gold=gold))
