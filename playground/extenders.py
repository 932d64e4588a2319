"""Calls of extenders that the operator approved, each made once: its answer is kept and replayed.

Web processes, the processes of the pool and workers share the answers, as files below ``DATA_DIR``: who
steps back, opens the link or runs the scenario again sees what was answered first. Without approved URLs
nothing here is used.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tarfile
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import structlog
from django.conf import settings
from msgspec import json
from msgspec.structs import replace

from playground.limits import limit
from scheduler_core.schedulers.extenders import approval
from scheduler_core.schedulers.extenders.port import Reply
from scheduler_core.schedulers.extenders.webhooks.allowlist import Approved

log = structlog.get_logger(__name__)

FOLDER = "extenders"
DAY = 86_400.0
_ANSWER = re.compile(r"[0-9a-f]{2}/[0-9a-f]{64}")  # as Remembered names its files


def install() -> None:
    """Let this process call the approved extenders, if there are any."""
    if settings.EXTENDERS:
        approval.install(Remembered(Path(settings.DATA_DIR) / FOLDER))


class Remembered:
    """The transport of the server: calls approved URLs, and never the same twice."""

    def __init__(self, folder: Path) -> None:
        from scheduler_core.schedulers.extenders.webhooks.transport import Webhooks

        self._folder = folder
        self._calls = Webhooks(
            Approved(settings.EXTENDERS, settings.EXTENDER_NETWORKS),
            seconds=limit("EXTENDER_SECONDS"),
            most_bytes=limit("EXTENDER_BYTES"),
        )

    def approves(self, url: str) -> bool:
        """Return whether a URL may be called."""
        return self._calls.approves(url)

    def post(self, url: str, body: str, timeout: float, about: str) -> Reply:
        """Return what was answered before to this request of this run; if nothing was, post it."""
        name = hashlib.sha256(f"{about}\n{url}\n{body}".encode()).hexdigest()
        path = self._folder / name[:2] / name
        known = _read(path)
        return known if known is not None else _keep(path, self._calls.post(url, body, timeout, about))


def _read(path: Path) -> Reply | None:
    try:
        reply = json.decode(path.read_bytes(), type=Reply)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        log.warning("answer of an extender unreadable", file=path.name, error=str(error))
        return None
    if time.time() - path.stat().st_mtime > DAY:
        with suppress(OSError):
            os.utime(path)  # it is used: it expires later
    return replace(reply, source="recorded")


def _keep(path: Path, reply: Reply) -> Reply:
    """Store a reply; of two that were fetched at the same time, return the one that was stored first."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent) as file:
            file.write(json.encode(reply))
            file.flush()
            try:
                os.link(file.name, path)
            except FileExistsError:
                return _read(path) or reply
    except OSError as error:
        log.warning("answer of an extender not kept", error=str(error))
    return reply


def remove_expired() -> int:
    """Delete the answers that nobody used in EXTENDER_DAYS; return how many there were."""
    before = time.time() - limit("EXTENDER_DAYS") * DAY
    removed = 0
    for path in (Path(settings.DATA_DIR) / FOLDER).glob("*/*"):
        with suppress(OSError):
            if path.stat().st_mtime < before:
                path.unlink()
                removed += 1
    return removed


# --- backups -------------------------------------------------------------------------------------


def pack(path: Path) -> int:
    """Write all answers into a tar archive, with the times of their last use; return how many there are."""
    folder, packed = Path(settings.DATA_DIR) / FOLDER, 0
    with tarfile.open(path, "w") as archive:
        for file in sorted(folder.glob("*/*")):
            name = f"{file.parent.name}/{file.name}"
            if _ANSWER.fullmatch(name):
                with suppress(FileNotFoundError):  # removed meanwhile
                    archive.add(file, name, recursive=False)
                    packed += 1
    return packed


def unpack(path: Path) -> None:
    """Put the answers of an archive in place of those that are stored; other members are left out."""
    folder = Path(settings.DATA_DIR) / FOLDER
    with tempfile.TemporaryDirectory(prefix="podstep-answers-", dir=settings.DATA_DIR) as home:
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and _ANSWER.fullmatch(member.name):
                    _extract(archive, member, Path(home) / member.name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for part in Path(home).iterdir():
            part.rename(folder / part.name)


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    source = archive.extractfile(member)
    assert source is not None
    path.parent.mkdir(exist_ok=True)
    with source, path.open("wb") as target:
        shutil.copyfileobj(source, target)
    os.utime(path, (member.mtime, member.mtime))
