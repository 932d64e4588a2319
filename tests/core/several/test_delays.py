"""Watch delay, decision time and bind delay: who sees what when, and who notices."""

from __future__ import annotations

import pytest

from scheduler_core import load
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.record.several import ViewRecord
from scheduler_core.run import simulate
from scheduler_core.run.several.simulation import SeveralSimulation
from scheduler_core.run.simulation import TimedSimulation
from tests.core.several.parts import noticed, pod, refused, reported, run, settings, several
from tests.core.timed.parts import VIRTUAL, ended, history, node

LATE = "watchDelay: 0.5, decisionTime: 0.2, bindDelay: 0.1"
FIRST = f"name: default-scheduler, {LATE}"
SECOND = f"name: second, {LATE}"


def view_of(record: object) -> ViewRecord:
    assert isinstance(record, ViewRecord)
    return record


def test_a_decision_takes_its_time_and_lands_after_the_bind_delay() -> None:
    """The step is where the decision is made; the pod is bound where the binding lands."""
    made, cycles = run(settings(FIRST), node("n1"), pod("a"))
    view = view_of(cycles[0].view)
    start = view.began
    assert view.decided == pytest.approx(start + 0.2)
    assert view.lands == pytest.approx(start + 0.3)
    bound = next(one for one in reported(made, cycles) if one.what == "Scheduled")
    assert bound.about == "default/a"
    assert bound.time == pytest.approx(start + 0.3)
    assert cycles[0].time == view.decided


def test_the_view_is_of_the_watch_delay_ago() -> None:
    """A node that comes at 10 s is seen at 10.5 s, and not before."""
    late = history(
        "time: 10, createOperation: {object: {apiVersion: v1, kind: Node, metadata: {name: n1}, "
        'status: {allocatable: {cpu: "4", pods: "9"}}}}'
    )
    made, cycles = run(settings(FIRST), pod("a"), late)
    assert [cycle.result for cycle in cycles] == ["unschedulable", "scheduled"]
    seen = view_of(cycles[-1].view)
    assert seen.began == pytest.approx(10.5)
    assert seen.as_of == pytest.approx(10.0)
    assert made.framework.pods["default/a"].node_name == "n1"


def test_both_take_the_last_room_and_the_kubelet_refuses_the_later() -> None:
    """Neither sees the other within the window."""
    made, cycles = run(settings(FIRST, SECOND), node("n1", 2), pod("a", 2), pod("b", 2, of="second"))
    assert refused(made, cycles) == ["default/b"]
    assert noticed(made) == [("default/b", "kubelet")]
    outcome = made.ledger.outcomes[0]
    assert outcome.unseen == ("default/a",)
    assert outcome.message.startswith("Node didn't have enough resource: cpu")


def test_arrival_decides_and_not_the_time_of_the_decision() -> None:
    """The second decides later, and its binding lands first."""
    first = "name: default-scheduler, watchDelay: 1, bindDelay: 1"
    second = "name: second, decisionTime: 0.5, watchDelay: 1"
    made, cycles = run(settings(first, second), node("n1", 2), pod("a", 2), pod("b", 2, of="second"))
    assert refused(made, cycles) == ["default/a"]


def test_who_hears_in_time_is_refused_nothing() -> None:
    """The second is mentioned the pod before its own comes."""
    later = history(
        "time: 2, createOperation: {object: {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: "
        '{schedulerName: second, containers: [{name: c, resources: {requests: {cpu: "2"}}}]}}}'
    )
    made, cycles = run(settings(FIRST, SECOND), node("n1", 2), pod("a", 2), later)
    assert noticed(made) == []
    assert cycles[-1].pod == "default/b"
    assert cycles[-1].result == "unschedulable"


def test_an_own_assumed_pod_counts_at_once() -> None:
    """However late the watch is: the next decision of the same scheduler knows."""
    _, cycles = run(settings(FIRST), node("n1", 2), pod("a", 2), pod("b", 2))
    assert [cycle.result for cycle in cycles][:2] == ["scheduled", "unschedulable"]
    belief = view_of(cycles[1].view).nodes[0]
    assert (belief.node, belief.assumed) == ("n1", ("default/a",))
    assert (belief.believed_free["cpu"], belief.truly_free["cpu"]) == (0, 2000)


def test_the_second_binding_of_a_pod_is_a_conflict_and_its_loser_forgets_it() -> None:
    """Two replicas without leader election decide about the same pod."""
    replicas = "name: default-scheduler, replicas: 2, watchDelay: 0.2, bindDelay: 0.1"
    made, cycles = run(settings(replicas), node("n1"), node("n2"), pod("a"))
    assert [cycle.pod for cycle in cycles] == ["default/a", "default/a"]
    assert noticed(made) == [("default/a", "apiServer")]
    text = made.ledger.outcomes[0].message
    assert 'pod a is already assigned to node "' in text
    for peer in made.peers:
        assert not peer.view.assumed
        assert [key for key, s in peer.view.cluster.pods.items() if s.node_name] == ["default/a"]
        assert not peer.view.queue.pods


def test_an_assumed_pod_expires_after_thirty_seconds() -> None:
    """A watch that is later than that makes the scheduler forget its own pod."""
    slow = "name: default-scheduler, watchDelay: 100"
    made, cycles = run(settings(slow, until=40), node("n1"), pod("a"))
    expired = [one for one in reported(made, cycles) if one.what == "AssumedPodExpired"]
    assert [one.about for one in expired] == ["default/a"]
    assert made.framework.pods["default/a"].node_name == "n1"


def test_a_pod_bound_to_a_node_that_is_gone_is_collected() -> None:
    """The API server does not look for the node."""
    gone = history("time: 5, deleteOperation: {typeMeta: {kind: Node}, objectMeta: {name: n1}}")
    made, cycles = run(settings("name: default-scheduler, bindDelay: 6"), node("n1"), pod("b"), gone)
    assert "default/b" not in made.framework.pods
    assert any(one.what == "NodeNotFound" for one in reported(made, cycles))


def test_kube_batch_has_a_view_too() -> None:
    """It reads of another scheduler's pod when that runs, and its watch tells it: until then it overbooks."""
    gang = (
        "{apiVersion: scheduling.incubator.k8s.io/v1alpha1, kind: Queue, metadata: {name: default}, "
        "spec: {weight: 1}}\n"
    )
    batch = pod("b", 2, of="kube-batch")
    later = history(
        "time: 1.5, createOperation: {object: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: "
        '{containers: [{name: c, resources: {requests: {cpu: "2"}}}]}}}',
        f"time: 3.6, createOperation: {{object: {batch.strip()}}}",
    )
    late = settings("name: default-scheduler", "name: kube-batch, watchDelay: 0.4")
    made, cycles = run(late, gang, node("n1", 2), later)
    assert refused(made, cycles) == []
    early = later.replace("time: 1.5", "time: 1.58").replace("time: 3.6,", "time: 1.59,")
    made, cycles = run(late, gang, node("n1", 2), early)
    assert refused(made, cycles) == ["default/b"]


def test_schedulers_that_are_not_late_run_as_without_the_list() -> None:
    """The list by itself changes nothing: the same simulation, the same trace."""
    plain = load("---\n".join((VIRTUAL, node("n1"), pod("a"))))
    listed = load("---\n".join((settings("name: default-scheduler"), node("n1"), pod("a"))))
    late = load("---\n".join((settings(FIRST), node("n1"), pod("a"))))
    assert type(simulate(plain)) is type(simulate(listed)) is TimedSimulation
    assert isinstance(simulate(late), SeveralSimulation)
    (one,), (other,) = simulate(plain), simulate(listed)
    assert (one.decision, one.time, one.view) == (other.decision, other.time, None)


def test_a_listed_scheduler_serves_its_pods_without_delays_too() -> None:
    """A name of the list is served, not only one that is late."""
    made, _ = run(settings("name: second"), node("n1"), pod("a", of="second"))
    assert made.placement() == {"default/a": "n1"}


def test_without_delays_the_views_decide_as_the_one_cluster_does() -> None:
    """The same pods on the same nodes as in the simulation without views."""
    pods = [pod(f"p{place}", 1 + place % 3) for place in range(9)]
    nodes = [node(f"n{place}", 3 + place) for place in range(4)]
    plain, _ = ended(VIRTUAL, *nodes, *pods)
    made, _ = run(settings("name: default-scheduler"), *nodes, *pods)
    assert made.placement() == plain.placement()


def test_a_run_is_rebuilt_from_its_decisions_and_continues_from_a_fork() -> None:
    """At every step, with what was under way."""
    bundle = (settings(FIRST, SECOND), node("n1", 2), node("n2", 2), pod("a", 2), pod("b", 2, of="second"))
    straight = several(*bundle)
    decisions = [cycle.decision for cycle in straight]
    again = several(*bundle)
    again.replay(decisions)
    assert not again.peek()
    assert again.placement() == straight.placement()
    for count in range(len(decisions)):
        made = several(*bundle)
        made.replay(decisions[:count])
        forked = made.fork(trace=True)
        assert [cycle.decision for cycle in forked] == decisions[count:]
        assert [cycle.decision for cycle in made] == decisions[count:]
        assert forked.ledger.outcomes == made.ledger.outcomes


WRONG = [
    ("name: default-scheduler, watchDelay: -1", "schedulers[0].watchDelay", "from 0 to 600"),
    ("name: default-scheduler, bindDelay: 50ms", "schedulers[0].bindDelay", "must be seconds"),
    ("watchDelay: 1", "schedulers[0]", "needs a name"),
    ("name: a, runs: v1.30", "schedulers[0].runs", "did you mean 'v1.37'"),
    ("name: a, runs: kube-batch", "schedulers[0].runs", "write name: kube-batch"),
    ("name: a, nodes: {pool: a}", "schedulers[0].nodes", "add that, or leave them out"),
]


@pytest.mark.parametrize(("one", "path", "remedy"), WRONG)
def test_what_is_wrong_is_said_with_its_line_and_a_remedy(one: str, path: str, remedy: str) -> None:
    """Every finding has the line of its entry."""
    with pytest.raises(BundleError) as caught:
        load("---\n".join((settings(one), node("n1"))))
    (problem,) = caught.value.problems
    assert (problem.path, problem.line) == (path, 8)
    assert remedy in problem.message


def test_without_virtual_time_the_list_is_reported() -> None:
    """v1.11 has no clock."""
    text = "apiVersion: podstep/v1\nkind: SimulationSettings\nschedulers: [{name: a, watchDelay: 1}]\n"
    warnings = [problem.message for problem in load(text + "---\n" + node("n1")).warnings]
    assert any("add time: virtual" in one for one in warnings)
