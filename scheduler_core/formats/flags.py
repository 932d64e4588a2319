"""Flag files, as gflags reads them: ``--name=value``, ``--name`` or ``--noname`` a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_FLAG = re.compile(r"--?([A-Za-z][A-Za-z0-9_-]{0,99})(?:=(.*))?")
_SAYS_MORE = re.compile(r"\s*[^\s#-]")


class Flag(Struct, frozen=True):
    """A flag with its line; one without a value is true."""

    line: int
    name: str
    value: str


def is_flag_file(text: str) -> bool:
    """Return whether each line is a flag, a comment or empty, and one at least is a flag.

    A YAML document begins with ``---`` and holds more than flags.
    """
    if _SAYS_MORE.match(text):  # most texts, which may have a hundred thousand lines
        return False
    lines = [line.strip() for line in text.splitlines()]
    written = [line for line in lines if line and not line.startswith("#")]
    return bool(written) and all(_FLAG.fullmatch(line) for line in written)


def read_flags(text: str) -> Iterator[Flag]:
    """Yield the flags of a flag file in order."""
    for number, line in enumerate(text.splitlines(), 1):
        found = _FLAG.fullmatch(line.strip())
        if found is not None and not line.strip().startswith("#"):
            name, value = found[1].replace("-", "_"), found[2]
            yield Flag(number, name, "true" if value is None else value.strip())
