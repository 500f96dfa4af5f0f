"""What a ratio is made of: the future unknown, skills unknown, and the algorithm.

A ratio to the offline optimum mixes three losses. Each trial takes a small instance, equal tasks
and workers of a few types, and splits the ratio of one policy into three factors; all players have
the same repair:

- `unavoidable`, the future: expected cost of the best online policy over that of the offline
  optimum, exactly, where the law of arrivals is known (independent workers, or a known crowd in
  random order). Where it is an adversary's, the sequence is one of a family, an order of a crowd
  that may end after anyone, and this is the competitive ratio that no online algorithm is below
  (`crowd_papers.beyond.minimax_program`);
- `lost`, the algorithm: what the choices of the policy, told true skills, cost over that of the
  best online policy, by what they lose by the dynamic programme: its mean cost in expectation,
  never below 1, and with less noise (`avoidable` is the mean cost itself). In a family, its worst
  ratio over the proven one;
- `skills_lost`, the skills: the same policy's cost with skills estimated from gold answers over
  that with true ones, draws shared; 1 where skills are told. `split_ratio` is the product.

Policies are told how many workers will come; those that use a sample are given γm workers of the
same law, or of a family's crowd, who get no task. `posted prices` is `robust` without a sample;
`paper, corrected` is told ε′ in place of ε (Section 5.2), by t of Theorem 5 and by q̄*_min of the
law's mean crowd.

Source: beyond Ho, Jabbari, Vaughan (2013).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd

from crowd_models import (
    IndependentArrivals,
    NextWorker,
    OnlineProblem,
    RandomOrder,
    SequenceMix,
)
from crowd_papers.beyond.dynamic_program import OnlineOptimum, offline_optimum, online_optimum
from crowd_papers.beyond.minimax_program import Minimax, minimax
from crowd_papers.beyond.online_runs import (
    ONLINE,
    Gold,
    Met,
    costs_by_length,
    run_units,
    unit_skills,
)
from workbench.assignment import SkillEstimate, corrected_epsilon
from workbench.base import FloatArray, IntArray
from workbench.crowd import Adversary, Crowd, adversarial
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
    TrialEnded,
    along,
    base_point,
    ended,
    ended_well,
    nonempty,
)

LAWS = ("independent", "random order")
ORDERS: tuple[Adversary, ...] = ("worst_first", "best_first", "alternating")
ANY = "any of these"
POSTED, CORRECTED = "posted prices", "paper, corrected"
PLAYERS = {**{name: name for name in ONLINE}, POSTED: "robust", CORRECTED: "paper"}
"""Players, and which policy of `workbench.assignment` each is."""
TOP = 0.95
"""Skill of the best workers."""
DELTA = 0.05
"""δ of Theorem 5, for t."""


class OnlineInstance(NamedTuple):
    """What is played, the sequences that may end anywhere, and what is proven of it."""

    problem: OnlineProblem
    paths: list[tuple[int, ...]]
    best: OnlineOptimum | Minimax
    unavoidable: float


@lru_cache(maxsize=4)
def solved(
    quality: str,
    requirement: int,
    tasks: int,
    workers: int,
    capacity: int,
    arrival: str,
    repair: float,
) -> OnlineInstance:
    """The best online policy of an instance, or what is proven of a family."""
    units = tuple(int(q) for q in quality.split())
    count = len(units)
    crowd = tuple(len(part) for part in np.array_split(range(workers), count))
    arrivals: Any = (
        RandomOrder(crowd)
        if arrival == "random order"
        else IndependentArrivals(workers, (1 / count,) * count)
    )
    problem = OnlineProblem(
        (requirement,), (tasks,), (units,), (capacity,) * count, (1.0,) * count, arrivals, repair
    )
    if arrival in LAWS:
        best = online_optimum(problem)
        return OnlineInstance(problem, [], best, best.cost / offline_optimum(problem))
    kinds = np.repeat(np.arange(count), crowd)
    named = Crowd(
        unit_skills(problem)[:, kinds], np.array(capacity), np.arange(workers), np.arange(1)
    )
    paths = [
        tuple(kinds[adversarial(named, order)].tolist())
        for order in ORDERS
        if arrival in (order, ANY)
    ]
    ended = sorted({path[:length] for path in paths for length in range(workers + 1)})
    problem = replace(problem, arrivals=SequenceMix(tuple(ended), (1,) * len(ended)))
    proof = minimax(problem)
    return OnlineInstance(problem, paths, proof, float(proof.bound))


class Draw(NamedTuple):
    """One run's chance: who comes, types of a sample, right gold answers of both (T, ℓ + m)."""

    coming: list[NextWorker]
    sample: list[int]
    correct: IntArray


def drawn(
    problem: OnlineProblem,
    path: Sequence[int] | None,
    gamma: float,
    answers: int,
    seed: np.random.SeedSequence,
) -> Draw:
    """Draw who comes, unless that is a path; a sample; and gold answers."""
    rng, node = np.random.default_rng(seed), problem.arrivals.root
    coming = [NextWorker(1 / len(path), kind, None) for kind in path] if path else []
    law = coming or problem.arrivals.after(node)
    while not path and (after := problem.arrivals.after(node)):
        coming.append(after[rng.choice(len(after), p=[worker.factor for worker in after])])
        node = coming[-1].node
    chances = [worker.factor for worker in law]
    sample = rng.choice([worker.kind for worker in law], math.ceil(gamma * len(coming)), p=chances)
    everyone = [*sample, *(worker.kind for worker in coming)]
    return Draw(
        coming, sample.tolist(), rng.binomial(answers, unit_skills(problem, TOP)[:, everyone])
    )


def play(
    problem: OnlineProblem, player: str, draw: Draw, seed: np.random.SeedSequence, **options: Any
) -> list[Met]:
    """Let a player assign to those who come, told what `run_units` takes."""
    return run_units(
        problem,
        PLAYERS[player],
        [worker.kind for worker in draw.coming],
        sample=() if player == POSTED else draw.sample,
        seed=np.random.default_rng(seed),
        top=TOP,
        **options,
    )


def judged(best: OnlineOptimum, coming: Sequence[NextWorker], moves: Sequence[Met]) -> list[float]:
    """What a run's choices lost by the dynamic programme, and its cost, repair included."""
    problem, state, lost = best.problem, best.problem.start, 0.0
    for t, ((_, kind, node), (_, units, after)) in enumerate(zip(coming, moves, strict=True)):
        lost += best.cost_of(t, node, kind, units, after) - best.choice(t, node, state, kind)[0]
        state = after
    return [lost, costs_by_length(problem, moves)[-1]]


def trial(params: Params, streams: Streams) -> Record:
    """Let one player play an instance, with true skills and with estimated ones."""
    instance = solved(
        *(
            params[name]
            for name in (
                "quality",
                "requirement",
                "tasks",
                "workers",
                "capacity",
                "arrival",
                "repair",
            )
        )
    )
    problem, paths, best, unavoidable = instance
    player, answers = params["policy"], params["gold"]
    crowds = streams.instance.spawn(params["runs"])
    seeds = streams.method(player).spawn(params["runs"])
    less = _correction(problem, params) if player == CORRECTED and answers else 0.0

    routes: Sequence[tuple[int, ...] | None] = paths or [None]

    def played(path: Sequence[int] | None, run: int, *, true: bool) -> list[float]:
        draw = drawn(problem, path, params["gamma"], answers, crowds[run])
        gold = Gold(draw.correct, answers, params["skills"])
        options = {} if true else {"gold": gold, "less": less}
        moves = play(problem, player, draw, seeds[run], **options)
        if isinstance(best, OnlineOptimum):
            return judged(best, draw.coming, moves)
        kinds = tuple(worker.kind for worker in draw.coming)
        assert isinstance(problem.arrivals, SequenceMix)
        at = [problem.arrivals.sequences.index(kinds[:k]) for k in range(len(kinds) + 1)]
        ratios: list[float] = (np.array(costs_by_length(problem, moves)) / best.optima[at]).tolist()
        return ratios

    def measured(*, true: bool) -> tuple[FloatArray, FloatArray]:
        """By run what choices lost and what was paid, each over the best possible."""
        runs = range(params["runs"])
        pairs: FloatArray = np.concatenate(
            [np.array([played(path, run, true=true) for run in runs]) for path in routes], axis=1
        )
        if isinstance(best, OnlineOptimum):
            return 1 + pairs[:, 0] / best.cost, pairs[:, 1] / best.cost
        worst = pairs[:, pairs.mean(axis=0).argmax()] / unavoidable
        return worst, worst

    lost, paid = measured(true=True)
    estimated = measured(true=False)[0] if answers else lost
    skills = estimated.mean() / lost.mean()
    return {
        "unavoidable": unavoidable,
        "lost": lost.mean(),
        "lost_error": _error(lost),
        "avoidable": paid.mean(),
        "avoidable_error": _error(paid),
        "skills_lost": skills,
        "skills_error": _error(estimated - skills * lost) / lost.mean(),
        "split_ratio": unavoidable * estimated.mean(),
    }


def _error(values: FloatArray) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def _correction(problem: OnlineProblem, params: Params) -> float:
    """Share 4t/q̄*_min of the requirement that ε′ leaves out, by the law's mean crowd.

    Raises
    ------
    TrialEnded
        `infeasible`: there is no ε′.
    """
    m, need = params["workers"], problem.tasks[0] * problem.requirement[0]
    units, labels, lack = sorted(problem.quality[0], reverse=True), 0.0, float(need)
    for q in units:  # the best first, until all is covered
        bought = min(problem.capacity[0] * m / len(units), lack / q)
        labels, lack = labels + bought, lack - bought * q
    mean = (need - lack) / labels / units[0] * (2 * TOP - 1) ** 2
    pairs = 4 * (1 + params["gamma"]) * m
    radius = math.sqrt(math.log(pairs / DELTA) / (2 * params["gold"]))
    correction = corrected_epsilon(0.5, radius=radius, mean_quality_least=mean)
    if correction.failed is not None:
        raise TrialEnded("infeasible", correction.failed)
    return 4 * radius / mean


# What the trials say.

AXES = {
    "gamma": "sample, γ",
    "requirement": "C, units per task (m ∝ C)",
    "quality": "qualities",
    "capacity": "capacity M",
    "repair": "repair price U",
    "arrival": "order",
    "known": "gold answers (EB: prior)",
}
KEYS = ["arrival", "quality", "requirement", "workers", "capacity", "repair", "gamma", "known"]


def analyse(trials: pd.DataFrame) -> Analysis:
    """The ratio's factors by setting, and the ratio along one parameter at a time."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    rows = rows.assign(known=information(rows))
    caption = "A ratio's factors: the future (unavoidable), the algorithm (lost), skills"
    chart = Chart(
        "along",
        "Ratio to the offline optimum, repair included, along one parameter at a time; of the best "
        f"online policy, or proven for all, in front; {len(rows):,} trials.",
        along_axes(rows),
        x="value",
        y="split_ratio",
        x_label="",
        y_label="ratio to the offline optimum",
        series="policy",
        panel="along",
        kind="points",
        log_y=True,
        own_x=True,
    )
    return Analysis((ended(trials), *costs(rows)), {caption: factors(rows)}, nonempty(chart))


def information(rows: pd.DataFrame) -> pd.Series[str]:
    """What is known of skills: all, or so many gold answers, with a fitted prior or none."""
    prior = rows["skills"].map({"fitted": " EB"}).fillna("")
    return (rows["gold"].astype(str) + prior).mask(rows["gold"] == 0, "true")


def factors(rows: pd.DataFrame) -> pd.DataFrame:
    """The ratio's factors by policy and setting."""
    table = rows.groupby(["policy", *KEYS]).agg(
        trials=("lost", "size"),
        unavoidable=("unavoidable", "mean"),
        lost=("lost", "mean"),
        lost_error=("lost_error", "max"),
        skills_lost=("skills_lost", "mean"),
        skills_error=("skills_error", "max"),
        split_ratio=("split_ratio", "mean"),
        avoidable=("avoidable", "mean"),
        avoidable_error=("avoidable_error", "max"),
    )
    return table.reset_index()


def costs(rows: pd.DataFrame) -> list[str]:
    """What not knowing who comes costs, what each policy costs, and the luckiest of them."""
    future = rows["unavoidable"]
    error = rows["avoidable_error"]
    lowest = ((rows["avoidable"] - 1) / error.where(error > 0)).min()
    players = [
        f"{str(name).capitalize()} costs {own['lost'].min():.3f} to {own['lost'].max():.3f} of the "
        f"best possible with true skills, estimates {own['skills_lost'].min():.3f} to "
        f"{own['skills_lost'].max():.3f} of that."
        for name, own in rows.groupby("policy", sort=False)
    ]
    return [
        f"Not knowing who comes costs {future.min():.3f} to {future.max():.3f} of the offline "
        "optimum, whatever the policy.",
        *players,
        f"The lowest mean cost of a policy is {lowest:+.1f} standard errors from that of the best "
        "online policy.",
    ]


def along_axes(rows: pd.DataFrame) -> pd.DataFrame:
    """Ratio by player along each axis from the base point, and that of the best online policy."""
    rows = rows[rows["policy"] != CORRECTED]
    base = base_point(rows, list(AXES), {**_DEFAULTS, "known": "true"})
    parts = []
    for name, title in AXES.items():
        own = along(rows, base, name)
        if own[name].nunique() < 2:
            continue
        best = own.drop_duplicates(name).assign(policy="best online policy")
        best = best.assign(split_ratio=best["unavoidable"])
        own = pd.concat([best, own])
        if pd.api.types.is_numeric_dtype(own[name]):
            own = own.sort_values(name, kind="stable")
            own["value"] = [f"{value:g}" for value in own[name]]
        else:
            own["value"] = own[name].astype(str).str.replace("_", " ")
        parts.append(own[["policy", "value", "split_ratio"]].assign(along=title))
    table = pd.concat(parts) if parts else rows.assign(value="", along="").iloc[:0]
    order = ["best online policy", *PLAYERS]
    return table.iloc[table["policy"].map(order.index).argsort(kind="stable")]


PARAMETERS = {
    "quality": Parameter(str, "1 3 6", "what labels bring by worker type, whole units"),
    "requirement": Parameter(int, 18, "C, units per task needs", least=1, most=60),
    "tasks": Parameter(int, 4, "n", least=1, most=12),
    "workers": Parameter(int, 12, "m", least=1, most=30),
    "capacity": Parameter(int, 3, "M, tasks per worker", least=1, most=12),
    "arrival": Parameter(
        str,
        "independent",
        "types of workers, or in which order they come until it ends",
        choices=(*LAWS, *ORDERS, ANY),
    ),
    "repair": Parameter(float, 2.0, "U, price of a unit that is lacking", least=0.01, most=100),
    "gamma": Parameter(float, 0.3, "γ, sampled workers for each worker", least=1e-6, most=100),
    "gold": Parameter(
        int, 0, "s, gold answers per worker; 0: skills are told", least=0, most=10**7, paired=True
    ),
    "skills": Parameter(
        str, "plug-in", "estimate of skills", choices=get_args(SkillEstimate), paired=True
    ),
    "policy": Parameter(str, "re-solve", "who assigns", choices=tuple(PLAYERS), paired=True),
    "runs": Parameter(int, 40, "times a policy plays", least=2, most=100_000),
}
_DEFAULTS = {name: parameter.default for name, parameter in PARAMETERS.items()}
_ALL: Block = {"policy": [name for name in PLAYERS if name != CORRECTED]}
_SAMPLED: Block = {"policy": ["paper", "coverage-aware", "re-solve", "robust"]}

STUDY = Study(
    name="online-optimum",
    title="The best online policy, exactly",
    source="beyond Ho, Jabbari, Vaughan (2013)",
    parameters=PARAMETERS,
    sizes={
        "smoke": Size(
            (
                {
                    "requirement": [4],
                    "quality": ["1 2"],
                    "tasks": [3],
                    "workers": [5],
                    "runs": [6],
                    "arrival": ["independent", "best_first"],
                    "gold": [0, 10],
                    "policy": ["paper", "dual descent", "greedy"],
                },
            ),
            1,
        ),
        "small": Size(
            (
                {"capacity": [4, 3], "runs": [20], **_ALL},
                {"arrival": ["worst_first"], "runs": [20], **_ALL},
            ),
            1,
        ),
        "paper": Size(
            (
                _ALL,
                {"gamma": [0.1, 1.0, 10.0], **_SAMPLED},
                *({"requirement": [c], "workers": [m], **_ALL} for c, m in ((6, 4), (24, 16))),
                {"quality": ["3", "1 6", "1 2 3 5 6"], **_ALL},
                {"capacity": [4, 2, 1], **_ALL},
                {"repair": [1.0, 4.0], **_ALL},
                {"arrival": ["random order", *ORDERS, ANY], **_ALL},
                {"gold": [5, 20], "skills": ["plug-in", "fitted"], **_ALL},
                {"gold": [1000, 10_000], "policy": ["paper", CORRECTED]},
            ),
            1,
        ),
    },
    trial=trial,
    analyse=analyse,
    version=2,
    deadline=1800.0,
)
