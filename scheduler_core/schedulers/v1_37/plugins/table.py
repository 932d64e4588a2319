"""The plugins, as the modules of this package declare them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from scheduler_core.schedulers.v1_37 import plugins
from scheduler_core.schedulers.v1_37.dialect import Dialect
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared


def _found() -> list[Declared]:
    """Return the ``PLUGIN`` of all modules of the package; a new module is found by that alone."""
    modules = [import_module(f"{plugins.__name__}.{each.name}") for each in iter_modules(plugins.__path__)]
    return [found for module in modules if (found := getattr(module, "PLUGIN", None))]


def place_of(row: Declared) -> tuple[bool, int, str]:
    """Return what rows are sorted by."""
    return not row.rank, row.rank, row.key


ROWS: Mapping[str, Declared] = {row.key: row for row in sorted(_found(), key=place_of)}
"""All by their keys: plugins, and the extenders as what pods wait for."""

DECLARED: tuple[Declared, ...] = tuple(row for row in ROWS.values() if row.points)
"""In the order of the default profile; then those that are not in it, by name."""


def declared(plugin: str, dialect: Dialect | None = None) -> Declared:
    """Return a plugin's row in a release, an empty one if there is none."""
    rows = ROWS if dialect is None else dialect.rows
    return rows.get(plugin) or Declared(plugin, "")
