"""The study of recorded crowds, and its claims.

All claims hold in a made-up table; spoil what one reads, and it turns.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from crowd_papers import recorded_crowds
from crowd_papers.worker_selection import selection_crowds
from crowd_papers.worker_selection.recorded_methods import (
    BUDGETS,
    EM_METHODS,
    METHODS,
    POOL,
    TITLES,
    YARDSTICKS,
)
from tests.core.release import some
from tests.core.studies.study_runs import one_record, streams_of, trial_of
from tests.papers.made_up import Tables, claims_of, framed
from workbench.ranking.recorded_crowds import ITEMS
from workbench.studies.attempt import Status, attempt
from workbench.studies.catalog import claims
from workbench.studies.claiming import Word
from workbench.studies.claims_page import table as table_of
from workbench.studies.judging import judge
from workbench.studies.source import Source

HOLDS, CAVEAT, NOT = Word.HOLDS, Word.CORRECTED, Word.REFUTED
UNMEASURED, DOES_NOT_TRANSFER = Word.UNMEASURED, Word.DOES_NOT_TRANSFER
DRAWS = 24
CLAIMS, STUDY = claims_of("selection_crowds"), "selection-crowds"
FULL, ONE_COIN = TITLES
SELECTED = ("WMV-lin selected", "WMV-log selected", "EM selected")


class TestData:
    @pytest.fixture(autouse=True)
    def forget(self):
        recorded_crowds.recorded.cache_clear()
        recorded_crowds.misfit.cache_clear()
        yield
        recorded_crowds.recorded.cache_clear()
        recorded_crowds.misfit.cache_clear()

    def test_without_data_a_trial_says_so(self, tmp_path, monkeypatch):
        monkeypatch.setenv("WORKBENCH_DATA", str(tmp_path / "nowhere"))
        done = attempt(Source.of(STUDY), trial_of(STUDY, data="bluebird"))
        assert done.status is Status.ERROR
        assert "WORKBENCH_DATA: no folder" in done.message


class TestStudy:
    def test_all_methods_meet_one_exam(self):
        """Methods, budgets and n share a draw; pools and data sets do not."""

        def drawn(**params):
            return streams_of(STUDY, **params).instance.spawn_key

        assert all(
            drawn(**same) == drawn()
            for same in ({"method": "EM top K"}, {"budget": 3}, {"controls": 20})
        )
        assert all(drawn(**other) != drawn() for other in ({"pool": 5}, {"data": "rte"}))

    def test_truncation_variant_and_controls_arrive(self, monkeypatch):
        given, real = [], selection_crowds.vote
        monkeypatch.setattr(
            selection_crowds, "vote", lambda *a, **how: given.append(how) or real(*a, **how)
        )
        record = one_record(STUDY, data="simulated", controls=23, truncate=0.2, em="one-coin")
        assert record["answered"] == 23
        assert record["scored"] == ITEMS - 23
        assert given[0] == {"truncate": 0.2, "em": "one-coin"}
        few = one_record(STUDY, data="simulated", method="WMV top K", budget=31, pool=5)
        assert few["size"] == 5


LEVEL = {
    "WMV-lin selected": 0.90,
    "WMV-log selected": 0.89,
    "WMV-lin plugin": 0.89,
    "WMV top K": 0.89,
    "EM random K": 0.75,
    "EM selected": 0.90,
    "MV top K": 0.70,
    "MV random K": 0.65,
    "MV selected": 0.70,
    "WMV as many": 0.80,
    "hindsight selected": 0.95,
    "hindsight top K": 0.93,
}


def accuracy(data, method, budget, em):
    """Everything as the paper has it."""
    if method == "EM top K":
        return 0.86 - 0.05 * abs(budget / max(BUDGETS[data]) - 0.4)
    if method == "WMV top G":
        return 0.90 - 0.002 * abs(budget - 4)
    return LEVEL[method]


def size(data, method, budget):
    return min(budget, 4.0) if "selected" in method or "plugin" in method else float(budget)


def swept(data, method, controls, truncate):
    more = 0.03 * (controls == 40) + 0.01 * (truncate == 0.05)
    return LEVEL[method] + more * (method == "WMV-log selected")


def points(accuracy, size, swept):
    """One row a point of the sweep."""
    main = [
        {
            "data": data,
            "method": method,
            "budget": budget,
            "em": em,
            "controls": 10,
            "truncate": 0.001,
            "pool": POOL.get(data),
            "size": size(data, method, budget),
            "accuracy": accuracy(data, method, budget, em),
        }
        for data, budgets in BUDGETS.items()
        for method in METHODS
        for em in (TITLES if method in EM_METHODS else [FULL])
        for budget in (budgets[-1:] if method in YARDSTICKS else budgets)
    ]
    more = [
        {
            "data": data,
            "method": method,
            "budget": 20,
            "em": FULL,
            "controls": controls,
            "truncate": truncate,
            "pool": None,
            "size": 4.0,
            "accuracy": swept(data, method, controls, truncate),
        }
        for data in ("bluebird", "simulated")
        for method in ("WMV-lin selected", "WMV-log selected")
        for controls in (10, 40)
        for truncate in (0.001, 0.05)
        if (data, controls, truncate) != ("bluebird", 10, 0.001)  # among the others
    ]
    return pd.DataFrame([*main, *more])


def table(accuracy=accuracy, size=size, swept=swept, **fields):
    rng = np.random.default_rng(1)
    once = points(accuracy, size, swept)
    made = pd.concat([once] * DRAWS, ignore_index=True)
    made = framed(made, **{"misfit": 5.0, "misfit_sd": 30.0, **fields})
    made["repetition"] = np.repeat(np.arange(DRAWS), len(once))
    # What is shared by a draw is no doubt of a difference; what is not, is.
    made["accuracy"] += 0.05 * rng.normal(size=DRAWS)[made["repetition"]]
    made["accuracy"] += 0.002 * rng.normal(size=len(made))
    return made


@cache
def good():
    return table()


def verdicts(made, claims=CLAIMS):
    return {one.claim.id.removeprefix("selection-"): one for one in judge(Tables(made), claims)}


def ruling(claim, **changes):
    (one,) = [each for each in CLAIMS if each.id == f"selection-{claim}"]
    return verdicts({STUDY: table(**changes)}, [one])[claim].word


def lifted(where, by):
    """The paper's picture with some accuracies moved."""

    def moved(data, method, budget, em):
        return accuracy(data, method, budget, em) + by * where(data, method, budget, em)

    return moved


EXPECTED = {
    "figure-3-crowd-test": Word.NO_DATA,
    "figure-4-disambiguity": Word.NO_DATA,
    "figure-4-bluebird-em": HOLDS,
    "figure-4-bluebird-top-k": HOLDS,
    "figure-4-bluebird-workers": HOLDS,
    "crowds-against-em": HOLDS,
    "crowds-as-good": HOLDS,
    "crowds-few-workers": HOLDS,
    "crowds-optimal-number": HOLDS,
    "crowds-em-top-k": HOLDS,
    "crowds-majority": HOLDS,
    "crowds-log-odds": HOLDS,
    "crowds-log-odds-mends": HOLDS,
    "crowds-score": HOLDS,
}


@pytest.mark.slow
def test_in_good_order():
    found = verdicts({STUDY: good()})
    assert {name: one.word for name, one in found.items()} == EXPECTED
    assert set(CLAIMS) <= set(claims())
    for one in found.values():
        assert one.claim.statement.endswith((".", ")"))
        assert one.figures
    text = table_of(list(found.values()))
    assert "2 no data" in text


def rival(em=None, data=None):
    return lambda d, m, k, e: (
        m in ("EM top K", "EM random K") and em in (None, e) and data in (None, d)
    )


ACCURACIES = [
    # claim, whose accuracy, moved by, ruling
    ("figure-4-bluebird-em", rival(), 0.3, NOT),
    ("figure-4-bluebird-em", rival(em=FULL), 0.3, CAVEAT),
    ("figure-4-bluebird-em", rival(data="rte"), 0.3, HOLDS),
    ("figure-4-bluebird-top-k", lambda d, m, k, e: m == "WMV top K", 0.015, HOLDS),
    ("figure-4-bluebird-top-k", lambda d, m, k, e: m == "WMV top K", 0.03, NOT),
    ("crowds-as-good", lambda d, m, k, e: m == "WMV top K" and d == "rte", 0.03, CAVEAT),
    ("crowds-against-em", rival(em=FULL, data="rte"), 0.3, CAVEAT),
    ("crowds-against-em", rival(), 0.3, NOT),
    ("crowds-optimal-number", lambda d, m, k, e: m == "WMV top G" and k > 9, 0.1, NOT),
    ("crowds-optimal-number", lambda d, m, k, e: m == "WMV top G" and k == 7, 0.012, CAVEAT),
    (
        "crowds-optimal-number",
        lambda d, m, k, e: m == "WMV top G" and k > 9 and d != "bluebird",
        0.1,
        DOES_NOT_TRANSFER,
    ),
    ("crowds-em-top-k", lambda d, m, k, e: (m == "EM top K") * k, 0.01, NOT),
    ("crowds-em-top-k", lambda d, m, k, e: (m == "EM top K" and d == "rte") * k, 0.01, CAVEAT),
    ("crowds-majority", lambda d, m, k, e: m == "MV top K", 0.25, NOT),
    ("crowds-majority", lambda d, m, k, e: m == "MV top K", 0.17, CAVEAT),
    ("crowds-log-odds", lambda d, m, k, e: m == "WMV-log selected", 0.02, NOT),
    ("crowds-log-odds", lambda d, m, k, e: m == "WMV-log selected" and d == "rte", 0.02, CAVEAT),
    ("crowds-score", lambda d, m, k, e: m == "WMV as many", 0.2, NOT),
    ("crowds-score", lambda d, m, k, e: m == "hindsight top K" and d == "sat12", 0.05, CAVEAT),
]


@pytest.mark.parametrize(("claim", "where", "by", "expected"), some(ACCURACIES, 5))
def test_other_accuracies(claim, where, by, expected):
    assert ruling(claim, accuracy=lifted(where, by)) is expected


def sized(number, *data):
    def drawn(d, method, budget):
        return float(min(budget, number)) if not data or d in data else size(d, method, budget)

    return drawn


SIZES = [
    ("figure-4-bluebird-workers", sized(12), NOT),
    ("figure-4-bluebird-workers", sized(12, "rte"), HOLDS),
    ("figure-4-bluebird-top-k", sized(25), NOT),
    ("crowds-as-good", sized(15, "sp_amt"), CAVEAT),
    ("crowds-few-workers", sized(12), NOT),
    ("crowds-few-workers", sized(12, "sp_amt"), DOES_NOT_TRANSFER),
    ("crowds-optimal-number", sized(9.5), CAVEAT),
]


@pytest.mark.parametrize(("claim", "size", "expected"), some(SIZES, 3))
def test_other_sizes(claim, size, expected):
    assert ruling(claim, size=size) is expected


@pytest.mark.release
class TestTooLittle:
    def test_one_coin_fits(self):
        assert ruling("crowds-score", misfit_sd=1.0) is UNMEASURED
