"""Backups: one file with the database, the answers of extenders, and the secret that signs cookies.

The file is a tar archive of ``manifest.json``, ``database`` (an SQLite file, or the output of ``pg_dump``),
``answers`` (:func:`playground.extenders.pack`) and, if podstep generated it, ``secret``. It gets its name
when it is complete; an incomplete one is never restored. Only its owner can read it: with the secret, a
cookie can be signed for any visitor.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import F, Sum
from django.db.models.functions import Length
from django.utils import timezone
from msgspec import Struct

from playground import extenders
from playground.models import Account, Draft, Run, RunCheckpoint, RunChunk, Share, Worker

FORMAT = 1
MANIFEST, DATABASE, SECRET, ANSWERS = "manifest.json", "database", "secret", "answers"
SMALL_BYTES = 2**20  # of the manifest and of the secret
COUNTED: dict[str, Any] = {
    "drafts": Draft,
    "links": Share,
    "runs": Run,
    "chunks": RunChunk,
    "accounts": Account,
}
_VERSION = re.compile(r"\b(\d+)(?:\.\d+)?")


class BackupError(RuntimeError):
    """A backup cannot be created or restored. The text has the reason and a remedy; nothing was changed."""


class Engine(Struct, frozen=True):
    """How the database of one vendor is dumped to a file and loaded from one, atomically."""

    dump: Callable[[Path], None]
    load: Callable[[Path], None]


# --- SQLite --------------------------------------------------------------------------------------


def _dump_sqlite(path: Path) -> None:
    connection.ensure_connection()
    with closing(sqlite3.connect(path)) as copy:
        connection.connection.backup(copy)


def _load_sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as stored:
        found = stored.execute("PRAGMA quick_check").fetchone()[0]
        if found != "ok":
            raise BackupError(f"The database in the backup is damaged: {found}")
        connection.ensure_connection()
        stored.backup(
            connection.connection
        )  # one transaction: other processes see the old one or the new one
    connection.close()


# --- PostgreSQL ----------------------------------------------------------------------------------


def _dump_postgres(path: Path) -> None:
    _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={path}")


def _load_postgres(path: Path) -> None:
    script, dropping = path.with_suffix(".sql"), path.with_suffix(".drop")
    _run("pg_restore", "--no-owner", "--no-privileges", f"--file={script}", str(path))
    quoted = [connection.ops.quote_name(name) for name in connection.introspection.table_names()]
    dropping.write_text("".join(f"DROP TABLE IF EXISTS {name} CASCADE;\n" for name in quoted))
    connection.close()
    once = ("--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1")
    _run("psql", *once, "--output=/dev/null", f"--file={dropping}", f"--file={script}")


def _run(program: str, *arguments: str) -> None:
    """Run a PostgreSQL client program on our database. Raises BackupError with its error output."""
    found = shutil.which(program)
    server = connection.pg_version // 10_000  # type: ignore[attr-defined]
    remedy = (
        f"install PostgreSQL's client programs of version {server}, as Debian's postgresql-client-{server}"
    )
    if found is None:
        raise BackupError(f"{program} is not on the PATH; {remedy}.")
    output = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)  # noqa: S603
    version = _VERSION.search(output.stdout)
    if version is None or int(version[1]) < server:
        raise BackupError(f"{output.stdout.strip()} is older than the server's {server}; {remedy}.")
    done = subprocess.run(  # noqa: S603 - found on the PATH, with arguments of ours
        [found, *arguments], env=_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BackupError(f"{program} failed: {done.stderr.strip()[-2_000:]}")


def _environment() -> dict[str, str]:
    """Return libpq's environment for our database; a password on a command line could be read by anyone."""
    ours = connection.settings_dict
    values: Mapping[str, Any] = {
        "PGHOST": ours["HOST"],
        "PGPORT": ours["PORT"],
        "PGUSER": ours["USER"],
        "PGPASSWORD": ours["PASSWORD"],
        "PGDATABASE": ours["NAME"],
        "PGSSLMODE": ours.get("OPTIONS", {}).get("sslmode"),
    }
    return {**os.environ, **{name: str(value) for name, value in values.items() if value}}


ENGINES: dict[str, Engine] = {
    "sqlite": Engine(_dump_sqlite, _load_sqlite),
    "postgresql": Engine(_dump_postgres, _load_postgres),
}


# --- backup --------------------------------------------------------------------------------------


def backup(path: Path) -> dict[str, Any]:
    """Write a backup to ``path`` and return its manifest; the server may be running.

    Raises BackupError, also if the file exists already, and OSError.
    """
    if path.exists():
        raise BackupError(f"{path} is there already; choose another name or remove it.")
    engine = ENGINES[connection.vendor]
    # In the same folder: the space is needed on that disk, and a link within one disk is atomic.
    with tempfile.TemporaryDirectory(prefix=".podstep-backup-", dir=path.parent) as folder:
        home = Path(folder)
        engine.dump(home / DATABASE)
        answers = extenders.pack(home / ANSWERS)
        secret = _own_secret()
        if secret:
            (home / SECRET).write_text(secret)
        manifest = _manifest(home, answers)
        (home / MANIFEST).write_text(json.dumps(manifest, indent=1))
        whole = home / "whole"
        with _private(whole) as file:
            with tarfile.open(fileobj=file, mode="w") as archive:
                for name in (MANIFEST, DATABASE, ANSWERS, *([SECRET] if secret else [])):
                    archive.add(home / name, name, filter=_anonymous)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(whole, path)  # unlike a rename, never replaces another file
        except FileExistsError as error:
            raise BackupError(f"{path} is there already; choose another name or remove it.") from error
    return manifest


def _private(path: Path) -> IO[bytes]:
    """Create a file that only its owner can read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


def _own_secret() -> str:
    """Return the secret if it is stored in the data folder, ``""`` if the environment sets it."""
    return "" if os.environ.get("SECRET_KEY") else str(settings.SECRET_KEY)


def _manifest(home: Path, answers: int) -> dict[str, Any]:
    applied = MigrationLoader(connection).applied_migrations
    return {
        "format": FORMAT,
        "version": settings.VERSION,
        "engine": connection.vendor,
        "created": timezone.now().isoformat(),
        "migrations": sorted(name for app, name in applied if app == "playground"),
        "rows": {name: model.objects.count() for name, model in COUNTED.items()} | {"answers": answers},
        "sha256": {path.name: _digest(path) for path in sorted(home.iterdir())},
    }


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- restore -------------------------------------------------------------------------------------


def restore(path: Path, *, replace: bool = False) -> dict[str, Any]:
    """Replace what is stored by a backup, secret included; return its manifest.

    The database is migrated afterwards. The workers that it lists are deleted: they are not here; and so are
    the runs' checkpoints, which would be unpickled and are signed with a secret that came with them. Answers
    of extenders stay where the backup has none. Raises BackupError for a file that is not a complete backup,
    or is one of another vendor's database or of a newer podstep; while a worker is alive; and without
    ``replace`` if anything is stored. Raises OSError.
    """
    with tempfile.TemporaryDirectory(prefix="podstep-restore-", dir=settings.DATA_DIR) as folder:
        home = Path(folder)
        manifest = _unpacked(path, home)
        _check(manifest, replace=replace)
        ENGINES[connection.vendor].load(home / DATABASE)
        call_command("migrate", interactive=False, verbosity=0)
        Worker.objects.all().delete()
        _drop_checkpoints()
        if (home / ANSWERS).exists():
            extenders.unpack(home / ANSWERS)
        if (home / SECRET).exists() and _own_secret():
            (home / SECRET).replace(Path(settings.DATA_DIR) / "secret")
    return manifest


def _drop_checkpoints() -> None:
    sizes = RunCheckpoint.objects.order_by().values_list("run").annotate(size=Sum(Length("data")))
    for run, size in list(sizes):
        Run.objects.filter(pk=run).update(packed=F("packed") - size)
    RunCheckpoint.objects.all().delete()


def _unpacked(path: Path, home: Path) -> dict[str, Any]:
    """Unpack a backup into ``home`` and verify it against its manifest; return the manifest."""
    try:
        with path.open("rb") as file, tarfile.open(fileobj=file, mode="r:") as archive:
            members = {member.name: member for member in archive.getmembers() if member.isfile()}
            manifest = json.loads(_small(archive, members[MANIFEST]))
            if manifest["format"] != FORMAT:
                raise BackupError(f"{path} is of format {manifest['format']}; this podstep reads {FORMAT}.")
            for name in manifest["sha256"]:
                if name not in (DATABASE, SECRET, ANSWERS):
                    raise BackupError(f"{path} holds unexpected files: {name[:60]}")
                source = archive.extractfile(members[name])
                assert source is not None
                with _private(home / name) as target:
                    shutil.copyfileobj(source, target)
    except (tarfile.TarError, KeyError, TypeError, ValueError, EOFError) as error:
        raise BackupError(f"{path} is not a complete podstep backup: {error}") from error
    for name, digest in manifest["sha256"].items():
        if _digest(home / name) != digest:
            raise BackupError(f"{path} is damaged: the digest of {name} does not match.")
    if not (home / DATABASE).exists():
        raise BackupError(f"{path} holds no database.")
    found: dict[str, Any] = manifest
    return found


def _small(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file: IO[bytes] | None = archive.extractfile(member)
    if file is None or member.size > SMALL_BYTES:
        raise ValueError(f"{member.name} is too large")
    return file.read()


def _check(manifest: Mapping[str, Any], *, replace: bool) -> None:
    if manifest["engine"] != connection.vendor:
        raise BackupError(
            f"The backup is of {manifest['engine']}, and DATABASE_URL names {connection.vendor}."
        )
    known = {name for app, name in MigrationLoader(None).disk_migrations if app == "playground"}
    if newer := sorted(set(manifest["migrations"]) - known):
        raise BackupError(f"The backup is of a newer podstep ({manifest['version']}, with {newer[-1]}).")
    if "playground_worker" not in connection.introspection.table_names():
        return  # never migrated, so it is empty
    if alive := list(Worker.alive().values_list("name", flat=True)):
        raise BackupError(f"Workers are alive: {', '.join(alive)[:300]}. Stop podstep first.")
    if not replace and (stored := _stored()):
        raise BackupError(f"The database is not empty ({stored}); --replace deletes it.")


def _stored() -> str:
    """Return what visitors have stored, in words, ``""`` for nothing; shipped examples do not count."""
    counts = {
        "drafts": Draft.objects.count(),
        "links": Share.objects.exclude(owner="", scenario__expires=None).count(),
        "runs": Run.objects.count(),
        "accounts": Account.objects.count(),
    }
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
