"""A link shows others the same; forks, reloads and lost connections lose nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.editors import yaml_of
from tests.browser.pages import Workbench, cycles_of, drafted, example_text, share
from tests.services.stack import Stack

STEP = 17


def draft(page: Page) -> Workbench:
    """Open the shop as a draft."""
    return Workbench(page).open(drafted(page, example_text("shop"), "A shop on twelve nodes"))


def link(page: Page) -> str:
    """Press Share and return the link that the dialog shows."""
    page.get_by_role("button", name="Share", exact=True).click()
    make = page.get_by_role("dialog").get_by_role("button", name="Create the link")
    found = page.get_by_role("dialog").get_by_label("Link to this view")
    expect(make.or_(found)).to_be_visible()
    if make.is_visible():
        make.click()
    expect(found).to_have_value(re.compile("^http"))
    return found.input_value()


def test_a_link_shows_another_visitor_the_same(visitor: Callable[..., Page], watch: Watch) -> None:
    """Sharing at a step, tab and node opens there for a stranger, who cannot open the draft itself.

    Who shares the same cluster gets the same scenario, whatever step they are at.
    """
    bench = draft(visitor())
    bench.goto(STEP)
    bench.tab("Predicates")
    bench.node("general-4").click()
    address = link(bench.page)
    assert urlsplit(address).path.startswith("/s/")
    dialog = bench.page.get_by_role("dialog")
    expect(dialog.get_by_label("Delete token")).to_be_hidden()
    dialog.get_by_text("Take this link down later").click()
    expect(dialog.get_by_label("Delete token")).to_have_value(re.compile(r".{16}"))

    stranger = visitor()
    other = Workbench(stranger).open(address)
    other.at(STEP).shows(cycles_of(example_text("shop"))[STEP - 1])
    other.is_on("Predicates")
    expect(stranger.get_by_role("region", name="Selected").get_by_role("heading")).to_have_text("general-4")
    expect(stranger.get_by_text("shared, read-only")).to_be_visible()

    watch.allow("404")
    answer = stranger.goto(bench.page.url)
    assert answer
    assert answer.status == 404
    expect(stranger.get_by_role("heading", name="Page not found")).to_be_visible()
    own = urlsplit(link(draft(stranger).page))
    assert own.path == urlsplit(address).path
    assert own.query != urlsplit(address).query


def test_a_fork_is_ones_own(visitor: Callable[..., Page], site: Stack) -> None:
    """Fork opens a draft at the same step and tab; changing it leaves the shared scenario as it was."""
    address = share(site, example_text("shop"), "A shop on twelve nodes")
    page = visitor()
    bench = Workbench(page).open(f"{address}?step={STEP}&tab=queue")
    bench.at(STEP)
    page.get_by_role("button", name="Fork").first.click()
    page.wait_for_url("**/p/**")
    bench.wait().at(STEP)
    bench.is_on("Queue")
    expect(page.get_by_role("link", name=address.split("/")[2])).to_be_visible()
    editor = yaml_of(bench).shows(re.compile("replicas: 7"))
    editor.fill(editor.text.replace("replicas: 7", "replicas: 5"))
    bench.build.get_by_role("button", name="Apply").click()
    expect(bench.timeline).to_have_attribute("aria-valuemax", "24")
    bench.at(STEP)
    shared = Workbench(visitor()).open(address)
    expect(shared.timeline).to_have_attribute("aria-valuemax", "26")
    expect(yaml_of(shared).shows(re.compile("replicas: 7")).field).not_to_be_editable()


@pytest.mark.timeout(180)
def test_a_restarted_server_loses_nothing(page: Page, site: Stack, watch: Watch) -> None:
    """A reload shows the same, and so does the page that comes back by itself and steps on.

    A title was saved as it was typed, and a text that is not yet applied is kept.
    """
    watch.allow("WebSocket connection to", "ERR_CONNECTION_REFUSED")
    bench = draft(page)
    bench.goto(STEP)
    bench.tab("Priorities")
    page.get_by_label("Title of this draft").fill("Why is search-6 pending?")
    expect(page.get_by_text("saved", exact=True)).to_be_visible()
    page.reload()
    bench.wait().at(STEP)
    bench.is_on("Priorities")
    expect(page.get_by_label("Title of this draft")).to_have_value("Why is search-6 pending?")
    expect(page).to_have_title(re.compile("Why is search-6 pending"))
    editor = yaml_of(bench).shows(re.compile("replicas: 7"))
    edited = editor.text.replace("replicas: 7", "replicas: 9")
    editor.fill(edited)
    site.stop("web")
    expect(page.get_by_text("Connection lost")).to_be_visible()
    # What is loaded can still be stepped through.
    bench.button("Back (←)").click()
    expect(bench.timeline).to_have_attribute("aria-valuenow", str(STEP - 1))
    site.start("web")
    expect(page.get_by_text("Connected again.")).to_be_visible()
    bench.at(STEP - 1)
    bench.step(2)
    expect(page).to_have_url(re.compile(rf"step={STEP + 1}&tab=priorities$"))
    editor.shows(edited)
    page.reload()
    bench.wait().at(STEP + 1)
    yaml_of(bench).shows(edited)
    site.wait_until_ready()
