"""The same bundle under other SimulationSettings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.settings.settings import SETTINGS_KIND


def with_settings(documents: Sequence[Document], **changed: Any) -> list[Document]:
    """Return documents whose SimulationSettings have these values."""
    own = next((one for one in documents if one.get("kind") == SETTINGS_KIND), None)
    made = {**(own or {"apiVersion": "podstep/v1", "kind": SETTINGS_KIND}), **changed}
    return [*(one for one in documents if one is not own), made]
