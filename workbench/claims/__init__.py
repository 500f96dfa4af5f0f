"""What the papers claim, held against measurements (floor 4).

Each paper is one file of claims, `PAPER.toml`, and beside it the measures that take more than an
expression. `register` reads the files, `judge` decides every claim by the trials of a store,
`markdown` writes the page. No verdict and no figure is typed in.
"""

from workbench.claims.claim import Claim, Evidence, NotMeasured, Ruling, Verdict
from workbench.claims.files import register, studies_needed
from workbench.claims.judging import judge
from workbench.claims.measuring import decide
from workbench.claims.page import markdown, read_page

__all__ = [
    "Claim",
    "Evidence",
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
