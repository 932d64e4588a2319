"""A session of kube-batch, from its card on the start page: its steps, who has what after each, its end."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import turned
from tests.browser.pages import Workbench, example_text, share, show, wide
from tests.services.stack import Stack


@pytest.fixture(scope="module")
def shares(site: Stack) -> str:
    """The address of two queues that share the cluster."""
    return share(site, example_text("fair-shares"), "Fair shares")


@pytest.fixture(scope="module")
def gangs(site: Stack) -> str:
    """The address of two gangs with room for one."""
    return share(site, example_text("kube-batch-gangs"), "Two gangs")


def test_a_card_leads_to_a_session_that_is_stepped_through(page: Page) -> None:
    """The tab is open; a step shows its detail and the shares after it, and the address keeps it."""
    page.goto("/?topic=schedulers")
    page.get_by_role("link", name="Fair shares").click()
    bench = Workbench(page).wait().at(2)
    bench.is_on("Session")
    panel = bench.panel("Session")
    expect(panel.get_by_role("heading", name="Session 2")).to_be_visible()
    queues = panel.get_by_role("table", name="Queues: allocated, deserved and requested")
    research = queues.locator("tbody[data-queue=research] tr[data-resource=cpu]")
    expect(queues).to_have_accessible_name(re.compile("at the end of the session$"))
    expect(research).to_contain_text("7 / 2 / 8")
    expect(panel.locator(".session-rounds li")).to_have_count(1)
    steps = panel.get_by_role("region", name="Steps of the session")
    answer = steps.locator("li", has_text="tier 1 decides")
    answer.first.get_by_role("button", name=re.compile("^Step")).click()
    victims = answer.first.get_by_role("table", name="Victims by tier and plugin")
    expect(victims.get_by_role("row", name=re.compile("proportion"))).to_be_visible()
    expect(queues).to_have_accessible_name(re.compile("after step"))
    expect(research).to_contain_text("8 / 2 / 8")
    expect(page).to_have_url(re.compile(r"tab=session&view=\d+"))
    steps.get_by_role("button", name="Next step").click()
    expect(steps.locator("li.now")).to_contain_text("releases its resources on")
    expect(research).to_contain_text("7 / 2 / 8")
    page.reload()
    expect(steps.locator("li.now")).to_contain_text("releases its resources on")


def test_steps_are_narrowed_to_a_job_and_an_action(visitor: Callable[..., Page], gangs: str) -> None:
    """From the table of jobs, which tells why one was dropped; the story's noun leads there too."""
    page = visitor()
    bench = Workbench(page).open(f"{gangs}?step=2&tab=story").at(2)
    story = bench.panel("Story")
    expect(story).to_contain_text("train-b is dropped by allocate at")
    story.get_by_role("button", name="train-b", exact=True).first.click()
    panel = bench.panel("Session")
    steps = panel.get_by_role("region", name="Steps of the session")
    expect(steps.get_by_role("button", name="job train-b ×")).to_be_visible()
    expect(steps.locator("li.session-step", has_text="is dropped at")).to_have_count(1)
    jobs = panel.get_by_role("table", name="Jobs of the session")
    expect(jobs.get_by_role("row", name=re.compile("^train-b"))).to_contain_text("3 forgotten")
    steps.get_by_role("button", name="close", exact=True).click()
    expect(steps.locator("li.session-action")).to_have_text(["close"])
    steps.get_by_role("button", name="job train-b ×").click()
    expect(steps.locator("li.session-step", has_text="train-a")).to_have_count(1)


def test_the_default_scheduler_s_steps_have_no_session(visitor: Callable[..., Page], site: Stack) -> None:
    """The tab appears with the first session, and says so elsewhere."""
    page = visitor()
    address = share(site, example_text("two-schedulers"), "Two schedulers")
    bench = Workbench(page).open(f"{address}?step=1").at(1)
    expect(bench.inspect.get_by_role("tab", name="Session")).to_be_hidden()
    bench.step(4).at(5)
    expect(bench.tab("Session")).to_contain_text("5 bound")
    bench.goto(4)
    expect(bench.panel("Session")).to_contain_text("No session of kube-batch is shown.")


def test_it_fits_and_is_accessible(page: Page, accessible: Callable[[Page], None], shares: str) -> None:
    """Nothing is wider than the page, and axe finds nothing, with a step open."""
    Workbench(page).open(f"{shares}?step=2&tab=session&view=8").at(2)
    expect(page.locator(".session-step.now")).to_have_count(1)
    for size in turned(page):
        show(page, "Inspect")
        assert wide(page) <= 0, size
    accessible(page)
