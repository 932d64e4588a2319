"""The tab Kueue is asked."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench


def test_kueue_is_asked_why_and_whom_a_submission_preempts(page: Page) -> None:
    """The answer is below what was asked about, and a form submits to a copy."""
    Workbench(page).open("/examples/kueue-reclaim/?step=2.3&tab=kueue")
    form = page.locator(".kueue-questions")
    form.get_by_label("Why is it not admitted?").fill("Job default/b-borrows")
    form.get_by_role("button", name="Ask").click()
    expect(form.locator(".kueue-answer")).to_contain_text("is admitted in ClusterQueue team-b")
    form.get_by_label("LocalQueue").fill("default/a")
    form.get_by_label("cpu of each").fill("4")
    form.get_by_role("button", name="Submit to a copy").click()
    expect(form.locator(".kueue-answer")).to_contain_text("Preempted in this order: default/job-b")
