"""The picture of labels: what is drawn is what was found."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from workbench.aggregation.calibration import reliability
from workbench.plots import labelling

ANSWERS = pd.DataFrame(
    {
        "confidence": [0.5, 0.5, 0.9, 1.0, np.nan],
        "score": [0.0, 0.0, 2.0, 7.0, 0.0],
        "tied": [True, True, False, False, False],
        "unlabelled": [False, False, False, False, True],
    }
)
WORKERS = pd.DataFrame({"worker": list("abc"), "labels": [3, 1, 4], "agreement": [0.5, 1.0, 0.75]})


def heights(axes, colour):
    from matplotlib.colors import to_rgb

    bars = [bar for bar in axes.patches if bar.get_facecolor()[:3] == to_rgb(colour)]
    return sum(bar.get_height() for bar in bars)


@pytest.mark.parametrize("sure", [True, False])
def test_every_label_is_in_a_bar(sure):
    from workbench.plots import COLOURS

    answers = ANSWERS if sure else ANSWERS.assign(confidence=np.nan)
    left = labelling(answers, WORKERS, title="t").axes[0]
    assert heights(left, COLOURS[0]) == 2
    assert heights(left, COLOURS[1]) == 2
    names = [text.get_text() for text in left.get_legend().get_texts()]
    assert names == ["labels", "drawn among ties: 2", "tasks without a label: 1"]
    assert left.get_xlabel().startswith("confidence" if sure else "score")


def test_workers_stand_by_agreement():
    right = labelling(ANSWERS, WORKERS.assign(skill=[0.6, np.nan, 0.7]), title="t").axes[1]
    (marks,) = right.collections
    assert marks.get_offsets().tolist() == [[1, 1.0], [2, 0.75], [3, 0.5]]
    sizes = marks.get_sizes()
    assert sizes[1] > sizes[2] > sizes[0]
    (skill,) = right.lines
    np.testing.assert_array_equal(skill.get_ydata(), [np.nan, 0.7, 0.6])


def test_how_often_confident_labels_are_right_is_a_panel_of_its_own():
    table = reliability([0.55, 0.95, 0.97, 0.99], [0.0, 1.0, 1.0, 0.0])
    figure = labelling(ANSWERS, WORKERS, reliability=table, title="t")
    assert len(figure.axes) == 3
    (marks,) = figure.axes[2].collections
    np.testing.assert_allclose(marks.get_offsets(), [[0.55, 0.0], [0.97, 2 / 3]])
    assert len(labelling(ANSWERS, WORKERS, reliability=table[:0], title="t").axes) == 2
