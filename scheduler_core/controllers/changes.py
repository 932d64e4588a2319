"""What a controller answers: changes of objects, and the moment at which it wants to look again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal, NamedTuple

from scheduler_core.objects.model import KubernetesObject

Action = Literal["create", "update", "delete"]


class Change(NamedTuple):
    """One object created, replaced or deleted; ``reason`` is told as Kubernetes' events tell it."""

    action: Action
    object: KubernetesObject
    reason: str


class Wake(NamedTuple):
    """Look at the object again ``at`` this virtual time, in seconds, whatever happens until then."""

    at: float
    reason: str


Reconciliation = Sequence[Change | Wake]


@dataclass(frozen=True, slots=True)
class Options:
    """What the control plane is started with; defaults as of Kubernetes."""

    epoch: float = 1_609_459_200.0  # virtual time 0 in seconds since 1970: 2021-01-01T00:00:00Z
    grace_seconds: float = 40.0  # --node-monitor-grace-period
    terminated_pods: int = 12_500  # --terminated-pod-gc-threshold
    bind_daemons: bool = False  # the DaemonSet controller binds by itself, as it did up to v1.11
    most_pods: int = 150_000  # none is made beyond
    most_looks: int = 50_000  # in one settling, beside some for each object


@lru_cache(maxsize=1024)
def _printed(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def timestamp(options: Options, now: float) -> str:
    """Print a virtual time as RFC 3339, in whole seconds, as ``creationTimestamp`` is."""
    return _printed(int(options.epoch + now))
