"""The master of column generation: how many tasks follow each pattern known so far.

The linear program is kept in one solver object that starts from its last basis when columns are
added; `whole` solves the same over whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowd_models.patterns import Pattern
from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.highs import (
    RunOptions,
    accepted,
    claim_threads,
    limit_work,
    new_highs,
    set_options,
    settings,
)
from workbench.solving.solution import Side

FEASIBILITY = 1e-9
"""Tolerance of the linear programs, as everywhere here."""


@dataclass(frozen=True, eq=False)
class MasterOptimum:
    """An optimum of the master: tasks by pattern, what is left open, and dual values.

    `counts` has one entry a pattern; `short` says how many tasks of each class no pattern was
    found for; `worker_prices` is u (K,), `task_prices` v (T,), `side_prices` μ by side.
    """

    cost: float
    counts: FloatArray
    short: FloatArray
    worker_prices: FloatArray
    task_prices: FloatArray
    side_prices: FloatArray


class Master:
    """The restricted master for some tasks of each class and some capacity of each worker class.

    Parameters
    ----------
    tasks
        Tasks to be served by class, shape (T,).
    supply
        Labels each worker class may give, shape (K,).
    open_prices
        Price of leaving a task of each class unserved, shape (T,): above any pattern's.
    sides
        Of splits of label counts; an unserved task is a label where there are to be more.
    """

    def __init__(
        self,
        tasks: IntArray,
        supply: FloatArray,
        open_prices: FloatArray,
        sides: Sequence[Side] = (),
    ) -> None:

        claim_threads(1)
        self.tasks, self.supply, self.open_prices = tasks, supply, open_prices
        self.sides = sides
        self.patterns: list[Pattern] = []
        self._known: set[tuple[int, bytes]] = set()
        self._highs = new_highs()
        options = {
            "output_flag": False,
            "threads": 1,
            # Added columns leave the last basis feasible: the primal simplex goes on from it.
            "presolve": "off",
            "solver": "simplex",
            "simplex_strategy": 4,
            "primal_feasibility_tolerance": FEASIBILITY,
            "dual_feasibility_tolerance": FEASIBILITY,
        }
        set_options(self._highs, options)
        rows = len(supply) + len(tasks) + len(sides)
        none: Any = 0, np.zeros(rows, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0)
        beneath = np.full(len(supply), -np.inf), np.full(len(sides), -np.inf)
        lower = np.concatenate([beneath[0], tasks, beneath[1]])
        most = np.array([side.limit for side in sides])
        # To serve a task twice never pays, but it may help to keep a row that counts labels so.
        counted = all(side.counts_labels for side in sides)
        served = np.where(counted, np.inf, tasks)
        upper = np.concatenate([supply, served, most])
        accepted(self._highs.addRows(rows, lower, upper, *none), "rows")
        nobody = np.zeros(len(supply), dtype=np.int64)
        self._columns([Pattern(t, nobody, p) for t, p in enumerate(open_prices.tolist())])

    def add(self, patterns: Iterable[Pattern]) -> int:
        """Take in patterns that are new; give their number."""
        new: list[Pattern] = []
        for pattern in patterns:
            key = (pattern.task_class, pattern.copies.tobytes())
            if key not in self._known:
                self._known.add(key)
                new.append(pattern)
        if new:
            self._columns(new)
            self.patterns += new
        return len(new)

    def _columns(self, patterns: list[Pattern]) -> None:
        """Add columns from 0 up; a pattern of nobody leaves its task open."""
        columns, costs = len(patterns), np.array([p.cost for p in patterns])
        rows, values = zip(*map(self._entries, patterns), strict=True)
        start = np.cumsum([0, *(len(at) for at in rows[:-1])], dtype=np.int32)
        index = np.concatenate(rows).astype(np.int32)
        entries = np.concatenate(values).astype(float)
        status = self._highs.addCols(
            columns,
            costs,
            np.zeros(columns),
            np.full(columns, np.inf),
            len(index),
            start,
            index,
            entries,
        )
        accepted(status, "columns")

    def _entries(self, pattern: Pattern) -> tuple[IntArray, IntArray]:
        """Rows of a column, and what it has there."""
        used, t, copies = np.flatnonzero(pattern.copies), pattern.task_class, pattern.copies
        if len(used):
            counted = np.array([side.sign * (side.pairs[t] @ copies) for side in self.sides])
        else:
            counted = np.array([side.unserved(t) for side in self.sides])
        on = np.flatnonzero(counted)
        first = len(self.supply) + len(self.tasks)
        rows = np.concatenate([used, [len(self.supply) + t], first + on])
        return rows, np.concatenate([copies[used], [1], counted[on]])

    def solve(self) -> MasterOptimum:
        """Solve the linear program over the patterns known."""
        import highspy

        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            # A basis gone bad: from scratch it has an optimum, leaving tasks open if need be.
            accepted(self._highs.clearSolver(), "restart")
            self._highs.run()
        solution = self._highs.getSolution()
        values, duals = np.array(solution.col_value), np.array(solution.row_dual)
        kinds, classes = len(self.tasks), len(self.supply)
        return MasterOptimum(
            float(self._highs.getInfo().objective_function_value),
            np.maximum(values[kinds:], 0.0),
            values[:kinds],
            np.maximum(-duals[:classes], 0.0),
            np.maximum(duals[classes : classes + kinds], 0.0),
            np.maximum(-duals[classes + kinds :], 0.0),
        )

    def whole(self, options: RunOptions) -> list[tuple[Pattern, int]] | None:
        """Solve over whole numbers; the best plan that serves every task, or None."""
        import highspy

        kinds, columns = len(self.tasks), len(self.patterns)
        model = new_highs()
        set_options(model, settings(options, integer=True))
        limit_work(model, options)
        accepted(model.passModel(self._highs.getLp()), "model")
        every = np.arange(kinds + columns, dtype=np.int32)
        whole = np.full(len(every), int(highspy.HighsVarType.kInteger), dtype=np.uint8)
        accepted(model.changeColsIntegrality(len(every), every, whole), "integrality")
        model.run()
        feasible = highspy.SolutionStatus.kSolutionStatusFeasible
        if model.getInfo().primal_solution_status != feasible:
            return None
        values = np.rint(np.array(model.getSolution().col_value)).astype(np.int64)
        if values[:kinds].any():
            return None
        return [(self.patterns[p], int(values[kinds + p])) for p in np.flatnonzero(values[kinds:])]
