"""Outages of storage as the tests cause them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import OperationalError
from django.db.backends.utils import CursorWrapper

from playground.models import Run
from playground.runs import service
from playground.storage import bundles
from tests.playground.conftest import DATA, OWNER


def of_sqlite(code: int, text: str) -> OperationalError:
    """Return what Django raises for an error of SQLite."""
    error = OperationalError(text)
    error.__cause__ = sqlite3.OperationalError(text)
    error.__cause__.sqlite_errorcode = code
    return error


def of_postgresql(raised: type[psycopg.Error], kind: type[Exception] = OperationalError) -> Exception:
    """Return what Django raises for an error of PostgreSQL."""
    error = kind(raised.__name__)
    error.__cause__ = raised(raised.__name__)
    return error


LOCKED = of_sqlite(5, "database is locked")
FULL = of_sqlite(13, "database or disk is full")


@contextmanager
def failing(error: Exception, when: Callable[[str], bool] = lambda _: True) -> Iterator[None]:
    """Let every statement fail, in every thread."""
    execute = CursorWrapper._execute_with_wrappers  # type: ignore[attr-defined]

    def away(self: Any, sql: str, *args: Any, **kwargs: Any) -> Any:
        if when(sql):
            raise error
        return execute(self, sql, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CursorWrapper, "_execute_with_wrappers", away)
        yield


def writes(sql: str) -> bool:
    return sql.startswith(("INSERT", "UPDATE", "DELETE"))


def started() -> Run:
    """Return a queued run with preemption and a history."""
    scenario = bundles.parse([("", (DATA / "preempt.yaml").read_text())], "history")
    return service.start(scenario, OWNER)[0]


class Lines:
    """The lines that modules of ours log."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def _note(self, text: str, *_: Any, **values: Any) -> None:
        self.lines.append((text, values))

    warning = info = error = exception = _note
