"""Integer programs: ours beside HiGHS alone and other solvers, at equal time.

Both sides stop at a proven optimum or at the time limit; what counts is the gap they leave. Tasks
come in three types, or all differ and have prices: every pair of task and worker then has a skill
and a price of its own, and our gap is the one certified from the data alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from benchmarks import peers
from benchmarks.crowds import CAPACITY, all_different, by_class, over_pairs
from benchmarks.measure import ABSENT, BenchSize, Sample

if TYPE_CHECKING:
    from crowd_models import AssignmentProblem
    from workbench.solving import Solution

ROUNDING = 1e-9
"""A share of the cost that counts as none."""


@dataclass(frozen=True)
class Program:
    """n tasks × m workers, the capacity of each, the error allowed, and seconds to solve it.

    With `skills` tasks are of three types, and skills drawn from these; with `between` evenly
    between two bounds. With neither, pairs all differ and have prices.
    """

    tasks: int
    workers: int
    capacity: int
    epsilon: float
    seconds: float
    skills: tuple[float, ...] = ()
    between: tuple[float, float] | None = None

    @property
    def different(self) -> bool:
        """Whether every pair has a skill and a price of its own."""
        return not self.skills and self.between is None

    @property
    def name(self) -> str:
        """As notes have it."""
        drawn = self.skills or self.between
        return f"M = {self.capacity}, ε = {self.epsilon:g}" + (f", skills {drawn}" if drawn else "")

    def at(self, size: BenchSize) -> Program:
        """Itself, or a small one where only a smoke test is asked for."""
        if size.full:
            return self
        small = replace(self, tasks=size.tasks, workers=size.workers, epsilon=0.3, seconds=0.5)
        return replace(small, tasks=2 * size.tasks, capacity=12) if self.different else small

    def problem(self, seed: int) -> AssignmentProblem:
        """Draw the data."""
        if self.different:
            return all_different(self.tasks, self.workers, self.capacity, self.epsilon, seed=seed)
        counted = by_class(
            self.tasks,
            self.workers,
            3,
            self.capacity,
            self.epsilon,
            skills=self.skills,
            between=self.between or (0.5, 1.0),
            seed=seed,
        )
        return over_pairs(counted)


MANY = (Program(1000, 300, CAPACITY, 0.001, 60, between=(0.6, 0.95)),)
"""Many different qualities."""
FEW = tuple(
    Program(1000, 300, CAPACITY, 0.001, 60, skills=skills)
    for skills in ((0.5, 0.9), (0.5, 0.7, 0.9))
)
"""Few qualities and ties everywhere: spammers and hammers, and some between."""
DIFFERENT = {
    200: (Program(200, 100, 18, 0.1, 15), Program(200, 100, 25, 0.01, 15)),
    300: (Program(300, 150, 18, 0.1, 15), Program(300, 150, 32, 0.01, 15)),
    600: (Program(600, 200, 27, 0.1, 60), Program(600, 200, 48, 0.01, 60)),
    1000: (Program(1000, 300, 40, 0.1, 60),),
}
"""By number of tasks."""


@lru_cache(maxsize=32)
def solved(program: Program, seed: int, method: str) -> Solution:
    """One side's answer; kept, since rows share it and it takes a minute."""
    from workbench.solving import solve

    limit = program.seconds
    return solve(program.problem(seed), "ip", method=method, time_limit=limit, seed=seed)


def beside_highs(programs: tuple[Program, ...]) -> Callable[[BenchSize], Sample]:
    """The largest gap that we leave, in percent, beside HiGHS alone by its own word."""

    def measure(size: BenchSize) -> Sample:
        pairs = [
            (each, ours(each, size.seed), solved(each, size.seed, "highs"))
            for each in dict.fromkeys(program.at(size) for program in programs)
        ]
        note = "; ".join(
            f"{each.name}: cost {cost(mine)} in {mine.seconds:.1f} s, HiGHS {cost(alone)} in "
            f"{alone.seconds:.1f} s, {certified(alone):.2g} % certified"
            for each, mine, alone in pairs
        )
        largest = max(our_gap(each, mine) for each, mine, _ in pairs)
        return Sample([largest], [max(gap_left(alone) for *_, alone in pairs)], "%", note)

    return measure


def beside_peer(program: Program, job: str, module: str) -> Callable[[BenchSize], Sample]:
    """The same beside another solver in its own process."""

    def measure(size: BenchSize) -> Sample:
        each = program.at(size)
        mine = ours(each, size.seed)
        gap = our_gap(each, mine)
        if peers.absent(module):
            return Sample([gap], [], "%", ABSENT)
        solution = peers.solved_by(job, each.problem(size.seed), each.seconds)
        value, bound = solution["objective"], solution["bound"]
        peer_gap = 100.0 if value is None else 100.0 * max(0.0, 1 - bound / value)
        other = "none" if value is None else f"{value:g}"
        memory = "" if solution["megabytes"] is None else f", peak {solution['megabytes']:.0f} MB"
        return Sample([gap], [peer_gap], "%", f"cost {cost(mine)} and {other}{memory}")

    return measure


def ours(program: Program, seed: int) -> Solution:
    """Our answer."""
    return solved(program, seed, "auto" if program.different else "patterns")


def our_gap(program: Program, solution: Solution) -> float:
    """The gap of our answer in percent: certified where pairs all differ."""
    return certified(solution) if program.different else gap_left(solution)


def gap_left(solution: Solution) -> float:
    """The proven gap in percent; 100 where there is no answer or no bound."""
    return 100.0 if solution.gap is None else 100.0 * solution.gap


def certified(solution: Solution) -> float:
    """The gap in percent that the data alone prove; 100 where there is no plan or no bound."""
    least = solution.certificate.lower_bound
    if not solution.objective or least is None:
        return 100.0
    gap = 1 - least / solution.objective
    return 100.0 * gap if gap > ROUNDING else 0.0


def cost(solution: Solution) -> str:
    """The cost of an answer, as text."""
    return "unknown" if solution.objective is None else f"{solution.objective:g}"
