"""What can happen to a stack while a run is computed, as one table."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from tests.faults.database import rows
from tests.faults.disk import filled
from tests.services.processes import children_of, wait_until
from tests.services.servers import Server
from tests.services.stack import Stack

COMPUTING_SECONDS = 60.0  # a process starts for it, and on a busy machine slowly


@dataclass
class Scene:
    """A running stack with the servers that it needs."""

    stack: Stack
    postgres: Server | None = None
    redis: Server | None = None


Strike = Callable[[Scene, float], None]
#: What shows that a fault reached somebody: the run's worker tried again to reach the storage, the run was
#: claimed by another process, or the server said that a part was away.
Felt = Literal["tries", "claims", "readiness"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: its name, the stacks that it can happen to, and what strikes for so many seconds."""

    name: str
    stacks: tuple[str, ...]
    strike: Strike
    felt_by: Felt
    lasts: bool = True  # for the seconds that are asked for; else it is over at once
    disk: bool = False  # needs a small disk of its own


def _away(server: Server | None, sig: signal.Signals, seconds: float) -> None:
    assert server is not None
    server.process.stop(sig)
    time.sleep(seconds)
    server.process.start()


def postgres_restarts(scene: Scene, seconds: float) -> None:
    """Shut PostgreSQL down as `pg_ctl restart --mode fast` does, and start it after a while."""
    _away(scene.postgres, signal.SIGINT, seconds)


def postgres_is_killed(scene: Scene, seconds: float) -> None:
    """Kill every process of PostgreSQL; it has to recover when it starts."""
    _away(scene.postgres, signal.SIGKILL, seconds)


def postgres_stops_answering(scene: Scene, seconds: float) -> None:
    """Stop every process of PostgreSQL: connections are accepted and nothing is answered."""
    assert scene.postgres is not None
    postmaster = scene.postgres.process.popen.pid
    stopped = [postmaster, *children_of(postmaster)]
    _send(stopped, signal.SIGSTOP)
    time.sleep(seconds)
    _send(stopped, signal.SIGCONT)


def _send(pids: Sequence[int], sig: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):  # the postmaster starts and ends processes all the time
            os.kill(pid, sig)


def redis_is_killed(scene: Scene, seconds: float) -> None:
    """Kill Redis, with the messages and counts that it held."""
    _away(scene.redis, signal.SIGKILL, seconds)


def sqlite_is_locked(scene: Scene, seconds: float) -> None:
    """Hold the write lock of the database from another process."""
    other = sqlite3.connect(
        scene.stack.home / "data" / "podstep.sqlite3", isolation_level=None, timeout=seconds + 60
    )
    try:
        other.execute("BEGIN EXCLUSIVE")
        time.sleep(seconds)
        other.execute("ROLLBACK")
    finally:
        other.close()


def disk_is_full(scene: Scene, seconds: float) -> None:
    """Fill the disk that everything is stored on, and make room again."""
    with filled(scene.stack.home / "data"):
        time.sleep(seconds)


def web_is_killed(scene: Scene, _seconds: float) -> None:
    """Kill the web server and start another one."""
    scene.stack.kill("web")
    scene.stack.start("web")


def worker_is_killed(scene: Scene, _seconds: float) -> None:
    """Kill the worker that computes the run, with all its processes, and start another one."""
    worker, _ = _computing(scene)
    [name] = [name for name, process in scene.stack.processes.items() if process.popen.pid == worker]
    scene.stack.kill(name)
    scene.stack.start(name)


def run_process_is_killed(scene: Scene, _seconds: float) -> None:
    """Kill the process that computes the run, as a kernel out of memory does; the worker stays."""
    _, process = _computing(scene)
    os.kill(process, signal.SIGKILL)


def _computing(scene: Scene) -> tuple[int, int]:
    """Return the process ids of a worker that computes a run, and of its process that does."""
    claims: list[str] = []

    def found() -> bool:  # between two cells of a sweep there may be none
        query = "SELECT claim FROM playground_run WHERE state = {} ORDER BY claimed"
        claims.extend(claim for (claim,) in rows(scene.stack, query, "running"))
        return bool(claims)

    wait_until(found, COMPUTING_SECONDS, "a run that is computed")
    worker, _, process = claims[0].split("/")[1].partition(".")
    return int(worker), int(process)


EMBEDDED, COMPOSE, BOTH = ("embedded",), ("compose",), ("embedded", "compose")
FAULTS = (
    Fault("restart postgres", COMPOSE, postgres_restarts, "tries"),
    Fault("kill -9 postgres", COMPOSE, postgres_is_killed, "tries"),
    Fault("postgres hangs", COMPOSE, postgres_stops_answering, "readiness"),  # its clients wait
    Fault("kill -9 redis", COMPOSE, redis_is_killed, "readiness"),
    Fault("sqlite locked", EMBEDDED, sqlite_is_locked, "tries"),
    Fault("disk full", EMBEDDED, disk_is_full, "tries", disk=True),
    Fault("kill -9 web", BOTH, web_is_killed, "readiness", lasts=False),
    Fault("kill -9 worker", BOTH, worker_is_killed, "claims", lasts=False),
    Fault("kill -9 run process", BOTH, run_process_is_killed, "claims", lasts=False),
)
