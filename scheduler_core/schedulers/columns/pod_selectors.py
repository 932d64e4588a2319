"""Pod label selectors in the canonical form that the engine compares, hashes and evaluates."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.kubernetes.model import LabelSelector, Requirement
from scheduler_core.kubernetes.selectors import requirement_matches

Selector = tuple[Requirement, ...]
"""ANDed requirements; an empty tuple matches everything, ``None`` instead of one matches nothing."""


def compile_selector(selector: LabelSelector | None) -> Selector | None:
    """Convert a ``LabelSelector`` to requirements (metav1.LabelSelectorAsSelector); ``None`` stays so."""
    if selector is None:
        return None
    return compile_map(selector.match_labels) + tuple(
        Requirement(r.key, r.operator, tuple(sorted(set(r.values)))) for r in selector.match_expressions
    )


def compile_map(pairs: Mapping[str, str]) -> Selector:
    """Convert a label map, the selector of Services and ReplicationControllers, to requirements."""
    return tuple(Requirement(key, "In", (pairs[key],)) for key in sorted(pairs))


def matches(selector: Selector | None, labels: Mapping[str, str]) -> bool:
    """Return whether every requirement holds for ``labels``; ``None`` matches nothing."""
    if selector is None:
        return False
    return all(requirement_matches(requirement, labels) for requirement in selector)
