"""PodGroups whose phase would change for ever come to rest, so that a run begins and ends."""

from __future__ import annotations

import pytest

from scheduler_core import load_documents
from scheduler_core.run import simulate
from tests.core.engine.builders import Manifest, node, obj, pod

GROUP = obj("PodGroup", "g", "scheduling.x-k8s.io/v1alpha1", spec={})


@pytest.mark.timeout(60)
@pytest.mark.parametrize("version", ["v1beta2", "v1", ""])
@pytest.mark.parametrize("members", [0, 1])
def test_a_group_without_min_member_comes_to_rest(version: str, members: int) -> None:
    """Without minMember a group is complete and empty at once; its controller must not turn for ever."""
    runs: Manifest = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "time": "virtual"}
    if version:
        kind = "KubeSchedulerConfiguration"
        runs = {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": kind}
    labels = {"scheduling.x-k8s.io/pod-group": "g"}
    pods = [pod(f"p{number}", labels=labels) for number in range(members)]
    simulation = simulate(load_documents([runs, node("n"), GROUP, *pods]))
    assert [cycle.node for cycle in simulation] == ["n"] * members
