"""``completion``: print the script that completes commands and options in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

SHELLS = ("bash", "zsh", "tcsh", "fish")
PATHS = {"FILE": "FILE", "GRID": "FILE", "RUN": "FILE", "DIR": "DIRECTORY"}
"""Placeholders in whose place shells offer paths, and shtab's name of these."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script, as in ``podstep completion bash >> ~/.bash_completion``."""
    import shtab

    from scheduler_core.cli.commands import available, parser

    described = parser(available())
    for action in _actions(described):
        if kind := PATHS.get(str(action.metavar)):
            vars(action)["complete"] = getattr(shtab, kind)
    print(shtab.complete(described, shell=options.shell))
    return 0


def _actions(described: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser and of its commands."""
    for action in described._actions:  # noqa: SLF001 - argparse has no other list of them
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - nor a public class
            for command in action.choices.values():
                yield from _actions(command)
