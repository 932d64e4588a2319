"""PrioritySort: the order of the active queue, which ``queue.py`` keeps."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.plugins.declaration import Declared

PLUGIN = Declared(
    "PrioritySort",
    "queueSort",
    rank=20,
    otherwise="Orders the queue by priority, then by the time of the last attempt",
)
