"""Every page and common state against WCAG 2.2 AA, dark on a desk and light on a phone.

What a tab, a form or a dialog has of its own is looked at in the same way by the tests of that part.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import test_ask, test_breakpoints, test_cache, test_stage, test_why
from tests.browser.conftest import Watch, looks, turned
from tests.browser.editors import yaml_of
from tests.browser.pages import Workbench, example_text, share, show, wide
from tests.browser.test_paste import MISTAKEN, listed
from tests.browser.weights import give
from tests.browser.weights import opened as weights_opened
from tests.javascript.recorded import TEXT
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


def test_runs(page: Page, sound_in_both: Check) -> None:
    """No run yet, a finished run with its charts and a table, and the list of runs."""
    page.goto("/runs/")
    expect(page.get_by_text("You have not started a run yet.")).to_be_visible()
    sound_in_both(page)
    page.goto("/")
    page.get_by_role("button", name="Run the excerpt").click()
    page.wait_for_url("**/runs/*/")
    expect(page.get_by_role("main").get_by_text("done", exact=True)).to_be_visible()
    expect(page.locator(".charts .trace").first).to_be_visible()
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
    """A part is audited again where the name that it had from elsewhere is gone, a text on another ground."""
    page.goto("/reference/")  # only a page of a server may compute digests
    page.set_content(NAMED)
    accessible(page)
    accessible(page)
    page.evaluate("document.getElementById('name').removeAttribute('id')")
    with pytest.raises(AssertionError, match="label"):
        accessible(page)
    page.set_content(NAMED)
    for ground in ("#fff", "#888"):
        page.evaluate("ground => { document.querySelector('section').style.background = ground; }", ground)
        page.evaluate("document.querySelector('section').style.color = '#666'")
        if ground == "#fff":
            accessible(page)
    with pytest.raises(AssertionError, match="contrast"):
        accessible(page)


class Tour:
    """A visitor who looks at states of pages: each is to be accessible, and not wider than the window."""

    def __init__(self, page: Page, site: Stack, visitor: Callable[..., Page], accessible: Check) -> None:
        self.page, self.site, self.visitor, self.accessible = page, site, visitor, accessible

    def look(self, region: str = "", page: Page | None = None) -> None:
        """Check a page in both looks; ``region`` is that of the workbench which a phone is to show."""
        page = page or self.page
        for size in turned(page):
            if region:
                show(page, region)
            assert wide(page) <= 0, f"{page.url} is {wide(page)} pixels wider than {size}"
            self.accessible(page)

    def example(self, slug: str, query: str = "") -> Workbench:
        """Open a shared example."""
        return Workbench(self.page).open(share(self.site, example_text(slug), slug) + query)

    def opens(self, address: str) -> None:
        """Go to a page that is read only."""
        self.page.goto(address)
        expect(self.page.get_by_role("heading", level=1)).to_be_visible()


def start(tour: Tour) -> None:
    """The start page, with a draft to go on with, a topic chosen, and mistakes listed."""
    page = tour.page
    page.goto("/")
    page.get_by_role("link", name="Idle, but full").click()
    Workbench(page).wait()
    page.get_by_role("button", name="Fork", exact=True).click()
    page.wait_for_url("**/p/**")
    Workbench(page).wait()
    page.goto("/?topic=scoring")
    expect(page.get_by_role("region", name="Continue where you left off")).to_be_visible()
    small = page.get_by_role("region", name="A small cluster that is being scheduled")
    expect(small.get_by_role("button", name="Play")).to_be_visible()
    tour.look()
    page.get_by_label("Manifests").fill(MISTAKEN)
    expect(listed(page)).to_have_count(3)
    tour.look()


def first_visit(tour: Tour) -> None:
    """The basic controls, and their note."""
    page = tour.visitor(storage_state=None)
    page.goto("/examples/reading-the-message/")
    Workbench(page).wait().button("Step").click()
    expect(page.locator(".few-note")).to_be_visible()
    tour.look(page=page)


def workbench(tour: Tour) -> None:
    """Before the first cycle, at a failure, on every tab, with a node selected, and its table."""
    bench = tour.example("shop")
    tour.look("Stage")
    bench.goto(17)
    for tab in ("Predicates", "Priorities", "Queue", "Events", "Story"):
        bench.tab(tab)
        bench.at(17)
        tour.look("Inspect")
    bench.goto(20)
    panel = bench.tab("Priorities")
    panel.get_by_role("columnheader", name="A3 LeastRequested").click()
    tour.look("Inspect")
    panel.get_by_role("button", name="Priorities", exact=True).click()
    expect(panel.get_by_role("grid", name="Priority by node")).to_be_visible()
    tour.look("Inspect")
    bench.node("general-4").click()
    expect(tour.page.get_by_role("region", name="Selected")).to_be_visible()
    tour.look("Stage")
    bench.stage.get_by_role("button", name=re.compile("as a table")).click()
    tour.look("Stage")


def stage(tour: Tour) -> None:
    """A node that is not ready, every colour, five hundred nodes and their matrices; and for an audience."""
    tour.example("node-fails", "?step=7").at(7)
    tour.look("Stage")
    pools = share(tour.site, test_stage.POOLS, "Pools")
    bench = Workbench(tour.page).open(f"{pools}?step=4").at(4)
    for colour in ("priority", "podgroup", "namespace", "age"):
        test_stage.look(bench, "Colour").select_option(colour)
        tour.look("Stage")
    test_stage.swatches(bench).first.click()
    test_stage.look(bench, "Group by").select_option("disk")
    tour.look("Stage")
    tour.page.keyboard.press("p")
    expect(tour.page.get_by_role("region", name="Caption")).to_be_visible()
    tour.accessible(tour.page)
    bench = tour.example("five-hundred", "?step=400").at(400)
    tour.look("Stage")
    bench.tab("Predicates")
    bench.at(400)
    tour.look("Inspect")


def cache(tour: Tour) -> None:
    """Every view of the tab Cache."""
    address = share(tour.site, example_text("cache-broken-promise"), "The broken promise")
    panel = test_cache.opened(tour.page, address, test_cache.LAST)
    for name in test_cache.VIEWS:
        test_cache.view(panel, name).click()
        if name == "Over time":
            expect(panel.locator("svg.main-svg").first).to_be_visible()
        if name in {"Map", "Classes"}:
            expect(panel.locator(".cache-rows table")).to_be_visible()
        tour.look("Inspect")


def weights(tour: Tour) -> None:
    """Other weights tried, with the table open."""
    part = weights_opened(tour.page, share(tour.site, TEXT, "Weights"), 2)
    give(part, {"LeastRequestedPriority": 6})
    part.get_by_text("As a table").click()
    tour.look("Inspect")


def causes(tour: Tour) -> None:
    """Why a pod is pending, whom preemption evicts, breakpoints, and the answers about a cluster at rest."""
    why = share(tour.site, example_text(test_why.SLUG), "Reading the message")
    test_why.ask(tour.page, why)
    tour.look()
    tour.example("making-room", "?step=1&tab=preemption").at(1)
    expect(tour.page.locator(".preemption-tab")).to_contain_text("Where it cannot help")
    tour.look("Inspect")
    tour.example("shop", "?break=unschedulable&break=predicate:@general-4")
    tour.page.get_by_role("button", name="Breakpoints: 2").click()
    tour.look()
    tour.page.get_by_role("button", name="Run to the next break").click()
    expect(test_breakpoints.note(tour.page)).to_contain_text("stopped:")
    tour.look()
    tour.page.goto(share(tour.site, test_ask.CALM, "Calm"))
    test_ask.answered(tour.page)
    tour.look("Inspect")


TOURS = (start, first_visit, workbench, stage, cache, weights, causes)


@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.__name__)
def test_pages_are_accessible(
    tour: Callable[[Tour], None],
    page: Page,
    site: Stack,
    visitor: Callable[..., Page],
    accessible: Check,
) -> None:
    """Axe finds nothing in any of these states, and none is wider than its window."""
    tour(Tour(page, site, visitor, accessible))
