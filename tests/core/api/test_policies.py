"""`@wb.policy`: a class in a cell is a policy, here and in other processes."""

from __future__ import annotations

import linecache
import warnings

import pandas as pd
import pytest

import workbench as wb
from workbench.assignment import POLICIES
from workbench.base import registry

HEAD = """
import numpy as np
import workbench as wb
from workbench.assignment import AssignmentPolicy
"""
BODY = """
@wb.policy({name!r})
class Few(AssignmentPolicy):
    '''As many tasks as she takes, from the {end} on.'''

    def assign(self, worker):
        order = np.arange(len(self.setting.task_class)){step}
        if worker.available is not None:
            order = order[worker.available[order]]
        return order[: worker.capacity]
"""
COLLECTING = """
import workbench as wb
from workbench.collection import ByTask

@wb.policy("all alike")
class AllAlike(ByTask):
    '''The tasks with the fewest labels first.'''

    def index(self):
        return self.ledger.counts + self.ledger.waiting

    def closed(self):
        return self.ledger.counts >= 2
"""


@pytest.fixture
def cell():
    """Run text as a notebook runs a cell; what it registers goes in the end."""
    names = []

    def run(text):
        name = f"<cell {len(names)}>"
        names.append(name)
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), {"__name__": "__main__"})

    before = set(registry._registered)
    yield run
    for place in set(registry._registered) - before:
        registry.forget(place)
    for name in names:
        linecache.cache.pop(name)


def text(name="few first", end="front", step=""):
    return HEAD + BODY.format(name=name, end=end, step=step)


def test_a_cell_run_again_replaces_what_it_registered(cell):
    cell(text())
    assert POLICIES["few first"].summary == "As many tasks as she takes, from the front on."
    (one,) = (plugin for plugin in registry.plugins() if plugin.path.name == "few-first.py")
    cell(text(end="back", step="[::-1]"))
    assert POLICIES["few first"].summary == "As many tasks as she takes, from the back on."
    (other,) = (plugin for plugin in registry.plugins() if plugin.path.name == "few-first.py")
    assert one.digest != other.digest
    assert list(POLICIES).count("few first") == 1


def test_what_other_processes_load_defines_and_does_nothing_else(cell):
    cell(text() + "\nSEEN = [wb]\nprint('said', end='')\nk = max(3, 4)\n")
    (plugin,) = (plugin for plugin in registry.plugins() if plugin.path.name == "few-first.py")
    code = plugin.path.read_text("utf-8")
    assert "class Few" in code
    assert "SEEN" in code
    assert "print" not in code
    assert "max(3" not in code


def test_a_cell_that_needs_another_is_told_so_and_is_of_this_process(cell):
    needs = (
        text().replace("import numpy as np\n", "").replace("    def", "    least = np\n\n    def")
    )
    space = {"__name__": "__main__", "np": pd}
    name = "<cell of another>"
    linecache.cache[name] = (len(needs), None, needs.splitlines(keepends=True), name)
    with pytest.warns(UserWarning, match=r"in this process alone \(NameError.*its cell"):
        exec(compile(needs, name, "exec"), space)
    assert "few first" in POLICIES
    assert all(plugin.path.name != "few-first.py" for plugin in registry.plugins())


def test_the_name_of_one_that_is_there_is_refused(cell):
    with pytest.raises(wb.InputError, match="already: take another name"):
        cell(text("greedy"))
    assert POLICIES["greedy"].call.__name__ != "Few"


@pytest.mark.parametrize("kind", ["class Neither:\n    pass", "def function():\n    pass"])
def test_what_is_no_policy_is_refused_in_one_line(cell, kind):
    with pytest.raises(wb.InputError) as refused:
        cell(f"import workbench as wb\n@wb.policy('mine')\n{kind}\n")
    assert "\n" not in str(refused.value)
    with pytest.raises(wb.InputError, match="give a name"):
        wb.policy(3)


def test_a_collecting_policy_of_a_cell_decides_whom_to_ask(cell):
    cell(COLLECTING)
    crowd = wb.simulate(tasks=12, workers=6, skill=0.9, seed=1)
    found = wb.collect(crowd, total=100, policy="all alike")
    assert found.labels == 24
    assert found.answers["closed"].all()


def test_nothing_is_warned_of_a_cell_that_stands_alone(cell):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cell(text())
