"""What is wrong with the machine or its settings, as the programs say it when they start."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import pwd
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import OperationalError, ProgrammingError

from playground.limits import LIMITS
from playground.serving import data_folder, faults
from playground.serving.environment import Environment
from playground.serving.faults import StartError
from tests.parts import REPOSITORY
from tests.playground.programs import Starter
from tests.rows import each_row
from tests.services.stack import clean_environment

PROGRAMS = {
    "serve": ("manage.py", "serve", "--port", "1"),
    "prepare": ("manage.py", "prepare"),
    "check_worker": ("manage.py", "check_worker"),
    "worker": ("-m", "celery", "--quiet", "--app", "playground.celery:app", "worker"),
    "web": ("-m", "uvicorn", "playground.asgi:application", "--port", "1"),
}


Start = Callable[..., tuple[int, str]]


def environment(data: Path, **env: str) -> dict[str, str]:
    """Return the environment of a program with its data in a folder."""
    return {**clean_environment(), "PLAYGROUND_DATA_DIR": str(data), "PYTHONDONTWRITEBYTECODE": "1", **env}


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    """The process that the programs are forks of."""
    made = Starter(REPOSITORY, clean_environment())
    yield made
    made.close()


@pytest.fixture
def start(starter: Starter) -> Start:
    """Run a program until it ends by itself; return its status and all that it printed."""

    def run(*command: str, data: Path, first: str = "", **env: str) -> tuple[int, str]:
        return starter.start(command, environment(data, **env), first)

    return run


def powerless_start(*command: str, data: Path) -> tuple[int, str]:
    """Run a program that the rights of files bind, also if root runs it; return its status and output."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=REPOSITORY,
        env=environment(data),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=powerless,
    )
    return done.returncode, done.stdout + done.stderr


def only_lines(status: int, output: str, *expected: str) -> None:
    """Assert that a program failed with a line or two that hold these words, and with nothing else."""
    assert status in {1, 2}, output
    lines = output.strip().splitlines()
    assert 1 <= len(lines) <= 2, output
    for text in expected:
        assert text in output
    assert "Traceback" not in output


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_reports_the_environment(start: Start, tmp_path: Path, program: str) -> None:
    """Two wrong variables are two lines, whatever reads them first."""
    status, output = start(*PROGRAMS[program], data=tmp_path, PORT="abc", PLAYGROUND_NODES="many")
    only_lines(status, output, "PORT='abc'", "PLAYGROUND_NODES='many'", "from 1 to 65,535")
    assert not (tmp_path / "secret").exists()


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_reports_a_damaged_database(start: Start, tmp_path: Path, program: str) -> None:
    """The line names the file and the two ways out; the file stays as it is."""
    path = tmp_path / "podstep.sqlite3"
    path.write_bytes(b"no database " * 100)
    status, output = start(*PROGRAMS[program], data=tmp_path)
    only_lines(status, output, str(path), "Restore a backup", "move it away")
    assert path.read_bytes() == b"no database " * 100


def test_damage_inside_a_database_is_found(start: Start, tmp_path: Path) -> None:
    """A file that begins as a database and is overwritten further on is reported by prepare."""
    path = tmp_path / "podstep.sqlite3"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE django_migrations (id, app, name, applied)")
        rows = [(n, "x" * 500, "y" * 500, "") for n in range(200)]
        connection.executemany("INSERT INTO django_migrations VALUES (?, ?, ?, ?)", rows)
    with path.open("r+b") as file:
        file.seek(8_192)
        file.write(os.urandom(40_000))
    status, output = start(*PROGRAMS["prepare"], data=tmp_path)
    only_lines(status, output, str(path), "is damaged")


def test_a_full_disk_is_reported(start: Start, tmp_path: Path) -> None:
    """No file of the data folder can grow: neither the secret nor, with one set, the database."""
    for program, env in (("web", {}), ("prepare", {"SECRET_KEY": "x" * 50})):
        status, output = start(*PROGRAMS[program], data=tmp_path, first="with_a_full_disk", **env)
        only_lines(status, output, "podstep: ")


def become_a_file(path: Path) -> None:
    """Replace an empty folder."""
    path.rmdir()
    path.touch()


WRONG_ENTRIES: dict[str, tuple[Callable[[Path], object], str]] = {
    "the folder is a file": (become_a_file, "is a file"),
    "the database is a folder": (lambda data: (data / "podstep.sqlite3").mkdir(), "is not a file"),
    "its journal is a folder": (lambda data: (data / "podstep.sqlite3-wal").mkdir(), "is not a file"),
    "the secret is a folder": (lambda data: (data / "secret").mkdir(), "is not a file"),
    "the secret is empty": (lambda data: (data / "secret").touch(), "is damaged"),
    "the secret is binary": (lambda data: (data / "secret").write_bytes(os.urandom(60)), "is damaged"),
    "the secret is a pipe": (lambda data: os.mkfifo(data / "secret"), "is not a file"),
    "static is a file": (lambda data: (data / "static").touch(), "is a file"),
    "the broker is a file": (lambda data: (data / "broker").touch(), "is a file"),
}


@pytest.mark.parametrize(("leave", "expected"), WRONG_ENTRIES.values(), ids=WRONG_ENTRIES)
def test_anything_unexpected_in_the_folder_is_named(
    start: Start, tmp_path: Path, leave: Callable[[Path], object], expected: str
) -> None:
    """One line, and the path is in it."""
    data = tmp_path / "data"
    data.mkdir()
    leave(data)
    status, output = start(*PROGRAMS["web"], data=data)
    only_lines(status, output, str(data), expected)


def powerless() -> None:
    """Let root meet the rights of files as everybody else does."""
    if os.geteuid() == 0:
        prctl = ctypes.CDLL(None).prctl
        for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            assert prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0


PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def give_away(path: Path) -> str:
    """Give a file to another user, if this user may; return what a message has to say about it."""
    if os.geteuid() != 0:
        return ""
    shutil.chown(path, "nobody")
    return "it belongs to user nobody"


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    """The line says whose it is and who would have to be able to write it."""
    data = tmp_path / "data"
    data.mkdir(mode=0o555)
    owner = give_away(data)
    me = pwd.getpwuid(os.geteuid()).pw_name
    status, output = powerless_start(*PROGRAMS["web"], data=data)
    only_lines(status, output, f"the data folder {data} cannot be written", owner, f"for user {me}")
    status, output = powerless_start(*PROGRAMS["web"], data=data / "deeper" / "still")
    only_lines(status, output, str(data / "deeper"), "Permission denied")


def test_a_database_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    """A folder that can be written may hold a file that cannot."""
    path = tmp_path / "podstep.sqlite3"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE t (x)")
    path.chmod(0o444)
    owner = give_away(path)
    status, output = powerless_start(*PROGRAMS["prepare"], data=tmp_path)
    only_lines(status, output, f"{path} cannot be read and written", owner)


VARIABLES = {
    "PORT": ("", "0", "65536", "8o00", "1e4", "٣x"),
    "DEBUG": ("yess", "2"),
    "ALLOWED_HOSTS": ("http://podstep.example", "podstep.example:8000", "a b", "a/b", "..", "[::1"),
    "DATABASE_URL": ("podstep.sqlite3", "mysql://a/b", "postgresql://u:p@host:port/db", "postgresql://host"),
    "REDIS_URL": ("localhost:6379", "http://localhost", "redis://[::1", "redis://localhost:99999"),
    "CELERY_BROKER_URL": ("redis", "sqs://"),
}
READ: dict[str, Callable[[Environment], object]] = {
    "PORT": lambda env: env.number("PORT", 8000, 1, 65_535),
    "DEBUG": lambda env: env.flag("DEBUG", False),
    "ALLOWED_HOSTS": lambda env: env.hosts("ALLOWED_HOSTS", ["localhost"]),
    "DATABASE_URL": lambda env: env.database("DATABASE_URL", {}),
    "REDIS_URL": lambda env: env.url("REDIS_URL", "", ("redis", "rediss")),
    "CELERY_BROKER_URL": lambda env: env.url("CELERY_BROKER_URL", "", ("redis", "filesystem")),
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in VARIABLES.items() for text in texts if text]
)
def test_a_variable_that_makes_no_sense_is_named(name: str, text: str) -> None:
    """One line for each, with its name."""
    env = Environment({name: text})
    READ[name](env)
    with pytest.raises(StartError, match=f"^podstep: {name}") as caught:
        env.check()
    assert len(str(caught.value).splitlines()) == 1


def test_an_empty_variable_is_not_set() -> None:
    """Compose passes variables that the shell does not set as empty ones."""
    unset, empty = Environment({}), Environment(dict.fromkeys(VARIABLES, " "))
    for read in READ.values():
        assert read(unset) == read(empty)
    empty.check()


def test_what_makes_sense_is_read() -> None:
    """The usual spellings of flags, numbers, names and addresses."""
    texts = {
        "PORT": ("9_000", 9000),
        "DEBUG": ("Yes", True),
        "ALLOWED_HOSTS": ("a.example, .b.example,[::1],*", ["a.example", ".b.example", "[::1]", "*"]),
        "REDIS_URL": ("redis://:secret@localhost:6379/0", "redis://:secret@localhost:6379/0"),
        "CELERY_BROKER_URL": ("filesystem://", "filesystem://"),
    }
    for name, (text, value) in texts.items():
        env = Environment({name: text})
        assert READ[name](env) == value
        env.check()
    database = Environment({"D": "postgresql://u:p%40@host:5433/podstep"}).database("D", {})
    assert (database["USER"], database["PASSWORD"], database["PORT"]) == ("u", "p@", 5433)


def test_no_message_holds_a_password() -> None:
    """Addresses of servers are not repeated."""
    env = Environment({"DATABASE_URL": "postgresql://u:hunter2@host:port/db", "REDIS_URL": "x://:hunter2@h"})
    READ["DATABASE_URL"](env)
    READ["REDIS_URL"](env)
    assert len(env.problems) == 2
    assert "hunter2" not in "".join(env.problems)


@each_row("row", LIMITS, lambda row: row.name)
def test_each_limit_has_a_least_and_a_most(row: object) -> None:
    """The default lies between them, and neither a negative nor an endless value is taken."""
    assert isinstance(row, type(LIMITS[0]))
    assert row.least <= row.default <= row.most
    for text in ("-1", "9" * 30, "1.5", "x"):
        env = Environment({"X": text})
        assert env.number("X", row.default, row.least, row.most) == row.default
        assert env.problems


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OperationalError("no such table: playground_worker"), "Run `manage.py prepare`"),
        (
            OperationalError('connection to server at "db", port 5432 failed: refused\nmore'),
            "cannot be reached",
        ),
        (OperationalError("database or disk is full"), "Free space"),
        (OperationalError("attempt to write a readonly database"), "/data/x or its folder cannot be written"),
        (
            OSError(28, "No space left on device", "/data/static/a.js"),
            "No space left on device: /data/static",
        ),
        (ProgrammingError('column "x" is ambiguous'), None),
        (OSError(32, "Broken pipe"), None),
        (ValueError("disk is full"), None),
    ],
)
def test_faults_are_reported_from_mistakes(error: Exception, expected: str | None) -> None:
    """What the machine is to blame for gets a line; a mistake of the program keeps its traceback."""
    line = faults.explain(error, Path("/data/x"))
    assert line is None if expected is None else line and expected in line
    assert line is None or "\n" not in line


def modes(data: Path) -> dict[str, int]:
    """Return the rights of everything that is no static file."""
    paths = [data, *data.rglob("*")]
    return {
        str(path.relative_to(data)): stat.S_IMODE(path.stat().st_mode)
        for path in paths
        if data / "static" not in path.parents
    }


def test_the_data_folder_is_its_owners(start: Start, tmp_path: Path) -> None:
    """With a umask that lets everybody read, everything new is closed, and what is there is tightened."""
    data = tmp_path / "data"
    for path in (data / "broker" / "queue", data / "backups"):
        path.mkdir(parents=True, mode=0o755)
    for name in ("secret", "podstep.sqlite3-old", "broker/queue/1.celery.msg", "backups/one.sqlite3"):
        (data / name).write_text("x" * 60)
        (data / name).chmod(0o644)
    others = tmp_path / "others"
    others.write_text("theirs")
    (data / "backups" / "link").symlink_to(others)
    others.chmod(0o644)
    status, output = start(*PROGRAMS["prepare"], data=data, first="open_umask")
    assert (status, output) == (0, "")
    (data / "backups" / "link").unlink()
    found = modes(data)
    assert found.pop("podstep.sqlite3") == 0o600
    assert {name: mode for name, mode in found.items() if mode & 0o077} == {}
    assert stat.S_IMODE(others.stat().st_mode) == 0o644


def test_a_shared_folder_is_not_closed(tmp_path: Path) -> None:
    """/tmp, or a folder like it, stays open to others; podstep's own files in it do not."""
    tmp_path.chmod(0o1777)
    (tmp_path / "secret").write_text("x")
    (tmp_path / "secret").chmod(0o644)
    (tmp_path / "theirs").write_text("x")
    (tmp_path / "theirs").chmod(0o644)
    data_folder.tighten(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "theirs").stat().st_mode) == 0o644


def test_a_crash_leaves_no_half_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret has its name only once it is whole."""

    def crash(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(StartError, match="No space"):
        data_folder.secret(tmp_path / "secret")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_hard_links_holds_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems of shared volumes have none."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "secret"
    first = data_folder.secret(path)
    assert data_folder.secret(path) == first
    assert list(tmp_path.iterdir()) == [path]
