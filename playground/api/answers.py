"""Responses of the API, and the errors that are turned into one."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from msgspec import json

ProblemJson = dict[str, Any]


class ApiError(Exception):
    """An error response: ``status``, the errors that explain it, and further fields of its body."""

    def __init__(
        self, status: int, errors: str | list[ProblemJson], headers: dict[str, str] | None = None, **more: Any
    ) -> None:
        self.status = status
        self.errors = [{"line": None, "path": "", "message": errors}] if isinstance(errors, str) else errors
        self.headers = headers or {}
        self.more = more
        super().__init__(self.errors[0]["message"] if self.errors else "")


def field_error(field: str, message: str) -> ApiError:
    """Return the error response for a field of the body, or a parameter of the query."""
    return ApiError(400, [{"line": None, "path": field, "message": message}])


def answer(body: Any, status: int = 200, **headers: str) -> HttpResponse:
    """Return ``body`` as JSON."""
    response = HttpResponse(json.encode(body), content_type="application/json", status=status)
    for name, value in headers.items():
        response.headers[name.replace("_", "-")] = value
    return response


def refusal(error: ApiError) -> HttpResponse:
    """Return the response for an error."""
    return answer({"errors": error.errors, **error.more}, error.status, **error.headers)
