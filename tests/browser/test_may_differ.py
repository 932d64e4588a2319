"""The bar over the stage that says which fields other clusters honor, and its note in Story on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench, drafted, wide

CLUSTER = """apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  overhead: {cpu: 250m}
  topologySpreadConstraints: [{maxSkew: 1}]
  containers: [{name: c, resources: {requests: {cpu: 500m}}}]
"""


def bar(page: Page) -> Locator:
    """Return the bar over the stage."""
    return Workbench(page).stage.get_by_role("group").filter(has_text=re.compile("may differ|misspelled"))


def summary(page: Page) -> Locator:
    """Return what opens its list."""
    return bar(page).locator("summary")


def test_the_list_of_the_bar_leads_to_a_line(page: Page) -> None:
    """By keyboard its list opens over the stage, closes, and leads to a line."""
    bench = Workbench(page).open(drafted(page, CLUSTER))
    before = bench.stage.locator(".stage-body").bounding_box()
    summary(page).focus()
    page.keyboard.press("Enter")
    listed = bar(page).get_by_role("listitem")
    expect(listed.first).to_be_visible()
    assert bench.stage.locator(".stage-body").bounding_box() == before
    page.keyboard.press("Escape")
    expect(listed.first).to_be_hidden()
    expect(summary(page)).to_be_focused()
    summary(page).click()
    listed.first.get_by_role("button", name="line 10").click()
    expect(listed.first).to_be_hidden()
    expect(bench.build.get_by_role("textbox", name="YAML")).to_be_focused()


def test_on_a_phone_it_is_seen_where_the_answer_is_read(
    phone: Page, accessible: Callable[[Page], None]
) -> None:
    """The stage has the bar, Story the note; both fit the screen and are accessible."""
    bench = Workbench(phone).open(drafted(phone, CLUSTER))
    bench.step()
    expect(summary(phone)).to_be_visible()
    summary(phone).click()
    accessible(phone)
    assert wide(phone) <= 390
    phone.get_by_role("button", name="Inspect").click()
    note = bench.panel("Story").locator(".may-differ summary")
    expect(note).to_contain_text("This result may differ")
    note.click()
    expect(
        bench.panel("Story").get_by_text("it is requested on top of what the containers request")
    ).to_be_visible()
    accessible(phone)
    assert wide(phone) <= 390
