"""The Content-Security-Policy of every page: no page violates it, and it refuses inline styles."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.editors import yaml_of
from tests.browser.pages import Workbench, becomes, drafted, example_text, share
from tests.browser.test_runs import charts, ends
from tests.services.stack import Stack

pytestmark = pytest.mark.timeout(240)

#: A violation fails the test: as Chromium's own error in the console, and as this one.
REPORT = """addEventListener("securitypolicyviolation", (event) =>
    console.error(`refused by ${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`));"""
READ = (
    "/",
    "/learn/",
    "/learn/review/",
    "/runs/",
    "/reference/predicates/",
    "/reference/cache/",
    "/reference/podgroups/",
    "/reference/kube-batch/",
    "/greed/",
    "/reference/firmament/",
    "/reference/descheduler/",
    "/api/",
)


@pytest.fixture
def reporting(visitor: Callable[..., Page]) -> Page:
    """A page that reports what its policy refuses."""
    page = visitor(color_scheme="dark")
    page.add_init_script(REPORT)
    return page


def visit(page: Page, address: str) -> None:
    """Open an address whose answer allows no inline style but by its own nonce."""
    answer = page.goto(address)
    assert answer is not None
    (styles,) = re.findall(r"style-src ([^;]*);", answer.headers["content-security-policy"])
    assert re.fullmatch(r"'self' 'nonce-[\w-]{22}'", styles), styles


def style(page: Page, selector: str, name: str) -> str:
    """Return a computed property of the first element that matches."""
    found = page.locator(selector).first
    expect(found).to_be_attached()
    return str(found.evaluate("(element, name) => getComputedStyle(element)[name]", name))


def test_pages_that_are_read(reporting: Page, watch: Watch) -> None:
    """The start page, lists and references, and the page of an address where nothing is."""
    for address in READ:
        visit(reporting, address)
        reporting.wait_for_load_state("networkidle")
    watch.allow("404")
    visit(reporting, "/s/nothing-here/")


def test_player_of_lessons(reporting: Page) -> None:
    """A question beside its stage, and the editor of a repair."""
    stage = reporting.frame_locator("iframe[data-frame]").locator("[data-stage]")
    for stop in ("node", "other-node"):
        visit(reporting, f"/learn/first-cycle/{stop}/")
        expect(stage).to_contain_text("n1")
        expect(reporting.locator("[data-task] button.primary")).to_be_visible()


def test_workbench_and_embed(reporting: Page, site: Stack) -> None:
    """Every tab of Inspect, on the page and in the one for frames; the cache's chart is drawn."""
    address = share(site, example_text("cache-broken-promise"), "The broken promise")
    for path in (address, address.replace("/s/", "/e/", 1)):
        visit(reporting, f"{path}?step=4&tab=cache&view=time")
        bench = Workbench(reporting).wait().at(4)
        assert style(reporting, ".inspect svg.main-svg", "position") == "absolute"
        tabs = bench.inspect.get_by_role("tablist").first.get_by_role("tab")
        assert tabs.count() > 4
        for at in range(tabs.count()):
            tabs.nth(at).click()
            expect(tabs.nth(at)).to_have_attribute("aria-selected", "true")


def test_editor(reporting: Page, site: Stack) -> None:
    """CodeMirror has its own rules and the theme's, with a mistake, a completion and its search on screen."""
    visit(reporting, "/")
    bench = Workbench(reporting).open(drafted(reporting, example_text("making-room")))
    yaml = yaml_of(bench).shows(re.compile("kind"))
    assert style(reporting, ".cm-scroller", "display") == "flex"
    assert style(reporting, ".cm-gutters", "position") == "sticky"
    yaml.field.press("Control+End")
    reporting.keyboard.type("---\nPod")
    expect(reporting.get_by_role("listbox", name="Completions")).to_be_visible()
    reporting.keyboard.press("Escape")
    reporting.keyboard.type(": 'x\n")
    reporting.keyboard.press("Control+f")
    expect(reporting.get_by_role("textbox", name="Find")).to_be_visible()
    reporting.emulate_media(color_scheme="light")
    bench.build.get_by_role("tab", name="Policy").click()
    expect(bench.build.get_by_text("CheckNodeCondition").first).to_be_visible()


def test_run(reporting: Page, site: Stack) -> None:
    """A run's charts are drawn under the policy of the page."""
    shared = site.post("/api/scenarios", {"bundle": example_text("shop")}).json
    run = site.post("/api/runs", {"scenario": shared["id"]}).json
    visit(reporting, f"/runs/{run['id']}/")
    ends(reporting, "done")
    expect(reporting.locator(".charts .trace").first).to_be_visible()
    charts(reporting)


def test_inline_styles_are_refused(reporting: Page, watch: Watch) -> None:
    """An attribute or an element of style that got into a page changes nothing, and is reported."""
    watch.allow("style")
    visit(reporting, "/api/")
    before = style(reporting, "main", "opacity")
    reporting.evaluate("""() => {
        document.querySelector("main").setAttribute("style", "opacity: 0.5");
        const sheet = document.createElement("style");
        sheet.textContent = "main { opacity: 0.5 }";
        document.head.append(sheet);
    }""")
    assert style(reporting, "main", "opacity") == before

    def refused() -> int:
        reporting.wait_for_timeout(20)  # what the page logs arrives meanwhile
        return sum("refused by style-src" in problem for problem in watch.problems)

    becomes(refused, 2)
