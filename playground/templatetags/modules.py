"""Tags for a page's assets: ``{% module %}``, ``{% sheet %}``, and ``{% module_preloads %}`` for imports.

Each refers to the bundled file of `playground.serving.built`. A browser discovers an imported module only in
the module that imports it, with a round trip for every level: so pages preload them all.
"""

from __future__ import annotations

from functools import cache

from django import template
from django.conf import settings
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from playground.serving import built

register = template.Library()


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
    output = (built.make() if settings.DEBUG else _outputs())[entry]
    return (output.name, *output.imports)


@cache
def _outputs() -> dict[str, built.Output]:
    """Return the build, read once: files do not change while a server runs, except under DEBUG."""
    return built.make()
