"""What is shown of a quirk that changed a result: in the story, beside the predicates, in the reference."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, example_text, share
from tests.services.stack import Stack


@pytest.fixture(scope="module")
def example(site: Stack) -> str:
    """The address of the example, with quirks as in v1.11."""
    return share(site, example_text("quirks"), "quirks")


def test_a_notice_leads_to_its_row(page: Page, example: str) -> None:
    """The link of the quirk is the reference's row, which has its issue."""
    bench = Workbench(page).open(f"{example}?step=1&tab=story")
    notices = bench.panel("Story").get_by_role("group", name="Quirks of v1.11 in this cycle")
    link = notices.get_by_role("link", name="last-anti-affinity-term")
    page.goto(link.evaluate("link => link.href"))
    row = page.locator("#quirk-last-anti-affinity-term")
    expect(row).to_be_in_viewport()
    expect(row.get_by_role("link", name="kubernetes/kubernetes#68173")).to_be_visible()
