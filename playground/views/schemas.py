"""The document with the YAML editor's completions, cached by the browser until it changes."""

from __future__ import annotations

import gzip

from django.http import HttpRequest, HttpResponse
from django.utils.http import parse_etags
from django.views.decorators.http import require_safe

from playground.schemas.document import packed

KEPT = 300  # seconds, as static files are


@require_safe
def document(request: HttpRequest) -> HttpResponse:
    """Return the kinds, their fields and the descriptions as JSON, gzipped if the client accepts it."""
    content, version = packed()
    headers = {"Cache-Control": f"public, max-age={KEPT}", "ETag": f'"{version}"', "Vary": "Accept-Encoding"}
    known = parse_etags(request.headers.get("If-None-Match", ""))
    if any(tag.removeprefix("W/") in {headers["ETag"], "*"} for tag in known):
        return HttpResponse(status=304, headers=headers)
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        content = gzip.decompress(content)
    return HttpResponse(content, headers=headers, content_type="application/json")
