"""A session of kube-batch, from its card on the start page: its steps, who has what after each, its end."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import turned
from tests.browser.pages import Workbench, example_text, share, show, wide
from tests.services.stack import Stack


@pytest.fixture(scope="module")
def shares(site: Stack) -> str:
    """The address of two queues that share the cluster."""
    return share(site, example_text("fair-shares"), "Fair shares")


def test_a_card_leads_to_a_session_that_is_stepped_through(page: Page) -> None:
    """The tab is open; the next step is a click away, and the address keeps it."""
    page.goto("/?topic=schedulers")
    page.get_by_role("link", name="Fair shares").click()
    bench = Workbench(page).wait().at(2)
    bench.is_on("Session")
    steps = bench.panel("Session").get_by_role("region", name="Steps of the session")
    answer = steps.locator("li", has_text="tier 1 decides").first
    answer.get_by_role("button", name=re.compile("^Step")).click()
    expect(page).to_have_url(re.compile(r"tab=session&view=\d+"))
    steps.get_by_role("button", name="Next step").click()
    expect(steps.locator("li.now")).to_contain_text("releases its resources on")


def test_it_fits_and_is_accessible(page: Page, accessible: Callable[[Page], None], shares: str) -> None:
    """Nothing is wider than the page, and axe finds nothing, with a step open."""
    Workbench(page).open(f"{shares}?step=2&tab=session&view=8").at(2)
    expect(page.locator(".session-step.now")).to_have_count(1)
    for size in turned(page):
        show(page, "Inspect")
        assert wide(page) <= 0, size
    accessible(page)
