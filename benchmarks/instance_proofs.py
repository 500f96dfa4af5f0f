"""Proofs of the public instances as files, and what each checker says of them.

`check.py` is bare Python in a process of its own, `verify.c` a program in C, built where there is
a compiler. VIPR certificates are read by the checker that the environment variable VIPRCHK names,
one that others wrote; it verifies the bound, and of a plan its cost, while that the plan keeps
every constraint is the other two's to say.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from benchmarks.instances import InstanceSet
from workbench.base.errors import InputError
from workbench.solving.proof_file import rational, written
from workbench.solving.sol_file import sol_file
from workbench.solving.vipr import vipr_file

VIPRCHK = "VIPRCHK"
SECONDS = 600.0
"""For a checker on one file."""
HEAD = ("instance", "best known", "bound", "check.py", "verify.c", "VIPR", "VIPR's checker")


@dataclass(frozen=True)
class CheckedInstance:
    """What was written of an instance, and what was said of it.

    Attributes
    ----------
    name, best, bound
        As in the index.
    plain, second
        What `check.py` and `verify.c` say of the proof.
    megabytes
        Of the certificate; None where there is none, and `why`.
    others
        What the checker that others wrote says of it, with its seconds.
    """

    name: str
    best: str
    bound: str
    plain: str
    second: str
    megabytes: float | None
    why: str
    others: str

    @property
    def cells(self) -> tuple[str, ...]:
        """A line of the table."""
        size = self.why if self.megabytes is None else f"{self.megabytes:.1f} MB"
        return self.name, self.best, self.bound, self.plain, self.second, size, self.others


def write_proofs(
    instances: InstanceSet, names: Sequence[str], folder: Path
) -> Iterator[CheckedInstance]:
    """Write NAME.json, .proof.json, .sol and .vipr of instances in the index, and check them."""
    with tempfile.TemporaryDirectory() as place:
        second = built(instances.folder / "verify.c", Path(place))
        for name in names:
            if name in instances.rows:
                yield _checked(instances, name, folder, second)


def built(source: Path, place: Path) -> Path | None:
    """Compile the second verifier; None where there is no compiler, or no source."""
    compiler, program = shutil.which("cc"), place / "verify"
    if compiler is None or not source.is_file():
        return None
    command = [compiler, "-std=c11", "-O2", "-o", str(program), str(source), "-lm"]
    ended = subprocess.run(command, capture_output=True, check=False)
    return None if ended.returncode else program


def proof_of_instance(instances: InstanceSet, name: str) -> bytes:
    """Write the solution on record as a proof."""
    row = instances.rows[name]
    path = instances.folder / "solutions" / f"{name}.json"
    solution = instances.checker["parsed"](path.read_text(encoding="utf-8"))
    prices = [rational(Fraction(price)) for price in solution["worker_prices"]]
    bound = row["bound"] if row["status"] == "checked" else "0"
    proof = {
        "kind": "assignment",
        "format": 2,
        "problem_sha256": hashlib.sha256(instances.content(name)).hexdigest(),
        "claim": {"cost": rational(Fraction(row["best"])), "bound": rational(Fraction(bound))},
        "tree": {"worker_prices": prices, "side_prices": []},
    }
    plan = {key: solution[key] for key in ("labels", "patterns") if key in solution}
    return written({**proof, **plan})


def _checked(
    instances: InstanceSet, name: str, folder: Path, second: Path | None
) -> CheckedInstance:
    row, content = instances.rows[name], instances.content(name)
    proof = proof_of_instance(instances, name)
    problem, proven = folder / f"{name}.json", folder / f"{name}.proof.json"
    problem.write_bytes(content)
    proven.write_bytes(proof)
    checker = [sys.executable, "-I", "-S", str(instances.folder / "check.py")]
    plain, _ = _said([*checker, str(problem), str(proven)])
    again = "not built" if second is None else _said([str(second), str(problem), str(proven)])[0]
    size, why, others = None, "", "–"
    try:
        (folder / f"{name}.sol").write_bytes(sol_file(content, proof.decode()))
        certificate = vipr_file(content, proof.decode())
        (folder / f"{name}.vipr").write_bytes(certificate)
        size, others = len(certificate) / 1e6, _by_others(folder / f"{name}.vipr")
    except InputError as error:
        why = str(error).partition(": ")[2]
    words = (_short(plain), _short(again))
    return CheckedInstance(name, row["best"], row["bound"], *words, size, why, others)


def _short(line: str) -> str:
    return "holds" if line.startswith("holds: ") else line.strip()[:80]


def _by_others(path: Path) -> str:
    """What VIPR's checker says of a certificate."""
    checker = os.environ.get(VIPRCHK)
    if not checker:
        return "not run"
    output, seconds = _said([checker, str(path)])
    verified = "Successfully verified" in output or "Infeasibility verified" in output
    return f"{'verified' if verified else 'refused'}, {seconds:.1f} s"


def _said(command: list[str]) -> tuple[str, float]:
    started = time.perf_counter()
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}", time.perf_counter() - started
    return ended.stdout, time.perf_counter() - started
