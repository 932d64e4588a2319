"""The YAML editor by hand and by keyboard: completion, help, mistakes on their lines, undo, and size."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from scheduler_core.formats.yaml_writer import write_yaml
from tests.browser.clusters import zoned
from tests.browser.editors import Yaml, yaml_of
from tests.browser.pages import Workbench, becomes, drafted, example_text, share, tab_until, wide
from tests.e2e.bundles import by_v1_11
from tests.services.stack import Stack

SMALL = """apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
  - name: main
"""


def edited(page: Page, text: str = SMALL) -> tuple[Workbench, Yaml]:
    """Open a text as a draft; return the workbench and its editor."""
    bench = Workbench(page).open(drafted(page, text, as_is=True))
    return bench, yaml_of(bench).shows(re.compile("kind: Node"))


def offered(page: Page) -> Locator:
    """The completions that are on screen."""
    return page.get_by_role("listbox", name="Completions").get_by_role("option")


def take(page: Page, label: str, key: str = "Enter") -> None:
    """Wait until a completion is offered first, and take it; one that has only just come is not taken."""
    expect(offered(page).first).to_contain_text(label)
    page.wait_for_timeout(150)
    page.keyboard.press(key)


def a_pod_is_written_by_completion_alone(bench: Workbench, yaml: Yaml) -> None:
    """By the keyboard: a document's head, its fields and a name of the text; applied, the pod is there."""
    page = bench.page
    yaml.field.focus()
    keys = page.keyboard
    yaml.field.press("Control+End")
    keys.type("---\nPod")
    take(page, "Pod")
    keys.type("late\n")
    keys.press("Backspace")
    keys.type("spe")
    take(page, "spec")
    keys.type("nodeN")
    take(page, "nodeName")
    keys.press("Control+Space")
    expect(offered(page)).to_have_text(["n1Node"])
    take(page, "n1")
    keys.press("Enter")
    keys.type("cont")
    take(page, "containers", "Tab")
    keys.type("name: main")
    keys.press("Escape")
    head = "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: late\n"
    written = f"{head}spec:\n  nodeName: n1\n  containers:\n  - name: main"
    yaml.shows(re.compile(f"{re.escape(written)}$"))
    keys.press("Control+Enter")
    expect(page.get_by_text("Applied: the simulation restarts.")).to_be_visible()
    bench.wait()
    page.wait_for_function("() => podstep.playback.pods.keys.includes('default/late')")


def enter_after_a_whole_word_is_a_new_line(page: Page, yaml: Yaml) -> None:
    """What stands there already need not be taken: one Enter ends the line."""
    yaml.field.press("Control+End")
    page.keyboard.type("  restartPolicy: Never")
    expect(offered(page).first).to_have_text("Never")
    page.wait_for_timeout(150)
    page.keyboard.press("Enter")
    page.keyboard.type("x")
    yaml.shows(re.compile(r"\n  restartPolicy: Never\n  x$"))


def fields_say_what_they_are_and_what_counts_for_nothing(page: Page, yaml: Yaml) -> None:
    """The list shows a field's type and that one is not read; beside the chosen one stands its sentence."""
    yaml.field.press("Control+End")
    page.keyboard.type("  hostPI")
    first = offered(page).filter(has_text="hostPID")
    expect(first).to_contain_text("boolean · not read")
    expect(page.locator(".cm-completionInfo")).to_contain_text("podstep does not read this field")
    page.keyboard.press("Escape")


def a_mistake_is_marked_on_its_line_with_its_remedy(page: Page, yaml: Yaml) -> None:
    """A mark in the gutter, the words under the pointer and in the list; a click there leads to the line."""
    yaml.field.press("Control+End")
    page.keyboard.type("  tolerations: [{key: a, operator: Exist}]")
    row = Workbench(page).build.get_by_role("list", name="Errors").get_by_role("button")
    expect(row).to_contain_text("did you mean 'Exists'?")
    expect(row).to_contain_text("line 13")
    mark = page.locator(".cm-lint-marker-error")
    expect(mark).to_have_count(1)
    wrong = page.locator(".cm-lintRange-error")
    expect(wrong).to_have_text(re.compile("^operator: Exist"))
    expect(yaml.field).to_have_attribute("aria-invalid", "true")
    mark.hover()
    expect(page.locator(".cm-tooltip")).to_contain_text("did you mean 'Exists'?")
    yaml.field.press("Control+Home")
    row.click()
    expect(yaml.field).to_be_focused()
    expect(page.locator(".cm-activeLine")).to_contain_text("tolerations")
    for key in ("End", "ArrowLeft", "ArrowLeft", "s"):
        page.keyboard.press(key)
    yaml.shows(re.compile(r"operator: Exists}]$"))
    expect(mark).to_have_count(0)
    expect(row).to_have_count(0)


def help_comes_by_pointer_and_by_key(page: Page, yaml: Yaml) -> None:
    """Resting on a field explains it; so does F1 where the cursor is, until Escape."""
    page.locator(".cm-line", has_text="containers").get_by_text("containers").hover()
    card = page.locator(".cm-help")
    expect(card).to_contain_text("Pod spec.containers")
    expect(card).to_contain_text("List of containers belonging to the pod.")
    page.get_by_role("tab", name="YAML").hover()
    expect(card).to_have_count(0)
    yaml.field.press("Control+Home")
    yaml.field.press("F1")
    expect(card).to_contain_text("Node apiVersion")
    yaml.field.press("Escape")
    expect(card).to_have_count(0)


def tab_indents_and_is_no_trap(page: Page, yaml: Yaml) -> None:
    """Tab indents; after Escape it leaves, forwards and backwards, as the field's description tells."""
    expect(yaml.field).to_have_accessible_description(re.compile("Esc Tab leaves"))
    yaml.field.press("Control+End")
    yaml.field.press("Tab")
    yaml.shows(re.compile(r"name: main\n  $"))
    yaml.field.press("Shift+Tab")
    yaml.shows(SMALL)
    expect(yaml.field).to_be_focused()
    yaml.field.press("Escape")
    page.evaluate("(now => { Date.now = () => now() + 60_000; })(Date.now)")  # it is not for the quick alone
    yaml.field.press("Tab")
    expect(yaml.field).not_to_be_focused()
    yaml.field.focus()
    yaml.field.press("Escape")
    yaml.field.press("Shift+Tab")
    expect(yaml.field).not_to_be_focused()
    yaml.shows(SMALL)
    Workbench(page).build.get_by_role("tab", name="YAML").focus()
    tab_until(page, lambda focused: "YAML of this draft" in focused, most=12)


def undo_and_what_is_kept_over_a_reload(bench: Workbench, yaml: Yaml) -> None:
    """Typing is undone and redone; what was typed is there after a reload, marked as not applied."""
    page, text = bench.page, yaml.text
    yaml.field.press("Control+End")
    page.keyboard.type("# one")
    yaml.shows(f"{text}# one")
    yaml.field.press("Control+z")
    yaml.shows(text)
    expect(bench.build.get_by_role("button", name="Apply")).to_be_disabled()
    yaml.field.press("Control+y")
    yaml.shows(f"{text}# one")
    page.keyboard.type(" two")
    page.reload()
    bench.wait()
    expect(bench.build.get_by_role("tab", name="YAML")).to_have_text(re.compile("edited$"))
    bench.build.get_by_role("tab", name="YAML").click()
    expect(page.get_by_text("Unapplied changes were restored in the editor.")).to_be_visible()
    yaml_of(bench).shows(f"{text}# one two")
    discard = bench.build.get_by_role("button", name="Discard changes")
    discard.click()
    yaml.shows(text)
    expect(bench.build.get_by_role("tab", name="YAML")).not_to_have_text(re.compile("edited$"))
    yaml.field.press("Control+z")
    yaml.shows(f"{text}# one two")


def a_change_from_elsewhere_leaves_the_cursor(bench: Workbench, yaml: Yaml) -> None:
    """A setting that the Policy tab writes comes into the text; the cursor stays on its line."""
    page = bench.page
    yaml.field.press("Control+Home")
    for _ in range(5):
        yaml.field.press("ArrowDown")
    expect(page.locator(".cm-activeLine")).to_have_text("apiVersion: v1")
    bench.build.get_by_role("tab", name="Policy").click()
    bench.build.get_by_label("Static order of predicates").select_option("proposal")
    yaml_of(bench).shows(re.compile("predicateOrder: proposal"))
    yaml.field.focus()
    page.keyboard.type("# here\n")
    yaml.shows(re.compile("^---\n# here\napiVersion: v1\nkind: Pod", re.MULTILINE))
    yaml.field.press("Control+z")
    yaml.shows(re.compile("predicateOrder: proposal"))


def test_a_text_is_written_explained_and_corrected(page: Page) -> None:
    """Undo, completions, help, Enter, mistakes and Tab, one after the other in one editor."""
    bench, yaml = edited(page, by_v1_11(SMALL))
    undo_and_what_is_kept_over_a_reload(bench, yaml)
    bench.build.get_by_role("button", name="Discard changes").click()
    a_change_from_elsewhere_leaves_the_cursor(bench, yaml)
    yaml.fill(SMALL).shows(SMALL)
    help_comes_by_pointer_and_by_key(page, yaml)
    a_pod_is_written_by_completion_alone(bench, yaml)
    for claim in (
        enter_after_a_whole_word_is_a_new_line,
        fields_say_what_they_are_and_what_counts_for_nothing,
        a_mistake_is_marked_on_its_line_with_its_remedy,
        tab_indents_and_is_no_trap,
    ):
        yaml.fill(SMALL).shows(SMALL)
        claim(page, yaml)


def test_a_shared_text_is_read_by_tabbing_through(page: Page, site: Stack) -> None:
    """Read-only text takes no keys: it can be searched and explained, and Tab goes on."""
    bench = Workbench(page).open(share(site, example_text("shop"), "Shop", as_is=True))
    yaml = yaml_of(bench).shows(re.compile("replicas: 7"))
    yaml.field.focus()
    page.keyboard.type("gone")
    assert "gone" not in yaml.text
    yaml.field.press("Control+f")
    page.get_by_role("textbox", name="Find").press_sequentially("replicas: 7")
    page.keyboard.press("Enter")
    expect(page.locator(".cm-searchMatch-selected")).to_have_text("replicas: 7")
    page.keyboard.press("Escape")
    yaml.field.press("Tab")
    expect(yaml.field).not_to_be_focused()


def test_the_editor_is_accessible(phone: Page, accessible: Callable[[Page], None]) -> None:
    """WCAG 2.2 AA by axe: with a mistake, with its completions, with help and with the search open."""
    page = phone
    bench = Workbench(page).open(drafted(page, SMALL, as_is=True))
    page.get_by_role("navigation", name="Regions").get_by_role("button", name="Build").click()
    yaml = yaml_of(bench).shows(re.compile("kind: Node"))
    yaml.fill(SMALL.replace("spec:\n", "spec:\n  priority: high\n"))
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    accessible(page)
    yaml.field.press("Control+End")
    page.keyboard.type("  im")
    expect(offered(page).first).to_contain_text("image")
    accessible(page)
    page.keyboard.press("Escape")
    page.keyboard.press("F1")
    page.keyboard.press("Control+f")
    expect(page.get_by_role("textbox", name="Find")).to_be_visible()
    accessible(page)
    assert wide(page) == 0


def test_where_the_editor_does_not_load_the_text_area_stays(page: Page, watch: object) -> None:
    """Without the bundle the YAML is edited, checked and applied in a plain text area."""
    watch.allow("codemirror.js", "Failed to load resource")  # type: ignore[attr-defined]

    def lost(route: Route) -> None:
        route.abort()

    page.route("**/static/vendor/codemirror.js", lost)
    bench = Workbench(page).open(drafted(page, SMALL, as_is=True))
    bench.build.get_by_role("tab", name="YAML").click()
    area = bench.build.get_by_label("YAML of this draft")
    expect(area).to_have_value(re.compile("kind: Node"))
    area.fill(SMALL.replace("name: web", "name: web-2"))
    bench.build.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("Applied: the simulation restarts.")).to_be_visible()
    bench.wait()
    becomes(lambda: page.evaluate("podstep.playback.pods.keys"), ["default/web-2"])


def test_it_is_loaded_when_it_is_looked_at(page: Page) -> None:
    """Opening a page loads neither the editor nor the schemas; turning to a YAML does, once."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/")
    expect(page.get_by_label("Manifests")).to_be_visible()
    bench = Workbench(page).open("/examples/first-cycle/")
    yaml_of(bench)
    after = [url.rpartition("/")[2] for url in asked if "codemirror" in url or "schemas" in url]
    assert sorted(after) == ["codemirror.js", "schemas.json"]
    opened = next(place for place, url in enumerate(asked) if "codemirror" in url)
    assert any(re.search(r"/main[-.]\w+", url) for url in asked[:opened])
    bench.build.get_by_role("tab", name="Objects").click()
    yaml_of(bench)
    assert sum("codemirror" in url for url in asked) == 1


@pytest.mark.timeout(240)
def test_a_megabyte_stays_fluid(page: Page) -> None:
    """Typing, completing and scrolling in a text of more than a megabyte keep within a few frames."""
    text = write_yaml(json.loads(zoned(3600, 0.01))["items"])
    assert len(text) > 1_000_000
    _, yaml = edited(page, text)
    yaml.field.press("Control+End")
    took = []
    for letter in "# fluid":
        began = time.perf_counter()
        page.keyboard.type(letter)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        took.append(time.perf_counter() - began)
    print("milliseconds from key to the second frame:", [round(1000 * one) for one in took])
    assert min(took) < 2  # a busy machine, and the test's own way there and back
    yaml.field.press("Control+Home")
    yaml.shows(re.compile("# fluid$"))
