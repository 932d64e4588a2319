"""The bodies of requests: JSON objects, bundles and forms."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest
from msgspec import Struct, ValidationError, structs

from playground.api.answers import ApiError
from playground.calls.faults import RequestFieldError, fault_of
from playground.calls.requests import Request, read
from playground.limits import limit
from playground.pool import offload
from playground.pool.read_slots import reading
from playground.serving.json_bodies import parsed
from playground.storage import bundles
from playground.visitors import identity
from scheduler_core.formats.bundle import File
from scheduler_core.formats.folder import Folder
from scheduler_core.kubernetes.conversion import converted

T = TypeVar("T")
P = TypeVar("P", bound=Struct)
OBJECT_BYTES = 1024 * 1024  # of a JSON object, not counting its top-level texts
LARGE_BODY_BYTES = 256 * 1024  # which take a few milliseconds to parse
FORM = "multipart/form-data"
_JOINED = re.compile(r"(?:---)?(?:apiVersion|kind): ?[^\n]*\Z")  # YAML whose line breaks were removed


def json_of(request: HttpRequest) -> dict[str, Any]:
    """Return the body as an object. Raises ApiError."""
    if request.content_type == FORM:
        message = (
            "This call takes a JSON object. Files are sent as a form to POST /api/scenarios and /api/drafts."
        )
        raise ApiError(400, message)
    return _beside(object_of, request.body)


def body_of(request: HttpRequest, kind: type[P]) -> P:
    """Return the body as the payload that the call declares. Raises ApiError and RequestFieldError."""
    body = json_of(request)
    if unknown := sorted(set(body) - {field.encode_name for field in structs.fields(kind)}):
        message = f"Unknown fields: {', '.join(unknown)[:200]}"
        raise RequestFieldError(unknown[0][:40], message)
    if issubclass(kind, Request):
        return read(kind, body)
    try:
        return converted(body, kind)
    except ValidationError as error:
        fault = fault_of(error)
        raise RequestFieldError(fault.path, fault.message) from error


def object_of(data: bytes) -> dict[str, Any]:
    """Return a body as an object, of which only the texts may be long. Raises ApiError."""
    try:
        body = parsed(data)
    except ValueError as error:
        raise ApiError(400, f"The body is not valid JSON: {error}"[:300]) from error
    if not isinstance(body, dict):
        raise ApiError(400, "The body must be a JSON object.")
    if len(data) > OBJECT_BYTES:
        rest = {name: value for name, value in body.items() if not isinstance(value, str)}
        if len(json.dumps(rest)) > OBJECT_BYTES:
            raise ApiError(413, f"The body without its text fields is limited to {OBJECT_BYTES:,} bytes.")
    return body


def _beside(read: Callable[..., T], data: bytes, *args: Any) -> T:
    """Parse a body; a large one in the pool, because parsing JSON holds the GIL."""
    if len(data) > LARGE_BODY_BYTES and offload.enabled():
        return offload.compute(identity.asker(), read, data, *args)
    return read(data, *args)


def files_of(request: HttpRequest) -> tuple[list[File], str]:
    """Return files and title: the body is a bundle, an archive, ``{"bundle": text, "title": …}``, or a form.

    Raises ApiError, BundleError and TooLargeError.
    """
    if request.content_type == FORM:
        with reading():
            return _files_of_form(request)
    return _beside(files_of_body, request.body, str(request.content_type), request.GET.get("title", ""))


def files_of_body(data: bytes, content_type: str, title: str) -> tuple[list[File], str]:
    """Return files and title of a body that is not a form. Raises the errors of :func:`files_of`."""
    file = bundles.opened("", data)
    if isinstance(file, Folder):
        return [file], title
    text = str(file[1])
    if content_type == "application/x-www-form-urlencoded" and _JOINED.match(text):
        raise ApiError(
            400, "The body has no line breaks, which `curl -d @FILE` strips: use --data-binary @FILE."
        )
    plain = text.removeprefix("\ufeff")
    if content_type == "application/json" or plain.lstrip()[:1] == "{":
        try:
            body = json.loads(plain)
        except (ValueError, RecursionError):
            return [
                ("", text)
            ], title  # a bundle may be JSON Lines, or invalid JSON whose errors the reader reports
        if isinstance(body, dict) and isinstance(body.get("bundle"), str):
            title = body.get("title", "")
            if not isinstance(title, str):
                raise RequestFieldError("title", "title must be a text.")
            return [("", body["bundle"])], title
    return [("", text)], title


def _files_of_form(request: HttpRequest) -> tuple[list[File], str]:
    """Return the files of a form, regardless of its field names, and its texts ``bundle`` and ``title``."""
    if unknown := sorted(set(request.POST) - {"bundle", "title"}):
        raise ApiError(400, f"Unknown fields: {', '.join(unknown)[:200]}. Send files, bundle and title.")
    files: list[File] = [("", text) for text in request.POST.getlist("bundle")]
    left = limit("BUNDLE_BYTES") - sum(map(bundles.file_bytes, files))
    for _, uploads in request.FILES.lists():
        for upload in uploads:
            file = bundles.opened(str(upload.name or ""), upload.read(), max(0, left))
            left -= bundles.file_bytes(file)
            files.append(file)
    if not files:
        raise ApiError(400, "The form contains no file; send one as in `curl -F file=@cluster.yaml`.")
    return files, request.POST.get("title", request.GET.get("title", ""))
