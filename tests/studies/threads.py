"""A study whose records depend on how many threads add up a product."""

from __future__ import annotations

import numpy as np

from workbench.studies.study import Analysis, Parameter, Size, Study


def trial(params, streams):
    from threadpoolctl import threadpool_info

    draw = np.random.default_rng(streams.instance).random(params["n"])
    threads = [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
    return {"product": float(draw @ draw), "threads": max(threads, default=1)}


SIZE = Size(({},), 3)
STUDY = Study(
    "threads", "Threads", "none", {"n": Parameter(int, 100_000, "numbers")},
    {"smoke": SIZE, "small": SIZE, "paper": SIZE}, trial, lambda table: Analysis(),
)  # fmt: skip
