from __future__ import annotations

import pandas as pd
import pytest

from tests.core.api.crowds import WORKERS, crowd


@pytest.fixture
def labels():
    return crowd("q{}".format, "w{}".format, "ny".__getitem__)[0]


@pytest.fixture
def gold():
    return crowd("q{}".format, "w{}".format, "ny".__getitem__)[1]


@pytest.fixture
def files(tmp_path, monkeypatch, labels, gold):
    """The same as files, in the working folder."""
    monkeypatch.chdir(tmp_path)
    labels.to_csv("labels.csv", index=False)
    gold.reset_index().to_csv("gold.csv", index=False)
    prices = {"worker": labels["worker"].unique(), "cost": [1.0, 2.0] * (WORKERS // 2)}
    pd.DataFrame(prices).to_csv("costs.csv", index=False)
    return tmp_path
