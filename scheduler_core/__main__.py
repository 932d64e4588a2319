"""The engine's command line: ``python -m scheduler_core``."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

COMMANDS = ("simulate", "explain", "compare", "cost", "optimum", "export", "conform", "bench")
"""The commands, each a module of :mod:`scheduler_core.cli`."""


def parser(names: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """Describe the commands, or those named; only their modules are imported."""
    top = argparse.ArgumentParser(prog="scheduler_core", description="Simulate Kubernetes scheduling.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in names:
        module = import_module(f"scheduler_core.cli.{name}")
        summary = (module.__doc__ or "").partition(": ")[2].strip().partition("\n")[0]
        module.add_arguments(commands.add_parser(name, help=summary, description=module.__doc__))
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status, 2 for bad input."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = parser(given[:1] if given[:1] and given[0] in COMMANDS else COMMANDS).parse_args(given)
    from scheduler_core.cli.reporting import InputError

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
    """Collect garbage after more objects than by default.

    Modules and a run keep what they make, and hardly any of it refers to itself.
    """
    gc.set_threshold(200_000, 20, 50)


if __name__ == "__main__":
    _collect_rarely()
    code = main()
    gc.freeze()  # all of it ends with the process: the interpreter need not look through it
    sys.exit(code)
