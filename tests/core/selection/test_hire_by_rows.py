"""Hiring by rows of confusion matrices: the choice, its vote, and who is refused."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.accuracy.likeliest import likeliest_error
from workbench.accuracy.measured import less_by_a_standard_error
from workbench.crowd.confusion import (
    better_explained,
    class_shares,
    constant_workers,
    estimate_confusion,
    one_class,
    without_constant,
)
from workbench.crowd.gold_rule import gold_codes
from workbench.crowd.votes import Votes
from workbench.selection.covering import DrawnLabels, ListedAnswers, covering_by_rows
from workbench.selection.hire import HireOptions
from workbench.selection.hire_rules import hire_rule, hiring
from workbench.selection.hired_vote import HiredVote
from workbench.selection.rows import labels_seen


def matrices(rng, workers, classes):
    right = rng.uniform(0.4, 0.95, (workers, classes, 1))
    other = rng.dirichlet(np.ones(classes), (workers, classes))
    return right * np.eye(classes) + (1 - right) * other


def rare(seed, tasks=400, gold=100, looking=(0.8, 0.95)):
    """One task in ten is positive; four workers look, four always say no."""
    rng = np.random.default_rng(seed)
    truth = rng.random(tasks) < 0.1
    said = {}
    for j in range(4):
        specific, sensitive = rng.uniform(*looking, 2)
        right = rng.random(tasks) < np.where(truth, sensitive, specific)
        said[f"looks {j}"] = np.where(right, truth, ~truth)
        said[f"no {j}"] = np.zeros(tasks, dtype=bool)
    names = list(said)
    rows = [
        (f"t{i}", names[j], "yes" if said[names[j]][i] else "no")
        for j in rng.permutation(8)
        for i in range(tasks)
    ]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    known = pd.Series(np.where(truth, "yes", "no"), index=[f"t{i}" for i in range(tasks)])
    given = np.sort(rng.permutation(tasks)[:gold])
    return labels, known.iloc[given], known.drop(known.index[given])


@pytest.mark.parametrize("classes", [2, 3])
def test_errors_are_those_of_all_ways_to_answer(classes):
    rng = np.random.default_rng(classes)
    known, shares = matrices(rng, 4, classes), rng.dirichlet(np.full(classes, 3.0))
    everybody = np.ones(4, dtype=bool)
    answers = rng.random((7, 4)) < 0.6
    listed = ListedAnswers(np.arange(4), known, shares, 0.4)
    drawn = DrawnLabels.by_rows(known, shares, everybody, answers, 0.4, 0, 200_000)
    of, score = listed.start(), drawn.start()
    assert listed.error(of) == drawn.error(score) == 0.4
    for worker in range(4):
        exact = likeliest_error(known[: worker + 1], shares).probability
        assert listed.errors_with(of, np.array([worker]))[0] == pytest.approx(exact)
        by_task = [
            likeliest_error(known[: worker + 1][row[: worker + 1]], shares).probability
            if row[: worker + 1].any()
            else 0.4
            for row in answers
        ]
        with_her = drawn.errors_with(score, np.array([worker]))[0]
        assert with_her == pytest.approx(np.mean(by_task), abs=0.004)
        listed.add(of, worker)
        drawn.add(score, worker)
        assert listed.error(of) == pytest.approx(exact)
        assert drawn.error(score) == pytest.approx(with_her)


@pytest.mark.parametrize("seed", range(4))
def test_hardly_worse_than_the_best_set(seed):
    rng = np.random.default_rng(seed)
    known, shares = matrices(rng, 7, 2), np.array([0.85, 0.15])
    chosen = covering_by_rows(known, shares, np.ones(7, dtype=bool), None, 3, seed=0)
    best = min(
        likeliest_error(known[list(some)], shares).probability
        for k in (1, 2, 3)
        for some in combinations(range(7), k)
    )
    assert likeliest_error(known[chosen], shares).probability <= best + 0.003


def test_the_vote_is_the_likeliest_class():
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 9, (3, 2, 2))
    rows = estimate_confusion(counts, np.array([0.8, 0.2]), np.arange(3), np.arange(2))
    vote = HiredVote(np.array([2, 0]), np.full(2, np.nan), rows)
    for said in product(range(2), repeat=3):
        likely = rows.prior.copy()
        for j in (0, 2):
            likely *= rows.confusion[j, :, said[j]]
        chance = vote.chance(np.zeros(3, int), np.arange(3), np.array(said), (2, 2))
        assert chance[0].argmax() == likely.argmax()
        assert np.isnan(chance[1]).all()


def test_each_class_has_a_strength_of_its_own():
    """All alike where "no" is true, some blind where "yes" is: one strength would blur both."""
    rng = np.random.default_rng(0)
    counts = np.zeros((40, 2, 2), dtype=int)
    counts[:, 0, 0] = rng.binomial(60, 0.9, 40)
    counts[:, 0, 1] = 60 - counts[:, 0, 0]
    counts[:, 1, 1] = rng.binomial(8, np.where(np.arange(40) < 20, 0.0, 0.9))
    counts[:, 1, 0] = 8 - counts[:, 1, 1]
    rows = estimate_confusion(counts, np.array([0.9, 0.1]), np.arange(40), np.arange(2))
    assert rows.weight[0] > 100
    assert rows.weight[1] < 3
    assert rows.confusion[:20, 1, 1].max() < 0.15
    assert rows.confusion[20:, 1, 1].mean() == pytest.approx(0.9, abs=0.06)


def test_who_names_one_class_throughout_is_known_beyond_doubt_only():
    worker, label = np.repeat(np.arange(4), 80), np.zeros(320, dtype=int)
    label[80] = 1  # The second names another class once.
    seen = one_class(worker, label, 4)
    assert seen[0].tolist() == [0, -1, 0, 0]
    counts = np.zeros((4, 2, 2), dtype=int)
    counts[:, 0, 0] = 30
    counts[:2, 1, 0] = 2
    counts[2, 1, 0] = 1  # The fourth has met no task of the other class.
    shares = np.array([0.9, 0.1])
    assert constant_workers(*seen, counts, shares).tolist() == [True, False, True, False]
    assert not constant_workers(seen[0], np.full(4, 60), counts, shares).any()  # .9^60 > .001
    known = without_constant(matrices(np.random.default_rng(0), 2, 3), np.array([True, False]))
    assert (known[0] == known[0, 0]).all()
    assert not (known[1] == known[1, 0]).all()


def test_those_who_look_are_seldom_taken_for_constant():
    rng, found = np.random.default_rng(3), 0
    for _ in range(200):
        truth = (rng.random(60) < 0.1).astype(int)
        said = np.where(rng.random((8, 60)) < 0.8, truth, 1 - truth)
        counts = np.zeros((8, 2, 2), dtype=int)
        np.add.at(counts, (np.repeat(np.arange(8), 60), np.tile(truth, 8), said.ravel()), 1)
        seen = one_class(np.repeat(np.arange(8), 60), said.ravel(), 8)
        found += constant_workers(*seen, counts, class_shares(truth, 2)).sum()
    assert found == 0


def test_rows_are_in_question_where_they_explain_more():
    """Workers alike in even classes: hardly ever; of a rare class: always."""
    rng, alike, unlike = np.random.default_rng(0), 0, 0
    for _ in range(60):
        for share, skills in (
            (0.5, rng.uniform(0.6, 0.95, (12, 1))),
            (0.1, np.full((12, 1), 0.85)),
        ):
            truth = (rng.random(100) < share).astype(int)
            said = np.where(rng.random((12, 100)) < skills, truth, 1 - truth)
            counts = np.zeros((12, 2, 2), dtype=int)
            np.add.at(counts, (np.repeat(np.arange(12), 100), np.tile(truth, 12), said.ravel()), 1)
            rows = estimate_confusion(counts, class_shares(truth, 2), np.arange(12), np.arange(2))
            taken = better_explained(rows, np.bincount(truth, minlength=2))
            alike, unlike = alike + (taken and share == 0.5), unlike + (taken and share == 0.1)
    assert alike <= 2
    assert unlike == 60


def test_one_standard_error():
    less = np.array([1.0, 1.0, 0, 0, 0, 0, 0, 0, 0, -1.0])
    se = less.std(ddof=1) / np.sqrt(10)
    assert less.mean() < se
    assert not less_by_a_standard_error(less)
    assert less_by_a_standard_error(np.r_[less, 1.0, 1.0])
    assert not less_by_a_standard_error(np.zeros(10))
    assert not less_by_a_standard_error(np.ones(1))


@pytest.fixture(scope="module")
def hired():
    """The first crowd in which rows are taken."""
    for seed in range(10):
        labels, gold, rest = rare(seed)
        hires = wb.hire(labels, gold, budget=3)
        if hires.found.vote.rows is not None:
            return labels, gold, rest, hires
    raise AssertionError("rows are never taken")


def test_who_always_says_no_is_not_hired_and_it_is_said(hired):
    hires = hired[3]
    assert all(name.startswith("looks") for name in hires.chosen)
    first, second, *_ = hires.verdict()
    assert "of the others 4 always name one class, which tells nothing" in first
    found = hires.to_dict()["rare_class"]
    assert f"Of the {found['tasks']} gold tasks that are yes, it finds" in second
    assert "are taken from your gold: " in hires.summary()
    assert "refused, 4 of 8 workers" in hires.details()


def test_aggregate_executes_what_is_measured(hired, tmp_path):
    """The rule that was measured, fitted on all gold, and `aggregate` answer alike, by file too."""
    labels, gold, _, hires = hired
    votes = Votes.of(labels, classes=["no", "yes"])
    truth = gold_codes(votes, gold)
    rule = hire_rule(votes, hiring(3, 2, labels_seen(votes, truth), HireOptions()))(truth)
    chance = rule.label(np.arange(len(votes.tasks))).chance
    answers = wb.aggregate(labels, workers=hires, method="weighted-log-odds").labels
    clear = chance.max(axis=1) > 0.6
    assert clear.mean() > 0.9
    said = answers.reindex(votes.tasks).to_numpy()
    assert (said[clear] == votes.classes[chance.argmax(axis=1)][clear]).all()
    path = tmp_path / "chosen.csv"
    hires.to_frame().to_csv(path, index=False)
    by_file = wb.aggregate(labels, workers=path, method="weighted-log-odds").labels
    assert by_file.equals(answers)
    options = wb.ModelOptions(truncate=0.1)
    with pytest.raises(wb.InputError, match="truncate"):
        wb.aggregate(labels, workers=hires, method="weighted-log-odds", options=options)


@pytest.mark.release
def test_a_crowd_alike_in_even_classes_votes_by_weights():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 150)
    said = np.where(rng.random((6, 150)) < rng.uniform(0.7, 0.9, (6, 1)), truth, 1 - truth)
    labels = pd.DataFrame(
        [(i, f"w{j}", int(said[j, i])) for j in range(6) for i in range(150)],
        columns=["task", "worker", "label"],
    )
    hires = wb.hire(labels, dict(enumerate(truth[:80].tolist())), budget=3)
    assert hires.found.vote.rows is None
    assert not hires.found.compared
    assert "weight" in hires.to_frame()
    assert hires.to_dict()["rare_class"] is None


@pytest.mark.release
def test_words_picture_and_json_say_one_number(hired):
    labels, gold, _, hires = hired
    for found in (hires, wb.hire(labels.groupby("task").head(3), gold, budget=2)):
        points, told = found.by_number(), found.to_dict()
        last = points[points["workers"] == len(found.chosen)].iloc[0]
        assert last["error"] == told["error_measured"] == found.error.measured.error_measured
        assert (last["low"], last["high"]) == tuple(told["error_interval"])
        assert f"on {100 * told['error_measured']:.2g} % of tasks" in found.summary()


def test_whom_the_majority_betters_is_not_to_be_hired():
    """Equally good workers, who label three in five tasks each."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    rows = [
        (i, f"w{j}", int(truth[i] if rng.random() < 0.8 else 1 - truth[i]))
        for j in range(9)
        for i in range(200)
        if rng.random() < 0.6
    ]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    hires = wb.hire(labels, dict(enumerate(truth[:60].tolist())), budget=1)
    assert hires.error.worse
    first, second, third, *_, last = hires.verdict()
    assert first.startswith("Do not hire these 1 of 9 workers")
    assert "errs on more of your gold than everybody's majority" in first
    assert second.startswith(f"{hires.empty} of 200 tasks get no answer")
    assert hires.empty == 200 - labels.loc[labels["worker"] == hires.chosen[0], "task"].nunique()
    assert third.startswith("Their vote is wrong or missing on")
    assert last == (
        "Next: answer the tasks from all labels, with 'workbench aggregate', or give a larger "
        "--budget than 1; for tasks that all of those chosen label, choose with "
        "--everybody-answers."
    )


@pytest.mark.release
def test_ten_crowds_of_a_rare_class():
    blind, errors, recalls = 0, [], []
    for seed in range(10):
        labels, gold, rest = rare(100 + seed, tasks=700)
        hires = wb.hire(labels, gold, budget=3)
        blind += sum(name.startswith("no") for name in hires.chosen)
        answers = wb.aggregate(labels, workers=hires, method="weighted-log-odds").labels
        wrong = answers.reindex(rest.index) != rest
        errors.append(wrong.mean())
        recalls.append(1 - wrong[rest == "yes"].mean())
    assert blind <= 1
    assert np.mean(errors) <= 0.038
    assert np.mean(recalls) >= 0.76
