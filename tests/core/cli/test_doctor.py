from __future__ import annotations

from dataclasses import replace

from workbench.solving import versions
from workbench.solving.self_check import run_self_check


def test_a_sound_installation(run):
    result = run("doctor")
    assert result.exit_code == 0
    assert "all passed" in result.stdout
    for name, version in versions().items():
        assert f"{name:10}{version}" in result.stdout


def test_a_canary_that_fails(run, monkeypatch):
    canaries = run_self_check()[:1]
    failing = [replace(canaries[0], passed=False, got="99999")]
    monkeypatch.setattr("workbench.solving.self_check.run_self_check", lambda: failing)
    result = run("doctor")
    assert result.exit_code == 1
    assert f"failed: {canaries[0].name}" in result.stdout
    assert run("doctor", "--json").exit_code == 1
