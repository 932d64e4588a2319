"""A tag for the words of each release, which the workbench's modules read: ``{% releases %}``."""

from __future__ import annotations

from functools import cache

import msgspec
from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

from scheduler_core.settings.release import ROWS

register = template.Library()


@register.simple_tag
@cache
def releases() -> SafeString:
    """Return the releases, oldest first, as the protocol's ``Release`` in a JSON element."""
    rows = [
        {
            "name": row.name,
            "about": row.about,
            "timed": row.is_timed,
            "hasControllers": row.has_controllers,
            "hasHints": row.has_hints,
            "terms": msgspec.to_builtins(row.terms),
        }
        for row in ROWS
    ]
    return json_script(rows, "releases")
