"""Hints of NodeAffinity (plugins/nodeaffinity/node_affinity.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.hints.common import answer, labels, listed, metadata
from scheduler_core.schedulers.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.schedulers.v1_37.pods import Pod
from scheduler_core.schedulers.v1_37.selectors import NodeTerm, map_selector, node_terms

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _any_term(terms: tuple[NodeTerm, ...] | None, node: Manifest) -> bool:
    return terms is None or any(term.matches(metadata(node)["name"], labels(node)) for term in terms)


def node_matches(pod: Pod, node: Manifest) -> bool:
    """Return whether the pod's nodeSelector and required node affinity match the node."""
    return map_selector(pod.node_selector).matches(labels(node)) and _any_term(pod.node_required, node)


def _after_node_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    assert event.new is not None  # only registered for Add and Update
    added = (context.arguments("NodeAffinity").get("addedAffinity") or {}).get(_REQUIRED)
    if not _any_term(node_terms(added), event.new) or not node_matches(pod, event.new):
        return "QueueSkip"
    # Before the change only the pod's own terms are looked at.
    return answer(event.old is None or not node_matches(pod, event.old))


def _expression(one: Mapping[str, Any]) -> str:
    values = ", ".join(map(str, one.get("values") or ()))
    return f"{one.get('key')} {one.get('operator')}" + (f" ({values})" if values else "")


def _node_labels(pod: Pod) -> str:
    words = [f"{key}={value}" for key, value in pod.node_selector.items()]
    terms = (pod.node_affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    alternatives = []
    for term in terms:
        parts = [*(term.get("matchExpressions") or ()), *(term.get("matchFields") or ())]
        alternatives.append(" and ".join(map(_expression, parts)))
    words += [" or ".join(filter(None, alternatives))] if any(alternatives) else []
    return listed(words)


def _until(pod: Pod) -> str:
    asked = _node_labels(pod)
    which = f"with {asked}" if asked else "that the profile's added affinity selects"
    return f"a node {which} is added, or a node's labels change to that"


HINTS = Hints(
    "NodeAffinity", (Registration("Node", frozenset({"Add", "UpdateNodeLabel"}), _after_node_change),), _until
)
