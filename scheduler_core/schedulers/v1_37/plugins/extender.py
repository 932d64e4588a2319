"""What a pod waits for that an extender rejected: anything (runtime.defaultEnqueueExtension)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.extender_calls import EXTENDER
from scheduler_core.schedulers.v1_37.plugins.declaration import EVERY_EVENT, Declared

PLUGIN = Declared(
    EXTENDER,
    "",
    events=EVERY_EVENT,
    until="a pod, a node, a volume, a claim or a class changes: an extender names no events",
)
