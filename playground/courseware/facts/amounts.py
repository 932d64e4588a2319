"""What nodes offer and pods request: millicores, MiB, or a resource's own unit."""

from __future__ import annotations

from playground.courseware.expression import IN_MIB, MIB, FactError, ResourceAmount
from playground.courseware.facts.moment import ShownMoment
from scheduler_core.kubernetes.names import did_you_mean


def allocatable(moment: ShownMoment, node: str, resource: str, at: str = "", of: str = "") -> ResourceAmount:
    """What a node offers of a resource."""
    return _in_unit(resource, _amounts(moment, node, resource, at, of)[0])


def requested(moment: ShownMoment, node: str, resource: str, at: str = "", of: str = "") -> ResourceAmount:
    """What the pods of a node request of a resource before a cycle, or at the ``end``."""
    return _in_unit(resource, _amounts(moment, node, resource, at, of)[1])


def free(moment: ShownMoment, node: str, resource: str, at: str = "", of: str = "") -> ResourceAmount:
    """What a node has left of a resource before a cycle, or at the ``end``: allocatable less requested."""
    there, used = _amounts(moment, node, resource, at, of)
    return _in_unit(resource, there - used)


def request(moment: ShownMoment, pod: str, resource: str, of: str = "") -> ResourceAmount:
    """What a pod requests of a resource."""
    resources = moment.play(of).resources(moment.before("", of) if not of else 0)
    key = pod if "/" in pod else f"default/{pod}"
    if key not in resources.requests:
        raise FactError(f"there is no pod {pod!r}{did_you_mean(key, resources.requests)}")
    return _in_unit(resource, resources.request(key, resource))


def quantity(moment: ShownMoment, amount: int, resource: str) -> ResourceAmount:
    """A computed number as an amount of a resource, which a text shows as ``250m`` or ``1536Mi``."""
    del moment
    return ResourceAmount(amount, resource)


def _in_unit(resource: str, amount: int) -> ResourceAmount:
    return ResourceAmount(amount // MIB if resource in IN_MIB else amount, resource)


def _amounts(moment: ShownMoment, node: str, resource: str, at: str, of: str) -> tuple[int, int]:
    resources = moment.play(of).resources(moment.before(at, of))
    if node not in resources.nodes:
        raise FactError(f"there is no node {node!r}{did_you_mean(node, resources.nodes)}")
    return resources.of(node, resource)


FACTS = (
    allocatable,
    requested,
    free,
    request,
    quantity,
)
