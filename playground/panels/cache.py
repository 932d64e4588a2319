"""The equivalence cache in a cycle: the pod's class, the lookups, the invalidations and the stale hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playground.panels.surprises import batching
from playground.protocol.equivalence import CachedClassWire, InvalidationWire, StaleHitWire
from scheduler_core.record.cache_record import CacheRecord, Invalidated, ResultSource, StaleHit
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.schedulers.v1_11.equivalence.row import InvalidationRow
from scheduler_core.schedulers.v1_11.equivalence.rules import TABLE
from scheduler_core.settings.settings import Settings

ROWS: Mapping[str, InvalidationRow] = {row.id: row for row in TABLE}

OFF = (
    "The equivalence cache is off. It stores each predicate's result on each node for the first pod of a "
    "class and answers with it for the next ones, until an event makes it untrue. Choose a mode in the "
    "Policy tab, or write cache: sound into the SimulationSettings."
)
PREDICATES_SHOWN = 100  # per cycle
NAMES_SHOWN = 20  # predicates per invalidation
REASONS_SHOWN = 10  # per answer on one node
TEXT_SHOWN = 500  # characters of a text that quotes a bundle


def cut(text: str) -> str:
    """Return a text cut to the protocol's maximum length."""
    return text if len(text) <= TEXT_SHOWN else f"{text[: TEXT_SHOWN - 1]}…"


def first_reasons(reasons: Sequence[str]) -> list[str]:
    """Return the first reasons of an answer, and the number of the others."""
    shown = [cut(text) for text in reasons[:REASONS_SHOWN]]
    more = len(reasons) - len(shown)
    return [*shown, f"and {more:,} more"] if more else shown


def cache(cycle: Cycle, node_index: Mapping[str, int], settings: Settings) -> dict[str, Any]:
    """Return the protocol's ``cache`` part. ``settings`` are those in force, ``node_index`` is the wire's."""
    record = cycle.cache
    head = {
        "mode": settings.cache,
        "equivalenceClass": settings.equivalence_class,
        "audit": settings.audit,
        "staleWrites": settings.stale_writes,
    }
    if record is None:
        if release_record(cycle) is not None:
            return {**head, "why": batching(cycle), "gone": True}
        return {**head, "why": OFF}
    stats = record.stats
    return {
        **head,
        "class": _class(record),
        "bypass": cut(record.bypass),
        "hint": node_index[record.hint] if record.hint else None,
        "counts": record.counts.as_dict(),
        "totals": record.totals.as_dict(),
        "predicates": looked_up(cycle),
        "invalidations": [_invalidation(item, node_index, record.mode) for item in record.invalidations],
        "invalidationsCount": record.invalidations_count,
        "byRule": _most_first(record.by_rule),
        "stale": [_stale(hit, node_index) for hit in record.stale],
        "causes": _most_first(record.causes),
        "entries": stats.entries if stats else 0,
        "bytes": stats.bytes if stats else 0,
        "classes": stats.classes if stats else 0,
        "evictedClasses": stats.evicted_classes if stats else 0,
        "evictedEntries": stats.evicted_entries if stats else 0,
    }


def _class(record: CacheRecord) -> CachedClassWire | None:
    if record.hash is None:
        return None
    return {"hash": f"{record.hash:016x}", "name": cut(record.name), "members": record.members}


def looked_up(cycle: Cycle) -> list[list[Any]]:
    """Return ``[predicate, hits, misses, bypassed, not reached]`` in evaluation order, counted in nodes.

    Empty if no predicate ran. Batching does no lookups: what it evaluates counts as bypassed.
    """
    matrix, record = cycle.matrix, cycle.cache
    if matrix is None or record is None:
        return []
    order = matrix.order[:PREDICATES_SHOWN]
    if record.sources is None:
        reached = np.count_nonzero(matrix.codes[: len(order)] >= 0, axis=1).tolist()
        return [[name, 0, 0, count, len(cycle.nodes) - count] for name, count in zip(order, reached)]
    counted = [
        np.count_nonzero(record.sources[: len(order)] == source, axis=1).tolist()
        for source in (ResultSource.HIT, ResultSource.MISS, ResultSource.BYPASSED, ResultSource.NOT_REACHED)
    ]
    return [list(row) for row in zip(order, *counted, strict=True)]


def words_of(row: InvalidationRow, mode: str) -> str:
    """Return a description of an invalidation rule, in a sentence or two."""
    scope = next((scope.value for name, scope in row.scopes.items() if name == mode), "")
    condition = f", if {row.condition.text}" if row.condition.text else ""
    return f"{row.resource} {' or '.join(row.operations)}{condition}: {scope}. {row.why}"


def _invalidation(item: Invalidated, node_index: Mapping[str, int], mode: str) -> InvalidationWire:
    row = ROWS[item.rule]
    names = item.predicates
    return {
        "rule": item.rule,
        "words": words_of(row, mode),
        "source": row.source,
        "event": cut(item.event),
        "predicates": None if names is None else list(names[:NAMES_SHOWN]),
        "nodes": [node_index[name] for name in item.nodes],
        "nodesCount": item.count or None,  # null for a rule that does not apply to nodes
        "cleared": item.cleared,
        "during": item.during,
    }


def _stale(hit: StaleHit, node_index: Mapping[str, int]) -> StaleHitWire:
    return {
        "node": node_index[hit.node],
        "predicate": hit.predicate,
        "cached": first_reasons(hit.cached),
        "true": first_reasons(hit.true),
        "written": hit.written,
        "rule": hit.rule,
        "event": cut(hit.event),
        "cause": cut(hit.cause),
    }


def _most_first(counted: Mapping[str, int]) -> list[list[Any]]:
    rows: Sequence[tuple[str, int]] = sorted(counted.items(), key=lambda entry: (-entry[1], entry[0]))
    return [[cut(name), count] for name, count in rows]
