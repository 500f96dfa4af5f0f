"""No command's JSON is its own: each is compared with what the door, or a room below it, gives."""

from __future__ import annotations

import json
from pathlib import Path

import click
from click.testing import CliRunner

from tests.api.test_payloads_labels import COMMANDS
from tests.api.test_payloads_plans import CASES, STORE
from workbench.base.text import strict_json
from workbench.cli import main as run_command_line
from workbench.cli.app import main
from workbench.studies import verify
from workbench.studies.shards import merge
from workbench.studies.store import Store

RESULTS = {line.split()[0] for line, _ in (*COMMANDS.values(), *CASES.values())}
"""Commands whose JSON is a result's `to_dict()`, a line of calls each in the tests beside this."""
ACTIONS = {
    "export": "test_an_exported_model",
    "study run": "test_studies",
    "study report": "test_studies",
    "claims": "test_studies",
    "study list": "test_what_commands_list_their_rooms_give",
    "study show": "test_what_commands_list_their_rooms_give",
    "study status": "test_what_commands_list_their_rooms_give",
    "data list": "test_data_sets_are_listed_alike",
    "data info": "test_data_sets_are_listed_alike",
    "study verify": "test_what_was_done_to_a_store",
    "study export": "test_what_was_done_to_a_store",
    "study merge": "test_what_was_done_to_a_store",
    "data fetch": "test_what_was_done_to_a_store",
    "bench": "test_rows_that_were_measured",
}
"""Commands that list or do something, and where what they tell is compared."""


def commands(group: click.Command, context: click.Context, name: str = "") -> dict[str, bool]:
    """All command lines below a group, and whether they take --json."""
    if not isinstance(group, click.Group):
        return {name.strip(): any("--json" in one.opts for one in group.params)}
    found: dict[str, bool] = {}
    for child in group.list_commands(context):
        inner = group.get_command(context, child)
        assert inner is not None
        found |= commands(inner, context, f"{name} {child}")
    return found


def test_every_command_tells_json_and_is_compared():
    found = commands(main, click.Context(main))
    assert all(found.values())
    assert found.keys() == RESULTS | ACTIONS.keys()
    beside = [path.read_text() for path in Path(__file__).parent.glob("test_payloads*.py")]
    for test in ACTIONS.values():
        assert any(f"def {test}(" in text for text in beside), test


def told(line: str) -> object:
    result = CliRunner().invoke(run_command_line, [*line.split(), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_what_was_done_to_a_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told(STORE)
    checked = told("study verify --store s.sqlite --sample 2 --seed 3")
    found = verify.verify(Path("s.sqlite"), sample=2, seed=3)
    assert checked == json.loads(strict_json(found.payload()))
    exported = told("study export toy-example --store s.sqlite --out t.csv")
    with Store.open("s.sqlite") as store:
        trials = store.table("toy-example")
    assert exported == {"out": "t.csv", "rows": len(trials), "columns": list(trials.columns)}
    merged = told("study merge s.sqlite --store all.sqlite")
    with Store.open("again.sqlite", write=True) as store:
        assert merged == {"store": "all.sqlite", **merge((Path("s.sqlite"),), store)}


def test_rows_that_were_measured():
    from workbench.bench import SMOKE, bench, report

    measured = told("bench --smoke --rows typed --repeats 1")
    known = json.loads(strict_json(report(list(bench(("typed",), SMOKE, judge=False)), SMOKE)))
    assert measured.keys() == known.keys()
    (ours,), (row,) = measured["rows"], known["rows"]
    assert ours.keys() == row.keys()
    assert {name: ours[name] for name in ("name", "unit", "reached")} == {
        name: row[name] for name in ("name", "unit", "reached")
    }
