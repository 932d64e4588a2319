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


def join(value: dict[str, Any]) -> Encoded:
    """Return the JSON of a dict, each value encoded by itself; an :class:`Encoded` one is taken as it is.

    An encoder that writes megabytes at once lets no other thread run meanwhile.
    """
    fields = (
        f"{encode(key)}:{item if isinstance(item, Encoded) else encode(item)}" for key, item in value.items()
    )
    return Encoded("{" + ",".join(fields) + "}")


def frame(name: str, request: int | None, payload: Any) -> str:
    """Return the text of the frame ``[name, request, payload]``."""
    body = payload if isinstance(payload, Encoded) else encode(payload)
    return f"[{encode(name)},{'null' if request is None else request},{body}]"
