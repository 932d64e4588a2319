"""Nodes and zones that are alike: what is lost with one of them is what is lost with any of them.

They have the same colour of :class:`~scheduler_core.compare.refinement.Coloring`: nothing that is read of the
cluster tells them apart. Names break ties all the same, so another member of each class is played, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple, TypeVar

from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.model import Node
from scheduler_core.studies.audit.allowance import Allowance
from scheduler_core.studies.audit.cluster import AuditedCluster
from scheduler_core.studies.audit.omissions import unplayed
from scheduler_core.studies.audit.row import AuditRow
from scheduler_core.studies.audit.words import listed

ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
SEED = 0
"""Of which other member of a class is played."""
Classes = list[tuple[str, ...]]
Item = TypeVar("Item")


def zones_of(nodes: Iterable[Node]) -> Mapping[str, list[Node]]:
    """Return the nodes by zone; those without one are left out."""
    found: dict[str, list[Node]] = {}
    for node in nodes:
        zone = next((node.meta.labels[key] for key in ZONES if node.meta.labels.get(key)), "")
        if zone:
            found.setdefault(zone, []).append(node)
    return found


def zone_key(nodes: Iterable[Node]) -> str:
    """Return the label that the zones are values of."""
    return next((key for key in ZONES if any(key in node.meta.labels for node in nodes)), ZONES[0])


def node_classes(cluster: AuditedCluster) -> Classes:
    """Return the names of nodes that are alike, each class in the order of the nodes."""
    return _classes(cluster, [("Node", node.meta.name) for node in cluster.nodes])


def zone_classes(cluster: AuditedCluster) -> Classes:
    """Return the zones that are alike."""
    key = zone_key(cluster.nodes)
    return _classes(cluster, [(key, zone) for zone in zones_of(cluster.nodes)])


def _classes(cluster: AuditedCluster, keys: Iterable[Key]) -> Classes:
    found: dict[int, list[str]] = {}
    for key in keys:
        found.setdefault(cluster.coloring.color(key), []).append(key[1])
    return [tuple(names) for names in found.values()]


class Representative(NamedTuple):
    """A member of a class that was played, what it came to in words, and the others that are alike."""

    name: str
    end: str
    alike: Sequence[str]


def checked(
    allowance: Allowance, subject: str, done: Sequence[Representative], end: Callable[[str], str]
) -> Iterator[AuditRow]:
    """Play another member of each class, chosen at random: yield a row for each that ends otherwise.

    ``end`` plays a member, and returns in words what it comes to.
    """
    left: list[tuple[Representative, str]] = []
    dice = Random(SEED)  # noqa: S311 -- seeded on purpose
    several = [(one, dice.choice(one.alike)) for one in done if one.alike]
    for one, other in allowance.cases(several, left):
        found = end(other)
        if found != one.end:
            yield _unlike(subject, one, other, found)
    if left:
        yield unplayed(subject, [other for _, other in left], "a second one of those that are alike")


def _unlike(subject: str, one: Representative, other: str, found: str) -> AuditRow:
    return AuditRow(
        subject=subject,
        verdict="unknown",
        sentence=f"{one.name} and {other} are alike in all but their names, and end differently.",
        evidence=(
            f"{one.name}: {one.end}",
            f"{other}: {found}",
            f"names break ties, so nothing is said of the others that are alike: {listed(one.alike, 12)}",
        ),
    )
