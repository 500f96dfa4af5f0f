"""A benchmark of benchopt made of our crowds and aggregators, and results in its columns.

`benchmark` gives the files of a folder that `benchopt run FOLDER` takes: a `Dataset` of the crowds
at each number of labels a task and in each order, as `whole_crowds` has them; an `Objective`, the
error on tasks with gold; a `Solver` of every aggregator that knows no gold. Whoever has a solver of
her own puts a file beside it, in whatever environment it needs.

`read_results` takes what benchopt writes (a .parquet, or the same as .csv), or a table with its
column names: `solver_name`, `p_dataset_crowd`, `p_dataset_labels`, `p_dataset_order`,
`objective_value` (the error), `time`.

Source: Moreau and others (2022), "Benchopt", NeurIPS.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from workbench.base.errors import InputError
from workbench.base.registry import plugins
from workbench.ranking.methods import plain
from workbench.ranking.whole_crowds import ALL, LEVELS, methods

OBJECTIVE = '''"""How often labels are wrong, on the tasks whose class is known."""

import numpy as np
from benchopt import BaseObjective


class Objective(BaseObjective):
    name = "Labels from a crowd"
    min_benchopt_version = "1.6"
    sampling_strategy = "run_once"

    def set_data(self, task, worker, label, tasks, workers, classes, truth):
        self.data = {
            "task": task,
            "worker": worker,
            "label": label,
            "tasks": tasks,
            "workers": workers,
            "classes": classes,
        }
        self.truth = truth

    def get_objective(self):
        """Labels as three arrays of whole numbers, one entry a label, and how many there may be."""
        return self.data

    def evaluate_result(self, label):
        """Share of wrong labels; `label` gives a class for each task."""
        known = self.truth >= 0
        return {"value": float((np.asarray(label)[known] != self.truth[known]).mean())}

    def get_one_result(self):
        return {"label": np.zeros(self.data["tasks"], dtype=int)}
'''
DATASET = '''"""Recorded crowds: the first labels of each task, in an order drawn at random."""

from pathlib import Path

from benchopt import BaseDataset

PLUGINS = {plugins!r}


class Dataset(BaseDataset):
    name = "Crowd"
    requirements = ["pip::crowd-workbench"]
    parameters = {{
        "crowd": {crowds!r},
        "labels": {levels!r},
        "order": {orders!r},
    }}
    test_parameters = {{"crowd": ["simulated"], "labels": ["2"], "order": [0]}}

    def get_data(self):
        from workbench.base.registry import load_plugin
        from workbench.ranking.whole_crowds import first_labels

        for file in PLUGINS:
            load_plugin(Path(__file__).parent.parent / "plugins" / file)
        level = "all" if self.labels == "every" else self.labels
        votes, truth = first_labels(self.crowd, level, self.order)
        return {{
            "task": votes.task,
            "worker": votes.worker,
            "label": votes.label,
            "tasks": len(votes.tasks),
            "workers": len(votes.workers),
            "classes": len(votes.classes),
            "truth": truth,
        }}
'''
SOLVER = '''"""Aggregators of the workbench."""

from pathlib import Path

import numpy as np
from benchopt import BaseSolver

PLUGINS = {plugins!r}


class Solver(BaseSolver):
    name = "workbench"
    requirements = ["pip::crowd-workbench"]
    sampling_strategy = "run_once"
    parameters = {{"method": {methods!r}}}

    def set_objective(self, task, worker, label, tasks, workers, classes):
        from workbench.base.registry import load_plugin
        from workbench.crowd.votes import Votes

        for file in PLUGINS:
            load_plugin(Path(__file__).parent.parent / "plugins" / file)
        names = [np.arange(size) for size in (tasks, workers, classes)]
        self.votes = Votes(task, worker, label, *names)

    def run(self, _):
        from workbench.ranking.whole_crowds import labelled

        self.label = labelled(self.method, self.votes, 0).label

    def get_result(self):
        return {{"label": self.label}}
'''
EVERY = "every"
"""Stands for all labels: to benchopt "all" means all values of a parameter."""
COLUMNS = {
    "p_dataset_crowd": "crowd",
    "p_dataset_labels": "level",
    "p_dataset_order": "order",
    "objective_value": "error",
    "time": "seconds",
}


def benchmark(crowds: Sequence[str], orders: int) -> dict[str, str]:
    """Give the files of a benchmark, by path in its folder; files of one's own go along.

    Parameters
    ----------
    crowds
        Data sets by name.
    orders
        How many orders of each task's labels.
    """
    files = [plugin.path for plugin in plugins()]
    names = [file.name for file in files]
    content = {f"plugins/{file.name}": file.read_text("utf-8") for file in files}
    asked = [plain(name) for name in methods()]
    levels = [EVERY if level == ALL else level for level in LEVELS]
    return {
        "objective.py": OBJECTIVE,
        "datasets/crowd.py": DATASET.format(
            crowds=list(crowds), levels=levels, orders=list(range(orders)), plugins=names
        ),
        "solvers/aggregators.py": SOLVER.format(methods=asked, plugins=names),
        **content,
    }


def read_results(path: str | Path) -> pd.DataFrame:
    """Read results, as `whole_crowds.points` has them: a row a method, crowd, level and order.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, or a number is none.
    """
    path = Path(path)
    try:
        table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    except ImportError:
        raise InputError(
            f"{path}: reading .parquet needs pyarrow; pip install 'crowd-workbench[parquet]', or "
            "give the same as .csv"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    for name in ("solver_name", *COLUMNS):
        if name not in table:
            raise InputError(f"{path}: has no column {name}: give it as benchopt names it")
    method = table["solver_name"].astype(str)
    if "p_solver_method" in table:  # one file of solvers, many methods
        method = (
            table["p_solver_method"].astype(str).where(table["p_solver_method"].notna(), method)
        )
    rows = table[list(COLUMNS)].rename(columns=COLUMNS).assign(method=method)
    rows["crowd"], rows["level"] = (
        rows["crowd"].astype(str),
        rows["level"].astype(str).replace(EVERY, ALL),
    )
    unknown = rows.loc[~rows["level"].isin(LEVELS), "level"]
    if len(unknown):
        raise InputError(
            f"{path}: p_dataset_labels has {unknown.iloc[0]!r}: choose from "
            f"{', '.join(LEVELS[:-1])}, {EVERY}"
        )
    for name in ("order", "error", "seconds"):
        rows[name] = pd.to_numeric(rows[name], errors="coerce")
    bad = rows["order"].isna() | ~rows["error"].between(0, 1)
    if bad.any():
        raise InputError(
            f"{path}: row {int(bad.to_numpy().argmax()) + 1} has no order, or an objective_value "
            "that is no error from 0 to 1"
        )
    return rows.assign(order=rows["order"].astype(int), labels=float("nan"))
