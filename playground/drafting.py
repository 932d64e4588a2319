"""A draft of a copy: of the visitor's own text only the documents that differ are written anew."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from playground import bundles, sources, store
from playground.models import Draft
from scheduler_core.explain.copying import Copy
from scheduler_core.export import document_key
from scheduler_core.formats.bundle import read_files
from scheduler_core.formats.limits import Limits
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.scenario import BundleError, Document, Scenario

_MARK = re.compile(r"^---(?:[ \t\r][^\n]*)?\n", re.MULTILINE)
_CONTENT = re.compile(r"^[^\s#]", re.MULTILINE)


def copy_of(
    source: sources.Source, visitor: str, made: Copy, title: str, origin: store.Origin | None = None
) -> Draft:
    """Store a copy as a draft of the visitor's, ready to be opened."""
    [(kind, name)] = source.wire.items()
    based_on = f"{kind}:{name}"
    text = None
    if isinstance(source.row, Draft):
        based_on = source.row.based_on
        files = store.draft_files(source.row)
        if len(files) == 1:
            text = spliced(files[0][1], source.load().documents, made.documents)
    files = [("", text or bundles.bundle_text(made.scenario))]
    draft = store.create_draft(visitor, files, title, based_on, origin)
    sources.seed(draft, replace(made.scenario, title=draft.title))
    return draft


def written(text: str, scenario: Scenario, after: tuple[Document, ...]) -> dict[str, Any]:
    """Return ``{"text", "rewritten"}``: the text that ``scenario`` was read from, with ``after`` instead.

    Raises BundleError where they cannot be used, and TooLargeError.
    """
    spared = _spliced(text, scenario.documents, after)
    if spared is not None:
        try:
            if bundles.parse([("", spared)]).documents == after:
                return {"text": spared, "rewritten": False}
        except BundleError:
            if _holds(spared, after):
                raise
        except bundles.TooLargeError:
            pass  # what stands in it besides the documents may be what is too much
    whole = bundles.bundle_text(replace(scenario, documents=after))
    bundles.parse([("", whole)])
    return {"text": whole, "rewritten": True}


def spliced(text: str, before: Sequence[Document], after: Sequence[Document]) -> str | None:
    """Return ``text``, which holds ``before``, changed so that it holds ``after``; comments stay.

    What stands between two ``---`` is written anew if any document in it changes: of a List, all of them.
    ``None`` where it cannot be done so, as in JSON.
    """
    whole = _spliced(text, before, after)
    return whole if whole is not None and _holds(whole, after) else None


def _holds(text: str, documents: Sequence[Document]) -> bool:
    with suppress(BundleError, bundles.TooLargeError):
        return bundles.read_documents(text) == tuple(documents)
    return False


def _spliced(text: str, before: Sequence[Document], after: Sequence[Document]) -> str | None:
    marks = [match.start() for match in _MARK.finditer(text)]
    chunks = [text[a:b] for a, b in zip([0, *marks], [*marks, len(text)])]
    places = [n for n, chunk in enumerate(chunks) if _CONTENT.search(_MARK.sub("", chunk))]
    held = _held([chunks[place] for place in places], before)
    if held is None:
        return None
    left = {document_key(document): document for document in after}
    for place, documents in zip(places, held):
        keys = [document_key(document) for document in documents]
        wanted = [left.pop(key) for key in keys if key in left]
        if not wanted:
            chunks[place] = ""
        elif wanted != documents:
            chunks[place] = _head(chunks[place]) + write_yaml(wanted).removeprefix("---\n")
    whole = "".join(chunk if chunk.endswith("\n") or not chunk else f"{chunk}\n" for chunk in chunks)
    return whole + (write_yaml(left.values()) if left else "")


def _held(chunks: Sequence[str], documents: Sequence[Document]) -> list[list[Document]] | None:
    """Return the documents of each chunk, such as the items of a List; ``None`` if it cannot be told."""
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
    """Return what stands before a document's content: its mark and the comments above it."""
    mark = _MARK.match(chunk)
    found = _CONTENT.search(chunk, mark.end() if mark else 0)
    return chunk[: found.start()] if found else chunk
