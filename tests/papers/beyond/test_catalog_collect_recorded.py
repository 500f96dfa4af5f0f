"""The replay of policies on recorded crowds: its standard error, and what its tables say."""

import numpy as np
import pandas as pd
import pytest

from crowd_papers.beyond import collect_recorded as study
from crowd_papers.beyond.collect_recorded import STEPS, by_crowd, crossed_error
from tests.core.studies.study_runs import complete, smoke
from workbench.collection import POLICIES
from workbench.collection.by_task import ByTask


def test_the_standard_error_is_of_orders_and_tasks():
    rng = np.random.default_rng(0)
    means, squares = [], []
    for _ in range(600):
        rows, columns = rng.normal(0, 1, (6, 1)), rng.normal(0, 2, (1, 20))
        table = rows + columns + rng.normal(0, 3, (6, 20))
        means.append(table.mean())
        squares.append(crossed_error(table) ** 2)
        assert crossed_error(table) == pytest.approx(crossed_error(table.T))
    true = 1 / 6 + 4 / 20 + 9 / 120
    assert np.var(means) == pytest.approx(true, rel=0.15)
    assert np.mean(squares) == pytest.approx(true, rel=0.1)
    assert crossed_error(np.repeat(rng.normal(size=(8, 1)), 50, axis=1)) > 0


@pytest.mark.release
def test_all_labels_are_the_same_whoever_buys_them():
    table = smoke("collect-recorded")
    each = table[table["budgets"] == study.EACH].set_index("policy")
    assert set(each.index) == {"fixed", "until-trusted"}
    assert (each["own_at_1"] - each["ebcc_at_1"]).to_numpy() == pytest.approx(each["more_at_1"])
    stopped = table[table["epsilon"].notna()].set_index("controls")
    assert stopped["held"].isna().to_dict() == {0: True, 40: False}
    bought = table[table["epsilon"].isna() & (table["budgets"] == study.ALL)]
    assert set(bought["policy"]) == set(study.DRAWN)
    by_one_model = [issubclass(POLICIES[name].call, ByTask) for name in bought["policy"]]
    bought = bought[by_one_model]
    assert bought[f"error_{STEPS}"].nunique() == 1
    assert (bought[f"more_{STEPS}"] == 0).all()
    assert (bought["budget_half"] == bought["labels"] // 2).all()
    own = bought[bought["policy"] == "fixed"].iloc[0]
    assert all(own[f"more_{step}"] == 0 for step in range(STEPS))


def test_what_counts_as_good_enough():
    """A policy is compared at budgets from three labels per task, and at half of all labels."""
    row = complete("collect-recorded", policy="margin") | {"labels": 1000, "tasks": 100}
    row["scored"] = 400
    for at in range(STEPS + 1):
        more = -0.03 if at < 3 else 0.02 if at == 3 else 0.005
        row |= {f"budget_{at}": 300 + at, f"error_{at}": 0.2, f"more_{at}": more, f"se_{at}": 0.01}
    row |= {"budget_half": 500, "error_half": 0.21, "more_half": 1.0, "se_half": 0.0}
    close, far = (by_crowd(pd.DataFrame([row | {"error_half": half}])) for half in (0.219, 0.221))
    assert close["within"][0] == pytest.approx(11 / 12)
    assert close["wins"][0] == pytest.approx(3 / 12)
    assert close["gold_se"][0] == pytest.approx(0.02)
    assert close["enough"][0]
    assert not far["enough"][0]


def test_a_policy_is_held_against_ebcc_at_so_many_labels_a_task():
    """By the standard error, at each budget that the crowd has labels for."""
    rows = []
    for data, more in (("rte", (0.0, -0.02, 0.01, 0.009)), ("product", (0.02, -0.1, None, None))):
        row = complete("collect-recorded", policy="margin", data=data, budgets="a task")
        for b, excess in zip(study.A_TASK, more, strict=True):
            row |= {f"own_at_{b}": None if excess is None else 0.2 + excess}
            row |= {f"ebcc_at_{b}": 0.2, f"more_at_{b}": excess, f"se_at_{b}": 0.01}
            beyond = {f"plain_at_{b}": 0.19, f"beyond_at_{b}": excess, f"beyond_se_at_{b}": 0.0045}
            row |= beyond if excess is not None else dict.fromkeys(beyond)
        rows.append(row | {"scored": 100})
    analysis = study.about_labels_a_task(pd.DataFrame(rows))
    (table,) = analysis.tables.values()
    assert table["within"].tolist() == [True] * 4 + [False, True]
    assert "on 1 of 2 crowds (not on product), and at 5 of 6 budgets" in analysis.findings[0]
    assert "at 1 on product of 2 crowds (+0.0100 in the mean)" in analysis.findings[1]
    assert "at 3 on rte of 1 crowds" in analysis.findings[1]
    assert "at 5 on none of 1 crowds" in analysis.findings[1]
    drawn = analysis.charts[0].data
    assert len(drawn) == 3 * 6  # margin, uncertain and EBCC
    assert drawn.loc[drawn["policy"] == "uncertain", "error"].dropna().eq(0.19).all()


def test_labels_a_task_are_spent_evenly_and_judged_by_ebcc_and_uncertain():
    crowd = study.simulated(study.STAND_IN, seed=np.random.SeedSequence(3))
    pool, answers = study.replayed(crowd)
    n = len(pool.tasks)
    record = study._bought_a_task("fixed", pool, answers, [5])
    labels, _ = study.bought("fixed", pool, answers, (n, 2 * n), 5)
    assert labels == [n, 2 * n]
    ledger = study.Ledger(pool, n)
    study.spend(study.Fixed(ledger, study.Goal(), 5), ledger, answers)
    assert (ledger.counts == 1).all()
    fitted = study.AGGREGATORS["ebcc"].call(ledger.votes(), restarts=study.RESTARTS, seed=5)
    scored = answers.truth >= 0
    wrong = fitted.info["posterior"].argmax(axis=1)[scored] != answers.truth[scored]
    assert record["ebcc_at_1"] == pytest.approx(wrong.mean(), abs=0.02)  # but for ties
    plain = study._bought_a_task("uncertain", pool, answers, [5])
    assert all(plain[f"beyond_at_{b}"] == 0 for b in (1, 2, 3, 5))
    assert plain["own_at_2"] == record["plain_at_2"]
    assert record["beyond_at_2"] == pytest.approx(record["own_at_2"] - record["plain_at_2"])


def test_where_a_belief_holds():
    made = pd.DataFrame(
        {
            "policy": "until-trusted",
            "epsilon": 0.1,
            "controls": 0,
            "data": ["a", "b", "c", "d"],
            "closed": [1.0, 0.5, 0.0, 0.2],
            "closed_error": [0.075, 0.09, np.nan, 0.09],
            "closed_believed": [0.05, 0.05, np.nan, 0.05],
            "closed_error_se": [0.001, 0.001, np.nan, 0.02],
            "error": [0.2, 0.2, 0.2, 0.2],
            "believed": [0.2, 0.1, 0.2, 0.2],
            "error_se": [0.0] * 4,
        }
    )
    said = study.holds(made)
    assert "of closed tasks on 2 of 3 (not b) crowds, of all tasks on 3 of 4 (not b)" in said
    assert "nothing on c." in said
