"""Bringing a cluster: every mistake is marked on its line with what would be right, and nothing is lost."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Watch
from tests.browser.editors import manifests, yaml_of
from tests.browser.pages import Workbench, becomes, drafted, example_text, texts

#: Three mistakes: an amount that is none, an effect that there is not, and a word where a number belongs.
MISTAKEN = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
spec:
  taints:
  - {key: team, value: shop, effect: NoShedule}
status:
  allocatable: {cpu: four, memory: 16Gi, pods: "110"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: many
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{key: team, operator: Exists}]
      containers: [{name: main, image: web, resources: {requests: {cpu: 500m}}}]
"""
MISTAKES = {6: "NoShedule", 8: "four", 14: "many"}
MENDED = MISTAKEN.replace("NoShedule", "NoSchedule").replace("four", '"4"').replace("many", "3")
#: What would have been right, in the message of each.
RIGHT = {6: "NoSchedule", 8: "500m", 14: "integer"}


def listed(page: Page) -> Locator:
    """Return the list of errors."""
    return page.get_by_role("list", name="Errors").get_by_role("listitem")


def test_three_mistakes_are_marked_and_mended(page: Page) -> None:
    """All mistakes come at once with line and remedy; a click goes to the line; mended, it steps."""
    page.goto("/")
    box = manifests(page).fill(MISTAKEN)
    page.get_by_label("Title").fill("Three mistakes")
    page.get_by_role("button", name="Open the workbench").click()
    expect(page.get_by_text("3 problems to fix")).to_be_visible()
    expect(listed(page)).to_have_count(len(MISTAKES))
    for row, (line, wrong) in zip(texts(listed(page)), MISTAKES.items(), strict=True):
        assert row.startswith(f"line {line}\n"), row
        assert wrong in row, row
        assert RIGHT[line] in row, row
    expect(box.field).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(len(MISTAKES))
    listed(page).nth(2).get_by_role("button").click()
    becomes(lambda: page.evaluate("getSelection().toString()"), "  replicas: many")
    expect(box.field).to_be_focused()
    box.fill(MENDED)
    expect(page.get_by_text("Ready.")).to_be_visible()
    expect(box.field).not_to_have_attribute("aria-invalid", "true")
    expect(listed(page)).to_have_count(0)
    page.get_by_role("button", name="Open the workbench").click()
    bench = Workbench(page).wait()
    expect(page.get_by_label("Title of this draft")).to_have_value("Three mistakes")
    expect(bench.timeline).to_have_attribute("aria-valuemax", "3")
    bench.step()
    expect(bench.node("n1")).to_have_accessible_name(re.compile("chosen"))


def test_mistakes_are_marked_while_typing(page: Page) -> None:
    """Without pressing anything the mistakes of what is typed are listed, and a reload keeps the text."""
    page.goto("/")
    page.get_by_label("Manifests").fill(MISTAKEN)
    expect(listed(page)).to_have_count(len(MISTAKES))
    page.reload()
    expect(page.get_by_label("Manifests")).to_have_value("")
    page.get_by_role("button", name="Restore it").click()
    manifests(page).shows(MISTAKEN)
    expect(listed(page)).to_have_count(len(MISTAKES))
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("button", name="Open the workbench").click()
    expect(page.get_by_text("The box is empty")).to_be_visible()
    an_empty_list_is_not_opened(page)


def test_a_file_is_uploaded(page: Page, tmp_path: Path) -> None:
    """A YAML file goes into the box, from where it opens."""
    file = tmp_path / "shop.yaml"
    file.write_text(example_text("shop"))
    page.goto("/")
    page.get_by_label("Upload files").set_input_files(file)
    manifests(page).shows(re.compile("kind: List"))
    expect(page.get_by_label("Title")).to_have_value("shop")
    page.get_by_role("button", name="Open the workbench").click()
    bench = Workbench(page).wait()
    expect(bench.timeline).to_have_attribute("aria-valuemax", "26")


def test_a_second_upload_gets_its_own_title(page: Page, tmp_path: Path) -> None:
    """A title that a file gave goes with the file; one that was typed stays."""
    page.goto("/")
    upload, title = page.get_by_label("Upload files"), page.get_by_label("Title")
    for name in ("first", "second"):
        (tmp_path / f"{name}.yaml").write_text(MENDED)
        with gzip.open(tmp_path / f"{name}.tar.gz", "wb") as packed:
            packed.write(MENDED.encode())
        upload.set_input_files(tmp_path / f"{name}.tar.gz")
        expect(title).to_have_value(name)
    page.get_by_role("button", name="Remove second.tar.gz").click()
    upload.set_input_files(tmp_path / "first.yaml")
    expect(title).to_have_value("first")
    page.reload()
    upload.set_input_files(tmp_path / "second.yaml")
    expect(title).to_have_value("second")
    title.fill("My cluster")
    upload.set_input_files(tmp_path / "first.yaml")
    expect(title).to_have_value("My cluster")


def test_packed_and_several_files_are_uploaded(page: Page, tmp_path: Path) -> None:
    """Compressed files and several at once are read together."""
    nodes, _, pods = MENDED.partition("---\n")
    (tmp_path / "nodes.yaml.gz").write_bytes(gzip.compress(nodes.encode()))
    (tmp_path / "pods.yaml").write_text(pods)
    page.goto("/")
    page.get_by_label("Upload files").set_input_files([tmp_path / "nodes.yaml.gz", tmp_path / "pods.yaml"])
    expect(page.get_by_text("Ready.")).to_be_visible()
    page.get_by_role("button", name="Open the workbench").click()
    bench = Workbench(page).wait()
    expect(bench.timeline).to_have_attribute("aria-valuemax", "3")


def test_a_large_upload_is_sent_as_it_is(page: Page, tmp_path: Path, watch: Watch) -> None:
    """What is too long for the box is sent as files; its mistakes come back, and without them it opens."""
    watch.allow("422")
    filler = "#" * 100 + "\n"
    text = MENDED + filler * 40_000
    (tmp_path / "bad.yaml").write_text(text.replace("replicas: 3", "replicas: some"))
    (tmp_path / "good.yaml").write_text(text)
    page.goto("/")
    upload = page.get_by_label("Upload files")
    upload.set_input_files(tmp_path / "bad.yaml")
    page.get_by_role("button", name="Open the workbench").click()
    expect(page.get_by_text("1 problem to fix")).to_be_visible()
    expect(listed(page)).to_contain_text("bad.yaml, line 14")
    page.get_by_role("button", name="Remove bad.yaml").click()
    upload.set_input_files(tmp_path / "good.yaml")
    page.get_by_role("button", name="Open the workbench").click()
    bench = Workbench(page).wait()
    expect(bench.timeline).to_have_attribute("aria-valuemax", "3")


def test_markup_in_names_stays_text(page: Page) -> None:
    """Names made of markup, template and script are shown as they are written, and nothing runs."""
    name = "<img src=x onerror=alert(1)>{{7*7}}"
    policy = (
        "---\napiVersion: v1\nkind: Policy\npredicates:\n"
        f"- {{name: '{name}', order: 1, argument: {{labelsPresence: {{labels: [disk], presence: false}}}}}}\n"
    )
    page.goto("/")
    page.get_by_label("Manifests").fill(MENDED + policy)
    page.get_by_label("Title").fill(f"</script><script>alert(2)</script>{name}")
    page.get_by_role("button", name="Open the workbench").click()
    bench = Workbench(page).wait()
    expect(page.get_by_label("Title of this draft")).to_have_value(re.compile(re.escape("<script>alert(2)")))
    page.keyboard.press("ArrowRight")
    bench.inspect.get_by_role("tab", name="Predicates").click()
    expect(bench.inspect).to_contain_text(name)
    bench.build.get_by_role("tab", name="Policy").click()
    expect(bench.build).to_contain_text(name)
    expect(page.locator("img[src=x]")).to_have_count(0)


def test_errors_in_a_draft_are_marked_and_applied_when_mended(page: Page) -> None:
    """Editing a draft's YAML marks mistakes on their line; mended and applied, the simulation is anew."""
    bench = Workbench(page).open(drafted(page, MENDED))
    a_search_opens_the_tree_and_enter_selects(page, bench)
    editor = yaml_of(bench).shows(re.compile("kind: Deployment"))
    editor.fill(MISTAKEN)
    expect(listed(page)).to_have_count(3)
    apply = bench.build.get_by_role("button", name="Apply")
    apply.click()
    expect(apply).to_be_enabled()  # again: it was refused
    expect(listed(page)).to_have_count(3)
    expect(bench.timeline).to_have_attribute("aria-valuemax", "3")
    editor.fill(MENDED.replace("replicas: 3", "replicas: 5"))
    apply.click()
    expect(bench.timeline).to_have_attribute("aria-valuemax", "5")
    expect(listed(page)).to_have_count(0)


def an_empty_list_is_not_opened(page: Page) -> None:
    """What kubectl prints when nothing was found is refused with advice, checked and opened alike."""
    manifests(page).fill("apiVersion: v1\nkind: List\nitems: []\n")
    expect(listed(page)).to_contain_text("It contains no objects")
    page.get_by_role("button", name="Open the workbench").click()
    expect(page.get_by_text("1 problem to fix")).to_be_visible()
    assert page.url.rstrip("/").count("/") == 2


def test_a_paste_replaces_what_was_restored(page: Page) -> None:
    """Last time's text is offered beside an empty box, and untouched it gives way to a paste."""
    page.goto("/")
    manifests(page).fill(MENDED)
    page.reload()
    page.get_by_role("button", name="Restore it").click()
    expect(page.get_by_text("A text from last time")).to_be_hidden()
    manifests(page).shows(MENDED).paste("kind: List").shows("kind: List")


def a_search_opens_the_tree_and_enter_selects(page: Page, bench: Workbench) -> None:
    """Matches in closed groups are listed and counted, Enter selects the first, no match says so alone."""
    search = bench.build.get_by_label("Find a node or pod")
    search.fill("web")
    rows = bench.build.get_by_role("treeitem")
    expect(rows.first).to_contain_text("3 of 3 pods")
    expect(rows).to_have_count(5)
    search.press("Enter")
    expect(page.get_by_role("region", name="Selected")).to_contain_text("web")
    search.fill("zzz")
    expect(bench.build.get_by_text("No matches for “zzz”.")).to_be_visible()
    expect(rows).to_have_count(0)
