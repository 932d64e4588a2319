"""Encoding of outgoing JSON: compact, and reusable once encoded."""

from __future__ import annotations

import json
from typing import Any


class Encoded(str):
    """JSON text, which :func:`frame` inserts into a frame without encoding it again."""

    __slots__ = ()


def encode(value: object) -> str:
    """Return compact JSON. NaN is rejected, because it is not valid JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def join(value: dict[str, Any]) -> Encoded:
    """Return the JSON of a dict, each value encoded separately; an :class:`Encoded` one is used as is.

    Encoding megabytes in one call would hold the GIL all the time.
    """
    fields = (
        f"{encode(key)}:{item if isinstance(item, Encoded) else encode(item)}" for key, item in value.items()
    )
    return Encoded("{" + ",".join(fields) + "}")


def frame(name: str, request: int | None, payload: Any) -> str:
    """Return the text of the frame ``[name, request, payload]``."""
    body = payload if isinstance(payload, Encoded) else encode(payload)
    return f"[{encode(name)},{'null' if request is None else request},{body}]"
