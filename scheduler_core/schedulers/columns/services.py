"""The services and controllers that select a pod."""

from __future__ import annotations

from scheduler_core.kubernetes.model import Service
from scheduler_core.schedulers.columns.pod_selectors import Selector, compile_map, compile_selector, matches
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.state import Cluster

SPREADING_KINDS = ("ReplicationController", "ReplicaSet", "StatefulSet")


def services_of(pod: PodInfo, cluster: Cluster) -> list[Service]:
    """Return the services of the pod's namespace that select it, in object order.

    A service without a selector selects nothing (ServiceLister.GetPodServices).
    """
    return [
        service
        for service in cluster.services.values()
        if service.meta.namespace == pod.namespace
        and service.selector
        and matches(compile_map(service.selector), pod.labels)
    ]


def service_selectors(pod: PodInfo, cluster: Cluster) -> tuple[Selector, ...]:
    """Return the selectors of the services that select a pod."""
    return tuple(compile_map(service.selector or {}) for service in services_of(pod, cluster))


def spreading_selectors(pod: PodInfo, cluster: Cluster) -> tuple[Selector, ...]:
    """Return the selectors that a pod is spread by (priorities.getSelectors).

    Controllers with empty selectors select nothing, and a pod without labels has no controller.
    """
    found = list(service_selectors(pod, cluster))
    for workload in cluster.workloads.values():
        if workload.kind not in SPREADING_KINDS or workload.meta.namespace != pod.namespace:
            continue
        selector = compile_selector(workload.selector)
        if pod.labels and selector and matches(selector, pod.labels):
            found.append(selector)
    return tuple(found)
