"""The file of a scenario, without the database: by a process of the pool, and by a command."""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec import Struct

from playground.models import SHORT_ID, Scenario
from playground.playback.sources import Source
from playground.pool.jobs import pool_job
from playground.recordings.document import RecordingPage, document
from playground.recordings.recorder import record
from playground.storage import bundles, store, texts


class RecordedScenario(Struct, frozen=True):
    """What is recorded: the packed content of a scenario as stored, and its text."""

    content: bytes
    text: str
    title: str
    scheduler: str = ""  # under which it is played, "" for the one that it asks for itself
    living: bool = False
    threads: list[dict[str, Any]] = []  # of comments


@pool_job
def made(recorded: RecordedScenario, query: str = "", server: str = "") -> str:
    """Return the HTML file of a scenario, which opens at the view ``query``.

    Raises TooLongError, and what reading the scenario raises.
    """
    source = source_of(recorded)
    recording = asyncio.run(record(source, recorded.threads, bundles.watching()))
    page = RecordingPage(
        title=recorded.title,
        text=recorded.text,
        release=recording.release,
        about=texts.introduction(recorded.text),
        query=query,
        server=server,
    )
    return document(recording, page, source.wire)


def source_of(recorded: RecordedScenario) -> Source:
    """Return the source of a row that is not stored: its address is that of its text."""
    digest = store.address_of(recorded.title, recorded.text)
    row = Scenario(
        digest=digest,
        short=digest[:SHORT_ID],
        title=recorded.title,
        content=recorded.content,
        text=bundles.pack(recorded.text.encode()),
        size=bundles.text_bytes(recorded.text),
        nodes=0,
        pods=0,
    )
    return Source({"scenario": row.short}, row, scheduler=recorded.scheduler, living=recorded.living)
