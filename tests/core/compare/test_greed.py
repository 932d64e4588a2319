"""The price of greed: the optimum beside what schedulers place, and the moves as a bundle."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scheduler_core import load
from scheduler_core.compare.optimum.contenders import CONTENDERS
from scheduler_core.compare.optimum.greed import Greed, nothing, price_of_greed
from scheduler_core.compare.optimum.optimum import Optimum
from scheduler_core.compare.optimum.snapshot import ShortRunError
from scheduler_core.run.table import simulate

NODES = "\n---\n".join(
    f"{{kind: Node, apiVersion: v1, metadata: {{name: n{n}}}, status: {{allocatable: "
    f"{{cpu: '4', memory: 8Gi, pods: '10'}}}}}}"
    for n in (1, 2)
)
SETTINGS = "{kind: SimulationSettings, apiVersion: podstep/v1, scheduler: v1.11}"


def pod(name: str, cpu: str, node: str = "") -> str:
    """Return a pod, on a node if it is named."""
    place = f"nodeName: {node}, " if node else ""
    return (
        f"{{kind: Pod, apiVersion: v1, metadata: {{name: {name}}}, spec: {{{place}containers: "
        f"[{{name: c, resources: {{requests: {{cpu: '{cpu}', memory: 1Gi}}}}}}]}}}}"
    )


# First two small pods, which spread, then one that would need a whole node.
GREEDY = "\n---\n".join((SETTINGS, NODES, pod("a", "1"), pod("b", "1"), pod("whole", "4")))


def priced(text: str, step: int = 0, *objectives: str, move: bool = False) -> Greed:
    """Return the price of greed of a bundle."""
    return price_of_greed(load(text), step, objectives or ("most-pods",), 5.0, move=move)


def test_schedulers_that_spread_leave_a_pod_that_the_optimum_places() -> None:
    """They give each small pod a node of its own; Firmament refuses an exact fit."""
    found = priced(GREEDY)
    figures = {row.scheduler: row.figures for row in found.rows}
    assert list(figures) == ["optimum", *CONTENDERS]
    assert all(one is not None for one in figures.values())
    placed = {name: one.placed for name, one in figures.items() if one is not None}
    assert placed == {"optimum": 3, "v1.11": 2, "v1.37": 2, "kube-batch": 3, "Firmament": 2}
    best = figures["optimum"]
    assert best is not None and best.placed == found.optimum.proofs[0].value
    assert (best.nodes, best.share, best.pending) == (2, 1000, 0)


def test_the_moves_are_a_bundle_that_leads_there_in_steps() -> None:
    """Evictions first; a cycle for each binding; running pods that stay are in it."""
    text = "\n---\n".join((SETTINGS, NODES, pod("a", "1", "n1"), pod("b", "1", "n2"), pod("whole", "4")))
    assert priced(text).optimum.moves == ()
    found = priced(text, 0, "most-pods", "fewest-moves", move=True)
    assert [move.action for move in found.optimum.moves] == ["evict", "bind", "bind"]
    simulation = simulate(load(found.bundle))
    cycles = list(simulation)
    assert [cycle.node for cycle in cycles] == [m.node for m in found.optimum.moves if m.action == "bind"]
    assert simulation.placement() == found.optimum.placements


def test_a_pod_that_stays_pending_is_no_part_of_the_moves() -> None:
    """So that no scheduler places what the optimum leaves."""
    text = "\n---\n".join((SETTINGS, NODES, pod("a", "4"), pod("b", "4"), pod("c", "4")))
    found = priced(text)
    assert len(found.optimum.pending) == 1
    assert found.optimum.pending[0] not in simulate(load(found.bundle)).placement()


def test_a_later_step_counts_what_was_placed_until_then() -> None:
    """After two cycles nothing can be done without moving pods; beyond the end is an error."""
    assert priced(GREEDY, 2).pending == 1 and priced(GREEDY, 2).optimum.moves == ()
    assert len(priced(GREEDY, 2, "most-pods", move=True).optimum.placements) == 3
    with pytest.raises(ShortRunError, match="after 3 cycles"):
        priced(GREEDY, 9)


def test_what_is_infeasible_says_what_to_do() -> None:
    """Running pods that do not fit where they are, and must stay somewhere."""
    found = priced("\n---\n".join((SETTINGS, NODES, *(pod(f"p{n}", "3", "n1") for n in range(3)))), move=True)
    assert not found.optimum.feasible
    assert found.rows[0].figures is None and "choose an earlier step" in found.rows[0].why


def placed(found: Greed) -> dict[str, int]:
    """Return how many pods each places."""
    return {row.scheduler: row.figures.placed for row in found.rows if row.figures is not None}


def in_group(name: str, field: str) -> str:
    """Return a pod of three cores that names the group g: two of it fit."""
    made = pod(name, "3")
    if field == "schedulingGroup":
        return made.replace("spec: {", "spec: {schedulingGroup: {podGroupName: g}, ", 1)
    return made.replace(f"{{name: {name}}}", f"{{name: {name}, annotations: {{{field}: g}}}}", 1)


BATCH = (
    "{apiVersion: scheduling.incubator.k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g}, "
    "spec: {minMember: 3}}"
)
GANG = (
    "{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: g}, "
    "spec: {schedulingPolicy: {gang: {minCount: 3}}}}"
)
GATED = SETTINGS.replace("v1.11", "v1.37, featureGates: {GenericWorkload: true}")
SERVICE = "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {selector: {app: x}}}"
OWNERS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {firmament-gang-scheduling: "100"}}
    spec: {containers: [{name: c, resources: {requests: {cpu: "3", memory: 1Gi}}}]}
"""


@pytest.mark.parametrize(
    ("reader", "settings", "group", "field"),
    [
        ("kube-batch", SETTINGS, BATCH, "scheduling.k8s.io/group-name"),
        ("v1.37", GATED, GANG, "schedulingGroup"),
        ("Firmament", SETTINGS, OWNERS, ""),
    ],
    ids=("kube-batch", "v1.37", "Firmament"),
)
def test_who_reads_a_gang_places_all_of_it_or_nothing(
    reader: str, settings: str, group: str, field: str
) -> None:
    """The others place what fits, and are said not to read it; an owner's pods are no more than they are."""
    members = [in_group(name, field) for name in "abc"] if field else []
    found = priced("\n---\n".join((settings, NODES, group, *members)))
    assert found.pending == 3
    assert placed(found) == {name: 0 if name == reader else 2 for name in ("optimum", *CONTENDERS)}
    unread = {row.scheduler for row in found.rows if any("PodGroup" in part for part in row.left_out)}
    assert unread == (set(CONTENDERS) - {reader} if field else set())


def test_what_a_scheduler_does_not_read_is_named() -> None:
    """By kind and number, and by field."""
    devices = "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}}"
    gated = pod("gated", "1").replace("spec: {", "spec: {schedulingGates: [{name: wait}], ", 1)
    found = priced(f"{SETTINGS}\n---\n{NODES}\n---\n{SERVICE}\n---\n{devices}\n---\n{gated}")
    left_out = {row.scheduler: row.left_out for row in found.rows}
    assert left_out["v1.37"] == ()
    assert left_out["v1.11"] == ("DeviceClass (1)", "spec.schedulingGates")
    assert set(left_out["Firmament"]) == {"DeviceClass (1)", "Service (1)", "spec.schedulingGates"}


def test_a_service_spreads_its_pods_under_v1_11() -> None:
    """Without it the second one is placed where more is free."""
    first, second = (
        pod(name, "1m", node).replace("}, spec", ", labels: {app: x}}, spec", 1)
        for name, node in (("first", "n1"), ("second", ""))
    )
    cluster = [SETTINGS, NODES, first, pod("big", "3", "n2"), second]
    for documents, node in ((cluster, "n1"), ([*cluster, SERVICE], "n2")):
        rows = priced("\n---\n".join(documents)).rows
        figures = next(row.figures for row in rows if row.scheduler == "v1.11")
        assert figures is not None and figures.placements["default/second"] == node


def test_the_search_is_no_worse_than_the_schedulers_it_begins_with() -> None:
    """However short it is."""
    nodes = "\n---\n".join(NODES.split("\n---\n")[0].replace("n1", f"m{n}") for n in range(30))
    pods = (pod(f"p{n}", f"{100 + 37 * n % 1100}m") for n in range(110))
    scenario = load("\n---\n".join((SETTINGS, nodes, *pods)))
    for seconds in (1.0, 5.0, 25.0):  # a busy machine gets nowhere in one
        found = price_of_greed(scenario, 0, ("most-pods", "balance"), seconds)
        if found.optimum.proofs:
            break
    assert "most-pods" in [one.objective for one in found.optimum.proofs]
    best, *others = (row.figures for row in found.rows)
    assert best is not None
    assert best.share <= min(one.share for one in others if one is not None and one.placed == best.placed)


def test_nothing_found_in_time_is_not_called_infeasible() -> None:
    """The rules may allow a placement all the same."""
    short = Optimum(False, (), {}, (), (), (), ("balance",))
    assert "more seconds" in nothing(short) and "more seconds" not in nothing(replace(short, unsearched=()))


def with_priority(name: str, cpu: str, priority: int, node: str = "", more: str = "") -> str:
    """Return a pod of a priority."""
    return pod(name, cpu, node).replace("spec: {", f"spec: {{priority: {priority}, {more}", 1)


ROOM = (
    with_priority("low", "4", 0, "n1"),
    with_priority("small", "1", 0, "n2"),
    with_priority("mid", "3", 500, "n2"),
    with_priority("high", "4", 1000),
)
QUESTIONS = {
    "nobody is evicted": (ROOM, False, "most-pods", 0, []),
    "one for one": (ROOM, True, "most-pods", 0, None),
    "the lowest priority goes": (ROOM, True, "priorities", 1000, ["low"]),
    "not for an equal priority": ((*ROOM[:3], with_priority("high", "4", 0)), True, "priorities", 0, []),
    "not for one that never preempts": (
        (*ROOM[:3], with_priority("high", "4", 1000, more="preemptionPolicy: Never, ")),
        True,
        "priorities",
        0,
        [],
    ),
    "not elsewhere than where the room is taken": (
        (*ROOM[:3], with_priority("high", "3", 100)),
        True,
        "priorities",
        100,
        ["low"],
    ),
}


@pytest.mark.parametrize(
    ("pods", "evict", "objective", "value", "evicted"), QUESTIONS.values(), ids=QUESTIONS
)
def test_no_scheduler_is_better_than_the_optimum_of_its_own_question(
    pods: tuple[str, ...], evict: bool, objective: str, value: int, evicted: list[str] | None
) -> None:
    """Both may evict pods of lower priority, or neither; each is reported to be improved, equal or proven."""
    text = "\n---\n".join((SETTINGS, NODES, *pods))
    found = price_of_greed(load(text), 0, (objective,), 5.0, evict=evict)
    assert found.optimum.proofs[0].value == value and found.optimum.proofs[0].optimal
    gone = sorted(key.partition("/")[2] for key in found.optimum.evicted)
    assert evicted is None or gone == evicted
    verdicts = {row.scheduler: row.verdict for row in found.rows[1:]}
    assert set(verdicts.values()) <= {"improved", "optimal"}
    assert verdicts["v1.37"] == "optimal"
    for row in found.rows[1:]:
        assert row.figures is not None and (evict or row.figures.evicted == 0)


def test_evictions_are_moves_that_make_room() -> None:
    """A pod that is evicted for another has no binding."""
    found = price_of_greed(
        load("\n---\n".join((SETTINGS, NODES, *ROOM))), 0, ("priorities",), 5.0, evict=True
    )
    moves = [(move.action, move.pod, move.node) for move in found.optimum.moves]
    assert moves == [("evict", "default/low", "n1"), ("bind", "default/high", "n1")]
    assert simulate(load(found.bundle)).scenario.operations
