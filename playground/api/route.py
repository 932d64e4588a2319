"""How a call of the API is declared: one function with its route and its schemas beside it.

:func:`route` registers a function; the URLs, the OpenAPI document and the API's page are derived from
:data:`ROUTES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpResponseBase

Handler = Callable[..., HttpResponseBase]


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one URL. ``answers`` maps a status to (meaning, schema or media type)."""

    method: str
    address: str  # OpenAPI path template, {name} for a parameter
    operation: Handler
    summary: str
    answers: dict[int, tuple[str, str]]
    query: tuple[tuple[str, str, str], ...] = ()  # name, JSON type, meaning
    body: tuple[tuple[str, str], ...] = ()  # media type, schema
    token: str = ""  # a description of the bearer token, if the call needs one
    matched: bool = False  # whether If-Match may name the revision
    schemas: Mapping[str, Any] = field(default_factory=dict)  # those of its bodies that no other call has


ROUTES: list[Route] = []
"""Every route, in the order in which the modules and their functions are read."""


def route(
    method: str, address: str, summary: str, answers: dict[int, tuple[str, str]], **more: Any
) -> Callable[[Handler], Handler]:
    """Register a function as the handler of a method of a URL; see :class:`Route` for ``more``."""

    def register(operation: Handler) -> Handler:
        ROUTES.append(Route(method, address, operation, summary, answers, **more))
        return operation

    return register


ERRORS = {
    404: ("There is no such thing", "Errors"),
    410: ("Taken down by the operator; the error says why", "Errors"),
    429: ("Too many requests; see Retry-After", "Errors"),
}
BUSY = {503: ("Too many bundles are being read, or no database answers; see Retry-After", "Errors")}
SAME = {304: ("The scenario of If-None-Match, which is still shared", "")}
CONDITIONS = (
    ("condition", "string", "As docs/protocol.md has it at cycle.find, as in node:n3; up to 20 of them"),
    ("from", "integer", "The cycle to begin after, or before on the way back; 0: the start"),
    ("direction", "string", "forward or backward"),
    ("to", "integer", "The last cycle to look at"),
    ("met", "string", "A quirk, or a workload whose ties, that counts no more; up to 20 of them"),
)
FOUND = {200: ("The cycle, and why", "Found"), 400: ("A parameter is wrong", "Errors"), **ERRORS, **BUSY}
FULL = {
    413: ("Too large, or `storage`: the owner or address has stored all it may, see the errors", "Errors"),
    507: ("The server has stored all it may; see `storage`", "Errors"),
}
UNREAD = {
    400: ("The body cannot be read", "Errors"),
    422: ("The bundle has errors: all of them, with line and path", "Errors"),
    **FULL,
    429: ERRORS[429],
    **BUSY,
}
TITLE = (("title", "string", "Title, where the body is the bundle itself"),)
OWNER = "The token that making a draft gave; a browser's own is the value of its cookie podstep_visitor"
STALE = {412: ("The draft is no longer in the revision of If-Match; ETag has the newest", "Errors")}
OWN = {401: ("No token of ours", "Errors"), **ERRORS}
TEXT = (
    ("text/plain", "Text"),
    ("application/yaml", "Text"),
    ("application/json", "NewScenario"),
    ("application/gzip", "Packed"),
    ("application/zip", "Packed"),
    ("multipart/form-data", "Form"),
)
