"""The broker of one machine, a folder of messages."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from celery.worker.consumer import Consumer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kombu.connection import Connection
from kombu.simple import SimpleQueue

from playground.celery import app
from playground.runtime import broker, messages
from playground.tasks import run_simulation


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of messages."""
    path = tmp_path / "queue"
    path.mkdir()
    return path


@pytest.fixture
def queue(folder: Path) -> Iterator[SimpleQueue]:
    """A queue in a folder of its own, of a name of its own, for kombu remembers queues by their names."""
    with Connection("filesystem://", transport_options={"data_folder_in": folder}) as connection:
        assert isinstance(connection.transport, broker.Transport)
        with connection.SimpleQueue(folder.parent.name) as queue:
            yield queue


def put(queue: SimpleQueue, *args: str) -> None:
    """Send a task as Celery does."""
    task = app.amqp.as_task_v2("11111111-1111-1111-1111-111111111111", run_simulation.name, args=args)
    queue.put(task.body, headers=task.headers, **task.properties)


def arguments(queue: SimpleQueue) -> list[Any]:
    """Return the arguments of the next task, which is gone then; raises queue.Empty."""
    message = queue.get_nowait()
    message.ack()
    found: list[Any] = message.payload[0]
    return found


def text_of(queue: SimpleQueue, folder: Path) -> dict[str, Any]:
    """Return a well-formed message as it lies in the folder."""
    put(queue, "run")
    [path] = folder.glob("*.msg")
    found: dict[str, Any] = json.loads(path.read_text())
    path.unlink()
    return found


def leave(folder: Path, data: bytes, number: int = 0) -> Path:
    """Put a file where the next message of the queue is looked for."""
    path = folder / f"{number:03}.{folder.parent.name}.msg"
    path.write_bytes(data)
    return path


def quarantine(folder: Path) -> list[str]:
    """Return the names of the messages that were set aside."""
    return sorted(path.name for path in (folder.parent / "quarantine").glob("*"))


@pytest.mark.parametrize(
    ("url", "transport"),
    [
        ("filesystem://", broker.Transport),
        ("redis://127.0.0.1/1", broker.RedisTransport),
        ("rediss://127.0.0.1/1", broker.RedisTransport),
    ],
)
def test_the_worker_uses_it(url: str, transport: type) -> None:
    """What the settings call ``filesystem://`` or ``redis://`` is podstep's own."""
    with app.connection_for_read(url) as connection:
        assert isinstance(connection.transport, transport)


def test_messages_come_in_their_order(queue: SimpleQueue, folder: Path) -> None:
    """A message that was put is got, the first one first, and is then gone."""
    for text in ("first", "second"):
        put(queue, text)
    assert [arguments(queue), arguments(queue)] == [["first"], ["second"]]
    with pytest.raises(queue.Empty):
        queue.get_nowait()
    assert list(folder.iterdir()) == []


def test_only_the_owner_reads_messages(queue: SimpleQueue, folder: Path) -> None:
    """Whatever the umask, a message is closed to other users."""
    before = os.umask(0)
    try:
        put(queue, "run")
    finally:
        os.umask(before)
    [path] = folder.glob("*.msg")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_message_is_whole_once_it_is_seen(queue: SimpleQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who looks before it is written whole finds nothing."""
    rename, written = Path.rename, []

    def look_first(path: Path, target: Path) -> Path:
        if path.suffix == broker.UNSEEN:
            written.append(json.loads(path.read_text()))
            with pytest.raises(queue.Empty):
                queue.get_nowait()
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", look_first)
    put(queue, "one")
    assert len(written) == 1
    assert arguments(queue) == ["one"]


def test_a_message_that_cannot_be_written_leaves_nothing_behind(
    queue: SimpleQueue, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is reported to the sender; no half of a message stays on it."""

    def full(path: Path, data: bytes) -> None:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(broker, "_write", full)
    with pytest.raises(OSError, match="No space"):
        put(queue, "one")
    assert list(folder.iterdir()) == []


WRONG: dict[str, Any] = {
    "empty": b"",
    "binary": b"\xff\xfe\x00",
    "half": b'{"body": "e30=", "head',
    "a list": b"[]",
    "too deep": b"[" * 100_000,
    "too long": b" " * (messages.MESSAGE_BYTES + 1),
    "no properties": {"body": "e30=", "headers": {}, "properties": {}},
    "nothing": {},
    "null": None,
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_malformed_file_is_set_aside(queue: SimpleQueue, folder: Path, wrong: Any) -> None:
    """It reaches neither Celery nor the next worker, and the message behind it is delivered at once."""
    path = leave(folder, wrong if isinstance(wrong, bytes) else json.dumps(wrong).encode())
    put(queue, "one")
    assert arguments(queue) == ["one"]
    assert quarantine(folder) == [path.name]


def change(message: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return a copy with another value at a path; ``...`` removes it."""
    copy: dict[str, Any] = json.loads(json.dumps(message))
    inner = copy
    for name in path[:-1]:
        inner = inner[name]
    if value is ...:
        inner.pop(path[-1], None)
    else:
        inner[path[-1]] = value
    return copy


def body(*parts: Any) -> str:
    """Return a task's body as it lies in a message."""
    return base64.b64encode(json.dumps(parts).encode()).decode()


FIELDS: list[tuple[tuple[str, ...], Any]] = [
    (("headers",), None),
    (("headers", "task"), ...),
    (("headers", "task"), ["playground.run_simulation"]),
    (("headers", "id"), ...),
    (("headers", "id"), 7),
    (("headers", "timelimit"), ["soon", {}]),
    (("headers", "timelimit"), 5),
    (("headers", "eta"), {"year": 1}),
    (("headers", "expires"), "9999999"),
    (("headers", "shadow"), {}),
    (("headers", "stamped_headers"), 3),
    (("properties",), []),
    (("properties", "delivery_tag"), ...),
    (("properties", "delivery_tag"), []),
    (("properties", "delivery_info"), "direct"),
    (("properties", "delivery_info", "routing_key"), None),
    (("properties", "body_encoding"), "rot13"),
    (("content-type",), "application/x-python-serialize"),
    (("content-encoding",), "no-such-encoding"),
    (("body",), 5),
    (("body",), "not base64!"),
    (("body",), body([], {})),
    (("body",), body({}, [], {})),
    (("body",), body([], {}, {"callbacks": [{"task": "x"}]})),
]


@pytest.mark.parametrize(("path", "value"), FIELDS)
def test_each_field_is_checked(queue: SimpleQueue, folder: Path, path: tuple[str, ...], value: Any) -> None:
    """A message with one wrong field is set aside whatever the rest of it looks like."""
    leave(folder, json.dumps(change(text_of(queue, folder), path, value)).encode())
    with pytest.raises(queue.Empty):
        queue.get_nowait()
    assert len(quarantine(folder)) == 1


def test_unknown_fields_do_not_reach_celery(queue: SimpleQueue, folder: Path) -> None:
    """A header that another version wrote is dropped, and the message is still delivered."""
    message = change(text_of(queue, folder), ("headers", "compression"), "bzip2")
    leave(folder, json.dumps({**message, "more": 1}).encode())
    got = queue.get_nowait()
    assert got.payload[0] == ["run"]
    assert "compression" not in got.headers


def test_what_is_no_file_is_set_aside(queue: SimpleQueue, folder: Path) -> None:
    """A directory, a link out of the folder and a pipe that nobody writes to keep no worker waiting."""
    name = folder.parent.name
    (folder / f"0.{name}.msg").mkdir()
    (folder / f"00.{name}.msg").symlink_to("/etc/passwd")
    os.mkfifo(folder / f"000.{name}.msg")
    put(queue, "one")
    assert arguments(queue) == ["one"]
    assert len(quarantine(folder)) == 3


def test_the_quarantine_is_bounded(
    queue: SimpleQueue, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The newest few are kept, and each is logged once."""
    monkeypatch.setattr(broker, "QUARANTINED", 3)
    (folder / f"00.{folder.parent.name}.msg").mkdir()
    for number in range(1, 7):
        leave(folder, b"", number)
    for _ in range(2):
        with pytest.raises(queue.Empty):
            queue.get_nowait()
    assert len(quarantine(folder)) == 3
    assert sum("set aside" in record.getMessage() for record in caplog.records) == 7


def test_a_missing_folder_is_made_again(queue: SimpleQueue, folder: Path) -> None:
    """Who removes the folder under a running worker does not end it."""
    folder.rmdir()
    with pytest.raises(queue.Empty):
        queue.get_nowait()
    put(queue, "one")
    assert arguments(queue) == ["one"]


def test_leftovers_of_dead_processes_are_removed(folder: Path) -> None:
    """Files that were half written or half read long ago go; those of this moment stay."""
    old, new = folder / f"1.q.msg{broker.UNSEEN}", folder / f"2.q.msg{broker.TAKEN}"
    for path in (old, new):
        path.touch()
    os.utime(old, (0, 0))
    assert broker.remove_leftovers(folder) == 1
    assert list(folder.iterdir()) == [new]
    assert broker.remove_leftovers(folder / "no-such-folder") == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ROWS = [
    *((name,) for name in ("body", "headers", "properties", *messages.ENVELOPE)),
    *(("headers", name) for name in messages.HEADERS),
    *(("properties", name) for name in (*messages.PROPERTIES, "delivery_info")),
    *(("properties", "delivery_info", name) for name in messages.DELIVERY_INFO),
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(path=st.sampled_from(ROWS), value=JSON | JSON.map(body))
def test_no_message_ends_a_worker(
    queue: SimpleQueue, folder: Path, path: tuple[str, ...], value: Any
) -> None:
    """Whatever stands in a field, Celery's own consumer takes what the broker hands on without an error."""
    good = text_of(queue, folder)
    leave(folder, json.dumps(change(good, path, value)).encode())
    try:
        message = queue.get_nowait()
    except queue.Empty:
        return
    receive(message)


def receive(message: Any) -> None:
    """Hand a message to the functions that a worker's consumer hands it to."""
    consumer = MagicMock(app=app, connection_errors=(), hostname="here", disable_rate_limits=True)
    consumer.controller.state.revoked = set()
    consumer.event_dispatcher = None
    consumer.strategies = {run_simulation.name: run_simulation.start_strategy(app, consumer)}
    for name in ("on_unknown_message", "on_unknown_task", "on_invalid_task", "on_decode_error"):
        setattr(consumer, name, partial(getattr(Consumer, name), consumer))
    Consumer.create_task_handler(consumer)(message)
    for call in consumer.on_task_request.call_args_list:
        call.args[0].execute_using_pool(consumer.pool)
