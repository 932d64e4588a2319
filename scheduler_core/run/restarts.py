"""Restart a scheduler over the existing objects; its in-memory state is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run.builder import build
from scheduler_core.run.control import ControlledFramework
from scheduler_core.schedulers.v1_22.clock import VirtualClock
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.schedulers.v1_22.record import Attempt


def restart(
    previous: ControlledFramework,
    configuration: Configuration,
    *,
    keep: Callable[[Attempt | TimelineEvent], None],
    details: bool,
) -> ControlledFramework:
    """Return a scheduler with another configuration; pods that waited at Permit are pending again.

    Bindings and nominations are stored in the API server and persist; controllers keep running because they
    are another process.
    """
    nominated = {key: state.nominated for key, state in previous.cluster.pods.items()}
    made = build(
        configuration,
        listed(previous),
        manager=previous.manager,
        keep=keep,
        controlled=previous.controlled,
        details=details,
        clock=VirtualClock(previous.clock.now),
        interrupt=previous.interrupt,
    )
    for pod in made.queue.pods.values():
        pod.state.nominated = nominated.get(pod.key, "")
        made.queue.nominate(pod.state)
    return made


def listed(framework: ControlledFramework) -> Iterator[KubernetesObject]:
    """Yield the objects that the informers of a starting scheduler list."""
    cluster = framework.cluster
    yield from cluster.nodes.values()
    yield from cluster.storage.classes.values()
    yield from cluster.storage.volumes.values()
    yield from cluster.storage.claims.values()
    yield from cluster.services.values()
    yield from cluster.workloads.values()
    yield from cluster.budgets.values()
    yield from framework.others.values()
    yield from framework.groups.values()
    yield from framework.pods.values()
