"""Hints of NodeAffinity (plugins/nodeaffinity/node_affinity.go)."""

from __future__ import annotations

from scheduler_core.v1_37.change import Manifest
from scheduler_core.v1_37.hints.common import answer, labels, metadata
from scheduler_core.v1_37.interface import Event, HintAnswer, HintContext, Registration
from scheduler_core.v1_37.pods import Pod
from scheduler_core.v1_37.selectors import NodeTerm, map_selector, node_terms


def _any_term(terms: tuple[NodeTerm, ...] | None, node: Manifest) -> bool:
    return terms is None or any(term.matches(metadata(node)["name"], labels(node)) for term in terms)


def node_matches(pod: Pod, node: Manifest) -> bool:
    """Return whether the pod's nodeSelector and required node affinity match the node."""
    return map_selector(pod.node_selector).matches(labels(node)) and _any_term(pod.node_required, node)


def _after_node_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    assert event.new is not None  # only registered for Add and Update
    added = (context.arguments("NodeAffinity").get("addedAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    if not _any_term(node_terms(added), event.new) or not node_matches(pod, event.new):
        return "QueueSkip"
    # Before the change only the pod's own terms are looked at.
    return answer(event.old is None or not node_matches(pod, event.old))


EVENTS = (Registration("Node", frozenset({"Add", "UpdateNodeLabel"}), _after_node_change),)
