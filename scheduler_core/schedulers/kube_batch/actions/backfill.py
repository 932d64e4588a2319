"""``backfill``: place tasks that request nothing (backfill.Execute)."""

from __future__ import annotations

import numpy as np

from scheduler_core.schedulers.kube_batch.model import PENDING
from scheduler_core.schedulers.kube_batch.session import Session


def backfill(session: Session) -> None:
    """Allocate every pending task without requests to the first node on which the predicates pass.

    Neither queues nor scores count. A gang is dispatched only once it is ready, as ever.
    """
    for job in session.jobs.values():
        for task in job.of(PENDING):
            if not task.init_request.empty:
                continue
            passing = session.passing(task)
            rows = np.flatnonzero(passing).tolist()
            session.observe_nodes(task, passing, passing, rows[0] if rows else -1)
            for row in rows:
                if session.allocate(task, row):
                    break
