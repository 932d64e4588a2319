"""NodeAffinity: node selector, required and preferred node affinity, and the profile's added affinity."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from scheduler_core.schedulers.v1_37.nodes import Mask, Nodes
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
from scheduler_core.schedulers.v1_37.pods import Pod
from scheduler_core.schedulers.v1_37.selectors import (
    NAME_FIELD,
    NodeTerm,
    PreferredTerm,
    Requirement,
    field_is_known,
    node_terms,
    preferred_terms,
)

_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_CONFLICT = unresolvable("pod affinity terms conflict")
_ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")
_UNMATCHED = unresolvable("node(s) didn't match Pod's node affinity/selector")


@dataclass(frozen=True)
class Added:
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


def term_mask(nodes: Nodes, term: NodeTerm) -> Mask:
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


def terms_mask(nodes: Nodes, terms: tuple[NodeTerm, ...]) -> Mask:
    """Evaluate alternatives for all rows; (capacity,) bool."""
    out = np.zeros(nodes.capacity, np.bool_)
    for term in terms:
        out |= term_mask(nodes, term)
    return out


def selected(nodes: Nodes, pod: Pod) -> Mask | None:
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
        return OK if any(affinity.get(_PREFERRED) is not None for affinity in affinities) else SKIPPED

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


PLUGIN = NodeAffinity()
