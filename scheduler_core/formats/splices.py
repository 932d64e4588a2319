"""Replacement of some documents in a text: everything else stays byte for byte, including comments."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

from scheduler_core.formats.bundle import read_files
from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.yaml_edits import edited
from scheduler_core.formats.yaml_reader import read_yaml
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.keys import document_key
from scheduler_core.kubernetes.manifests import Document

_MARK = re.compile(r"^---(?:[ \t][^\n]*)?\n", re.MULTILINE)
_CONTENT = re.compile(r"^[^\s#]", re.MULTILINE)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_BOM = "\ufeff"


def splice(text: str, before: Sequence[Document], after: Sequence[Document]) -> str | None:
    """Return ``text``, which holds ``before``, edited to hold ``after``; the caller must verify the result.

    A document that differs is edited in place, line by line; if that is not possible, it is rewritten under
    its leading comments. New documents are appended. ``None`` if the documents cannot be distinguished.
    """
    bom = _BOM if text.startswith(_BOM) else ""
    given = text[len(bom) :]
    plain = given.replace("\r\n", "\n").replace("\r", "\n")
    whole = _spliced(plain, before, after)
    if whole is None:
        return None
    return bom + (whole if plain == given else with_line_ends(given, plain, whole))


def _spliced(text: str, before: Sequence[Document], after: Sequence[Document]) -> str | None:
    marks = [match.start() for match in _MARK.finditer(text)]
    chunks = [text[a:b] for a, b in zip([0, *marks], [*marks, len(text)])]
    places = [n for n, chunk in enumerate(chunks) if _CONTENT.search(_MARK.sub("", chunk))]
    held = _held([chunks[place] for place in places], before)
    if held is None:
        return None
    names = _names(before, after)
    left: dict[Any, deque[Document]] = defaultdict(deque)
    for document, name in zip(after, names):
        left[name].append(document)
    for place, documents in zip(places, held):
        wanted = [left[key].popleft() for key in map(document_key, documents) if left[key]]
        if documents and not wanted:
            # The head of the first document may be the head comment of the whole text.
            chunks[place] = _head(chunks[place]) if place == places[0] else ""
        elif wanted != documents:
            chunks[place] = _changed(chunks[place], documents, wanted)
    added = [document for queue in left.values() for document in queue]
    if added:
        chunks.append(write_yaml(added))
    return _put_together(chunks)


def _names(before: Sequence[Document], after: Sequence[Document]) -> list[Any]:
    """Return the key of each of ``after`` in ``before``: a document that is only renamed keeps its place."""
    old, new = [document_key(document) for document in before], [document_key(document) for document in after]
    known, wanted = set(old), set(new)
    if len(old) == len(new) and all(a == b or not (a in wanted or b in known) for a, b in zip(old, new)):
        return old
    return new


def _put_together(chunks: Sequence[str]) -> str:
    """Concatenate the chunks; each one but the last is terminated by a line end."""
    filled = [chunk for chunk in chunks if chunk]
    ended = [chunk if chunk.endswith("\n") else f"{chunk}\n" for chunk in filled[:-1]]
    return "".join([*ended, *filled[-1:]])


def _held(chunks: Sequence[str], documents: Sequence[Document]) -> list[list[Document]] | None:
    """Return the documents of each chunk, such as the items of a List; ``None`` if they do not match."""
    if len(chunks) == len(documents):
        return [[document] for document in documents]
    left = deque(documents)
    held: list[list[Document]] = []
    for chunk in chunks:
        held.append([])
        for entry in read_files([("", chunk)], Limits()).entries:
            if left and document_key(entry.value) == document_key(left[0]):
                held[-1].append(left.popleft())
    return None if left else held


def _head(chunk: str) -> str:
    """Return the text before a document's content: its ``---`` mark and leading comments."""
    mark = _MARK.match(chunk)
    found = _CONTENT.search(chunk, mark.end() if mark else 0)
    return chunk[: found.start()] if found else chunk


def _changed(chunk: str, documents: Sequence[Document], wanted: Sequence[Document]) -> str:
    """Return a chunk with ``wanted`` instead of ``documents``, edited in place if possible."""
    rewritten = _head(chunk) + write_yaml(wanted).removeprefix("---\n")
    try:
        values = [value for _, value in read_yaml(chunk, Limits(), ValueTally(Limits()))]
    except FormatError:
        return rewritten
    if len(values) != 1:
        return rewritten
    after = _with(values[0], documents, wanted)
    found = None if after is None else edited(chunk, values[0], after)
    return rewritten if found is None else found


def _with(value: Any, documents: Sequence[Document], wanted: Sequence[Document]) -> Any:
    """Return a chunk's value with its documents replaced, in a List in place; ``None`` if not possible."""
    if [value] == list(documents):
        return wanted[0] if len(wanted) == 1 else None
    if isinstance(value, dict) and value.get("items") == list(documents):
        return {**value, "items": list(wanted)}
    return None


def with_line_ends(given: str, plain: str, changed: str) -> str:
    """Return ``changed``, derived from ``plain``, with the line ends of ``given``, the source of ``plain``.

    Lines before the first and after the last difference keep their own; lines between use the most frequent.
    """
    raw, old, new = ([line for line in _LINE.findall(text) if line] for text in (given, plain, changed))
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    ends = [line[len(line.rstrip("\r\n")) :] for line in raw]
    usual = max(("\r\n", "\n", "\r"), key=ends.count)
    middle = [
        line.removesuffix("\n") + usual if line.endswith("\n") else line
        for line in new[first : len(new) - last]
    ]
    return "".join([*raw[:first], *middle, *raw[len(raw) - last :]])
