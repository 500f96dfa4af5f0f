"""`convert`: labels from any form to any other that is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pandas as pd

from workbench.api import inputs
from workbench.api.result import Result, facts
from workbench.base.errors import InputError
from workbench.crowd import formats
from workbench.crowd.formats import CodedLabels
from workbench.crowd.kinds import Kind


@dataclass(frozen=True, eq=False, repr=False)
class Converted(Result):
    """Labels in another form.

    Attributes
    ----------
    to
        The form, a name of `workbench.crowd.formats.FORMATS`.
    content
        The text of the file.
    export
        The labels that are in it, and their gold.
    dropped
        What the labels had and the form has no place for: "gold", "time", "cost", "status",
        "model".
    """

    to: str
    content: str
    export: CodedLabels
    dropped: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Give the labels: `task, worker, label` and what else is known of each."""
        return self.export.labels

    def details(self) -> str:
        """Give the text that `workbench convert` prints."""
        return facts([(name, str(value)) for name, value in self._payload().items() if value])

    def _payload(self) -> Mapping[str, Any]:
        labels, gold = self.export.labels, self.export.gold
        counts = {f"{name}s": labels[name].nunique() for name in ("task", "worker")}
        truths = 0 if gold is None else len(gold)
        lost = ", ".join(self.dropped)
        return {"to": self.to, **counts, "labels": len(labels), "gold": truths, "dropped": lost}


def convert(
    labels: inputs.LabelTable,
    to: str,
    *,
    gold: inputs.Truth | None = None,
    pseudonyms: bool = False,
    seed: int = 0,
) -> Converted:
    """Write labels in another format.

    Parameters
    ----------
    labels
        A frame, file or folder of any known form.
    to
        Target format.

        "labels", "crowd-kit", "label-studio", "mturk", "toloka" and others that docs/formats.md
        lists.
    gold
        True labels: columns `task`, `gold`. [default: gold in the labels, if any]
    pseudonyms
        Call workers w1, w2, …, in random order.

        Who is who is kept nowhere.
    seed
        Seed of that order.

    Raises
    ------
    InputError
        The labels cannot be read, the form is unknown or only read, or it has no place for a
        second label of a worker to a task.

    Examples
    --------
    >>> import pandas as pd
    >>> import workbench as wb
    >>> labels = pd.DataFrame({"task": ["a", "b"], "worker": ["ann", "bob"], "label": ["x", "y"]})
    >>> print(wb.convert(labels, "wide", gold={"a": "x"}).content)
    task,ann,bob,gold
    a,x,,x
    b,,y,
    <BLANKLINE>
    """
    if to not in formats.FORMATS:
        raise InputError(f"to is {to!r}: there are {', '.join(formats.written())}")
    source = inputs.given(labels, kinds=get_args(Kind))
    true = source.gold
    if gold is not None:
        true, source = inputs.truth(gold, source)
    export = source.coded
    assert export is not None
    if pseudonyms:
        order = np.random.default_rng(seed).permutation(len(export.votes.workers)) + 1
        workers = np.array([f"w{k}" for k in order.tolist()], dtype=object)
        export = replace(export, votes=replace(export.votes, workers=workers))
    carries = formats.FORMATS[to].call.carries
    has = [name for name in ("time", "cost", "status", "model") if name in export.more]
    has += ["gold"] * (true is not None)
    dropped = tuple(name for name in has if name not in carries)
    carried = {name: column for name, column in export.more.items() if name not in dropped}
    export = replace(export, more=carried, gold=None if "gold" in dropped else true)
    return Converted(to, formats.write(export, to), export, dropped)
