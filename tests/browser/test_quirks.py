"""What is shown of a quirk that changed a result: in the story, beside the predicates, in the reference."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, cycles_of, example_text, share
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


def test_a_notice_tells_the_quirk_and_leads_to_its_row(page: Page, example: str) -> None:
    """It says what was changed and what would come of it otherwise; its link is the reference's row."""
    bench = Workbench(page).open(f"{example}?step=1&tab=story")
    for tab in ("Story", "Predicates"):
        bench.tab(tab)
        notices = bench.panel(tab).get_by_role("group", name=NOTICES)
        expect(notices, tab).to_contain_text(
            "A quirk of v1.11 changed verdicts of predicates, scores and the decision"
        )
        expect(notices).to_contain_text("In v1.11 the pod goes to a-2; as it should be, the pod goes to b-1.")
        link = notices.get_by_role("link", name="last-anti-affinity-term")
        href = link.evaluate("link => link.href")
    page.goto(href)
    row = page.locator("#quirk-last-anti-affinity-term")
    expect(row).to_be_in_viewport()
    expect(row.get_by_role("link", name="kubernetes/kubernetes#68173")).to_be_visible()


def test_there_is_no_notice_where_quirks_are_fixed(page: Page, fixed: str) -> None:
    """The story is reported without it."""
    Workbench(page).open(f"{fixed}?step=1&tab=story")
    story = Workbench(page).panel("Story")
    expect(story).to_contain_text("is placed on b-1")
    expect(story.get_by_role("group", name=NOTICES)).to_have_count(0)


def test_the_timeline_marks_the_cycles_that_a_quirk_changed(page: Page, example: str, fixed: str) -> None:
    """The legend names the mark, and the slider says it of such a cycle and of no other."""
    bench = Workbench(page).open(f"{example}?step=1").at(1)
    legend = page.get_by_role("list", name="Marks of the timeline")
    expect(legend.get_by_text("quirk of v1.11")).to_be_visible()
    said = "changed by a quirk of v1.11"
    changed = [cycle.index for cycle in cycles_of(example_text("quirks")) if cycle.quirks]
    for index in range(1, len(cycles_of(example_text("quirks"))) + 1):
        bench.goto(index)
        reported = re.compile(said if index in changed else rf"^(?!.*{said})")
        expect(bench.timeline).to_have_attribute("aria-valuetext", reported)
    Workbench(page).open(f"{fixed}?step=1").at(1)
    expect(legend.get_by_text("quirk of v1.11")).to_be_hidden()
