"""podstep's own annotations: how long pods run, when nodes fail, and what a user asks for.

=============================  ======================================================================
``podstep/run-seconds``        a pod's: from Running to its end; without it, it runs until it is deleted
``podstep/fails-at``           a node's: virtual seconds at which it stops responding
``podstep/recovers-at``        and at which it responds again
``podstep/release-seconds``    a node's: how long its kubelet still counts a pod that has ended, while it
                               cleans up; every scheduler counts it no more
``podstep/drain``              a node's: begins a drain, and goes with its end; ``true`` acts as ``kubectl
                               drain --ignore-daemonsets``, ``force`` as with ``--force``, too
``podstep/evict``              a pod's: what a client posts to its ``eviction`` subresource; it goes with
                               the answer
=============================  ======================================================================

:mod:`scheduler_core.cluster.v1_37.kubelet` has those that only kubelets read.
"""

from __future__ import annotations

import math
from functools import lru_cache

RUN = "podstep/run-seconds"
FAILS, RECOVERS = "podstep/fails-at", "podstep/recovers-at"
RELEASE = "podstep/release-seconds"
DRAIN, FORCE = "podstep/drain", "force"
EVICT = "podstep/evict"


@lru_cache(maxsize=4096)
def seconds(text: str) -> float | None:
    """Parse seconds, at least 0; return ``None`` if the text is no such number."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= 1e12 else None
