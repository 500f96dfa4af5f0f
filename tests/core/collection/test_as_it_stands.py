"""A copy of a collection, to be looked at while the collection goes on."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from tests.core.collection.shipped import SHIPPED
from tests.core.collection.test_collector_journal import VISITS, answered, begun
from tests.core.release import some
from workbench.collection.desk import Desk


def looks(collector):
    """All that a copy can say."""
    return repr(
        (
            wb.standing(collector).to_dict(),
            collector.answers().to_dict("list"),
            collector.waiting(),
            collector.asks_more(),
            collector.asks_newcomers(),
            json.dumps(collector.policy.state()),
        )
    )


@pytest.mark.parametrize("policy", some(SHIPPED, 3))
def test_it_says_what_the_collection_said_whatever_becomes_of_that(policy, tmp_path):
    collector = begun(policy, tmp_path / "c.sqlite")
    stills = []
    for turn in range(6):
        answered(collector, collector.next(f"w{turn % 6}", 2)[:1])
        stills.append((Desk(collector).as_it_stands(), looks(collector)))
    collector.close()
    for still, then in stills:
        assert looks(still) == then
        assert still.path == tmp_path / "c.sqlite"
    assert len({then for _, then in stills}) > 1


@pytest.mark.parametrize("policy", some(SHIPPED, 3))
def test_whether_more_is_asked_is_found_without_asking(policy):
    collector = begun(policy)
    for turn in range(4):
        who = f"w{turn}" if policy in VISITS else None
        before = json.dumps(collector.policy.state())
        collector.asks_more()
        assert json.dumps(collector.policy.state()) == before
        answered(collector, collector.next(who, 2))
