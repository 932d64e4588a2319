"""Tags for tables of the engine that the workbench's modules read: ``{% releases %}``, ``{% verbs %}``."""

from __future__ import annotations

from functools import cache

import msgspec
from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

from scheduler_core.authoring.verbs import VERBS
from scheduler_core.settings.release import ROWS

register = template.Library()
SHOWN_OF_VERBS = ("title", "help", "kinds", "timed", "about", "icon", "question", "idle", "needs", "value")


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


@register.simple_tag
@cache
def verbs() -> SafeString:
    """Return operators' verbs, in the order of menus, as the protocol's ``Verb`` in a JSON element."""
    rows = [
        {"verb": name, **{field: msgspec.to_builtins(getattr(row, field)) for field in SHOWN_OF_VERBS}}
        for name, row in VERBS.items()
        if row.icon
    ]
    return json_script(rows, "verbs")
