"""``{{ text|markdown_line }}``: one line of a lesson's Markdown as HTML."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from playground.lessons.markdown import line

register = template.Library()


@register.filter
def markdown_line(text: str) -> SafeString:
    """Return one line of Markdown as HTML."""
    return line(text)
