"""A crowd of one's own, as a data set without files to download."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.base import Entry
from workbench.crowd import DATASETS, Dataset


def seven() -> tuple[pd.DataFrame, pd.Series]:
    """Labels `task, worker, label`, and gold by task; of files, by `pd.read_csv` and so on."""
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=60)
    skill = np.linspace(0.55, 0.95, 7)
    named = np.where(rng.random((60, 7)) < skill, true[:, None], 1 - true[:, None])
    task, worker = np.divmod(np.arange(60 * 7), 7)
    labels = pd.DataFrame({"task": task, "worker": worker, "label": named.ravel()}).astype(str)
    return labels, pd.Series(true.astype(str), index=np.arange(60).astype(str))


SEVEN = Dataset.own("seven", "Seven workers on 60 tasks", seven, note="made up")
DATASETS.register(Entry("seven", SEVEN, SEVEN.title, "an example"))
