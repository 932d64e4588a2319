"""A scenario inside a link or a picture: JSON, deflated, in base64url (docs/recordings.md)."""

from __future__ import annotations

import base64
import json
import struct
import zlib

PREFIX = "#scenario="
MOST = 256_000  # characters of a link that is opened, as in static/js/lib/packed.ts
KEYWORD = b"podstep"
_END = b"IEND"


def fragment(text: str, title: str = "", query: str = "", release: str = "") -> str:
    """Return the part of an address that holds a scenario, which opens at the view ``query``.

    ``release`` is the one that answers a text which names none.
    """
    body = json.dumps({"text": text, "title": title, "query": query, "release": release}).encode()
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = base64.urlsafe_b64encode(deflate.compress(body) + deflate.flush())
    return PREFIX + packed.decode().rstrip("=")


def carrying(png: bytes, held: str) -> bytes:
    """Return a PNG with a fragment as its text; as it is where that is longer than a link may be."""
    if len(held) > MOST:
        return png
    body = b"tEXt" + KEYWORD + b"\0" + held.encode("ascii")
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    end = png.rindex(_END) - 4  # before the length of the last chunk
    return png[:end] + chunk + png[end:]
