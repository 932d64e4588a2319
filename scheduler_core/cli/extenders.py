"""The options that approve of calls of extenders, and keep what they answered."""

from __future__ import annotations

import argparse
from pathlib import Path

from scheduler_core.cli.input_files import InputError
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.run import Stepper
from scheduler_core.schedulers.extenders.port import ExtenderTransport


def add_extender_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--extenders`` and ``--record-answers``."""
    parser.add_argument(
        "--extenders",
        action="append",
        default=[],
        metavar="URL",
        help="call the extenders whose URLs begin with this one; a private address has to be given as such",
    )
    parser.add_argument(
        "--record-answers",
        metavar="FILE",
        help="write what extenders answered, as ExtenderAnswers that replay the run",
    )


def transport_of(options: argparse.Namespace) -> ExtenderTransport | None:
    """Return what calls the approved URLs, ``None`` if there are none.

    Raises:
        InputError: A prefix is no URL.
    """
    if not options.extenders:
        return None
    from scheduler_core.schedulers.extenders.webhooks.allowlist import ApprovalError, Approved
    from scheduler_core.schedulers.extenders.webhooks.transport import Webhooks

    try:
        return Webhooks(Approved(options.extenders))
    except ApprovalError as error:
        raise InputError(f"--extenders: {error}") from error


def write_answers(simulation: Stepper, options: argparse.Namespace) -> None:
    """Write the answers of a run, if that was asked for.

    Raises:
        InputError: The file cannot be written, or no extender was called.
    """
    if options.record_answers is None:
        return
    document = simulation.recorded_answers()
    if document is None:
        raise InputError(f"{options.record_answers}: no extender was called, so there is nothing to record")
    try:
        Path(options.record_answers).write_text(write_yaml([document]), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{options.record_answers}: {error.strerror or error}") from error
