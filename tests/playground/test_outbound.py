"""Calls of other servers are bounded, whatever those answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from playground.runtime import outbound
from playground.runtime.outbound import BoundedSession, CallError
from tests.playground.conftest import PATIENCE

BROKEN = ("/unpacked", "/cut", "/stalls")
OVER = threading.Event()


class Answers(BaseHTTPRequestHandler):
    """Answers a byte every now and then, more than is read, an address elsewhere, or what is broken."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.path in ("/much", "/slowly")
        self.send_response(302 if self.path == "/elsewhere" else 200)
        self.send_header("Location", "/much")
        if self.path == "/unpacked":
            self.send_header("Content-Encoding", "gzip")
        if self.path == "/cut":
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", "2000000" if body or self.path in BROKEN else "0")
        self.end_headers()
        try:
            if self.path == "/much":
                self.wfile.write(bytes(2_000_000))
            if self.path in BROKEN:
                self.wfile.write(b"no chunk, and not packed")
                self.wfile.flush()
                OVER.wait(PATIENCE if self.path == "/stalls" else 0.0)
            for _ in range(4_000 if self.path == "/slowly" else 0):
                self.wfile.write(b".")
                time.sleep(0.05)
        except OSError:
            pass  # the caller has gone
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - of the base class
        return


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a server with these answers."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as served:
        threading.Thread(target=served.serve_forever, args=(0.05,), daemon=True).start()
        OVER.clear()
        yield f"http://127.0.0.1:{served.server_port}"
        OVER.set()
        served.shutdown()


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/slowly", "took longer"),
        ("/much", "more than 1,000,000 bytes"),
        ("/elsewhere", "redirects"),
        *((path, "broke its answer off") for path in BROKEN),
    ],
)
def test_an_answer_is_bounded(server: str, path: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In seconds also where each byte comes in time, in bytes, and to the address that was approved."""
    monkeypatch.setattr(outbound, "WHOLE_SECONDS", 0.3 if path == "/slowly" else 30.0)
    monkeypatch.setattr(outbound, "READ_SECONDS", 1.0 if path == "/stalls" else 8.0)
    with pytest.raises(CallError, match=problem):
        BoundedSession(lambda _: True, "", most=1_000_000).get(server + path)


def test_calls_are_few_and_approved(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator is reported how to approve an address."""
    session = BoundedSession(lambda address: address.startswith(server), "Approve it.")
    for address in ("http://127.0.0.1:9/", "file:///etc/passwd"):
        with pytest.raises(CallError, match=r"is not approved\. Approve it\."):
            session.get(address)
    monkeypatch.setattr(outbound, "MOST_CALLS", 3)
    assert session.get(f"{server}/nothing").content == b""
    with pytest.raises(CallError, match="More than 3 calls"):
        session.get(f"{server}/nothing")


def test_a_netrc_does_not_replace_what_is_sent(
    server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The token that a call has is the one that arrives."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password b")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    session = BoundedSession(lambda _: True, "")
    sent = session.get(f"{server}/nothing", headers={"Authorization": "Bearer x"}).request
    assert sent.headers["Authorization"] == "Bearer x"
