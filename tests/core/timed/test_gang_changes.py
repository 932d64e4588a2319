"""Groups while users patch, create and delete what they consist of: what holds after every cycle."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core import load
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.schedulers.coscheduling.record import record_of
from tests.core.timed.parts import FRAMEWORK, group, history, node, simulation
from tests.core.trials import trials

KEY = {"v1": "scheduling.x-k8s.io/pod-group", "v1beta2": "pod-group.scheduling.sigs.k8s.io"}
PROFILE = """\
- schedulerName: {name}
  plugins:
    queueSort: {{enabled: [{{name: Coscheduling}}], disabled: [{{name: "*"}}]}}
    preFilter: {{enabled: [{{name: Coscheduling}}]}}
    postFilter: {{enabled: [{{name: Coscheduling}}]}}
    permit: {{enabled: [{{name: Coscheduling}}]}}
    reserve: {{enabled: [{{name: Coscheduling}}]}}
  pluginConfig: [{{name: Coscheduling, args: {{permitWaitingTimeSeconds: 4}}}}]
"""
CLASS = """\
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
"""
MOST_CYCLES = 150


def two_profiles(version: str) -> str:
    """Return a configuration of two profiles, each with a Coscheduling of its own."""
    head = f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\nprofiles:\n"
    return head + PROFILE.format(name="default-scheduler") + PROFILE.format(name="second") + FRAMEWORK


def volume(name: str, host: str) -> str:
    """Return a volume that one node has."""
    terms = f"[{{matchExpressions: [{{key: host, operator: In, values: [{host}]}}]}}]"
    return (
        f"apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: {name}}}\n"
        "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: local, "
        f"local: {{path: /x}}, nodeAffinity: {{required: {{nodeSelectorTerms: {terms}}}}}}}\n"
    )


def claim(name: str) -> str:
    """Return a claim that waits for its first consumer."""
    return (
        f"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}}}\n"
        "spec: {accessModes: [ReadWriteOnce], storageClassName: local, "
        "resources: {requests: {storage: 1Gi}}}\n"
    )


def member(name: str, label: str = "", cpu: int = 1, spec: str = "") -> str:
    """Return a pod; ``label`` is its whole label, ``spec`` more fields, each with a comma before it."""
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{{label}}}}}\n"
        f"spec: {{containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]{spec}}}\n"
    )


def patch(name: str, what: str) -> str:
    """Return the patch of a pod as an operation's field."""
    reported = f"typeMeta: {{kind: Pod}}, objectMeta: {{name: {name}}}, patchType: merge"
    return f"patchOperation: {{{reported}, patch: {what}}}"


def labelled(label: str) -> str:
    """Return a patch of one label; ``null`` takes it away."""
    return f"{{metadata: {{labels: {{{label}}}}}}}"


def delete(name: str) -> str:
    """Return the deletion of a pod as an operation's field."""
    return f"deleteOperation: {{typeMeta: {{kind: Pod}}, objectMeta: {{name: {name}}}}}"


def inline(manifest: str) -> str:
    """Return a manifest's creation as an operation's field; every line is a field in YAML's flow style."""
    return f"createOperation: {{object: {{{', '.join(manifest.strip().splitlines())}}}}}"


def stepped(*documents: str, most: int = MOST_CYCLES) -> tuple[TimedSimulation, list[Cycle]]:
    """Run a bundle to its end, or for so many cycles."""
    made = simulation(*documents)
    return made, [cycle for cycle, _ in zip(made, range(most))]


@st.composite
def bundles(draw: st.DrawFn) -> list[str]:
    """Make nodes with volumes, two groups of two profiles, singles, and changes at times."""
    version = draw(st.sampled_from(["v1", "v1beta2"]))
    label = KEY[version]
    hosts = [f"n{number}" for number in range(draw(st.integers(1, 3)))]
    parts = [two_profiles(version), CLASS]
    for host in hosts:
        parts += [node(host, draw(st.integers(1, 5)), host=host), volume(f"pv-{host}", host)]
    changes: list[str] = []
    names: list[str] = []

    for name, scheduler in (("a", ""), ("b", ", schedulerName: second")):
        count = draw(st.integers(0, 4))
        made = group(name, draw(st.integers(1, count + 1)))
        late = draw(st.booleans()) and count
        if late:
            changes.append(inline(made))
        elif count:
            parts.append(made)
        for number in range(count):
            spec = scheduler
            if draw(st.integers(0, 3)) == 0:
                wanted = f"{name}-{number % 2}"
                spec += f", volumes: [{{name: v, persistentVolumeClaim: {{claimName: {wanted}}}}}]"
                if claim(wanted) not in parts:
                    parts.append(claim(wanted))
            if draw(st.integers(0, 3)) == 0:
                spec += ", schedulingGates: [{name: hold}]"
                changes.append(patch(f"{name}-{number}", "{spec: {schedulingGates: null}}"))
            names.append(f"{name}-{number}")
            cpu = draw(st.integers(1, 2))
            parts.append(member(names[-1], f"{label}: {name}", cpu, spec))
    for number in range(draw(st.integers(0, 2))):
        names.append(f"s{number}")
        parts.append(member(names[-1], cpu=draw(st.integers(1, 2))))
    for name in draw(st.lists(st.sampled_from(names), max_size=3, unique=True)) if names else ():
        what = draw(st.sampled_from(["a", "null", "delete"]))
        if what == "delete":
            changes.append(delete(name))
        else:
            changes.append(patch(name, labelled(f"{label}: {what}")))
    if draw(st.booleans()):
        times = sorted(draw(st.sampled_from([0.002, 2, 4.001, 30])) for _ in changes)
        moments = [f"time: {time}" for time in times]
    else:
        minors = [draw(st.integers(0, 4)) for _ in changes]
        moments = [f"step: {{major: {place + 1}, minor: {minor}}}" for place, minor in enumerate(minors)]
        moments = [f"{one}, during: evaluation" if draw(st.booleans()) else one for one in moments]
    landing = [f"{moment}, {change}" for moment, change in zip(moments, changes, strict=True)]
    return [*parts, history(*landing)] if landing else parts


def check(made: TimedSimulation) -> None:
    """Assert what holds whenever everybody has had their turn."""
    framework, cluster = made.framework, made.cluster
    living = {key for key, pod in framework.pods.items() if not pod.terminal}
    assert living == set(cluster.pods)
    assert {key for key, pod in framework.pods.items() if pod.terminal} == set(cluster.finished)
    assert {waiting.key for waiting in framework.waiting} <= set(framework.binding)
    assert (cluster.used[0] <= cluster.columns.allocatable[0]).all()
    queue = framework.queue
    assert all(pod.turn[0] == queue.sort_key(pod) for pod in queue.placed("active"))
    for key, state in cluster.pods.items():
        holds = key in framework.binding or bool(framework.pods[key].node_name)
        assert bool(state.node_name) == holds, key
        assert (key in framework.queue.pods) == (not holds), key
        assert key in framework.binding or state.pod.pod_group == framework.pods[key].pod_group
    for plugin in framework.plugins:
        if plugin.name == "Coscheduling":
            gangs: Any = plugin
            known = {key for keys in gangs.gangs.pods.values() for key in keys}
            assert known == {key for key in living if framework.pods[key].pod_group}
            assert set(gangs.state.waiting) <= set(framework.binding)
    used = {
        f"{state.info.namespace}/{name}"
        for state in cluster.pods.values()
        if state.node_name
        for name in state.info.claims
    }
    stored = {key[1] for key, obj in framework.manager.objects.items() if _bound_claim(obj)}
    bound = {key for key, claimed in cluster.storage.claims.items() if claimed.volume_name}
    assert used <= bound <= used | stored
    for name, kept in cluster.storage.volumes.items():
        assert not kept.claim_ref or cluster.storage.claims[kept.claim_ref].volume_name == name


def _bound_claim(obj: object) -> bool:
    return type(obj).__name__ == "PersistentVolumeClaim" and bool(getattr(obj, "volume_name", ""))


@settings(max_examples=trials(30))
@given(bundles())
def test_groups_that_change_leave_nothing_behind(documents: list[str]) -> None:
    """Whatever comes, goes or changes: objects, cache, queue, waits and claims agree after every cycle."""
    made = TimedSimulation(load("---\n".join(documents)))
    for _ in range(MOST_CYCLES):
        if not made.peek():
            break
        shown = [pod.key for pod in made.framework.queue.placed("active")]
        cycle = made.step()
        assert cycle is not None
        assert cycle.decision.pod == shown[0]
        check(made)


# One change at a time


def coscheduled(*documents: str, version: str = "v1") -> tuple[TimedSimulation, list[Cycle]]:
    """Run documents under two profiles with the plugin."""
    return stepped(two_profiles(version), *documents)


def test_a_patch_that_removes_gates_lets_a_pod_in() -> None:
    """1.35 holds a gated pod and tries it when a user's patch takes its gates; 1.22 knows no gates."""
    held = member("p", spec=", schedulingGates: [{name: hold}]")
    opened = history(f"time: 5, {patch('p', '{spec: {schedulingGates: null}}')}")
    for version, times in (("v1", [5]), ("v1beta2", [0])):
        made, cycles = coscheduled(node("n"), held, opened, version=version)
        assert [int(cycle.time) for cycle in cycles] == times
        assert made.placement() == {"default/p": "n"}


def test_a_group_waits_for_the_gates_of_its_last_member() -> None:
    """Its members are refused at PreFilter until a patch opens the last one's gates; then all run."""
    label = f"{KEY['v1']}: g"
    gated = member("g-1", label, spec=", schedulingGates: [{name: hold}]")
    opened = history(f"time: 5, {patch('g-1', '{spec: {schedulingGates: null}}')}")
    made, cycles = coscheduled(node("n"), group("g", 2), member("g-0", label), gated, opened)
    assert "gated pods in the same PodGroup" in str(cycles[0].message)
    assert cycles[0].time < 1
    assert made.placement() == {"default/g-0": "n", "default/g-1": "n"}


def test_a_label_makes_a_pending_pod_a_member() -> None:
    """A pod that is too large for any node joins a group: it counts as a sibling from then on."""
    label = f"{KEY['v1']}: g"
    joins = history(f"time: 5, {patch('big', labelled(label))}")
    _, cycles = coscheduled(node("n"), group("g", 2), member("g-0", label), member("big", cpu=99), joins)
    first = next(cycle for cycle in cycles if cycle.pod == "default/g-0")
    assert "current pods number: 1, minMember of group: 2" in str(first.message)
    late = [cycle for cycle in cycles if cycle.time > 5 and record_of(cycle).pod_group is not None]
    assert late
    for cycle in late:
        found = record_of(cycle).pod_group
        assert found is not None
        assert found.count == 2
        assert "current pods number" not in str(cycle.message)


def test_a_label_takes_a_pending_pod_out_of_its_group() -> None:
    """The group is one pod short from then on."""
    label = f"{KEY['v1']}: g"
    out = labelled(f"{KEY['v1']}: null")
    leaves = history(f"time: 5, {patch('g-1', out)}")
    _, cycles = coscheduled(
        node("n"), group("g", 2), member("g-0", label), member("g-1", label, cpu=99), leaves
    )
    late = [cycle for cycle in cycles if cycle.time > 5 and cycle.pod == "default/g-0"]
    assert late
    assert all("current pods number: 1, minMember of group: 2" in str(cycle.message) for cycle in late)


def test_a_patch_of_a_waiting_pod_is_taken_over_when_it_is_bound() -> None:
    """The scheduler goes on with the version that it assumed; what was written is not lost."""
    label = f"{KEY['v1']}: g"
    changes = history(
        f"time: 2, {patch('g-0', labelled('colour: red'))}",
        f"time: 3, {inline(member('g-1', label))}",
    )
    gated = member("g-2", label, cpu=99)
    made, _ = coscheduled(node("n"), group("g", 2), member("g-0", label), gated, changes)
    assert made.framework.pods["default/g-0"].node_name == "n"
    assert made.framework.pods["default/g-0"].meta.labels["colour"] == "red"
    assert made.cluster.pods["default/g-0"].pod.meta.labels["colour"] == "red"


def test_a_pod_deleted_during_its_evaluation_is_not_bound() -> None:
    """It does not come back as running, and what it held is free."""
    gone = history(f"step: {{major: 1, minor: 0}}, during: evaluation, {delete('p')}")
    made, cycles = coscheduled(node("n", 1), member("p"), member("q"), gone)
    assert [cycle.pod for cycle in cycles] == ["default/p", "default/q"]
    assert list(made.framework.pods) == ["default/q"]
    assert made.placement() == {"default/q": "n"}
    assert made.deleted == ["default/p"]
    assert cycles[0].phases[-2:] == ("preBind", "bind")
    assert "Scheduled" not in [happening.what for happening in cycles[0].consequences]


def test_deleting_a_waiting_pod_wakes_who_needs_its_room() -> None:
    """1.35 takes it for the deletion of a pod with a node; 1.22 leaves the others to the flush."""
    for version, at in (("v1", range(30, 33)), ("v1beta2", range(60, 125))):
        label = f"{KEY[version]}: g"
        waits = group("g", 2, timeout=600)
        other = member("g-1", label, spec=", schedulerName: other")
        documents = (node("n", 1), waits, member("g-0", label), other, member("single"))
        made, cycles = coscheduled(*documents, history(f"time: 30, {delete('g-0')}"), version=version)
        bound = next(cycle for cycle in cycles if cycle.pod == "default/single" and cycle.node)
        assert int(bound.time) in at
        assert made.placement()["default/single"] == "n"


def test_a_pod_group_that_comes_late_sorts_its_queued_members() -> None:
    """Its creation, to the second, is their time from then on: its member overtakes who queued earlier."""
    late = history(f"step: {{major: 1, minor: 1}}, {inline(group('g', 1))}")
    pods = [member("c-0"), member("c-1"), member("z-0", f"{KEY['v1']}: g")]
    for changes, order in (((), ["c-0", "c-1", "z-0"]), ((late,), ["c-0", "z-0", "c-1"])):
        _, cycles = coscheduled(node("n", 8), *pods, *changes)
        assert [cycle.pod.removeprefix("default/") for cycle in cycles[:3]] == order


def test_phases_tell_the_points_that_ran() -> None:
    """A waiting pod's binding cycle is shown by its event, when it runs; the last member's in its cycle."""
    label = f"{KEY['v1beta2']}: g"
    documents = (node("n"), group("g", 2), member("g-0", label), member("g-1", label))
    _, cycles = coscheduled(*documents, version="v1beta2")
    first, second = cycles
    assert first.phases[-3:] == ("assume", "reserve", "permit")
    assert second.phases[-5:] == ("assume", "reserve", "permit", "preBind", "bind")
    bound = {one.about: one.detail for one in second.consequences if one.what == "Scheduled"}
    assert sorted(bound) == ["default/g-0", "default/g-1"]
    for detail in bound.values():
        points: Any = detail
        assert [point for point, _, _ in points.statuses] == ["PreBind", "Bind"]


def test_a_configuration_without_volume_binding_leaves_claims_unbound() -> None:
    """What a profile disables at a point is not called there: nothing is reserved for a waiting pod."""
    label = f"{KEY['v1']}: g"
    claims = member("g-0", label, spec=", volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]")
    off = "    reserve: {enabled: [{name: Coscheduling}], disabled: [{name: VolumeBinding}]}\n"
    on = "    reserve: {enabled: [{name: Coscheduling}]}\n"
    rest = (CLASS, volume("pv", "n0"), claim("c"), group("g", 2), claims, member("g-1", label, cpu=99))
    for text, held in ((two_profiles("v1"), "pv"), (two_profiles("v1").replace(on, off), "")):
        made = simulation(text, node("n0", host="n0"), *rest)
        cycle = made.step()
        assert cycle is not None
        assert cycle.result == "waiting"
        assert made.cluster.storage.claims["default/c"].volume_name == held


def test_a_pending_pod_changes_hands_with_its_scheduler_name() -> None:
    """One that is given to this scheduler is queued and bound, one that is given away is tried no more."""
    given = patch("theirs", "{spec: {schedulerName: second}}")
    taken = patch("ours", "{spec: {schedulerName: other}}")
    documents = (node("n"), member("theirs", spec=", schedulerName: other"), member("ours", cpu=99))
    for version in ("v1", "v1beta2"):
        made, cycles = coscheduled(
            *documents, history(f"time: 5, {given}", f"time: 5, {taken}"), version=version
        )
        assert [cycle.pod for cycle in cycles] == ["default/ours", "default/theirs"]
        assert made.placement() == {"default/theirs": "n", "default/ours": ""}
