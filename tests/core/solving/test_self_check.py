"""The self-check passes where the solver is sound, and fails where it is not."""

from workbench.solving import self_check
from workbench.solving.highs import HighsRun
from workbench.solving.self_check import KNOWN_PROBLEMS, run_self_check
from workbench.solving.solution import Termination


def test_all_pass():
    sung = run_self_check()
    assert [c.name for c in sung if not c.passed] == []
    assert len(sung) == len(KNOWN_PROBLEMS) == len({c.name for c in sung})
    assert all(c.seconds >= 0 and c.got == c.expected for c in sung)


def test_a_wrong_optimum_is_caught(monkeypatch):
    import numpy as np

    wrong = HighsRun(Termination.OPTIMAL, np.array([0.0, 5.0]), None, 15.0, 0.0)
    monkeypatch.setattr(self_check, "run", lambda *_: wrong)
    failed = {c.name: c.got for c in run_self_check() if not c.passed}
    assert failed == {"mixed program": "optimal 15"}


def test_one_that_raises_has_failed(monkeypatch):
    def broken(*given, **options):
        raise OSError("no solver")

    monkeypatch.setattr(self_check, "solve", broken)
    failed = {c.name: c.got for c in run_self_check() if not c.passed}
    assert set(failed) == {"toy example", "strong duality", "infeasible", "integrality gap"}
    assert failed["infeasible"] == "OSError: no solver"
