"""A private PostgreSQL cluster and a private Redis, on free ports, by the settings of docker-compose.yml."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.parts import program
from tests.services.processes import Process, free_port, listens, wait_until_ready


@dataclass(frozen=True, slots=True)
class Server:
    """A server at a port of this machine."""

    port: int
    process: Process


@contextmanager
def folder(owner: str | None) -> Iterator[Path]:
    """Make a folder that ``owner`` can work in (pytest's own are closed to other users)."""
    path = Path(tempfile.mkdtemp(prefix="podstep-"))
    try:
        if owner:
            shutil.chown(path, owner)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def unprivileged() -> str | None:
    """Return a user to run PostgreSQL as, which refuses root; None if this is not root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@contextmanager
def postgres_server(environment: Mapping[str, str]) -> Iterator[Server]:
    """Start PostgreSQL with the user, password and database of the image's ``POSTGRES_*`` variables."""
    user = unprivileged()
    initdb, postgres, createdb = program("initdb"), program("postgres"), program("createdb")
    name, password = environment["POSTGRES_USER"], environment["POSTGRES_PASSWORD"]
    with folder(user) as home:
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(home), "PGPASSWORD": password}
        (home / "password").write_text(password)
        if user:
            shutil.chown(home / "password", user)
        made = subprocess.run(
            [
                *(initdb, "--pgdata", str(home / "data"), "--no-sync", "--no-instructions"),
                *("--username", name, "--pwfile", str(home / "password")),
                *("--auth", "scram-sha-256", "--encoding", "UTF8"),
            ],
            env=env,
            cwd=home,
            user=user,
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stdout + made.stderr
        port = free_port()
        process = Process(
            "postgres",
            [postgres, "-D", str(home / "data"), "-p", str(port), "-k", str(home), "-h", "127.0.0.1", "-F"],
            log=home / "log",
            env=env,
            cwd=home,
            user=user,
        )
        try:
            wait_until_ready(process, lambda: database_answers(port, name))
            if (database := environment["POSTGRES_DB"]) != "postgres":
                where = ["--host", "127.0.0.1", "--port", str(port), "--username", name]
                subprocess.run([createdb, *where, database], env=env, check=True)
            yield Server(port, process)
        finally:
            process.stop(signal.SIGINT)  # SIGTERM would wait for clients to leave


def database_answers(port: int, user: str) -> bool:
    """Tell whether PostgreSQL takes connections."""
    asked = [program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port), "-U", user]
    return subprocess.run(asked, check=False).returncode == 0


@contextmanager
def redis_server(command: list[Any]) -> Iterator[Server]:
    """Start Redis by the command of its service, at a port of its own."""
    assert command[0] == "redis-server"
    with folder(None) as home:
        port = free_port()
        here = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(home)]
        process = Process(
            "redis",
            [program("redis-server"), *map(str, command[1:]), *here],
            log=home / "log",
            env={"PATH": os.environ["PATH"]},
            cwd=home,
        )
        try:
            wait_until_ready(process, lambda: listens(port))
            yield Server(port, process)
        finally:
            process.stop()
