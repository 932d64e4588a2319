"""What a backup's file is, and which files are refused before anything is changed."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from playground import extenders
from playground.storage import backups, bundles, store
from tests.playground.conftest import OWNER

pytestmark = pytest.mark.django_db


def written(path: Path, manifest: Any, **members: bytes) -> Path:
    """Write a tar of these members; ``manifest`` as JSON unless it is bytes."""
    content = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    with tarfile.open(path, "w") as archive:
        for name, data in {backups.MANIFEST: content, **members}.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def manifest(**changes: Any) -> dict[str, Any]:
    digests = {"database": hashlib.sha256(b"x").hexdigest()}
    usual = {"format": 1, "version": "1", "engine": "sqlite", "migrations": ["0001_initial"], "rows": {}}
    return {**usual, "created": "2027-01-01", "sha256": digests, **changes}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"engine": "postgresql"}, "is of postgresql"),
        ({"migrations": ["0001_initial", "9999_later"]}, "newer podstep"),
        ({"format": 99}, "format 99"),
        ({"sha256": {"../secret": hashlib.sha256(b"x").hexdigest()}}, "holds unexpected files"),
        ({"sha256": {"database": hashlib.sha256(b"y").hexdigest()}}, "is damaged"),
        ({"sha256": {}}, "no database"),
        ({"sha256": None}, "not a complete podstep backup"),
        ({"sha256": {"secret": "", "database": ""}}, "not a complete podstep backup"),
    ],
)
def test_a_backup_of_something_else_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """Another kind of database, a newer podstep, another format, and members that are no backup's."""
    file = written(tmp_path / "file", manifest(**changes), database=b"x")
    with pytest.raises(backups.BackupError, match=words):
        backups.restore(file)


@pytest.mark.parametrize("content", [b"", b"no archive", b"\0" * 10_240, b"\x1f\x8b\x08"])
def test_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    """Anything else that somebody may name by mistake."""
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(backups.BackupError, match="not a complete podstep backup"):
        backups.restore(file)


@pytest.mark.parametrize("text", [b"{", b"[]", b"null", b" " * (backups.SMALL_BYTES + 1), b"\xff"])
def test_a_manifest_that_is_none(tmp_path: Path, text: bytes) -> None:
    """Bounded in size, and JSON."""
    with pytest.raises(backups.BackupError, match="not a complete podstep backup"):
        backups.restore(written(tmp_path / "file", text, database=b"x"))


def test_nothing_is_restored_over_what_is_stored(tmp_path: Path, web: str) -> None:
    """What visitors have stored counts, what is shipped does not."""
    store.share(bundles.parse([("", web)]), text=web)
    assert backups._stored() == ""
    store.create_draft(OWNER, [("", web)])
    with pytest.raises(backups.BackupError, match=r"1 drafts.*--replace"):
        backups.restore(written(tmp_path / "file", manifest(), database=b"x"))


def test_answers_of_extenders_are_in_a_backup(tmp_path: Path, settings: Any) -> None:
    """With the time of their last use; what else lies in the folder, or is in an archive, is left out."""
    here, there = tmp_path / "here", tmp_path / "there"
    name = "ab/" + "ab" * 32
    for home, text in ((here, "first"), (there, "another")):
        file = home / extenders.FOLDER / (name if home is here else f"cd/{'cd' * 32}")
        file.parent.mkdir(parents=True)
        file.write_text(text)
        os.utime(file, (1_000, 1_000))
    (here / extenders.FOLDER / "ab" / "tmp123").write_text("half of one")
    settings.DATA_DIR = str(here)
    assert extenders.pack(tmp_path / "answers") == 1
    with tarfile.open(tmp_path / "answers", "a") as archive:
        archive.addfile(tarfile.TarInfo("../outside"), io.BytesIO())
    settings.DATA_DIR = str(there)
    extenders.unpack(tmp_path / "answers")
    files = [path for path in (there / extenders.FOLDER).rglob("*") if path.is_file()]
    assert files == [there / extenders.FOLDER / name]
    assert (files[0].read_text(), files[0].stat().st_mtime) == ("first", 1_000)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers", "here", "there"]


def test_without_answers_a_backup_has_none(tmp_path: Path, settings: Any) -> None:
    """A server without extenders has no folder for them."""
    settings.DATA_DIR = str(tmp_path)
    assert extenders.pack(tmp_path / "answers") == 0
    extenders.unpack(tmp_path / "answers")
    assert list((tmp_path / extenders.FOLDER).iterdir()) == []
