"""`workbench verify`: recompute what a file claims, by the file's kind."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import click

from workbench.base.checker import plan_checker, policy_checker
from workbench.base.errors import InputError
from workbench.base.writing import read_whole
from workbench.cli import options
from workbench.cli.output import emit
from workbench.cli.streams import show

PLAN = "assignment"
"""Kind of a proof of a plan, which takes the problem's file as well."""
POLICIES = ("online", "posted-price", "sequential")
"""Kinds of proofs of policies, which state their problems themselves."""
CHECKERS = {"audit": "workbench.auditing.check_audit"}
"""Module of each kind, with `line_of(content)`: it imports nothing else of the workbench."""


@options.command(
    "workbench verify certificate.json",
    "workbench verify problem.json problem.proof.json",
    "workbench verify bound.json --skills skills.csv --tasks tasks.csv --capacity 50",
    draws=False,
    of=("planning:plan",),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("proof", type=click.Path(path_type=Path), required=False)
@options.csv("--skills")
@options.csv("--tasks")
@options.text("--capacity", "N|CSV")
@options.csv("--costs")
def command(file: Path, proof: Path | None, as_json: bool, **tables: str | None) -> int:
    """Recompute a certificate, or a proof of a problem or of policies, by Python alone.

    None of the code that wrote it is used. Prints `holds: …`, or `WRONG: …` with exit code 1. With
    the tables of `plan --sequential` it says whether the proof is about these.
    """
    given = {name: value for name, value in tables.items() if value is not None}
    if given and (proof is not None or not {"skills", "tasks", "capacity"} <= set(given)):
        raise InputError("give --skills, --tasks and --capacity together, to a proof of policies")
    try:
        content = read_whole(file)
        claimed = None if proof is None else read_whole(proof)
    except OSError as error:
        holds, line = False, f"WRONG: {error.filename} cannot be read ({error.strerror})"
    else:
        if claimed is not None:
            holds, line = _plan(content, claimed)
            return _ended(holds, line, as_json)
        kind = _kind(content)
        if kind in CHECKERS:
            holds, line = importlib.import_module(CHECKERS[kind]).line_of(content)
        elif kind in POLICIES:
            holds, line = policy_checker()["line_of"](content)
            if holds and given:
                holds, line = _about(content, line, given)
        else:
            beside = "; of a plan give PROBLEM and PROOF" if kind == PLAN else ""
            kinds = ", ".join((*CHECKERS, *POLICIES, PLAN))
            holds, line = False, f"WRONG: is no certificate of a known kind ({kinds}){beside}"
    return _ended(holds, line, as_json)


def _about(content: bytes, line: str, tables: dict[str, Any]) -> tuple[bool, str]:
    """Whether a proof that holds is about some tables."""
    from workbench.api.proof_tables import other_tables

    tables["capacity"] = options.number_or_file("--capacity", tables["capacity"])
    others = other_tables(content, **tables)
    if others:
        return False, f"WRONG: about another problem: {', '.join(others)} differ; {line}"
    return True, f"{line}; about these tables"


def _plan(problem: bytes, proof: bytes) -> tuple[bool, str]:
    try:
        text = proof.decode("utf-8")
    except UnicodeDecodeError:
        return False, "WRONG: is no text"
    holds, line = plan_checker()["line_of"](problem, text)
    return bool(holds), str(line)


def _ended(holds: bool, line: str, as_json: bool) -> int:
    if as_json:
        emit({"holds": holds, "line": line})
    else:
        show(line)
    return 0 if holds else 1


def _kind(content: bytes) -> str:
    try:
        raw = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    kind = raw.get("kind") if isinstance(raw, dict) else None
    return kind if isinstance(kind, str) else ""
