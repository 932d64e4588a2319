"""What is shown of a quirk that changed a result: in the story, beside the predicates, in the reference."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, example_text, share
from tests.services.stack import Stack

NOTICES = "Quirks of v1.11 in this cycle"


@pytest.fixture(scope="module")
def example(site: Stack) -> str:
    """The address of the example, with quirks as in v1.11."""
    return share(site, example_text("quirks"), "quirks")


@pytest.fixture(scope="module")
def fixed(site: Stack) -> str:
    """The address of the same with quirks fixed."""
    return share(site, example_text("quirks").replace("quirks: v1.11\n---", "quirks: fixed\n---"), "fixed")


@pytest.mark.parametrize("tab", ["Story", "Predicates"])
def test_a_notice_tells_the_quirk_and_leads_to_its_row(page: Page, example: str, tab: str) -> None:
    """It says what was changed and what would come of it otherwise; its link is the reference's row."""
    Workbench(page).open(f"{example}?step=1&tab={tab.lower()}")
    notices = Workbench(page).panel(tab).get_by_role("group", name=NOTICES)
    expect(notices).to_contain_text(
        "A quirk of v1.11 changed verdicts of predicates, scores and the decision"
    )
    expect(notices).to_contain_text("In v1.11 the pod goes to a-2; as it should be, the pod goes to b-1.")
    link = notices.get_by_role("link", name="last-anti-affinity-term")
    page.goto(link.evaluate("link => link.href"))
    row = page.locator("#quirk-last-anti-affinity-term")
    expect(row).to_be_in_viewport()
    expect(row.get_by_role("link", name="kubernetes/kubernetes#68173")).to_be_visible()


def test_there_is_no_notice_where_quirks_are_fixed(page: Page, fixed: str) -> None:
    """The story is told without it."""
    Workbench(page).open(f"{fixed}?step=1&tab=story")
    story = Workbench(page).panel("Story")
    expect(story).to_contain_text("is bound to b-1")
    expect(story.get_by_role("group", name=NOTICES)).to_have_count(0)
