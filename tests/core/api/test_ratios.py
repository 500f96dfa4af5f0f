"""`wb.compare` of problems and skills, and `wb.bad_instance`: said, drawn, written, refused."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.assignment import POLICIES, AssignmentPolicy
from workbench.base.errors import InputError
from workbench.base.registry import Entry, forget, load_plugin

PAGES = Path(__file__).parents[3] / "docs" / "how-to"


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


@pytest.fixture
def skills():
    """The frame of docs/how-to/ratios.md; of the second type one worker may do nothing."""
    return pd.DataFrame(
        {"birds": [0.95, 0.9, 0.9, 0.8, 0.85, 0.9], "ships": [0.8, 0.9, np.nan, 0.95, 0.9, 0.85]},
        index=["ann", "bo", "cy", "dee", "eve", "flo"],
    )


@pytest.fixture
def own():
    """Register policies; they go in the end."""
    shipped = set(POLICIES)

    def register(name, kind):
        POLICIES.register(Entry(name, kind, kind.__doc__, "one's own"))

    yield register
    for name in set(POLICIES) - shipped:
        POLICIES._entries.pop(name)


class Blind(AssignmentPolicy):
    """The last tasks, whoever comes."""

    def assign(self, worker):
        return np.arange(len(self.setting.task_class))[-worker.capacity :]


class TooMany(AssignmentPolicy):
    """Everything, whoever comes."""

    def assign(self, worker):
        return np.arange(len(self.setting.task_class))


@pytest.mark.usefixtures("own")
def test_the_policy_of_the_page_keeps_to_the_skills_of_the_page(skills):
    runpy.run_path(str(PAGES / "ratios.py"))
    types = ["birds"] * 4 + ["ships"] * 4
    found = wb.compare(skills, ["better half"], task_types=types, epsilon=0.3, trials=5)
    assert len(found.plays) == 5


def test_a_wrong_choice_names_the_worker_as_the_user_does(skills, own):
    own("blind", Blind)
    types = ["birds"] * 4 + ["ships"] * 4
    who = "task 4 for worker cy, who may not do it: choose where `worker.available` is true"
    with pytest.raises(InputError, match=re.escape(f"the policy chose {who}")) as raised:
        wb.compare(skills, ["blind"], task_types=types, epsilon=0.3, capacity=6)
    assert str(raised.value).startswith("policy 'blind' (test_ratios.py): ")
    available = np.ones((8, 20), dtype=bool)
    available[7, 17] = False
    with pytest.raises(InputError, match="chose task 7 for worker 17, who may not do it"):
        wb.compare(problems(1, available=available), ["blind"])


def test_a_search_does_not_hide_a_wrong_choice(own):
    own("too many", TooMany)
    with pytest.raises(
        InputError, match=r"policy 'too many'.*the policy chose . tasks for worker .*, who takes"
    ):
        wb.bad_instance("too many", evaluations=20)


def marked(axes):
    """Cells that are framed, as pairs of task and place."""
    frames = [line for line in axes.get_lines() if len(line.get_xdata()) == 5]
    return {(round(np.mean(f.get_ydata()[1:3])), round(min(f.get_xdata()) + 0.42)) for f in frames}


@pytest.mark.parametrize("order", ["adversarial", "random"])
def test_the_picture_of_a_bad_instance_shows_who_labels_what_beside_an_optimum(order):
    bad = wb.bad_instance("greedy", workers=6, sample=2, evaluations=5, order=order)
    above, below, *_ = bad.plot().axes
    chosen, best = marked(above), marked(below)
    assert all(place >= 2 for _, place in chosen | best)
    if order == "adversarial":
        assert len(chosen) == bad.ratio * bad.optimum
        assert len(best) == bad.optimum
        skills = bad.instance.skill[bad.instance.kinds]
        texts = [text.get_text() for text in above.texts]
        assert texts == [f"{(2 * p - 1) ** 2:.2f}".removeprefix("0") for p in skills.ravel()]
    assert above.get_title("left").startswith(f"greedy: {len(chosen)} labels, ")
    assert below.get_title("left") == f"optimum: {len(best)} labels"
    assert "<svg" in bad._repr_html_()


def test_the_picture_of_the_worst_run_shows_it_in_order_of_arrival(ratio):
    worst = ratio.worst("greedy")
    above, below, *_ = worst.plot().axes
    assert len(marked(above)) == worst.cost
    assert len(marked(below)) == worst.bound
    assert [label.get_text() for label in below.get_xticklabels()] == [*map(str, worst.arrival)]


def test_methods_asked_for_and_policies_of_ones_own_are_told_of(ratio):
    assert [name for name in ratio.methods if name not in " ".join(ratio.verdict())] == []
    found = wb.compare(problems(2), ["greedy", "paper", "re-solve"])
    last = found.verdict()[-1]
    assert last.startswith("Beside them: ")
    for row in found.to_frame().to_dict("records"):
        if row["method"] not in " ".join(found.verdict()[:-1]):
            assert f"{row['method']} ({row['ratio']:.3f}, " in last
    quiet = replace(found, settings={**found.settings, "told": []})
    assert quiet.verdict() == found.verdict()[:-1]


def test_without_names_the_users_own_alone_is_told_of(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import workbench as wb\nfrom workbench.assignment.policies import Greedy\n"
        "@wb.policy('mine')\nclass Mine(Greedy):\n    '''As greedy.'''\n"
    )
    load_plugin(mine, shared=False)
    try:
        found = wb.compare(problems(1))
        assert found.settings["told"] == ["mine"]
        assert "mine (" in found.verdict()[-1]
    finally:
        forget(mine.resolve())


def test_the_worst_run_names_workers_as_the_user_does(skills):
    types = ["birds"] * 4 + ["ships"] * 4
    worst = wb.compare(skills, ["greedy"], task_types=types, epsilon=0.3).worst()
    came = [skills.index[at] for at in worst.arrival]
    assert f"in the order {', '.join(came)};" in worst.details()
    assert [label.get_text() for label in worst.plot().axes[1].get_xticklabels()] == came
