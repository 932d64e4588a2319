"""Elements of SVG, whose texts and attributes are escaped here and nowhere else."""

from __future__ import annotations

import unicodedata
from xml.sax.saxutils import escape, quoteattr

FONT = "Lato, sans-serif"  # the first is on the server alone: a file is read elsewhere too
_NO_XML = {"Cc", "Cs", "Cn", "Cf"}  # control characters are no XML; others turn the writing round


def clean(text: str) -> str:
    """Return a text without characters that XML does not have."""
    return "".join(char for char in text if unicodedata.category(char) not in _NO_XML)


def cut(text: str, most: int) -> str:
    """Return a text of at most so many characters."""
    text = " ".join(clean(text).split())
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def element(name: str, *children: str, **attributes: str | float) -> str:
    """Return an element; ``_`` in the name of an attribute is written as ``-``."""
    written = "".join(
        f" {key.replace('_', '-')}={quoteattr(_value(value))}" for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def _value(value: str | float) -> str:
    return clean(value) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def text(content: str, x: float, y: float, size: float, fill: str, **more: str | float) -> str:
    """Return a line of text with its baseline at ``y``."""
    return element(
        "text", escape(clean(content)), x=x, y=y, font_size=size, font_family=FONT, fill=fill, **more
    )


def wrapped(content: str, characters: int, lines: int) -> list[str]:
    """Return a text in at most so many lines of about so many characters."""
    found: list[str] = [""]
    for word in clean(content).split():
        joined = f"{found[-1]} {word}".strip()
        if len(joined) <= characters or not found[-1]:
            found[-1] = joined
        else:
            found.append(word)
    shown = [cut(line, characters) for line in found[:lines]]
    if len(found) > lines:
        shown[-1] = cut(f"{shown[-1]} …" if len(shown[-1]) < characters - 2 else shown[-1] + "……", characters)
    return shown
