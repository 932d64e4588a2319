"""The Policy tab changes what runs, and the timeline shows where a scheduler was restarted."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.editors import yaml_of
from tests.browser.pages import Workbench, drafted, example_text, share, wide
from tests.services.stack import Stack

RESTARTS = Path(__file__).parents[1] / "playground" / "data" / "restart.yaml"


@pytest.fixture(scope="module")
def shop(site: Stack) -> str:
    """The address of a shared shop."""
    return share(site, example_text("shop"), "Shop")


@pytest.fixture(scope="module")
def restarts(site: Stack) -> str:
    """The address of a scenario whose scheduler is restarted before cycles 3 and 4."""
    return share(site, RESTARTS.read_text(), "Two restarts")


def policy(bench: Workbench) -> Locator:
    """Open the Policy tab and return its panel."""
    bench.build.get_by_role("tab", name="Policy").click()
    panel = bench.build.get_by_role("tabpanel", name="Policy")
    expect(panel.get_by_role("heading", name="Priorities")).to_be_visible()
    return panel


SHOP = example_text("shop")


def own(page: Page, text: str = SHOP, step: int = 0) -> Workbench:
    """Open a draft of a text, which is the shop's."""
    bench = Workbench(page).open(drafted(page, text) + (f"?step={step}" if step else ""))
    return bench.at(step)


def test_switching_the_order_changes_the_ladder_at_the_same_step(page: Page) -> None:
    """The proposal's order is written into the draft's text, the step stays, and Undo leads back."""
    bench = own(page, step=3)
    panel = policy(bench)
    ladder = bench.tab("Predicates").locator(".ladder")
    expect(ladder).to_contain_text("GeneralPredicates")
    panel.get_by_label("Static order of predicates").select_option("proposal")
    expect(ladder).to_contain_text(re.compile(r"MatchNodeSelector[\s\S]*PodFitsResources"))
    expect(ladder).not_to_contain_text("GeneralPredicates")
    bench.at(3)
    settings = "kind: SimulationSettings\nscheduler: v1.11\npredicateOrder: proposal\n$"
    yaml_of(bench).shows(re.compile(settings))
    bench.build.get_by_role("tab", name="Policy").click()
    bench.build.get_by_role("button", name="Undo").click()
    expect(bench.panel("Predicates").locator(".ladder")).to_contain_text("GeneralPredicates")
    bench.at(3)
    yaml_of(bench).shows(re.compile("predicateOrder"), holds=False)


def test_predicates_and_weights_are_changed_with_one_control_each(page: Page) -> None:
    """A predicate switched off is gone from the ladder; a weight counts; a wrong weight is refused."""
    bench = own(page, step=1)
    panel = policy(bench)
    panel.get_by_role("switch", name="NoDiskConflict").click()
    expect(panel.get_by_role("heading", name="Predicates")).to_contain_text("12 in this order")
    expect(bench.tab("Predicates").locator(".ladder")).not_to_contain_text("NoDiskConflict")
    weight = panel.get_by_role("spinbutton", name="Weight of LeastRequestedPriority")
    weight.fill("7")
    weight.press("Enter")
    expect(panel.get_by_role("status")).to_contain_text("LeastRequestedPriority weight 7")
    page.wait_for_function(
        "() => Object.fromEntries(podstep.playback.policy.priorities).LeastRequestedPriority === 7"
    )
    weight.fill("1.5")
    weight.press("Enter")
    expect(panel.get_by_role("status")).to_contain_text("a whole number from 0")
    expect(weight).to_have_value("7")


def the_focus_stays_with_what_was_switched(page: Page, panel: Locator) -> None:
    """By keyboard one goes on where one was, though the list is drawn anew."""
    always = panel.get_by_role("switch", name="Check all predicates on every node")
    always.focus()
    page.keyboard.press("Space")
    expect(panel.get_by_role("status")).to_contain_text("check all predicates: on")
    expect(always).to_be_checked()
    expect(always).to_be_focused()
    panel.get_by_role("switch", name="NoDiskConflict").focus()
    page.keyboard.press("Space")
    expect(panel.get_by_role("heading", name="Predicates")).to_contain_text("12 in this order")
    expect(panel.locator("summary").first).to_be_focused()


def test_the_cache_is_set_with_what_each_choice_does(page: Page) -> None:
    """Without a cache the other settings say why they do nothing; with one they can be changed."""
    panel = policy(own(page))
    the_focus_stays_with_what_was_switched(page, panel)
    mode, remedy = panel.get_by_label("Cache mode"), panel.get_by_label("Stale writes")
    audit = panel.get_by_role("switch", name="Audit every hit")
    expect(mode).to_have_accessible_description(re.compile("nothing is kept"))
    expect(audit).to_be_disabled()
    expect(remedy).to_have_accessible_description("Nothing is cached, so it has no effect.")
    mode.focus()
    mode.select_option("designed")
    expect(mode).to_have_accessible_description(re.compile("Some rows are missing"))
    expect(mode).to_be_focused()
    audit.click()
    expect(panel.get_by_role("status")).to_contain_text("Audit every hit: on")
    expect(audit).to_be_checked()
    remedy.select_option("no remedy")
    expect(remedy).to_have_accessible_description(re.compile("even if an event overtook"))
    panel.get_by_label("Equivalence class").select_option("by attributes")
    expect(panel.get_by_role("status")).to_contain_text("Equivalence class: by attributes")
    wanted = ["cache: designed", "audit: true", "staleWrites: none", "equivalenceClass: attributes"]
    page.wait_for_function(
        """wanted => { const reported = Object.entries(podstep.playback.policy).map(([k, v]) => `${k}: ${v}`);
            return wanted.every((one) => reported.includes(one)); }""",
        arg=wanted,
    )
    mode.select_option("batching")
    expect(audit).to_be_disabled()
    expect(audit).to_have_accessible_description(re.compile("Batching keeps rankings"))


def test_another_tab_can_lead_to_the_settings_of_the_cache(
    visitor: Callable[..., Page], page: Page, shop: str
) -> None:
    """On a desk and on a phone the settings come into view with the focus on the first of them."""
    for opened in (page, visitor(size=(390, 844))):
        Workbench(opened).open(shop)
        opened.evaluate("podstep.view.actions.policy('cache')")
        heading = opened.get_by_role("heading", name="Equivalence cache")
        expect(heading).to_be_in_viewport()
        expect(heading).to_be_focused()


def test_showing_the_caches_settings_does_not_scroll_the_page(
    visitor: Callable[..., Page], shop: str
) -> None:
    """In a small frame, too, only the list of the Policy tab moves."""
    frame = visitor(size=(800, 480))
    Workbench(frame).open(shop.replace("/s/", "/e/"))
    frame.evaluate("podstep.view.actions.policy('cache')")
    expect(frame.get_by_role("heading", name="Equivalence cache")).to_be_in_viewport()
    expect(frame.get_by_role("banner")).to_be_in_viewport(ratio=1)


def test_what_is_shared_does_not_change(page: Page, shop: str) -> None:
    """Without a fork every control is disabled, and the timeline's legend names what there is."""
    # Without a fork every control is there to be read and disabled.
    bench = Workbench(page).open(shop)
    panel = policy(bench)
    expect(panel.get_by_label("Quirks of v1.11")).to_be_disabled()
    expect(panel.get_by_role("switch", name="GeneralPredicates")).to_be_disabled()
    expect(panel.get_by_role("spinbutton", name="Weight of NodeAffinityPriority")).to_be_disabled()
    expect(bench.build.get_by_role("button", name="Undo")).to_have_count(0)
    # The legend names what there is.
    marks = bench.page.get_by_role("list", name="Marks of the timeline")
    expect(marks.get_by_text("error")).to_be_visible()
    expect(marks.get_by_text("scheduler restarted")).to_be_hidden()


def test_a_restart_is_flagged_reported_and_shown(page: Page, restarts: str) -> None:
    """The timeline has a mark and says it; story, ladder and Policy tab are those of the cycle on screen."""
    bench = Workbench(page).open(restarts)
    expect(bench.page.get_by_role("list", name="Marks of the timeline")).to_contain_text(
        "scheduler restarted"
    )
    bench.step(2)
    panel = policy(bench)
    expect(panel.get_by_role("heading", name="Predicates")).to_contain_text("13 in this order")
    restarted = re.compile("the scheduler was restarted before it")
    expect(bench.timeline).not_to_have_attribute("aria-valuetext", restarted)
    bench.step()
    expect(bench.timeline).to_have_attribute("aria-valuetext", restarted)
    expect(bench.tab("Story")).to_contain_text("The scheduler was restarted with another policy: ")
    expect(panel.get_by_role("heading", name="Predicates")).to_contain_text("3 in this order")
    expect(panel).to_contain_text("The scheduler was restarted before this cycle.")
    expect(bench.tab("Predicates")).to_contain_text("every pair is checked")
    bench.step()
    expect(panel.get_by_label("Static order of predicates")).to_have_value("proposal")
    panel.get_by_role("button", name="To the policy at the start").click()
    bench.at(0)
    expect(panel.get_by_label("Static order of predicates")).to_have_value("v1.11")


PROFILES = """\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}}
- {apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}}
- {apiVersion: v1, kind: Pod, metadata: {name: one}, spec: {containers: [{name: c}]}}
---
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles:
- plugins: {score: {enabled: [{name: NodeAffinity, weight: 5}]}}
"""


def test_a_scheduler_configuration_is_shown_and_changed_as_a_policy(page: Page) -> None:
    """Rules of the framework stand in the Policy tab, and a weight set there is written into its profile."""
    bench = own(page, PROFILES)
    panel = policy(bench)
    weight = panel.get_by_role("spinbutton", name=re.compile("NodeAffinityPriority"))
    expect(weight).to_have_value("5")
    weight.fill("9")
    weight.press("Enter")
    editor = yaml_of(bench).shows(re.compile(r"name: NodeAffinity,?\s+weight: 9"))
    assert "kind: Policy" not in editor.text


def test_the_policy_tab_is_accessible_and_fits_a_phone(
    visitor: Callable[..., Page], accessible: Callable[[Page], None], shop: str
) -> None:
    """WCAG 2.2 AA with everything open, and nothing is wider than the screen."""
    page = visitor(color_scheme="dark")
    panel = policy(own(page))
    for summary in panel.locator("summary").all():
        summary.click()
    accessible(page)
    phone = visitor(size=(390, 844), color_scheme="light")
    bench = Workbench(phone).open(shop)
    phone.get_by_role("button", name="Build").click()
    policy(bench)
    assert wide(phone) == 0
