"""The second verifier, `models/problems/verify.c`: built once for a run of the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

SOURCE = Path(__file__).parents[3] / "models" / "problems" / "verify.c"
STRICT = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
"""Flags of a build that ends, with code 2 or a signal, where C leaves open what happens."""


@cache
def build(*flags: str) -> Path | None:
    """Compile it; None where that cannot be."""
    compiler = shutil.which("cc")
    if compiler is None or not SOURCE.is_file():
        return None
    program = Path(mkdtemp()) / "verify"
    command = [compiler, "-std=c11", *(flags or ("-O2",)), "-o", str(program), str(SOURCE), "-lm"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return None
    return program


def verifier(*flags: str):
    """A function of a problem and a proof that gives whether it holds, and the line that says so.

    The test is skipped where there is no C compiler.
    """
    program = build(*flags)
    if program is None:
        pytest.skip("no C compiler (cc) here that builds verify.c")
    problem, proof = program.with_name("problem.json"), program.with_name("proof.json")

    def line_of(content: bytes, text: str) -> tuple[bool, str]:
        problem.write_bytes(content)
        proof.write_text(text, encoding="utf-8", errors="surrogatepass")
        return line_of_files(program, problem, proof)

    return line_of


def line_of_files(program: Path, problem: Path, proof: Path) -> tuple[bool, str]:
    """The same of files, whatever is in them."""
    # Memory is given back when the process ends: that is no leak.
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    ended = subprocess.run(
        [str(program), str(problem), str(proof)], capture_output=True, check=False, env=environment
    )
    assert not ended.stderr, ended.stderr.decode(errors="replace")[:2000]
    line = ended.stdout.decode("ascii").removesuffix("\n")
    assert ended.returncode == ("holds", "WRONG", "UNDECIDED").index(line.partition(":")[0])
    return ended.returncode == 0, line
