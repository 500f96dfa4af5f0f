"""What is promised of a plan is what `aggregate(plan=)` does: simulated, matrices known."""

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.assignment.make_plan import AssignmentTerms, Confusions, make_plan

N = 300
"""Tasks of a plan."""
RUNS = 4
"""Times that its labels are drawn."""


def crowd(seed, classes, workers, low=0.4, high=0.85):
    """Workers whose wrong labels are uneven, and unequal shares of the classes."""
    rng = np.random.default_rng(seed)
    right = rng.uniform(low, high, workers)
    confusion = np.stack(
        [
            p * np.eye(classes) + (1 - p) * rng.dirichlet(np.full(classes, 0.3), classes)
            for p in right
        ]
    )
    prior = rng.dirichlet(np.full(classes, 5.0))
    at = np.arange(classes)
    names = [f"w{j}" for j in range(workers)]
    skill = pd.DataFrame({"all": confusion[:, at, at] @ prior}, index=names)
    return Confusions(confusion[None], prior, [f"c{k}" for k in range(classes)], skill)


def drawn(known, table, truth, rng):
    """Labels of a plan's pairs by task number, workers as in the matrices."""
    task, worker = table["task"].to_numpy(), known.skill.index.get_indexer(table["worker"])
    edges = np.cumsum(known.confusion[0, worker, truth[task]], axis=1)
    label = np.minimum((rng.random(len(task))[:, None] > edges).sum(axis=1), edges.shape[1] - 1)
    return pd.DataFrame(
        {"task": task, "worker": table["worker"], "label": np.array(known.classes)[label]}
    )


def executed(known, table, plan, tasks=N, runs=RUNS, seed=7):
    """Whether each answer is wrong, by run and task; and the true classes."""
    rng = np.random.default_rng(seed)
    wrong, true = [], []
    for run in range(runs):
        truth = rng.choice(len(known.prior), tasks, p=known.prior)
        labels = drawn(known, table, truth, rng)
        answers = wb.aggregate(labels, plan=plan, seed=run).labels.reindex(range(tasks))
        wrong.append(answers.to_numpy() != np.array(known.classes)[truth])
        true.append(truth)
    return np.array(wrong), np.array(true)


@pytest.mark.parametrize(
    "promise", ["each", pytest.param("mean", marks=pytest.mark.release), "class"]
)
@pytest.mark.parametrize(
    "classes",
    [pytest.param(2, marks=pytest.mark.release), 3, pytest.param(5, marks=pytest.mark.release)],
)
def test_matrices_known(classes, promise):
    known = crowd(classes, classes, 12)
    tasks = pd.Series("all", index=range(N))
    # What is promised hangs on no proof that the plan is the cheapest.
    terms = AssignmentTerms(200, 0.12, promise=promise)
    made = make_plan(known, tasks, terms, gap=0.3, time_limit=600.0)
    assert made.message is None
    wrong, true = executed(known, made.table, made.scores)
    if promise == "class":
        for k in range(classes):
            share, many = wrong[true == k].mean(), (true == k).sum()
            assert share <= 0.12 + 3 * np.sqrt(0.12 * 0.88 / many)
        return
    expected, many = made.error_exact.mean(), wrong.size
    off = 4 * np.sqrt(expected * (1 - expected) / many) + made.error_radius
    assert wrong.mean() == pytest.approx(expected, abs=off)
    assert expected <= 0.12 * (1 + 1e-9)
    most = 0.12 if promise == "each" else 0.24
    each = wrong.mean(axis=0)
    assert (each <= most + 5 * np.sqrt(most * (1 - most) / RUNS)).all()


def test_skills_of_two_classes_known():
    rng = np.random.default_rng(0)
    skills = {f"w{j}": p for j, p in enumerate(rng.uniform(0.6, 0.95, 24))}
    made = wb.plan(tasks=list(range(N)), skills=skills, epsilon=0.1, capacity=100)
    matrices = np.array([[[p, 1 - p], [1 - p, p]] for p in skills.values()])
    known = Confusions(
        matrices[None],
        np.array([0.5, 0.5]),
        ["no", "yes"],
        pd.DataFrame({"all": list(skills.values())}, index=list(skills)),
    )
    wrong, _ = executed(known, made.table, made)
    expected = made.errors["exact"].mean()
    assert wrong.mean() == pytest.approx(
        expected, abs=4 * np.sqrt(expected * (1 - expected) / wrong.size)
    )
    assert wrong.mean() <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / wrong.size)


@pytest.mark.release
@pytest.mark.parametrize("classes", [3, 5])
def test_the_front_door_with_much_gold(classes):
    """Matrices from so much gold that they are as good as known: 1,500 tasks, all workers."""
    known = crowd(10 + classes, classes, 12)
    rng, many = np.random.default_rng(classes), 1500
    truth = rng.choice(classes, many, p=known.prior)
    pairs = pd.DataFrame(
        {
            "task": np.repeat(np.arange(many), 12),
            "worker": np.tile(known.skill.index.to_numpy(), many),
        }
    )
    labels = drawn(known, pairs, truth, rng)
    labels["task"] += 10**6
    gold = {10**6 + i: known.classes[k] for i, k in enumerate(truth)}
    options = wb.PlanOptions(gap=0.3, time_limit=600.0)  # what is promised hangs on no proof
    made = wb.plan(labels, gold, list(range(N)), epsilon=0.1, capacity=120, options=options)
    wrong, _ = executed(known, made.table, made)
    expected = made.errors["exact"].mean()
    off = 4 * np.sqrt(expected * (1 - expected) / wrong.size) + made.error_radius
    learnt = 0.05 * expected  # what 1,500 gold tasks leave open of the matrices
    assert wrong.mean() == pytest.approx(expected, abs=off + learnt)
    assert wrong.mean() <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / wrong.size)
