"""Damaged and odd files of live collections: a command works on them, or says in one line why not.

Some hundred in the tests of a release; WORKBENCH_STATES is how many.
(`tests/core/base/test_journal_damage` damages journals event by event.)
"""

from __future__ import annotations

import os
import random
import shutil

import pytest
from click.testing import CliRunner

from workbench.cli import main
from workbench.collection.collector import Collector

STATES = int(os.environ.get("WORKBENCH_STATES", "100"))


def holds(result):
    """Done, or one line on standard error."""
    if result.exit_code == 0:
        return True
    assert result.exit_code == 2, result.output
    assert result.stderr.count("\n") == 1
    assert len(result.stderr) < 800
    return False


@pytest.mark.parametrize("many", [30, pytest.param(STATES, marks=pytest.mark.release)])
def test_a_damaged_journal_works_or_is_refused_in_one_line(many, tmp_path):
    whole = tmp_path / "whole.sqlite"
    with_labels = Collector(
        ["a", "b", "c"], ["ann", "bob"], classes=["no", "yes"], total=5, policy="fixed", path=whole
    )
    for question in with_labels.next(None, 3):
        with_labels.tell(question.worker, {question.task: "yes"})
    expected = with_labels.labels()
    with_labels.close()
    rng = random.Random(2)
    for k in range(many):
        folder = tmp_path / str(k)
        folder.mkdir()
        for file in tmp_path.glob("whole.sqlite*"):
            shutil.copy(file, folder / file.name)
        hurt = rng.choice(sorted(folder.iterdir()))
        content = bytearray(hurt.read_bytes())
        if content and rng.random() < 0.7:
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        else:
            del content[rng.randrange(max(len(content), 1)) :]
        hurt.write_bytes(content)
        if holds(CliRunner().invoke(main, ["collect", "status", str(folder / "whole.sqlite")])):
            labels = Collector.open(folder / "whole.sqlite").labels()
            assert labels.equals(expected)
        shutil.rmtree(folder)
