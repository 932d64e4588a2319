"""The plugins by name, each in its file with everything that it registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.schedulers.kube_batch.plugin import Registration
from scheduler_core.schedulers.kube_batch.plugins import (
    conformance,
    drf,
    gang,
    nodeorder,
    predicates,
    priority,
    proportion,
)
from scheduler_core.schedulers.kube_batch.session import Session

Open = Callable[[Session, Mapping[str, str]], Registration]

PLUGINS: Mapping[str, Open] = {
    "priority": priority.open_session,
    "gang": gang.open_session,
    "conformance": conformance.open_session,
    "drf": drf.open_session,
    "predicates": predicates.open_session,
    "proportion": proportion.open_session,
    "nodeorder": nodeorder.open_session,
}
"""What opens each plugin for a session, with its arguments (Plugin.OnSessionOpen)."""
