"""One result says one number: in words, in the picture, as JSON and in a notebook."""

import html
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from matplotlib.patches import Rectangle

import workbench as wb
from workbench.api.result import percent
from workbench.base.text import strict_json
from workbench.cli import main

TASKS, WORKERS, GOLD = 150, 12, 60


def crowd(seed=1):
    """Workers of skill .55 to .95, five labels a task; gold of sixty tasks."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.55, 0.95, WORKERS)
    true = rng.integers(0, 2, TASKS)
    rows = [
        (f"t{i}", f"w{j}", "yes" if (true[i] == 1) == (rng.random() < skill[j]) else "no")
        for i in range(TASKS)
        for j in rng.choice(WORKERS, 5, replace=False)
    ]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    gold = pd.Series(["yes" if true[i] else "no" for i in range(GOLD)])
    return labels, gold.set_axis([f"t{i}" for i in range(GOLD)])


LABELS, KNOWN = crowd()
MEASURED = {
    "aggregate": lambda: wb.aggregate(LABELS, gold=KNOWN),
    "aggregate, truth": lambda: wb.aggregate(LABELS, method="majority", truth=KNOWN),
    "hire": lambda: wb.hire(LABELS, KNOWN, budget=3),
    "plan": lambda: wb.plan(LABELS, KNOWN, list("abcdef"), epsilon=0.12, capacity=6),
    "collect": lambda: wb.collect(LABELS, KNOWN, total=300),
    "learn": lambda: wb.learn(LABELS, KNOWN),
    "check": lambda: wb.check(LABELS, KNOWN),
}
"""Front-door results that say how often answers are wrong."""
DRAWN = ("hire", "plan", "collect", "learn", "check")
"""Those of them with the measured error in their picture."""
LANES = dict.fromkeys(("hire", "check", "collect", "learn"), pytest.mark.release)


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=LANES.get(name, ())) for name in MEASURED],
)
def found(request):
    return request.param, MEASURED[request.param]()


def measured(told):
    """Error and interval among a result's keys; `check` measures everybody's majority."""
    if "error_measured" in told:
        return told["error_measured"], told["error_interval"]
    return told["error_majority"], told["error_majority_interval"]


def test_words_and_json_say_the_same_number(found):
    name, result = found
    error, (low, high) = measured(result.to_dict())
    again = json.loads(strict_json(result.to_dict()))
    assert measured(again) == (error, [low, high])
    words = result.summary()
    assert percent(error) in words, name
    assert f"{percent(low)} to {percent(high)}" in words, name
    notebook = html.unescape(result._repr_html_())
    assert all(sentence in notebook for sentence in result.verdict())


def drawn(figure):
    """Every coordinate of a picture."""
    numbers = [np.zeros(0)]
    for axes in figure.axes:
        numbers += [np.asarray(line.get_xydata(), dtype=float).ravel() for line in axes.lines]
        numbers += [np.asarray(each.get_offsets()).ravel() for each in axes.collections]
        bars = [each for each in axes.patches if isinstance(each, Rectangle)]
        numbers += [np.array([bar.get_width(), bar.get_height()]) for bar in bars]
    return np.concatenate(numbers)


def test_the_picture_draws_the_number_of_the_words(found):
    name, result = found
    if name not in DRAWN:
        pytest.skip("its picture shows no measured error")
    told = result.to_dict()
    error, _ = measured(told)
    # That of `learn` is of right answers, and that of `check` of the guess to beat.
    shown = {"learn": 1.0 - error, "check": told.get("guess")}.get(name, error)
    assert np.isclose(drawn(result.plot()), shown, rtol=0, atol=1e-12).any()


def test_a_plan_draws_the_errors_that_it_promises():
    plan = wb.plan(LABELS, KNOWN, list("abcdef"), epsilon=0.12, capacity=6)
    told = plan.to_dict()
    numbers = drawn(plan.plot())
    assert np.isclose(numbers, told["error_exact_most"], rtol=0, atol=1e-12).any()
    assert percent(told["error_exact_most"]) in plan.summary()


@pytest.mark.slow
def test_a_comparison_says_draws_and_writes_the_same():
    found = wb.compare(LABELS, KNOWN, epsilon=0.2, seed=2)
    table = found.to_frame()
    rows = {row["method"]: row for row in found.to_dict()["rows"]}
    numbers = drawn(found.plot())
    judged = table[table["error_measured"].notna()]
    assert len(judged) > 3
    for row in judged.to_dict("records"):
        assert rows[row["method"]]["error_measured"] == row["error_measured"]
        assert np.isclose(numbers, row["error_measured"], rtol=0, atol=1e-12).any()
        assert f"{row['error_measured']:.4f}" in found.summary()


@pytest.mark.parametrize(
    "name",
    ["check", *(pytest.param(name, marks=pytest.mark.release) for name in ("hire", "aggregate"))],
)
def test_the_command_says_what_the_call_says(name, tmp_path):
    LABELS.to_csv(tmp_path / "labels.csv", index=False)
    KNOWN.rename_axis("task").rename("gold").to_csv(tmp_path / "gold.csv")
    budget = ["--budget", "3"] if name == "hire" else []
    words = [name, "--labels", "labels.csv", "--gold", "gold.csv", *budget]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        said = " ".join(CliRunner().invoke(main, words).stdout.split())
        written = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    error, (low, high) = measured(MEASURED[name]().to_dict())
    assert measured(written)[0] == pytest.approx(error, abs=1e-12)
    assert percent(error) in said
    assert f"{percent(low)} to {percent(high)}" in said
