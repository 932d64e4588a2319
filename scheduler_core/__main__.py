"""The engine's command line: ``python -m scheduler_core``."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence

from scheduler_core.cli import bench, compare, conform, cost, explain, export, optimum, simulate
from scheduler_core.cli.reporting import InputError

COMMANDS = {
    "simulate": simulate,
    "explain": explain,
    "compare": compare,
    "cost": cost,
    "optimum": optimum,
    "export": export,
    "conform": conform,
    "bench": bench,
}


def parser() -> argparse.ArgumentParser:
    """Describe the commands, one row each."""
    top = argparse.ArgumentParser(prog="scheduler_core", description="Simulate Kubernetes scheduling.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        summary = (module.__doc__ or "").partition(": ")[2].strip().partition("\n")[0]
        module.add_arguments(commands.add_parser(name, help=summary, description=module.__doc__))
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status, 2 for bad input."""
    options = parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as head, has seen enough
        _forget_output()
        return 0
    except OSError as error:  # what the commands read, they check themselves; this is a full disk or the like
        _forget_output()
        print(f"{error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
        return 2
    return status


def _forget_output() -> None:
    """Let Python's own flush at exit go nowhere, where it would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _collect_rarely() -> None:
    """Exempt what was imported from garbage collections, and collect after more objects than by default.

    A run keeps what it makes, and hardly any of it refers to itself.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


if __name__ == "__main__":
    _collect_rarely()
    sys.exit(main())
