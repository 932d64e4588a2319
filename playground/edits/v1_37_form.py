"""What the Policy tab's form shows of a configuration of kube-scheduler v1.37, and of its feature gates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.authoring.v1_37_edits import DEFAULT_DOCUMENT, PERCENTAGE
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.schedulers.v1_37.configuration import compile_v1_37_configuration
from scheduler_core.schedulers.v1_37.profiles import KubeSchedulerProfile
from scheduler_core.settings.settings import Settings

Wire = dict[str, Any]


def form_of(document: Document | None, settings: Settings) -> Wire:
    """Return the protocol's ``PluginForm`` of a KubeSchedulerConfiguration; ``None`` is the default one.

    Raises ValueError for a document that v1.37 cannot use.
    """
    document = document or DEFAULT_DOCUMENT
    listed: Sequence[Mapping[str, Any]] = document.get("profiles") or ({},)
    gates = settings.feature_gates
    compiled = compile_v1_37_configuration(document, gates, settings.scheduler).profiles.values()
    usual = next(iter(compile_v1_37_configuration(None, gates, settings.scheduler).profiles.values()))
    return {
        "scheduler": settings.scheduler,
        "percentage": document.get(PERCENTAGE),
        "gates": dict(gates),
        "default": {point: list(names) for point, names in usual.points.items()},
        "profiles": [_profile(*both) for both in zip(compiled, listed, strict=True)],
    }


def _profile(profile: KubeSchedulerProfile, written: Mapping[str, Any]) -> Wire:
    configs = written.get("pluginConfig") or ()
    return {
        "name": profile.scheduler_name,
        "percentage": written.get(PERCENTAGE),
        "points": {point: list(names) for point, names in profile.points.items()},
        "weights": dict(profile.weights),
        "arguments": {config["name"]: config.get("args") or {} for config in configs},
    }
