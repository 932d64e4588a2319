"""The policy editor: order by keys, buttons and dragging, weights, arguments, profiles, and the text."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.editors import Yaml, editor_in
from tests.browser.pages import Workbench, example_text, share, wide
from tests.browser.test_policy import own, policy
from tests.services.stack import Stack

ORDER = "() => podstep.playback.policy.predicates"
IN_ORDER = "wanted => podstep.playback.policy.predicates.join() === wanted.join()"
LISTEN = """() => {
  const host = document.querySelector("[data-announce]");
  window.heard = [];
  const listen = new MutationObserver(() => heard.push(host.textContent));
  listen.observe(host, { childList: true });
}"""


@pytest.fixture(scope="module")
def shop(site: Stack) -> str:
    """The address of a shared shop."""
    return share(site, example_text("shop"), "Shop")


def row(panel: Locator, name: str) -> Locator:
    """The row of a predicate or plugin."""
    return panel.locator(f"li[data-name={name}]").first


def text_of(panel: Locator) -> Yaml:
    """Open the text beside the controls and wait for its editor."""
    part = panel.locator("details.policy-text")
    if part.get_attribute("open") is None:
        part.locator("summary").first.click()
    return editor_in(panel, "Policy as YAML")


def predicates_are_moved_by_keyboard_and_buttons(bench: Workbench, panel: Locator) -> None:
    """Alt with an arrow moves the row, which is announced; the focus and the ladder follow."""
    page = bench.page
    before = page.evaluate(ORDER)
    page.evaluate(LISTEN)
    row(panel, "NoDiskConflict").get_by_role("switch").focus()
    page.keyboard.press("Alt+ArrowUp")
    at = before.index("NoDiskConflict")
    expect(panel.get_by_role("status")).to_contain_text(f"NoDiskConflict at place {at}")
    heard = [f"NoDiskConflict, place {at} of {len(before)}.", "Cycle 3: "]
    page.wait_for_function(
        "wanted => wanted.every((text) => heard.some((one) => one.startsWith(text)))", arg=heard
    )
    expect(row(panel, "NoDiskConflict").get_by_role("switch")).to_be_focused()
    page.wait_for_function(f"at => ({ORDER})().indexOf('NoDiskConflict') === at", arg=at - 1)
    expect(bench.tab("Predicates").locator(".ladder")).to_contain_text(
        re.compile(r"NoDiskConflict[\s\S]*GeneralPredicates")
    )
    panel.get_by_role("button", name="NoDiskConflict: earlier").click()
    expect(panel.get_by_role("status")).to_contain_text(f"NoDiskConflict at place {at - 1}")
    panel.get_by_role("button", name="Back to the static order").click()
    expect(panel.get_by_role("status")).to_contain_text("the static order")
    page.wait_for_function(IN_ORDER, arg=before)
    expect(panel.get_by_role("button", name="Back to the static order")).to_have_count(0)


def a_predicate_is_dragged_to_its_place(bench: Workbench, panel: Locator) -> None:
    """By its handle; what it passed moves down by one."""
    page = bench.page
    before = page.evaluate(ORDER)
    grip = row(panel, "MatchInterPodAffinity").locator("[data-grip]")
    grip.scroll_into_view_if_needed()
    start, end = grip.bounding_box(), row(panel, "CheckNodeMemoryPressure").bounding_box()
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + 6, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(start["x"] + 6, end["y"] + 12, steps=6)
    expect(row(panel, "CheckNodeMemoryPressure")).to_have_class(re.compile("drop-before"))
    page.mouse.up()
    expect(panel.get_by_role("status")).to_contain_text("MatchInterPodAffinity at place")
    wanted = [key for key in before if key != "MatchInterPodAffinity"]
    wanted.insert(wanted.index("CheckNodeMemoryPressure"), "MatchInterPodAffinity")
    page.wait_for_function(IN_ORDER, arg=wanted)


def what_the_order_does_is_reported(_: Workbench, panel: Locator) -> None:
    """Where every predicate is checked anyway, another thing is said."""
    expect(panel).to_contain_text("which checks are saved and which reasons are counted, not which nodes fit")
    panel.get_by_role("switch", name="Check all predicates on every node").click()
    expect(panel).to_contain_text("only in which order reasons are listed")


def a_weight_is_set_by_its_slider(bench: Workbench, panel: Locator) -> None:
    """The keyboard moves it; the number beside it goes along, and is in force once it rests."""
    page = bench.page
    slider = panel.get_by_role("slider", name="NodeAffinityPriority, weight")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(panel.get_by_role("spinbutton", name="Weight of NodeAffinityPriority")).to_have_value("4")
    expect(panel.get_by_role("status")).to_contain_text("NodeAffinityPriority weight 4")
    page.wait_for_function(
        "() => Object.fromEntries(podstep.playback.policy.priorities).NodeAffinityPriority === 4"
    )


def a_provider_is_taken(_: Workbench, panel: Locator) -> None:
    """The autoscaler's packs nodes."""
    panel.get_by_label("Use a provider’s").select_option("ClusterAutoscalerProvider")
    expect(panel.get_by_role("spinbutton", name="Weight of MostRequestedPriority")).to_have_value("1")


def test_a_policy_is_edited_by_its_controls(page: Page) -> None:
    """The order of predicates, what it does, weights, and a whole provider's, one after the other."""
    bench = own(page, step=3)
    panel = policy(bench)
    for claim in (
        predicates_are_moved_by_keyboard_and_buttons,
        a_predicate_is_dragged_to_its_place,
        what_the_order_does_is_reported,
        a_weight_is_set_by_its_slider,
        a_provider_is_taken,
    ):
        claim(bench, panel)


def test_the_text_and_the_controls_follow_each_other(page: Page) -> None:
    """What is typed shows in the controls, a control changes what is typed, Apply puts it in force.

    A name that is wrong is shown with what was meant; nothing can be applied, and Discard leads back.
    """
    bench = own(page)
    panel = policy(bench)
    field = text_of(panel)
    field.shows("")
    field.fill("apiVersion: v1\nkind: Policy\npriorities:\n- {name: EqualPriority, weight: 6}\n")
    weight = panel.get_by_role("spinbutton", name="Weight of EqualPriority")
    expect(weight).to_have_value("6")
    assert page.evaluate("podstep.playback.policy.priorities.length") > 1
    weight.fill("8")
    weight.press("Enter")
    field.shows(re.compile("weight: 8"))
    expect(panel.get_by_role("status").last).to_contain_text("In the text: EqualPriority weight 8")
    field.field.press("Control+Enter")
    page.wait_for_function("() => podstep.playback.policy.priorities.join() === 'EqualPriority,8'")
    bench.build.get_by_role("button", name="Undo").click()
    field.shows("")

    field.fill(
        "apiVersion: v1\nkind: Policy\npredicates:\n- {name: HostName, order: 2}\n- {name: PodFitResources}\n"
    )
    wrong = panel.get_by_role("list", name="Errors")
    expect(wrong).to_contain_text("line 5")
    expect(wrong).to_contain_text("did you mean 'PodFitsResources'?")
    expect(panel.get_by_role("button", name="Apply the text")).to_be_disabled()
    expect(panel.get_by_role("switch", name="NoDiskConflict")).to_be_disabled()
    field.fill(
        "apiVersion: v1\nkind: Policy\npredicates:\n"
        "- {name: HostName, order: 2}\n- {name: PodFitsResources, order: 2}\n"
    )
    expect(panel.get_by_role("list", name="Warnings")).to_contain_text("order among equals is not guaranteed")
    expect(panel.get_by_role("button", name="Apply the text")).to_be_enabled()
    panel.get_by_role("button", name="Discard").click()
    field.shows("")
    expect(panel.get_by_role("switch", name="NoDiskConflict")).to_be_enabled()


def test_the_editor_is_accessible_and_fits_a_phone(
    visitor: Callable[..., Page], accessible: Callable[[Page], None], shop: str
) -> None:
    """WCAG 2.2 AA as a Policy and as profiles with everything open and in a form; no wider than a phone."""
    page = visitor(color_scheme="dark")
    panel = policy(own(page))
    text_of(panel)
    accessible(page)
    panel.get_by_role("button", name="Write it as a KubeSchedulerConfiguration").click()
    expect(panel.get_by_role("heading", name="Profiles")).to_be_visible()
    closed = panel.locator("details:not([open]) > summary")
    for _ in range(closed.count()):
        closed.first.click()
    accessible(page)
    panel.get_by_role("button", name="Arguments of NodeResourcesFit").last.click()
    expect(page.get_by_role("dialog", name="Arguments of NodeResourcesFit")).to_be_visible()
    accessible(page)
    phone = visitor(size=(390, 844), color_scheme="light")
    bench = Workbench(phone).open(shop)
    phone.get_by_role("button", name="Build", exact=True).click()
    policy(bench).get_by_role("button", name="Fork to change").click()
    phone.wait_for_url("**/p/**")
    bench.wait()
    phone.get_by_role("button", name="Build", exact=True).click()
    text_of(policy(bench))
    assert wide(phone) == 0
