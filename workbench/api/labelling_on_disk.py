"""`aggregate` of labels too many for memory: from Parquet files to a file of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.accuracy.believed import ErrorRange, error_range, untold_in_parts
from workbench.aggregation.label_stored import MODELS, LabelledOnDisk, check_method, label_stored
from workbench.aggregation.labelling import LabelOptions
from workbench.api.inputs import LabelFile, LabelTable
from workbench.api.result import Result, facts, listed, names, page, percent, picked
from workbench.base.checks import type_name
from workbench.base.errors import InputError
from workbench.base.text import Columns, answered
from workbench.crowd.formats import ReadOptions
from workbench.crowd.reading import path_name
from workbench.crowd.stored import read_answers, stored_labels
from workbench.crowd.tables import Duplicates

WORKERS: Columns = {
    "worker": ("worker", ""),
    "labels": ("labels", "d"),
    "agreement": ("agreement", ".3f"),
    "skill": ("skill", ".3f"),
}
"""What is printed of each worker."""
SHOWN = 5
"""Workers that are printed."""
KNOWN = (
    "Tasks of known answer can tell: aggregate a part with twenty or more of these, without "
    "`save`, and give them as `gold`."
)


@dataclass(frozen=True, eq=False, repr=False)
class LabelsOnDisk(Result):
    """One label for each task, in a Parquet file.

    Attributes
    ----------
    name, seed
        What the labels are called; the seed of draws among ties.
    found
        What is known of them, the workers included.
    saved
        The file: `task, label, score, confidence, tied, unlabelled`.
    untold
        As `Labels` has it: why nothing can be believed of a model's answers, whose confidences are
        then missing.
    """

    name: str
    seed: int
    found: LabelledOnDisk
    saved: Path
    untold: str | None = None

    @property
    def believed_range(self) -> ErrorRange | None:
        """Errors made on recorded crowds where a model believed the like; None where untold."""
        believed = self.found.believed
        return None if believed is None else error_range(believed)

    @property
    def workers(self) -> pd.DataFrame:
        """One row a worker: `worker, labels, agreement` and, of a model, `skill`."""
        return self.found.workers

    def to_frame(self) -> pd.DataFrame:
        """Read the file, all of it."""
        return read_answers(self.saved)

    def verdict(self) -> list[str]:
        """Say how many tasks are answered, what may be believed of that, and where they are."""
        result = self.found
        sentences = [
            f"{answered(result.tasks, result.votes, len(result.workers))}, by {result.method}."
        ]
        if self.untold is not None:
            sentences.append(f"{self.untold} {KNOWN}")
        elif self.believed_range is not None:
            sentences.append(f"{self.believed_range.sentence()} {KNOWN}")
        else:
            sentences.append(f"How many are wrong is not known. {KNOWN}")
        return [*sentences, f"The answers are in {path_name(self.saved)}."]

    def brief(self) -> str:
        """Lay out the workers, those with most labels first."""
        result = self.found
        columns = {name: head for name, head in WORKERS.items() if name in result.workers}
        most = result.workers.sort_values("labels", ascending=False, kind="stable")
        return listed(most, columns, SHOWN, " workers, in `workers`")

    def details(self) -> str:
        """Give all that is known: ties, the model's steps, workers, notes."""
        result = self.found
        title = (
            f"{self.name}: {result.tasks} tasks, {result.votes} labels by {len(result.workers)} "
            f"workers, classes {names(result.classes, 8)}; {result.method}, seed {self.seed}"
        )
        rows = [("ties", str(result.ties)), ("saved", path_name(self.saved))]
        if result.variant:
            steps = "" if result.converged else ", not converged"
            rows = [
                ("variant", result.variant),
                ("iterations", f"{result.iterations}{steps}"),
                *rows,
            ]
        if result.believed is not None:
            rows.append(("believed", f"{percent(result.believed)} wrong, by the model itself"))
        return page(title, self.brief(), facts(rows, 11), notes=result.notes)

    def _payload(self) -> dict[str, Any]:
        result = self.found
        return {
            **picked(result, "method", "variant", "votes", "tasks", "ties", "classes"),
            **picked(result, "iterations", "converged", "class_prior", "notes"),
            "workers": len(result.workers),
            "believed_error": result.believed,
            "believed_range": self.believed_range
            and [self.believed_range.low, self.believed_range.high],
            "untold": self.untold,
            "saved": str(self.saved),
            "seed": self.seed,
        }


def aggregate_on_disk(
    labels: LabelTable,
    save: str | Path,
    method: str,
    options: LabelOptions,
    refused: dict[str, Any],
    duplicates: Duplicates | None,
    *,
    seed: int,
    progress: Callable[[str], object] | None,
) -> LabelsOnDisk:
    """Do as `aggregate` does with `save`; `refused` are parameters that do not go with it."""
    for name, value in refused.items():
        if value is not None:
            raise InputError(
                f"`{name}` does not go with `save`, which takes labels alone: leave one of them out"
            )
    check_method(method, options)
    file = labels if isinstance(labels, LabelFile) else LabelFile("labels", ReadOptions())
    path = file.path if isinstance(labels, LabelFile) else labels
    if not isinstance(path, (str, Path)):
        raise InputError(f"labels: {type_name(path)}; `save` takes the path of Parquet files")
    saved = Path(save)
    if saved.suffix != ".parquet" or saved.is_dir() or not saved.parent.is_dir():
        raise InputError(
            f"save {path_name(saved)}: give a path that ends in .parquet, in a folder that is there"
        )
    if file.options.question is not None or file.options.format not in ("auto", "labels"):
        raise InputError(
            "`save` takes Parquet with columns task, worker, label: leave `format` "
            "and `question` out"
        )
    reading = replace(file.options, duplicates=duplicates) if duplicates else file.options
    tell = progress or str
    with stored_labels(path, reading, tell) as stored:
        why = untold_in_parts(stored.parts()) if method in MODELS else None
        result = label_stored(
            stored, saved, method, options, confident=why is None, seed=seed, tell=tell
        )
    return LabelsOnDisk(Path(path).name, seed, result, saved, why)
