"""A study of trials that sleep, or do nothing: what is left is the runner's own time."""

from __future__ import annotations

import time
from typing import Any

from workbench.studies.study import Analysis, Parameter, Params, Record, Size, Study


def trial(params: Params, streams: Any) -> Record:  # noqa: ARG001 (a trial's signature)
    """Sleep."""
    if params["milliseconds"]:
        time.sleep(params["milliseconds"] / 1000)
    return {"slept": params["milliseconds"]}


_SIZE = Size(({},), 1)
STUDY = Study(
    name="sleeping",
    title="Trials that sleep",
    source="none",
    parameters={"milliseconds": Parameter(float, 0.0, "how long, in milliseconds", least=0)},
    sizes={"smoke": _SIZE, "small": _SIZE, "paper": _SIZE},
    trial=trial,
    analyse=lambda table: Analysis(findings=(f"{len(table)} trials",)),
)
