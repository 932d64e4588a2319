"""The pictures of docs/screenshots: ``python -m tests.browser.screenshots``.

Starts podstep as the tests do, on a free port with an empty data folder, and makes its own data: the
shipped examples and the shipped excerpt of a trace, or the recorded one where it is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.conftest import ARGUMENTS, DESKTOP, PHONE
from tests.browser.editing import yaml_of
from tests.browser.pages import Workbench, example_text, share
from tests.browser.test_runs import SAMPLE, charts, ends, upload
from tests.parts import REPOSITORY, SHARED, chromium
from tests.services.processes import free_port
from tests.services.stack import Stack, embedded_parts, running

FOLDER = REPOSITORY / "docs" / "screenshots"
PENDING = "default/search-6"  # not placed in cycle 17 of the shop
THEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
Size = tuple[int, int]


#: A pod with a mistake, and a toleration that has only been begun.
MISTAKEN = """\
- apiVersion: v1
  kind: Pod
  metadata: {name: high}
  spec:
    priority: high
    tolerations:
    - """


def new_page(browser: Browser, site: Stack, size: Size, theme: Literal["dark", "light"]) -> Page:
    """Open a page of a new visitor, with everything that moves at rest."""
    phone: dict[str, Any] = {"is_mobile": True, "has_touch": True} if size == PHONE else {}
    context = browser.new_context(
        base_url=site.base_url,
        viewport={"width": size[0], "height": size[1]},
        color_scheme=theme,
        reduced_motion="reduce",
        **phone,
    )
    context.set_default_timeout(60_000)
    return context.new_page()


def run_trace(page: Page) -> str:
    """Run the recorded trace, or the shipped excerpt where there is no recording; return its address."""
    folder = SHARED / "traces"
    if folder.is_dir():
        files = folder / "openb_node_list_all_node.csv.gz", folder / "openb_pod_list_default.csv.gz"
        upload(page, *files, times="Ignore")
    else:
        upload(page, SAMPLE / "gpu-trace.nodes.csv", SAMPLE / "gpu-trace.pods.csv")
    ends(page, "done", 300)
    charts(page)
    return page.url


def built(page: Page, phone: bool) -> Iterator[str]:
    """Build a cluster from nothing: the generator, a form with a mistake, and many nodes at once."""
    page.get_by_role("button", name="Build one").click()
    made = page.get_by_role("dialog", name="Generate a cluster")
    expect(made.get_by_text("10 nodes")).to_be_visible()
    yield "build-generate"
    made.get_by_role("button", name="Open the workbench").click()
    page.wait_for_url("**/p/**")
    build = Workbench(page).wait().build
    if phone:
        page.get_by_role("navigation", name="Regions").get_by_role("button", name="Build").click()
    build.get_by_role("button", name="Add", exact=True).click()
    build.get_by_role("menuitem", name="Deployment", exact=True).click()
    form = page.get_by_role("dialog", name="Deployment")
    form.get_by_text("Where they may run").click()
    form.get_by_label("memory of a pod").fill("2GB")
    expect(form.get_by_text("did you mean '2G'")).to_be_visible()
    yield "build-form"
    form.get_by_role("button", name="Cancel").click()
    build.get_by_role("button", name="Add", exact=True).click()
    build.get_by_role("menuitem", name="Change many nodes…").click()
    bulk = page.get_by_role("dialog", name="Change many nodes")
    bulk.get_by_label("Taint", exact=True).fill("maintenance=yes:NoExecute")
    expect(bulk.get_by_role("button", name="Taint 10 nodes")).to_be_visible()
    yield "build-bulk"


def stopped(page: Page, shop: str) -> Iterator[str]:
    """Set breakpoints, run to one, and open the palette and the keys."""
    bench = Workbench(page).open(
        f"{shop}?step=9&break=unschedulable&break=predicate:MatchNodeSelector@batch-2"
    )
    page.get_by_role("button", name="Breakpoints: 2").click()
    box = page.get_by_role("dialog", name="Breakpoints")
    expect(box.get_by_role("checkbox")).to_have_count(2)
    yield "workbench-breakpoints"
    box.get_by_role("checkbox", name="MatchNodeSelector").uncheck()
    box.get_by_role("button", name="Run to the next break").click()
    bench.at(17)
    yield "workbench-stopped"
    page.get_by_role("button", name="Command palette").click()
    page.get_by_role("combobox", name="Command").fill("pre")
    expect(page.get_by_role("option", name="Tab Preemption")).to_be_visible()
    yield "workbench-palette"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Help and keys").click()
    yield "workbench-keys"


def pictures(page: Page, addresses: dict[str, str], phone: bool) -> Iterator[str]:
    """Bring the page into each state that is pictured, yielding the picture's name."""
    page.goto("/")
    small = page.get_by_role("region", name="A small cluster that is being scheduled")
    expect(small.get_by_role("button", name="Play")).to_be_visible()
    yield "start"
    yield from built(page, phone)
    for name, address, index, view in (
        ("workbench-12", f"{addresses['shop']}?step=20&tab=predicates", 20, ("Stage", "Inspect")),
        ("workbench-500", f"{addresses['large']}?step=400&tab=predicates", 400, ("Stage", "Inspect")),
        ("workbench-priorities", f"{addresses['shop']}?step=20&tab=priorities", 20, ("Inspect",)),
        ("workbench-preemption", f"{addresses['room']}?step=1&tab=preemption", 1, ("Inspect",)),
        ("workbench-cache", f"{addresses['promise']}?step=4&tab=cache", 4, ("Inspect",)),
        ("workbench-cache-time", f"{addresses['promise']}?step=4&tab=cache&view=time", 4, ("Inspect",)),
        ("workbench-quirks", f"{addresses['quirks']}?step=1&tab=story", 1, ("Inspect",)),
    ):
        Workbench(page).open(address).at(index)
        page.wait_for_function("podstep.playback.marks.known === podstep.playback.cycles")
        if "view=time" in address:
            expect(page.locator("svg.main-svg").first).to_be_attached()
        if not phone:
            yield name
            continue
        for region in view:
            page.get_by_role("navigation", name="Regions").get_by_role("button", name=region).click()
            yield f"{name}-{region.lower()}" if len(view) > 1 else name
    build = Workbench(page).build
    if phone:
        page.get_by_role("navigation", name="Regions").get_by_role("button", name="Build").click()
    build.get_by_role("tab", name="Policy").click()
    expect(build.get_by_text("CheckNodeCondition").first).to_be_visible()
    yield "workbench-policy"
    page.goto("/")
    page.get_by_role("button", name="A shop on twelve nodes").click()
    bench = Workbench(page).wait()
    if phone:
        page.get_by_role("navigation", name="Regions").get_by_role("button", name="Build").click()
    yaml = yaml_of(bench).shows(re.compile("replicas: 7"))
    yaml.fill(yaml.text + MISTAKEN)
    field = yaml.field
    field.press("Control+End")
    expect(page.locator(".cm-lint-marker-error")).not_to_have_count(0)
    field.press("Control+Space")
    expect(page.get_by_role("listbox", name="Completions")).to_be_visible()
    yield "workbench-yaml"
    Workbench(page).open(f"{addresses['shop']}?step=17&why={PENDING}").at(17)
    expect(page.get_by_role("button", name="Apply in a copy").first).to_be_visible()
    yield "workbench-why"
    yield from stopped(page, addresses["shop"])
    page.goto("/reference/predicates/")
    yield "reference-predicates"
    page.goto(addresses["run"])
    ends(page, "done")
    expect(page.locator("svg.main-svg")).not_to_have_count(0)
    yield "run"


def settle(page: Page) -> None:
    """Wait until fonts are there and everything that was asked for is painted."""
    page.wait_for_load_state("networkidle")
    page.evaluate(
        "document.fonts.ready.then(() => new Promise(done =>"
        " requestAnimationFrame(() => requestAnimationFrame(done))))"
    )


def take(browser: Browser, site: Stack) -> list[Path]:
    """Take every picture and return where they are."""
    taken = []
    author = new_page(browser, site, DESKTOP, "dark")
    addresses = {
        "shop": share(site, example_text("shop"), "A shop on twelve nodes"),
        "large": share(site, example_text("five-hundred"), "Five hundred nodes"),
        "room": share(site, example_text("making-room"), "Making room"),
        "promise": share(site, example_text("cache-broken-promise"), "The broken promise"),
        "quirks": share(site, example_text("quirks"), "Three quirks of v1.11"),
        "run": run_trace(author),
    }
    author.context.close()
    for size in (DESKTOP, PHONE):
        for theme in THEMES:
            page = new_page(browser, site, size, theme)
            for name in pictures(page, addresses, size == PHONE):
                settle(page)
                path = FOLDER / f"{name}-{size[0]}-{theme}.png"
                page.screenshot(path=path)
                taken.append(path)
            page.context.close()
    return taken


def main() -> None:
    """Start what is needed, take the pictures, and remove those of before that are no more."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        home, port = Path(folder), free_port()
        with running("embedded", embedded_parts(home, port), home, port) as site, sync_playwright() as found:
            browser = found.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
            taken = take(browser, site)
            browser.close()
    for stale in set(FOLDER.glob("*.png")) - set(taken):
        stale.unlink()
    size = sum(path.stat().st_size for path in taken)
    print(f"{len(taken)} pictures in {FOLDER}, {size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
