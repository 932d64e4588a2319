"""``{% module_preloads "js/…/main.js" %}``: every module that one imports, named in the page.

Else a browser learns of a module only from the one that imports it, a round trip for every level.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path

from django import template
from django.conf import settings
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()

MOST = 400  # modules of one page
#: `import … from "./x.js"` and `import "./x.js"` at the beginning of a line; not `import("./x.js")`.
_IMPORT = re.compile(r"""^(?:import|export)\b[^"'()]*["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)


@register.simple_tag
def module_preloads(entry: str) -> SafeString:
    """Return a ``<link rel="modulepreload">`` for a module below ``static/`` and for all that it imports."""
    found = _modules.__wrapped__(entry) if settings.DEBUG else _modules(entry)
    return format_html_join("", '<link rel="modulepreload" href="{}">', ((static(name),) for name in found))


@cache
def _modules(entry: str) -> tuple[str, ...]:
    """Return a module and what it imports, and what that imports, nearest first."""
    order = [entry]
    for name in order:
        path = finders.find(name)
        if not isinstance(path, str):
            continue
        for target in _IMPORT.findall(Path(path).read_text(encoding="utf-8")):
            imported = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            if imported not in order and len(order) < MOST:
                order.append(imported)
    return tuple(order)
