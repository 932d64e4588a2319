"""The two queues of runs, the task that they deliver, and which worker serves which.

Short runs have a process that never computes a long one. The worker of long runs takes short ones too: each
is over, or handed over, within ``SHORT_SECONDS``.
"""

from __future__ import annotations

SHORT, LONG = "short", "long"
QUEUES = (SHORT, LONG)

RUN_TASK = "playground.run_simulation"
"""Name of the task that computes a run: senders name it, and the worker alone imports it."""

WORKERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("worker", (LONG, SHORT)),
    ("worker-short", (SHORT,)),
)
"""Name of the worker, as process of one machine and as service of docker-compose.yml, and its queues."""


def all_queues() -> list[str]:
    """Return the names of all queues: what a worker serves that was not told otherwise."""
    return list(QUEUES)
