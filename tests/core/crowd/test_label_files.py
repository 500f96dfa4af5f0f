"""Label files with mistakes in them: read, or refused in one line with exit code 2.

Files of all forms, changed at random places: bytes, lines, cells, whole values. 700 in
the slow tests; WORKBENCH_LABEL_FILES is how many.
"""

from __future__ import annotations

import gzip
import os
import random
import shutil
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.forms import measured, write_form
from workbench import InputError, aggregate
from workbench.cli import main

FILES = int(os.environ.get("WORKBENCH_LABEL_FILES", "250"))
ODD = [
    b"",
    b"\x00",
    b"\xff\xfe",
    b'"',
    b"'",
    b",",
    b"\t",
    b"\n",
    b"\r",
    b"null",
    b"NaN",
    b"[]",
    b"{}",
    b"-1",
    b"1e308",
    b"9" * 400,
    "é".encode("latin-1"),
    "٢".encode(),
    b"\\ud800",
    b"=1+1",
]


def hurt(content: bytes, rng: random.Random) -> bytes:
    """Change a file at one to three places."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(content) + 1)
        kind = rng.randrange(8)
        lines = content.split(b"\n")
        if kind == 0:
            content = content[:at] + rng.choice(ODD) + content[at:]
        elif kind == 1:
            content = content[:at]
        elif kind == 2:
            content = content[:at] + content[at + rng.randint(1, 40) :]
        elif kind == 3 and content:
            spoilt = bytearray(content)
            spoilt[min(at, len(spoilt) - 1)] ^= 1 << rng.randrange(8)
            content = bytes(spoilt)
        elif kind == 4:
            line = rng.randrange(len(lines))
            content = b"\n".join([*lines[:line], lines[line], lines[line], *lines[line + 1 :]])
        elif kind == 5:
            content = b"\n".join(rng.sample(lines, len(lines)))
        elif kind == 6:
            line = rng.randrange(len(lines))
            mark = rng.choice((b",", b"\t", b":", b" "))
            cells = lines[line].split(mark)
            cells[rng.randrange(len(cells))] = rng.choice(ODD)
            lines[line] = mark.join(cells)
            content = b"\n".join(lines)
        else:
            content = rng.choice(
                (b"\xef\xbb\xbf" + content, content.decode("latin-1").encode("utf-16"))
            )
    return content


@pytest.mark.parametrize("many", [70, pytest.param(FILES, marks=pytest.mark.slow)])
def test_a_file_with_mistakes_is_read_or_refused_in_one_line(many, tmp_path):
    whole, forms = {}, measured()
    for form in forms:
        folder = tmp_path / form
        folder.mkdir()
        whole[form] = write_form(form, 12, folder)
    rng, taken = random.Random(many), 0
    for k in range(many):
        form = forms[k % len(forms)]
        source = whole[form]
        if source.is_dir():
            path = tmp_path / f"f{k}"
            shutil.copytree(source, path)
            file = rng.choice([file for file in sorted(path.rglob("*")) if file.is_file()])
        else:
            path = file = tmp_path / f"f{k}{''.join(source.suffixes)}"
            shutil.copy(source, file)
        content = hurt(file.read_bytes(), rng)
        file.write_bytes(content)
        if path is file and rng.random() < 0.05:
            path = file.with_name(file.name + ".gz")
            path.write_bytes(gzip.compress(content)[: rng.randint(10, 10_000)])
        result = CliRunner().invoke(
            main, ["aggregate", "--labels", str(path), "--method", "majority"]
        )
        about = f"{form}, file {k}: {result.output[-300:]} {result.exception!r}"
        assert result.exit_code in (0, 2), about
        if result.exit_code:
            errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
            assert len(errors) == 1, about
            assert result.stdout == "", about
        taken += not result.exit_code
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert many / 20 < taken < many  # some mistakes leave a file that can be read
    assert Path(whole["wide"]).exists()


@pytest.mark.parametrize("kind", [".csv", "frame"])
@pytest.mark.parametrize("column", ["task", "worker", "label"])
def test_a_zero_byte_is_no_part_of_a_name(kind, column, tmp_path):
    """NumPy's text arrays drop zero bytes at the end: "no" and "no\\0" would be one class."""
    names = [f"task {k}" for k in range(40)]  # zeros early in a file mean UTF-16
    rows = pd.DataFrame({"task": names, "worker": names, "label": "no"})
    rows.loc[39, column] += "\0"
    path = tmp_path / "labels.csv"
    rows.to_csv(path, index=False)
    place = "line 41" if kind == ".csv" else "index 39"
    with pytest.raises(InputError, match=rf"{place}: {column} '.*\\x00' is no Unicode text"):
        aggregate(path if kind == ".csv" else rows, method="majority")
