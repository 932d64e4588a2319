"""The context of log lines, by which those of one request, connection or run can be found together.

A web process binds the ID of a request or connection (:mod:`playground.serving.request_ids`), and for a
connection also the command and its id. A run stores the ID of the request that started it in its row, because
a task computes whichever run is next.
"""

from __future__ import annotations

from typing import Any

from celery.signals import task_postrun, task_prerun
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars


def bind_command(name: str, request: int) -> None:
    """Bind a command of a connection, in the command's asyncio task."""
    bind_contextvars(command=name[:60], request=request)


def asked_by() -> str:
    """Return the ID of the request or command being processed, ``""`` without one."""
    bound = get_contextvars()
    if "connection_id" in bound:
        return f"{bound['connection_id']}.{bound.get('request', '')}"
    return str(bound.get("request_id", ""))


@task_prerun.connect
def bind_task(task_id: str = "", **_: Any) -> None:
    """Bind the id of a task, in the worker."""
    clear_contextvars()
    bind_contextvars(task_id=task_id)


def bind_run(run_id: str, request_id: str) -> None:
    """Bind the run that a task computes, and the ID of the request that started it."""
    bind_contextvars(run=run_id, **({"request_id": request_id} if request_id else {}))


@task_postrun.connect
def forget_task(**_: Any) -> None:
    """Clear the context before the next task of the process."""
    clear_contextvars()
