"""The cache of arrays answers as the proposal's three maps do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.schedulers.columns.reasons import FAILED_BY_ERROR, ReasonTable
from scheduler_core.schedulers.v1_11.equivalence.cache import ENTRY_BYTES, EquivalenceCache
from tests.core.equivalence.reference import HostPredicate, PlainCache
from tests.core.trials import trials

NODES = tuple(f"node-{number}" for number in range(6))
PREDICATES = ("GeneralPredicates", "PodFitsResources", "MatchInterPodAffinity")
HASHES = (7, 2**64 - 1, 1000392826, 42)
REASONS = ReasonTable()
CODES = (0, *(REASONS.code(text) for text in ("Insufficient cpu", "node(s) were not ready")))

some_nodes = st.lists(st.sampled_from(NODES), unique=True)
write = st.tuples(
    st.just("write"),
    st.sampled_from(HASHES),
    st.sampled_from(PREDICATES),
    st.lists(st.sampled_from((*CODES, FAILED_BY_ERROR)), min_size=len(NODES), max_size=len(NODES)),
    st.one_of(st.none(), some_nodes),
)
invalidate = st.tuples(
    st.just("invalidate"),
    st.one_of(st.none(), st.lists(st.sampled_from(PREDICATES), unique=True)),
    st.one_of(st.none(), some_nodes),
)
remap = st.tuples(st.just("remap"), st.lists(st.sampled_from(NODES), unique=True))
histories = st.lists(st.one_of(write, write, invalidate, remap), max_size=25)


class Both:
    """The two caches, given the same operations."""

    def __init__(self, **bounds: int) -> None:
        self.arrays = EquivalenceCache(NODES, **bounds)
        self.plain = PlainCache()
        self.step = 0

    def apply(self, operation: tuple) -> None:
        """Do it to both; what they count must be the same as long as nothing was evicted."""
        kind, *arguments = operation
        before = self.arrays.stats.evicted_classes
        one, other = getattr(self, f"_{kind}")(*arguments)
        if not before and not self.arrays.stats.evicted_classes:
            assert one == other

    def _rows(self, nodes: list[str] | None) -> tuple[list[str], np.ndarray | None]:
        if nodes is None:
            return list(self.arrays.nodes), None
        there = [node for node in nodes if self.arrays.row(node) >= 0]
        return there, np.array([self.arrays.row(node) for node in there], np.int64)

    def _write(
        self, number: int, predicate: str, codes: list[int], nodes: list[str] | None
    ) -> tuple[int, int]:
        self.step += 1
        there, rows = self._rows(nodes)
        found = codes[: len(there)]
        done = 0
        for node, code in zip(there, found):
            if code != FAILED_BY_ERROR:
                entry = HostPredicate(code == 0, REASONS.texts[code])
                self.plain.update(node, predicate, number, entry, self.step)
                done += 1
        vector = np.array(found, np.int16) if any(found) else None
        return self.arrays.write(number, predicate, vector, self.step, rows=rows), done

    def _invalidate(self, predicates: list[str] | None, nodes: list[str] | None) -> tuple[int, int]:
        there, rows = self._rows(nodes)
        keys = PREDICATES if predicates is None else predicates
        cleared = sum(self.plain.invalidate(node, keys) for node in there)
        return self.arrays.invalidate(predicates, rows), cleared

    def _remap(self, nodes: list[str]) -> tuple[int, int]:
        gone = set(self.arrays.nodes) - set(nodes)
        lost = sum(self.plain.remove_node(node) for node in gone)
        if tuple(nodes) != self.arrays.nodes:
            self.plain.moved.clear()
        return self.arrays.remap(nodes), lost

    def compare(self, *, exact: bool) -> None:
        """Ask both for every entry; where arrays were evicted they may know less, but nothing else."""
        for number in HASHES:
            for predicate in PREDICATES:
                codes, valid = self.arrays.lookup(number, predicate)
                for row, node in enumerate(self.arrays.nodes):
                    known = self.plain.lookup(node, predicate, number)
                    assert valid[row] == (known is not None) or not (exact or valid[row])
                    if valid[row]:
                        assert known == HostPredicate(bool(codes[row] == 0), REASONS.texts[codes[row]])
                        step = self.plain.written[node, predicate, number]
                        assert self.arrays.written(number, predicate, row) == step
                    else:
                        assert self.arrays.written(number, predicate, row) is None


@settings(max_examples=trials(80))
@given(histories)
def test_any_history_answers_as_the_three_maps_do(history: list[tuple]) -> None:
    """Whatever is written, invalidated and however the nodes change, every lookup is the plain cache's."""
    both = Both()
    for operation in history:
        both.apply(operation)
        both.compare(exact=True)
        assert both.arrays.stats.entries == both.plain.size
    for predicate in PREDICATES:
        moved = [both.plain.moved.get((node, predicate), 0) for node in both.arrays.nodes]
        assert both.arrays.generations(predicate).tolist() == moved


@settings(max_examples=trials(60))
@given(histories, st.integers(1, 3), st.integers(0, 8))
def test_a_small_cache_forgets_and_never_makes_up(history: list[tuple], classes: int, rows: int) -> None:
    """With too little room an answer may be missing; one that is there is right, and the bounds hold."""
    both = Both(max_classes=classes, max_bytes=rows * len(NODES) * ENTRY_BYTES)
    for operation in history:
        both.apply(operation)
        both.compare(exact=False)
        stats = both.arrays.stats
        assert stats.classes <= classes
        least = stats.predicates * len(both.arrays.nodes) * ENTRY_BYTES  # one class always stays
        assert stats.bytes <= max(both.arrays.max_bytes, least)
        assert stats.entries == len(both.arrays.entries(limit=1000)[0])
        assert stats.entries <= both.plain.size


def test_the_least_recently_used_class_goes_first() -> None:
    """A lookup keeps a class; the one that nobody asked for is evicted, and counted with its entries."""
    cache = EquivalenceCache(("a", "b"), max_classes=2)
    cache.write(1, "HostName", None, 1)
    cache.write(2, "HostName", None, 2)
    cache.lookup(1, "HostName")
    cache.write(3, "HostName", None, 3)
    assert cache.lookup(1, "HostName")[1].all() and cache.lookup(3, "HostName")[1].all()
    assert not cache.lookup(2, "HostName")[1].any()
    assert (cache.stats.evicted_classes, cache.stats.evicted_entries) == (1, 2)


def test_a_lookup_of_some_rows_is_that_of_all_rows_there() -> None:
    """Asking for two nodes gives their part of the vectors, in the order asked."""
    cache = EquivalenceCache(NODES)
    cache.write(1, "HostName", np.array([0, 2, 3, 0, 2, 3], np.int16), 1)
    cache.invalidate(["HostName"], np.array([4]))
    codes, valid = cache.lookup(1, "HostName", np.array([4, 2]))
    assert valid.tolist() == [False, True]
    assert codes[1] == 3


def test_what_is_looked_up_cannot_be_changed_by_accident() -> None:
    """The vectors of a whole lookup are the cache's own, and not to be written to."""
    cache = EquivalenceCache(NODES)
    cache.write(1, "HostName", None, 1)
    codes, valid = cache.lookup(1, "HostName")
    for vector in (codes, valid):
        with pytest.raises(ValueError, match="read-only"):
            vector[0] = 1


def test_a_result_that_an_event_overtook_is_not_written() -> None:
    """With generations from before the evaluation, rows invalidated since stay empty; else they are stale."""
    cache = EquivalenceCache(NODES)
    before = cache.generations("PodFitsResources")
    cache.invalidate(["PodFitsResources"], np.array([2]))
    cache.invalidate(None, np.array([5]))
    cache.invalidate(["HostName"], None)
    assert cache.write(1, "PodFitsResources", None, 1, generations=before) == 4
    assert cache.lookup(1, "PodFitsResources")[1].tolist() == [True, True, False, True, True, False]
    assert cache.write(1, "PodFitsResources", None, 1) == 6


def test_entries_are_browsed_by_node_predicate_and_class() -> None:
    """Each of the three keys, and any of them together, lists its entries, bounded, with the full count."""
    cache = EquivalenceCache(NODES)
    cache.write(7, "HostName", np.array([0, 2, 0, 0, 0, 0], np.int16), 3)
    cache.write(8, "HostName", None, 4, rows=np.array([1]))
    cache.write(8, "NoDiskConflict", None, 5, rows=np.array([0]))
    listed, total = cache.entries(limit=2)
    assert (len(listed), total) == (2, 8)
    assert cache.entries(predicate="HostName")[1] == 7
    assert cache.entries(predicate="Nothing") == ([], 0)
    assert cache.entries(node="elsewhere") == ([], 0)
    assert [entry.predicate for entry in cache.entries(number=8)[0]] == ["HostName", "NoDiskConflict"]
    on_node, _ = cache.entries(node="node-1")
    assert [(entry.hash, entry.code, entry.step, entry.node) for entry in on_node] == [
        (7, 2, 3, "node-1"),
        (8, 0, 4, "node-1"),
    ]


def test_nodes_are_followed_by_name() -> None:
    """Reordered nodes keep their entries, a new one has none, and one that comes back starts anew."""
    cache = EquivalenceCache(("a", "b", "c"))
    cache.write(1, "HostName", np.array([0, 2, 3], np.int16), 1)
    assert cache.remap(("c", "new", "a")) == 1
    codes, valid = cache.lookup(1, "HostName")
    assert valid.tolist() == [True, False, True]
    assert (codes[0], codes[2]) == (3, 0)
    cache.remap(("c", "new", "a", "b"))
    assert not cache.lookup(1, "HostName")[1][3]
