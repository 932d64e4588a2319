"""The broker of one machine, a folder of messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from kombu.connection import Connection
from kombu.simple import SimpleQueue

from playground import broker
from playground.celery import app


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[SimpleQueue]:
    """A queue in a folder of its own, of a name of its own, for kombu remembers queues by their names."""
    options = {
        "data_folder_in": tmp_path,
        "data_folder_out": tmp_path,
        "control_folder": tmp_path / "control",
    }
    with Connection("filesystem://", transport_options=options) as connection:
        assert isinstance(connection.transport, broker.Transport)
        with connection.SimpleQueue(tmp_path.name) as queue:
            yield queue


def test_the_worker_uses_it() -> None:
    """What the settings call ``filesystem://`` is podstep's own."""
    with app.connection_for_read("filesystem://") as connection:
        assert isinstance(connection.transport, broker.Transport)


def test_messages_come_in_their_order(queue: SimpleQueue) -> None:
    """A message that was put is got, the first one first, and is then gone."""
    for text in ("first", "second"):
        queue.put({"run": text})
    for text in ("first", "second"):
        message = queue.get_nowait()
        message.ack()
        assert message.payload == {"run": text}
    with pytest.raises(queue.Empty):
        queue.get_nowait()


def test_a_message_is_whole_once_it_is_seen(queue: SimpleQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who looks before it is written whole finds nothing."""
    rename, written = Path.rename, []

    def look_first(path: Path, target: Path) -> Path:
        written.append(json.loads(path.read_text()))
        with pytest.raises(queue.Empty):
            queue.get_nowait()
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", look_first)
    queue.put({"run": "one"})
    assert len(written) == 1
    assert queue.get_nowait().payload == {"run": "one"}


def test_what_cannot_be_read_is_passed_over(queue: SimpleQueue, tmp_path: Path) -> None:
    """An empty message, as a full disk leaves it, neither ends the worker nor keeps it from the next."""
    (tmp_path / f"0.{tmp_path.name}.msg").touch()
    queue.put({"run": "one"})
    with pytest.raises(queue.Empty):
        queue.get_nowait()
    assert queue.get_nowait().payload == {"run": "one"}


def test_what_cannot_be_written_leaves_nothing_behind(
    queue: SimpleQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is told to whoever sends; no half of a message stays on it."""

    def full(path: Path, text: str) -> int:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        queue.put({"run": "one"})
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []
