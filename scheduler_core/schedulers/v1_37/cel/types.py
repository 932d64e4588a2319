"""Types of the checker, and how signatures write them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class Type(NamedTuple):
    """A type: its kind, the name of what is not built in, and its parameters."""

    kind: str
    name: str = ""
    parameters: tuple[Type, ...] = ()

    def __str__(self) -> str:
        """Return it as compile errors show it (checker.FormatCELType)."""
        shown = self.name or _SHOWN.get(self.kind, self.kind)
        return f"{shown}({', '.join(map(str, self.parameters))})" if self.parameters else shown

    @property
    def is_dynamic(self) -> bool:
        """Whether its values are only known at run time."""
        return self.kind in ("dyn", "any")

    @property
    def is_optional(self) -> bool:
        """Whether it is the type of optional values."""
        return self.name == "optional_type"


_SHOWN = {"error": "!error!"}

DYN, ANY, ERROR, NULL = Type("dyn"), Type("any"), Type("error"), Type("null")
BOOL, INT, UINT, DOUBLE = Type("bool"), Type("int"), Type("uint"), Type("double")
STRING, BYTES, DURATION, TIMESTAMP = Type("string"), Type("bytes"), Type("duration"), Type("timestamp")

_STRUCTS = {"quantity": "Quantity", "semver": "Semver", "url": "URL", "namedformat": "NamedFormat"}
_AUTHORIZATION = "Authorizer PathCheck GroupCheck ResourceCheck Decision".split()
_NAMED = {
    **{name.lower(): Type("struct", f"kubernetes.authorization.{name}") for name in _AUTHORIZATION},
    **{short: Type("struct", f"kubernetes.{name}") for short, name in _STRUCTS.items()},
    "addr": Type("opaque", "net.IP"),
    "prefix": Type("opaque", "net.CIDR"),
    **{
        kind: Type(kind)
        for kind in "dyn any bool int uint double string bytes duration timestamp null".split()
    },
}
QUANTITY, SEMVER, URL, FORMAT = (_NAMED[short] for short in _STRUCTS)
IP, CIDR = _NAMED["addr"], _NAMED["prefix"]


def list_of(element: Type) -> Type:
    """Return the type of lists of elements."""
    return Type("list", "", (element,))


def map_of(key: Type, value: Type) -> Type:
    """Return the type of maps."""
    return Type("map", "", (key, value))


def optional_of(value: Type) -> Type:
    """Return the type of optional values."""
    return Type("opaque", "optional_type", (value,))


def type_of(value: Type) -> Type:
    """Return the type of types."""
    return Type("type", "", (value,))


_WORD = re.compile(r"[A-Za-z]+|[(),]")


@lru_cache(maxsize=512)
def parse_type(text: str) -> Type:
    """Parse a type as signatures write it: ``list(map(string, A))``; a capital letter is a parameter."""
    out, rest = _parse(_WORD.findall(text))
    assert not rest, text
    return out


def _parse(words: list[str]) -> tuple[Type, list[str]]:
    word, rest = words[0], words[1:]
    if word[0].isupper():
        return Type("param", word), rest
    if word in _NAMED:
        return _NAMED[word], rest
    parameters: list[Type] = []
    while rest[0] != ")":
        parameter, rest = _parse(rest[1:])
        parameters.append(parameter)
    name = "optional_type" if word == "optional" else ""
    return Type("opaque" if name else word, name, tuple(parameters)), rest[1:]
