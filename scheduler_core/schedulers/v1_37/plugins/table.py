"""The plugins, as the modules of this package declare them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from scheduler_core.schedulers.v1_37 import plugins
from scheduler_core.schedulers.v1_37.plugins.base import Plugin
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared


def _found() -> list[Declared]:
    """Return the ``PLUGIN`` of all modules of the package; a new module is found by that alone."""
    modules = [import_module(f"{plugins.__name__}.{each.name}") for each in iter_modules(plugins.__path__)]
    return [found for module in modules if (found := getattr(module, "PLUGIN", None))]


def _place(row: Declared) -> tuple[bool, int, str]:
    return not row.rank, row.rank, row.key


ROWS: Mapping[str, Declared] = {row.key: row for row in sorted(_found(), key=_place)}
"""All by their keys: plugins, and the extenders as what pods wait for."""

DECLARED: tuple[Declared, ...] = tuple(row for row in ROWS.values() if row.points)
"""In the order of the default profile; then those that are not in it, by name."""

PLUGINS: Mapping[str, Plugin] = {row.key: row.code for row in DECLARED if row.code is not None}
"""Those that filter or score; queue and binding plugins have no code here."""


def declared(plugin: str) -> Declared:
    """Return a plugin's row, an empty one if there is none."""
    return ROWS.get(plugin) or Declared(plugin, "")
