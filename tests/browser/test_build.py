"""Clusters and workloads built from nothing, by mouse and by keyboard; Undo and Redo by keys."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.editors import editor_in
from tests.browser.pages import Workbench, becomes, drafted, share, tab_until, wide
from tests.services.stack import Stack

NODES = "---\n".join(
    f"""# node {name}
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{disk: {disk}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
"""
    for name, disk in (("a-1", "ssd"), ("a-2", "ssd"), ("b-1", "hdd"))
)


@pytest.fixture(scope="module")
def nodes(site: Stack) -> str:
    """The address of a shared cluster of three nodes with nothing on it."""
    return share(site, NODES, "Three empty nodes")


def add(bench: Workbench, what: str) -> Locator:
    """Choose an entry of the menu Add; return the dialog that it opens."""
    bench.build.get_by_role("button", name="Add", exact=True).click()
    bench.build.get_by_role("menuitem", name=what, exact=True).click()
    dialog = bench.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    return dialog


def own(page: Page, text: str = NODES) -> Workbench:
    """Open a draft, which is of the three nodes."""
    return Workbench(page).open(drafted(page, text))


def keys(page: Page) -> list[str]:
    """Return the pods that the workbench has."""
    return list(page.evaluate("podstep.playback.pods.keys"))


def pods_come(page: Page, count: int) -> None:
    """Wait until the draft has been simulated anew with so many pods."""
    page.wait_for_function(f"() => podstep.playback.pods?.keys.length === {count}")


def test_a_cluster_and_a_workload_are_built_from_nothing_by_mouse(page: Page) -> None:
    """From the start page: three nodes, a Deployment on them, and its pods placed."""
    page.goto("/")
    page.get_by_role("button", name="Build one").click()
    recipe = page.get_by_role("dialog", name="Generate a cluster")
    recipe.get_by_label("Begin with a recipe").select_option("Nodes alone")
    recipe.get_by_label("Nodes", exact=True).fill("4")
    expect(recipe.get_by_text("4 nodes, 16 cpu, 64Gi memory; 0 pods")).to_be_visible()
    recipe.get_by_role("button", name="Open the workbench").click()
    page.wait_for_url("**/p/**")
    bench = Workbench(page).wait()
    expect(bench.node("node-04")).to_be_visible()
    form = add(bench, "Deployment")
    form.get_by_label("Name", exact=True).fill("shop")
    form.get_by_label("Replicas").fill("2")
    form.get_by_text("Where they may run").click()
    form.get_by_label("Anti-affinity: keep apart").select_option("required: one a node")
    editor_in(form, "YAML that is added").shows(
        re.compile(r"name: shop[\s\S]*replicas: 2[\s\S]*podAntiAffinity")
    )
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form).to_have_count(0)
    bench.wait()
    bench.step(2)
    tree = bench.build.get_by_role("tree")
    expect(tree.get_by_role("treeitem", name=re.compile("shop"))).to_contain_text("2 / 2")


def test_a_cluster_and_a_workload_are_built_from_nothing_by_keyboard(page: Page) -> None:
    """The same without a mouse: Tab, Enter, arrows, letters, Ctrl Enter."""
    page.goto("/")
    tab_until(page, lambda name: name == "Build one")
    page.keyboard.press("Enter")
    recipe = page.get_by_role("dialog", name="Generate a cluster")
    expect(recipe.get_by_label("Begin with a recipe")).to_be_focused()
    page.keyboard.type("Nodes")
    tab_until(page, lambda name: name == "Nodes")
    page.keyboard.type("2")
    expect(recipe.get_by_text("2 nodes, 8 cpu, 32Gi memory; 0 pods")).to_be_visible()
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/p/**")
    bench = Workbench(page).wait()
    tab_until(page, lambda name: name == "Add")
    page.keyboard.press("Enter")
    expect(bench.build.get_by_role("menuitem", name="Generate a cluster…")).to_be_focused()
    page.keyboard.press("d")
    expect(bench.build.get_by_role("menuitem", name="Deployment", exact=True)).to_be_focused()
    page.keyboard.press("j")
    expect(bench.build.get_by_role("menuitem", name="Job", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    form = page.get_by_role("dialog", name="Job")
    expect(form.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.type("train")
    tab_until(page, lambda name: name == "Parallelism")
    page.keyboard.type("2")
    tab_until(page, lambda name: name == "Runs for, in seconds")
    page.keyboard.type("60")
    for field, value in (("Name", "train"), ("Parallelism", "2"), ("Runs for, in seconds", "60")):
        expect(form.get_by_label(field, exact=True)).to_have_value(value)
    page.keyboard.press("Control+Enter")
    expect(form).to_have_count(0)
    pods_come(page, 2)
    bench.wait()
    bench.step(1)  # at the end its pods have run for their 60 s
    tree = bench.build.get_by_role("tree")
    expect(tree.get_by_role("treeitem", name=re.compile("train"))).to_be_visible()


def test_what_is_shared_is_copied_before_something_is_added(page: Page, nodes: str) -> None:
    """Add on a shared cluster opens the form on a copy; the name of the next one is free."""
    bench = Workbench(page).open(nodes)
    bench.build.get_by_role("button", name="Add", exact=True).click()
    bench.build.get_by_role("menuitem", name="PriorityClass").click()
    page.wait_for_url("**/p/**")
    form = page.get_by_role("dialog", name="PriorityClass")
    expect(form.get_by_label("Name", exact=True)).to_have_value("urgent")
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form).to_have_count(0)
    bench.wait()
    form = add(bench, "PriorityClass")
    expect(form.get_by_label("Name", exact=True)).to_have_value("urgent-2")
    form.get_by_role("button", name="Cancel").click()
    form = add(bench, "DaemonSet")
    expect(form.get_by_label("Priority class").get_by_role("option", name="urgent (1000)")).to_have_count(1)


def test_undo_and_redo_go_by_keys_and_survive_a_reload(page: Page) -> None:
    """Ctrl Z and Ctrl Shift Z outside fields; a new change ends what could be done again."""
    bench = own(page)
    for count, name in ((1, "one"), (2, "two")):
        form = add(bench, "Pod")
        form.get_by_label("Name", exact=True).fill(name)
        form.get_by_role("button", name="Add", exact=True).click()
        pods_come(page, count)
    expect(bench.build.get_by_role("button", name="Undo")).to_be_enabled()
    page.keyboard.press("Control+z")
    pods_come(page, 1)
    page.reload()
    bench.wait()
    redo = bench.build.get_by_role("button", name="Redo")
    expect(redo).to_have_attribute("title", "Redo: add Pod default/two")
    page.keyboard.press("Control+Shift+Z")
    pods_come(page, 2)
    expect(redo).to_be_disabled()
    for count in (1, 0):
        expect(bench.build.get_by_role("button", name="Undo")).to_be_enabled()
        page.keyboard.press("Control+z")
        pods_come(page, count)
    expect(bench.build.get_by_role("button", name="Undo")).to_be_disabled()
    search = bench.build.get_by_role("searchbox")
    search.fill("abc")
    search.press("Control+Shift+Z")
    search.fill("")
    assert keys(page) == []
    redo.click()
    pods_come(page, 1)
    form = add(bench, "Pod")
    form.get_by_label("Name", exact=True).fill("three")
    form.get_by_role("button", name="Add", exact=True).click()
    pods_come(page, 2)
    expect(redo).to_be_disabled()
    becomes(lambda: sorted(keys(page)), ["default/one", "default/three"])


def test_what_another_browser_changed_is_not_undone(page: Page) -> None:
    """Undo takes back what was done here alone, also when the draft was written elsewhere meanwhile."""
    bench = own(page)
    form = add(bench, "Pod")
    form.get_by_role("button", name="Add", exact=True).click()
    pods_come(page, 1)
    address = page.url
    page.goto("about:blank")
    other = page.context.new_page()
    form = add(Workbench(other).open(address), "Pod")
    form.get_by_label("Name", exact=True).fill("elsewhere")
    form.get_by_role("button", name="Add", exact=True).click()
    pods_come(other, 2)
    other.close()
    page.goto(address)
    bench.wait()
    bench.build.get_by_role("button", name="Undo").click()
    expect(bench.build.get_by_role("button", name="Undo")).to_be_disabled()
    becomes(lambda: keys(page), ["default/elsewhere"])


def test_menu_forms_and_generator_are_accessible(phone: Page, accessible: Callable[[Page], None]) -> None:
    """Each as it stands, with mistakes on screen, and no wider than a phone."""
    page = phone
    bench = own(page)
    page.get_by_role("navigation", name="Regions").get_by_role("button", name="Build").click()

    def sound() -> None:
        assert wide(page) <= 0
        accessible(page)

    bench.build.get_by_role("button", name="Add", exact=True).click()
    sound()
    page.keyboard.press("Escape")
    form = add(bench, "StatefulSet")
    form.get_by_label("memory of a pod").fill("1x")
    form.get_by_text("Where they may run").click()
    form.get_by_text("More", exact=True).click()
    expect(form.get_by_label("memory of a pod")).to_have_attribute("aria-invalid", "true")
    sound()
    form.get_by_role("button", name="Cancel").click()
    dialog = add(bench, "Change many nodes…")
    dialog.get_by_label("Taint", exact=True).fill("slow=yes:NoSchedule")
    expect(dialog.get_by_label("What changes of a-1")).to_be_visible()
    sound()
    dialog.get_by_role("button", name="Cancel").click()
    recipe = add(bench, "Generate a cluster…")
    a_row_takes_the_focus_and_passes_it_on(recipe)
    recipe.get_by_label("Begin with a recipe").select_option("A hundred nodes in three pools")
    expect(recipe.get_by_text("100 nodes")).to_be_visible()
    sound()


def a_row_takes_the_focus_and_passes_it_on(recipe: Locator) -> None:
    """One that is added has it; one that is taken out gives it to the next one, or to what adds one."""
    pools = recipe.get_by_role("group", name="node pool")
    more = recipe.get_by_role("button", name="Add a node pool")
    more.click()
    expect(pools.nth(1).get_by_label("Pool", exact=True)).to_be_focused()
    pools.nth(0).get_by_role("button", name="Remove this node pool").click()
    expect(pools).to_have_count(1)
    expect(pools.get_by_label("Pool", exact=True)).to_be_focused()
    pools.get_by_role("button", name="Remove this node pool").click()
    expect(more).to_be_focused()
    recipe.get_by_role("button", name="Add workloads").click()
    workload = recipe.get_by_role("group", name="workload").last
    expect(workload.get_by_label("Workload", exact=True)).to_be_focused()
