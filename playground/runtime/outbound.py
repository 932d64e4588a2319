"""Calls of other servers: to addresses that were approved, for a short time, with bounded answers."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable
from typing import Any

import requests
import urllib3

CONNECT_SECONDS, READ_SECONDS, WHOLE_SECONDS = 4.0, 8.0, 12.0
MOST_BYTES = 1_000_000  # of one answer
MOST_CALLS = 20  # of one session: what is paged may have no end
AGENT = "podstep"
#: What reading a body raises that stalls, is cut off, or is not packed as it says.
BROKEN = (urllib3.exceptions.HTTPError, http.client.HTTPException, ConnectionError, TimeoutError)


class CallError(requests.exceptions.RequestException):
    """A call that is not made, or an answer that is not taken."""


class BoundedSession(requests.Session):
    """A session of few calls, each bounded in time and size, that follows no redirect."""

    def __init__(self, approved: Callable[[str], bool], remedy: str, most: int = MOST_BYTES) -> None:
        """Call what is ``approved``; ``remedy`` says how the operator approves more.

        ``most`` is how many bytes an answer may have.
        """
        super().__init__()
        self.auth = _as_it_is  # else a .netrc's credentials would replace what is sent
        self.headers["User-Agent"] = AGENT
        self._approved, self._remedy, self._most, self._calls = approved, remedy, most, 0

    def request(self, method: Any, url: Any, *args: Any, **more: Any) -> requests.Response:
        """Send a request, and return its answer as read. Raises RequestException."""
        self._calls += 1
        if self._calls > MOST_CALLS:
            raise CallError(f"More than {MOST_CALLS} calls were needed.")
        if not self._approved(str(url)):
            raise CallError(f"{str(url)[:200]} is not approved. {self._remedy}")
        until = time.monotonic() + WHOLE_SECONDS
        more |= {"timeout": (CONNECT_SECONDS, READ_SECONDS), "stream": True, "allow_redirects": False}
        answer = super().request(method, url, *args, **more)
        try:
            answer._content = _body(answer, until, self._most)  # noqa: SLF001 - as Response.content keeps it
        except BROKEN as error:  # those of requests are none of these
            raise CallError(f"{str(url)[:200]} broke its answer off: {error!r}"[:400]) from error
        finally:
            answer.close()
        if answer.is_redirect:
            raise CallError(f"{str(url)[:200]} redirects, which is not followed.")
        return answer


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _body(answer: requests.Response, until: float, most: int) -> bytes:
    parts, size = [], 0
    # Each read returns what has come: iter_content would wait for all of its bytes, however slowly they come.
    while part := answer.raw.read1(16_384, decode_content=True):
        size += len(part)
        if size > most:
            raise CallError(f"{answer.url[:200]} answered more than {most:,} bytes.")
        if time.monotonic() > until:
            raise CallError(f"{answer.url[:200]} took longer than {WHOLE_SECONDS:.0f} seconds to answer.")
        parts.append(part)
    return b"".join(parts)
