"""The ladder: one promise, an error of at most ε on every task, and what it costs.

The ways to keep it are the ladder's rungs. From the costliest down: planned by Hoeffding's bound
(the paper's integer program), by Bhattacharyya's, and by the exact error; bought label by label
with a look at each, under either of two promises: no task is closed before its posterior error is
at most ε (`sequential, posterior`), or each is wrong at most ε of the time, and a policy may stop
by lot (`sequential, error`); and the least that any policy can pay (the information limit). With a
prior of skills, one more row bounds what every policy pays that does not know them. Two equally
likely classes, labels independent given the true one, and skills known in all other rows.

Plans, bounds and the limit are proven of this model. What a sequential policy costs is simulated,
capacities always held. Three policies are tried, those that do not keep the promise are dropped,
and the cheapest of the others is measured anew, on other runs:

- *optimal policies*: those of the sequential optimum, carried out (`label_by_label`).
- *until sure*: a task asks one worker after another until its posterior error is ≤ ε. Workers
  are ordered by D x − c − u: the value of what a label tells, less its price, less what capacity
  is worth, by the dual prices of the information limit. Dropped where a task stays less sure.
- *until decided*: the exact-error plan, each task's strongest worker first, until those left
  cannot turn the vote: it names the same class as the whole plan, and never costs more.

Source: Ho, Jabbari, Vaughan (2013), Section 4.2 for the first; `crowd_models.gains`, `.exact_error`
and `.information` for the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowd_models import AssignmentProblem
from crowd_models.exact_error import error_problem, log_odds
from crowd_models.gains import GAINS
from crowd_models.sequential_policies import Promise
from workbench.accuracy.error_rate import vote_errors
from workbench.assignment.label_by_label import by_class, execute
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.bar import Step, no_step
from workbench.base.seeds import Seed, generator
from workbench.solving import Termination, solve
from workbench.solving.claims import OPEN, PROVEN, WORD, CostClaim
from workbench.solving.exact_error import ExactErrorPlan, solve_exact_error
from workbench.solving.ignorance import unknown_skills_bound
from workbench.solving.information import InformationLimit, information_limit
from workbench.solving.sequential import SequentialOptimum, sequential_optimum

PLANNED = ("hoeffding", "bhattacharyya")
"""By a bound on the error."""
EXACT, POSTERIOR, ERROR = "exact error", "sequential, posterior", "sequential, error"
LIMIT = "information limit"
RUNGS = (*PLANNED, EXACT, POSTERIOR, ERROR, LIMIT)
"""From the costliest down."""
CHANCE = 4.0
"""Standard errors that a simulated policy is allowed, before it is said to miss its promise: one
that errs ε of the time exactly is then dropped once in some three hundred of ten trials, twice."""
UNKNOWN = "skills unknown"
"""Above the information limit, where there is a prior."""
NONE_THERE_IS, NONE_BY_WORD = "infeasible", f"infeasible, {WORD}"
"""No plan, or no policy: proven, or as the solver says."""


@dataclass(frozen=True)
class Rung:
    """What the promise costs by one way of keeping it: a row of the ladder.

    Attributes
    ----------
    name
        One of `RUNGS`, or `UNKNOWN`.
    lower_bound
        No plan of this kind, or policy that keeps this promise, costs less; for the limit, no
        policy at all. None where no bound is known. What lies above `proven_bound` is HiGHS's word.
    cost
        Of the plan; of sequential policies the mean over trials; None for no plan, and for bounds,
        which are no plans.
    status
        That of a `CostClaim`: `proven`, `HiGHS's word`, `feasible` or `open` (no plan in time, no
        policy tried that closes every task, and perhaps there is one). Or `infeasible` (proven),
        `infeasible, HiGHS's word`; of sequential policies `measured` and by which policy.
    error
        Worst exact error of a task's vote; of sequential policies the share of wrong labels.
    se, error_se
        Standard errors over trials, of sequential policies.
    seconds
        Time taken.
    proven_bound
        The part of `lower_bound` that is recomputed from the data.
    """

    name: str
    lower_bound: float | None
    cost: float | None
    status: str
    error: float | None = None
    se: float | None = None
    error_se: float | None = None
    seconds: float | None = None
    proven_bound: float | None = None

    @property
    def claim(self) -> CostClaim:
        """What is known of the cost of a plan."""
        return CostClaim(self.cost, self.proven_bound, self.lower_bound)


@dataclass(frozen=True, eq=False)
class LadderCrowd:
    """Tasks by type and workers of known skill.

    Attributes
    ----------
    skill
        p, shape (T, m).
    tasks
        Tasks of each type, shape (T,).
    capacity
        M, shape (m,).
    cost
        Price of a label, shape (T, m), or None for 1.
    """

    skill: FloatArray
    tasks: IntArray
    capacity: IntArray
    cost: FloatArray | None = None

    @property
    def kinds(self) -> IntArray:
        """Type of each task, shape (n,)."""
        return np.repeat(np.arange(len(self.tasks)), self.tasks)

    @property
    def prices(self) -> FloatArray:
        """Price of a label by type and worker."""
        return np.ones(self.skill.shape) if self.cost is None else self.cost

    def limit(self, epsilon: float, *, average: bool = False) -> InformationLimit:
        """The information limit of this crowd."""
        return information_limit(
            self.skill,
            capacity=self.capacity,
            tasks=self.tasks,
            epsilon=epsilon,
            cost=self.cost,
            average=average,
        )


def ladder(
    crowd: LadderCrowd,
    epsilon: float,
    *,
    trials: int = 10,
    time_limit: float = 60.0,
    gap: float = 0.0,
    prior: dict[float, float] | None = None,
    seed: int = 0,
    step: Step = no_step,
) -> list[Rung]:
    """Price one promise by each way of keeping it.

    Parameters
    ----------
    epsilon
        ε, in (0, ½).
    trials
        Simulations of each policy that looks at labels, 2 or more.
    time_limit
        Seconds for each of the three plans, and for each sequential optimum.
    gap
        Relative gap at which a plan may stop.
    prior
        Share of the workers by skill, for what not knowing skills costs: so many workers, drawn
        independently; with one capacity.
    seed
        Same seed and enough time, same ladder.
    step
        Is called after each of `RUNGS`.

    Returns
    -------
    list of Rung
        In the order of `RUNGS`, `UNKNOWN` before the limit where there is a prior.
    """
    rungs, start = [], None
    for name in PLANNED:
        rung, start = _planned(crowd, name, epsilon, time_limit, gap, seed, start)
        rungs.append(rung)
        step()
    problem = error_problem(
        crowd.skill[crowd.kinds],
        crowd.capacity,
        epsilon,
        None if crowd.cost is None else crowd.cost[crowd.kinds],
    )
    plan = solve_exact_error(problem, time_limit=time_limit, gap=gap, seed=seed, start=start)
    # A plan by Bhattacharyya's bound keeps this promise, too.
    if plan.status == "bound" and start is not None:
        errors = vote_errors(crowd.skill[crowd.kinds], _odds(crowd.skill[crowd.kinds]), start > 0.5)
        cost = float((problem.prices * start).sum())
        plan = replace(plan, status="feasible", cost=cost, assignment=start, errors=errors[0])
    rungs.append(_exact(plan))
    step()
    limit = crowd.limit(epsilon)
    if limit.status == NONE_THERE_IS:  # Of no kind, then.
        for name in (POSTERIOR, ERROR):
            rungs.append(Rung(name, None, None, NONE_THERE_IS))
            step()
    else:
        rungs += sequential(
            crowd, epsilon, plan, trials=trials, time_limit=time_limit, seed=seed, step=step
        )
    if prior is not None:
        tasks, most = int(crowd.tasks.sum()), int(crowd.capacity.max(initial=1))
        unknown = unknown_skills_bound(prior, most, tasks, epsilon, workers=len(crowd.capacity))
        there = math.isfinite(unknown.labels)
        least = unknown.labels if there else None
        status = PROVEN if there else NONE_THERE_IS
        rungs.append(
            Rung(UNKNOWN, least, None, status, seconds=unknown.seconds, proven_bound=least)
        )
    bound = limit.value if math.isfinite(limit.value) else None
    status = NONE_BY_WORD if limit.status == "unproven" else limit.status
    return [*rungs, Rung(LIMIT, bound, None, status, proven_bound=bound)]


def _planned(
    crowd: LadderCrowd,
    name: str,
    epsilon: float,
    time_limit: float,
    gap: float,
    seed: int,
    start: FloatArray | None,
) -> tuple[Rung, FloatArray | None]:
    """What a cover program's plan costs, and the plan; `start` is the plan by the bound before."""
    gain = GAINS[name]
    need = gain.requirement(epsilon)
    skill = crowd.skill[crowd.kinds]
    cost = None if crowd.cost is None else crowd.cost[crowd.kinds]
    problem = AssignmentProblem(
        gain.quality(skill, need), crowd.capacity, need, cost, task_types=crowd.kinds, gain=name
    )
    solution = solve(problem, "ip", time_limit=time_limit, gap=gap, seed=seed, isolated=False)
    if solution.assignment is None:
        status = OPEN
        if solution.termination is Termination.INFEASIBLE:
            proven = solution.certificate.status == "infeasible"
            status = NONE_THERE_IS if proven else NONE_BY_WORD
        return Rung(name, solution.bound, None, status, seconds=solution.seconds), start
    weight = 2.0 * skill - 1.0 if gain.vote == "linear" else _odds(skill)
    errors, _ = vote_errors(skill, weight, solution.assignment > 0.5)
    worst = float(errors.max(initial=0.0))
    return _plan(name, CostClaim.of(solution), worst, solution.seconds), solution.assignment


def _exact(plan: ExactErrorPlan) -> Rung:
    """What the exact-error program's plan costs."""
    if plan.cost is None or plan.errors is None:
        proven = plan.proof is not None
        status = OPEN if plan.status == "bound" else NONE_THERE_IS if proven else NONE_BY_WORD
        return Rung(EXACT, plan.lower_bound, None, status, seconds=plan.seconds)
    claim = CostClaim(plan.cost, plan.certified, plan.lower_bound)
    return _plan(EXACT, claim, float(plan.errors.max(initial=0.0)), plan.seconds)


def _plan(name: str, claim: CostClaim, worst: float, seconds: float) -> Rung:
    """What a plan costs."""
    return Rung(
        name,
        claim.bound,
        claim.cost,
        claim.status,
        worst,
        seconds=seconds,
        proven_bound=claim.checked,
    )


@dataclass(frozen=True)
class _Loop:
    """What a simulated policy came to: cost and share of wrong labels, by trial."""

    name: str
    cost: FloatArray
    error: FloatArray


def sequential(
    crowd: LadderCrowd,
    epsilon: float,
    plan: ExactErrorPlan,
    *,
    trials: int,
    time_limit: float,
    seed: Seed,
    step: Step = no_step,
) -> list[Rung]:
    """Both sequential promises: the bound on every policy, and the cheapest of those simulated."""
    rng = generator(seed)

    def sure(runs: int) -> _Loop | None:
        return _until_sure(crowd, epsilon, runs, rng)

    def decided(runs: int) -> _Loop | None:
        if plan.assignment is None:
            return None
        return _until_decided(crowd, plan.assignment > 0.5, runs, rng)

    problem, classes = by_class(crowd.skill, crowd.tasks, crowd.capacity, crowd.prices, epsilon)
    promised: list[tuple[str, Promise, list[Callable[[int], _Loop | None]]]] = [
        (POSTERIOR, "posterior", [sure]),
        (ERROR, "error", [sure, decided]),
    ]
    rungs = []
    for name, promise, others in promised:
        optimum = sequential_optimum(replace(problem, promise=promise), time_limit=time_limit)

        def optimal(runs: int, optimum: SequentialOptimum = optimum) -> _Loop | None:
            return _optimal(optimum, classes, crowd.capacity, epsilon, runs, rng)

        rungs.append(_cheapest(name, optimum.lower_bound, [optimal, *others], trials))
        step()
    return rungs


def _cheapest(
    name: str, bound: float, policies: list[Callable[[int], _Loop | None]], trials: int
) -> Rung:
    """What the cheapest policy costs, chosen on runs other than those that measure it."""
    tried = [(policy(trials), policy) for policy in policies]
    kept = [(loop.cost.mean(), policy) for loop, policy in tried if loop is not None]
    for _, policy in sorted(kept, key=lambda entry: float(entry[0])):
        best = policy(trials)
        if best is not None:
            return Rung(
                name,
                bound,
                float(best.cost.mean()),
                f"measured: {best.name}",
                float(best.error.mean()),
                _se(best.cost),
                _se(best.error),
                proven_bound=bound,
            )
    return Rung(name, None, None, OPEN)  # perhaps nobody can, and then any bound is true


def _optimal(
    optimum: SequentialOptimum,
    classes: IntArray,
    capacity: IntArray,
    epsilon: float,
    trials: int,
    rng: np.random.Generator,
) -> _Loop | None:
    """Carry the optimum out; None where there is none, or where it does not keep the promise.

    With few tasks or little room the workers who stand in do not do what the policy promises; then
    tasks stay unsure, or it errs too often, or costs less than is possible.
    """
    there = {column.policy.task_type for column in optimum.columns}
    if not there.issuperset(np.flatnonzero(optimum.problem.tasks).tolist()):
        return None
    seed = int(rng.integers(2**32))
    executed = execute(optimum, classes, capacity, trials=trials, seed=seed)
    cost, error = executed.cost, executed.error
    erring = error.mean() > epsilon + CHANCE * _se(error)
    below = cost.mean() + CHANCE * _se(cost) < optimum.lower_bound
    if executed.unsure or erring or below:
        return None
    return _Loop("optimal policies", cost, error)


def _odds(skill: FloatArray) -> FloatArray:
    """ln(p/(1 − p)), any shape; large and finite for p of 0 and 1."""
    weight: FloatArray = np.sign(skill - 0.5) * log_odds(GAINS["bhattacharyya"].quality(skill))
    return weight


def _se(values: FloatArray) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def _until_sure(
    crowd: LadderCrowd, epsilon: float, trials: int, rng: np.random.Generator
) -> _Loop | None:
    """Ask until the posterior error is at most ε; None where workers do not suffice."""
    limit = crowd.limit(epsilon)
    if limit.labels is None:
        return None
    problem = limit.problem
    assert problem.task_class is not None
    assert problem.worker_class is not None
    weights, fees = (
        limit.task_weights[problem.task_class],
        limit.worker_prices[problem.worker_class],
    )
    information = problem.quality[np.ix_(problem.task_class, problem.worker_class)]
    worth = information * weights[:, None] - fees - crowd.prices
    # Who tells nothing is not asked.
    queues = [
        [j for j in np.argsort(-row, kind="stable").tolist() if information[t, j] > 0]
        for t, row in enumerate(worth)
    ]
    skill, prices = crowd.skill.tolist(), crowd.prices.tolist()
    odds = _odds(crowd.skill).tolist()
    sure = math.log1p(-epsilon) - math.log(epsilon) - 1e-9
    costs, errors = np.zeros(trials), np.zeros(trials)
    for trial in range(trials):
        room = crowd.capacity.tolist()
        line = [list(queue) for queue in queues]
        for t in rng.permutation(crowd.kinds).tolist():
            lead, full = 0.0, False
            for j in line[t]:
                if not room[j]:
                    full = True
                    continue
                room[j] -= 1
                costs[trial] += prices[t][j]
                lead += odds[t][j] if rng.random() < skill[t][j] else -odds[t][j]
                if abs(lead) >= sure:
                    break
            else:
                return None
            errors[trial] += lead < 0
            if full:
                line[t] = [j for j in line[t] if room[j]]
    return _Loop("until sure", costs, errors / max(1, len(crowd.kinds)))


def _until_decided(
    crowd: LadderCrowd, chosen: BoolArray, trials: int, rng: np.random.Generator
) -> _Loop:
    """Ask a plan's workers, the strongest first, until the others cannot turn the vote."""
    skill, prices = crowd.skill[crowd.kinds], crowd.prices[crowd.kinds]
    odds = np.where(chosen, _odds(skill), 0.0)
    order = np.argsort(-np.abs(odds), axis=1, kind="stable")[:, : max(1, chosen.sum(axis=1).max())]
    chosen, skill, prices, odds = (
        np.take_along_axis(part, order, axis=1) for part in (chosen, skill, prices, odds)
    )
    left = np.abs(odds)[:, ::-1].cumsum(axis=1)[:, ::-1] - np.abs(odds)
    costs, errors = np.zeros(trials), np.zeros(trials)
    for trial in range(trials):
        lead = np.where(rng.random(skill.shape) < skill, odds, -odds).cumsum(axis=1)
        decided = np.abs(lead) >= left * (1 - 1e-12)
        last = np.argmax(decided, axis=1)
        asked = chosen & (np.arange(skill.shape[1]) <= last[:, None])
        costs[trial] = (prices * asked).sum()
        ends = np.take_along_axis(lead, last[:, None], axis=1)
        errors[trial] = ((ends < 0) + 0.5 * (ends == 0)).mean() if len(ends) else 0.0
    return _Loop("until decided", costs, errors)
