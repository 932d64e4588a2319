"""JSON as it leaves the server: compact, and reusable once encoded."""

from __future__ import annotations

import json
from typing import Any


class Encoded(str):
    """JSON text. :func:`frame` puts it into a frame without decoding and encoding it again."""

    __slots__ = ()


def encode(value: object) -> str:
    """Return compact JSON. NaN is refused: it is no JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def frame(name: str, request: int | None, payload: Any) -> str:
    """Return the text of the frame ``[name, request, payload]``."""
    body = payload if isinstance(payload, Encoded) else encode(payload)
    return f"[{encode(name)},{'null' if request is None else request},{body}]"
