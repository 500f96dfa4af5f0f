"""Section 6.2's images, which are no longer to be had: what the paper says of them is undecided.

`learn-crowds` asks the same of public data sets under their own names.

Source: Liu, Liu (2015), Section 6.2, Table 3, Figures 6, 7 and 8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from crowd_papers.online_learning.learning_runs import STATED
from workbench.studies import Ruling, claim

DISAGREED = (348, 353, 376, 338, 441)
"""Table 3, out of 1000 images."""
REMOVED = 90
"""The step around which Section 6.2 drops a worker."""
LOST = "The labels of the 1000 images are lost."


@claim(
    id="learn-crowds-table-3",
    source="Table 3",
    statement="Five AMTs disagree with the group on 348, 353, 376, 338 and 441 of 1000 images.",
    studies=(),
)
def table_3() -> Ruling:
    """Counts of disagreement with the majority."""
    return Ruling.no_data(LOST)


@claim(
    id="learn-crowds-figure-6",
    source="Figure 6",
    statement="AMT 5 disagrees with the rest most and consistently, AMT 3 comes next.",
    studies=(),
)
def figure_6() -> Ruling:
    """Disagreement over the images."""
    return Ruling.no_data(LOST)


@claim(
    id="learn-crowds-figure-7",
    source="Figure 7",
    statement="The worst worker is dropped around step 90, the error is then below the full "
    "crowd's, and the best set is in the end AMTs 1, 2 and 4.",
    studies=(),
)
def figure_7() -> Ruling:
    """What the printed (13) says of the counts of Table 3 at the step of Figure 7."""
    *_, second, first = sorted(count / 1000 for count in DISAGREED)
    error = math.exp(-2 * (first - second) ** 2 * REMOVED)
    return Ruling.no_data(
        f"{LOST} By the rates of Table 3 ({first:g} and {second:g}) the printed (13) is "
        f"{error:.2f} after {REMOVED} rounds and below {STATED:g} after "
        f"{rounds_needed([first, second])}: a removal at {REMOVED} takes rates further apart at "
        "first."
    )


def rounds_needed(rates: Sequence[float]) -> int:
    """Rounds after which exp(−2ε²N) (13) is below 0.1, ε between the two that differ most."""
    second, first = sorted(rates)[-2:]
    return math.floor(-math.log(STATED) / (2 * (first - second) ** 2)) + 1


@claim(
    id="learn-crowds-figure-8",
    source="Figure 8",
    statement="The distribution of the errors is better than the full crowd's.",
    studies=(),
)
def figure_8() -> Ruling:
    """Distribution of the errors."""
    return Ruling.no_data(LOST)


@claim(
    id="learn-crowds-best-set",
    source="Section 6.2",
    statement="The best set is in the end estimated correctly.",
    studies=(),
)
def best_set() -> Ruling:
    """The set estimated in the end."""
    return Ruling.no_data(LOST)
