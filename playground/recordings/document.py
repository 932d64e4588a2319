"""A recording as one HTML file: the workbench with its scripts and styles inline, which makes no request.

What of it comes from the scenario is escaped by the template, or compressed and in base64: no text of a
user's can end an element. The policy in its head allows the file's own scripts by their hashes alone.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from msgspec import Struct

from playground.recordings.recorder import Recording
from playground.serving import built
from playground.wire import encode

CHUNK = 512 * 1024  # characters of texts that are compressed together
SCRIPT, SHEET = "js/recorded/main.ts", "css/sheets/workbench.css"
EARLY, BOOT, ICON = "js/theme-early.js", "js/recorded/boot.js", "img/favicon.svg"
CHARTS, CHARTS_SHEET = "plotly/plotly.min.js", "css/plotly.css"
_ENDS = re.compile(r"</script|<!--|</style", re.IGNORECASE)


class RecordingPage(Struct, frozen=True):
    """What a recording's page shows beside the run: ``query`` is that of the view that it opens at."""

    title: str
    text: str  # the bundle
    release: str  # that answers it
    about: str = ""
    query: str = ""
    server: str = ""  # where it was recorded, without a slash at its end; "" by a command


class HeldText(Struct, frozen=True):
    """A text that a file holds packed, in a ``<template data-NAME>``."""

    name: str
    packed: str


class Assets(Struct, frozen=True):
    """A script and a style sheet of a file, and the policy that allows no others than the file's."""

    script: str
    sheet: SafeString
    charts: str  # the library, "" where nothing is drawn over time
    nonce: str  # of the styles that the editor writes
    policy: str


def document(recording: Recording, page: RecordingPage, source: dict[str, str]) -> str:
    """Return the text of a scenario's file."""
    used = assets([(SCRIPT, SHEET)], charts=recording.charts)[0]
    code = [
        HeldText("script", packed(used.script)),
        *([HeldText("charts", packed(used.charts))] if used.charts else []),
    ]
    context = {**stage_context(page, source), "commented": is_commented(recording)}
    return rendered("workbench.html", used, [*code, *held(recording, page, source)], context)


def assets(entries: Sequence[tuple[str, str]], *, charts: bool) -> list[Assets]:
    """Return what each script and style sheet of a file needs; all have the policy of the file."""
    library = _charts() if charts else ""
    scripts = [built_text(script) for script, _ in entries]
    sheets = [_inline(built_text(sheet) + (_static(CHARTS_SHEET) if library else "")) for _, sheet in entries]
    nonce = _digest(scripts[-1])[:22]
    own = [_static(EARLY), _static(BOOT), *scripts, *([library] if library else [])]
    policy = _policy(own, sheets, nonce)
    return [
        Assets(script, sheet, library, nonce, policy) for script, sheet in zip(scripts, sheets, strict=True)
    ]


def rendered(page: str, used: Assets, texts: Sequence[HeldText], context: dict[str, Any]) -> str:
    """Return a page as one file that holds texts."""
    return render_to_string(
        "recorded.html",
        {
            "page": page,
            "recorded": True,
            "early": _inline(_static(EARLY)),
            "boot": _inline(_static(BOOT)),
            "sheet": used.sheet,
            "nonce": used.nonce,
            "icon": f"data:image/svg+xml,{quote(_static(ICON))}",
            "policy": used.policy,
            "held": texts,
            **context,
        },
    )


def stage_context(page: RecordingPage, source: dict[str, str]) -> dict[str, Any]:
    """Return the context of a workbench that answers from a record."""
    about = {"title": page.title, "about": page.about, "query": page.query, "server": page.server}
    return {"source": source, "step": "", "views": None, "veil": None, **about}


def is_commented(recording: Recording) -> bool:
    """Whether a scenario has comments."""
    return any(key.startswith('["comment.watch"') for key in recording.answers)


def held(recording: Recording, page: RecordingPage, source: dict[str, str]) -> list[HeldText]:
    """Return what the workbench of a recording reads: its answers, and its bundle."""
    starts, chunks = _chunks(recording.texts)
    head = {
        "source": source,
        "answers": recording.answers,
        "parts": recording.parts,
        "steps": recording.steps,
        "found": recording.found,
        "starts": starts,
    }
    bundle = {"text": page.text, "title": page.title, "query": page.query, "release": page.release}
    return [
        HeldText("record", packed(encode(head))),
        HeldText("bundle", packed(encode(bundle))),
        *(HeldText("chunk", chunk) for chunk in chunks),
    ]


def packed(text: str) -> str:
    """Return a text as gzip in base64; the same text gives the same on every machine."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _chunks(texts: list[str]) -> tuple[list[int], list[str]]:
    """Return the first text of each chunk, and the chunks: their texts line by line, packed."""
    starts, chunks = [], []
    for first, held in _held(texts):
        starts.append(first)
        chunks.append(packed("\n".join(held)))
    return starts, chunks


def _held(texts: list[str]) -> Iterator[tuple[int, list[str]]]:
    first, size = 0, 0
    for at, text in enumerate(texts):
        if size and size + len(text) > CHUNK:
            yield first, texts[first:at]
            first, size = at, 0
        size += len(text)
    if texts:
        yield first, texts[first:]


def _policy(scripts: Sequence[str], sheets: Sequence[str], nonce: str) -> str:
    """Return the Content-Security-Policy: the editor writes styles with the nonce, the text is a blob."""
    code, styles = (" ".join(f"'sha256-{_digest(text)}'" for text in texts) for texts in (scripts, sheets))
    return (
        f"default-src 'none'; script-src {code}; style-src {styles} 'nonce-{nonce}'; "
        "img-src data: blob:; connect-src blob:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _inline(text: str) -> SafeString:
    """Return a script or a style sheet of ours, in which esbuild leaves nothing that ends its element."""
    if found := _ENDS.search(text):
        raise built.BuildError(f"a script or a style sheet holds {found[0]!r}, which would end its element")
    return mark_safe(text)  # noqa: S308 - files of ours


def built_text(entry: str) -> str:
    """Return the bundled file of an entry."""
    outputs = built.make() if settings.DEBUG else _outputs()
    return _static(outputs[entry].name)


@cache
def _outputs() -> dict[str, built.Output]:
    return built.make()


@cache
def _charts() -> str:
    """Return the library of charts."""
    found = finders.find(CHARTS)
    assert isinstance(found, str)
    return Path(found).read_text(encoding="utf-8")


def _static(name: str) -> str:
    return Path(built.STATIC, name).read_text(encoding="utf-8")
