"""The integer program where tasks all differ and labels have prices, beside other solvers.

Every pair of task and worker has a skill and a price of its own. Gaps of both sides after equal
time: ours certified from the data alone, the others' by their own word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from crowd_models import AssignmentProblem, requirement
from workbench.bench.crowds import full
from workbench.bench.exact import cost, gap_left
from workbench.bench.measure import Sample, Size

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.solving import Solution

ROUNDING = 1e-9
"""A share of the cost that counts as none."""


@dataclass(frozen=True)
class Crowd:
    """n tasks × m workers, the capacity of each, the error allowed, and seconds to solve it."""

    tasks: int
    workers: int
    capacity: int
    epsilon: float
    seconds: float

    @property
    def name(self) -> str:
        """As notes have it."""
        return f"M = {self.capacity}, ε = {self.epsilon:g}"

    def problem(self, seed: int) -> AssignmentProblem:
        """Skills uniform on [½, 1], prices on [½, 2], drawn for each pair."""
        rng = np.random.Generator(np.random.PCG64(seed))
        skill = rng.uniform(0.5, 1.0, (self.tasks, self.workers))
        price = rng.uniform(0.5, 2.0, skill.shape)
        need = requirement(self.epsilon)
        return AssignmentProblem((2 * skill - 1) ** 2, self.capacity, need, price)


CROWDS = {
    200: (Crowd(200, 100, 18, 0.1, 15), Crowd(200, 100, 25, 0.01, 15)),
    300: (Crowd(300, 150, 18, 0.1, 15), Crowd(300, 150, 32, 0.01, 15)),
    600: (Crowd(600, 200, 27, 0.1, 60), Crowd(600, 200, 48, 0.01, 60)),
    1000: (Crowd(1000, 300, 40, 0.1, 60),),
}
"""By number of tasks."""


def crowds(tasks: int, size: Size) -> tuple[Crowd, ...]:
    """Those of so many tasks, or a small one where only a smoke test is asked for."""
    return CROWDS[tasks] if full(size) else (Crowd(2 * size.tasks, size.workers, 12, 0.3, 0.5),)


@lru_cache(maxsize=32)
def solved(crowd: Crowd, seed: int, method: str) -> Solution:
    """One side's answer; kept, since rows share it."""
    from workbench.solving import solve

    problem = crowd.problem(seed)
    return solve(problem, "ip", method=method, time_limit=crowd.seconds, seed=seed)


def certified(solution: Solution) -> float:
    """The gap in percent that the data alone prove; 100 where there is no plan or no bound."""
    least = solution.certificate.lower_bound
    if not solution.objective or least is None:
        return 100.0
    gap = 1 - least / solution.objective
    return 100.0 * gap if gap > ROUNDING else 0.0


def beside_highs(tasks: int, size: Size) -> Sample:
    """The largest gap over the crowds, ours certified, beside HiGHS alone."""
    pairs = [
        (crowd, solved(crowd, size.seed, "auto"), solved(crowd, size.seed, "highs"))
        for crowd in crowds(tasks, size)
    ]
    told = "; ".join(
        f"{crowd.name}: cost {cost(ours)} in {ours.seconds:.1f} s, HiGHS {cost(alone)}, "
        f"{certified(alone):.2g} % certified"
        for crowd, ours, alone in pairs
    )
    return Sample(
        [max(certified(ours) for _, ours, _ in pairs)],
        [max(gap_left(alone) for *_, alone in pairs)],
        "%",
        note=told,
    )


def beside_peer(job: str, module: str, tasks: int, size: Size) -> Sample:
    """The same of the first crowd, beside another solver in its own process."""
    from workbench.bench.peers import gap_beside

    crowd = crowds(tasks, size)[0]
    ours = solved(crowd, size.seed, "auto")
    return gap_beside(
        job, module, crowd.problem(size.seed), certified(ours), cost(ours), crowd.seconds
    )


different_200: Callable[[Size], Sample] = partial(beside_highs, 200)
different_300: Callable[[Size], Sample] = partial(beside_highs, 300)
different_600: Callable[[Size], Sample] = partial(beside_highs, 600)
different_1000: Callable[[Size], Sample] = partial(beside_highs, 1000)
scip_200: Callable[[Size], Sample] = partial(beside_peer, "scip", "pyscipopt", 200)
scip_1000: Callable[[Size], Sample] = partial(beside_peer, "scip", "pyscipopt", 1000)
cp_sat_200: Callable[[Size], Sample] = partial(beside_peer, "cp-sat", "ortools", 200)
cp_sat_1000: Callable[[Size], Sample] = partial(beside_peer, "cp-sat", "ortools", 1000)
