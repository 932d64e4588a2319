"""NodeAffinity: node selector, required and preferred node affinity, and the profile's added affinity."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from msgspec import Struct

from scheduler_core.kubernetes.model import Requirement
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.interface import (
    ClusterEvent,
    ClusterEventWithHint,
    HintAnswer,
    HintContext,
)
from scheduler_core.schedulers.v1_37.nodes import Mask, NodeTable
from scheduler_core.schedulers.v1_37.plugins.base import (
    OK,
    SKIPPED,
    Codes,
    Context,
    Ints,
    Plugin,
    Rows,
    Status,
    default_normalize,
    unresolvable,
)
from scheduler_core.schedulers.v1_37.plugins.declaration import Argument, Declared, Reused
from scheduler_core.schedulers.v1_37.plugins.hints import answer, labels, listed, metadata
from scheduler_core.schedulers.v1_37.pod_spec import PREFERRED, REQUIRED
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import Arguments
from scheduler_core.schedulers.v1_37.selectors import (
    NAME_FIELD,
    NodeTerm,
    PreferredTerm,
    field_is_known,
    map_selector,
    node_terms,
    preferred_terms,
)

_CONFLICT = unresolvable("pod affinity terms conflict")
_ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")
_UNMATCHED = unresolvable("node(s) didn't match Pod's node affinity/selector")


class Added(Struct, frozen=True):
    """``addedAffinity`` of the plugin's arguments."""

    required: tuple[NodeTerm, ...] | None = None
    preferred: tuple[PreferredTerm, ...] = ()


def added_affinity(arguments: Mapping[str, Any]) -> Added:
    """Compile the plugin's arguments."""
    return _added(json.dumps(arguments["addedAffinity"])) if arguments.get("addedAffinity") else Added()


@lru_cache(maxsize=256)
def _added(text: str) -> Added:
    affinity = json.loads(text)
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return Added(node_terms(required), preferred_terms(affinity))


def term_mask(nodes: NodeTable, term: NodeTerm) -> Mask:
    """Evaluate a node selector term for all rows; (capacity,) bool."""

    def make() -> Mask:
        if term.empty:
            return np.zeros(nodes.capacity, np.bool_)
        out = np.ones(nodes.capacity, np.bool_)
        for requirement in term.expressions:
            out &= nodes.holds(requirement)
        for requirement in term.fields:
            if field_is_known(requirement):
                out &= nodes.holds(requirement)
            else:
                out[:] = False
        return out

    return nodes.mask(term, make)


def terms_mask(nodes: NodeTable, terms: tuple[NodeTerm, ...]) -> Mask:
    """Evaluate alternatives for all rows; (capacity,) bool."""
    out = np.zeros(nodes.capacity, np.bool_)
    for term in terms:
        out |= term_mask(nodes, term)
    return out


def selected(nodes: NodeTable, pod: CompiledPod) -> Mask | None:
    """Evaluate node selector and required affinity for all rows; None if the pod has neither."""
    if not pod.node_selector and pod.node_required is None:
        return None
    out = np.ones(nodes.capacity, np.bool_)
    for key, value in pod.node_selector.items():
        out &= nodes.holds(Requirement(key, "In", (value,)))
    if pod.node_required is not None:
        out &= terms_mask(nodes, pod.node_required)
    return out


class NodeAffinity(Plugin):
    """Node selector and node affinity."""

    key = "NodeAffinity"

    def pre_filter(self, ctx: Context) -> tuple[Status, frozenset[str] | None]:
        """Skip without requirements (empty ones are some); limit to the nodes if every term names some."""
        pod = ctx.pod
        added = added_affinity(ctx.arguments(self.key))
        if pod.spec.get("nodeSelector") is None and pod.node_required is None and added.required is None:
            return SKIPPED, None
        names = _named(pod.node_required or ())
        if names is not None and not names:
            return _CONFLICT, None
        return OK, names

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Refuse nodes that the added affinity (1) or the pod's own (2) does not match."""
        added = added_affinity(ctx.arguments(self.key)).required
        own = selected(ctx.nodes, ctx.pod)
        codes = np.zeros(len(rows), np.int64)
        if own is not None:
            codes[~own[rows]] = 2
        if added is not None:
            codes[~terms_mask(ctx.nodes, added)[rows]] = 1
        return codes

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return whose affinity it was."""
        del ctx, row
        return _ENFORCED if code == 1 else _UNMATCHED

    def pre_score(self, ctx: Context, rows: Rows) -> Status:
        """Skip without preferences; an empty list is one."""
        del rows
        affinities = (ctx.pod.node_affinity, ctx.arguments(self.key).get("addedAffinity") or {})
        return OK if any(affinity.get(PREFERRED) is not None for affinity in affinities) else SKIPPED

    def score(self, ctx: Context, rows: Rows) -> Ints:
        """Sum the weights of the matching terms."""
        preferred = (*added_affinity(ctx.arguments(self.key)).preferred, *ctx.pod.node_preferred)
        nodes = ctx.nodes

        def make() -> Ints:
            out = np.zeros(nodes.capacity, np.int64)
            for each in preferred:
                out[term_mask(nodes, each.term)] += each.weight
            return out

        return nodes.mask(("preferred", preferred), make)[rows]

    def normalize(self, ctx: Context, rows: Rows, raw: Ints) -> Ints:
        """Scale to the greatest sum."""
        del ctx, rows
        return default_normalize(raw)


def _named(terms: tuple[NodeTerm, ...]) -> frozenset[str] | None:
    """Return the nodes that the terms name; None if some term names none (GetAffinityNodeNames)."""
    union: frozenset[str] | None = None
    for term in terms:
        names: frozenset[str] | None = None
        for each in term.fields:
            if each.key == NAME_FIELD and each.operator == "In":
                values = frozenset(each.values)
                names = values if names is None else names & values
        if names is None:
            return None
        union = names if union is None else union | names
    return union


def _any_term(terms: tuple[NodeTerm, ...] | None, node: Manifest) -> bool:
    return terms is None or any(term.matches(metadata(node)["name"], labels(node)) for term in terms)


def node_matches(pod: CompiledPod, node: Manifest) -> bool:
    """Return whether the pod's nodeSelector and required node affinity match the node."""
    return map_selector(pod.node_selector).matches(labels(node)) and _any_term(pod.node_required, node)


def _after_node_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    assert event.new is not None  # only registered for Add and Update
    added = (context.arguments("NodeAffinity").get("addedAffinity") or {}).get(REQUIRED)
    if not _any_term(node_terms(added), event.new) or not node_matches(pod, event.new):
        return "QueueSkip"
    # Before the change only the pod's own terms are looked at.
    return answer(event.old is None or not node_matches(pod, event.old))


def _expression(one: Mapping[str, Any]) -> str:
    values = ", ".join(map(str, one.get("values") or ()))
    return f"{one.get('key')} {one.get('operator')}" + (f" ({values})" if values else "")


def _node_labels(pod: CompiledPod) -> str:
    words = [f"{key}={value}" for key, value in pod.node_selector.items()]
    terms = (pod.node_affinity.get(REQUIRED) or {}).get("nodeSelectorTerms") or ()
    alternatives = []
    for term in terms:
        parts = [*(term.get("matchExpressions") or ()), *(term.get("matchFields") or ())]
        alternatives.append(" and ".join(map(_expression, parts)))
    words += [" or ".join(filter(None, alternatives))] if any(alternatives) else []
    return listed(words)


def _until(pod: CompiledPod) -> str:
    asked = _node_labels(pod)
    which = f"with {asked}" if asked else "that the profile's added affinity selects"
    return f"a node {which} is added, or a node's labels change to that"


def _signed(pod: CompiledPod, arguments: Arguments) -> Any:
    """Return selector and affinity; the order of terms, expressions and values does not count."""
    del arguments
    affinity = (pod.spec.get("affinity") or {}).get("nodeAffinity")
    if affinity is None:
        return dict(pod.node_selector), None
    required = (affinity.get(REQUIRED) or {}).get("nodeSelectorTerms") or ()
    preferred = (
        json.dumps([int(row.get("weight") or 0), _signed_term(row.get("preference") or {})])
        for row in affinity.get(PREFERRED) or ()
    )
    return dict(pod.node_selector), sorted(map(_signed_term, required)), sorted(preferred)


def _signed_term(term: Mapping[str, Any]) -> str:
    rows = (
        [_signed_expression(row) for row in term.get(key) or ()]
        for key in ("matchExpressions", "matchFields")
    )
    return json.dumps([sorted(found) for found in rows])


def _signed_expression(row: Mapping[str, Any]) -> str:
    return json.dumps([row.get("key"), row.get("operator"), sorted(row.get("values") or ())])


PLUGIN = Declared(
    "NodeAffinity",
    "preFilter filter preScore score",
    rank=60,
    weight=2,
    filters="nodeSelector and the required node affinity match, and the profile's added affinity",
    prefers="nodes that preferred terms of node affinity select",
    formula="sum of the weights of matching terms; normalized by 100 · score / greatest",
    arguments=(
        Argument("addedAffinity", "affinity", text="applies to every pod beside its own node affinity"),
    ),
    events=(ClusterEventWithHint("Node", frozenset({"Add", "UpdateNodeLabel"}), _after_node_change),),
    until=_until,
    signs=_signed,
    reuse=Reused(filter="nodes", score="nodes"),
    code=NodeAffinity(),
)
