"""Sums over topology domains, for the rows of a view."""

from __future__ import annotations

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.schedulers.columns.columns import Domains
from scheduler_core.schedulers.columns.view import View


def row_sums(view: View, domains: Domains, sums: IntVector, own: IntVector | None = None) -> IntVector:
    """Return the sum of each row's domain, ``(R,) int64``; 0 where it is in no domain.

    ``sums`` is ``(count + 1,)`` with 0 at the end; ``own``, ``(R,)``, is added for each row's own node.
    """
    places = view.take(domains.ids)
    found = sums[places]
    return found if own is None else found + np.where(places >= 0, own, 0)
