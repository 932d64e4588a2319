"""The processes of one machine, and how they start, restart and end together.

Called by ``manage.py serve``. A program that dies after all were ready is restarted with a growing delay;
one that keeps dying, or dies before all were ready, ends the others too.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Sequence
from types import FrameType
from typing import IO

from django.conf import settings
from msgspec import Struct

from playground.limits import MIB, limit
from playground.queues import LONG, WORKERS
from playground.serving.watchdog import STALLED

#: Seconds between two polls of the processes.
PULSE = 0.2
HIGHEST_PORT = 65_535
LINE_BYTES = 64 * 1024  # longer lines of output are split
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

try:
    #: Loaded here, because no library may be loaded between fork and exec while other threads run.
    _prctl: Callable[..., int] | None = ctypes.CDLL(None).prctl
except (OSError, AttributeError):  # not Linux
    _prctl = None


class RestartPolicy(Struct, frozen=True):
    """How often a program is restarted: at most ``most`` times within ``window`` seconds.

    The first restart waits ``first`` seconds, each further one twice as long, up to ``longest``.
    """

    most: int = 5
    window: float = 600.0
    first: float = 1.0
    longest: float = 30.0

    def delay(self, recent: int) -> float:
        """Return the seconds to wait before a restart, after ``recent`` others within the window."""
        return min(self.longest, self.first * 2.0**recent)


class ServerProcess(Struct, frozen=True):
    """A process to run: its name in the output, its command, and how it is stopped.

    It is killed if it still runs ``grace`` seconds after its signal.
    """

    name: str
    command: tuple[str, ...]
    stop_signal: signal.Signals
    grace: float


#: Uvicorn's options that select the protocols with timeouts.
PROTOCOLS = (
    *("--http", "playground.serving.protocols:Http"),
    *("--ws", "playground.serving.protocols:WebSocket"),
)


def programs(host: str, port: int) -> tuple[ServerProcess, ...]:
    """Return the web server and the workers of one machine."""
    python = sys.executable
    web = (
        *(python, "-m", "uvicorn", "playground.asgi:application", "--host", host, "--port", str(port)),
        # Trusted proxies are configured in the settings, not in the server.
        *("--no-server-header", "--no-proxy-headers", "--no-access-log", "--log-level", "warning"),
        # One, regardless of WEB_CONCURRENCY: without Redis, each process would count and cache separately.
        *("--workers", "1"),
        *("--timeout-graceful-shutdown", "3"),
        *PROTOCOLS,
        # A little above our own limit, so that a client that exceeds it gets an error message. Uncompressed:
        # one read can hold many frames of a few kilobytes that decompress to megabytes each.
        *("--ws-max-size", str(limit("FRAME_BYTES") + MIB), "--ws-per-message-deflate", "false"),
    )
    return (
        ServerProcess("web", web, signal.SIGTERM, 5.0),
        *(_worker(name, queues) for name, queues in WORKERS),
    )


def _worker(name: str, queues: Sequence[str]) -> ServerProcess:
    """Return a worker for ``queues``: one process for short runs only, the other processors for all runs."""
    processors = min(4, os.cpu_count() or 1)
    command = (
        # Celery warns root users about pickled messages, which this worker does not accept.
        *(sys.executable, "-W", "ignore:You're running the worker with superuser privileges"),
        *("-m", "celery", "--quiet", "--app", "playground.celery:app", "worker", "--loglevel", "WARNING"),
        *("--hostname", f"{name}@%h", "--queues", ",".join(queues)),
        *("--concurrency", str(max(1, processors - 1) if LONG in queues else 1)),
        *(("--beat",) if LONG in queues else ()),  # scheduled tasks; only one program may have it
    )
    # SIGQUIT: SIGTERM would wait for a run to finish, which may take an hour. An interrupted run loses
    # nothing: the next worker resumes from its checkpoint. The grace period only covers storing that,
    # because Celery's idle processes would take five more seconds to shut down.
    return ServerProcess(name, command, signal.SIGQUIT, 2.0)


def listening_problem(host: str, port: int) -> str | None:
    """Return why ``host:port`` cannot be listened on, with a remedy; None if it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        # As the server itself does: a connection of the last run in TIME_WAIT does not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                other = port + 1 if port < HIGHEST_PORT else 8000
                taken = f"Port {port} of {host} is in use by another program."
                return f"{taken} Choose another: make run PORT={other}"
            why = f"Cannot listen at port {port} of {host}: {error.strerror}."
            return f"{why} Choose another with --host and --port."
    return None


def local_address(host: str, port: int) -> str:
    """Return the URL at which this machine itself reaches a server that listens at ``host:port``."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def answers(url: str, host: str) -> bool:
    """Return whether a GET of ``url`` with the Host header ``host`` is answered with 200."""
    request = urllib.request.Request(url, headers={"Host": host})  # noqa: S310  # our own address
    try:
        # Never through the environment's proxy: the URL is on this machine.
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _die_with(parent: int, sig: signal.Signals) -> None:
    """Ask Linux to send this process ``sig`` if ``parent`` dies without ending it (SIGKILL)."""
    if _prctl is not None:
        _prctl(PR_SET_PDEATHSIG, int(sig))
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of every orphaned descendant, as PID 1 of a container does anyway."""
    if _prctl is not None:
        _prctl(PR_SET_CHILD_SUBREAPER, 1)


class Child:
    """A running program in its own process group, so that nothing it starts outlives it."""

    def __init__(self, program: ServerProcess) -> None:
        self.program = program
        me = os.getpid()
        self.process = subprocess.Popen(  # noqa: S603  # our own commands
            program.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: _die_with(me, program.stop_signal),  # noqa: PLW1509  # two system calls
            # Few malloc arenas: memory freed in one thread's arena cannot be reused by others.
            env={"MALLOC_ARENA_MAX": "2", **os.environ, "PYTHONUNBUFFERED": "1"},
            # Uvicorn and Celery import from their folder: a user's may have a module of a name of ours.
            cwd=settings.BASE_DIR if settings.INSTALLED else None,
        )

    def ask_to_end(self) -> None:
        """Send the program its stop signal; it is responsible for the processes that it started."""
        if self.process.poll() is None:
            self.process.send_signal(self.program.stop_signal)

    def kill_group(self) -> None:
        """Kill the program and the rest of its process group, without waiting."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)


class Slot:
    """A program's slot: the child that runs it, or the time at which the next one starts."""

    def __init__(self, program: ServerProcess) -> None:
        self.program = program
        self.child: Child | None = None
        self.start_at = 0.0  # time.monotonic(), while there is no child
        self.restarts: deque[float] = deque()

    def died(self, policy: RestartPolicy, now: float, status: int = 1) -> float | None:
        """Record that the child died; return the seconds until the restart, None if it died too often.

        A stall counts for nothing: a visitor may bring it about, and must not end the others.
        """
        self.child = None
        if status == -STALLED:
            self.start_at = now
            return 0.0
        while self.restarts and self.restarts[0] <= now - policy.window:
            self.restarts.popleft()
        if len(self.restarts) >= policy.most:
            return None
        delay = policy.delay(len(self.restarts))
        self.restarts.append(now)
        self.start_at = now + delay
        return delay


class Supervisor:
    """Runs programs until a signal arrives or one cannot be kept running, then ends them all."""

    def __init__(
        self,
        to_run: Sequence[ServerProcess],
        *,
        output: IO[str],
        parent: int | None = None,
        policy: RestartPolicy | None = None,
        owns_children: bool = False,
    ) -> None:
        """Prepare to run programs; nothing starts yet.

        ``output`` receives their lines. Everything ends when ``parent`` is no longer this process' parent.
        With ``owns_children`` no other code of this process starts children, so that orphans may be reaped.
        """
        self.slots = [Slot(program) for program in to_run]
        self.output = output
        self.parent = parent
        self.policy = policy or RestartPolicy()
        self.owns_children = owns_children
        self.stopping = threading.Event()
        self._was_ready = threading.Event()
        self._readers: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._width = max(len(program.name) for program in to_run)

    @property
    def children(self) -> list[Child]:
        """The programs that were started and have not been found dead."""
        return [slot.child for slot in self.slots if slot.child is not None]

    def say(self, text: str, name: str = "podstep") -> None:
        """Print a line prefixed with ``name``; a closed output does not disturb the programs."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            self.output.write(f"{name:<{self._width}} | {text}\n" if name != "podstep" else f"{text}\n")
            self.output.flush()

    def run(self, ready: Callable[[], bool], on_ready: Callable[[], None]) -> int:
        """Start all programs, call ``on_ready`` once ``ready`` returns True, and keep them running.

        Returns 0 if a signal ended it, otherwise 1: a program ended before all were ready, or too often.
        """
        previous = {sig: signal.signal(sig, self._on_signal) for sig in SIGNALS}
        try:
            for slot in self.slots:
                self._start(slot)
            threading.Thread(target=self._announce, args=(ready, on_ready), daemon=True).start()
            return self._watch()
        finally:
            self._end()
            for sig, handler in previous.items():
                signal.signal(sig, handler)

    def _start(self, slot: Slot) -> None:
        child = slot.child = Child(slot.program)
        reader = threading.Thread(target=self._forward, args=(child,), daemon=True)
        self._readers = [one for one in self._readers if one.is_alive()]
        self._readers.append(reader)
        reader.start()

    def _on_signal(self, signum: int, _frame: FrameType | None) -> None:
        # Print nothing here: the main thread may be inside `say` and would deadlock.
        if self.stopping.is_set() and signum != signal.SIGHUP:
            for child in self.children:
                child.kill_group()
        self.stopping.set()

    def _watch(self) -> int:
        while not self.stopping.wait(PULSE):
            if self.parent is not None and os.getppid() != self.parent:
                return 0
            for slot in self.slots:
                if not self._keep_running(slot):
                    return 1
            if self.owns_children:
                self._reap_orphans()
        return 0

    def _keep_running(self, slot: Slot) -> bool:
        """Restart a dead program when its delay is over; return False if it is given up."""
        now = time.monotonic()
        if slot.child is None:
            if now >= slot.start_at:
                self._start(slot)
            return True
        status = slot.child.process.poll()
        if status is None:
            return True
        slot.child.kill_group()  # its children would run alongside its successor
        name, how = slot.program.name, _how(status)
        if not self._was_ready.is_set():
            self.say(f"{name} ended during startup ({how}); stopping. See its output above.")
            return False
        delay = slot.died(self.policy, now, status)
        if delay is None:
            self.say(
                f"{name} ended again ({how}) after {self.policy.most} restarts within "
                f"{self.policy.window:g} s; stopping. See the lines of {name!r} above."
            )
            return False
        self.say(
            f"{name} ended ({how}); restarting in {delay:g} s ({len(slot.restarts)} of {self.policy.most})."
        )
        return True

    def _reap_orphans(self) -> None:
        """Collect the exit statuses of adopted processes, which would stay zombies otherwise."""
        ours = {child.process.pid for child in self.children}
        with contextlib.suppress(ChildProcessError):
            # WNOWAIT: a program's status is collected by its Popen in the next poll.
            while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if found.si_pid in ours:
                    return
                os.waitpid(found.si_pid, os.WNOHANG)

    def _end(self) -> None:
        self.stopping.set()
        children = self.children
        for child in children:
            child.ask_to_end()
        asked = time.monotonic()
        # The shortest grace period first, so that none waits longer than its own.
        for child in sorted(children, key=lambda child: child.program.grace):
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, asked + child.program.grace - time.monotonic()))
            child.kill_group()
            child.process.wait()
        # The last output of a program that failed matters most.
        for reader in self._readers:
            reader.join(timeout=1)

    def _announce(self, ready: Callable[[], bool], on_ready: Callable[[], None]) -> None:
        while not self.stopping.is_set():
            if ready():
                self._was_ready.set()
                on_ready()
                return
            self.stopping.wait(PULSE)

    def _forward(self, child: Child) -> None:
        assert child.process.stdout is not None
        with child.process.stdout as lines:
            while line := lines.readline(LINE_BYTES):
                self.say(line.decode("utf-8", "replace").rstrip("\r\n"), child.program.name)


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _how(status: int) -> str:
    if status == -STALLED:
        return "its event loop stalled"
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
