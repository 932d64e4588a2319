"""The two layers of the controls: the basic ones, and everything behind "More"."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE
from tests.browser.pages import Workbench, tab_name

BASIC = "/examples/first-cycle/?step=1"
BEHIND = (
    ("region", "Build"),
    ("button", "Present"),
    ("button", "Command palette"),
    ("combobox", "Speed"),
    ("button", "Nodes as a table"),
    ("tab", "Cache"),
)


def find(page: Page, role: str, name: str) -> Locator:
    """Return a control by its role and name; Build is an aside."""
    if name == "Build":
        return page.locator("#region-build")
    if role == "tab":
        return page.get_by_role("tab", name=tab_name(name))
    return page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]


def basic(page: Page) -> None:
    """Expect the basic controls alone, and what they are for."""
    for role, name in BEHIND:
        expect(find(page, role, name)).to_be_hidden()
    expect(page.get_by_role("button", name="Step")).to_be_visible()
    expect(page.get_by_role("tab", name="Story")).to_be_visible()
    expect(page.get_by_role("list", name="Phases of this cycle")).to_be_visible()


def complete(page: Page) -> None:
    """Expect all controls."""
    for role, name in BEHIND:
        expect(find(page, role, name)).to_be_visible()


@pytest.fixture
def newcomer(visitor: Callable[..., Page]) -> Page:
    """Return the page of a first visit."""
    return visitor(storage_state=None)


def test_a_first_visit_begins_with_the_basic_controls(
    newcomer: Page, accessible: Callable[[Page], None]
) -> None:
    """One click brings everything, which is remembered; the key m goes back, which is remembered as well."""
    page = newcomer
    page.goto("/")
    page.locator('[data-example="reading-the-message"]').first.click()
    Workbench(page).wait().button("Step").click()
    basic(page)
    note = page.locator(".few-note")
    expect(note).to_contain_text("More has 9 other tabs, the cluster's objects and YAML, breakpoints")
    accessible(page)
    page.reload()
    Workbench(page).wait()
    basic(page)
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="All controls").click()
    complete(page)
    expect(note).to_be_hidden()
    Workbench(page).open(BASIC)
    complete(page)
    page.keyboard.press("m")
    basic(page)
    Workbench(page).open("/examples/shop/?step=1")
    basic(page)
    page.keyboard.press("m")
    complete(page)


def test_each_kind_of_page_has_its_own(newcomer: Page) -> None:
    """What is chosen on a shared scenario is not chosen for drafts; a form that is asked for is there."""
    page = newcomer
    Workbench(page).open(BASIC)
    page.keyboard.press("m")
    complete(page)
    page.get_by_role("button", name="Fork").click()
    page.wait_for_url("**/p/**")
    Workbench(page).wait()
    basic(page)
    Workbench(page).open(f"{page.url.partition('?')[0]}?create=Pod")
    expect(page.locator("#region-build")).to_be_visible()


def test_what_is_asked_for_is_there(newcomer: Page) -> None:
    """A link of the story opens its tab beside the story; the search brings Build, and the digit its tab."""
    page = newcomer
    Workbench(page).open(BASIC)
    page.get_by_role("list", name="Phases of this cycle").get_by_role("button", name="score").click()
    expect(find(page, "tab", "Priorities")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tab", name="Story")).to_be_visible()
    expect(find(page, "tab", "Cache")).to_be_hidden()
    page.keyboard.press("3")
    expect(find(page, "tab", "Cache")).to_be_visible()
    page.keyboard.press("/")
    complete(page)
    expect(page.get_by_placeholder("Find a node or pod")).to_be_focused()
    Workbench(page).open("/examples/shop/?step=1&tab=preemption")
    expect(page.get_by_role("tab", name="Preemption")).to_be_visible()
    expect(find(page, "tab", "Cache")).to_be_hidden()


def test_on_a_phone(visitor: Callable[..., Page], accessible: Callable[[Page], None]) -> None:
    """Stage and Inspect are one tap apart, and More brings Build."""
    page = visitor(size=PHONE, storage_state=None)
    Workbench(page).open(BASIC)
    regions = page.get_by_role("navigation", name="Regions")
    expect(regions.get_by_role("button")).to_have_count(2)
    phases = page.get_by_role("list", name="Phases of this cycle")
    expect(phases.get_by_text("bind")).to_be_in_viewport(ratio=1)
    accessible(page)
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="All controls").click()
    expect(regions.get_by_role("button")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
