"""The command line: ``podstep``, and the same as ``python -m scheduler_core``."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from scheduler_core.cli.commands import BAD_INPUT, BY_NAME, INTERRUPTED, parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns one of :data:`EXIT_CODES`."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = parser([name for name in given[:1] if name in BY_NAME]).parse_args(given)
    from scheduler_core.cli.reporting import InputError

    try:
        status: int = options.run(options)
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
