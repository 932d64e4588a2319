"""What a text tells about a cluster beyond what scheduling reads, and the text without it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from playground.models import Draft
from playground.storage import bundles, store, texts
from scheduler_core.authoring import redaction
from scheduler_core.authoring.redaction import PARTS, Contents
from scheduler_core.formats.bundle import BundleEntry, File
from scheduler_core.formats.decode import SECRET_KINDS
from scheduler_core.formats.folder import Folder
from scheduler_core.formats.splices import splice
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.scenario.scenario import Scenario

__all__ = [
    "PARTS",
    "SUSPECT",
    "Contents",
    "contents",
    "is_kept",
    "names_of",
    "private",
    "private_text",
    "without",
]

SUSPECT = re.compile(r"\b(?:env|command|args)\b|" + "|".join(SECRET_KINDS) + r"|\\[xuU\r\n]")
"""What a text has somewhere that has anything private; a key may be written with escapes."""


def contents(text: str) -> Contents:
    """Count what a text tells. A text with errors counts as empty."""
    return redaction.contents(_entries(text))


def without(text: str, parts: Sequence[str]) -> str:
    """Return a text without some of :data:`PARTS`, edited in place where that is possible.

    Names become numbers in their order, so that ties are broken as before; comments go with them. A text with
    errors is returned as it is.
    """
    entries = _entries(text)
    before = [entry.value for entry in entries]
    after = [redaction.without(entry, parts) for entry in entries]
    if "names" in parts:
        return bundles.bundle_text(Scenario("", tuple(redaction.renamed(after)), ()))
    if after == before:
        return text
    made = splice(text, before, after) if len(text) <= bundles.YAML_BYTES else None
    if made is not None and [entry.value for entry in _entries(made)] == after:
        return made
    return bundles.bundle_text(Scenario("", tuple(after), ()))


def private(files: Sequence[File]) -> tuple[list[File], Contents]:
    """Return files without env values, command lines and Secrets' data, and how much was left out.

    Scheduling reads none of it.
    """
    total: Counter[str] = Counter()
    made: list[File] = []
    for file in files:
        if isinstance(file, Folder):
            inner, left = private([(name, text) for name, text in file.files if isinstance(text, str)])
            others = [(name, data) for name, data in file.files if not isinstance(data, str)]
            made.append(replace(file, files=[*inner, *others]) if _any(left) else file)
        else:
            text, left = private_text(str(file[1]))
            made.append((file[0], text))
        total.update(left.private())
    return made, Contents(**total)


def private_text(text: str) -> tuple[str, Contents]:
    """Return a text as of :func:`private`; one with errors as it is."""
    left = contents(text) if SUSPECT.search(text) else Contents()
    return (without(text, ["env", "secrets"]) if _any(left) else text), left


def is_kept(draft: Draft) -> bool:
    """Return whether a draft stores something private already: its owner chose to keep that."""
    text = store.draft_text(draft)
    return private_text(text)[0] != text


def names_of(parts: str | None) -> list[str]:
    """Return the parts that a text lists, separated by spaces or commas. Raises ValueError."""
    listed = (parts or "").replace(",", " ").split()
    if unknown := sorted(set(listed) - set(PARTS)):
        raise ValueError(f"{unknown[0]!r} is not one of {', '.join(PARTS)}.")
    return listed


def _any(found: Contents) -> bool:
    return any(found.private().values())


def _entries(text: str) -> list[BundleEntry]:
    with suppress(BundleError, bundles.TooLargeError):
        return texts.entries(text)
    return []
