"""Every page and common state against WCAG 2.2 AA, dark on a desk and light on a phone.

What a tab, a form or a dialog has of its own is looked at in the same way by the tests of that part.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch, looks, turned
from tests.browser.editors import yaml_of
from tests.browser.pages import Workbench, example_text, share, show, wide
from tests.browser.test_paste import MISTAKEN, listed
from tests.services.stack import Stack

pytestmark = pytest.mark.timeout(240)

Check = Callable[[Page], None]


@pytest.fixture
def themed(visitor: Callable[..., Page], size: tuple[int, int], scheme: str) -> Page:
    """A page of that size whose visitor prefers that theme."""
    return visitor(size=size, color_scheme=scheme)


@pytest.fixture
def sound(accessible: Check) -> Check:
    """Check a page as it stands: WCAG 2.2 AA by axe, and no scrolling sideways."""

    def check(page: Page) -> None:
        assert wide(page) <= 0, f"{page.url} is {wide(page)} pixels wider than the window"
        accessible(page)

    return check


@pytest.fixture
def sound_in_both(sound: Check) -> Check:
    """Check a page that has its whole self on any screen, in both looks."""

    def check(page: Page) -> None:
        for _ in turned(page):
            sound(page)

    return check


def test_start_page(page: Page, sound_in_both: Check) -> None:
    """The start page, and with mistakes listed."""
    page.goto("/")
    page.get_by_role("link", name="Idle, but full").click()
    Workbench(page).wait()
    page.get_by_role("button", name="Fork", exact=True).click()
    page.wait_for_url("**/p/**")
    Workbench(page).wait()
    page.goto("/?topic=scoring")  # with a draft to go on with, and a topic chosen
    expect(page.get_by_role("region", name="Continue where you left off")).to_be_visible()
    small = page.get_by_role("region", name="A small cluster that is being scheduled")
    expect(small.get_by_role("button", name="Play")).to_be_visible()
    sound_in_both(page)
    page.get_by_label("Manifests").fill(MISTAKEN)
    expect(listed(page)).to_have_count(3)
    sound_in_both(page)


@looks
def test_workbench(themed: Page, sound: Check, site: Stack) -> None:
    """The workbench before the first cycle, at a failure, on every tab, and with a node selected.

    The tab Preemption is looked at in its own tests.
    """
    bench = Workbench(themed).open(share(site, example_text("shop"), "A shop on twelve nodes"))
    sound(themed)
    bench.goto(17)
    sound(themed)
    show(themed, "Inspect")
    for tab in ("Predicates", "Priorities", "Queue", "Events"):
        bench.tab(tab)
        bench.at(17)
        sound(themed)
    bench.tab("Story")
    bench.goto(20)
    sound(themed)
    bench.tab("Priorities")
    sound(themed)
    show(themed, "Stage")
    bench.node("general-4").click()
    expect(themed.get_by_role("region", name="Selected")).to_be_visible()
    sound(themed)
    bench.stage.get_by_role("button", name=re.compile("as a table")).click()
    sound(themed)


@looks
def test_build_and_dialogs(themed: Page, sound: Check) -> None:
    """The tree, the YAML with mistakes, and the dialogs of a draft."""
    themed.goto("/?topic=clusters")
    themed.get_by_role("link", name="A shop on twelve nodes").click()
    Workbench(themed).wait()
    themed.get_by_role("button", name="Fork", exact=True).click()
    themed.wait_for_url("**/p/**")
    bench = Workbench(themed).wait()
    bench.goto(3)
    show(themed, "Build")
    sound(themed)
    editor = yaml_of(bench).shows(re.compile("kind: List"))
    before = editor.text
    editor.fill(MISTAKEN)
    expect(listed(themed)).to_have_count(3)
    sound(themed)
    editor.fill(before)
    bench.build.get_by_role("button", name="Discard").or_(editor.field).first.focus()
    bench.build.get_by_role("tab", name="YAML").focus()
    for key, name in (("s", "Share this view"), ("?", "Keys"), ("g", "Go to step")):
        themed.keyboard.press(key)
        dialog = themed.get_by_role("dialog", name=name)
        expect(dialog).to_be_visible()
        if key == "s":
            expect(dialog.get_by_role("button", name="Create the link")).to_be_visible()
        sound(themed)
        themed.keyboard.press("Escape")
        expect(dialog).to_have_count(0)


def test_an_embedded_page(page: Page, sound_in_both: Check, site: Stack) -> None:
    """The page for a frame: the same workbench without chrome."""
    short = share(site, example_text("shop"), "A shop on twelve nodes").split("/")[2]
    Workbench(page).open(f"/e/{short}/?step=17").at(17)
    sound_in_both(page)


@looks
def test_heat_map(themed: Page, sound: Check, site: Stack) -> None:
    """Five hundred nodes: the map, and its matrices."""
    address = share(site, example_text("five-hundred"), "Five hundred nodes")
    bench = Workbench(themed).open(f"{address}?step=400")
    bench.at(400)
    show(themed, "Stage")
    sound(themed)
    show(themed, "Inspect")
    bench.tab("Predicates")
    bench.at(400)
    sound(themed)


def test_runs(page: Page, sound_in_both: Check) -> None:
    """No run yet, a finished run with its charts and a table, and the list of runs."""
    page.goto("/runs/")
    expect(page.get_by_text("You have not started a run yet.")).to_be_visible()
    sound_in_both(page)
    page.goto("/")
    page.get_by_role("button", name="Run the excerpt").click()
    page.wait_for_url("**/runs/*/")
    expect(page.get_by_role("main").get_by_text("done", exact=True)).to_be_visible(timeout=60_000)
    expect(page.locator(".charts .trace").first).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Show as a table").first.click()
    sound_in_both(page)
    page.goto("/runs/")
    expect(page.get_by_role("table")).to_be_visible()
    sound_in_both(page)


def test_reference_api_and_errors(page: Page, sound_in_both: Check, watch: Watch) -> None:
    """The pages that are read only, and the page for what is not there."""
    for path in (
        "/reference/predicates/",
        "/reference/cache/",
        "/reference/podgroups/",
        "/reference/kube-batch/",
        "/greed/",
        "/reference/firmament/",
        "/reference/descheduler/",
        "/api/",
    ):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        sound_in_both(page)
    watch.allow("404")
    page.goto("/s/nothing-here/")
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    sound_in_both(page)


#: A field that is named by what stands elsewhere, among enough elements to be a part of its own.
NAMED = f"""<html lang="en"><title>Named</title><body><main><h1>Named</h1>
<section>{"<p>Text.</p>" * 8}<input aria-labelledby="name"></section>
<p id="name">Name</p></main></body></html>"""


def test_what_was_right_is_not_right_wherever_it_stands(page: Page, accessible: Check) -> None:
    """A part that was audited is audited again where the name that it had from elsewhere is gone."""
    page.goto("/reference/")  # only a page of a server may compute digests
    page.set_content(NAMED)
    accessible(page)
    accessible(page)
    page.evaluate("document.getElementById('name').removeAttribute('id')")
    with pytest.raises(AssertionError, match="label"):
        accessible(page)
