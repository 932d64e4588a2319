"""Cycles ahead and moments inside a cycle: what the timeline shows of them, and how tabs fit."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import turned
from tests.browser.pages import Workbench, example_text, share, show
from tests.browser.test_time import settled
from tests.services.stack import Stack

#: The colours of the timeline's marks, at the foot of each.
COLOURS = """() => {
  const canvas = document.querySelector(".timeline .track canvas");
  const { playback } = podstep;
  const ratio = canvas.width / canvas.clientWidth;
  const scale = Math.min(30, canvas.clientWidth / playback.last);
  const pen = canvas.getContext("2d");
  const at = (i) => pen.getImageData(Math.round((i + 0.3) * scale * ratio), canvas.height - 4, 1, 1);
  return Array.from({ length: playback.cycles }, (_, i) => [...at(i).data].join());
}"""


def colours(page: Page) -> list[str]:
    """Return the colour of every cycle's mark once it is painted."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    found: list[str] = page.evaluate(COLOURS)
    return found


def test_the_timeline_says_nothing_of_cycles_that_were_not_visited(page: Page, site: Stack) -> None:
    """No colour, text by pointing, value or legend; a switch shows them, and the browser remembers it."""
    bench = Workbench(page).open(share(site, example_text("shop")))
    fresh = colours(page)
    assert len(set(fresh)) == 1
    bench.step(2)
    assert len(set(colours(page)[2:])) == 1
    assert colours(page)[0] != fresh[0]
    track = bench.timeline
    box = track.bounding_box()
    assert box
    scale = min(30, box["width"] / 26)
    tip = page.locator(".track-tip")
    page.mouse.move(box["x"] + 16.5 * scale, box["y"] + 20)
    expect(tip).to_have_text("cycle 17 · not visited yet")
    page.mouse.move(box["x"] + 1.5 * scale, box["y"] + 20)
    expect(tip).to_contain_text("scheduled")
    legend = page.get_by_role("list", name="Marks of the timeline")
    expect(legend.get_by_text("quirk of v1.11")).to_be_hidden()
    page.get_by_role("main", name="Stage").focus()
    page.keyboard.press("Shift+ArrowRight")
    settled(page)
    expect(track).to_have_attribute("aria-valuetext", "cycle 3 of 26, not visited yet")
    assert len(set(colours(page)[2:])) == 1
    switch = legend.get_by_role("button", name="Show outcomes ahead")
    expect(switch).to_have_attribute("aria-pressed", "false")
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    assert len(set(colours(page))) > 1
    expect(legend.get_by_text("quirk of v1.11")).to_be_visible()
    page.mouse.move(box["x"] + 16.5 * scale, box["y"] + 20)
    expect(tip).to_contain_text("unschedulable")
    page.reload()
    Workbench(page).wait()
    assert len(set(colours(page))) > 1
    page.get_by_role("main", name="Stage").focus()
    page.keyboard.press("o")
    assert len(set(colours(page)[2:])) == 1


def test_visited_cycles_stay_known_over_a_reload_and_for_their_scenario_alone(
    page: Page, site: Stack
) -> None:
    """A link to a cycle makes those before it known; another scenario begins anew; all is bounded."""
    address = share(site, example_text("shop"))
    other = share(site, example_text("spread-over-zones"))
    page.goto(address + "?step=9")
    bench = Workbench(page).wait().at(9)
    assert len(set(colours(page)[9:])) == 1
    assert colours(page)[0] != colours(page)[-1]
    bench.goto(3)
    page.goto(address)
    Workbench(page).wait()
    marks = colours(page)
    assert (marks[8] == marks[0], marks[9] == marks[0]) == (True, False)
    page.goto(other)
    Workbench(page).wait()
    assert len(set(colours(page))) == 1
    kept = """() => {
      for (let i = 0; i < 200; i += 1) {
        const rows = JSON.parse(localStorage.getItem("podstep.seen"));
        localStorage.setItem("podstep.seen", JSON.stringify([...rows, [`{"share":"s${i}"}`, 3]]));
      }
    }"""
    page.evaluate(kept)
    Workbench(page).step()
    page.wait_for_function("() => JSON.parse(localStorage.getItem('podstep.seen')).length === 60")
    page.evaluate("localStorage.setItem('podstep.seen', '{\"no\": [')")
    page.reload()
    Workbench(page).wait().step()
    assert len(set(colours(page)[2:])) == 1


def test_moments_inside_on_every_screen(page: Page, accessible: Callable[[Page], None], site: Stack) -> None:
    """Early tabs and the switch pass axe, and do not scroll sideways."""
    address = share(site, example_text("coscheduling-room"))
    bench = Workbench(page).open(f"{address}?step=4&phase=preFilter&tab=story")
    settled(page)
    for tab in ("Story", "Priorities", "Queue", "PodGroups"):
        bench.tab(tab)
        accessible(page)
        for size in turned(page):
            show(page, "Inspect")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (tab, size)
