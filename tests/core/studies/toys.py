"""A study whose trials do what they are told: measure, raise, sleep, die, hoard."""

from __future__ import annotations

import os
import signal
import time

import numpy as np

from workbench.studies.study import Analysis, Parameter, Size, Study, TrialEnded


def trial(params, streams):
    draw = np.random.default_rng(streams.instance).random()
    own = np.random.default_rng(streams.method(params["method"])).random()
    act = params["act"]
    if act == "sleep":
        time.sleep(params["seconds_asked"])
    elif act == "raise":
        raise ValueError("asked to fail")
    elif act == "infeasible":
        raise TrialEnded("infeasible", "nobody can", {"bound": 1.5})
    elif act == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif act == "hoard":
        hoard = [bytearray(2**24) for _ in range(256)]
        return {"drawn": draw, "own": own, "hoarded": len(hoard)}
    elif act == "nan":
        return {"drawn": draw, "own": float("nan")}
    return {"drawn": draw, "own": own, "x_squared": params["x"] ** 2}


def analyse(table):
    ok = table[table["status"] == "ok"]
    means = ok.groupby("x", as_index=False)["drawn"].mean()
    return Analysis(findings=(f"{len(ok)} trials",), tables={"Mean draw": means})


STUDY = Study(
    name="toy",
    title="Toy",
    source="none",
    parameters={
        "x": Parameter(int, 0, "a number", least=0),
        "act": Parameter(
            str,
            "measure",
            "what to do",
            choices=("measure", "sleep", "raise", "infeasible", "die", "hoard", "nan"),
        ),
        "method": Parameter(str, "a", "a method", choices=("a", "b"), paired=True),
        "seconds_asked": Parameter(float, 0.05, "how long to sleep, seconds", least=0),
        "flag": Parameter(str, "", "file that says it has died before"),
    },
    sizes={
        "smoke": Size(({"x": [0, 1]},), 2),
        "small": Size(({"x": [0, 1, 2], "method": ["a", "b"]},), 5),
        "paper": Size(({"x": list(range(10)), "method": ["a", "b"]},), 20),
    },
    trial=trial,
    analyse=analyse,
)
