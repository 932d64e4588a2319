"""QR codes as SVG."""

from __future__ import annotations

import io

import segno

MOST = 600  # characters, which a phone still reads from a projector


def qr(content: str) -> bytes:
    """Return a QR code as an SVG of one path. Raises ValueError for a text that is too long."""
    if not 0 < len(content) <= MOST:
        raise ValueError(f"A QR code may have {MOST} characters.")
    out = io.BytesIO()
    segno.make(content, error="m", micro=False).save(
        out, kind="svg", scale=8, border=4, dark="#000", light="#fff", xmldecl=False
    )
    return out.getvalue()
