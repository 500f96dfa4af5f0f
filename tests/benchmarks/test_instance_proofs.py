"""Proofs of the public instances: written, and what each checker says of them."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import command
from benchmarks.instance_proofs import VIPRCHK, write_proofs
from benchmarks.instances import InstanceSet
from workbench.base.checker import plan_checker

FOLDER = Path(__file__).parents[2] / "models" / "problems"
NAMES = ("toy-5x4", "toy-6x5-cents", "limits-whole-40x16", "chain")


@pytest.fixture(scope="module")
def instances():
    return InstanceSet(FOLDER)


@pytest.mark.release
def test_every_instance_has_a_proof_in_the_one_schema(instances, tmp_path, monkeypatch):
    monkeypatch.delenv(VIPRCHK, raising=False)
    checked = {each.name: each for each in write_proofs(instances, NAMES, tmp_path)}
    assert {each.plain for each in checked.values()} == {"holds"}
    second = "holds" if shutil.which("cc") else "not built"
    assert {each.second for each in checked.values()} == {second}
    for name in NAMES:
        problem, proof = (tmp_path / f"{name}{end}" for end in (".json", ".proof.json"))
        holds, line = plan_checker()["line_of"](problem.read_bytes(), proof.read_text())
        assert (holds, line.endswith("none is cheaper")) == (True, True)
        assert (tmp_path / f"{name}.sol").read_text().startswith("=obj= ")
    assert checked["limits-whole-40x16"].why == ""
    assert (tmp_path / "limits-whole-40x16.vipr").exists()
    assert {checked[name].others for name in ("toy-5x4", "chain")} == {"not run"}


@pytest.mark.release
@pytest.mark.parametrize(
    ("words", "said"),
    [("Successfully verified optimal value range [10, 10].", "verified"), ("no", "refused")],
)
def test_what_the_checker_of_others_says_is_handed_on(
    instances, tmp_path, monkeypatch, words, said
):
    script = tmp_path / "judge"
    script.write_text(f"#!{sys.executable}\nprint({words!r})\n")
    script.chmod(0o755)
    monkeypatch.setenv(VIPRCHK, str(script))
    (each,) = write_proofs(instances, ["toy-5x4"], tmp_path)
    assert each.others.startswith(f"{said}, ")


@pytest.mark.release
def test_the_command_writes_the_table(tmp_path):
    from click.testing import CliRunner

    out, there = tmp_path / "checked.json", tmp_path / "p"
    there.mkdir()
    options = ["--instances", str(FOLDER), "--rows", "toy-5x4", "--proofs", str(there)]
    ended = CliRunner().invoke(command, [*options, "--out", str(out)])
    assert ended.exit_code == 0, ended.output
    assert json.loads(out.read_text())["instances"][0]["plain"] == "holds"
    assert "| toy-5x4 | 10 | 10 | holds | " in out.with_suffix(".md").read_text()
    refused = CliRunner().invoke(command, [*options[:4], "--proofs", str(out)])
    assert "is a file, give a folder" in str(refused.exception)
    assert CliRunner().invoke(command, ["--proofs", str(tmp_path)]).exit_code == 1
