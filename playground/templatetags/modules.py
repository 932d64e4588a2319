"""Tags for a page's assets: ``{% module %}``, ``{% sheet %}``, and ``{% module_preloads %}`` for imports.

Each refers to the bundled file of `playground.serving.built` if the build is up to date, and otherwise to the
source itself. A browser discovers an imported module only in the module that imports it, with a round trip
for every level: so pages preload them all.
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
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from playground.serving import built

register = template.Library()

MOST = 400  # modules of one page
#: `import … from "./x.js"` and `import "./x.js"` at the start of a line; not `import("./x.js")`.
_IMPORT = re.compile(r"""^(?:import|export)\b[^"'()]*["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)


@register.simple_tag
def module(entry: str) -> SafeString:
    """Return the ``<script>`` of a page's module in ``static/``."""
    return format_html('<script type="module" src="{}"></script>', static(_named(entry)[0]))


@register.simple_tag
def sheet(entry: str) -> SafeString:
    """Return the ``<link>`` of a page's style sheet in ``static/``."""
    return format_html('<link rel="stylesheet" href="{}">', static(_named(entry)[0]))


@register.simple_tag
def module_preloads(entry: str) -> SafeString:
    """Return a ``<link rel="modulepreload">`` for a module in ``static/`` and for each of its imports."""
    return format_html_join(
        "", '<link rel="modulepreload" href="{}">', ((static(name),) for name in _named(entry))
    )


def _named(entry: str) -> tuple[str, ...]:
    """Return the file of an entry and its imports, nearest first."""
    return _files.__wrapped__(entry) if settings.DEBUG else _files(entry)


@cache
def _files(entry: str) -> tuple[str, ...]:
    output = _outputs().get(entry)
    if output is not None:
        return (output.name, *output.imports)
    return _sources(entry) if entry.endswith(".js") else (entry,)


@cache
def _outputs() -> dict[str, built.Output]:
    """Return the build, read once: files do not change while a server runs, except under DEBUG."""
    return {} if settings.DEBUG else built.outputs()


def _sources(entry: str) -> tuple[str, ...]:
    """Return a module and its direct and indirect imports, nearest first."""
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
