"""The preemption part: what it shows, how it is bounded, and the two commands that read on."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from playground.panels import steps
from playground.panels.preemption import (
    GROUP_NODES,
    ROWS,
    VALUES,
    VICTIMS,
    candidates,
    dry_run,
    outcome,
    preemption,
)
from playground.panels.sentences import Sentence
from playground.panels.story import story
from playground.playback.playback import Playback
from playground.storage import bundles
from scheduler_core import Simulation
from scheduler_core.authoring.examples import find
from scheduler_core.record.preemption import DryRun, Hopeless, NodeGroup, Preemption
from tests.e2e.bundles import asking_v1_11
from tests.playground.conftest import connected


def played(text: str) -> Playback:
    playback = Playback(bundles.parse([("", text)], presumed="v1.11"))
    while playback.advance(1):
        pass
    return playback


def text() -> str:
    """The example as v1.11 answers it."""
    found = find("making-room")
    assert found is not None
    return asking_v1_11(found.read())


def example() -> Playback:
    return played(text())


def part(playback: Playback, index: int) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(json.dumps(steps.parts(playback, index, ["preemption"])))["preemption"]
    return shown


def plain(sentences: list[Sentence]) -> list[str]:
    return [
        "".join(one if isinstance(one, str) else "".join(one.values()) for one in sentence)
        for sentence in sentences
    ]


def full_nodes(count: int, each: int) -> str:
    """Return nodes full of pods, and a pod that needs a node for itself."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {}, "status": {"allocatable": {"cpu": str(each)}}}
    node["status"]["allocatable"]["pods"] = "500"  # type: ignore[index]
    documents: list[dict[str, Any]] = []
    for number in range(count):
        documents.append({**node, "metadata": {"name": f"n{number:04}"}})
        documents += [pod(f"p{number:04}-{i}", "1", i, f"n{number:04}") for i in range(each)]
    tainted = {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}
    documents += [{**node, "metadata": {"name": f"t{i}"}, "spec": tainted} for i in range(GROUP_NODES + 20)]
    return "\n".join(json.dumps(d) for d in [*documents, pod("big", str(each), 1000, "")])


def pod(name: str, cpu: str, priority: int, on: str) -> dict[str, Any]:
    spec = {"priority": priority, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {**spec, "nodeName": on} if on else spec,
    }


def test_the_chosen_node_stands_first_and_the_earliest_dropped_last() -> None:
    """Candidates are in the order in which they stayed in the running, each with what dropped it."""
    playback = example()
    shown = part(playback, 1)
    names = playback.tables.node_wire()["names"]
    assert [
        (names[row["node"]], row["count"], row["violations"], row["lost"])
        for row in shown["candidates"]["rows"]
    ] == [
        ("worker-4", 1, 0, None),
        ("worker-5", 1, 0, 5),
        ("worker-3", 2, 0, 3),
        ("worker-2", 1, 0, 2),
        ("worker-1", 1, 1, 1),
    ]
    assert shown["candidates"]["rows"][4]["victims"] == [["default/db-0", 100, True]]
    assert [names[node] for node, _ in shown["criteria"][1]["out"]] == ["worker-1"]
    assert [row["decided"] for row in shown["criteria"]] == [False] * 5 + [True]


def test_the_outcome_is_reported_in_sentences() -> None:
    """What happened, by which criterion, or why nothing helps."""
    playback = example()
    assert plain(part(playback, 1)["outcome"]) == [
        "default/report-4 is deleted from worker-4 to make room for default/checkout.",
        "Of 5 candidate nodes it was chosen by: first by name.",
    ]
    assert part(playback, 2) == {
        "why": ("A node was found for default/checkout, so preemption was not needed.")
    }
    assert plain(part(playback, 3)["outcome"]) == [
        "No deletion helps default/nightly: 7 nodes hold no pod of lower priority."
    ]


@pytest.mark.parametrize(
    ("hopeless", "candidates", "reason"),
    [
        ([("still-unfit", 1)], [], "1 node has too little room even without pods of lower priority"),
        ([("nothing-lower", 2), ("still-unfit", 2)], [], "2 nodes hold no pod of lower priority and 2 nodes"),
        ([("unresolvable", 1)], [2], "on 1 node no pod would have to go, so none is deleted"),
        ([("nothing-lower", 1)], [1, 2], "1 node holds no pod of lower priority and on 2 nodes no pod would"),
        ([], [], "no node is left that a deletion would free"),
    ],
)
def test_where_no_deletion_helps_a_reason_is_reported(
    hopeless: list[tuple[Hopeless, int]], candidates: list[int], reason: str
) -> None:
    """Also where nodes are candidates that need no victim, which later releases do not choose."""
    cycle = next(iter(Simulation(bundles.parse([("", full_nodes(1, 1))]))))
    tried = Preemption(("n",), potential=np.arange(3))
    tried.hopeless = [NodeGroup(why, (), np.arange(nodes)) for why, nodes in hopeless]
    tried.candidates = [DryRun(node, [], [], {}, [], []) for node in candidates]
    (reported,) = plain(outcome(cycle, tried))
    assert reported.startswith(f"No deletion helps {cycle.pod}: {reason}")


def test_the_dry_run_of_the_chosen_node_comes_along() -> None:
    """Pods out in the order they stood there, then back one by one with the verdict on each."""
    playback = example()
    run = part(playback, 1)["run"]
    assert run["removed"] == ["default/web-4", "default/report-4", "default/logs-4"]
    assert run["steps"] == [
        ["default/web-4", 100, [], True, []],
        ["default/report-4", 10, [], False, ["Insufficient cpu"]],
        ["default/logs-4", 10, [], True, []],
    ]


def test_however_many_nodes_there_are_the_part_is_small() -> None:
    """Rows, victims, values and nodes of a reason are cut off; counts are exact."""
    playback = played(full_nodes(ROWS + 30, VICTIMS + 2))
    shown = part(playback, 1)
    rows = shown["candidates"]["rows"]
    assert (len(rows), shown["candidates"]["count"]) == (ROWS, ROWS + 30)
    assert {(len(row["victims"]), row["count"]) for row in rows} == {(VICTIMS, VICTIMS + 2)}
    named = shown["criteria"][-1]
    assert (len(named["stay"]), len(named["out"]), named["dropped"]) == (1, VALUES, ROWS + 29)
    (group,) = shown["hopeless"]
    assert (len(group["nodes"]), group["count"]) == (GROUP_NODES, GROUP_NODES + 20)
    assert len(json.dumps(shown)) < 64 * 1024


def test_pages_of_candidates_follow_one_another() -> None:
    """Each candidate is on one page, however much is asked for at once."""
    playback = played(full_nodes(ROWS + 30, 1))
    cycle = playback.cycle(1)
    at = playback.place(cycle).node_at
    first, second = candidates(cycle, at, 0, 10**6), candidates(cycle, at, ROWS, 10**6)
    assert (len(first["rows"]), len(second["rows"])) == (ROWS, 30)
    assert len({row["node"] for row in [*first["rows"], *second["rows"]]}) == ROWS + 30
    assert candidates(cycle, at, ROWS + 30, 5)["rows"] == []


def test_a_cycle_without_preemption_has_no_candidates() -> None:
    """Asking for pages or a dry run of such a cycle gives nothing."""
    playback = example()
    cycle = playback.cycle(2)
    at = playback.place(cycle).node_at
    assert candidates(cycle, at, 0, 10) == {"from": 0, "count": 0, "rows": []}
    assert dry_run(cycle, at, 0) is None


@pytest.mark.django_db(transaction=True)
async def test_the_socket_answers_pages_and_dry_runs() -> None:
    """The two commands read on where the part stops; a node that is no candidate is refused."""
    local = example()
    cycle = local.cycle(1)
    at = local.place(cycle).node_at
    async with connected() as socket:
        opened = await socket.success("bundle.open", {"text": text()})
        ask = {"source": {"draft": opened["draft"]}, "cycle": 1}
        page = await socket.success("preemption.candidates", {**ask, "from": 2, "count": 2})
        assert page == candidates(cycle, at, 2, 2)
        run = await socket.success("preemption.run", {**ask, "node": 0})
        assert run == json.loads(json.dumps(dry_run(cycle, at, 0)))
        assert run["steps"][0] == ["default/db-0", 100, ["default/db"], False, ["Insufficient cpu"]]
        refused = await socket.error("preemption.run", {**ask, "node": local.tables.node_index["gpu-1"]})
        assert (refused["code"], refused["field"]) == ("payload.invalid", "node")
        beyond = await socket.error("preemption.run", {**ask, "cycle": 99, "node": 0})
        assert beyond["code"] == "step.out-of-range"


WAITING = """
- {apiVersion: v1, kind: Node, metadata: {name: one}, status: {allocatable: {cpu: "1", pods: "9"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: leaving, deletionTimestamp: "2018-06-01T00:00:00Z"},
   spec: {nodeName: one, priority: 0, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: p}, status: {nominatedNodeName: one},
   spec: {priority: 2, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: other},
   spec: {priority: 2, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
"""


def test_a_pod_that_waits_for_its_victims_is_reported_so() -> None:
    """The outcome names who is still leaving; the story tells of the nominated pod that counts first."""
    listed = "apiVersion: v1\nkind: List\nitems:" + WAITING
    playback = played(listed)
    shown = part(playback, 1)
    assert (shown["eligible"], shown["leaving"]) == (False, ["default/leaving"])
    assert plain(shown["outcome"]) == [
        "Nothing is tried: default/p is nominated to one, where default/leaving is still leaving."
    ]
    reported = plain(story(playback.cycle(2), []))
    assert "default/p is nominated to one and counted there first. With it there the node fails." in reported


def test_a_pod_that_preempts_nobody_is_reported_so() -> None:
    """With preemptionPolicy Never the panel and the story name the policy, and nothing is tried."""
    never = WAITING.replace("spec: {priority: 2,", "spec: {priority: 2, preemptionPolicy: Never,", 1)
    playback = played(
        "apiVersion: v1\nkind: List\nitems:" + never.replace("status: {nominatedNodeName: one},", "")
    )
    shown = part(playback, 1)
    assert (shown["eligible"], shown["leaving"], shown["candidates"]["count"]) == (False, [], 0)
    assert plain(shown["outcome"]) == [
        "Nothing is tried: default/p has preemptionPolicy Never and deletes no pods."
    ]
    assert "Preemption is not tried: default/p has preemptionPolicy Never." in plain(
        story(playback.cycle(1), [])
    )


def test_a_single_candidate_and_an_error_are_reported_as_such() -> None:
    """Nothing was compared; and after an error preemption is not tried."""
    single = played(full_nodes(1, 1))
    assert plain(part(single, 1)["outcome"])[-1] == "It was the only candidate."
    claim = '{"persistentVolumeClaim": {"claimName": "none"}, "name": "v"}'
    failing = full_nodes(1, 1).replace('"priority": 1000,', f'"priority": 1000, "volumes": [{claim}],')
    assert preemption(played(failing).cycle(1), [0])["why"].startswith("The attempt ended in an error")


def test_a_choice_that_came_to_nothing_is_reported_with_the_api_servers_answer() -> None:
    """A preemptor whose victim was gone already is not nominated, and the outcome says why."""
    cycles = Simulation(bundles.parse([("", text())]))
    cycle = next(one for one in cycles if one.preemption is not None)
    assert cycle.preemption is not None
    tried = replace(cycle.preemption, chosen=None, undone='pods "victim" not found')
    reported = "".join(part if isinstance(part, str) else "" for part in outcome(cycle, tried)[0])
    assert 'pods "victim" not found' in reported
