"""Lessons of links that the operator approved: fetched in the background, checked, and kept on disk.

``PLAYGROUND_LESSONS`` names folders and links. The archive of a link is checked as an upload is, by playing
it, and kept with its hash below the data folder; the last good copy stays when the link fails or has become
unsound. Whoever asks gets what is on disk: no request waits for another server.
"""

from __future__ import annotations

import fcntl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec
import structlog
from django.conf import settings
from msgspec import Struct
from msgspec.structs import replace

from playground.courseware import LessonError
from playground.courseware.archives import PACKED, unpacked
from playground.lessons import checks
from playground.limits import limit

log = structlog.get_logger(__name__)

THREAD = "lessons of links"
AGAIN = 900  # seconds until a link that failed is tried again, unless the interval is shorter
LOOKED = 10.0  # seconds for which a process does not look at the disk again
OPERATOR = ""  # whose lessons fetched ones are, to the pool: nobody's
REMEDY = "Check PLAYGROUND_LESSONS and what it links to."


class Kept(Struct, frozen=True):
    """What is known of a link: the hash of its last good archive, when it was tried, and why it failed."""

    link: str
    sha256: str = ""
    folder: str = ""
    good: float = 0  # seconds since the epoch, when the archive was fetched
    tried: float = 0
    error: str = ""

    @property
    def due(self) -> float:
        """When the link is to be tried again."""
        interval = limit("LESSON_LINK_SECONDS")
        return self.tried + (min(AGAIN, interval) if self.error else interval)


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "lessons"


def _path(link: str, ending: str) -> Path:
    return _folder() / f"{sha256(link.encode()).hexdigest()[:24]}.{ending}"


def kept(link: str) -> Kept:
    """Return what is known of a link."""
    try:
        return msgspec.json.decode(_path(link, "json").read_bytes(), type=Kept)
    except (OSError, msgspec.DecodeError):
        return Kept(link)


def files_of(of: Kept) -> dict[str, str]:
    """Return the files of the last good archive. Raises LessonError if the disk has another one, or none."""
    try:
        data = _path(of.link, "zip").read_bytes()
    except OSError as error:
        raise LessonError(f"the kept copy cannot be read: {error.strerror}") from None
    if sha256(data).hexdigest() != of.sha256:
        raise LessonError("the kept copy has another hash than when it was fetched")
    return unpacked(data)[1]


# --- fetching


def fetch(link: str) -> Kept:
    """Fetch a link now, and keep its archive if it is sound; return what is known then."""
    before, now = kept(link), time.time()
    try:
        data = _archive(link)
        name, digest = _sound(data), sha256(data).hexdigest()
    except LessonError as error:
        after = replace(before, tried=now, error=str(error)[:500])
        log.warning("a lesson's link was not taken", link=link, error=after.error, kept=bool(after.sha256))
    else:
        after = Kept(link, digest, name, now, now)
        _write(_path(link, "zip"), data)
    _write(_path(link, "json"), msgspec.json.encode(after))
    return after


def _archive(link: str) -> bytes:
    import requests  # takes a process half a second, which most never need

    from playground.runtime.outbound import BoundedSession

    try:
        answer = BoundedSession(lambda url: url == link, REMEDY, PACKED).get(link)
    except requests.exceptions.RequestException as error:
        raise LessonError(f"it cannot be fetched: {error}") from error
    if answer.status_code != requests.codes.ok:
        raise LessonError(f"it answered {answer.status_code}")
    return answer.content


def _sound(data: bytes) -> str:
    """Return the folder of an archive that the tests find nothing in. Raises LessonError."""
    name, files = unpacked(data)
    if not (name[:2].isdigit() and name[2:3] == "-"):
        raise LessonError("the archive's folder is named by a number and a slug, such as 01-our-cluster")
    found = checks.problems(OPERATOR, name, files)
    if found:
        first = found[0]
        raise LessonError(f"{len(found)} problems; {first.file}:{first.line or 1}: {first.message}")
    return name


def _write(path: Path, data: bytes) -> None:
    """Replace a file as a whole: other processes read it."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    Path(file.name).replace(path)


# --- in the background

_lock = threading.Lock()
_seen: tuple[float, tuple[Kept, ...]] = (0.0, ())


def found(links: tuple[str, ...]) -> tuple[Kept, ...]:
    """Return what is known of links, as this process last looked, and have those that are due fetched."""
    global _seen  # noqa: PLW0603 - of the process
    if not links:
        return ()
    looked, known = _seen
    if time.monotonic() - looked > LOOKED or [one.link for one in known] != list(links):
        known = tuple(map(kept, links))
        _seen = time.monotonic(), known
        if any(one.due < time.time() for one in known) and _lock.acquire(blocking=False):
            threading.Thread(target=_refresh, args=(links,), name=THREAD, daemon=True).start()
    return known


def forget() -> None:
    """Look at the disk again."""
    global _seen  # noqa: PLW0603 - of the process
    _seen = (0.0, ())


def _refresh(links: tuple[str, ...]) -> None:
    try:
        with _alone() as first:
            for link in links if first else ():
                if kept(link).due < time.time():
                    fetch(link)
    except Exception as error:
        log.warning("the links of lessons were not looked at", error=repr(error))
    finally:
        forget()
        _lock.release()


@contextmanager
def _alone() -> Iterator[bool]:
    """Yield whether no other process is fetching."""
    _folder().mkdir(mode=0o700, exist_ok=True)
    with (_folder() / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
