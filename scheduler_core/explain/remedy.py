"""A verified change, as it is offered."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct

FITS_SHOWN = 20


class Remedy(Struct, frozen=True):
    """A verified change: with it the pod fits on ``node`` and on all of ``fits``.

    ``patches`` are the requests for the API server, in order; ``words`` describe them, one sentence per edit.
    ``live`` are the same for the pod that already exists, where ``patches`` change its template. ``chosen``
    is the node that the scheduler then takes, ``notes`` what to know before making the change. ``fits`` is
    empty where the pod preempts others first.
    """

    node: str
    words: tuple[str, ...]
    patches: tuple[dict[str, Any], ...]
    effort: int
    size: float
    fits: tuple[str, ...]
    chosen: str | None = None
    live: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """An identifier that is the same for the same node and patches."""
        text = json.dumps([self.node, list(self.patches)], sort_keys=True)
        import hashlib

        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def as_dict(self) -> dict[str, Any]:
        """Return the change as JSON."""
        return {
            "id": self.id,
            "node": self.node,
            "words": list(self.words),
            "patches": list(self.patches),
            "effort": self.effort,
            "fits": list(self.fits[:FITS_SHOWN]),
            "fitsCount": len(self.fits),
            "chosen": self.chosen,
            "notes": list(self.notes),
        }
