"""Help is in groups, the options most used first; completion knows commands, options and names."""

from __future__ import annotations

import os
import re

import click
import pytest
from click.testing import CliRunner

from tests.core.cli.walk import commands
from workbench.cli import main
from workbench.cli.app import COMMANDS, GROUPS
from workbench.cli.help import FIRST, GROUP_OF, SHOWN, Grouped, group_of, options_of
from workbench.cli.help import GROUPS as OPTION_GROUPS

EVERY = dict(commands(main, click.Context(main)))
HAVING = {name: command for name, command in EVERY.items() if isinstance(command, Grouped)}


def shown(*words: str) -> dict[str, list[str]]:
    """Options of a help by their group's title."""
    text = CliRunner().invoke(main, list(words)).stdout.split("Example")[0]
    groups: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if re.fullmatch(r"[A-Z][a-z ]+:", line):
            title = line[:-1]
        elif title and (found := re.match(r"  (?:-\w, )?(--[\w-]+)", line)):
            groups.setdefault(title, []).append(found[1])
    return groups


def told(groups: dict[str, list[str]]) -> list[str]:
    return [option for title, own in groups.items() if title != "Help" for option in own]


@pytest.mark.parametrize("name", HAVING)
def test_every_option_belongs_to_a_group(name):
    command = HAVING[name]
    for option in options_of(command):
        assert group_of(option, command) in OPTION_GROUPS, (name, option.opts)


def test_no_option_stands_in_two_groups():
    names = [name for group in OPTION_GROUPS.values() for name in group.split()]
    assert len(names) == len(set(names)) == len(GROUP_OF)
    assert len(FIRST) == len(set(FIRST))


def test_a_name_means_what_it_is_in_its_command():
    def group(command: str, name: str) -> str | None:
        option = next(one for one in options_of(EVERY[command]) if one.name == name)
        return group_of(option, EVERY[command])

    assert group("plan", "tasks") == "What is given"
    assert group("learn", "tasks") == "A simulated crowd"
    assert group("export", "format") == "What comes out"
    assert group("check", "format") == "How labels are read"
    assert group("compare", "skills") == group("learn", "price") == "Method"
    assert group("collect audit", "price") == "What is asked for"
    assert group("ladder", "skills") == "What is given"


@pytest.mark.parametrize("name", HAVING)
def test_help_shows_ten_options_and_help_all_every_one(name):
    command, words = HAVING[name], name.split()
    few, every = shown(*words, "--help"), shown(*words, "--help-all")
    own = sorted(option.opts[0] for option in options_of(command))
    assert sorted(told(every)) == own
    assert len(told(few)) == min(SHOWN, len(own))
    required = {option.opts[0] for option in options_of(command) if option.required}
    assert required <= set(told(few))
    assert few["Help"] == ["--help", "--help-all"]
    # What is shown of a group is in the same order.
    for title, options in few.items():
        assert [option for option in every[title] if option in options] == options
    text = CliRunner().invoke(main, [*words, "--help"]).stdout
    more = f"{len(own) - SHOWN} more options: workbench {name} --help-all"
    assert (more in text) is (len(own) > SHOWN)


def test_what_people_need_first_is_shown():
    for name, needed in {
        "hire": {"--labels", "--gold", "--budget", "--costs", "--money", "--out", "--plot"},
        "plan": {"--labels", "--gold", "--skills", "--tasks", "--epsilon", "--out", "--plot"},
        "aggregate": {"--labels", "--gold", "--method", "--out", "--json"},
        "collect": {"--labels", "--gold", "--crowd", "--epsilon", "--total", "--hidden-tasks"},
        "check": {"--labels", "--gold", "--judge", "--relabel", "--out"},
    }.items():
        assert needed <= set(told(shown(name, "--help"))), name


def test_many_names_to_choose_from_stand_in_the_text(run):
    text = run("aggregate", "--help").stdout
    assert "--method NAME " in text
    assert "One of: majority, weighted-linear" in " ".join(text.split())
    assert max(map(len, text.split("Examples:")[0].splitlines())) <= 80


def test_commands_stand_in_groups(run):
    text = run("--help").stdout
    for title, lines in GROUPS.items():
        part = text[text.index(f"{title}:") :].split("\n\n")[0]
        assert re.findall(r"^  (\w+)  ", part, flags=re.MULTILINE) == list(lines)
    assert list(COMMANDS) == [name for lines in GROUPS.values() for name in lines]


def test_parts_say_their_whole_first_sentence(run):
    text = run("collect", "--help").stdout
    assert "..." not in text.split("Commands:")[1]
    assert "served with it too." in " ".join(text.split())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("workbench ai", []),
        ("workbench agg", ["aggregate"]),
        ("workbench collect st", ["start", "status"]),
        ("workbench hire --bud", ["--budget"]),
        ("workbench aggregate --method ma", ["majority"]),
        ("workbench aggregate --help-a", ["--help-all"]),
    ],
)
def test_completion(line, expected):
    words = line.split()
    environment = {
        "_WORKBENCH_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    found = CliRunner().invoke(main, [], env=environment)
    assert [each.split(",")[1] for each in found.stdout.split()] == expected


@pytest.mark.skipif(os.name != "posix", reason="shells")
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_has_a_script_for_a_shell(shell):
    found = CliRunner().invoke(main, [], env={"_WORKBENCH_COMPLETE": f"{shell}_source"})
    assert found.exit_code == 0
    assert f"_WORKBENCH_COMPLETE={shell}_complete" in found.stdout
