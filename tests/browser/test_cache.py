"""The Cache tab: what came from the cache, what was invalidated and what was stale, and ways around in it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from scheduler_core.record.cache_record import CacheRecord
from scheduler_core.record.cycle import Cycle
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.editors import yaml_of
from tests.browser.pages import (
    COMPUTED,
    Workbench,
    becomes,
    cycles_of,
    example_text,
    share,
    texts,
    wide,
)
from tests.services.stack import Stack

LAST = 4  # the cycle of the broken promise in which all three nodes are stale
#: Puts 100,000 cycles of marks in the place of those of the server, and takes the time until they are drawn.
LONG_RUN = """() => {
  const { playback } = podstep;
  const n = 100_000, of = (make) => Array.from({ length: n }, (_, i) => make(i));
  const cache = {
    hits: of((i) => (i % 9 ? 90 : 0)),
    evaluations: of((i) => (i % 9 ? 10 : 100)),
    invalidated: of((i) => i % 3),
    stale: of((i) => (i === 70_000 ? 2 : 0)),
  };
  playback.cycles = n;
  podstep.view.seen.reveal(true);
  playback.marks.put(1, { result: "s".repeat(n), pod: of(() => 0), node: of(() => 0), cache });
  const began = performance.now();
  const chart = document.querySelector(".cache-chart");
  window.took = new Promise((done) => {
    chart.once("plotly_afterplot", () => done(performance.now() - began));
  });
  playback.know();
}"""
VIEWS = ("This step", "Map", "Classes", "Over time", "Worth it?")


@pytest.fixture(scope="module")
def promise(site: Stack) -> str:
    """The address of the broken promise: v1.11's rows, audited."""
    return share(site, example_text("cache-broken-promise"), "The broken promise")


def opened(page: Page, address: str, index: int, view: str = "") -> Locator:
    """Open the tab at a cycle, on a view of its own, and return its panel."""
    query = f"?step={index}&tab=cache" + (f"&view={view}" if view else "")
    return Workbench(page).open(address + query).at(index).panel("Cache")


def record(cycle: Cycle) -> CacheRecord:
    """Return what the cache did in a cycle."""
    assert cycle.cache is not None
    return cycle.cache


def view(panel: Locator, name: str) -> Locator:
    """Return the button of a view of the tab."""
    return panel.get_by_role("group", name="Views of the cache").get_by_role("button", name=name, exact=True)


def plain(text: str) -> str:
    """Return a text with single spaces."""
    return re.sub(r"\s+", " ", text).strip()


def numbers(panel: Locator) -> dict[str, list[str]]:
    """Return the rows of the table of numbers by their heading."""
    rows = panel.get_by_role("table", name="The cache in numbers").locator("tbody tr").all()
    return {plain(row.get_by_role("rowheader").inner_text()): texts(row.locator("td")) for row in rows}


def test_measures_over_time(page: Page, promise: str) -> None:
    """The chart leads to cycles, and a hundred thousand of them are drawn at once."""
    # The chart is of our own Plotly, with one tick a cycle, which a click leads to; so does the table.
    panel = opened(page, promise, LAST, "time")
    chart = panel.get_by_role(
        "img", name=re.compile("^Hit rate over 4 cycles, a chart: 73 % .* 6 hits in 3 cycles were stale")
    )
    # A busy machine takes long to read Plotly.
    expect(chart.locator("svg.main-svg").first).to_be_visible(timeout=COMPUTED)
    ticks = panel.locator(".xaxislayer-above .xtick text, .xaxislayer-below .xtick text")
    becomes(ticks.all_text_contents, ["1", "2", "3", "4"])
    marks = chart.locator(".scatterlayer .point")
    expect(marks).to_have_count(3)
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.get_by_role("button", name="Inspect").click()
    becomes(lambda: wide(page), 0)
    becomes(lambda: chart.evaluate("(it) => it.querySelector('svg').clientWidth - it.clientWidth"), 0)
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    becomes(lambda: chart.evaluate("(it) => it.querySelector('svg').clientWidth - it.clientWidth"), 0)

    def pressed() -> int:
        mark = marks.first.bounding_box()
        if mark is not None:  # Plotly may be drawing it again
            page.mouse.click(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
        page.wait_for_timeout(200)
        return int(page.evaluate("podstep.playback.index"))

    becomes(pressed, 2)
    bench = Workbench(page).at(2)
    panel.get_by_role("button", name="Show as a table").click()
    table = panel.get_by_role("table", name="The cache's work, cycle by cycle")
    expect(table.locator("tbody tr")).to_have_count(4)
    shown = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
    expected = [record(cycle).counts for cycle in cycles_of(example_text("cache-broken-promise"))]
    assert [[int(row[at]) for at in (0, 1, 4, 5)] for row in shown] == [
        [counts.hits, counts.evaluations, counts.invalidated, counts.stale] for counts in expected
    ]
    table.get_by_role("button", name="cycle 3", exact=True).click()
    bench.at(3)
    # A long run is summed up to the chart's width at once, and its table is turned page by page.
    panel = opened(page, promise, LAST, "time")
    expect(panel.locator("svg.main-svg").first).to_be_visible()
    page.evaluate(LONG_RUN)
    took = page.evaluate("took")
    print(f"100,000 cycles drawn in {took:.0f} ms")
    assert took < 10_000  # of a quiet machine a quarter of a second, in which it waits for further marks
    expect(panel.get_by_role("status").filter(has_text="a point is")).to_contain_text(
        "2 hits in 1 cycle were stale"
    )
    assert page.evaluate("document.querySelector('.cache-chart').data[0].x.length") <= DESKTOP[0] / 2
    panel.get_by_role("button", name="Show as a table").click()
    pages = panel.get_by_role("group", name="Page of cycles")
    expect(pages).to_contain_text("1 to 25 of 100,000")
    pages.get_by_role("button", name="Next page").click()
    expect(pages).to_contain_text("26 to 50 of 100,000")


def test_a_shared_scenario_without_cache_is_forked_and_switched_on(page: Page, site: Stack) -> None:
    """The empty tab says what a cache is; one's own copy switches it on with one click, at the same step."""
    panel = opened(page, share(site, example_text("shop"), "Shop"), 3)
    expect(panel).to_contain_text("The equivalence cache is off.")
    expect(view(panel, "Map")).to_be_hidden()
    panel.get_by_role("button", name="Fork to switch it on").click()
    page.wait_for_url("**/p/**")
    bench = Workbench(page).wait().at(3)
    panel = bench.panel("Cache")
    panel.get_by_role("button", name="As in v1.11, with the audit").click()
    expect(panel).to_contain_text("cache v1.11")
    expect(panel).to_contain_text("audit on")
    bench.at(3)
    yaml_of(bench).shows(
        re.compile(r"kind: SimulationSettings\n(scheduler: v1.11\n)?cache: v1.11\naudit: true\n$")
    )
    becomes(lambda: page.evaluate("podstep.playback.policy.cache"), "v1.11")


def test_the_audit_is_switched_on_where_it_is_missed(page: Page, site: Stack) -> None:
    """Without the audit nothing claims that there is no stale hit; on a draft a click switches it on."""
    text = example_text("cache-broken-promise").replace("audit: true\n", "")
    bench = Workbench(page).open(share(site, text, "Unaudited") + "?step=4&tab=cache").at(4)
    panel = bench.panel("Cache")
    expect(panel).to_contain_text("The audit is off.")
    assert numbers(panel)["this cycle"][-1] == "–"
    page.get_by_role("button", name="Fork", exact=True).click()
    page.wait_for_url("**/p/**")
    bench.wait().at(4)
    panel.get_by_role("button", name="Switch the audit on").click()
    expect(panel.get_by_role("heading", name="3 stale hits")).to_be_visible()


def test_the_tab_works_by_keyboard(page: Page, promise: str) -> None:
    """A digit opens the tab; its views are buttons in turn, kept in the address with the step."""
    Workbench(page).open(f"{promise}?step=4").at(4)
    page.keyboard.press("3")
    bench = Workbench(page)
    bench.is_on("Cache")
    views = bench.panel("Cache").get_by_role("group", name="Views of the cache")
    becomes(lambda: tuple(texts(views.get_by_role("button"))), VIEWS)
    views.get_by_role("button", name="This step").focus()
    for name, kept in (("Map", "map"), ("Classes", "classes"), ("Over time", "time"), ("Worth it?", "worth")):
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(views.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")
        expect(page).to_have_url(re.compile(rf"\?step=4&tab=cache&view={kept}$"))
    page.reload()
    bench.wait().at(4)
    expect(views.get_by_role("button", name="Worth it?")).to_have_attribute("aria-pressed", "true")
    # Back leads up the map again, and the key of failures to the first stale hits.
    view(bench.panel("Cache"), "Map").click()
    crumbs = bench.panel("Cache").get_by_role("navigation", name="Where in the map")
    bench.panel("Cache").get_by_role("button", name="worker-1", exact=True).first.click()
    expect(crumbs).to_have_text("all nodes › worker-1")
    page.go_back()
    expect(crumbs).to_have_text("all nodes")
    bench.goto(1)
    page.keyboard.press(".")
    bench.at(2)
