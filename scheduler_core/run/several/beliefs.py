"""What schedulers believe of the nodes beside what is true, and where room may be given away twice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.several import (
    NODES_SHOWN,
    PODS_SHOWN,
    NodeBelief,
    Promise,
    Window,
)
from scheduler_core.run.several.server import SharedCluster
from scheduler_core.run.several.view import SchedulerView
from scheduler_core.schedulers.v1_22.interface import Handle

Pods = Mapping[str, list[str]]
"""Keys of pods by the name of their node."""


class Differences(NamedTuple):
    """A scheduler's view against the API server, by node.

    ``unseen`` are bound there and not counted, ``gone`` are counted and not there any more, ``assumed`` are
    placed by the scheduler itself and not bound yet. ``counted`` and ``there`` are all pods, in the view and
    at the API server.
    """

    unseen: Pods
    gone: Pods
    assumed: Pods
    counted: Pods
    there: Pods

    @property
    def nodes(self) -> list[str]:
        """The nodes with any difference, by name."""
        return sorted({*self.unseen, *self.gone, *self.assumed})


def differences(server: SharedCluster, view: SchedulerView, counts: Collection[str]) -> Differences:
    """Compare a view with the API server; ``counts`` are the pods on nodes that count in its decisions."""
    true = {key: state.node_name for key, state in server.cluster.pods.items() if state.node_name}
    seen = {key: view.cluster.pods[key].node_name for key in counts}
    unseen: dict[str, list[str]] = {}
    gone: dict[str, list[str]] = {}
    assumed: dict[str, list[str]] = {}
    for key, node in sorted(true.items() - seen.items()):
        if node not in view.hidden:
            unseen.setdefault(node, []).append(key)
    for key, node in sorted(seen.items() - true.items()):
        (assumed if _is_unbound(server.pods.get(key)) else gone).setdefault(node, []).append(key)
    return Differences(unseen, gone, assumed, _by_node(seen), _by_node(true))


def _is_unbound(pod: Pod | None) -> bool:
    return pod is not None and not pod.node_name and not pod.terminal


def beliefs(server: SharedCluster, view: SchedulerView, found: Differences) -> list[NodeBelief]:
    """Return the nodes of which a scheduler believes something else than is true, by name."""
    return [
        NodeBelief(
            node,
            tuple(found.unseen.get(node, ())[:PODS_SHOWN]),
            tuple(found.gone.get(node, ())[:PODS_SHOWN]),
            tuple(found.assumed.get(node, ())[:PODS_SHOWN]),
            free_of(view, node, found.counted.get(node, ())),
            free_of(server, node, found.there.get(node, ())),
        )
        for node in found.nodes
    ]


def windows(
    server: SharedCluster,
    views: Mapping[str, SchedulerView],
    found: Mapping[str, Differences],
    decided: tuple[str, Iterable[tuple[str, str]]],
) -> tuple[list[Window], int]:
    """Return the first nodes whose room may be given away twice, and how many there are.

    ``found`` are the differences of each scheduler before the cycle's decision, ``decided`` the scheduler
    that made it, with the pods that it placed. Nodes whose room is given away twice come first.
    """
    promised: dict[str, dict[str, str]] = {}  # of each node: pods, and who placed them
    for label, one in found.items():
        for node, keys in one.assumed.items():
            promised.setdefault(node, {}).update(dict.fromkeys(keys, label))
    label, placements = decided
    for key, node in placements:
        promised.setdefault(node, {})[key] = label
    made = []
    for node in sorted({*promised, *(node for one in found.values() for node in one.unseen)}):
        coming = promised.get(node, {})
        unaware = tuple(
            name
            for name, one in found.items()
            if node not in views[name].hidden
            and (node in one.unseen or any(who != name for who in coming.values()))
        )
        if not unaware:
            continue
        there = next(iter(found.values())).there.get(node, ())
        free = free_of(server, node, {*there, *coming})
        pods = tuple(Promise(key, who) for key, who in list(coming.items())[:PODS_SHOWN])
        made.append(Window(node, pods, unaware, free))
    made.sort(key=lambda one: min(one.free.values(), default=0) >= 0)  # stable: by name among each
    return made[:NODES_SHOWN], len(made)


def _by_node(nodes: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, node in nodes.items():
        found.setdefault(node, []).append(key)
    return found


def free_of(framework: Handle, node: str, pods: Iterable[str]) -> dict[str, int]:
    """Return what some pods leave free on a node: milli-CPU, bytes of memory, and pods."""
    found = framework.cluster.nodes.get(node)
    if found is None:
        return {}
    most = {**found.capacity, **found.allocatable}
    names = ("cpu", "memory", "pods")
    left = {name: most[name] for name in names if name in most}
    for key in pods:
        state = framework.cluster.pods.get(key)
        if state is None:
            continue
        usage = dict(zip(("cpu", "memory", "ephemeral-storage", "pods"), state.info.usage))
        for name in left:
            left[name] -= int(usage[name])
    return left
