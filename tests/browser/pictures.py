"""What is pictured: every page, tab and state, each brought about as a person does it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from playwright.sync_api import Page, expect

from tests.browser.class_pictures import of_a_lesson
from tests.browser.editors import yaml_of
from tests.browser.pages import Workbench, show
from tests.browser.test_branches import cordon, tree
from tests.browser.test_edit import copied
from tests.browser.test_runs import ends
from tests.browser.weights import give
from tests.browser.weights import opened as unfolded

PENDING = "default/search-6"  # not placed in cycle 17 of the shop

#: Name, scenario, the rest of its address, and the regions that a phone shows of it.
VIEWS = (
    ("workbench-12", "shop", "step=20&tab=predicates", ("Stage", "Inspect")),
    ("workbench-500", "large", "step=400&tab=predicates", ("Stage", "Inspect")),
    ("workbench-5000", "huge", "step=10&tab=predicates", ("Stage",)),
    ("workbench-story", "quirks", "step=1&tab=story", ("Inspect",)),
    ("workbench-priorities", "shop", "step=20&tab=priorities", ("Inspect",)),
    ("workbench-preemption", "room", "step=1&tab=preemption", ("Inspect",)),
    ("workbench-cache", "promise", "step=4&tab=cache", ("Inspect",)),
    ("workbench-cache-time", "promise", "step=4&tab=cache&view=time", ("Inspect",)),
    ("workbench-podgroups", "gang", "step=4&tab=podgroups", ("Stage", "Inspect")),
    ("workbench-queue", "gang", "step=3&tab=queue", ("Inspect",)),
    ("workbench-events", "shop", "step=20&tab=events", ("Inspect",)),
    ("workbench-node-fails", "fails", "step=7&tab=story", ("Stage",)),
    ("workbench-zone-lost", "lost", "step=8&tab=predicates", ("Stage",)),
    ("workbench-end", "gang", "step=end&tab=story", ("Inspect",)),
)
#: Pages that are read only.
READ = {
    "reference-predicates": "/reference/predicates/",
    "reference-cache": "/reference/cache/",
    "reference-podgroups": "/reference/podgroups/",
    "reference-kube-batch": "/reference/kube-batch/",
    "api": "/api/",
    "not-found": "/s/nothing-here/",
}


#: A pod with a mistake, and a toleration that has only been begun.
MISTAKEN = """\
---
apiVersion: v1
kind: Pod
metadata: {name: high}
spec:
  priority: high
  tolerations:
  - """


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


def views(page: Page, addresses: dict[str, str], phone: bool) -> Iterator[str]:
    """Open each of the `VIEWS`."""
    for name, scenario, rest, regions in VIEWS:
        bench = Workbench(page).open(f"{addresses[scenario]}?{rest}")
        if "step=end" not in rest:
            bench.at(int(re.findall(r"step=(\d+)", rest)[0]))
        if "view=time" in rest:
            expect(page.locator("svg.main-svg").first).to_be_attached()
        for shown in regions if phone else regions[:1]:
            show(page, shown)
            yield f"{name}-{shown.lower()}" if phone and len(regions) > 1 else name


def edited(page: Page, addresses: dict[str, str]) -> Iterator[str]:
    """Change weights live, the policy, a node at a step, a branch, and the text with a mistake."""
    give(unfolded(page, addresses["shop"], 20), {"LeastRequestedPriority": 6})
    show(page, "Inspect")
    yield "workbench-weights"
    build = Workbench(page).build
    show(page, "Build")
    build.get_by_role("tab", name="Policy").click()
    expect(build.get_by_text("CheckNodeCondition").first).to_be_visible()
    yield "workbench-policy"
    copied(page, addresses["shop"], 2, "general-4")
    yield "workbench-edit"
    bench = Workbench(page).open(f"{addresses['shop']}?step=16").at(16)
    show(page, "Build")
    bench.build.get_by_role("button", name="Branch here").click()
    page.wait_for_url("**/p/**")
    bench.wait().at(16)
    show(page, "Build")
    cordon(page, bench, "general-4")
    expect(tree(bench).get_by_text("patch Node general-4")).to_be_visible()  # once the draft is saved
    page.locator("[data-toasts]").evaluate("notices => notices.replaceChildren()")
    tree(bench).scroll_into_view_if_needed()
    yield "workbench-branches"
    page.goto("/?topic=clusters")
    page.locator('[data-example="shop"]:visible').click()
    Workbench(page).wait()
    page.get_by_role("button", name="Fork", exact=True).click()
    page.wait_for_url("**/p/**")
    bench = Workbench(page).wait()
    show(page, "Build")
    yaml = yaml_of(bench).shows(re.compile("replicas: 7"))
    yaml.fill(yaml.text + MISTAKEN)
    field = yaml.field
    field.press("Control+End")
    expect(page.locator(".cm-lint-marker-error")).not_to_have_count(0)
    field.press("Control+Space")
    expect(page.get_by_role("listbox", name="Completions")).to_be_visible()
    yield "workbench-yaml"


def pictures(page: Page, addresses: dict[str, str], phone: bool) -> Iterator[str]:
    """Bring the page into each state that is pictured, yielding the picture's name."""
    page.goto("/")
    small = page.get_by_role("region", name="A small cluster that is being scheduled")
    expect(small.get_by_role("button", name="Play")).to_be_visible()
    yield "start"
    yield from built(page, phone)
    yield from views(page, addresses, phone)
    Workbench(page).open(addresses["shop"].replace("/s/", "/e/") + "?step=17").at(17)
    yield "embedded"
    Workbench(page).open(f"{addresses['shop']}?step=17&why={PENDING}").at(17)
    expect(page.get_by_role("button", name="Apply in a copy").first).to_be_visible()
    yield "workbench-why"
    yield from stopped(page, addresses["shop"])
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_label("Link to this view")).to_be_visible()
    yield "workbench-share"
    yield from edited(page, addresses)
    for name, address in READ.items():
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        yield name
    page.goto(addresses["run"])
    ends(page, "done")
    expect(page.locator(".charts .trace")).not_to_have_count(0)
    yield "run"
    yield from of_a_lesson(page)
