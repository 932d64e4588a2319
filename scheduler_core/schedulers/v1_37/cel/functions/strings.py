"""Strings (cel-go's ext.Strings, version 2)."""

from __future__ import annotations

from typing import Any

from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.functions.format_texts import format_text
from scheduler_core.schedulers.v1_37.cel.functions.table import Library, library, merged, row
from scheduler_core.schedulers.v1_37.cel.values import shown, text_limited

_SPACE = " \t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"  # noqa: E501
_QUOTED = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
    "\\": "\\\\", '"': '\\"',
}  # fmt: skip


def _out_of_range(index: int) -> CelError:
    return CelError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if start < 0:
        raise _out_of_range(start)
    if not part:
        return min(start, len(text))
    return text.find(part, start) if start < len(text) else -1


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part) if len(part) <= len(text) else -1
    if start < 0:
        raise _out_of_range(start)
    if not part:
        return min(start, len(text))
    return text.rfind(part, 0, start + len(part)) if start < len(text) else -1


def _ascii_case(name: str) -> Any:
    return lambda text: "".join(getattr(char, name)() if ord(char) < 128 else char for char in text)


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    count = text.count(old) if limit < 0 else min(limit, text.count(old))
    if len(text) + count * len(new) > 2**24:
        text_limited(" " * (2**24 + 1))
    return text.replace(old, new, max(limit, -1))


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if not separator:
        parts = list(text)
        return (
            parts if limit < 0 or limit >= len(parts) else [*parts[: limit - 1], "".join(parts[limit - 1 :])]
        )
    return text.split(separator, limit - 1 if limit > 0 else -1)


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is None:
        if not 0 <= start <= len(text):
            raise _out_of_range(start)
        return text[start:]
    if start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def _join(parts: list[Any], separator: str = "") -> str:
    for part in parts:
        if not isinstance(part, str):
            raise CelError(f"join: invalid input: {shown(part)}")
    return text_limited(separator.join(parts))


def _quote(text: str) -> str:
    return '"' + "".join(_QUOTED.get(char, char) for char in text) + '"'


LIBRARY: Library = merged(
    library(
        [
            row("string_char_at_int", "string.charAt(int) -> string", _char_at),
            row("string_index_of_string", "string.indexOf(string) -> int", _index_of),
            row("string_index_of_string_int", "string.indexOf(string, int) -> int", _index_of),
            row("string_last_index_of_string", "string.lastIndexOf(string) -> int", _last_index_of),
            row("string_last_index_of_string_int", "string.lastIndexOf(string, int) -> int", _last_index_of),
            row("string_lower_ascii", "string.lowerAscii() -> string", _ascii_case("lower")),
            row("string_upper_ascii", "string.upperAscii() -> string", _ascii_case("upper")),
            row("string_replace_string_string", "string.replace(string, string) -> string", _replace),
            row(
                "string_replace_string_string_int", "string.replace(string, string, int) -> string", _replace
            ),
            row("string_split_string", "string.split(string) -> list(string)", _split),
            row("string_split_string_int", "string.split(string, int) -> list(string)", _split),
            row("string_substring_int", "string.substring(int) -> string", _substring),
            row("string_substring_int_int", "string.substring(int, int) -> string", _substring),
            row("string_trim", "string.trim() -> string", lambda text: text.strip(_SPACE)),
            row("strings_quote", "strings.quote(string) -> string", _quote),
            row("list_join", "list(string).join() -> string", _join),
            row("list_join_string", "list(string).join(string) -> string", _join),
        ]
    ),
    library([row("string_format", "string.format(list(dyn)) -> string", format_text)], sequential=True),
)
