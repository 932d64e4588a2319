"""The two queues of runs, the task that they deliver, and which worker serves which queue.

Short runs have a process that never computes a long one. The worker of long runs takes short ones too: each
ends, or is requeued as a long one, within ``SHORT_SECONDS``.
"""

from __future__ import annotations

SHORT, LONG = "short", "long"
QUEUES = (SHORT, LONG)

RUN_TASK = "playground.run_simulation"
"""Name of the task that computes a run: senders use the name, and only the worker imports the task."""

DELIVER_TASK = "playground.deliver"
"""Name of the task that sends what is due to other servers, such as scores to learning platforms."""

DELIVER_SECONDS = 60
"""Between two looks for what is due."""

WORKERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("worker", (LONG, SHORT)),
    ("worker-short", (SHORT,)),
)
"""Each worker's name, as a process of one machine and as a service of docker-compose.yml, and its queues."""


def all_queues() -> list[str]:
    """Return the names of all queues, which a worker serves by default."""
    return list(QUEUES)
