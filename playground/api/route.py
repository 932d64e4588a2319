"""How a call of the API is declared: one function with its route and its schemas beside it.

:func:`route` registers a function; the URLs, the OpenAPI document and the API's page are derived from
:data:`ROUTES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpResponseBase
from msgspec import Struct, field

from playground.api.payloads.problems import Errors
from playground.api.payloads.scenarios import Form, Found, NewScenario
from playground.calls.requests import Request, fields_of

Handler = Callable[..., HttpResponseBase]
Body = type | str
"""A struct, or a wire type of the protocol; one of the route's ``schemas``, a media type, "": no body."""
Answers = dict[int, tuple[str, Body]]


class Route(Struct, frozen=True):
    """One method of one URL. ``answers`` maps a status to (meaning, body)."""

    method: str
    address: str  # OpenAPI path template, {name} for a parameter
    operation: Handler
    summary: str
    answers: Answers
    query: type[Request] | tuple[tuple[str, str, str], ...] = ()  # or name, JSON type, meaning
    body: tuple[tuple[str, Body], ...] = ()  # media type, body
    token: str = ""  # a description of the bearer token, if the call needs one
    rate: str = ""  # the limit on its requests, instead of that of all reads or writes
    matched: bool = False  # whether If-Match may name the revision
    schemas: Mapping[str, Any] = field(default_factory=dict)  # those of its bodies that no other call has

    @property
    def parameters(self) -> tuple[tuple[str, str, str], ...]:
        """The name, JSON type and meaning of each parameter of the query."""
        if isinstance(self.query, tuple):
            return self.query
        fields = fields_of(self.query).values()
        return tuple(
            (field.parameter.name, "integer" if field.is_number else "string", field.parameter.meaning)
            for field in fields
        )

    def named(self, name: str) -> str:
        """Return what the query calls a field of its request."""
        fields = {} if isinstance(self.query, tuple) else fields_of(self.query)
        return fields[name].parameter.name if name in fields else name


ROUTES: list[Route] = []
"""Every route, in the order in which the modules and their functions are read."""


def route(
    method: str, address: str, summary: str, answers: Answers, **more: Any
) -> Callable[[Handler], Handler]:
    """Register a function as the handler of a method of a URL; see :class:`Route` for ``more``."""

    def register(operation: Handler) -> Handler:
        ROUTES.append(Route(method, address, operation, summary, answers, **more))
        return operation

    return register


ERRORS: Answers = {
    404: ("Not found", Errors),
    410: ("Taken down by the operator; the error gives the reason", Errors),
    429: ("Too many requests; see Retry-After", Errors),
}
BUSY: Answers = {
    503: ("Too many bundles are being parsed, or the database does not respond; see Retry-After", Errors)
}
SAME: Answers = {304: ("Not modified: the scenario of If-None-Match is still shared", "")}
FOUND: Answers = {
    200: ("The cycle, and the reason", Found),
    400: ("Invalid parameter", Errors),
    **ERRORS,
    **BUSY,
}
FULL: Answers = {
    413: (
        "Too large, or, with `storage`, the quota of the owner or address is exhausted; see the errors",
        Errors,
    ),
    507: ("The server's storage quota is exhausted; see `storage`", Errors),
}
UNREAD: Answers = {
    400: ("The body cannot be read", Errors),
    422: ("The bundle has errors; all are listed, with line and path", Errors),
    **FULL,
    429: ERRORS[429],
    **BUSY,
}
TITLE = (("title", "string", "Title, if the body is the bundle itself"),)
KEEP = (
    (
        "keep",
        "string",
        '"yes" to store env values, command lines and Secrets\' data, which are left out by default',
    ),
)
WITHOUT = (
    (
        "without",
        "string",
        "What the link leaves out, separated by commas: env (with command lines), annotations, data, names",
    ),
)
OWNER = "The token returned when a draft was created; for a browser, the value of its cookie podstep_visitor"
STALE: Answers = {412: ("The draft's revision is not that of If-Match; ETag has the current one", Errors)}
OWN: Answers = {401: ("No valid token", Errors), **ERRORS}
TEXT: tuple[tuple[str, Body], ...] = (
    ("text/plain", "Text"),
    ("application/yaml", "Text"),
    ("application/json", NewScenario),
    ("application/gzip", "Packed"),
    ("application/zip", "Packed"),
    ("multipart/form-data", Form),
)
