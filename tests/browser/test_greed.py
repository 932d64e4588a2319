"""The price of greed in a browser: progress, giving up, and an address that can be opened again."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.pages import share
from tests.core.compare.test_greed import GREEDY
from tests.playground.test_greed_search import HARD
from tests.services.stack import Stack


def test_the_search_is_shown_stopped_and_found_again(site: Stack, visitor: Callable[..., Page]) -> None:
    """The address of an answer is the one that was asked for, and opens it for everybody."""
    page = visitor()
    hard = share(site, HARD, as_is=True)
    page.goto(f"/greed/?of={hard}&seconds=20&objective=fragmentation")
    expect(page.locator(".progress-words")).to_contain_text("Searching")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("status").filter(has_text="stopped")).to_be_visible()
    expect(page.get_by_role("button", name="Search again")).to_be_visible()
    of = share(site, GREEDY, as_is=True)
    address = f"/greed/?of={of}&seconds=1"
    page.goto(address)
    expect(page.get_by_role("heading", name="The optimum")).to_be_visible()
    assert page.url.endswith("&seconds=1")
    other = visitor()
    other.goto(address)
    expect(other.get_by_role("heading", name="The optimum")).to_be_visible()


def test_what_cannot_be_searched_says_so_in_place(site: Stack, visitor: Callable[..., Page]) -> None:
    """A step beyond the end is only known once the run was stepped through."""
    page = visitor()
    page.goto(f"/greed/?of={share(site, GREEDY, as_is=True)}&step=99")
    expect(page.get_by_text("run ends after 3 cycles")).to_be_visible()
