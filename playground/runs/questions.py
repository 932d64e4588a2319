"""Questions about a run: its tables as Parquet files of this machine, and answers to statements."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from django.conf import settings

from playground.limits import MIB, limit
from playground.models import Run, RunChunk
from playground.playback.tables import ABSENT, PENDING, Tables
from playground.playback.trail import Trail
from playground.pool import offload
from playground.pool.shares import BusyError
from playground.storage import bundles
from playground.visitors import identity
from scheduler_core.record.query.statement import Answer, ask, file_of
from scheduler_core.record.query.tables import TABLES, RunTables

AT_ONCE = 2
PARTIAL = "partial-"
WAIT_SECONDS = 5.0
_asking = threading.BoundedSemaphore(AT_ONCE)


def answer(run: Run, sql: str) -> Answer:
    """Return the answer to one SELECT about a run. Raises QueryError and BusyError."""
    with _turn():
        return ask(tables_of(run), sql)


def answer_file(run: Run, sql: str, form: str) -> bytes:
    """Return the answer to one SELECT about a run as CSV or Parquet. Raises QueryError and BusyError."""
    with _turn():
        return file_of(tables_of(run), sql, form)


@contextmanager
def _turn() -> Iterator[None]:
    """Wait for one of the few processes that answer statements at once. Raises BusyError."""
    if not _asking.acquire(timeout=WAIT_SECONDS):
        raise BusyError("Too many questions are being answered. Try again in a moment.")
    try:
        yield
    finally:
        _asking.release()


def tables_of(run: Run) -> Path:
    """Return the folder with the tables of a run as it is now, written where it is not there.

    Folders that were not used for longest are removed beyond ``QUERY_MIB``.
    """
    root = settings.DATA_DIR / "queries"
    folder: Path = root / f"{run.pk}-{run.cycles}-{run.state}"
    if not folder.is_dir():
        root.mkdir(exist_ok=True)
        _place(_written(run), folder)
        _trim(root, folder)
    folder.touch()
    return folder


def _place(files: dict[str, bytes], folder: Path) -> None:
    """Write files to a new folder, which is there with all of them or not at all."""
    made = Path(mkdtemp(prefix=PARTIAL, dir=folder.parent))
    for name, data in files.items():
        (made / name).write_bytes(data)
    try:
        made.rename(folder)
    except OSError:  # another thread was first
        shutil.rmtree(made)


def _trim(root: Path, current: Path) -> None:
    kept = (one for one in root.iterdir() if one != current and not one.name.startswith(PARTIAL))
    folders = sorted(kept, key=lambda one: one.stat().st_mtime)
    sizes = {one: sum(file.stat().st_size for file in one.iterdir()) for one in (*folders, current)}
    left = limit("QUERY_MIB") * MIB - sum(sizes.values())
    for folder in folders:
        if left >= 0:
            return
        shutil.rmtree(folder, ignore_errors=True)
        left += sizes[folder]


def _written(run: Run) -> dict[str, bytes]:
    """Return the files of a run's tables, made in the pool."""
    content = bytes(run.scenario.content)
    rows = RunChunk.objects.filter(run_id=run.pk).order_by("number").values_list("data", "messages")
    chunks = [(bytes(data), None if messages is None else bytes(messages)) for data, messages in rows]
    if offload.enabled():
        return offload.compute(identity.asker(), parquet_of, content, chunks, long=True)
    return parquet_of(content, chunks)


def parquet_of(content: bytes, chunks: list[tuple[bytes, bytes | None]]) -> dict[str, bytes]:
    """Return the Parquet files of a run by name, of its scenario's content and its chunks as stored."""
    scenario = bundles.restore(content)
    tables = Tables(scenario)
    trail = Trail(scenario, tables)
    messages: dict[int, str] = {}
    for data, words in chunks:
        trail.extend(_json(data))
        messages |= {} if words is None else dict(_json(words))
    made = RunTables()
    for index, decision in enumerate(trail.decisions, 1):
        made.add_cycle(index, trail.step(index), trail.time(index), decision, messages.get(index))
    places = {PENDING: "", ABSENT: None}
    for pod, place in zip(tables.pods, trail.placement.tolist()):
        made.add_pod(pod, places[place] if place in places else tables.nodes[place].meta.name)
    for node in tables.nodes:
        made.add_node(node)
    with TemporaryDirectory() as folder:
        made.write(Path(folder))
        return {f"{name}.parquet": Path(folder, f"{name}.parquet").read_bytes() for name in TABLES}


def _json(packed: bytes) -> Any:
    return json.loads(bundles.unpack(packed))
