"""The data folder (database, secret, keys, broker): private to its owner; a start fails if it is unusable."""

from __future__ import annotations

import errno
import os
import pwd
import secrets
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from playground.serving.faults import StartError, damaged

T = TypeVar("T")

PRIVATE_UMASK = 0o077
SECRET_LENGTH = 32  # minimum characters, so that a secret truncated by a crash is not used
KEY_BITS = 2_048
MOST_KEY = 20_000  # characters
SQLITE_HEADER = b"SQLite format 3\0"
SIDE_FILES = ("", "-wal", "-shm", "-journal")
#: The private entries of the folder. Collected static files are public.
PRIVATE = ("secret*", "*.pem", "*.sqlite3", "*.sqlite3-*", "broker", "backups")
MOST_ENTRIES = 100_000  # processed in one private folder


def of_user() -> Path:
    """Return the folder in which the operating system keeps this user's data."""
    from platformdirs import user_data_path

    return user_data_path("podstep", appauthor=False)


def checked(work: Callable[[], T], path: Path) -> T:
    """Return the result of ``work``; raise StartError on an OSError at or below ``path``."""
    try:
        return work()
    except OSError as error:
        where = error.filename or path
        raise StartError([f"{where}: {error.strerror or error}. {_remedy()}"]) from error


def make(path: Path) -> None:
    """Create a folder that only its owner can access, if it is missing; raises StartError."""
    for one in (*reversed(path.parents), path):
        if not checked(one.exists, one):
            checked(partial(one.mkdir, mode=0o700, exist_ok=True), one)
        elif not one.is_dir():
            raise StartError([f"{one} is a file, where a folder is expected. Move it away."])


def require_writable(path: Path) -> None:
    """Raise StartError if this process cannot create files in the folder."""
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise StartError([f"the data folder {path} cannot be written{_whose(path)}. {_remedy()}"])


def check_database(path: Path) -> None:
    """Raise StartError if there is a database file that SQLite cannot use."""
    for one in (path.with_name(path.name + ending) for ending in SIDE_FILES):
        if not os.path.lexists(one):
            continue
        if not one.is_file():
            raise StartError([f"{one} is not a file. Move it away."])
        if not os.access(one, os.R_OK | os.W_OK):
            raise StartError([f"{one} cannot be read and written{_whose(one)}. {_remedy()}"])
    if path.exists():
        begin = checked(lambda: _begin(path), path)
        if begin and begin != SQLITE_HEADER:
            raise StartError([damaged(path)])


def secret(path: Path) -> str:
    """Return the secret in ``path``, generated on the first call; only its owner may read the file."""
    if not os.path.lexists(path):
        checked(lambda: _make(path, lambda: secrets.token_urlsafe(50)), path)
    return checked(lambda: _read_secret(path), path)


def private_key(path: Path) -> str:
    """Return the RSA key in ``path`` as PEM, generated on the first call as a secret is."""
    from jwcrypto.common import JWException
    from jwcrypto.jwk import JWK

    if not os.path.lexists(path):
        checked(lambda: _make(path, _new_key), path)
    text = checked(lambda: path.read_text("ascii", "replace")[:MOST_KEY], path)
    try:
        sound = JWK.from_pem(text.encode()).has_private
    except (ValueError, JWException):
        sound = False
    if not sound:
        remedy = "Restore it from a backup, or remove it: platforms then learn the new one by themselves."
        raise StartError([f"{path} is no private RSA key in PEM. {remedy}"])
    return text


def tighten(folder: Path) -> None:
    """Make the folder and its private entries inaccessible to other users, as far as this user owns them."""
    _close(folder)
    for pattern in PRIVATE:
        for path in folder.glob(pattern):
            _close(path)
            if path.is_dir() and not path.is_symlink():
                for _, inner in zip(range(MOST_ENTRIES), path.rglob("*"), strict=False):
                    _close(inner)


def _close(path: Path) -> None:
    """Remove the permissions of group and others, except from other users' files and targets of links."""
    try:
        found = path.lstat()
    except OSError:  # deleted in the meantime
        return
    regular = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    shared = found.st_mode & stat.S_ISVTX or path == Path(path.anchor)  # /tmp, /
    mode = stat.S_IMODE(found.st_mode)
    if regular and not shared and mode & PRIVATE_UMASK and found.st_uid == os.geteuid():
        checked(lambda: path.chmod(mode & ~PRIVATE_UMASK), path)


def _new_key() -> str:
    from jwcrypto.jwk import JWK

    pem: bytes = JWK.generate(kty="RSA", size=KEY_BITS).export_to_pem(private_key=True, password=None)
    return pem.decode("ascii")


def _make(path: Path, text: Callable[[], str]) -> None:
    # Written completely before it gets its name: of two processes that start together one wins, and a crash
    # in between leaves no empty secret.
    unseen = path.with_name(f"{path.name}.{os.getpid()}")
    unseen.unlink(missing_ok=True)
    try:
        descriptor = os.open(unseen, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text())
            file.flush()
            os.fsync(descriptor)
        _name(unseen, path)
    except FileExistsError:
        pass
    finally:
        unseen.unlink(missing_ok=True)


def _name(unseen: Path, path: Path) -> None:
    """Rename a file; raises FileExistsError if the name is taken, on disks that support hard links."""
    try:
        os.link(unseen, path)
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP}:  # a disk without hard links
            raise
        unseen.rename(path)


def _read_secret(path: Path) -> str:
    if not path.is_file():
        raise StartError([f"{path} is not a file. Move it away to have a new secret made."])
    with path.open("rb") as file:
        text = file.read(10_000).decode("ascii", "replace").strip()
    if len(text) < SECRET_LENGTH or not text.isascii() or not text.isprintable():
        remedy = "Restore it from a backup, or remove it: all visitors' cookies are void then."
        raise StartError([f"{path} is damaged. {remedy}"])
    return text


def _begin(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(SQLITE_HEADER))


def _user(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} ({uid})"
    except KeyError:
        return str(uid)


def _whose(path: Path) -> str:
    owner = path.stat().st_uid
    return "" if owner == os.geteuid() else f": it belongs to user {_user(owner)}"


def _remedy() -> str:
    me = _user(os.geteuid())
    return f"Make it writable for user {me}, free space on its disk, or set PLAYGROUND_DATA_DIR."
