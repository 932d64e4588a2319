"""The documents of the repository as pages, under the addresses that they link each other by."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.lessons import markdown

FIRST = "README.md"


@require_safe
def document(request: HttpRequest, name: str = FIRST) -> HttpResponse:
    """Answer a document, by default the one that lists all of them."""
    folder = Path(settings.SITE_DIR) / "docs"
    known = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.md")}
    if name not in known:
        raise Http404
    text = known[name].read_text(encoding="utf-8")
    title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), "Documents")
    body = markdown.html(text.partition("\n")[2] if text.startswith("# ") else text)
    return render(
        request, "docs.html", {"section": "docs", "title": title, "body": body, "first": name == FIRST}
    )
