"""Start-up stays light: what is not needed is not imported."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("imported", "absent"),
    [
        ("crowd_models", ["pyomo", "highspy", "pandas", "matplotlib", "scipy", "workbench.crowd"]),
        (
            "workbench.solving, workbench.solving.self_check",
            ["pyomo", "highspy", "pandas", "matplotlib", "scipy"],
        ),
    ],
)
def test_imports(imported, absent):
    code = f"import sys, {imported}; print(*{absent!r} & sys.modules.keys())".replace(
        f"{absent!r}", f"set({absent!r})"
    )
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == []
