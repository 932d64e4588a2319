"""Of lessons: ``{{ text|markdown_line }}``, one line of Markdown as HTML, and ``{{ number|times }}``."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from playground.lessons.markdown import line

register = template.Library()


@register.filter
def markdown_line(text: str) -> SafeString:
    """Return one line of Markdown as HTML."""
    return line(text)


@register.filter
def times(number: int) -> range:
    """Return what a loop repeats so many times over."""
    return range(number)
