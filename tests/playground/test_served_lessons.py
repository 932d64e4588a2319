"""An operator's folder of lessons: listed, played, and left out where it is unsound."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from playground.courseware.archives import PACKED, packed
from playground.courseware.catalogue import _HERE, _texts
from playground.courseware.reader import MOST_FILES
from playground.lessons import links, lookup, operator_lessons
from playground.runtime import outbound

pytestmark = pytest.mark.django_db(transaction=True)

FIRST = dict(_texts(_HERE.joinpath("01-first-cycle")))


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """A folder with a sound lesson, which the setting names."""
    written(tmp_path / "01-ours", FIRST)
    settings.LESSONS = str(tmp_path)
    operator_lessons.forget()
    yield tmp_path
    operator_lessons.forget()


def written(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_the_gallery_lists_and_plays_them(folder: Path, client: Client) -> None:
    """Under a heading of their own, with the player of all lessons."""
    page = client.get("/learn/").content.decode()
    assert "From this server" in page and "/learn/ours/" in page
    assert client.get("/learn/ours/").status_code == 200
    assert "ours" in [one["slug"] for one in client.get("/api/lessons").json()["lessons"]]
    found = lookup.lesson_at("ours")
    assert found is not None and lookup.author_of(found) is None


def test_without_the_setting_there_are_none(client: Client) -> None:
    """The gallery has no empty heading."""
    operator_lessons.forget()
    assert operator_lessons.lessons() == ()
    assert "From this server" not in client.get("/learn/").content.decode()


def test_what_is_unsound_is_left_out(folder: Path) -> None:
    """One bad lesson takes none of the others with it."""
    written(folder / "02-first-cycle", FIRST)  # a shipped one's address
    written(folder / "03-broken", {**FIRST, "lesson.yaml": "title: ["})
    written(folder / "04-more", {**FIRST, "run.sh": "rm -rf /"})
    written(folder / "05-many", {f"wrong/{n}.yaml": "x" for n in range(MOST_FILES + 1)})
    (folder / "06-linked").mkdir()
    (folder / "06-linked" / "lesson.yaml").symlink_to("/etc/passwd")
    assert [one.slug for one in operator_lessons.lessons()] == ["ours"]


def test_a_command_checks_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By playing it, with file and line, before a server lists it."""
    call_command("check_lessons", folder)
    assert "1 lessons are sound." in capsys.readouterr().out
    written(
        folder / "02-served",
        {**FIRST, "stops/03-node.md": FIRST["stops/03-node.md"].replace("phase: predicates", "phase: bind")},
    )
    with pytest.raises(CommandError, match="problems in 2 lessons"):
        call_command("check_lessons", folder)
    assert "02-served/stops/03-node.md:" in capsys.readouterr().out
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("check_lessons", folder / "nowhere")


# --- links


class Site:
    """Another server on this machine, which answers what a test says at each path."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.asked: list[str] = []

    def link(self, path: str, body: bytes, status: int = 200) -> str:
        self.answers[path] = status, body
        return f"{self.address}{path}"


@pytest.fixture
def site(tmp_path: Path, settings: Any) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = made.answers.get(self.path, (404, b""))
            made.asked.append(self.path)
            self.send_response(status)
            self.send_header("Location", "/other.zip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Site(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings.DATA_DIR, settings.LESSONS = tmp_path / "data", ""
    settings.DATA_DIR.mkdir()
    operator_lessons.forget()
    yield made
    server.shutdown()
    server.server_close()
    operator_lessons.forget()


def test_a_lesson_of_a_link_is_listed(site: Site, settings: Any, client: Client) -> None:
    """Fetched in the background by the first who asks, who does not wait; a changed archive replaces it."""
    link = site.link("/a.zip", packed("01-from-afar", FIRST))
    settings.LESSONS = link
    assert operator_lessons.lessons() == ()
    fetching(True)
    assert [one.slug for one in operator_lessons.lessons()] == ["from-afar"]
    assert client.get("/learn/from-afar/").status_code == 200
    known = links.kept(link)
    assert (known.sha256, known.error) == (sha256(packed("01-from-afar", FIRST)).hexdigest(), "")
    operator_lessons.lessons()
    fetching(False)
    assert site.asked == ["/a.zip"]  # not again before its time
    site.link("/a.zip", packed("01-from-afar", {**FIRST, "notes.md": "Say less."}))
    links.fetch(link)
    operator_lessons.forget()
    assert operator_lessons.lessons()[0].notes == "Say less."


def fetching(began: bool) -> None:
    """Wait for the thread that fetches, if there is one."""
    found = [one for one in threading.enumerate() if one.name == links.THREAD]
    assert began or not found
    for one in found:
        one.join(30)


def test_what_a_link_may_not_bring(
    site: Site, settings: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is reported by name, and the last good copy stays and is listed."""
    good = packed("01-from-afar", FIRST)
    link = site.link("/a.zip", good)
    links.fetch(link)
    reported = FIRST["stops/03-node.md"].replace("phase: predicates", "phase: bind")
    for body, status, words in (
        (b"", 404, "it answered 404"),
        (good, 302, "redirects, which is not followed"),
        (b"x" * (PACKED + 1), 200, "answered more than"),
        (b"<html>", 200, "archive"),
        (packed("from-afar", FIRST), 200, "named by a number"),
        (packed("01-from-afar", {**FIRST, "stops/03-node.md": reported}), 200, "stops/03-node.md:"),
    ):
        site.link("/a.zip", body, status)
        found = links.fetch(link)
        assert words in found.error, found
        assert found.sha256 == sha256(good).hexdigest()
    assert "/other.zip" not in site.asked
    monkeypatch.setattr(outbound, "WHOLE_SECONDS", -1.0)
    site.link("/a.zip", good)
    assert "took longer" in links.fetch(link).error
    with pytest.raises(CommandError, match="1 problems in 1 lessons"):
        call_command("check_lessons", link)
    assert f"{link}: it cannot be fetched:" in (said := capsys.readouterr().out)
    assert "stays" in said
    settings.LESSONS = link
    operator_lessons.forget()
    assert [one.slug for one in operator_lessons.lessons()] == ["from-afar"]
    links._path(link, "zip").write_bytes(packed("01-from-afar", {**FIRST, "notes.md": "Changed on disk."}))
    operator_lessons.forget()
    assert operator_lessons.lessons() == ()  # another hash than what was checked


@pytest.mark.parametrize(
    "link",
    ["http://example.org/a.zip", "https:///a.zip", "http://[::1", "https://a b/c.zip", "http://10.0.0.1/a"],
)
def test_what_is_no_link(link: str, settings: Any) -> None:
    """Plain http leaves no machine; the gallery has none of the setting's, and the command says why."""
    settings.LESSONS = link
    assert operator_lessons.lessons() == ()
    with pytest.raises(CommandError, match="is not an https:// link"):
        call_command("check_lessons")


def test_folders_and_links_in_one_setting() -> None:
    """Separated by spaces; a folder's name may have some."""
    found = operator_lessons.sources(
        "/srv/our lessons https://a.example/1.zip /srv/more\nhttps://b.example/2.zip"
    )
    assert found == (
        ("/srv/our lessons", "/srv/more"),
        ("https://a.example/1.zip", "https://b.example/2.zip"),
    )
    assert operator_lessons.sources("lessons") == (("lessons",), ())
