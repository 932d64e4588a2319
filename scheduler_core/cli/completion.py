"""``completion``: print the script that completes commands and options in a shell."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script, as in ``podstep completion bash >> ~/.bash_completion``."""
    import shtab

    from scheduler_core.cli.commands import available, parser

    print(shtab.complete(parser(available()), shell=options.shell))
    return 0
