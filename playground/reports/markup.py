"""The Markdown of comments as HTML that holds nothing but these elements, and as Markdown for other sites.

The same as the pages show (static/js/workbench/review/markdown.tsx): paragraphs, lists, code, emphasis,
links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

_INLINE = re.compile(
    r"`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\n]+)\*|\[([^\[\]\n]+)\]\((https?://[^\s()]+)\)|(https?://[^\s<>)]+)"
)
_ITEM = re.compile(r"\s*[-*]\s+")
_FENCE = "```"
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~])")
_AT = "@\u200b"  # mentions nobody
_REFERENCE = re.compile(r"#(?=\d)")  # to an issue, which a pull request may close


def html(text: str) -> SafeString:
    """Return a comment as HTML; all text in it is escaped, and links lead to http and https alone."""
    return mark_safe("".join(_blocks(text.split("\n"))))  # noqa: S308  # every part is escaped where it is made


def _blocks(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        first = at
        if lines[at].startswith(_FENCE):
            at = _end(lines, at + 1, lambda line: line.startswith(_FENCE))
            yield f"<pre>{escape(chr(10).join(lines[first + 1 : at]))}</pre>"
            at += 1
        elif _ITEM.match(lines[at]):
            at = _end(lines, at, lambda line: not _ITEM.match(line))
            items = "".join(f"<li>{_line(_unmarked(line))}</li>" for line in lines[first:at])
            yield f"<ul>{items}</ul>"
        elif not lines[at].strip():
            at += 1
        else:
            at = _end(
                lines,
                at,
                lambda line: not line.strip() or line.startswith(_FENCE) or bool(_ITEM.match(line)),
            )
            yield f"<p>{'<br>'.join(map(_line, lines[first:at]))}</p>"


def _unmarked(line: str) -> str:
    """Return an item of a list without what makes it one."""
    found = _ITEM.match(line)
    return line[found.end() :] if found else line


def _end(lines: list[str], at: int, ends: Callable[[str], bool]) -> int:
    """Return the first line from ``at`` on that ends a block."""
    return next((place for place in range(at, len(lines)) if ends(lines[place])), len(lines))


def _line(text: str) -> str:
    parts: list[str] = []
    at = 0
    for found in _INLINE.finditer(text):
        parts.append(escape(text[at : found.start()]))
        at = found.end()
        code, strong, emphasis, label, href, bare = found.groups()
        if code:
            parts.append(f"<code>{escape(code)}</code>")
        elif strong:
            parts.append(f"<b>{escape(strong)}</b>")
        elif emphasis:
            parts.append(f"<em>{escape(emphasis)}</em>")
        else:
            parts.append(
                f'<a href="{escape(href or bare)}" rel="noopener nofollow">{escape(label or bare)}</a>'
            )
    parts.append(escape(text[at:]))
    return "".join(parts)


def plain(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line: no markup, no HTML, no mention."""
    return _SPECIAL.sub(r"\\\1", _without_html(" ".join(text.split())))


def quoted(text: str) -> str:
    """Return a comment as a quotation in Markdown, without HTML, pictures, mentions and references."""
    kept = _REFERENCE.sub("#\u200b", _without_html(text).replace("![", "!\\["))
    return "\n".join(f"> {line}".rstrip() for line in kept.split("\n"))


def _without_html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", _AT)
