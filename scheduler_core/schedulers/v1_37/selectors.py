"""Label selectors and node selector terms of manifests, compiled once and matched often."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.model import Requirement
from scheduler_core.kubernetes.names import check_key
from scheduler_core.kubernetes.selectors import holds, requirement_matches, valid

NAME_FIELD = "metadata.name"


class Selector(Struct, frozen=True):
    """A label selector: every requirement must hold. ``nothing``: the null selector, matches none."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    @property
    def empty(self) -> bool:
        """Whether it matches everything."""
        return not self.requirements and not self.nothing

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether the labels match."""
        for one in self.requirements:
            if not holds(one, labels.get(one.key)):
                return False
        return not self.nothing

    def extended(self, requirements: Sequence[Requirement]) -> Selector:
        """Return the selector with more requirements; the null selector stays null."""
        if self.nothing or not requirements:
            return self
        return Selector((*self.requirements, *requirements))


NOTHING = Selector(nothing=True)


def label_selector(selector: Mapping[str, Any] | None) -> Selector:
    """Compile a LabelSelector (metav1.LabelSelectorAsSelector); null matches nothing, empty everything."""
    if selector is None:
        return NOTHING
    return _label_selector(json.dumps(selector))


@lru_cache(maxsize=4096)
def _label_selector(text: str) -> Selector:
    selector = json.loads(text)
    pairs = [Requirement(k, "In", (v,)) for k, v in sorted((selector.get("matchLabels") or {}).items())]
    return Selector((*pairs, *map(requirement, selector.get("matchExpressions") or ())))


def map_selector(pairs: Mapping[str, str] | None) -> Selector:
    """Compile a plain map of labels (labels.Set.AsSelector)."""
    return Selector(tuple(Requirement(k, "In", (v,)) for k, v in sorted((pairs or {}).items())))


def requirement(expression: Mapping[str, Any]) -> Requirement:
    """Compile one expression."""
    return Requirement(expression["key"], expression["operator"], tuple(expression.get("values") or ()))


def is_equality(one: Requirement) -> bool:
    """Return whether a requirement admits one value of its label alone."""
    return one.operator == "In" and len(one.values) == 1


class NodeTerm(Struct, frozen=True):
    """A node selector term: expressions on labels and on fields.

    One without either matches nothing, nor does one that upstream cannot parse (LazyErrorNodeSelector).
    """

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()
    unusable: bool = False

    @property
    def empty(self) -> bool:
        """Whether it matches nothing."""
        return self.unusable or not (self.expressions or self.fields)

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Return whether a node of that name with those labels matches."""
        if self.empty:
            return False
        return all(requirement_matches(r, labels) for r in self.expressions) and all(
            field_holds(r, name) for r in self.fields
        )


def field_holds(field: Requirement, name: str) -> bool:
    """Evaluate an expression on fields: ``metadata.name`` with In or NotIn and one value is all there is."""
    return field_is_known(field) and holds(field, name)


def field_is_known(field: Requirement) -> bool:
    """Return whether an expression on fields is one that can hold."""
    return field.key == NAME_FIELD and field.operator in ("In", "NotIn") and len(field.values) == 1


def node_term(term: Mapping[str, Any]) -> NodeTerm:
    """Compile a NodeSelectorTerm."""
    expressions = tuple(map(requirement, term.get("matchExpressions") or ()))
    fields = tuple(map(requirement, term.get("matchFields") or ()))
    return NodeTerm(expressions, fields, not all(valid(r) and not check_key(r.key) for r in expressions))


def node_terms(selector: Mapping[str, Any] | None) -> tuple[NodeTerm, ...] | None:
    """Compile a NodeSelector, whose terms are alternatives; None if there is none."""
    if selector is None:
        return None
    return tuple(map(node_term, selector.get("nodeSelectorTerms") or ()))


class PreferredTerm(Struct, frozen=True):
    """A preferred node selector term with its weight."""

    weight: int
    term: NodeTerm


def preferred_terms(affinity: Mapping[str, Any]) -> tuple[PreferredTerm, ...]:
    """Compile the preferred terms of a NodeAffinity."""
    return tuple(
        PreferredTerm(int(p["weight"]), node_term(p.get("preference") or {}))
        for p in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    )
