"""What release 1.0 offered is offered still, but what the page of migration lists."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from pathlib import Path

import click
import pytest

import workbench as wb
from workbench.api.keywords import retired
from workbench.base.registry import Registry
from workbench.cli.app import main
from workbench.studies.catalog import claims, studies

OFFERED = json.loads(Path(__file__).with_name("offered_by_1_0.json").read_text("utf-8"))
"""Names alone, listed by a walk of click's commands, registries and signatures of 1.0.0."""
PAGE = Path("docs/migration.md").read_text("utf-8")
NEW = {"assign": "plan", "select": "hire"}
GONE = {"AssignmentSession", "LsOl"}
WORDS_GONE = {("assign --promise", "exact")}
COMMANDS_GONE = {"study merge"}
RENAMED = {
    ("study run", "--shard"),
    ("study verify", "--quarantine"),
    *((f"collect {verb}", "STATE") for verb in ("start", "next", "tell")),
    ("compare", "--control"),
}
WITHOUT = {("compare", "control"), ("run_study", "shard"), ("StudyResult", "shard")}
"""Arguments that nothing replaces."""
REGISTRIES = {
    "data sets": "workbench.crowd.datasets:DATASETS",
    "formats": "workbench.crowd.formats:FORMATS",
    "collection policies": "workbench.collection:POLICIES",
    "aggregators": "workbench.aggregation:AGGREGATORS",
    "assignment policies": "workbench.assignment:POLICIES",
    "learning policies": "workbench.learning.policies:POLICIES",
    "learners": "workbench.learning.learners:LEARNERS",
    "rules": "workbench.selection:RULES",
}


def registry(name: str) -> Registry:
    """The registry of that name, as it is today."""
    if name == "studies":
        return studies()
    module, attribute = REGISTRIES[name].split(":")
    return getattr(importlib.import_module(module), attribute)


def command(words: str) -> click.Command:
    """A command by the words that call it, old names by their new ones."""
    first, *rest = words.split()
    current = main.get_command(click.Context(main), NEW.get(first, first))
    for word in rest:
        assert isinstance(current, click.Group)
        current = current.get_command(click.Context(current), word)
    assert current is not None, words
    return current


def options(of: click.Command) -> dict[str, click.Parameter]:
    """Its options by their flags, arguments in capitals."""
    return {
        "/".join([*p.opts, *p.secondary_opts]) if isinstance(p, click.Option) else p.name.upper(): p
        for p in of.params
    }


@pytest.mark.parametrize("words", sorted(OFFERED["commands"].keys() - COMMANDS_GONE))
def test_a_command_has_the_options_that_it_had(words):
    missing = set(OFFERED["commands"][words]) - options(command(words)).keys()
    assert {(words, name) for name in missing} <= RENAMED


def test_an_option_takes_the_words_that_it_took():
    for place, words in OFFERED["choices"].items():
        *name, option = place.split()
        choice = options(command(" ".join(name)))[option].type
        missing = set(words) - set(choice.choices)
        assert {(place, word) for word in missing} <= WORDS_GONE
        assert all(f"{option} {word}`" in PAGE for word in missing)


def test_the_front_door_takes_what_it_took():
    for name, arguments in OFFERED["front door"].items():
        if arguments and name not in GONE:
            function = getattr(wb, name)
            missing = set(arguments) - inspect.signature(function).parameters.keys()
            unsaid = missing - retired(function)
            assert {(name, argument) for argument in unsaid} <= WITHOUT
            said = {argument for argument in missing if re.search(rf"\b{argument}=", PAGE)}
            assert {(name, argument) for argument in missing - said} <= WITHOUT


def test_results_have_what_they_had():
    api = [getattr(wb, name) for name in wb.__all__]
    kinds = {thing.__name__: thing for thing in api if inspect.isclass(thing)}
    for function in filter(inspect.isfunction, api):
        for name in re.findall(r"\w+", str(function.__annotations__["return"])):
            kind = getattr(inspect.getmodule(function), name, None)
            if inspect.isclass(kind):
                kinds[name] = kind
    for name, members in OFFERED["results"].items():
        there = {*dir(kinds[name]), *getattr(kinds[name], "__dataclass_fields__", ())}
        lost = members.keys() - there
        assert {(name, member) for member in lost} <= WITHOUT
        for member, arguments in members.items():
            if arguments is not None and member not in lost:
                taken = inspect.signature(getattr(kinds[name], member)).parameters
                assert set(arguments) <= taken.keys(), (name, member)


@pytest.mark.parametrize("name", OFFERED["registries"])
def test_a_registry_has_the_names_that_it_had(name):
    assert set(OFFERED["registries"][name]) <= set(registry(name))


def test_studies_take_the_parameters_that_they_took():
    for name, parameters in OFFERED["studies"].items():
        assert set(parameters) <= studies()[name].call.parameters.keys(), name


def test_no_claim_is_lost():
    assert set(OFFERED["claims"]) <= {claim.id for claim in claims()}


def test_formulations_have_the_names_that_they_had():
    for place, names in OFFERED["formulations"].items():
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


def test_the_page_lists_what_went_and_nothing_that_is_not_there():
    for name in (*NEW, *GONE, "STATE", "STUDIES.register"):
        assert name in PAGE
    for words in re.findall(r"\| `workbench [a-z]+` \| `workbench ([a-z]+)`", PAGE):
        command(words)
    for keyword, value in re.findall(r'(\w+)="([a-z-]+)"', PAGE):
        names = {"policy": "collection policies", "method": "aggregators"}.get(keyword)
        if names:
            assert value in registry(names)
    for module in re.findall(r"(?:is|are|in) `(workbench\.[\w.]+)`", PAGE):
        importlib.import_module(module)
