"""DefaultBinder: writes the node to the pod, in ``claim_binder.py``."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.plugins.declaration import Declared

PLUGIN = Declared(
    "DefaultBinder",
    "bind",
    rank=190,
    otherwise="Bind writes the node to the pod",
)
