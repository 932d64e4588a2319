"""An operator's folder of lessons: listed, played, and left out where it is unsound."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from playground.lessons import lookup, served
from scheduler_core.authoring.lessons.catalogue import _HERE, _texts
from scheduler_core.authoring.lessons.reading import MOST_FILES

pytestmark = pytest.mark.django_db(transaction=True)

FIRST = dict(_texts(_HERE.joinpath("01-first-cycle")))


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """A folder with a sound lesson, which the setting names."""
    written(tmp_path / "01-ours", FIRST)
    settings.LESSONS = str(tmp_path)
    served.lessons.cache_clear()
    yield tmp_path
    served.lessons.cache_clear()


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
    served.lessons.cache_clear()
    assert served.lessons() == ()
    assert "From this server" not in client.get("/learn/").content.decode()


def test_what_is_unsound_is_left_out(folder: Path) -> None:
    """One bad lesson takes none of the others with it."""
    written(folder / "02-first-cycle", FIRST)  # a shipped one's address
    written(folder / "03-broken", {**FIRST, "lesson.yaml": "title: ["})
    written(folder / "04-more", {**FIRST, "run.sh": "rm -rf /"})
    written(folder / "05-many", {f"wrong/{n}.yaml": "x" for n in range(MOST_FILES + 1)})
    (folder / "06-linked").mkdir()
    (folder / "06-linked" / "lesson.yaml").symlink_to("/etc/passwd")
    assert [one.slug for one in served.lessons()] == ["ours"]


def test_a_command_checks_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By playing it, with file and line, before a server lists it."""
    call_command("check_lessons", folder)
    assert "1 lessons are sound." in capsys.readouterr().out
    written(
        folder / "02-told",
        {**FIRST, "stops/03-node.md": FIRST["stops/03-node.md"].replace("phase: predicates", "phase: bind")},
    )
    with pytest.raises(CommandError, match="problems in 2 lessons"):
        call_command("check_lessons", folder)
    assert "02-told/stops/03-node.md:" in capsys.readouterr().out
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("check_lessons", folder / "nowhere")
