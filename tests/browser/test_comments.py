"""The comments of a shared scenario on a desk and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import turned
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


def test_the_comments_fit(page: Page, site: Stack, accessible: Callable[[Page], None]) -> None:
    """The panel keeps to WCAG and the window, and Escape closes it and gives the focus back.

    A comment's address opens the panel at it, also on a phone.
    """
    address = f"{share(site, ROOM, 'Fits')}?step=1"
    Workbench(page).open(address).at(1)
    main = "JSON.stringify(document.querySelector('#main').getBoundingClientRect())"
    before = [page.evaluate(main) for _ in turned(page)]
    panel = comments(page)
    write(panel, "A **long** word: " + "x" * 120 + "\n\n```\ncode\n```\nhttps://kubernetes.io/docs/")
    expect(page.locator(".thread")).to_be_visible()
    name = page.locator(".comment").get_attribute("id")
    accessible(page)
    for size, box in zip(turned(page), before, strict=True):
        assert wide(page) == 0, size
        assert page.evaluate(main) == box
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.get_by_role("button", name=re.compile("^Comments: "))).to_be_focused()
    page.goto("about:blank")
    next(turned(page))
    Workbench(page).open(f"{address}#{name}").at(1)
    expect(page.locator(f"#{name}")).to_be_focused()
