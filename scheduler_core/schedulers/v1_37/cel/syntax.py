"""Tokens of CEL, and the escapes of its strings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_FLOAT = r"\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?"
_ESCAPE = r"\\(?:[abfnrtv\"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"
_STRING = (
    r'[rR]"""[\s\S]*?"""|[rR]\'\'\'[\s\S]*?\'\'\'|[rR]"[^"\n\r]*"|[rR]\'[^\'\n\r]*\''
    rf'|"""(?:{_ESCAPE}|[^\\])*?"""|\'\'\'(?:{_ESCAPE}|[^\\])*?\'\'\''
    rf'|"(?:{_ESCAPE}|[^\\"\n\r])*"|\'(?:{_ESCAPE}|[^\\\'\n\r])*\''
)
_TOKEN = re.compile(
    rf"(?P<blank>[\t \r\n\f]+|//[^\n]*)|(?P<bytes>[bB](?:{_STRING}))|(?P<string>{_STRING})"
    rf"|(?P<float>{_FLOAT})|(?P<uint>(?:0x[0-9a-fA-F]+|\d+)[uU])|(?P<int>0x[0-9a-fA-F]+|\d+)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<escaped>`[A-Za-z0-9_.\-/ ]+`)"
    r"|(?P<symbol>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}])",
    re.ASCII,
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_UNESCAPE = re.compile(r"\\(?:[xX](..)|u(.{4})|U(.{8})|([0-3][0-7]{2})|(.))", re.DOTALL)


class Token(NamedTuple):
    """A token with its offset."""

    kind: str
    text: str
    place: int


class SyntaxFault(Exception):  # noqa: N818 — "error" is what the Issues make of it
    """A text that is not CEL, from an offset on."""

    def __init__(self, place: int, message: str) -> None:
        super().__init__(message)
        self.place, self.message = place, message


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens and one of kind ``end``. Raises SyntaxFault."""
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            shown = text[place].replace("\n", "\\n")
            raise SyntaxFault(place, f"Syntax error: token recognition error at: '{shown}'")
        if match.lastgroup != "blank":
            yield Token(str(match.lastgroup), match[0], place)
        place = match.end()
    yield Token("end", "<EOF>", len(text))


def unquote(token: Token) -> str:
    """Return the text of a string literal, without quotes and escapes. Raises SyntaxFault."""
    text = token.text.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    text = text[1:] if raw else text
    width = 3 if text[:3] in ('"""', "'''") and len(text) >= 6 else 1
    text = text[width:-width]
    return text if raw else _UNESCAPE.sub(lambda match: _character(match, token.place), text)


def _character(match: re.Match[str], place: int) -> str:
    two, four, eight, octal, other = match.groups()
    if other is not None:
        return _SIMPLE.get(other, other)
    code = int(octal, 8) if octal else int(two or four or eight, 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise SyntaxFault(place, "invalid unicode code point")
    return chr(code)


def unquote_bytes(token: Token) -> bytes:
    """Return the bytes of a bytes literal, in which escapes by number are bytes. Raises SyntaxFault."""
    inner = token._replace(text=token.text[1:])
    if inner.text[0] in "rR":
        return unquote(inner).encode()
    if re.search(r"(?<!\\)(?:\\\\)*\\[uU]", inner.text):
        raise SyntaxFault(token.place, "unable to unescape string")
    width = 3 if inner.text[:3] in ('"""', "'''") and len(inner.text) >= 6 else 1
    out, text, place = bytearray(), inner.text[width:-width], 0
    for match in _UNESCAPE.finditer(text):
        out += text[place : match.start()].encode()
        two, _, _, octal, _ = match.groups()
        if two or octal:
            out.append(int(two, 16) if two else int(octal, 8))
        else:
            out += _character(match, token.place).encode()
        place = match.end()
    return bytes(out + text[place:].encode())
