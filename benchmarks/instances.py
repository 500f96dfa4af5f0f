"""The public instances of `models/problems`: solvers side by side, and the index of the best known.

What enters the index has passed `check.py` there, which shares no code with the workbench: costs
and bounds are the ones that it works out. A better plan replaces the one on record, a better bound
its proof; nothing that is worse ever does. Profiles: Dolan, Moré (2002).
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import runpy
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import peers
from benchmarks.measure import UnmeasurableError
from crowd_models import AssignmentProblem, TypedProblem
from crowd_models.files import read_problem
from workbench.base.arrays import IntArray
from workbench.base.errors import InputError

FOLDER = "models/problems"
PEERS = {"cbc": "ortools", "scip": "pyscipopt", "cp-sat": "ortools"}
"""Solvers that are not ours, and what brings them."""
SOLVERS = ("patterns", "highs", *PEERS)
SHOWN = {"highs": "HiGHS", "cbc": "CBC", "scip": "SCIP", "cp-sat": "CP-SAT"}
COUNTED = {
    "ran": "run",
    "proved": "proven, by its own word",
    "cheap": "as cheap as the best known",
    "none": "no plan",
}
SECONDS = 20.0
PROVEN = 1e-6
"""Relative gap, by a solver's own word, that counts as none."""
SAME = 1e-9
"""Relative difference of costs that are the same."""
MOST_PAIRS = 1_000_000
"""Of a part that is solved in place of a problem by class."""
DIGITS = 9
"""Of worker prices: any that are about right prove as much."""
SOON = 0.1
"""Seconds below which times are taken to be the same."""
LONGER = 3.0
"""How many times the limit a solver may take, with building its model, before it is ended."""


@dataclass(frozen=True)
class InstanceRun:
    """What one solver found on one instance, by its own word; None for nothing."""

    name: str
    solver: str
    seconds: float
    value: float | None
    bound: float | None
    note: str = ""

    @property
    def gap(self) -> float:
        """Relative gap that is left; 1 without a plan or a bound."""
        if not self.value or self.bound is None:
            return 0.0 if self.value == 0 else 1.0
        return max(0.0, 1 - self.bound / self.value)


class InstanceSet:
    """A folder of instances with its index, generator and checker."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        for part in ("check.py", "generate.py"):
            if not (self.folder / part).is_file():
                raise InputError(f"{self.folder}: no {part} there; give {FOLDER} of a checkout")
        self.checker = runpy.run_path(str(self.folder / "check.py"))
        self.generator = runpy.run_path(str(self.folder / "generate.py"))
        self.rows: dict[str, dict[str, str]] = {}
        if self.index.exists():
            with self.index.open(encoding="utf-8", newline="") as file:
                self.rows = {row["name"]: row for row in csv.DictReader(file)}

    @property
    def index(self) -> Path:
        """The file of best known values."""
        return self.folder / "index.csv"

    @property
    def names(self) -> list[str]:
        """Instances that are drawn, then the others that are there."""
        here = sorted(path.stem for path in self.folder.glob("*.json"))
        return list(dict.fromkeys([*self.generator["SPECS"], *here]))

    def chosen(self, names: Sequence[str]) -> list[str]:
        """Some of the instances, in the order of the index; none for all."""
        for name in names:
            if name not in self.names:
                raise InputError(f"no instance {name!r}: there are {', '.join(self.names)}")
        return [name for name in self.names if not names or name in names]

    def content(self, name: str) -> bytes:
        """The file of an instance; drawn where it is not there."""
        path = self.folder / f"{name}.json"
        return path.read_bytes() if path.exists() else self.generator["text"](name).encode()

    @contextmanager
    def file(self, name: str) -> Iterator[Path]:
        """A file of an instance, for as long as it is needed."""
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / f"{name}.json"
            path.write_bytes(self.content(name))
            yield path

    def update(self, solution: dict[str, Any], run: InstanceRun) -> bool:
        """Enter a plan and its proof where they are better; whether anything was.

        Parameters
        ----------
        solution
            A solution as `check.py` reads it.
        run
            Who found it; its bound is entered as the solver's word where it is the highest.

        Raises
        ------
        ValueError
            What `check.py` has against the plan or the proof.
        """
        content, path = self.content(run.name), self.folder / "solutions" / f"{run.name}.json"
        digest, row = hashlib.sha256(content).hexdigest(), self.rows.get(run.name)
        problem = self.checker["read"](content)
        cost = Fraction(self.checker["cost_of"](problem, solution))
        bound = self.checker["bound_of"](problem, solution["worker_prices"])
        claimed = bound if run.bound is None else max(bound, _decimal(run.bound))
        if row is not None and row["sha256"] == digest:
            incumbent = json.loads(path.read_text(encoding="utf-8"))
            if cost >= Fraction(row["best"]):
                cost, solution = (
                    Fraction(row["best"]),
                    {**incumbent, "worker_prices": solution["worker_prices"]},
                )
            before = self.checker["bound_of"](problem, incumbent["worker_prices"])
            if bound <= before:
                bound, solution = before, {**solution, "worker_prices": incumbent["worker_prices"]}
            claimed = max(claimed, bound, Fraction(row["bound"]))
            if (cost, claimed, bound) == (Fraction(row["best"]), Fraction(row["bound"]), before):
                return False
        claimed = min(claimed, cost)  # a solver's word, rounded to six digits
        self.rows[run.name] = {
            "name": run.name,
            "tasks": str(sum(problem.times)),
            "workers": str(sum(problem.copies)),
            "types": str(len(problem.kinds)),
            "family": self._family(run.name),
            "best": _written(cost),
            "bound": _written(claimed),
            "status": "checked" if claimed <= bound else "solver's word",
            "method": run.solver,
            "seconds": f"{run.seconds:.1f}",
            "sha256": digest,
        }
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(solution, separators=(",", ":")) + "\n", encoding="utf-8")
        with self.index.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(self.rows[run.name]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows[name] for name in self.names if name in self.rows)
        return True

    def _family(self, name: str) -> str:
        if name in self.rows:
            return self.rows[name]["family"]
        drawn = self.generator["SPECS"].get(name, {})
        return str(drawn.get("family", name.partition("-")[0]))


def run_instance(
    instances: InstanceSet, name: str, solver: str, seconds: float, *, seed: int = 0
) -> tuple[InstanceRun, dict[str, Any] | None]:
    """Run a solver on an instance; with a plan of ours comes the solution for `check.py`."""
    with instances.file(name) as path:
        problem = read_problem(path)
    # Instances are of who labels what, in two classes.
    assert isinstance(problem, (AssignmentProblem, TypedProblem))
    if solver in PEERS:
        return _by_peer(problem, name, solver, seconds), None
    if isinstance(problem, TypedProblem):
        part, times, kind, class_of = _part(problem)
    else:
        part, times = problem, 1
    from workbench.solving import solve

    # With limits of labels, HiGHS searches by itself under another name.
    method = "mip" if part.limited and solver == "highs" else solver
    solution = solve(part, "ip", method=method, time_limit=seconds, seed=seed)
    value, bound = solution.objective, solution.bound
    run = InstanceRun(
        name,
        solver,
        solution.seconds,
        None if value is None else value * times,
        # What is true of a part by branch and bound need not be of the whole.
        None if bound is None or times > 1 else bound,
        solution.note,
    )
    if solution.assignment is None:
        return run, None
    from workbench.solving.proof_file import best_prices

    prices, bought = best_prices(part, solution), solution.assignment > 0.5
    plan: dict[str, Any] = {"labels": [np.flatnonzero(row).tolist() for row in bought]}
    if isinstance(problem, TypedProblem):
        often = Counter(
            (i, tuple(sorted(Counter(class_of[row].tolist()).items())))
            for i, row in zip(kind.tolist(), bought, strict=True)
        )
        plan = {
            "patterns": [
                [i, {str(worker): copies for worker, copies in those}, k * times]
                for (i, those), k in sorted(often.items())
            ]
        }
        prices = prices[np.searchsorted(class_of, np.arange(problem.shape[1]))]
    return run, {**plan, "worker_prices": [round(u, DIGITS) for u in prices.tolist()]}


def run_instances(
    instances: InstanceSet,
    names: Sequence[str],
    solvers: Sequence[str],
    seconds: float,
    earlier: Sequence[InstanceRun] = (),
    *,
    update: bool = False,
    seed: int = 0,
) -> Iterator[InstanceRun]:
    """Run every solver that is there on every instance, less what is known.

    Parameters
    ----------
    update
        Enter what is better into the index; what `check.py` refuses is said in the run's note.
    """
    done = {(run.name, run.solver) for run in earlier}
    for name in names:
        for solver in solvers:
            if (name, solver) in done or (solver in PEERS and peers.absent(PEERS[solver])):
                continue
            run, solution = run_instance(instances, name, solver, seconds, seed=seed)
            if update and solution is not None:
                try:
                    instances.update(solution, run)
                except ValueError as wrong:
                    run = replace(run, note=f"refused by check.py: {wrong}")
            yield run


def _by_peer(
    problem: AssignmentProblem | TypedProblem, name: str, solver: str, seconds: float
) -> InstanceRun:
    if isinstance(problem, TypedProblem):
        return InstanceRun(name, solver, 0.0, None, None, "by class: more pairs than memory")
    try:
        solution = peers.solved_by(solver, problem, seconds, timeout=LONGER * seconds)
    except UnmeasurableError as reason:
        return InstanceRun(name, solver, LONGER * seconds, None, None, str(reason))
    return InstanceRun(name, solver, solution["seconds"], solution["objective"], solution["bound"])


def _part(problem: TypedProblem) -> tuple[AssignmentProblem, int, IntArray, IntArray]:
    """The largest part that is solved soon, how many times the whole is that, classes of its pairs.

    Copies of its plan are one of the whole, since each class is so many times as large.
    """
    whole = math.gcd(*problem.tasks.tolist(), *problem.workers.tolist())
    pairs = problem.tasks.sum() * problem.workers.sum() / whole**2
    size = max(
        d for d in range(1, whole + 1) if whole % d == 0 and (d == 1 or pairs * d * d <= MOST_PAIRS)
    )
    times = whole // size
    task = np.repeat(np.arange(problem.shape[0]), problem.tasks // times)
    worker = np.repeat(np.arange(problem.shape[1]), problem.workers // times)
    at = np.ix_(task, worker)
    part = AssignmentProblem(
        problem.quality[at],
        problem.capacity[worker],
        problem.requirement[task],
        None if problem.cost is None else problem.cost[at],
        None if problem.available is None else problem.available[at],
        gain=problem.gain,
    )
    return part, times, task, worker


def _decimal(value: float) -> Fraction:
    """What a float means, to six digits after the point."""
    return Fraction(f"{value:.6f}")


def _written(value: Fraction) -> str:
    """Write a number as an exact decimal where there is one of twelve digits, else rounded down."""
    digits = f"{math.floor(value * 10**6):07d}"
    return f"{digits[:-6]}.{digits[-6:]}".rstrip("0").rstrip(".")


def judged(runs: Sequence[InstanceRun], index: dict[str, dict[str, str]]) -> pd.DataFrame:
    """Judge runs by the index: a row an instance and solver, run or not.

    Returns
    -------
    DataFrame
        Columns of the runs, `gap`, and whether the solver `ran`, came with a `plan`, `proved` it,
        by its own word, and it is as `cheap` as the best known. A value below the bound of the
        index is no plan: some cover is short by what the solver tolerates.
    """
    keys = ["name", "solver"]
    table = pd.DataFrame([asdict(run) | {"gap": run.gap} for run in runs])
    table = (
        table.astype({"value": float, "bound": float}).replace({"solver": SHOWN}).set_index(keys)
    )
    every = pd.MultiIndex.from_product([table.index.unique(key) for key in keys])
    rows = table.reindex(every).reset_index()
    for column, of in (("best", "best"), ("least", "bound")):
        rows[column] = rows["name"].map({name: float(row[of]) for name, row in index.items()})
    value, ran = rows["value"], rows["seconds"].notna()
    plan = value.notna() & ~(value < rows["least"] * (1 - SAME))
    return rows.assign(
        ran=ran,
        plan=plan,
        none=ran & ~plan,
        proved=plan & (rows["gap"] <= PROVEN),
        cheap=plan & (value <= rows["best"] * (1 + SAME)),
    )


def profiles(
    runs: Sequence[InstanceRun], index: dict[str, dict[str, str]]
) -> dict[str, pd.DataFrame]:
    """Steps of two performance profiles: seconds to an optimum, and cost of the best plan.

    Returns
    -------
    dict
        Columns `solver, ratio, share`. `seconds`: the share of the instances, run or not, that a
        solver proves, by its own word, in at most so many times the seconds of the fastest;
        `cost`: of those for which its plan costs at most so many times the best known.
    """
    from workbench.studies.summary import performance_profile

    rows = judged(runs, index)
    proved = rows["seconds"].clip(lower=SOON).where(rows["proved"])
    rows = rows.assign(
        proved=proved,
        first=proved.groupby(rows["name"]).transform("min"),
        value=rows["value"].where(rows["plan"]),
    )
    return {
        "seconds": performance_profile(rows, ["solver"], "proved", "first"),
        "cost": performance_profile(rows, ["solver"], "value", "best"),
    }


def instance_tables(
    runs: Sequence[InstanceRun], index: dict[str, dict[str, str]]
) -> list[list[tuple[str, ...]]]:
    """What the solvers did, counted, and what each found, the smallest instance first.

    Each table is its head, then its lines. With a plan go the seconds in which it was proven, or
    the gap that is left, in percent; † marks a value below the bound of the index.
    """
    rows = judged(runs, index)
    sums = rows.groupby("solver", sort=False)[list(COUNTED)].sum()
    counts = [(title, *map(str, sums[of])) for of, title in COUNTED.items()]
    rows["cell"] = [_cell(row) for row in rows.to_dict("records")]
    size = {name: int(row["tasks"]) * int(row["workers"]) for name, row in index.items()}
    groups = sorted(rows.groupby("name", sort=False), key=lambda of: size.get(str(of[0]), 0))
    lines = [
        (str(name), index[str(name)]["best"] if name in index else "–", *own["cell"])
        for name, own in groups
    ]
    return [
        [(f"of {len(groups)}", *sums.index), *counts],
        [("instance", "best known", *sums.index), *lines],
    ]


def _cell(run: dict[Any, Any]) -> str:
    if not run["ran"]:
        return "not run"
    if math.isnan(run["value"]):
        return run["note"] or "no plan"
    value = f"{run['value']:.10g}"
    if not run["plan"]:
        return f"{value} †"
    if run["proved"]:
        return f"{value}, {run['seconds']:.1f} s"
    return f"{value}, {100 * run['gap']:.2g} %" if run["bound"] > 0 else f"{value}, no bound"


def as_markdown(tables: Sequence[Sequence[tuple[str, ...]]]) -> str:
    """Write tables for a page."""
    written = []
    for head, *lines in tables:
        rows = [f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), *lines)]
        written.append("\n".join(rows) + "\n")
    return "\n".join(written)


def instance_pictures(
    runs: Sequence[InstanceRun], index: dict[str, dict[str, str]]
) -> dict[str, bytes]:
    """The profiles as PNG, by what they measure."""
    from workbench.plots import as_png, chart
    from workbench.studies.study import Chart

    labels = {
        "seconds": "seconds to a proven optimum / those of the fastest",
        "cost": "cost of the plan / best known",
    }
    style: dict[str, Any] = {"series": "solver", "kind": "step"}
    pictures = {}
    for kind, steps in profiles(runs, index).items():
        drawn = Chart(
            kind,
            kind,
            steps,
            "ratio",
            "share",
            labels[kind],
            "share of the instances",
            log_x=kind == "seconds",
            **style,
        )
        pictures[kind] = as_png(chart(drawn))
    return pictures


def read_runs(path: Path) -> list[InstanceRun]:
    """Runs of an earlier `--out`; none where there is no such file.

    Raises
    ------
    InputError
        It holds something else.
    """
    if not path.exists():
        return []
    try:
        return [InstanceRun(**run) for run in json.loads(path.read_text(encoding="utf-8"))["runs"]]
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path}: no runs of instances in it; give another --out") from None
