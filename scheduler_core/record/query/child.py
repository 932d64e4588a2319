"""The process that answers a statement of its input: ``python -m scheduler_core…query.child FOLDER FORM``.

DuckDB's own bounds do not hold inside scalar functions, so the operating system's do: memory, CPU and files.
Only the tables of the folder can be read, and nothing can be written but the answer to standard output:
one line of JSON, or a file as CSV or Parquet. What is wrong goes to standard error, with the status WRONG.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any

MEMORY = 1024**3
"""Bytes of address space, of which the interpreter and DuckDB's library take a third."""
SECONDS = 5
ROWS = 10_000
BYTES = 4 * 1024**2
"""Of the answer."""
SQL_CHARACTERS = 20_000
WRONG = 3
"""The exit status for a statement that cannot be answered."""
OUTPUT = "/dev/stdout"


class StatementError(ValueError):
    """The text is not one SELECT."""


def main() -> None:
    """Answer the statement of standard input about the folder that is named."""
    for kind, bound in (
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (bound, bound))
    sql = sys.stdin.read(SQL_CHARACTERS + 1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        _answer(Path(sys.argv[1]), sys.argv[2], sql)
    except MemoryError:
        _refuse(f"needs more than {MEMORY // 2**20:,} MiB")
    except Exception as error:  # DuckDB raises classes of its own, and RuntimeError
        _refuse(str(error)[:2_000])


def _refuse(message: str) -> None:
    sys.stderr.write(message)
    sys.exit(WRONG)


def _answer(folder: Path, form: str, sql: str) -> None:
    import duckdb

    if len(sql) > SQL_CHARACTERS:
        raise StatementError(f"A statement has at most {SQL_CHARACTERS:,} characters.")
    connection = duckdb.connect(config={"threads": 1, "memory_limit": "256MB", "temp_directory": ""})
    files = sorted(folder.glob("*.parquet"))
    for file in files:
        path = str(file).replace("'", "''")
        connection.execute(f"CREATE VIEW {file.stem} AS SELECT * FROM read_parquet('{path}')")  # noqa: S608
    paths = [*map(str, files), *([] if form == "json" else [OUTPUT])]
    allowed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
    connection.execute(f"SET allowed_paths = [{allowed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    statements = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise StatementError("Write exactly one statement, a SELECT.")
    if form != "json":
        _write_file(connection, statements[0], form)
        return
    result = connection.execute(statements[0])
    columns = [name for name, *_ in result.description or ()]
    rows, more = _bounded(result)
    sys.stdout.write(json.dumps({"columns": columns, "rows": rows, "more": more}, ensure_ascii=False))


def _write_file(connection: Any, statement: Any, form: str) -> None:
    """Write the rows that JSON would have.

    They are stored first, and counted again: a statement need not give the same rows twice.
    """
    rows, _ = _bounded(connection.cursor().execute(statement))
    connection.sql(statement).limit(len(rows)).create("answer")
    rows, _ = _bounded(connection.cursor().execute("FROM answer"))
    answer = connection.table("answer").limit(len(rows))
    if form == "csv":
        answer.write_csv(OUTPUT, header=True)
    else:
        answer.write_parquet(OUTPUT, compression="zstd")


def _bounded(result: Any) -> tuple[list[list[Any]], bool]:
    """Return the first rows, and whether there are more than the bounds allow."""
    rows: list[list[Any]] = []
    size = 0
    for row in _rows(result):
        size += len(json.dumps(row, ensure_ascii=False))
        if len(rows) == ROWS or size > BYTES:
            return rows, True
        rows.append(row)
    return rows, False


def _rows(result: Any) -> Iterator[list[Any]]:
    while batch := result.fetchmany(1_000):
        for row in batch:
            yield [_plain(value) for value in row]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date | datetime | time | timedelta | bytes):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return value if value is None or isinstance(value, str | int | bool) else str(value)


if __name__ == "__main__":
    main()
