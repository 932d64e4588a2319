"""Of lessons: ``{{ text|markdown_line }}`` as HTML, ``{{ lesson|scheduler }}``, ``{{ number|times }}``."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from playground.courseware import Lesson
from playground.lessons.catalogue import scheduler_of
from playground.lessons.markdown import line

register = template.Library()


@register.filter
def markdown_line(text: str) -> SafeString:
    """Return one line of Markdown as HTML."""
    return line(text)


@register.filter
def scheduler(lesson: Lesson) -> str:
    """Return what answers a lesson."""
    return scheduler_of(lesson)


@register.filter
def times(number: int) -> range:
    """Return what a loop repeats so many times over."""
    return range(number)
