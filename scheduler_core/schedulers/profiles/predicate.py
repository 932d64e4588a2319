"""The protocol of a predicate: (pod, view of the cluster) to one failure code per node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.reasons import FAILED_BY_ERROR, Codes
from scheduler_core.schedulers.columns.view import Scope, View

NO_ERRORS: Mapping[int, str] = {}


class PredicateResult(NamedTuple):
    """A predicate's result on the R rows of a view.

    ``codes`` is ``(R,) int16``: 0 if the pod fits, otherwise a code of the cluster's reason table;
    ``None`` if it fits on every row. ``errors`` maps a row to the message of the error raised there.
    """

    codes: Codes | None = None
    errors: Mapping[int, str] = NO_ERRORS


FITS = PredicateResult()


class Predicate(Protocol):
    """A check of one pod against every row of a view."""

    scope: Scope

    @property
    def reads(self) -> Reads:
        """The fields that a result depends on."""

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:
        """Check the pod on every row; ``state`` is for the few rules that need the pod's identity."""


def failing(mask: npt.NDArray[np.bool_], view: View, *reasons: str) -> PredicateResult:
    """Fail with ``reasons`` where ``mask`` ``(R,) bool`` is true."""
    if not mask.any():
        return FITS
    return PredicateResult(np.where(mask, np.int16(view.reasons.code(*reasons)), np.int16(0)))


def everywhere(view: View, error: str) -> PredicateResult:
    """Raise the same error on every row."""
    codes = np.full(view.size, FAILED_BY_ERROR, np.int16)
    return PredicateResult(codes, dict.fromkeys(range(view.size), error))


def narrowed(codes: Codes | None, view: View) -> PredicateResult:
    """Reduce codes over all nodes to a view's rows."""
    return FITS if codes is None else PredicateResult(cast("Codes", view.take(codes)))
