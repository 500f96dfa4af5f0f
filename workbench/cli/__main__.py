"""`python -m workbench.cli`."""

from workbench.cli.start import start

start()
