"""The examples of the start page: bundles in ``scheduler_core/examples`` with an index."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Example:
    """One example; ``nodes`` and ``pods`` are counted from what it holds."""

    slug: str
    title: str
    text: str
    nodes: int
    pods: int
    path: Path

    def read(self) -> str:
        """Return its manifests."""
        return self.path.read_text()


@cache
def _examples() -> tuple[Example, ...]:
    return ()


def index() -> list[dict[str, Any]]:
    """Return what the start page shows of each example."""
    return [
        {"slug": row.slug, "title": row.title, "text": row.text, "nodes": row.nodes, "pods": row.pods}
        for row in _examples()
    ]


def find(slug: str) -> Example | None:
    """Return the example of that slug."""
    return next((row for row in _examples() if row.slug == slug), None)
