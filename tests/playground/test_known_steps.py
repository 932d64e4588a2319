"""Steps that were answered once are answered from memory, and by nothing else than what computing gives."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground.calls.requests import read
from playground.celery import app
from playground.live import commands, consumer
from playground.live.commands import COMMANDS, at_hand
from playground.live.sightings import Sightings
from playground.models import RUNNING, Draft, Run
from playground.panels import steps
from playground.panels.cycle import PARTS
from playground.playback import sources
from playground.playback.chunks import write_chunk
from playground.playback.library import library
from playground.playback.playback import Playback
from playground.storage import store
from playground.wire import Encoded, encode
from scheduler_core import load
from scheduler_core.authoring.examples import Example, examples
from tests.playground.conftest import OWNER, STRANGER, Socket, connected

pytestmark = pytest.mark.django_db(transaction=True)

STEPS_CHECKED = 10  # of one example: its first and last ones, and some between
Asked = tuple[str, dict[str, Any]]


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs wait until the test computes them."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)


@pytest.fixture
def long_seen(limits: Callable[..., None]) -> None:
    """A source that was found counts as found for the whole test, however slow the machine is."""
    limits(SOURCE_SECONDS=600)


@pytest.fixture
def forbid_computing(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function after which neither threads nor the database may be used for an answer."""

    async def forbidden(*_: Any) -> None:
        raise AssertionError("this is answered from memory")

    def begin() -> None:
        monkeypatch.setattr(consumer, "in_engine", forbidden)
        monkeypatch.setattr(consumer, "in_parsing", forbidden)
        monkeypatch.setattr(commands, "in_storage", forbidden)
        monkeypatch.setattr("playground.live.sightings.in_storage", forbidden)

    return begin


async def body(socket: Socket, name: str, payload: dict[str, Any]) -> str:
    """Return the text of the answer's payload, byte for byte."""
    request = await socket.send(name, payload)
    beginning = f'["success",{request},'
    while True:
        text = await socket.communicator.receive_from()
        if text.startswith(beginning):
            return str(text.removeprefix(beginning).removesuffix("]"))
        assert not text.startswith('["error"'), text


async def opened(socket: Socket, text: str) -> dict[str, Any]:
    """Return a draft in the revision that it has, as the workbench names it."""
    made = await socket.success("bundle.open", {"text": text})
    source = {"draft": made["draft"], "revision": 1}
    await socket.success("scenario.open", {"source": source})
    return source


@cache
def played(text: str) -> Playback:
    """Return a playback that has been computed to its end, one for all that is only read of it."""
    playback = Playback(load(text))
    while playback.advance(1):
        pass
    return playback


def steps_of(playback: Playback) -> list[str]:
    """Return addresses of the first and the last cycles, of some between, and of the end."""
    last = len(playback)
    indices = {*range(1, min(last, 5) + 1), *range(max(1, last - 1), last + 1)}
    indices |= set(random.Random(last).sample(range(1, last + 1), min(last, STEPS_CHECKED - len(indices))))
    steps = [str(index) for index in sorted(indices)]
    steps += [playback.trail.step(index) for index in sorted(indices)[:3]]
    return [*steps, "end"] if playback.ended else steps


def computed(playback: Playback, name: str, payload: dict[str, Any]) -> str:
    """Return what a playback of its own answers."""
    known = payload["pods"]
    if name == "cycles.window":
        return str(steps.window(playback, payload["from"], payload["count"], known=known))
    index = playback.locate(payload["step"])
    assert index
    answer = steps.parts(playback, index, payload["parts"])
    came = None if known is None else playback.came(known)
    return encode(answer if came is None else {**answer, "pods": came})


def asked_of(playback: Playback, source: dict[str, Any]) -> list[Asked]:
    """Return what clients ask for at the steps of a playback, whether they know all pods or not."""
    pods, last = len(playback.tables.pods), len(playback)
    asked: list[Asked] = []
    for at, step in enumerate(steps_of(playback)):
        known = (pods, None, pods + 1, max(0, pods - 1))[at % 4]
        parts = (list(PARTS), ["predicates"], [], ["cuts", "moments"])[at // 4 % 4]
        asked.append(("cycle.get", {"source": source, "step": step, "parts": parts, "pods": known}))
    for first in range(1, min(last, 60) + 2, 7):
        window = {"source": source, "from": first, "count": min(first % 10, last - first + 1), "pods": None}
        asked.append(("cycles.window", window))
    return asked


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.slug)
async def test_a_known_answer_is_the_computed_one_byte_for_byte(
    example: Example, long_seen: None, forbid_computing: Callable[[], None]
) -> None:
    """Of every shipped example: asked again, a step is the same text, which another playback computes too."""
    text = example.read()
    alone = played(text)
    async with connected() as socket:
        source = await opened(socket, text)
        await socket.success("timeline.get", {"source": source, "from": 1, "to": 10**6})
        asked = asked_of(alone, source)
        first = [await body(socket, *each) for each in asked]
        assert first == [computed(alone, *each) for each in asked]
        forbid_computing()
        for each, answer in random.Random(1).sample(list(zip(asked, first, strict=True)), len(asked)):
            assert await body(socket, *each) == answer


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.slug)
def test_computing_further_changes_no_settled_answer(example: Example) -> None:
    """Of every shipped example: what is asked while it grows is the text that is asked when all is there."""
    alone = played(example.read())
    rows = [alone.trail.row(at) for at in range(1, len(alone) + 1)]
    growing = Playback(alone.scenario, stored=True)
    kept: dict[tuple[Any, ...], str] = {}
    asked = [each for each in asked_of(alone, {}) if each[1].get("step") != "end"][:: max(2, len(rows) // 60)]
    for length in sorted({1, len(rows) // 2, len(rows)}):
        growing.follow(lambda after, to=length: [rows[after:to]], complete=length == len(rows), over=True)  # type: ignore[misc]
        for at, (name, payload) in enumerate(asked):
            settled = COMMANDS[name].kept(growing, read(COMMANDS[name].takes, payload))  # type: ignore[misc]
            if settled is not None:
                text = computed(growing, name, payload)
                assert kept.setdefault((at, settled, growing.version), text) == text
    assert len(kept) >= len(asked)


async def test_a_known_answer_is_for_everybody_who_may_see_the_source(
    web: str, long_seen: None, forbid_computing: Callable[[], None]
) -> None:
    """What one visitor's step of a shared scenario computed is at hand for the next visitor."""
    async with connected() as owner, connected(STRANGER) as stranger:
        source = {"scenario": (await owner.success("draft.share", await opened(owner, web)))["scenario"]}
        await stranger.success("scenario.open", {"source": source})
        asked = {"source": source, "step": "2", "parts": ["predicates"], "pods": 7}
        first = await body(owner, "cycle.get", asked)
        forbid_computing()
        assert await body(stranger, "cycle.get", asked) == first


@pytest.mark.parametrize("visitor", [STRANGER, ""])
@pytest.mark.parametrize("revision", [{"revision": 1}, {}])
async def test_nobody_is_answered_of_another_ones_draft(
    visitor: str, revision: dict[str, int], web: str, long_seen: None
) -> None:
    """However well a draft's steps are known, they are its owner's."""
    async with connected() as owner, connected(visitor) as other:
        source = await opened(owner, web)
        asked = {"source": source, "step": "2", "parts": ["predicates"]}
        for _ in range(2):
            await owner.success("cycle.get", asked)
        assert at_hand(OWNER, "cycle.get", asked)
        theirs = {**asked, "source": {"draft": source["draft"], **revision}}
        assert (await other.error("cycle.get", theirs))["code"] == "source.not-found"
        window = {"source": theirs["source"], "from": 1, "count": 2}
        assert (await other.error("cycles.window", window))["code"] == "source.not-found"


async def delete_over_the_socket(socket: Socket, source: dict[str, Any]) -> None:
    await socket.success("draft.delete", {"draft": source["draft"]})


async def delete_over_http(_socket: Socket, source: dict[str, Any]) -> None:
    def delete() -> None:
        store.delete_draft(Draft.objects.get(pk=source["draft"]))

    await sync_to_async(delete)()


async def displace(socket: Socket, _source: dict[str, Any]) -> None:
    await socket.success("bundle.open", {"text": "kind: Node\napiVersion: v1\nmetadata: {name: n9}\n"})


@pytest.mark.parametrize("withdraw", [delete_over_the_socket, delete_over_http, displace])
async def test_a_draft_that_is_deleted_is_gone_at_once(
    withdraw: Callable[..., Any], web: str, limits: Callable[..., None]
) -> None:
    """Its steps are not answered from memory any more, whatever took it away."""
    limits(SOURCE_SECONDS=600, DRAFTS_PER_OWNER=1)
    async with connected() as socket, connected() as other_tab:
        source = await opened(socket, web)
        asked = {"source": source, "step": "2", "parts": []}
        await other_tab.success("cycle.get", asked)
        assert at_hand(OWNER, "cycle.get", asked)
        await withdraw(socket, source)
        assert (await other_tab.error("cycle.get", asked))["code"] == "source.not-found"


async def test_a_scenario_that_is_taken_back_is_gone_at_once(web: str, long_seen: None) -> None:
    """Who has the link is not answered from memory any more."""
    async with connected() as owner, connected(STRANGER) as stranger:
        shared = await owner.success("draft.share", await opened(owner, web))
        asked = {"source": {"scenario": shared["scenario"]}, "step": "2", "parts": []}
        await stranger.success("scenario.open", {"source": asked["source"]})
        await stranger.success("cycle.get", asked)
        assert at_hand(STRANGER, "cycle.get", asked)

        def take_back() -> None:
            row = store.find_scenario(shared["scenario"])
            assert row and store.unshare(row, shared["deleteToken"])

        await sync_to_async(take_back)()
        assert (await stranger.error("cycle.get", asked))["code"] == "source.not-found"


async def test_what_another_process_deletes_is_gone_within_seconds(
    web: str, limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """This process hears nothing of it: it asks the database again when the time is over."""
    limits(SOURCE_SECONDS=3)
    now = 1_000.0
    monkeypatch.setattr("playground.live.sightings._now", lambda: now)
    async with connected() as socket:
        source = await opened(socket, web)
        asked = {"source": source, "step": "2", "parts": []}
        await socket.success("cycle.get", asked)
        await sync_to_async(Draft.objects.filter(pk=source["draft"]).delete)()
        now += 2.9
        await socket.success("cycle.get", asked)
        now += 0.1
        assert (await socket.error("cycle.get", asked))["code"] == "source.not-found"


async def test_a_draft_without_a_revision_is_the_newest(web: str, long_seen: None) -> None:
    """Also where another process saved it in this moment."""
    async with connected() as socket:
        source = {"draft": (await opened(socket, web))["draft"]}
        asked = {"source": source, "step": "1", "parts": ["predicates"]}
        first = await socket.success("cycle.get", asked)

        def save_elsewhere() -> None:
            changed = web.replace("name: n", "name: other-n", 1)
            draft = Draft(files=b"")
            store._set_files(draft, [("", changed)])
            Draft.objects.filter(pk=source["draft"]).update(files=draft.files, text_revision=2, revision=2)

        await sync_to_async(save_elsewhere)()
        await socket.success("cycle.get", asked)
        entry = library.entry(("draft", source["draft"], 2))
        assert entry and entry.playback
        assert first == await socket.success("cycle.get", {**asked, "source": {**source, "revision": 1}})


async def test_of_a_run_that_goes_on_only_the_past_is_answered_from_memory(web: str, long_seen: None) -> None:
    """Its newest cycles are in the database; once it is over, they are at hand as well."""
    alone = played(web)

    def begin() -> Run:
        row = store.keep_scenario(load(web), web)
        run = Run.objects.create(scenario=row, owner=OWNER, state=RUNNING)
        write_chunk(run, 1, _until(web, 2), 1)
        return run

    run = await sync_to_async(begin)()
    asked = {"source": {"run": run.pk}, "from": 1, "count": 50}
    async with connected() as socket:
        for _ in range(2):
            assert len((await socket.success("cycles.window", asked))["cycles"]) == 2
            assert at_hand(OWNER, "cycles.window", asked) is None
            past = {**asked, "count": 2}
            assert await body(socket, "cycles.window", past) == steps.window(alone, 1, 2)
        assert at_hand(OWNER, "cycles.window", past) == steps.window(alone, 1, 2)
        await sync_to_async(write_chunk)(run, 2, alone.trail, 3)
        assert len((await socket.success("cycles.window", asked))["cycles"]) == len(alone)
        await sync_to_async(Run.objects.filter(pk=run.pk).update)(state="done")
        assert await body(socket, "cycles.window", asked) == str(steps.window(alone, 1, 50))
        assert at_hand(OWNER, "cycles.window", asked) == steps.window(alone, 1, 50)


def _until(text: str, index: int) -> Any:
    """Return the trail of the first cycles."""
    whole = played(text)
    part = Playback(load(text), stored=True)
    part.follow(lambda _after: [[whole.trail.row(at) for at in range(1, index + 1)]], complete=False)
    return part.trail


async def test_what_has_grown_since_is_computed_again(web: str, long_seen: None) -> None:
    """A window that ended where computing had come to is longer once there is more."""
    alone = played(web)
    async with connected() as socket:
        source = await opened(socket, web)
        entry = library.entry(("draft", source["draft"], 1))
        assert entry
        entry.playback = part = Playback(load(web), stored=True)
        rows = [alone.trail.row(at) for at in range(1, len(alone) + 1)]
        part.follow(lambda _after: [rows[:2]], complete=False)
        asked = {"source": source, "from": 1, "count": 50}
        assert len((await socket.success("cycles.window", asked))["cycles"]) == 2
        part.follow(lambda after: [rows[after:]], complete=True)
        assert await body(socket, "cycles.window", asked) == str(steps.window(alone, 1, 50))


async def test_frames_that_are_refused_are_refused_also_where_the_step_is_known(
    web: str, long_seen: None
) -> None:
    """True is no 1, and an unknown part is none: memory does not answer what computing refuses."""
    async with connected() as socket:
        source = await opened(socket, web)
        window = {"source": source, "from": 1, "count": 1}
        await socket.success("cycles.window", window)
        await socket.success("cycle.get", {"source": source, "step": "1", "parts": []})
        for name, payload, code in (
            ("cycles.window", {**window, "from": True}, "payload.invalid"),
            ("cycles.window", {**window, "from": 1.0}, "payload.invalid"),
            ("cycles.window", {**window, "pods": "7"}, "payload.invalid"),
            ("cycle.get", {"source": source, "step": "1", "parts": ["x"]}, "payload.invalid"),
            ("cycle.get", {"source": source, "step": 1, "parts": []}, "payload.invalid"),
            ("cycle.get", {"source": source, "step": "0", "parts": []}, "step.out-of-range"),
            ("cycle.get", {"source": {**source, "run": "x"}, "step": "1", "parts": []}, "source.not-found"),
            ("cycle.get", {"source": {**source, "x": 1}, "step": "1", "parts": []}, "source.not-found"),
        ):
            assert (await socket.error(name, payload))["code"] == code


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("events.list", {"to": 3, "count": 10}),
        ("cycles.window", {"from": 2, "count": 3, "pods": 0}),
        ("cycle.get", {"step": "3", "parts": [], "pods": 0}),
    ],
)
async def test_what_else_a_step_asks_for_is_known_too(
    name: str, payload: dict[str, Any], web: str, long_seen: None, forbid_computing: Callable[[], None]
) -> None:
    """The tabs that follow the step, and a client that knows no pods yet."""
    async with connected() as socket:
        asked = {"source": await opened(socket, web), **payload}
        first = await body(socket, name, asked)
        forbid_computing()
        assert await body(socket, name, asked) == first


async def test_a_podgroup_is_known_too(long_seen: None, forbid_computing: Callable[[], None]) -> None:
    """Its members and timers after a cycle are computed once."""
    text = next(example.read() for example in examples() if example.slug == "gang-deadlock-coscheduled")
    async with connected() as socket:
        source = await opened(socket, text)
        await socket.success("timeline.get", {"source": source, "from": 1, "to": 100})
        part = await socket.success("cycle.get", {"source": source, "step": "2", "parts": ["podgroups"]})
        asked = {"source": source, "cycle": 2, "group": part["podgroups"]["groups"][0][0]}
        first = await body(socket, "podgroup.get", asked)
        forbid_computing()
        assert await body(socket, "podgroup.get", asked) == first


async def test_a_known_step_replaces_what_its_connection_asked_before(
    web: str, long_seen: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who steps on to a known step no longer waits for the one before, which is given up."""
    async with connected() as socket:
        source = await opened(socket, web)
        known = {"source": source, "step": "1", "parts": []}
        await socket.success("cycle.get", known)
        monkeypatch.setattr(Playback, "locate", lambda _, step: 1 if step == "1" else None)
        monkeypatch.setattr(Playback, "advance", _without_end)
        older = await socket.send("cycle.get", {"source": source, "step": "4", "parts": []})
        await socket.success("session.hello", {})
        await socket.success("cycle.get", known)
        assert (await socket.answer(older))[2]["code"] == "request.superseded"


def _without_end(_self: Playback, _seconds: float) -> bool:
    time.sleep(0.01)
    return True


def test_the_answers_of_a_playback_are_bounded(web: str, limits: Callable[..., None]) -> None:
    """What is kept of a playback is bounded in number and bytes, and counts as its memory."""
    limits(ANSWERS=3)
    playback = played(web)
    before = playback.bytes
    for index in range(1, 6):
        playback.answers.keep(playback.version, index, Encoded("x" * 1_000))
    assert len(playback.answers) == 3
    assert playback.answers.get(playback.version, 2) is None
    assert playback.answers.get(playback.version, 5) is not None
    assert 3_000 < playback.bytes - before == playback.answers.bytes < 6_000
    limits(ANSWERS=100, ANSWER_BYTES=10_000)
    for index in range(10, 30):
        playback.answers.keep(playback.version, index, Encoded("x" * 1_000))
    assert 3 < len(playback.answers) < 10
    assert playback.answers.bytes <= 10_000
    playback.answers.keep(playback.version, "large", Encoded("x" * 20_000))
    assert playback.answers.get(playback.version, "large") is None
    assert len(playback.answers) > 3, "what is too large displaces nothing"
    playback.answers.keep("a later version", 1, Encoded("x" * 10))
    assert len(playback.answers) == 1
    assert playback.answers.bytes < 1_000
    assert playback.copy().answers is not playback.answers


async def test_the_sources_seen_are_bounded(web: str, limits: Callable[..., None]) -> None:
    """The one that was looked for longest ago is forgotten first."""
    limits(SOURCES_SEEN=2, SOURCE_SECONDS=600)
    row = await sync_to_async(store.create_draft)(OWNER, [("", web)])
    seen = Sightings()
    wires = [{"draft": row.pk, "revision": number} for number in (1, 2, 3)]
    for wire in wires:
        assert await seen.find(wire, OWNER)
    assert len(seen) == 2
    assert [seen.seen(wire, OWNER) is not None for wire in wires] == [False, True, True]
    assert isinstance(seen.seen(wires[2], OWNER), sources.Source)
