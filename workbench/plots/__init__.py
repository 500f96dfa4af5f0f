"""Pictures of results (floor 4). Nothing below this floor draws.

Colours are Okabe and Ito's, distinct for colour-blind readers, and every series also has a
marker or dash of its own. A module for each room: `compare`, `assign`, `sequential`, `select`,
`label`, `label_bars`, `collect`, `audit`, `learn`, `check`, `judge`, `ratings`, `study`,
`solving`, `ratios`, `arrivals`.
"""

from importlib import import_module

from workbench.base.errors import InputError

try:
    import_module("matplotlib")  # it reads its file of settings, which may be anything
except (ValueError, OSError) as error:
    raise InputError(
        f"no picture can be drawn, for matplotlib cannot read its settings ({error}): mend or "
        "remove your matplotlibrc"
    ) from None

from workbench.plots._style import COLOURS
from workbench.plots.arrivals import choices
from workbench.plots.assign import deal, plan, skills
from workbench.plots.audit import audit, checks_needed
from workbench.plots.check import agreed, checked
from workbench.plots.collect import collected, collected_ratings
from workbench.plots.compare import comparison
from workbench.plots.judge import judged
from workbench.plots.label import labelling
from workbench.plots.label_bars import by_label
from workbench.plots.ladder import rungs
from workbench.plots.learn import learning
from workbench.plots.ratings import estimated, rated_hiring, rating_plan, spread_of_ratings
from workbench.plots.ratios import ratios
from workbench.plots.render import as_pdf, as_png, as_svg
from workbench.plots.select import hiring
from workbench.plots.sequential import sequential
from workbench.plots.solving import chosen_gains, incumbents
from workbench.plots.study import chart, verdicts

__all__ = [
    "COLOURS",
    "agreed",
    "as_pdf",
    "as_png",
    "as_svg",
    "audit",
    "by_label",
    "chart",
    "checked",
    "checks_needed",
    "choices",
    "chosen_gains",
    "collected",
    "collected_ratings",
    "comparison",
    "deal",
    "estimated",
    "hiring",
    "incumbents",
    "judged",
    "labelling",
    "learning",
    "plan",
    "rated_hiring",
    "rating_plan",
    "ratios",
    "rungs",
    "sequential",
    "skills",
    "spread_of_ratings",
    "verdicts",
]
