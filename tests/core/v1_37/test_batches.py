from __future__ import annotations

from typing import Any

import pytest

from tests.core.v1_37.parts import node, pod, started

LISTED = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": []}}
            ]
        }
    ],
}
NODES = [node(f"n{i}", cpu=str(2 + i)) for i in range(4)]


def hints(*pods: dict[str, Any], config: Any = LISTED) -> list[str | None]:
    """Return the hint of each cycle."""
    run = started(*NODES, *pods, config=config)
    return [cycle["attempts"][0]["hint"] for cycle in run.cycles]


def test_equal_pods_take_the_scored_nodes_in_turn() -> None:
    """Each after the first has a hint, which is the only node looked at."""
    run = started(*NODES, *(pod(f"p{i}", cpu="1") for i in range(3)), config=LISTED)
    assert [cycle["attempts"][0]["hint"] is not None for cycle in run.cycles] == [False, True, True]
    for cycle in run.cycles[1:]:
        attempt = cycle["attempts"][0]
        assert attempt["evaluated"] == [attempt["hint"]] == [attempt["node"]]


def test_another_pod_in_between_ends_the_batch() -> None:
    """The next equal pod is scheduled in full."""
    assert hints(pod("a", cpu="1"), pod("b", cpu="500m"), pod("c", cpu="1")) == [None, None, None]


def test_the_default_profile_has_no_batches() -> None:
    """PodTopologySpread has default constraints there, which depend on other pods."""
    assert hints(*(pod(f"p{i}", cpu="1") for i in range(3)), config=None) == [None, None, None]


def test_pods_with_rules_on_other_pods_are_not_batched() -> None:
    """Where the last one went could change everything."""
    rule: dict[str, Any] = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}
    anti: dict[str, Any] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}
    assert hints(pod("a", affinity=rule), pod("b", affinity=rule)) == [None, None]
    assert hints(pod("a", affinity=anti), pod("b", affinity=anti)) == [None, None]


def container(**more: Any) -> dict[str, Any]:
    """Return a container that requests a cpu."""
    return {"name": "c", "image": "app", "resources": {"requests": {"cpu": "1"}}, **more}


def required(*values: str) -> dict[str, Any]:
    """Return a node affinity to any of the hosts."""
    terms = [{"matchExpressions": [{"key": "os", "operator": "NotIn", "values": list(values)}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ({"containers": [container()]}, {"containers": [container(image="app:latest")]}, True),
        (
            {"containers": [container(resources={"requests": {"cpu": "500m"}}, name=name) for name in "ab"]},
            {"containers": [container()], "initContainers": [container(resources={})]},
            True,
        ),
        ({"affinity": required("x", "y")}, {"affinity": required("y", "x")}, True),
        ({"affinity": required("x")}, {"affinity": required("y")}, False),
        ({"tolerations": [{"key": "a"}, {"key": "b"}]}, {"tolerations": [{"key": "b"}, {"key": "a"}]}, True),
        (
            {"containers": [container(ports=[{"hostPort": 80}])]},
            {"containers": [container(ports=[{"hostPort": 80, "protocol": "UDP"}])]},
            True,
        ),
        ({"containers": [container()]}, {"containers": [container(image="web")]}, False),
    ],
)
def test_pods_are_equal_by_what_plugins_sign(one: dict[str, Any], other: dict[str, Any], equal: bool) -> None:
    """Order, duplicates, defaults of scores and protocols are not signed."""
    run = started(*NODES, pod("a", **one), pod("b", **other), config=LISTED)
    assert (run.cycles[1]["attempts"][0]["hint"] is not None) == equal


def test_nothing_is_kept_of_a_single_feasible_node() -> None:
    """It was not scored."""
    only: dict[str, Any] = {"nodeSelector": {"kubernetes.io/hostname": "x"}}
    assert hints(pod("a", **only), pod("b", **only)) == [None, None]


def test_members_of_a_group_are_batched_within_its_cycle() -> None:
    """Each after the first takes a node that was scored for it, those before it placed."""
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "default"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}},
    }
    members = [pod(f"p{i}", cpu="1", schedulingGroup={"podGroupName": "g"}) for i in range(3)]
    run = started(*NODES, group, *members, config=LISTED, gates={"GenericWorkload": True})
    first, *others = run.cycles[0]["attempts"]
    assert first["hint"] is None
    assert all(attempt["hint"] == attempt["node"] is not None for attempt in others)
    assert len(run.final()["bound"]) == 3


def test_a_pod_that_prefilter_ends_takes_no_hint() -> None:
    """The batch is asked after PreFilter."""
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "c",
            "namespace": "default",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {"accessModes": ["ReadWriteMany"], "volumeName": "w"},
        "status": {"phase": "Bound"},
    }
    volume = {
        "kind": "PersistentVolume",
        "metadata": {"name": "w"},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "claimRef": {"namespace": "default", "name": "c"},
            "csi": {"driver": "d", "volumeHandle": "w"},
        },
    }
    run = started(*NODES, claim, volume, pod("a", cpu="1", volumes=volumes), config=LISTED)
    assert run.cycles[0]["bound"]
    run.take({"do": "delete", "kind": "PersistentVolumeClaim", "name": "c", "hold": True})
    run.take({"do": "create", "object": pod("b", cpu="1", volumes=volumes)})
    assert run.cycles[1]["attempts"][0]["hint"] is None
