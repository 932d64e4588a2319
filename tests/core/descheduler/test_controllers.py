"""The descheduler of a bundle in a living cluster of v1.37: passes, events, what a run reports."""

# ruff: noqa: E501  (policies and messages stand on one line, as they are written)
from __future__ import annotations

import json
from collections import Counter

import jsonschema
import pytest

from scheduler_core import load
from scheduler_core.cli.descheduler_report import descheduler_lines
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.record.plugin_record import TimelineMark
from scheduler_core.run.several.descheduler_record import IDLE_PASS, PASS
from scheduler_core.run.several.lone import LoneSimulation
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.run.trace import trace_line
from scheduler_core.run.trace_schema import schema
from scheduler_core.scenario.scenario import Scenario

LOW = "{thresholds: {cpu: 30}, targetThresholds: {cpu: 50}}"
POLICY = """
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: default
  pluginConfig:
  - {name: DefaultEvictor, args: {}}
  - {name: LowNodeUtilization, args: %s}
  plugins: {balance: {enabled: [LowNodeUtilization]}}
"""
CLUSTER = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: m, image: i, resources: {requests: {cpu: 150m}}}]}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "1", memory: 1Gi, pods: "10"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: podstep/v1
kind: Scenario
spec:
  operations:
  - id: grow
    time: 30
    createOperation:
      object:
        apiVersion: v1
        kind: Node
        metadata: {name: n2}
        status: {allocatable: {cpu: "1", memory: 1Gi, pods: "10"}, conditions: [{type: Ready, status: "True"}]}
"""
PACKING = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {score: {disabled: [{name: PodTopologySpread}, {name: NodeResourcesBalancedAllocation}]}}
  pluginConfig:
  - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}
"""
BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: all, namespace: default}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
"""


def bundle(
    *more: str,
    settings: str = "interval: 60s",
    policy: str = POLICY % LOW,
    cpu: str = "150m",
    history: str = "",
) -> Scenario:
    """Return six pods on one node, beside which an empty one comes, with a descheduler."""
    given = f"apiVersion: podstep/v1\nkind: SimulationSettings\ndescheduler: {{{settings}}}\n"
    return load("\n---\n".join((given, policy, CLUSTER.replace("150m", cpu) + history, *more)))


def ran(scenario: Scenario) -> tuple[LoneSimulation, list[tuple[str, str]]]:
    """Run a scenario to its end; return it with the events about evictions."""
    made, found = LoneSimulation(scenario), []
    while (cycle := made.step()) is not None:
        found += [
            (one.reason, one.message)
            for one in cycle.events
            if one.reason in ("Descheduled", "EvictionRefused")
        ]
    return made, found


def nodes_of(made: TimedSimulation) -> Counter[str]:
    """Return how many pods each node has."""
    return Counter(pod.node_name for pod in made.framework.pods.values())


def test_evicted_pods_are_replaced_on_the_emptier_node() -> None:
    """The event names strategy and reason; the report the spread before and after."""
    made, events = ran(bundle())
    assert nodes_of(made) == {"n1": 3, "n2": 3}
    assert ("Descheduled", "LowNodeUtilization: node n1 has 90% of its cpu requested") in events
    assert made.descheduler is not None
    assert list(descheduler_lines(made.descheduler)) == [
        "\nDescheduler: 2 passes, 3 evictions (LowNodeUtilization 3), 0 refused by a budget",
        "  requests of nodes differ by cpu 90 → 0%, memory 0 → 0%",
        "  LowNodeUtilization in the last pass: no node is underutilized",
    ]


def test_a_scheduler_that_disagrees_makes_ping_pong() -> None:
    """Which is named as such, and ends with the passes that the settings allow."""
    made, _ = ran(bundle(PACKING, settings="interval: 60s, passes: 4", cpu="100m, memory: 10Mi"))
    assert made.descheduler is not None
    lines = list(descheduler_lines(made.descheduler))
    assert nodes_of(made) == {"n1": 6}
    (returned,) = [line for line in lines if "ping-pong" in line]
    assert "came back to n1 and were evicted again, 3 times" in returned
    assert lines[-1] == "  it rests after 4 passes, as the settings say (descheduler.passes)"


def test_budgets_refuse_evictions() -> None:
    """One pod at a time may be missing, so that a pass evicts one."""
    made, events = ran(bundle(BUDGET, settings="interval: 60s, passes: 1"))
    assert nodes_of(made) == {"n1": 5, "n2": 1}
    refused = [message for reason, message in events if reason == "EvictionRefused"]
    assert len(refused) == 5 and all("does not allow evicting pods currently" in one for one in refused)


ASKING = """\
  - id: ask
    time: 45
    patchOperation:
      typeMeta: {kind: Node, apiVersion: v1}
      objectMeta: {name: n1}
      patch: {metadata: {annotations: {podstep/deschedule: "45"}}}
"""


def test_a_pass_is_made_on_demand() -> None:
    """At a node's annotation, which goes with it; without a descheduler that fails with an event."""
    made, events = ran(bundle(settings="interval: 1h", history=ASKING))
    assert nodes_of(made) == {"n1": 3, "n2": 3} and len(events) == 3
    assert made.descheduler is not None and made.descheduler.passes[0].time == 45
    assert "podstep/deschedule" not in made.framework.cluster.nodes["n1"].meta.annotations

    without, _ = ran(load(CLUSTER + ASKING))
    assert without.descheduler is None and nodes_of(without) == {"n1": 6}
    assert "podstep/deschedule" not in without.framework.cluster.nodes["n1"].meta.annotations


def test_a_dry_run_evicts_nothing() -> None:
    """And reports what it would have evicted."""
    made, events = ran(bundle(settings="interval: 60s, dryRun: true"))
    assert nodes_of(made) == {"n1": 6} and events == []
    assert made.descheduler is not None
    line = next(iter(descheduler_lines(made.descheduler)))
    assert "3 evictions that a dry run would have made (LowNodeUtilization 3)" in line


def test_replays_and_forks_end_alike() -> None:
    """A fork of the middle has its own descheduler, with what it did before."""
    scenario = bundle(PACKING, settings="interval: 60s, passes: 3", cpu="100m, memory: 10Mi")
    made, _ = ran(scenario)
    again = LoneSimulation(scenario, trace=False)
    again.replay(made.decisions[: made.index // 2])
    forked = again.fork(trace=True)
    for other in (again, forked):
        other.replay(made.decisions[made.index // 2 :])
        assert other.step() is None
        assert other.descheduler is not None and made.descheduler is not None
        assert [one.record for one in other.descheduler.passes] == [
            one.record for one in made.descheduler.passes
        ]
        assert other.descheduler.returns == made.descheduler.returns


def test_classic_policies_run_with_their_flags() -> None:
    """As v0.9.0; with younger parts as v0.28 converted them, which is said."""
    text = "apiVersion: descheduler/v1alpha1\nkind: DeschedulerPolicy\nstrategies: {RemoveDuplicates: {enabled: true%s}}\n"
    made, events = ran(
        bundle(settings="interval: 60s, passes: 1, maxPodsToEvictPerNode: 2", policy=text % "")
    )
    assert len(events) == 2 and made.descheduler is not None
    assert made.descheduler.passes[0].record.edition == "v0.9.0"
    scenario = bundle(policy=text % ", params: {nodeFit: true}")
    assert [one.message for one in scenario.warnings] == [
        "v0.9.0 does not know RemoveDuplicates.params.nodeFit: the policy runs as v0.28 converted it, by plugins"
    ]


@pytest.mark.parametrize(
    ("settings", "policy", "line", "message"),
    [
        ("interval: 60s", POLICY % "{thresholds: {cpu: 120}, targetThresholds: {cpu: 50}}", 13,
         "in profile default: thresholds config is not valid: cpu threshold not in [0, 100] range"),
        ("interval: 60s", POLICY.replace("LowNode", "LoNode") % LOW, 13,
         "in profile default: plugin LoNodeUtilization in pluginConfig not registered: known are DefaultEvictor"),
        ("interval: 60s", "kind: DeschedulerPolicy\napiVersion: descheduler/v1\n", 7,
         'no kind "DeschedulerPolicy" is registered for version "descheduler/v1": write descheduler/v1alpha2'),
        ("interval: soon", POLICY % LOW, 3, "must be a duration such as 30s or 1h30m, not 'soon'"),
        ("interval: 60s, nodeSelector: a=b=c", POLICY % LOW, 3, "is no part of a label query"),
    ],
)  # fmt: skip
def test_what_cannot_run_is_refused(settings: str, policy: str, line: int, message: str) -> None:
    """With the line of the policy, upstream's words, and a remedy."""
    with pytest.raises(BundleError) as refused:
        bundle(settings=settings, policy=policy)
    problem = refused.value.problems[0]
    assert message in problem.message, problem
    assert problem.line == line


def test_what_does_not_run_is_said() -> None:
    """A policy without settings, settings without a policy, another release, usage by metrics."""
    without = load("\n---\n".join((POLICY % LOW, CLUSTER)))
    assert without.descheduler is None
    assert "SimulationSettings without descheduler do not run it" in without.warnings[0].message
    assert "nothing runs without a DeschedulerPolicy" in bundle(policy=BUDGET).warnings[0].message
    older = load("\n---\n".join((
        "kind: SimulationSettings\nscheduler: v1.11\ndescheduler: {}\n", POLICY % LOW, CLUSTER,
    )))  # fmt: skip
    assert "the descheduler has no effect under v1.11" in older.warnings[0].message
    grace = bundle(policy=POLICY % LOW + "gracePeriodSeconds: 5\n")
    assert "gracePeriodSeconds is not simulated" in grace.warnings[0].message
    metrics = bundle(policy=POLICY % LOW.replace("}}", "}, metricsUtilization: {source: KubernetesMetrics}}"))
    assert "usage by metrics is not simulated" in metrics.warnings[0].message


def test_a_trace_line_has_the_passes_since_the_one_before() -> None:
    """Each with what it evicted and why; lines between two passes have none, and all keep to the schema."""
    lines = [json.loads(trace_line(cycle)) for cycle in LoneSimulation(bundle())]
    (found,) = [line["descheduling"] for line in lines if line["descheduling"]]
    (done,) = found
    assert (done["number"], done["time"], done["cause"], done["dryRun"]) == (1, 60.0, "every 60 s", False)
    assert done["spread"]["cpu"] == 90.0
    (strategy,) = done["strategies"]
    assert strategy["outcomes"] == {"evicted": 3, "kept": 3}
    assert [one["node"] for one in strategy["evictions"]] == ["n1"] * 3
    assert [one["reason"] for one in strategy["evictions"]] == [
        f"node n1 has {share}% of its cpu requested" for share in (90, 75, 60)
    ]
    for line in lines:
        jsonschema.validate(line, schema())


def test_a_pass_is_a_mark_with_what_it_did_and_why() -> None:
    """Once, also where cycles are recorded lightly or are decided again."""
    wanted = {
        TimelineMark(PASS, "1", "evicts 3 (LowNodeUtilization 3): node n1 has 90% of its cpu requested"): 1
    }
    for trace in (True, False):
        cycles = list(LoneSimulation(bundle(), trace=trace))
        assert Counter(mark for cycle in cycles for one in cycle.plugins for mark in one.marks) == wanted
    made = LoneSimulation(bundle())
    made.replay(cycle.decision for cycle in LoneSimulation(bundle()))
    assert made.done
    refused = LoneSimulation(bundle(BUDGET, settings="interval: 60s, passes: 1"))
    (mark,) = [mark for cycle in refused for one in cycle.plugins for mark in one.marks]
    assert mark.state.startswith("evicts 1 (LowNodeUtilization 1), 5 refused by a budget: node n1 has")


def test_a_pass_that_was_asked_for_and_finds_nothing_says_so() -> None:
    """By the node's name; it is another kind of mark."""
    asked = """
  - id: ask
    time: 40
    patchOperation:
      typeMeta: {kind: Node}
      objectMeta: {name: n2}
      patch: '{"metadata": {"annotations": {"podstep/deschedule": "now"}}}'
  - id: later
    time: 50
    createOperation: {object: {apiVersion: v1, kind: Pod, metadata: {name: late}, spec: {containers: [{name: c}]}}}
"""
    scenario = bundle(policy=POLICY % "{thresholds: {cpu: 0}, targetThresholds: {cpu: 95}}", history=asked)
    marks = [mark for cycle in LoneSimulation(scenario) for one in cycle.plugins for mark in one.marks]
    assert [(mark.kind, mark.about) for mark in marks] == [(IDLE_PASS, "1")]
    assert marks[0].state.startswith("evicts nothing: ")
    made, _ = ran(scenario)
    assert made.descheduler is not None and made.descheduler.passes[0].cause == "asked for at n2"
