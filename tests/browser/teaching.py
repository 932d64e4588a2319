"""What a teacher does: open a room on a lesson, and take it from stop to stop."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench
from tests.browser.test_rooms import entered

LESSON = "pack-or-spread"


def teach(page: Page, slug: str = LESSON) -> str:
    """Open a room on a lesson from its page; return the link for learners."""
    page.goto(f"/learn/{slug}/")
    page.get_by_role("link", name="Teach this lesson in a room").click()
    page.get_by_role("button", name="Open the room").click()
    page.wait_for_url("**/r/**")
    entered(page)
    invite = page.get_by_role("dialog", name="Invite")
    link = invite.get_by_label("Link for viewers", exact=True).input_value()
    invite.get_by_role("button", name="Close").click()
    assert "lead=" not in page.url
    return link


def onward(page: Page) -> None:
    """Go to the next stop."""
    page.get_by_role("region", name="Lesson").get_by_role("button", name="Next stop").click()


def comes(page: Page, heading: str) -> Workbench:
    """Wait until a page is at a stop, whatever scenario that is of."""
    expect(page.get_by_role("region", name="Lesson").locator("summary b")).to_have_text(heading)
    return entered(page)
