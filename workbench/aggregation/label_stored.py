"""From labels on disk to one label a task, also on disk: majority, and Dawid and Skene's models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workbench.aggregation import dawid_skene
from workbench.aggregation.labelling import KnownBeforehand, LabelOptions, given_options, notes
from workbench.aggregation.voting import Aggregate, majority
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.stored import StoredLabels

MODELS: Mapping[str, Callable[..., Any]] = {
    "dawid-skene": dawid_skene.in_parts,
    "dawid-skene-smoothed": partial(dawid_skene.in_parts, smoothing=dawid_skene.SMOOTHED),
    "one-coin": partial(dawid_skene.in_parts, confusion="one-coin"),
}
"""Models that take labels in parts."""
LARGEST = 2**25
"""Numbers in the confusion matrices of all workers: 256 MB, and some tables are made of it."""


@dataclass(frozen=True, eq=False)
class LabelledOnDisk:
    """What is known of labels that were given to the tasks of a file.

    Attributes
    ----------
    tasks, votes, ties
        How many.
    workers, classes, method, variant, iterations, converged, class_prior, notes
        As `label_tasks.Labelled`.
    believed
        Share of wrong answers by the model itself: one less its mean confidence. None of a
        majority, and of answers without confidences.
    """

    tasks: int
    votes: int
    ties: int
    workers: pd.DataFrame
    classes: list[Any]
    method: str
    variant: str | None
    iterations: int | None
    converged: bool | None
    class_prior: Any
    notes: tuple[str, ...]
    believed: float | None = None


def label_stored(
    labels: StoredLabels,
    path: Path,
    method: str,
    options: LabelOptions,
    *,
    confident: bool = True,
    seed: Seed,
    tell: Callable[[str], object] = str,
) -> LabelledOnDisk:
    """Give every task one label, as `label_tasks` does, and write them to a Parquet file.

    Parameters
    ----------
    labels
        On disk; they are gone through once (majority), or once a step.
    path
        Columns `task, label, score, confidence, tied, unlabelled`, tasks by first appearance.
    method, options
        "majority", or one of `MODELS`.
    confident
        Whether answers get confidences; otherwise these are NaN.

    Raises
    ------
    InputError
        Another method, an option that it does not look at, or confusion matrices beyond memory.
    """
    settings = check_method(method, options)
    rng = stream(seed, "ties")
    info: dict[str, Any] = {}
    m, L = len(labels.workers), len(labels.classes)
    if method == "majority":
        aggregates: Iterator[Aggregate] = (majority(votes, seed=rng) for votes in labels.parts())
    elif m * L * L > LARGEST:
        raise InputError(
            f"{labels.name}: {L} classes and {m} workers: confusion matrices would take "
            f"{8e-9 * m * L * L:.1f} GB, several times; take a majority"
        )
    else:
        info, aggregates = MODELS[method](labels.parts, seed=rng, tell=tell, **settings)
    count, agreeing, ties, sure = np.zeros(m), np.zeros(m), 0, 0.0

    def answers() -> Iterator[pd.DataFrame]:
        nonlocal count, agreeing, ties, sure
        for votes, part in zip(labels.parts(), aggregates, strict=True):
            count += np.bincount(votes.worker, minlength=m)
            agreed = part.label[votes.task] == votes.label
            agreeing += np.bincount(votes.worker, agreed, minlength=m)
            ties += int(part.tied.sum())
            confidence = part.info["confidence"] if confident else np.full(len(part.label), np.nan)
            sure += float(confidence.sum())
            yield pd.DataFrame(
                {
                    "task": votes.tasks,
                    "label": part.label,
                    "score": part.score.astype(np.float64),
                    "confidence": confidence,
                    "tied": part.tied,
                    "unlabelled": part.unlabelled,
                }
            )
            tell(f"{votes.tasks[-1] + 1:,} tasks labelled")

    labels.save(path, answers())
    workers = pd.DataFrame(
        {"worker": labels.workers, "labels": count.astype(np.int64), "agreement": agreeing / count}
    )
    return LabelledOnDisk(
        len(labels.start) - 1,
        len(labels),
        ties,
        workers.assign(**{name: info[name] for name in ("skill",) if name in info}),
        labels.classes.tolist(),
        method,
        info.get("variant"),
        info.get("iterations"),
        info.get("converged"),
        info.get("class_prior"),
        (*labels.notes, *notes(ties, info, method, KnownBeforehand(), seed)),
        1.0 - sure / (len(labels.start) - 1) if confident and method in MODELS else None,
    )


def check_method(method: str, options: LabelOptions) -> dict[str, Any]:
    """Give the options that are set; refuse a method that does not take labels from disk."""
    if method != "majority" and method not in MODELS:
        raise InputError(
            f"`save` is for majority, {', '.join(MODELS)}, not {method}: leave it out, or take one "
            "of these"
        )
    return given_options(method, options)
