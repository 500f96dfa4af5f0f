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
import pandas as pd

from workbench.base import FloatArray
from workbench.crowd import hoeffding_radius
from workbench.studies import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Ruling,
    Size,
    Streams,
    Study,
    beyond_chance,
    claim,
    ended,
    ended_well,
    enough,
    percent,
)

CROWDS = ("uniform", "spammer-hammer", "specialists", "adverse")


def trial(params: Params, streams: Streams) -> Record:
    """Make gold by majority and judge workers by it, and by the truth."""
    rng = np.random.default_rng(streams.instance)
    s, k, m = params["gold"], params["labels"], params["workers"]
    makers, judged = _skill(params["crowd"], m, rng), _skill(params["crowd"], m, rng)
    answers = rng.random((s, m)).argsort(axis=1) < k
    right = ((rng.random((s, m)) < makers) & answers).sum(axis=1)
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


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Wrong gold labels, and estimates beyond Lemma 2's t by made and by true ones."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    rows = rows.assign(
        wrong_share=rows["wrong"] / rows["gold"],
        beyond_made=rows["missed_made"] / rows["judged"],
        beyond_true=rows["missed_true"] / rows["judged"],
    )
    groups = rows.groupby(["crowd", "gold", "labels"])
    table = groups.agg(
        trials=("wrong", "size"),
        wrong=("wrong_share", "mean"),
        off_made=("off_made", "mean"),
        off_true=("off_true", "mean"),
        beyond_made=("beyond_made", "mean"),
        beyond_true=("beyond_true", "mean"),
    ).reset_index()
    finding = (
        f"Of the gold labels made {percent(rows['wrong_share'].mean())} are wrong on average, "
        f"{percent(rows['beyond_made'].mean())} of the estimates by them are off by more than t, "
        f"{percent(rows['beyond_true'].mean())} by true ones."
    )
    chart = Chart(
        "wrong",
        f"Share of made gold labels that are wrong; {len(rows):,} trials.",
        table,
        x="labels",
        y="wrong",
        x_label="labels that make a gold task",
        y_label="share wrong",
        series="crowd",
        panel="gold",
        log_x=True,
    )
    tables = {"Gold labels that are wrong, and estimates beyond Lemma 2's t": table}
    return Analysis((ended(trials), finding), tables, (chart,))


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
        "smoke": Size(({"crowd": list(CROWDS), "labels": [5, 300], "gold": [20, 1000]},), 1),
        "small": Size(({"crowd": list(CROWDS), "labels": [5, 25, 300], "gold": [20, 1000]},), 10),
        "paper": Size(
            ({"crowd": list(CROWDS), "labels": [5, 25, 100, 300], "gold": [10, 20, 200, 1000]},), 50
        ),
    },
    trial=trial,
    analyse=analyse,
)

# What the paper claims.


@claim(
    id="adaptive-made-gold",
    source="footnote 1",
    statement="Gold tasks can be obtained by assigning a few tasks to many workers. (Read as: "
    "judged by the majority's label, skills are still within Lemma 2's t with probability 1 − δ.)",
)
def gold_by_majority(trials: pd.DataFrame) -> Ruling:
    """Estimates by gold labels that many workers made, beyond Lemma 2's t."""
    points = misses(trials)
    adverse = points["crowd"] == "adverse"
    many = points["labels"] == points["labels"].max()
    sound = enough(points[~adverse & many], 1, "settings with the most labels")
    few = enough(points[~adverse & ~many], 1, "settings with fewer labels")
    against = enough(points[adverse & many], 1, "settings of a crowd mostly wrong")
    figures = (
        f"Tasks labelled by {sound['labels'].max()} workers each, more often right than wrong: at "
        f"most {percent(sound['wrong'].max())} of the majority labels are wrong, and at most "
        f"{percent(sound['made'].max())} of the estimates are off by more than t (δ = "
        f"{percent(trials['delta'].iloc[0])}), {percent(sound['true'].max())} with true gold; "
        f"beyond chance above δ at {sound['failing'].sum()} of {len(sound)} settings. By fewer, "
        f"{few['labels'].min()} to {few['labels'].max()}: up to {percent(few['wrong'].max())} "
        f"wrong, up to {percent(few['made'].max())} beyond t, above δ at {few['failing'].sum()} of "
        f"{len(few)} settings."
    )
    if sound["failing"].any():
        return Ruling.refuted(figures)
    if not (few["failing"].any() or against["failing"].any()):
        return Ruling.holds(figures)
    return Ruling.holds_as_corrected(
        f"{figures} In a crowd that is more often wrong than right {against['labels'].max()} "
        f"workers make {percent(against['wrong'].min())} or more of the labels wrong, and up to "
        f"{percent(against['made'].max())} of the estimates are beyond t: how many workers are "
        "many, and that most are right, has to be known beforehand."
    )


def misses(trials: pd.DataFrame) -> pd.DataFrame:
    """Shares wrong, and beyond t by made and by true gold, of each setting; `failing` if by δ."""
    groups = trials.groupby(["crowd", "labels", "gold", "delta"])
    sums = groups[["wrong", "judged", "missed_made", "missed_true"]].sum().reset_index()
    labels_made = groups.size().to_numpy() * sums["gold"]
    return sums.assign(
        wrong=sums["wrong"] / labels_made,
        made=sums["missed_made"] / sums["judged"],
        true=sums["missed_true"] / sums["judged"],
        failing=[
            beyond_chance(point["missed_made"], point["judged"], point["delta"], looks=len(sums))
            for point in sums.to_dict("records")
        ],
    )
