"""The actions by name: what a session does, in the order of the configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.schedulers.kube_batch.actions.allocate import allocate
from scheduler_core.schedulers.kube_batch.actions.backfill import backfill
from scheduler_core.schedulers.kube_batch.actions.preempt import preempt
from scheduler_core.schedulers.kube_batch.actions.reclaim import reclaim
from scheduler_core.schedulers.kube_batch.session import Session

ACTIONS: Mapping[str, Callable[[Session], None]] = {
    "allocate": allocate,
    "backfill": backfill,
    "preempt": preempt,
    "reclaim": reclaim,
}
