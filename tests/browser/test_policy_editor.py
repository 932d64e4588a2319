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


def test_predicates_and_priorities_with_arguments_are_made_by_form(page: Page) -> None:
    """LabelsPresence with labels, then changed; a shape; and what is wrong is said in the form."""
    panel = policy(own(page))
    panel.get_by_role("button", name="Add one with an argument…").first.click()
    form = page.get_by_role("dialog", name="Add one with an argument")
    form.get_by_label("kind").select_option("labelsPresence")
    form.get_by_label("labels", exact=True).fill("zone, disk")
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form).to_be_hidden()
    expect(row(panel, "CheckNodeLabelPresence")).to_contain_text("labelsPresence: zone, disk")
    panel.get_by_role("button", name="Change CheckNodeLabelPresence").click()
    form = page.get_by_role("dialog", name="Arguments of CheckNodeLabelPresence")
    form.get_by_role("switch", name="presence").click()
    form.get_by_role("button", name="Change", exact=True).click()
    expect(row(panel, "CheckNodeLabelPresence")).to_contain_text("labelsPresence: zone, disk (absent)")
    panel.get_by_role("button", name="Add one with an argument…").last.click()
    form = page.get_by_role("dialog", name="Add one with an argument")
    form.get_by_label("kind").select_option("requestedToCapacityRatioArguments")
    form.get_by_role("button", name="Add a point").click()
    form.get_by_role("spinbutton", name="utilization").last.fill("40")
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form.get_by_role("alert")).to_contain_text("must be greater than the one before")
    form.get_by_role("button", name="Remove this point").last.click()
    form.get_by_label("weight").fill("3")
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form).to_be_hidden()
    expect(panel.get_by_role("spinbutton", name="Weight of RequestedToCapacityRatioPriority")).to_have_value(
        "3"
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


def test_a_change_lands_after_the_cycle_on_screen(page: Page) -> None:
    """As an operation: the cycles until then stay, and the next is decided with it."""
    bench = own(page, step=2)
    panel = policy(bench)
    panel.get_by_role("button", name="after cycle 2").click()
    weight = panel.get_by_role("spinbutton", name="Weight of NodeAffinityPriority")
    expect(panel).to_contain_text("An operation restarts the scheduler")
    weight.fill("5")
    weight.press("Enter")
    expect(panel.get_by_role("status").last).to_contain_text(
        "After cycle 2: NodeAffinityPriority weight 5. It takes effect from cycle 3."
    )
    expect(weight).to_have_value("5")
    bench.at(2)
    page.wait_for_function(
        "() => Object.fromEntries(podstep.playback.policy.priorities).NodeAffinityPriority === 1"
    )
    bench.step()
    expect(bench.tab("Story")).to_contain_text("NodeAffinityPriority weighs 5 instead of 1")
    expect(panel.get_by_role("spinbutton", name="Weight of NodeAffinityPriority")).to_have_value("5")


def test_a_policy_is_written_as_profiles_and_back(page: Page) -> None:
    """Plugins by point, on and off, moved and weighed, with arguments by form; what is lost is reported."""
    panel = policy(own(page))
    text_of(panel)
    expect(panel).to_contain_text("What a KubeSchedulerConfiguration cannot say")
    panel.get_by_label("Version").select_option("v1beta3")
    panel.get_by_role("button", name="Write it as a KubeSchedulerConfiguration").click()
    expect(panel.get_by_role("heading", name="Profiles")).to_contain_text("v1beta3, 1 profile")
    panel.get_by_role("switch", name="NodeName at filter").click()
    expect(panel.get_by_role("status").last).to_contain_text("NodeName off at filter")
    panel.get_by_role("button", name="NodePorts: earlier").click()
    expect(panel.get_by_role("status").last).to_contain_text("NodePorts at place")
    panel.get_by_role("button", name="Arguments of NodeResourcesFit").last.click()
    form = page.get_by_role("dialog", name="Arguments of NodeResourcesFit")
    form.get_by_label("type").select_option("MostAllocated")
    form.get_by_role("button", name="Change", exact=True).click()
    expect(panel.get_by_role("spinbutton", name="Weight of MostRequestedPriority")).to_be_visible()
    weight = panel.get_by_role("spinbutton", name="Weight of NodeAffinity; 0 disables it")
    weight.fill("9")
    weight.press("Enter")
    expect(panel.get_by_role("status").last).to_contain_text("NodeAffinity weight 9")
    text_of(panel).shows(re.compile("type: MostAllocated")).shows(
        re.compile(r"name: NodeAffinity\n\s+weight: 9")
    )
    panel.get_by_role("button", name="Profile", exact=True).click()
    expect(panel.get_by_role("group", name="Profile").get_by_role("button")).to_have_count(2)
    panel.get_by_role("button", name="Remove", exact=True).click()
    expect(panel.get_by_role("group", name="Profile")).to_have_count(0)
    panel.get_by_role("button", name="Write it as a Policy").click()
    expect(panel.get_by_role("spinbutton", name="Weight of MostRequestedPriority")).to_have_value("1")
    expect(panel.get_by_role("heading", name="Profiles")).to_have_count(0)


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
