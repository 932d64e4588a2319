"""A snapshot in a workbench: on this machine without a question, on another server once the user agrees."""

from __future__ import annotations

import json
import socket
import sys
import webbrowser
from contextlib import suppress
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import OpenerDirector, ProxyHandler, Request, build_opener

from scheduler_core.cli.input_files import InputError

LOCAL = "http://127.0.0.1:8000"
SECONDS = 120
ANSWER_BYTES = 1 << 20


def is_local(server: str) -> bool:
    """Return whether a server is on this machine."""
    return urlsplit(server).hostname in {"127.0.0.1", "::1", "localhost"}


def answers(server: str) -> bool:
    """Return whether anything listens at a server's address."""
    split = urlsplit(server)
    with suppress(OSError, ValueError), socket.create_connection((split.hostname or "", split.port or 80), 5):
        return True
    return False


def agreed(server: str) -> bool:
    """Ask whether the snapshot may be sent; without a terminal the answer is no."""
    if not sys.stdin.isatty():
        print(f"not sent to {server}: add --yes", file=sys.stderr)
        return False
    print(f"Send it to {server}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def send(server: str, bundle: bytes, title: str, *, browser: bool) -> str:
    """Send a snapshot and open it; returns its address.

    Raises:
        InputError: The server does not answer, or refuses it.
    """
    if urlsplit(server).scheme not in {"http", "https"}:
        raise InputError(f"--server {server}: an address such as {LOCAL} is expected")
    body = json.dumps({"bundle": bundle.decode(), "title": title or "Cluster"}).encode()
    headers = {"Content-Type": "application/json"}
    request = Request(f"{server.rstrip('/')}/api/scenarios", body, headers)  # noqa: S310  # checked above
    try:
        with _opener(server).open(request, timeout=SECONDS) as answer:
            made = json.loads(answer.read(ANSWER_BYTES))
    except HTTPError as error:
        raise InputError(f"{server}: {_refusal(error)}") from error
    except (URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise InputError(f"{server}: {reason}") from error
    if browser:
        webbrowser.open(str(made["url"]))
    return str(made["url"])


def _opener(server: str) -> OpenerDirector:
    """Return what opens addresses: this machine's without the proxy of the environment."""
    return build_opener(ProxyHandler({})) if is_local(server) else build_opener()


def _refusal(error: HTTPError) -> str:
    """Return what a server says of a bundle that it does not take."""
    try:
        problems = json.loads(error.read(ANSWER_BYTES))["errors"]
        return "; ".join(str(problem["message"]) for problem in problems[:5])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {error.code}"
