"""A day's work from a notebook: plan, solve, compare, simulate, study. Five lines each at most."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.solving.claims import CostClaim


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def crowd():
    """Labels by eight workers of skill 0.85 on forty tasks, and the answers."""
    rng = np.random.default_rng(1)
    rows = [
        (f"g{i}", f"w{j}", "yn"[int(rng.random() < 0.85) ^ (i % 2)])
        for i in range(40)
        for j in range(8)
    ]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    gold = pd.Series({f"g{i}": "yn"[1 - i % 2] for i in range(40)})
    return labels, gold


def test_frame_plan_figure_csv(crowd):
    labels, gold = crowd
    plan = wb.plan(labels, gold, ["new 1", "new 2"], epsilon=0.3, capacity=2)
    plan.plot().savefig("plan.png")
    plan.to_frame().to_csv("plan.csv", index=False)
    written = pd.read_csv("plan.csv")
    assert plan.solved
    assert set(written["task"]) == {"new 1", "new 2"}
    assert len(written) == plan.to_dict()["labels"] == plan.to_dict()["bound"]
    assert plan.errors["exact"].max() <= 0.3


def test_hiring_problem_solution_frame():
    problem = wb.SelectionProblem([0.1, 0.5, 0.4], budget=2)
    solved = wb.solve(problem)
    assert solved.to_frame()["worker"].tolist() == [1, 2]
    assert solved.objective == pytest.approx(0.9 / np.sqrt(2))


@pytest.mark.slow
def test_one_call_study_findings_figure_page():
    study = wb.run_study("gold-estimates", size="smoke", repetitions=1, processes=1)
    study.plot().savefig("study.png")
    study.report("page.html")
    assert study.findings
    assert len(study.table) == study.to_dict()["planned"] > 0
    assert "<svg" in (page := wb.report("studies.sqlite", "whole.html").path.read_text())
    assert study.findings[0].split(":")[0].split("<")[0][:20] in page


@pytest.mark.release
def test_whose_word_a_bound_is_stands_beside_it(crowd, here):
    """A bound that the data prove is not called HiGHS's word, nor the other way round."""
    problem = wb.AssignmentProblem([[0.5, 0.5, 0.5]] * 2, capacity=2, requirement=0.9)
    solved = wb.solve(problem)
    left = replace(solved.solution.certificate, status="feasible", lower_bound=3.0)
    for bound, word in ((3.0, "It is proven"), (4.0, "By HiGHS's word alone it holds")):
        apart = replace(solved.solution, bound=bound, certificate=left)
        assert any(each.startswith(word) for each in replace(solved, solution=apart).verdict())
    labels, gold = crowd
    made = wb.plan(labels, gold, ["x", "y"], epsilon=0.2, capacity=60)
    assert "proven the cheapest" in made.verdict()[0]
    assert re.search(r"no plan costs less than +2 \(recomputed from the data: 2\)", made.details())
    made = replace(made, claim=CostClaim(2.0, 1.0, 2.0), again=None)
    assert not made.solved
    assert "the cheapest by HiGHS's word" in made.verdict()[0]
    assert "proven the cheapest" not in made.details()
    assert "(recomputed from the data: 1)" in made.details()
