"""The observers that record plugins' own objects in virtual time, from the table of plugins."""

from __future__ import annotations

from scheduler_core.framework.interface import Observer
from scheduler_core.framework.plugins.table import FRAMEWORK_PLUGINS

OBSERVERS: tuple[type[Observer], ...] = tuple(
    entry.observer for entry in FRAMEWORK_PLUGINS if entry.observer is not None
)

STATUS_ENTRIES = frozenset(name for observer in OBSERVERS for name in observer.entries)
"""The names of timeline entries about the status of plugins' own objects."""

TRACE_FIELDS: dict[str, None] = {name: None for observer in OBSERVERS for name in observer.fields}
"""The fields that their records add to each line of a trace; ``None`` if nothing was recorded."""
