"""The plugins by their keys."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from scheduler_core.schedulers.v1_37 import plugins
from scheduler_core.schedulers.v1_37.plugins.base import Plugin


def _found() -> dict[str, Plugin]:
    """Return the ``PLUGIN`` of all modules of the package; a new module is found by that alone."""
    modules = [import_module(f"{plugins.__name__}.{each.name}") for each in iter_modules(plugins.__path__)]
    return {found.key: found for module in modules if (found := getattr(module, "PLUGIN", None))}


PLUGINS: Mapping[str, Plugin] = _found()
"""Those that filter or score; queue and binding plugins have no code here."""
