"""Panels of a cycle of kube-scheduler v1.37, and what a stored scenario keeps of its release."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from playground.panels.cycle import PARTS, light
from playground.panels.priorities import explained
from playground.playback.playback import Playback
from playground.storage import bundles
from scheduler_core import load
from scheduler_core.authoring.examples import find
from scheduler_core.run import simulate
from scheduler_core.run.simulation import TimedSimulation

NODES = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", pods: "9"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: "8", pods: "9"}}
"""
PODS = """---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {nodeSelector: {disk: nvme}, containers: [{name: c}]}
"""
MODERN = "---\nkind: SimulationSettings\nscheduler: v1.37\n"
OLD = "---\nkind: SimulationSettings\nscheduler: v1.11\n"


def played(text: str) -> Playback:
    """Return a bundle played to its end."""
    playback = Playback(load(text))
    while playback.advance(1):
        pass
    return playback


def part(playback: Playback, index: int, name: str) -> Any:
    """Return a part of a cycle."""
    cycle = playback.cycle(index)
    return PARTS[name](cycle, playback.place(cycle))


def reported(playback: Playback, index: int) -> str:
    """Return the story's text."""
    cycle = playback.cycle(index)
    sentences = light(cycle, playback.place(cycle))["story"]
    return "".join(p if isinstance(p, str) else next(iter(p.values())) for s in sentences for p in s)


SPREAD = """---
apiVersion: v1
kind: Pod
metadata: {name: spread, labels: {app: web}}
spec:
  containers: [{name: c}]
  topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: web}}
"""
ZONES = "".join(
    f"""---
apiVersion: v1
kind: Node
metadata: {{name: n{number}, labels: {{zone: z{number % 40}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
"""
    for number in range(41)
)
BESIDE = """---
apiVersion: v1
kind: Pod
metadata: {name: beside, labels: {app: web}}
spec: {nodeName: n7, containers: [{name: c}]}
"""


def test_the_filter_tab_has_the_pods_of_each_domain() -> None:
    """By constraint: the domains with the fewest pods first, how many there are, and how many are full."""
    playback = played(ZONES + BESIDE + SPREAD + MODERN)
    [spread] = part(playback, 1, "predicates")["spread"]
    assert (spread["key"], spread["maxSkew"], spread["least"], spread["itself"]) == ("zone", 1, 0, True)
    assert (len(spread["domains"]), spread["number"], spread["refused"]) == (30, 40, 1)
    assert spread["domains"][0] == ["z0", 0, False]
    assert part(played(NODES + PODS + MODERN), 1, "predicates")["spread"] == []


def test_a_node_that_is_tried_first_is_reported_as_such() -> None:
    """After preemption the pod fits on its nominated node, and no other one is looked at."""
    example = find("making-room")
    assert example is not None
    playback = played(example.read())
    stories = [reported(playback, index) for index in range(1, len(playback) + 1)]
    assert any(
        "to which the pod was nominated, fits, so filters ran on no other node" in one for one in stories
    )
    assert not any("Filters ran on 1 of" in one for one in stories)


def test_panels_show_plugins_scores_and_hints() -> None:
    """Any step is rebuilt by replay; its parts name the plugins of v1.37."""
    playback = played(NODES + PODS + MODERN)
    assert len(playback) == 2
    predicates = part(playback, 2, "predicates")
    affinity = predicates["order"].index("NodeAffinity")
    assert predicates["fails"] == [[0, 1], [affinity] * 2, [1, 1]]
    assert predicates["reasons"][1] == ["node(s) didn't match Pod's node affinity/selector"]
    assert predicates["order"].index("PodTopologySpread") in predicates["unneeded"]
    assert predicates["outside"] == []
    scores = part(playback, 1, "priorities")
    rows = {row["name"]: row for row in scores["rows"]}
    assert (rows["NodeResourcesFit"]["weight"], rows["NodeResourcesFit"]["raw"]) == (1, [75, 87])
    assert (scores["release"], scores["inTurn"]) == ("v1.37", False)
    assert "NodeAffinity" in scores["unscored"]
    assert [said[0]["priority"] for said in scores["said"]] == ["NodeResourcesBalancedAllocation"]
    assert {row["kind"] for row in scores["rows"]} == {"plugin"}
    assert part(playback, 2, "priorities")["why"].startswith("No node passed all filters")
    with playback.before(1) as before:
        cell = explained(playback.cycle(1), before, [0, 1], 1, list(rows).index("NodeResourcesFit"))
    assert cell is not None
    assert (cell["map"], cell["score"], cell["weighted"]) == (87, 87, 87)
    assert (cell["kind"], cell["reference"]) == ("plugin", "NodeResourcesFit")
    hints = part(playback, 2, "hints")
    (pod,) = hints["pods"]
    assert (pod["pod"], hints["count"]) == ("default/b", 1)
    assert pod["wakes"][0]["plugin"] == "NodeAffinity"
    assert "disk=nvme" in pod["wakes"][0]["text"]
    assert part(playback, 1, "cache")["gone"]
    queue = part(playback, 1, "queue")["timed"]
    assert queue["counts"]["active"] == 1
    assert part(playback, 2, "preemption")["potential"] == 0
    for name, make in PARTS.items():
        assert make(playback.cycle(1), playback.place(playback.cycle(1))) is not None, name


def test_the_story_names_the_release() -> None:
    """And says what would wake a pod that sleeps; v1.11's says neither."""
    playback = played(NODES + PODS + MODERN)
    assert "kube-scheduler v1.37 runs this cycle" in reported(playback, 1)
    asleep = reported(playback, 2)
    assert "waits in the unschedulable queue until an event moves it" in asleep
    assert "until a node with disk=nvme is added" in asleep
    former = played(NODES + PODS + OLD)
    assert "v1.37" not in reported(former, 1)
    assert "another release" in part(former, 1, "hints")["why"]


def test_a_walk_that_ends_early_is_not_a_failure() -> None:
    """Nodes that the walk did not come to are outside of the ladder, and have no verdict."""
    nodes = "".join(
        f"---\napiVersion: v1\nkind: Node\nmetadata: {{name: m{n:03}}}\n"
        "status: {allocatable: {cpu: '4', pods: '9'}}\n"
        for n in range(150)
    )
    configuration = (
        "---\napiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "percentageOfNodesToScore: 10\n"
    )
    playback = played(nodes + PODS + configuration)
    cycle = playback.cycle(1)
    assert len(part(playback, 1, "predicates")["outside"]) == 50 - 1
    assert light(cycle, playback.place(cycle))["ladder"][0][1:] == [101, 101]
    assert len(cycle.feasible) == 100
    assert "Filters ran on 101 of 150 nodes" in reported(playback, 1)


@pytest.mark.django_db
def test_a_stored_scenario_keeps_its_release() -> None:
    """What was stored before v1.37 could answer stays with the framework; what is stored now says which."""
    text = (
        NODES + PODS + "---\napiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    )
    scenario = load(text)
    assert scenario.release == "v1.37"
    former = bundles.restore(bundles.pack(scenario.canonical()))
    assert former.release == "v1.22"
    assert isinstance(simulate(former), TimedSimulation)
    named = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.22"}
    assert former.documents == (*scenario.documents, named)
    assert bundles.restore(bundles.pack(bundles.content_of(scenario))).release == "v1.37"
    living = load(f"{text}---\nkind: SimulationSettings\nscheduler: v1.37\ntime: virtual\n")
    static = bundles.restore(bundles.pack(bundles.content_of(replace(living, lives=False))))
    assert (living.lives, static.lives, static.release) == (True, False, "v1.37")
    assert bundles.restore(bundles.pack(bundles.content_of(living))).lives
    dump = load(NODES.replace("status: {", "status: {nodeInfo: {kubeletVersion: v1.37.1}, ") + PODS)
    assert dump.release == "v1.37"
    assert bundles.restore(bundles.pack(dump.canonical())).release == "v1.11"


MANY = "".join(
    f"---\nkind: Node\napiVersion: v1\nmetadata: {{name: n{at}}}\nstatus: {{allocatable: {{pods: 9}}}}\n"
    for at in range(130)
)
FEW_SCORED = """---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 5
"""
ON_N2 = """affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms:
  [{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}]}}}"""


@pytest.mark.parametrize(
    ("affinity", "fit", "outside", "sentence"),
    [
        (
            "",
            101,
            29,
            "101 of 130 nodes, from position 1 of the walk on. There it found one more than the 100 feasible",
        ),
        (ON_N2, 1, 0, "Filters ran on 1 of 130 nodes: PreFilter left the others out."),
    ],
    ids=["enough", "left-out"],
)
def test_the_story_says_where_the_walk_ended(affinity: str, fit: int, outside: int, sentence: str) -> None:
    """Nodes that the walk did not come to are not refused; those that PreFilter leaves out are."""
    pod = "---\nkind: Pod\napiVersion: v1\nmetadata: {name: p}\nspec:\n  containers: [{name: c}]\n  "
    playback = played(f"{MANY}{pod}{affinity}\n{FEW_SCORED}")
    assert sentence in reported(playback, 1)
    assert len(part(playback, 1, "predicates")["outside"]) == outside
    assert light(playback.cycle(1), playback.place(playback.cycle(1)))["ladder"][-1][2] == fit
