"""Forms of label files: time a row at 10⁵ rows beside that at 10⁴.

A row is what a file of the form has one of a label, and three labels where it has one of a task.
"""

from __future__ import annotations

import gc
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import BenchSize, Sample

if TYPE_CHECKING:
    import pandas as pd

ROWS = (10_000, 100_000)
LABELS = 3
"""Labels a task."""
CLASSES = ("yes", "no")


def read_pace(size: BenchSize) -> Sample:
    """Microseconds a row of each form, many rows beside few; the note names the worst form."""
    few, many = ROWS if size.full else (20, 200)
    ratio: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for form in measured():
            pace = [read_seconds(form, rows, size.few, Path(folder)) / rows for rows in (few, many)]
            ratio[form] = 1e6 * pace[1], 1e6 * pace[0]
    worst = max(ratio, key=lambda form: ratio[form][0] / ratio[form][1])
    each = ", ".join(f"{form} {a:.0f} and {b:.0f} µs" for form, (a, b) in ratio.items())
    return Sample(
        [ratio[worst][0]], [ratio[worst][1]], "µs", f"worst of {len(ratio)}, {worst}: {each}"
    )


def read_seconds(form: str, rows: int, repeats: int, folder: Path) -> float:
    """Processor seconds of reading a file of a form, the median of some runs."""
    from workbench.crowd.formats import read_export

    path = write_form(form, rows, folder)
    seconds = []
    for _ in range(repeats):
        gc.collect()
        started = time.process_time()
        export = read_export(path)
        seconds.append(time.process_time() - started)
        assert len(export.labels) == labels_of(form, rows)
    return statistics.median(seconds)


def measured() -> list[str]:
    """Name the forms that a file can be written of: by the workbench, or here."""
    from workbench.crowd.formats import FORMATS, written

    can = {*written(), *WRITTEN}
    return [form for form in FORMATS if form in can]


def labels_of(form: str, rows: int) -> int:
    """How many labels so many rows of a form hold."""
    return LABELS * rows if form in BY_TASK else rows


def write_form(form: str, rows: int, folder: Path) -> Path:
    """Write a file of a form, and give its path."""
    frame = _crowd(rows if form in BY_TASK else -(-rows // LABELS))
    if form == "doccano":  # a file is of one worker
        frame = _crowd(rows).drop_duplicates("task")
    frame = frame.iloc[: labels_of(form, rows)]
    text = WRITTEN[form](frame) if form in WRITTEN else _by_workbench(form, frame)
    path = folder / f"{form}{ENDINGS.get(form, '.json' if text[:1] in '[{' else '.csv')}"
    path.write_text(text, encoding="utf-8")
    return path


def _crowd(tasks: int) -> pd.DataFrame:
    """Three workers of ten label each task."""
    import numpy as np
    import pandas as pd

    rng = np.random.Generator(np.random.PCG64(0))
    task = np.repeat(np.arange(tasks), LABELS)
    worker = (task + np.tile(np.arange(LABELS), tasks)) % 10
    label = np.array(CLASSES, dtype=object)[rng.integers(0, len(CLASSES), len(task))]
    frame = pd.DataFrame({"task": task, "worker": worker, "label": label})
    frame["task"], frame["worker"] = (
        "t" + frame["task"].astype(str),
        "w" + frame["worker"].astype(str),
    )
    return frame


def _by_workbench(form: str, frame: pd.DataFrame) -> str:
    from workbench.crowd.formats import read_export, write

    return write(read_export(frame), form)


def _triples(frame: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    return zip(frame["task"], frame["worker"], frame["label"], strict=True)


def _doccano(frame: pd.DataFrame) -> str:
    records = ({"id": task, "text": "x", "label": [label]} for task, _, label in _triples(frame))
    return "".join(json.dumps(record) + "\n" for record in records)


def _potato(frame: pd.DataFrame) -> str:
    return "".join(
        json.dumps(
            {"user_id": worker, "instance_id": task, "label_annotations": {"q": {label: label}}}
        )
        + "\n"
        for task, worker, label in _triples(frame)
    )


def _sagemaker(frame: pd.DataFrame) -> str:
    def given(worker: str, label: str) -> dict[str, object]:
        answers = json.dumps({"q": {"label": label}})
        return {"workerId": worker, "annotationData": {"content": answers}}

    return "".join(
        json.dumps(
            {
                "source": task,
                "job": {
                    "annotationsFromAllWorkers": [
                        given(worker, label) for _, worker, label in _triples(rows)
                    ]
                },
            }
        )
        + "\n"
        for task, rows in frame.groupby("task", sort=False)
    )


def _headerless(frame: pd.DataFrame) -> str:
    return frame.to_csv(index=False, header=False, sep="\t")


def _wide(frame: pd.DataFrame) -> str:
    """A column for each of three places: a task's workers are told by their place."""
    frame = frame.assign(worker=frame.groupby("task", sort=False).cumcount().map("w{}".format))
    table = frame.pivot_table(index="task", columns="worker", values="label", aggfunc="first")
    return table.to_csv()


def _figure_eight(frame: pd.DataFrame) -> str:
    names = {"task": "_unit_id", "worker": "_worker_id"}
    return frame.rename(columns=names).assign(_tainted="false").to_csv(index=False)


def _zooniverse(frame: pd.DataFrame) -> str:
    given = [json.dumps([{"task": "T0", "value": label}]) for label in frame["label"]]
    names = {"task": "subject_ids", "worker": "user_name"}
    table = frame.drop(columns="label").rename(columns=names)
    return table.assign(classification_id=range(len(table)), annotations=given).to_csv(index=False)


def _battles(frame: pd.DataFrame) -> str:
    winner = frame["label"].map({"yes": "model_a", "no": "model_b"})
    names = {"task": "question_id", "worker": "judge"}
    table = frame.drop(columns="label").rename(columns=names)
    return table.assign(model_a="m", model_b="n", winner=winner).to_csv(index=False)


def _parallel(frame: pd.DataFrame) -> str:
    return "".join(
        json.dumps(
            {
                "id": task,
                "annotations": rows["label"].tolist(),
                "annotators": rows["worker"].tolist(),
            }
        )
        + "\n"
        for task, rows in frame.groupby("task", sort=False)
    )


def _numbered(frame: pd.DataFrame) -> str:
    rows = []
    for task, own in frame.groupby("task", sort=False):
        pairs = zip(own["worker"], own["label"], strict=True)
        cells = {"task": task}
        for k, (worker, label) in enumerate(pairs, 1):
            cells |= {f"annotator_{k}": worker, f"answer_{k}": label}
        rows.append(cells)
    import pandas as pd

    return pd.DataFrame(rows).to_csv(index=False)


def _one_hot(frame: pd.DataFrame) -> str:
    classes = {name: (frame["label"] == name).astype(int) for name in CLASSES}
    return frame.drop(columns="label").assign(**classes).to_csv(index=False)


def _matrix(frame: pd.DataFrame) -> str:
    table = frame.assign(place=frame.groupby("task", sort=False).cumcount())
    wide = table.pivot_table(index="task", columns="place", values="label", aggfunc="first")
    return wide.to_csv(index=False, header=False)


BY_TASK = (
    "label-studio",
    "argilla",
    "sagemaker",
    "peerannot",
    "wide",
    "numbered",
    "parallel",
    "matrix",
)
"""Forms with a row, or a record, a task."""
ENDINGS: Mapping[str, str] = {
    **dict.fromkeys(("prodigy", "doccano", "potato", "parallel"), ".jsonl"),
    "toloka": ".tsv",
    "sagemaker": ".manifest",
    "headerless": ".txt",
}
"""How the names of files end that are neither one JSON value nor CSV."""
WRITTEN: Mapping[str, Callable[[pd.DataFrame], str]] = {
    "doccano": _doccano,
    "potato": _potato,
    "sagemaker": _sagemaker,
    "headerless": _headerless,
    "wide": _wide,
    "figure-eight": _figure_eight,
    "zooniverse": _zooniverse,
    "battles": _battles,
    "numbered": _numbered,
    "parallel": _parallel,
    "one-hot": _one_hot,
    "matrix": _matrix,
}
"""Forms that the workbench does not write, or not so that three workers of ten label a task."""
