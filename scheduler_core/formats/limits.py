"""Every bound on what is read, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one bundle. Whatever goes beyond is an error that names the bound, never a truncation."""

    size: int = 32 * 2**20  # bytes of all files together, uncompressed
    files: int = 64
    documents: int = 100_000  # manifests, the items of lists counted one by one
    values: int = 2_000_000  # scalars, lists and objects of all documents, YAML aliases as if written out
    depth: int = 60  # nesting of lists and objects
    line: int = 1_000_000  # characters of one scalar or one line of CSV
    replicas: int = 20_000  # pods of one controller
    pods: int = 100_000  # pods of the bundle, those of controllers included
    operations: int = 200_000
    problems: int = 200  # listed errors, and listed warnings; the rest is counted


class FormatError(ValueError):
    """The text cannot be read as what it seems to be. ``line`` is 1-based."""

    def __init__(
        self, message: str, line: int | None = None, path: str = "", document: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.path = path
        self.document = document
