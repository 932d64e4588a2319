"""JSON from visitors, nested no deeper than what is asked for; and which requests are answered in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest

DEEPEST = 60  # lists and objects inside each other, as in a bundle
Answering = TypeVar("Answering", bound=Callable[..., Any])


def parsed(data: str | bytes) -> Any:
    """Return a JSON document. Raises ValueError, also for one that is nested deeper than :data:`DEEPEST`."""
    try:
        value = json.loads(data)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    check_depth(value)
    return value


TOO_DEEP = f"Lists and objects may be nested {DEEPEST} deep."


def check_depth(value: Any) -> None:
    """Refuse what is nested too deeply. Raises ValueError."""
    level = [value]
    for _ in range(DEEPEST):
        level = [item for one in level for item in _items(one) if isinstance(item, (list, dict))]
        if not level:
            return
    raise ValueError(TOO_DEEP)


def _items(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def answers_json(view: Answering) -> Answering:
    """Mark a view whose client reads JSON, so that errors outside of it are answered in JSON too."""
    view.answers_json = True  # type: ignore[attr-defined]
    return view


def wants_json(request: HttpRequest) -> bool:
    """Return whether who asks reads JSON: by the address, the view, what is sent, or what is accepted."""
    match = request.resolver_match
    if request.path.startswith("/api/") or (match is not None and hasattr(match.func, "answers_json")):
        return True
    sent = request.content_type == "application/json"
    return sent or request.get_preferred_type(["text/html", "application/json"]) == "application/json"
