"""What follows from deleting pods: budgets that it breaks, and where their controllers' new pods go.

A remedy that deletes pods of controllers is verified with their replacements: copies without a node, which
are scheduled in the order of the queue.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.explain.edits import Edit
from scheduler_core.explain.world import NodeVerdicts, ObjectsAtMoment
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.schedulers.v1_11.preemption.budgets import Budgets

STATIC, DAEMON = "Node", "DaemonSet"  # owners whose pods come back on the same node
REPLACED_MOST = 10  # replacements that are scheduled; of more it is only said that there are some


class Consequences(Struct, frozen=True):
    """What deleting the pods of a remedy brings: sentences, and by how much they raise its cost."""

    notes: tuple[str, ...] = ()
    effort: int = 0


def deleted_pods(world: ObjectsAtMoment, edits: Sequence[Edit]) -> list[Pod]:
    """Return the pods that a remedy deletes, in its order."""
    keys = [(edit.kind, edit.key) for edit in edits if edit.mutate is None and edit.create is None]
    found = (world.objects.get(key) for key in keys)
    return [pod for pod in found if isinstance(pod, Pod)]


def consequences(tried: NodeVerdicts, pods: Sequence[Pod], broken: Sequence[str]) -> Consequences | None:
    """Return what follows from deleting pods; ``None`` if the pod asked about does not stay placed then.

    ``tried`` is the standing without them, ``broken`` the result of :func:`broken_budgets`.
    """
    owners = [owner.kind for pod in pods if (owner := pod.meta.controller) is not None]
    if STATIC in owners:
        return None  # the kubelet runs a static pod again, whatever is deleted
    if len(owners) > REPLACED_MOST:
        made = f"Controllers create {len(owners):,} pods in place of those deleted; it is not verified where."
        return Consequences((*broken, made), PENALTY * (len(broken) + 1))
    placed = _scheduled(tried, [pod for pod in pods if pod.meta.controller is not None])
    if placed is None:
        return None
    pending = sum(node is None for _, node in placed)
    sentences = tuple(_sentence(pod, node) for pod, node in placed)
    return Consequences((*broken, *sentences), PENALTY * (len(broken) + pending))


PENALTY = 3
"""The cost of breaking a budget, and of a replacement that finds no node."""


def broken_budgets(standing: NodeVerdicts, pods: Sequence[Pod]) -> Iterator[str]:
    """Yield which budgets do not allow to delete pods of the cluster."""
    for name, allowed, keys in breaking(standing, pods):
        yield (
            f"This breaks PodDisruptionBudget {name}, which allows {allowed:,} disruptions: the API "
            f"server refuses to evict {', '.join(keys)}, and deleting does not ask the budget."
        )


def preempted_budget(name: str, allowed: int, keys: Sequence[str]) -> str:
    """Return the sentence on a budget that preemption would break."""
    return (
        f"This breaks PodDisruptionBudget {name}, which allows {allowed:,} disruptions: preemption evicts "
        f"{', '.join(keys)} all the same where no node without a violation helps."
    )


def breaking(standing: NodeVerdicts, pods: Sequence[Pod]) -> Iterator[tuple[str, int, list[str]]]:
    """Yield the budgets that do not allow to delete pods of the cluster: how many they allow, and which."""
    states = [standing.cluster.pods[pod.meta.key] for pod in pods]
    budgets = Budgets(standing.cluster, frozenset())
    violated: dict[str, list[str]] = {}
    for pod, names in budgets.violations(states).items():
        for name in names:
            violated.setdefault(name, []).append(pod)
    for name, keys in violated.items():
        yield name, max(0, standing.cluster.budgets[name].disruptions_allowed), keys


def _scheduled(tried: NodeVerdicts, replaced: Sequence[Pod]) -> list[tuple[Pod, str | None]] | None:
    """Schedule the pod and the replacements, high priority first; ``None`` if the pod finds no node then."""
    if not replaced:
        return []
    asked = tried.world.objects["Pod", tried.world.pod]
    assert isinstance(asked, Pod)
    waiting = sorted((asked, *replaced), key=lambda pod: -(pod.priority or 0))
    world, found = tried.world, list[tuple[Pod, str | None]]()
    for pod in waiting:
        world = _with_node(world, pod, "")
    for pod in waiting:
        with tried.trial(replace(world, pod=pod.meta.key)) as standing:
            node = _node_for(standing, pod)
        if pod is asked and node is None:
            return None
        if pod is not asked:
            found.append((pod, node))
        world = _with_node(world, pod, node or "")
    return found


def _node_for(standing: NodeVerdicts, pod: Pod) -> str | None:
    """Return the node that a replacement is scheduled to: a DaemonSet's goes to the same node or to none."""
    owner = pod.meta.controller
    if owner is None or owner.kind != DAEMON:
        return standing.choice()
    names = standing.names
    at = names.index(pod.node_name) if pod.node_name in names else None
    return pod.node_name if at is not None and standing.fits(at) else None


def _with_node(world: ObjectsAtMoment, pod: Pod, node: str) -> ObjectsAtMoment:
    """Return the world with a pod that is new or changed: on a node, or on none with ""."""
    key: Key = ("Pod", pod.meta.key)
    changed: KubernetesObject = replace(pod, node_name=node, nominated_node_name="")
    patch: dict[str, Any] = copy.deepcopy(dict(world.edited.get(key) or {}))
    patch.setdefault("spec", {})["nodeName"] = node or None
    edited: Mapping[Key, Any] = {**world.edited, key: patch}
    return replace(world.with_objects({key: changed}), edited=edited)


def _sentence(pod: Pod, node: str | None) -> str:
    owner = pod.meta.controller
    assert owner is not None
    made = f"{owner.kind} {pod.meta.namespace}/{owner.name} creates another pod in place of {pod.meta.key}"
    if node is None:
        return f"{made}; it finds no node and stays pending."
    return f"{made}; it is scheduled to {node}."
