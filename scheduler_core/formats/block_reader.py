"""Block-style YAML as ``kubectl`` prints it, parsed by line: several times as fast as libyaml's events.

It only parses lines that every YAML parser reads the same: keys and values of plain or simply quoted
ASCII, lists, ``{}`` and ``[]``. Anything else (block scalars, flow style, anchors, folded lines, escapes,
duplicate keys) is left to :mod:`scheduler_core.formats.yaml_reader`: the current list item if there is one,
else the whole document. So this parser accepts no text that yaml_reader would reject, and all errors are
yaml_reader's; only the bound on all values is checked afterwards, once it is known which values count.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.scalars import WORDS, resolve
from scheduler_core.formats.skipped_kinds import Skipped, ValueTally, size_of

# Indentation, a list's dash, a key with its colon, and the rest of the line.
_LINE = re.compile(r"( *+)(-(?: ++|$))?(?:([A-Za-z_][A-Za-z0-9_./-]{0,199}+):(?: ++|$))?([ -~]*+)")
_PLAIN = re.compile(r"(?:[A-Za-z0-9_./+~$(]|-[A-Za-z0-9.])[ -~]*")
_DOUBLE = re.compile(r'"[^"\\]*"')
_SINGLE = re.compile(r"'(?:[^']|'')*'")
_MOST_KNOWN = 50_000  # cached lines
_TICK = 2_000  # lines between two calls of ``tick``

Open = tuple[int, Any]  # the column of a list's dashes or of an object's keys, and the container


class _UnusualError(Exception):
    """A line that is left to the other reader."""


class _Item(Struct):
    """The current item of the outermost list: where it began, and the state at that point."""

    level: int  # of its list on the stack
    listed: list[Any]
    line: int
    length: int  # of the list
    values: int


class _Line(Struct):
    """A parsed line; ``known`` means that it is a key with a scalar value."""

    column: int
    wide: int = 0  # of its dash and the spaces after it; 0: no dash
    key: str | None = None
    value: Any = None  # of a key or an item; _LATER, _OBJECT or _LIST
    known: bool = False


_LATER, _OBJECT, _LIST = object(), object(), object()  # nothing on this line, ``{}`` and ``[]``
_EMPTY: dict[str, Any] = {"": _LATER, "{}": _OBJECT, "[]": _LIST}
_BLANK = _Line(-1)


class Lines:
    """A cache of parsed lines by text, as a cluster's manifests repeat the same few lines."""

    def __init__(self) -> None:
        self._known: dict[str, _Line] = {}
        self._keys: dict[str, str] = {}
        self.get = self._known.get

    def read(self, text: str) -> _Line:
        """Parse a line. Raises _UnusualError."""
        found = _LINE.fullmatch(text)
        if found is None:
            raise _UnusualError
        indent, dash, key, rest = found.groups()
        rest = rest.rstrip(" ")
        if not (dash or key) and (not rest or rest[0] == "#"):
            line = _BLANK
        elif not (dash or key) or (key and key in WORDS):
            raise _UnusualError  # a continued scalar, or a whole document; or a key that YAML converts
        else:
            value = _EMPTY[rest] if rest in _EMPTY else _value(rest)
            key = key and self._keys.setdefault(key, key)
            known = bool(key) and not dash and rest not in _EMPTY
            line = _Line(len(indent), len(dash or ""), key, value, known)
        if len(self._known) < _MOST_KNOWN:
            self._known[text] = line
        return line


def _value(text: str) -> Any:
    if text[0] == '"':
        if _DOUBLE.fullmatch(text):
            return text[1:-1]
    elif text[0] == "'":
        if _SINGLE.fullmatch(text):
            return text[1:-1].replace("''", "'")
    elif _PLAIN.fullmatch(text) and ": " not in text and " #" not in text and text[-1] != ":":
        try:
            return resolve(text)
        except FormatError:
            raise _UnusualError from None
    raise _UnusualError


def read_block(
    text: str, limits: Limits, known: Lines, tick: Callable[[int, int], None]
) -> tuple[Any, int] | None:
    """Return the document in ``text`` and its number of values, None if it is left to the other reader.

    ``tick`` is called with the number of lines read and of all lines. Raises FormatError like the other
    reader, which must then report the problem.
    """
    reading = _Reading(text.split("\n"), limits, known, tick)
    return (reading.root, reading.values) if reading.run() else None


class _Reading:
    """The state of parsing one document: the open lists and objects, and the key that awaits its value."""

    def __init__(
        self, lines: list[str], limits: Limits, known: Lines, tick: Callable[[int, int], None]
    ) -> None:
        self.lines = lines
        self.limits = limits
        self.known = known
        self.tick = tick
        self.root: Any = None
        self.values = 0
        self._stack: list[Open] = []
        self._key: str | None = None  # of the innermost object, whose value may be on the next line
        self._bare = False  # the same of the innermost list's last item
        self._item: _Item | None = None

    def run(self) -> bool:
        """Read all lines; return False if a line outside a list item is unusual."""
        lines, known, stack = self.lines, self.known.get, self._stack
        of, at = len(lines), 0
        while at < of:
            if not at % _TICK:
                self.tick(at, of)
            text = lines[at]
            try:
                line = known(text) or self._look(text)
                plain = line.known and self._key is None and not self._bare
                if plain and stack and stack[-1][0] == line.column:
                    target = stack[-1][1]  # nearly every line: another field of the same object
                    if type(target) is dict:
                        if line.key in target:
                            raise _UnusualError
                        target[line.key] = line.value
                        self.values += 2
                        at += 1
                        continue
                if line is not _BLANK:
                    self._take(line, at)
            except _UnusualError:
                after = self._otherwise()
                if after is None:
                    return False
                at = after
            else:
                at += 1
        return self.root is not None

    def _look(self, text: str) -> _Line:
        if len(text) > self.limits.line:
            raise _UnusualError
        return self.known.read(text)

    def _take(self, line: _Line, at: int) -> None:
        column, wide = line.column, line.wide
        if not self._stack:
            self._begin(column, wide)
        elif not self._opened(column, wide):
            self._close(column, wide)
        if wide:
            self._dash(column, wide, line.key, at)
        target = self._stack[-1][1]
        value = line.value
        later = value is _LATER
        if later:
            value = None
        elif value is _OBJECT:
            value = {}
        elif value is _LIST:
            value = []
        self.values += 1
        if line.key is None:
            target.append(value)
            self._bare = later
            return
        if line.key in target:
            raise _UnusualError
        self.values += 1
        target[line.key] = value
        if later:
            self._key = line.key

    def _begin(self, column: int, dash: int) -> None:
        if self.root is not None or column:
            raise _UnusualError
        self.root = [] if dash else {}
        self._open(0, self.root)

    def _open(self, column: int, container: Any) -> None:
        if len(self._stack) >= self.limits.depth - 1:
            raise _UnusualError  # perhaps too deep: the other reader decides
        self._stack.append((column, container))
        self.values += 1

    def _opened(self, column: int, dash: int) -> bool:
        """Open a container that begins on this line as the value of the preceding key or dash."""
        if self._key is None and not self._bare:
            return False
        owner_column, owner = self._stack[-1]
        name, self._key, bare, self._bare = self._key, None, self._bare, False
        # The dashes of a list may have the same indentation as its key.
        if not (column > owner_column or (dash and column == owner_column and not bare)):
            return False
        made: Any = [] if dash else {}
        self.values -= 1  # it was counted as null
        if bare:
            owner[-1] = made
        else:
            owner[name] = made
        self._open(column, made)
        return True

    def _close(self, column: int, dash: int) -> None:
        """Close the containers that are indented deeper than this line."""
        stack = self._stack
        while stack and stack[-1][0] > column:
            stack.pop()
        if not dash and len(stack) > 1 and stack[-1][0] == column and type(stack[-1][1]) is list:
            stack.pop()
        if not stack or stack[-1][0] != column or (type(stack[-1][1]) is list) != bool(dash):
            raise _UnusualError

    def _dash(self, column: int, wide: int, key: str | None, at: int) -> None:
        level = len(self._stack) - 1
        listed = self._stack[-1][1]
        if level < 2 and (level == 0 or type(self._stack[0][1]) is dict):
            self._item = _Item(level, listed, at, len(listed), self.values)
        if key:
            made: dict[str, Any] = {}
            listed.append(made)
            self._open(column + wide, made)

    # --- what is unusual -------------------------------------------------------------------

    def _otherwise(self) -> int | None:
        """Read the current item with the other reader; return the line after it, None if there is no item."""
        from scheduler_core.formats.yaml_reader import read_yaml

        item = self._item
        if item is None or len(self._stack) <= item.level or self._stack[item.level][1] is not item.listed:
            return None
        column, listed = self._stack[item.level]
        after = self._end(item.line + 1, column)
        limits = replace(self.limits, depth=self.limits.depth - item.level)
        tally = ValueTally(
            replace(limits, kept=limits.values)
        )  # the bound on kept values is checked for the whole document
        chunk = "\n".join(self.lines[item.line : after]) + ("\n" if after < len(self.lines) else "")
        found = list(read_yaml(chunk, limits, tally))
        if len(found) != 1 or type(found[0][1]) is not list or len(found[0][1]) != 1:
            return None
        value = found[0][1][0]
        if isinstance(value, Skipped) or tally.written:
            return None  # its reason must name the whole's bounds, which alias expansions count against
        if tally.values + tally.kept != size_of(value) + 1:
            return None  # a key is there twice: both of its values count
        del listed[item.length :]
        listed.append(value)
        del self._stack[item.level + 1 :]
        self.values = item.values + tally.values + tally.kept - 1  # the list was counted when it was opened
        self._key, self._bare, self._item = None, False, None
        return after

    def _end(self, at: int, column: int) -> int:
        """Return the first line from ``at`` on with content that is not indented deeper than ``column``."""
        lines = self.lines
        while at < len(lines):
            stripped = lines[at].lstrip(" ")
            if stripped and stripped[0] != "#" and len(lines[at]) - len(stripped) <= column:
                break
            at += 1
        return at
