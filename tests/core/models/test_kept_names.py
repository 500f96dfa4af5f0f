"""Names of the formulations: functions, variables, constraints. They are never renamed."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from pathlib import Path

KEPT = json.loads(Path(__file__).with_name("kept_names.json").read_text("utf-8"))["formulations"]


def test_formulations_have_the_names_that_they_had():
    for place, names in KEPT.items():
        module, colon, _ = place.partition(":")
        if colon:
            source = inspect.getsource(importlib.import_module(f"crowd_models.{module}"))
            assert all(re.search(rf"\b{name}\b", source) for name in names), place
            continue
        module, name = place.split(".")
        thing = getattr(importlib.import_module(f"crowd_models.{module}"), name)
        if inspect.isfunction(thing):
            assert list(inspect.signature(thing).parameters)[: len(names)] == names, place
        else:
            assert set(names) <= {*dir(thing), *getattr(thing, "__dataclass_fields__", ())}, place
