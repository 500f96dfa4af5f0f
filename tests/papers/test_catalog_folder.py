"""The folder of papers is the registry, and a user's own file has the same form."""

import subprocess
import sys

import pytest

from workbench.base import registry
from workbench.base.errors import InputError
from workbench.base.registry import load_plugin
from workbench.studies.catalog import claims, studies
from workbench.studies.claiming import Word
from workbench.studies.judging import judge

OWN = """
import pandas as pd
from workbench.studies.claiming import Ruling, claim
from workbench.studies.study import Analysis, Parameter, Size, Study

one = (Size(({},), 1),) * 3
STUDY = Study(
    name="NAME", title="Zebras", source="an example",
    parameters={"x": Parameter(int, 3, "a number")},
    sizes=dict(zip(("smoke", "small", "paper"), one)),
    trial=lambda params, streams: {"stripes": params["x"]},
    analyse=lambda trials: Analysis(("Striped.",)),
)

@claim(id="zebra-table-1", source="Table 1", statement="Stripes.", where={"x": 3}, least=1)
def striped(trials: pd.DataFrame) -> Ruling:
    most = trials["stripes"].max()
    figures = f"Up to {most} stripes."
    return Ruling.holds(figures) if most < 9 else Ruling.refuted(figures)
"""


@pytest.fixture
def own(monkeypatch, tmp_path):
    """Load a file of the user's; afterwards nothing of it is left."""
    monkeypatch.setattr(registry, "_loaded", {})
    monkeypatch.setattr(registry, "_shared", set())

    def load(name):
        path = tmp_path / "zebra.py"
        path.write_text(OWN.replace("NAME", name))
        load_plugin(path)

    return load


@pytest.mark.slow
def test_names_and_one_study_import_no_other():
    """A worker process imports what its study needs alone, and the list of rivals."""
    code = (
        "import sys; from workbench.studies.catalog import studies; list(studies());"
        "papers = lambda: [name for name in sys.modules if name.startswith('crowd_papers.')];"
        "print(*papers()); studies()['toy-example'].call; print(*papers())"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    none, some = said.stdout.splitlines()
    assert none.split() == ["crowd_papers.rivals"]
    assert some.split() == [
        "crowd_papers.rivals",
        "crowd_papers.adaptive_assignment",
        "crowd_papers.adaptive_assignment.toy_example",
    ]


def test_a_users_own_file_brings_a_study_and_claims(own):
    own("zebra")
    assert studies()["zebra"].summary == "Zebras"
    (mine,) = [claim for claim in claims() if claim.id == "zebra-table-1"]
    assert (mine.source, mine.studies) == ("Table 1", ("zebra",))

    class Store:
        def table(self, study, version=None):
            import pandas as pd

            return pd.DataFrame({"x": [3, 4], "stripes": [5, 12], "status": "ok"})

    (verdict,) = judge(Store(), [mine])
    assert (verdict.word, verdict.figures) == (Word.HOLDS, "Up to 5 stripes.")


def test_a_name_that_is_taken(own):
    own("toy-example")
    with pytest.raises(InputError, match="there is a study 'toy-example' already"):
        studies()
