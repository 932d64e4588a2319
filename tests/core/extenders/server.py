"""A test extender on http.server: it answers by a table, slows down, fails, lies and times out."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GIGANTIC = 200_000


class Extender(ThreadingHTTPServer):
    """``behaves`` is one of the handler's manners; ``asked`` are the paths and bodies that came in."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behaves = "well"
        self.asked: list[tuple[str, Any]] = []
        self.connections = 0
        self.over = threading.Event()

    @property
    def url(self) -> str:
        """Return the urlPrefix."""
        return f"http://127.0.0.1:{self.server_port}/scheduler"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of callers that hang up."""

    def get_request(self) -> Any:
        """Count connections, even those that send nothing."""
        self.connections += 1
        return super().get_request()


@contextmanager
def serving() -> Iterator[Extender]:
    """Run an extender for a while."""
    server = Extender()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def answer(path: str, asked: dict[str, Any]) -> Any:
    """Return what a well-behaved extender answers: no pod whose name ends with 1 on node a; b is best."""
    if path.endswith("/filter") and asked["Nodes"] is not None:
        return {"Nodes": asked["Nodes"]}
    if path.endswith("/filter"):
        name = asked["Pod"]["metadata"]["name"]
        refused = {"a": "a is taken"} if name.endswith("1") and "a" in asked["NodeNames"] else {}
        return {
            "NodeNames": [one for one in asked["NodeNames"] if one not in refused],
            "FailedNodes": refused,
        }
    if path.endswith("/prioritize"):
        return [{"Host": name, "Score": 8 if name == "b" else 2} for name in asked["NodeNames"]]
    if path.endswith("/bind"):
        return {"Error": "no twos" if asked["PodName"].endswith("2") else ""}
    kept = asked["NodeNameToMetaVictims"]
    return {"NodeNameToMetaVictims": {name: kept[name] for name in list(kept)[-1:]}}


class _Handler(BaseHTTPRequestHandler):
    server: Extender
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body))
        getattr(self, self.server.behaves)(body)

    def log_message(self, *args: Any) -> None:
        pass

    def _send(self, content: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def well(self, body: Any) -> None:
        self._send(json.dumps(answer(self.path, body)).encode())

    def slow(self, body: Any) -> None:
        time.sleep(0.15)
        self.well(body)

    def fails(self, body: Any) -> None:
        self._send(b"oops", 500)

    def garbage(self, body: Any) -> None:
        self._send(b"\xff\xfe\x00<html>")

    def too_much(self, body: Any) -> None:
        self._send(b"[" + b" " * GIGANTIC + b"]")

    def compressed(self, body: Any) -> None:
        self._send(b"\x1f\x8b", Content_Encoding="gzip")

    def elsewhere(self, body: Any) -> None:
        self._send(b"", 307, Location=f"http://localhost:{self.server.server_port}/other")

    def lies(self, body: Any) -> None:
        scores = [{"Host": "ghost", "Score": 10}, {"Host": "c", "Score": 1_000}]
        found = {"NodeNames": ["ghost"]} if self.path.endswith("/filter") else scores
        self._send(json.dumps(found).encode())

    def relabels(self, body: Any) -> None:
        body["Nodes"]["items"][1]["metadata"]["labels"] = {"zone": "east"}
        body["Nodes"]["items"][2]["status"]["allocatable"]["cpu"] = "4000m"
        self.well(body)

    def hangs(self, body: Any) -> None:
        self.server.over.wait(10)
        self.close_connection = True

    def drips(self, body: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        while not self.server.over.wait(0.05):
            try:
                self.wfile.write(b" ")
            except OSError:
                break
        self.close_connection = True

    def hangs_up(self, body: Any) -> None:
        self.close_connection = True
