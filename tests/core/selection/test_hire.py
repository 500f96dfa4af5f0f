from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from workbench.base.errors import InputError
from workbench.crowd.tables import read_labels
from workbench.selection import RULES, bounds
from workbench.selection.accuracy import predicted_error, prefix_errors
from workbench.selection.hire import HireOptions, hire, skill_interval
from workbench.selection.hire_rules import measure_hiring
from workbench.selection.money import within_money
from workbench.selection.scoring import scores, set_score
from workbench.selection.selecting import select


def table(counts, classes=2, control=None):
    """Labels in which each worker answers and gets right as told: (right, answered) by name."""
    rows = [
        (f"c{i}", worker, str((i + (i >= right)) % classes))
        for worker, (right, answered) in counts.items()
        for i in range(answered)
    ]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    control = control or max(answered for _, answered in counts.values())
    gold = pd.Series({f"c{i}": str(i % classes) for i in range(control)}, name="gold")
    return labels, gold.rename_axis("task")


COUNTS = {
    "ann": (12, 12),
    "bob": (6, 12),
    "cy": (10, 12),
    "di": (11, 11),
    "ed": (7, 9),
    "flo": (1, 12),
    "gus": (9, 12),
    "hal": (1, 1),
}


PRICES = pd.Series(1.0, index=list(COUNTS))


def counted(counts=COUNTS):
    right, answered = np.array(list(counts.values())).T
    return right, answered


def hired(budget=4, counts=COUNTS, classes=2, **options):
    """As the paper: whoever is informative may be hired."""
    given = HireOptions(**{"allow_below_chance": True, "rule": "selected", **options})
    return hire(*table(counts, classes), budget, given)


@pytest.mark.parametrize("rule", RULES)
def test_numbers_are_those_of_the_functions(rule):
    counts = {name: pair for name, pair in COUNTS.items() if rule != "accuracy" or name != "hal"}
    found = hired(4, counts, rule=rule)
    known = scores(*counted(), 2) if rule != "accuracy" else found.known
    direct = select(known, 4, rule, seed=0)
    assert found.chosen.tolist() == np.array(list(COUNTS))[direct.chosen].tolist()
    assert found.score == pytest.approx(set_score(known.gain[direct.chosen]))
    assert found.curve[found.size - 1] == pytest.approx(found.score)
    assert found.interval == bounds.interval(known, direct.chosen)
    assert found.error_bound == found.error_bound_printed == bounds.error_bound(found.score, 2)
    assert found.error_predicted == predicted_error(known, direct.chosen)
    assert found.error_curve() == prefix_errors(known, found.order[:4])
    assert found.interval_curve()[3] == pytest.approx(bounds.interval(known, found.order[:4]))
    assert (found.known.classes, found.class_names, found.control) == (2, ["0", "1"], 12)
    if rule == "selected":
        assert found.best == found.size
    again = hired(4, counts, rule=rule)
    assert again.table.equals(found.table)


def test_the_table():
    right, answered = counted()
    known = scores(right, answered, 2)
    rows = hired().table.set_index("worker")
    assert list(rows.columns) == [
        "answered",
        "correct",
        "skill",
        "low",
        "high",
        "gain",
        "chosen",
    ]
    for j, name in enumerate(COUNTS):
        row = rows.loc[name]
        assert (row["answered"], row["correct"]) == (answered[j], right[j])
        if name == "hal":
            assert np.isnan(row["skill"])
            assert np.isnan(row["gain"])
            assert not row["chosen"]
        else:
            assert row["skill"] == right[j] / answered[j]
            assert row["gain"] == known.gain[j]
    chosen = rows["chosen"].to_numpy()
    assert chosen[: chosen.sum()].all()
    assert rows.index[-1] == "hal"
    assert (np.diff(rows["gain"].to_numpy()[:-1]) <= 0).all()


def test_rows_in_any_order_and_names_of_any_kind():
    labels, gold = table(COUNTS)
    plain = hire(labels, gold, 4, HireOptions("selected"))
    for seed in range(3):
        turned = labels.sample(frac=1, random_state=seed), gold.sample(frac=1, random_state=seed)
        assert sorted(hire(*turned, 4, HireOptions("selected")).chosen) == sorted(plain.chosen)
    names = {worker: j for j, worker in enumerate(COUNTS)}
    numbers = labels.assign(worker=labels["worker"].map(names), label=labels["label"].astype(int))
    numbered = hire(numbers, gold.astype(int), 4, HireOptions("selected"))
    assert [names[worker] for worker in plain.chosen] == numbered.chosen.tolist()
    assert numbered.class_names == [0, 1]
    assert plain.table.drop(columns="worker").equals(numbered.table.drop(columns="worker"))


def test_only_control_tasks_count():
    """Other tasks add a worker to the list, and a class to L, but no answer."""
    labels, gold = table(COUNTS)
    more = pd.DataFrame(
        [("x", "ann", "1"), ("x", "ivy", "0"), ("y", "bob", "0")], columns=labels.columns
    )
    found = hire(
        pd.concat([labels, more]), gold, 4, HireOptions("selected", allow_below_chance=True)
    )
    assert found.chosen.tolist() == hired().chosen.tolist()
    assert found.excluded.set_index("worker")["why"].to_dict() == {
        "hal": "one control answer",
        "ivy": "no control answer",
    }
    third = hire(pd.concat([labels, more.assign(label="2")]), gold, 4)
    assert third.known.classes == 3


def test_a_prior_takes_everybody_in():
    found = hired(8, prior=(2.0, 1.0), rule="top-skill")
    assert found.excluded.empty
    row = found.table.set_index("worker").loc["hal"]
    assert (row["skill"], row["gain"]) == (3 / 4, 1 / 4)
    assert "hal" in found.chosen
    assert found.interval is None
    without = hired(2, prior=(2.0, 1.0))
    assert without.interval is not None
    known = scores(*counted(), 2, prior=(2.0, 1.0))
    at = [list(COUNTS).index(worker) for worker in without.chosen]
    assert without.error_predicted == predicted_error(known, at)


def test_classes():
    counts = {name: count for name, count in COUNTS.items() if name != "hal"}
    three = hired(3, counts, classes=3)
    known = scores(*counted(counts), 3)
    assert three.score == pytest.approx(select(known, 3, seed=0).score)
    assert three.error_bound > three.error_bound_printed
    labels, gold = table({"ann": (3, 4), "bob": (2, 4)}, control=4)
    gold.iloc[0] = "only the gold names it"
    assert hire(labels, gold, 2).known.classes == 3
    labels, gold = table(counts)
    same, truth = labels.assign(label="1"), gold.map(lambda _: "1")
    with pytest.raises(InputError, match="labels and gold name '1' only; say how many"):
        hire(same, truth, 3)
    assert hire(same, truth, 3, HireOptions(classes=2)).known.classes == 2


def test_ties_are_told_and_fair():
    counts = {f"w{j}": (9, 12) for j in range(6)} | {"best": (12, 12)}
    drawn = [hired(3, counts, rule="top-skill", seed=seed) for seed in range(15)]
    assert all(set(found.tied) == {f"w{j}" for j in range(6)} for found in drawn)
    assert {worker for found in drawn for worker in found.chosen} == set(counts)
    assert any("6 workers of equal rank" in note for note in drawn[0].notes)
    assert len(hired(7, counts, rule="top-skill").tied) == 0


def test_evidence_comes_before_the_lot():
    """23 of 23 and 3 of 3 have the same G; who has shown more is hired, and stands first."""
    counts = {"few": (3, 3), "many": (23, 23), "also few": (3, 3), "half": (13, 23)}
    for rule in sorted({*RULES} - {"random"}):
        for seed in range(2):
            found = hired(1, counts, rule=rule, seed=seed)
            assert found.chosen.tolist() == ["many"], rule
            assert not len(found.tied)
            assert found.table["worker"].tolist()[0] == "many"
    two = [hired(2, counts, seed=seed) for seed in range(10)]
    assert {found.chosen[1] for found in two} == {"few", "also few"}
    assert all(set(found.tied) == {"few", "also few"} for found in two)
    counts = {"few": (3, 4), "more": (5, 7), "again few": (3, 4)}  # both leave 2/3
    for seed in range(4):
        flat = hired(1, counts, rule="accuracy", prior=(1.0, 1.0), seed=seed)
        assert flat.chosen.tolist() == ["more"]


def chance_below(right, answered, classes):
    """P(Beta(c + 1, n − c + 1) < 1/L), exactly: at least c + 1 of n + 1 draws fall below 1/L."""
    n, guess = answered + 1, Fraction(1, classes)
    return sum(math.comb(n, k) * guess**k * (1 - guess) ** (n - k) for k in range(right + 1, n + 1))


@settings(max_examples=30, deadline=None)
@given(
    counts=st.lists(
        st.integers(2, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
        min_size=1,
        max_size=7,
    ),
    budget=st.integers(1, 7),
    classes=st.integers(2, 4),
    rule=st.sampled_from(sorted({*RULES} - {"random", "accuracy"})),
    seed=st.integers(0, 3),
)
def test_nobody_is_hired_against_the_evidence(counts, budget, classes, rule, seed):
    named = {f"w{j}": pair for j, pair in enumerate(counts)}
    labels, gold = table(named, classes)
    found = hire(labels, gold, budget, HireOptions(rule=rule, classes=classes, seed=seed))
    refused = {
        name for name, pair in named.items() if chance_below(*pair, classes) > Fraction(1, 2)
    }
    known = scores(*counted(named), classes)
    assert not refused & {*found.chosen}
    assert refused == {*found.excluded["worker"]}
    if rule == "selected" and found.size:
        gain = known.gain[[name not in refused for name in named]]
        best = max(
            set_score(np.array(some))
            for k in range(1, min(budget, len(gain)) + 1)
            for some in itertools.combinations(gain, k)
        )
        assert found.score == pytest.approx(best, abs=1e-9)
    if len(refused) == len(named):
        assert found.size == 0
        assert found.notes[0].startswith("nobody to hire")
        assert found.error_curve() == []
    value = {
        "top-skill": known.skill,
        "threshold": known.skill,
        "plug-in": known.plug_in,
        "top-informative": known.plug_in,
        "selected": known.gain,
    }[rule]
    place = {name: (value[j], known.answered[j]) for j, name in enumerate(named)}
    out = [name for name in named if name not in {*found.chosen} | refused]
    if rule == "threshold":
        out = [name for name in out if known.skill[list(named).index(name)] > 1 / classes]
    for hired_one, other in itertools.product(found.chosen, out):
        assert place[hired_one] >= place[other]
    ranks = [place[name] for name in found.table["worker"] if name not in refused]
    if rule != "threshold":
        assert ranks == sorted(ranks, reverse=True)
    assert [*found.table["worker"]][len(named) - len(refused) :] == [
        name for name in found.table["worker"] if name in refused
    ]


def test_below_chance_is_refused_unless_allowed():
    paper, ours = hired(4), hired(4, allow_below_chance=False)
    assert "flo" in paper.chosen
    assert ours.chosen.tolist() == ["ann", "di"]
    row = ours.table.set_index("worker").loc["flo"]
    assert (row["skill"], row["chosen"]) == (1 / 12, False)
    assert row["gain"] == paper.table.set_index("worker").loc["flo", "gain"]
    assert ours.table["worker"].tolist()[-2:] == ["flo", "hal"]
    assert ours.excluded.set_index("worker")["why"].to_dict() == {
        "flo": "below chance with probability 0.998",
        "hal": "one control answer",
    }
    assert len(ours.curve) == 4
    assert hired(9, allow_below_chance=False, rule="top-skill").size == 6
    assert any("worse than guessing" in note for note in paper.notes)
    # As many right as wrong is no evidence against anybody, and a prior is heard.
    even = hired(1, {"a": (6, 12), "b": (3, 4)}, allow_below_chance=False, rule="top-skill")
    assert even.excluded.empty
    assert hired(8, prior=(30.0, 1.0), allow_below_chance=False).excluded.empty
    sure = hired(8, prior=(1.0, 9.0), allow_below_chance=False)
    assert {"ed", "hal"} <= {*sure.excluded["worker"]}


def test_money():
    names = list(COUNTS)[:-1]
    costs = pd.Series([5.0, 1, 1, 2, 2, 1, 1], index=names)
    found = hired(5, costs=costs, money=5.0)
    known = scores(*counted(), 2)
    direct = within_money(known.gain, [*costs, 0.0], 5, 5.0, seed=0)
    everyone = list(COUNTS)
    assert found.chosen.tolist() == [everyone[j] for j in direct.chosen]
    assert costs[found.chosen].sum() == found.money.spent <= 5
    assert found.money.bound >= found.score >= found.money.heuristic_score - 1e-12
    best = max(
        set_score(known.gain[list(s)])
        for k in range(1, 6)
        for s in itertools.combinations(range(7), k)
        if costs.iloc[list(s)].sum() <= 5
    )
    assert found.score == pytest.approx(best)
    assert found.claim.proven
    assert len(found.curve) == found.size
    assert found.curve[-1] == pytest.approx(found.score)
    rows = found.table.set_index("worker")
    assert rows.loc[names, "cost"].to_dict() == costs.to_dict()
    assert np.isnan(rows.loc["hal", "cost"])
    assert hired(5, costs=1.0, money=2.5).size == 2


@pytest.mark.release
def test_who_is_refused_may_be_chosen_where_a_control_task_is_hidden():
    counts = {"ann": (10, 11), "bob": (9, 11), "eve": (5, 11)}
    labels, gold = table(counts)
    measured = []
    for costs in (pd.Series([2.0, 1, 1], index=list(counts)), 1.0):
        for scale in (1.0, 10.0):
            options = HireOptions(rule="selected", costs=scale * costs, money=scale * 3.0)
            found = hire(labels, gold, 3, options)
            assert found.excluded["worker"].tolist() == ["eve"]
            measured.append(vars(measure_hiring(found, options)[0]))
        np.testing.assert_equal(measured[-1], measured[-2])
        assert measured[-1]["tasks_measured"] == 11


def test_tables_are_checked():
    labels, gold = table(COUNTS)
    twice = pd.concat([labels, labels[3:4]])
    with pytest.raises(InputError, match=r"classes is 2, and labels and gold name 3"):
        hire(*table(COUNTS, 3), 3, HireOptions(classes=2))
    for bad, known, message in ((twice, gold, "a second time"),):
        with pytest.raises(InputError, match=message):
            hire(bad, known, 3)
    kept = hire(
        read_labels(twice, duplicates="first"),
        gold,
        4,
        HireOptions("selected", allow_below_chance=True),
    )
    assert kept.chosen.tolist() == hired().chosen.tolist()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_interval_of_a_skill(right, wrong, confidence):
    """The definition: at each end, the tail beyond what was seen has half the rest."""
    n = right + wrong
    low, high = (end[0] for end in skill_interval(np.array([right]), np.array([n]), confidence))
    half = (1 - confidence) / 2
    assert 0 <= low <= (right / n if n else 1) <= high <= 1 or n == 0
    if right:
        assert stats.binom.sf(right - 1, n, low) == pytest.approx(half, rel=1e-6)
    else:
        assert low == 0
    if wrong:
        assert stats.binom.cdf(right, n, high) == pytest.approx(half, rel=1e-6)
    else:
        assert high == 1


def test_the_default_chooses_by_expected_error_within_the_money():
    costs = pd.Series([5.0, 1, 1, 2, 2, 1, 1, 1], index=list(COUNTS))
    labels, gold = table(COUNTS)
    free = hire(labels, gold, 3)
    assert free.rule == "accuracy"
    assert {"posterior", "weight"} <= {*free.table.columns}
    bought = hire(labels, gold, 3, HireOptions(costs=costs, money=4.0))
    known = bought.known
    best = min(
        predicted_error(known, np.array(some)).probability
        for k in (1, 2, 3)
        for some in itertools.combinations(np.flatnonzero(known.eligible), k)
        if costs.iloc[list(some)].sum() <= 4
    )
    assert bought.error_predicted.probability == pytest.approx(best)
    assert bought.claim.proven
    assert costs[bought.chosen].sum() == bought.frontier.best.cost <= 4
    nothing = hire(labels, gold, 3, HireOptions(costs=costs + 9.0, money=4.0))
    assert (nothing.size, nothing.frontier.sets) == (0, ())
    priced = hire(labels, gold, 3, HireOptions(costs=costs, curve=True))
    assert priced.chosen.tolist() == free.chosen.tolist()
    assert priced.frontier.best.error.probability <= free.error_predicted.probability + 1e-12
    counted = hire(labels, gold, 3, HireOptions(curve=True))
    assert [each.cost for each in counted.frontier.sets] == sorted(
        {len(each.chosen) for each in counted.frontier.sets}
    )


def test_it_says_where_hardly_more_errors_cost_much_less():
    """Three humans are expected to err .0172; two and five cheap models .0196, a third cheaper."""
    rng, truth = np.random.default_rng(1), np.arange(1000) % 2
    crowd = {f"human {k}": 924 for k in range(3)} | {f"model {k}": 753 for k in range(5)}
    rows = []
    for name, correct in crowd.items():
        right = np.isin(np.arange(1000), rng.permutation(1000)[:correct])
        said = np.where(right, truth, 1 - truth)
        rows += [(f"t{i}", name, str(label)) for i, label in enumerate(said)]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    gold = pd.Series(truth.astype(str), index=[f"t{i}" for i in range(1000)])
    costs = pd.Series({name: 0.1 if "human" in name else 0.002 for name in crowd})
    bought = hire(labels, gold, 8, HireOptions(costs=costs, money=0.3))
    best, less = bought.frontier.best, bought.frontier.nearly
    assert (best.cost, less.cost) == (pytest.approx(0.3), pytest.approx(0.21))
    assert best.error.probability == pytest.approx(0.0172, abs=5e-5)
    assert less.error.probability == pytest.approx(0.0196, abs=5e-5)
    assert sum("human" in name for name in costs.index[less.chosen]) == 2
    (said,) = [note for note in bought.notes if note.startswith("for less: 7 workers")]
    assert "at 0.21 a task are expected to err 0.0196, where 3 at 0.3" in said
    curve = hire(labels, gold, 8, HireOptions(costs=costs, curve=True)).frontier
    assert {0.21, 0.3} <= {round(each.cost, 9) for each in curve.sets}
    assert curve.best.error.probability < best.error.probability
