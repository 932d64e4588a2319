"""The tabs Descheduler and Flow, and the verb Deschedule."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, drafted, example_text
from tests.browser.test_verbs import menu


def test_the_descheduler_s_tab_has_passes_thresholds_and_ping_pong(page: Page) -> None:
    """It opens with the example, at the last pass; the node that joined later is there."""
    bench = Workbench(page).open("/examples/descheduler-ping-pong/?step=2.4&tab=descheduler")
    tab = page.locator(".descheduling-tab")
    expect(tab.locator(".descheduling-passes tbody tr")).to_have_count(4)
    expect(tab.locator(".descheduling-returns")).to_contain_text(
        "came back to worker-1 and were evicted again, 3"
    )
    bars = tab.locator(".descheduling-bars tbody tr")
    expect(bars).to_have_count(2)
    assert bars.nth(0).locator(".used").evaluate("one => one.style.width") == "75%"
    assert bars.nth(0).locator("i.high").evaluate("one => one.style.left") == "50%"
    expect(tab.locator(".descheduling-strategy .tabled tbody tr").first).to_contain_text("evicted")
    expect(bench.build).not_to_contain_text("not there")


def test_a_pass_leads_to_its_cycle_and_is_on_the_timeline(page: Page) -> None:
    """By its time in the list, and with its reason for whoever reads it."""
    # By its time in the list.
    Workbench(page).open("/examples/descheduler-ping-pong/?step=2.4&tab=descheduler")
    page.locator(".descheduling-passes").get_by_role("button", name="60s").click()
    page.wait_for_function("() => podstep.playback.index === 4")
    expect(page.locator(".descheduling-passes tbody tr")).to_have_count(1)
    # For whoever reads it with a pointer or by its value.
    track = page.get_by_role("slider", name=re.compile("ycle"))
    expect(track).to_have_attribute(
        "aria-valuetext", re.compile(r"descheduler: pass 1 evicts 1 \(LowNodeUtilization 1\): node ")
    )


def test_whether_it_helped_is_said_first(page: Page) -> None:
    """Evictions, how far the nodes differ now, and that nothing is left to do."""
    Workbench(page).open("/examples/descheduler-low-utilization/?step=end&tab=descheduler")
    worth = page.locator(".descheduling-worth")
    expect(worth).to_contain_text("3 pods evicted so far")
    expect(worth).to_contain_text("cpu 87.5% → 12.5%")
    expect(worth).to_contain_text("The last pass found nothing to evict")
    legend = page.get_by_role("list", name="Marks of the timeline")
    expect(legend.get_by_text("descheduler ran")).to_be_visible()


def test_the_verb_is_offered_where_a_descheduler_runs(page: Page) -> None:
    """In a node's menu; without one neither verb nor tab is there."""
    for slug, count in (("descheduler-low-utilization", 1), ("drain-budget", 0)):
        bench = Workbench(page).open(drafted(page, example_text(slug), as_is=True))
        expect(bench.inspect.get_by_role("tab", name=re.compile("^Descheduler"))).to_have_count(count)
        verbs = menu(page, bench, "worker-1")
        expect(verbs.get_by_role("menuitem", name="Cordon…", exact=True)).to_be_visible()
        expect(verbs.get_by_role("menuitem", name="Deschedule…")).to_have_count(count)
        page.keyboard.press("Escape")


def test_the_flow_of_a_round_is_drawn_with_its_paths(page: Page) -> None:
    """A line for each arc, its flow beside it, and a row for each pod."""
    Workbench(page).open("/examples/firmament-gang/?step=1.1&tab=network")
    tab = page.locator(".network-tab")
    expect(tab.locator(".arc.flowing")).to_have_count(
        7
    )  # to three machines by two classes, and the aggregator
    expect(tab.locator(".network-picture")).to_contain_text("1/1 · 2,000")
    expect(tab.locator("table tbody tr th").filter(has_text="train-")).to_have_count(5)
    expect(tab).to_contain_text("its gang has fewer places than its minimum")
    expect(page.locator(".toast")).to_have_count(0)


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
