"""While a room predicts, nothing on a viewer's page tells the answer: no frame and no text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page, WebSocket, expect

from playground.panels.cycle import light
from playground.pictures.scene import plain
from playground.playback.playback import Playback
from scheduler_core import load
from tests.browser.pages import Workbench, cycles_of, example_text, share
from tests.browser.test_rooms import bar, entered, open_room
from tests.e2e.bundles import by_v1_11
from tests.services.stack import Stack

ROOM = example_text("making-room")
KINDS = ["Which node wins?", "Does it fit?", "Who is evicted?"]
ASKED = 1  # the cycle that is asked about
#: The names under which a frame of a source has the number of a cycle, or how many there are.
NUMBERS = ("index", "cycles", "to")


@dataclass
class Heard:
    """Every frame that a page receives over any of its connections."""

    frames: list[Any] = field(default_factory=list)

    def listen(self, page: Page) -> Heard:
        def open_socket(socket: WebSocket) -> None:
            socket.on("framereceived", lambda frame: self.frames.append(json.loads(frame)))

        page.on("websocket", open_socket)
        return self

    def beyond(self, last: int) -> list[Any]:
        """Return what of the frames since is about cycles after the last one that is reported."""
        about = [frame for frame in self.frames if frame[0] == "success" or not frame[0].startswith("room.")]
        return [found for frame in about for found in _beyond(frame[2], last)]


def _beyond(value: Any, last: int) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:
            yield from _beyond(one, last)
    if isinstance(value, dict) and "number" not in value and "room" not in value:
        for name in NUMBERS:
            if isinstance(value.get(name), int) and value[name] > last:
                yield {name: value[name]}
        marks = value.get("marks")
        if isinstance(marks, dict) and len(marks["pod"]) > last:
            yield marks
        for one in value.values():
            yield from _beyond(one, last)


def sentences(text: str, index: int) -> list[str]:
    """Return how the page tells a cycle."""
    playback = Playback(load(by_v1_11(text)))
    playback.reach(index)
    cycle = playback.cycle(index)
    reported = [plain(sentence) for sentence in light(cycle, playback.place(cycle))["story"]]
    return [sentence for sentence in reported if len(sentence) > 20][1:]


def ask(leader: Page, kind: str) -> None:
    bar(leader, "Ask")
    leader.get_by_role("dialog").get_by_role("button", name=kind).click()
    expect(leader.get_by_role("region", name="Prediction").get_by_role("heading", name=kind)).to_be_visible()


#: All that a page holds, shown or not, but for its scripts: texts, titles and labels.
EVERYTHING = """() => [document.title, ...[...document.body.querySelectorAll("*")].flatMap(one => [
    ...one.childNodes].filter(node => node.nodeType === 3 && one.tagName !== "SCRIPT")
    .map(node => node.data).concat(["title", "aria-label", "aria-valuetext"]
    .map(name => one.getAttribute(name) ?? "")))].join("\\n")"""
#: Which sentences the page holds with a tab of Inspect open, whichever it is; a ballot may lie over the tabs.
HELD = f"""sentences => [...document.querySelectorAll("#region-inspect [role=tab]")].flatMap(tab => {{
    tab.click();
    const held = ({EVERYTHING})();
    return sentences.filter(one => held.includes(one));
}})"""


def everything(page: Page) -> str:
    """Return all that a page holds, shown or not."""
    return str(page.evaluate(EVERYTHING))


def test_nothing_tells_the_answer(visitor: Callable[..., Page], site: Stack) -> None:
    """Neither to who was there, nor to who joins late or again: also not by stepping on or looking ahead."""
    leader, link = open_room(visitor(), share(site, ROOM, "Making room"))
    early, late = visitor(), visitor()
    early.goto(link)
    viewer = entered(early).at(0)
    leader.page.keyboard.press("Shift+ArrowRight")
    leader.at(ASKED)
    viewer.at(ASKED)
    early.evaluate("podstep.view.seen.reveal(true)")
    heard = Heard().listen(early)
    for kind in KINDS:
        nothing_tells_the_answer(leader, link, kind, early, late, heard)
        leader.page.get_by_role("region", name="Prediction").get_by_role("button", name="Dismiss").click()
        for page in (early, late):
            expect(page.get_by_role("region", name="Prediction")).to_be_hidden()


def nothing_tells_the_answer(
    leader: Workbench, link: str, kind: str, early: Page, late: Page, heard: Heard
) -> None:
    """Whatever is asked."""
    reported = sentences(ROOM, ASKED)
    assert reported
    viewer = Workbench(early)
    ask(leader.page, kind)
    ballot = early.get_by_role("region", name="Prediction")
    expect(ballot).to_be_visible()
    viewer.at(ASKED - 1)
    heard.frames.clear()

    late_heard = Heard().listen(late)
    late.goto(link)
    entered(late).at(ASKED - 1)
    late_ballot = late.get_by_role("region", name="Prediction")
    expect(late_ballot).to_be_visible()
    early.evaluate("podstep.socket.drop()")
    expect(early.get_by_text("Connected again.")).to_be_visible()
    entered(early).at(ASKED - 1)
    names = [one.locator(".ballot-answer span").all_inner_texts() for one in (ballot, late_ballot)]
    assert names[0] == names[1]
    if kind == "Who is evicted?":
        victims = [pod.split("/")[-1] for pod in cycles_of(ROOM)[ASKED - 1].decision.victims]
        assert set(victims) < set(names[0])

    for page in (early, late):
        for key in ("ArrowRight", "End", "Shift+ArrowRight", "n", "."):
            page.keyboard.press(key)
        page.evaluate("podstep.playback.goto(5)")
        page.wait_for_timeout(300)
        bench = Workbench(page)
        assert bench.index == ASKED - 1
        assert page.evaluate("podstep.playback.marks.known") == ASKED - 1
        assert page.evaluate(HELD, reported) == []
    assert not heard.beyond(ASKED - 1)
    assert not late_heard.beyond(ASKED - 1)
    raw = json.dumps(heard.frames + late_heard.frames)
    assert not [sentence for sentence in reported if sentence in raw]

    leader.page.get_by_role("region", name="Prediction").get_by_role("button", name="Reveal").click()
    for page, one in ((early, ballot), (late, late_ballot)):
        expect(one.get_by_text("The scheduler's answer")).to_be_visible()
        page.wait_for_function("() => podstep.playback.cycles > 1")
        bar(page, "Rejoin")
        Workbench(page).at(ASKED)
