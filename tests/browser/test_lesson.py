"""A lesson whose leaders have browsers of their own, which are killed while they lead."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ARGUMENTS, PHONE, RUNNING, Watch, returning
from tests.browser.pages import Workbench, becomes, cycles_of, example_text, share
from tests.browser.test_rooms import bar, entered, open_room, says
from tests.parts import chromium
from tests.services.stack import Stack

SHOP = example_text("shop")


@pytest.fixture
def launched(browser: Browser, site: Stack, watch: Watch) -> Iterator[Callable[[], Page]]:
    """Open a page in a browser of its own."""
    started: list[Browser] = []

    def launch() -> Page:
        assert RUNNING.playwright is not None
        own = RUNNING.playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        started.append(own)
        context = own.new_context(base_url=site.base_url, storage_state=returning(site.base_url))
        context.set_default_timeout(30_000)
        watch.follow(context, urlsplit(site.base_url).netloc)
        return context.new_page()

    yield launch
    for own in started:
        if own.is_connected():
            own.close()


def kill(page: Page, other: Page) -> None:
    """Kill the browser of a page, which closes nothing; ``other`` is a page of another one."""
    own = page.context.browser
    assert own is not None
    found = own.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
    [pid] = [process["id"] for process in found["processInfo"] if process["type"] == "browser"]
    os.kill(int(pid), signal.SIGKILL)
    while own.is_connected():
        other.wait_for_timeout(50)


def test_a_lesson(launched: Callable[[], Page], visitor: Callable[..., Page], site: Stack) -> None:
    """Lead, follow, detach, rejoin, predict, reveal and hand over, until the leader's browser is killed."""
    first, desk, phone = launched(), launched(), visitor(size=PHONE)
    leader, link = open_room(first, f"{share(site, SHOP, 'A shop')}?step=3")
    bar(first, "Invite")
    invite = first.get_by_role("dialog", name="Invite")
    invite.get_by_text("Lead from another device").click()
    leading = invite.get_by_label("Leader’s link", exact=True).input_value()
    invite.get_by_role("button", name="Close").click()
    for page in (desk, phone):
        page.goto(link)
        entered(page).at(3)
        says(page, "You follow")

    # The desk goes its own way, and votes from there; the phone follows.
    Workbench(desk).step()
    says(desk, "Not following")
    leader.step(2)
    Workbench(phone).at(5)
    assert Workbench(desk).index == 4
    right = str(cycles_of(SHOP)[5].node)
    bar(first, "Ask")
    first.get_by_role("dialog").get_by_role("button", name="Which node wins?").click()
    asked = [page.get_by_role("region", name="Prediction") for page in (first, desk, phone)]
    for one in asked[1:]:
        one.get_by_role("button", name=right, exact=True).click()
    expect(asked[0].get_by_text("2 of 2 voted")).to_be_visible()
    bar(desk, "Rejoin")
    Workbench(desk).at(5)

    # The lead is handed over, with the question that is open, and the first leader's browser is killed.
    bar(desk, "Your name")
    desk.get_by_role("dialog").get_by_role("textbox").fill("Ada")
    desk.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(desk.get_by_role("dialog")).to_have_count(0)
    bar(first, "Hand over")
    first.get_by_role("button", name="Hand over to Ada").click()
    says(desk, "You lead")
    kill(first, desk)
    asked[1].get_by_role("button", name="Reveal").click()
    expect(asked[2].get_by_text("You were right.")).to_be_visible()
    Workbench(desk).step()
    Workbench(phone).at(6)
    says(phone, "You follow")

    # So is the next one's, while it leads: the link that leads takes over where the room was.
    kill(desk, phone)
    becomes(lambda: phone.evaluate("podstep.room.room.watching"), 1)
    again = visitor()
    again.goto(leading)
    found = entered(again).at(6)
    says(again, "You follow")
    bar(again, "Lead again")
    says(again, "You lead")
    expect(
        again.get_by_role("region", name="Prediction").get_by_role("button", name="Dismiss")
    ).to_be_visible()
    found.step()
    Workbench(phone).at(7)
