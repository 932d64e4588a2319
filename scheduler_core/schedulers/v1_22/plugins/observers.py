"""The observers that record plugins' own objects in virtual time, from the table of plugins."""

from __future__ import annotations

from typing import Any

from scheduler_core.schedulers.v1_22.interface import Observer
from scheduler_core.schedulers.v1_22.plugins.table import FRAMEWORK_PLUGINS

OBSERVERS: tuple[type[Observer], ...] = tuple(
    entry.observer for entry in FRAMEWORK_PLUGINS if entry.observer is not None
)

STATUS_ENTRIES = frozenset(name for observer in OBSERVERS for name in observer.entries)
"""The names of timeline entries about the status of plugins' own objects."""

TRACE_FIELDS: dict[str, Any] = {name: kind for each in OBSERVERS for name, kind in each.fields.items()}
"""The fields that their records add to each line of a trace, with their types; null: nothing was recorded."""
