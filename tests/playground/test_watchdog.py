"""A web process whose event loop stalls is replaced, and who was on it goes on where they were."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from playground.serving.supervisor import RestartPolicy, ServerProcess, Slot
from playground.serving.watchdog import FULL, STALLED, Watchdog
from tests.parts import REPOSITORY
from tests.playground.conftest import PATIENCE
from tests.services import client
from tests.services.processes import Process, free_port, wait_until, wait_until_ready
from tests.services.stack import clean_environment

#: A thread of the web process that holds the interpreter's lock for ever, once a file says so.
STALLING = """
import os, re, sys, threading, time

def stall():
    while not os.path.exists(os.environ["STALL"]):
        time.sleep(0.05)
    os.remove(os.environ["STALL"])
    re.match("(a+)+$", "a" * 64 + "b")

if any("uvicorn" in one for one in sys.orig_argv):
    threading.Thread(target=stall, daemon=True).start()
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Process]]:
    """Podstep as people start it; its web process stalls once the file ``stall`` is there."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(STALLING)
    port = free_port()
    env = {
        **clean_environment(),
        "PYTHONPATH": str(tmp_path / "site"),
        "STALL": str(tmp_path / "stall"),
        "PLAYGROUND_DATA_DIR": str(tmp_path / "data"),
        "PLAYGROUND_LOOP_STALL_SECONDS": "3",
    }
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--end-with-parent"]
    process = Process("serve", command, log=tmp_path / "log", env=env, cwd=REPOSITORY)
    try:
        wait_until_ready(process, lambda: "podstep answers" in process.output(), 180)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.stop()


def test_a_stalled_web_process_is_replaced(server: tuple[str, Process], tmp_path: Path, web: str) -> None:
    """The socket is closed, a client connects again, and its draft and step are what they were."""
    base, process = server
    made = client.request("POST", f"{base}/api/drafts", {"bundle": web})
    cookie = {"Cookie": f"podstep_visitor={made.json['token']}"}
    source = {"draft": made.json["id"]}
    asked = ("cycle.get", {"source": source, "step": "4", "parts": ["inspect"]})

    def looked(socket: client.Socket) -> tuple[Any, Any]:
        return socket.call("scenario.open", {"source": source}), socket.call(*asked)

    with client.open_socket(base, cookie) as socket:
        before = looked(socket)
        (tmp_path / "stall").touch()
        with pytest.raises(ConnectionClosed):
            socket.connection.recv(timeout=PATIENCE)
    wait_until(lambda: _answers(base), PATIENCE, "another web process answers")
    with client.open_socket(base, cookie) as socket:
        assert looked(socket) == before
    log = process.output()
    assert "most recent call first" in log and "in stall" in log
    assert "web ended (its event loop stalled); restarting in 0 s" in log


def _answers(base: str) -> bool:
    try:
        return client.request("GET", f"{base}/healthz").status == 200
    except OSError:
        return False


def test_stalls_do_not_end_the_others() -> None:
    """However often a visitor brings one about; what fails by itself is given up."""
    slot, policy = Slot(ServerProcess("web", ("true",), signal.SIGTERM, 1.0)), RestartPolicy(most=1)
    assert [slot.died(policy, now, -STALLED) for now in range(50)] == [0.0] * 50
    assert slot.died(policy, 50.0) == policy.first
    assert slot.died(policy, 51.0) is None


async def test_a_loop_that_runs_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The timer is wound up before it runs out, and is no more once the server ends."""
    watchdog = Watchdog(20.0)
    monkeypatch.setattr("playground.serving.watchdog.BEATS", 200)
    watchdog.start()
    try:
        signal.setitimer(signal.ITIMER_REAL, 10.0)
        while (left := signal.getitimer(signal.ITIMER_REAL)[0]) <= 10.0:  # noqa: ASYNC110 - of the kernel
            await asyncio.sleep(0.02)
        assert left <= 20.0
    finally:
        watchdog.stop()
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


async def test_a_full_collection_has_its_time() -> None:
    """It stops every thread, and ends: a process that collects is not replaced."""
    left: list[float] = []

    def timed(_: str, info: dict[str, int]) -> None:
        if info["generation"] == FULL:
            left.append(signal.getitimer(signal.ITIMER_REAL)[0])

    watchdog = Watchdog(20.0)
    watchdog.start()
    try:
        gc.callbacks.append(timed)
        gc.collect()
        during, after = left
        assert during > 20 >= after > 0
    finally:
        gc.callbacks.pop()
        watchdog.stop()
    assert watchdog._collects not in gc.callbacks
