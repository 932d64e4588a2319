"""`manage.py backup` and `manage.py restore` on SQLite and on PostgreSQL, by the commands themselves."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.parts import REPOSITORY, program
from tests.services.servers import Server
from tests.services.stack import SHELL, clean_environment

pytestmark = [pytest.mark.services, pytest.mark.timeout(300)]

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
from playground.playback import pinning
from playground.playback.playback import Playback
from playground.rooms import questions, rows
from playground.storage import comments
row = store.find_scenario(store.address_of(scenario.title, text))
playback = Playback(scenario)
playback.reach(99)
pinned = pinning.pinned(playback)
links.create_link(links.LinkRequest("visitor", "a link", "step=2"), row, pinned.what, pinned.decisions)
room = rows.create(row, "visitor", "", {"step": "2"}).room
rows.ask(room.pk, questions.drafted("choice", "", ["yes", "no"]))
rows.vote(room.pk, 1, "somebody", "0")
comments.write(row, comments.checked({"step": "2", "text": "Why?"}), "visitor", None)
"""
#: Prints what a link, a room and a comment show.
SHOWN = """
from playground.models import Comment, Link, Room, RoomVote
from playground.playback import pinning
from playground.playback.playback import Playback
from playground.rooms import rows
from playground.storage import bundles, comments, links, store
link, room = Link.objects.get(), rows.find(Room.objects.get().pk)
playback = Playback(store.load_scenario(links.find_link(link.pk).scenario))
playback.reach(99)
print(pinning.compared(link.pinned, bytes(link.decisions), playback)["same"], link.query)
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
from playground.accounts import signing
from playground.storage import store
store.create_draft("visitor", [("a.yaml", "kind: Node")])
signing.sign_up("ada", "four words of mine", "visitor")
"""
#: Prints what the account of a name and a password holds.
SIGNED_IN = """
from django.contrib.auth import authenticate
from playground.accounts import owning
print(owning.holdings(authenticate(None, username="ada", password="four words of mine").owner))
"""
ALIVE = "\nfrom playground.models import Worker; Worker.objects.create(name='1-celery@there')"


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


Make = Callable[..., Place]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.xdist_group("compose"))])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Make installations on a database of each kind, empty and migrated."""
    databases: list[str] = []
    where: list[str] = []

    def made(name: str, **more: str) -> Place:
        url = ""
        if request.param == "postgresql":
            server: Server = request.getfixturevalue("postgres")
            where[:] = ["--host", "127.0.0.1", "--port", str(server.port), "--username", "podstep"]
            database = f"backup_{os.getpid()}_{name}"
            subprocess.run([program("createdb"), *where, database], env=password, check=True)
            databases.append(database)
            url = f"postgresql://podstep:{SHELL['POSTGRES_PASSWORD']}@127.0.0.1:{server.port}/{database}"
        place = Place(tmp_path / name, url, **more)
        place.manage("migrate", "--verbosity", "0")
        return place

    password = {"PATH": os.environ["PATH"], "PGPASSWORD": SHELL["POSTGRES_PASSWORD"]}
    yield made
    for database in databases:
        subprocess.run([program("dropdb"), "--force", *where, database], env=password, check=True)


def test_what_was_stored_is_the_same_after(make: Make, tmp_path: Path) -> None:
    """A link, a draft, a run and its chunks, digest by digest, and the secret that signs cookies."""
    here, there, file = make("here"), make("there"), tmp_path / "all.podstep"
    here.shell(FILL)
    before = here.digests()
    assert {line.split()[0] for line in before.splitlines()} == {
        "Scenario",
        "Share",
        "Draft",
        "Run",
        "RunChunk",
    }
    assert "1 drafts, 1 links, 1 runs" in here.manage("backup", str(file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob(".*")] == []
    assert "restored 1 drafts" in there.manage("restore", str(file))
    assert there.digests() == before
    assert (there.home / "secret").read_text() == (here.home / "secret").read_text()
    assert stat.S_IMODE((there.home / "secret").stat().st_mode) == 0o600
    # It is a working database: what comes after gets ids of its own.
    after = there.shell(FILL.replace("a title", "another title") + DIGESTS)
    assert set(before.splitlines()) < set(after.splitlines())


def test_links_rooms_and_comments_still_work(make: Make, tmp_path: Path) -> None:
    """What was shared before a backup shows the same after it is restored elsewhere."""
    here, there, file = make("here"), make("there"), tmp_path / "all.podstep"
    shown = here.shell(FILL + SHARED + SHOWN)
    assert shown.splitlines() == [
        "True step=2",
        "{'step': '2'} ['yes', 'no'] ['0'] False",
        "['Why?']",
    ]
    here.manage("backup", str(file))
    there.manage("restore", str(file))
    assert there.shell(SHOWN) == shown


WORKED = """
import os
from pathlib import Path
from django.conf import settings
from playground.models import Worker
Worker.objects.create(name="w@there")
file = Path(settings.DATA_DIR, "extenders", "ab", "ab" * 32)
file.parent.mkdir(parents=True)
file.write_text("answered")
"""
REMEMBERED = """
from pathlib import Path
from django.conf import settings
from playground.models import Worker
print(Worker.objects.count(), Path(settings.DATA_DIR, "extenders", "ab", "ab" * 32).read_text())
"""


def test_answers_of_extenders_come_along_and_workers_do_not(make: Make, tmp_path: Path) -> None:
    """A worker of the backup is on another machine: it must not seem to be alive here."""
    here, there, file = make("here"), make("there"), tmp_path / "all.podstep"
    here.shell(WORKED)
    here.manage("backup", str(file))
    there.manage("restore", str(file))
    assert there.shell(REMEMBERED).splitlines() == ["0 answered"]


def test_accounts_sign_in_after_it(make: Make, tmp_path: Path) -> None:
    """With the password of the backup, as the same owner; and an account keeps others from being replaced."""
    here, there, file = make("here"), make("there"), tmp_path / "all.podstep"
    here.shell(SIGN_UP)
    assert "1 accounts" in here.manage("backup", str(file))
    there.manage("restore", str(file))
    assert there.shell(SIGNED_IN) == here.shell(SIGNED_IN) == "1 draft\n"
    there.shell(SIGN_UP.replace("ada", "grace"))  # with a key of its own
    assert "--replace" in there.refused("restore", str(file))


def test_nothing_is_lost_by_mistake(make: Make, tmp_path: Path) -> None:
    """Replacing needs a word, a damaged file changes nothing, and nothing happens beside a living worker."""
    here, there, file = make("here"), make("there"), tmp_path / "all.podstep"
    stored = here.shell(FILL + DIGESTS)
    here.manage("backup", str(file))
    assert "is there already" in here.refused("backup", str(file))
    before = there.shell(FILL.replace("a title", "another title") + DIGESTS)
    assert "--replace" in there.refused("restore", str(file))

    damaged, whole = tmp_path / "damaged.podstep", file.read_bytes()
    at = len(whole) // 2
    damaged.write_bytes(whole[:at] + bytes(byte ^ 255 for byte in whole[at : at + 7]) + whole[at + 7 :])
    assert "is damaged" in there.refused("restore", "--replace", str(damaged))
    assert there.digests() == before

    there.manage("restore", "--replace", str(file))
    assert there.shell(DIGESTS + ALIVE) == stored
    assert "Stop podstep first" in there.refused("restore", "--replace", str(file))


def test_an_older_database_is_measured_and_dated(make: Make) -> None:
    """Both databases count the bytes of rows that were stored before rows knew their size."""
    here = make("here")
    before = here.shell(FILL + SIZES)
    here.manage("migrate", "playground", "0007", "--verbosity", "0")
    here.manage("migrate", "--verbosity", "0")
    assert here.shell(SIZES) == before


@pytest.mark.xdist_group("compose")
def test_missing_programs_are_named(postgres: Server, tmp_path: Path) -> None:
    """Without PostgreSQL's client programs, or with old ones, the message says what to install."""
    url = f"postgresql://podstep:{SHELL['POSTGRES_PASSWORD']}@127.0.0.1:{postgres.port}/podstep"
    empty = tmp_path / "bin"
    empty.mkdir()
    here = Place(tmp_path / "here", url, PATH=str(empty))
    here.manage("migrate", "--verbosity", "0")
    said = here.refused("backup", str(tmp_path / "a.podstep"))
    assert "pg_dump is not on the PATH" in said and "postgresql-client-" in said
    (empty / "pg_dump").write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.24'\n")
    (empty / "pg_dump").chmod(0o755)
    assert "is older than the server's" in here.refused("backup", str(tmp_path / "a.podstep"))
    assert [path.name for path in tmp_path.glob("*.podstep")] == []
