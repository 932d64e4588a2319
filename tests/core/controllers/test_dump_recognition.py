"""Which bundles are dumps of a running cluster, what is said of those, and that others stay as they are."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from scheduler_core import load
from scheduler_core.authoring.examples import Example, examples
from scheduler_core.cli.input_files import problem_lines
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.scenario.running_dump import dumped_objects
from tests.core.controllers.test_reconstruction import NODE, SET, pod

Facts = dict[str, Any]
KUBELET = {"phase": "Running", "startTime": "2026-06-01T00:00:00Z"}


def served(name: str, kind: str, owner: str, labels: Facts | None = None, **more: Any) -> Facts:
    """Return a pod as an API server gives it, with a status of its kubelet."""
    made = pod(name, kind, owner, labels, **more)
    conditions = {"conditions": [{"type": "Ready", "status": "True"}]}
    made["metadata"] |= {"creationTimestamp": "2026-06-01T00:00:00Z"}
    return {**made, "apiVersion": "v1", "status": {**KUBELET, **conditions}}


def test_pods_of_an_api_server_make_a_dump() -> None:
    """A uid with a time or a version, and what a kubelet says, are what the API server answers."""
    one = served("web-h1-a", "ReplicaSet", "web-h1", SET)
    versioned = {**one, "metadata": {**one["metadata"], "resourceVersion": "7"}}
    del versioned["metadata"]["creationTimestamp"]
    assert dumped_objects([NODE, one], said=False) is not None
    assert dumped_objects([NODE, versioned], said=False) is not None
    assert dumped_objects([one], said=False) is None, "no nodes"


@pytest.mark.parametrize(
    "lacks", ["uid", "creationTimestamp", "owner", "uid of the owner", "kubelet", "node"]
)
def test_a_status_written_by_hand_makes_no_dump(lacks: str) -> None:
    """A manifest without one of the marks is one of a scenario, unless the settings call it a dump."""
    one = served("web-h1-a", "ReplicaSet", "web-h1", SET)
    meta = one["metadata"]
    {
        "uid": lambda: meta.pop("uid"),
        "creationTimestamp": lambda: meta.pop("creationTimestamp"),
        "owner": lambda: meta.pop("ownerReferences"),
        "uid of the owner": lambda: meta["ownerReferences"][0].pop("uid"),
        "kubelet": lambda: one["status"].pop("startTime"),
        "node": lambda: one["spec"].pop("nodeName"),
    }[lacks]()
    assert dumped_objects([NODE, one], said=False) is None
    assert dumped_objects([NODE, one], said=True) is not None


@pytest.mark.parametrize(
    "example", [one for one in examples() if "descheduler" in one.slug], ids=lambda one: one.slug
)
def test_no_example_of_the_descheduler_is_taken_for_a_dump(example: Example) -> None:
    """Their pods' statuses are written by hand, and their workloads are created."""
    assert dumped_objects(example.load().documents, said=False) is None


# --- what is said


SETTINGS = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "time": "virtual"}
NODES = [{**NODE, "apiVersion": "v1", "metadata": {"name": name}} for name in ("a", "b")]
SHOPS = [served(f"{name}-h1-a", "ReplicaSet", f"{name}-h1", SET) for name in "abcdef"]
REVISION = {
    "apiVersion": "apps/v1",
    "kind": "ControllerRevision",
    "metadata": {"name": "d-x", "namespace": "default"},
    "data": {},
    "revision": 1,
}


def warned(*objects: Facts) -> list[Problem]:
    """Return the warnings of a bundle in which time passes."""
    return list(load(yaml.safe_dump_all([*NODES, *objects, SETTINGS], sort_keys=False)).warnings)


def test_what_is_assumed_is_summed_up_and_named() -> None:
    """One warning counts the owners by kind, its details name each; it says that the dump lacks them."""
    found = warned(*SHOPS, served("ds-a", "DaemonSet", "ds", {"controller-revision-hash": "x"}))
    (one,) = [row for row in found if "assumed from their pods" in row.message]
    assert one.message == "6 Deployments and 1 DaemonSet are not in the dump: assumed from their pods"
    assert one.incomplete and len(one.details) == 7
    assert one.details[0].startswith("Deployment a (ReplicaSet a-h1) is not in the dump: assumed with 1 rep")
    assert one.as_dict()["details"] == list(one.details)


def test_lost_pods_are_announced() -> None:
    """An owner of a kind that nothing shows the like of is named: its pods are lost once they end."""
    reported = [row.message for row in warned(served("w-a", "Widget", "w")) if row.incomplete]
    assert (
        "Widget default/w is not in the dump, and cannot be known: its pods (1) are lost once they end"
        in reported
    )


def test_a_dump_in_which_no_controller_runs_says_nothing_of_it() -> None:
    """Without time nothing is assumed, and the scheduler reads nodes and pods alone."""
    reported = load(yaml.safe_dump_all([*NODES, *SHOPS], sort_keys=False)).warnings
    assert not any("assumed" in row.message for row in reported)


def test_many_details_are_folded_at_the_command_line() -> None:
    """More than a handful is one line, unless all are asked for; a handful follows its summary."""
    found = warned(*SHOPS)
    assert problem_lines(found).count("Deployment a ") == 0
    assert problem_lines(found, unfolded=True).count("\n  Deployment ") == 6
    assert problem_lines(warned(*SHOPS[:2])).count("\n  Deployment ") == 2


def test_revisions_are_read_where_controllers_start_from_a_dump() -> None:
    """They are not called ignored there; in another bundle they are, with who would read them."""
    reads = "controllers read them where they start from the dump of a running cluster"
    assert not any("ControllerRevision" in row.message for row in warned(*SHOPS, REVISION))
    reported = [row.message for row in warned(REVISION)]
    assert f"1 ControllerRevision is ignored: {reads}; kept for export" in reported
