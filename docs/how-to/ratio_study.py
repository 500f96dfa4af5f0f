"""A study of one's own: assignment policies on crowds of two types of task, beside the optimum."""

import numpy as np

import workbench as wb
from workbench.assignment import POLICIES
from workbench.studies import Parameter, Size, Study

OTHERS = ["greedy", "re-solve", "dual descent", "coverage-aware"]


def trial(params, streams):
    """Let one policy meet one crowd; all policies of a repetition meet the same."""
    rng = np.random.default_rng(streams.instance)
    skill = rng.choice([0.6, 0.9], size=(2, params["workers"]))
    quality = (2 * skill[rng.integers(2, size=8)] - 1) ** 2
    problem = wb.AssignmentProblem(quality, 3, wb.requirement(0.4))
    met = wb.compare(problem, [params["policy"]], seed=int(rng.integers(2**31)))
    run = met.to_frame().iloc[0]
    return {"ratio": float(run["ratio"]), "covered": float(run["covered"])}


STUDY = Study(
    name="my-ratios",
    title="Assignment policies beside the optimum",
    source="an example",
    parameters={
        "policy": Parameter(str, "greedy", "who assigns", choices=POLICIES, paired=True),
        "workers": Parameter(int, 24, "how many come", least=1),
    },
    sizes={
        "smoke": Size(({"policy": OTHERS},), 3),
        "small": Size(({"policy": OTHERS},), 200),
        "paper": Size(({"policy": OTHERS},), 1000),
    },
    trial=trial,
)
