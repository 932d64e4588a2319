"""Every page and common state against WCAG 2.2 AA, dark on a desk and light on a phone.

What a tab, a form or a dialog has of its own is looked at in the same way by the tests of that part.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import test_cache, test_stage, test_why
from tests.browser.conftest import DESKTOP, Watch, turned
from tests.browser.pages import Workbench, drafted, example_text, share, show, wide
from tests.browser.test_paste import MISTAKEN, listed
from tests.browser.weights import give
from tests.browser.weights import opened as weights_opened
from tests.javascript.recorded import TEXT
from tests.services.stack import Stack

pytestmark = pytest.mark.timeout(240)

Check = Callable[[Page], None]


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

    def __init__(self, page: Page, site: Stack, accessible: Check) -> None:
        self.page, self.site, self.accessible = page, site, accessible

    def look(self, region: str = "", *, both: bool = False) -> None:
        """Check that the page fits a phone and a desk, and audit it on the desk, or in ``both`` looks.

        ``region`` is that of the workbench which a phone is to show. Fifteen pages are audited in both.
        """
        for size in turned(self.page):
            if region:
                show(self.page, region)
            assert wide(self.page) <= 0, f"{self.page.url} is {wide(self.page)} pixels wider than {size}"
            if both or size == DESKTOP:
                self.accessible(self.page)

    def example(self, slug: str, query: str = "") -> Workbench:
        """Open a shared example."""
        return Workbench(self.page).open(share(self.site, example_text(slug), slug) + query)


def start(tour: Tour) -> None:
    """The start page, with a draft to go on with, a topic chosen, and mistakes listed."""
    page = tour.page
    drafted(page, example_text("shop"), "A shop on twelve nodes")
    page.goto("/?topic=scoring")
    expect(page.get_by_role("region", name="Continue where you left off")).to_be_visible()
    small = page.get_by_role("region", name="A small cluster that is being scheduled")
    expect(small.get_by_role("button", name="Play")).to_be_visible()
    page.get_by_label("Manifests").fill(MISTAKEN)
    expect(listed(page)).to_have_count(3)
    tour.look(both=True)


def draft(tour: Tour) -> None:
    """A draft with what Build offers, and the dialog that leads to a step."""
    Workbench(tour.page).open(f"{drafted(tour.page, example_text('shop'), 'Shop')}?step=3").at(3)
    tour.look("Build", both=True)
    tour.page.keyboard.press("g")
    expect(tour.page.get_by_role("dialog", name="Go to step")).to_be_visible()
    tour.look()


def workbench(tour: Tour) -> None:
    """Before the first cycle, at a failure, on every tab, with a node selected, and its table."""
    bench = tour.example("shop")
    tour.look("Stage")
    bench.goto(17)
    for tab in ("Predicates", "Queue", "Events", "Story"):
        bench.tab(tab)
        bench.at(17)
        tour.look("Inspect", both=tab == "Predicates")
    bench.node("general-4").click()
    expect(tour.page.get_by_role("region", name="Selected")).to_be_visible()
    bench.stage.get_by_role("button", name=re.compile("as a table")).click()
    tour.look("Stage", both=True)


def stage(tour: Tour) -> None:
    """A node that is not ready, every colour, five hundred nodes and their matrices; and for an audience."""
    tour.example("node-fails", "?step=7").at(7)
    tour.look("Stage")
    pools = share(tour.site, test_stage.POOLS, "Pools")
    bench = Workbench(tour.page).open(f"{pools}?step=4").at(4)
    for colour in ("priority", "podgroup", "namespace", "age"):
        test_stage.look(bench, "Colour").select_option(colour)
        tour.look("Stage", both=colour == "priority")
    test_stage.swatches(bench).first.click()
    test_stage.look(bench, "Group by").select_option("disk")
    tour.page.keyboard.press("p")
    expect(tour.page.get_by_role("region", name="Caption")).to_be_visible()
    tour.look()
    bench = tour.example("five-hundred", "?step=400").at(400)
    bench.tab("Predicates")
    bench.at(400)
    tour.look("Stage", both=True)


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
        tour.look("Inspect", both=name == "Map")


def weights(tour: Tour) -> None:
    """Other weights tried, with the table open."""
    part = weights_opened(tour.page, share(tour.site, TEXT, "Weights"), 2)
    give(part, {"LeastRequestedPriority": 6})
    part.get_by_text("As a table").click()
    tour.look("Inspect")


def causes(tour: Tour) -> None:
    """Why a pod is pending, and breakpoints."""
    why = share(tour.site, example_text(test_why.SLUG), "Reading the message")
    test_why.ask(tour.page, why)
    tour.look(both=True)
    tour.example("shop", "?break=unschedulable&break=predicate:@general-4")
    tour.page.get_by_role("button", name="Breakpoints: 2").click()
    tour.look(both=True)
    tour.page.get_by_role("button", name="Run to the next break").click()
    expect(tour.page.locator(".stop-note")).to_contain_text("stopped:")
    tour.look()


def frame(tour: Tour) -> None:
    """The page for a frame: the same workbench without chrome."""
    short = share(tour.site, example_text("shop"), "A shop on twelve nodes").split("/")[2]
    Workbench(tour.page).open(f"/e/{short}/?step=17").at(17)
    tour.look(both=True)


def runs(tour: Tour) -> None:
    """No run yet, a finished run with its charts and a table, and the list of runs."""
    page = tour.page
    page.goto("/runs/")
    expect(page.get_by_text("You have not started a run yet.")).to_be_visible()
    tour.look()
    page.goto("/")
    page.get_by_role("button", name="Run the excerpt").click()
    page.wait_for_url("**/runs/*/")
    expect(page.get_by_role("main").get_by_text("done", exact=True)).to_be_visible()
    expect(page.locator(".charts .trace").first).to_be_visible()
    page.get_by_role("button", name="Show as a table").first.click()
    tour.look(both=True)
    page.goto("/runs/")
    expect(page.get_by_role("table")).to_be_visible()
    tour.look(both=True)


def read_only(tour: Tour) -> None:
    """The pages that are read only, and the page for what is not there."""
    pages = ("predicates", "cache", "podgroups", "kube-batch", "firmament", "descheduler")
    for path in (*(f"/reference/{page}/" for page in pages), "/greed/", "/api/", "/s/nothing-here/"):
        tour.page.goto(path)
        expect(tour.page.get_by_role("heading", level=1)).to_be_visible()
        tour.look(both=path in ("/reference/predicates/", "/api/"))
    expect(tour.page.get_by_role("heading", name="Page not found")).to_be_visible()


TOURS = (start, draft, workbench, stage, cache, weights, causes, frame, runs, read_only)


@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.__name__)
def test_pages_are_accessible(
    tour: Callable[[Tour], None], page: Page, site: Stack, accessible: Check, watch: Watch
) -> None:
    """Axe finds nothing in any of these states, and none is wider than its window."""
    if tour is read_only:
        watch.allow("404")
    tour(Tour(page, site, accessible))
