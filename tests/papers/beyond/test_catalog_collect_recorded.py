"""The replay of policies on recorded crowds: its standard error, and what its tables say."""

import numpy as np
import pandas as pd
import pytest

from tests.papers.catalog_runs import complete, smoke
from workbench.collection import POLICIES
from workbench.collection.by_task import ByTask
from workbench.papers.beyond import collect_recorded as study
from workbench.papers.beyond.collect_recorded import STEPS, by_crowd, crossed_error


def test_the_standard_error_is_of_orders_and_tasks():
    rng = np.random.default_rng(0)
    means, squares = [], []
    for _ in range(600):
        rows, columns = rng.normal(0, 1, (6, 1)), rng.normal(0, 2, (1, 20))
        table = rows + columns + rng.normal(0, 3, (6, 20))
        means.append(table.mean())
        squares.append(crossed_error(table) ** 2)
        assert crossed_error(table) == pytest.approx(crossed_error(table.T))
    true = 1 / 6 + 4 / 20 + 9 / 120
    assert np.var(means) == pytest.approx(true, rel=0.15)
    assert np.mean(squares) == pytest.approx(true, rel=0.1)
    assert crossed_error(np.repeat(rng.normal(size=(8, 1)), 50, axis=1)) > 0


@pytest.mark.slow
def test_all_labels_are_the_same_whoever_buys_them():
    table = smoke("collect-recorded")
    bought = table[table["epsilon"].isna()]
    assert set(bought["policy"]) == set(study.DRAWN)
    by_one_model = [issubclass(POLICIES[name].call, ByTask) for name in bought["policy"]]
    bought = bought[by_one_model]
    assert bought[f"error_{STEPS}"].nunique() == 1
    assert (bought[f"more_{STEPS}"] == 0).all()
    assert (bought["budget_half"] == bought["labels"] // 2).all()
    own = bought[bought["policy"] == "fixed"].iloc[0]
    assert all(own[f"more_{step}"] == 0 for step in range(STEPS))


def test_what_counts_as_good_enough():
    """A policy is compared at budgets from three labels a task, and at half of all labels."""
    row = complete("collect-recorded", policy="margin") | {"labels": 1000, "tasks": 100}
    row["scored"] = 400
    for at in range(STEPS + 1):
        more = -0.03 if at < 3 else 0.02 if at == 3 else 0.005
        row |= {f"budget_{at}": 300 + at, f"error_{at}": 0.2, f"more_{at}": more, f"se_{at}": 0.01}
    row |= {"budget_half": 500, "error_half": 0.21, "more_half": 1.0, "se_half": 0.0}
    close, far = (by_crowd(pd.DataFrame([row | {"error_half": half}])) for half in (0.219, 0.221))
    assert close["within"][0] == pytest.approx(11 / 12)
    assert close["wins"][0] == pytest.approx(3 / 12)
    assert close["gold_se"][0] == pytest.approx(0.02)
    assert close["enough"][0]
    assert not far["enough"][0]
