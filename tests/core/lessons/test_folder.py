"""A lesson's files as authors change them in the browser, and the archive that they leave and come in."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Mapping

import pytest

from playground.courseware import folder
from playground.courseware.archives import PACKED, packed, unpacked
from playground.courseware.model import LessonError
from playground.courseware.reader import LARGEST, MOST_FILES, MOST_STOPS, read_lesson
from tests.core.lessons.data import FILES, SCENARIO, WORDS


def archive(files: Mapping[str, bytes | str], **more: int) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content, **more)
    return into.getvalue()


def keys(files: Mapping[str, str]) -> list[str]:
    return [stop.key for stop in folder.stops(files)]


# Files


def test_what_is_rewritten_is_read_as_it_was() -> None:
    """A stop that went through an author's page is the same stop."""
    after = dict(FILES)
    for stop in folder.stops(FILES):
        after[stop.name] = folder.stop_file(stop.head, stop.text)
    before, again = (read_lesson("01-one-fits", files, WORDS) for files in (FILES, after))
    assert before.stops == again.stops
    head = folder.written(folder.head_of(FILES["lesson.yaml"]))
    assert read_lesson("01-one-fits", {**FILES, "lesson.yaml": head}, WORDS) == before


def test_the_same_scenario_is_there_once() -> None:
    """Two stops about the same text share its file, and another text gets its own."""
    files, first = folder.with_scenario(folder.blank("A"), SCENARIO)
    files, again = folder.with_scenario(files, SCENARIO)
    files, other = folder.with_scenario(files, f"{SCENARIO}# another")
    assert (first, again, other) == ("scenario.yaml", "scenario.yaml", "scenario-2.yaml")


def test_stops_are_added_moved_and_removed() -> None:
    """Their files are numbered from 01 on, and keys are unique."""
    files: Mapping[str, str] = folder.with_scenario(folder.blank("A"), SCENARIO)[0]
    for title in ("First!", "First!", "…"):
        files, _ = folder.with_stop(files, {"title": title}, "Look.")
    assert keys(files) == ["first", "first-2", "stop"]
    files = folder.ordered(files, ["stop", "first", "first-2"])
    assert [name for name in sorted(files) if "/" in name] == [
        "stops/01-stop.md", "stops/02-first.md", "stops/03-first-2.md",
    ]  # fmt: skip
    assert keys(folder.without(files, "first")) == ["stop", "first-2"]
    with pytest.raises(LessonError, match="added or removed elsewhere"):
        folder.ordered(files, ["stop"])
    with pytest.raises(LessonError, match="no longer there"):
        folder.without(files, "gone")


def test_a_stop_takes_its_files_with_it() -> None:
    """The solution of an edit that is removed would be a file that no stop uses."""
    left = folder.without(FILES, "other")
    assert "solution.yaml" not in left and "wrong/half.yaml" not in left
    assert left["scenario.yaml"] == FILES["scenario.yaml"]


def test_stops_are_bounded() -> None:
    """As many as the reader takes, and no more."""
    files: Mapping[str, str] = folder.blank("A")
    for _ in range(MOST_STOPS):
        files, _ = folder.with_stop(files, {"title": "x"}, "Look.")
    with pytest.raises(LessonError, match="at most"):
        folder.with_stop(files, {"title": "x"}, "Look.")


def test_a_broken_stop_says_why() -> None:
    """Its author sees the file as it is."""
    broken = {**FILES, "stops/01-which.md": "---\ntitle: [\n---\nText"}
    stop = folder.stops(broken)[0]
    assert stop.error and stop.text.startswith("---") and not stop.head


# Archives


def test_an_archive_is_the_folder() -> None:
    """Out and in again nothing changes, and the same lesson is the same archive."""
    data = packed("07-one-fits", FILES)
    assert unpacked(data) == ("07-one-fits", dict(FILES))
    assert data == packed("07-one-fits", FILES)
    assert unpacked(archive(FILES)) == ("", dict(FILES)), "packed without its folder"


def bomb() -> bytes:
    return archive({"01-a/lesson.yaml": b"0" * 8_000_000})


def linked() -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as made:
        entry = zipfile.ZipInfo("01-a/lesson.yaml")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(entry, "/etc/passwd")
    return into.getvalue()


def twice() -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as made:
        made.writestr("01-a/lesson.yaml", "a")
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("01-a/lesson.yaml", "b")
    return into.getvalue()


def broken() -> bytes:
    data = bytearray(archive({"01-a/lesson.yaml": "title: x\n" * 50}))
    data[60] ^= 0xFF
    return bytes(data)


def lying() -> bytes:
    """An archive whose directory claims a small file where much is packed."""
    data = archive({"01-a/lesson.yaml": b"0" * 8_000_000})
    return data.replace((8_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))


HOSTILE = [
    (b"", "not a ZIP archive"),
    (b"title: x", "not a ZIP archive"),
    (zlib.compress(b"x"), "not a ZIP archive"),
    (bomb(), "unpacks to more than"),
    (lying(), "Damaged|unpacks to more than"),
    (archive({"../lesson.yaml": "x"}), "unsafe path"),
    (archive({"01-a/../../lesson.yaml": "x"}), "unsafe path"),
    (archive({"/lesson.yaml": "x"}), "unsafe path"),
    (archive({"C:\\lesson.yaml": "x"}), "unsafe path"),
    (archive({"a/b/c/d/e/lesson.yaml": "x"}), "nested deeper"),
    (archive({"01-a/notes.md": "x"}), "no lesson.yaml"),
    (archive({"01-a/lesson.yaml": "x", "02-b/lesson.yaml": "x"}), "no lesson.yaml"),
    (archive({"01-a/lesson.yaml": "x", "01-a/more.zip": "x"}), "link or an archive"),
    (linked(), "link or an archive"),
    (twice(), "twice"),
    (broken(), "Damaged"),
    (archive({"01-a/lesson.yaml": b"\xff\xfe\x00\xd8"}), "lesson.yaml"),
    (archive({"01-a/lesson.yaml": b"a\0b"}), "lesson.yaml"),
    (archive({"01-a/lesson.yaml": "x y" * (LARGEST // 2)}), "KiB|unpacks"),
    (archive({f"01-a/stops/{n}.md": "x" for n in range(3 * MOST_FILES)}), "entries"),
    (archive({"01-a/lesson.yaml": "x"} | {f"01-a/{n}.md": "x" for n in range(MOST_FILES)}), "at most"),
    (b"PK\x03\x04" + b"\0" * PACKED, "at most"),
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_hostile_archive_is_refused(number: int) -> None:
    """With a sentence that says what would be right, and without unpacking it whole."""
    data, message = HOSTILE[number]
    with pytest.raises(LessonError, match=message):
        unpacked(data)


def test_an_encrypted_archive_is_refused() -> None:
    """Nobody is asked for a password."""
    data = bytearray(archive({"01-a/lesson.yaml": "title: x"}))
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + offset] |= 1
    with pytest.raises(LessonError, match="encrypted"):
        unpacked(bytes(data))


def test_hidden_files_are_left_out() -> None:
    """What macOS and editors add is no file of the lesson."""
    data = archive({**{f"01-a/{name}": text for name, text in FILES.items()}, "01-a/.DS_Store": "x"})
    assert unpacked(data)[1] == dict(FILES)
