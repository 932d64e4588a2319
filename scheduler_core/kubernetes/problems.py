"""Errors and warnings about an input, and the exception that holds all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

Owner = tuple[str, str, str]
"""Kind, namespace (as written, possibly "") and name of an object."""


class Problem(Struct, frozen=True):
    """One error or warning about the input.

    ``path`` is like ``items[3].spec.containers[0].resources.requests.cpu``; ``line`` is
    1-based, ``None`` if the input has no line numbers; ``document`` is 1-based. ``unhonored`` is the field or
    kind that is not honored, for a warning that the answer may differ on another cluster. ``incomplete``
    marks a warning that the dump of a cluster lacks objects. ``about`` are the objects that it concerns,
    which may be none that is scheduled; ``None``: any. ``details`` are the sentences that the message
    sums up, one an object.
    """

    message: str
    path: str = ""
    line: int | None = None
    document: int | None = None
    file: str | None = None
    unhonored: str = ""
    incomplete: bool = False
    about: tuple[Owner, ...] | None = None
    details: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the problem as JSON."""
        given = {"message": self.message, "path": self.path, "line": self.line, "document": self.document}
        marks: dict[str, Any] = {"file": self.file, "unhonored": self.unhonored}
        marks |= {"incomplete": self.incomplete, "details": list(self.details)}
        return given | {name: value for name, value in marks.items() if value}

    def place(self) -> tuple[str, int, int]:
        """Return the sort key by position in the text; problems without a position come first."""
        return self.file or "", self.document or 0, self.line or 0


class BundleError(ValueError):
    """The input is invalid. ``problems`` holds all errors, not only the first.

    ``warnings`` holds the warnings found as well: a misspelt field is often the cause of an error elsewhere.
    """

    def __init__(self, problems: list[Problem], warnings: Sequence[Problem] = ()) -> None:
        self.problems = problems
        self.warnings = tuple(warnings)
        super().__init__("; ".join(p.message for p in problems[:5]))


class PolicyError(ValueError):
    """An invalid policy. ``problems`` holds all of its errors, not only the first."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{p.path}: {p.message}" for p in problems[:10]))
