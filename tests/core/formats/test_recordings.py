"""Recordings of real clusters as histories, and what they did beside what we do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduler_core import BundleError, Limits, Scenario, Simulation, load
from scheduler_core.__main__ import main
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.kubernetes.recorded_decisions import RecordedPlacement, agreement, recorded_of, results_of
from tests.core.trials import trials

FOLDER = Path(__file__).parent / "recordings"
RECORDER = (FOLDER / "recorder.jsonl").read_text()
KWOK = (FOLDER / "kwok.yaml").read_text()


def reported(scenario: Scenario) -> list[tuple[float, str, str]]:
    """Return the operations in short: second, action and name."""
    return [(o.time, o.action, o.key) for o in scenario.operations]


def record(second: float, event: str, resource: dict[str, Any]) -> str:
    """Return one line of sched-recorder's, so many seconds after noon."""
    time = f"2024-10-01T12:{int(second) // 60:02}:{second % 60:012.9f}Z"
    return json.dumps({"time": time, "event": event, "resource": resource}) + "\n"


def node(name: str, **labels: str) -> dict[str, Any]:
    """Return a node with room for ten pods."""
    status = {"allocatable": {"cpu": "2", "pods": "10"}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": status,
    }


def pod(name: str, on: str = "", **more: Any) -> dict[str, Any]:
    """Return a pod; ``more`` goes into its spec."""
    spec = {"containers": [{"name": "c"}], **({"nodeName": on} if on else {}), **more}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def named(kind: str, name: str) -> dict[str, Any]:
    """Return what a Delete holds."""
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}


def test_a_recorder_file_becomes_objects_and_operations_at_their_times() -> None:
    """What was there at the start is initial; the rest lands in seconds since the first event."""
    scenario = load(RECORDER)
    assert [key_of(o) for o in scenario.objects] == [
        ("Pod", "default/old-1"),
        ("Node", "node-1"),
        ("Node", "node-2"),
        ("PriorityClass", "high"),
    ]
    assert reported(scenario) == [
        (3.499999999, "create", "default/web-1"),
        (6.249999999, "create", "default/web-2"),
        (6.999999999, "create", "default/agent-x"),
        (7.999999999, "create", "default/batch-1"),
        (8.749999999, "update", "default/batch-1"),
        (8.999999999, "update", "node-2"),
        (9.999999999, "update", "default/web-1"),
        (11.999999999, "delete", "default/web-1"),
        (12.999999999, "create", "default/web-1"),
    ]
    assert all(operation.timed for operation in scenario.operations)
    assert not scenario.controllers


def test_the_summary_tells_what_was_read_and_what_was_left_out() -> None:
    """Nothing of a recording goes without a word."""
    [summary] = [w.message for w in load(RECORDER).warnings]
    assert summary == (
        "a recording of sched-recorder, 23 events in 14.5 s: 5 objects at the start, 5 created, "
        "3 placed by the recorded cluster, 3 changed, 1 deleted. Left out: pods on nodes that are not "
        "in the recording (1); updates of fields that scheduling does not read, such as heartbeats (2); "
        "events of "
        "Lease, which scheduling does not read (1); deletions of objects that do not exist (1)"
    )


def test_pods_that_a_scheduler_bound_are_pending_and_others_are_not() -> None:
    """Our scheduler places what the recorded one did; a DaemonSet's pod and another scheduler's are facts."""
    scenario = load(RECORDER)
    created = {o.key: o.object for o in scenario.operations if o.action == "create"}
    nodes = {key: made.node_name for key, made in created.items() if isinstance(made, Pod)}
    assert nodes == {
        "default/web-1": "",
        "default/web-2": "",
        "default/agent-x": "node-2",
        "default/batch-1": "",
    }
    [bound] = [o.object for o in scenario.operations if o.key == "default/batch-1" and o.action == "update"]
    assert isinstance(bound, Pod) and bound.node_name == "node-1"


def test_the_recorded_placements_are_kept_for_each_life_of_a_pod() -> None:
    """A pod that came again under its name has two of them, each with its second."""
    recorded = load(RECORDER).recorded()
    assert {key: [(r.node, r.seconds, r.bound) for r in lives] for key, lives in recorded.items()} == {
        "default/web-1": [("node-2", 3.512, False), ("node-1", 13.1, False)],
        "default/web-2": [("node-1", 6.26, False)],
    }


def test_a_recording_reads_back_as_the_same_scenario() -> None:
    """What is shared and exported is manifests and a Scenario: they hold all that was recorded."""
    for text in (RECORDER, KWOK):
        scenario = load(text)
        again = load(scenario.to_yaml())
        assert (again.id, again.objects, again.operations) == (
            scenario.id,
            scenario.objects,
            scenario.operations,
        )
        assert again.recorded() == scenario.recorded()


@pytest.mark.parametrize("form", ["lines", "array", "pretty", "yaml"])
def test_records_are_known_in_every_form_by_their_content(form: str) -> None:
    """JSON Lines, an array, indented values and YAML hold the same recording."""
    values = [json.loads(line) for line in RECORDER.splitlines()]
    text = {
        "lines": RECORDER,
        "array": json.dumps(values),
        "pretty": "\n".join(json.dumps(value, indent=2) for value in values),
        "yaml": yaml.safe_dump_all(values),
    }[form]
    assert load(text).operations == load(RECORDER).operations


def test_a_line_that_is_cut_off_anywhere_is_reported_and_left_out() -> None:
    """The recorder was killed while it wrote: whatever byte it came to, the rest is read."""
    whole = record(0, "Add", node("n1")) + record(1, "Add", pod("a"))
    last = record(
        2, "Update", {**pod("a", "n1"), "metadata": {"name": "a", "labels": {"é": '"\\\n'}}}
    ).strip()
    for length in range(1, len(last)):
        scenario = load(whole + last[:length])
        notes = [(w.line, w.message) for w in scenario.warnings if "truncated" in w.message]
        assert notes == [(3, "the last line is truncated and ignored")]
        assert len(scenario.objects) == 2


def test_lines_that_are_broken_elsewhere_are_errors_with_their_line() -> None:
    """A cut line with others after it, a value that is no record, a wrong event: all at once."""
    lines = [
        record(0, "Add", node("n1")),
        '{"time": "2024-10-01T12:00:01Z", "event": "Add", "resou\n',
        "[1, 2]\n",
        record(1, "Added", pod("a")),
        record(1, "Add", {"metadata": {"name": "x"}}),
        '{"time": "yesterday", "event": "Delete", "resource": {"kind": "Pod", "metadata": {}}}\n',
        record(2, "Add", pod("b")),
    ]
    with pytest.raises(BundleError) as caught:
        load([("rec.jsonl", "".join(lines))])
    assert [(p.file, p.line, p.path) for p in caught.value.problems] == [
        ("rec.jsonl", 2, ""),
        ("rec.jsonl", 3, ""),
        ("rec.jsonl", 4, "event"),
        ("rec.jsonl", 5, "resource.kind"),
        ("rec.jsonl", 6, "time"),
        ("rec.jsonl", 6, "resource.metadata.name"),
    ]
    assert "did you mean 'Add'?" in caught.value.problems[2].message


def test_a_wrong_object_in_an_event_has_the_event_s_line() -> None:
    """The path is that in the record, not that in the Scenario which is made of it."""
    bad = pod("b")
    bad["spec"]["containers"] = [{"name": "c", "resources": {"requests": {"cpu": "lots"}}}]
    with pytest.raises(BundleError) as caught:
        load(record(0, "Add", node("n1")) + "\n" + record(9, "Add", bad))
    [problem] = caught.value.problems
    assert (problem.line, problem.path) == (3, "resource.spec.containers[0].resources.requests.cpu")


def test_what_was_created_before_the_first_event_was_there_however_late_it_is_listed() -> None:
    """The informers of several kinds list one after another; a creationTimestamp tells."""
    old = node("n2")
    old["metadata"]["creationTimestamp"] = "2024-10-01T11:00:00Z"
    new = pod("p")
    new["metadata"]["creationTimestamp"] = "2024-10-01T12:00:05Z"
    scenario = load(record(0, "Add", node("n1")) + record(5, "Add", new) + record(6, "Add", old))
    assert [o.meta.name for o in scenario.objects] == ["n1", "n2"]
    assert reported(scenario) == [(5.0, "create", "default/p")]


def test_pods_go_with_the_recording_alone() -> None:
    """A node's deletion and a ReplicaSet's make nothing of their own: what follows was recorded too."""
    labels = {"matchLabels": {"a": "b"}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}}
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "rs"},
        "spec": {"replicas": 3, "selector": labels, "template": template},
    }
    text = record(0, "Add", node("n1")) + record(0, "Add", owner) + record(0, "Add", pod("a", "n1"))
    text += record(5, "Delete", named("Node", "n1")) + record(6, "Delete", named("Pod", "a"))
    text += record(7, "Delete", {**named("ReplicaSet", "rs"), "apiVersion": "apps/v1"})
    scenario = load(text)
    assert reported(scenario) == [
        (5.0, "delete", "n1"),
        (6.0, "delete", "default/a"),
        (7.0, "delete", "default/rs"),
    ]
    assert list(Simulation(scenario)) == []


def test_kwok_s_patches_become_operations() -> None:
    """Resources are known by their plural, times by nanoseconds, and a binding is kept as recorded."""
    scenario = load(KWOK)
    assert reported(scenario) == [
        (1.5, "create", "n2"),
        (1.7, "update", "n1"),
        (2.0, "delete", "default/waiting"),
    ]
    changed = scenario.operations[1].object
    assert isinstance(changed, Node) and changed.unschedulable
    [[waiting]] = scenario.recorded().values()
    assert (waiting.node, waiting.seconds) == ("n2", 1.6)
    assert "events of leases, which scheduling does not read (1)" in scenario.warnings[0].message


NODES, PODS = ("n1", "n2"), ("a", "b", "c")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["create", "bind", "label", "delete", "finish"]),
        st.sampled_from(PODS),
        st.sampled_from(NODES),
        st.integers(0, 3),
    ),
    max_size=14,
)


def _histories(steps: list[tuple[str, str, str, int]]) -> tuple[str, str, dict[str, Any]]:
    """Return one history as a file of sched-recorder and of kwok, and the pods at its end."""
    lines = [record(0, "Add", node(name)) for name in NODES]
    documents: list[Any] = [node(name) for name in NODES]
    live: dict[str, Any] = {}

    def change(second: int, name: str, method: str, template: Any = None) -> None:
        documents.append(
            {
                "apiVersion": "action.kwok.x-k8s.io/v1alpha1",
                "kind": "ResourcePatch",
                "resource": {"version": "v1", "resource": "pods"},
                "target": {"name": name, "namespace": "default"},
                "durationNanosecond": second * 10**9,
                "method": method,
                **({"template": template} if template else {}),
            }
        )

    for second, (what, name, on, number) in enumerate(steps, 10):
        if what == "create" and name not in live:
            live[name] = pod(name)
            lines.append(record(second, "Add", live[name]))
            change(second, name, "create", live[name])
        elif what == "delete" and name in live:
            del live[name]
            lines.append(record(second, "Delete", named("Pod", name)))
            change(second, name, "delete")
        elif name in live:
            old = live[name]
            patch: dict[str, Any] = {"metadata": {"labels": {"rev": str(number)}}}
            if what == "bind":
                patch = {"spec": {"nodeName": old["spec"].get("nodeName") or on}}
            elif what == "finish":
                patch = {"status": {"phase": "Succeeded"}}
            live[name] = {
                **old,
                **{part: {**old.get(part, {}), **values} for part, values in patch.items()},
            }
            lines.append(record(second, "Update", live[name]))
            change(second, name, "patch", patch)
    return "".join(lines), yaml.safe_dump_all(documents, sort_keys=False), live


@given(STEPS)
@settings(max_examples=trials(60))
def test_both_recorders_tell_the_same_history_and_it_ends_as_the_cluster_did(
    steps: list[tuple[str, str, str, int]],
) -> None:
    """The operations lead to the last state of every object, and the placements are those of the cluster."""
    lines, stream, live = _histories(steps)
    one, other = load(lines), load(stream)
    assert reported(one) == reported(other)
    assert [o.object for o in one.operations] == [o.object for o in other.operations]
    last: dict[str, Any] = {}
    for operation in one.operations:
        last[operation.key] = operation.object
    there = {key.removeprefix("default/"): made for key, made in last.items() if made is not None}
    assert there.keys() == live.keys()
    for name, made in there.items():
        assert isinstance(made, Pod)
        assert dict(made.meta.labels) == live[name]["metadata"].get("labels", {})
        assert made.phase == live[name].get("status", {}).get("phase", "Pending")
        assert not made.node_name
    ends = {key.removeprefix("default/"): lives[-1] for key, lives in one.recorded().items()}
    bound = {
        name: document["spec"]["nodeName"]
        for name, document in live.items()
        if "nodeName" in document["spec"]
    }
    assert {name: end.node for name, end in ends.items() if end.until == float("inf")} == bound
    for cycle in Simulation(one, trace=False):
        assert cycle.node in (None, *NODES)


JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.sampled_from(["", "Pod", "Node", "v1", "n1", "a"])),
    lambda v: (
        st.lists(v, max_size=2) | st.dictionaries(st.sampled_from(["name", "labels", "x"]), v, max_size=2)
    ),
    max_leaves=4,
)
RESOURCES = st.fixed_dictionaries(
    {},
    optional={
        "apiVersion": st.one_of(st.just("v1"), JUNK),
        "kind": st.one_of(st.sampled_from(["Pod", "Node", "Lease"]), JUNK),
        "metadata": st.one_of(
            st.fixed_dictionaries({"name": st.sampled_from(["a", "b", "n1"])}, optional={
                "annotations": JUNK, "ownerReferences": JUNK, "creationTimestamp": JUNK, "namespace": JUNK,
            }),
            JUNK,
        ),
        "spec": st.one_of(
            st.fixed_dictionaries({}, optional={"nodeName": JUNK, "schedulerName": JUNK, "containers": JUNK}),
            JUNK,
        ),
        "status": st.one_of(st.fixed_dictionaries({}, optional={"phase": JUNK, "conditions": JUNK}), JUNK),
    },
)  # fmt: skip
EVENTS = st.lists(st.tuples(st.sampled_from(["Add", "Update", "Delete"]), RESOURCES), max_size=5)


@given(EVENTS)
@settings(max_examples=trials(150))
def test_records_of_any_shape_are_read_or_refused(events: list[tuple[str, dict[str, Any]]]) -> None:
    """No resource makes loading fail in another way than with a BundleError, whose problems have lines."""
    text = record(0, "Add", node("n1"))
    text += "".join(record(5 * n, event, made) for n, (event, made) in enumerate(events, 1))
    try:
        load(text)
    except BundleError as refused:
        problems = refused.problems
    else:
        return
    assert all(problem.line is not None for problem in problems)


@given(st.lists(st.tuples(st.sampled_from(["create", "patch", "delete", "x"]), JUNK, RESOURCES), max_size=5))
@example([("patch", {"name": ""}, pod("a"))])
@settings(max_examples=trials(100))
def test_kwok_patches_of_any_shape_are_read_or_refused(
    patches: list[tuple[str, Any, dict[str, Any]]],
) -> None:
    """No template, target or method makes loading fail in another way than with a BundleError."""
    documents: list[Any] = [node("n1"), pod("a")]
    for method, target, template in patches:
        head = {"apiVersion": "action.kwok.x-k8s.io/v1alpha1", "kind": "ResourcePatch", "method": method}
        named = target if target is not None else {"name": "a", "namespace": "default"}
        resource = {"version": "v1", "resource": "pods"}
        documents.append({**head, "target": named, "resource": resource, "template": template})
    try:
        load(json.dumps(documents))
    except BundleError as refused:
        problems = refused.problems
    else:
        return
    assert problems


def test_events_and_bytes_are_bounded() -> None:
    """Too many events, and a line that is larger than all that is read, are refused by name."""
    text = "".join(record(n, "Add", node(f"n{n}")) for n in range(4))
    with pytest.raises(BundleError, match="more than 3 events"):
        load(text, limits=Limits(operations=3))
    with pytest.raises(BundleError, match="more than 3 patches"):
        load(KWOK, limits=Limits(operations=3))
    with pytest.raises(BundleError, match="larger than"):
        load(record(0, "Add", node("n1")) + '{"x": "' + "y" * 2**20, limits=Limits(size=2**20))
    with pytest.raises(BundleError, match="more than 50 values"):
        load(text * 3, limits=Limits(values=50))


def test_what_a_run_did_is_compared_with_the_recording(capsys: pytest.CaptureFixture[str]) -> None:
    """The last line of simulate counts the pods that are where they were, and names the first that is not."""
    assert main(["simulate", str(FOLDER / "recorder.jsonl")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 of 3 pods placed as recorded"
    assert main(["simulate", str(FOLDER / "kwok.yaml")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "0 of 1 pod placed as recorded, 1 other node; first difference: default/waiting on n2 as recorded, "
        "n1 here, in step 1.1"
    )


def test_pods_that_stay_pending_differ_from_the_recording() -> None:
    """A pod without a placement counts against it, and the earliest in the recording comes first."""
    recorded = load(RECORDER).recorded()
    agreed = agreement(recorded, [RecordedPlacement("default/web-1", "node-1", 13.0, "10.1")])
    assert agreed is not None
    assert agreed.text() == (
        "1 of 3 pods placed as recorded, 2 not placed; first difference: default/web-1 on node-2 as "
        "recorded, not placed here"
    )
    assert [pair.verdict for pair in agreed.pairs] == ["not placed", "not placed", "same node"]
    assert agreement({}, []) is None
    assert recorded_of([], []) == {}


def test_results_of_a_real_scheduler_are_read_as_data() -> None:
    """Each is parsed; the old prefix is read too, the new one wins, and what is no JSON stays text."""
    new, old = "kube-scheduler-simulator.sigs.k8s.io/", "scheduler-simulator/"
    assert results_of(
        {
            old + "selected-node": "n0",
            new + "selected-node": "n1",
            old + "score-result": '{"n1": {"NodeAffinity": "76"}}',
            new + "filter-result": "{broken",
            new + "unknown": "{}",
            "other/filter-result": "{}",
        }
    ) == {"selected-node": "n1", "score-result": {"n1": {"NodeAffinity": "76"}}, "filter-result": "{broken"}


def test_results_in_a_recording_are_kept_with_the_pod_that_they_are_of() -> None:
    """The simulator writes them with the binding: they are no change of the pod, but known of it."""
    results = {"kube-scheduler-simulator.sigs.k8s.io/filter-result": '{"n1": {"NodeName": "passed"}}'}
    bound = pod("a", "n1")
    bound["metadata"]["annotations"] = results
    text = record(0, "Add", node("n1")) + record(5, "Add", pod("a")) + record(6, "Update", bound)
    scenario = load(text)
    assert reported(scenario) == [(5.0, "create", "default/a")]
    [[known]] = scenario.recorded().values()
    assert (known.node, known.results) == ("n1", {"filter-result": {"n1": {"NodeName": "passed"}}})
