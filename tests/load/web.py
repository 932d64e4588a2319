"""A web process of its own for a load: the command of ``manage.py serve``, its data in a temporary folder."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.services import client
from tests.services.processes import Process, wait_until_ready
from tests.services.stack import READY_SECONDS, Stack, embedded_parts

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Web:
    """A running web process."""

    base_url: str
    process: Process

    def memory(self) -> float:
        """Return its resident memory in MiB, that of its workers included."""
        return sum(map(resident, self._pids()))

    def cpu(self) -> float:
        """Return the seconds of processor time that it has taken, with all threads and workers."""
        return sum(map(_processor, self._pids()))

    def _pids(self) -> list[int]:
        first = self.process.popen.pid
        threads = Path(f"/proc/{first}/task").glob("*/children")
        workers = [pid for thread in threads for pid in thread.read_text().split()]
        return [first, *map(int, workers)]

    def share(self, bundle: str) -> str:
        """Share a bundle; return the scenario's id."""
        answer = client.request("POST", f"{self.base_url}/api/scenarios", bundle.encode())
        if answer.status != 201:
            raise RuntimeError(f"{answer.status}: {answer.body[:300]!r}\n{self.process.output()[-3000:]}")
        found: dict[str, Any] = json.loads(answer.body)
        return str(found["id"])


def resident(pid: int) -> float:
    """Return the resident memory of a process in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def _processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def serving(
    port: int,
    folder: Path,
    limits: Mapping[str, int],
    more: Mapping[str, str] | None = None,
    workers: int = 1,
) -> Iterator[Web]:
    """Start the web server of the code in ``folder`` with the limits given, and end it afterwards.

    ``more`` are further variables of its environment; several ``workers`` share its port.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # also where `timeout` ends this program
    with tempfile.TemporaryDirectory(prefix="podstep-steps-") as home:
        stack = Stack("load", port, embedded_parts(Path(home), port), Path(home))
        (Path(home) / "data").mkdir()
        env = {**stack.env, **{f"PLAYGROUND_{name}": str(value) for name, value in limits.items()}}
        env.update(more or {})

        def start(name: str, *more: str) -> Process:
            log = Path(home) / f"{name}.log"
            return Process(name, (*stack.parts[name].command, *more), log=log, env=env, cwd=folder)

        prepared = start("migrate")
        if prepared.popen.wait(READY_SECONDS):
            raise RuntimeError(prepared.output())
        web = start("web", "--workers", str(workers))  # the last one counts
        try:
            wait_until_ready(web, lambda: stack.answers("/healthz"), READY_SECONDS)
            yield Web(stack.base_url, web)
        finally:
            web.stop()
