"""Footnote 1: gold tasks made by assigning a few tasks to many workers.

Each of s tasks gets the labels of k workers, and the majority's label, ties drawn fairly, serves as
its true one: nothing is known of skills yet. Other workers of the same kind answer the same tasks
and are judged by it, beside what the true labels would have said. Lemma 2's t, for s tasks and δ,
is how far an estimate may be off.

Crowds: `uniform`, all 0.6414; `spammer-hammer`, half 0.5, half 0.7; `specialists`, a third 0.7, the
others 0.5; `adverse`, uniform on [0.2, 0.7], more often wrong than right.

Source: Ho, Jabbari, Vaughan (2013), footnote 1, Section 3 and Lemma 2.
"""

from __future__ import annotations

import numpy as np

from workbench.base.arrays import FloatArray
from workbench.crowd.skills import hoeffding_radius
from workbench.studies.measures import DeclaredAnalysis, Drawn, Grouped, Part
from workbench.studies.study import Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams

CROWDS = ("uniform", "spammer-hammer", "specialists", "adverse")


def trial(params: Params, streams: Streams) -> Record:
    """Make gold by majority and judge workers by it, and by the truth."""
    rng = np.random.default_rng(streams.instance)
    s, k, m = params["gold"], params["labels"], params["workers"]
    makers, judged = _skill(params["crowd"], m, rng), _skill(params["crowd"], m, rng)
    asked = rng.random((s, m)).argsort(axis=1) < k
    right = ((rng.random((s, m)) < makers) & asked).sum(axis=1)
    made_right = 2 * right + rng.choice([-0.5, 0.5], s) > min(k, m)
    correct = rng.random((s, m)) < judged
    radius = float(hoeffding_radius(s, params["delta"]))
    record: dict[str, float | int] = {
        "wrong": int((~made_right).sum()),
        "judged": m,
        "radius": radius,
    }
    for name, gold in (("made", made_right), ("true", np.ones(s, dtype=bool))):
        off = np.abs((correct == gold[:, None]).mean(axis=0) - judged)
        record[f"missed_{name}"] = int((off > radius).sum())
        record[f"off_{name}"] = float(off.mean())
    return record


def _skill(crowd: str, size: int, rng: np.random.Generator) -> FloatArray:
    if crowd == "adverse":
        return rng.uniform(0.2, 0.7, size)
    skilled = {"uniform": 1.0, "spammer-hammer": 0.5, "specialists": 1 / 3}[crowd]
    skill = np.where(np.arange(size) < round(skilled * size), 0.7, 0.5)
    return np.full(size, 0.6414) if crowd == "uniform" else rng.permutation(skill)


STUDY = Study(
    name="made-gold",
    title="Gold tasks made of many workers' labels",
    source="Ho, Jabbari, Vaughan (2013), footnote 1",
    parameters={
        "crowd": Parameter(str, "uniform", "how skills are drawn", choices=CROWDS),
        "workers": Parameter(int, 300, "workers asked, and as many judged", least=2, most=5000),
        "labels": Parameter(int, 300, "k, labels that make a gold task", least=1, most=5000),
        "gold": Parameter(int, 20, "s, gold tasks made", least=1, most=100_000),
        "delta": Parameter(float, 0.05, "δ of Lemma 2", least=1e-4, most=0.9),
    },
    sizes={
        "smoke": Size(({"crowd": list(CROWDS), "labels": [5, 300], "gold": [20, 1000]},), 2),
        "small": Size(({"crowd": list(CROWDS), "labels": [5, 25, 300], "gold": [20, 1000]},), 10),
        "paper": Size(
            ({"crowd": list(CROWDS), "labels": [5, 25, 100, 300], "gold": [10, 20, 200, 1000]},), 50
        ),
    },
    trial=trial,
    analyse=DeclaredAnalysis(
        Part(
            "Gold labels that are wrong, and estimates beyond Lemma 2's t",
            Grouped(
                ("crowd", "gold", "labels"),
                {
                    "trials": ("wrong", "size"),
                    "wrong": ("wrong_share", "mean"),
                    "off_made": "mean",
                    "off_true": "mean",
                    "beyond_made": "mean",
                    "beyond_true": "mean",
                },
            ),
            (
                "Of the gold labels made {wrong_share.mean:1 %} are wrong on average, "
                "{beyond_made.mean:1 %} of the estimates beyond t by them, {beyond_true.mean:1 %} by "
                "true ones.",
            ),
            (
                Drawn(
                    "wrong",
                    "Share of made gold labels that are wrong",
                    "labels",
                    "wrong",
                    ("labels that make a gold task", "share wrong"),
                    {"series": "crowd", "panel": "gold", "log_x": True},
                ),
            ),
        ),
        derived={
            "wrong_share": lambda ok: ok["wrong"] / ok["gold"],
            "beyond_made": lambda ok: ok["missed_made"] / ok["judged"],
            "beyond_true": lambda ok: ok["missed_true"] / ok["judged"],
        },
    ),
)
