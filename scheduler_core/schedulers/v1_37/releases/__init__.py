"""The releases of kube-scheduler that this package runs: a module each, found by its name alone."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from scheduler_core.schedulers.v1_37.dialect import Dialect
from scheduler_core.settings.release import BY_PLUGINS, V1_37


def _module(release: str) -> str:
    return f"{__name__}.{release.replace('.', '_')}"


DIALECTS: Mapping[str, Dialect] = {release: import_module(_module(release)).DIALECT for release in BY_PLUGINS}
"""Oldest first."""


def dialect_of(release: str) -> Dialect:
    """Return a release's dialect; the default release's for one that is none of plugins."""
    return DIALECTS.get(release) or DIALECTS[V1_37]
