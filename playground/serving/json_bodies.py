"""JSON from visitors, nested no deeper than what is asked for; and which requests are answered in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from django.http import HttpRequest
from msgspec import ValidationError

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


class Fault(NamedTuple):
    """Why an object is not what a struct declares."""

    path: str  # of the field
    message: str
    missing: bool = False


_FIELD = re.compile(r"(missing required|unknown) field `([^`]+)`")
_PATH = re.compile(r"`\$\.?([^`]*)`")
_EXPECTED = re.compile(r"Expected `(\w+)")
_CALLED: Mapping[str, str] = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


def fault_of(error: ValidationError) -> Fault:
    """Return the fault that msgspec reports in a sentence."""
    text = str(error)
    path = "".join(_PATH.findall(text)[-1:])
    if field := _FIELD.search(text):
        path, missing = f"{path}.{field[2]}".removeprefix("."), field[1] != "unknown"
        return Fault(path, f"{path} is {'missing' if missing else 'unknown'}.", missing)
    expected = _EXPECTED.search(text)
    return Fault(path, f"{path} must be {_CALLED.get(expected[1], expected[1])}." if expected else f"{text}.")


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
