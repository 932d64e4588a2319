"""Every bound on what is read, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one bundle. Whatever goes beyond is an error that names the bound, never a truncation."""

    size: int = 32 * 2**20  # bytes of all files together, uncompressed
    files: int = 64  # named one by one; an archive or a directory is one of them
    entries: int = 20_000  # files and directories inside one archive or directory
    levels: int = 40  # of directories inside one
    ratio: int = 500  # unpacked bytes of an archive for each packed one, beyond the first MiB
    documents: int = 100_000  # manifests, the items of lists counted one by one
    values: int = 2_000_000  # scalars, lists and objects of all documents, YAML aliases as if written out
    kept: int = 500_000  # of these, values of kinds that scheduling does not read: more are left out
    depth: int = 60  # nesting of lists and objects
    line: int = 1_000_000  # characters of one scalar or one line of CSV
    replicas: int = 20_000  # pods of one controller
    pods: int = 100_000  # pods of the bundle, those of controllers included
    operations: int = 200_000
    problems: int = 200  # listed errors, and listed warnings; the rest is counted


class FormatError(ValueError):
    """The text cannot be read as what it seems to be. ``line`` is 1-based, ``file`` one of an archive's."""

    def __init__(
        self,
        message: str,
        line: int | None = None,
        path: str = "",
        document: int | None = None,
        *,
        file: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.path = path
        self.document = document
        self.file = file


def too_large(limits: Limits, what: str = "") -> FormatError:
    """Return the error of a text beyond the bound on bytes, and what to leave out."""
    told = f"larger than {limits.size / 2**20:g} MiB, the most that is read"
    remedy = "leave out what scheduling does not read, such as ConfigMaps, Secrets, Events and managedFields"
    return FormatError(f"{what}{told}: {remedy}")
