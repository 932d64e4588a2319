"""Pods scheduled under a KubeSchedulerConfiguration: filters, scores, profiles by name, and restarts."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from scheduler_core import BundleError, Simulation, load
from scheduler_core.__main__ import main
from scheduler_core.explain import explain
from scheduler_core.record.cycle import Cycle
from scheduler_core.scenario.history import Moment, manifest_at

ROOM = "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}"
HALF = "containers: [{name: c, resources: {requests: {cpu: 2, memory: 4Gi}}}]"
NODES = f"""\
apiVersion: v1
kind: List
items:
- {{apiVersion: v1, kind: Node, metadata: {{name: busy, labels: {{pool: a}}}}, {ROOM}}}
- {{apiVersion: v1, kind: Node, metadata: {{name: idle, labels: {{pool: b}}}}, {ROOM}}}
- {{apiVersion: v1, kind: Pod, metadata: {{name: there}}, spec: {{nodeName: busy, {HALF}}}}}
"""
OBJECT = "typeMeta: {kind: KubeSchedulerConfiguration, apiVersion: kubescheduler.config.k8s.io/v1}"
FRAMEWORK = "apiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.22\n"
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PACKING = """\
- schedulerName: packer
  plugins: {score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit}]}}
  pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]
"""


def pod(name: str, spec: str = "", scheduler: str = "", priority: int = 0, cpu: str = "1") -> str:
    """Return a pending pod's manifest."""
    fields = f"priority: {priority}, containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]"
    fields += f", schedulerName: {scheduler}" if scheduler else ""
    fields += f", {spec}" if spec else ""
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{{fields}}}\n"


SCENARIO = """\
kind: Scenario
apiVersion: podstep/v1
spec:
  operations:
"""


def operation(step: int, action: str) -> str:
    """Return one operation of a scenario."""
    return f"  - {{id: o{step}{len(action)}, step: {step}, {action}}}\n"


def run(*documents: str) -> dict[str, Cycle]:
    """Simulate a bundle, and return each pod's last cycle by name."""
    scenario = load("---\n".join(documents))
    return {cycle.pod.removeprefix("default/"): cycle for cycle in Simulation(scenario)}


def test_each_pod_is_scheduled_by_the_profile_that_it_names() -> None:
    """One cluster, two profiles: one spreads, one packs, and a third scheduler's pod is left alone."""
    configuration = HEAD + "profiles:\n- schedulerName: default-scheduler\n" + PACKING
    pods = [pod("a"), pod("b", scheduler="packer"), pod("c", scheduler="somebody")]
    cycles = run(NODES, configuration, *pods)
    assert {name: cycle.node for name, cycle in cycles.items()} == {"a": "idle", "b": "busy"}
    assert [row.name for row in cycles["b"].priorities] == ["MostRequestedPriority"]
    assert len(cycles["a"].priorities) == 7


def test_without_the_default_scheduler_its_pods_wait_for_another() -> None:
    """A configuration of one other name leaves pods without schedulerName alone."""
    assert not run(NODES, HEAD + "profiles:\n" + PACKING, pod("a"))


def test_replaying_and_forking_follow_the_profiles() -> None:
    """Decisions under several profiles are replayed to the same state, and a fork goes on alike."""
    configuration = HEAD + "profiles:\n- schedulerName: default-scheduler\n" + PACKING
    pods = [pod(f"p{n}", scheduler="packer" if n % 2 else "", cpu="500m") for n in range(8)]
    scenario = load("---\n".join([NODES, configuration, *pods]))
    straight = Simulation(scenario)
    fork = None
    for cycle in straight:
        if cycle.index == 3:
            fork = straight.fork(trace=False)
    replayed = Simulation(scenario, trace=False)
    replayed.replay(straight.decisions)
    assert fork is not None
    assert [cycle.pod for cycle in fork] == [decision.pod for decision in straight.decisions[3:]]
    assert straight.placement() == replayed.placement() == fork.placement()


def test_predicates_run_in_the_order_of_the_filter_plugins() -> None:
    """The order is the list's, not v1.11's static one."""
    plugins = '{disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit}, {name: NodeName}]}'
    cycle = run(NODES, f"{HEAD}profiles: [{{plugins: {{filter: {plugins}}}}}]\n", pod("a"))["a"]
    assert cycle.order == ("PodFitsResources", "HostName")


CORDONED = (
    f"{{apiVersion: v1, kind: Node, metadata: {{name: node}}, spec: {{unschedulable: true}}, {ROOM}}}\n"
)


def test_a_cordon_is_tolerated_like_a_taint() -> None:
    """NodeUnschedulable lets a pod pass that tolerates node.kubernetes.io/unschedulable."""
    tolerant = pod("b", "tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}]")
    cycles = run(CORDONED, HEAD, pod("a"), tolerant)
    assert cycles["b"].node == "node"
    assert cycles["a"].message == "0/1 nodes are available: 1 node(s) were unschedulable."


def test_conditions_are_left_to_taints() -> None:
    """A node that is not ready and has no taint takes pods, as with every kube-scheduler since 1.17."""
    node = "{apiVersion: v1, kind: Node, metadata: {name: node}, status: {allocatable: {cpu: 4, pods: 10}, "
    node += "conditions: [{type: Ready, status: 'False'}]}}\n"
    assert run(node, HEAD, pod("a"))["a"].node == "node"
    assert run(node, pod("a"))["a"].node is None


def test_added_affinity_keeps_pods_on_its_nodes() -> None:
    """NodeAffinityArgs.addedAffinity refuses nodes that none of its terms matches, whatever the pod says."""
    term = "{matchExpressions: [{key: pool, operator: In, values: [a]}]}"
    added = f"{{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}}}"
    config = f"profiles: [{{pluginConfig: [{{name: NodeAffinity, args: {{addedAffinity: {added}}}}}]}}]\n"
    cycle = run(NODES, HEAD + config, pod("a"))["a"]
    assert cycle.node == "busy"
    assert cycle.matrix is not None
    assert ["node(s) didn't match scheduler-enforced node affinity"] in [
        list(r) for r in cycle.matrix.reasons
    ]


@pytest.mark.parametrize(
    ("ignored", "fits"),
    [
        ("ignoredResources: [example.com/gpu]", True),
        ("ignoredResourceGroups: [example.com]", True),
        ("ignoredResources: [example.com/fpga]", False),
    ],
)
def test_ignored_resources_are_not_checked(ignored: str, fits: bool) -> None:
    """An extended resource that is ignored, by name or by group, keeps no pod away."""
    config = f"profiles: [{{pluginConfig: [{{name: NodeResourcesFit, args: {{{ignored}}}}}]}}]\n"
    wanting = pod("a").replace("cpu: 1", "cpu: 1, example.com/gpu: 1")
    assert (run(NODES, HEAD + config, wanting)["a"].node is not None) is fits


def test_without_default_preemption_nobody_makes_room() -> None:
    """A profile without DefaultPreemption deletes no pod; one with it does."""
    off = "profiles: [{plugins: {postFilter: {disabled: [{name: DefaultPreemption}]}}}]\n"
    high = pod("high", priority=100, cpu="4")
    spec = "spec: {priority: 500, containers: [{name: c, resources: {requests: {cpu: 4}}}]}"
    created = f"createOperation: {{object: {{apiVersion: v1, kind: Pod, metadata: {{name: late}}, {spec}}}}}"
    late = SCENARIO + operation(1, created)
    assert run(NODES, HEAD, high, late)["late"].node is not None
    cycle = run(NODES, HEAD + off, high, late)["late"]
    assert (cycle.node, cycle.preemption, cycle.decision.victims) == (None, None, ())
    assert "preemption" not in cycle.phases


def test_a_policy_and_a_configuration_in_one_bundle_are_an_error() -> None:
    """Both say what the scheduler runs; so do two configurations."""
    with pytest.raises(
        BundleError, match="a KubeSchedulerConfiguration and a Policy both configure"
    ) as found:
        load(f"{NODES}---\n{HEAD}---\napiVersion: v1\nkind: Policy\n")
    assert found.value.problems[0].line == 9
    with pytest.raises(BundleError, match="a second KubeSchedulerConfiguration"):
        load(f"{NODES}---\n{HEAD}---\n{HEAD}")


def test_the_command_takes_a_configuration_in_place_of_the_bundle_s_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--config FILE`` exchanges a Policy for a KubeSchedulerConfiguration; its warnings name the file."""
    bundle, config = tmp_path / "bundle.yaml", tmp_path / "config.yaml"
    bundle.write_text("---\n".join([NODES, "apiVersion: v1\nkind: Policy\npriorities: []\n", pod("a")]))
    text = HEAD + "profiles:\n" + PACKING.replace("packer", "default-scheduler")
    config.write_text(text.replace("k8s.io/v1\n", "k8s.io/v1beta3\n"))
    assert main(["simulate", str(bundle), "--config", str(config)]) == 0
    out = capsys.readouterr()
    (row,) = (line for line in out.out.splitlines() if line.split()[:1] in (["a"], ["default/a"]))
    assert "busy" in row
    assert f"{config}:4: profiles[0]: at filter evaluated by v1.11's rules" in out.err


def test_an_operation_puts_another_configuration_in_force() -> None:
    """Patched at a step, the configuration restarts the scheduler, which then scores by the new one."""
    patch = "plugins: {score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit}]}}, pluginConfig: "
    patch += "[{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]"
    changed = f"patchOperation: {{{OBJECT}, patchType: merge, patch: {{profiles: [{{{patch}}}]}}}}"
    spec = "spec: {containers: [{name: c, resources: {requests: {cpu: 500m}}}]}"
    created = f"createOperation: {{object: {{apiVersion: v1, kind: Pod, metadata: {{name: b}}, {spec}}}}}"
    scenario = SCENARIO + operation(1, changed) + operation(2, created)
    cycles = run(NODES, HEAD, scenario, pod("a"))
    assert cycles["a"].node == "idle"
    assert cycles["b"].node == "busy"
    assert cycles["b"].restart is not None


def test_an_operation_cannot_put_a_policy_beside_the_configuration() -> None:
    """One has to be deleted before the other is created."""
    policy = "createOperation: {object: {apiVersion: v1, kind: Policy}}"
    deleted = f"deleteOperation: {{{OBJECT}}}"
    with pytest.raises(BundleError, match="KubeSchedulerConfiguration is in force at this step: delete it"):
        load("---\n".join([NODES, HEAD, SCENARIO + operation(1, policy)]))
    scenario = load("---\n".join([NODES, HEAD, SCENARIO + operation(1, deleted) + operation(2, policy)]))
    last = scenario.operations[-1].configuration
    assert last is not None
    assert last.policy == {"apiVersion": "v1", "kind": "Policy"}
    assert last.framework is None


def test_the_framework_is_kept_for_who_runs_it() -> None:
    """A scenario has the compiled profiles, waiting at Permit included; a Policy's has none."""
    gang = """\
    profiles:
    - plugins:
        multiPoint: {enabled: [{name: Coscheduling}]}
        queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
    """
    scenario = load("---\n".join([NODES, HEAD + dedent(gang), FRAMEWORK, pod("a")]))
    assert scenario.configuration.framework is not None
    assert scenario.configuration.framework.main.names("permit") == ("Coscheduling",)
    assert load(NODES).configuration.framework is None


def test_explaining_asks_the_profile_of_the_pod() -> None:
    """A pod is explained by the predicates of its own profile."""
    plugins = '{disabled: [{name: "*"}], enabled: [{name: NodeName}]}'
    config = "profiles:\n- schedulerName: default-scheduler\n"
    config += f"- {{schedulerName: loose, plugins: {{filter: {plugins}}}}}\n"
    large = [pod("strict", cpu="40"), pod("loose", scheduler="loose", cpu="40")]
    scenario = load("---\n".join([NODES, HEAD + config, *large]))
    assert explain(scenario, "default/strict").state == "pending"
    assert explain(scenario, "default/loose").state == "placed"


def test_a_configuration_can_be_looked_at_at_any_step() -> None:
    """An older version is found as it was given, and as an operation left it."""
    old = HEAD.replace("/v1", "/v1beta2")
    changed = f"patchOperation: {{{OBJECT}, patchType: merge, patch: {{parallelism: 4}}}}"
    scenario = load("---\n".join([NODES, old, SCENARIO + operation(1, changed), pod("a")]))
    key = ("KubeSchedulerConfiguration", "KubeSchedulerConfiguration")
    first, last = (manifest_at(scenario, key, Moment(major, 0)) for major in (1, 2))
    assert first == {"apiVersion": "kubescheduler.config.k8s.io/v1beta2", "kind": key[0]}
    assert last == {**first, "parallelism": 4}
