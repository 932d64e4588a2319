"""One HTTP call to an extender: a POST without redirects and proxies, bounded in bytes and in seconds.

A name is resolved once, its addresses are checked, and the connection goes to an address that was checked.
The seconds are those of the whole call, however slowly the other side answers.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as Unanswered
from functools import cached_property
from typing import Any

import httpcore
import httpx

from scheduler_core.schedulers.extenders.port import Reply, timed_out
from scheduler_core.schedulers.extenders.webhooks.allowlist import Approved

LONGEST_SECONDS = 10.0  # of one call, whatever httpTimeout is
MOST_BYTES = 4 * 1024 * 1024  # of one answer
MOST_SENT = 16 * 1024 * 1024  # bytes of one request
AT_ONCE = 4  # calls of one process
PIECE = 64 * 1024

#: What a call may raise for reasons of the other side or of the URL; ``httpx.InvalidURL`` is no HTTPError.
FAILURES = (
    *(httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol),
    *(httpx.HTTPError, httpx.InvalidURL, OSError, ValueError),
)
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity", "User-Agent": "podstep"}


class Webhooks:
    """The transport that calls approved URLs. Safe to use from several threads."""

    def __init__(
        self, approved: Approved, *, seconds: float = LONGEST_SECONDS, most_bytes: int = MOST_BYTES
    ) -> None:
        self.approved = approved
        self.seconds = seconds
        self.most_bytes = most_bytes
        self._turns = threading.BoundedSemaphore(AT_ONCE)
        self._resolvers = ThreadPoolExecutor(AT_ONCE, "resolve")

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        return ssl.create_default_context()

    def approves(self, url: str) -> bool:
        """Return whether a URL may be called."""
        return self.approved(url)

    def post(self, url: str, body: str, timeout: float, about: str) -> Reply:  # noqa: ARG002 -- the port's
        """Post JSON and return the reply, whatever happens; ``timeout`` is in seconds.

        An answer that is too long, compressed, or no UTF-8 is a failure.
        """
        started = time.monotonic()
        seconds = min(timeout, self.seconds)
        if not self._turns.acquire(timeout=seconds):
            return _failure(f"Post {url}: {AT_ONCE} other calls are still running", started)
        try:
            if not self.approved(url):  # whoever asks
                return _failure(f"Post {url}: the URL is not approved", started)
            if len(body.encode()) > MOST_SENT:
                return _failure(f"Post {url}: the request has more than {MOST_SENT:,} bytes", started)
            return self._call(url, body, started, started + seconds)
        except (httpcore.TimeoutException, httpx.TimeoutException, TimeoutError, Unanswered):
            return _failure(timed_out(url), started)
        except FAILURES as error:
            return _failure(f"Post {url}: {str(error)[:200] or type(error).__name__}", started)
        finally:
            self._turns.release()

    def _call(self, url: str, body: str, started: float, deadline: float) -> Reply:
        backend = _Backend(self.approved, deadline, self._resolvers)
        transport = _Transport(backend, self._trust if url.startswith("https") else None)
        client = httpx.Client(transport=transport, trust_env=False, follow_redirects=False)
        with client, client.stream("POST", url, content=body.encode(), headers=_HEADERS) as response:
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                return _failure(f"Post {url}: the answer is compressed, which was not asked for", started)
            content = bytearray()
            for piece in response.iter_raw(PIECE):
                content += piece
                if len(content) > self.most_bytes:
                    problem = f"the answer has more than {self.most_bytes:,} bytes"
                    return _failure(f"Post {url}: {problem}", started)
            try:
                text = content.decode()
            except UnicodeDecodeError:
                return _failure(f"Post {url}: the answer is not UTF-8", started)
            return Reply(response.status_code, text, "", time.monotonic() - started, "live")


def _failure(failure: str, started: float) -> Reply:
    return Reply(0, "", failure, time.monotonic() - started, "live")


class _Transport(httpx.BaseTransport):
    """A pool of one call's connection, with a network backend of its own."""

    def __init__(self, backend: httpcore.NetworkBackend, trust: ssl.SSLContext | None) -> None:
        self._pool = httpcore.ConnectionPool(trust, max_connections=1, network_backend=backend)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        assert isinstance(request.stream, httpx.SyncByteStream)
        asked = httpcore.Request(request.method, url, headers=request.headers.raw, content=request.stream)
        answer = self._pool.handle_request(asked)
        assert isinstance(answer.stream, Iterable)
        return httpx.Response(answer.status, headers=answer.headers, stream=_Stream(answer))

    def close(self) -> None:
        self._pool.close()


class _Stream(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


class _Backend(httpcore.NetworkBackend):
    """Connects to admitted addresses alone, and ends everything at a deadline of the monotonic clock."""

    def __init__(self, approved: Approved, deadline: float, resolvers: ThreadPoolExecutor) -> None:
        self._approved = approved
        self._deadline = deadline
        self._resolvers = resolvers
        self._real = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        del timeout
        address = self._admitted(host, port)
        stream = self._real.connect_tcp(
            address, port, _left(self._deadline), local_address=local_address, socket_options=socket_options
        )
        return _Bounded(stream, self._deadline)

    def _admitted(self, host: str, port: int) -> str:
        """Resolve a name and return its first address, if all of them are admitted."""
        looking = self._resolvers.submit(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        found = looking.result(timeout=_left(self._deadline))
        addresses = [str(entry[4][0]) for entry in found]
        refused = [address for address in addresses if not self._approved.admits(host, address)]
        if refused or not addresses:
            problem = f"{host} has the address {refused[0]}" if refused else f"{host} has no address"
            raise httpcore.ConnectError(f"{problem}, which is not public and not listed")
        return addresses[0]


class _Bounded(httpcore.NetworkStream):
    """A connection whose every operation ends at the deadline."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        del timeout
        return self._stream.read(max_bytes, _left(self._deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        del timeout
        self._stream.write(buffer, _left(self._deadline))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        del timeout
        secured = self._stream.start_tls(ssl_context, server_hostname, _left(self._deadline))
        return _Bounded(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(deadline: float) -> float:
    """Return the seconds that are left.

    Raises:
        TimeoutException: None are.
    """
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout
    return left
