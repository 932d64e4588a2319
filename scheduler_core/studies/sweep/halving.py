"""Successive halving: every cell runs with little, and the better part of them again with more.

A rung is a share of what arrives, or seconds of virtual time; the last one may be the whole scenario.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from scheduler_core.authoring.policy_edits import HEADS
from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.support import part_of
from scheduler_core.scenario.history_entries import SCENARIO_KIND, target_of
from scheduler_core.settings.release import row_of
from scheduler_core.settings.settings import SETTINGS_KIND
from scheduler_core.studies.sweep.front import SIGNS
from scheduler_core.studies.sweep.shapes import is_arriving

FIELD = "halving"
ARRIVALS, SECONDS = "arrivals", "seconds"
EXAMPLE = "{arrivals: [0.1, 0.3, 1], keep: 0.5, by: [placed, nodesUsed]}"
MOST_RUNGS = 10
REPLICATED = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")

Budget = tuple[str, float]
"""What a rung runs with: :data:`ARRIVALS` with a share of them, or :data:`SECONDS` with the last of them."""


class Halving(Struct, frozen=True):
    """The rungs in order, the share of the cells that goes on from each, and the figures that rank them."""

    budgets: tuple[Budget, ...]
    keep: float
    by: tuple[str, ...]

    def survivors(self, rows: Sequence[Mapping[str, Any] | None]) -> list[int]:
        """Return the places of the cells that go on, in order.

        These are the best by the figures, one after the other; of equal cells the first ones. A cell that
        could not be run does not go on.
        """
        ranked = sorted(
            (place for place, row in enumerate(rows) if row), key=lambda place: self._rank(rows[place])
        )
        return sorted(ranked[: math.ceil(self.keep * len(rows))])

    def _rank(self, row: Mapping[str, Any] | None) -> list[float]:
        assert row is not None
        values = ((SIGNS[name], row.get(name)) for name in self.by)
        return [math.inf if value is None else -sign * value for sign, value in values]


def read_halving(given: Any, problems: list[Problem]) -> Halving | None:
    """Return the halving of a sweep, None without one; what is wrong with it is added to the problems."""
    if given is None:
        return None
    wrong = _wrong(given)
    if wrong:
        path, message = wrong
        problems.append(Problem(f"{message}: it is like {EXAMPLE}", f"{FIELD}{path}"))
        return None
    kind = ARRIVALS if ARRIVALS in given else SECONDS
    by = given.get("by", "placed")
    budgets = tuple((kind, float(value)) for value in given[kind])
    return Halving(budgets, given.get("keep", 0.5), (by,) if isinstance(by, str) else tuple(by))


def _wrong(given: Any) -> tuple[str, str] | None:
    """Return where a halving is wrong, after its own path, and how."""
    if not isinstance(given, Mapping) or (ARRIVALS in given) == (SECONDS in given):
        return "", f"must be an object with either {ARRIVALS} or {SECONDS}"
    if unknown := sorted(set(map(str, given)) - {ARRIVALS, SECONDS, "keep", "by"}):
        return f".{unknown[0][:40]}", "unknown field"
    kind = ARRIVALS if ARRIVALS in given else SECONDS
    if not _are_rungs(given[kind], 1 if kind == ARRIVALS else math.inf):
        most = " of at most 1" if kind == ARRIVALS else ""
        return f".{kind}", f"must be 2 to {MOST_RUNGS} growing numbers above 0{most}"
    keep = given.get("keep", 0.5)
    if type(keep) not in (int, float) or not 0 < keep < 1:
        return ".keep", "must be a share above 0 and below 1"
    by = given.get("by", "placed")
    names = [by] if isinstance(by, str) else by
    if (
        not isinstance(names, list)
        or not names
        or any(not isinstance(one, str) or one not in SIGNS for one in names)
    ):
        return ".by", f"must be one or more of {', '.join(SIGNS)}"
    return None


def _are_rungs(rungs: Any, most: float) -> bool:
    return (
        isinstance(rungs, list)
        and 2 <= len(rungs) <= MOST_RUNGS
        and all(type(one) in (int, float) and 0 < one <= most for one in rungs)
        and all(one < other for one, other in pairwise(rungs))
    )


def within(documents: Sequence[Document], budget: Budget | None, release: str) -> Sequence[Document]:
    """Return the documents with no more than a rung's budget; None is all.

    Of what arrives the first pods are kept, those of a workload's replicas counted one by one; Jobs are kept
    whole. Operations on what is left out go with it; others stay.

    Raises:
        EditError: In the release that answers no time passes.
    """
    if budget is None or budget == (ARRIVALS, 1.0):
        return documents
    kind, amount = budget
    if kind == SECONDS and row_of(release).clock == "instant":
        raise EditError(f"halving by {SECONDS} needs time, and none passes under {release}: use {ARRIVALS}")
    if kind == SECONDS:
        return _until(documents, amount)
    left = math.ceil(amount * sum(map(_pods, filter(is_arriving, documents))))
    kept: list[Document] = []
    gone: set[Key] = set()
    for one in documents:
        if not is_arriving(one):
            kept.append(one)
        elif left > 0:
            kept.append(_cut(one, left))
            left -= _pods(one)
        else:
            gone.add(document_key(one))
    return [_without(one, gone) for one in kept]


def _without(document: Document, gone: set[Key]) -> Document:
    """Return a Scenario without the operations on what is gone; any other document as it is."""
    if document.get("kind") != SCENARIO_KIND or not gone:
        return document
    spec = document.get("spec") or {}
    left = [
        one for one in spec.get("operations") or () if "createOperation" in one or target_of(one) not in gone
    ]
    return {**document, "spec": {**spec, "operations": left}}


def _until(documents: Sequence[Document], seconds: float) -> Sequence[Document]:
    """Return the documents with an end at a second, unless they end before."""
    settings = next((one for one in documents if one.get("kind") == SETTINGS_KIND), HEADS[SETTINGS_KIND])
    until: Any = settings.get("until")
    if type(until) in (int, float) and until <= seconds:
        return documents
    others = [one for one in documents if one.get("kind") != SETTINGS_KIND]
    return [{**settings, "until": seconds}, *others]


def _pods(document: Document) -> int:
    kind = document.get("kind")
    name = {"Job": "parallelism"}.get(str(kind), "replicas" if kind in REPLICATED else "")
    count: Any = part_of(document, "spec", name) if name else 1
    return count if type(count) is int and count >= 0 else 1


def _cut(document: Document, left: int) -> Document:
    if document.get("kind") not in REPLICATED or _pods(document) <= left:
        return document
    return {**document, "spec": {**document["spec"], "replicas": left}}
