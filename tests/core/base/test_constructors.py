"""What a constructor takes can be saved and read again; all else is refused in one line."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tests.core.flat import in_objects, reopened, whole
from workbench.base.errors import InputError
from workbench.base.state import Saveable
from workbench.collection.collector import Collector
from workbench.collection.events import Opened
from workbench.learning.em import EmLearner
from workbench.learning.ls_ol import LsOl
from workbench.learning.vetting import Vetting

NUMBERS = [0, 1, 2, 3, -1, 0.5, 5e-324, 1e-320, 1e9, 1e16, 1e308, -1e308, -0.0]
NUMBERS += [2**31, 2**53, 2**53 + 1, 2**60, 2**63 - 1, 2**63, 2**64, 2**70, 10**30, -(10**30)]
NUMBERS += [float("inf"), float("-inf"), float("nan"), True, False]
NUMBERS += [np.int8(1), np.int64(3), np.uint64(2**63), np.float64(0.5), np.bool_(True)]


def collector(**more):
    given = {"classes": ["y", "n"], "total": 5.0, "policy": "fixed", **more}
    return Collector(
        given.pop("tasks", ["a", "b"]), given.pop("workers", ["ann"]), **in_objects(given)
    )


def ls_ol(**more):
    return LsOl(more.pop("workers", 3), more.pop("schedule", (2, 3)), **more)


def em(**more):
    return EmLearner(more.pop("workers", 3), **more)


def as_it_is(*names):
    return [lambda v, name=name: {name: v} for name in names]


CASES = {
    "collector": [
        collector,
        *as_it_is("epsilon", "mean", "total", "capacity", "costs", "least", "most", "seed"),
        lambda v: {"tasks": [v, "z"]},
        lambda v: {"workers": [v, "z"]},
        lambda v: {"classes": [v, "z"]},
        lambda v: {"gold": {v: "y"}},
        lambda v: {"classes": {"y": v, "n": 0.5}},
        *(
            lambda v, name=name: {name: {"ann": v}}
            for name in ("capacity", "costs", "groups", "skills")
        ),
        lambda v: {"policy": v},
    ],
    "ls-ol": [
        ls_ol,
        *as_it_is("weighted", "delay", "seed", "truncate", "vetting"),
        lambda v: {"tolerance": v, "weighted": True},
        lambda v: {"schedule": (v, 2)},
        lambda v: {"workers": [v, "z"]},
        lambda v: {"vetting": Vetting(least=v)},
    ],
    "em": [em, *as_it_is("price", "horizon", "seed"), lambda v: {"workers": [v, "z"]}],
}


@pytest.mark.parametrize(
    ("make", "cases"),
    [
        pytest.param(one[0], one[1:], id=name, marks=[pytest.mark.slow] * (name == "collector"))
        for name, one in CASES.items()
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_what_a_constructor_takes_can_be_read_again(make, cases, tmp_path):
    kept = 0
    for number, case in enumerate(cases):
        for place, value in enumerate([*NUMBERS, "\ud800", "x", None]):
            made, line = made_or_refused(lambda case=case, value=value: make(**case(value)), value)
            assert "\n" not in line
            if made is not None:
                file = tmp_path / f"{number} {place}"
                keep(made, file)
                kept += 1
    assert kept > 20


def keep(made, file):
    """Write what was made, and read it again."""
    if isinstance(made, Collector):
        msgspec.json.decode(whole(made), type=Opened)
    else:
        made.save(file)
        type(made).load(file)


def made_or_refused(make, value):
    try:
        return make(), ""
    except InputError as refused:
        return None, str(refused)
    except TypeError:
        if isinstance(value, (str, type(None))):  # no number where one is wanted
            return None, ""
        raise


def test_every_class_that_saves_is_among_them():
    made = {type(one[0]()) for one in CASES.values()} - {Collector}
    kinds = {kind for kind in all_below(Saveable) if kind.__module__.startswith("workbench.")}
    assert made == kinds


def all_below(kind):
    return {kind for below in kind.__subclasses__() for kind in ({below} | all_below(below))}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"seed": 2**70}, "seed is 1180591620717411303424, and could not be saved: expected int"),
        ({"seed": 1152921504606846976}, "seed is 1152921504606846976, and could not be saved"),
        ({"least": 10**30}, "least is 1000000000000000000000000000000, and could not be saved"),
        ({"total": float("inf")}, "total is inf: "),
        ({"capacity": 2**60}, "hands[0].capacity and could not be saved"),
        ({"have": 3}, "have: give a frame"),
        ({"available": [1]}, "available: give a frame"),
    ],
)
def test_what_no_file_can_hold_is_named(changes, line):
    with pytest.raises(InputError) as refused:
        collector(**changes)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_numbers_of_numpy_are_saved_as_numbers(tmp_path):
    terms = {"epsilon": np.float64(0.3), "seed": np.int64(3)}
    made, kept = collector(**terms), collector(**terms, path=tmp_path / "c.sqlite")
    assert whole(reopened(kept)) == whole(made)
