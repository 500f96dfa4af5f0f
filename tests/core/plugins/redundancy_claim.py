"""A claim of one's own, decided by the trials of a study: here those of `redundancy`."""

from __future__ import annotations

import pandas as pd

from workbench.studies import Ruling, claim


@claim(
    id="redundancy-helps",
    source="common practice",
    statement="With more labels per task the majority is right more often.",
    studies=("redundancy",),
    least=6,
)
def redundancy_helps(trials: pd.DataFrame) -> Ruling:
    """Compare the fewest labels per task with the most."""
    by = trials.groupby("labels")["accuracy"].agg(["mean", "sem"])
    few, many = by.iloc[0], by.iloc[-1]
    gain, se = many["mean"] - few["mean"], (few["sem"] ** 2 + many["sem"] ** 2) ** 0.5
    figures = f"{few['mean']:.2f} with {by.index[0]}, {many['mean']:.2f} with {by.index[-1]} labels"
    if not abs(gain) > 2 * se:  # nor where one trial has no standard error
        return Ruling.inconclusive(f"{figures}: within chance.")
    return Ruling.holds(f"{figures}.") if gain > 0 else Ruling.refuted(f"{figures}.")
