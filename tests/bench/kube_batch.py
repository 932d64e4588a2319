"""How long a session of kube-batch takes.

``python -m tests.bench.kube_batch [nodes [queues [gangs [size]]]]`` prints it.
"""

from __future__ import annotations

import sys
import time

from scheduler_core.kubernetes.model import Container, Node, ObjectMeta, Pod, PodGroup, Queue
from scheduler_core.schedulers.kube_batch.configuration import parse_configuration
from scheduler_core.schedulers.kube_batch.session_run import run_session
from scheduler_core.schedulers.kube_batch.snapshot import (
    GROUP_NAME,
    ServerOption,
    SnapshotCache,
    WatchedObjects,
    take_snapshot,
)

CPU, MEMORY = 32_000, 128 << 30  # of a node: millicores, bytes
SIZES = ((500, 1 << 30), (1000, 2 << 30), (2000, 2 << 30), (4000, 16 << 30))


def cluster(nodes: int, queues: int, gangs: int, size: int) -> WatchedObjects:
    """Return nodes of one shape, queues of different weights, and gangs of pending pods."""
    made = WatchedObjects()
    made.nodes = [
        Node(
            ObjectMeta(f"n{number:05}", labels={"zone": f"z{number % 7}"}),
            {"cpu": CPU, "memory": MEMORY, "pods": 110},
        )
        for number in range(nodes)
    ]
    made.queues = [Queue(ObjectMeta(f"q{number}"), 1 + number % 5) for number in range(queues)]
    for number in range(gangs):
        name = f"g{number}"
        made.groups.append(PodGroup(ObjectMeta(name, "default"), size, queue=f"q{number % queues}"))
        cpu, memory = SIZES[number % len(SIZES)]
        made.pods += [
            Pod(
                ObjectMeta(f"{name}-{member}", "default", f"{name}-{member}", annotations={GROUP_NAME: name}),
                containers=(Container("c", requests={"cpu": cpu, "memory": memory}),),
                scheduler_name="kube-batch",
            )
            for member in range(size)
        ]
    return made


def measure(nodes: int, queues: int, gangs: int, size: int) -> tuple[float, float, int]:
    """Return the CPU seconds of a snapshot and of its session, and the pods that were bound."""
    objects, configuration = cluster(nodes, queues, gangs, size), parse_configuration(None)
    began = time.process_time()
    snapshot = take_snapshot(objects, ServerOption(), SnapshotCache())
    opened = time.process_time()
    finished = run_session(snapshot, configuration)
    return opened - began, time.process_time() - opened, len(finished.session.outcome.bound)


def main(arguments: list[str]) -> None:
    """Print one line."""
    given = [int(text) for text in arguments]
    nodes, queues, gangs, size = (*given, *(1000, 20, 500, 10)[len(given) :])
    snapshot, session, bound = measure(nodes, queues, gangs, size)
    print(
        f"{nodes:,} nodes, {queues} queues, {gangs:,} gangs of {size}: "
        f"{bound:,} of {gangs * size:,} pods bound; "
        f"snapshot {snapshot:.3f} s, session {session:.3f} s of CPU"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
