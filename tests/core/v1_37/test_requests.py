"""What pods request and hold: sidecars, pod level, overhead, resizes, and the defaults of scores."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.kubernetes.requests import DEFAULTS, held_requests, spec_requests


def container(name: str, **requests: str) -> dict[str, Any]:
    """Return a container."""
    return {"name": name, "resources": {"requests": requests}}


def sidecar(name: str, **requests: str) -> dict[str, Any]:
    """Return a restartable init container."""
    return {**container(name, **requests), "restartPolicy": "Always"}


def test_an_init_container_counts_beside_the_sidecars_before_it() -> None:
    """The peak is the greatest of all containers together and each init container with earlier sidecars."""
    spec = {
        "containers": [container("c", cpu="1", memory="1Gi")],
        "initContainers": [sidecar("s", cpu="500m"), container("i", cpu="2"), sidecar("t", cpu="100m")],
    }
    assert spec_requests(spec) == {"cpu": 2500, "memory": 1 << 30}


def test_pod_level_replaces_the_sum_and_overhead_comes_on_top() -> None:
    """Cpu, memory and hugepages of the pod replace what the containers add up to; others stay."""
    spec = {
        "containers": [container("c", cpu="1", **{"example.com/gpu": "2", "hugepages-2Mi": "4Mi"})],
        "resources": {"requests": {"cpu": "3", "hugepages-2Mi": "2Mi", "example.com/gpu": "9"}},
        "overhead": {"cpu": "250m"},
    }
    assert spec_requests(spec) == {"cpu": 3250, "example.com/gpu": 2, "hugepages-2Mi": 2 << 20}
    assert spec_requests(spec, level=False)["cpu"] == 1250


def test_scores_put_in_defaults_for_every_container_that_lacks_a_resource() -> None:
    """100m and 200Mi count for containers and init containers without the key, not where it is zero."""
    spec = {"containers": [container("a", cpu="0"), container("b")], "initContainers": [sidecar("s")]}
    assert spec_requests(spec, defaults=DEFAULTS) == {"cpu": 200, "memory": 600 << 20}


def status_of(*, infeasible: bool = False, **more: Any) -> dict[str, Any]:
    """Return the status of a pod that is being resized from 1 to something else."""
    conditions = [{"type": "PodResizePending", "reason": "Infeasible" if infeasible else "Deferred"}]
    return {"conditions": conditions, **more}


def test_a_resized_pod_holds_the_most_of_asked_allocated_and_used() -> None:
    """The greatest aggregate counts; an infeasible request does not, nor a container without a status."""
    spec = {"containers": [container("a", cpu="4"), container("b", cpu="1")]}
    statuses = [{"name": "a", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "3"}}}]
    assert held_requests(spec, status_of(containerStatuses=statuses)) == {"cpu": 5000}
    assert held_requests(spec, status_of(infeasible=True, containerStatuses=statuses)) == {"cpu": 3000}


@pytest.mark.parametrize(
    ("status", "cpu"),
    [
        ({"allocatedResources": {"cpu": "3"}}, 2100),
        ({"resources": {"requests": {"cpu": "3"}}}, 3100),
        ({"allocatedResources": {"cpu": "4"}, "resources": {"requests": {"cpu": "3"}}}, 4100),
        ({"allocatedResources": {"cpu": "1"}, "resources": {}}, 2100),
        (status_of(infeasible=True), 2100),
        (status_of(infeasible=True, resources={"requests": {"cpu": "1500m"}}), 1600),
    ],
)
def test_pod_level_requests_follow_the_status_once_it_has_resources(status: dict[str, Any], cpu: int) -> None:
    """What is allocated counts beside what is in use; the overhead is added to either."""
    spec = {
        "containers": [container("a", cpu="1")],
        "resources": {"requests": {"cpu": "2"}},
        "overhead": {"cpu": "100m"},
    }
    assert held_requests(spec, status) == {"cpu": cpu}


def test_pod_level_requests_leave_defaults_to_what_they_lack() -> None:
    """Scores put in memory for a pod that requests cpu as a whole."""
    spec = {"containers": [container("a", cpu="1")], "resources": {"requests": {"cpu": "2"}}}
    assert held_requests(spec, {}, nonzero=True) == {"cpu": 2000, "memory": 200 << 20}


def test_amounts_are_rounded_after_they_are_added() -> None:
    """Two containers of half a millicore request one."""
    spec = {"containers": [container("a", cpu="500u"), container("b", cpu="500u")]}
    assert spec_requests(spec) == {"cpu": 1}
    assert spec_requests({**spec, "overhead": {"cpu": "100u"}}) == {"cpu": 2}
