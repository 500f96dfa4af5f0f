"""Labels or checks, what to pay for next; audits one after another until one certifies.

Once labels have been bought their answers are fixed, and an audit of them begins. If it shows that
more errors are left than believed, more labels may be cheaper than the checks to come. Then this
audit is given up, labels are bought, and another audit draws anew. Each audit has its share of α,
named before the first: .7, .2, .1. So the chance that any of them certifies falsely
is α at most. What an expert has labelled stays as she said, and is not drawn again: the next audit
is of the other answers, of which as many may be wrong as before.

Which is cheaper is a forecast, and has no bearing on what is proven:

- Checks to come are those of the fluid limit (`plan`), at the rates that checks so far foretell.
- Labels that halve the error believed cost what halving it has cost so far, from the error of a
  guess on. They lower the log-odds of every bin by log 2 times the slope of the line that the
  checks draw through beliefs: little, where beliefs tell little.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from workbench.auditing.design import LEAST_EVIDENCE, MIXTURE, due
from workbench.auditing.draws import new_seed, point
from workbench.auditing.forecast import fit_line, recalibrated, within
from workbench.auditing.plan import fluid_plan
from workbench.auditing.state import AuditState, most_wrong
from workbench.auditing.strata import stratify
from workbench.base.arrays import BoolArray, FloatArray, IntArray

SHARES = (0.7, 0.2, 0.1)
"""Of α, for each of the audits that there are at most."""
HALVINGS = (1, 2, 3, 4, 5, 6)
"""Times that labels may halve the error before the next audit."""
MOST_HALVINGS = 10
"""Of the error believed, in all."""
GAIN = 0.8
"""Share of the cost of going on with an audit below which giving it up pays."""


def risk_of(number: int, risk: float) -> float:
    """Give the share of α of an audit, the first being number 0."""
    return SHARES[number] * risk


def error_of_rest(error: float, tasks: int, rest: int) -> float:
    """Give ε′ at which as many of the rest may be wrong as of all: ⌊ε′ rest⌋ = ⌊ε tasks⌋."""
    if rest == tasks:
        return error
    return min((most_wrong(error, tasks) + 0.5) / rest, 1.0 - 1e-9)


class Spending(NamedTuple):
    """What labels have cost, and what they have come to.

    `check` is the price of an expert's check, `labels` what all labels have cost, `believed` the
    mean error that is believed, and `guess` that of an answer without labels.
    """

    check: float
    labels: float
    believed: float
    guess: float

    @property
    def halving(self) -> float:
        """Price of labels that halve the error."""
        halved = math.log2(max(self.guess / max(self.believed, 1e-6), 2.0))
        return self.labels / halved


@dataclass(frozen=True)
class NextExpense:
    """What to pay for next.

    Attributes
    ----------
    to
        A check, or labels first.
    checks
        That are expected until the certificate, if the audit goes on.
    cost
        Of these.
    halvings
        Of the error believed, by labels, if these come first: the best number.
    cost_labels_first
        Of these labels and of the audit after them; infinite where no audit may follow.
    """

    to: Literal["check", "label"]
    checks: float
    cost: float
    halvings: int
    cost_labels_first: float


def next_expense(state: AuditState, number: int, risk: float, spending: Spending) -> NextExpense:
    """Say what to pay for next: checks, or labels first.

    Parameters
    ----------
    state
        The audit, under way or before its first draw.
    number
        Of the audit, 0 the first.
    risk
        α of all audits.
    spending
        So far.
    """
    rate, slope, left = _forecast(state)
    need = max(state.need - max(state.evidence, 0.0) + MIXTURE, LEAST_EVIDENCE)
    spare = float(max(state.most - len(state.refused), 0))
    checks = float(fluid_plan(left, rate, spare, need).checks)
    cost = spending.check * checks
    fresh = state.checks == 0
    if number + 1 == len(SHARES) and not fresh:
        return NextExpense("check", checks, cost, 0, math.inf)
    anew = math.log(1.0 / risk_of(number + (not fresh), risk)) + MIXTURE
    times = np.array(HALVINGS)
    plan = fluid_plan(left, _halved(rate, slope, times), spare, anew)
    costs = times * spending.halving + spending.check * plan.checks
    best = int(np.argmin(costs))
    to: Literal["check", "label"] = "label" if costs[best] < GAIN * cost else "check"
    return NextExpense(to, checks, cost, HALVINGS[best], float(costs[best]))


def _forecast(state: AuditState) -> tuple[FloatArray, float, FloatArray]:
    """Rate of each bin, slope of the line, tasks left in each bin."""
    odds, sure = state.strata.log_odds, state.strata.sure
    left, checked, wrong = state.by_bin()
    checked, wrong = np.where(sure, 0.0, checked), np.where(sure, 0.0, wrong)
    line = fit_line(odds, checked, wrong)
    rate = np.where(sure, 0.98, recalibrated(line, odds, checked, wrong))
    return rate, float(np.clip(line.slope, 0.0, 1.0)), left


def _halved(rate: FloatArray, slope: float, times: IntArray) -> FloatArray:
    """Rate of each bin once the error believed is halved so many times, shape (times, bins)."""
    odds = np.log(rate / (1.0 - rate)) - slope * times[:, None] * math.log(2.0)
    return within(1.0 / (1.0 + np.exp(-odds)))


class Batch(NamedTuple):
    """Answers as the labels so far have them, shapes (tasks,), and what all labels have cost."""

    wrong: BoolArray
    believed: FloatArray
    unanswered: BoolArray
    spent: float


def batch_of(
    label: ArrayLike, confidence: ArrayLike, truth: ArrayLike, classes: int, spent: float
) -> Batch:
    """Make a batch of answers, None or a class, and what is believed of them."""
    label = np.asarray(label, dtype=object)
    unanswered = np.array([answer is None for answer in label.tolist()], dtype=bool)
    believed = np.where(unanswered, 1.0 - 1.0 / classes, 1.0 - np.asarray(confidence))
    return Batch(label != np.asarray(truth), believed, unanswered, spent)


@dataclass(frozen=True)
class AuditOfLoop:
    """One audit of a rehearsal.

    Attributes
    ----------
    risk
        Its share of α.
    spent
        On labels before it.
    checks, errors
        Tasks checked, and wrong answers among them.
    certified
        Whether it ended with its certificate; it was given up otherwise.
    """

    risk: float
    spent: float
    checks: int
    errors: int
    certified: bool


@dataclass(frozen=True, eq=False)
class LoopRun:
    """How a rehearsal ended: always with a certificate, at worst when all is checked.

    Attributes
    ----------
    audits
        In their order; the last is certified.
    batch
        The last answers.
    checked
        Answers that the expert checked, and corrected where they were wrong, shape (tasks,).
    most
        k: so many answers may still be wrong.
    """

    audits: tuple[AuditOfLoop, ...]
    batch: Batch
    checked: BoolArray
    most: int

    @property
    def checks(self) -> int:
        """Checks of all audits."""
        return sum(audit.checks for audit in self.audits)

    @property
    def wrong(self) -> int:
        """Answers that are wrong in the end, by the expert's word."""
        return int((self.batch.wrong & ~self.checked).sum())

    @property
    def holds(self) -> bool:
        """Whether no more answers are wrong than was certified."""
        return self.wrong <= self.most


def rehearse_loop(
    buy: Callable[[int], Batch | None],
    *,
    error: float,
    risk: float,
    check: float,
    guess: float,
    seed: int | None,
) -> LoopRun:
    """Buy labels, audit, and buy more where that is cheaper, until an audit certifies.

    Parameters
    ----------
    buy
        Gives the answers once labels have brought the error believed to its goal, halved so many
        times: 0 at first. None where there are no more labels to buy.
    error, risk
        ε, the share of the answers that may be wrong, and α of all audits together.
    check
        Price of a check.
    guess
        Error of an answer without labels.
    seed
        Of the audits' draws; from the operating system where None.
    """
    batch = buy(0)
    if batch is None:
        raise ValueError("there are no answers to begin with")
    tasks = len(batch.wrong)
    checked = np.zeros(tasks, dtype=bool)
    secret, halvings, last, more = new_seed(seed), 0, 0, True
    audits: list[AuditOfLoop] = []
    while True:
        number = len(audits)
        rest = np.flatnonzero(~checked)
        state = _begun(batch, rest, error, risk_of(number, risk))
        spending = Spending(check, batch.spent, float(batch.believed.mean()), guess)
        bought = None
        while not state.ended:
            count = state.checks
            if more and (count == 0 or due(count, last)):
                last = count
                expense = next_expense(state, number, risk, spending)
                if expense.to == "label":
                    halvings += expense.halvings
                    bought = buy(halvings) if halvings <= MOST_HALVINGS else None
                    if bought is not None:
                        break
                    more = False
            drawn = state.draw(point(secret, number << 32 | count))
            state.hear(count, bool(batch.wrong[rest[drawn.task]]))
        if state.checks or bought is None:
            checked[rest[[drawn.task for drawn in state.draws]]] = True
            risk_here = risk_of(number, risk)
            row = AuditOfLoop(risk_here, batch.spent, state.checks, state.errors, state.certified)
            audits.append(row)
        if bought is None:
            return LoopRun(tuple(audits), batch, checked, most_wrong(error, tasks))
        batch = bought


def _begun(batch: Batch, rest: IntArray, error: float, risk: float) -> AuditState:
    strata = stratify(batch.believed[rest], batch.unanswered[rest])
    return AuditState(strata, error_of_rest(error, len(batch.wrong), len(rest)), risk)
