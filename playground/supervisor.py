"""The processes of one machine: which they are, and that they begin, speak and end together.

``manage.py serve`` is the caller. A process that dies takes the others with it, since a page without
a worker would look as if it worked; who wants restarts has an init system or containers for that.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import IO

from playground.limits import MIB, limit
from playground.queues import LONG, WORKERS

#: Seconds between two looks at the processes.
PULSE = 0.2
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Program:
    """A process to run: its name in the output, its command, and how it ends.

    It has ``grace`` seconds after its signal; then it is killed.
    """

    name: str
    command: tuple[str, ...]
    stop_signal: signal.Signals
    grace: float


def programs(host: str, port: int) -> tuple[Program, ...]:
    """Return the web server and the workers of one machine."""
    python = sys.executable
    web = (
        *(python, "-m", "uvicorn", "playground.asgi:application", "--host", host, "--port", str(port)),
        # The settings decide which proxies are believed, not the server.
        *("--no-server-header", "--no-proxy-headers", "--no-access-log", "--log-level", "warning"),
        *("--timeout-graceful-shutdown", "3"),
        # A little more than is read, so that who sends too much is told. Uncompressed: one read can hold
        # many frames of a few kilobytes that unpack to megabytes each.
        *("--ws-max-size", str(limit("FRAME_BYTES") + MIB), "--ws-per-message-deflate", "false"),
    )
    return (Program("web", web, signal.SIGTERM, 5.0), *(_worker(name, queues) for name, queues in WORKERS))


def _worker(name: str, queues: Sequence[str]) -> Program:
    """Return the worker of some queues: a process for short runs alone, the other processors for all."""
    processors = min(4, os.cpu_count() or 1)
    command = (
        # Celery warns root of pickled messages, which this worker does not accept.
        *(sys.executable, "-W", "ignore:You're running the worker with superuser privileges"),
        *("-m", "celery", "--quiet", "--app", "playground.celery:app", "worker", "--loglevel", "WARNING"),
        *("--hostname", f"{name}@%h", "--queues", ",".join(queues)),
        *("--concurrency", str(max(1, processors - 1) if LONG in queues else 1)),
    )
    # SIGQUIT: SIGTERM would wait for a run to finish, which may take an hour. A run that is broken off
    # loses nothing, the next worker goes on from what it stored. Not longer than it takes to store
    # that, for Celery's idle processes would take five seconds more to say good-bye.
    return Program(name, command, signal.SIGQUIT, 2.0)


def port_is_taken(host: str, port: int) -> bool:
    """Tell whether another process listens at ``host:port``."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        # As the server itself does: a connection of the last run that is still closing does not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return True
    return False


def answers(url: str, host: str) -> bool:
    """Tell whether a GET of ``url``, asked for by the name ``host``, is answered with 200."""
    request = urllib.request.Request(url, headers={"Host": host})  # noqa: S310  # our own address
    try:
        # Never by the proxy of the environment: what is asked is this machine.
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _die_with(parent: int, sig: signal.Signals) -> None:
    """Ask Linux to send this process ``sig`` should ``parent`` die without ending it (SIGKILL)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(sig))
    if os.getppid() != parent:
        os._exit(1)


class Child:
    """A running program, in a process group of its own so that nothing it starts outlives it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        me = os.getpid()
        self.process = subprocess.Popen(  # noqa: S603  # our own commands
            program.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: _die_with(me, program.stop_signal),  # noqa: PLW1509  # no threads yet
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )

    def ask_to_end(self) -> None:
        """Send the program the signal that ends it; the processes it started are its own to end."""
        if self.process.poll() is None:
            self.process.send_signal(self.program.stop_signal)

    def kill_group(self) -> None:
        """Kill the program and whatever is left of its group, without waiting."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)


class Supervisor:
    """Runs programs until one ends or a signal comes, and then ends them all."""

    def __init__(self, to_run: Sequence[Program], *, output: IO[str], parent: int | None = None) -> None:
        self.programs = to_run
        self.output = output
        self.parent = parent
        self.children: list[Child] = []
        self.stopping = threading.Event()
        self._readers: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._width = max(len(program.name) for program in to_run)

    def say(self, text: str, name: str = "podstep") -> None:
        """Print a line under ``name``; a reader who went away does not disturb the programs."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            self.output.write(f"{name:<{self._width}} | {text}\n" if name != "podstep" else f"{text}\n")
            self.output.flush()

    def run(self, ready: Callable[[], bool], on_ready: Callable[[], None]) -> int:
        """Start everything, call ``on_ready`` once ``ready`` holds, and wait.

        Returns 0 if a signal ended it, else 1: a program ended that should not have.
        """
        previous = {sig: signal.signal(sig, self._on_signal) for sig in SIGNALS}
        try:
            self.children = [Child(program) for program in self.programs]
            self._readers = [
                threading.Thread(target=self._forward, args=(child,), daemon=True) for child in self.children
            ]
            for reader in self._readers:
                reader.start()
            threading.Thread(target=self._announce, args=(ready, on_ready), daemon=True).start()
            return self._watch()
        finally:
            self._end()
            for sig, handler in previous.items():
                signal.signal(sig, handler)

    def _on_signal(self, signum: int, _frame: FrameType | None) -> None:
        # Nothing is printed here: the main thread may be inside `say`, and would wait for itself.
        if self.stopping.is_set() and signum != signal.SIGHUP:
            for child in self.children:
                child.kill_group()
        self.stopping.set()

    def _watch(self) -> int:
        while not self.stopping.wait(PULSE):
            if self.parent is not None and os.getppid() != self.parent:
                return 0
            for child in self.children:
                status = child.process.poll()
                if status is not None:
                    self.say(f"{child.program.name} ended by itself ({_how(status)}); ending the rest.")
                    return 1
        return 0

    def _end(self) -> None:
        self.stopping.set()
        for child in self.children:
            child.ask_to_end()
        asked = time.monotonic()
        # The least patient first, so that nobody waits for another one's time.
        for child in sorted(self.children, key=lambda child: child.program.grace):
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, asked + child.program.grace - time.monotonic()))
            child.kill_group()
            child.process.wait()
        # The last words of a program that failed are those that matter most.
        for reader in self._readers:
            reader.join(timeout=1)

    def _announce(self, ready: Callable[[], bool], on_ready: Callable[[], None]) -> None:
        while not self.stopping.is_set():
            if ready():
                on_ready()
                return
            self.stopping.wait(PULSE)

    def _forward(self, child: Child) -> None:
        assert child.process.stdout is not None
        for line in child.process.stdout:
            self.say(line.decode("utf-8", "replace").rstrip("\r\n"), child.program.name)


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _how(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
