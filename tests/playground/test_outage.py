"""Outages of storage are distinguished from defects, and logged as one each."""

from __future__ import annotations

import errno

import psycopg
import pytest
from django.db import IntegrityError, InterfaceError, ProgrammingError

from playground.runtime import outage
from tests.playground.outages import FULL, LOCKED, Lines, of_postgresql, of_sqlite


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Lines:
    """What is logged during a test."""
    lines = Lines()
    monkeypatch.setattr(outage, "log", lines)
    return lines


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (LOCKED, "database"),
        (FULL, "disk"),
        (of_sqlite(10 | 3 << 8, "disk I/O error"), "database"),
        (of_sqlite(1, "no such table: playground_run"), None),
        (of_postgresql(psycopg.OperationalError), "database"),
        (of_postgresql(psycopg.errors.AdminShutdown), "database"),
        (of_postgresql(psycopg.errors.CannotConnectNow), "database"),
        (of_postgresql(psycopg.errors.QueryCanceled), "database"),
        (of_postgresql(psycopg.errors.DiskFull), "disk"),
        (of_postgresql(psycopg.errors.UndefinedTable, ProgrammingError), None),
        (of_postgresql(psycopg.errors.UniqueViolation, IntegrityError), None),
        (InterfaceError("connection already closed"), "database"),
        (of_sqlite(8, "attempt to write a readonly database"), "disk"),
        (OSError(errno.ENOSPC, "No space left on device"), "disk"),
        (OSError(errno.EROFS, "Read-only file system"), "disk"),
        (FileNotFoundError(errno.ENOENT, "x"), None),
        (ValueError("x"), None),
        (None, None),
    ],
)
def test_an_outage_is_reported_from_a_defect(error: Exception | None, part: str | None) -> None:
    """What will succeed once storage is back is recognised, and nothing else."""
    found = outage.cause_of(error)
    assert (found.part if found else None) == part


def test_an_error_raised_from_an_outage_is_one() -> None:
    """Also a chain that leads back to its beginning is looked at once."""
    error = RuntimeError("could not save")
    error.__cause__ = FULL
    assert outage.cause_of(error) is outage.DISK
    first, second = ValueError("1"), ValueError("2")
    first.__cause__, second.__cause__ = second, first
    assert outage.cause_of(first) is None


def test_an_outage_is_two_lines_of_the_log(lines: Lines) -> None:
    """One when it begins and one with its length, however many calls fail in between."""
    outages = outage.OutageLog("a test")
    outages.succeeded()
    for _ in range(50):
        outages.failed(LOCKED)
    assert outages.lasting
    outages.succeeded()
    outages.succeeded()
    assert not outages.lasting
    [(began, first), (ended, last)] = lines.lines
    assert (began, ended) == ("outage began", "outage ended")
    assert "database is locked" in first["error"] and last["errors"] == 50 and last["seconds"] >= 0


def test_successes_beside_failures_do_not_end_an_outage(
    lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading goes on while nothing can be written: that is one outage, and not hundreds."""
    now = 0.0
    monkeypatch.setattr("playground.runtime.outage.time.monotonic", lambda: now)
    outages = outage.OutageLog("a test", quiet=1.0)
    for _ in range(20):
        outages.failed(LOCKED)
        outages.succeeded()
    assert [text for text, _ in lines.lines] == ["outage began"]
    now = 1.1
    outages.succeeded()
    assert [text for text, _ in lines.lines] == ["outage began", "outage ended"]
