"""Raw Kubernetes manifests: JSON objects, whether or not their kind is supported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Manifest = dict[str, Any]
"""One manifest, which its holder may modify."""

Document = Mapping[str, Any]
"""A read-only manifest."""
