"""Pods, PodGroups and nodes in a line each."""

from __future__ import annotations

from typing import Any

from scheduler_core.kubernetes.model import Container, Node, ObjectMeta, OwnerReference, Pod, PodGroup
from scheduler_core.kubernetes.model import PodGroupStatus as Status
from scheduler_core.schedulers.coscheduling import CLASSIC, Arguments, Edition, Gangs, GangState

CREATED = "2021-01-01T00:00:00Z"


def pod(name: str, group: str = "g", *, cpu: int = 0, namespace: str = "ns", **rest: Any) -> Pod:
    """Make a pod that asks for so many millicores."""
    owners = tuple(OwnerReference("Job", owner, "") for owner in rest.pop("owners", ()))
    meta = ObjectMeta(name, namespace, f"{namespace}-{name}", owner_references=owners)
    return Pod(
        meta, containers=(Container("c", requests={"cpu": cpu} if cpu else {}),), pod_group=group, **rest
    )


def group(minimum: int, name: str = "g", created: str | None = CREATED, **rest: Any) -> PodGroup:
    """Make a PodGroup in ``ns``; fields of its status go in ``status``."""
    status = Status(**rest.pop("status", {}))
    return PodGroup(ObjectMeta(name, "ns", creation_timestamp=created), minimum, status=status, **rest)


def node(name: str, cpu: int, pods: int = 110) -> Node:
    """Make a ready node with so many millicores."""
    return Node(ObjectMeta(name), allocatable={"cpu": cpu, "pods": pods})


class World:
    """An edition, its arguments, the objects and a plugin that remembers nothing yet."""

    def __init__(self, *objects: object, edition: Edition = CLASSIC, **arguments: int) -> None:
        self.edition = edition
        self.arguments = Arguments(**arguments)
        self.gangs = Gangs.of(objects)
        self.state = GangState()

    @property
    def parts(self) -> tuple[Edition, Arguments, Gangs, GangState]:
        """Return what every decision begins with."""
        return self.edition, self.arguments, self.gangs, self.state
