"""The CPU seconds from a bundle's text to its first cycle, in a process of its own."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scheduler_core import load, simulate
from tests.bench.measure import SECONDS
from tests.parts import REPOSITORY

TEMPLATES = 20
NODES = 200
_CONTAINERS = "[{name: c, image: nginx, resources: {requests: {cpu: 50m, memory: 64Mi}}}]"


class Bundle(NamedTuple):
    """Pods of Deployments, or each written, under a release."""

    pods_of: str
    pods: int
    release: str


BUNDLES = (
    Bundle("Deployments", 10_000, "v1.37"),
    Bundle("Deployments", 100_000, "v1.37"),
    Bundle("Deployments", 100_000, "v1.11"),
    Bundle("documents", 60_000, "v1.37"),
)


def text_of(pods_of: str, pods: int) -> str:
    """Return a bundle's text."""
    return "---\n".join((*map(_node, range(NODES)), *_pods(pods_of, pods)))


def _node(number: int) -> str:
    allocatable = "{cpu: '64', memory: 256Gi, pods: '1000'}"
    return (
        f"apiVersion: v1\nkind: Node\nmetadata: {{name: n{number}}}\nstatus: {{allocatable: {allocatable}}}\n"
    )


def _pods(pods_of: str, pods: int) -> Iterator[str]:
    if pods_of == "documents":
        for number in range(pods):
            meta = f"{{name: p{number}, labels: {{app: a{number % TEMPLATES}}}}}"
            yield f"apiVersion: v1\nkind: Pod\nmetadata: {meta}\nspec:\n  containers: {_CONTAINERS}\n"
        return
    for number in range(TEMPLATES):
        labels = f"{{app: a{number}}}"
        yield (
            f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d{number}}}\nspec:\n"
            f"  replicas: {pods // TEMPLATES}\n  selector: {{matchLabels: {labels}}}\n  template:\n"
            f"    metadata: {{labels: {labels}}}\n    spec: {{containers: {_CONTAINERS}}}\n"
        )


def timed(text: str, release: str) -> tuple[float, float]:
    """Return the CPU seconds of loading a text, and of a simulation up to its first cycle."""
    began = time.process_time()
    scenario = load(text, scheduler=release)
    loaded = time.process_time()
    if simulate(scenario, trace=False).step() is None:
        raise ValueError("the bundle has no cycle")
    return loaded - began, time.process_time() - loaded


def measure_first_cycles(times: int, bundles: Sequence[Bundle] = BUNDLES) -> list[dict[str, Any]]:
    """Return each bundle with the best of so many runs."""
    return [{**bundle._asdict(), **_best([_run(bundle) for _ in range(times)])} for bundle in bundles]


def _best(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    return min(runs, key=lambda one: one["load"] + one["first"])


def _run(bundle: Bundle) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.first_cycle", *map(str, bundle)]
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=SECONDS, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(pods_of: str, pods: str, release: str) -> None:
    """Print the figures; no garbage is collected, as where a process of the pool reads."""
    gc.disable()
    loaded, first = timed(text_of(pods_of, int(pods)), release)
    print(json.dumps({"load": round(loaded, 3), "first": round(first, 3)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
