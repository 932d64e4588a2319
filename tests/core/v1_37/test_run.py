from __future__ import annotations

from tests.core.v1_37.parts import entities, node, pod, started


def test_a_pod_waits_for_a_node_that_fits_it() -> None:
    """It is tried again when one comes, and the move says which plugin hoped so."""
    run = started(node("small", cpu="1"), pod("p", cpu="2"))
    assert run.steps[0]["queue"]["default/p"]["unschedulablePlugins"] == ["NodeResourcesFit"]
    run.take({"do": "create", "object": node("large")})
    assert run.steps[1]["moves"] == [
        {"event": "NodeAdd", "pod": "default/p", "hints": {"NodeResourcesFit": "Queue"}, "to": "backoff"}
    ]
    assert run.final() == {"bound": {"default/p": "large"}, "waiting": [], "deleted": []}


def test_nothing_is_scheduled_while_steps_are_held() -> None:
    """The next step without hold schedules for all of them."""
    run = started(node("n"))
    run.take({"do": "create", "object": pod("a"), "hold": True})
    run.take({"do": "create", "object": pod("b", priority=1), "hold": True})
    assert (run.cycles, list(run.steps[2]["queue"])) == ([], ["default/a", "default/b"])
    run.take({"do": "advance", "seconds": 1})
    assert entities(run) == ["b", "a"]
    assert {cycle["step"] for cycle in run.cycles} == {3}


def test_a_step_ends_after_sixty_cycles() -> None:
    """The rest is scheduled in the next one."""
    run = started(node("n", pods="100"), *(pod(f"p{i}") for i in range(70)))
    assert len(run.cycles) == 60
    run.take({"do": "advance", "seconds": 0})
    assert len(run.cycles) == 70


def test_preemption_deletes_and_the_preemptor_is_gated_until_the_last_victim_is_gone() -> None:
    """Two victims: the first deletion leaves it gated, the second lets it back off, and it gets the node."""
    victims = [pod(name, node="n", cpu="2") for name in ("a", "b")]
    run = started(node("n"), *victims, pod("p", priority=10, cpu="4"))
    first, second = run.cycles
    assert (first["deleted"], second["bound"]) == (["default/a", "default/b"], {"default/p": "n"})
    assert [(move["hints"], move["to"]) for move in first["moves"]] == [
        ({"NodeResourcesFit": "Queue"}, None),
        ({"DefaultPreemption": "QueueSkip", "NodeResourcesFit": "Queue"}, "backoff"),
    ]


def test_a_pod_of_no_profile_is_never_queued() -> None:
    """It waits at the end, but in no queue."""
    run = started(node("n"), pod("p", schedulerName="somebody-else"))
    assert (run.cycles, run.steps[0]["queue"], run.final()["waiting"]) == ([], {}, ["default/p"])


def test_a_nominated_pod_that_is_deleted_counts_as_deleted_from_its_node() -> None:
    """Pods of no higher priority had left it room; others are not asked."""
    nominated = pod(
        "big", priority=5, cpu="2", schedulingGates=[{"name": "g"}], status={"nominatedNodeName": "n"}
    )
    waiting = [pod("low", cpu="2"), pod("high", cpu="3", priority=9)]
    run = started(node("n", cpu="2"), nominated, *waiting)
    assert run.final()["bound"] == {}
    run.take({"do": "delete", "kind": "Pod", "name": "big", "namespace": "default"})
    assert [(move["event"], move["pod"]) for move in run.steps[1]["moves"]] == [
        ("AssignedPodDelete", "default/low")
    ]
    assert run.final()["bound"] == {"default/low": "n"}


def test_a_patch_of_an_object_that_is_gone_changes_nothing() -> None:
    """The API server would refuse it; the run goes on."""
    run = started(node("n"), pod("p"))
    run.take({"do": "delete", "kind": "Pod", "name": "p", "namespace": "default"})
    run.take({"do": "patch", "kind": "Pod", "name": "p", "namespace": "default", "patch": {"metadata": {}}})
    assert run.final()["waiting"] == []


def test_a_pod_patched_to_its_end_leaves_room() -> None:
    """A finished pod does not exist for the scheduler."""
    run = started(node("n", cpu="2"), pod("old", node="n", cpu="2"), pod("p", cpu="2"))
    done = {"status": {"phase": "Succeeded"}}
    run.take({"do": "patch", "kind": "Pod", "name": "old", "namespace": "default", "patch": done})
    assert run.steps[1]["moves"][0]["event"] == "AssignedPodDelete"
    assert run.final()["bound"] == {"default/p": "n"}
