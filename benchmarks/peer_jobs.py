"""Other solvers on the same problem, each in a process of its own.

OR-tools brings a HiGHS that cannot share a process with ours, so nothing here may import
`workbench.solving`: the problem comes as arrays in a file, the answer goes as JSON to the output.

Run as `python -m benchmarks.peer_jobs NAME ARRAYS SECONDS`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.base.memory import peak_mb

FINE = 10**6
"""Steps of a unit of quality, and of a price, for CP-SAT, which knows whole numbers only."""
Figures = dict[str, float | None]


class Arrays:
    """Minimise Σ c y: 0 ≤ y ≤ 1, Σ_i y_ij ≤ M_j, Σ_j q_ij y_ij ≥ C_i, L_i ≤ Σ_j y_ij ≤ U_i."""

    def __init__(self, path: str) -> None:
        with np.load(path) as stored:
            self.quality: NDArray[np.float64] = stored["quality"]
            self.capacity: NDArray[np.float64] = stored["capacity"].astype(np.float64)
            self.requirement: NDArray[np.float64] = stored["requirement"]
            self.price: NDArray[np.float64] = stored["price"]
            least, most = stored["limits"].tolist()
        ends = enumerate(zip(least, most, strict=True))
        self.limits = [(i, *end) for i, end in ends if end != (0, self.quality.shape[1])]
        """Task, least and most labels, where there are limits."""

    def rows(self) -> Any:
        """Cover rows, then capacity rows, as a sparse matrix over pairs, task by task."""
        from scipy.sparse import csr_matrix, eye_array, kron, vstack

        n, m = self.quality.shape
        start = np.arange(n + 1) * m
        cover = csr_matrix((self.quality.ravel(), np.arange(n * m), start), shape=(n, n * m))
        capacity = kron(np.ones((1, n)), eye_array(m))
        return csr_matrix(vstack([cover, capacity]))


def linear(solver: str, arrays: Arrays, seconds: float) -> Figures:
    """The relaxation by OR-tools: GLOP, the simplex method, or PDLP, a first-order method."""
    from ortools.linear_solver.python import model_builder_helper as helpers

    started = time.perf_counter()
    n, m = arrays.quality.shape
    model = helpers.ModelBuilderHelper()
    model.fill_model_from_sparse_data(
        np.zeros(n * m),
        np.ones(n * m),
        arrays.price.ravel(),
        np.concatenate([arrays.requirement, np.full(m, -np.inf)]),
        np.concatenate([np.full(n, np.inf), arrays.capacity]),
        arrays.rows(),
    )
    run = helpers.ModelSolverHelper(solver)
    run.set_time_limit_in_seconds(seconds)
    run.solve(model)
    solved = run.status() == helpers.SolveStatus.OPTIMAL
    value = run.objective_value() if solved else None
    return {"seconds": time.perf_counter() - started, "objective": value, "bound": value}


def cp_sat(arrays: Arrays, seconds: float) -> Figures:
    """The integer program by CP-SAT: qualities rounded down, requirements up, prices; all cores."""
    from ortools.sat.python import cp_model

    n, m = arrays.quality.shape
    model = cp_model.CpModel()
    y = [[model.new_bool_var("") for _ in range(m)] for _ in range(n)]
    quality = np.floor(arrays.quality * FINE).astype(int)
    for i in range(n):
        least = int(np.ceil(arrays.requirement[i] * FINE))
        model.add(cp_model.LinearExpr.weighted_sum(y[i], quality[i].tolist()) >= least)
    for j in range(m):
        if arrays.capacity[j] < n:
            model.add(cp_model.LinearExpr.sum([row[j] for row in y]) <= int(arrays.capacity[j]))
    for i, least, most in arrays.limits:
        model.add_linear_constraint(cp_model.LinearExpr.sum(y[i]), least, most)
    whole = bool((arrays.price == np.floor(arrays.price)).all())
    unit = 1 if whole else FINE
    price = np.rint(arrays.price * unit).astype(int).ravel().tolist()
    model.minimize(cp_model.LinearExpr.weighted_sum([label for row in y for label in row], price))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = os.cpu_count() or 1
    status = solver.solve(model)
    solved = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return {
        "seconds": solver.wall_time,
        "objective": solver.objective_value / unit if solved else None,
        "bound": solver.best_objective_bound / unit,
    }


def cbc(arrays: Arrays, seconds: float) -> Figures:
    """The integer program by COIN-OR's CBC, which OR-tools brings."""
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("CBC")
    solver.SetTimeLimit(int(1000 * seconds))
    started = time.perf_counter()
    lowest, price = -solver.infinity(), arrays.price.tolist()
    y = [[solver.BoolVar("") for _ in row] for row in price]
    cost = solver.Objective()
    full = [solver.RowConstraint(lowest, most, "") for most in arrays.capacity.tolist()]
    for i, row in enumerate(y):
        cover = solver.RowConstraint(float(arrays.requirement[i]), solver.infinity(), "")
        for j, label in enumerate(row):
            cost.SetCoefficient(label, price[i][j])
            full[j].SetCoefficient(label, 1.0)
            cover.SetCoefficient(label, float(arrays.quality[i, j]))
    for i, least, most in arrays.limits:
        number = solver.RowConstraint(least, most, "")
        for label in y[i]:
            number.SetCoefficient(label, 1.0)
    cost.SetMinimization()
    status = solver.Solve()
    solved = status in (pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE)
    return {
        "seconds": time.perf_counter() - started,
        "objective": cost.Value() if solved else None,
        "bound": cost.BestBound() if solved else None,
    }


def scip(arrays: Arrays, seconds: float) -> Figures:
    """The integer program by SCIP."""
    from pyscipopt import Model, quicksum

    n, m = arrays.quality.shape
    model = Model()
    model.hideOutput()
    model.setParam("limits/time", seconds)
    y = [[model.addVar(vtype="B", obj=price) for price in row] for row in arrays.price.tolist()]
    for i in range(n):
        cover = quicksum(
            q * label for q, label in zip(arrays.quality[i].tolist(), y[i], strict=True)
        )
        model.addCons(cover >= float(arrays.requirement[i]))
    for j in range(m):
        model.addCons(quicksum(y[i][j] for i in range(n)) <= float(arrays.capacity[j]))
    for i, least, most in arrays.limits:
        model.addCons((quicksum(y[i]) <= most) >= least)
    model.optimize()
    return {
        "seconds": model.getSolvingTime(),
        "objective": model.getObjVal() if model.getNSols() else None,
        "bound": model.getDualbound(),
    }


JOBS: dict[str, Callable[[Arrays, float], Figures]] = {
    "glop": partial(linear, "GLOP"),
    "pdlp": partial(linear, "PDLP"),
    "cp-sat": cp_sat,
    "scip": scip,
    "cbc": cbc,
}


def main(name: str, path: str, seconds: str) -> None:
    """Do a job and print what it found, with the peak memory of this process."""
    solution = JOBS[name](Arrays(path), float(seconds))
    print(json.dumps({**solution, "megabytes": peak_mb()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
