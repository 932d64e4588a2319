"""Programs of podstep that are started in a moment: forks of a process that has imported the libraries.

``python -m tests.playground.programs`` reads a start a line: the command, its environment, and what is done
to the process first. It answers with the status that the program ended with, and with all that it printed.
What podstep itself reads is imported by each program, in its own order and with its own environment.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import runpy
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

LIBRARIES = (
    "celery.bin.celery",
    "channels.layers",
    "django.core.management.commands.migrate",
    "django.db.models",
    "kombu.transport.redis",
    "redis.asyncio",
    "scheduler_core",
    "structlog",
    "uvicorn.main",
)


def with_a_full_disk() -> None:
    """Let no file grow."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def open_umask() -> None:
    """Let new files be read by everybody, as most systems do."""
    os.umask(0o022)


FIRST: dict[str, Callable[[], None]] = {one.__name__: one for one in (with_a_full_disk, open_umask)}


class Starter:
    """The process that forks, and what it is asked."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        command = [sys.executable, "-m", "tests.playground.programs"]
        self.process = subprocess.Popen(
            command, env=dict(env), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, command: Sequence[str], env: Mapping[str, str], first: str) -> tuple[int, str]:
        """Run a program until it ends by itself; return its status, and all that it printed."""
        assert self.process.stdin and self.process.stdout
        asked = {"command": list(command), "env": dict(env), "first": first}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        status, printed = json.loads(self.process.stdout.readline())
        return status, printed

    def close(self) -> None:
        """End it."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(30)


def become(asked: dict[str, Any], output: int) -> list[str]:
    """Make this process the one that is asked for; return its command."""
    os.environ.clear()
    os.environ.update(asked["env"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    if asked["first"]:
        FIRST[asked["first"]]()
    command: list[str] = asked["command"]
    return command


def main() -> list[str] | None:
    """Fork for each line; return the command in a fork."""
    for name in LIBRARIES:
        importlib.import_module(name)
    for line in sys.stdin:
        reads, writes = os.pipe()
        child = os.fork()
        if not child:
            os.close(reads)
            return become(json.loads(line), writes)
        os.close(writes)
        with os.fdopen(reads, encoding="utf-8") as pipe:
            printed = pipe.read()
        print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), printed]), flush=True)
    return None


if __name__ == "__main__" and (found := main()):
    if found[0] == "-m":
        sys.argv = found[1:]
        runpy.run_module(found[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = found
        runpy.run_path(found[0], run_name="__main__")
