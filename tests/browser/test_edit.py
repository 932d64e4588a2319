"""Live objects are changed on the page at the step that is on screen, and the history can be taken back."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE
from tests.browser.editors import editor_in
from tests.browser.pages import Workbench, becomes, cycles_of, drafted, holds, share, wide
from tests.services.stack import Stack

CLUSTER = "---\n".join(
    [
        *(
            f"""apiVersion: v1
kind: Node
metadata: {{name: n{n}, labels: {{kubernetes.io/hostname: n{n}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
"""
            for n in (1, 2, 3)
        ),
        """apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 500m}}}]}
""",
    ]
)


@pytest.fixture(scope="module")
def cluster(site: Stack) -> str:
    """The address of a shared cluster: six pods go to three nodes in turn."""
    return share(site, CLUSTER, "Three nodes")


def editing(page: Page, index: int, text: str = CLUSTER, node: str = "n2") -> tuple[Workbench, Locator]:
    """Open a draft at a step with the editor of a node; return both."""
    bench = Workbench(page).open(f"{drafted(page, text)}?step={index}&node={node}&edit=Node+{node}")
    return bench.at(index), editor_of(page, node)


def copied(page: Page, address: str, index: int, node: str = "n2") -> tuple[Workbench, Locator]:
    """Edit a node of a shared scenario at a step; return the copy and its open editor."""
    bench = Workbench(page).open(address).step(index)
    bench.stage.get_by_role("button", name=re.compile(rf"^{node},")).click()
    bench.stage.get_by_role("button", name="Edit in a copy").click()
    page.wait_for_url("**/p/**")
    return bench.wait().at(index), editor_of(page, node)


def editor_of(page: Page, node: str) -> Locator:
    """Wait for the editor of a node and return it."""
    editor = page.get_by_role("dialog", name=f"Edit Node {node}")
    expect(editor).to_be_visible()
    return editor


def apply(editor: Locator) -> None:
    """Apply and wait until the editor has closed."""
    editor.get_by_role("button", name="Apply", exact=True).click()
    expect(editor).to_have_count(0)


def placements(page: Page) -> list[str | None]:
    """Return the node that each cycle chose, as the timeline has it."""
    nodes = page.evaluate_handle(
        """async () => {
            const { playback } = podstep;
            const shown = () => Array.from({ length: playback.cycles }, (_, i) => playback.light(i + 1));
            for (let tries = 0; shown().some((light) => !light); tries += 1) {
                if (tries > 1_000) throw new Error(`${shown().findIndex((light) => !light)} is not there`);
                await new Promise((again) => setTimeout(again, 20));
            }
            return shown().map(({ node }) => playback.nodes.names[node] ?? null);
        }"""
    )
    marks: list[str | None] = nodes.json_value()
    return marks


def cordon(editor: Locator) -> None:
    """Cordon by the button; the YAML shows it before it is applied."""
    editor.get_by_role("button", name="Cordon").click()
    editor_in(editor, re.compile("as YAML")).shows(re.compile("unschedulable: true"))


def test_a_node_that_is_cordoned_at_a_step_gets_no_pod_from_then_on(page: Page, cluster: str) -> None:
    """What is shared is copied first; cycles before stay, later ones avoid the node; Undo leads back."""
    before = [cycle.node for cycle in cycles_of(CLUSTER)]
    assert "n2" in before[2:]
    bench, editor = copied(page, cluster, 2)
    cordon(editor)
    apply(editor)
    bench.at(2)
    expect(page.get_by_text("After cycle 2: patch Node n2: spec.unschedulable true.")).to_be_visible()
    holds(
        lambda: placements(page),
        lambda after: len(after) == 6 and after[:2] == before[:2] and "n2" not in after[2:],
    )
    card = bench.stage.get_by_role("button", name=re.compile("^n2,"))
    expect(card).not_to_have_class(re.compile("cordoned"))
    bench.step()
    expect(card).to_have_class(re.compile("cordoned"))
    expect(bench.panel("Story")).to_contain_text("update node n2")
    bench.build.get_by_role("button", name="Undo").click()
    page.wait_for_function("() => !podstep.playback.nodes.updates.length && podstep.playback.complete")
    bench.at(3).step()
    becomes(lambda: placements(page), before)


def opened(bench: Workbench, index: int, node: str = "n2") -> Locator:
    """Go to a step and open the editor of a node there by its key; return that."""
    bench.goto(index)
    bench.stage.get_by_role("button", name=re.compile(f"^{node},")).focus()
    bench.page.keyboard.press("e")
    return editor_of(bench.page, node)


def test_objects_of_a_draft_are_changed_at_a_step(page: Page) -> None:
    """One change after the other, each at its step, and each leaves what the others did."""
    bench, editor = editing(page, 2)
    what_is_wrong_is_reported_on_its_line_and_nothing_is_changed(bench, editor)
    everything_goes_by_keyboard(bench)
    a_deleted_node_disappears_with_its_pods(bench)
    an_event_is_changed_where_it_stands(bench)


def what_is_wrong_is_reported_on_its_line_and_nothing_is_changed(bench: Workbench, editor: Locator) -> None:
    """The editor stays open with the error; closing it leaves the scenario as it was."""
    text = editor_in(editor, "Node n2 as YAML")
    text.fill(text.text.replace("8Gi", "8Gib"))
    editor.get_by_role("button", name="Apply", exact=True).click()
    expect(editor.get_by_role("list", name="Errors")).to_contain_text("status.allocatable.memory")
    expect(text.field).to_have_attribute("aria-invalid", "true")
    expect(text.field.locator(".cm-lintRange-error")).to_have_text("memory: 8Gib")
    text.field.press("Escape")
    expect(editor).to_be_visible()
    text.field.press("Tab")
    expect(text.field).not_to_be_focused()
    editor.get_by_role("button", name="Close").click()
    expect(bench.build).to_contain_text("There are no operations yet.")


def everything_goes_by_keyboard(bench: Workbench) -> None:
    """The key e opens the editor, Ctrl Enter applies; in the list m moves an event, Delete takes it out."""
    page = bench.page
    expect(page.get_by_role("dialog")).to_have_count(0)
    bench.stage.get_by_role("button", name=re.compile("^n1,")).focus()
    page.keyboard.press("e")
    expect(page.get_by_role("dialog", name="Edit Node n1")).to_be_visible()
    expect(page.get_by_role("button", name="Cordon")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Uncordon")).to_be_visible()
    page.keyboard.press("Control+Enter")
    event = bench.build.get_by_role("button", name=re.compile("patch Node n1: spec.unschedulable true")).first
    expect(event).to_contain_text("after 2")
    bench.at(2).step(2)
    event.focus()
    page.keyboard.press("m")
    expect(event).to_contain_text("after 4")
    expect(event).to_be_focused()
    holds(lambda: placements(page), lambda after: "n1" in after[:4])
    page.keyboard.press("Delete")
    expect(bench.build).to_contain_text("There are no operations yet.")


def a_deleted_node_disappears_with_its_pods(bench: Workbench) -> None:
    """From the next cycle on it is not drawn, and what ran on it is not placed any more."""
    editor = opened(bench, 3)
    editor.get_by_role("button", name="Delete this node").click()
    expect(editor).to_have_count(0)
    bench.at(3).step()
    expect(bench.stage).to_contain_text("2 nodes · 3 of 5 pods placed")
    expect(bench.stage.get_by_role("button", name=re.compile("^n2,"))).to_be_hidden()
    bench.build.get_by_role("button", name="Undo").click()
    expect(bench.build).to_contain_text("There are no operations yet.")


def an_event_is_changed_where_it_stands(bench: Workbench) -> None:
    """Its YAML opens; the other node is cordoned then."""
    page = bench.page
    editor = opened(bench, 2, "n1")
    cordon(editor)
    apply(editor)
    bench.build.get_by_role("listitem").filter(has_text="patch Node n1").hover()
    bench.build.get_by_role("button", name=re.compile("^Change what it does")).click()
    changing = page.get_by_role("dialog", name=re.compile("Edit the event"))
    text = editor_in(changing, "Object as YAML")
    text.fill(text.text.replace("name: n1", "name: n3"))
    changing.get_by_role("button", name="Edit the event").click()
    expect(bench.build.get_by_role("listitem").filter(has_text="patch Node n3")).to_be_visible()
    bench.at(2).step()
    holds(lambda: placements(page), lambda after: "n3" not in after[2:])


def test_a_volume_is_added_and_then_edited_from_the_list(page: Page, cluster: str) -> None:
    """What is created stands in Build from then on, and opens for editing."""
    bench = Workbench(page).open(cluster).step(2)
    bench.build.get_by_label("Create an object at this step").select_option("PersistentVolume")
    page.wait_for_url("**/p/**")
    bench.wait()
    editor = page.get_by_role("dialog", name="Create an object")
    text = editor_in(editor, "Object as YAML")
    text.fill(text.text.replace("new-volume", "disk-1"))
    apply(editor)
    tree = bench.build.get_by_role("tree", name="Objects")
    tree.get_by_role("treeitem", name="Other objects").click()
    tree.get_by_role("treeitem", name=re.compile("^PersistentVolume")).click()
    tree.get_by_role("treeitem", name=re.compile("disk-1")).click()
    expect(page.get_by_role("dialog", name="Edit PersistentVolume disk-1")).to_be_visible()


def test_editor_and_events_are_accessible_on_a_desktop_and_a_phone(
    visitor: Callable[..., Page], accessible: Callable[[Page], None]
) -> None:
    """WCAG 2.2 AA by axe, with the editor open and with an event in the list; nothing scrolls sideways."""
    page = visitor(color_scheme="dark")
    bench, editor = editing(page, 2)
    cordon(editor)
    apply(editor)
    expect(bench.build.get_by_role("listitem").filter(has_text="patch Node n2")).to_be_visible()
    accessible(page)
    address = page.url
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.emulate_media(color_scheme="light")
    page.goto(f"{address}&edit=Node+n1")
    Workbench(page).wait()
    expect(page.get_by_role("dialog", name="Edit Node n1")).to_be_visible()
    assert wide(page) <= 0
    accessible(page)


def test_an_embedded_scenario_offers_no_editing(page: Page, cluster: str) -> None:
    """What stands on another page is looked at only."""
    bench = Workbench(page).open(cluster.replace("/s/", "/e/")).step(2)
    bench.node("n2").click()
    expect(bench.stage.get_by_role("heading", name="n2")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Edit"))).to_have_count(0)
    page.keyboard.press("e")
    expect(page.get_by_role("dialog")).to_have_count(0)
