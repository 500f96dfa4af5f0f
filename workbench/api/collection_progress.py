"""How far a collection is, whatever kind of answers it has: bought, to come, what to do next."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from workbench.api.result import Result, facts
from workbench.base.arrays import BoolArray
from workbench.base.errors import InputError
from workbench.base.text import counted, shown
from workbench.collection.policy import AnyBelief, closing, priced

if TYPE_CHECKING:
    from workbench.collection.collector import Collector
    from workbench.collection.running import Running

State: TypeAlias = Literal[
    "asking", "waiting", "reached", "spent", "exhausted", "newcomers", "paused", "closed"
]
"""Whether more is asked, or why not: questions are open; all is closed; money; nobody here has more
to give, and nobody may come, or somebody may; the owner.
"""
NO_HELP = "No label that these workers can still give is expected to help"


class Step(NamedTuple):
    """Something to do next.

    Attributes
    ----------
    kind
        A word for programs: people, accept, prove, budget, hide, gold, ask, wait, resume, answers.
    says
        In words.
    command
        Which does it; "" where none does.
    value
        The error to accept, the budget, or the number of checks; None of the others.
    """

    kind: str
    says: str
    command: str
    value: float | None = None


MOST_STEPS = 4


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CollectionProgress(Result):
    """How far a collection is: asked, bought, to come, and what to do next.

    Attributes
    ----------
    epsilon, mean, total
        What is asked: the error of each task, or of all in the mean, and the budget; None without.
    tasks, answered, closed
        Tasks, those with an answer, and those about which nothing more is asked.
    labels, gold_labels, on_record, waiting
        Labels of tasks and of gold tasks that were bought; those that were there from the start,
        which cost nothing; questions that are open.
    newcomers
        How many may come who have not been here.
    cost
        Price of what was asked and not given up.
    policy
        Who decides whom to ask.
    state
        "asking", or why nothing is asked: "waiting" for open questions, "reached" what was asked,
        "spent" the budget, "exhausted" what these people can tell, "newcomers" where somebody else
        may still come, "paused" or "closed" by the owner.
    left_open
        Tasks that are not closed, `task, cost`: the expected price of the labels that would close
        each, infinite (None in `to_dict`) where none that can be had would. None where the policy
        cannot say.
    reach
        That the error asked for cannot be had here, and why; "" where it can.
    people_help
        Whether labels of more people may close tasks that are open.
    notes
        What the reader must know of workers and tasks.
    steps
        What to do next, four at most; more people last where they would not help.
    """

    epsilon: float | None
    mean: bool
    total: float | None
    tasks: int
    answered: int
    closed: int
    labels: int
    gold_labels: int
    on_record: int
    waiting: int
    cost: float
    policy: str
    state: State
    left_open: pd.DataFrame | None
    reach: str
    people_help: bool = True
    newcomers: int = 0
    notes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def asked(self) -> str:
        """What is asked."""
        raise NotImplementedError

    def known(self) -> list[str]:
        """Say how wrong the answers are, as surely as it is known."""
        raise NotImplementedError

    def parts(self) -> list[str]:
        """Say how wrong the closed tasks are, and the others."""
        return []

    def kept(self) -> list[str]:
        """Hold ε to what was measured, where it is not clearly kept."""
        raise NotImplementedError

    def why(self) -> str:
        """Say whether more is asked, or why not."""
        many = self.tasks - self.closed
        if self.state == "asking":
            if self.epsilon is None or not many:
                return "Still asking."
            cost = "what closing them will cost is not known yet"
            more = closing(self.left_open, self._unit()) if self.closable() else cost
            return f"Still asking; {counted(many, 'task')} {_are(many)} open: {more}."
        if self.state == "waiting":
            come = "comes" if self.waiting == 1 else "come"
            return f"Nothing more is asked until {counted(self.waiting, 'label')} {come}."
        if self.state == "newcomers":
            come = (
                f"{self.newcomers} more may come" if self.labels else f"{self.newcomers} may come"
            )
            here = NO_HELP if self.labels else "Nobody is asked yet"
            return " ".join([*[self.reach] * bool(self.reach), f"{here}; {come}."])
        if self.state == "exhausted":
            return self.reach or f"{NO_HELP}."
        return {
            "reached": "Every task is closed: nothing more is asked.",
            "spent": "The budget is spent.",
            "paused": "Paused: nothing new is asked.",
            "closed": "Closed: nothing more is asked.",
        }[self.state]

    def far(self) -> list[str]:
        """Say what was bought, how many tasks are closed, and how many have no answer."""
        labels = self.labels + self.gold_labels
        gold = f", {self.gold_labels} of them of gold tasks" if self.gold_labels else ""
        each = f"({self.labels / max(self.tasks, 1):.3g} a task)"
        cost = "" if self.waiting or self.cost == labels else f" for {shown(self.cost, '.6g')}"
        waits = ""
        if self.waiting and self.cost == labels + self.waiting:
            waits = f"; {counted(self.waiting, 'question')} {_are(self.waiting)} open"
        elif self.waiting:
            spent = shown(self.cost, ".6g")
            waits = f"; with {counted(self.waiting, 'open question')} they cost {spent}"
        closed = self._closed()
        bought = f"{counted(labels, 'label')} bought{cost}{gold} {each}{waits}."
        sentences = [f"{bought} {closed}." if closed else bought]
        if blank := self.tasks - self.answered:
            yet = " yet" if self.state == "asking" else ""
            have = "has" if blank == 1 else "have"
            sentences.append(f"{blank:,} of {self.tasks:,} tasks {have} no answer{yet}.")
        return sentences

    def _closed(self) -> str:
        """Say how many tasks are closed, and what the others are; nothing where none can be."""
        if self.epsilon is None and not self.closed:
            return ""
        left = self.tasks - self.closed
        closed = f"{self.closed} of {self.tasks} tasks are closed, sure enough to ask no more"
        if not self.closed:
            closed = f"None of {self.tasks} tasks is closed"
        if not left or (self.state == "asking" and not self.closed):
            return closed
        so_far = "" if self.state == "asking" else "left "
        still = f"; {left} {_are(left)} {so_far}open" if self.closed else ""
        cost = "" if self.state == "asking" else closing(self.left_open, self._unit())
        return f"{closed}{still}{cost and f': {cost}'}"

    def _unit(self) -> str:
        """What a cost is counted in: labels where each of them cost 1."""
        bought = self.labels + self.gold_labels
        return "labels" if bought and self.cost == bought + self.waiting else ""

    def closable(self) -> bool:
        """Whether labels that can be had are expected to close an open task."""
        left = self.left_open
        return left is not None and bool(np.isfinite(left["cost"].to_numpy(dtype=np.float64)).any())

    def lead(self) -> list[str]:
        """Say in a few sentences what was asked, what is known, and whether more is asked."""
        return [self.asked, *self.known(), *self.kept(), self.why()]

    def verdict(self) -> list[str]:
        """Say all of it: the lead, how far it is, and the policy's notes."""
        return [*self.lead(), *self.far(), *self.parts(), *self.notes]

    def next(self) -> str:
        """Say in a sentence what to do next."""
        steps = [
            f"{step.says} ({step.command})" if step.command else step.says for step in self.steps
        ]
        if not steps:
            return ""
        *first, last = steps
        return f"Next: {', '.join(first)}{', or ' if first else ''}{last}."

    def brief(self) -> str:
        """Lay out what to do next, a command each."""
        if not self.steps:
            return ""
        head = "Next:" if len(self.steps) == 1 else "Next, one of:"
        return f"{head}\n" + facts([step[1:3] for step in self.steps], indent="  ")

    def details(self) -> str:
        """Give the verdict and the steps."""
        return f"{' '.join(self.verdict())}\n\n{self.brief()}"

    def to_frame(self) -> pd.DataFrame:
        """Give what to do next, a row a step: `kind, says, command, value`."""
        return pd.DataFrame(self.steps, columns=Step._fields)

    def _payload(self) -> dict[str, Any]:
        return {
            **super()._payload(),
            "asked": self.asked,
            "verdict": self.verdict(),
            "left_open": priced(self.left_open),
            "money_left": None if self.total is None else self.total - self.cost,
            "steps": [step._asdict() for step in self.steps],
            "halted": self.state if self.state in ("paused", "closed") else "",
        }


def _are(many: int) -> str:
    return "is" if many == 1 else "are"


P = TypeVar("P", bound=CollectionProgress)


def counted_so_far(collector: Collector) -> dict[str, Any]:
    """What was asked and what is there, for `CollectionProgress`; taken to go on asking."""
    running, status = collector._now, collector.status()
    setup = running.setup
    same = ("tasks", "answered", "closed", "labels", "gold_labels", "on_record", "waiting", "cost")
    return {
        "epsilon": setup.epsilon,
        "mean": setup.mean,
        "total": setup.total,
        **{name: status[name] for name in same},
        "newcomers": len(setup.hands) - len(running.names),
        "policy": setup.policy,
        "state": running.halted or "asking",
        "left_open": None,
        "reach": "",
        "notes": tuple(status["notes"]),
    }


def to_come(found: P, collector: Collector) -> P:
    """Say whether more is asked, what is left open and why; what `counted_so_far` leaves out."""
    running = collector._now
    state = state_of(collector, running, found)
    return replace(
        found,
        state=state,
        left_open=collector.left_open() if found.epsilon is not None else None,
        reach="" if state == "asking" else running.policy.out_of_reach(),
        people_help=state == "asking" or running.policy.people_help(),
    )


def overall(belief: AnyBelief, some: BoolArray) -> float | None:
    """How wrong the answers to some tasks are believed to be; None of none."""
    return belief.overall(some) if some.any() else None


def going_on(found: CollectionProgress, store: str, *, resumes: bool = True) -> list[Step]:
    """What to do with a collection that goes on, or may; nothing where it has ended.

    Parameters
    ----------
    store
        Its journal, as typed.
    resumes
        Whether one that is paused is to go on.
    """
    if found.state == "asking":
        return [Step("ask", "go on asking", f"workbench collect next {store}")]
    if found.state == "waiting":
        command = f"workbench collect tell {store} --missing pairs.csv"
        return [Step("wait", "tell the labels when they come, or give them up", command)]
    if found.state == "paused" and resumes:
        resume = Step("resume", "go on asking", f"workbench collect change {store} --halt no")
        return [resume, answers_step(store)]
    if found.state == "newcomers" and not found.labels:
        return [somebody_new(store)]
    return []


def answers_step(store: str) -> Step:
    """Take the answers."""
    return Step("answers", "take the answers", f"workbench collect answers {store} --out A.csv")


def somebody_new(store: str) -> Step:
    """Ask somebody who has not been here."""
    return Step("people", "ask somebody new", f"workbench collect next {store} --worker NAME")


def more_people(found: CollectionProgress, store: str) -> list[Step]:
    """Ask somebody new, or let more people come, where those who are here tell no more."""
    if found.state == "newcomers":
        return [somebody_new(store)]
    if found.state == "exhausted":
        command = f"workbench collect change {store} --newcomers 1"
        return [Step("people", "add people", command)]
    return []


def state_of(collector: Collector, running: Running, found: CollectionProgress) -> State:
    """Whether more is asked, or why not."""
    if running.halted:
        return running.halted
    over = running.policy.is_over()
    if over and running.policy.is_behind():
        over = None  # a fit to all labels may ask more
    if over is None:
        try:
            over = not collector.asks_more()
        except InputError:  # a policy that asks whoever comes, one by one
            over = False
    if not over or (found.epsilon is None and found.total is None):
        return "asking"
    if running.waiting:
        return "waiting"
    if found.tasks and found.closed == found.tasks:
        return "reached"
    ledger = running.ledger
    spent = ledger.money < ledger.pool.price.min() - 1e-9
    if spent or (found.epsilon is None and found.labels and not found.newcomers):
        return "spent"
    return "newcomers" if found.newcomers else "exhausted"


def by_help(steps: list[Step], found: CollectionProgress) -> list[Step]:
    """Put more people last where they would not help."""
    return sorted(steps, key=lambda step: step.kind == "people" and not found.people_help)


def more_money(found: CollectionProgress, command: str) -> list[Step]:
    """Raise the budget to what closing the open tasks is expected to cost."""
    if found.total is None:
        return []
    if found.epsilon is None:
        return [Step("budget", "raise the budget", f"{command}MORE")] * (found.state == "spent")
    if found.left_open is None or not found.closable():
        return []
    cost = found.left_open["cost"].to_numpy(dtype=np.float64)
    total = math.ceil(found.cost + float(cost[np.isfinite(cost)].sum()))
    return [Step("budget", f"raise the budget to {total:,}", f"{command}{total}", total)]
