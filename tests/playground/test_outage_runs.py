"""No outage of storage loses a run: it ends as one that nothing happened to."""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from playground.celery import app
from playground.models import Run, RunChunk
from playground.runs import compute, delivery, rescue, retries
from playground.runtime import outage
from playground.storage.bundles import unpack
from playground.tasks import run_simulation
from tests.playground.outages import LOCKED, of_sqlite, started

pytestmark = pytest.mark.django_db(transaction=True)

ENDED = ("done", "failed", "cancelled")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses of milliseconds, small slices, and no broker."""
    monkeypatch.setattr(retries, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(retries, "LONGEST_WAIT", 0.05)
    monkeypatch.setattr(compute, "SLICE_CYCLES", 2)
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)


def digest(run: Run) -> str:
    """Return the digest of everything that a run came to, apart from times and memory."""
    row = Run.objects.get(pk=run.pk)
    rows = [
        (json.loads(unpack(chunk.data)), chunk.messages and json.loads(unpack(chunk.messages)), chunk.number)
        for chunk in RunChunk.objects.filter(run=row).order_by("number")
    ]
    reported = (row.state, row.cycles, row.placed, row.pending, row.unschedulable, row.outcomes, row.error)
    kept = (row.samples["rows"][-1][0], row.unplaced)
    return hashlib.sha256(json.dumps((reported, kept, rows)).encode()).hexdigest()


class Once:
    """Fails the one query of a number, before it is executed or after: its answer is lost then."""

    def __init__(self, number: int, *, executed: bool) -> None:
        self.number, self.executed, self.seen = number, executed, 0

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.seen += 1
        if self.seen == self.number and not self.executed:
            raise OperationalError("server closed the connection unexpectedly")
        answer = execute(sql, params, many, context)
        if self.seen == self.number:
            raise OperationalError("server closed the connection unexpectedly")
        return answer


def computed(run: Run, fault: Once | None = None) -> None:
    """Compute a run as workers do: what one leaves, the next takes up once the claim is stale."""
    for _ in range(3):
        with connection.execute_wrapper(fault or Once(0, executed=False)):
            run_simulation(run.pk)
        if Run.objects.get(pk=run.pk).state in ENDED:
            return
        Run.objects.filter(pk=run.pk).update(heartbeat=timezone.now() - timedelta(seconds=31))
    raise AssertionError("the run does not end")


@pytest.mark.parametrize("executed", [False, True], ids=["refused", "answer lost"])
def test_a_run_outlives_the_failure_of_any_query(executed: bool) -> None:
    """Whichever query fails, and whether or not it was executed: the run ends as an undisturbed one."""
    undisturbed = started()
    counting = Once(0, executed=False)
    computed(undisturbed, counting)
    expected = digest(undisturbed)
    assert counting.seen > 20
    for number in range(1, counting.seen + 1):
        run = started()
        computed(run, Once(number, executed=executed))
        assert digest(run) == expected, f"query {number} of {counting.seen}"


def test_a_run_outlives_a_commit_whose_answer_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored is not stored twice, and is no conflict."""
    undisturbed = started()
    computed(undisturbed)
    commit = BaseDatabaseWrapper.commit
    for number in (1, 2, 3):
        run, seen = started(), 0

        def lost(self: Any) -> None:
            nonlocal seen
            commit(self)
            seen += 1
            if seen == number:  # noqa: B023 - called within this round only
                raise OperationalError("server closed the connection unexpectedly")

        with monkeypatch.context() as patch:
            patch.setattr(BaseDatabaseWrapper, "commit", lost)
            computed(run)
        assert seen >= number
        assert digest(run) == digest(undisturbed)


def test_a_run_waits_for_a_lock_of_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite locked for longer than a query waits: nothing is computed meanwhile, and nothing lost."""
    undisturbed, run = started(), started()
    computed(undisturbed)
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.05)
    connection.close()
    slices: list[float] = []
    slice_ = compute._Attempt._slice
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, check_same_thread=False)
    unlocked = 0.0

    def unlock() -> None:
        nonlocal unlocked
        unlocked = time.monotonic()
        other.execute("ROLLBACK")

    def noted(self: Any) -> bool:
        if not slices:
            other.execute("BEGIN IMMEDIATE")
            threading.Timer(1.0, unlock).start()
        slices.append(time.monotonic())
        return slice_(self)

    monkeypatch.setattr(compute._Attempt, "_slice", noted)
    assert run_simulation(run.pk) == "done"
    other.close()
    connection.close()
    assert slices[0] < unlocked and min(slices[1:]) > unlocked, "it computed on while nothing could be stored"
    assert digest(run) == digest(undisturbed)


def padded(progress: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
    """Let the row of a run take several pages of the file."""

    def longer(self: Any) -> dict[str, Any]:
        values = progress(self)
        return {**values, "samples": {**values["samples"], "padding": secrets.token_hex(20_000)}}

    return longer


def test_a_run_outlives_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite's own error of a file that cannot grow; what was not stored whole is not there."""
    undisturbed, run = started(), started()
    computed(undisturbed)
    slice_, errors = compute._Attempt._slice, list[Exception]()
    monkeypatch.setattr(retries._outages, "failed", errors.append)
    # No free page of the file is left, and every slice needs one for its samples or its decisions.
    monkeypatch.setattr(compute._Attempt, "_progress", padded(compute._Attempt._progress))

    def filling(self: Any) -> bool:
        if not errors:  # for this connection: the next one that the worker makes may grow the file again
            with connection.cursor() as cursor:
                cursor.execute("VACUUM")
                pages = cursor.execute("PRAGMA page_count").fetchone()[0]
                cursor.execute(f"PRAGMA max_page_count = {pages}")
        return slice_(self)

    monkeypatch.setattr(compute._Attempt, "_slice", filling)
    assert run_simulation(run.pk) == "done"
    assert [outage.cause_of(error) for error in errors] == [outage.DISK]
    assert digest(run) == digest(undisturbed)


def test_a_run_is_left_unfinished_beyond_the_bound(limits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker is free again, the run not failed; the next worker resumes it."""
    undisturbed, run = started(), started()
    computed(undisturbed)
    limits(RUN_OUTAGE_SECONDS=0)

    def away(*_: Any) -> None:
        raise LOCKED

    with monkeypatch.context() as patch:
        patch.setattr(compute._Attempt, "_store_slice", away)
        assert run_simulation(run.pk) is None
    run.refresh_from_db()
    assert (run.state, run.error) == ("running", "")
    Run.objects.filter(pk=run.pk).update(heartbeat=timezone.now() - timedelta(seconds=31))
    assert run_simulation(run.pk) == "done"
    assert digest(run) == digest(undisturbed)


def test_a_run_taken_over_during_the_outage_is_not_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the outage the claim decides, as ever: the first worker has nothing more to say."""
    run = started()
    store_slice, calls = compute._Attempt._store_slice, 0

    def away_once(self: Any, *args: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            Run.objects.filter(pk=run.pk).update(claim="another/1.1/x")
            raise LOCKED
        store_slice(self, *args)

    monkeypatch.setattr(compute._Attempt, "_store_slice", away_once)
    assert run_simulation(run.pk) is None
    run.refresh_from_db()
    assert (run.state, run.cycles, run.claim) == ("running", 0, "another/1.1/x")


def test_a_run_is_started_at_once_while_the_broker_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that has been away for a while is asked every two seconds, by one of all who start runs."""
    asked: list[str] = []

    def away(_name: str, args: list[str], **_: Any) -> None:
        asked.extend(args)
        raise ConnectionError("no broker")

    monkeypatch.setattr(app, "send_task", away)
    monkeypatch.setattr(delivery._broker, "_since", time.monotonic() - 60)
    monkeypatch.setattr(delivery._broker, "_asked", 0.0)
    runs = [started() for _ in range(3)]
    assert asked == [runs[0].pk]
    assert {Run.objects.get(pk=run.pk).state for run in runs} == {"queued"}


def test_a_defect_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only outages are waited for."""
    tries: list[int] = []

    def wrong(*_: Any) -> None:
        tries.append(1)
        raise of_sqlite(1, "no such column")

    monkeypatch.setattr(compute._Attempt, "_store_slice", wrong)
    assert run_simulation(started().pk) == "failed"
    assert tries == [1]


def test_a_broker_that_is_away_is_asked_once_a_beat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of many queued runs could take seconds to fail; all are announced once it is back."""
    runs = [started() for _ in range(3)]
    long_ago = timezone.now() - timedelta(minutes=5)
    Run.objects.update(created=long_ago, enqueued=long_ago)
    asked: list[str] = []

    def away(_name: str, args: list[str], **_: Any) -> None:
        asked.extend(args)
        raise ConnectionError("no broker")

    monkeypatch.setattr(app, "send_task", away)
    assert rescue.rescue() == []
    assert rescue.rescue() == []
    assert len(asked) == 2
    assert set(Run.objects.values_list("enqueued", flat=True)) == {long_ago}, "no wait has grown"
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)
    assert set(rescue.rescue()) == {run.pk for run in runs}
