"""Regular expressions of RE2, in time linear in the text."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.functions.table import FunctionDecl, Library, library, merged, row

_MESSAGES = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "unexpected )": "unexpected )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid character class range": "invalid character class range",
    "invalid character class": "invalid character class range",
    "invalid repetition size": "invalid repeat count",
    "invalid escape sequence": "invalid escape sequence",
    "trailing \\": "trailing backslash at end of expression",
    "invalid named capture group": "invalid named capture",
}
"""RE2's error messages, and those of Go's regexp."""


def _options() -> Any:
    out = re2.Options()
    setattr(out, "log_errors", False)  # noqa: B010 — an attribute of the library's
    return out


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Any:
    """Return a compiled pattern. Raises CelError with the message of Go's regexp."""
    try:
        return re2.compile(pattern, _options())
    except re2.error as error:
        raise CelError(f"error parsing regexp: {_message(error, pattern)}") from None


def _message(error: Exception, pattern: str) -> str:
    text = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
    what, colon, where = text.partition(": ")
    if what == "unexpected )":
        where, colon = pattern, ": "
    if not colon and what.startswith("trailing"):
        return _MESSAGES["trailing \\"] + ": ``"
    return f"{_MESSAGES.get(what, what)}: `{where}`" if colon else _MESSAGES.get(what, what)


def _match(text: str, pattern: Any) -> bool:
    if not isinstance(pattern, str):
        raise CelError("no such overload")
    return compiled(pattern).search(text) is not None


def _find(text: str, pattern: str) -> str:
    found = _compiled_by_kubernetes(pattern).search(text)
    return str(found[0]) if found else ""


def _compiled_by_kubernetes(pattern: str) -> Any:
    try:
        return compiled(pattern)
    except CelError as error:
        raise CelError(f"Illegal regex: {error}") from None


def _find_all(text: str, pattern: str, limit: int = -1) -> list[Any]:
    out: list[str] = []
    place, ended = 0, -1
    expression = _compiled_by_kubernetes(pattern)
    while place <= len(text) and (limit < 0 or len(out) < limit):
        found = expression.search(text, place)
        if found is None:
            break
        start, end = found.span()
        if start != end or start != ended:  # an empty match next to the last one is left out
            out.append(found[0])
        ended, place = end, end if end > place else place + 1
    return out


LIBRARY: Library = merged(
    {
        "matches": FunctionDecl(
            "matches",
            [
                row("matches", "matches(string, string) -> bool"),
                row("matches_string", "string.matches(string) -> bool"),
            ],
            _match,
            lambda value: isinstance(value, str),
        )
    },
    library(
        [
            row("string_find_string", "string.find(string) -> string", _find),
            row("string_find_all_string", "string.findAll(string) -> list(string)", _find_all),
            row("string_find_all_string_int", "string.findAll(string, int) -> list(string)", _find_all),
        ]
    ),
)
