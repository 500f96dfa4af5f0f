"""Long calls say how far they are: from the first part to the last, in order."""

from __future__ import annotations

import re

import pytest

import workbench as wb
from workbench.api.meter import ProgressLine

CROWD = wb.simulate("uniform", tasks=30, workers=8, capacity=30, skill=0.9, redundancy=4)
UNIFORM = wb.simulate("uniform", tasks=12, workers=8, capacity=12, skill=0.9)
FEW = wb.simulate("uniform", tasks=2, workers=1, capacity=2, skill=0.6)
CALLS = {
    "aggregate, gold": (lambda told: wb.aggregate(CROWD.labels, CROWD.gold, progress=told), 17),
    "compare, one trial": (lambda told: wb.compare(UNIFORM, epsilon=0.2, progress=told), None),
    "compare, two": (lambda told: wb.compare(UNIFORM, epsilon=0.2, trials=2, progress=told), 2),
    "ladder": (lambda told: wb.ladder(UNIFORM, epsilon=0.1, trials=2, progress=told), 5),
    "ladder, no plan": (lambda told: wb.ladder(FEW, epsilon=0.1, trials=2, progress=told), 5),
    "learn, simulated": (lambda told: wb.learn(UNIFORM, trials=3, progress=told), 3),
    "learn, em": (lambda told: wb.learn(UNIFORM, policy="em", trials=2, progress=told), 2),
    "learn, recorded": (lambda told: wb.learn(CROWD.labels, CROWD.gold, progress=told), 30),
    "learn, horizon": (lambda told: wb.learn(CROWD.labels, horizon=7, progress=told), 7),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_part_is_counted_once(name):
    call, parts = CALLS[name]
    lines: list[ProgressLine] = []
    call(lines.append)
    numbers = [re.match(r"(\d+) of (\d+) ", line) for line in lines]
    done, total = ([int(found[k].replace(",", "")) for found in numbers if found] for k in (1, 2))
    assert done == list(range(1, len(lines) + 1))
    assert set(total) == {len(lines)}
    assert parts in (None, len(lines))
    assert [line.share for line in lines] == pytest.approx([at / len(lines) for at in done])
    assert all(line.endswith(" left") for line in lines[:-1])
    assert not lines[-1].endswith(" left")


def test_progress_changes_no_result():
    quiet = wb.aggregate(CROWD.labels, CROWD.gold)
    assert wb.aggregate(CROWD.labels, CROWD.gold, progress=str) == quiet


def test_true_draws_a_bar(capsys):
    wb.ladder(UNIFORM, epsilon=0.1, trials=2, progress=True)
    assert "5/5 [" in capsys.readouterr().out
