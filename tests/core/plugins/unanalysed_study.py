"""A study of one's own without an analysis: the usual one is made."""

from __future__ import annotations

import numpy as np

from workbench.studies import Parameter, Params, Record, Size, Streams, Study

SWEEP = {"method": ["plain", "worse"], "tasks": [10, 40]}


def trial(params: Params, streams: Streams) -> Record:
    """Err by luck, and by a quarter more where the method is the worse one."""
    luck = float(np.random.default_rng(streams.instance).normal())
    return {"error": luck + 0.25 * (params["method"] == "worse"), "half": luck / 2, "words": "said"}


STUDY = Study(
    name="unanalysed",
    title="Two methods, one of them worse",
    source="an example",
    parameters={
        "method": Parameter(str, "plain", "what is compared", paired=True),
        "tasks": Parameter(int, 10, "number of tasks n", least=1),
    },
    sizes={"smoke": Size((SWEEP,), 6), "small": Size((SWEEP,), 20), "paper": Size((SWEEP,), 99)},
    trial=trial,
)
