"""`wb.check(judge=)`: a worker, most often a model, beside what people say."""

import numpy as np
import pandas as pd
import pytest

import workbench as wb


def said(tasks=1000, share=0.8, right=(0.9, 0.95), seed=4):
    """A judge's labels of all tasks, and what is true."""
    rng = np.random.default_rng(seed)
    true = rng.random(tasks) < share
    verdict = np.where(true, rng.random(tasks) < right[1], rng.random(tasks) >= right[0])
    labels = pd.DataFrame(
        {"task": range(tasks), "worker": "gpt", "label": np.where(verdict, "pass", "fail")}
    )
    return labels, pd.Series(np.where(true, "pass", "fail"), name="gold")


def by_people(truth, workers=3, skill=0.9, seed=5):
    """Labels of people of the tasks whose truth is given."""
    rng = np.random.default_rng(seed)
    wrong = truth.map({"pass": "fail", "fail": "pass"})
    return pd.concat(
        pd.DataFrame(
            {
                "task": truth.index,
                "worker": f"person {at}",
                "label": truth.where(rng.random(len(truth)) < skill, wrong),
            }
        )
        for at in range(workers)
    )


def test_a_small_table_by_hand():
    labels = pd.DataFrame({"task": range(10), "worker": "gpt", "label": list("yyyyyynnnn")})
    found = wb.check(labels, dict(zip((0, 1, 2, 3, 6, 7), "yyynny", strict=True)), judge="gpt")
    table = found.to_frame().set_index("class")
    assert table["verdicts"].to_dict() == {"n": 4, "y": 6}
    assert table["labels"].to_dict() == {"n": 2, "y": 4}
    # y: ¾ of six tasks and ½ of four; the judge is right on 4.5 of these 6.5.
    assert table.loc["y", "share"] == pytest.approx(0.65)
    assert table.loc["y", "rate"] == pytest.approx(4.5 / 6.5)
    assert table.loc["y", "precision"] == pytest.approx(0.75)
    assert table.loc["y", "share_people"] == pytest.approx(4 / 6)
    agree = 0.45 + 0.2
    chance = 0.6 * 0.65 + 0.4 * 0.35
    assert found.kappa[0] == pytest.approx((agree - chance) / (1 - chance))
    assert found.relabel.to_dict("list") == {
        "task": [3, 7],
        "verdict": ["y", "n"],
        "people": ["n", "y"],
    }
    assert found.warnings[0].startswith(
        "of the tasks that the judge calls n people labelled 2 of 4"
    )


def test_the_share_is_corrected_and_the_verdict_says_how_many_labels_do():
    labels, gold = said(right=(0.6, 0.95))
    found = wb.check(labels, gold.sample(100, random_state=1), judge="gpt")
    row = found.to_frame().set_index("class").loc["pass"]
    true = (gold == "pass").mean()
    assert row["share_low"] < true < row["share_high"] < row["share_judged"]
    text = found.summary()
    assert f"{100 * row['share']:.3g} % (95 % interval" in text
    assert f"labels of {found.needed.at_random} tasks drawn at random" in text
    assert f"without the judge {found.needed.alone}" in text
    assert found.needed.at_random < 0.8 * found.needed.alone
    assert sum(found.needed.by_verdict.values()) <= found.needed.at_random
    assert found.people == "gold"
    assert found == wb.check(labels, gold.sample(100, random_state=1), judge="gpt")


def test_without_gold_the_others_majority_is_taken_for_true():
    labels, gold = said()
    people = by_people(gold.sample(200, random_state=1), workers=4)
    found = wb.check(pd.concat([labels, people]), judge="gpt")
    assert found.people == [f"person {at}" for at in range(4)]
    votes = people.groupby(["task", "label"]).size().unstack(fill_value=0)
    assert found.ties == (votes["fail"] == votes["pass"]).sum() > 0
    assert found.found.labelled == 200 - found.ties
    assert "the majority of 4 others" in found.summary()
    others, judge = found.kappas
    assert 0.3 < others < judge < 0.8
    assert f"by κ {others:.2f} in the mean" in found.summary()
    with_gold = wb.check(pd.concat([labels, people]), gold[:300], judge="gpt")
    assert (with_gold.people, with_gold.found.labelled) == ("gold", 300)


def test_labels_drawn_by_verdict_are_weighed_and_told():
    labels, gold = said()
    drawn = labels.groupby("label")["task"].sample(60, random_state=2)
    found = wb.check(labels, gold[drawn], judge="gpt")
    row = found.to_frame().set_index("class").loc["pass"]
    assert row["share"] == pytest.approx((gold == "pass").mean(), abs=0.05)
    assert np.isnan(row["share_people"])
    assert row["rate"] == pytest.approx(0.95, abs=0.04)
    assert "no random sample of all that were judged" in found.warnings[0]
    assert "without the judge:" not in found.summary()


def test_a_coin_saves_no_labels():
    labels, gold = said(right=(0.5, 0.5))
    found = wb.check(labels, gold.sample(100, random_state=1), judge="gpt")
    assert any("no better than chance may" in line for line in found.warnings)
    assert found.needed.at_random > 0.9 * found.needed.alone
    wrong = gold.map({"pass": "fail", "fail": "pass"})
    turned = wb.check(labels.assign(label=wrong), gold.sample(100, random_state=1), judge="gpt")
    assert any("the wrong way round" in line for line in turned.warnings)


def test_several_classes_have_a_row_each():
    rng = np.random.default_rng(2)
    true = rng.choice(list("abc"), 600, p=[0.6, 0.3, 0.1])
    verdict = np.where(rng.random(600) < 0.8, true, rng.choice(list("abc"), 600)).astype(object)
    verdict[:30] = "skipped it"
    labels = pd.DataFrame({"task": range(600), "worker": "gpt", "label": verdict})
    found = wb.check(labels, pd.Series(true).sample(150, random_state=1), judge="gpt")
    table = found.to_frame()
    assert table["share"].sum() == pytest.approx(1.0)
    assert table["class"].tolist() == [*"abc", "skipped it"]
    assert table["rate"].isna().tolist() == [False] * 3 + [True]
    assert "sensitivity" not in found.summary()
    assert "people: b" in found.details()
    assert found.plot() is not None
    assert found.to_dict()["needed"]["at_random"] == found.needed.at_random


def test_ids_that_are_numbers_and_verdicts_given_twice():
    labels, gold = said(60)
    labels = pd.concat([labels, labels[:5], labels[5:7].assign(label="neither")])
    found = wb.check(labels.assign(worker=7), gold[:30], judge=7)
    assert found.judge == 7
    assert (found.repeated.pairs, found.repeated.in_conflict) == (7, 2)
    assert found.classes == ["fail", "pass"]
    assert found.relabel["task"].dtype == int


def test_who_is_no_worker_and_what_nobody_labelled_is_one_line():
    labels, gold = said(20)
    with pytest.raises(wb.InputError, match="no worker 'gtp' in labels; did you mean 'gpt'"):
        wb.check(labels, gold, judge="gtp")
    with pytest.raises(wb.InputError, match="people labelled none of the tasks"):
        wb.check(labels, judge="gpt")
    apart = by_people(gold).assign(task=lambda table: table["task"] + 100)
    with pytest.raises(wb.InputError, match="people labelled none of the tasks"):
        wb.check(pd.concat([labels, apart]), judge="gpt")


def test_the_picture_has_the_numbers_of_the_verdict():
    labels, gold = said()
    found = wb.check(labels, gold.sample(100, random_state=1), judge="gpt")
    rates, shares, needed = found.plot().axes
    row = found.to_frame().iloc[1]
    assert [line.get_xdata()[0] for line in shares.lines] == [
        row[name] for name in ("share_judged", "share_people", "share")
    ]
    drawn = {line.get_label(): line.get_xdata() for line in rates.lines}
    assert drawn["right where it is true"].tolist() == found.to_frame()["rate"].tolist()
    curve = next(line for line in needed.lines if line.get_label() == "with the judge")
    below = curve.get_xdata()[curve.get_ydata() <= 0.05]
    assert below.min() >= found.needed.at_random
