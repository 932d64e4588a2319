"""Run to the next cycle of which a condition holds, by itself, over the socket and over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import jsonschema
import pytest
from django.test import Client

from playground.api.document import SCHEMAS
from playground.calls.faults import RequestFieldError
from playground.playback import cycle_search
from playground.playback.cycle_search import Finder, FoundCycle, Search, SearchRequest, condition_of
from playground.playback.playback import Playback
from scheduler_core import load
from scheduler_core.authoring.examples import find
from scheduler_core.record.cycle import Cycle
from scheduler_core.schedulers.coscheduling.record import record_of
from tests.playground.conftest import connected

DATA = Path(__file__).parent / "data"
SELECTOR = """apiVersion: v1
kind: Node
metadata: {{name: n{n}, labels: {{disk: {disk}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "20"}}, nodeInfo: {{kubeletVersion: v1.11.10}}}}
"""
POD = """apiVersion: v1
kind: Pod
metadata: {{name: p{n}}}
spec: {{nodeSelector: {{{selector}}}, containers: [{{name: c, image: c}}]}}
"""


def picky() -> str:
    """Three nodes of v1.11, ten pods; the seventh alone wants an SSD, which n2 alone has."""
    nodes = [SELECTOR.format(n=n, disk="ssd" if n == 2 else "hdd") for n in (1, 2, 3)]
    pods = [POD.format(n=n, selector="disk: ssd" if n == 7 else "") for n in range(1, 11)]
    return "---\n".join([*nodes, *pods])


def example(slug: str) -> str:
    found = find(slug)
    assert found is not None
    return found.read()


def searched(
    playback: Playback,
    conditions: Iterable[str],
    start: int = 0,
    direction: str = "forward",
    to: int | None = None,
    met: Iterable[str] = (),
) -> FoundCycle:
    """Do a search to its end."""
    asked = SearchRequest(conditions=list(conditions), first=start, direction=direction, to=to, met=list(met))
    work = Finder(playback, Search.of(asked)).run()
    while True:
        try:
            next(work)
        except StopIteration as end:
            found: FoundCycle = end.value
            return found


def everywhere(playback: Playback, condition: str) -> tuple[list[int], list[int]]:
    """Return all cycles of which a condition holds, walked through forward, and backward."""
    ways: list[list[int]] = []
    for direction in ("forward", "backward"):
        at, cycles = (0 if direction == "forward" else 10**6), []
        while (found := searched(playback, [condition], at, direction)).index:
            cycles.append(at := found.index)
            assert len(cycles) <= len(playback)
        ways.append(cycles)
    return ways[0], ways[1][::-1]


def failed(cycle: Cycle, predicate: str) -> bool:
    matrix = cycle.matrix
    if matrix is None or predicate not in matrix.order:
        return False
    return bool((matrix.codes[matrix.order.index(predicate)] > 0).any())


# What each condition means, written once more from the cycles themselves.
MEANS: dict[str, Callable[[Cycle], bool]] = {
    "unschedulable": lambda cycle: cycle.result in ("unschedulable", "error"),
    "preemption": lambda cycle: bool(cycle.decision.victims or cycle.decision.nominated),
    "stale": lambda cycle: cycle.cache is not None and bool(cycle.cache.counts.stale),
    "restart": lambda cycle: cycle.restart is not None,
    "operation": lambda cycle: bool(cycle.operations),
    "quirk": lambda cycle: bool(cycle.quirks),
    "tie": lambda cycle: len(cycle.ties) > 1 and cycle.node is not None,
    "group": lambda cycle: bool(record_of(cycle).marks),
    "predicate:": lambda cycle: cycle.matrix is not None and bool((cycle.matrix.codes > 0).any()),
    "predicate:GeneralPredicates": lambda cycle: failed(cycle, "GeneralPredicates"),
}
TEXTS = {
    "preempt": (DATA / "preempt.yaml").read_text(),
    "restart": (DATA / "restart.yaml").read_text(),
    "cache": (DATA / "cache.yaml").read_text(),
    "churn": (DATA / "timed" / "churn.yaml").read_text(),
    "shop": example("shop"),
    "quirks": example("quirks"),
    "gang": example("coscheduling-no-room"),
}


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_walk_meets_every_cycle_that_it_means_and_no_other(name: str) -> None:
    """Forwards and backwards, a condition holds of the cycles whose record says so."""
    playback, walked = Playback(load(TEXTS[name])), Playback(load(TEXTS[name]))
    while playback.advance(1):
        pass
    cycles = [playback.cycle(index) for index in range(1, len(playback) + 1)]
    for condition, holds in MEANS.items():
        expected = [cycle.index for cycle in cycles if holds(cycle)]
        assert everywhere(walked, condition) == (expected, expected), condition


def test_the_texts_between_them_have_a_cycle_for_every_kind() -> None:
    """No condition is compared on nothing but cycles of which it does not hold."""
    met = {
        condition
        for condition in MEANS
        if any(searched(Playback(load(text)), [condition]).index for text in TEXTS.values())
    }
    assert met == set(MEANS)


def test_a_member_of_general_predicates_is_found_by_its_own_name() -> None:
    """MatchNodeSelector is run inside GeneralPredicates, and yet it is what stopped the pod on n3."""
    playback = Playback(load(picky()))
    for condition in ("predicate:MatchNodeSelector", "predicate:GeneralPredicates"):
        assert searched(playback, [condition]).index == 7
    found = searched(playback, ["predicate:MatchNodeSelector@n3"])
    assert found.why == ((0, "MatchNodeSelector failed on n3"),)
    assert (
        searched(playback, ["predicate:MatchNodeSelector"]).why[0][1]
        == "MatchNodeSelector failed on n1 and n3"
    )
    assert not searched(playback, ["predicate:MatchNodeSelector@n2"]).index
    assert not searched(playback, ["predicate:PodFitsHostPorts"]).index
    assert searched(playback, ["predicate:@n1"], 10, "backward").index == 7


def test_a_pod_and_a_node_are_met_wherever_something_befalls_them() -> None:
    """A pod that is evicted and a node that is nominated, changed or chosen are met there."""
    text = TEXTS["preempt"]
    playback = Playback(load(text))
    first = searched(playback, ["preemption"])
    decision = playback.trail.decisions[first.index - 1]
    (victim, *_), node = decision.victims, decision.nominated
    found = searched(playback, [f"pod:{victim}"], first.index - 1)
    assert (found.index, found.why) == (first.index, ((0, f"{victim} is deleted"),))
    assert searched(playback, [f"node:{node}"], first.index - 1).why == (
        (0, f"{decision.pod} is nominated to {node}"),
    )
    assert searched(playback, [f"pod:{decision.pod}"]).why == ((0, f"{decision.pod} is tried"),)
    assert searched(Playback(load(TEXTS["cache"])), ["node:n1"], 7).why == ((0, "n1 changes"),)


def test_what_holds_at_once_is_reported_at_once() -> None:
    """All conditions that hold of the cycle are reported, by their places."""
    playback = Playback(load(picky()))
    found = searched(playback, ["cycle:8", "predicate:MatchNodeSelector", "cycle:7", "pod:default/p7"])
    assert [place for place, _ in found.why] == [1, 2, 3]
    assert searched(playback, ["cycle:3", "predicate:"], 10, "backward").index == 7
    assert searched(playback, ["cycle:3", "predicate:"], 7, "backward").index == 3


def test_a_search_ends_where_it_is_reported_to() -> None:
    """`to` is the last cycle that is looked at, in both directions."""
    playback = Playback(load(picky()))
    assert searched(playback, ["predicate:"], to=6) == FoundCycle(0, (), 6, over=True)
    assert searched(playback, ["predicate:"], to=7).index == 7
    assert not searched(playback, ["predicate:"], 10, "backward", to=8).index
    assert searched(playback, ["predicate:"], 10, "backward", to=7).index == 7


def test_a_tie_of_a_workload_that_was_met_counts_no_more() -> None:
    """Replicas of a Deployment tie in every cycle; who has seen one goes past the others."""
    playback = Playback(load(TEXTS["cache"]))
    first = searched(playback, ["tie"])
    owner = playback.tables.pods[playback.tables.pod_index[playback.trail.decisions[0].pod]].meta.controller
    assert first.index == 1 and owner is not None
    assert not searched(playback, ["tie"], met=[f"{owner.kind} default/{owner.name}"]).index


def test_a_quirk_that_was_met_counts_no_more() -> None:
    """Who has seen a quirk goes past its other cycles, and is mentioned another one."""
    playback = Playback(load(TEXTS["quirks"]))
    first = searched(playback, ["quirk"])
    known = {quirk.id for quirk in playback.cycle(first.index).quirks}
    rest = searched(playback, ["quirk"], first.index, met=known)
    assert first.index and rest.index > first.index
    assert not known & {
        quirk.id for quirk in playback.cycle(rest.index).quirks if quirk.text in rest.why[0][1]
    }
    everything = {quirk.id for index in range(1, len(playback) + 1) for quirk in playback.cycle(index).quirks}
    assert not searched(playback, ["quirk"], met=everything).index


def test_a_group_is_met_in_a_phase() -> None:
    """A PodGroup's phase can be asked for alone, of one group or of any."""
    playback = Playback(load(TEXTS["gang"]))
    found = searched(playback, ["group"])
    groups = playback.trail.marks(1, len(playback))["groups"]
    [index, _, group, phase] = next(turn for turn in groups if turn[1] == "phase")
    assert found.index == groups[0][0]
    assert searched(playback, [f"group:{group}@{phase}"]).index == index
    assert not searched(playback, [f"group:{group}@Nonsense"]).index


def test_a_long_way_back_is_gone_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks smaller than the way meet the same cycle: the last one before."""
    monkeypatch.setattr(cycle_search, "FIRST_BACK", 1)
    monkeypatch.setattr(cycle_search, "MOST_BACK", 2)
    monkeypatch.setattr(cycle_search, "BLOCK", 2)
    playback = Playback(load(picky()))
    assert searched(playback, ["predicate:"], 11, "backward").index == 7
    assert searched(playback, ["predicate:"]).index == 7
    assert searched(playback, ["cycle:2"], 11, "backward").index == 2


@pytest.mark.parametrize(
    "text", ["", "nonsense", "pod", "node:", "cycle", "preemption:n1", "restart@n1", f"pod:{'x' * 600}"]
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    """An unknown word, a missing object and one that nobody asked for."""
    with pytest.raises(RequestFieldError):
        condition_of(text)


def test_names_may_hold_what_separates() -> None:
    """Only the last @ narrows, and only where a condition can be narrowed."""
    assert condition_of("predicate:A@B@n1").about == "A@B"
    assert condition_of("pod:default/a@b").about == "default/a@b"


def test_a_stored_run_is_searched_as_well() -> None:
    """Of a run the worker's rows are there and nothing else; its cycles are decided again where need be."""
    computed = Playback(load(picky()))
    computed.reach(10)
    rows = json.loads(json.dumps([computed.trail.row(index) for index in range(1, 11)]))
    stored = Playback(load(picky()), stored=True)
    stored.follow(lambda after: [rows[after:]], complete=True)
    for condition in ("predicate:MatchNodeSelector@n1", "pod:default/p7"):
        assert searched(stored, [condition]).index == 7
        assert searched(stored, [condition], 11, "backward").index == 7
    assert searched(stored, ["stale"]) == FoundCycle(0, (), 10, over=True)


def test_a_search_disturbs_nobody(web: str) -> None:
    """The cycle that somebody looks at stays kept, and the reader stays where it was."""
    playback = Playback(load(web))
    playback.reach(5)
    shown = playback.cycle(4)
    searched(playback, ["predicate:PodFitsHostPorts"])
    assert playback.cycle(4) is shown
    assert playback.replays._reader is not None and playback.replays._reader.index == 4


@pytest.mark.django_db(transaction=True)
async def test_the_socket_finds(web: str) -> None:
    """`cycle.find` answers the cycle and why, forwards and backwards."""
    async with connected() as socket:
        opened = await socket.success("bundle.open", {"text": web, "title": ""})
        source = {"draft": opened["draft"]}
        asked = {"source": source, "from": 0, "direction": "forward", "conditions": ["predicate:@n3"]}
        found = await socket.success("cycle.find", asked)
        assert found == {
            "index": 1,
            "why": [[0, "PodToleratesNodeTaints failed on n3"]],
            "seen": 1,
            "over": False,
        }
        back = await socket.success("cycle.find", {**asked, "from": 5, "direction": "backward"})
        assert back["index"] == 4
        for field, value in (("direction", "up"), ("conditions", []), ("conditions", ["nonsense"])):
            error = await socket.error("cycle.find", {**asked, field: value})
            assert (error["code"], error["field"]) == ("payload.invalid", field)


@pytest.mark.django_db(transaction=True)
async def test_a_search_can_be_cancelled_and_tells_how_far_it_is(
    web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`cycle.searched` comes while it is searched; after `cycle.cancel` nothing is searched any more."""
    from playground.live.modules import cycle_search as module

    monkeypatch.setattr(module, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(module, "Finder", Endless)
    async with connected() as socket:
        opened = await socket.success("bundle.open", {"text": web, "title": ""})
        source = {"draft": opened["draft"]}
        asked = {"source": source, "from": 0, "direction": "forward", "conditions": ["tie"]}
        request = await socket.send("cycle.find", asked)
        reported = await socket.push("cycle.searched")
        assert reported["source"] == source and reported["request"] == request and reported["index"] > 0
        assert await socket.success("cycle.cancel", {}) == {}
        status, _, error = await socket.answer(request)
        assert (status, error["code"]) == ("error", "request.superseded")


class Endless:
    """A search that finds nothing in a run without an end."""

    def __init__(self, *_: object) -> None:
        self._index = 0

    def run(self) -> Endless:
        """Return the search itself."""
        return self

    def __next__(self) -> int:
        self._index += 1
        return self._index


@pytest.mark.django_db(transaction=True)
async def test_a_long_search_is_answered_in_parts(web: str, limits: Callable[..., None]) -> None:
    """When its time is up it says how far it came, and can be asked to go on."""
    limits(FIND_SECONDS=-1)
    async with connected() as socket:
        opened = await socket.success("bundle.open", {"text": web, "title": ""})
        asked = {
            "source": {"draft": opened["draft"]},
            "from": 0,
            "direction": "forward",
            "conditions": ["quirk:none"],
        }
        found = await socket.success("cycle.find", asked)
        parts = 1
        while not found["over"]:
            found = await socket.success("cycle.find", {**asked, "from": found["seen"]})
            parts += 1
            assert parts < 20
    assert found == {"index": None, "why": [], "seen": 5, "over": True}


@pytest.mark.django_db
def test_http_finds_the_same(web: str, limits: Callable[..., None]) -> None:
    """GET /api/scenarios/…/find answers what the socket does, and says what is wrong with a question."""
    client = Client()
    made = client.post("/api/scenarios", {"bundle": web}, content_type="application/json").json()
    address = f"/api/scenarios/{made['id']}/find?"
    found = client.get(f"{address}condition=unschedulable&condition=predicate:@n3&from=3").json()
    assert found["index"] == 4
    assert [place for place, _ in found["why"]] == [0, 1]
    jsonschema.validate(found, SCHEMAS["Found"])
    back = client.get(f"{address}condition=unschedulable&from=5&direction=backward").json()
    assert back["index"] == 4
    assert client.get(f"{address}condition=unschedulable&to=3").json()["index"] is None
    for query, path in (("", "condition"), ("condition=x", "condition"), ("condition=tie&from=y", "from")):
        refused = client.get(address + query)
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, path)
    assert client.get("/api/scenarios/AAAAAAAAAAA/find?condition=tie").status_code == 404
    limits(FIND_SECONDS=-1)
    part = client.get(f"{address}condition=tie").json()
    assert part == {"index": None, "why": [], "seen": 0, "over": False}


@pytest.mark.django_db
def test_examples_have_addresses() -> None:
    """Each example that is listed leads to one shared scenario, always the same; another name to none."""
    client = Client()
    listed = client.get("/examples.json").json()["examples"]
    assert {"slug": "shop", "title": "A shop on twelve nodes"} in listed
    first, again = (client.get("/examples/shop/").headers["Location"] for _ in range(2))
    assert first == again and client.get(first).status_code == 200
    assert client.get("/examples/nobody/").status_code == 404
    assert client.get("/examples/").headers["Location"] == "/#examples"
