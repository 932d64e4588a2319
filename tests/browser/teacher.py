"""What a teacher does: open a room on a lesson, and take it from stop to stop."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.test_rooms import entered

LESSON = "pack-or-spread"


def teach(page: Page, address: str = f"/learn/{LESSON}/") -> str:
    """Open a room on a lesson from its page; return the link for learners."""
    page.goto(address)
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


def comes(page: Page, heading: str) -> None:
    """Wait until a page is at a stop, whatever scenario that is of, and shows what the class may see."""
    expect(page.get_by_role("region", name="Lesson").locator("summary b")).to_have_text(heading)
    page.wait_for_function(
        "() => window.podstep?.ready && podstep.room?.room.state === 'here' && podstep.playback.complete"
    )
