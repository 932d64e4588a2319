"""Comments: two people discuss a step of a shared scenario, each in their own browser."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, turned
from tests.browser.pages import Workbench, example_text, share, wide
from tests.services.stack import Stack

ROOM = example_text("making-room")


def comments(page: Page) -> Locator:
    """Open the comments of a page."""
    page.get_by_role("button", name=re.compile("^Comments: ")).click()
    panel = page.get_by_role("complementary", name="Comments")
    expect(panel).to_be_visible()
    return panel


def write(panel: Locator, text: str, name: str = "") -> None:
    """Write a comment about what the form offers."""
    panel.get_by_role("textbox", name="Write a comment").fill(text)
    panel.get_by_role("textbox", name="Your name").first.fill(name)
    panel.get_by_role("button", name="Comment", exact=True).click()


def test_two_people_discuss_a_node(visitor: Callable[..., Page], site: Stack) -> None:
    """A thread about a node is answered, goes to where it is about, is resolved, and is reported as new."""
    address = share(site, ROOM, "Two people discuss")
    ada, bob = visitor(), visitor()
    bench = Workbench(ada).open(f"{address}?step=2&node=worker-4").at(2)
    other = Workbench(bob).open(address).at(0)
    panel = comments(ada)
    write(panel, "Why **here**?\n\n- `cpu` is short\n- <img src=x onerror=alert(1)>", "Ada")
    thread = panel.get_by_role("listitem").filter(has_text="About step 2 · worker-4")
    expect(thread.locator("b", has_text="here")).to_be_visible()
    expect(thread.locator("code")).to_have_text("cpu")
    expect(thread.get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()
    expect(
        thread.get_by_text(re.compile(r"When it was written: \S+ (went to|was tried|\w+)"))
    ).to_be_visible()

    expect(bob.get_by_role("button", name="Comments: 1 open thread, 1 new")).to_be_visible()
    panel = comments(bob)
    thread = panel.locator(".thread")
    expect(thread.get_by_text("new", exact=True)).to_be_visible()
    thread.get_by_role("button", name="About step 2 · worker-4").click()
    other.at(2)
    assert bob.evaluate("podstep.playback.nodes.names[podstep.view.node]") == "worker-4"
    thread.get_by_role("button", name="Reply").click()
    thread.get_by_role("textbox", name="Your reply").fill("The victim was the cheapest.")
    thread.get_by_role("textbox", name="Your name").fill("Bob")
    thread.locator("form").get_by_role("button", name="Reply").click()

    mine = ada.locator(".thread")
    expect(mine.get_by_text("The victim was the cheapest.")).to_be_visible()
    mine.get_by_role("button", name="Resolve").click()
    expect(ada.locator(".thread")).to_have_count(0)
    ada.get_by_role("button", name="Show 1 resolved").click()
    expect(mine.get_by_text("resolved", exact=True)).to_be_visible()
    expect(bob.get_by_role("button", name="Comments: 0 open threads", exact=False)).to_be_visible()
    assert bench.index == 2


def test_a_comment_is_edited_removed_and_linked_to(visitor: Callable[..., Page], site: Stack) -> None:
    """Its address opens the panel at it; only who wrote it can change it."""
    address = share(site, ROOM, "Linked to")
    page = visitor()
    Workbench(page).open(f"{address}?step=1").at(1)
    panel = comments(page)
    write(panel, "First thoughts")
    thread = page.locator(".thread")
    thread.get_by_role("button", name="Edit").click()
    thread.get_by_role("textbox", name="Your comment").fill("Second thoughts")
    thread.get_by_role("button", name="Save").click()
    expect(thread.get_by_text("edited")).to_be_visible()
    name = page.locator(".comment").get_attribute("id") or ""

    stranger = visitor(size=PHONE)
    Workbench(stranger).open(f"{address}?step=1#{name}").at(1)
    expect(stranger.get_by_text("Second thoughts")).to_be_visible()
    expect(stranger.locator(f"#{name}")).to_be_focused()
    expect(stranger.get_by_role("button", name="Edit", exact=True)).to_have_count(0)
    thread.get_by_role("button", name="Remove").click()
    expect(page.locator(".thread")).to_have_count(0)
    expect(stranger.get_by_text("Second thoughts")).to_have_count(0)


def test_the_comments_fit(page: Page, site: Stack, accessible: Callable[[Page], None]) -> None:
    """The panel keeps to WCAG and the window, and Escape closes it and gives the focus back."""
    Workbench(page).open(f"{share(site, ROOM, 'Fits')}?step=1").at(1)
    main = "JSON.stringify(document.querySelector('#main').getBoundingClientRect())"
    before = [page.evaluate(main) for _ in turned(page)]
    panel = comments(page)
    write(panel, "A **long** word: " + "x" * 120 + "\n\n```\ncode\n```\nhttps://kubernetes.io/docs/")
    expect(page.locator(".thread")).to_be_visible()
    accessible(page)
    for size, box in zip(turned(page), before, strict=True):
        assert wide(page) == 0, size
        assert page.evaluate(main) == box
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.get_by_role("button", name=re.compile("^Comments: "))).to_be_focused()
