"""Processes that tests start and end."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

#: Below those that Linux assigns to outgoing connections and to servers that ask for any port: one of these
#: may be taken by anybody while the server that a test restarts is down.
PORTS = range(20_000, 32_768)


def free_port() -> int:
    """Return a port of this machine that nothing listens on, and that is not assigned to anybody else."""
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError(f"no free port in {PORTS}")


def wait_until(holds: Callable[[], bool], seconds: float, what: str, *, pause: float = 0.1) -> None:
    """Wait until ``holds()``; raise AssertionError naming ``what`` after so many seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not within {seconds:g} seconds: {what}"
        time.sleep(pause)


class Process:
    """A program in a process group of its own, its output in a file."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str],
        cwd: Path,
        user: str | None = None,
    ) -> None:
        self.name = name
        self.log = log
        self._command, self._env, self._cwd, self._user = list(command), dict(env), cwd, user
        self.start()

    def start(self) -> None:
        """Start it, once more after it has ended."""
        with self.log.open("ab") as output:
            self.popen = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=self._env,
                cwd=self._cwd,
                user=self._user,
                extra_groups=[] if self._user else None,
            )

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.popen.poll() is None

    def output(self) -> str:
        """Return what it has printed."""
        return self.log.read_text(errors="replace")

    def stop(self, sig: signal.Signals = signal.SIGTERM, seconds: float = 15) -> int:
        """Ask it to end by ``sig``, wait, and kill what is left. Returns its exit status."""
        if self.running:
            self.popen.send_signal(sig)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.popen.wait(seconds)
        return self.kill()

    def kill(self) -> int:
        """Kill it and everything it started that is still in its group, and wait until nothing is left."""
        group = self.popen.pid
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        status = self.popen.wait()
        # A large process holds its ports until its memory is given back.
        wait_until(lambda: not any(group_members(group)), 60, f"{self.name} is gone")
        return status


def wait_until_ready(
    process: Process, ready: Callable[[], bool], seconds: float = 120, *, pause: float = 0.1
) -> None:
    """Wait until ``ready()``; fail with the process' output if it ends or takes too long."""
    deadline = time.monotonic() + seconds
    while not ready():
        late = time.monotonic() > deadline
        if late or not process.running:
            why = f"was not ready within {seconds:g} seconds" if late else "ended"
            raise AssertionError(f"{process.name} {why}; it printed:\n{process.output()[-4000:]}")
        time.sleep(pause)


def listens(port: int) -> bool:
    """Tell whether something accepts connections at ``port``."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def children_of(parent: int) -> Iterator[int]:
    """Yield the living processes that a process started (Linux)."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent and fields[0] != "Z":
                yield int(stat.parent.name)


def group_members(group: int) -> Iterator[int]:
    """Yield the living processes of a process group (Linux)."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # pid (name) state ppid pgrp …; a name may hold spaces and brackets
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] != "Z":
                yield int(stat.parent.name)
