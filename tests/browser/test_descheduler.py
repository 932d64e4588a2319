"""The verb Deschedule, and the tab of a descheduler."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, drafted, example_text
from tests.browser.test_verbs import menu


def test_the_verb_is_offered_where_a_descheduler_runs(page: Page) -> None:
    """In a node's menu; without one neither verb nor tab is there."""
    for slug, count in (("descheduler-low-utilization", 1), ("drain-budget", 0)):
        bench = Workbench(page).open(drafted(page, example_text(slug), as_is=True))
        expect(bench.inspect.get_by_role("tab", name=re.compile("^Descheduler"))).to_have_count(count)
        verbs = menu(page, bench, "worker-1")
        expect(verbs.get_by_role("menuitem", name="Cordon…", exact=True)).to_be_visible()
        expect(verbs.get_by_role("menuitem", name="Deschedule…")).to_have_count(count)
        page.keyboard.press("Escape")
