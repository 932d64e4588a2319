"""What several plugins' hints ask of manifests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.interface import ClusterEvent, HintAnswer, HintContext
from scheduler_core.schedulers.v1_37.pods import CompiledPod

_SHOWN = 4


def answer(helps: bool) -> HintAnswer:
    """Return Queue if the event may help."""
    return "Queue" if helps else "QueueSkip"


def always(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    """Answer Queue to every event."""
    del pod, event, context
    return "Queue"


def never(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    """Answer QueueSkip to every event."""
    del pod, event, context
    return "QueueSkip"


def metadata(manifest: Manifest | None) -> Mapping[str, Any]:
    """Return an object's metadata."""
    return (manifest or {}).get("metadata") or {}


def labels(manifest: Manifest | None) -> Mapping[str, str]:
    """Return an object's labels."""
    return metadata(manifest).get("labels") or {}


def spec(manifest: Manifest | None) -> Mapping[str, Any]:
    """Return an object's specification."""
    return (manifest or {}).get("spec") or {}


def status(manifest: Manifest | None) -> Mapping[str, Any]:
    """Return an object's status."""
    return (manifest or {}).get("status") or {}


def names_claim(pod: CompiledPod, claim: Manifest | None, *, ephemeral: bool = True) -> bool:
    """Return whether the pod uses the claim; ``ephemeral``: that of a generic ephemeral volume too."""
    meta = metadata(claim)
    if (meta.get("namespace") or "default") != pod.namespace:
        return False
    return any(name == meta.get("name") and (ephemeral or not made) for name, made in pod.claims)


def listed(words: Sequence[str]) -> str:
    """Return the first few words of a sentence, and how many more there are."""
    shown = list(words[:_SHOWN])
    more = len(words) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def claim_names(pod: CompiledPod) -> str:
    """Return the names of the pod's claims."""
    return listed([name for name, _ in pod.claims]) or "a claim"
