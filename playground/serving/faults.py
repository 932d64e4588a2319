"""One-line explanations of faults of this machine, printed to the operator instead of a traceback."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

from django.db import DatabaseError

#: Faults of the disk, its permissions or its mounts, not defects of the program.
ERRNOS = frozenset(
    {
        errno.EACCES,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EIO,
        errno.EISDIR,
        errno.ENOSPC,
        errno.ENOTDIR,
        errno.EPERM,
        errno.EROFS,
    }
)


class StartError(SystemExit):
    """Exits the program with status 1 and one line per problem, also while settings are imported."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(f"podstep: {problem}" for problem in problems))


def damaged(path: object) -> str:
    """Return the message for a database file that SQLite cannot read."""
    return (
        f"{path} is damaged or not an SQLite database. Restore a backup over it, or move it away, with its "
        "-wal and -shm files, to start with an empty database."
    )


#: Parts of the error messages of SQLite and PostgreSQL, with explanations; the first match is printed.
DATABASE: tuple[tuple[str, str], ...] = (
    ("file is not a database", "damaged"),
    ("disk image is malformed", "damaged"),
    ("disk is full", "The disk of the database is full: {error}. Free space and start again."),
    ("no such table", "The database has no tables yet ({error}). Run `manage.py prepare`."),
    ("no such column", "The database is of an older version ({error}). Run `manage.py prepare`."),
    (
        "does not exist",
        "The database is not prepared ({error}). Run `manage.py prepare`, check DATABASE_URL.",
    ),
    ("readonly database", "{path} or its folder cannot be written ({error}). Check owner, mode and mount."),
    ("unable to open", "{path} cannot be opened ({error}). Check its folder's owner, mode and mount."),
    ("disk i/o error", "{path} cannot be read or written ({error}). Check the disk and its free space."),
    ("database is locked", "{path} is locked by another process. Is podstep running there already?"),
)


def explain(error: BaseException, database: object) -> str | None:
    """Return a line with the cause and the remedy; None for what looks like a defect of podstep.

    ``database`` is the path of the embedded database, or a name for another one.
    """
    if isinstance(error, DatabaseError):
        return _of_database(error, database)
    if isinstance(error, OSError) and error.errno in ERRNOS:
        return f"{error.strerror}: {error.filename or 'a file of the data folder'}"
    return None


def _of_database(error: DatabaseError, database: object) -> str | None:
    text = " ".join(str(error).split("\n")[0].split()).rstrip(".")
    for part, meaning in DATABASE:
        if part in text.lower():
            return damaged(database) if meaning == "damaged" else meaning.format(error=text, path=database)
    if "connect" in text.lower():
        return f"The database of DATABASE_URL cannot be reached: {text}."
    return None


def name_of(settings_database: dict[str, object]) -> object:
    """Return a name for the configured database: its file, or the variable with its server's URL."""
    embedded = settings_database.get("ENGINE") == "django.db.backends.sqlite3"
    return Path(str(settings_database.get("NAME"))) if embedded else "the database of DATABASE_URL"
