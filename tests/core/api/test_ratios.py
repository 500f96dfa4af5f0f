"""`wb.compare` of problems and skills, and `wb.bad_instance`: said, drawn, written, refused."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.base.errors import InputError


def problems(many=4, tasks=8, workers=20, **given):
    rng = np.random.default_rng(0)
    for _ in range(many):
        skill = rng.choice([0.6, 0.7, 0.9], size=(2, workers))[rng.integers(2, size=tasks)]
        yield wb.AssignmentProblem((2 * skill - 1) ** 2, 4, wb.requirement(0.4), **given)


@pytest.fixture(scope="module")
def ratio():
    return wb.compare(problems(), ["greedy", "dual descent", "coverage-aware"], trials=3)


def test_a_ratio_never_stands_without_what_is_covered(ratio):
    table = ratio.to_frame()
    assert table["method"].tolist() == ["greedy", "dual descent", "coverage-aware"]
    for text in (ratio.brief(), ratio.details(), ratio.to_latex()):
        assert "ratio" in text
        assert "covered" in text
    for row in table.to_dict("records"):
        assert f"{row['ratio']:.3f}" in ratio.brief()
    assert "Every optimum is proven." in ratio.verdict()[0]
    assert "greedy pays least" in ratio.verdict()[1]
    assert "dual descent (" in ratio.verdict()[2]
    assert ratio.to_dict()["rows"][0]["covered"] == table["covered"][0]


def test_a_bound_that_is_no_optimum_is_called_so(ratio):
    optima = ratio.optima.assign(proven=[True, False, True, True])
    said = replace(ratio, optima=optima).verdict()[0]
    assert "Of 1 problem the optimum is not proven: ratios there are over a lower bound" in said


@pytest.mark.parametrize("aim", ["ratio", "cover"])
def test_the_worst_run_is_replayed_to_the_same_ratio(ratio, aim):
    for name in (None, "coverage-aware"):
        worst = ratio.worst(name, aim=aim)
        rows = ratio.plays if name is None else ratio.plays[ratio.plays["method"] == name]
        if aim == "ratio":
            assert worst.ratio == rows["ratio"].max()
        else:
            assert worst.covered == rows["covered"].min()
        again = worst.replay()
        assert (again.ratio, again.covered, again.cost) == (worst.ratio, worst.covered, worst.cost)
        assert again == worst
        assert sorted(worst.arrival) == list(range(20))
        assert worst.replay("greedy").covered == 1
        assert "\n" in worst.details()


def test_the_picture_draws_the_runs_and_the_table(ratio):
    ecdf, covered, more, mean = ratio.plot().axes
    for axes, measure in ((ecdf, "ratio"), (covered, "covered")):
        lines = [line for line in axes.get_lines() if len(line.get_xdata()) > 2]
        assert len(lines) == 3
        for line, name in zip(lines, ratio.methods, strict=True):
            own = ratio.plays[ratio.plays["method"] == name][measure]
            assert line.get_xdata()[1:].tolist() == sorted(own)
    table = ratio.to_frame()
    drawn = [bar[0].get_xdata()[0] for bar in more.containers]
    assert drawn == table["ratio_more"].dropna().tolist()
    assert [bar[0].get_xdata()[0] for bar in mean.containers] == table["covered"].tolist()


def test_latex_is_a_table_of_as_many_cells_in_each_row(ratio):
    text = wb.compare(problems(1), ["greedy"]).to_latex()
    for latex in (ratio.to_latex(), text):
        assert latex.count(r"\begin{tabular}{lrrrr}") == latex.count(r"\end{tabular}") == 1
        rows = [line for line in latex.splitlines() if line.endswith(r"\\")]
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {4}
        body = latex.split("\n%")[0]
        assert body.count("$") % 2 == 0
        assert "nan" not in body
    row = ratio.to_frame().iloc[1]
    assert f"${row['ratio']:.3f} [{row['ratio_low']:.3f}, {row['ratio_high']:.3f}]$" in (
        ratio.to_latex()
    )


@pytest.mark.slow
def test_files_are_what_their_ending_says(ratio, tmp_path):
    begins = {".pdf": b"%PDF", ".png": b"\x89PNG", ".csv": b"method,", ".tex": b"\\begin{tabular}"}
    for ending, first in begins.items():
        assert ratio.save(tmp_path / f"r{ending}").read_bytes().startswith(first)
    runs = pd.read_csv(ratio.save(tmp_path / "r.runs.csv"))
    pd.testing.assert_frame_equal(runs, ratio.plays)
    for bad in ("r.docx", "no/r.csv"):
        with pytest.raises(InputError) as refused:
            ratio.save(tmp_path / bad)
        assert "\n" not in str(refused.value)
    assert len(list(tmp_path.iterdir())) == 5


SKILLS = pd.DataFrame(
    {
        "worker": [f"w{k}" for k in range(6)],
        "dog": [0.9, 0.8, 0.9, 0.7, 1.0, 0.9],
        "cat": [0.9, None, 0.6, 0.9, 0.9, 1.0],
    }
)
TYPES = {"t1": "dog", "t2": "cat", "t3": "dog"}


def test_skills_are_a_problem_with_prices_capacities_and_what_is_closed():
    costs = {name: 1.0 + k for k, name in enumerate(SKILLS["worker"])}
    given = {"task_types": TYPES, "costs": costs, "capacity": 2, "epsilon": 0.5, "trials": 5}
    found = wb.compare(SKILLS, ["greedy"], **given)
    (problem,) = found.problems
    assert problem.requirement.tolist() == [wb.requirement(0.5)] * 3
    assert problem.quality[0] == pytest.approx((2 * SKILLS["dog"] - 1) ** 2)
    assert problem.quality[1, 2] == pytest.approx(0.04)
    assert problem.available.tolist()[1] == [True, False, True, True, True, True]
    assert problem.cost[2].tolist() == [1, 2, 3, 4, 5, 6]
    assert problem.capacity.tolist() == [2] * 6
    by_index = wb.compare(SKILLS.set_index("worker"), ["greedy"], **given)
    long = SKILLS.fillna(0.5).melt("worker", var_name="task_type", value_name="skill")
    pd.testing.assert_frame_equal(found.plays, by_index.plays)
    assert wb.compare(long, ["greedy"], **given).problems[0].available is None
    for listed in (list(TYPES.values()), np.array([*TYPES.values()])):  # types alone
        again = wb.compare(SKILLS, ["greedy"], **{**given, "task_types": listed})
        pd.testing.assert_frame_equal(found.plays, again.plays)
    with pytest.raises(InputError, match="skills: none for the task type t1"):
        wb.compare(SKILLS, ["greedy"], **{**given, "task_types": ["t1", "t2"]})


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (([],), {}, "no problem to compare on"),
        ((["x"],), {}, "problem 0 is a str"),
        ((list(problems(1)), ["gredy"]), {}, "did you mean 'greedy'"),
        ((list(problems(1)), []), {}, "name one policy"),
        ((list(problems(1)), {"t": "a"}), {}, "no|none"),
        ((list(problems(1)), ["greedy"]), {"methods": ["greedy"]}, "given twice"),
        ((list(problems(1)),), {"epsilon": 0.3}, "its own requirement"),
        ((list(problems(1)),), {"costs": {"w": 1}}, "has its own"),
        ((list(problems(1)),), {"capacity": 3}, "has its own"),
        ((list(problems(1)),), {"sampling": wb.SampleOptions(gain="hoeffding")}, "has its own"),
        ((list(problems(1, most=3)),), {}, "problem 0: a problem with `most`"),
        ((list(problems(1)),), {"processes": 0}, "processes"),
        ((list(problems(1)),), {"trials": 0}, "trials"),
        ((wb.AssignmentProblem([[0.5, 0.5]] * 2, 2, [0.4, 0.5]),), {}, "different amounts"),
        ((wb.AssignmentProblem([[0.5, 0.5]], 2, 9.0),), {}, "cannot cover every task"),
        ((wb.AssignmentProblem([[0.5, 0.5]], 2, 0.1, 0.0 * np.ones((1, 2))),), {}, "no bound"),
        ((SKILLS,), {}, "`task_types`"),
        ((SKILLS,), {"task_types": {"t": "cow"}}, "none for the task type"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(arguments, options, said):
    with pytest.raises(InputError, match=said) as refused:
        wb.compare(*arguments, **options)
    assert "\n" not in str(refused.value)


@pytest.mark.release
def test_progress_tells_what_is_left():
    told = []
    wb.compare(problems(2), ["greedy"], trials=3, progress=told.append)
    assert told[0] == "0 of 8 orders and optima"
    assert told[-1] == "8 of 8 orders and optima"
    assert all(re.fullmatch(r"\d of 8 orders and optima, .+ left", line) for line in told[1:-1])


@pytest.mark.slow
def test_a_bar_is_drawn(capsys):
    wb.compare(problems(1), ["greedy"], trials=2, progress=True)
    assert "3/3" in capsys.readouterr().out


@pytest.mark.slow
def test_a_bad_instance_of_any_policy_is_found_and_replayed():
    found = wb.bad_instance("greedy", workers=6, sample=2, evaluations=25, seed=3)
    assert found.covered == 1
    assert found.ratio > 1
    again = found.replay()
    assert (again.ratio, again.covered) == (found.ratio, found.covered)
    assert wb.solve(found.problem).objective == found.optimum
    assert found.replay("dual descent").optimum == found.optimum
    assert len(found.to_frame()) == 8
    assert f"{found.ratio:.3f} times the proven optimum" in found.details()
    assert found == wb.bad_instance("greedy", workers=6, sample=2, evaluations=25, seed=3)


@pytest.mark.parametrize(
    "options",
    [
        {"policy": "gredy"},
        {"aim": "money"},
        {"order": "none"},
        {"workers": 40},
        {"workers": 0},
        {"evaluations": 0},
        {"seed": -1},
    ],
    ids=str,
)
def test_a_search_that_cannot_be_is_refused_in_one_line(options):
    with pytest.raises(InputError) as refused:
        wb.bad_instance(**{"policy": "greedy", "evaluations": 2, **options})
    assert "\n" not in str(refused.value)
