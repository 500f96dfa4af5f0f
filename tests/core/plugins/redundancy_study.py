"""A study of one's own: how often the majority of k labels is right."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.studies import Analysis, Parameter, Params, Record, Size, Streams, Study

SWEEP = {"labels": [1, 3, 9]}


def trial(params: Params, streams: Streams) -> Record:
    """Let k workers of one skill label 200 tasks, and count those that most of them get right."""
    rng = np.random.default_rng(streams.instance)
    right = rng.random((200, params["labels"])) < params["skill"]
    return {"accuracy": float((right.mean(axis=1) > 0.5).mean())}


def analyse(rows: pd.DataFrame) -> Analysis:
    """Mean accuracy by number of labels, of the trials that ended well."""
    ok = rows[rows["status"] == "ok"]
    findings = (f"{len(ok)} of {len(rows)} trials ended ok.",)
    table = ok.groupby("labels", as_index=False)["accuracy"].mean() if len(ok) else ok
    return Analysis(findings, {"Accuracy by labels per task": table})


STUDY = Study(
    name="redundancy",
    title="How often the majority of k labels is right",
    source="an example",
    parameters={
        "labels": Parameter(int, 3, "labels per task k", least=1),
        "skill": Parameter(float, 0.7, "skill of every worker", least=0.0, most=1.0),
    },
    sizes={"smoke": Size((SWEEP,), 2), "small": Size((SWEEP,), 20), "paper": Size((SWEEP,), 200)},
    trial=trial,
    analyse=analyse,
)
