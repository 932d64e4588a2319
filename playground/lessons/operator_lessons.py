"""The operator's lessons beside the shipped ones: of folders, read when the process first asks, and of links.

Setting ``PLAYGROUND_LESSONS``. What is unsound is left out and logged; ``manage.py check_lessons`` says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import structlog
from django.conf import settings

from playground.courseware import Lesson, LessonError
from playground.courseware import lesson as shipped
from playground.courseware.reader import LARGEST, MOST_FILES, is_file
from playground.lessons import checks, links
from playground.lessons.catalogue import Track
from scheduler_core.formats.limits import FormatError
from scheduler_core.formats.text import decode

log = structlog.get_logger(__name__)

MOST = 200  # lessons of a folder
MOST_LINKS = 50
HERE = ("localhost", "127.0.0.1", "::1")  # for which http will do


class Sources(NamedTuple):
    """What the setting names."""

    folders: tuple[str, ...]
    links: tuple[str, ...]


def sources(setting: str) -> Sources:
    """Return the folders and links of a setting. Raises LessonError for a link that is not https."""
    named = [one for one in re.split(r"(?<!\s)\s+(?=https?://|/)", setting.strip()) if one]
    found = Sources(
        tuple(one for one in named if not re.match("https?://", one)),
        tuple(one for one in named if re.match("https?://", one)),
    )
    for link in found.links:
        check_link(link)
    if len(found.links) > MOST_LINKS:
        raise LessonError(f"PLAYGROUND_LESSONS has more than {MOST_LINKS} links")
    return found


def check_link(link: str) -> None:
    """Refuse what is no https link, or http to this machine. Raises LessonError."""
    try:
        parts = urlsplit(link)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or (parts.scheme != "https" and host not in HERE) or re.search(r"\s", link):
        raise LessonError(f"{link[:200]} in PLAYGROUND_LESSONS is not an https:// link")


def lessons() -> tuple[Lesson, ...]:
    """Return the operator's lessons in the order of their folders; none without the setting."""
    return _of_setting(settings.LESSONS) if settings.LESSONS else ()


def _of_setting(setting: str) -> tuple[Lesson, ...]:
    try:
        named = sources(setting)
    except LessonError as error:
        log.warning("no lesson of this server is listed", error=str(error))
        return ()
    copies = tuple(one for one in links.found(named.links) if one.sha256)
    return _lessons(named.folders, tuple((one.link, one.sha256) for one in copies))


@lru_cache(maxsize=1)
def _lessons(folders: tuple[str, ...], copies: tuple[tuple[str, str], ...]) -> tuple[Lesson, ...]:
    """Return the lessons of folders and of kept copies; ``copies`` tells apart what is kept."""
    return tuple(_sound(folders, [links.kept(link) for link, _ in copies]))


def forget() -> None:
    """Read folders and kept copies again."""
    _lessons.cache_clear()
    links.forget()


def lesson(slug: str) -> Lesson | None:
    """Return the operator's lesson with that slug, None if there is none."""
    return next((one for one in lessons() if one.slug == slug), None)


def track() -> Track | None:
    """Return the operator's lessons as a track, None without any."""
    found = lessons()
    return Track("server", "From this server", "Written for those who learn here.", found) if found else None


def _sound(named: tuple[str, ...], copies: list[links.Kept]) -> Iterator[Lesson]:
    known: set[str] = set()
    read: list[tuple[str, str, Callable[[], dict[str, str]]]] = [
        (str(one), one.name, partial(files_in, one)) for folder in named for one in _there(Path(folder))
    ]
    read += [(one.link, one.folder, partial(links.files_of, one)) for one in copies]
    for where, name, files in read:
        try:
            found = checks.read(name, files())
            if shipped(found.slug) is not None or found.slug in known:
                raise LessonError(f"there is another lesson called {found.slug}")
        except LessonError as error:
            log.warning("a lesson was left out", source=where, error=str(error)[:300])
            continue
        known.add(found.slug)
        yield found


def _there(folder: Path) -> list[Path]:
    try:
        return folders(folder)
    except LessonError as error:
        log.warning("no lesson of a folder is listed", folder=str(folder), error=str(error))
        return []


def folders(folder: Path) -> list[Path]:
    """Return the folders of lessons in a folder, at most :data:`MOST`. Raises LessonError if it is none."""
    try:
        found = sorted(one for one in folder.iterdir() if one.is_dir() and one.name[:2].isdigit())
    except OSError as error:
        raise LessonError(f"{folder} cannot be read: {error.strerror}") from None
    return found[:MOST]


def files_in(folder: Path) -> dict[str, str]:
    """Return a lesson's files by their name in its folder. Raises LessonError."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() or name.startswith(".") or "/." in name:
            continue
        if path.is_symlink() or not is_file(name):
            raise LessonError(f"{name} is not a file of a lesson")
        if path.stat().st_size > 4 * LARGEST or len(found) >= MOST_FILES:
            raise LessonError(f"a lesson has at most {MOST_FILES} files of {LARGEST // 1024} KiB")
        try:
            found[name] = decode(path.read_bytes()).replace("\r\n", "\n")
        except FormatError as error:
            raise LessonError(f"{name}: {error.message}") from None
    return found
