"""Li, Liu (2015), on how many workers to hire, and which, by control questions."""

PAPER = "Li, Liu 2015"
