"""What reproduces papers and goes beyond them, on top of the core, which never imports it.

A folder a paper, a file a figure or question: sweep, trial, analysis and claims side by side. The
folder is the registry (`workbench.studies.catalog`).
"""
