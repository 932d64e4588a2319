"""The web process's handle of one pool process: started on demand, monitored, killed on overrun."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from django.conf import settings

from playground.limits import MIB, limit
from playground.pool import child, jobs, parts

PULSE = 0.1  # seconds between two checks of a job's time and memory
END_SECONDS = 2.0
PATIENCE = 5  # a job's limit of wall-clock time, as a multiple of its limit of CPU time

JobProgress = tuple[str, int, int]  # stage, done, of: as reported by playground.storage.bundles


class LostError(RuntimeError):
    """The process ended during a job: killed, or out of memory."""

    def __init__(self) -> None:
        super().__init__("The process handling this request ended unexpectedly; try again.")


class NotBegunError(LostError):
    """The process had ended before it received the job."""


class OverrunError(ValueError):
    """A job took more time or memory than the limits allow; its process was killed."""


class CancelledError(Exception):
    """A job was cancelled while it ran."""


class JobError(RuntimeError):
    """A job failed with an error that cannot be raised here; the text is its traceback."""


class Process:
    """A process that runs one job at a time. Used by one thread."""

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self.working = False  # the process has acknowledged a job, and not ended it
        self.seconds = 0.0  # of CPU time that the last job took

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._process.pid if self._process is not None else None

    def run(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        report: Callable[[JobProgress], None],
        patience: Callable[[], float | None],
        hear: parts.Hear = lambda _: None,
    ) -> Any:
        """Run a job and return its result, or raise its error; ``hear`` takes parts of the result.

        ``patience`` returns None while the result is wanted, then the seconds that the job has to end.

        Raises LostError, OverrunError, JobError, and CancelledError for a job that is no longer wanted.
        """
        job = (function, args, dict(settings.PLAYGROUND))
        try:
            kind, value = self._attempt(job, report, patience, hear)
        except NotBegunError:
            kind, value = self._attempt(job, report, patience, hear)
        if self._resident() > limit("POOL_MIB") * MIB // 2:
            self.end()  # its memory is returned to the system
        match kind:
            case "done":
                return value
            case "cancelled":
                raise CancelledError
            case "memory":
                raise OverrunError(_too_much_memory())
            case "raised":
                raise child.remade(*value)
            case _:
                raise JobError(value)

    def _attempt(
        self,
        job: tuple[Callable[..., Any], tuple[Any, ...], dict[str, int]],
        report: Callable[[JobProgress], None],
        patience: Callable[[], float | None],
        hear: parts.Hear,
    ) -> tuple[str, Any]:
        """Give the process a job and return its outcome.

        Only the child's acknowledgement is reliable: ``is_alive`` may still be true for a process that was
        killed while it waited. A job that it did not acknowledge can be given to another process.

        Raises NotBegunError, and what ``run`` raises.
        """
        connection = self._ready()
        try:
            connection.send(job)
            return self._outcome(connection, report, patience, hear)
        except (EOFError, ConnectionError) as error:
            lost = LostError if self.working else NotBegunError
            self.end()
            raise lost from error
        except BaseException:
            self.end()  # during a job it cannot be given another one
            raise
        finally:
            self.working = False

    def _outcome(
        self,
        connection: Connection,
        report: Callable[[JobProgress], None],
        patience: Callable[[], float | None],
        hear: parts.Hear,
    ) -> tuple[str, Any]:
        began, began_cpu = time.monotonic(), self._cpu_seconds()
        self.seconds = 0.0
        cancelled_at: float | None = None
        while True:
            if connection.poll(PULSE):  # returns at once if the process has died
                kind, value = connection.recv()
                match kind:
                    case "begun":
                        self.working = True
                    case "progress":
                        report(value)
                    case "part":
                        hear(value)
                    case _:
                        self.seconds = self._cpu_seconds() - began_cpu
                        return kind, value
            now, self.seconds = time.monotonic(), self._cpu_seconds() - began_cpu
            grace = patience()
            if grace is not None and cancelled_at is None:
                cancelled_at = now
                connection.send(child.CANCEL)
            if grace is not None and cancelled_at is not None and now >= cancelled_at + grace:
                raise CancelledError
            seconds = limit("POOL_SECONDS")
            if self.seconds > seconds or now - began > PATIENCE * seconds:
                raise OverrunError(f"This takes more than {seconds:,} seconds.")
            if self._resident() > limit("POOL_MIB") * MIB:
                raise OverrunError(_too_much_memory())

    def _cpu_seconds(self) -> float:
        """Return the CPU seconds of the process: it is niced, and waits while others compute."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _resident(self) -> int:
        """Return the resident memory in bytes, 0 if the system does not report it."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")

    def _ready(self) -> Connection:
        if self._process is not None and self._connection is not None and self._process.is_alive():
            return self._connection
        self.end()
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["playground.pool.preload", *jobs.modules()])
        ours, theirs = context.Pipe()
        process = context.Process(target=child.main, args=(theirs,), name="podstep-pool", daemon=True)
        process.start()
        theirs.close()  # otherwise the end of the process would not be detected
        self._process, self._connection = process, ours
        return ours

    def end(self) -> None:
        """Kill the process, if there is one; the next job starts another."""
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if connection is not None:
            connection.close()
        if process is not None:
            process.kill()
            process.join(END_SECONDS)


def _too_much_memory() -> str:
    return f"This needs more than {limit('POOL_MIB'):,} MiB of memory."
