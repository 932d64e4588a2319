"""A run's decisions in the database: consecutive rows of a trail, compressed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from django.db.models import F

from playground.models import Run, RunChunk
from playground.playback.trail import Trail, TrailRow
from playground.storage.bundles import pack, unpack
from playground.wire import encode

Message = tuple[int, str]  # cycle, text


def write_chunk(
    run: Run, number: int, trail: Trail, first: int, messages: Sequence[Message] = ()
) -> RunChunk:
    """Store the trail's rows from cycle ``first`` to its end, and the messages of the failed cycles."""
    rows = [trail.row(index) for index in range(first, len(trail) + 1)]
    data = pack(encode(rows).encode())
    words = pack(encode(messages).encode()) if messages else None
    Run.objects.filter(pk=run.pk).update(packed=F("packed") + len(data) + len(words or b""))
    return RunChunk.objects.create(
        run=run,
        number=number,
        first=first,
        count=len(rows),
        data=data,
        messages=words,
    )


def read_messages(run_id: str) -> Iterator[Message]:
    """Yield the failed cycles with their messages, in order; old chunks stored none."""
    chunks = RunChunk.objects.filter(run_id=run_id).order_by("number")
    for packed in chunks.values_list("messages", flat=True).iterator(chunk_size=8):
        if packed is not None:
            yield from json.loads(unpack(packed))


def read_chunks(run_id: str, after: int = 0) -> Iterator[list[TrailRow]]:
    """Yield the rows of each chunk that begins after cycle ``after``, in order."""
    chunks = RunChunk.objects.filter(run_id=run_id, first__gt=after).order_by("number").defer("messages")
    for chunk in chunks.iterator(chunk_size=8):
        yield json.loads(unpack(chunk.data))
