"""What reproduces the papers and goes beyond them: the workbench's first plugin.

One folder per paper, a file a figure or question: sweep, trial, analysis and claims side by side;
`rivals` are policies that the workbench's own are measured against. It registers by the entry point
that anybody's package may use, and imports public names of the workbench alone.
"""

from crowd_papers.rivals import RIVALS
from workbench.collection import POLICIES

for _entry in RIVALS:
    POLICIES.register(_entry)
