"""One HTML page of what a store holds: findings, tables, figures, failures, provenance (floor 5).

The page is one file: it loads nothing, runs no script, and says so to the browser (Content
Security Policy). `page` writes it, `provenance` tells what the trials ran on, `repeat` the
commands that run them again, `numbers` how figures are rounded. The same store gives the same
page.
"""

from workbench.pages.page import Page, report

__all__ = ["Page", "report"]
