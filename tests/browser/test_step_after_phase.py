"""Step after a prediction: what a cycle decides is shown before the next one, wherever one steps."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, example_text, share
from tests.browser.test_rooms import entered, open_room
from tests.services.stack import Stack

SHOP = example_text("shop")


def at(page: Page, index: int, phase: str = "") -> None:
    """Wait until a place is on screen."""
    page.wait_for_function(
        "([index, phase]) => podstep.playback.index === index && podstep.playback.phase === phase",
        arg=[index, phase],
    )


def test_step_shows_it_in_a_room(visitor: Callable[..., Page], site: Stack) -> None:
    """Viewers see the decision with the leader."""
    address = share(site, SHOP, "A shop")
    leader, link = open_room(visitor(), f"{address}?step=2&phase=queue")
    viewer = visitor()
    viewer.goto(link)
    entered(viewer)
    at(viewer, 2, "queue")
    leader.button("Step").click()
    at(viewer, 2)


def test_the_first_example_is_stepped_by_phases(page: Page) -> None:
    """Until whole cycles are asked for, which the browser remembers for the next time."""
    page.goto("/")
    page.locator('[data-example="first-cycle"]').first.click()
    bench = Workbench(page).wait()
    bench.button("Step").click()
    at(page, 1, "queue")
    page.wait_for_url("**phase=queue**")
    page.reload()
    bench = Workbench(page).wait()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "() => podstep.playback.index === 1 && !['', 'queue'].includes(podstep.playback.phase)"
    )
    bench.button("By whole cycles").click()
    expect(page.locator("[data-whole]")).to_be_hidden()
    bench.button("Step").click()
    at(page, 1)
    page.goto("/examples/first-cycle/?by=phase")
    bench = Workbench(page).wait()
    expect(page.locator("[data-whole]")).to_be_hidden()
    bench.button("Step").click()
    at(page, 1)
