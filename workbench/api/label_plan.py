"""`plan(..., sequential=…)`: prices, and a closing rule, by which labels are bought one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from crowd_models.sequential_policies import PROMISES, Promise
from workbench.api import inputs
from workbench.api.inputs import Ids
from workbench.api.result import Figure, Result, asked_for, facts, percent
from workbench.assignment.label_by_label import LabelPlan, closing_rules, plan_labels
from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import stream
from workbench.base.text import Columns, counted, tabled
from workbench.collection.answers import Answers, rehearse
from workbench.collection.policy import Goal, Policy
from workbench.collection.pool import Ledger, Pool
from workbench.collection.sequential_plan import LabelByLabel
from workbench.collection.setup import one_coin
from workbench.crowd import align
from workbench.solving import versions
from workbench.solving.claims import Contradiction, CostClaim
from workbench.solving.sequential import SequentialOptimum

TRIALS = 10
"""Simulations."""
RULES: Columns = {
    "task_type": ("task type", ""),
    "share": ("share", ".3f"),
    "closes_at": ("closed at", ".4f"),
    "labels": ("labels", ".3f"),
    "error": ("error", ".4f"),
}
KEEPS = {
    "error": "each task is wrong with a chance of at most {}",
    "mean": "in the mean {} of the tasks are wrong at most",
    "posterior": "no task is closed before its posterior error is at most {}",
}


@dataclass(frozen=True, eq=False, repr=False)
class SequentialPlan(Result):
    """How labels are bought one by one by workers of known skill, and what that costs.

    Attributes
    ----------
    prices
        A row a worker: `worker, skill` by type where there is one, `time` (what a label of hers is
        charged beyond its price, λ), `labels` (that she gives in the mean).
    rules
        A row a rule: `task_type, share` of its tasks, drawn by lot, `closes_at` (the posterior
        error at which a task is closed), `labels` and `error` in the mean.
    error_prices
        By task type, what an error is charged, μ; 0 where the posterior is promised.
    options
        Of the policy "sequential-plan" of `Collector`, with the workers in the order of `prices`.
    promise, epsilon
        What is promised: `error`, `mean` or `posterior`.
    lower_bound, cost
        No policy of known skills that keeps the promise costs less; what this costs in the mean,
        None where there is none.
    shortfall
        Where it is proven that there is no policy, None elsewhere: `least`, the error that all
        labels together come to, or the tasks that stay open where the posterior is promised; and
        `task_types`, those that fall short.
    simulated
        Of trials with capacities always held: `cost, cost_se, error, error_se, blank, closed,
        trials`; None where there is no plan. A task that is left without an answer is wrong,
        and `blank` is the share of these.
    optimum
        Its policies and prices, by class of equal workers; not in `to_dict`.
    """

    prices: pd.DataFrame
    rules: pd.DataFrame
    error_prices: pd.Series[Any]
    options: dict[str, Any]
    promise: str
    epsilon: float
    tasks: int
    lower_bound: float
    cost: float | None
    shortfall: dict[str, Any] | None
    simulated: dict[str, float] | None
    without_history: tuple[Any, ...]
    seconds: float
    versions: dict[str, str]
    optimum: SequentialOptimum

    def proof(self) -> bytes | None:
        """Prove in fractions, for `workbench verify`, what no policy costs less than.

        Returns
        -------
        bytes or None
            A file of kind `sequential`, which states prices and what a task is charged at least: a
            bound near `lower_bound`, or that there is no policy. None where that is proven by less
            than the digits of a file.

        Raises
        ------
        InputError
            The checker accepts a claim above the cost, so that one of the two is wrong.
        """
        from workbench.solving.sequential_proofs import sequential_proof

        try:
            return sequential_proof(self.optimum)
        except Contradiction as error:
            raise InputError(
                f"proof: not written, the plan and its bound differ: {error}"
            ) from None

    @property
    def message(self) -> str | None:
        """What to do where there is no plan."""
        if self.cost is not None:
            return None
        if self.shortfall is None:
            return (
                f"No policy was found that keeps the promise at ε = {self.epsilon:g}; there may be "
                "one: give more time, more workers, larger capacities or a larger ε."
            )
        least, types = self.shortfall["least"], self.shortfall["task_types"]
        among = f" of type {', '.join(map(str, types))}" if len(self.error_prices) > 1 else ""
        said = {
            "error": f"a task{among} is wrong with a chance of {least:.4g} or more",
            "mean": f"{percent(least)} of the tasks are wrong or more",
            "posterior": f"{least:.4g} tasks{among} or more stay above it",
        }[self.promise]
        return (
            f"There is no policy that keeps the promise at ε = {self.epsilon:g}, which is proven: "
            f"with all labels that the workers can give {said}. Give more workers, larger "
            "capacities or a larger ε."
        )

    def to_frame(self) -> pd.DataFrame:
        """Give a row a worker: what her time is worth, and how many labels she gives."""
        return self.prices

    def plot(self) -> Figure:
        """Draw who gives how many labels, and the labels and errors of the closing rules."""
        from workbench.plots import sequential

        given = self.prices.set_index("worker")["labels"]
        title = f"One label at a time: {self.tasks} tasks"
        return sequential(given, self.rules, epsilon=self.epsilon, title=title)

    def verdict(self) -> list[str]:
        """Say what it costs, what no policy costs less than, and what was simulated."""
        if self.cost is None or self.simulated is None:
            return [str(self.message)]
        ran = self.simulated
        kept = KEEPS[self.promise].format(asked_for(self.epsilon))
        guess = ""
        if (self.rules["labels"] <= 0.0).any():
            guess = " (a task that is closed without a label gets a random answer)"
        silent = []
        if many := len(self.without_history):
            who = "1 worker is" if many == 1 else f"{many} workers are"
            silent = [f"{who} not asked: nobody knows their skill."]
        missing, empty = "", ""
        if ran["blank"]:
            missing = " or missing"
            empty = f", {percent(ran['blank'])} without an answer"
        return [
            f"Ask for one label at a time: {self.cost:,.6g} in the mean for "
            f"{counted(self.tasks, 'task')}, and no policy costs less than "
            f"{self.lower_bound:,.6g}.",
            f"Proven, if workers err independently, skills are as given and there are two classes, "
            f"equally likely, capacities held in the mean: {kept}{guess}.",
            f"Simulated, capacities always held: {ran['cost']:,.6g} ± {ran['cost_se']:.2g}, "
            f"{percent(ran['error'])} ± {percent(ran['error_se'])} wrong{missing}, "
            f"{percent(ran['closed'])} of the tasks closed{empty} ({TRIALS} trials).",
            *silent,
        ]

    def brief(self) -> str:
        """Lay the rules out."""
        return tabled(self.rules.to_dict("records"), RULES)

    def details(self) -> str:
        """Give bound, prices and rules."""
        if self.cost is None:
            return str(self.message)
        most = self.prices["time"].max()
        rows = {
            "cost": f"{self.cost:.10g}",
            "bound": f"{self.lower_bound:.10g} (gap "
            f"{percent(1 - self.lower_bound / max(self.cost, 1e-300), 3)}), computed in floating "
            "point; in fractions by --proof, or proof()",
            "time": f"charged up to {most:.4g} a label beside its price",
            "error": ", ".join(f"{kind} {mu:.4g}" for kind, mu in self.error_prices.items())
            + " charged for one",
        }
        how = (
            "A task draws one of its type's rules by their shares. It is closed at the rule's "
            "posterior error; until then it asks the worker with whom price, time and what follows "
            "are least."
        )
        return f"{facts(rows.items())}\n\n{self.brief()}\n\n{how}"

    def _payload(self) -> dict[str, Any]:
        payload = {**super()._payload()}
        del payload["optimum"]
        return {
            **payload,
            "prices": self.prices.to_dict("records"),
            "rules": self.rules.to_dict("records"),
            "error_prices": self.error_prices.to_dict(),
            "message": self.message,
        }


def sequential_promise(sequential: bool | str) -> Promise:
    """What `sequential` promises.

    Raises
    ------
    InputError
        Another word.
    """
    for promise in PROMISES:
        if sequential == promise or (sequential is True and promise == "error"):
            return promise
    raise InputError(
        f"sequential is {sequential!r}: use one of {', '.join(PROMISES)}, or True for error"
    )


def label_plan(
    ability: pd.DataFrame | pd.Series[Any],
    kinds: pd.Series[Any],
    workers: Ids,
    capacity: pd.Series[int] | int,
    costs: pd.DataFrame | pd.Series[Any] | None,
    epsilon: float | None,
    promise: Promise,
    *,
    gap: float,
    time_limit: float,
    seed: int,
) -> SequentialPlan:
    """Make the plan, and simulate it.

    Parameters
    ----------
    ability
        Skills by worker and task type, NaN where nobody knows.
    kinds
        Type of each task.
    promise
        What ε is of.

    Raises
    ------
    InputError
        No ε below ½, a type without skills, a worker without capacity or price.
    """
    if epsilon is None or not checks.is_number(epsilon) or not 0 < epsilon < 0.5:
        raise InputError("epsilon: a sequential plan takes a number above 0, below 0.5")
    types = list(dict.fromkeys(kinds.tolist()))
    table = align.skills(ability, np.array(types, dtype=object))
    if missing := [kind for kind in types if kind not in table.columns]:
        raise InputError(f"skills: have no column for task types {checks.listing(missing)}")
    table = table[types]  # by name: columns may stand in another order, and be more
    silent = table.isna().all(axis=1)
    skill = table.fillna(0.5).to_numpy(dtype=np.float64).T
    names = table.index.to_numpy()
    inputs.check_pairs(len(kinds), len(names))
    most = align.capacities(names, capacity)
    price = np.ones(skill.shape) if costs is None else align.prices(names, types, costs)
    place = np.array([types.index(kind) for kind in kinds.tolist()], dtype=np.int64)
    counts = np.bincount(place, minlength=len(types))
    optimum, classes = plan_labels(
        skill, counts, most, price, epsilon, promise, gap=gap, time_limit=time_limit
    )
    CostClaim(optimum.cost, optimum.lower_bound)  # a bound above the cost is not shown
    rules, simulated, options = None, None, {}
    if optimum.cost is not None:
        rules = closing_rules(optimum, classes)
        options = {"plan": rules.saved()}
        pool = _pool(names, most, price, place, skill)
        goal = Goal(epsilon, mean=promise == "mean")
        simulated = _simulated(pool, goal, skill, rules, seed)
    return SequentialPlan(
        workers.column(_by_worker(optimum, table, classes, most), "worker"),
        _by_rule(optimum, rules, types),
        pd.Series(optimum.error_prices, index=pd.Index(types, name="task_type"), name="error"),
        options,
        promise,
        epsilon,
        len(kinds),
        optimum.lower_bound,
        optimum.cost,
        _shortfall(optimum, types),
        simulated,
        tuple(workers.all_back(table.index[silent])),
        optimum.seconds,
        versions(),
        optimum,
    )


def _shortfall(optimum: SequentialOptimum, types: list[Any]) -> dict[str, Any] | None:
    """Why there is no policy, task types by their names."""
    short = optimum.shortfall
    if short is None:
        return None
    return {"least": short.least, "task_types": [types[t] for t in short.types]}


def _by_worker(
    optimum: SequentialOptimum, table: pd.DataFrame, classes: IntArray, capacity: IntArray
) -> pd.DataFrame:
    """What a worker's time is worth, and her labels: those of her class by what she can give."""
    asked = classes >= 0
    size = np.bincount(classes[asked], capacity[asked], minlength=len(optimum.worker_prices))
    rate = optimum.labels.sum(axis=0) / np.maximum(size, 1)
    time = np.where(asked, optimum.worker_prices[classes], 0.0)
    labels = np.where(asked, rate[classes] * capacity, 0.0)
    by_type = {
        "skill" if table.shape[1] == 1 else f"skill, {kind}": table[kind].to_numpy()
        for kind in table.columns
    }
    return pd.DataFrame({"worker": table.index, **by_type, "time": time, "labels": labels})


def _by_rule(optimum: SequentialOptimum, rules: LabelPlan | None, types: list[Any]) -> pd.DataFrame:
    columns = ["task_type", "share", "closes_at", "labels", "error"]
    if rules is None:
        return pd.DataFrame(columns=columns)
    policies = [column.policy for column in optimum.columns]
    values = (
        [types[policy.task_type] for policy in policies],
        rules.share,
        rules.closes_at(),
        [float(policy.labels.sum()) for policy in policies],
        [policy.error for policy in policies],
    )
    frame = pd.DataFrame(dict(zip(columns, values, strict=True)))
    return frame.sort_values(["task_type", "closes_at"], kind="stable", ignore_index=True)


def _pool(
    names: Any, capacity: IntArray, price: FloatArray, kind: IntArray, skill: FloatArray
) -> Pool:
    """Tasks of two classes, and the workers, their skills known."""
    return Pool(
        tasks=checks.numbered("t", len(kind)),
        workers=names,
        classes=np.arange(2),
        capacity=capacity,
        price=price,
        kind=kind,
        share=np.full(2, 0.5),
        gold=np.empty(0, dtype=np.int64),
        gold_kind=np.empty(0, dtype=np.int64),
        confusion=np.stack([one_coin(row, 2) for row in skill]),
    )


def _simulated(
    pool: Pool, goal: Goal, skill: FloatArray, rules: LabelPlan, seed: int
) -> dict[str, float]:
    """Let the policy of the collector carry the plan out, so many times."""

    def policy(ledger: Ledger, goal: Goal, seed: Any) -> Policy:
        return LabelByLabel.following(ledger, goal, seed, rules)

    rows = []
    for trial in range(TRIALS):
        rng = stream(seed, f"sequential plan {trial}")
        truth = rng.integers(0, 2, len(pool.tasks))
        right = rng.random((len(pool.tasks), len(pool.workers))) < skill[pool.kind]
        label = np.where(right, truth[:, None], 1 - truth[:, None])
        answers = Answers(label, np.empty((0, len(pool.workers)), dtype=np.int64), truth)
        ended = rehearse(policy, pool, answers, goal, seed=seed + trial)
        loss = ended.belief.loss(truth, ended.ledger.counts)
        empty = np.isnan(loss)
        wrong = np.where(empty, 1.0, loss).mean()
        rows.append((ended.ledger.spent, wrong, empty.mean(), ended.belief.closed.mean()))
    cost, error, blank, closed = np.array(rows).T
    spread = 1.0 / np.sqrt(TRIALS)
    return {
        "cost": float(cost.mean()),
        "cost_se": float(cost.std(ddof=1) * spread),
        "error": float(error.mean()),
        "error_se": float(error.std(ddof=1) * spread),
        "blank": float(blank.mean()),
        "closed": float(closed.mean()),
        "trials": float(TRIALS),
    }
