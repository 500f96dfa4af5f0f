"""A study of one's own: how often the majority of k labels is right."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.studies.study import Analysis, Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams


def trial(params: Params, streams: Streams) -> Record:
    """Let k workers of one skill label tasks, and count the tasks that most of them get right."""
    rng = np.random.default_rng(streams.instance)
    right = rng.random((params["tasks"], params["labels"])) < params["skill"]
    return {"accuracy": float((right.mean(axis=1) > 0.5).mean())}


def analyse(rows: pd.DataFrame) -> Analysis:
    """Mean accuracy by number of labels."""
    ok = rows[rows["status"] == "ok"]
    findings = [f"{len(ok)} of {len(rows)} trials ended ok."]
    if ok.empty:
        return Analysis(tuple(findings))
    table = ok.groupby("labels", as_index=False)["accuracy"].mean()
    best = table.loc[table["accuracy"].idxmax()]
    findings.append(f"{best['labels']:.0f} labels a task are right most often.")
    return Analysis(tuple(findings), {"Accuracy by labels a task": table})


STUDY = Study(
    name="redundancy",
    title="How often the majority of k labels is right",
    source="an example",
    parameters={
        "labels": Parameter(int, 3, "labels a task k", least=1),
        "tasks": Parameter(int, 200, "tasks", least=1),
        "skill": Parameter(float, 0.7, "skill of every worker", least=0.0, most=1.0),
    },
    sizes={
        "smoke": Size(({"labels": [1, 3, 5]},), 2),
        "small": Size(({"labels": [1, 3, 5, 9]},), 20),
        "paper": Size(({"labels": [1, 3, 5, 9, 15]},), 200),
    },
    trial=trial,
    analyse=analyse,
)
