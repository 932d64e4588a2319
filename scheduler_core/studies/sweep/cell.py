"""The scenario of a cell: the bundle with the edits that the cell's values stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.authoring import policy_edits
from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.authoring.verb_targets import VerbError
from scheduler_core.formats.limits import Limits
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.load_state import DEFAULT_LIMITS
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_11.priorities import PRIORITIES
from scheduler_core.schedulers.v1_37.config import IMPLEMENTED
from scheduler_core.settings.release import CACHING, DEFAULT_RELEASE, POLICY_KIND, row_of
from scheduler_core.settings.settings import ONLY_V1_11
from scheduler_core.studies.sweep.axes import Setting, axis_of
from scheduler_core.studies.sweep.halving import Budget, within

SCHEDULER, CONFIG, PROFILE, SEED, ARRIVAL = "scheduler", "config", "profile", "seed", "arrival"
Named = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""The objects that values of an axis stand for: by the axis, then by their names."""


def scenario_of_cell(
    scenario: Scenario,
    axes: Mapping[str, Sequence[Any]],
    named: Named,
    values: Mapping[str, Any],
    limits: Limits = DEFAULT_LIMITS,
    budget: Budget | None = None,
) -> Scenario:
    """Return the scenario of a cell. ``axes`` and ``named`` are those of its sweep, ``budget`` its rung's.

    Raises:
        BundleError: The values do not go together, or what they make cannot be read.
    """
    release = release_of(scenario, axes, named, values)
    try:
        documents = within(documents_of(scenario, values, named, release), budget, release)
    except (EditError, VerbError) as error:
        raise BundleError([Problem(str(error))]) from error
    presumed = "" if row_of(release).is_timed else release
    return load_documents(documents, title=scenario.title, presumed=presumed, limits=limits)


def documents_of(
    scenario: Scenario, values: Mapping[str, Any], named: Named, release: str
) -> Sequence[Document]:
    """Return the documents of a cell, in which a seed without an order shuffles what arrives.

    Raises:
        EditError, VerbError: A value cannot be applied.
    """
    documents: Sequence[Document] = scenario.documents
    if release != scenario.release and SCHEDULER not in values:
        documents = policy_edits.edited(documents, "setting", SCHEDULER, release)
    seed = values.get(SEED)
    seed = seed if type(seed) is int else 0
    profile = str(values.get(PROFILE, ""))
    ordered = dict(values) if ARRIVAL in values or not seed else _with_arrival(values)
    for name, value in ordered.items():
        axis, part = axis_of(name)
        given = named.get(name, {}).get(value, value)
        documents = axis.change(Setting(axis.name, part, given, release, seed, profile), documents)
    return documents


def _with_arrival(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with a shuffled arrival where the seed is: before what happens to the cluster."""
    after: dict[str, Any] = {}
    for name, value in values.items():
        after |= {ARRIVAL: "shuffled", name: value} if name == SEED else {name: value}
    return after


def releases_of(axes: Mapping[str, Sequence[Any]], own: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the values of other axes that choose the release, in each combination with ``own``."""
    schedulers = [own[SCHEDULER]] if SCHEDULER in own else axes.get(SCHEDULER, (None,))
    configs = [own[CONFIG]] if CONFIG in own else axes.get(CONFIG, (None,))
    for scheduler in schedulers:
        for config in configs:
            pairs = ((SCHEDULER, scheduler), (CONFIG, config))
            yield {name: value for name, value in pairs if value is not None}


def release_of(
    scenario: Scenario,
    axes: Mapping[str, Sequence[Any]],
    named: Named,
    values: Mapping[str, Any],
) -> str:
    """Return the release that answers a cell.

    A scenario that chooses none is answered by v1.11 if an axis is about what no other release has.
    """
    if values.get(SCHEDULER):
        return str(values[SCHEDULER])
    if CONFIG in values:
        return CACHING if named[CONFIG][values[CONFIG]].get("kind") == POLICY_KIND else DEFAULT_RELEASE
    chosen = scenario.settings.scheduler or scenario.policy is not None
    return scenario.release if chosen or not any(map(_is_of_v1_11, axes)) else CACHING


def _is_of_v1_11(name: str) -> bool:
    head, _, part = name.partition(".")
    weighs = head == "weights" and part in PRIORITIES and part not in IMPLEMENTED
    return head in ONLY_V1_11 or head == "predicates" or weighs
