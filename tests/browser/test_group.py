"""A PodGroup and its workload are built from a form by keyboard, and the form fits."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import turned
from tests.browser.editors import Yaml, editor_in
from tests.browser.pages import Workbench, becomes, share, tab_until, wide
from tests.services.stack import Stack

NODES = "---\n".join(
    f"""apiVersion: v1
kind: Node
metadata: {{name: n{n}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
"""
    for n in (1, 2)
)

PRIORITY = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: urgent}, value: 100}"


@pytest.fixture(scope="module")
def nodes(site: Stack) -> str:
    """The address of a shared cluster with nothing on it."""
    return share(site, NODES, "Two empty nodes")


def form_of(page: Page, address: str) -> tuple[Workbench, Locator]:
    """Choose the form on a shared cluster; return the copy and its open form."""
    bench = Workbench(page)
    page.goto(address)
    page.wait_for_function("() => window.podstep?.ready")
    choice = bench.build.get_by_label("Create an object at this step")
    choice.select_option("PodGroup and its workload")
    page.wait_for_url("**/p/**")
    form = page.get_by_role("dialog", name="A PodGroup and its workload")
    expect(form).to_be_visible()
    expect(form.get_by_label("minMember")).to_have_value("4")
    return bench, form


def preview(form: Locator) -> Yaml:
    """Return what the form says that it adds."""
    return editor_in(form, "YAML that is added")


def test_a_group_is_built_by_keyboard(page: Page, nodes: str) -> None:
    """The name has the focus, Tab reaches every field in turn, Ctrl Enter adds."""
    _, form = form_of(page, nodes)
    expect(form.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.type("gang")
    tab_until(page, lambda name: name == "Kind")
    page.keyboard.type("plain")
    tab_until(page, lambda name: name == "Schedule it with Coscheduling")
    page.keyboard.press("Space")
    preview(form).shows(re.compile("Coscheduling"), holds=False)
    preview(form).shows(re.compile("name: gang-3"))
    page.keyboard.press("Control+Enter")
    expect(form).to_have_count(0)
    page.wait_for_function("() => podstep.playback.pods?.keys.length === 4")
    becomes(lambda: page.evaluate("podstep.playback.pods.keys")[:1], ["default/gang-0"])


def test_a_group_is_built_from_nothing_by_keyboard(page: Page, site: Stack) -> None:
    """Without a node: the menu, a form, classic spellings, the configuration; the tab says how it stands."""
    bench = Workbench(page).open(share(site, PRIORITY, "Nothing yet", as_is=True))
    bench.build.get_by_role("button", name="Add", exact=True).focus()
    page.keyboard.press("Enter")
    for _ in "ab":
        page.keyboard.press("p")
    expect(page.get_by_role("menuitem", name="PodGroup and its workload")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/**")
    form = page.get_by_role("dialog", name="A PodGroup and its workload")
    expect(form.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("train")
    for label, text in (("scheduleTimeoutSeconds", "30"), ("minResources cpu", "8")):
        tab_until(page, label.__eq__)
        page.keyboard.type(text)
    tab_until(page, "Dialect".__eq__)
    page.keyboard.press("ArrowDown")
    written = (
        r"sigs[\s\S]*cpu: '8'\s+scheduleTimeoutSeconds: 30[\s\S]*pod-group.scheduling.sigs.k8s.io: train"
    )
    preview(form).shows(re.compile(written))
    preview(form).shows(re.compile("v1beta2[\\s\\S]*Coscheduling"))
    expect(
        form.get_by_text("A KubeSchedulerConfiguration (v1beta2) with Coscheduling is added")
    ).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(form).to_have_count(0)
    bench.wait()
    page.keyboard.press("ArrowRight")
    panel = bench.at(1).tab("PodGroups")
    expect(panel.get_by_role("heading", name="PodGroup train PreScheduling")).to_be_visible()
    expect(panel.get_by_text("Not scheduled: none of 4 holds a node.")).to_be_visible()


def test_the_form_fits_and_is_accessible(page: Page, nodes: str, accessible: Callable[[Page], None]) -> None:
    """On a desktop and a phone, dark and light, with a mistake on screen."""
    bench = Workbench(page).open(nodes)
    bench.build.get_by_role("button", name="Add", exact=True).click()
    bench.build.get_by_role("menuitem", name="PodGroup and its workload").click()
    page.wait_for_url("**/p/**")
    form = page.get_by_role("dialog", name="A PodGroup and its workload")
    form.get_by_label("memory of a pod").fill("1x")
    expect(form.get_by_label("memory of a pod")).to_have_attribute("aria-invalid", "true")
    accessible(page)
    for size in turned(page):
        assert wide(page) == 0, size
        box = form.bounding_box()
        assert box is not None
        assert box["width"] <= size[0]
