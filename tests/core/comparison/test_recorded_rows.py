"""Rows as they were before two classes and several had one protocol: recorded on fixed seeds.

Their measured errors are counted as of 3.0: what a purchase leaves blank is wrong.

Optima and bounds hold under every version of the solver. Which of several optimal plans comes out
hangs on the last digit, and so on the processor: of such a plan what is proven is held, no more.
What else a solver decides is compared under the version that it was recorded with.
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.core.accuracy.test_measured import crowd
from workbench.comparison.instances import RecordedOptions
from workbench.comparison.protocol import everybody
from workbench.comparison.running import compare, recorded
from workbench.comparison.two_classes import simulated
from workbench.crowd.population import specialists

RECORD = json.loads(Path(__file__).with_name("recorded_rows.json").read_text())
SEED = np.random.SeedSequence
OPTIMA = ("offline IP", "relaxation", "dual", "information limit")
OF_THE_OPTIMUM = ("objective", "lower_bound", "ratio", "cost", "cost_gold", "tasks_covered")
"""What every optimal plan has in common."""


def on_record(classes, seed=1):
    rng = np.random.default_rng(classes)
    labels, _, truth = crowd(rng, 40, 20, rng.uniform(0.6, 0.9, 20), missing=0.2, classes=classes)
    gold = pd.Series([f"c{k}" for k in truth], index=[f"t{i}" for i in range(40)])
    return recorded(labels, gold, RecordedOptions(0.3, 10, 0.3), seed=SEED(seed))


def on_simulated():
    workers = specialists(52, seed=1, task_types=2, skilled=0.9, capacity=30)
    options = {"tasks": 30, "preliminary": 12, "gold": 15, "epsilon": 0.2}
    return simulated(workers, **options, seed=SEED(3))


CASES = {"simulated": on_simulated, "two": lambda: on_record(2), "three": lambda: on_record(3)}
EPSILON = {"simulated": 0.2, "two": 0.3, "three": 0.3}


def rows_of(case):
    instance = CASES[case]()
    rows = list(compare(instance, seed=SEED(4)))
    if case != "simulated":
        rows.append(everybody(instance, seed=SEED(5)))
    return [{name: value for name, value in vars(row).items() if name != "seconds"} for row in rows]


@pytest.mark.parametrize(
    "case", [pytest.param(name, marks=[pytest.mark.slow] * (name != "simulated")) for name in CASES]
)
def test_rows_are_those_on_record(case):
    for row, record in zip(rows_of(case), RECORD[case], strict=True):
        keys = ("objective", "lower_bound", "ratio") if row["method"] in OPTIMA else ("method",)
        if version("highspy") == RECORD["highspy"]:
            keys = OF_THE_OPTIMUM if row["method"] == "offline IP" else record.keys()
        for key in keys:
            value = record[key]
            if isinstance(value, float):
                value = pytest.approx(value, rel=1e-6, abs=1e-9)
            assert row[key] == value, (row["method"], key)
        if row["method"] == "offline IP":
            assert row["lower_bound"] <= row["objective"] * (1 + 1e-9)
            assert row["error_exact"] <= row["error_bound"] + 1e-9
            assert row["error_bound"] <= EPSILON[case] * (1 + 1e-9)
            assert row["tasks_covered"] == len(CASES[case]().tasks)


if __name__ == "__main__":
    record = {"highspy": version("highspy"), **{case: rows_of(case) for case in CASES}}
    Path(__file__).with_name("recorded_rows.json").write_text(json.dumps(record, indent=1) + "\n")
