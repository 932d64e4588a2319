"""The subcommands of ``podstep``, in the order of its help, and its exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

PROGRAM = "podstep"
BAD_INPUT = 2
INTERRUPTED = 130

EXIT_CODES = {
    0: "done, or what was asked holds",
    1: "violated, at risk or infeasible",
    BAD_INPUT: "bad input: the message names the file, the line and what would be right",
    INTERRUPTED: "interrupted by Ctrl-C",
}


WORKBENCH = "the workbench, of the package podstep"
QUERY = "DuckDB, of the package podstep"
MCP = "the extra mcp, as in `pipx install 'podstep[mcp]'`"


class Command(NamedTuple):
    """A subcommand: ``module`` has ``add_arguments(parser)``, which sets ``run(options) -> exit code``.

    Only the module of the command that is run is imported. ``needs`` is what to install where the module,
    or a library of its own, is not there.
    """

    name: str
    summary: str
    module: str
    needs: str = ""


COMMANDS = (
    Command("serve", "open the workbench in a browser", "playground.management.workbench", WORKBENCH),
    Command("simulate", "run a cluster to its end; each pod with its reason", "scheduler_core.cli.simulate"),
    Command("explain", "why a pod is where it is, and the smallest change", "scheduler_core.cli.explain"),
    Command("compare", "where two configurations or releases differ", "scheduler_core.cli.compare"),
    Command("cost", "what the equivalence cache and batching save and cost", "scheduler_core.cli.cost"),
    Command("optimum", "the best placement, its proof and the moves there", "scheduler_core.cli.optimum"),
    Command(
        "audit", "pending pods, lost nodes, drains, rollouts, capacity, packing", "scheduler_core.cli.audit"
    ),
    Command("review", "check and audit a branch, for a pull request", "scheduler_core.cli.review"),
    Command("capacity", "how many more pods fit, and which nodes to add", "scheduler_core.cli.capacity"),
    Command("check", "whether claims about a cluster hold, whatever happens", "scheduler_core.cli.check"),
    Command("sweep", "a scenario under every combination of a grid's values", "scheduler_core.cli.sweep"),
    Command("fit", "a workload fitted to a trace, to draw others of it", "scheduler_core.cli.fit"),
    Command("query", "a question about a run, in SQL or by name", "scheduler_core.cli.query", QUERY),
    Command("export", "a cluster in another format", "scheduler_core.cli.export"),
    Command("conform", "answer recorded decisions, to compare with them", "scheduler_core.cli.conform"),
    Command("bench", "measure scheduling on standard workloads", "scheduler_core.cli.bench"),
    Command("mcp", "answer agents over the Model Context Protocol", "scheduler_core.cli.mcp_server", MCP),
    Command("completion", "completion of commands and options in a shell", "scheduler_core.cli.completion"),
)
"""A line a command."""

BY_NAME = {command.name: command for command in COMMANDS}


def parser(names: Collection[str]) -> argparse.ArgumentParser:
    """Describe the commands; only the modules of those in ``names`` are imported, for their arguments."""
    codes = "; ".join(f"{code}: {text}" for code, text in EXIT_CODES.items())
    top = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Kubernetes scheduling, one visible step at a time.",
        epilog=f"Exit codes: {codes}.",
    )
    subparsers = top.add_subparsers(prog=PROGRAM, dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        module = imported(command) if command.name in names else None
        about = _sentence(module) if module else None
        described = subparsers.add_parser(command.name, help=command.summary, description=about)
        if module:
            module.add_arguments(described)
    return top


def _sentence(module: ModuleType) -> str:
    """Return what a command's module says of it behind the name."""
    text = (module.__doc__ or "").partition(": ")[2]
    return text[:1].upper() + text[1:]


def imported(command: Command) -> ModuleType:
    """Import a command's module; exit with what to install where a part of it is missing."""
    try:
        return import_module(command.module)
    except ModuleNotFoundError as error:
        if not command.needs:
            raise
        print(f"podstep {command.name} needs {command.needs}: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)


def available() -> list[str]:
    """Return the commands of which every part is installed."""
    return [command.name for command in COMMANDS if not command.needs or _is_installed(command)]


def _is_installed(command: Command) -> bool:
    try:
        import_module(command.module)
    except ModuleNotFoundError:
        return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns one of :data:`EXIT_CODES`."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = parser([name for name in given[:1] if name in BY_NAME]).parse_args(given)
    return guarded(lambda: options.run(options))


def guarded(run: Callable[[], int]) -> int:
    """Return the exit code of a command, or that of what ended it, which is printed."""
    from scheduler_core.cli.input_files import InputError

    try:
        status = run()
        sys.stdout.flush()
    except InputError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as head, has seen enough
        _forget_output()
        return 0
    except OSError as error:  # what the commands read, they check themselves; this is a full disk or the like
        _forget_output()
        print(f"{error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
        return BAD_INPUT
    return status


def _forget_output() -> None:
    """Let Python's own flush at exit go nowhere, where it would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
