"""kube-scheduler v1.37: the plugins as their modules declare them, from which other releases differ."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.batches import OpportunisticBatching
from scheduler_core.schedulers.v1_37.dialect import Dialect
from scheduler_core.schedulers.v1_37.plugins.table import ROWS

DIALECT = Dialect(name="v1.37", rows=ROWS, batching=OpportunisticBatching)
