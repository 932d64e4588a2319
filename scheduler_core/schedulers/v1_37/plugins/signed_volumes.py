"""What the volume plugins sign of a pod (VolumesSigner)."""

from __future__ import annotations

import json
from typing import Any

from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import Arguments


def signed_volumes(pod: CompiledPod, arguments: Arguments) -> Any:
    """Return the sources of a pod's volumes without their names, ConfigMaps and Secrets."""
    del arguments
    sources = ({k: v for k, v in volume.items() if k != "name"} for volume in pod.volumes)
    kept = (source for source in sources if source.get("configMap") is None and source.get("secret") is None)
    return sorted(json.dumps(source, sort_keys=True) for source in kept)
