"""Does opening one bundle after the other stay within PLAYBACK_BYTES? ``python -m tests.load memory``.

Starts the server as ``make run`` does, stores bundles of each kind in turn, reads their first cycles, and
prints the resident memory of the web process against the limit and the base that docs/running.md names.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from playground.limits import LIMITS, MIB
from tests.playground.bundle_kinds import KINDS, text_of
from tests.services.processes import free_port
from tests.services.stack import Stack, embedded_parts, running

BASE_MIB = 512  # of a web process beside its open playbacks: the program, and bundles being read
ASKED = {"PLAYGROUND_API_WRITES_PER_MINUTE": "100000", "PLAYGROUND_API_READS_PER_MINUTE": "100000"}


def resident_mib(pid: int) -> float:
    """Return the resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def main(arguments: Sequence[str]) -> int:
    """Open the bundles; return 1 if the process grew beyond the limit and the base."""
    default = next(row.default for row in LIMITS if row.name == "PLAYBACK_BYTES") // MIB
    parser = argparse.ArgumentParser(prog="python -m tests.load memory")
    parser.add_argument("--mib", type=float, default=6.0, help="of each bundle's text")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--kinds", default=",".join(KINDS), help="in turn, of: %(default)s")
    parser.add_argument("--limit", type=int, default=default, help="PLAYGROUND_PLAYBACK_BYTES, in MiB")
    options = parser.parse_args(arguments)
    most = options.limit + BASE_MIB
    with tempfile.TemporaryDirectory(prefix="podstep-memory-") as folder:
        home, port = Path(folder), free_port()
        bound = {"PLAYGROUND_PLAYBACK_BYTES": str(options.limit * MIB), **ASKED}
        env = {
            name: replace(part, env={"MALLOC_ARENA_MAX": "2", **part.env, **bound})
            for name, part in embedded_parts(home, port).items()
        }
        with running("memory", env, home, port) as stack:
            peak = _open_all(stack, options.kinds.split(","), int(options.mib * MIB), options.count)
    print(f"peak {peak:,.0f} MiB; limit {options.limit:,} MiB and base {BASE_MIB} MiB: {most:,} MiB")
    return int(peak > most)


def _open_all(stack: Stack, kinds: list[str], size: int, count: int) -> float:
    """Store and open so many bundles; return the most memory that was seen after one."""
    pid = stack.processes["web"].popen.pid
    print(f"at the start {resident_mib(pid):,.0f} MiB", flush=True)
    peak = 0.0
    for number in range(count):
        kind = kinds[number % len(kinds)]
        began = time.monotonic()
        stored = stack.post("/api/scenarios", text_of(kind, size, number).encode())
        if stored.status == 201:
            opened = stack.get(f"/api/scenarios/{stored.json['id']}/cycles?count=1").status
        else:
            opened = stored.status
        rss = resident_mib(pid)
        peak = max(peak, rss)
        took = time.monotonic() - began
        print(f"{number + 1:4} {kind:<12} {opened}  {took:6.1f} s  {rss:7,.0f} MiB", flush=True)
    return peak
