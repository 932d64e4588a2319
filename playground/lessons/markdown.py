"""The texts of lessons as HTML: CommonMark with tables, without HTML of its own."""

from __future__ import annotations

from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

TOP = 3  # the level of a text's first headings: page and stop have those above
_reader = MarkdownIt("commonmark", {"html": False}).enable("table")


@lru_cache(maxsize=512)
def html(text: str) -> SafeString:
    """Return a text as HTML; its own tags and addresses of scripts are shown as text."""
    tokens = _reader.parse(text)
    for token in tokens:
        _lowered(token)
    return mark_safe(_reader.renderer.render(tokens, _reader.options, {}))  # noqa: S308 - html is off


def encodable(text: str) -> str:
    """Return a text as HTML that can be encoded: a plain str."""
    return html(text)[:]


@lru_cache(maxsize=2_048)
def line(text: str) -> SafeString:
    """Return one line of Markdown, such as a choice, as HTML."""
    return mark_safe(_reader.renderInline(text))  # noqa: S308 - html is off


def encodable_line(text: str) -> str:
    """Return one line of Markdown as HTML that can be encoded: a plain str."""
    return line(text)[:]


def rendered(html: str) -> SafeString:
    """Return what :func:`encodable` rendered elsewhere or before as HTML again."""
    return mark_safe(html)  # noqa: S308 - html was off


@lru_cache(maxsize=2_048)
def plain(text: str) -> str:
    """Return the words of a Markdown text on one line."""
    inline = (token for token in _reader.parse(text) if token.type == "inline")
    words = (child.content or " " for token in inline for child in token.children or ())
    return " ".join("".join(words).split())


def _lowered(token: Token) -> None:
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(6, int(token.tag[1:]) + TOP - 1)}"
