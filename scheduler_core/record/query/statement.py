"""Asking a statement about a run's tables, in a process of its own that is ended when it exceeds a bound."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from msgspec import Struct

from scheduler_core.record.query.child import SECONDS, WRONG

WALL_SECONDS = 15.0
FORMS = ("csv", "parquet")
"""Of an answer as a file."""


class QueryError(ValueError):
    """A statement cannot be answered: it is wrong, or exceeds a bound; the text says which."""


class Answer(Struct, frozen=True):
    """Rows with the names of their columns; ``more`` is whether there are others than these."""

    columns: list[str]
    rows: list[list[Any]]
    more: bool


def ask(folder: Path, sql: str) -> Answer:
    """Return the answer to one SELECT about the tables of a folder (:data:`tables.TABLES`).

    Raises:
        QueryError: It is not one SELECT, is wrong, or needs more time or memory than it may.
    """
    return Answer(**json.loads(_answered(folder, sql, "json")))


def file_of(folder: Path, sql: str, form: str) -> bytes:
    """Return the rows that :func:`ask` answers with as a file, a form of FORMS. Raises QueryError."""
    return _answered(folder, sql, form)


def _answered(folder: Path, sql: str, form: str) -> bytes:
    command = [sys.executable, "-m", "scheduler_core.record.query.child", str(folder), form]
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            command,
            input=sql.encode(),
            capture_output=True,
            timeout=WALL_SECONDS,
            check=False,
            env=_environment(),
        )
    except subprocess.TimeoutExpired as error:
        raise QueryError(f"The statement took longer than {WALL_SECONDS:.0f} seconds.") from error
    if done.returncode == WRONG:
        raise QueryError(done.stderr.decode())
    if done.returncode:
        raise QueryError(
            f"The statement took more than {SECONDS} seconds of CPU time, or more memory than it may."
        )
    return done.stdout


def _environment() -> dict[str, str]:
    """Return an environment without secrets; the path finds this package."""
    return {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUTF8": "1"}
