"""The editor of events: marks are moved by arrows and by dragging, and all fits a phone."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench, drafted, wide
from tests.browser.test_edit import CLUSTER

CLOCK = "---\napiVersion: podstep/v1\nkind: SimulationSettings\ntime: virtual\nquirks: v1.11\n"
HISTORY = """---
apiVersion: simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: h}
spec:
  operations:
  - time: 5
    deleteOperation:
      typeMeta: {kind: Pod, apiVersion: v1}
      objectMeta: {name: nope, namespace: default}
  - time: 60
    deleteOperation:
      typeMeta: {kind: Node, apiVersion: v1}
      objectMeta: {name: n1}
"""


TIMED = CLUSTER + CLOCK + HISTORY


def own(page: Page, text: str = CLUSTER) -> Workbench:
    """Open a draft, computed to its end."""
    return Workbench(page).open(drafted(page, text))


def form(page: Page, bench: Workbench) -> Locator:
    """Open the form of an event."""
    bench.build.get_by_role("button", name="Event", exact=True).click()
    return page.get_by_role("dialog", name="Add an event")


def add(page: Page, bench: Workbench, what: str, cycle: str, **fields: str) -> None:
    """Add an event by the form."""
    box = form(page, bench)
    box.get_by_label("What happens").select_option(label=what)
    for label, value in fields.items():
        box.get_by_label(label, exact=True).fill(value)
    box.get_by_role("textbox", name="After which cycle").fill(cycle)
    box.get_by_role("button", name="Add the event").click()
    expect(box).to_have_count(0)


def events(bench: Workbench) -> Locator:
    """Return the rows of the events."""
    return bench.build.get_by_role("region", name="Events").get_by_role("listitem")


def test_an_event_is_moved_by_arrows_and_by_dragging(page: Page) -> None:
    """Its mark is a slider over the cycles; several presses are one change, and Undo leads back from all."""
    bench = own(page)
    add(page, bench, "Cordon", "2", Node="n2")
    row = events(bench).first
    mark = row.get_by_role("slider")
    expect(mark).to_have_attribute("aria-valuetext", "after cycle 2")
    mark.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(mark).to_have_attribute("aria-valuetext", "after cycle 4")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Moved to after cycle 4").first).to_be_visible()
    expect(row.get_by_role("button").first).to_contain_text("after 4")
    expect(row.get_by_role("slider")).to_be_focused()
    bench.build.get_by_role("button", name="Undo").click()
    expect(row.get_by_role("button").first).to_contain_text("after 2")
    bench.wait()  # until it is computed, after which the list is not drawn again
    box = row.get_by_role("slider").bounding_box()
    track = row.locator(".event-track").bounding_box()
    assert box and track
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(track["x"] + track["width"] * 5 / 6, track["y"] + 4, steps=4)
    page.mouse.up()
    expect(page.get_by_text("Moved to after cycle 5")).to_be_visible()
    expect(row.get_by_role("button").first).to_contain_text("after 5")
    row.get_by_role("button").first.click()
    bench.at(6)


def test_the_editor_of_events_on_a_phone_and_for_everybody(
    phone: Page, accessible: Callable[[Page], None]
) -> None:
    """Nothing is wider than a phone, the form neither; axe finds nothing."""
    bench = own(phone, TIMED)
    phone.get_by_role("button", name="Build").click()
    expect(events(bench).nth(0)).to_contain_text("no effect")
    assert wide(phone) <= 0
    form(phone, bench)
    assert wide(phone) <= 0
    accessible(phone)
