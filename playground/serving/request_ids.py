"""A name for each request, connection and run in the log, so that its lines can be found together.

A request may bring its name (``X-Request-ID``), as from a proxy, if it is short and plain; otherwise it is
given one. Its answer and its log lines have the name, and so has the run that it started: the name is in the
run's row, for a task computes whichever run is next. A WebSocket has a name for the connection, and beside it
the command and its id.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import MutableMapping
from typing import Any

from celery.signals import task_postrun, task_prerun
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars

from playground.serving.bodies import Application, Receive, Scope, Send

HEADER = b"x-request-id"
NAMED = {"http": "request_id", "websocket": "connection_id"}
ANSWERS = ("http.response.start", "websocket.accept")
_SANE = re.compile(rb"[A-Za-z0-9._-]{1,64}")


def request_id_of(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the name that a request brings, a new one where it brings none or one that is not sane."""
    given = next((value for name, value in headers if name == HEADER), b"")
    return given.decode() if _SANE.fullmatch(given) else secrets.token_hex(8)


class RequestIds:
    """An ASGI application that names what it hands to ``app``."""

    def __init__(self, app: Application) -> None:
        """Wrap ``app``."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Bind the name for the task of this request or connection, and send it with the answer."""
        if scope["type"] not in NAMED:
            await self.app(scope, receive, send)
            return
        name = request_id_of(scope["headers"])
        clear_contextvars()
        bind_contextvars(**{NAMED[scope["type"]]: name})

        async def named(message: MutableMapping[str, Any]) -> None:
            if message["type"] in ANSWERS:
                kept = [pair for pair in message.get("headers", ()) if pair[0].lower() != HEADER]
                message = {**message, "headers": [*kept, (HEADER, name.encode())]}
            await send(message)

        await self.app(scope, receive, named)


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
