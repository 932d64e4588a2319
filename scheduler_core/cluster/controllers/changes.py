"""Changes of objects by the control plane, and its options."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.kubernetes.times import rfc3339

Action = Literal["create", "update", "delete"]


class Change(NamedTuple):
    """One object created, replaced or deleted; ``reason`` is reported as in Kubernetes events.

    ``message`` is that of the event where it does not follow from the object alone.
    """

    action: Action
    object: KubernetesObject
    reason: str
    message: str = ""


class ControllerOptions(Struct, frozen=True):
    """The options of the control plane; defaults are those of Kubernetes."""

    epoch: float = 1_609_459_200.0  # virtual time 0 in seconds since 1970: 2021-01-01T00:00:00Z
    terminated_pods: int = 12_500  # --terminated-pod-gc-threshold
    most_pods: int = 150_000  # controllers create no more


def timestamp(options: ControllerOptions, now: float) -> str:
    """Format a virtual time as RFC 3339 in whole seconds, like ``creationTimestamp``."""
    return rfc3339(int(options.epoch + now))
