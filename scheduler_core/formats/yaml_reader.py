"""YAML text to plain documents, from libyaml's event stream.

Documents are built without recursion, and their values counted meanwhile, so that neither depth nor
aliases (a few hundred bytes can expand to billions of values) cost more than :class:`Limits` allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.scalars import Scalar, resolve
from scheduler_core.formats.skipped_kinds import CROWDED, Skipped, ValueTally, characters, children, matters

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_STRINGS = frozenset([_TAG + "str", _TAG + "binary", _TAG + "timestamp", "!"])
_RESOLVED = frozenset(_TAG + t for t in ("int", "float", "bool", "null"))
_MERGE = object()
_PENDING = object()


@dataclass(slots=True)
class _Open:
    """A list or object under construction."""

    value: Any
    anchor: str | None
    start: int  # values counted when it began
    line: int
    key: Any = _PENDING  # the key that awaits its value
    merges: list[Any] | None = None
    failed: FormatError | None = None  # a bound exceeded inside; raised if the kind is read
    doubled: FormatError | None = None  # a key that is there twice inside; likewise


def events(text: str) -> Iterator[Any]:
    """Yield libyaml's events. Raises FormatError with the line of a syntax error."""
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise FormatError(f"not valid YAML: {_explain(error)}", mark.line + 1 if mark else None) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else None
        raise FormatError("a character that YAML does not allow", line) from None
    except (ValueError, UnicodeError) as error:
        raise FormatError(f"not valid YAML: {error}") from None


_EXPLAINED = {
    "found character that cannot start any token": "unexpected character; is it a tab?",
    "mapping values are not allowed in this context": "unexpected ':'; check the indentation",
    "could not find expected ':'": "a key without ':'",
    "did not find expected key": "expected a key here; check the indentation",
    "did not find expected '-' indicator": "expected '-' here; check the indentation",
}


def _explain(error: yaml.MarkedYAMLError) -> str:
    problem = str(error.problem or error.context or "unreadable")
    return _EXPLAINED.get(problem, problem)


def scalar(event: Any) -> Scalar:
    """Return a scalar event's value, by its tag and style."""
    text: str = event.value
    tag = event.tag
    if tag is None:
        return resolve(text) if event.implicit[0] else text
    if tag in _STRINGS:
        return text
    if tag in _RESOLVED:
        value = resolve(text)
        return float(value) if tag.endswith("float") and type(value) is int else value
    raise FormatError(f"the YAML tag {tag[:40]!r} is not allowed in a manifest", event.start_mark.line + 1)


def key_text(event: Any) -> str:
    """Return a key as a string, converted as in Kubernetes."""
    value = scalar(event)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def read_yaml(text: str, limits: Limits, tally: ValueTally) -> Iterator[tuple[int, Any]]:
    """Yield the documents of a YAML stream with their numbers (from 1); empty ones are left out.

    ``tally`` counts the added values, and raises if there are too many. An object of a kind that scheduling
    does not read, and that exceeds a bound, becomes a Skipped. Raises FormatError.
    """
    stack: list[_Open] = []
    anchors: dict[str, tuple[Any, int]] = {}
    lengths: dict[int, tuple[Any, int]] = {}  # characters by identity, of aliased values
    building: set[str] = set()
    values = 0
    number = 0
    line = 0
    passed = 0  # lists and objects that are open inside a skipped part
    try:
        for event in events(text):
            kind = type(event)
            if passed:
                passed += _NESTING.get(kind, 0)
                if passed > _HOPELESS:
                    raise FormatError(f"nested deeper than {limits.depth} levels", event.start_mark.line + 1)
                if not passed:
                    _put(stack[-1], None)
                continue
            line = event.start_mark.line + 1
            try:
                if kind is yaml.ScalarEvent:
                    values += 1
                    if values > limits.values:
                        raise _BoundError(tally.error().message)
                    top = stack[-1] if stack else None
                    if top is not None and top.key is _PENDING and type(top.value) is dict:
                        _check_length(event, limits)
                        _begin_key(top, event, stack)
                        if event.anchor:
                            anchors[event.anchor] = (scalar(event), 1)
                        continue
                    _check_length(event, limits)
                    value: Any = _value(event)
                    if event.anchor:
                        anchors[event.anchor] = (value, 1)
                elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                    values += 1
                    _check_tag(event)
                    _check_nesting(stack, limits)
                    made: Any = {} if kind is yaml.MappingStartEvent else []
                    stack.append(_Open(made, event.anchor, values, line))
                    if event.anchor:
                        building.add(event.anchor)
                    continue
                elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                    done = stack.pop()
                    value = done.value
                    if done.merges:
                        value = _merged(done)
                    if done.anchor:
                        building.discard(done.anchor)
                        anchors[done.anchor] = (value, values - done.start + 1)
                    if len(stack) <= _DEEPEST_OBJECT and type(value) is dict and _is_object(stack):
                        value, spared = _settled(value, done, stack, values - done.start + 1, tally)
                        values -= spared
                elif kind is yaml.AliasEvent:
                    if event.anchor in building:
                        raise FormatError(f"the alias *{event.anchor} contains itself")
                    if event.anchor not in anchors:
                        raise FormatError(f"the alias *{event.anchor} refers to an undefined anchor")
                    value, size = anchors[event.anchor]
                    values += size
                    if values > limits.values:
                        raise _BoundError(tally.error().message)
                    if id(value) not in lengths:  # the value is kept too, so that its id is not reused
                        lengths[id(value)] = (value, characters(value))
                    tally.alias(lengths[id(value)][1])
                    top = stack[-1] if stack else None
                    if top is not None and top.key is _PENDING and type(top.value) is dict:
                        raise FormatError("an alias cannot be a key in a manifest")
                    if stack and size > 1:
                        _check_depth(value, limits.depth - len(stack))
                elif kind is yaml.DocumentStartEvent:
                    number += 1
                    if number > limits.documents:  # including empty ones, which cost time
                        raise FormatError(f"more than {limits.documents:,} documents")
                    anchors.clear()
                    building.clear()
                    values = 0
                    continue
                else:
                    continue
            except _BoundError as error:
                passed = _pass(stack, building, FormatError(error.message, line), kind)
                values = stack[-1].start + 2 * len(stack[-1].value)  # skipped values do not count
                if not passed:
                    _put(stack[-1], None)
                continue
            if not stack:
                tally(values)
                if value is not None:
                    yield number, value
                continue
            _put(stack[-1], value)
            if values > limits.values:
                tally(values)
    except FormatError as error:
        first = next((part.failed for part in stack if part.failed and _may_matter(part)), error)
        raise FormatError(first.message, first.line or line or None, first.path, number or None) from None


def _may_matter(part: _Open) -> bool:
    return type(part.value) is dict and matters(part.value.get("kind"))


def _check_length(event: Any, limits: Limits) -> None:
    if len(event.value) > limits.line:
        raise _BoundError(f"a text of more than {limits.line:,} characters is too long")
    if "\0" in event.value:
        raise FormatError("the character \\0 is not allowed")


def _value(event: Any) -> Scalar:
    try:
        return scalar(event)
    except FormatError as error:
        raise _BoundError(error.message) from None


class _BoundError(FormatError):
    """A value exceeds a bound: ignored in an object that scheduling does not read."""


_NESTING = {
    yaml.MappingStartEvent: 1,
    yaml.SequenceStartEvent: 1,
    yaml.MappingEndEvent: -1,
    yaml.SequenceEndEvent: -1,
}
_HOPELESS = 1_000  # levels: libyaml's time grows with the square of them
_DEEPEST_OBJECT = 2  # an object of a List: below the List's own level and that of its items


def _is_object(stack: list[_Open]) -> bool:
    """Return whether the next value on the stack is a manifest: a document, or an item of a list of them."""
    match stack:
        case []:
            return True
        case [above]:
            return type(above.value) is list
        case [root, above]:
            return type(root.value) is dict and root.key == "items" and type(above.value) is list
    return False


def _pass(stack: list[_Open], building: set[str], error: FormatError, kind: type) -> int:
    """Skip the part of an object with a value that exceeds a bound, until its kind is known.

    Returns how many lists and objects are open in it. Raises ``error`` if there is no such object.
    """
    level = next(
        (n for n in range(min(len(stack) - 1, _DEEPEST_OBJECT), -1, -1) if _is_object(stack[:n])), None
    )
    if level is None or type(stack[level].value) is not dict or stack[level].key in (_PENDING, _MERGE):
        raise error
    owner = stack[level]
    owner.failed = owner.failed or error
    building.difference_update(part.anchor for part in stack[level + 1 :] if part.anchor)
    opened = len(stack) - level - 1 + max(0, _NESTING.get(kind, 0))
    del stack[level + 1 :]
    return opened


def _settled(
    value: dict[str, Any], done: _Open, stack: list[_Open], size: int, tally: ValueTally
) -> tuple[Any, int]:
    """Return a manifest, or its Skipped, and how many of its values do not count.

    Raises the error that was found inside, if scheduling reads its kind.
    """
    kind = value.get("kind")
    if done.doubled is not None and kind is None and stack:
        stack[0].doubled = stack[0].doubled or done.doubled
    elif done.doubled is not None and _is_read(kind):
        raise done.doubled
    if done.failed is not None:
        if kind is None and stack:
            stack[0].failed = stack[0].failed or done.failed  # the list's kind determines that of its items
        elif _is_read(kind):
            raise done.failed
        elif str(kind).endswith("List"):
            return value, 0
        return Skipped(value, done.failed.message), size
    if matters(kind):
        return value, 0
    return (value if tally.keep(size) else Skipped(value, CROWDED)), size


def _is_read(kind: Any) -> bool:
    """Return whether scheduling may read objects of a kind, or of a list of them."""
    return not isinstance(kind, str) or matters(kind.removesuffix("List") or kind)


def _begin_key(top: _Open, event: Any, stack: list[_Open]) -> None:
    """Begin the value of a key; a second one of the name takes the place of the first, as for kubectl.

    In an object that scheduling reads that is an error.
    """
    if event.value == "<<" and event.implicit[0]:
        top.key = _MERGE
        return
    key = key_text(event)
    if key in top.value:
        error = FormatError(f"duplicate key {key[:60]!r} in one object", event.start_mark.line + 1)
        levels = range(min(len(stack) - 1, _DEEPEST_OBJECT), -1, -1)
        level = next((n for n in levels if _is_object(stack[:n])), None)
        if level is None or type(stack[level].value) is not dict:
            raise error
        stack[level].doubled = stack[level].doubled or error
    top.key = key
    top.value[key] = None  # to detect duplicates, and to keep the file's order


def _put(top: _Open, value: Any) -> None:
    if type(top.value) is list:
        top.value.append(value)
    elif top.key is _MERGE:
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in parts):
            raise FormatError("'<<' merges objects only")
        top.merges = (top.merges or []) + parts
        top.key = _PENDING
    elif top.key is _PENDING:
        raise FormatError("a list or an object cannot be a key in a manifest")
    else:
        top.value[top.key] = value
        top.key = _PENDING


def _merged(done: _Open) -> dict[str, Any]:
    """Return the object merged with its ``<<`` parts: its own keys win, then those of earlier parts."""
    merged: dict[str, Any] = dict(done.value)
    for part in done.merges or ():
        merged = {**part, **merged}
    return merged


def _check_tag(event: Any) -> None:
    if event.tag not in (None, "!", _TAG + "map", _TAG + "seq"):
        raise FormatError(f"the YAML tag {event.tag[:40]!r} is not allowed in a manifest")


def _check_nesting(stack: list[_Open], limits: Limits) -> None:
    if len(stack) >= limits.depth:
        raise _BoundError(f"nested deeper than {limits.depth} levels")
    if stack and stack[-1].key is _PENDING and type(stack[-1].value) is dict:
        raise FormatError("a list or an object cannot be a key in a manifest")


def _check_depth(value: Any, left: int) -> None:
    level = [value]
    while level:
        if left < 0:
            raise FormatError("nested too deeply through aliases")
        level = children(level)
        left -= 1
