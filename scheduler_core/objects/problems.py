"""What is wrong with an input, or noteworthy about it, and the error that holds all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with, or noteworthy about, the input.

    ``path`` is like ``items[3].spec.containers[0].resources.requests.cpu``; ``line`` is
    1-based, ``None`` where the input has no lines of its own; ``document`` is 1-based. ``unhonored``
    names the field or kind that is not honored, of a warning that another cluster's answer may differ.
    """

    message: str
    path: str = ""
    line: int | None = None
    document: int | None = None
    file: str | None = None
    unhonored: str = ""

    def place(self) -> tuple[str, int, int]:
        """Order problems as the text is read; those without a place come first."""
        return self.file or "", self.document or 0, self.line or 0


class BundleError(ValueError):
    """The input cannot be read. ``problems`` holds everything that is wrong, at once.

    ``warnings`` is what would have been noteworthy otherwise: a misspelt field is often the cause of
    an error elsewhere.
    """

    def __init__(self, problems: list[Problem], warnings: Sequence[Problem] = ()) -> None:
        self.problems = problems
        self.warnings = tuple(warnings)
        super().__init__("; ".join(p.message for p in problems[:5]))
