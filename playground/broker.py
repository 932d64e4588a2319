"""The broker of one machine: kombu's folder of messages, in which each is whole once it can be seen."""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

import structlog
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

log = structlog.get_logger(__name__)


class Channel(filesystem.Channel):
    """Kombu's, but for how a message comes and goes.

    Its own opens a file before it writes to it: a worker that looks in between takes an empty message, and
    ends.
    """

    def _put(self, queue: str, payload: Any, **_: Any) -> None:  # type: ignore[override]
        """Write a message under a name that nobody looks for, then give it its own."""
        path = Path(self.data_folder_out) / f"{time.monotonic_ns():020}_{uuid.uuid4()}.{queue}.msg"
        unseen = path.with_name(f"{path.name}.unseen")
        try:
            unseen.write_text(dumps(payload))  # type: ignore[no-untyped-call]
            unseen.rename(path)
        except OSError:
            unseen.unlink(missing_ok=True)
            raise

    def _get(self, queue: str) -> Any:  # type: ignore[override]
        """Take the next message; one that cannot be read counts as none, for its run is announced again."""
        try:
            return super()._get(queue)  # type: ignore[no-untyped-call]
        except ValueError as error:
            log.warning("a message could not be read", queue=queue, error=repr(error))
            raise Empty from error


class Transport(filesystem.Transport):
    """Kombu's, with these channels."""

    Channel = Channel


def register() -> None:
    """Let ``filesystem://`` mean this one."""
    TRANSPORT_ALIASES["filesystem"] = f"{__name__}:Transport"
