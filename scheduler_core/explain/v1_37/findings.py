"""Findings for the reasons that only kube-scheduler v1.37 has: topology spread and devices.

The facts are what v1.37's plugins counted for the attempt. The changes are proposals, which v1.37 verifies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.cluster.controllers.daemon_admission import daemon_node
from scheduler_core.explain.edits import Edit, is_daemon
from scheduler_core.explain.labels import IDENTITY, set_labels
from scheduler_core.explain.rules import Finding, PodOnNode
from scheduler_core.kubernetes.manifests import Manifest, part
from scheduler_core.schedulers.v1_37.device_supplies import (
    SelectorRefusal,
    Supply,
    matching_attributes,
    supplies,
)
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.plugins.dynamic_resources import (
    NOT_ALLOCATED,
    DeviceState,
    DynamicResources,
)
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import HARD, NO_LABEL, SKEWED, SOFT
from scheduler_core.schedulers.v1_37.spread_counts import SpreadCounts, skews, spread_counts

DOMAINS_NAMED = 8
DEVICES_NAMED = 6
MOST_SELECTORS, MOST_EXPRESSION = 3, 120
"""Selectors that are named for a request, and characters of each expression."""

CONSTRAINTS = "topologySpreadConstraints"
NOT_NAMED = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
A_DOMAIN = "a"  # where no node has the label, any value makes a domain


def _context(place: PodOnNode) -> Context:
    standing: Any = place.standing  # a V1_37Standing, whose module imports these findings
    context: Context = standing.context
    return context


def _row(place: PodOnNode) -> int:
    row = _context(place).nodes.row(place.node.meta.name)
    assert row is not None
    return row


def skew(place: PodOnNode) -> Finding:
    """Report the counts of each constraint that refuses the node, and change the first one or the node."""
    context = _context(place)
    counts = place.standing.once("spread counts", lambda: spread_counts(context))
    refusing = skews(context, _row(place))
    details = tuple(
        text for index, value, by in refusing for text in _count_sentences(counts[index], value, by)
    )
    if not refusing:
        details = ("with the pods that are nominated to the node, its domain would have too many",)
    elif not context.pod.spec.get(CONSTRAINTS):
        details += ("the constraint is a default one of the KubeSchedulerConfiguration",)
    options = tuple(
        option for index, value, by in refusing for option in _options(place, counts, index, value, by)
    )
    return Finding(details, options)


def _count_sentences(counts: SpreadCounts, value: str | None, by: int) -> Iterator[str]:
    if value is None:
        yield f"the node has no label {counts.key}, by which the pods are spread"
        return
    itself = ", this one included," if counts.counts_itself else ""
    pods = _counted(by + counts.least, "pod")
    yield (
        f"{counts.key}={value} would have {pods}{itself} that the constraint counts: "
        f"{by} more than the fewest of a domain, {counts.least}; maxSkew is {counts.max_skew}"
    )
    if counts.number < counts.min_domains:
        yield (
            f"there are {counts.number} domains, fewer than minDomains {counts.min_domains}: "
            "then the fewest is taken to be 0"
        )
    listed = ", ".join(f"{one.value} {one.pods:,}" for one in counts.domains[:DOMAINS_NAMED])
    more = f" and {counts.number - DOMAINS_NAMED:,} more domains" if counts.number > DOMAINS_NAMED else ""
    yield f"pods that it counts by {counts.key}: {listed}{more}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _options(
    place: PodOnNode, counts: tuple[SpreadCounts, ...], index: int, value: str | None, by: int
) -> Iterator[tuple[Edit, ...]]:
    one = counts[index]
    if value is None:
        if one.key != IDENTITY:
            yield (set_labels(place, {one.key: one.domains[0].value if one.domains else A_DOMAIN}),)
        yield from _given_up(place, index)
        return
    for field, was in zip(("nodeAffinityPolicy", "nodeTaintsPolicy"), one.policies):
        if was == "Ignore":
            yield from _constraint(place, index, f"set {field}: Honor", {field: "Honor"}, 0.0)
    if one.number < one.min_domains:
        yield from _constraint(place, index, f"set minDomains: {one.number}", {"minDomains": one.number}, 0.1)
    yield from _constraint(place, index, f"set maxSkew: {by}", {"maxSkew": by}, 0.2)
    yield from _given_up(place, index)


def _given_up(place: PodOnNode, index: int) -> Iterator[tuple[Edit, ...]]:
    changed = {"whenUnsatisfiable": SOFT, "minDomains": None}
    yield from _constraint(place, index, f"set whenUnsatisfiable: {SOFT}", changed, 0.3)


def _constraint(
    place: PodOnNode, index: int, words: str, changed: Mapping[str, object], size: float
) -> Iterator[tuple[Edit, ...]]:
    """Yield an edit of the pod's hard constraint number ``index``; none if it is a default one."""
    own = _context(place).pod.spec.get(CONSTRAINTS) or ()
    places = [at for at, entry in enumerate(own) if entry["whenUnsatisfiable"] == HARD]
    if index >= len(places):
        return
    at = places[index]

    def mutate(document: Manifest) -> None:
        entry = part(document, "spec")[CONSTRAINTS][at]
        for field, value in changed.items():
            if value is None:
                entry.pop(field, None)
            else:
                entry[field] = value

    text = f"{words} in the pod's spread constraint on {own[at]['topologyKey']}"
    yield (place.edit_pod(text, "affinity", mutate, size=size),)


def devices(place: PodOnNode) -> Finding:
    """Report how many devices the node has for each request of the claims, and how many of them are free."""
    context = _context(place)
    state: DeviceState | None = context.states.get(DynamicResources.key)
    if state is None or state.allocator is None:
        return Finding()
    claims = state.to_allocate(context.nodes.nodes[_row(place)].manifest)
    found = list(supplies(state.allocator, claims, place.node.meta.name, place.node.meta.labels))
    details = [text for alternatives in found for supply in alternatives for text in _sentences(supply)]
    if found and all(any(supply.is_enough for supply in alternatives) for alternatives in found):
        details.append(_together(len(found), matching_attributes(claims)))
    return Finding(tuple(details))


def _sentences(supply: Supply) -> Iterator[str]:
    """Yield what the node has for a request and, if that is too little, what is against each device."""
    yield _asked(supply)
    if supply.is_enough:
        return
    yield from (f"device {one.device}: {one.why}" for one in supply.obstacles[:DEVICES_NAMED])
    more = len(supply.obstacles) - DEVICES_NAMED
    if more > 0:
        yield f"and {_counted(more, 'more device')} that cannot be taken"


def _together(requests: int, attributes: Sequence[str]) -> str:
    """Return what keeps devices that are enough for each request alone from being allocated."""
    others = "together with the other requests " if requests > 1 else ""
    text = f"each request alone has enough free devices, but {others}no allocation is found"
    if not attributes:
        return text
    listed = " and ".join(f"matchAttribute {name}" for name in attributes)
    noun, whose = ("constraint", "its") if len(attributes) == 1 else ("constraints", "their")
    return f"{text}: the {noun} {listed} must hold for all devices of {whose} requests"


def _asked(supply: Supply) -> str:
    request = supply.request
    wanted = "all devices" if request.takes_all else _counted(request.count, "device")
    failing = f"; a selector fails on a device: {supply.problem}" if supply.problem else ""
    return (
        f"claim {request.claim_name}, request {request.name}: {wanted} of class "
        f"{request.entry.get('deviceClassName')}; {_there(supply)}{_refused(supply)}{failing}"
    )


def _there(supply: Supply) -> str:
    if supply.selected:
        return f"the node has {supply.selected:,}, {supply.free:,} of them free"
    if not supply.reached:
        return "the node reaches no devices"
    return f"none of the node's {_counted(supply.reached, 'device')} is selected"


def _refused(supply: Supply) -> str:
    """Return which selectors refuse how many devices, if the request cannot be served."""
    if supply.is_enough:
        return ""
    shown = "".join(map(_refusal, supply.refusals[:MOST_SELECTORS]))
    more = len(supply.refusals) - MOST_SELECTORS
    return shown + (f"; {_counted(more, 'more selector')} refuse others" if more > 0 else "")


def _refusal(refusal: SelectorRefusal) -> str:
    owner, number, expression = refusal.selector
    text = expression if len(expression) <= MOST_EXPRESSION else f"{expression[:MOST_EXPRESSION]}…"
    return f"; selector #{number} of {owner} refuses {refusal.devices:,}, such as {refusal.example}: {text}"


def pinned(place: PodOnNode) -> Finding:
    """Report the node that a DaemonSet's pod is for: its controller names it, and no other will do."""
    pod = place.standing.pod.pod
    if not is_daemon(pod) or pod.meta.controller is None:
        return Finding()
    owner = f"DaemonSet {pod.meta.namespace}/{pod.meta.controller.name}"
    return Finding(
        (f"the pod is for node {daemon_node(pod)} alone: the controller of {owner} pins it there",)
    )


V1_37_FINDINGS: Mapping[str, Callable[[PodOnNode], Finding]] = {
    SKEWED.text: skew,
    NO_LABEL.text: skew,
    NOT_ALLOCATED.text: devices,
    NOT_NAMED: pinned,
}
"""By the reason, word for word."""

SEARCHED = frozenset({SKEWED.text, NO_LABEL.text})
"""The reasons whose findings propose changes."""
