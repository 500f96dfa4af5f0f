"""A wrong chart or analysis is one line that names the field: before trials, at the page, drawn."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.base.errors import InputError
from workbench.plots import chart as draw
from workbench.studies import Analysis, Chart
from workbench.studies.catalog import studies
from workbench.testing import check_study

matplotlib.use("Agg")
DATA = pd.DataFrame(
    {
        "method": ["one", "two"],
        "labels": [1, 3],
        "error": pd.Series([0.5, None], dtype=object),
        "low": [0.4, np.nan],
        "words": ["a", "b"],
    }
)
CHART = Chart("costs", "Costs.", DATA, "labels", "error", "labels", "error", series="method")
TWICE = DATA.rename(columns={"low": "error"})
WRONG = {
    "name": (3, "give a text"),
    "name ": (" ", "give a text"),
    "caption": (None, "give a text"),
    "x_label": (1, "give a text"),
    "y_label": (["error"], "give a text"),
    "data": ({"labels": [1]}, "give a DataFrame"),
    "data ": (TWICE, "`y` is 'error': several columns"),
    "x": ("label", "no column of its data: did you mean 'labels'? there are method, labels"),
    "x ": (None, "no column"),
    "y": ("words", "no numbers"),
    "series": ("methods", "did you mean 'method'"),
    "panel": (["method"], "no column"),
    "low": ("words", "no numbers"),
    "high": ("nothing", "no column"),
    "x_low": ("words", "no numbers"),
    "x_high": (7, "no column"),
    "kind": ("bars", "choose from line, points, step"),
    "log_x": ("yes", "True or False"),
    "log_y": ("log", "True or False"),
    "own_x": (1, "True or False"),
    "references": ((0.5, "half"), "pairs (height, label)"),
    "references ": (("half",), "pairs (height, label)"),
    "references  ": ((("half", 0.5),), "pairs (height, label)"),
    "diagonal": (True, "give its label"),
    "bold": ("one", "a tuple of values of the series"),
}
"""By field, a value that it cannot have, and what is said."""


@pytest.mark.parametrize("field", WRONG)
def test_each_field_of_a_chart_is_refused_in_one_line_where_it_is_wrong(field):
    value, said = WRONG[field]
    with pytest.raises(InputError, match=re.escape(said)) as refused:
        draw(replace(CHART, **{field.strip(): value}))
    assert "\n" not in str(refused.value)
    assert f"`{field.strip()}`" in str(refused.value) or field.startswith("data")


def test_what_goes_with_other_fields_is_refused_without_them():
    with pytest.raises(InputError, match="`log_x` is True: method has texts"):
        draw(replace(CHART, x="method", log_x=True))
    with pytest.raises(InputError, match=r"name the column of `series` too"):
        draw(replace(CHART, bold=("one",), series=None))


def test_every_field_of_a_chart_is_asked_about():
    assert {field.strip() for field in WRONG} == set(vars(CHART))


def test_what_is_right_is_drawn():
    draw(replace(CHART, low="low", references=[(np.float64(0.5), "half")], bold=["one"]))


@pytest.mark.parametrize(
    ("analysis", "said"),
    [
        (None, "it returned NoneType: return an Analysis"),
        (Analysis("Well."), "`findings` of its Analysis is str: give a tuple of texts"),
        (Analysis((), DATA), "`tables` of its Analysis is DataFrame: give a dict of frames"),
        (Analysis((), {}, CHART), "`charts` of its Analysis is Chart: give a tuple of Chart"),
        (Analysis((), {}, (DATA.shape,)), "`charts` of its Analysis has (2, 5): give Chart"),
    ],
)
def test_what_is_no_analysis_is_one_line(analysis, said):
    from workbench.studies.default_analysis import conclude

    table = pd.DataFrame({"status": ["ok"]})
    study = SimpleNamespace(name="mine", analyse=lambda _: analysis)
    with pytest.raises(InputError, match=re.escape(said)) as refused:
        conclude(study, table)
    assert str(refused.value).startswith("the analysis of mine (test_charting.py): ")
    study.analyse = lambda table: table["nix"]
    with pytest.raises(InputError, match=r"^the analysis of mine \(test_charting.py, line \d+\): "):
        conclude(study, table)


def test_the_check_of_a_study_finds_a_wrong_chart_before_its_trials():
    study = studies()["toy-example"].call
    wrong = replace(study, analyse=lambda _: Analysis(("Well.",), {}, (replace(CHART, y="nix"),)))
    with pytest.raises(AssertionError, match="the analysis fails: InputError: chart 'costs': `y`"):
        check_study(wrong, trials=1)


def test_a_page_says_so_where_it_stands_and_to_who_has_it_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = STUDY.replace("WHERE", "nowhere")
    (tmp_path / "mine.py").write_text(text, "utf-8")
    ended = wb.run_study("mine.py", size="smoke", processes=1)
    with pytest.raises(InputError, match=r"^chart 'c': `y` is 'nowhere': no column of its data:"):
        ended.plot()
    written = ended.report("page.html")
    (note,) = written.notes
    assert note.startswith("mine: Figure “c” could not be had: chart 'c': `y` is 'nowhere'")
    assert written.details().splitlines() == ["written: page.html", note]
    assert written.to_dict()["notes"] == [note]
    assert "Mean 2.0" in (tmp_path / "page.html").read_text("utf-8")


STUDY = """
from workbench.studies import Analysis, Chart, Parameter, Size, Study

def trial(params, streams):
    return {"y": 2.0 * params["x"]}

def analyse(table):
    chart = Chart("c", "Seen.", table, "x", "WHERE", "x", "y")
    return Analysis((f"Mean {table['y'].mean()}",), {}, (chart,))

SIZE = Size(({"x": [1]},), 1)
STUDY = Study(name="mine", title="Mine", source="none", parameters={"x": Parameter(int, 1, "x")},
              sizes=dict.fromkeys(("smoke", "small", "paper"), SIZE), trial=trial, analyse=analyse)
"""
