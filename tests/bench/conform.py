"""How many recorded clusters ``scheduler_core conform`` decides in a second, start and output included."""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.measure import SECONDS
from tests.parts import REPOSITORY, SHARED

FILES: Mapping[str, tuple[str, ...]] = {
    "scheduler-v1.11-cycles.jsonl.gz": (),
    "scheduler-v1.11-runs.jsonl.gz": (),
    "kube-batch.jsonl.gz": ("--system", "kube-batch"),
    "firmament.jsonl.gz": ("--system", "firmament"),
}
"""The recordings, with the arguments that answer them."""


def measure_conform(folder: Path = SHARED / "conformance", times: int = 2) -> list[dict[str, Any]]:
    """Return the best rate for each file of recordings that is there."""
    return [_measure(folder / name, times) for name in FILES if (folder / name).exists()]


def _measure(path: Path, times: int) -> dict[str, Any]:
    records = gzip.decompress(path.read_bytes())
    seconds, cpu_seconds = [], []
    for _ in range(times):
        began, began_cpu = time.perf_counter(), _cpu_of_children()
        done = subprocess.run(
            [sys.executable, "-m", "scheduler_core", "conform", *FILES[path.name]],
            cwd=REPOSITORY,
            input=records,
            capture_output=True,
            timeout=SECONDS,
            check=True,
        )
        seconds.append(time.perf_counter() - began)
        cpu_seconds.append(_cpu_of_children() - began_cpu)
    answers = done.stdout.splitlines()
    return {
        "file": path.name,
        "records": len(answers),
        "errors": sum("error" in json.loads(answer) for answer in answers),
        "records_per_second": round(len(answers) / min(seconds), 1),
        "records_per_cpu_second": round(len(answers) / min(cpu_seconds), 1),
    }


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
