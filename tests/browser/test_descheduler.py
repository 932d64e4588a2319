"""The descheduler's form, its tab that comes and goes with it, and the verb Deschedule."""

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


def test_a_plugin_is_edited_by_form_and_what_is_wrong_is_said_at_its_field(page: Page) -> None:
    """On one's own draft: switched on, given arguments that upstream refuses, which change nothing."""
    bench = Workbench(page).open(drafted(page, example_text("descheduler-low-utilization"), as_is=True))
    bench.build.get_by_role("tab", name="Policy").click()
    part = bench.build.locator("[data-part=descheduler]")
    part.get_by_role("switch", name="Enable PodLifeTime").click()
    expect(part.locator("[data-name=PodLifeTime] dl")).to_contain_text("86400")
    part.get_by_role("button", name="Arguments of LowNodeUtilization").click()
    form = page.get_by_role("dialog")
    percent = form.locator("[data-path=thresholds]").get_by_role("textbox", name="percent").first
    percent.fill("120")
    form.get_by_role("button", name="Change", exact=True).click()
    expect(form.get_by_role("alert").filter(has_text="cpu threshold not in [0, 100] range")).to_be_visible()
    percent.fill("25")
    form.get_by_role("button", name="Change", exact=True).click()
    expect(part.locator("[data-name=LowNodeUtilization] dl")).to_contain_text("cpu 25%")
    part.get_by_role("spinbutton", name="Passes at most").fill("3")
    part.get_by_role("spinbutton", name="Passes at most").blur()
    page.wait_for_function("() => podstep.playback.descheduler.passes === 3")
    part.get_by_role("button", name="Add a profile").click()
    second = part.get_by_role("region", name="Profile profile-2")
    second.get_by_role("switch", name="Enable RemoveDuplicates").click()
    page.wait_for_function(
        "() => podstep.playback.descheduler.profiles[1]?.enabled.includes('RemoveDuplicates')"
    )
    bench.build.get_by_role("tab", name="YAML").click()
    expect(bench.build).to_contain_text("profile-2")


def test_a_descheduler_is_added_where_there_is_none(page: Page) -> None:
    """And taken out again; the tab comes and goes with it, also where other schedulers place."""
    for slug in ("drain-budget", "two-schedulers"):
        added(page, Workbench(page).open(drafted(page, example_text(slug), as_is=True)))


def added(page: Page, bench: Workbench) -> None:
    """Add a descheduler and take it out."""
    tab = bench.inspect.get_by_role("tab", name=re.compile("^Descheduler"))
    expect(tab).to_have_count(0)
    bench.build.get_by_role("tab", name="Policy").click()
    part = bench.build.locator("[data-part=descheduler]")
    part.get_by_role("button", name="Add a descheduler").click()
    expect(part.get_by_role("switch", name="Enable LowNodeUtilization")).to_be_checked()
    expect(tab).to_have_count(1)
    part.get_by_role("button", name="Remove the descheduler").click()
    expect(part.get_by_role("button", name="Add a descheduler")).to_be_visible()
    expect(tab).to_have_count(0)
