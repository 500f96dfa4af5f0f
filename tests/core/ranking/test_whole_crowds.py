"""Aggregators on whole crowds: the labels that all meet, differences and places by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from tests.core.studies.study_runs import smoke
from workbench.aggregation.voting import majority
from workbench.base.errors import InputError
from workbench.ranking import peer_aggregators, whole_crowds
from workbench.ranking.benchopt_files import read_results
from workbench.ranking.whole_crowds import LEVELS, first_labels, standings


def labels_of(level, order, seed=0):
    votes, _ = first_labels("simulated", level, order, seed)
    return {*map(tuple, votes.table().to_numpy())}


def test_labels_are_nested_drawn_anew_by_order_and_the_same_for_all():
    per_task = [labels_of(level, 0) for level in LEVELS]
    assert all(few < more for few, more in pairwise(per_task))
    votes, truth = first_labels("simulated", "3", 0)
    assert set(np.bincount(votes.task)) == {3}
    assert (truth >= 0).all()
    assert labels_of("3", 0) == labels_of("3", 0)
    one, other = (first_labels("simulated", "all", order)[0] for order in (0, 1))
    assert len(one) == len(other)


def test_an_order_of_a_recorded_crowd_changes_which_labels_come_first(monkeypatch):
    whole, truth = first_labels("simulated", "all", 0)
    monkeypatch.setattr(whole_crowds, "draw", lambda *_, **__: (whole, truth))
    whole_crowds.ordered.cache_clear()
    tables = [
        {*map(tuple, first_labels("fixed", level, order)[0].table().to_numpy())}
        for level, order in (("2", 0), ("2", 1), ("all", 0), ("all", 1))
    ]
    whole_crowds.ordered.cache_clear()
    assert tables[0] != tables[1]
    assert tables[2] == tables[3] == {*map(tuple, whole.table().to_numpy())}
    # Nobody's label is likelier to come first: a worker's share is that of her labels.
    counts = []
    for order in range(40):
        monkeypatch.setattr(whole_crowds, "draw", lambda *_, **__: (whole, truth))
        votes, _ = first_labels("fixed", "1", order)
        counts.append(np.bincount(votes.worker, minlength=len(whole.workers)))
    whole_crowds.ordered.cache_clear()
    expected = np.bincount(whole.worker, minlength=len(whole.workers)) / 10
    mean, error = np.mean(counts, axis=0), np.std(counts, axis=0) / np.sqrt(40)
    assert (abs(mean - expected) < 5 * error + 1e-9).all()


def test_a_trial_labels_by_the_first_labels():
    table = smoke("whole-crowds")
    assert set(table["status"]) == {"ok"}
    row = table[(table["method"] == "majority") & (table["order"] == 1)].iloc[0]
    votes, truth = first_labels("simulated", "3", 1)
    wrong = 1 - majority(votes, seed=0).chance_right(truth)
    assert row["error_3"] == pytest.approx(wrong.mean())
    assert row["labels_3"] == 3
    assert pd.isna(row["error_all"])  # all labels are given once, in the first order
    assert table.loc[table["order"] == 0, "error_all"].notna().all()


def points():
    """`b` is .1 below the majority on x, .04 above on y; `c` ran in one order; `d` on x alone."""
    rows = []
    for crowd, level, order, base in (
        ("x", "1", 0, 0.4),
        ("x", "1", 1, 0.5),
        ("x", "all", 0, 0.3),
        ("y", "1", 0, 0.2),
        ("y", "1", 1, 0.2),
        ("y", "all", 0, 0.1),
    ):
        errors = {"majority": base, "b": base - 0.1 if crowd == "x" else base + 0.04}
        errors |= {"c": base - 0.02} if order == 0 else {}
        errors |= {"d": base - 0.3} if crowd == "x" else {}
        rows += [
            {"method": name, "crowd": crowd, "level": level, "order": order, "error": error}
            for name, error in errors.items()
        ]
    return pd.DataFrame(rows).assign(labels=1.0, seconds=0.5)


def test_places_differences_and_the_worst_loss_are_those_by_hand():
    table = standings(points()).set_index("method")
    assert table["place"].to_dict() == {"b": "1", "c": "2", "majority": "3", "d": "–"}
    assert table["less"].to_dict() == pytest.approx(
        {"b": -0.03, "c": -0.02, "majority": 0, "d": -0.3}
    )
    assert table.loc["b", "worst"] == pytest.approx(0.04)
    assert table.loc["b", "where"].startswith("y, ")
    assert table.loc["c", "worst"] == 0
    assert table.loc["c", "where"] == "–"
    # In one order alone, on the ground of both: the majority's means of one label are .45 and .2.
    assert table.loc["c", "error_1"] == pytest.approx((0.43 + 0.18) / 2)
    assert table.loc["majority", "error_1"] == pytest.approx((0.45 + 0.2) / 2)
    assert table.loc["majority", "error"] == pytest.approx((0.375 + 0.15) / 2)
    # b is first on x twice, last on y twice; c second on x and first on y.
    assert table.loc["b", "rank"] == 2.0
    assert table.loc["c", "rank"] == 1.5
    # Student's interval of two crowds: ± 12.706 · s/√2.
    half = 12.706204736 * np.std([-0.1, 0.04], ddof=1) / np.sqrt(2)
    assert table.loc["b", ["low", "high"]].tolist() == pytest.approx([-0.03 - half, -0.03 + half])
    assert table.loc["b", "seconds"] == 1.0


RESULTS = """solver_name,p_dataset_crowd,p_dataset_labels,p_dataset_order,objective_value,time
mine,simulated,2,0,0.25,0.1
mine,simulated,every,0,0.125,0.2
"""


def test_results_of_others_are_read_by_benchopts_columns(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text(RESULTS)
    rows = read_results(path)
    assert rows["level"].tolist() == ["2", "all"]
    assert rows["error"].tolist() == [0.25, 0.125]
    assert rows["method"].tolist() == ["mine", "mine"]
    path.write_text(
        RESULTS.replace("time\n", "time,p_solver_method\n").replace("0.1\n", "0.1,em\n")
    )
    assert read_results(path)["method"].tolist() == ["em", "mine"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("objective_value", "value", "no column objective_value"),
        ("0.25", "1.5", "row 1"),
        (",2,0,", ",7,0,", "p_dataset_labels has '7'"),
        (",every,0,", ",every,x,", "row 2"),
    ],
)
def test_results_that_are_none_are_one_line(old, new, words, tmp_path):
    path = tmp_path / "results.csv"
    path.write_text(RESULTS.replace(old, new))
    with pytest.raises(InputError, match=words):
        read_results(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_results(tmp_path / "none.csv")


def test_a_peers_aggregator_is_called_by_its_own_table(monkeypatch):
    class DawidSkene:
        def fit_predict(self, table):
            assert list(table.columns) == ["task", "worker", "label"]
            return table.groupby("task")["label"].first().iloc[1:]

    class Module:
        pass

    Module.DawidSkene = DawidSkene
    Module.KOS = None
    monkeypatch.setattr(peer_aggregators.importlib, "import_module", lambda _: Module)
    votes, truth = first_labels("simulated", "2", 0)
    result = peer_aggregators.peer("crowd-kit DawidSkene", votes)
    first = votes.label[np.unique(votes.task, return_index=True)[1]]
    assert (result.label[1:] == first[1:]).all()
    assert result.unlabelled.tolist() == [True] + [False] * (len(truth) - 1)
    with pytest.raises(InputError, match="no aggregator 'crowd-kit Nobody'"):
        peer_aggregators.peer("crowd-kit Nobody", votes)
    with pytest.raises(InputError, match="TypeError"):
        peer_aggregators.peer("crowd-kit KOS", votes)


def test_the_leaderboard_runs_all_but_the_slow_peers(monkeypatch):
    monkeypatch.setattr(whole_crowds, "at_hand", list)
    own = whole_crowds.methods()
    assert whole_crowds.quick() == own
    peers = [peer_aggregators.PREFIX + name for name in peer_aggregators.NAMES]
    monkeypatch.setattr(whole_crowds, "at_hand", lambda: peers)
    assert whole_crowds.methods() == [*own, *peers]
    quick = ("MajorityVote", "Wawa", "DawidSkene", "MMSR")
    assert whole_crowds.quick() == [*own, *(f"crowd-kit {name}" for name in quick)]
