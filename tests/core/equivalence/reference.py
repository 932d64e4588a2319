"""The cache as the proposal writes it down: three levels of maps, one entry at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class HostPredicate:
    """What a predicate said of one class on one node (proposal, section 2.1)."""

    fit: bool
    fail_reasons: tuple[str, ...]


@dataclass
class PlainCache:
    """``algorithmCache[node][predicate][equivalenceHash]``, and how often each pair was invalidated."""

    cache: dict[str, dict[str, dict[int, HostPredicate]]] = field(default_factory=dict)
    written: dict[tuple[str, str, int], int] = field(default_factory=dict)
    moved: dict[tuple[str, str], int] = field(default_factory=dict)

    def lookup(self, node: str, predicate: str, number: int) -> HostPredicate | None:
        """Return the entry if all three keys exist (section 2.2, PredicateWithECache)."""
        return self.cache.get(node, {}).get(predicate, {}).get(number)

    def update(self, node: str, predicate: str, number: int, found: HostPredicate, step: int) -> None:
        """Write an evaluated result back."""
        self.cache.setdefault(node, {}).setdefault(predicate, {})[number] = found
        self.written[node, predicate, number] = step

    def invalidate(self, node: str, predicates: Iterable[str]) -> int:
        """Delete the predicates' maps on one node: all classes lose their entries."""
        cleared = 0
        for predicate in predicates:
            cleared += len(self.cache.get(node, {}).pop(predicate, {}))
            self.moved[node, predicate] = self.moved.get((node, predicate), 0) + 1
        return cleared

    def remove_node(self, node: str) -> int:
        """Forget a node that left the cluster."""
        return sum(len(found) for found in self.cache.pop(node, {}).values())

    @property
    def size(self) -> int:
        """How many entries there are."""
        return sum(len(found) for by_predicate in self.cache.values() for found in by_predicate.values())
