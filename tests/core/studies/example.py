"""A study that comes with the tests of the core: no package of papers need be there."""

from pathlib import Path

EXAMPLE = str(Path(__file__).parents[1] / "plugins" / "unanalysed_study.py")
NAME = "unanalysed"
