"""What a test says to a running server: requests as another program would make them, and protocol frames."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

#: A machine that is busy with other tests is slow: nothing here waits for less.
PATIENCE = 90.0
#: Never by the proxy of the environment: everything asked is on this machine.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, headers, a body, and the address that redirects led to."""

    status: int
    fields: Sequence[tuple[str, str]]
    body: bytes
    url: str

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers by their names in small letters, of those that came twice the last."""
        return {name.lower(): value for name, value in self.fields}

    @property
    def json(self) -> Any:
        """The body read as JSON."""
        return json.loads(self.body)


def request(method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
    """Send a request, a body that is no bytes as JSON; every status is an answer, also an error."""
    sent = dict(headers or {})
    data: bytes | None = body
    if body is not None and not isinstance(body, bytes):
        data = json.dumps(body).encode()
        sent.setdefault("Content-Type", "application/json")
    asked = urllib.request.Request(url, data=data, headers=sent, method=method)
    try:
        with DIRECT.open(asked, timeout=PATIENCE) as answer:
            return Answer(answer.status, answer.headers.items(), answer.read(), answer.url)
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers.items(), error.read(), error.url)


class CommandError(AssertionError):
    """The server answered a command with an error frame."""

    def __init__(self, command: str, payload: dict[str, Any]) -> None:
        super().__init__(f"{command}: {payload}")
        self.code = payload.get("code")


class Socket:
    """A connection to ``/ws/``: numbers its commands and keeps what is pushed between the answers."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.pushed: list[tuple[str, Any]] = []
        self._last = 0

    def call(self, command: str, payload: dict[str, Any] | None = None, *, timeout: float = PATIENCE) -> Any:
        """Send a command and return its answer's payload; an error frame raises CommandError."""
        self._last += 1
        number = self._last
        self.connection.send(json.dumps([command, number, payload or {}]))
        while True:
            kind, answered, result = json.loads(self.connection.recv(timeout=timeout))
            if answered is None:
                self.pushed.append((kind, result))
            elif answered == number:
                if kind != "success":
                    raise CommandError(command, result)
                return result

    def push(self, name: str, *, timeout: float = PATIENCE) -> Any:
        """Return the payload of the next pushed frame of that name."""
        while True:
            for i, (kind, payload) in enumerate(self.pushed):
                if kind == name:
                    del self.pushed[i]
                    return payload
            kind, answered, payload = json.loads(self.connection.recv(timeout=timeout))
            if answered is None:
                self.pushed.append((kind, payload))


@contextmanager
def open_socket(base_url: str, headers: Mapping[str, str] | None = None) -> Iterator[Socket]:
    """Connect to ``/ws/`` as a page of the same server does, or of the ``Origin`` among the headers."""
    sent = dict(headers or {})
    address = base_url.replace("http", "ws", 1) + "/ws/"
    with connect(
        address,
        origin=Origin(sent.pop("Origin", base_url)),
        additional_headers=sent,
        open_timeout=PATIENCE,
        ping_interval=None,  # as browsers, which ask for no sign of life
        proxy=None,
        max_size=64 << 20,
    ) as connection:
        yield Socket(connection)
