"""Kombu's transports, where a fault would end a worker.

The broker of one machine is a folder in which each message is a file, complete once it is visible. Kombu has
such a transport (``kombu.transport.filesystem``). This one differs: files appear and disappear by rename,
anything but a well-formed task message is moved to a quarantine folder, and bindings are kept in memory, not
in a file that a full disk can leave truncated.

Of Redis' transport, only what a channel does when it closes is changed.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

import structlog
from kombu.transport import TRANSPORT_ALIASES, filesystem, redis, virtual
from kombu.utils.json import dumps

from playground.runtime import messages

log = structlog.get_logger(__name__)

QUARANTINED = 50  # files kept for inspection; the oldest are deleted
LEFTOVER_SECONDS = 600  # a message is written or read within milliseconds
UNSEEN, TAKEN = ".unseen", ".taken"  # being written; being read


class Channel(virtual.Channel):
    """Queues as files ``<order>_<uuid>.<queue>.msg`` of one folder."""

    supports_fanout = False  # bindings in memory: every process declares the queues it uses

    @property
    def folder(self) -> Path:
        """The folder of messages, from the transport's options."""
        return Path(self.connection.client.transport_options["data_folder_in"])

    def _put(self, queue: str, message: Any, **_: Any) -> None:
        """Write a message under a temporary name that no reader matches, then rename it."""
        path = self.folder / f"{time.monotonic_ns():020}_{uuid.uuid4()}.{queue}.msg"
        unseen = path.with_name(path.name + UNSEEN)
        try:
            _write(unseen, dumps(message).encode())  # type: ignore[no-untyped-call]
            unseen.rename(path)
        except OSError:
            with suppress(OSError):
                unseen.unlink()
            raise

    def _get(self, queue: str, **_: Any) -> dict[str, Any]:  # type: ignore[override]
        """Remove and return the next well-formed message; raises Empty if there is none."""
        for path in self._waiting(queue):
            taken = path.with_name(path.name + TAKEN)
            try:
                path.rename(taken)
            except OSError:  # another worker was faster, or the folder cannot be written
                continue
            try:
                message = messages.read(_read(taken))
            except (OSError, ValueError) as error:
                self._quarantine(taken, error)
                continue
            with suppress(OSError):
                taken.unlink()
            return message
        raise Empty

    def _waiting(self, queue: str) -> Iterator[Path]:
        """Yield the files of a queue's messages, oldest first."""
        ending = f"{queue}.msg"
        try:
            names = sorted(os.listdir(self.folder))  # noqa: PTH208  # ten times a second: names suffice
        except FileNotFoundError:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return
        yield from (self.folder / name for name in names if name.partition(".")[2] == ending)

    def _quarantine(self, path: Path, error: Exception) -> None:
        """Move a malformed message out of every worker's way; only this message is lost."""
        target = self.folder.with_name("quarantine") / path.name.removesuffix(TAKEN)
        try:
            target.parent.mkdir(mode=0o700, exist_ok=True)
            path.rename(target)
            _trim(target.parent)
        except OSError:  # it keeps its taken name, which no reader matches
            target = path
        log.warning("a malformed broker message was set aside", path=str(target), reason=str(error))

    def _size(self, queue: str) -> int:
        return sum(1 for _ in self._waiting(queue))

    def _purge(self, queue: str) -> int:
        count = 0
        for path in self._waiting(queue):
            with suppress(OSError):
                path.unlink()
                count += 1
        return count


class Transport(filesystem.Transport):
    """Kombu's filesystem transport with the channels of this module."""

    Channel = Channel  # type: ignore[assignment]  # kombu's is none of a folder's parents here


class RedisChannel(redis.Channel):
    """Kombu's channel to Redis, which leaves the messages of running tasks alone once it is closed.

    After a lost connection Celery 5.7.0 closes the channel of a connection that it has dismantled already.
    Restoring the messages of running tasks then, or acknowledging one when its task is done, would end the
    worker with an AttributeError. Nothing is lost without either: runs whose message is lost are announced
    again (:mod:`playground.runs.rescue`), and a message that comes twice is harmless.
    """

    do_restore = False

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """Acknowledge a message, unless its connection is lost."""
        if not self.closed:
            super().basic_ack(delivery_tag, multiple)  # type: ignore[no-untyped-call]

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Reject a message, unless its connection is lost."""
        if not self.closed:
            super().basic_reject(delivery_tag, requeue)  # type: ignore[no-untyped-call]


class RedisTransport(redis.Transport):
    """Kombu's transport for Redis with the channels of this module."""

    Channel = RedisChannel


def register() -> None:
    """Register these transports for ``filesystem://``, ``redis://`` and ``rediss://``."""
    TRANSPORT_ALIASES["filesystem"] = f"{__name__}:Transport"
    TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = f"{__name__}:RedisTransport"


def remove_leftovers(folder: Path) -> int:
    """Remove partially written or read files of processes that died; return the number of files.

    Runs whose message is lost are announced again (:mod:`playground.runs.rescue`).
    """
    before = time.time() - LEFTOVER_SECONDS
    removed = 0
    for path in folder.iterdir() if folder.is_dir() else ():
        with suppress(OSError):
            if path.name.endswith((UNSEEN, TAKEN)) and path.lstat().st_mtime < before:
                path.unlink()
                removed += 1
    return removed


def _trim(folder: Path) -> None:
    """Keep the newest entries of the quarantine folder."""
    kept = sorted(folder.iterdir(), key=lambda one: one.lstat().st_ctime_ns)
    for old in kept[:-QUARANTINED]:
        if old.is_dir() and not old.is_symlink():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _read(path: Path) -> bytes:
    # Refuse a link out of the folder, and do not block on a pipe without a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return file.read(messages.MESSAGE_BYTES + 1)
