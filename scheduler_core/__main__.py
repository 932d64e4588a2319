"""The command line: ``podstep``, and the same as ``python -m scheduler_core``."""

from __future__ import annotations

import gc
import os
import sys

from scheduler_core.cli.commands import main

__all__ = ["console", "main", "podstep"]


# NumPy's BLAS, which the engine does not call, begins a thread for each core when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _collect_rarely() -> None:
    """Collect garbage after more objects than by default.

    Modules and a run keep what they make, and hardly any of it refers to itself.
    """
    gc.set_threshold(200_000, 20, 50)


def console(*default: str) -> None:
    """Run the command of the process's arguments, or the default, and exit with its code."""
    _collect_rarely()
    code = main(sys.argv[1:] or default)
    gc.freeze()  # all of it ends with the process: the interpreter need not look through it
    sys.exit(code)


def podstep() -> None:
    """Run ``podstep``: without a command, the workbench opens."""
    console("serve")


if __name__ == "__main__":
    console()
