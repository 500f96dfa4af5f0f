"""Policies that stop by themselves, on simulated crowds: labels paid, errors made and believed.

A thousand tasks, anybody may be asked at any time, and nobody's skill is known. Beside each
collection stands the information limit at the error that it was *measured* to make: the least
expected labels of any policy, one that knows all skills too (two classes, 0 for more; half an error
is added to those seen, so that none is no reason for infinity).

Crowds: `half .8` and `half .7`, half of the workers guess; `spammers`, exactly nine in ten do, the
others .8; `uniform`, skills from [.5, .99]; `beta`, from Beta(2.3, 2), many worse than chance;
`ten classes`, skills from [.1, .9]; `copycats`, `uniform` with a fifth of the workers copying one;
`drift`, `half .8` where half of the workers guess after a quarter of their capacity; `two types`,
`half .8` drawn anew for every other task; `prices`, `half .8` at prices from [1, 4];
`arrivals`, `half .8` whose workers come once, one after another; and those of `ordinary_crowds`.
Where some tasks are hidden ones, these tell when to stop, and the errors are those of the others.
Beside the errors stand those of a majority of the same labels, and of `uncertain` (the task in most
doubt, any worker, answers by `pooled`) for as much money. Variants of until-sure: forgetting,
workers who come once, one after another, and the mean error as the goal.

Source: beyond the papers; `half .7` is the crowd of Ho, Jabbari, Vaughan (2013), Figure 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from crowd_papers.beyond.ordinary_crowds import DRAWS, HARD, ORDINARY
from crowd_papers.rivals.until_sure import UntilSure
from workbench.aggregation import AGGREGATORS
from workbench.base import BoolArray, FloatArray, IntArray
from workbench.collection import (
    POLICIES,
    Answers,
    Fixed,
    Goal,
    Pool,
    Questions,
    rehearse,
    simulated,
    within,
    wrong_chances,
)
from workbench.crowd import one_coin_labels
from workbench.solving import information_limit
from workbench.studies import (
    Analysis,
    Block,
    Chart,
    Parameter,
    Params,
    Record,
    Size,
    Streams,
    Study,
    ended,
    ended_well,
    nonempty,
)

CROWDS = (
    "half .8",
    "half .7",
    "spammers",
    "uniform",
    "beta",
    "ten classes",
    "copycats",
    "drift",
    "two types",
    "prices",
    "arrivals",
    *DRAWS,
)
COPIED = 0.2
"""Share of the workers of `copycats` who copy."""
TIRED = 0.25
"""Share of their capacity after which half of the workers of `drift` guess."""
FORGET = 0.02
"""Weight that a label loses with each later one, where the policy forgets."""
VARIANTS = (
    "until-sure, forgetting",
    "until-sure, arriving",
    "until-sure, mean",
    "until-sure, mean, arriving",
)


@dataclass(frozen=True, eq=False)
class Tiring(Answers):
    """Labels of workers some of whom guess after so many; shapes (n, m) and (m,)."""

    guess: IntArray
    many: IntArray
    count: IntArray

    def of(self, ask: Questions) -> IntArray:
        """Labels of the pairs asked, shape (k,)."""
        tired = self.count[ask.worker] + within(ask.worker) >= self.many[ask.worker]
        np.add.at(self.count, ask.worker, 1)
        if ask.gold:
            return super().of(ask)
        return np.where(tired, self.guess[ask.task, ask.worker], super().of(ask))


def trial(params: Params, streams: Streams) -> Record:
    """Collect until the policy is done."""
    rng = np.random.default_rng(streams.instance)
    skill, pool, answers = crowd_of(params, rng)
    name, *variant = params["policy"].split(", ")
    policy = POLICIES[name].call
    if name == "fixed":
        policy = partial(Fixed, k=params["labels"])  # type: ignore[assignment]
    if "forgetting" in variant:
        policy = partial(UntilSure, forget=FORGET)  # type: ignore[assignment]
    goal = Goal(params["epsilon"], mean="mean" in variant)
    known = rng.permutation(params["tasks"])[: params["hidden"]]
    rest: BoolArray = np.ones(params["tasks"], dtype=bool)
    if len(known):
        hidden: IntArray = np.full(params["tasks"], -1)
        hidden[known], rest[known] = answers.truth[known], False
        pool = replace(pool, hidden=hidden)
    arriving = "arriving" in variant or params["crowd"] == "arrivals"
    arrivals = rng.permutation(params["workers"]) if arriving else None
    seed = int(streams.method("policy").generate_state(1)[0])
    end = rehearse(policy, pool, answers, goal, arrivals=arrivals, seed=seed)
    wrong = end.belief.posterior.argmax(axis=1) != answers.truth
    majority = AGGREGATORS["majority"].call(end.ledger.votes(), seed=0)
    of_majority = majority.chance_right(answers.truth)
    closed = end.belief.closed & rest
    return {
        "paid": len(end.ledger.labels),
        "paid_gold": len(end.ledger.gold_labels),
        "error": float(wrong[rest].mean()),
        "believed": float(end.belief.error[rest].mean()),
        "error_majority": float(1.0 - of_majority[rest].mean()),
        "error_plain": float(_plain(pool, answers, end.ledger.spent, seed)[rest].mean()),
        "unanswered": int((end.ledger.counts == 0).sum()),
        "closed": float(end.belief.closed[rest].mean()),
        "error_closed": _mean(wrong[closed]),
        "believed_closed": _mean(end.belief.error[closed]),
        "cost": end.ledger.spent,
        "limit": _limit(params, skill, pool, int(wrong.sum()), average=goal.mean),
    }


def _plain(pool: Pool, answers: Answers, total: float, seed: int) -> FloatArray:
    """Chance of a wrong answer to each task by `uncertain` for as much money, shape (n,)."""
    if isinstance(answers, Tiring):
        answers = replace(answers, count=np.zeros_like(answers.count))
    end = rehearse(POLICIES["uncertain"].call, pool, answers, Goal(), total=total, seed=seed)
    return wrong_chances(end.belief.posterior, answers.truth)


def _mean(values: Any) -> float | None:
    return float(values.mean()) if len(values) else None


def crowd_of(params: Params, rng: np.random.Generator) -> tuple[FloatArray, Pool, Answers]:
    """Draw a crowd of `CROWDS`: skills, shape (m,), or (2, m) of two types, and its labels."""
    crowd, m, n = params["crowd"], params["workers"], params["tasks"]
    if crowd in DRAWS:
        truth, label, classes = DRAWS[crowd](n, m, rng)
        coins = np.full(m, 0.5)
        pool, blank = simulated(coins, n, classes=classes, capacity=params["capacity"], seed=0)
        return coins, pool, Answers(label, blank.gold_label, truth)
    skill = _skill(crowd, m, rng)
    pool, answers = simulated(
        skill,
        n,
        classes=10 if crowd == "ten classes" else 2,
        capacity=params["capacity"],
        gold=params["gold"],
        seed=int(rng.integers(2**31)),
    )
    if crowd == "copycats":
        copies = rng.permutation(m)[: round(COPIED * m) + 1]
        label, gold = answers.label.copy(), answers.gold_label.copy()
        label[:, copies[1:]], gold[:, copies[1:]] = label[:, copies[:1]], gold[:, copies[:1]]
        answers = replace(answers, label=label, gold_label=gold)
    if crowd == "drift":
        tires = rng.permutation(m) < m // 2
        many = np.where(tires, round(TIRED * params["capacity"]), params["capacity"])
        guess = rng.integers(0, 2, answers.label.shape)
        none = np.zeros(m, dtype=np.int64)
        answers = Tiring(answers.label, answers.gold_label, answers.truth, guess, many, none)
    if crowd == "prices":
        pool = replace(pool, price=rng.uniform(1.0, 4.0, (1, m)))
    if crowd == "two types":
        other = rng.permutation(skill)
        kind = np.arange(n) % 2
        second = one_coin_labels(other, answers.truth, 2, seed=int(rng.integers(2**31)))
        label = np.where(kind[:, None] > 0, second, answers.label)
        pool = replace(pool, kind=kind, price=np.ones((2, m)))
        answers, skill = replace(answers, label=label), np.stack([skill, other])
    return skill, pool, answers


def _limit(params: Params, skill: FloatArray, pool: Pool, wrong: int, *, average: bool) -> float:
    """The least expected labels for the error measured; 0 where there is no such bound."""
    if len(pool.classes) > 2 or params["crowd"] in ("drift", *DRAWS):
        return 0.0
    tasks, several = params["tasks"], skill.ndim > 1
    return information_limit(
        skill,
        capacity=params["capacity"],
        tasks=np.bincount(pool.kind) if several else tasks,
        epsilon=(wrong + 0.5) / (tasks + 1.0),
        cost=pool.price if several else pool.price[0],
        average=average,
    ).value


def _skill(crowd: str, m: int, rng: np.random.Generator) -> FloatArray:
    if crowd in ("half .8", "half .7", "spammers", "drift", "two types", "prices", "arrivals"):
        hammers = m // 10 if crowd == "spammers" else m // 2
        good = 0.7 if crowd == "half .7" else 0.8
        return rng.permutation(np.where(np.arange(m) < hammers, good, 0.5))
    if crowd == "beta":
        return rng.beta(2.3, 2.0, m)
    low, high = (0.1, 0.9) if crowd == "ten classes" else (0.5, 0.99)
    return rng.uniform(low, high, m)


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Labels paid beside the least for the error measured."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    if "error_plain" not in rows:  # trials of before
        rows = rows.assign(error_plain=np.nan)
    groups = rows.groupby(["crowd", "policy", "gold", "hidden", "epsilon", "labels"])
    table = groups.agg(
        trials=("error", "size"),
        paid=("paid", "mean"),
        paid_se=("paid", "sem"),
        cost=("cost", "mean"),
        gold_labels=("paid_gold", "mean"),
        error=("error", "mean"),
        error_se=("error", "sem"),
        believed=("believed", "mean"),
        error_majority=("error_majority", "mean"),
        error_plain=("error_plain", "mean"),
        closed=("closed", "mean"),
        error_closed=("error_closed", "mean"),
        believed_closed=("believed_closed", "mean"),
        worst=("error", "max"),
        limit=("limit", "mean"),
    ).reset_index()
    bounded = rows[rows["limit"] > 0]
    times = (bounded["cost"] / bounded["limit"]).mean()
    finding = (
        f"Labels paid are {times:.2f} times the information limit at the error measured, in the "
        "mean over trials of two classes."
    )
    chart = Chart(
        "cost",
        f"Labels paid against error, half .8; {len(rows):,} trials.",
        table[table["crowd"] == "half .8"],
        "error",
        "paid",
        "error measured",
        "labels paid",
        series="policy",
    )
    caption = "Labels paid, error measured and believed, and the least labels for that error"
    return Analysis((ended(trials), finding), {caption: table}, nonempty(chart))


SMOKE = {"tasks": [100], "workers": [40], "capacity": [60]}
PLAIN = [crowd for crowd in CROWDS[:7] if crowd != "beta"]
MORE: tuple[Block, ...] = (
    {"crowd": ["half .8", "half .7"], "policy": list(VARIANTS[1:])},
    {"crowd": ["half .8", "drift"], "policy": ["until-sure", VARIANTS[0]]},
    {"crowd": ["two types", "prices"]},
)

BY_ITSELF: Block = {
    "tasks": [400],
    "workers": [130],
    "crowd": ["half .8", "half .7", "spammers", "uniform", "drift", "arrivals", *ORDINARY],
    "policy": ["until-sure", "until-trusted"],
}

TOGETHER: Block = {
    "tasks": [400],
    "workers": [130],
    "crowd": ["half .8", "uniform", *ORDINARY, *HARD],
    "policy": ["until-trusted"],
    "hidden": [40],
}

STUDY = Study(
    name="collect-simulated",
    title="Label until sure on simulated crowds",
    source="beyond the papers",
    parameters={
        "crowd": Parameter(str, "half .8", "how skills are drawn", choices=CROWDS),
        "tasks": Parameter(int, 1000, "tasks to label", least=2, most=100_000),
        "workers": Parameter(int, 300, "workers", least=2, most=5000),
        "capacity": Parameter(int, 200, "labels that a worker can give", least=1, most=100_000),
        "gold": Parameter(int, 0, "gold tasks at hand", least=0, most=10_000, paired=True),
        "hidden": Parameter(
            int,
            0,
            "tasks of known class among the others, which tell when to stop and are not counted",
            least=0,
            most=10_000,
            paired=True,
        ),
        "policy": Parameter(
            str, "until-sure", "who decides", choices=(*POLICIES, *VARIANTS), paired=True
        ),
        "epsilon": Parameter(
            float, 0.05, "error that each task may have", least=1e-4, most=0.4, paired=True
        ),
        "labels": Parameter(
            int, 5, "k, labels per task under `fixed`", least=1, most=1000, paired=True
        ),
    },
    sizes={
        "smoke": Size(
            (
                SMOKE | {"crowd": ["half .8", "copycats"]},
                SMOKE | {"policy": ["fixed"], "labels": [3]},
                SMOKE | {"crowd": ["drift"], "policy": [VARIANTS[0]]},
                SMOKE | {"crowd": ["two types"]},
                SMOKE | {"crowd": list(ORDINARY), "policy": ["until-trusted"]},
                SMOKE | {"crowd": ["misleading"], "policy": ["until-trusted"], "hidden": [20]},
            ),
            1,
        ),
        "small": Size(
            (
                {"crowd": PLAIN},
                {"crowd": ["beta"], "gold": [20]},
                {"crowd": ["half .8", "uniform"], "policy": ["fixed"], "labels": [5, 15]},
                BY_ITSELF,
                TOGETHER,
            ),
            3,
        ),
        "paper": Size(
            (
                {"crowd": PLAIN},
                {"crowd": ["beta"], "gold": [20]},
                {"crowd": ["half .8"], "epsilon": [0.2, 0.1]},
                {"crowd": ["half .8"], "policy": ["fixed"], "labels": [3, 5, 9, 15]},
                *MORE,
                BY_ITSELF,
                TOGETHER,
            ),
            10,
        ),
    },
    trial=trial,
    analyse=analyse,
    version=5,
)
