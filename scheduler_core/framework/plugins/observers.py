"""The observers that record plugins' own objects in virtual time. A new observer is a row here."""

from __future__ import annotations

from scheduler_core.framework.interface import Observer
from scheduler_core.framework.plugins.coscheduling.observer import PodGroupObserver

OBSERVERS: tuple[type[Observer], ...] = (PodGroupObserver,)

STATUS_ENTRIES = frozenset(name for observer in OBSERVERS for name in observer.entries)
"""The names of timeline entries about the status of plugins' own objects."""

TRACE_FIELDS: dict[str, None] = {name: None for observer in OBSERVERS for name in observer.fields}
"""The fields that their records add to each line of a trace; ``None`` if nothing was recorded."""
