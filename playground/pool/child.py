"""The main loop of a pool process: one job after another, without the database.

A job is received as ``(function, arguments, limits)`` and acknowledged by ``("begun", None)``.
``("progress", (stage, done, of))`` is sent periodically, ``("part", value)`` for each part of the answer
(:mod:`playground.pool.parts`), and at the end ``("done", result)``,
``("raised", (class, arguments, attributes, traceback))``, ``("failed", traceback)``, ``("memory", None)`` or
``("cancelled", None)``. Any message received during a job cancels it.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import django
from django.conf import settings

from playground.pool import parts

NICENESS = 10  # the web server's threads, which answer steps, have precedence
OOM_SCORE = 500
REPORT_SECONDS = 0.15  # between two reports of progress
CANCEL = "cancel"

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")


class CancelledJob(BaseException):
    """The result is no longer wanted; a BaseException, so that no job catches it as an error."""


def main(connection: Connection) -> None:
    """Run jobs until the web process closes the connection or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the web process, which then ends this one
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(NICENESS)
    with suppress(OSError):  # when out of memory, this process is killed before the web server
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE))
    django.setup()
    while True:
        try:
            job = connection.recv()
        except (EOFError, OSError):
            return
        if job == CANCEL:  # meant for a job that had already ended
            continue
        connection.send(("begun", None))
        outcome = _outcome(connection, *job)
        try:
            connection.send(outcome)
        except (TypeError, AttributeError, ValueError, pickle.PicklingError):
            connection.send(("failed", traceback.format_exc()))


def _end_with_parent() -> None:
    """Exit this process, even during a job, as soon as the web process ends, also by SIGKILL."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
    os._exit(1)


def _outcome(
    connection: Connection, function: Callable[..., Any], args: tuple[Any, ...], limits: dict[str, int]
) -> tuple[str, Any]:
    from playground.storage import bundles

    settings.PLAYGROUND = limits
    try:
        with bundles.watched(_watch(connection)), parts.heard_by(lambda one: connection.send(("part", one))):
            return "done", function(*args)
    except CancelledJob:
        return "cancelled", None
    except MemoryError:
        return "memory", None
    except Exception as error:
        return _raised(error)


def _watch(connection: Connection) -> Callable[[str, int, int], None]:
    last = time.monotonic()

    def watch(stage: str, done: int, of: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < REPORT_SECONDS:
            return
        last = now
        if connection.poll():
            connection.recv()
            raise CancelledJob
        connection.send(("progress", (stage, done, of)))

    return watch


def _raised(error: Exception) -> tuple[str, Any]:
    """Return an error as class, arguments and attributes: not all classes can be rebuilt from ``args``."""
    text = "".join(traceback.format_exception(error))
    state = (type(error), error.args, dict(error.__dict__), text)
    try:
        pickle.loads(pickle.dumps(state))  # noqa: S301 - written by this process
    except Exception:
        return "failed", text
    return "raised", state


def remade(kind: type[Exception], args: tuple[Any, ...], attributes: dict[str, Any], text: str) -> Exception:
    """Rebuild an error that was raised in the other process, with the text of its traceback as a note."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(attributes)
    error.add_note(text)
    return error
