"""GeneralPredicates and its four members: resources, host name, host ports, node selector."""

from __future__ import annotations

from functools import reduce
from operator import or_

import numpy as np

from scheduler_core.kubernetes.arrays import BoolVector
from scheduler_core.kubernetes.shared_devices import COUNT, ON_ONE_DEVICE, SHARE, DeviceDemand, room
from scheduler_core.schedulers.columns.nodeaffinity import required_mask
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.reasons import Codes
from scheduler_core.schedulers.columns.storage import ports_conflict
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.predicate import (
    FITS,
    Predicate,
    PredicateResult,
    failing,
    narrowed,
)
from scheduler_core.schedulers.quirks import in_variant, quirk
from scheduler_core.schedulers.v1_11.predicates.rule import NO_CHANGE, FilterPlugin, OrderPlace, Reason, Rule

INSUFFICIENT = "Insufficient "  # and the name of the resource

# Rows of ``allocatable``, ``request`` and ``used`` in the order in which v1.11 reports them.
REPORT_ORDER = ((3, "pods"), (0, "cpu"), (1, "memory"), (2, "ephemeral-storage"))


@quirk("unrequested-resources-checked")
class PodFitsResources:
    """Pod number, cpu, memory, ephemeral storage and scalar resources (predicates.PodFitsResources).

    In v1.11 a pod that requests any resource is checked against all of the basic ones, requested or not. Of
    GPUs that pods share (:mod:`scheduler_core.kubernetes.shared_devices`) one has to have room for all of a
    share. ``ignored`` are extended resources that an extender checks in its place.
    """

    scope = Scope.NODE
    reads = Reads(pod=("containers", "init_containers"), node=("allocatable",), objects=("Pod",))

    def __init__(self, *, unrequested_too: bool = True, ignored: frozenset[str] = frozenset()) -> None:
        self.unrequested_too = unrequested_too
        self.ignored = ignored

    def under(self, quirks: frozenset[str]) -> PodFitsResources:
        """Return the check with these quirks in force."""
        too = "unrequested-resources-checked" in quirks
        if too is self.unrequested_too:
            return self
        return PodFitsResources(unrequested_too=too, ignored=self.ignored)

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Fail with one ``Insufficient NAME`` for each resource that is insufficient."""
        codes: Codes | None = None
        if pod.requests_nothing:
            short = view.allocatable[3:] < view.used[3:4] + 1
        else:
            short = view.allocatable < view.used[:4] + pod.request[:, None]
            if not self.unrequested_too:
                short &= pod.request[:, None] > 0
        if short.any():
            for row, name in REPORT_ORDER[: 1 if pod.requests_nothing else 4]:
                mask = short[0 if pod.requests_nothing else row]
                codes = view.reasons.merge(codes, failing(mask, view, f"{INSUFFICIENT}{name}").codes)
        for name, amount in pod.scalar_request:
            if name in self.ignored or (not amount and not self.unrequested_too):
                continue
            mask = view.take(view.columns.scalar(name)) < view.scalar_used(name) + amount
            codes = view.reasons.merge(codes, failing(mask, view, f"{INSUFFICIENT}{name}").codes)
        if pod.demand is not None:
            mask = _crowded(pod, pod.demand, view)
            codes = view.reasons.merge(codes, failing(mask, view, f"{INSUFFICIENT}{ON_ONE_DEVICE}").codes)
        return FITS if codes is None else PredicateResult(codes)


def _crowded(pod: PodInfo, demand: DeviceDemand, view: View) -> BoolVector:
    """Return where the sum of the free shares suffices but no single device does, ``(R,) bool``."""
    found = view.cluster.device_room
    devices, idle, largest = (view.take(one) for one in (found.devices, found.idle, found.largest))
    changed = [row for row in _rows_with_demands(view) if devices[row]]
    if changed:
        idle, largest = idle.copy(), largest.copy()
        for row in changed:
            idle[row], largest[row] = room(int(devices[row]), _demands(view, row))
    short = (devices > 0) & ((idle < demand.devices) | (largest < demand.share))
    wanted = {name: amount for name, amount in pod.scalar_request if name in (SHARE, COUNT)}
    for name, amount in wanted.items():
        short &= view.take(view.columns.scalar(name)) >= view.scalar_used(name) + amount
    return short


def _rows_with_demands(view: View) -> set[int]:
    """Return the rows where pods with shared devices were added or removed."""
    if view.rows is None:
        return set()
    changes = view.changes
    taken = {row for row, pods in changes.removed.items() if any(p.info.demand for p in pods.values())}
    return taken | {
        row for row, pods in changes.added.items() if any(p.info.demand for p, _ in pods.values())
    }


def _demands(view: View, row: int) -> list[DeviceDemand]:
    """Return the demands for shared devices of the pods on a row."""
    removed, added = view.changes.removed.get(row, {}), view.changes.added.get(row, {})
    there = view.cluster.residents[view.node(row)]
    pods = [*(p for key, p in there.items() if key not in removed), *(p for p, _ in added.values())]
    return [pod.info.demand for pod in pods if pod.info.demand is not None]


class HostName:
    """The node that the manifest itself asks for (predicates.PodFitsHost)."""

    scope = Scope.OBJECTS
    reads = Reads(node=("name",))
    reason = "node(s) didn't match the requested hostname"

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Fail on every node other than ``spec.nodeName``; a pending pod names none."""
        wanted = state.pod.node_name
        if not wanted:
            return FITS
        node = view.columns.index.get(wanted, -1)
        return failing(view.take(np.arange(view.columns.size)) != node, view, self.reason)


class PodFitsHostPorts:
    """Host ports not taken on the node (predicates.PodFitsHostPorts)."""

    scope = Scope.NODE
    reads = Reads(pod=("containers",), objects=("Pod",))
    reason = "node(s) didn't have free ports for the requested pod ports"

    def __init__(self, *, as_a_set: bool = True) -> None:
        self.as_a_set = as_a_set

    def under(self, quirks: frozenset[str]) -> PodFitsHostPorts:
        """Return the check with these quirks in force."""
        as_a_set = "ports-are-a-set" in quirks
        return self if as_a_set is self.as_a_set else PodFitsHostPorts(as_a_set=as_a_set)

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Fail where one of the pod's ports conflicts with one in use."""
        if not pod.ports:
            return FITS
        index = view.cluster.port_nodes
        nodes = {node for port in pod.ports for node in index.get(port[1:], ())}
        taken = np.zeros(view.size, np.bool_)
        for row in {*view.row_numbers(nodes), *view.changes.uses}:
            use = view.use(row)
            if use is not None:
                taken[row] = ports_conflict(pod.ports, use.ports if self.as_a_set else use.holders)
        return failing(taken, view, self.reason)


class MatchNodeSelector:
    """``spec.nodeSelector`` and required node affinity (predicates.PodMatchNodeSelector)."""

    scope = Scope.OBJECTS
    reads = Reads(pod=("node_selector", "affinity"), node=("name", "labels"))
    reason = "node(s) didn't match node selector"

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Fail where the node's labels or fields do not match."""
        spec = pod.fields
        if not spec.node_selector and (spec.affinity is None or spec.affinity.node_required is None):
            return FITS
        return narrowed(view.memo(("node-selector", pod.number), lambda: self._codes(pod, view)), view)

    def _codes(self, pod: PodInfo, view: View) -> Codes | None:
        fits = required_mask(pod.fields, view.columns)
        return None if fits.all() else np.where(fits, np.int16(0), np.int16(view.reasons.code(self.reason)))


MEMBERS: tuple[Predicate, ...] = (PodFitsResources(), HostName(), PodFitsHostPorts(), MatchNodeSelector())


class GeneralPredicates:
    """The four members, always all of them, reasons appended (predicates.GeneralPredicates)."""

    scope = Scope.NODE

    def __init__(self, members: tuple[Predicate, ...] = MEMBERS) -> None:
        self.members = members
        self.reads = reduce(or_, (member.reads for member in members))

    def under(self, quirks: frozenset[str]) -> GeneralPredicates:
        """Return the check with these quirks in force."""
        members = tuple(in_variant(member, quirks) for member in self.members)
        same = all(one is other for one, other in zip(members, self.members))
        return self if same else GeneralPredicates(members)

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:
        """Merge the members' reasons row by row."""
        codes: Codes | None = None
        for member in self.members:
            codes = view.reasons.merge(codes, member(pod, view, state).codes)
        return FITS if codes is None else PredicateResult(codes)


def passing_over(predicate: Predicate, resources: frozenset[str]) -> Predicate:
    """Return a predicate that does not check these extended resources (ignoredByScheduler of an extender)."""
    if not resources:
        return predicate
    if isinstance(predicate, PodFitsResources):
        return PodFitsResources(unrequested_too=predicate.unrequested_too, ignored=resources)
    if isinstance(predicate, GeneralPredicates):
        return GeneralPredicates(tuple(passing_over(member, resources) for member in predicate.members))
    return predicate


_EVENTS = (
    "pod-add-general",
    "pod-came-general",
    "pod-update-requests",
    "pod-update-ports",
    "pod-delete-general",
    "node-update-general",
)

RULES = (
    Rule(
        key="GeneralPredicates",
        check=GeneralPredicates(),
        text=(
            "PodFitsResources, HostName, PodFitsHostPorts and MatchNodeSelector as one: all four "
            "are asked, and every reason counts."
        ),
        v1_11=OrderPlace(30, "Most pods that do not fit fail here, and its members cost little."),
        default=True,
        identity=("nodeName",),
        members=("PodFitsResources", "HostName", "PodFitsHostPorts", "MatchNodeSelector"),
        invalidated_by=(
            *_EVENTS,
            "pod-add-general-key",
            "pod-update-requests-key",
            "pod-delete-general-key",
            "node-update-general-key",
        ),
    ),
    Rule(
        key="HostName",
        check=HostName(),
        text="The node is the one that the pod names in spec.nodeName.",
        v1_11=OrderPlace(40, "A member of GeneralPredicates: one comparison, and at most one node is left."),
        proposal=OrderPlace(20, "A pod that names its node is settled by one comparison.", "PodFitsHost"),
        plugin=FilterPlugin("NodeName"),
        identity=("nodeName",),
        reasons=(Reason(HostName.reason, resolvable=False, finding=NO_CHANGE),),
        invalidated_by=_EVENTS,
    ),
    Rule(
        key="PodFitsHostPorts",
        check=PodFitsHostPorts(),
        other_names=("PodFitsPorts",),
        text="No pod on the node holds a host port that this pod wants (address, protocol and port).",
        v1_11=OrderPlace(50, "A member of GeneralPredicates: few pods ask for a port of the node."),
        proposal=OrderPlace(30, "The ports that the pod asks for are few and exact."),
        plugin=FilterPlugin("NodePorts"),
        reasons=(Reason(PodFitsHostPorts.reason, finding="host_ports"),),
        invalidated_by=_EVENTS,
    ),
    Rule(
        key="MatchNodeSelector",
        check=MatchNodeSelector(),
        text="The node's labels match the pod's nodeSelector and its required node affinity.",
        v1_11=OrderPlace(60, "A member of GeneralPredicates: reads the node's labels alone."),
        proposal=OrderPlace(40, "Labels are compared where there are nodes left.", "PodMatchNodeSelector"),
        plugin=FilterPlugin("NodeAffinity"),
        reasons=(Reason(MatchNodeSelector.reason, resolvable=False, finding="selector"),),
        invalidated_by=_EVENTS,
    ),
    Rule(
        key="PodFitsResources",
        check=PodFitsResources(),
        text=(
            "What the node's pods request and what this pod requests fit into the node's "
            "allocatable cpu, memory, ephemeral storage, extended resources and number of pods."
        ),
        v1_11=OrderPlace(70, "A member of GeneralPredicates: compares amounts, so it rules out less surely."),
        proposal=OrderPlace(
            50, "It compares ranges, not exact values, so it rules out less than those above."
        ),
        plugin=FilterPlugin("NodeResourcesFit"),
        reasons=(Reason(INSUFFICIENT, prefix=True, finding="insufficient"),),
        invalidated_by=_EVENTS,
    ),
)
