"""Jobs for tests of the pool: functions that its processes import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from playground.edits.edit_operations import ObjectError
from playground.storage import bundles
from scheduler_core.kubernetes.problems import Problem


def process_id() -> int:
    return os.getpid()


def noted(path: str, line: str) -> None:
    """Append a line to a file that the test reads."""
    with Path(path).open("a") as file:
        file.write(f"{line}\n")


def held(path: str) -> str:
    """Wait until a file is there."""
    while not Path(path).exists():
        time.sleep(0.01)
    return path


def counting(path: str) -> None:
    """Tell how far it is until it is cancelled, and leave a file then."""
    try:
        for done in range(10_000):
            bundles.watching()("reading", done, 10_000)
            time.sleep(0.01)
    except BaseException:
        Path(path).touch()
        raise


def silent() -> None:
    time.sleep(600)


def busy() -> None:
    while True:
        pass


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hungry() -> int:
    """Take 300 MiB and keep it for a while."""
    held = bytearray(os.urandom(1)) * (300 << 20)
    time.sleep(600)
    return len(held)


def wrong() -> None:
    raise ObjectError([Problem("must be something", "metadata.name", 3, 1)])


def unpicklable() -> Any:
    return lambda: None


def spent(seconds: float) -> float:
    """Compute for so many seconds of a processor."""
    began = time.process_time()
    while time.process_time() - began < seconds:
        pass
    return time.process_time() - began
