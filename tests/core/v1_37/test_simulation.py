"""Scenarios that kube-scheduler v1.37 answers: what a cycle shows, operations, replay and copies."""

from __future__ import annotations

import pytest

from scheduler_core import load
from scheduler_core.run import simulate
from scheduler_core.run.trace import trace_cycle
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.run.v1_37.simulation import V1_37Simulation

NODES = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {zone: a}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {zone: b}}
spec: {taints: [{key: dedicated, effect: NoSchedule}]}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
SCHEDULER = "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.37\n"
PODS = """
---
apiVersion: v1
kind: Pod
metadata: {name: low}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: late}
spec: {priority: -1, nodeSelector: {disk: nvme}, containers: [{name: c, image: i}]}
---
kind: Scenario
spec:
  operations:
  - step: 1
    createOperation:
      object:
        apiVersion: v1
        kind: Pod
        metadata: {name: high}
        spec: {priority: 9, containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}
  - step: 2
    patchOperation:
      typeMeta: {kind: Node}
      objectMeta: {name: n1}
      patch: {metadata: {labels: {disk: nvme}}}
"""


def test_preemption_hints_and_filters_are_in_the_cycle() -> None:
    """A victim goes for the higher priority; the pod that waits for a label is woken by the node's change."""
    simulation = simulate(load(NODES + PODS + SCHEDULER))
    cycles = list(simulation)
    assert [(c.pod, c.result, c.node) for c in cycles] == [
        ("default/low", "scheduled", "n1"),
        ("default/late", "unschedulable", None),
        ("default/high", "unschedulable", None),
        ("default/high", "scheduled", "n1"),
        ("default/late", "scheduled", "n1"),
    ]
    failed = cycles[1]
    assert failed.matrix is not None
    codes = dict(zip(failed.matrix.order, failed.matrix.codes.tolist(), strict=True))
    assert codes["NodeName"] == [0, 0]
    assert codes["TaintToleration"][1] > 0
    assert codes["NodeAffinity"][0] > 0
    assert codes["NodeAffinity"][1] == -1, "a node is done at its first failing plugin"
    preempting = cycles[2]
    assert preempting.preemption is not None
    assert (preempting.preemption.node, preempting.preemption.victims) == ("n1", ["default/low"])
    assert preempting.decision.victims == ("default/low",)
    assert simulation.deleted == ["default/low"]
    record = release_record(failed)
    assert record is not None
    (hint,) = record.waiting
    assert next((plugin, text) for plugin, _, text in hint.events) == (
        "NodeAffinity",
        "a node with disk=nvme is added, or a node's labels change to that",
    )
    woken = release_record(cycles[4])
    assert woken is not None
    assert ("NodeUpdateNodeLabel", "active") in [(m["event"], m["to"]) for m in woken.moves]


def test_replay_and_fork_reach_the_same_cycles() -> None:
    """Decisions replayed on a copy, and steps of a fork, are those of the run; nothing is shared."""
    scenario = load(NODES + PODS + SCHEDULER)
    whole = simulate(scenario)
    traces = [trace_cycle(cycle) for cycle in whole]
    again = simulate(scenario, trace=False)
    again.replay(whole.decisions[:2])
    fork = again.fork(trace=True)
    assert isinstance(fork, V1_37Simulation)
    assert [trace_cycle(cycle) for cycle in fork] == traces[2:]
    assert again.index == 2
    again.replay(whole.decisions[2:])
    assert again.placement() == whole.placement() == fork.placement()
    with pytest.raises(ValueError, match="no pod is left"):
        again.replay(whole.decisions[:1])


def test_a_daemon_that_fits_nowhere_is_pending_with_its_reason() -> None:
    """The scheduler places the pods of DaemonSets: one too large waits, where v1.11 creates none."""
    daemon = """
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "5"}}}]}
"""
    (cycle,) = simulate(load(NODES + daemon + SCHEDULER))
    assert cycle.result == "unschedulable"
    assert (cycle.message or "").startswith(
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )
    assert not list(simulate(load(NODES + daemon, presumed="v1.11")))


def test_sidecars_pod_level_requests_and_limits_count() -> None:
    """A pod's requests are the API server's: from limits where none are given, with sidecars."""
    pods = """
---
apiVersion: v1
kind: Pod
metadata: {name: sidecar}
spec:
  initContainers: [{name: s, image: i, restartPolicy: Always, resources: {limits: {cpu: "2"}}}]
  containers: [{name: c, image: i, resources: {limits: {cpu: "2"}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: next}
spec: {resources: {limits: {cpu: 100m}}, containers: [{name: c, image: i}]}
"""
    first, second = simulate(load(NODES + pods + SCHEDULER))
    assert (first.node, second.result) == ("n1", "unschedulable")
    assert "1 Insufficient cpu" in (second.message or "")


@pytest.mark.parametrize("minor", [0, 1, 2])
def test_an_operation_lands_after_as_many_cycles_as_it_says(minor: int) -> None:
    """Not one later: the cycle after it is the first of the next step."""
    pods = "".join(
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}}}\n"
        "spec: {containers: [{name: c}]}\n"
        for number in range(3)
    )
    history = (
        "---\nkind: Scenario\nspec:\n  operations:\n"
        f"  - step: {{major: 1, minor: {minor}}}\n    createOperation:\n      object: "
        "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}\n"
    )
    steps = [cycle.step for cycle in simulate(load(NODES + pods + SCHEDULER + history))]
    assert steps == [f"1.{at + 1}" for at in range(minor)] + [f"2.{at + 1}" for at in range(3 - minor)]


@pytest.mark.parametrize(
    ("until", "tried"),
    [
        (None, ["high", "low", "late", "late"]),
        (40, ["high", "low", "late", "late"]),
        (30, ["high", "low", "late"]),  # the operation takes a millisecond
        (29.9, ["high", "low", "late"]),
        (0.007, ["high", "low"]),
    ],
)
def test_the_run_ends_with_the_second_that_the_settings_name(until: float | None, tried: list[str]) -> None:
    """No later operation lands and no later cycle begins."""
    history = """
---
kind: Scenario
spec:
  operations:
  - time: 30
    step: 1
    patchOperation:
      typeMeta: {kind: Node}
      objectMeta: {name: n1}
      patch: {metadata: {labels: {disk: nvme}}}
"""
    pods = "".join(
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\n"
        f"spec: {{priority: {priority}, {selector}containers: [{{name: c}}]}}\n"
        for name, priority, selector in (
            ("late", -1, "nodeSelector: {disk: nvme}, "),
            ("low", 0, ""),
            ("high", 1, ""),
        )
    )
    settings = SCHEDULER + ("" if until is None else f"until: {until}\n")
    scenario = load(NODES + pods + settings + history)
    assert not any("until" in warning.message for warning in scenario.warnings)
    assert [cycle.pod.removeprefix("default/") for cycle in simulate(scenario)] == tried


def test_a_pod_that_cannot_be_scored_backs_off_for_the_configured_time() -> None:
    """Without PreScore, TaintToleration ends the attempt by error; the pod comes back by time alone."""
    configuration = """
---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
podInitialBackoffSeconds: 7
podMaxBackoffSeconds: 60
profiles: [{plugins: {preScore: {disabled: [{name: TaintToleration}]}}}]
"""
    pods = """
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {tolerations: [{operator: Exists}], containers: [{name: c, image: i}]}
---
kind: Scenario
spec:
  operations:
  - time: 3
    patchOperation:
      typeMeta: {kind: Node}
      objectMeta: {name: n1}
      patch: {metadata: {labels: {disk: nvme}}}
"""
    scenario = load(NODES + pods + configuration + SCHEDULER)
    assert not scenario.warnings
    cycles = list(simulate(scenario))
    assert [int(cycle.time) for cycle in cycles] == [0, 8]
    kept = release_record(cycles[1])
    assert kept is not None
    assert "PreScoreTaintToleration" in str(kept.attempts[0].message)


def test_an_untraced_run_and_its_forks_count_pods_when_they_are_read() -> None:
    """Placements and usage of nodes are those of a traced run, in a fork that goes on and in its parent."""
    traced = simulate(load(NODES + PODS + SCHEDULER))
    expected = [cycle.decision for cycle in traced]
    run = simulate(load(NODES + PODS + SCHEDULER), trace=False)
    run.step()
    fork = run.fork(trace=False)
    for one in (fork, run):
        while one.step() is not None:
            pass
        assert one.decisions == expected
        assert one.placement() == traced.placement()
        assert one.cluster.used.tolist() == traced.cluster.used.tolist()
