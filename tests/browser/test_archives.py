"""Archives, folders and encodings through the start page: chosen, dropped, and what comes back of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.editors import manifests
from tests.browser.pages import Workbench
from tests.browser.test_paste import MENDED, listed
from tests.core.formats.archives import CHART, VALUES, tarred, zipped

NODES, _, PODS = MENDED.partition("---\n")
RELEASE = {
    "shop/nodes.yaml": NODES,
    "shop/web.yaml": PODS,
    "shop/Chart.yaml": CHART,
    "shop/values.yaml": VALUES,
}

DROP = """([target, tree]) => {
  const entry = (path, content) => typeof content === "string"
    ? { isFile: true, fullPath: path, file: (done) => done(new File([content], path.split("/").pop())) }
    : { isDirectory: true, fullPath: path, createReader: () => {
        let left = Object.entries(content).map(([name, inner]) => entry(`${path}/${name}`, inner));
        return { readEntries: (done) => { done(left.slice(0, 2)); left = left.slice(2); } };
      } };
  const event = new Event("drop", { bubbles: true, cancelable: true });
  const items = Object.entries(tree).map(([name, content]) => entry(`/${name}`, content));
  const held = items.map((one) => ({ webkitGetAsEntry: () => one }));
  event.dataTransfer = { types: ["Files"], files: [], items: held };
  document.querySelector(target).dispatchEvent(event);
}"""


def opened(page: Page) -> Workbench:
    """Open what is held, and wait for the workbench."""
    page.get_by_role("button", name="Open the workbench").click()
    bench = Workbench(page).wait()
    expect(bench.timeline).to_have_attribute("aria-valuemax", "3")
    return bench


def test_an_archive_is_uploaded(page: Page, tmp_path: Path) -> None:
    """A .tgz of a chart's rendered manifests is chosen by file input and opens as one cluster."""
    (tmp_path / "shop.tgz").write_bytes(tarred(RELEASE))
    page.goto("/")
    page.get_by_label("Upload files").set_input_files(tmp_path / "shop.tgz")
    expect(page.get_by_role("button", name="Remove shop.tgz")).to_be_visible()
    expect(page.get_by_label("Title")).to_have_value("shop")
    opened(page)


def test_a_hostile_archive_comes_back_with_its_remedy(page: Page, tmp_path: Path, watch: Watch) -> None:
    """What cannot be read of an archive is said on the page, with the file, and can be taken out again."""
    watch.allow("422")
    (tmp_path / "bad.zip").write_bytes(zipped({"../nodes.yaml": NODES}))
    (tmp_path / "good.zip").write_bytes(zipped(RELEASE))
    page.goto("/")
    upload = page.get_by_label("Upload files")
    upload.set_input_files(tmp_path / "bad.zip")
    page.get_by_role("button", name="Open the workbench").click()
    expect(listed(page)).to_contain_text("bad.zip: the archive has an unsafe path")
    page.get_by_role("button", name="Remove bad.zip").click()
    upload.set_input_files(tmp_path / "good.zip")
    opened(page)


def test_a_folder_is_chosen(page: Page, tmp_path: Path) -> None:
    """A folder goes as one file; what it has beside manifests is not in the way."""
    for name, text in {
        **RELEASE,
        f"shop/{'deep/' * 25}more.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n",
        "shop/logo.png": "x",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    page.goto("/")
    page.get_by_label("Upload a folder").set_input_files(tmp_path / "shop")
    expect(page.get_by_role("button", name="Remove shop.tar")).to_be_visible()
    expect(page.get_by_text("1 other file of the folder is not uploaded.")).to_be_visible()
    opened(page)
    text = page.request.get(f"{page.url.partition('?')[0]}bundle").text()
    assert "# shop/nodes.yaml" in text and "kind: Namespace" in text


def test_a_folder_is_dropped(page: Page) -> None:
    """It is read below, as many entries as it has; where there is no manifest nothing is held."""
    # Nothing to send is said at once, and nothing is held.
    page.goto("/")
    page.evaluate(DROP, ["[data-paste-form]", {"pictures": {"a.png": "x"}}])
    expect(page.get_by_text("The folder contains no YAML or JSON files.")).to_be_visible()
    # A folder that is dropped anywhere is read below, as many entries as it has.
    page.goto("/")
    tree = {
        "shop": {"a": {"nodes.yaml": NODES}, "web.yaml": PODS, "values.yaml": VALUES, ".git": {"config": "x"}}
    }
    page.evaluate(DROP, ["body", tree])
    expect(page.get_by_role("button", name="Remove shop.tar")).to_be_visible()
    opened(page)


def test_more_files_than_a_form_may_have_go_as_one(page: Page, tmp_path: Path) -> None:
    """Thirty files of JSON are no more trouble than one."""
    node = {"status": {"allocatable": {"cpu": "9", "pods": "99"}}}
    pod = {"spec": {"containers": [{"name": "c"}]}}
    for kind, number, rest in (("Node", 1, node), ("Pod", 3, pod), ("Namespace", 26, {})):
        for n in range(number):
            manifest = {"apiVersion": "v1", "kind": kind, "metadata": {"name": f"a-{n}"}, **rest}
            (tmp_path / f"{kind}-{n}.json").write_text(json.dumps(manifest))
    page.goto("/")
    page.get_by_label("Upload files").set_input_files(sorted(tmp_path.glob("*.json")))
    expect(page.get_by_role("button", name="Remove files.tar")).to_be_visible()
    opened(page)


def test_utf_16_goes_into_the_box(page: Page, tmp_path: Path) -> None:
    """What PowerShell wrote is text in the box, with and without its mark."""
    for name, encoding in (("marked", "utf-16"), ("unmarked", "utf-16-le")):
        (tmp_path / f"{name}.yaml").write_bytes(MENDED.encode(encoding))
        page.goto("/")
        page.get_by_label("Upload files").set_input_files(tmp_path / f"{name}.yaml")
        manifests(page).shows(re.compile("kind: Node"))
        expect(page.get_by_text("Ready.")).to_be_visible()
        page.get_by_role("button", name="Clear").click()
