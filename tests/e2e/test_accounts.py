"""Accounts on both ways to run podstep: on PostgreSQL with several web processes, and on SQLite."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from tests.services.client import Socket
from tests.services.processes import wait_until
from tests.services.stack import Stack

pytestmark = [pytest.mark.services, pytest.mark.timeout(300)]

PASSWORD = "nine bees in a hive"
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: '1', pods: '10'}}\n"
BROWSERS = 3


class Browser:
    """The cookies of somebody, and the forms that they fill in."""

    def __init__(self, stack: Stack) -> None:
        self.client = httpx.Client(base_url=stack.base_url, timeout=120, trust_env=False)
        self.client.get("/account/")

    def send(self, path: str, **fields: str) -> str:
        """Send a form; return where it leads."""
        token = self.client.cookies["csrftoken"]
        answer = self.client.post(path, data={"csrfmiddlewaretoken": token, **fields})
        assert answer.status_code == 302, answer.text[:2000]
        return str(answer.headers["Location"])

    def draft(self) -> str:
        """Store a draft; return its address."""
        return self.send("/import/", text=NODE)

    @property
    def cookie(self) -> str:
        return f"podstep_visitor={self.client.cookies['podstep_visitor']}"


def closed_with(socket: Socket, seconds: float) -> int:
    """Wait until the server closes a socket; return the code."""
    try:
        while True:
            socket.connection.recv(timeout=seconds)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 0


def test_browsers_of_one_account(stack: Stack) -> None:
    """They sign in at once and lose nothing; a socket over any process is closed, and opened anew."""
    name = f"ada-{stack.name}"
    first = Browser(stack)
    draft = first.draft()
    asked = {"draft": draft.split("/")[2]}
    with stack.socket(Cookie=first.cookie) as socket:
        socket.call("draft.watch", asked)
        assert first.send("/account/sign-up", username=name, password=PASSWORD).endswith("done=signed-up")
        assert closed_with(socket, 60) == 4001
    with stack.socket(Cookie=first.cookie) as socket:
        socket.call("draft.watch", asked)

    others = [Browser(stack) for _ in range(BROWSERS)]
    theirs = [other.draft() for other in others]
    with ThreadPoolExecutor(BROWSERS) as threads:
        signed = [
            threads.submit(other.send, "/account/sign-in", username=name, password=PASSWORD)
            for other in others
        ]
        assert all(one.result().endswith("done=signed-in") for one in signed)
    for browser in (first, *others):
        assert [browser.client.get(one).status_code for one in (draft, *theirs)] == [200] * (BROWSERS + 1)
    listed = stack.run(sys.executable, "manage.py", "accounts", name).splitlines()
    assert listed[1].startswith(f"{name}\t")
    assert listed[1].endswith(f"\t{BROWSERS + 1} drafts")

    first.send("/account/sign-out-elsewhere")
    assert [browser.client.get(draft).status_code for browser in (first, *others)] == [200, *[404] * BROWSERS]


def test_a_save_of_an_open_page(stack: Stack) -> None:
    """Sent over and over while its browser signs up: none is refused, and the last one is stored."""
    browser = Browser(stack)
    address = browser.draft()
    name = address.split("/")[2]
    title = 0

    def save(cookie: str) -> None:
        """Save one title after the other until the socket is closed."""
        nonlocal title
        with stack.socket(Cookie=cookie) as socket, suppress(ConnectionClosed):
            while True:
                socket.call("draft.save", {"draft": name, "title": f"title {title + 1}"})
                title += 1

    with ThreadPoolExecutor(1) as threads:
        saving = threads.submit(save, browser.cookie)
        wait_until(lambda: title > 0, 60, "a title is saved")
        browser.send("/account/sign-up", username=f"grace-{stack.name}", password=PASSWORD)
        saving.result(timeout=60)
    with stack.socket(Cookie=browser.cookie) as socket:
        answer = socket.call("draft.save", {"draft": name, "title": "the last one"})
    assert answer["revision"] == title + 2, json.dumps(answer)
    assert "the last one" in browser.client.get(address).text
