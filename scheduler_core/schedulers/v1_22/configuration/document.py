"""A KubeSchedulerConfiguration as a document of a bundle: its detection and validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scheduler_core.kubernetes.names import nearest
from scheduler_core.kubernetes.readers import At, show
from scheduler_core.settings.release import CONFIGURATION_GROUP, CONFIGURATION_KIND
from scheduler_core.settings.settings import Settings

if TYPE_CHECKING:
    from scheduler_core.schedulers.v1_22.configuration.result import FrameworkConfiguration


def check_configuration(
    value: Mapping[str, Any], settings: Settings, at: At
) -> FrameworkConfiguration | None:
    """Report all errors and warnings of a configuration; return it compiled, or None if it is unusable."""
    from scheduler_core.schedulers.v1_22.configuration.compiler import read_and_compile

    wrong = len(at.report.errors)
    compiled = read_and_compile(value, settings, at)
    return compiled if len(at.report.errors) == wrong else None


def is_scheduler_configuration(value: Mapping[str, Any], at: At) -> bool:
    """Return whether a document is, or was intended as, a KubeSchedulerConfiguration; report the latter."""
    kind, version = value.get("kind"), value.get("apiVersion")
    if kind == CONFIGURATION_KIND:
        return True
    if isinstance(version, str) and version.partition("/")[0] == CONFIGURATION_GROUP:
        if isinstance(kind, str) and nearest(kind, [CONFIGURATION_KIND]):
            at.child("kind").error(f"{show(kind)} is not a kind: did you mean {CONFIGURATION_KIND!r}?")
        elif kind is None:
            at.error(f"kind is missing: write kind: {CONFIGURATION_KIND}")
        else:
            return False
        return True
    return False
