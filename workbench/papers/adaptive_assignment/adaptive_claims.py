"""What Ho, Jabbari, Vaughan (ICML 2013) claim."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workbench.papers.adaptive_assignment.adaptive_curves import at_equal_labels
from workbench.studies.chance import BEYOND, Gap, gap
from workbench.studies.claim import NotMeasured, only

CROWDS = ("one-type", "two-types")
"""Figure 1's two crowds, as its study names them."""
IDENTICAL = 0.02
"""Two errors closer than this count as almost identical."""


def _published(rows: pd.DataFrame) -> pd.DataFrame:
    """Trials at the paper's own size (Section 6)."""
    what = "trials at the paper's own settings"
    return only(rows, 8, what, tasks=1000, workers=300, gamma=0.3)


def _errors(table: pd.DataFrame, panel: str, gold: int) -> dict[object, pd.DataFrame]:
    """Errors at equal labels of a figure's trials as published, by the panel's values.

    Of message passing, those with the number of iterations that we settled on.
    """
    own = only(table, 0, "", capacity=200, gold=gold, iterations=10)
    equal = at_equal_labels(_published(own), panel)
    return {value: equal[equal[panel] == value] for value in equal[panel].unique()}


def _gap(errors: dict[object, pd.DataFrame], value: object, *methods: str) -> Gap:
    if value not in errors:
        raise NotMeasured(f"no trials of the crowd {value}")
    return gap(errors[value], *methods)


def _span(one: Gap) -> str:
    return f"{one.labels[0]:g} to {one.labels[-1]:g} labels a task"


def figure_1_passing(table: pd.DataFrame) -> dict[str, Any]:
    """Message passing in both crowds of Figure 1."""
    errors = _errors(table, "crowd", 20)
    one, two = (_gap(errors, crowd, "message passing") for crowd in CROWDS)
    apart = two.minus(one)
    alike = np.abs(apart.value) <= np.maximum(IDENTICAL, BEYOND * apart.se)
    most = int(np.argmax(np.abs(apart.value)))
    return {
        "where": _span(apart),
        "apart": apart.value,
        "most": (apart.value[most], apart.se[most]),
        "at": apart.labels[most],
        "alike": alike,
        "refuted": alike.mean() <= 0.5,
        "caveat": not alike.all(),
    }


def figure_1_adaptive(table: pd.DataFrame) -> dict[str, Any]:
    """Adaptive less message passing at equal labels, in both crowds of Figure 1."""
    errors = _errors(table, "crowd", 20)
    uniform, mixed = (_gap(errors, crowd, "adaptive", "message passing") for crowd in CROWDS)
    shares = len(uniform.above) / len(uniform.labels), len(mixed.below) / len(mixed.labels)
    crowds = {"uniform": uniform, "mixed": mixed}
    return {
        **{name: vars(found) for name, found in crowds.items()},
        **{f"{name}_where": _span(found) for name, found in crowds.items()},
        **{f"{name}_worse": found.above for name, found in crowds.items()},
        **{f"{name}_better": found.below for name, found in crowds.items()},
        "refuted": min(shares) == 0,
        "caveat": min(shares) <= 0.5 or len(uniform.below) or len(mixed.above),
    }


def figure_2_passing(table: pd.DataFrame) -> dict[str, Any]:
    """Message passing's error at equal labels as k grows."""
    errors = _errors(table, "types", 10)
    curves = [_gap(errors, k, "message passing") for k in (1, 2, 3)]
    first, second = curves[1].minus(curves[0]), curves[2].minus(curves[1])
    shares = len(first.above) / len(first.labels), len(second.above) / len(second.labels)
    return {
        "where": _span(first),
        "means": ", ".join(f"{curve.value.mean():.3f}" for curve in curves),
        "first": first.above,
        "second": second.above,
        "labels": first.labels,
        "refuted": max(shares) <= 0.5,
        "caveat": min(shares) <= 0.5,
    }


def figure_2_adaptive(table: pd.DataFrame) -> dict[str, Any]:
    """The adaptive algorithm's rise in error from k = 1 to 3, beside message passing's."""
    errors = _errors(table, "types", 10)
    own, other = (
        _gap(errors, 3, method).minus(_gap(errors, 1, method))
        for method in ("adaptive", "message passing")
    )
    slower, half = own.minus(other), own.minus(other, 0.5)
    return {
        "where": _span(slower),
        "own": own.value,
        "other": other.value[np.isin(other.labels, slower.labels)],
        "slower": slower.below,
        "half": half.below,
        "labels": slower.labels,
        "refuted": len(slower.below) <= 0.5 * len(slower.labels),
        "caveat": len(half.below) <= 0.5 * len(half.labels),
    }
