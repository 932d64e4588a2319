"""The static orders of predicates, and the aliases of predicates. Tables only.

There are two named orders of the same predicates: that of kube-scheduler v1.11, and that of the
design proposal behind it (predicates-ordering, "Static ordering"). A scenario's settings
choose one (:attr:`scheduler_core.config.settings.Settings.predicate_order`).

The proposal lists the four members of GeneralPredicates, but not the bundle. Under its order the bundle is
therefore expanded: each member runs at its own place, and evaluation stops at a node's first failure, where
the bundle would run all four. A key that is not in the proposal (it was added later) is placed directly
after its predecessor in v1.11's order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OrderRow:
    """One place of an order: its name in that order, the keys of v1.11 it stands for, and the reason."""

    name: str
    keys: tuple[str, ...]
    why: str = ""


def _own(key: str, why: str) -> OrderRow:
    """Create the row of a key under its own name."""
    return OrderRow(key, (key,), why)


V1_11 = (
    _own(
        "CheckNodeCondition", "What is wrong with a node as a whole comes first: then nothing else matters."
    ),
    _own("CheckNodeUnschedulable", "Kept a place; in v1.11 CheckNodeCondition asks for cordons."),
    _own("GeneralPredicates", "Most pods that do not fit fail here, and its members cost little."),
    _own("HostName", "A member of GeneralPredicates: one comparison, and at most one node is left."),
    _own("PodFitsHostPorts", "A member of GeneralPredicates: few pods ask for a port of the node."),
    _own("MatchNodeSelector", "A member of GeneralPredicates: reads the node's labels alone."),
    _own("PodFitsResources", "A member of GeneralPredicates: compares amounts, so it rules out less surely."),
    _own("NoDiskConflict", "Walks through the volumes of the pods on the node."),
    _own("PodToleratesNodeTaints", "Short lists on both sides, but few nodes are tainted."),
    _own("PodToleratesNodeNoExecuteTaints", "The same with the effect NoExecute alone."),
    _own("CheckNodeLabelPresence", "Labels are read quickly; only a policy asks for it."),
    _own("CheckServiceAffinity", "Has to find the pods of a service; only a policy asks for it."),
    _own("MaxEBSVolumeCount", "Counts volumes, and looks claims up to do so."),
    _own("MaxGCEPDVolumeCount", "As the one before, for another kind of disk."),
    _own("MaxAzureDiskVolumeCount", "As the one before, for another kind of disk."),
    _own("CheckVolumeBinding", "Looks for volumes that claims could be bound to."),
    _own("NoVolumeZoneConflict", "Looks claims and volumes up and compares zones."),
    _own("CheckNodeMemoryPressure", "Cheap, but it is seldom true."),
    _own("CheckNodePIDPressure", "Cheap, but it is seldom true."),
    _own("CheckNodeDiskPressure", "Cheap, but it is seldom true."),
    _own(
        "MatchInterPodAffinity", "The dearest by far, and so the last: it looks at pods all over the cluster."
    ),
)
"""predicates.Ordering() of kube-scheduler v1.11, 21 rows."""

PROPOSAL = (
    OrderRow(
        "CheckNodeConditionPredicate",
        ("CheckNodeCondition",),
        "Nothing should be asked of a node that takes no pods.",
    ),
    OrderRow("PodFitsHost", ("HostName",), "A pod that names its node is settled by one comparison."),
    _own("PodFitsHostPorts", "The ports that the pod asks for are few and exact."),
    OrderRow(
        "PodMatchNodeSelector", ("MatchNodeSelector",), "Labels are compared where there are nodes left."
    ),
    _own("PodFitsResources", "It compares ranges, not exact values, so it rules out less than those above."),
    _own("NoDiskConflict", "Disks are a resource too, and follow the other resources."),
    _own("PodToleratesNodeTaints", "Taints can be tolerated, so they rule out less."),
    _own("PodToleratesNodeNoExecuteTaints", "Taints can be tolerated, so they rule out less."),
    _own("CheckNodeLabelPresence", "Labels are easy to check, so it stands before what is not."),
    OrderRow("checkServiceAffinity", ("CheckServiceAffinity",)),
    OrderRow(
        "MaxPDVolumeCountPredicate",
        ("MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount"),
    ),
    OrderRow("VolumeNodePredicate", ("CheckVolumeBinding",)),
    OrderRow("VolumeZonePredicate", ("NoVolumeZoneConflict",)),
    OrderRow(
        "CheckNodeMemoryPressurePredicate", ("CheckNodeMemoryPressure",), "Pressure does not happen often."
    ),
    OrderRow("CheckNodeDiskPressurePredicate", ("CheckNodeDiskPressure",), "Pressure does not happen often."),
    OrderRow(
        "InterPodAffinityMatches", ("MatchInterPodAffinity",), "The dearest to compute, so it is the last."
    ),
)
"""The static order of the predicates-ordering proposal, 16 rows, with the proposal's names."""

ORDERS: Mapping[str, tuple[OrderRow, ...]] = {"v1.11": V1_11, "proposal": PROPOSAL}
"""The named orders, by the values of ``predicateOrder`` in a SimulationSettings document."""

BUNDLES: Mapping[str, tuple[str, ...]] = {
    "GeneralPredicates": ("PodFitsResources", "HostName", "PodFitsHostPorts", "MatchNodeSelector"),
}
"""Predicates that run others: the bundle's key to its members, in the order of their reasons."""

UNREGISTERED = frozenset({"CheckNodeUnschedulable", "PodToleratesNodeNoExecuteTaints"})
"""Rows that have a place in v1.11's order but are not registered with its default feature gates."""

ALIASES: Mapping[str, tuple[str, ...]] = {row.name: row.keys for row in PROPOSAL if row.keys != (row.name,)}
"""The proposal's names to the keys of v1.11; a name that is not listed is itself a key."""

V1_11_ORDER = tuple(row.name for row in V1_11)


def keys_of(name: str) -> tuple[str, ...]:
    """Return the predicate keys that a name stands for."""
    return ALIASES.get(name, (name,))


def static_order(name: str) -> tuple[str, ...]:
    """Return the keys of a named order; keys that it does not list are placed by the module's rule.

    A bundle whose members the order lists individually has no place in it.
    """
    order = [key for row in ORDERS[name] for key in row.keys]
    before = ""
    for key in V1_11_ORDER:
        if key not in order and not expanded(name, key):
            order.insert(order.index(before) + 1 if before in order else 0, key)
        before = key
    return tuple(order)


def expanded(name: str, key: str) -> tuple[str, ...]:
    """Return the members that a bundle is expanded to under a named order; empty if it is not."""
    listed = {of for row in ORDERS[name] for of in row.keys}
    return BUNDLES.get(key, ()) if key not in listed else ()
