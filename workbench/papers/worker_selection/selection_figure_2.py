"""Figure 2: accuracy as control questions are added, and as the crowd gets better.

31 workers, 1000 items of two classes, votes weighted by 2ŵ − 1, budget K = 20, 100 crowds.
`sweep` "controls": skills from Beta(2.3, 2), n from 3 to 45; the crowds of every n are the same,
and so are the first answers. `sweep` "prior": n = 10, skills from Beta(a, 2). The figure's printed
axis of a is not to be had from the text: a runs from 0.5 (mean skill 0.2) to 8 (0.8).

Source: Li, Liu (2015), Section 4.1, Figure 2.
"""

from __future__ import annotations

import dataclasses

from workbench.papers.worker_selection import selection_figure_1
from workbench.papers.worker_selection.selection_trials import MEASURED, METHODS, parts_along
from workbench.studies.measures import DeclaredAnalysis
from workbench.studies.study import Parameter, Size

SWEEPS = {
    "controls": ("controls", "control questions a worker, n", "against n, K = 20"),
    "prior": ("a", "a of the skills' Beta(a, 2)", "against the skills' prior, K = 20, n = 10"),
}
"""Column that varies, its label, and what the captions say."""

_CONTROLS = {"sweep": ["controls"], "method": list(METHODS)}
_PRIOR = {"sweep": ["prior"], "method": list(METHODS)}

STUDY = dataclasses.replace(
    selection_figure_1.STUDY,
    name="selection-figure-2",
    title="Selected workers against control questions and crowd",
    source="Li, Liu (2015), Section 4.1, Figure 2",
    parameters={
        "sweep": Parameter(str, "controls", "which panel", choices=tuple(SWEEPS)),
        **selection_figure_1.STUDY.parameters,
    },
    sizes={
        "smoke": Size(
            (
                {**_CONTROLS, "controls": [3, 10, 30], "items": [200]},
                {**_PRIOR, "a": [1.0, 4.0], "items": [200]},
            ),
            3,
        ),
        "small": Size(
            ({**_CONTROLS, "controls": [3, 5, 10, 20, 45]}, {**_PRIOR, "a": [0.5, 2.0, 4.0, 8.0]}),
            30,
        ),
        "paper": Size(
            (
                {**_CONTROLS, "controls": [3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30, 35, 40, 45]},
                {**_PRIOR, "a": [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0]},
            ),
            100,
        ),
    },
    analyse=DeclaredAnalysis(
        *(
            part
            for sweep, (column, label, where) in SWEEPS.items()
            for part in parts_along(
                column, label, where, at=(0, 10_000), name=f"by {column}", panel=sweep
            )
        ),
        fields=MEASURED,
    ),
)
