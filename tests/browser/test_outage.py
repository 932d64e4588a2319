"""What is edited while the server's database is unavailable: it is kept, sent again, and saved once."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.editors import yaml_of
from tests.browser.pages import Workbench, becomes, drafted, example_text


@dataclass
class Outage:
    """Answers every draft.save as a server does whose database is unavailable, until it is over."""

    lasts: bool = True
    refused: list[dict[str, object]] = field(default_factory=list)

    def route(self, socket: WebSocketRoute) -> None:
        """Stand between a page and its server."""
        server = socket.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            command, number, payload = json.loads(message)
            if command != "draft.save" or not self.lasts:
                server.send(message)
                return
            self.refused.append(payload)
            reported = "The database does not respond. Nothing was stored. Try again in a few seconds."
            error = {"code": "server.unavailable", "message": reported, "part": "database", "retryAfter": 0.2}
            socket.send(json.dumps(["error", number, error]))

        socket.on_message(pass_on)


def during_an_outage(page: Page) -> tuple[Workbench, Outage]:
    """Open a draft whose edits the server cannot store."""
    outage = Outage()
    page.route_web_socket(re.compile("/ws/$"), outage.route)
    return Workbench(page).open(drafted(page, example_text("shop"), "A shop")), outage


def refusals(page: Page, outage: Outage) -> int:
    """Return how often it was refused; frames are only seen while Playwright is asked for something."""
    page.wait_for_timeout(20)
    return len(outage.refused)


def saved(bench: Workbench) -> str:
    """Return the draft's text as the server has it."""
    path = bench.page.evaluate("`/p/${podstep.playback.source.draft}/bundle`")
    return bench.page.request.get(path).text()


def test_an_applied_text_is_sent_until_it_is_saved(page: Page) -> None:
    """The page says that it is not saved yet and keeps the text; afterwards it is saved, once."""
    bench, outage = during_an_outage(page)
    editor = yaml_of(bench).shows(re.compile("kind: Node"))
    text = "# during an outage\n" + editor.text
    editor.fill(text)
    bench.build.get_by_role("button", name="Apply", exact=True).click()
    note = page.get_by_text("Your change is not saved yet; trying again.")
    expect(note).to_be_visible()
    becomes(lambda: refusals(page, outage) >= 2, True)
    assert editor.text == text and "during an outage" not in saved(bench)
    outage.lasts = False
    becomes(lambda: saved(bench) == text, True)
    expect(page.get_by_text("The server is reachable again.")).to_be_visible()
    expect(note).to_be_hidden()
    assert len({json.dumps(payload) for payload in outage.refused}) == 1, "always the same edit"


def test_a_title_typed_during_an_outage_is_saved_as_typed_last(page: Page) -> None:
    """Typing on while one save waits does not look as if another tab had renamed the draft."""
    bench, outage = during_an_outage(page)
    field = page.locator("input[data-title]")
    field.fill("First")
    expect(page.locator("[data-saved]")).to_have_text("not saved yet, trying again")
    field.fill("Second")
    page.wait_for_timeout(1_000)  # longer than the page waits for more to be typed
    assert {payload["title"] for payload in outage.refused} == {"First"}
    outage.lasts = False
    draft = bench.page.evaluate("podstep.playback.source.draft")
    other = Workbench(page.context.new_page())
    becomes(lambda: other.open(f"/p/{draft}/").page.locator("input[data-title]").input_value(), "Second")
    expect(page.get_by_text("Another tab has renamed")).to_have_count(0)
    expect(field).to_have_value("Second")
