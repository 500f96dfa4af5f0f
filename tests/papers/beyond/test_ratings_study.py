"""The study of ratings: what it draws, and that promises hold on tasks that did not teach."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

from crowd_papers.beyond.ratings import RECORDED, SIMULATED, STUDY, simulated, some_of_each, table
from workbench.base import stream
from workbench.studies.trial_streams import Streams

HERE = "WORKBENCH_DATA" in os.environ


def trials(crowd: str, each: int, splits: int) -> pd.DataFrame:
    """Records of a crowd, made in this process."""
    rows = []
    for split in range(splits):
        streams = Streams(split, (split,), f"{crowd} {each} {split}".encode())
        params = {"crowd": crowd, "each": each, "hired": 6}
        rows.append({"crowd": crowd, "each": each, **STUDY.trial(params, streams)})
    return pd.DataFrame(rows)


def test_so_many_ratings_of_each_task_are_drawn():
    ratings, _, _ = simulated(stream(1, "crowd"))
    few = some_of_each(ratings, 3, stream(2, "few"))
    assert (few.counts == 3).all()
    assert len(set(zip(few.task, few.worker, strict=True))) == len(few.value)
    other = some_of_each(ratings, 3, stream(3, "few"))
    assert not np.array_equal(few.worker, other.worker)
    assert len(some_of_each(ratings, 99, stream(2, "few")).value) == len(ratings.value)


@pytest.mark.parametrize("each", [pytest.param(4, marks=pytest.mark.slow), 10])
def test_promises_hold_where_the_model_is_true(each):
    found = table(trials(SIMULATED, each, 4)).iloc[0]
    assert 0.9 < found["ratio"] < 1.1
    assert 0.9 < found["hired_ratio"] < 1.1
    assert found["made"] < found["mean"]


@pytest.mark.slow
@pytest.mark.skipif(not HERE, reason="no recorded crowds at hand")
@pytest.mark.parametrize("crowd", RECORDED)
def test_promises_hold_on_recorded_crowds(crowd):
    found = table(trials(crowd, 4, 12)).iloc[0]
    assert 0.85 < found["ratio"] < 1.1
    assert found["promised_by_fit"] < found["promised"]
    if crowd == "joy":
        assert found["made"] < found["mean"] < found["median"]
