"""The metrics of a process, and how several web processes are scraped as one.

A scrape reaches one web process of several. Each of them writes its metrics to a file every few seconds, and
the one that is scraped answers for all, each series labelled with its ``process``. prometheus_client's own
multiprocess mode maps files into memory, where a full disk kills the process.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from playground.playback import executor
from playground.playback.library import library
from playground.runtime.counters import REGISTRY, REQUESTS, SOCKETS
from playground.serving.bodies import Application, AsgiScope, Receive, Send

log = structlog.get_logger(__name__)

SNAPSHOT_SECONDS = 5.0
STALE_SECONDS = 30.0  # after which a process' snapshot is no longer reported
FORGOTTEN_SECONDS = 86_400.0  # after which the folder of a server that no longer runs is removed
POOLS = ("engine", "parsing", "exports", "storage")
SNAPSHOT_BYTES = 4 * 2**20


class _Held:
    """A collector of gauges of this process, read on each scrape."""

    def collect(self) -> Iterator[Metric]:
        count, held = library.held()
        yield GaugeMetricFamily("podstep_playbacks", "Open playbacks", value=count)
        yield GaugeMetricFamily("podstep_playback_bytes", "Estimated memory of open playbacks", value=held)
        yield GaugeMetricFamily("podstep_sockets", "Open WebSocket connections", value=SOCKETS.total())
        pools = GaugeMetricFamily("podstep_jobs", "Work for threads, waiting or running", labels=["pool"])
        for pool in POOLS:
            pools.add_metric([pool], executor.jobs[pool])
        yield pools


REGISTRY.register(_Held())


class CountedAnswers:
    """An ASGI application that counts the responses of ``app``, files from memory and refusals included."""

    def __init__(self, app: Application) -> None:
        """Wrap ``app``."""
        self.app = app

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Count the status of an HTTP response; one that was never sent counts as ``none``."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answered = False

        async def counted(message: Any) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = True
                REQUESTS.labels(f"{message['status'] // 100}xx").inc()
            await send(message)

        try:
            await self.app(scope, receive, counted)
        finally:
            if not answered:
                REQUESTS.labels("none").inc()


# --- several processes -------------------------------------------------------------------------

SharedSamples = list[list[Any]]  # [name, documentation, type, [[sample, labels, value]…]] of each family


def own_samples() -> SharedSamples:
    """Return the metrics of this process in a JSON-serializable form."""
    return [
        [family.name, family.documentation, family.type, [list(sample[:3]) for sample in family.samples]]
        for family in REGISTRY.collect()
    ]


@cache
def folder() -> Path:
    """Return the folder of this server's processes, which share a parent process."""
    return Path(settings.DATA_DIR) / "metrics" / f"{socket.gethostname()}-{os.getppid()}"


def write_snapshot() -> None:
    """Write the metrics of this process to the folder of its server. Raises OSError."""
    home = folder()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    unseen = home / f"{os.getpid()}.unseen"
    unseen.write_text(json.dumps(own_samples()))
    unseen.rename(home / f"{os.getpid()}.json")


def others() -> Iterator[tuple[str, SharedSamples]]:
    """Yield name and metrics of this server's other processes with recent snapshots; delete stale ones."""
    for path in sorted(folder().glob("*.json")):
        with suppress(OSError, ValueError):
            found = path.stat()
            if time.time() - found.st_mtime > STALE_SECONDS:
                path.unlink()
            elif path.stem != str(os.getpid()) and found.st_size <= SNAPSHOT_BYTES:
                yield path.stem, json.loads(path.read_text())


def families(processes: Iterable[tuple[str, SharedSamples]]) -> Iterator[Metric]:
    """Yield the merged metric families of several processes, each sample with the label ``process``."""
    merged: dict[str, Metric] = {}
    for process, counts in processes:
        for name, documentation, kind, samples in counts:
            family = merged.setdefault(name, Metric(name, documentation, kind))
            for sample, labels, value in samples:
                family.add_sample(sample, {**labels, "process": process}, value)
    yield from merged.values()


def all_families() -> Iterator[Metric]:
    """Yield the metrics of all processes of this server; those of this process are current."""
    return families([(str(os.getpid()), own_samples()), *others()])


def _remove_forgotten() -> None:
    for home in folder().parent.glob("*"):
        with suppress(OSError):
            if time.time() - home.stat().st_mtime > FORGOTTEN_SECONDS:
                for path in home.iterdir():
                    path.unlink()
                home.rmdir()


def _write_for_ever() -> None:
    _remove_forgotten()
    failing = False
    while True:
        try:
            write_snapshot()
            failing = False
        except OSError as error:
            if not failing:
                log.warning("metrics of this process are not written", error=repr(error))
            failing = True
        time.sleep(SNAPSHOT_SECONDS)


def start_snapshots() -> None:
    """Start writing snapshots if this is one of several web processes."""
    if os.environ.get("WEB_CONCURRENCY", "1") not in {"", "0", "1"}:
        threading.Thread(target=_write_for_ever, name="metrics", daemon=True).start()
