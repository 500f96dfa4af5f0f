"""Liu, Liu (2015), on learning online, without truth, whose labels to use."""

PAPER = "Liu, Liu 2015"
