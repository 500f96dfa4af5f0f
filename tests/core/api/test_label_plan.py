"""`plan(..., sequential=…)`: what it says, and that the collector follows it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import workbench as wb
from workbench.api import label_plan
from workbench.cli import main
from workbench.solving.claims import Contradiction

TASKS = [f"t{i}" for i in range(60)]
SKILLS = {**{f"w{i}": 0.8 for i in range(12)}, "guesses": 0.5, "new": float("nan")}


@pytest.mark.slow
def test_prices_rules_and_a_simulation():
    plan = wb.plan(
        tasks=TASKS,
        skills=SKILLS,
        epsilon=0.05,
        capacity=60,
        options=wb.PlanOptions(sequential=True),
    )
    assert plan.cost == pytest.approx(60 * 3.328125, rel=1e-6)
    assert plan.lower_bound == pytest.approx(plan.cost, rel=1e-6)
    frame = plan.to_frame().set_index("worker")
    assert list(frame.index) == list(SKILLS)
    assert frame.loc[["guesses", "new"], "labels"].tolist() == [0, 0]
    assert frame["labels"].sum() == pytest.approx(plan.cost)
    assert (frame["time"] == 0).all()  # there is more than enough of it
    # Leads of two and of three, errors 1/17 and 1/65, so that .05 are wrong.
    assert plan.rules["labels"].tolist() == pytest.approx([315 / 65, 50 / 17], rel=1e-6)
    assert plan.rules["share"] @ plan.rules["error"] == pytest.approx(0.05)
    assert (plan.rules["closes_at"] > [1 / 65, 1 / 17]).all()
    assert (plan.rules["closes_at"] < [1 / 17, 1 / 5]).all()
    ran = plan.simulated
    assert ran["cost"] == pytest.approx(plan.cost, abs=4 * ran["cost_se"])
    assert ran["error"] == pytest.approx(0.05, abs=4 * ran["error_se"])
    assert "no policy costs less than" in plan.summary()
    assert "1 worker is not asked" in plan.summary()
    assert plan.to_dict()["lower_bound"] == plan.lower_bound
    assert "optimum" not in plan.to_dict()
    assert "computed in floating point" in plan.details()
    assert plan == wb.plan(
        tasks=TASKS,
        skills=SKILLS,
        epsilon=0.05,
        capacity=60,
        options=wb.PlanOptions(sequential=True),
    )


@pytest.mark.parametrize("promise", ["error", "mean", "posterior"])
def test_types_and_prices(promise):
    rng = np.random.default_rng(0)
    skills = pd.DataFrame(
        rng.uniform(0.6, 0.95, (12, 2)), [f"w{i}" for i in range(12)], ["easy", "hard"]
    ).rename_axis("worker")
    kinds = {f"t{i}": ("easy", "hard")[i % 2] for i in range(80)}
    costs = dict(zip(skills.index, rng.choice([0.5, 1.0], 12), strict=True))
    plan = wb.plan(
        tasks=kinds,
        skills=skills.reset_index(),
        epsilon=0.1,
        capacity=30,
        costs=costs,
        options=wb.PlanOptions(sequential=promise),
    )
    assert plan.lower_bound <= plan.cost * (1 + 1e-9)
    assert set(plan.rules["task_type"]) == {"easy", "hard"}
    shares = plan.rules.groupby("task_type")["share"].sum()
    assert shares.tolist() == pytest.approx([1, 1])
    ran = plan.simulated
    assert ran["error"] <= 0.1 + 4 * ran["error_se"]
    assert (plan.error_prices > 0).all() == (promise != "posterior")


def test_the_collector_follows_it():
    skills = {f"w{i}": (0.9, 0.7)[i % 2] for i in range(8)}
    plan = wb.plan(
        tasks=TASKS,
        skills=skills,
        epsilon=0.1,
        capacity=60,
        options=wb.PlanOptions(sequential=True),
    )
    collector = wb.Collector(
        TASKS,
        plan.to_frame()["worker"],
        classes=["a", "b"],
        epsilon=0.1,
        policy=("sequential-plan", plan.options),
        people=wb.People(skills=skills, capacity=60),
    )
    asked = collector.next()
    assert {question.worker for question in asked} <= set(skills)
    assert collector.policy.plan.saved() == plan.options["plan"]


def test_a_claim_above_the_cost_is_one_line_and_no_file(tmp_path, monkeypatch):
    pd.DataFrame({"worker": ["w"], "all": 0.8}).to_csv(tmp_path / "s.csv", index=False)
    pd.DataFrame({"task": TASKS, "task_type": "all"}).to_csv(tmp_path / "t.csv", index=False)

    def above(_):
        raise Contradiction("no answer is to cost less than 3.0, one 2.0")

    monkeypatch.setattr("workbench.solving.sequential_proofs.sequential_proof", above)
    words = ["plan", "--skills", tmp_path / "s.csv", "--tasks", tmp_path / "t.csv"]
    words += ["--capacity", 60, "--epsilon", 0.3, "--sequential", "mean"]
    words += ["--proof", tmp_path / "p.json", "--out", tmp_path / "p.csv"]
    ran = CliRunner().invoke(main, [*map(str, words)])
    assert ran.exit_code == 2
    assert "proof: not written" in ran.output
    assert not list(tmp_path.glob("p.*"))


def test_tasks_without_an_answer_are_wrong_and_said(monkeypatch):
    def scarce(names, capacity, *rest, pool=label_plan._pool):
        return pool(names, capacity // 30, *rest)

    monkeypatch.setattr(label_plan, "_pool", scarce)
    plan = wb.plan(
        tasks=TASKS,
        skills=SKILLS,
        epsilon=0.05,
        capacity=60,
        options=wb.PlanOptions(sequential=True),
    )
    ran = plan.simulated
    assert ran["cost"] == 24  # two labels each of the twelve who tell something
    assert ran["blank"] >= 36 / 60 - 1e-9
    assert ran["blank"] < ran["error"] <= ran["blank"] + 0.2
    assert "wrong or missing" in plan.summary()
    assert "without an answer" in plan.summary()


def test_a_coin_for_closed_tasks_is_an_answer_and_said():
    plan = wb.plan(
        tasks=TASKS,
        skills=SKILLS,
        epsilon=0.3,
        capacity=60,
        options=wb.PlanOptions(sequential="mean"),
    )
    assert plan.simulated["blank"] == 0
    assert plan.simulated["error"] == pytest.approx(0.3, abs=4 * plan.simulated["error_se"])
    assert "a task that is closed without a label gets a random answer" in plan.summary()


def test_nobody_can():
    plan = wb.plan(
        tasks=["a"],
        skills={"w": 0.6},
        epsilon=0.01,
        capacity=1,
        options=wb.PlanOptions(sequential=True),
    )
    assert plan.cost is None
    assert "There is no policy" in plan.summary()
    assert "larger ε" in plan.summary()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"options": wb.PlanOptions(sequential="often")}, "use one of error, mean, posterior"),
        ({"epsilon": 0.5}, "below 0.5"),
        ({"limits": wb.TaskLimits(most=3)}, "most"),
        ({"options": wb.PlanOptions(sequential=True, promise="bound")}, "promise"),
    ],
)
def test_bad_input(changes, message):
    settings = {"tasks": ["a"], "skills": {"w": 0.9}, "epsilon": 0.2, "capacity": 1}
    with pytest.raises(wb.InputError, match=message):
        wb.plan(**(settings | {"options": wb.PlanOptions(sequential=True)} | changes))


@pytest.mark.slow
def test_the_command(tmp_path):
    pd.DataFrame({"worker": list(SKILLS)[:12], "all": 0.8}).to_csv(tmp_path / "s.csv", index=False)
    pd.DataFrame({"task": TASKS, "task_type": "all"}).to_csv(tmp_path / "t.csv", index=False)
    words = [
        "plan",
        "--skills",
        tmp_path / "s.csv",
        "--tasks",
        tmp_path / "t.csv",
        "--capacity",
        60,
    ]
    words += ["--epsilon", 0.05, "--sequential", "error", "--out", tmp_path / "p.csv"]
    ran = CliRunner().invoke(main, [str(word) for word in words])
    assert ran.exit_code == 0, ran.output
    assert "one label at a time" in ran.output
    assert pd.read_csv(tmp_path / "p.csv").columns.tolist() == ["worker", "skill", "time", "labels"]
    proof = str(tmp_path / "p.json")
    ran = CliRunner().invoke(main, [*map(str, words), "--proof", proof])
    assert ran.exit_code == 0, ran.output
    assert f"written: {proof}" in ran.output
    ran = CliRunner().invoke(main, ["verify", proof])
    assert ran.exit_code == 0
    assert "holds: no policy costs less than 199.687" in ran.output
    tables = ["--skills", tmp_path / "s.csv", "--tasks", tmp_path / "t.csv", "--capacity"]
    ran = CliRunner().invoke(main, ["verify", proof, *map(str, tables), "60"])
    assert ran.exit_code == 0, ran.output
    assert "60 tasks, 1 class of workers" in ran.output
    assert "about these tables" in ran.output
    ran = CliRunner().invoke(main, ["verify", proof, *map(str, tables), "59"])
    assert ran.exit_code == 1
    assert ran.output.startswith("WRONG: about another problem: capacity differ")
    ran = CliRunner().invoke(main, ["verify", proof, "--capacity", "60"])
    assert ran.exit_code == 2
    ahead = [word for word in map(str, words) if word not in ("--sequential", "error")]
    ran = CliRunner().invoke(main, [*ahead, "--proof", proof])
    assert ran.exit_code == 2
    assert "--proof goes with --sequential" in ran.output
    ran = CliRunner().invoke(main, [*map(str, words), "--plot", str(tmp_path / "p.png")])
    assert ran.exit_code == 0, ran.output
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    ran = CliRunner().invoke(main, [*map(str, words), "--vote", str(tmp_path / "v.csv")])
    assert ran.exit_code == 2
    assert "--sequential" in ran.output
