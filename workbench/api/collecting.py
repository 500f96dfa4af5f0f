"""`collect`: the closed loop on a simulated or recorded crowd, from the first label to the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.accuracy.measured import MajorityError, majority_error
from workbench.api import inputs
from workbench.api.audited import AuditedAnswers, AuditedRehearsal
from workbench.api.collection_progress import Step, by_help, overall
from workbench.api.costs import amount
from workbench.api.inputs import Ids, Table, Truth
from workbench.api.measuring import GoldError
from workbench.api.rating_collecting import RatingCollection, rating_collection, truths
from workbench.api.result import Figure, Result, facts, listed, page, percent
from workbench.api.simulation import SimulatedCrowd
from workbench.api.standing import (
    Counted,
    Standing,
    accept,
    believed_costs,
    believed_of,
)
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import stream
from workbench.base.text import Columns, shown
from workbench.collection import POLICIES
from workbench.collection.answers import Answers, Collected, rehearse
from workbench.collection.collector import Collector
from workbench.collection.policy import (
    AnyBelief,
    Goal,
    Policy,
    left_open,
    refuse_kind,
    refuse_losses,
)
from workbench.collection.pool import HIGHEST_PRICE, Ledger, Pool, Questions
from workbench.collection.recorded import recorded
from workbench.collection.registry import default_policy
from workbench.collection.setup import (
    ClosingRules,
    People,
    check_goal,
    check_known,
    check_people,
    losses_of,
    refuse_classes,
)
from workbench.crowd import align, tables
from workbench.crowd.kinds import Classes, Scale
from workbench.crowd.libraries import to_pandas
from workbench.crowd.replay import split_gold
from workbench.crowd.simulate import SimulatedLabels, task_types, truth
from workbench.solving.expert_informed import read_prior
from workbench.solving.ignorance import unknown_skills_bound
from workbench.solving.information import information_limit

IDS = ("task", "worker", "label")
SHOWN, BRIEF = 10, 5
"""Tasks that are printed among the details, and below the verdict."""
LARGEST_CROWD = 2**27
"""Pairs whose labels a rehearsal draws: eight bytes each."""
STEP = 1.25
"""Labels at a point of the curve, in labels at the point before; the first has half a task's."""
COLUMNS: Columns = {
    "task": ("task", ""),
    "label": ("label", lambda label: "" if pd.isna(label) else str(label)),
    "confidence": ("confidence", ".4f"),
    "closed": ("closed", lambda closed: "yes" if closed else "no"),
}
EXPERT = "an expert check the answers ('workbench audit')"
BLIND = "whose answer the policy did not know"
EVENLY = "a majority of evenly drawn labels for the same money"


STANDING = frozenset(
    {
        "labels",
        "gold_labels",
        "on_record",
        "cost",
        "closed",
        "tasks",
        "policy",
        "measured",
        "measured_closed",
        "measured_open",
        "believed",
        "believed_error",
        "believed_closed",
        "left_open",
    }
)
"""What a `Collection` has of its `Standing` by the same name."""


@dataclass(frozen=True, eq=False, repr=False)
class Collection(Result):
    """What a policy asked, what it cost, and how wrong its answers are.

    Attributes
    ----------
    title
        What was collected from.
    answers
        One row a task: `task, label, confidence, closed`.
    curve
        How it came about: `labels, gold_labels, cost, answered, closed, believed_error, error`, a
        row now and then; the last row is the end.
    standing
        Where it stands: what was bought, how wrong the answers are, what is left open, what to do
        next. What it holds has an attribute here too: `labels`, `cost`, `closed`, `measured`, …
    limit
        What any policy of this measured error pays at least, in expectation, even one that knows
        all skills; None where skills are not known.
    settings, notes
        What was asked for, and what the reader must know.
    simulated
        Whether the crowd is simulated.
    audited
        What an expert's checks prove, where the rehearsal had one. `answers` are then as she
        corrected them, with columns `checked` and `corrected`; the errors above are the crowd's.
    limit_unknown
        What any policy of this measured error pays at least, in expectation, that knows the prior
        of skills and nobody's; None where no prior is given.
    """

    title: str
    answers: pd.DataFrame
    curve: pd.DataFrame
    standing: Standing
    limit: float | None
    settings: dict[str, Any]
    notes: tuple[str, ...]
    simulated: bool = False
    audited: AuditedAnswers | None = None
    limit_unknown: float | None = None
    pictured = True

    def __getattr__(self, name: str) -> Any:
        if name in STANDING:
            return getattr(self.standing, name)
        raise AttributeError(f"a Collection has no attribute {name!r}")

    @property
    def unanswered(self) -> int:
        """Tasks without an answer."""
        return self.standing.tasks - self.standing.answered

    @property
    def error(self) -> float | None:
        """Share of wrong answers, those that are missing among them; None where not measured."""
        return _error(self.measured)

    @property
    def error_interval(self) -> tuple[float, float] | None:
        """90 % interval of the error of the tasks whose class is not known, or of further ones."""
        return None if self.measured is None else self.measured.measured.error_interval

    @property
    def error_majority(self) -> float | None:
        """Share of wrong answers on the same tasks by a majority for the same money."""
        beside = None if self.measured is None else self.measured.majority
        return None if beside is None else beside.error

    @property
    def error_closed(self) -> float | None:
        """Share of wrong answers on closed tasks; None where not measured."""
        return _error(self.measured_closed)

    def to_frame(self) -> pd.DataFrame:
        """Give one row a task: `task, label, confidence, closed`."""
        return self.answers

    def verdict(self) -> list[str]:
        """Say what was bought, how wrong the answers are, and a majority for the same money."""
        now = self.standing
        out = [now.reach] if now.reach else []
        sentences = [*now.far(), *now.known(), *now.parts(), *now.kept(), *out, now.next()]
        return [sentence for sentence in sentences if sentence]

    def brief(self) -> str:
        """Lay out the first answers."""
        return listed(self.answers, COLUMNS, BRIEF)

    def details(self) -> str:
        """Give all that is known: money, limit, notes."""
        cost = shown(self.cost, ".6g")
        rows = [
            ("labels", f"{self.labels} ({self.labels / self.tasks:.3g} a task)"),
            ("gold labels", str(self.gold_labels)),
            *([("on record", f"{self.on_record} more, counted at no cost")] * bool(self.on_record)),
            ("cost", cost),
            ("closed", f"{self.closed} of {self.tasks} tasks"),
            ("error", "not measured" if self.measured is None else self.measured.share()),
            *_cost_row(self.measured),
            *_measured_row("closed tasks", self.standing.measured_closed),
            *_measured_row("open tasks", self.standing.measured_open),
            ("believed error", f"{self.believed_error:.4f}, by the policy's own model"),
        ]
        if self.limit is not None:
            rows.append(
                ("limit", f"{self.limit:.6g}, the least that any policy of this error pays")
            )
        if self.limit_unknown is not None:
            times = self.cost / max(self.limit_unknown, 1e-300)
            rows.append(
                (
                    "skills unknown",
                    f"{self.limit_unknown:.6g}, the least that any policy of this error pays who "
                    f"knows the prior alone: the cost is {times:.3g} times that",
                )
            )
        return page(
            self.title, facts(rows, 16), listed(self.answers, COLUMNS, SHOWN), notes=self.notes
        )

    def plot(self) -> Figure:
        """Draw error against cost, and how many tasks are answered and closed."""
        from workbench.plots import collected

        now, said = self.standing.point(), self.standing.drawn()
        if self.error_majority is not None:
            said["majority"] = percent(self.error_majority, 3)
        return collected(
            self.curve,
            tasks=self.tasks,
            epsilon=self.standing.epsilon if self.standing.loss is None else None,
            limit=self.limit,
            within=None if now["low"] is None else (now["low"], now["high"]),
            majority=self.error_majority,
            model=self.simulated,
            said=said,
            title=self.title.rsplit(", seed", 1)[0],
        )

    def _payload(self) -> dict[str, Any]:
        payload = {**super()._payload()}
        now = payload.pop("standing").to_dict()
        del now["schema"], now["halted"], now["waiting"], now["state"], now["proven"]
        return {
            **now,
            **payload,
            "answers": self.answers.to_dict("records"),
            "curve": self.curve.to_dict("records"),
            "error": self.error,
            "error_closed": self.error_closed,
            "unanswered": self.unanswered,
            "audited": None if self.audited is None else self.audited.to_dict(),
        }


@dataclass(frozen=True)
class KnownTasks:
    """Tasks of known class, and what they serve for.

    Parameters
    ----------
    control
        Recorded: share of the gold that serves to judge workers by.

        Their labels are bought too; the other tasks with gold measure the error.
    hidden
        Recorded: share of the other gold that decides when to stop.

        These tasks are asked about like all tasks, their class unknown to the model; they tell
        "until-trusted" how far its model may be trusted when it closes a task. They do not measure
        the error.
    hidden_tasks
        Recorded: how many gold tasks decide when to stop, in place of a share.
    gold_tasks
        Simulated: tasks of known class, to judge workers by.

    Examples
    --------
    >>> import workbench as wb
    >>> crowd = wb.simulate(tasks=20, workers=10, skill=0.95)
    >>> result = wb.collect(crowd, total=60, known=wb.KnownTasks(gold_tasks=2))
    >>> result.labels, result.gold_labels
    (48, 12)
    """

    control: float = 0.0
    hidden: float = 0.0
    hidden_tasks: int = 0
    gold_tasks: int = 0


def collect(
    labels: Table | SimulatedCrowd,
    gold: Truth | None = None,
    *,
    epsilon: float | None = None,
    total: float | None = None,
    loss: Mapping[Any, float] | None = None,
    policy: str | None = None,
    known: KnownTasks | None = None,
    people: People | None = None,
    closing: ClosingRules | None = None,
    audit: float | None = None,
    risk: float = 0.05,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Collection | RatingCollection:
    """Collect labels until the error asked for is reached, or the money is spent: a rehearsal.

    Workers answer as they did on record, or as simulated. `Collector` does the same with workers
    who are there.

    Parameters
    ----------
    labels
        Recorded labels, the only ones that can be asked for: columns `task`, `worker`, `label`.

        Or, alone, a crowd of `simulate`. Ratings, by their `scale`, are collected by the policy
        "ratings"; twenty tasks of gold or more are then hidden, or apart by `control`.
    gold
        Recorded: true labels, to measure the error: columns `task`, `gold`.
    epsilon
        Largest error that each task may have; of ratings its root mean square, in points.
    total
        In place of an error, or beside it: what all labels may cost, gold labels included.
    loss
        What it costs to miss a class. [default: 1 each]

        By class, as {"yes": 5}. A task is answered by the class of least expected cost, and closed
        when that is at most epsilon.
    policy
        Who decides whom to ask. [default: until-trusted; of ratings "ratings"]

        A name of `workbench.collection.POLICIES`.
    known
        Tasks of known class, and what they serve for.
    people
        What is known of the workers: prices, capacities, who errs together, labels on record.
    closing
        When a task is closed, beside the error.
    audit
        Price of an expert's check. Once no more is asked the answers are fixed, and an expert
        checks tasks that are drawn, until at most epsilon of all answers are wrong, whatever the
        crowd. Where more labels seem cheaper than the checks to come, they are bought first, and
        another audit draws anew. Here gold, or the simulated truth, is the expert.
    risk
        Highest chance that what the audits certify is false.
    seed
        Of the policy, the order, the choice of control tasks, and the audits' draws.
    progress
        Is told how far it is.

    Returns
    -------
    Collection; of ratings RatingCollection
        Of ratings errors are in points, beside the mean of the same ratings.

    Raises
    ------
    InputError
        Neither ε nor a total, an unknown policy, or labels, gold, prices or groups that cannot be
        read or do not belong together.

    Examples
    --------
    >>> import workbench as wb
    >>> crowd = wb.simulate(tasks=20, workers=10, skill=0.95)
    >>> found = wb.collect(crowd, total=60, policy="fixed")
    >>> found.labels, found.cost, found.gold_labels
    (60, 60.0, 0)
    """
    known, people = known or KnownTasks(), people or People()
    rules = (closing or ClosingRules()).checked()
    if epsilon is None and total is None:
        raise InputError("give `epsilon`, the error of each task, or `total`, a budget")
    check_people(
        people,
        ("skills", "available", "newcomers"),
        "is of `Collector`; here the labels say who can be asked what",
    )
    shares = None if people.prior is None else read_prior(people.prior)
    checks.count("seed", seed)
    source = _source(labels, gold, known, seed)
    scale = source.pool.scale
    check_goal(epsilon, total, None if scale is None else (scale.low, scale.high))
    policy = policy or default_policy(scale)
    deciding = POLICIES[policy].call
    refuse_kind(policy, deciding, scale)
    if scale is not None:
        refuse_classes(scale, people, loss=loss, audit=audit, have=people.have)
        check_known(_known_tasks(source.pool))
    source = source._replace(pool=replace(source.pool, **_terms(source, people, policy)))
    losses = losses_of(loss, source.pool.classes.tolist())
    if losses is not None:
        refuse_losses(policy, deciding)
        source = source._replace(pool=replace(source.pool, loss=np.array(losses)))
    if audit is not None:
        audit, risk = checks.number("audit", audit, 0, HIGHEST_PRICE), checks.inside("risk", risk)
        if epsilon is None:
            raise InputError("`audit`: give `epsilon`, the share of the answers that may be wrong")
        if losses is not None:
            raise InputError(
                "`audit` here proves how many answers are wrong, not what they cost: leave it out, "
                "and `audit` the answers with `loss`"
            )
    if shares is not None:
        _check_prior(source, people.have)
    watch = _watching(source, progress)
    order = None
    if people.arrivals:
        order = stream(seed, "arrivals").permutation(len(source.pool.workers))
    on_record = _had(people.have, source.pool)

    def collect_on(before: Collected | None, halvings: int) -> Collected | None:
        if before is not None and (people.arrivals or not deciding.begins_again or epsilon is None):
            return None  # nobody comes back, or the policy has planned ahead
        many = 0 if before is None else len(before.ledger.labels)
        collected = rehearse(
            deciding,
            source.pool,
            source.answers,
            Goal(None if epsilon is None else epsilon / 2.0**halvings, rules.mean),
            total=total,
            arrivals=order,
            seed=seed,
            watch=watch,
            least=rules.least,
            most=rules.most,
            have=on_record,
            ledger=None if before is None else before.ledger,
        )
        return None if before is not None and len(collected.ledger.labels) == many else collected

    settings = {
        "epsilon": epsilon,
        "total": total,
        "loss": None if loss is None else {str(name): cost for name, cost in loss.items()},
        **vars(rules),
        **vars(known),
        "arrivals": people.arrivals,
        "audit": audit,
        "risk": risk,
        "seed": seed,
        "prior": None if shares is None else {str(skill): n for skill, n in shares.items()},
    }
    crowd = labels if isinstance(labels, SimulatedCrowd) else None
    if audit is None or epsilon is None:
        collected = collect_on(None, 0)
        assert collected is not None
        if scale is not None:
            return _of_ratings(source, collected, watch, policy, settings)
        return _collection(source, collected, watch, policy, settings, crowd)
    rehearsal = AuditedRehearsal(collect_on, source.pool, source.answers, seed)
    audited, run = rehearsal.run(epsilon, risk, audit)
    assert rehearsal.collected is not None
    collection = _collection(source, rehearsal.collected, watch, policy, settings, crowd)
    return replace(
        collection,
        audited=audited,
        answers=rehearsal.mark(collection.answers, run),
        standing=replace(collection.standing, proven=audited.sentence(collection.cost)),
    )


def _known_tasks(pool: Pool) -> int:
    """How many tasks of known class or rating a policy learns from."""
    hidden = 0 if pool.hidden is None else int((pool.hidden >= 0).sum())
    return hidden + len(pool.gold)


def _of_ratings(
    source: _Source, collected: Collected, watch: _Watch, policy: str, settings: dict[str, Any]
) -> RatingCollection:
    """What was bought and measured of ratings, under the user's ids."""
    watch.end(collected)
    assert watch.policy is not None
    return rating_collection(
        source.pool,
        source.answers,
        source.back,
        collected,
        pd.DataFrame(watch.rows),
        watch.policy,
        settings,
        _title(source, policy, settings),
    )


def _above_nought(found: GoldError | None) -> float | None:
    """The measured error, or half an error where there is none, for bounds that it goes into."""
    if found is None or found.measured.error_measured is None:
        return None
    least = 0.5 / (found.measured.tasks_measured + 1)
    return min(max(found.measured.error_measured, least), 0.5)


def _check_prior(source: _Source, have: inputs.LabelTable | None) -> None:
    """Refuse a prior where its bound does not hold.

    Raises
    ------
    InputError
        More than two classes, unlike prices or capacities, labels on record, no known class.
    """
    pool = source.pool
    alike = (pool.price == pool.price[0, 0]).all() and len(np.unique(pool.capacity)) == 1
    if len(pool.classes) != 2 or not alike or have is not None:
        raise InputError(
            "prior: its bound is of two classes, one price, one capacity and no labels on record; "
            "leave it out"
        )
    if not (source.answers.truth >= 0).any():
        raise InputError("prior: give gold to measure the error by, or leave it out")


def _unknown_limit(
    source: _Source, prior: dict[str, float] | None, found: GoldError | None
) -> float | None:
    """What every policy pays that knows the prior alone, at the measured error."""
    wrong = _above_nought(found)
    if prior is None or wrong is None:
        return None
    pool = source.pool
    bound = unknown_skills_bound(
        {float(skill): share for skill, share in prior.items()},
        int(pool.capacity[0]),
        len(pool.tasks),
        min(wrong, 0.499),
        workers=len(pool.workers),
        gold_tasks=len(pool.gold),
    )
    return bound.labels * float(pool.price[0, 0]) if np.isfinite(bound.labels) else None


def _source(
    labels: Table | SimulatedCrowd, gold: Truth | None, known: KnownTasks, seed: int
) -> _Source:
    """Whom to ask, and what they answer."""
    if isinstance(labels, SimulatedCrowd):
        if gold is not None or known.control or known.hidden or known.hidden_tasks:
            raise InputError(
                "`gold`, `control`, `hidden`, `hidden_tasks` are of labels on record, not of a "
                "simulated crowd"
            )
        return _from_simulated(labels, checks.count("gold_tasks", known.gold_tasks))
    if known.gold_tasks:
        raise InputError("`gold_tasks` is of a simulated crowd: give `gold` and `control`")
    return _from_record(labels, gold, known.control, known.hidden, known.hidden_tasks, seed)


def _collection(
    source: _Source,
    collected: Collected,
    watch: _Watch,
    policy: str,
    settings: dict[str, Any],
    crowd: SimulatedCrowd | None,
) -> Collection:
    """What was bought, what is believed, and what was measured, under the user's ids."""
    pool, back = source.pool, source.back
    belief, ledger, seed = collected.belief, collected.ledger, settings["seed"]
    table = belief.table(ledger.counts, pool.tasks.tolist(), ledger.named, seed)
    here = _standing(source, collected, watch, policy, settings)
    watch.end(collected)
    measured = here.measured
    return Collection(
        title=_title(source, policy, settings),
        answers=back.back(table),
        curve=pd.DataFrame(watch.rows),
        standing=here,
        limit=None if crowd is None else _limit(crowd, pool, measured),
        limit_unknown=_unknown_limit(source, settings["prior"], measured),
        settings=settings,
        notes=tuple(_notes(here, watch.policy)),
        simulated=crowd is not None,
    )


def _title(source: _Source, policy: str, settings: dict[str, Any]) -> str:
    """What was collected from, by whom, and for what."""
    goal = _asked(settings["epsilon"], settings["total"], settings["mean"])
    return (
        f"{source.title}: {len(source.pool.tasks)} tasks, {len(source.pool.workers)} workers, "
        f"policy {policy}, {goal}, seed {settings['seed']}"
    )


def _standing(
    source: _Source, collected: Collected, watch: _Watch, policy: str, settings: dict[str, Any]
) -> Standing:
    """Where a rehearsal stands at its end: its gold measures, but for what told when to stop."""
    pool, answers, back = source.pool, source.answers, source.back
    belief, ledger = collected.belief, collected.ledger
    hidden, epsilon, total = pool.hidden, settings["epsilon"], settings["total"]
    known = Counted.of(belief, answers.truth, ledger, None if hidden is None else hidden >= 0)
    how = BLIND
    if hidden is not None:
        many = int((hidden >= 0).sum())
        how += f"; the {many} tasks that decide when to stop are not counted"
    evenly = _plain_majority(pool, answers, ledger, settings["seed"])
    measured = known.error(np.ones(len(pool.tasks), dtype=bool), how, evenly, EVENLY)
    sentence, within = believed_of(ledger, belief.overall())
    still_open = left_open(watch.policy, pool.tasks.tolist())
    spent = total is not None and ledger.money < pool.price.min() - 1e-9
    here = Standing(
        epsilon=epsilon,
        mean=settings["mean"],
        total=total,
        tasks=len(pool.tasks),
        answered=int(belief.answered(ledger.counts).sum()),
        closed=int(belief.closed.sum()),
        labels=len(ledger.labels) - ledger.recorded[0],
        gold_labels=len(ledger.gold_labels) - ledger.recorded[1],
        on_record=sum(ledger.recorded),
        waiting=0,
        cost=float(ledger.spent),
        policy=policy,
        state="reached" if belief.closed.all() else "spent" if spent else "exhausted",
        measured=measured,
        measured_closed=known.error(belief.closed),
        measured_open=known.error(~belief.closed),
        proven="",
        believed="" if measured is not None else sentence,
        believed_error=belief.overall(),
        believed_closed=overall(belief, belief.closed),
        believed_range=None if measured is not None else within,
        left_open=None if still_open is None else back.back(still_open),
        reach="" if watch.policy is None else watch.policy.out_of_reach(),
        people_help=watch.policy is None or watch.policy.people_help(),
        **believed_costs(belief, pool),
    )
    return replace(here, steps=tuple(_steps(here, settings)))


def _steps(here: Standing, settings: dict[str, Any]) -> list[Step]:
    """What to do after a rehearsal, by its options."""
    hides = bool(settings["hidden"] or settings["hidden_tasks"])
    left, cost = here.left_open, here.cost
    steps: list[Step] = []
    prove = Step("prove", "rehearse an expert's checks of the answers", "--audit PRICE_OF_A_CHECK")
    if here.measured is None:
        steps.append(Step("gold", f"give gold for {'more' if hides else 'some'} tasks", "--gold"))
        if not hides:
            hide = "hide forty of them among the others, which tell when to stop"
            steps.append(Step("hide", hide, "--hidden-tasks 40"))
        return [*steps, prove] if here.epsilon is not None and here.loss is None else steps
    if here.epsilon is None or left is None or (left.empty and not here.missed):
        return []
    can = np.isfinite(left["cost"].to_numpy(dtype=np.float64))
    if can.any() and here.total is not None:
        more = shown(cost + float(left["cost"].to_numpy(dtype=np.float64)[can].sum()), ".5g")
        says = f"raise the budget to {more}, which is expected to close {_them(can)}"
        steps.append(Step("budget", says, f"--total {more}", float(more)))
    elif not left.empty:
        steps.append(Step("people", "ask other workers about the tasks that are open", ""))
    if here.missed and not (hides or settings["gold_tasks"]):
        steps.append(Step("hide", "hide gold tasks, which tell in time", "--hidden-tasks 40"))
    steps += accept(here, "--epsilon ")
    steps += [prove] if settings["audit"] is None and here.loss is None else []
    return by_help(steps, here)


def _plain_majority(
    pool: Pool, answers: Answers, ledger: Ledger, seed: int
) -> MajorityError | None:
    """Error of a majority of labels drawn evenly over the tasks, for the same money."""
    judged = np.flatnonzero(answers.truth >= 0)
    if not len(judged):
        return None
    had = ledger.labels[: ledger.recorded[0]]
    have = [(Questions(had[:, 0], had[:, 1]), had[:, 2])] if len(had) else []
    call, money = POLICIES["fixed"].call, ledger.spent
    plain = rehearse(call, pool, answers, Goal(), total=money, seed=seed, have=have)
    return majority_error(plain.ledger.votes(), answers.truth, judged)


def _them(can: BoolArray) -> str:
    """The open tasks that can be closed."""
    return "the open tasks" if can.all() else f"{int(can.sum())} of the open tasks"


def _error(found: GoldError | None) -> float | None:
    return None if found is None else found.measured.error_measured


def _measured_row(name: str, found: GoldError | None) -> list[tuple[str, str]]:
    """A line of the details; none where nothing was measured."""
    return [] if found is None else [(name, found.share())]


def _cost_row(found: GoldError | None) -> list[tuple[str, str]]:
    """A line of what errors cost; none where every error costs 1."""
    if found is None or found.costs is None:
        return []
    low, high = (amount(end) for end in found.costs.interval)
    said = f"{amount(found.costs.outcome.cost)} an answer (90 % interval {low} to {high})"
    return [("cost of errors", said)]


def _notes(here: Standing, policy: Policy | None) -> Iterator[str]:
    if here.believed:
        yield here.believed
    if policy is not None:
        yield from policy.notes()
    believed, said = here.believed_error, percent(here.believed_error)
    if here.believed_cost is not None:
        believed, said = here.believed_cost, f"a cost of {amount(here.believed_cost)}"
    if here.measured is not None and here.measured.misses(believed):
        yield (
            f"the policy's own model believed {said}, too little: workers err "
            "together, or few labels made them seem better than they are"
        )
    yield (
        "believed error: mean over tasks of 1 − the posterior of the answer, if workers err "
        "independently"
    )


class _Watch:
    """Notes cost and error now and then."""

    def __init__(
        self,
        truth: IntArray | FloatArray,
        tasks: int,
        progress: Callable[[str], None] | None,
    ) -> None:
        self.truth, self.progress = truth, progress
        self.rows: list[dict[str, Any]] = []
        self.due = tasks / 2.0
        self.policy: Policy | None = None

    def __call__(self, ledger: Ledger, policy: Policy) -> None:
        self.policy = policy
        many = len(ledger.labels) + len(ledger.gold_labels)
        if many < self.due:
            return
        self.note(ledger, policy.belief())
        self.due = many * STEP
        if self.progress is not None:
            self.progress(f"{many} labels")

    def end(self, collected: Collected) -> None:
        """Add the last row."""
        if not self.rows or self.rows[-1]["cost"] < collected.ledger.spent:
            self.note(collected.ledger, collected.belief)

    def note(self, ledger: Ledger, belief: AnyBelief) -> None:
        """Add a row."""
        self.rows.append(
            {
                "labels": len(ledger.labels) - ledger.recorded[0],
                "gold_labels": len(ledger.gold_labels),
                "cost": float(ledger.spent),
                "answered": int(belief.answered(ledger.counts).sum()),
                "closed": int(belief.closed.sum()),
                "believed_error": belief.overall(),
                "error": belief.made(self.truth, ledger.counts),
            }
        )


def _watching(source: _Source, progress: Callable[[str], None] | None) -> _Watch:
    """Note how a rehearsal goes, held against what is known of classes or ratings."""
    pool, truth = source.pool, source.answers.truth
    known = truth if pool.scale is None else truths(pool, truth)
    return _Watch(known, len(pool.tasks), progress)


def _had(have: inputs.LabelTable | None, pool: Pool) -> list[tuple[Questions, IntArray]]:
    """Labels on record of a pool's tasks, as they go into the ledger.

    Raises
    ------
    InputError
        A worker or a class that the pool does not have, or no label of its tasks.
    """
    if have is None:
        return []
    table = inputs.given(have).table
    here = table[table["task"].isin(pd.Index(pool.tasks))]
    if len(here) < len(table) and not len(here):
        raise InputError("have: none of its labels is of a task here; mend the ids")
    places = []
    for column, ids in (("task", pool.tasks), ("worker", pool.workers), ("label", pool.classes)):
        place = pd.Index(ids.astype(str)).get_indexer(here[column])
        if (place < 0).any():
            name = checks.show(here[column].iloc[int((place < 0).argmax())])
            raise InputError(f"have: {column} {name} is not among those to collect from")
        places.append(place.astype(np.int64))
    task, worker, label = places
    return [(Questions(task, worker), label)]


class _Source(NamedTuple):
    """Where labels come from: who may be asked, what they answer, types, ids, and a name."""

    pool: Pool
    answers: Answers
    kinds: list[str]
    back: inputs.Given
    title: str


def _from_simulated(crowd: SimulatedCrowd, gold_tasks: int) -> _Source:
    pool, answers = _simulated(crowd, gold_tasks)
    tasks, workers, classes = map(Ids, IDS)
    back = inputs.Given("labels", None, tasks, workers, classes)
    return _Source(pool, answers, crowd.skills.columns.tolist(), back, crowd.title)


def _from_record(
    labels: Table,
    gold: Truth | None,
    control: float,
    hidden: float,
    hidden_tasks: int,
    seed: int,
) -> _Source:
    back, true = inputs.given(labels, kinds=(Classes, Scale)), None
    if gold is not None or back.gold is not None:
        true, back = inputs.truth(gold, back)
    pool, answers = _recorded(back, true, control, seed)
    if len(pool.classes) < 2:
        raise InputError(
            f"labels: all are of one class, {checks.show(pool.classes[0])}, and there is "
            "nothing to ask; give labels or gold that name another"
        )
    if hidden and hidden_tasks:
        raise InputError("`hidden` and `hidden_tasks`: give one of them")
    if hidden:
        share = checks.share("hidden", hidden)
        pool, answers = _hidden(pool, answers, round(share * int((answers.truth >= 0).sum())), seed)
    elif checks.count("hidden_tasks", hidden_tasks):
        pool, answers = _hidden(pool, answers, hidden_tasks, seed)
    if isinstance(back.kind, Scale):
        ratings = np.array([back.kind.value(text) for text in pool.classes])
        pool = replace(pool, classes=ratings, scale=back.kind)
    return _Source(pool, answers, ["all"], back, f"recorded labels, {back.name}")


def _simulated(crowd: SimulatedCrowd, gold: int) -> tuple[Pool, Answers]:
    """The crowd, its tasks and so many gold tasks; labels of all pairs."""
    if (crowd.tasks + gold) * crowd.workers > LARGEST_CROWD:
        raise InputError(
            f"{crowd.tasks} tasks and {gold} gold tasks of {crowd.workers} workers: give a crowd "
            f"of {LARGEST_CROWD:,} pairs at most"
        )
    drawn = crowd.draw(crowd.workers, np.random.SeedSequence(crowd.seed))
    n, m, own = crowd.tasks, crowd.workers, np.random.SeedSequence(crowd.seed)
    kind = np.concatenate([task_types(n, crowd.types), task_types(gold, crowd.types)])
    # The tasks are those of `crowd.gold`; gold tasks have a stream of their own.
    extra = truth(gold, seed=np.random.SeedSequence(crowd.seed, spawn_key=(1,)))
    true = np.concatenate([truth(n, seed=own), extra])
    source = SimulatedLabels(drawn, kind, true, own)
    task, worker = np.divmod(np.arange((n + gold) * m), m)
    label = source.labels(task, worker).reshape(-1, m)
    pool = Pool(
        tasks=checks.numbered("t", n),
        workers=drawn.workers,
        classes=source.classes,
        capacity=drawn.capacity,
        price=np.ones((crowd.types, m)),
        kind=kind[:n],
        share=np.full(2, 0.5),
        gold=true[n:],
        gold_kind=kind[n:],
    )
    return pool, Answers(label[:n], label[n:], true[:n])


def _recorded(
    labels: inputs.Given, gold: pd.Series[Any] | None, control: float, seed: int
) -> tuple[Pool, Answers]:
    """Labels on record, and the control tasks among those with gold."""
    if control and gold is None:
        raise InputError("`control` is a share of the gold: give `gold`")
    tasks: pd.Index[Any] = pd.Index([])
    if control and gold is not None:
        tasks, _ = split_gold(gold, control=checks.share("control", control), seed=seed)
    return recorded(labels.table, gold, tasks)


def _hidden(pool: Pool, answers: Answers, many: int, seed: int) -> tuple[Pool, Answers]:
    """Let some tasks of known class calibrate beliefs in place of measuring the error."""
    order = stream(seed, "hidden").permutation(np.flatnonzero(answers.truth >= 0))
    hidden = order[:many]
    if len(hidden) < max(2, many):
        raise InputError(
            f"hidden: {len(hidden)} tasks of known class to calibrate by, where {max(2, many)} are "
            "needed: give more gold, or ask for another number"
        )
    classes: IntArray = np.full(len(answers.truth), -1, dtype=np.int64)
    classes[hidden] = answers.truth[hidden]
    rest = np.where(classes >= 0, -1, answers.truth)
    return replace(pool, hidden=classes), replace(answers, truth=rest)


def _terms(source: _Source, people: People, policy: str) -> dict[str, Any]:
    """Capacities, prices, groups and confidences of a pool's workers, where given."""
    terms: dict[str, Any] = {}
    pool, workers = source.pool, source.back.workers
    if people.capacity is not None:
        most = inputs.capacities(people.capacity, workers)
        terms["capacity"] = align.capacities(pool.workers, most)
    if people.costs is not None:
        table = inputs.by_worker("costs", people.costs, workers, tables.read_costs)
        terms["price"] = align.prices(pool.workers, source.kinds, table)
    if people.groups is not None:
        group = inputs.by_worker("groups", people.groups, workers, tables.read_groups)
        terms["group"] = align.groups(pool.workers, group)
    if people.confidences is not None:
        if not POLICIES[policy].call.hears_confidences:
            raise InputError(
                f"confidences: policy {policy} does not look at them; leave them out, or take "
                "until-trusted"
            )
        sure = tables.read_confidences(to_pandas(people.confidences))
        terms["confidence"] = align.confidences(pool.tasks, pool.workers, sure)
    return terms


def _limit(crowd: SimulatedCrowd, pool: Pool, found: GoldError | None) -> float | None:
    """The information limit at the measured error."""
    e = _above_nought(found)
    if e is None:
        return None
    limit = information_limit(
        crowd.skills.to_numpy().T,
        capacity=pool.capacity,
        tasks=np.bincount(pool.kind, minlength=len(pool.price)),
        epsilon=e,
        cost=pool.price,
        average=True,
    )
    return float(limit.value)


def _asked(epsilon: float | None, total: float | None, mean: bool) -> str:
    wanted = [] if epsilon is None else [f"ε = {epsilon:g}{' in the mean' if mean else ''}"]
    return ", ".join([*wanted, *([] if total is None else [f"budget {total:g}"])])


class FromFiles(Collector):
    """A `Collector` that is begun from files by a command, all names text.

    Parameters
    ----------
    tasks
        Tasks: columns `task`, `task_type` (or `task` alone).
    workers
        A table with a column `worker`; or how many may come, who are named as they do.
    gold
        Tasks of known class, to judge workers by: columns `task`, `gold`.
    hidden
        Tasks of known class among all others, asked about like them, that tell how far beliefs may
        be trusted: columns `task`, `gold`.
    classes
        Names of the classes. [default: those of the gold]
    class_share
        How frequent the classes are. [default: alike]
    people
        As for `Collector`, by the paths of files.
    more
        As for `Collector`.

    Raises
    ------
    InputError
        As for `Collector`, or a file cannot be read.
    """

    origin = "command"

    def __init__(
        self,
        tasks: str,
        workers: int | str,
        *,
        gold: str | None = None,
        hidden: str | None = None,
        classes: str | None = None,
        people: People,
        **more: Any,
    ) -> None:
        super().__init__(
            tasks,
            workers,
            gold=gold,
            hidden=hidden,
            classes=None if classes is None else [text.strip() for text in classes.split(",")],
            people=_people_of_files(people),
            **more,
        )


def _people_of_files(people: People) -> People:
    """Read what stands in files, and leave all else."""
    ids, sure, known = Ids("worker"), to_pandas(people.confidences), to_pandas(people.skills)
    price = inputs.by_worker("costs", people.costs, ids, tables.read_costs)
    ability = None if known is None else tables.read_skills(known)
    if ability is not None and ability.shape[1] > 1:
        raise InputError("skills: one for each worker, whatever the task's type")
    return replace(
        people,
        capacity=None if people.capacity is None else inputs.capacities(people.capacity, ids),
        costs=price["cost"] if price is not None and list(price.columns) == ["cost"] else price,
        groups=inputs.by_worker("groups", people.groups, ids, tables.read_groups),
        confidences=None if sure is None else tables.read_confidences(sure),
        skills=None if ability is None else ability.iloc[:, 0],
        have=None if people.have is None else inputs.given(people.have).table,
    )
