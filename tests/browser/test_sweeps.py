"""A sweep in the browser: its form, its cells as they end, and two of them compared."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.pages import example_text, share
from tests.services.stack import Stack

pytestmark = pytest.mark.timeout(120)
SECOND = 1000


def test_a_scenario_is_swept_and_two_cells_compared(site: Stack, page: Page, watch: Watch) -> None:
    """An axis is added by its button, an error is shown with its line, and the cells come as they end."""
    watch.allow("422")  # the grid with an error
    address = share(site, example_text("shop"), as_is=True)
    page.goto(f"/sweeps/new/?of={address}")
    expect(page.get_by_text("6 cells")).to_be_visible()
    page.get_by_role("button", name="arrival", exact=True).click()
    expect(page.get_by_text("24 cells")).to_be_visible()
    grid = page.get_by_label("Grid, as YAML or JSON")
    grid.fill("grid:\n  scoringStrategy: [LeastAllocated, MostAllocated]\n  nodes: [0]\n")
    page.get_by_role("button", name="Start the sweep").click()
    expect(page.get_by_role("alert")).to_contain_text("line 3: grid.nodes[0] must be a whole number from 1")
    grid.fill("grid:\n  scoringStrategy: [LeastAllocated, MostAllocated]\n  seed: [0, 1, 2, 3, 4, 5, 6]\n")
    page.get_by_role("button", name="Start the sweep").click()
    expect(page.get_by_text("14 of 14 cells")).to_be_visible(timeout=90 * SECOND)
    table = page.get_by_role("table", name="Cells of the sweep")
    expect(table.get_by_role("link", name="open")).to_have_count(14)
    table.get_by_role("button", name="seed").click()
    expect(table.get_by_role("row").nth(1)).to_contain_text("6")
    table.get_by_role("button", name="seed").click()
    page.get_by_label("Filter cells").first.fill("mostallocated")
    expect(table.get_by_role("link", name="open")).to_have_count(7)
    page.get_by_label("Filter cells").first.fill("")
    expect(page.locator(".chart[data-drawn]")).to_have_count(3)  # bars, two figures, parallel coordinates
    table.get_by_role("button", name="Search the optimum of cell 1", exact=True).click()
    expect(table.get_by_text(re.compile("^(proven optimal|equal|improved: .*)$"))).to_be_visible(
        timeout=60 * SECOND
    )
    table.get_by_role("checkbox", name="Choose cell 1 to compare", exact=True).check()
    table.get_by_role("checkbox", name="Choose cell 8 to compare").check()
    page.get_by_role("link", name="Compare the two").click()
    expect(page.get_by_text("Decided differently by")).to_be_visible()
    page.goto("/runs/")
    expect(
        page.get_by_role("row", name=re.compile("done scoringStrategy 2, seed 7 14 of 14"))
    ).to_be_visible()
