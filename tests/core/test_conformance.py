"""Everything in a registry, and the files that the pages show, keep to the contracts."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest

from tests.core.collection.shipped import SHIPPED
from tests.core.studies.example import EXAMPLE
from workbench import testing
from workbench.aggregation import AGGREGATORS
from workbench.aggregation.registry import Method
from workbench.aggregation.voting import majority
from workbench.assignment import POLICIES
from workbench.assignment.policies import AssignmentPolicy
from workbench.base import registry
from workbench.base.registry import load_plugin
from workbench.cli import main
from workbench.collection import POLICIES as COLLECTING
from workbench.crowd.datasets import DATASETS
from workbench.learning.learners import LEARNERS, Thompson
from workbench.learning.ls_ol import LsOl
from workbench.learning.policies import POLICIES as LEARNING
from workbench.learning.policies import Terms
from workbench.learning.schedule import practical
from workbench.selection import RULES
from workbench.studies.catalog import claims, studies
from workbench.studies.claiming import Word
from workbench.studies.source import Source
from workbench.studies.study import Analysis
from workbench.testing import (
    check_aggregator,
    check_claim,
    check_collecting_policy,
    check_dataset,
    check_learner,
    check_policy,
    check_rule,
    check_study,
)

PLUGINS = Path(__file__).parent / "plugins"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name == "belief-propagation"))
        for name in AGGREGATORS
    ],
)
def test_aggregators(name):
    check_aggregator(AGGREGATORS[name].call)


def test_type_checkers_know_the_aggregators_that_come_along():
    assert get_args(Method) == tuple(
        name for name in AGGREGATORS if name not in AGGREGATORS.added()
    )


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in ("robust", "re-solve")))
        for name in POLICIES
    ],
)
def test_policies(name):
    check_policy(POLICIES[name].call)


@pytest.mark.parametrize("name", RULES)
def test_rules(name):
    check_rule(RULES[name].call)


NO_GOLD = {"ls-ol", "model"}


LANES = dict.fromkeys(("mixed", "uncertain", "until-trusted"), pytest.mark.release)


# The check knows nobody's skill.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=LANES.get(name, ()))
        for name in SHIPPED
        if name != "sequential-plan"
    ],
)
def test_collecting_policies(name):
    gold = 0 if name in NO_GOLD else 4
    check_collecting_policy(COLLECTING[name].call, gold=gold, visits=name == "algorithm-2")


def test_every_entry_says_what_it_is():
    for family in (AGGREGATORS, POLICIES, RULES, LEARNING, COLLECTING, DATASETS, studies()):
        assert all(entry.summary and entry.source for entry in family.values())


@pytest.fixture
def own(monkeypatch, tmp_path):
    """Load a copy of a file of the user's; afterwards the registries are as before."""
    monkeypatch.setattr(registry, "_loaded", {})
    monkeypatch.setattr(registry, "_registered", {})
    for family in (AGGREGATORS, POLICIES, RULES, LEARNERS, COLLECTING, DATASETS, studies()):
        monkeypatch.setattr(family, "_entries", dict(family._entries))

    def load(name):
        path = tmp_path / name
        shutil.copy(PLUGINS / name, path)
        assert len(path.read_text().splitlines()) <= 40
        load_plugin(path)

    return load


def test_a_users_own_files_keep_to_them_too(own):
    own("agreeable_aggregator.py")
    check_aggregator(AGGREGATORS["agreeable"].call)
    own("fewest_labels_policy.py")
    check_policy(POLICIES["fewest labels"].call)
    own("cautious_rule.py")
    check_rule(RULES["cautious"].call)
    own("halving_learner.py")
    check_learner(partial(LEARNERS["halving"].call, SKILL))
    own("lead_of_two.py")
    check_collecting_policy(COLLECTING["lead-of-two"].call)
    own("fair_shares.py")
    check_collecting_policy(COLLECTING["fair-shares"].call)
    own("seven_workers.py")
    check_dataset(DATASETS["seven"].call)
    own("redundancy_study.py")
    trials = check_study(studies()["redundancy"].call)
    own("redundancy_claim.py")
    decided = next(claim for claim in claims() if claim.id == "redundancy-helps")
    assert check_claim(decided.decide, trials).word is Word.INCONCLUSIVE  # one trial a point
    again = trials.assign(accuracy=trials["accuracy"] + 0.01)
    assert check_claim(decided.decide, pd.concat([trials, again])).word is Word.HOLDS


SMALL_CROWD = "--crowd specialists --workers 12 --tasks 10 --epsilon 0.3"


@pytest.mark.parametrize(
    ("file", "command", "said"),
    [
        ("agreeable_aggregator", "aggregate --labels {} --method agreeable", "agreeable"),
        ("fewest_labels_policy", f"compare {SMALL_CROWD}", "fewest labels"),
        ("cautious_rule", "hire --labels {} --gold {gold} --budget 2 --rule cautious", "2 of 3"),
        (
            "lead_of_two",
            "collect --labels {} --gold {gold} --policy lead-of-two --total 4",
            "labels",
        ),
        (
            "fair_shares",
            "collect --labels {} --gold {gold} --policy fair-shares --total 4",
            "4 lab",
        ),
        ("seven_workers", "data list", "seven"),
        ("seven_workers", "data info seven", "yes, by its plugin"),
        ("redundancy_study", "study list", "redundancy"),
        pytest.param(
            "redundancy_study",
            "study run redundancy --size smoke --store {}.sqlite",
            "6 of 6",
            marks=pytest.mark.release,
        ),
    ],
)
def test_a_users_own_file_is_seen_by_the_command_line(own, tmp_path, capfd, file, command, said):
    labels = tmp_path / "labels.csv"
    labels.write_text("task,worker,label\na,x,1\na,y,1\nb,x,0\nb,y,1\nb,z,0\n")
    gold = tmp_path / "gold.csv"
    gold.write_text("task,gold\na,1\nb,0\n")
    words = command.format(labels, gold=gold).split()
    with pytest.raises(SystemExit) as ended:
        main(["--plugin", str(PLUGINS / f"{file}.py"), *words])
    out = "".join(capfd.readouterr())
    assert ended.value.code == 0, out
    assert said in out


def test_a_file_that_is_broken_ends_in_one_line(own, tmp_path, capfd):
    path = tmp_path / "broken.py"
    path.write_text("import math\nmath.sqrt(-1)\n")
    with pytest.raises(SystemExit) as ended:
        main(["--plugin", str(path), "study", "list"])
    assert ended.value.code == 2
    assert "broken.py, line 2" in capfd.readouterr().err


class TestWhatIsBrokenIsFound:
    def test_aggregators(self):
        def random(votes, *, seed):
            found = majority(votes, seed=np.random.default_rng())
            found.label[:] = np.random.default_rng().integers(
                0, len(votes.classes), len(found.label)
            )
            return found

        def lazy(votes, *, seed):
            found = majority(votes, seed=seed)
            found.label[0] = 0
            return found

        def greedy(votes, *, seed):
            found = majority(votes, seed=seed)
            votes.label[:] = 0
            return found

        def deaf(votes, *, seed, earlier=None):
            return majority(votes, seed=seed)

        for broken in (random, lazy, greedy, deaf):
            with pytest.raises(AssertionError):
                check_aggregator(broken)

    def test_studies(self):
        from dataclasses import replace

        study = Source.of(EXAMPLE).load()

        def random(params, streams):
            return {
                **study.trial(params, streams),
                "noise": float(np.random.default_rng().random()),
            }

        def infinite(params, streams):
            return {**study.trial(params, streams), "noise": float("inf")}

        def silent(rows):
            return Analysis()

        for broken in (
            replace(study, trial=random),
            replace(study, trial=infinite),
            replace(study, analyse=silent),
        ):
            with pytest.raises(AssertionError):
                check_study(broken, trials=1)


SKILL = np.array([0.9, 0.62, 0.8, 0.7, 0.55])


@pytest.mark.parametrize(
    "make",
    [
        *(partial(LEARNERS[name].call, SKILL) for name in LEARNERS),
        *(partial(LEARNING[name].call, Terms(5, 2, 40, practical(1, 1))) for name in LEARNING),
        lambda seed: LsOl(5, (1.0, 1.0), seed=seed),
        lambda seed: Thompson(5, weighted=True, seed=seed),
    ],
    ids=[*LEARNERS, *LEARNING, "LS_OL", "Thompson, weighted"],
)
def test_learners(make):
    check_learner(make)


def test_what_stops_a_thing_of_ones_own_is_said_in_one_line():
    class Unfinished(AssignmentPolicy):
        pass

    with pytest.raises(AssertionError, match="it has no method `assign` of its own"):
        testing.check_policy(Unfinished)
    with pytest.raises(AssertionError, match=r"it fails \(.*line \d+\): ZeroDivisionError"):
        testing.check_aggregator(lambda votes, *, seed: 1 / 0)
