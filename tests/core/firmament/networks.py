"""Random small clusters, and the network of the rule book solved by successive shortest paths."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from scheduler_core.kubernetes.model import (
    Container,
    Node,
    ObjectMeta,
    OwnerReference,
    Pod,
    Taint,
    Toleration,
)
from scheduler_core.schedulers.firmament.classes import FlowTaskClass, State, arcs_of, classes_of
from scheduler_core.schedulers.firmament.costs import UNSCHEDULED_COST
from scheduler_core.schedulers.firmament.machines import Machines
from scheduler_core.schedulers.firmament.residents import Residents
from scheduler_core.schedulers.firmament.tasks import Task, task_of

MIB = 1024 * 1024


def node(name: str, cpu: int, memory: int, pods: int, *, taints: tuple[Taint, ...] = ()) -> Node:
    """Return a node; cpu in millicores, memory in MiB."""
    amounts = {"cpu": cpu, "memory": memory * MIB, "pods": pods}
    meta = ObjectMeta(name, labels={"zone": name[-1]})
    return Node(meta, allocatable=amounts, capacity=amounts, taints=taints)


def pod(name: str, cpu: int, memory: int, *, job: str = "", **fields: Any) -> Pod:
    """Return a pod of a job; cpu in millicores, memory in MiB."""
    owners = (OwnerReference("ReplicaSet", job, f"uid-{job}", controller=True),) if job else ()
    container = Container("c", requests={"cpu": cpu, "memory": memory * MIB})
    meta = ObjectMeta(name, "default", labels={"job": job}, owner_references=owners)
    return Pod(meta, containers=(container,), scheduler_name="poseidon", **fields)


def random_cluster(random: Random) -> tuple[State, list[Task]]:
    """Return up to four machines and up to nine pending tasks of up to four jobs."""
    soft = Taint("t", "v", "PreferNoSchedule")
    nodes = [
        node(
            f"n{number}",
            random.randrange(500, 3000, 100),
            random.randrange(500, 4000, 100),
            random.randint(1, 5),
            taints=(soft,) if random.random() < 0.3 else (),
        )
        for number in range(random.randint(1, 4))
    ]
    jobs = [
        (
            random.choice([0, 200, 500, 900]),
            random.choice([0, 128, 512, 1000]),
            random.choice([(), ({"zone": "1"},)]),
        )
        for _ in range(random.randint(1, 4))
    ]
    pods = []
    for number in range(random.randint(1, 9)):
        which = random.randrange(len(jobs))
        cpu, memory, selector = jobs[which]
        pods.append(
            pod(
                f"p{number}",
                cpu,
                memory,
                job=f"j{which}",
                node_selector=selector[0] if selector else {},
                tolerations=(Toleration("t", "Exists"),) * 3 if which == 2 else (),
            )
        )
    running = [pod("r", 300, 200, node_name=random.choice(nodes).meta.name)] if random.random() < 0.3 else []
    return State(Machines.of(nodes, running), Residents(len(nodes))), [task_of(one) for one in pods]


class Network:
    """A flow network with costs, solved by one shortest path after the other (Bellman-Ford)."""

    def __init__(self) -> None:
        self.arcs: list[list[int]] = []  # from, to, capacity left, cost; each followed by its reverse
        self.names: dict[object, int] = {}

    def node(self, name: object) -> int:
        """Return the number of a node."""
        return self.names.setdefault(name, len(self.names))

    def arc(self, tail: object, head: object, cost: int, capacity: int) -> None:
        """Add an arc."""
        one, other = self.node(tail), self.node(head)
        self.arcs += [[one, other, capacity, cost], [other, one, 0, -cost]]

    def cost(self, source: object, sink: object) -> int:
        """Send as much as possible at the lowest cost, and return it."""
        total = 0
        while path := self._path(self.node(source), self.node(sink)):
            for at in path:
                self.arcs[at][2] -= 1
                self.arcs[at ^ 1][2] += 1
                total += self.arcs[at][3]
        return total

    def _path(self, source: int, sink: int) -> list[int]:
        distance: dict[int, int] = {source: 0}
        by: dict[int, int] = {}
        changed = True
        while changed:
            changed = False
            for at, (tail, head, left, cost) in enumerate(self.arcs):
                if left and tail in distance and distance[tail] + cost < distance.get(head, 1 << 60):
                    distance[head], by[head] = distance[tail] + cost, at
                    changed = True
        return list(self._back(by, sink)) if sink in by else []

    def _back(self, by: dict[int, int], at: int) -> Iterator[int]:
        while at in by:
            yield by[at]
            at = self.arcs[by[at]][0]


def whole_network(state: State, tasks: list[Task]) -> Network:
    """Return the network with every node and arc of the rule book: tasks, aggregators, machines, PUs."""
    network = Network()
    classes: list[FlowTaskClass] = classes_of(tasks, state)
    for task in tasks:
        network.arc("source", ("task", task.key), 0, 1)
        network.arc(("task", task.key), ("aggregator", task.job), UNSCHEDULED_COST, 1)
    for job in {task.job for task in tasks}:
        network.arc(("aggregator", job), "sink", 0, len(tasks))
    for number, one in enumerate(classes):
        arcs = arcs_of(one, state)
        for task in one.tasks:
            network.arc(("task", task.key), ("class", number), 0, 1)
        for row, count in enumerate(arcs.counts.tolist()):
            for index in range(count):
                cost = arcs.costs(np.array([row]), np.array([index])).item()
                network.arc(("class", number), ("index", row, index), cost, 1)
    for row, slots in enumerate(state.machines.free_slots.tolist()):
        for index in range(slots):
            network.arc(("index", row, index), ("machine", row), 0, 1)
        network.arc(("machine", row), ("pu", row), 0, max(slots, 0))
        network.arc(("pu", row), "sink", 0, max(slots, 0))
    return network
