"""From the answers to control questions to the workers to hire: tables in, tables out.

By default those are chosen whose vote is expected to err least, by skills, guessers and difficulty
of tasks learned from all control answers (`learned`). Asked for the rule "selected", the whole of
Li, Liu (2015) on named workers: skills from control tasks (10), G and F̂ (7), Algorithm 1, the
interval (Theorem 3) and the bound on the error (Theorem 1) of the chosen. Beyond the paper too: of
equal workers those with more control answers come first; nobody is hired who is more likely than
not worse than guessing, unless asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench.accuracy.class_error import vote_confusion
from workbench.accuracy.error_rate import ErrorRate
from workbench.accuracy.likeliest import likeliest_error
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.crowd import align, frames
from workbench.crowd.confusion import ConfusionEstimates
from workbench.crowd.gold_rule import gold_codes
from workbench.crowd.loss import CostOutcome, Stakes
from workbench.crowd.tables import row_table
from workbench.crowd.votes import Votes
from workbench.selection import RULES
from workbench.selection.accuracy import predicted_error, prefix_errors
from workbench.selection.bounds import error_bound, interval
from workbench.selection.covering import FEW_DRAWS, covering, covering_by_rows
from workbench.selection.frontier import Frontier, frontier
from workbench.selection.hired_vote import HiredVote
from workbench.selection.learned import ControlAnswers, learned_scores
from workbench.selection.rows import (
    MOST_CLASSES,
    LabelsSeen,
    constant,
    in_question,
    labels_seen,
    learned_rows,
    one_coin_rows,
    rows_err_less,
    rows_of,
)
from workbench.selection.rules import NOBODY as NONE
from workbench.selection.rules import Selection, best_size, check_threshold
from workbench.selection.scoring import Scores, below_chance, prefix_scores, scores, set_score
from workbench.selection.selecting import select
from workbench.solving.claims import CostClaim

if TYPE_CHECKING:
    from workbench.selection.money import MoneySelection

NOBODY = "nobody to hire: every worker who can be scored is more likely than not below chance"
MOST_BELOW = 0.5 + 1e-9
"""Chance of a skill below 1/L at which a worker is refused: above ½, but for rounding."""
UNAFFORDABLE = "nobody to hire: the money buys no label of a worker who can be hired"
AS_ANSWERED = (
    "chosen for the tasks as the workers have labelled them, one worker at a time; that no other "
    "choice errs less is not proven"
)
ALL_CONSTANT = "nobody to hire: whoever is not below chance names one class throughout"
ONE_BY_ONE = "chosen one worker at a time; that no other choice errs less is not proven"
ONE_CLASS = "names one class throughout, also where gold names another"
BY_ROWS = (
    "votes count by what each worker names where each class is true (columns 'says … of …'), and "
    "by how frequent the classes are in the gold: on control tasks hidden in turn that errs less "
    "than one skill a worker does, by a standard error at least; the expected error takes the "
    "chosen to err independently, given the class"
)
BY_COST = (
    "votes go to the class of least expected cost, by what each worker names where each class is "
    "true (columns 'says … of …') and by how frequent the classes are; where on control tasks "
    "hidden in turn that does not cost less by a standard error, workers are taken to err evenly, "
    "each with one skill; the expected cost takes the chosen to err independently, given the class"
)
BEYOND_DOUBT = 0.999
"""Chance from which on the rule "accuracy" takes a worker of two classes at the opposite word."""
PRICED = ("accuracy", "selected")
"""Rules that choose within an amount of money."""


@dataclass(frozen=True)
class HireOptions:
    """How to hire.

    Attributes
    ----------
    rule
        One of `selection.RULES`: "accuracy" with skills learned from all answers
        (`learned.learned_scores`), the others with the paper's scores.
    classes
        L, where there are classes that neither labels nor gold name; None counts those named.
    prior
        (a, b) of a Beta distribution of skills: workers with no or one control answer are then
        scored by it (`scores`), and the error is predicted with it. Without one they are left
        out; the rule "accuracy" learns one from the others, and the prediction of the error by any
        other rule takes every skill for equally likely.
    costs, money
        Price of a label by worker (or one for all), and what the labels of one task may cost
        together: both or neither, with the rules "accuracy" and "selected"; prices alone where the
        curve is asked for.
    curve
        Whether to look for the cheapest sets by expected error (`frontier`), each label at the
        price 1 where there are no prices; with the rule "accuracy".
    threshold
        For the rule "threshold", as in `rules.RuleOptions`.
    time_limit
        Seconds for the solver, where prices decide.
    confidence
        Of the interval of each skill, and of that of F.
    seed
        Of the draws among workers who are equal in value and control answers, of the rule
        "random", and of simulated votes.
    allow_below_chance
        Whether to hire workers whose skill is more likely than not below guessing, P(w < 1/L) > ½
        by their answers under the prior (`scores.below_chance`). The paper does: their votes
        count the other way round. By default they are refused; but the rule "accuracy" takes who is
        so beyond doubt, with `BEYOND_DOUBT`, where the opposite of a word is one class.
    as_answered
        Rule "accuracy" without prices: whether the error is that over the tasks as the workers have
        labelled them (`covering`), where labels of tasks without gold show who labels what; else
        that of a vote in which all the hired take part.
    undecided
        Error that a task counts there which none of the hired has labelled; None for 1 − 1/L.
    stakes
        What errors cost, and how frequent classes are: those are hired whose vote costs least.
        Workers are then known by rows, of confusion matrices or of one skill each.
    """

    rule: str = "accuracy"
    classes: int | None = None
    prior: tuple[float, float] | None = None
    costs: pd.Series[Any] | float | None = None
    money: float | None = None
    curve: bool = False
    threshold: float | None = None
    time_limit: float | None = None
    confidence: float = 0.95
    seed: Seed = 0
    allow_below_chance: bool = False
    as_answered: bool = True
    undecided: float | None = None
    stakes: Stakes | None = None

    @property
    def covers(self) -> bool:
        """Whether who labels which task may count."""
        return self._plain and self.as_answered

    @property
    def by_rows(self) -> bool:
        """Whether workers may be known by rows of confusion matrices."""
        return self._plain and self.prior is None and not self.allow_below_chance

    @property
    def _plain(self) -> bool:
        return self.rule == "accuracy" and self.money is None and not self.curve

    def __post_init__(self) -> None:
        RULES[self.rule]
        checks.inside("confidence", self.confidence)
        if self.undecided is not None:
            checks.number("undecided", self.undecided, 0.0, 1.0)
        check_threshold(self.threshold, self.rule)
        if self.stakes is not None and not self.by_rows:
            raise InputError(
                "`loss` and `class_share` go with the rule 'accuracy' alone: leave money, curve, "
                "prior and allow_below_chance out"
            )
        if self.curve and self.rule != "accuracy":
            raise InputError(
                f"the curve goes with the rule 'accuracy', not {self.rule!r}: leave one of them out"
            )
        if (self.costs is None) != (self.money is None) and (self.money or not self.curve):
            raise InputError("costs and money go together: give both, or neither")
        if self.costs is not None and self.rule not in PRICED:
            raise InputError(
                f"costs and money go with the rules {' and '.join(map(repr, PRICED))}, not "
                f"{self.rule!r}: leave out"
            )


@dataclass(frozen=True, eq=False)
class Hiring:
    """Whom to hire, and what is known of them.

    Attributes
    ----------
    table
        One row a worker, best first: `worker, answered, correct, skill, low, high, gain, chosen`.
        Skill is ŵ, low and high its exact (Clopper–Pearson) interval, each for this worker alone;
        gain is G. Who is refused stands behind all others who can be scored; who cannot be, at the
        end, skill and gain missing. By the rule "accuracy" also `posterior`, the posterior mean of
        the skill, and `weight`, its log-odds, by which votes count. With prices also `cost`,
        missing for who cannot be scored.
    chosen
        Names of the chosen workers, best first; none when nobody can be hired.
    rule, budget, confidence
        As given.
    score
        F̂ of the chosen, whatever the rule; None without any.
    interval
        Theorem 3: covers F of the chosen at the given confidence, had they been chosen without
        these answers. None without any, or where one of them has fewer than two answers.
    error_bound, error_bound_printed
        Theorem 1 were F equal to F̂: as its argument supports it, and as it is printed (they
        differ for more than two classes). None without any.
    error_predicted
        Expected error of the chosen workers' vote weighted by Lŵ − 1, or by the rule "accuracy" by
        log-odds (`accuracy`). None without any.
    curve, plug_in_curve
        F̂ and F̂_plug of the first 1, 2, … workers of the table: as far as the budget, or as far
        as the chosen where prices decide. F̂ at the number of the chosen is `score`.
    class_names
        The names that labels and gold use: there may be fewer than L.
    control
        How many control tasks there were.
    excluded
        Who cannot be scored or is refused, and why: columns `worker, why`.
    tied
        Names of the workers who were drawn among at the cut; none when it was clear.
    money
        Rule "selected": the exact choice within the money, the heuristic and the bound; else None.
    frontier
        Rule "accuracy", with money or curve: the cheapest sets by expected error; else None.
    notes
        What has to be known to read the numbers, one sentence each.
    known, order
        Scores of the workers, those who are refused not eligible; and the row of each of the
        table's workers in them.
    unpriced
        Whether no amount of money decided.
    vote
        Of the chosen, best first: by weights, or by rows of confusion matrices.
    compared
        Whether rows were compared with one skill a worker.
    constant
        Names of those who name one class throughout, and are refused.
    votes, truth
        All labels, and the class of each task by its gold, −1 without, shape (n,).
    promised
        Where it is said what errors cost: expected cost, error, recall and precision of the vote
        where all the chosen take part; None elsewhere.
    """

    table: pd.DataFrame
    chosen: Names
    rule: str
    budget: int
    confidence: float
    score: float | None
    interval: tuple[float, float] | None
    error_bound: float | None
    error_bound_printed: float | None
    error_predicted: ErrorRate | None
    curve: FloatArray
    plug_in_curve: FloatArray
    class_names: list[Any]
    control: int
    excluded: pd.DataFrame
    tied: Names
    money: MoneySelection | None
    frontier: Frontier | None
    notes: tuple[str, ...]
    known: Scores
    order: IntArray
    unpriced: bool
    vote: HiredVote
    compared: bool
    constant: Names
    votes: Votes
    truth: IntArray
    promised: CostOutcome | None = None

    @property
    def size(self) -> int:
        """How many workers are chosen."""
        return len(self.chosen)

    @property
    def claim(self) -> CostClaim | None:
        """What is proven of the choice within the money, by its rule; None where no money is."""
        if self.money is not None:
            return self.money.claim
        return None if self.frontier is None or self.unpriced else self.frontier.claim

    @property
    def best(self) -> int:
        """The number of first workers with the highest F̂, the smallest such; 0 without any."""
        return best_size(self.curve) if len(self.curve) else 0

    def error_curve(self, *, seed: Seed = 0) -> list[ErrorRate]:
        """Predicted error of the first 1, 2, … workers of the table, as far as `curve` goes."""
        if self.vote.rows is not None:
            return [_error_by_rows(self.vote, k, seed) for k in range(1, self.size + 1)]
        return prefix_errors(self.known, self.order[: len(self.curve)], seed=seed)

    def interval_curve(self) -> FloatArray:
        """Intervals of Theorem 3 (low, high) for the first 1, 2, … workers, as far as `curve` goes.

        Shape (k, 2); missing from the first worker on who has fewer than two answers.
        """
        ends: FloatArray = np.full((len(self.curve), 2), np.nan)
        first = self.order[: len(self.curve)]
        few = self.known.answered[first] < 2
        for k in range(1, 1 + (int(few.argmax()) if few.any() else len(first))):
            ends[k - 1] = interval(self.known, first[:k], confidence=self.confidence)
        return ends


def hire(
    labels: pd.DataFrame,
    gold: pd.Series[Any],
    budget: int,
    options: HireOptions = HireOptions(),
) -> Hiring:
    """Choose at most K workers by their answers to control tasks.

    Of workers of equal value those with more control answers come first.

    Parameters
    ----------
    labels
        Long table `task, worker, label`, one row a (task, worker) pair. Only labels of control
        tasks count; who gave none is listed as excluded.
    gold
        True label by control task.
    budget
        K ≥ 1, the most workers.
    options
        Rule, prior, prices and so on.

    Raises
    ------
    InputError
        A column is missing, a cell is empty, a (task, worker) pair is repeated, a gold task has no
        label or is repeated, labels and gold share no class, fewer classes are given than named,
        one class only, a worker without a price, prices without money or the reverse, or an
        option out of range.
    """
    checks.count("budget", budget, 1)
    names = _class_names(labels, gold)
    L = _class_count(options.classes, names)
    votes = Votes.of(frames.label_table(labels), classes=names)
    workers, truth = votes.workers, gold_codes(votes, gold)
    answers = control_answers(votes, truth, pd.Index(gold.index).get_indexer(votes.tasks))
    seen = labels_seen(votes, truth)
    prices = worker_prices(score_by(answers, L, options), workers, options.costs)
    made = choose(answers, seen, L, budget, options, prices)
    pool, selection, curve_sets = made.pool, made.selection, made.sets
    if options.curve and curve_sets is None:
        each = np.ones(len(pool)) if prices is None else prices
        curve_sets = frontier(pool, each, budget, seed=options.seed)

    chosen, k = selection.chosen, len(selection.chosen)
    order = _ranked(made.scored, pool, selection)
    far = min(budget, int(pool.eligible.sum())) if options.money is None else k
    table = _workers_table(workers, answers, made, prices, options.confidence)
    if (by := made.vote.rows) is not None:
        rows = row_table(by.confusion, made.vote.shares, names)
        table = pd.concat([table.drop(columns="weight"), rows], axis=1)
    score = set_score(pool.gain[chosen])
    certain = k > 0 and bool((pool.answered[chosen] >= 2).all())
    notes = _notes(made, workers, options) + _cheaper(curve_sets, workers)
    return Hiring(
        table=table.iloc[order].reset_index(drop=True).assign(chosen=np.arange(len(order)) < k),
        chosen=workers[chosen],
        rule=options.rule,
        budget=budget,
        confidence=options.confidence,
        score=score if k else None,
        interval=interval(pool, chosen, confidence=options.confidence) if certain else None,
        error_bound=error_bound(score, L) if k else None,
        error_bound_printed=error_bound(score, L, variant="printed") if k else None,
        error_predicted=_predicted(made, options.seed),
        curve=prefix_scores(pool.gain[order[:far]]),
        plug_in_curve=prefix_scores(pool.plug_in[order[:far]]),
        class_names=names,
        control=len(gold),
        excluded=_excluded(workers, made),
        tied=workers[selection.tied],
        money=made.money,
        frontier=curve_sets,
        notes=notes,
        known=pool,
        order=order,
        unpriced=options.money is None,
        vote=made.vote,
        compared=made.compared,
        constant=workers[made.constant],
        votes=votes,
        truth=truth,
        promised=_promised(made),
    )


@dataclass(frozen=True, eq=False)
class Choice:
    """Who is hired by control answers, and what that rests on.

    Attributes
    ----------
    scored, pool
        Scores of all workers; and the same, those who are refused not eligible.
    constant
        Who names one class throughout, and is refused, shape (m,).
    selection, money, sets
        The chosen; the exact choice within the money, and the cheapest sets, where prices decide.
    vote
        Of the chosen.
    compared
        Whether rows were compared with one skill a worker.
    """

    scored: Scores
    pool: Scores
    constant: BoolArray
    selection: Selection
    money: MoneySelection | None
    sets: Frontier | None
    vote: HiredVote
    compared: bool

    @property
    def refused(self) -> BoolArray:
        """Who could be scored and is refused, shape (m,)."""
        return self.scored.eligible & ~self.pool.eligible


def choose(
    answers: ControlAnswers,
    seen: LabelsSeen,
    classes: int,
    budget: int,
    options: HireOptions,
    prices: FloatArray | None = None,
) -> Choice:
    """Choose at most K workers by their control answers: the whole of what rests on gold.

    Parameters
    ----------
    answers, seen
        Answers to control tasks, and what all labels show.
    classes, budget, options
        L, K, and how to hire.
    prices
        Of a label by worker, shape (m,), where the options have money.
    """
    scored = score_by(answers, classes, options)
    unguarded = eligible_to_hire(scored, options)
    still = np.zeros(len(scored), dtype=np.bool_)
    if not options.allow_below_chance:
        still = constant(answers, seen, classes)
    pool = replace(unguarded, eligible=unguarded.eligible & ~still)
    money, sets, rows = None, None, None
    if options.by_rows and pool.eligible.any() and answers.true is not None:
        rows = _RowsOrSkill(answers, unguarded, pool, seen, budget, options)
    if rows is not None and (rows.better or options.stakes is not None):
        vote = rows.by_rows(answers, None) if rows.better else rows.by_skill(answers, None)
        value = pool.posterior_value
        selection = Selection(vote.chosen, np.zeros(0), NONE, _one_by_one(seen, options), value)
    else:
        selection, money, sets = chosen_by(pool, prices, budget, options, seen.answers)
        vote = HiredVote(selection.chosen, pool.vote_weight[selection.chosen])
    if (scored.eligible & ~pool.eligible).any() and not pool.eligible.any():
        selection = replace(selection, note=ALL_CONSTANT if still.any() else NOBODY)
    compared = rows is not None and rows.compared
    return Choice(scored, pool, still, selection, money, sets, vote, compared)


@dataclass(frozen=True, eq=False)
class _RowsOrSkill:
    """Two ways to choose: by rows of confusion matrices, and by one skill a worker.

    The skills hire as if nobody was known to be constant: where somebody is, they are known to be
    wrong, and rows are held against what they would have done.
    """

    answers: ControlAnswers
    unguarded: Scores
    pool: Scores
    seen: LabelsSeen
    budget: int
    options: HireOptions

    @cached_property
    def rows(self) -> ConfusionEstimates:
        return learned_rows(self.answers, self.pool.classes)

    @cached_property
    def compared(self) -> bool:
        """Whether rows explain the control answers better, so that they are worth a trial."""
        return self.pool.classes <= MOST_CLASSES and in_question(self.answers, self.rows)

    @cached_property
    def better(self) -> bool:
        """Whether rows are to be taken."""
        stakes, how = self.options.stakes, (self.by_rows, self.by_skill)
        return self.compared and rows_err_less(
            self.answers, *how, self.pool.classes, self.options.seed, stakes
        )

    def by_rows(self, answers: ControlAnswers, draws: int | None = FEW_DRAWS) -> HiredVote:
        """Choose by the rows of some answers, drawn as much as those of all."""
        return self._chosen(rows_of(answers, self.rows), self.pool.eligible, draws)

    def _chosen(
        self, rows: ConfusionEstimates, eligible: BoolArray, draws: int | None
    ) -> HiredVote:
        stakes = self.options.stakes
        if stakes is not None:
            stakes = stakes.known(rows.prior)
        vote = HiredVote(np.zeros(0, dtype=np.int64), np.zeros(0), rows, stakes)
        chosen = covering_by_rows(
            rows.confusion,
            vote.prior,
            eligible,
            self.seen.answers if self.options.covers else None,
            self.budget,
            undecided=self.options.undecided,
            draws=draws,
            seed=self.options.seed,
        )
        return replace(vote, chosen=chosen, weight=np.full(len(chosen), np.nan))

    def by_skill(self, answers: ControlAnswers, draws: int | None = FEW_DRAWS) -> HiredVote:
        """Choose by the skills of some answers, drawn as much as those of all."""
        # Held against skills that know who is constant, rows were taken a little less often, and
        # hired votes erred as often: .0457, here .0446, in the mean of twelve simulated crowds.
        pool = replace(self.unguarded, correct=answers.correct, answered=answers.answered)
        if self.options.stakes is not None:
            coins = one_coin_rows(answers, pool.posterior_skill, self.rows)
            return self._chosen(coins, self.pool.eligible, draws)
        who = self.seen.answers
        made = chosen_by(pool, None, self.budget, self.options, who, draws=FEW_DRAWS)
        chosen = made[0].chosen
        return HiredVote(chosen, pool.vote_weight[chosen])


def _one_by_one(seen: LabelsSeen, options: HireOptions) -> str:
    """Say how those are chosen who are known by rows."""
    return AS_ANSWERED if options.covers and seen.answers is not None else ONE_BY_ONE


def _error_by_rows(vote: HiredVote, first: int, seed: Seed) -> ErrorRate:
    """Expected error, or cost, of the vote by the first of the hired, all labelling each task."""
    assert vote.rows is not None
    rate = likeliest_error(vote.rows.confusion[vote.chosen[:first]], vote.prior, seed=seed)
    if vote.stakes is None:
        return rate
    scale = vote.stakes.scale
    return replace(rate, probability=scale * rate.probability, radius=scale * rate.radius)


def _promised(made: Choice) -> CostOutcome | None:
    """What the vote of all the chosen comes to, where it is said what errors cost."""
    vote = made.vote
    if vote.stakes is None or vote.rows is None or not len(vote.chosen):
        return None
    confusion = vote.rows.confusion[vote.chosen]
    return vote.stakes.outcome(vote_confusion(confusion, np.log(vote.prior)))


def _predicted(made: Choice, seed: Seed) -> ErrorRate | None:
    """Expected error of the vote where all the chosen take part."""
    chosen = made.selection.chosen
    if not len(chosen):
        return None
    if made.vote.rows is not None:
        rate = _error_by_rows(made.vote, len(chosen), seed)
        promised = _promised(made)
        return rate if promised is None else replace(rate, probability=promised.error)
    return predicted_error(made.pool, chosen, seed=seed)


def _workers_table(
    workers: Names,
    answers: ControlAnswers,
    made: Choice,
    prices: FloatArray | None,
    confidence: float,
) -> pd.DataFrame:
    """Answers to control tasks, skill with its interval, and what each worker adds to a set."""
    scored, pool = made.scored, made.pool
    correct, answered = answers.correct, answers.answered
    low, high = skill_interval(correct, answered, confidence)
    gain, posterior, weight = (
        np.where(scored.eligible, number, np.nan)
        for number in (scored.gain, scored.posterior_skill, scored.vote_weight)
    )
    columns = {
        "worker": workers,
        "answered": answered,
        "correct": correct,
        "skill": pool.skill,
        "low": low,
        "high": high,
        "gain": gain,
        **({"posterior": posterior, "weight": weight} if pool.by_posterior else {}),
        **({} if prices is None else {"cost": prices}),
    }
    return pd.DataFrame(columns)


def skill_interval(
    correct: IntArray, answered: IntArray, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Exact interval of each skill (Clopper, Pearson 1934), shapes (m,).

    Covers the skill with at least the given probability, at any number of answers; without any it
    is [0, 1].

    Parameters
    ----------
    correct, answered
        c and n, shape (m,).
    """
    from scipy.special import betaincinv

    tail = (1.0 - confidence) / 2.0
    c, wrong = correct, answered - correct
    # The ends are quantiles of Beta distributions; those with a parameter of 0 are points.
    low = np.where(c > 0, betaincinv(np.maximum(c, 1), wrong + 1, tail), 0.0)
    high = np.where(wrong > 0, betaincinv(c + 1, np.maximum(wrong, 1), 1.0 - tail), 1.0)
    return low, high


def _class_names(labels: pd.DataFrame, gold: pd.Series[Any]) -> list[Any]:
    names = list(dict.fromkeys([*labels["label"].unique().tolist(), *gold.unique().tolist()]))
    try:
        return sorted(names)
    except TypeError:  # text and numbers mixed
        return sorted(names, key=str)


def _class_count(classes: int | None, names: list[Any]) -> int:
    if classes is None and len(names) == 1:
        raise InputError(
            f"classes: labels and gold name {names[0]!r} only; say how many classes there are"
        )
    count = len(names) if classes is None else checks.count("classes", classes, 2)
    if count < len(names):
        raise InputError(
            f"classes is {classes}, and labels and gold name {len(names)} "
            f"({checks.listing(names)}): give {len(names)} or more, or mend the labels"
        )
    return count


def worker_prices(
    pool: Scores, workers: Names, costs: pd.Series[Any] | float | None
) -> FloatArray | None:
    """Price of each worker, shape (m,); who cannot be scored needs none, and has NaN without."""
    if costs is None:
        return None
    if not isinstance(costs, pd.Series):
        return np.full(len(pool), float(costs))
    align.prices(list(workers[pool.eligible]), ["all"], costs)
    prices: FloatArray = costs.reindex(workers).to_numpy(dtype=np.float64)
    return prices


def control_answers(votes: Votes, truth: IntArray, place: IntArray) -> ControlAnswers:
    """Number the answers to control tasks.

    Parameters
    ----------
    votes
        Labels of n tasks, control tasks and others.
    truth, place
        Class of each task and its number among the control tasks, −1 of others; shape (n,).
    """
    task = votes.task
    rows = truth[task] >= 0
    task = task[rows]
    return ControlAnswers.of(
        place[task], votes.worker[rows], truth[task], votes.label[rows], len(votes.workers)
    )


def score_by(answers: ControlAnswers, classes: int, options: HireOptions) -> Scores:
    """Score workers as the rule of the options asks."""
    if options.rule == "accuracy":
        return learned_scores(answers, classes, prior=options.prior)
    return scores(answers.correct, answers.answered, classes, prior=options.prior)


def eligible_to_hire(scored: Scores, options: HireOptions) -> Scores:
    """Refuse who is more likely than not below chance, unless the options allow it."""
    if options.allow_below_chance:
        return scored
    below = below_chance(scored)
    fit = below <= MOST_BELOW
    if options.rule == "accuracy" and scored.classes == 2:
        fit |= below >= BEYOND_DOUBT
    return replace(scored, eligible=scored.eligible & fit)


def chosen_by(
    pool: Scores,
    prices: FloatArray | None,
    budget: int,
    options: HireOptions,
    answers: BoolArray | None = None,
    draws: int | None = None,
) -> tuple[Selection, MoneySelection | None, Frontier | None]:
    """Choose by the rule, or within the money where prices, one a worker, decide.

    `answers`, shape (n, m), says who labels which task, where that is to be seen; `draws` is for
    `covering`.
    """
    if answers is not None and options.covers and pool.eligible.any():
        chosen = covering(
            pool, answers, budget, undecided=options.undecided, draws=draws, seed=options.seed
        )
        value = pool.posterior_value
        return Selection(chosen, np.zeros(0), NONE, AS_ANSWERED, value), None, None
    if prices is None or options.money is None:
        selection = select(
            pool,
            budget,
            options.rule,
            seed=options.seed,
            by_evidence=True,
            threshold=options.threshold,
        )
        return selection, None, None
    if options.rule == "accuracy":
        pool = replace(pool, eligible=pool.eligible & ~np.isnan(prices))
        sets = frontier(pool, prices, budget, options.money, seed=options.seed)
        value, best = pool.posterior_value, sets.best
        if best is None:
            return Selection(NONE, np.zeros(0), NONE, UNAFFORDABLE, value), None, sets
        return Selection(best.chosen, np.zeros(0), best.tied, "", value), None, sets
    from workbench.selection.money import within_money

    bought = within_money(
        np.where(pool.eligible, pool.gain, -np.inf),
        np.where(pool.eligible, prices, 0.0),
        budget,
        options.money,
        seed=options.seed,
        time_limit=options.time_limit,
        evidence=pool.answered,
    )
    return Selection(bought.chosen, np.zeros(0), bought.tied, bought.note), bought, None


def _cheaper(sets: Frontier | None, workers: Names) -> tuple[str, ...]:
    """Say which set errs hardly more for much less money."""
    nearly, best = (sets.nearly, sets.best) if sets else (None, None)
    if nearly is None or best is None:
        return ()
    return (
        f"for less: {len(nearly.chosen)} workers ({checks.listing(workers[nearly.chosen])}) at "
        f"{nearly.cost:.10g} a task are expected to err {nearly.error.probability:.3g}, where "
        f"{len(best.chosen)} at {best.cost:.10g} are expected to err {best.error.probability:.3g}",
    )


def _ranked(scored: Scores, pool: Scores, selection: Selection) -> IntArray:
    """All workers: the chosen as the rule has them, the others by its value and evidence.

    Then who is refused, and at last who cannot be scored.
    """
    value = scored.gain if selection.value is None else selection.value
    value = np.where(scored.eligible, value, -np.inf)
    order = np.lexsort((-scored.answered, -value, ~pool.eligible, ~scored.eligible))
    return np.concatenate([selection.chosen, order[~np.isin(order, selection.chosen)]])


def _excluded(workers: Names, made: Choice) -> pd.DataFrame:
    """Who cannot be scored or is refused, and why."""
    pool, refused = made.scored, made.refused
    below = np.where(refused & ~made.constant, below_chance(pool), 0.0)
    out = np.flatnonzero(~pool.eligible | refused)
    why = [
        ONE_CLASS
        if made.constant[j]
        else f"below chance with probability {below[j]:.3f}"
        if below[j]
        else "one control answer"
        if pool.answered[j]
        else "no control answer"
        for j in out
    ]
    return pd.DataFrame({"worker": workers[out], "why": why})


def _notes(made: Choice, workers: Names, options: HireOptions) -> tuple[str, ...]:
    pool, selection = made.scored, made.selection
    L, chosen, tied = pool.classes, selection.chosen, selection.tied
    still, refused = made.constant, made.refused & ~made.constant
    out = pool.answered[~pool.eligible]
    none = int((out == 0).sum())
    guessed = int((pool.eligible & (pool.answered < 2)).sum())
    by_skill = made.vote.rows is None
    liars = workers[chosen][(pool.skill[chosen] < 1.0 / L) & by_skill]
    by = "gain and price" if options.money is not None else "rank"
    notes = {
        selection.note: bool(selection.note),
        f"refused, {refused.sum()} of {len(pool)} workers ({checks.listing(workers[refused])}): "
        f"their answers make a skill below guessing, 1/{L}, more likely than not; they are hired "
        "where below chance is allowed": refused.any(),
        f"refused, {still.sum()} of {len(pool)} workers ({checks.listing(workers[still])}): all "
        "their labels name one class, also where gold names another; they tell nothing of a "
        "task": still.any(),
        f"left out, {len(out)} of {len(pool)} workers: {none} without a control answer, "
        f"{len(out) - none} with one (one answer has no variance); a prior takes them in": len(out),
        f"{guessed} workers with no or one control answer are scored by the prior: G is no "
        "unbiased estimate for them, and no interval for F covers them": guessed,
        f"{len(tied)} workers of equal {by} straddle the cut ({checks.listing(workers[tied])}): "
        f"{np.isin(tied, chosen).sum()} of them taken by a draw": len(tied),
        f"chosen though worse than guessing, {len(liars)} ({checks.listing(liars)}): their weights "
        "are negative; in a plain majority they do harm": len(liars),
        BY_ROWS: not by_skill and made.vote.stakes is None,
        BY_COST: made.vote.stakes is not None,
        "bound and expected error take every chosen worker to label every task, independently of "
        "the others and, where wrong, evenly among the classes: workers who err on the same hard "
        "tasks do worse": len(chosen) and by_skill,
        "the score is of workers chosen by the same answers, and tends to be too high; its "
        "interval, and the bound at it, are for workers fixed beforehand": (
            len(chosen) and options.rule != "random"
        ),
    }
    return tuple(note for note, holds in notes.items() if holds)
