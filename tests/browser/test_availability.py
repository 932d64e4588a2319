"""Inspect, tab Over time: the workloads of a run in virtual time, and the way from a moment to its step."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Page, expect

from tests.browser.pages import POLLING, Workbench, becomes, example_text, share
from tests.services.stack import Stack

PLOT = "document.querySelector('.availability-chart .nsewdrag')"


def test_a_failing_node_is_seen_over_time(page: Page, site: Stack) -> None:
    """Outcomes ahead are hidden first; a click on the chart, or on a row behind it, goes to that step."""
    bench = Workbench(page).open(share(site, example_text("node-fails"), "Fails") + "?tab=availability")
    panel = bench.panel("Over time")
    expect(panel).to_contain_text("for the cycles that you have visited")
    panel.get_by_role("button", name="Show outcomes ahead").click()
    row = panel.get_by_role("row").filter(has_text="Deployment web")
    expect(row.get_by_role("cell")).to_have_text(["0/5", "0", "3", "13m7s", "2"])
    row.get_by_role("button", name="Deployment web").press("Enter")
    expect(panel.get_by_role("heading", name="Deployment web")).to_be_visible()
    page.wait_for_url("**view=Deployment/default/web**")
    chart = panel.get_by_role("img", name="Deployment web over")
    expect(chart).to_have_accessible_name(
        re.compile("fewest ready: 3 at 114s, below desired for 13m7s, 2 evicted")
    )
    page.wait_for_function(f"() => {PLOT}", polling=POLLING)
    box = json.loads(page.evaluate(f"JSON.stringify({PLOT}.getBoundingClientRect())"))
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    becomes(lambda: page.evaluate("podstep.playback.index > 1"), wanted=True)
    panel.get_by_role("button", name="Show as a table").click()
    panel.get_by_role("button", name="114s").press("Enter")
    bench.at(6)
    expect(row.get_by_role("cell").first).to_have_text("3/5")
    page.reload()
    bench.wait()
    expect(panel.get_by_role("heading", name="Deployment web")).to_be_visible()
