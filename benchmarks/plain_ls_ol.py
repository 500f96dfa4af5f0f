"""LS_OL once more, as a plain Python loop over tasks, workers and testers.

Written from the page and slow: it shares no code with `workbench.learning`, only its numbers. The
bench measures the engine against it, and tests hold engine and streaming object equal to it.

Source: Liu, Liu (2015), Figure 1; 3.5.1, 3.5.3 and Section 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

EQUAL = 1e-12
"""Accuracies this close are equal, and the smaller set is taken."""
TIE = 1e-9
"""Sides of a weighted vote this close, as a share of all weights, are even."""


class PlainStep(NamedTuple):
    """What happened at a step: for comparison."""

    kind: str
    tester: int
    workers: tuple[int, ...]
    label: int
    estimates: tuple[float, ...]


@dataclass(frozen=True)
class Settings:
    """D1(t) = tests log^a(t) t^z and D2 likewise; the rest as for `LsOl`."""

    tests: float
    repeats: float
    log_power: float = 1.0
    time_power: float = 0.0
    weighted: bool = False
    tolerance: float = 0.0
    truncate: float = 1e-3
    delay: int = 0
    error: float | None = None
    least: int = 3
    factor: float = 0.5


@dataclass
class PlainTester:
    """A task that everybody labels again and again."""

    arrived: int
    truth: int
    first: dict[int, int]
    rounds: int = 0
    ones: int = 0
    star: int = 0
    ready: int = 0


@dataclass
class PlainState:
    """What the algorithm knows."""

    here: list[int]
    p_hat: list[float]
    testers: list[PlainTester] = field(default_factory=list)
    differed: dict[int, int] = field(default_factory=dict)
    best: list[int] | None = None


def plain_run(
    skill: list[float],
    world: list[list[float]],
    coins: list[list[float]],
    order: list[float],
    settings: Settings,
) -> Iterator[PlainStep]:
    """Label as many tasks as there are rows of numbers.

    Parameters
    ----------
    skill
        p of each of M workers.
    world
        For each step: one number for the truth, M for the labels of the arriving task, M for
        those of a tester.
    coins
        For each step five: which tester, label, tie of the round, tie of the rounds, delay.
    order
        M numbers that rank workers of equal estimates.
    settings
        The rest.
    """
    M = len(skill)
    state = PlainState(list(range(M)), [0.5] * M)
    for t, (numbers, coin) in enumerate(zip(world, coins, strict=True)):
        grown = math.log(t) ** settings.log_power * t**settings.time_power if t else 0.0
        short = [k for k in state.testers if k.rounds <= settings.repeats * grown]
        ready = [k for k in short if k.ready <= t]
        truth = int(numbers[0] < 0.5)
        if ready:
            k = ready[int(coin[0] * len(ready))]
            answers = labels(state.here, numbers[M + 1 :], skill, k.truth)
            workers, _ = list(state.here), explore(state, k, answers, coin[2], coin, t, settings)
            label = int(coin[1] < 0.5)
            yield PlainStep("retest", k.arrived, tuple(workers), label, tuple(state.p_hat))
        elif not short and len(state.testers) <= settings.tests * grown:
            answers = labels(state.here, numbers[1 : M + 1], skill, truth)
            k = PlainTester(t, truth, answers)
            state.testers.append(k)
            workers, label = (
                list(state.here),
                explore(state, k, answers, coin[1], coin, t, settings),
            )
            yield PlainStep("new tester", -1, tuple(workers), label, tuple(state.p_hat))
        else:
            if state.best is None:
                state.best = best_workers(state.here, state.p_hat, order, settings)
            answers = labels(state.best, numbers[1 : M + 1], skill, truth)
            label = vote(answers, state.p_hat, coin[1], settings)
            yield PlainStep("exploit", -1, tuple(state.best), label, tuple(state.p_hat))


def labels(
    workers: list[int], numbers: list[float], skill: list[float], truth: int
) -> dict[int, int]:
    """What those who are asked say."""
    return {i: truth if numbers[i] < skill[i] else 1 - truth for i in workers}


def explore(
    state: PlainState,
    k: PlainTester,
    answers: dict[int, int],
    tie: float,
    coin: list[float],
    t: int,
    settings: Settings,
) -> int:
    """Learn from a round of tester k; return its label."""
    label = majority(answers, tie)
    k.rounds += 1
    k.ones += label
    k.ready = t + 1 + int(coin[4] * max(settings.delay, 1))
    if 2 * k.ones == k.rounds:
        k.star = int(coin[3] < 0.5)
    else:
        k.star = int(2 * k.ones > k.rounds)
    for i in range(len(state.p_hat)):
        judged = [k for k in state.testers if i in k.first]
        state.p_hat[i] = sum(k.first[i] == k.star for k in judged) / len(judged)
    state.best = None
    if settings.error is not None:
        vet(state, answers, label, settings)
    return label


def vet(state: PlainState, answers: dict[int, int], label: int, settings: Settings) -> None:
    """Drop who differs most from the majority, once that is clear."""
    for i in state.here:
        state.differed[i] = state.differed.get(i, 0) + (answers[i] != label)
    rounds = sum(k.rounds for k in state.testers)
    if settings.error is None or len(state.here) <= max(settings.least, 1):
        return
    worst, other = sorted(state.here, key=lambda i: -state.differed[i])[:2]
    gap = (state.differed[worst] - state.differed[other]) / rounds
    if math.exp(-settings.factor * gap**2 * rounds) < settings.error:
        state.here.remove(worst)


def majority(answers: dict[int, int], coin: float) -> int:
    """Label that most say; the coin's where they are even."""
    ones = sum(answers.values())
    if 2 * ones == len(answers):
        return int(coin < 0.5)
    return int(2 * ones > len(answers))


def vote(answers: dict[int, int], p_hat: list[float], coin: float, settings: Settings) -> int:
    """Label of an exploiting step."""
    if not settings.weighted:
        return majority(answers, coin)
    weights = {i: log_odds(p_hat[i], settings) for i in answers}
    ahead = sum(w if answers[i] else -w for i, w in weights.items())
    if undecided(ahead, sum(map(abs, weights.values())), settings):
        return int(coin < 0.5)
    return int(ahead > 0)


def best_workers(
    here: list[int], p_hat: list[float], order: list[float], settings: Settings
) -> list[int]:
    """Prefix of the ranking whose estimated accuracy is largest."""
    if settings.weighted:
        ranked = sorted(here, key=lambda i: (-round(abs(p_hat[i] - 0.5), 14), order[i]))
        sizes = range(1, len(ranked) + 1)
    else:
        ranked = sorted(here, key=lambda i: (-p_hat[i], order[i]))
        sizes = range(1, len(ranked) + 1, 2)
    p = [p_hat[i] for i in ranked]
    accuracy = {
        m: weighted_accuracy(p[:m], settings) if settings.weighted else odd_majority(p[:m])
        for m in sizes
    }
    most = max(accuracy.values())
    return ranked[: min(m for m in sizes if accuracy[m] >= most - EQUAL)]


def odd_majority(p: list[float]) -> float:
    """π of an odd number of workers, by the distribution of how many are right."""
    chance = [1.0]
    for skill in p:
        chance = [
            (chance[k] * (1 - skill) if k < len(chance) else 0.0)
            + (chance[k - 1] * skill if k else 0.0)
            for k in range(len(chance) + 1)
        ]
    return sum(chance[len(p) // 2 + 1 :])


def weighted_accuracy(p_hat: list[float], settings: Settings) -> float:
    """Accuracy of the weighted vote if the estimates were true, over all outcomes."""
    p = [min(max(skill, settings.truncate), 1 - settings.truncate) for skill in p_hat]
    weights = [log_odds(skill, settings) for skill in p]
    total = 0.0
    for right in product((True, False), repeat=len(p)):
        chance = math.prod(skill if r else 1 - skill for skill, r in zip(p, right, strict=True))
        ahead = sum(w if r else -w for w, r in zip(weights, right, strict=True))
        if undecided(ahead, sum(map(abs, weights)), settings):
            total += chance / 2
        elif ahead > 0:
            total += chance
    return total


def log_odds(p: float, settings: Settings) -> float:
    """Weight of a worker."""
    p = min(max(p, settings.truncate), 1 - settings.truncate)
    return math.log(p) - math.log1p(-p)


def undecided(ahead: float, total: float, settings: Settings) -> bool:
    """Whether the sides count as even; a tolerance that is reached but for rounding is reached."""
    reached = settings.tolerance - 4 * TIE * (total + settings.tolerance)
    return abs(ahead) <= max(TIE * total, reached)
