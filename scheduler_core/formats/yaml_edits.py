"""In-place edits of a YAML document: only the lines that differ are written, all others are unchanged.

The document's events give the position of each value. Values that differ are replaced there; an entry is
removed with its lines, and a new one added after the last. Comments and blank lines are kept.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

import yaml

from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.yaml_reader import events, key_text, read_yaml
from scheduler_core.formats.yaml_writer import write_yaml

MOST = 4_000_000  # characters of a document that is edited in place


class _CannotError(Exception):
    """A difference cannot be edited in place."""


@dataclass(slots=True)
class _Node:
    """A value in the text, from ``start`` to ``end`` (exclusive)."""

    start: int
    end: int
    column: int
    flow: bool = True  # on one line or within brackets: nothing is written between its parts
    keys: list[tuple[str, int, int]] | None = None  # of an object: each key, its start and its column
    parts: list[_Node] = field(default_factory=list)  # of an object or list
    items: bool = False  # a list


def edited(text: str, before: Any, after: Any) -> str | None:
    """Return ``text``, one document with the value ``before``, edited to hold ``after``, or ``None``.

    Line ends must be Unix's. The result was verified by reading it again. ``None`` means that the document
    cannot be edited in place.
    """
    if len(text) > MOST:
        return None
    try:
        root = _root(text)
        edits = _Edits(text)
        edits.exchange(root, before, after)
        whole = edits.applied(0, len(text))
        values = [value for _, value in read_yaml(whole, Limits(), ValueTally(Limits()))]
    except (_CannotError, FormatError):
        return None
    return whole if values == [after] else None


def _root(text: str) -> _Node:
    """Return the tree of a document's values."""
    stack: list[_Node] = []
    keys: list[bool] = []  # of each open object: whether the next value is a key
    root: _Node | None = None
    for event in events(text):
        kind = type(event)
        if kind in (yaml.ScalarEvent, yaml.AliasEvent):
            if stack and stack[-1].keys is not None and keys[-1]:
                name = key_text(event) if kind is yaml.ScalarEvent else ""
                stack[-1].keys.append((name, event.start_mark.index, event.start_mark.column))
                keys[-1] = False
                continue
            start, end = event.start_mark.index, event.end_mark.index
            node = _Node(start, end, event.start_mark.column)
        elif kind in (yaml.MappingStartEvent, yaml.SequenceStartEvent):
            if stack and stack[-1].keys is not None and keys[-1]:
                raise _CannotError
            is_list = kind is yaml.SequenceStartEvent
            node = _Node(event.start_mark.index, 0, event.start_mark.column, bool(event.flow_style))
            node.items, node.keys = is_list, None if is_list else []
            stack.append(node)
            keys.append(not is_list)
            continue
        elif kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
            node = stack.pop()
            keys.pop()
            # libyaml reports a block's end at the next token: after blank lines and comments.
            node.end = event.end_mark.index if node.flow or not node.parts else node.parts[-1].end
        else:
            continue
        if not stack:
            if root is not None:
                raise _CannotError
            root = node
        else:
            stack[-1].parts.append(node)
            if stack[-1].keys is not None:
                keys[-1] = True
    if root is None:
        raise _CannotError
    return root


class _Edits:
    """Pieces of a text, each with its replacement."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: list[tuple[int, int, str]] = []

    def applied(self, start: int, end: int) -> str:
        """Return the text from ``start`` to ``end`` with the pieces replaced; raise if two overlap."""
        out: list[str] = []
        at = start
        for begin, until, new in sorted(self.pieces, key=lambda piece: piece[:2]):
            if begin < at or until > end:
                raise _CannotError
            out += [self.text[at:begin], new]
            at = until
        return "".join([*out, self.text[at:end]])

    def exchange(self, node: _Node, before: Any, after: Any) -> None:
        """Replace a value by ``after``; raise for a block that must be rewritten as a whole."""
        if _same(before, after):
            return
        known = len(self.pieces)
        try:
            if isinstance(before, dict) and isinstance(after, dict) and after and node.keys:
                self._object(node, node.keys, before, after)
                return
            if isinstance(before, list) and isinstance(after, list) and after and node.items and node.parts:
                self._list(node, before, after)
                return
        except _CannotError:
            del self.pieces[known:]
        if node.end <= node.start or not node.flow:
            raise _CannotError
        ended = "\n" if self.text[node.end - 1] == "\n" else ""  # a multi-line text has a final line end
        self.pieces.append((node.start, node.end, _inline(after) + ended))

    # --- objects

    def _object(
        self, node: _Node, keys: list[tuple[str, int, int]], before: dict[str, Any], after: dict[str, Any]
    ) -> None:
        names = [name for name, _, _ in keys]
        if "<<" in names or len(names) != len(before) or len(node.parts) != len(names):
            raise _CannotError
        gone = [name for name in names if name not in after]
        new = {name: value for name, value in after.items() if name not in before}
        if node.flow and gone:
            raise _CannotError
        for (name, start, column), part in zip(keys, node.parts):
            if name in after:
                self._entry(name, start, column, part, before[name], after[name], flow=node.flow)
        if len(gone) == len(names):
            raise _CannotError
        for place, name in enumerate(names):
            if name in gone:
                self._take_out(keys[place][1], node.parts[place].end, keys[place + 1 :][:1])
        if new and node.flow:
            added = "".join(f", {_scalar(name)}: {_inline(value)}" for name, value in new.items())
            self.pieces.append((node.parts[-1].end, node.parts[-1].end, added))
        elif new:
            self._put(self._after(node.end), _shifted(_block(new), keys[0][2]))

    def _entry(
        self, name: str, start: int, column: int, part: _Node, before: Any, after: Any, *, flow: bool
    ) -> None:
        """Replace the value of a key; a value that becomes a block, or was empty, is written with its key."""
        if _same(before, after):
            return
        alike = type(before) is type(after)
        known = len(self.pieces)
        try:
            if flow or (alike and not isinstance(after, str)) or not _is_block(after):
                self.exchange(part, before, after)
                return
        except _CannotError:
            if flow:
                raise
            del self.pieces[known:]
        ended = "\n" if part.end > start and self.text[part.end - 1] == "\n" else ""
        written = _shifted(_block({name: after}), column).lstrip(" ").removesuffix("\n")
        self.pieces.append((start, max(part.end, start), written + ended))

    def _take_out(self, start: int, end: int, following: list[tuple[str, int, int]]) -> None:
        begin, until = self._line(start), self._after(end)
        if self.text[begin:start].strip():  # next to a list's dash: replaced by the next key
            if not following or "#" in self.text[self._after(end) : following[0][1]]:
                raise _CannotError
            begin, until = start, following[0][1]
        self.pieces.append((begin, until, ""))

    # --- lists

    def _list(self, node: _Node, before: list[Any], after: list[Any]) -> None:
        if len(node.parts) != len(before):
            raise _CannotError
        codes = SequenceMatcher(None, _texts(before), _texts(after)).get_opcodes()
        if node.flow and any(b - a != d - c for _, a, b, c, d in codes):
            raise _CannotError
        dashes = [] if node.flow else self._dashes(node)
        spare = {_name(before[i]): i for code, a, b, _, _ in codes if code == "delete" for i in range(a, b)}
        for code, a, b, c, d in codes:
            if code == "equal":
                continue
            both = min(b - a, d - c)
            for old, new in zip(range(a, a + both), range(c, c + both)):
                self._exchange_item(node, dashes, old, before[old], after[new])
            for old in range(a + both, b):
                self._take_out(dashes[old], node.parts[old].end, [])
            if c + both < d:
                at = self._after(node.parts[a + both - 1].end) if a + both else self._line(dashes[0])
                for new in range(c + both, d):
                    self._put(at, self._item(node, dashes, before, after[new], spare))

    def _exchange_item(self, node: _Node, dashes: list[int], old: int, before: Any, after: Any) -> None:
        part = node.parts[old]
        known = len(self.pieces)
        try:
            self.exchange(part, before, after)
        except _CannotError:
            if node.flow:
                raise
            del self.pieces[known:]
            ended = "\n" if self.text[part.end - 1] == "\n" else ""
            column = dashes[old] - self._line(dashes[old])
            written = _shifted(_block([after]), column).lstrip(" ").removesuffix("\n")
            self.pieces.append((dashes[old], part.end, written + ended))

    def _item(
        self, node: _Node, dashes: list[int], before: list[Any], value: Any, spare: dict[str, int]
    ) -> str:
        """Return a new item's lines, reusing those of an item with its name that is removed elsewhere."""
        place = spare.get(_name(value)) if _name(value) else None
        if place is not None:
            start, end = self._line(dashes[place]), self._after(node.parts[place].end)
            own = _Edits(self.text)
            try:
                own.exchange(node.parts[place], before[place], value)
                return _ended(own.applied(start, end))
            except _CannotError:
                pass
        column = dashes[0] - self._line(dashes[0])
        return _shifted(_block([value]), column)

    def _dashes(self, node: _Node) -> list[int]:
        """Return the position of the dash of each item of a block list."""
        found = []
        at, column = node.start, node.start - self._line(node.start)
        for part in node.parts:
            dash = re.compile(rf"^ {{{column}}}-(?=\s|$)", re.MULTILINE).search(self.text, self._line(at))
            if dash is None or dash.end() > part.start:
                raise _CannotError
            found.append(dash.end() - 1)
            at = max(part.end, dash.end())
            if at < len(self.text) and self.text[at - 1] != "\n":
                at = self._after(at)
        return found

    # --- lines

    def _line(self, at: int) -> int:
        """Return the start of the line of a position."""
        return self.text.rfind("\n", 0, at) + 1

    def _after(self, at: int) -> int:
        """Return the start of the line after a value."""
        if self.text[at - 1] == "\n":
            return at
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end + 1

    def _put(self, at: int, lines: str) -> None:
        """Insert lines before the line that begins at a position, or after an unterminated last line."""
        unended = at == len(self.text) and at and self.text[at - 1] != "\n"
        self.pieces.append((at, at, f"\n{lines.removesuffix(chr(10))}" if unended else lines))


def _same(before: Any, after: Any) -> bool:
    """Return whether two values are written the same: 1, 1.0 and true are not."""
    return before == after and _texts([before]) == _texts([after])


def _texts(values: list[Any]) -> list[str]:
    return [json.dumps(value, sort_keys=True, default=str) for value in values]


def _name(value: Any) -> str:
    """Return the name by which a list item is recognized when it moves, "" if it has none."""
    if not isinstance(value, dict):
        return ""
    meta = value.get("metadata")
    name = value.get("id") or value.get("name") or (meta.get("name") if isinstance(meta, dict) else None)
    return f"{value.get('kind', '')} {name}" if isinstance(name, str) else ""


def _is_block(value: Any) -> bool:
    return (isinstance(value, dict | list) and bool(value)) or (isinstance(value, str) and "\n" in value)


def _inline(value: Any) -> str:
    """Return a value in flow style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    text = write_yaml([{"k": value}]).removeprefix("---\nk:").strip()
    plain = isinstance(value, str) and text == value and not set(text) & set(",[]{}#:")
    return text if plain or not isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _block(value: Any) -> str:
    return write_yaml([value]).removeprefix("---\n")


def _shifted(lines: str, column: int) -> str:
    return "".join(" " * column + line if line.strip() else line for line in lines.splitlines(keepends=True))


def _ended(lines: str) -> str:
    return lines if lines.endswith("\n") else f"{lines}\n"
