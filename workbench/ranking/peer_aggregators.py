"""Aggregators of crowd-kit, under its names, where it is installed (`pip install crowd-kit`).

They are given the long table `task, worker, label` and the settings that the package has where
nothing is said; its seeds are set to 0. What they cannot do they refuse: crowd-kit's KOS knows two
classes, its Wawa and ZeroBasedSkill want scikit-learn below 1.7.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import warnings

import numpy as np
import pandas as pd

from workbench.aggregation.voting import Aggregate
from workbench.base.errors import InputError
from workbench.crowd.votes import Votes

PREFIX = "crowd-kit "
NAMES = (
    "MajorityVote",
    "Wawa",
    "ZeroBasedSkill",
    "DawidSkene",
    "OneCoinDawidSkene",
    "GLAD",
    "MACE",
    "MMSR",
    "KOS",
)
SLOW = tuple(
    PREFIX + name for name in ("ZeroBasedSkill", "OneCoinDawidSkene", "GLAD", "MACE", "KOS")
)
"""Those that take a minute or more for one order of the labels of twelve crowds.

The leaderboard has them by a file of results alone.
"""


def at_hand() -> list[str]:
    """Names of crowd-kit's aggregators, none where it is not installed."""
    if importlib.util.find_spec("crowdkit") is None:
        return []
    return [PREFIX + name for name in NAMES]


def peer(name: str, votes: Votes) -> Aggregate:
    """Let one of crowd-kit's aggregators label.

    Parameters
    ----------
    name
        "crowd-kit DawidSkene".

    Raises
    ------
    InputError
        There is no such aggregator, the package is not installed, or it cannot do these labels.
    """
    kind = name.removeprefix(PREFIX)
    if kind not in NAMES or not name.startswith(PREFIX):
        raise InputError(f"no aggregator {name!r}: see workbench aggregate --help")
    if kind == "KOS" and len(votes.classes) != 2:
        raise InputError("KOS knows two classes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = importlib.import_module("crowdkit.aggregation")
        except ImportError:
            raise InputError(f"{name}: crowd-kit is not installed") from None
        try:
            make = getattr(module, kind)
            seeded = "random_state" in inspect.signature(make).parameters
            named = make(**({"random_state": 0} if seeded else {})).fit_predict(votes.table())
        except Exception as error:  # whatever a package of others raises is its refusal
            raise InputError(f"{name}: {type(error).__name__} {error}") from None
    code = pd.Index(votes.classes).get_indexer(pd.Index(named.reindex(votes.tasks)))
    unlabelled = code < 0
    label = np.where(unlabelled, 0, code)
    nothing = np.zeros(len(label), dtype=bool)
    return Aggregate(label, np.zeros(len(label)), nothing, unlabelled, name)
