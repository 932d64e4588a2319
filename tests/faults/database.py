"""What a stack's database holds, read past the server."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import psycopg

from tests.services.stack import Stack


def rows(stack: Stack, query: str, *values: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query whose values are written ``{}``."""
    if stack.name == "embedded":
        with closing(sqlite3.connect(stack.home / "data" / "podstep.sqlite3", timeout=60)) as lite:
            return lite.execute(query.replace("{}", "?"), values).fetchall()
    with psycopg.connect(stack.env["DATABASE_URL"]) as connection:
        return connection.execute(query.replace("{}", "%s").encode(), values).fetchall()
