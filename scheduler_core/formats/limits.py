"""Every bound on the input, in one place."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    """Bounds on one bundle. Exceeding one is an error that names the bound, never a truncation."""

    size: int = 32 * 2**20  # bytes of all files together, uncompressed
    files: int = 64  # named individually; an archive or a directory counts as one
    entries: int = 20_000  # files and directories inside one archive or directory
    levels: int = 40  # of directories inside one
    ratio: int = 500  # unpacked bytes of an archive per packed byte, beyond the first MiB
    documents: int = 100_000  # manifests, with the items of lists counted individually
    values: int = 2_000_000  # scalars, lists and objects of all documents, with YAML aliases expanded
    kept: int = 500_000  # of these, values of kinds that scheduling does not read; more are left out
    depth: int = 60  # nesting of lists and objects
    line: int = 1_000_000  # characters of one scalar or one line of CSV
    replicas: int = 20_000  # pods of one controller
    pods: int = 100_000  # pods of the bundle, including those of controllers
    operations: int = 200_000
    problems: int = 200  # listed errors, and listed warnings; the rest is only counted


class FormatError(ValueError):
    """The text is not valid in its format. ``line`` is 1-based, ``file`` is a file in an archive."""

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
    """Return the error for a text that exceeds the bound on bytes, with what to leave out."""
    message = f"larger than {limits.size / 2**20:g} MiB, the most that is read"
    remedy = (
        "leave out objects that scheduling does not read, such as ConfigMaps, Secrets, Events and "
        "managedFields"
    )
    return FormatError(f"{what}{message}: {remedy}")
