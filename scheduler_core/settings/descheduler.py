"""When the descheduler of a bundle runs, and with which options.

``SimulationSettings.descheduler`` starts it; the bundle's DeschedulerPolicy says what it does::

    descheduler:
      interval: 5m
      dryRun: false
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.durations import duration
from scheduler_core.kubernetes.label_query import parse_label_query
from scheduler_core.kubernetes.readers import At, Field, boolean, integer, outlined, record, text

DESCHEDULER_POLICY = "DeschedulerPolicy"
"""The kind of the document that says what the descheduler does."""
DESCHEDULE = "podstep/deschedule"
"""The annotation of a node that asks for a pass over the whole cluster now; it goes with the pass."""
MOST_PASSES = 1_000
SHORTEST = 1.0  # seconds between passes


def is_descheduler_policy(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a DeschedulerPolicy, of whatever version."""
    return document.get("kind") == DESCHEDULER_POLICY


class DeschedulerSettings(Struct, frozen=True):
    """Runs ``interval`` seconds apart, the first after one interval; ``passes`` is the most of them, 0 for
    those alone that operations ask for.

    The last three are flags of v0.9.0; ``most_per_node`` of 0 sets no limit.
    """

    interval: float = 300.0
    passes: int = 20
    dry_run: bool = False
    node_selector: str = ""
    most_per_node: int = 0
    evict_local_storage: bool = False

    @property
    def has_classic_flags(self) -> bool:
        """Whether a flag is set that only v0.9.0 has."""
        return bool(self.node_selector or self.most_per_node or self.evict_local_storage)


def _interval(value: Any, at: At) -> float | None:
    seconds = duration(value, at)
    if seconds is not None and seconds < SHORTEST:
        at.error(f"must be at least {SHORTEST:g}s, not {value!r}")
        return None
    return seconds


def _query(value: Any, at: At) -> str | None:
    query = text(value, at)
    try:
        parse_label_query(query or "")
    except ValueError as error:
        at.error(str(error))
        return None
    return query


outlined(_interval, duration)
outlined(_query, text)

read_descheduler = record(
    DeschedulerSettings,
    {
        "interval": Field("interval", _interval),
        "passes": Field("passes", integer(0, MOST_PASSES)),
        "dryRun": Field("dry_run", boolean),
        "nodeSelector": Field("node_selector", _query),
        "maxPodsToEvictPerNode": Field("most_per_node", integer(0)),
        "evictLocalStoragePods": Field("evict_local_storage", boolean),
    },
)
