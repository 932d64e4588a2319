"""What a cache costs and saves, and where another mode parts, asked over the socket and the API."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from playground.api.document import SCHEMAS
from playground.calls.requests import fields_of
from playground.edits import worth
from playground.models import Draft
from playground.playback.answers import RecentAnswers
from playground.storage.store import draft_text
from playground.wire import Encoded
from scheduler_core import load
from scheduler_core.compare.cost import measure_costs
from tests.playground.conftest import PATIENCE, STRANGER, Socket, connected

pytestmark = pytest.mark.django_db(transaction=True)

NODE = """apiVersion: v1
kind: Node
metadata: {{name: node-{n}, labels: {{kubernetes.io/hostname: node-{n}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "20"}}, nodeInfo: {{kubeletVersion: v1.11.10}}}}
"""
APART = """apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web, resources: {requests: {cpu: 100m}}}]
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}
"""


def settings(mode: str) -> str:
    return f'apiVersion: podstep/v1\nkind: SimulationSettings\ncache: "{mode}"\n'


def bundle(mode: str = "off") -> str:
    """Five nodes, and six replicas of which each wants a node of its own."""
    return "---\n".join([*(NODE.format(n=n) for n in range(5)), APART, settings(mode)])


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    """No answer of another test is kept, and nothing is being worked out afterwards."""
    worth.answers = RecentAnswers(worth.ANSWERS_KEPT, worth.ANSWER_BYTES)
    yield
    assert not worth._jobs


async def draft(socket: Socket, text: str) -> dict[str, str]:
    opened = await socket.success("bundle.open", {"text": text, "title": "mine"})
    return {"draft": opened["draft"]}


PROFILES = "apiVersion: kubescheduler.config.k8s.io/v1beta1\nkind: KubeSchedulerConfiguration\n"
LATER = f"""apiVersion: simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
spec:
  operations:
  - {{step: 1, createOperation: {{object: {{{PROFILES.strip().replace(chr(10), ", ")}}}}}}}
"""


CURRENT = "---\n".join([*(NODE.format(n=n) for n in range(5)), APART]).replace("v1.11.10", "v1.37.1")


@pytest.mark.parametrize(
    "text",
    [f"{bundle()}---\n{PROFILES}", f"{bundle()}---\n{LATER}", CURRENT],
    ids=["configuration", "later", "v1.37"],
)
async def test_without_a_cache_to_compare_it_says_so(text: str) -> None:
    """A KubeSchedulerConfiguration, from the beginning or later, has no cache, nor has v1.37."""
    async with connected() as socket:
        source = await draft(socket, text)
        for command, payload in (("worth.cost", {}), ("worth.other", {"cache": "sound"})):
            error = await socket.error(command, {"source": source, **payload})
            assert (error["code"], error["field"]) == ("payload.invalid", "source")
            assert "no equivalence cache" in error["message"]
        shared = await socket.success("draft.share", source)
    found = await sync_to_async(Client().get)(f"/api/scenarios/{shared['scenario']}/costs")
    assert found.status_code == 422
    assert "no equivalence cache" in found.content.decode()


@pytest.mark.parametrize(
    ("mode", "strategies"),
    [("off", ["off", "sound", "batching"]), ("v1.11", ["off", "v1.11", "sound", "batching"])],
)
async def test_each_strategy_is_reported_in_numbers(mode: str, strategies: list[str]) -> None:
    """No cache comes first, then the scenario's own mode; the figures are the engine's own."""
    async with connected() as socket:
        answer = await socket.success("worth.cost", {"source": await draft(socket, bundle(mode))})
    rows = answer["rows"]
    assert [row["strategy"] for row in rows] == strategies
    timed = {"seconds", "microsecondsPerCycle"}
    expected = [cost.as_dict() for cost in measure_costs(load(bundle(mode)))]
    assert [{k: v for k, v in row.items() if k not in timed} for row in rows] == [
        {k: v for k, v in row.items() if k not in timed} for row in expected
    ]
    assert all(row["seconds"] > 0 and row["microsecondsPerCycle"] > 0 for row in rows)
    by_name = {row["strategy"]: row for row in rows}
    assert by_name["off"] | dict.fromkeys(timed, 0) == {
        "strategy": "off",
        "cycles": 6,
        "placed": 5,
        "evaluations": 6 * 5 * 13,
        "hits": 0,
        "lookups": 0,
        "writes": 0,
        "invalidated": 0,
        "operations": 0,
        "bytes": 0,
        "seconds": 0,
        "microsecondsPerCycle": 0,
        "firstDifference": None,
        "placementsDiffering": 0,
    }
    assert (by_name["sound"]["firstDifference"], by_name["sound"]["placementsDiffering"]) == (None, 0)
    if mode == "v1.11":
        assert (by_name["v1.11"]["firstDifference"], by_name["v1.11"]["placed"]) == (6, 6)
        assert by_name["v1.11"]["placementsDiffering"] == 1


async def test_an_answer_is_kept_until_the_draft_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking again computes nothing; saving another text does."""
    async with connected() as socket:
        source = await draft(socket, bundle())
        first = await socket.success("worth.cost", {"source": source})
        with monkeypatch.context() as patch:
            patch.setattr(worth, "measuring", lambda _scenario: pytest.fail("it was computed again"))
            assert await socket.success("worth.cost", {"source": source}) == first
        await socket.success("draft.save", {**source, "text": bundle("designed")})
        after = await socket.success("worth.cost", {"source": source})
    assert [row["strategy"] for row in after["rows"]] == ["off", "designed", "sound", "batching"]


class Paused:
    """A measurement that goes on, cycle by cycle, until it is let go."""

    def __init__(self) -> None:
        self.begun = 0
        self.let_go = False

    def __call__(self, scenario: Any) -> Any:
        self.begun += 1
        from scheduler_core.compare.cost import Progress, measuring

        done = 0
        while not self.let_go:
            done += 1
            yield Progress("sound", done, 1_000_000_000)
        return (yield from measuring(scenario))


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> Iterator[Paused]:
    """Let a measurement take as long as the test wants."""
    pause = Paused()
    monkeypatch.setattr(worth, "measuring", pause)
    monkeypatch.setattr(worth, "SLICE_SECONDS", 0.005)
    yield pause
    pause.let_go = True


async def test_progress_is_pushed_while_it_is_worked_out(paused: Paused) -> None:
    """Each push names source, cycles done and expected, and the strategy under way."""
    async with connected() as socket:
        source = await draft(socket, bundle())
        request = await socket.send("worth.cost", {"source": source})
        one = await socket.push("worth.progress")
        two = await socket.push("worth.progress")
        paused.let_go = True
        status, _, _ = await socket.answer(request)
    assert status == "success"
    assert set(one) == {"source", "done", "total", "strategy"}
    assert (one["source"], one["strategy"], one["total"]) == (source, "sound", 1_000_000_000)
    assert 0 < one["done"] < two["done"]


async def test_it_is_given_up_on_request(paused: Paused) -> None:
    """After a cancel the request is superseded and nothing works on it any more."""
    async with connected() as socket:
        source = await draft(socket, bundle())
        request = await socket.send("worth.cost", {"source": source})
        await socket.push("worth.progress")
        assert await socket.success("worth.cancel", {}) == {}
        status, _, body = await socket.answer(request)
        assert (status, body["code"]) == ("error", "request.superseded")
        for _ in range(int(PATIENCE / 0.02)):
            if not worth._jobs:
                break
            await asyncio.sleep(0.02)
        assert not worth._jobs


async def test_several_who_ask_share_one_computation(paused: Paused) -> None:
    """A class that opens the same scenario has it computed once; who leaves stops nothing for the others."""
    async with connected() as socket, connected(STRANGER) as other:
        source = await draft(socket, bundle())
        shared = await socket.success("draft.share", source)
        scenario = {"source": {"scenario": shared["scenario"]}}
        mine, theirs = await socket.send("worth.cost", scenario), await other.send("worth.cost", scenario)
        await socket.push("worth.progress")
        await other.push("worth.progress")
        await socket.success("worth.cancel", {})
        assert (await socket.answer(mine))[0] == "error"
        paused.let_go = True
        assert (await other.answer(theirs))[0] == "success"
    assert paused.begun == 1


async def test_another_mode_parts_where_a_stale_answer_is_believed() -> None:
    """Both decisions of the first differing cycle, why in a sentence, and the audit's causes."""
    async with connected() as socket:
        source = await draft(socket, bundle())
        answer = await socket.success("worth.other", {"source": source, "cache": "v1.11"})
    assert answer["differing"] == 1
    assert answer["here"] == {
        "cache": "off",
        "audit": False,
        "cycles": 6,
        "placed": 5,
        "hits": 0,
        "evaluations": 6 * 5 * 13,
        "stale": 0,
        "causes": [],
    }
    there = answer["there"]
    assert (there["cache"], there["audit"], there["cycles"], there["placed"]) == ("v1.11", True, 6, 6)
    assert there["causes"] == [
        ["MatchInterPodAffinity: not invalidated by Pod/ADD (rule pod-add-affinity)", there["stale"]]
    ]
    first = answer["first"]
    assert (first["index"], first["step"]) == (6, "1.6")
    assert first["here"]["pod"] == first["there"]["pod"] == first["pod"]
    assert (first["here"]["result"], first["here"]["node"]) == ("unschedulable", None)
    assert first["here"]["message"].startswith("0/5 nodes are available: ")
    node = first["there"]["node"]
    assert first["there"]["result"] == "scheduled" and node.startswith("node-")
    hit = first["there"]["stale"][0]
    assert (hit["node"], hit["predicate"], hit["cached"]) == (node, "MatchInterPodAffinity", [])
    assert first["words"].startswith(
        f"Without a cache {first['pod']} fits nowhere; under v1.11 it goes to {node}. Under v1.11 a stale "
        f"answer was believed: by MatchInterPodAffinity of cycle 1 the pod fits on {node}, but since Pod/ADD "
    )


async def test_a_sound_mode_parts_nowhere() -> None:
    """Without a difference there is no first one; the audit finds nothing, and can be left out."""
    async with connected() as socket:
        source = await draft(socket, bundle())
        ask = {"source": source, "cache": "sound", "equivalenceClass": "attributes", "staleWrites": "none"}
        audited = await socket.success("worth.other", ask)
        plain = await socket.success("worth.other", {**ask, "audit": "false"})
    assert (audited["first"], audited["differing"]) == (None, 0)
    assert (audited["there"]["audit"], audited["there"]["stale"]) == (True, 0)
    assert audited["there"]["hits"] > 0
    assert plain["there"] == {**audited["there"], "audit": False}


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({}, "cache"),
        ({"cache": "on"}, "cache"),
        ({"cache": "sound", "equivalenceClass": "labels"}, "equivalenceClass"),
        ({"cache": "sound", "staleWrites": True}, "staleWrites"),
        ({"cache": "sound", "audit": "maybe"}, "audit"),
    ],
)
async def test_a_setting_that_is_none_is_refused_by_name(payload: dict[str, Any], field: str) -> None:
    """The error says which field is wrong."""
    async with connected() as socket:
        source = await draft(socket, bundle())
        error = await socket.error("worth.other", {"source": source, **payload})
    assert (error["code"], error["field"]) == ("payload.invalid", field)


@pytest.mark.parametrize("command", ["worth.cost", "worth.other"])
async def test_a_stranger_s_draft_is_not_there(command: str) -> None:
    """Somebody else's draft is answered as one that does not exist; a shared scenario is everybody's."""
    async with connected() as socket, connected(STRANGER) as other:
        source = await draft(socket, bundle())
        error = await other.error(command, {"source": source, "cache": "sound"})
        shared = await socket.success("draft.share", source)
        await other.success(command, {"source": {"scenario": shared["scenario"]}, "cache": "sound"})
    assert error["code"] == "source.not-found"


@pytest.mark.parametrize("command", ["worth.cost", "worth.other"])
async def test_what_is_too_large_is_reported_what_to_do(command: str, limits: Callable[..., None]) -> None:
    """The command line does what nobody can wait for."""
    async with connected() as socket:
        source = await draft(socket, bundle())
        limits(INTERACTIVE_WORK=10)
        error = await socket.error(command, {"source": source, "cache": "sound"})
    assert error["code"] == "source.too-large"
    assert "5 nodes and 6 pods are too much" in error["message"]
    assert "`cost FILE`" in error["message"] and "start a run" in error["message"]


async def test_what_takes_too_long_is_given_up(paused: Paused, limits: Callable[..., None]) -> None:
    """The seconds of interactive computing bound it too."""
    limits(INTERACTIVE_SECONDS=0)
    async with connected() as socket:
        error = await socket.error("worth.cost", {"source": await draft(socket, bundle())})
    assert error["code"] == "source.too-large"
    assert "`cost FILE`" in error["message"]


async def test_a_busy_server_says_so(paused: Paused, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only so many computations go on at once."""
    monkeypatch.setattr(worth, "JOBS_AT_ONCE", 1)
    async with connected() as socket, connected(STRANGER) as other:
        request = await socket.send("worth.cost", {"source": await draft(socket, bundle())})
        await socket.push("worth.progress")
        error = await other.error("worth.cost", {"source": await draft(other, bundle("sound"))})
        paused.let_go = True
        assert (await socket.answer(request))[0] == "success"
    assert error["code"] == "server.busy"


EXTENDED = """apiVersion: v1
kind: Policy
extenders:
- {urlPrefix: "http://extender.example/scheduler", filterVerb: filter, weight: 1}
"""


async def test_extenders_exclude_batching() -> None:
    """The costs leave batching out, and to ask where it diverges is an error of the input."""
    async with connected() as socket:
        source = await draft(socket, f"{bundle()}---\n{EXTENDED}")
        found = await socket.success("worth.cost", {"source": source})
        error = await socket.error("worth.other", {"source": source, "cache": "batching"})
    assert [row["strategy"] for row in found["rows"]] == ["off", "sound"]
    assert error["code"] == "bundle.invalid"
    assert [one["path"] for one in error["errors"]] == ["extenders"]


async def test_a_broken_draft_is_reported_as_such() -> None:
    """Its errors are answered as when it is opened."""
    async with connected() as socket:
        source = await draft(socket, bundle())
        await socket.success("draft.save", {**source, "text": "kind: Node\n"})
        error = await socket.error("worth.cost", {"source": source})
    assert error["code"] == "bundle.invalid" and error["errors"]


def test_the_oldest_answers_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept is bounded in number and in bytes."""
    monkeypatch.setattr(worth, "ANSWERS_KEPT", 2)
    monkeypatch.setattr(worth, "ANSWER_BYTES", 10)
    kept = RecentAnswers(worth.ANSWERS_KEPT, worth.ANSWER_BYTES)
    for name in ("a", "b", "a", "c"):
        kept.put(name, Encoded(name))
        kept.get("a")
    assert [kept.get(name) for name in "abc"] == ["a", None, "c"]
    kept.put("d", Encoded("d" * 10))
    assert [kept.get(name) for name in "acd"] == [None, None, "d" * 10]


async def test_the_api_answers_the_same() -> None:
    """Both questions have an address; what is wrong with a parameter names it."""
    client = Client()
    made = await sync_to_async(client.post)(
        "/api/scenarios", {"bundle": bundle()}, content_type="application/json"
    )
    address = f"/api/scenarios/{made.json()['id']}"

    async def get(path: str) -> Any:
        return await sync_to_async(client.get)(f"{address}/{path}")

    async with connected() as socket:
        source = {"scenario": made.json()["id"]}
        other = await socket.success("worth.other", {"source": source, "cache": "v1.11"})
        costs = await get("costs")
        assert costs.json() == await socket.success("worth.cost", {"source": source})
    found = await get("divergence?cache=v1.11")
    assert (found.status_code, found.json()) == (200, other)
    assert set(SCHEMAS["Divergence"]["required"]) == set(other)
    assert set(SCHEMAS["CostTable"]["required"]) == set(costs.json())
    for path, field in (("divergence", "cache"), ("divergence?cache=sound&audit=1", "audit")):
        refused = await get(path)
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, field)
    missing = await sync_to_async(client.get)("/api/scenarios/AAAAAAAAAAA/costs")
    assert missing.status_code == 404


async def test_the_api_refuses_what_is_too_large(limits: Callable[..., None]) -> None:
    """It is no worker either."""
    client = Client()
    made = await sync_to_async(client.post)(
        "/api/scenarios", {"bundle": bundle()}, content_type="application/json"
    )
    limits(INTERACTIVE_WORK=10)
    refused = await sync_to_async(client.get)(f"/api/scenarios/{made.json()['id']}/costs")
    assert refused.status_code == 422
    assert "`cost FILE`" in refused.json()["errors"][0]["message"]


def test_every_choice_of_a_setting_is_offered() -> None:
    """What the commands accept is what a SimulationSettings document may hold."""
    offered = fields_of(worth.CacheRequest)
    assert set(offered) == {"cache", "equivalenceClass", "staleWrites", "audit"}
    for name, field in offered.items():
        for value in field.meaning.removeprefix("one of ").split(", "):
            shown = value if name == "audit" else f'"{value}"'
            load(f"apiVersion: podstep/v1\nkind: SimulationSettings\n{name}: {shown}\n")


async def test_a_copy_runs_in_the_other_mode() -> None:
    """A stranger's copy of a shared scenario has the settings, and what was asked about as it was."""
    async with connected() as socket, connected(STRANGER) as other:
        source = await draft(socket, bundle("sound"))
        shared = await socket.success("draft.share", source)
        ask = {"source": {"scenario": shared["scenario"]}, "cache": "v1.11", "audit": "true"}
        made = await other.success("worth.copy", ask)
        assert made["url"] == f"/p/{made['draft']}/"
        opened = await other.success("scenario.open", {"source": {"draft": made["draft"]}})
        before = await other.success("scenario.open", {"source": ask["source"]})
        error = await socket.error("scenario.open", {"source": {"draft": made["draft"]}})
    policy = opened["policy"]
    assert (policy["cache"], policy["audit"], before["policy"]["cache"]) == ("v1.11", True, "sound")
    assert opened["title"] == "mine: cache v1.11"
    assert error["code"] == "source.not-found"


async def test_a_copy_of_a_draft_keeps_its_comments() -> None:
    """Only the settings are written anew."""
    async with connected() as socket:
        source = await draft(socket, f"# mine\n{bundle('sound')}")
        made = await socket.success("worth.copy", {"source": source, "cache": "off"})
        error = await socket.error("worth.copy", {"source": source, "cache": "none"})
    row = await sync_to_async(Draft.objects.get)(pk=made["draft"])
    text = draft_text(row)
    assert text.startswith("# mine\n")
    assert load(text).settings.cache == "off"
    assert (error["code"], error["field"]) == ("payload.invalid", "cache")
