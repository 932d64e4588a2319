"""The three regions of the workbench share a window: on a desk, at 1024 pixels, and when it changes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DRAWN, PHONE
from tests.browser.pages import ASTRAY, Workbench, becomes, example_text, share, wide
from tests.services.stack import Stack

WIDTHS = """() => ["build", "stage", "inspect"].map(
    name => Math.round(document.querySelector(`.region.${name}`).getBoundingClientRect().width))"""
STAGE_LEAST = 380


def test_all_three_regions_fit_1024_pixels(visitor: Callable[..., Page], site: Stack) -> None:
    """Each is wide enough to work in, splitters move within what is there, and hiding one gives its room."""
    page = visitor(size=(1024, 768))
    bench = Workbench(page).open(share(site, example_text("shop"), "A shop on twelve nodes")).step()
    build, stage, inspect = page.evaluate(WIDTHS)
    assert (build >= 190, stage >= STAGE_LEAST, inspect >= 300) == (True, True, True), (build, stage, inspect)
    splitter = page.get_by_role("separator", name="Width of the Inspect panel")
    splitter.focus()
    page.keyboard.press("ArrowRight")
    becomes(lambda: page.evaluate(WIDTHS), [build, stage + 20, inspect - 20])
    for _ in range(4):
        page.keyboard.press("Shift+ArrowLeft")
    assert page.evaluate(WIDTHS)[1] >= STAGE_LEAST
    page.keyboard.press("[")
    expect(bench.build).to_be_hidden()
    assert page.evaluate(WIDTHS)[1] > STAGE_LEAST
    assert wide(page) <= 0


#: Whether the tab that is open is in view whole, and beside the arrows that say that there is more.
WHOLE = """name => {
  const list = document.querySelector(".inspect [role=tablist]");
  const tab = list.querySelector("[aria-selected=true]");
  if (!tab.textContent.startsWith(name)) return false;
  const [strip, box] = [list.getBoundingClientRect(), tab.getBoundingClientRect()];
  const arrow = (side) => (getComputedStyle(list, side).visibility === "visible" ? 14 : -1);
  return box.left >= strip.left + arrow("::before") && box.right <= strip.right - arrow("::after");
}"""


@pytest.mark.parametrize("size", [(1024, 768), PHONE], ids=["1024", "390"])
def test_the_open_tab_is_whole_where_not_all_fit(
    visitor: Callable[..., Page], site: Stack, size: tuple[int, int]
) -> None:
    """By a link as by its key a tab comes into view; the strip says at which side there is more."""
    page = visitor(size=size)
    address = share(site, example_text("gang-deadlock-coscheduled"), "Two gangs")
    bench = Workbench(page).open(f"{address}?step=4&tab=events").at(4)
    if size == PHONE:
        page.get_by_role("navigation", name="Regions").get_by_role("button", name="Inspect").click()
    strip = bench.inspect.get_by_role("tablist")
    page.wait_for_function(WHOLE, arg="Events")
    for key, name in (("1", "Story"), ("6", "PodGroups"), ("8", "Events")):
        page.keyboard.press(key)
        page.wait_for_function(WHOLE, arg=name)
    if size == PHONE:
        expect(strip).to_have_class(re.compile("more-before"))


def test_the_regions_follow_the_window(page: Page, site: Stack) -> None:
    """A window that becomes narrow takes from the panels before the stage, and gives back when it is wide."""
    Workbench(page).open(share(site, example_text("shop"), "A shop on twelve nodes"))
    before = page.evaluate(WIDTHS)
    page.set_viewport_size({"width": 960, "height": 800})
    page.evaluate(DRAWN)
    build, stage, inspect = page.evaluate(WIDTHS)
    assert stage >= STAGE_LEAST
    assert build < before[0]
    assert inspect < before[2]
    page.set_viewport_size({"width": 1440, "height": 900})
    page.wait_for_function("() => innerWidth === 1440")
    becomes(lambda: page.evaluate(WIDTHS), before)


#: Of elements that are shown: those cut, those outside of their region, and those on more than one line.
UNREAD = """selector => [...document.querySelectorAll(selector)].filter((one) => {
  if (!one.checkVisibility()) return false;
  const box = one.getBoundingClientRect(), region = one.closest(".region, header").getBoundingClientRect();
  const texts = [one, ...one.querySelectorAll("*")].filter((part) => !part.children.length && part.innerText);
  const boxes = texts.map((part) => part.getBoundingClientRect());
  const middles = boxes.map(({ top, height }) => top + height / 2);
  const tall = box.height > 1.9 * parseFloat(getComputedStyle(one).lineHeight) + 16;
  return one.scrollWidth > one.clientWidth + 1 || box.left < region.left || box.right > region.right + 1
    || Math.max(...middles) - Math.min(...middles) > 2 || tall;
}).map((one) => one.textContent)"""
TOP = "one => one.getBoundingClientRect().top"
READ = ".phases li > *, .cycle-main .link b, .cycle-main .pill, .wb-title > *"


def _reads_whole(bench: Workbench, last: str) -> None:
    page = bench.page
    expect(bench.inspect.get_by_role("tab", name=last)).to_be_visible()
    expect(page.get_by_role("list", name="Phases of this cycle")).to_be_visible()
    assert page.evaluate(UNREAD, READ) == []
    becomes(lambda: page.evaluate(ASTRAY), [])
    body = bench.inspect.get_by_role("tabpanel")
    top = body.evaluate(TOP)
    bench.tab("Queue")
    bench.step()
    assert body.evaluate(TOP) == top, "a count moves the panel"
    assert page.evaluate(UNREAD, READ) == []
    becomes(lambda: page.evaluate(ASTRAY), [])


def test_tabs_phases_and_names_are_read_whole(page: Page, site: Stack) -> None:
    """On one line each and uncut; all tabs in one row, or in the list beside it, whatever they count."""
    gangs = share(site, example_text("gang-deadlock-coscheduled"), "Two gangs that wait for each other")
    large = share(site, example_text("five-hundred"), "Five hundred nodes in three zones")
    for address, step, last in ((gangs, 4, "Over time"), (large, 400, "Contracts")):
        bench = Workbench(page).open(f"{address}?step={step}").at(step)
        for width, height in ((1366, 768), (1440, 900), (1920, 1080)):
            page.set_viewport_size({"width": width, "height": height})
            bench.tab("Story")
            _reads_whole(bench, last)


def test_tabs_that_do_not_fit_are_in_a_list(phone: Page, accessible: Callable[[Page], None]) -> None:
    """A tab that the strip hides is one choice away, on a phone as on a desk; a wide panel has no list."""
    page = phone
    bench = Workbench(page).open("/examples/gang-deadlock/?step=8&tab=predicates").at(8)
    every = bench.inspect.get_by_role("combobox", name="All tabs")
    names = every.locator("option").all_inner_texts()
    assert names == [
        tab.locator("span").inner_text() for tab in bench.inspect.get_by_role("tab").all() if tab.is_visible()
    ]
    every.select_option(label=names[-1])
    tab = bench.inspect.get_by_role("tab", name=names[-1])
    expect(tab).to_have_attribute("aria-selected", "true")
    expect(tab).to_be_in_viewport(ratio=0.99)  # places are whole pixels, widths are not
    expect(every).to_have_value(tab.get_attribute("data-tab") or "")
    assert wide(page) <= 0
    accessible(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(every).to_be_visible()
    becomes(lambda: page.evaluate(ASTRAY), [])
    page.get_by_role("separator", name="Width of the Inspect panel").focus()
    for _ in range(6):
        page.keyboard.press("Shift+ArrowLeft")
    expect(every).to_be_hidden()
    assert page.evaluate(ASTRAY) == []


def test_the_counter_and_all_tabs_have_room_on_a_desktop(page: Page) -> None:
    """The deck's counter is not cut, and no tab out of reach, Build wide or not."""
    bench = Workbench(page).open("/examples/ten-percent/").step()
    expect(bench.inspect.get_by_role("tab", name="Over time")).to_be_visible()
    cut = """selector => [...document.querySelectorAll(selector)]
      .filter(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth || !clientWidth).length"""
    for tab in ("Objects", "YAML"):
        bench.build.get_by_role("tab", name=tab).click()
        becomes(lambda: page.evaluate(cut, ".deck .at, .transport"), 0)
        becomes(lambda: page.evaluate(ASTRAY), [])
        box = page.locator(".deck .at").bounding_box()
        assert box and box["width"] > 60, f"the cycle can be read beside {tab}"


def test_rows_of_a_phone_are_not_covered_as_an_example_opens(visitor: Callable[..., Page]) -> None:
    """Nothing pops up over the page, and it scrolls in one direction only."""
    phone = visitor(size=PHONE)
    Workbench(phone).open("/examples/coscheduling-room/")
    expect(phone.locator(".toast")).to_have_count(0)
    assert not wide(phone)
