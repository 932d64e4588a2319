"""Kubernetes objects as they are written: JSON objects, whether or not their kind is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Manifest = dict[str, Any]
"""One object, which whoever has it may change."""

Document = Mapping[str, Any]
"""The same to be read only."""
