"""A lesson's folder as a ZIP archive, packed and unpacked in memory; an archive from outside is hostile."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from playground.courseware.model import LessonError
from playground.courseware.reader import LARGEST, MOST_FILES
from scheduler_core.formats.archive import unzipped
from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.text import decode

PACKED = 2 * 2**20  # bytes of an archive
LIMITS = Limits(size=4 * 2**20, entries=2 * MOST_FILES, levels=3, ratio=60)
_WHEN = (2020, 1, 1, 0, 0, 0)  # the same lesson is the same archive


def packed(folder: str, files: Mapping[str, str]) -> bytes:
    """Return the archive of a folder ``NN-slug``."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        for name, text in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{folder}/{name}", _WHEN)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, text)
    return into.getvalue()


def unpacked(data: bytes) -> tuple[str, dict[str, str]]:
    """Return the folder's name and its files; the name is "" where the files are packed without one.

    Raises LessonError for what is no archive of one folder within :data:`LIMITS`.
    """
    if len(data) > PACKED:
        raise LessonError(f"The archive has {len(data):,} bytes; a lesson's has at most {PACKED:,}.")
    try:
        found = unzipped(data, LIMITS)
    except FormatError as error:
        raise LessonError(f"{error.message[:1].upper()}{error.message[1:]}.") from None
    tops = {name.partition("/")[0] for name in found}
    folder = "" if "lesson.yaml" in found or len(tops) != 1 else f"{tops.pop()}/"
    files = {name.removeprefix(folder): _text(name, content) for name, content in found.items()}
    if "lesson.yaml" not in files:
        raise LessonError("The archive has no lesson.yaml: pack the folder of one lesson.")
    if len(files) > MOST_FILES:
        raise LessonError(f"A lesson has at most {MOST_FILES} files; the archive has {len(files)}.")
    return folder.rstrip("/"), files


def _text(name: str, content: bytes) -> str:
    try:
        text = decode(content)
    except FormatError as error:
        raise LessonError(f"{name[:80]}: {error.message}.") from None
    if len(text) > LARGEST or "\0" in text:
        raise LessonError(f"{name[:80]}: a file is a text of at most {LARGEST // 1024} KiB.")
    return text.replace("\r\n", "\n")
