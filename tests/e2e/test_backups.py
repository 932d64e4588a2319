"""`manage.py backup` and `manage.py restore` on SQLite and on PostgreSQL, by the commands themselves."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.parts import REPOSITORY, program
from tests.services.servers import Server
from tests.services.stack import SHELL, clean_environment

pytestmark = [pytest.mark.services, pytest.mark.timeout(600)]

#: Stores a link, a draft and a run with its chunks.
FILL = """
from playground.storage import bundles, links, store
from playground.runs import service
from playground.runs.compute import compute
text = open("tests/playground/data/web.yaml").read()
scenario = bundles.parse([("", text)], "a title — with Ünicode")
store.share(scenario, "visitor", text=text)
store.create_draft("visitor", [("a.yaml", text), ("b.yaml", "# half-written: [")], "draft")
run, _ = service.start(scenario, "visitor", text=text)
assert compute(run.pk) == "done"
"""
#: Stores a private link, a room with a vote, and a comment beside them.
SHARED = """
from playground.playback import pins
from playground.playback.playback import Playback
from playground.rooms import questions, rows
from playground.storage import comments
row = store.find_scenario(store.address_of(scenario.title, text))
playback = Playback(scenario)
playback.reach(99)
pinned = pins.pinned(playback)
links.create_link(links.LinkRequest("visitor", "a link", "step=2"), row, pinned.what, pinned.decisions)
room = rows.create(row, "visitor", "", {"step": "2"}).room
rows.ask(room.pk, questions.drafted("choice", "", ["yes", "no"]))
rows.vote(room.pk, 1, "somebody", "0")
comments.write(row, comments.checked(comments.CommentRequest(text="Why?", step="2")), "visitor", None)
"""
#: Prints what a link, a room and a comment show.
SHOWN = """
from playground.models import Comment, Link, Room, RoomVote
from playground.playback import pins
from playground.playback.playback import Playback
from playground.rooms import rows
from playground.storage import bundles, comments, links, store
link, room = Link.objects.get(), rows.find(Room.objects.get().pk)
playback = Playback(store.load_scenario(links.find_link(link.pk).scenario))
playback.reach(99)
print(pins.compared(link.pinned, bytes(link.decisions), playback)["same"], link.query)
print(room.position, room.question["choices"], rows.votes_of(room.pk, 1), rows.is_over(room))
print([thread["text"] for thread in comments.threads(room.scenario)])
"""
#: Prints a digest of each row, contents included.
DIGESTS = """
import hashlib, json
from playground.models import Draft, Run, RunChunk, Scenario, Share
for model in (Scenario, Share, Draft, Run, RunChunk):
    for row in model.objects.order_by("pk").values():
        plain = {k: bytes(v).hex() if isinstance(v, (bytes, memoryview)) else str(v) for k, v in row.items()}
        print(model.__name__, hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest())
"""
#: Prints the bytes of each row, and whether it is kept.
SIZES = """
from django.utils import timezone
from playground.models import Draft, Run, Scenario
for model in (Scenario, Draft, Run):
    for row in model.objects.all():
        assert row.packed
        print(model.__name__, row.packed, row.expires > timezone.now())
"""
#: Makes an account, which claims a draft.
SIGN_UP = """
from playground.accounts import sign_up
from playground.storage import store
store.create_draft("ada's browser", [("a.yaml", "kind: Node")])
sign_up.sign_up("ada", "four words of mine", "ada's browser")
"""
#: Prints what the account of a name and a password holds.
SIGNED_IN = """
from django.contrib.auth import authenticate
from playground.accounts import ownership
print(ownership.holdings(authenticate(None, username="ada", password="four words of mine").owner))
"""
#: Leaves a worker that counts as alive for longer than the next command takes to start on a busy machine.
ALIVE = """
from datetime import timedelta
from django.utils import timezone
from playground.models import Worker
Worker.objects.create(name="1-celery@there", seen=timezone.now() + timedelta(minutes=5))
"""
#: Leaves a worker and an answer of an extender.
WORKED = """
from pathlib import Path
from django.conf import settings
from playground.models import Worker
Worker.objects.create(name="w@there")
file = Path(settings.DATA_DIR, "extenders", "ab", "ab" * 32)
file.parent.mkdir(parents=True)
file.write_text("answered")
"""
#: Prints the number of workers, and the answer of the extender.
REMEMBERED = """
from pathlib import Path
from django.conf import settings
from playground.models import Worker
print(Worker.objects.count(), Path(settings.DATA_DIR, "extenders", "ab", "ab" * 32).read_text())
"""
#: Undoes the migrations since rows know their size, and does them again.
BACK_AND_FORTH = """
from django.core.management import call_command
call_command("migrate", "playground", "0007", verbosity=0)
call_command("migrate", verbosity=0)
"""


class Place:
    """An installation: a data folder, and its database."""

    def __init__(self, home: Path, database: str = "", **more: str) -> None:
        self.home = home
        self.env = {**clean_environment(), "PLAYGROUND_DATA_DIR": str(home), **more}
        if database:
            self.env["DATABASE_URL"] = database

    def ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            env=self.env,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def manage(self, *arguments: str) -> str:
        done = self.ask(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def refused(self, *arguments: str) -> str:
        done = self.ask(*arguments)
        assert done.returncode == 1 and "Traceback" not in done.stderr, done.stdout + done.stderr
        return done.stderr

    def shell(self, code: str) -> str:
        return self.manage("shell", "--no-imports", "--command", code)

    def digests(self) -> str:
        return self.shell(DIGESTS)


Make = Callable[[str], Place]
PASSWORD = {"PATH": os.environ["PATH"], "PGPASSWORD": SHELL["POSTGRES_PASSWORD"]}


class Databases:
    """PostgreSQL's databases of these tests, each a copy of one that is migrated."""

    def __init__(self, server: Server) -> None:
        self.port = server.port
        self.where = ("--host", "127.0.0.1", "--port", str(server.port), "--username", "podstep")

    def create(self, name: str, *options: str) -> str:
        """Create a database; return its URL."""
        database = f"backup_{os.getpid()}_{name}"
        subprocess.run([program("createdb"), *self.where, *options, database], env=PASSWORD, check=True)
        return f"postgresql://podstep:{SHELL['POSTGRES_PASSWORD']}@127.0.0.1:{self.port}/{database}"

    def drop(self, url: str) -> None:
        """Drop a database."""
        database = url.rpartition("/")[2]
        subprocess.run([program("dropdb"), "--force", *self.where, database], env=PASSWORD, check=True)


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.xdist_group("compose"))]
)
def make(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Make]:
    """Make installations on a database of each kind, empty and migrated: copies of one."""
    home = tmp_path_factory.mktemp("backups")
    server = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    databases = server and Databases(server)
    numbers = count()
    urls = [databases.create("migrated")] if databases else [""]
    Place(home / "migrated", urls[0]).manage("migrate", "--skip-checks", "--verbosity", "0")

    def made(name: str) -> Place:
        name = f"{name}{next(numbers)}"  # a test that is run again makes its places again
        if not databases:
            shutil.copytree(home / "migrated", home / name, ignore=shutil.ignore_patterns("secret"))
            return Place(home / name)
        urls.append(databases.create(name, "--template", urls[0].rpartition("/")[2]))
        return Place(home / name, urls[-1])

    yield made
    if databases:
        for url in urls:
            databases.drop(url)


def damaged(file: Path) -> Path:
    """Write a copy of a file in which some bytes in the middle are others."""
    whole = file.read_bytes()
    at = len(whole) // 2
    copy = file.with_name(f"damaged-{file.name}")
    copy.write_bytes(whole[:at] + bytes(byte ^ 255 for byte in whole[at : at + 7]) + whole[at + 7 :])
    return copy


def test_a_backup_is_restored_whole_and_nothing_is_lost_by_mistake(make: Make, tmp_path: Path) -> None:
    """All that was stored is the same elsewhere; a restore replaces only what is named, and when it may.

    One backup for all of it, since every command is a process.
    """
    here, there, file = make("here"), make("there"), tmp_path / "all.podstep"
    reported = here.shell(FILL + SHARED + SIGN_UP + WORKED + SHOWN + SIGNED_IN + DIGESTS)
    shown, before = reported.splitlines()[:4], reported.splitlines()[4:]
    assert shown == ["True step=2", "{'step': '2'} ['yes', 'no'] ['0'] False", "['Why?']", "1 draft"]
    assert {line.split()[0] for line in before} == {"Scenario", "Share", "Draft", "Run", "RunChunk"}
    printed = here.manage("backup", str(file))
    assert "2 drafts, 1 links, 1 runs, 1 chunks, 1 accounts, 1 answers" in printed
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob(".*")] == []
    assert "is there already" in here.refused("backup", str(file))

    assert "restored 2 drafts" in there.manage("restore", str(file))
    # The account signs in by its password; a worker of the backup is on another machine, so it is not alive.
    assert there.shell(SHOWN + SIGNED_IN + DIGESTS + REMEMBERED) == f"{reported}0 answered\n"
    assert (there.home / "secret").read_text() == (here.home / "secret").read_text()
    assert stat.S_IMODE((there.home / "secret").stat().st_mode) == 0o600
    # It is a working database: what comes after gets ids of its own.
    more = FILL.replace("a title", "another title") + SIGN_UP.replace("ada", "grace")
    after = there.shell(more + DIGESTS)
    assert set(before) < set(after.splitlines())

    assert "--replace" in there.refused("restore", str(file))
    assert "is damaged" in there.refused("restore", "--replace", str(damaged(file)))
    assert there.digests() == after
    there.manage("restore", "--replace", str(file))
    assert there.shell(DIGESTS + ALIVE).splitlines() == before
    assert "Stop podstep first" in there.refused("restore", "--replace", str(file))


def test_an_older_database_is_measured_and_dated(make: Make) -> None:
    """Both databases count the bytes of rows that were stored before rows knew their size."""
    here = make("older")
    before = here.shell(FILL + SIZES)
    assert here.shell(BACK_AND_FORTH + SIZES) == before


@pytest.mark.xdist_group("compose")
def test_missing_programs_are_named(postgres: Server, tmp_path: Path) -> None:
    """Without PostgreSQL's client programs, or with old ones, the message says what to install."""
    url = f"postgresql://podstep:{SHELL['POSTGRES_PASSWORD']}@127.0.0.1:{postgres.port}/podstep"
    empty = tmp_path / "bin"
    empty.mkdir()
    here = Place(tmp_path / "here", url, PATH=str(empty))
    here.manage("migrate", "--skip-checks", "--verbosity", "0")
    said = here.refused("backup", str(tmp_path / "a.podstep"))
    assert "pg_dump is not on the PATH" in said and "postgresql-client-" in said
    (empty / "pg_dump").write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.24'\n")
    (empty / "pg_dump").chmod(0o755)
    assert "is older than the server's" in here.refused("backup", str(tmp_path / "a.podstep"))
    assert [path.name for path in tmp_path.glob("*.podstep")] == []
