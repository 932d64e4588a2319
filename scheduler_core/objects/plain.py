"""Structs as JSON types."""

from __future__ import annotations

from typing import Any

from msgspec import json


def plain(value: object) -> Any:
    """Return structs, and containers of them, as dicts and lists by the names that JSON has for their fields.

    Raises TypeError for what JSON does not have, such as an array.
    """
    return json.decode(json.encode(value))
