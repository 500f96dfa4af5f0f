"""LS_OL on recorded crowds: each check, spoiled, turns its verdict; and formulas, broken."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from crowd_papers.online_learning import learn_crowds
from crowd_papers.online_learning.learn_crowds import BLOCKS, CROWDS, disagreement
from tests.core.release import some
from tests.papers.made_up import claims_of, framed, run_serially, spoil, verdict_on
from workbench.learning.vetting import Vetting
from workbench.studies.claiming import Word

HOLDS, CAVEAT = Word.HOLDS, Word.CORRECTED
NOT, UNMEASURED, NO_DATA = Word.REFUTED, Word.UNMEASURED, Word.NO_DATA
INCONCLUSIVE, ELSEWHERE = Word.INCONCLUSIVE, Word.DOES_NOT_TRANSFER
DRAWS = 24
STUDY = "learn-crowds"
FEW = 5
MANY = 20
ABLE = (0.96, 0.94, 0.92, 0.88, 0.3)
"""A crowd whose majority may be relied on: M > ln 2/(2(p̄ − ½)²)."""
MEASURED = {
    "disagreement",
    "consistent",
    "vetting",
    "average-error",
    "best-set-elsewhere",
    "cost",
    "weighted",
}
MISSING = {"table-3", "figure-6", "figure-7", "figure-8", "best-set"}


def trials():
    """Every measured claim in good order, on three crowds."""
    return made_up().copy()


@cache
def made_up():
    where = [("bluebird", None), ("bluebird", 5), ("rte", 5)]
    methods = [
        {},
        {"vetting": "supported"},
        {"vote": "weighted"},
        {"tests": 3.0},
        {"coins": True},
        {"order": "file"},
    ]
    rng, parts = np.random.default_rng(2), []
    for data, block in where:
        noise = 0.01 * rng.normal(size=DRAWS)
        for method in methods:
            table = framed(
                [{"data": data, "block": block}] * DRAWS,
                **{
                    "vetting": "printed",
                    "vote": "majority",
                    "tests": 10.0,
                    "coins": False,
                    "order": "random",
                    **method,
                },
                horizon=None,
                tasks=108,
                workers=5,
                mean_skill=0.9,
                told=1.0,
                rank=0.8,
                lead_from=0.2,
                removals=1,
                removed_at=40.0,
                removed_worst=1.0,
                found=True,
                set_loss=0.001,
                off=0.05,
                labels=0.6,
                explored=0.3,
                size=3,
                exploit_error=0.1,
                exploit_crowd_error=0.15,
            )
            for share in learn_crowds.SHARES:
                table[f"crowd_error_{share}"] = 0.15 + noise
                gain = 0.0 if share < 40 else 0.03
                better = 0.01 if "vote" in method else 0.0
                wave = 0.002 * rng.normal(size=DRAWS)
                table[f"error_{share}"] = 0.15 + noise + wave - gain - better
            parts.append(table)
    return pd.concat(parts, ignore_index=True).assign(rank=lambda t: t["rank"] + 1e-3 * t.index)


def verdict(table, claim):
    return verdict_on(f"learn-crowds-{claim}", {STUDY: table})


def spoiled(rows, **columns):
    table = trials()
    for name, value in columns.items():
        at = slice(None) if rows is None else table.query(rows).index
        taken = table.loc[at, value] if value in table else value
        table = spoil(table, rows, name, taken)
    return table


def test_all_are_registered_and_asked():
    assert {one.id for one in claims_of("learning_crowds")} == {
        f"learn-crowds-{name}" for name in MEASURED | MISSING
    }


@pytest.mark.parametrize("claim", sorted(MEASURED))
def test_in_good_order(claim):
    found = verdict(trials(), claim)
    assert found.word is HOLDS, found.figures
    asked = BLOCKS if claim == "vetting" else CROWDS
    assert all(crowd in found.figures for crowd in asked)


@pytest.mark.parametrize("claim", sorted(MISSING))
def test_what_cannot_be_had(claim):
    found = verdict(pd.DataFrame(), claim)
    assert found.word is NO_DATA
    assert not found.claim.studies


SPOILED = [
    # claim, rows (None: all), what becomes of them, verdict
    ("disagreement", None, {"told": 0.8}, NOT),
    *(
        (
            claim,
            None,
            {"told": 0.8, "found": False, "removed_worst": 0.0, "mean_skill": 0.6},
            ELSEWHERE,
        )
        for claim in ("disagreement", "best-set-elsewhere", "vetting")
    ),
    ("disagreement", "data == 'rte'", {"told": 0.0}, CAVEAT),
    ("consistent", None, {"lead_from": 0.7}, NOT),
    ("consistent", "data == 'rte'", {"lead_from": 0.51}, CAVEAT),
    ("vetting", None, {"removed_worst": 0.0}, NOT),
    ("vetting", "vetting == 'supported'", {"removed_worst": 0.0}, HOLDS),
    ("vetting", "data == 'rte' and repetition < 4", {"removed_worst": 0.0}, CAVEAT),
    ("vetting", "vetting == 'printed'", {"removals": 0}, UNMEASURED),
    ("average-error", "tests == 3", {"error_100": "crowd_error_100"}, CAVEAT),
    ("best-set-elsewhere", "tests == 3", {"found": False}, CAVEAT),
    ("cost", "tests == 10", {"labels": 0.9}, CAVEAT),
    *(
        (
            claim,
            "coins",
            {"told": 0.0, "rank": -1.0, "found": False, "labels": 1.0, "error_100": 0.9},
            HOLDS,
        )
        for claim in sorted(MEASURED)
    ),
    *(
        (claim, "coins", {"status": "crashed"}, UNMEASURED)
        for claim in ("disagreement", "average-error", "best-set-elsewhere")
    ),
    ("average-error", "order == 'file'", {"error_100": 0.9}, HOLDS),
    *(
        (claim, "tests == 3", {"tests": 5.0}, UNMEASURED)
        for claim in ("average-error", "best-set-elsewhere", "cost")
    ),
    ("average-error", None, {"error_100": "crowd_error_100"}, INCONCLUSIVE),
    ("average-error", None, {"error_100": 0.5}, NOT),
    ("best-set-elsewhere", None, {"found": False}, NOT),
    ("cost", None, {"labels": 0.7}, NOT),
    ("weighted", "vote == 'majority'", {"error_100": 0.0}, ELSEWHERE),
    ("weighted", "vote == 'majority' and data == 'rte'", {"error_100": 0.0}, ELSEWHERE),
    ("weighted", None, {"error_100": 0.5}, INCONCLUSIVE),
    ("weighted", "vote == 'weighted'", {"tests": 3.0}, UNMEASURED),
    *((claim, None, {"order": "file"}, UNMEASURED) for claim in sorted(MEASURED)),
    *((claim, "data == 'rte'", {"data": "simulated"}, UNMEASURED) for claim in sorted(MEASURED)),
]


@pytest.mark.parametrize(("claim", "rows", "columns", "expected"), some(SPOILED, 7))
def test_spoiled(claim, rows, columns, expected):
    if "repetition" in str(rows):
        # Repetitions count on within a crowd and method.
        table = trials()
        rows = str(rows)
        number = table.groupby(
            ["data", "block", "vetting", "vote", "tests", "coins", "order"], dropna=False
        ).cumcount()
        at = table.assign(repetition=number).query(rows).index
        rows = f"index in {at.tolist()}"
    found = verdict(spoiled(rows, **columns), claim)
    assert found.word is expected, found.figures


@pytest.mark.release
class TestBroken:
    """Break what is measured, replay stand-ins of known skills: the verdict is another."""

    @pytest.fixture
    def skills(self, monkeypatch):
        """Five able workers in place of the recorded crowds."""

        def crowd(name, size, order, *, seed):
            from workbench.base.seeds import stream
            from workbench.learning.recorded_labels import Recorded

            rng = stream(seed, "made up")
            truth = rng.integers(2, size=110)
            right = rng.random((110, 5)) < ABLE
            labels = np.where(right, truth[:, None], 1 - truth[:, None])
            tasks, workers = np.arange(110).astype(str), np.arange(5).astype(str)
            return Recorded(
                labels,
                truth,
                tasks.astype(object),
                workers.astype(object),
                np.array(["0", "1"], dtype=object),
            )

        monkeypatch.setattr(learn_crowds, "draw", crowd)
        monkeypatch.setattr(learn_crowds, "DRAWS", MANY)

    def rulings(self, *claims, rules=("printed",)):
        settings = [{"tests": [10.0, 3.0]}, {"coins": [True]}, {"order": ["file"]}]
        settings += [{"vetting": list(rules)}] * (len(rules) > 1)
        table = run_serially(STUDY, [{"block": [5], **how} for how in settings], MANY)
        crowds = (("bluebird", None), ("bluebird", 5), ("rte", 5))
        table = pd.concat([table.assign(data=data, block=block) for data, block in crowds])
        return [verdict(table.reset_index(drop=True), claim).word for claim in claims]

    def test_dropping_who_agrees_most(self, skills, monkeypatch):
        worst = Vetting.worst

        def best(self, differed, rounds, present):
            found = worst(self, differed, rounds, present)
            rate = np.where(present, differed / np.maximum(rounds, 1), np.inf)
            return found and replace(found, worker=int(rate.argmin()))

        monkeypatch.setattr(Vetting, "worst", best)
        found = self.rulings("vetting", "best-set-elsewhere", rules=("printed", "supported"))
        assert found == [NOT, NOT]

    def test_errors_of_the_crowd_for_those_of_ls_ol(self, skills, monkeypatch):
        whole = learn_crowds.errors

        def crowds(steps):
            return whole(steps.assign(right=steps["crowd_right"]))

        monkeypatch.setattr(learn_crowds, "errors", crowds)
        monkeypatch.setattr(
            learn_crowds, "disagreement", lambda labels, wrong: disagreement(labels, 1 - wrong)
        )
        assert self.rulings("average-error", "disagreement") == [INCONCLUSIVE, NOT]
