"""Where the command starts: Ctrl-C ends it quietly also while its modules are being imported."""

import os
import signal
import sys
from typing import Any

INTERRUPTED = 130


def start() -> None:
    """Run the command; nothing is open before `main` has been imported, so it may just end."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, _end)
    from workbench.cli.app import main

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    main()


def _end(*_: Any) -> None:
    if sys.stderr is not None:
        os.write(2, b"error: interrupted\n")
    os._exit(INTERRUPTED)
