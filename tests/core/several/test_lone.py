"""kube-scheduler v1.37 by itself with controllers: when they run, and what comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as tried

from scheduler_core import load
from scheduler_core.explain import explain
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run import Stepper, is_timed_run, simulate
from scheduler_core.run.several.lone import LoneSimulation, LoneStepper
from scheduler_core.run.several.simulation import SeveralSimulation
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.schedulers.extenders.record import extender_record
from tests.core.extenders.parts import answers, calls, configuration, extender, replays
from tests.core.extenders.parts import pod as extended
from tests.core.extenders.parts import scenario as extending
from tests.core.several.test_v1_37 import APART, histories, named, node, nodes, pod, pods
from tests.core.trials import trials
from tests.core.v1_37.parts import GANG
from tests.core.v1_37.test_claim_templates import HEAD, OPERATIONS, TEMPLATE
from tests.core.v1_37.test_claim_templates import pod as claiming

ALONE: dict[str, Any] = {"kind": "SimulationSettings", "scheduler": "v1.37"}
VIRTUAL = {**ALONE, "time": "virtual"}
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "set", "uid": "u", "controller": True}
OWNED = {"ownerReferences": [OWNER]}


def bundle(*documents: dict[str, Any]) -> str:
    """Return a bundle's text."""
    return "\n---\n".join(map(json.dumps, documents))


def deployment(replicas: int, cpu: int, **spec: Any) -> dict[str, Any]:
    """Return a Deployment ``web`` whose pods request so many tenths of a CPU."""
    made = pod(cpu, "web", 0, spec)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": made["spec"]},
        },
    }


def target(kind: str, name: str) -> dict[str, Any]:
    """Return the part of an operation that names an object."""
    version = "apps/v1" if kind == "Deployment" else "v1"
    return {"typeMeta": {"apiVersion": version, "kind": kind}, "objectMeta": {"name": name}}


def deleting(kind: str, name: str) -> dict[str, Any]:
    """Return an operation that deletes an object at 60 s."""
    return {"time": 60, "deleteOperation": target(kind, name)}


def patching(kind: str, name: str, patch: dict[str, Any]) -> dict[str, Any]:
    """Return an operation that patches an object at 60 s."""
    return {"time": 60, "patchOperation": {**target(kind, name), "patch": json.dumps(patch)}}


def history(*operations: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """Return a Scenario document."""
    return {"kind": "Scenario", "spec": {"operations": list(operations), **spec}}


def annotated(document: dict[str, Any], **notes: str) -> dict[str, Any]:
    """Return an object with podstep's annotations."""
    given = {f"podstep/{name.replace('_', '-')}": value for name, value in notes.items()}
    return {**document, "metadata": {**document["metadata"], "annotations": given}}


def ran(*documents: dict[str, Any]) -> LoneSimulation:
    """Return a run with controllers that has come to its end."""
    made = simulate(load(bundle(*documents)))
    assert isinstance(made, LoneSimulation)
    list(made)
    return made


(BARE,) = pods(1, 1)
(FAILS,) = named([annotated(node("", 4, "a", ""), fails_at="9")], "n")
SET = {**deployment(1, 1), "kind": "ReplicaSet", "metadata": {"name": "set", "uid": "u"}}
TAINT = {"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}}
LABEL = {"metadata": {"labels": {"a": "b"}}}


@pytest.mark.parametrize(
    ("lives", "documents"),
    [
        (False, [BARE]),
        (False, [deployment(2, 1)]),
        (False, [BARE, history(deleting("Pod", "p0"))]),
        (False, [BARE, history(deleting("Node", "n0"))]),
        (False, [deployment(2, 1), history(patching("Node", "n0", LABEL))]),
        (False, [deployment(2, 1), BARE, history(deleting("Pod", "p0"))]),
        (False, [deployment(2, 1), history(deleting("Node", "n0"), controllers=[])]),
        (True, [BARE, VIRTUAL]),
        (True, [annotated(BARE, run_seconds="5")]),
        (True, [BARE, FAILS]),
        (True, [BARE, history(patching("Node", "n0", TAINT))]),
        (True, [deployment(2, 1), history(deleting("Node", "n0"))]),
        (False, [{**BARE, "metadata": {**BARE["metadata"], **OWNED}}, history(deleting("Pod", "p0"))]),
        (True, [{**BARE, "metadata": {**BARE["metadata"], **OWNED}}, SET, history(deleting("Pod", "p0"))]),
        (True, [deployment(2, 1), history(deleting("Deployment", "web"))]),
        (True, [deployment(2, 1), history(patching("Deployment", "web", {"spec": {"replicas": 3}}))]),
        (True, [BARE, history({"time": 9, "createOperation": {"object": deployment(2, 1)}})]),
    ],
)
def test_controllers_run_where_they_have_something_to_do(
    lives: bool, documents: list[dict[str, Any]]
) -> None:
    """And nowhere else: a scenario without it is stepped through as ever."""
    settings = () if VIRTUAL in documents else (ALONE,)
    around = () if FAILS in documents else nodes(1)
    scenario = load(bundle(*settings, *around, *documents))
    assert scenario.release == "v1.37"
    assert scenario.row.is_timed == is_timed_run(simulate(scenario)) == lives


def decided(simulation: Stepper) -> tuple[list[Any], dict[str, str]]:
    """Return all decisions of a run, and where its pods are in the end."""
    return [cycle.decision for cycle in simulation], simulation.placement()


def effective(outcome: tuple[list[Any], dict[str, str]]) -> tuple[list[Any], dict[str, str]]:
    """Return a run's outcome without the attempts that came to nothing."""
    decisions, placement = outcome
    return [one for one in decisions if one.node is not None or one.victims], placement


@tried(max_examples=trials(40), deadline=None)
@given(documents=histories())
def test_by_itself_with_controllers_it_decides_as_without_them(documents: list[dict[str, Any]]) -> None:
    """API server, shared clock and kubelets change no decision about pods that nobody controls.

    But in a cluster victims of one preemption go one after the other, and each that goes has their preemptor
    tried again.
    """
    until = {"until": 30}
    *objects, recorded = documents
    played = history(*recorded["spec"]["operations"])
    static = V1_37Simulation(load(bundle({**ALONE, **until}, *objects, played)), trace=False)
    alike = decided(static)
    for listed in (recorded, played):
        living = simulate(load(bundle({**VIRTUAL, **until}, *objects, listed)), trace=False)
        assert isinstance(living, LoneStepper)
        found = decided(living)
        if isinstance(living, LoneSimulation):
            assert effective(found) == effective(alike)
        else:
            assert found == alike


def happened(made: LoneSimulation) -> list[TimelineEvent]:
    """Return all that happened in a run, from another one of its scenario."""
    again = simulate(made.scenario)
    found = [one for cycle in again for one in (*cycle.happenings, *cycle.consequences)]
    return found + list(again.rest.happenings if again.rest is not None else ())


def test_pods_of_a_deleted_node_come_back_and_the_counts_are_true() -> None:
    """Two of six pods are replaced where there is room, the rest are pending."""
    made = ran(ALONE, *nodes(3, cpu=2), deployment(6, 10), history(deleting("Node", "n0")))
    placed = sorted(made.placement().values())
    assert placed == ["", "", "n1", "n1", "n2", "n2"]
    assert len(made.deleted) == 2
    pending = [key for key, where in made.placement().items() if not where]
    assert all("2 Insufficient cpu" in made.messages[key] for key in pending)
    assert [cycle.result for cycle in simulate(made.scenario)][6:8] == ["unschedulable"] * 2
    assert made.rest is not None
    assert made.rest.queue.counts == {"active": 0, "backoff": 0, "unschedulable": 2, "gated": 0, "waiting": 0}


def test_pods_of_a_failed_node_are_evicted_and_replaced() -> None:
    """They are there until the node is found out and their tolerations end."""
    listed = nodes(2, cpu=4)
    made = ran(ALONE, listed[0], annotated(listed[1], fails_at="100"), deployment(4, 10))
    assert sorted(where for where in made.placement().values() if where != "n1") == ["n0"] * 4
    times = {one.what: one.time for one in happened(made)}
    assert times["NodeNotReady"] == pytest.approx(154.2)  # renewed at 100 s, seen 4.2 s later, then 50 s
    assert times["TaintManagerEviction"] >= times["NodeNotReady"] + 300


def test_a_rollout_without_room_stays_stuck() -> None:
    """A new pod finds no node, so no old one is taken down: maxUnavailable is 0."""
    web = deployment(2, 10, affinity=json.loads(json.dumps(APART).replace('"db"', '"web"')))
    web["spec"]["strategy"] = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    image = {"spec": {"template": {"metadata": {"labels": {"app": "web", "v": "2"}}}}}
    made = ran(ALONE, *nodes(2), web, history(patching("Deployment", "web", image)))
    assert sorted(made.placement().values()) == ["", "n0", "n1"]
    (pending,) = (key for key, where in made.placement().items() if not where)
    assert "anti-affinity" in made.messages[pending]
    assert explain(made, pending).state == "pending"


def test_a_pod_ends_and_the_next_takes_its_place() -> None:
    """A duration frees the node; the waiting pod is woken by the hint that a pod has left."""
    first, second = named([annotated(one, run_seconds="30") for one in pods(2, 40)], "p")
    made = ran(ALONE, *nodes(1, cpu=4), first, second)
    cycles = list(simulate(made.scenario))
    assert [(one.pod, one.result) for one in cycles] == [
        ("default/p0", "scheduled"),
        ("default/p1", "unschedulable"),
        ("default/p1", "scheduled"),
    ]
    assert cycles[2].time == pytest.approx(31, abs=0.1)  # it runs from the first second on
    record = release_record(cycles[2])
    assert record is not None
    assert [move["pod"] for move in record.moves] == ["default/p1"]


def test_a_cycle_is_recorded_as_without_controllers() -> None:
    """Filter matrix, scores, the scheduler's own record; no record of views, as there is one scheduler."""
    documents = (*nodes(3), *pods(2, 5))
    living = simulate(load(bundle(VIRTUAL, *documents)))
    static = simulate(load(bundle(ALONE, *documents)))
    for one, other in zip(living, static, strict=True):
        assert one.matrix is not None
        assert other.matrix is not None
        assert one.matrix.order == other.matrix.order
        assert one.matrix.codes.tolist() == other.matrix.codes.tolist()
        assert one.totals is not None
        assert other.totals is not None
        assert one.totals.tolist() == other.totals.tolist()
        assert [row.name for row in one.priorities] == [row.name for row in other.priorities]
        assert release_record(one) is not None
        assert one.view is None
        assert one.scheduler == ""


def test_replay_and_fork_go_on_as_the_run_did() -> None:
    """At every cycle of a life with a failing node and a deleted one."""
    listed = nodes(3, cpu=2)
    operations = history(deleting("Node", "n2"))
    scenario = load(
        bundle(ALONE, listed[0], annotated(listed[1], fails_at="9"), listed[2], deployment(5, 10), operations)
    )
    whole = decided(simulate(scenario))
    assert len(whole[0]) > 8
    for index in range(len(whole[0])):
        again = simulate(scenario, trace=False)
        again.replay(whole[0][:index])
        forked = again.fork(trace=True)
        for run in (again, forked):
            assert decided(run) == (whole[0][index:], whole[1])


GONE = "  - {step: 1, deleteOperation: {typeMeta: {kind: Pod}, objectMeta: {name: a}}}\n"
ENDED = (
    "  - {step: 1, patchOperation: {typeMeta: {kind: Pod}, objectMeta: {name: a}, "
    "patch: {status: {phase: Succeeded}}}}\n"
)
MADE = json.dumps(yaml.safe_load(claiming("c", priority=9).removeprefix("---")))
URGENT = f"  - {{step: 1, createOperation: {{object: {MADE}}}}}\n"


@pytest.mark.parametrize("operation", [GONE, ENDED, URGENT])
def test_devices_change_hands_as_without_controllers(operation: str) -> None:
    """Claims are made, allocated, freed and deleted alike, whichever run has the controller."""
    text = HEAD + TEMPLATE + claiming("a") + claiming("b") + OPERATIONS + operation
    virtual = text.replace("kind: SimulationSettings", "kind: SimulationSettings\ntime: virtual")
    static, living = (simulate(load(one)) for one in (text, virtual))
    assert isinstance(static, V1_37Simulation)
    assert isinstance(living, LoneStepper)
    every = decided(static)[0]
    assert decided(living)[0][: len(every)] == every
    assert devices(living) == devices(static)
    again = simulate(living.scenario, trace=False)
    again.replay(every[:2])
    forked = again.fork(trace=False)
    assert decided(forked)[1] == living.placement()
    assert isinstance(forked, LoneSimulation)
    assert devices(forked) == devices(living)


def devices(simulation: V1_37Simulation | LoneStepper) -> dict[str, str]:
    """Return the devices of each claim, by the owning pod; from the scheduler's own cluster."""
    out = {}
    for claim in simulation.run.cluster.list("ResourceClaim"):
        allocation = (claim.get("status") or {}).get("allocation") or {}
        results = (allocation.get("devices") or {}).get("results") or ()
        out[claim["metadata"]["ownerReferences"][0]["name"]] = " ".join(one["device"] for one in results)
    return out


def test_a_pod_that_comes_back_gets_a_device_of_its_own() -> None:
    """The claim of the evicted pod is freed and deleted, its successor's is made and allocated."""
    gpu: dict[str, Any] = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpus"}]}
    pod_of = target("Pod", "")
    web = deployment(1, 1, **gpu)
    text = f"{HEAD}{TEMPLATE}---\n{json.dumps(web)}\n"
    (first,) = simulate(load(text)).placement()
    pod_of["objectMeta"]["name"] = first.partition("/")[2]
    made = simulate(load(f"{text}---\n{json.dumps(history({'time': 60, 'deleteOperation': pod_of}))}\n"))
    assert isinstance(made, LoneSimulation)
    # the evicted pod holds its device until its kubelet has ended it, a second later
    assert [(one.pod == first, one.result) for one in made] == [
        (True, "scheduled"),
        (False, "unschedulable"),
        (False, "scheduled"),
    ]
    (second,) = made.placement()
    assert devices(made) == {second.partition("/")[2]: "gpu-0"}
    stored = made.completed({"metadata": {}}, made.cluster.pods[second].pod)
    assert stored["status"]["resourceClaimStatuses"][0]["name"] == "gpu"


ANSWERS = answers(
    {"verb": "filter", "pod": "*/large", "error": "down"},
    {"verb": "filter", "failed": {"b": "no"}},
    {"verb": "bind", "pod": "*/no", "error": "not today"},
    {"verb": "bind"},
)


def test_extenders_are_asked_as_without_controllers() -> None:
    """The same calls and decisions; a refused binding is the attempt's error, whichever run makes it."""
    asked = configuration(extender(filterVerb="filter", bindVerb="bind"))
    made = [extended(name) for name in ("no", "yes", "large")]
    static = list(V1_37Simulation(extending(ALONE, asked, ANSWERS, *made)))
    whole = extending({**VIRTUAL, "until": 5}, asked, ANSWERS, *made)
    cycles = list(LoneSimulation(whole))
    assert [one.decision for one in cycles[:3]] == [one.decision for one in static[:3]]
    assert [one.message for one in cycles[:3]] == [one.message for one in static[:3]]
    for one, other in zip(cycles[:3], static[:3], strict=True):
        assert [(call.verb, call.outcome) for call in calls(one)] == [
            (call.verb, call.outcome) for call in calls(other)
        ]
    replays(LoneSimulation, whole, cycles)


@pytest.mark.parametrize("delay", [0.0, 0.2])
def test_extenders_are_asked_beside_other_schedulers(delay: float) -> None:
    """For the pods of the schedulers that run v1.37, and again neither in a replay nor in a fork."""
    listed = [
        {"name": "default-scheduler", "runs": "v1.37", "watchDelay": 0.1, "bindDelay": delay},
        {"name": "second", "watchDelay": 0.1},
        {"name": "third", "runs": "v1.11", "watchDelay": 0.1},
    ]
    beside = {"kind": "SimulationSettings", "scheduler": "v1.22", "schedulers": listed, "until": 4}
    asked = configuration(extender(filterVerb="filter", bindVerb="bind"))
    made = [extended(name) for name in ("no", "yes", "large", "other", "old")]
    for one, name in zip(made[3:], ("second", "third"), strict=True):
        one["spec"]["schedulerName"] = name
    whole = extending(beside, asked, ANSWERS, *made)
    assert not any("not called" in problem.message for problem in whole.warnings)
    cycles = list(SeveralSimulation(whole))
    found = {cycle.pod: cycle for cycle in reversed(cycles)}
    static = {
        one.pod: one for one in reversed(list(V1_37Simulation(extending(ALONE, asked, ANSWERS, *made[:3]))))
    }
    for key, alone in static.items():
        assert (found[key].message, found[key].node) == (alone.message, alone.node)
        assert [(one.verb, one.outcome) for one in calls(found[key])] == [
            (one.verb, one.outcome) for one in calls(alone)
        ]
    assert all(extender_record(found[key]) is None for key in ("default/other", "default/old"))
    replays(SeveralSimulation, whole, cycles)


PACKER = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu"}]}},
                }
            ],
            "plugins": {"multiPoint": {"disabled": [{"name": "NodeResourcesBalancedAllocation"}]}},
        }
    ],
}


def test_a_new_configuration_restarts_the_scheduler_alone() -> None:
    """Controllers and the clock go on; pods are packed from then on, as in a run without controllers."""
    operations = history(
        {"step": 1, "createOperation": {"object": PACKER}},
        *({"step": 1, "createOperation": {"object": one}} for one in pods(4, 5, "late")),
    )
    documents = (*nodes(3), *pods(3, 5), operations)
    static = simulate(load(bundle(ALONE, *documents)))
    living = simulate(load(bundle(VIRTUAL, *documents)))
    assert isinstance(living, LoneStepper)
    cycles = list(living)
    assert [one.decision for one in cycles] == [one.decision for one in static]
    assert [one.restart.operations for one in cycles if one.restart is not None] == [("1",)]
    late = {node for key, node in living.placement().items() if "late" in key}
    assert len(late) == 1
    forked = simulate(living.scenario, trace=False)
    forked.replay([one.decision for one in cycles[:5]])
    assert decided(forked.fork(trace=False))[1] == living.placement()


GROUPS = {**VIRTUAL, "featureGates": {"GenericWorkload": True}}


def gang(name: str, count: int, seconds: int = 60, **spec: Any) -> list[dict[str, Any]]:
    """Return a PodGroup and the Job of its members, each of which takes half a CPU for some seconds."""
    made = pod(5, name, 0, {"schedulingGroup": {"podGroupName": name}, "restartPolicy": "Never", **spec})
    meta = {"annotations": {"podstep/run-seconds": str(seconds)}}
    template = {"metadata": meta, "spec": made["spec"]}
    group = {"schedulingPolicy": {"gang": {"minCount": count}}, **spec}
    job = {"parallelism": count, "completions": count, "template": template}
    kinds = (("scheduling.k8s.io/v1beta1", "PodGroup", group), ("batch/v1", "Job", job))
    return [
        {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": of}
        for version, kind, of in kinds
    ]


def test_gangs_of_jobs_run_one_after_the_other() -> None:
    """The second is placed in one cycle once pods of the first have ended, for which it backs off."""
    simulation = simulate(load(bundle(GROUPS, *nodes(2, 1), *gang("first", 3), *gang("second", 4))))
    cycles = list(simulation)
    assert isinstance(simulation, LoneSimulation)
    placed = [one for one in cycles if one.decision.placements]
    assert [len(one.decision.placements) for one in placed] == [3, 4]
    assert placed[0].time < 1
    assert 61 < placed[1].time < 90
    assert {one.result for one in cycles if not one.decision.placements} == {"unschedulable"}
    assert list(simulation.notes()) == [
        f"PodGroup default/{name}: PodGroupInitiallyScheduled=True Scheduled" for name in ("first", "second")
    ]
    assert {one.group for one in simulation.members.values()} == {"default/first", "default/second"}
    assert all(one.phase == "Succeeded" for one in simulation.framework.pods.values())
    again = simulate(simulation.scenario, trace=False)
    again.replay(simulation.decisions[:3])
    fork = again.fork(trace=False)
    fork.replay(simulation.decisions[3:])
    assert fork.decisions == simulation.decisions


def test_a_group_that_its_owner_would_take_along_is_named() -> None:
    """The garbage collector does not know PodGroups."""
    group, job = gang("g", 2)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "g", "uid": "u"}
    group["metadata"]["ownerReferences"] = [owner]
    messages = [one.message for one in load(bundle(GROUPS, *nodes(2, 1), group, job)).warnings]
    assert any("PodGroups stay when their owners are deleted" in one for one in messages)


def test_a_gang_preempts_pods_that_a_controller_brings_back() -> None:
    """Its members are nominated, and bound once the victims have gone; those come back and find no room."""
    urgent = [{"time": 60, "createOperation": {"object": one}} for one in gang("urgent", 4, priority=100)]
    documents = [*nodes(2, 1), deployment(4, 5), history(*urgent)]
    simulation = simulate(load(bundle({**GROUPS, "until": 120}, *documents)))
    cycles = list(simulation)
    victims = [key for one in cycles for key in one.decision.victims]
    assert len(victims) == 4
    (gang_cycle,) = (one for one in cycles if len(one.decision.placements) == 4)
    assert 61 <= gang_cycle.time < 70
    assert all(key.startswith("default/urgent") for key, _ in gang_cycle.decision.placements)
    pending = [key for key, node in simulation.placement().items() if not node]
    assert len(pending) == 4
    assert all(key.startswith("default/web") for key in pending)


def test_gangs_are_decided_as_by_v1_37_alone() -> None:
    """Cycle by cycle, until nothing but time could change something: in time the lone one goes on."""
    timed = GANG.replace("kind: SimulationSettings", "kind: SimulationSettings\ntime: virtual")
    living = simulate(load(timed))
    static = simulate(load(GANG))
    one, other = list(living), list(static)
    assert [cycle.decision for cycle in one[:2]] == [cycle.decision for cycle in other[:2]]
    assert one[-1].decision == other[-1].decision
    assert living.placement() == static.placement()


BY_HAND = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "by-hand"},
    "spec": {"nodeName": "n0", "containers": [{"name": "c"}]},
}


@pytest.mark.parametrize(
    ("text", "node", "operations"),
    [
        ("podstep/release-seconds has no effect", {"podstep/release-seconds": "5"}, ()),
        (
            "kubelets refuse no pod",
            {},
            [{"step": 2, "createOperation": {"object": BY_HAND}}],
        ),
    ],
    ids=["release", "bound by hand"],
)
def test_what_the_kubelets_lack_is_named(text: str, node: dict[str, str], operations: Any) -> None:
    """The run has controllers all the same; one that asks for nothing of it has no such warning."""
    [first] = nodes(1)
    asking = {**first, "metadata": {**first["metadata"], "annotations": node}}
    scenario = load(bundle(VIRTUAL, asking, *pods(1, 1), history(*operations)))
    assert isinstance(simulate(scenario), LoneSimulation)
    assert [one.message.count(text) for one in scenario.warnings] == [1]
    plain = load(bundle(VIRTUAL, first, *pods(1, 1)))
    assert not [one for one in plain.warnings if text in one.message]


def test_replicas_share_what_they_have_in_common() -> None:
    """Memory grows slowly with replicas: what they ask for is compiled once, equal parts are one object."""
    run = simulate(load(bundle(VIRTUAL, *nodes(4), deployment(12, 1))), trace=False)
    assert isinstance(run, LoneSimulation)
    assert len(list(run)) == 12
    pods = run.run.cluster.pods.values()
    assert {pod.status["phase"] for pod in pods} == {"Running"}
    assert len({id(pod.shared) for pod in pods}) == 1
    assert len({id(pod.manifest["status"]) for pod in pods}) == 1
    assert (
        len({id(pod.manifest["metadata"][part]) for pod in pods for part in ("labels", "ownerReferences")})
        == 2
    )
