"""Objects of Kueue that lack the form of their kind are left out by name, wherever they are read."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
import yaml

from scheduler_core import load
from scheduler_core.cluster.kueue.acceptance import refusals
from scheduler_core.explain.explanation import ExplainError
from scheduler_core.explain.kueue.cluster import kueue_over
from tests.core.kueue.clusters import API, manifests, workload_spec

CLUSTER = {
    "cohorts": {"team": ""},
    "queues": {"a": {"quota": {"default": 4}, "cohortName": "team"}},
    "workloads": {"one": "a 1"},
}
KINDS = {one["kind"]: one for one in manifests(CLUSTER)}
BAD: list[tuple[str, tuple[str | int, ...], Any]] = [
    ("ClusterQueue", ("spec",), "all"),
    ("ClusterQueue", ("metadata",), None),
    ("ClusterQueue", ("metadata", "name"), ""),
    ("ClusterQueue", ("spec", "cohortName"), 5),
    ("ClusterQueue", ("spec", "namespaceSelector"), [None]),
    ("ClusterQueue", ("spec", "resourceGroups", 0), None),
    ("ClusterQueue", ("spec", "resourceGroups", 0, "coveredResources", 0), {}),
    ("ClusterQueue", ("spec", "resourceGroups", 0, "flavors", 0, "resources"), 7),
    ("Cohort", ("spec", "parentName"), ["root"]),
    ("LocalQueue", ("spec", "clusterQueue"), {"name": "a"}),
    ("ResourceFlavor", ("spec", "nodeTaints"), True),
    ("Workload", ("spec", "podSets", 0, "count"), {}),
    ("Workload", ("spec", "podSets", 0, "template", "spec", "containers", 0, "resources"), "all"),
    ("Workload", ("metadata", "creationTimestamp"), {}),
]


def _changed(kind: str, path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    made: Any = deepcopy(KINDS[kind])
    at = made
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    return dict(made)


@pytest.mark.parametrize(("kind", "path", "value"), BAD, ids=lambda part: str(part)[:60])
def test_what_lacks_the_form_of_its_kind_is_refused(
    kind: str, path: tuple[str | int, ...], value: Any
) -> None:
    """An explanation names it, and goes on without it; as it is, it is accepted."""
    bad = _changed(kind, path, value)
    assert refusals(dict(KINDS[kind])) == [] and refusals(bad) != []
    listed: list[Mapping[str, Any]] = [bad if one["kind"] == kind else one for one in KINDS.values()]
    notes = kueue_over(listed).notes
    assert any(one.startswith(f"{kind} ") and "left out" in one for one in notes), notes


def test_a_bundle_is_read_without_what_is_refused() -> None:
    """A warning names the type that was expected, and where."""
    bad = _changed("ClusterQueue", ("spec", "cohortName"), 5)
    scenario = load(
        yaml.safe_dump_all([bad if one["kind"] == "ClusterQueue" else one for one in KINDS.values()])
    )
    assert any(
        "refuses this ClusterQueue" in one.message and "got `int`" in one.message for one in scenario.warnings
    )
    part = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    wrong: list[dict[str, Any]] = [
        {"resources": {"excludeResourcePrefixes": [{}]}},
        {"fairSharing": {"preemptionStrategies": ["LessThanFinalShare"]}},
    ]
    for odd in wrong:
        warned = load(yaml.safe_dump_all([*KINDS.values(), {**part, **odd}])).warnings
        assert any("Configuration cannot be read, its defaults are used" in one.message for one in warned)


def test_a_submission_that_is_refused_says_why() -> None:
    """It is no Workload that waits."""
    spec = {**workload_spec("a 1"), "podSets": []}
    manifest = {"apiVersion": API, "kind": "Workload", "metadata": {"name": "new"}, "spec": spec}
    with pytest.raises(ExplainError, match=r"refuses this Workload: spec.podSets: must have 1 to 8 items"):
        kueue_over(list(KINDS.values())).submitted([manifest])
