"""Labels on record count toward the promise: against all plans, and a plan made in two halves."""

import itertools

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from crowd_models.gains import gain_of
from crowd_models.joint import class_pairs, pair_gains, pair_weights
from workbench.assignment.make_plan import AssignmentTerms, Confusions, make_plan

WORKERS = list("abcde")
TASKS = pd.Series("all", index=["s", "t", "u"])


def record(rng, share=0.4):
    pairs = [pair for pair in itertools.product(TASKS.index, WORKERS) if rng.random() < share]
    return pd.DataFrame(pairs, columns=["task", "worker"])


def matrix(table):
    found = np.zeros((len(TASKS), len(WORKERS)))
    for task, worker in table[["task", "worker"]].itertuples(index=False):
        found[TASKS.index.get_loc(task), WORKERS.index(worker)] += 1
    return found


def cheapest(promised, have, least, most, capacity=2):
    """Fewest further labels with which every task's bound is kept, none of them on record."""
    rows = np.array(list(itertools.product([0, 1], repeat=len(WORKERS))))
    allowed = [
        [
            row
            for row in rows[(rows <= 1 - own).all(axis=1)]
            if least <= (row + own).sum() <= max(most, own.sum())
            and promised(row + own) <= 0.1 * (1 + 1e-9)
        ]
        for own in have
    ]
    plans = [np.array(plan) for plan in itertools.product(*allowed)]
    return min((p.sum() for p in plans if (p.sum(axis=0) <= capacity).all()), default=None)


@pytest.mark.parametrize("gain", ["bhattacharyya", "hoeffding"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.release) for n in (1, 2))])
def test_two_classes_buy_the_fewest_further_labels(seed, gain):
    rng = np.random.default_rng(seed)
    skills, had = pd.Series(rng.uniform(0.75, 0.98, 5), WORKERS), record(rng)
    least, most = int(rng.integers(0, 3)), int(rng.integers(4, 6))
    rung = gain_of(gain)
    terms = AssignmentTerms(
        2, 0.1, promise="bound", gain=gain, have=had, least=least or None, most=most
    )
    made, have = make_plan(skills, TASKS, terms), matrix(had)
    quality = rung.quality(skills.to_numpy())
    best = cheapest(lambda row: float(rung.error(quality @ row)), have, least, most)
    if best is None:
        assert "There is no plan" in made.message
        return
    assert len(made.table) == best
    both = have + matrix(made.table)
    assert both.max() <= 1
    assert made.error_bound == pytest.approx(rung.error(both @ quality))
    assert (matrix(made.counted) == have).all()


@pytest.mark.parametrize("seed", range(3))
def test_several_classes_buy_the_fewest_further_labels(seed):
    rng = np.random.default_rng(seed)
    pi = 0.25 * rng.dirichlet(np.ones(3), (1, 5, 3)) + 0.75 * np.eye(3)
    prior = np.array([0.5, 0.3, 0.2])
    skill = pd.DataFrame({"all": np.einsum("tjkk,k->j", pi, prior)}, WORKERS)
    had, weights, gains = record(rng), pair_weights(prior), pair_gains(pi)[0]
    assert len(weights) == len(class_pairs(3)[0])
    least = seed % 2 * 3
    terms = AssignmentTerms(2, 0.1, promise="bound", have=had, least=least or None)
    made = make_plan(Confusions(pi, prior, list("xyz"), skill), TASKS, terms)
    have = matrix(had)
    best = cheapest(lambda row: float(weights @ np.exp(-(row @ gains))), have, least, 5)
    assert len(made.table) == best if best is not None else made.message
    assert (have + matrix(made.table)).max() <= 1


def test_the_task_of_several_classes_that_cannot_be_is_named_as_it_came():
    """Tasks are sorted by what is on record of them, and told by their own names."""
    pi = np.full((1, 5, 3, 3), 0.1) + 0.7 * np.eye(3)
    skill = pd.DataFrame({"all": 0.8}, WORKERS)
    crowd = Confusions(pi, np.full(3, 1 / 3), list("xyz"), skill)
    for short in TASKS.index:
        may = [(t, w) for t in TASKS.index for w in WORKERS if t != short or w in "ab"]
        pairs = pd.DataFrame(may, columns=["task", "worker"])
        terms = AssignmentTerms(9, 0.5, None, pairs, "bound", least=3)
        made = make_plan(crowd, TASKS, terms)
        assert f"task {short} has fewer workers" in made.message


def test_a_plan_bought_by_halves_needs_nothing_more_and_half_of_it_the_rest():
    skills = pd.Series([0.9, 0.85, 0.8, 0.75, 0.7], WORKERS)
    whole = make_plan(skills, TASKS, AssignmentTerms(3, 0.1))
    done = make_plan(skills, TASKS, AssignmentTerms(3, 0.1, have=whole.table))
    assert not len(done.table)
    np.testing.assert_allclose(done.error_exact, whole.error_exact)
    half = make_plan(skills, TASKS, AssignmentTerms(3, 0.1, have=whole.table[::2]))
    assert len(half.table) <= len(whole.table) - len(whole.table[::2])
    assert half.error_exact.max() <= 0.1 * (1 + 1e-9)


SKILL = dict(zip(WORKERS, [0.9, 0.85, 0.8, 0.8, 0.75], strict=True))


class TestFrontDoor:
    """Tasks that the labels hold already are topped up."""

    def labels(self, classes, seed=0):
        rng = np.random.default_rng(seed)
        truth = pd.Series(rng.choice(list("xyz")[:classes], 70), [f"g{k}" for k in range(70)])
        other = {one: [c for c in list("xyz")[:classes] if c != one] for one in truth.unique()}
        rows = [
            (t, w, true if rng.random() < p else rng.choice(other[true]))
            for t, true in truth.items()
            for w, p in SKILL.items()
            if t not in ("g60", "g61", "g62", "g63") or w < "c"
        ]
        rows.append(("g60", "stranger", "x"))
        return pd.DataFrame(rows, columns=["task", "worker", "label"]), truth[:60]

    @pytest.mark.parametrize("classes", [2, pytest.param(3, marks=pytest.mark.release)])
    def test_labels_on_record_count_and_are_not_asked_again(self, classes):
        labels, gold = self.labels(classes)
        tasks = [f"g{k}" for k in range(60, 64)] + ["new"]
        made = wb.plan(
            labels, gold, tasks, epsilon=0.1, capacity=5, options=wb.PlanOptions(time_limit=600)
        )
        assert made.message is None
        assert (len(made.counted), made.left_out) == (8, 1)
        assert "8 counted, of 4 tasks; 1 left out, skill unknown" in made.details()
        pairs = {*made.table[["task", "worker"]].itertuples(index=False, name=None)}
        assert not pairs & {*labels[["task", "worker"]].itertuples(index=False, name=None)}
        assert made.errors["exact"].max() <= 0.1 + made.error_radius
        assert made.to_dict()["error_measured"] is not None
        voted = wb.aggregate(labels, plan=made)  # of all that has come: what was on record
        assert sorted(voted.to_frame()["task"]) == sorted(tasks)
        assert voted.to_frame().set_index("task")["label"].notna().sum() == 4

    @pytest.mark.release
    def test_skills_and_a_table_of_what_there_is_with_least_and_most(self):
        labels, _ = self.labels(2)
        bound = wb.PlanOptions(promise="bound")
        ask = {"skills": SKILL, "tasks": ["g60", "new"], "capacity": 5, "options": bound}
        made = wb.plan(limits=wb.TaskLimits(have=labels, least=4), epsilon=0.4, **ask)
        assert made.table["task"].value_counts().to_dict() == {"g60": 2, "new": 4}
        anew = wb.plan(limits=wb.TaskLimits(have="none", least=4), epsilon=0.4, **ask)
        assert (len(anew.table), len(anew.counted)) == (8, 0)
        refused = wb.plan(
            limits=wb.TaskLimits(have=labels, most=3),
            epsilon=0.001,
            **ask | {"options": wb.PlanOptions()},
        )
        assert refused.message.startswith("There is no plan")
        assert "g60, new" in refused.message
        with pytest.raises(wb.InputError, match="least is 3, most 2"):
            wb.plan(epsilon=0.1, limits=wb.TaskLimits(least=3, most=2), **ask)


def half_labelled(seed, classes=5, low=0.6, tasks=90, workers=25):
    """Labels of all tasks by three workers each, and the truth of the first half."""
    rng = np.random.default_rng(seed)
    truth, right = rng.integers(0, classes, tasks), rng.uniform(low, 0.95, workers)
    rows = [
        (f"t{i}", f"w{j}", int(truth[i] + wrong) % classes)
        for i in range(tasks)
        for j in rng.choice(workers, 3, replace=False)
        for wrong in [0 if rng.random() < right[j] else rng.integers(1, classes)]
    ]
    gold = pd.Series(truth, [f"t{i}" for i in range(tasks)])[: tasks // 2]
    return pd.DataFrame(rows, columns=["task", "worker", "label"]), gold


@pytest.mark.release
@pytest.mark.parametrize("epsilon", [0.1, 0.3])
@pytest.mark.parametrize("seed", range(2))
def test_a_batch_of_five_classes_half_labelled(seed, epsilon):
    """At the larger error many tasks keep their promise already and need nobody."""
    labels, gold = half_labelled(seed)
    tasks = [f"t{i}" for i in range(45, 90)] + [f"new {k}" for k in range(20)]
    made = wb.plan(
        labels, gold, tasks, epsilon=epsilon, capacity=50, options=wb.PlanOptions(time_limit=2)
    )
    assert made.message is None
    assert len(made.counted) == 3 * 45
    assert epsilon < 0.3 or made.table["task"].nunique() < len(tasks)
    assert made.errors["exact"].max() <= epsilon + made.error_radius
    pairs = {*made.table[["task", "worker"]].itertuples(index=False, name=None)}
    assert not pairs & {*labels[["task", "worker"]].itertuples(index=False, name=None)}
