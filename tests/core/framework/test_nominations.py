"""Nominations: what they let a pod do first, and what does not end them."""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.schedulers.v1_22.releases import V1_22
from scheduler_core.schedulers.v1_22.scheduler import Framework
from tests.core.coscheduling.parts import node, pod
from tests.core.framework.test_bind_points import Spy, first_attempt


def nominated(made: Framework, key: str, host: str) -> None:
    """Nominate a waiting pod to a node."""
    state = made.queue.pods[key].state
    state.nominated = host
    made.queue.nominate(state)


def test_a_nominated_node_is_taken_before_better_ones() -> None:
    """Where it passes, nothing is scored: the larger node would have been better (PreferNominatedNode)."""
    for host, chosen, scored in (("small", "small", False), ("", "large", True), ("gone", "large", True)):
        made = Framework([node("small", 1000), node("large", 9000), pod("p", "", cpu=600)], ())
        made.take_turns()
        nominated(made, "ns/p", host)
        made.run(0.5)
        attempt = first_attempt(made)
        assert (attempt.node, attempt.scored is not None) == (chosen, scored)


def test_a_nomination_outlives_a_patch_while_the_pod_waited() -> None:
    """Rejected at Permit, a pod is queued as its user wrote it meanwhile, and stays nominated (1.22)."""
    made = Framework([node("n", 1000), pod("p", "", cpu=600)], (Spy("spy", [], waits=5.0),), release=V1_22)
    made.take_turns()
    nominated(made, "ns/p", "n")
    made.run(1)
    assert made.waiting.get("ns/p") is not None
    stored = made.pods["ns/p"]
    made.pods["ns/p"] = replace(stored, meta=replace(stored.meta, labels={"colour": "red"}))
    made.run(5.5)
    again = made.queue.pods["ns/p"].state
    assert (again.pod.meta.labels, again.nominated) == ({"colour": "red"}, "n")
    assert [one.key for one in made.queue.nominator.nominated_to("n")] == ["ns/p"]
