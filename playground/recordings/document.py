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


class Page(Struct, frozen=True):
    """What a recording's page shows beside the run: ``query`` is that of the view that it opens at."""

    title: str
    text: str  # the bundle
    release: str  # that answers it
    about: str = ""
    query: str = ""
    server: str = ""  # where it was recorded, without a slash at its end; "" by a command


def document(recording: Recording, page: Page, source: dict[str, str]) -> str:
    """Return the file's text."""
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
    early, boot, script = _inline(_static(EARLY)), _inline(_static(BOOT)), built_text(SCRIPT)
    charts = _charts() if recording.charts else ""
    sheet = _inline(built_text(SHEET) + (_static(CHARTS_SHEET) if charts else ""))
    nonce = _digest(script)[:22]
    return render_to_string(
        "recorded.html",
        {
            "recorded": True,
            "source": source,
            "title": page.title,
            "about": page.about,
            "step": "",
            "server": page.server,
            "views": None,
            "veil": None,
            "commented": any(key.startswith('["comment.watch"') for key in recording.answers),
            "early": early,
            "boot": boot,
            "sheet": sheet,
            "nonce": nonce,
            "icon": f"data:image/svg+xml,{quote(_static(ICON))}",
            "policy": _policy([early, boot, script, *([charts] if charts else [])], sheet, nonce),
            "script": packed(script),
            "charts": charts and packed(charts),
            "record": packed(encode(head)),
            "bundle": packed(encode(bundle)),
            "chunks": chunks,
        },
    )


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


def _policy(scripts: Sequence[str], sheet: str, nonce: str) -> str:
    """Return the Content-Security-Policy: the editor writes styles with the nonce, the text is a blob."""
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'sha256-{_digest(sheet)}' 'nonce-{nonce}'; "
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
