"""The names that log lines carry, so that those of one request, connection or run can be found together.

A web process binds the name of a request or connection (:mod:`playground.serving.request_ids`), and beside a
connection's the command and its id. A run keeps the name of what started it in its row, since a task computes
whichever run is next.
"""

from __future__ import annotations

from typing import Any

from celery.signals import task_postrun, task_prerun
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars


def bind_command(name: str, request: int) -> None:
    """Bind a command of a connection, for its own task."""
    bind_contextvars(command=name[:60], request=request)


def asked_by() -> str:
    """Return the name under which the work at hand was asked for, ``""`` where nobody did."""
    bound = get_contextvars()
    if "connection_id" in bound:
        return f"{bound['connection_id']}.{bound.get('request', '')}"
    return str(bound.get("request_id", ""))


@task_prerun.connect
def bind_task(task_id: str = "", **_: Any) -> None:
    """Bind the name of a task, in the worker."""
    clear_contextvars()
    bind_contextvars(task_id=task_id)


def bind_run(run_id: str, request_id: str) -> None:
    """Bind the run that a task computes, and the name of what started it."""
    bind_contextvars(run=run_id, **({"request_id": request_id} if request_id else {}))


@task_postrun.connect
def forget_task(**_: Any) -> None:
    """Leave nothing bound for the next task of the process."""
    clear_contextvars()
