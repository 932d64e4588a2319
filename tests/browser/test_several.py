"""Several schedulers: the lanes over the nodes, and the tab Views, as they fit."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import turned
from tests.browser.pages import Workbench, example_text, share, wide
from tests.services.stack import Stack


def test_the_lanes_fit_and_leave_room_for_the_nodes(
    page: Page, accessible: Callable[[Page], None], site: Stack
) -> None:
    """A mark on the node that is given away twice; no step moves the nodes, and axe finds nothing."""
    address = share(site, example_text("stale-views"), "Two views")
    bench = Workbench(page).open(f"{address}?step=6").at(6)
    node = bench.node("worker-1")
    expect(node.get_by_text("double-booked", exact=True)).to_be_visible()
    expect(bench.stage.get_by_text("1 node double-booked")).to_be_visible()
    for size in turned(page):
        bench.goto(6)
        assert wide(page) <= 0, size
        before = node.bounding_box()
        bench.step()
        assert node.bounding_box() == before, size
    accessible(page)


def test_the_tab_shows_who_noticed_and_fits(
    visitor: Callable[..., Page], accessible: Callable[[Page], None], site: Stack
) -> None:
    """The step after the refusal tells of it; nothing is wider than a phone, and axe finds nothing."""
    page = visitor((390, 844), color_scheme="light")
    address = share(site, example_text("stale-views"), "Two views")
    Workbench(page).open(f"{address}?step=8&tab=views").at(8)
    page.get_by_role("navigation", name="Regions").get_by_role("button", name="Inspect").click()
    noticed = page.get_by_role("region", name="Who noticed")
    expect(noticed.get_by_text(re.compile("refused by the kubelet"))).to_have_count(1)
    assert wide(page) <= 0
    accessible(page)
