"""What the papers claim, held against measurements (floor 4).

Each paper is one module that defines `CLAIMS`; `register` finds them. `judge` takes a store of
trials and decides every claim by what it measures; `markdown` writes the page. No verdict and
no figure is typed in.
"""

from workbench.claims.claim import Claim, Evidence, Finding, NotMeasured, Ruling, Verdict
from workbench.claims.judging import decide, judge, register, studies_needed
from workbench.claims.page import markdown, read_page

__all__ = [
    "Claim",
    "Evidence",
    "Finding",
    "NotMeasured",
    "Ruling",
    "Verdict",
    "decide",
    "judge",
    "markdown",
    "read_page",
    "register",
    "studies_needed",
]
