"""Plans for labels of two classes: each worker has a skill by task type.

Each task's exact error is held to ε, or their mean, by programs over sets of workers
(`solving.exact_error`, `solving.mean_error`), or a bound on it, as in the paper, by covers. Where
the sets are too many to be worked through, the plan is the cheapest of covers, less the labels
that it can spare; what is proven of it is a bound of the program that was asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowd_models import AssignmentProblem
from crowd_models.exact_error import error_problem
from crowd_models.gains import Gain
from crowd_models.patterns import SLACK
from crowd_models.problem import label_limits
from workbench.accuracy.error_rate import vote_errors
from workbench.aggregation.voting import promised_weights
from workbench.assignment.cover_plan import REPORTED, ROUNDING, CoverPlan, PlanPromise, TopUp
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import generator
from workbench.solving import Certificate, Solution, Termination, solve
from workbench.solving.claims import CostClaim
from workbench.solving.exact_error import TooManySetsError, exact_error_solution
from workbench.solving.highs import RunOptions
from workbench.solving.keeping import Kept, keep_most
from workbench.solving.mean_error import mean_error_solution

SEARCHING, COVERING, KEEPING = 0.5, 0.3, 0.5
"""Shares of the time that is left: for the program over sets; then for covers; then for a plan that
keeps all tasks. The rest improves what was found, or explains why there is none."""
PATIENCE = 12
"""Attempts in a row that may fail to improve a plan."""
LOOSE = 0.02
"""Gap above which covers are tried beside sets."""


@dataclass(frozen=True, eq=False)
class TwoClasses:
    """Labels of two classes: a skill for each task and worker.

    Attributes
    ----------
    skill
        p, shape (n, m).
    gain
        What a label counts in a cover, and so how votes are weighed.
    kinds
        Type of each task, shape (n,).
    given
        Labels on record, and limits of their number.
    capacity, cost, available
        As in `AssignmentProblem`.
    """

    skill: FloatArray
    gain: Gain
    kinds: IntArray
    given: TopUp
    capacity: IntArray
    cost: FloatArray | None = None
    available: BoolArray | None = None

    @property
    def top(self) -> float:
        """Error that asks for nothing."""
        return 0.5

    @property
    def weight(self) -> FloatArray:
        """Weight of each label in the vote, shape (n, m)."""
        return promised_weights(self.gain.vote, self.skill)

    @property
    def prices(self) -> FloatArray:
        """Of a label by task and worker, shape (n, m)."""
        return np.ones(self.skill.shape) if self.cost is None else self.cost

    def everybody(self) -> FloatArray:
        """Error of each task where all workers who may label it do, shape (n,)."""
        able = np.broadcast_to(self.capacity > 0, self.skill.shape)
        mask = able if self.available is None else able & self.available
        return vote_errors(self.skill, self.weight, mask | self.given.recorded)[0]

    def exact(self, epsilon: float) -> AssignmentProblem:
        """The program over sets of workers whose exact error is at most ε."""
        recorded = self.given.recorded
        return error_problem(
            self.skill,
            self.capacity,
            epsilon,
            self.cost,
            self.given.open(self.available),
            self.kinds,
            *self.given.limits(),
            recorded if recorded.any() else None,
        )

    def problem(self, levels: FloatArray) -> AssignmentProblem:
        """The cover program at some levels: labels on record leave so much less to be covered."""
        need = self.gain.requirement(levels)[self.kinds]
        quality = self.gain.quality(self.skill, need)
        left = need - (quality * self.given.recorded).sum(axis=1)
        return AssignmentProblem(
            quality,
            self.capacity,
            np.where(left > SLACK * need, left, 0.0),
            self.cost,
            self.given.open(self.available),
            self.kinds,
            self.gain.name,
            *self.given.limits(),
        )

    def cover(self, levels: FloatArray, options: RunOptions, *, draws: int) -> CoverPlan:
        """The cheapest cover at some levels; its errors are computed."""
        problem = self.problem(levels)
        solution = solve(
            problem,
            "ip",
            time_limit=options.time_limit,
            gap=options.gap,
            threads=options.threads,
            seed=options.seed,
            isolated=draws == REPORTED,
        )
        if solution.assignment is None:
            return CoverPlan(solution, levels)
        made = self.reported(solution, solution.assignment > 0.5, CostClaim.of(solution))
        return replace(made, levels=levels)

    def reported(self, solution: Solution, chosen: BoolArray, claim: CostClaim) -> CoverPlan:
        """A plan with the errors of its vote, exact and by the bound of covers."""
        voting = chosen | self.given.recorded
        errors, radius = vote_errors(self.skill, self.weight, voting)
        need = self.gain.requirement(np.full(1, max(float(errors.max(initial=0.0)), 1e-12)))
        gathered = (self.gain.quality(self.skill, need[0]) * voting).sum(axis=1)
        bounds = self.gain.error(gathered)
        levels = np.array([_middle(bounds[self.kinds == t]) for t in range(self.kinds.max() + 1)])
        return CoverPlan(
            solution, levels, chosen, errors, float(radius.max(initial=0.0)), bounds, claim
        )

    def keep(self, epsilon: float, promise: PlanPromise, options: RunOptions) -> CoverPlan:
        """The cheapest plan found that keeps a promise, and what is known of its cost.

        Of two classes that a worker tells apart equally well, the vote errs as often whichever is
        true, since ties are settled by lot: so `class` is `each`.

        Parameters
        ----------
        epsilon
            ε, in (0, 1).
        promise
            What ε is.

        Returns
        -------
        CoverPlan
            Without `chosen` where there is none; its solution says why.
        """
        if promise == "bound":
            return self.cover(np.full(self.kinds.max() + 1, epsilon), options, draws=REPORTED)
        if promise == "mean":
            return self._mean(epsilon, options)
        return self._each(epsilon, options)

    def _mean(self, epsilon: float, options: RunOptions) -> CoverPlan:
        left = options.countdown()
        strict = self._each(epsilon, _share(left(), 0.5))
        start = None if strict.chosen is None else strict.chosen.astype(np.float64)
        now = left()
        solution = mean_error_solution(
            self.exact(min(2 * epsilon, 0.5)),
            epsilon,
            start=start,
            time_limit=now.time_limit,
            gap=now.gap,
            seed=now.seed,
        )
        if solution.assignment is None:
            return CoverPlan(solution, strict.levels)
        chosen = self._by_lot(solution.assignment > 0.5, options.seed)
        return self.reported(solution, chosen, CostClaim.of(solution))

    def _by_lot(self, chosen: BoolArray, seed: int) -> BoolArray:
        """Deal the sets of a plan anew among tasks that are alike, so that each errs alike."""
        rng, dealt = generator(seed), chosen.copy()
        of = self.exact(0.5).typed.task_class
        assert of is not None
        for t in range(int(of.max()) + 1):
            alike = np.flatnonzero(of == t)
            dealt[alike] = chosen[rng.permutation(alike)]
        return dealt

    def _each(self, epsilon: float, options: RunOptions) -> CoverPlan:
        """Sets of workers first; covers where that does not come near; then any plan at all."""
        left = options.countdown()
        problem = self.exact(epsilon)
        made = self._by_sets(problem, _share(left(), SEARCHING), None)
        if made is None:
            made = self._without_limits(problem, _share(left(), SEARCHING))
        proven = made is not None and made.solution.certificate.status == "infeasible"
        if made is not None and (proven or _near(made, options.gap)):
            return made
        covers = self._by_covers(problem, epsilon, _share(left(), COVERING))
        if made is not None:
            made = self._spared(made, problem, epsilon)
        made = _cheaper(made, self._spared(covers, problem, epsilon))
        if made.chosen is not None and not problem.limited and not left().over:
            again = self._by_sets(problem, left(), made.chosen.astype(np.float64))
            return made if again is None else _cheaper(made, again)
        if made.chosen is None and not problem.limited:
            now = _share(left(), KEEPING)
            kept = keep_most(problem, time_limit=now.time_limit, seed=now.seed)
            if not kept.kept.all() or left().over:
                return replace(made, kept=kept)
            made = self._by_sets(problem, left(), kept.assignment) or made
        return made

    def part(self, kept: Kept) -> TwoClasses:
        """The same for the tasks that can be kept."""
        rows = np.flatnonzero(kept.kept)
        return replace(
            self,
            skill=self.skill[rows],
            kinds=self.kinds[rows],
            given=replace(self.given, recorded=self.given.recorded[rows]),
            cost=None if self.cost is None else self.cost[rows],
            available=None if self.available is None else self.available[rows],
        )

    def of_kept(self, kept: Kept, epsilon: float, options: RunOptions) -> CoverPlan:
        """The plan of a `part`, from the one that is known."""
        chosen = kept.assignment[kept.kept] > 0.5
        if options.over:
            cost = float(self.prices[chosen].sum())
            known = Solution("ip", "arrays", Termination.TIME_LIMIT, objective=cost)
            return self.reported(known, chosen, CostClaim(cost))
        made = self._by_sets(self.exact(epsilon), options, kept.assignment[kept.kept])
        assert made is not None
        return made

    def _by_sets(
        self, problem: AssignmentProblem, options: RunOptions, start: FloatArray | None
    ) -> CoverPlan | None:
        """The plan of the program over sets; None where they are too many."""
        try:
            solution = exact_error_solution(
                problem,
                time_limit=options.time_limit,
                gap=options.gap,
                seed=options.seed,
                start=start,
                patience=PATIENCE,
            )
        except TooManySetsError:
            return None
        if solution.assignment is None:
            return CoverPlan(solution, np.full(self.kinds.max() + 1, 0.5))
        return self.reported(solution, solution.assignment > 0.5, CostClaim.of(solution))

    def _without_limits(self, problem: AssignmentProblem, options: RunOptions) -> CoverPlan | None:
        """The plan without limits of labels, filled up to the least; None where it breaks them.

        No plan within limits costs less, and there is none where there is none without.
        """
        made = self._by_sets(replace(problem, least=None, most=None), options, None)
        if made is None or made.chosen is None or made.claim is None:
            proven = made is not None and made.solution.certificate.status == "infeasible"
            return made if proven else None
        chosen, few, many = made.chosen.copy(), *label_limits(problem)
        room = self.capacity - chosen.sum(axis=0)
        for i, row in enumerate(chosen):
            spare = np.flatnonzero(problem.mask[i] & ~row & (room > 0))
            order = spare[np.argsort(self.prices[i, spare], kind="stable")]
            added = order[: max(int(few[i] - row.sum()), 0)]
            row[added] = True
            room[added] -= 1
        labels = chosen.sum(axis=1)
        if (labels < few).any() or (labels > many).any():
            return None
        cost = float(self.prices[chosen].sum())
        claim = CostClaim(cost, made.claim.checked, made.claim.believed)
        solution = replace(
            made.solution, objective=cost, bound=claim.bound, assignment=chosen.astype(np.float64)
        )
        return self.reported(solution, chosen, claim)

    def _by_covers(
        self, problem: AssignmentProblem, epsilon: float, options: RunOptions
    ) -> CoverPlan:
        """The cheapest cover at ε, with a bound of the program over sets."""
        made = self.cover(np.full(self.kinds.max() + 1, epsilon), options, draws=REPORTED)
        if made.chosen is None:  # Of covers, which are not all sets that keep ε.
            ended, none = Termination.SEARCH_ENDED, Certificate("unproven")
            none_found = replace(
                made.solution, termination=ended, infeasibility=None, certificate=none
            )
            return replace(made, solution=none_found)
        lowest = solve(_relaxed(problem), "typed", time_limit=options.time_limit)
        solution = replace(
            made.solution,
            bound=lowest.certificate.lower_bound,
            termination=Termination.SEARCH_ENDED,
            certificate=lowest.certificate,
            method="the cheapest of covers",
        )
        return replace(made, solution=solution)

    def _spared(self, made: CoverPlan, problem: AssignmentProblem, epsilon: float) -> CoverPlan:
        """A plan less the labels that it can spare, with its bound."""
        if made.chosen is None:
            return made
        chosen = self._thinned(made.chosen, problem, epsilon)
        cost = float(self.prices[chosen].sum())
        claim = CostClaim(cost, made.solution.certificate.lower_bound)
        solution = replace(
            made.solution,
            objective=cost,
            bound=claim.bound,
            assignment=chosen.astype(np.float64),
            method=f"{made.solution.method}, less labels that can be spared",
        )
        return self.reported(solution, chosen, claim)

    def _thinned(self, chosen: BoolArray, problem: AssignmentProblem, epsilon: float) -> BoolArray:
        """Leave out the most expensive labels that a task can spare."""
        chosen, weight = chosen.copy(), self.weight
        few = problem.least if problem.least is not None else np.zeros(len(chosen), dtype=np.int64)
        known: dict[bytes, float] = {}

        def error(i: int, row: BoolArray) -> float:
            key = np.sort(np.abs(weight[i, row])).tobytes()
            if key not in known:
                known[key] = float(vote_errors(self.skill[[i]], weight[[i]], row[None])[0][0])
            return known[key]

        for i, row in enumerate(chosen):
            order = np.flatnonzero(row)
            order = order[np.lexsort((np.abs(weight[i, order]), -self.prices[i, order]))]
            for j in order.tolist():
                fewer = row.copy()
                fewer[j] = False
                voting = fewer | self.given.recorded[i]
                if fewer.sum() >= few[i] and error(i, voting) <= epsilon * (1 + ROUNDING):
                    row[j] = False
        return chosen


def _relaxed(problem: AssignmentProblem) -> AssignmentProblem:
    """The cover that every set of workers satisfies whose exact error is at most ε, no limits."""
    need = problem.requirement
    if problem.recorded is not None:
        left = need - (problem.quality * problem.recorded).sum(axis=1)
        need = np.where(left > SLACK * need, left, 0.0)
    return replace(problem, requirement=need, recorded=None, least=None, most=None)


def _share(options: RunOptions, share: float) -> RunOptions:
    """The options with so much of the time."""
    if options.time_limit is None:
        return options
    return replace(options, time_limit=share * options.time_limit)


def _near(made: CoverPlan, gap: float) -> bool:
    """Whether a plan is near enough to its bound."""
    open_share = made.solution.gap
    return made.chosen is not None and open_share is not None and open_share <= max(LOOSE, gap)


def _cheaper(first: CoverPlan | None, second: CoverPlan) -> CoverPlan:
    """The cheaper of two plans for one problem, with the higher of their bounds."""
    if first is None or first.chosen is None:
        bound = None if first is None else first.solution.certificate.lower_bound
        if second.chosen is None:
            return first or second
        return _with_bound(second, bound)
    cost, other = first.solution.objective, second.solution.objective
    if second.chosen is None or cost is None or other is None or cost <= other:
        return _with_bound(first, second.solution.certificate.lower_bound)
    return _with_bound(second, first.solution.certificate.lower_bound)


def _with_bound(made: CoverPlan, bound: float | None) -> CoverPlan:
    """A plan with a bound of the same problem that was found elsewhere."""
    claim, solution = made.claim, made.solution
    if bound is None or claim is None or bound <= (claim.checked or 0.0):
        return made
    certificate = replace(solution.certificate, lower_bound=bound)
    higher = bound if solution.bound is None else max(bound, solution.bound)
    return replace(
        made,
        claim=CostClaim(claim.cost, bound, claim.believed),
        solution=replace(solution, bound=higher, certificate=certificate),
    )


def _middle(bounds: FloatArray) -> float:
    """About the error that covers of some tasks promise."""
    return float(np.clip(np.median(bounds), 1e-12, 0.5)) if len(bounds) else 0.5
