"""The tab Kueue: cycles with candidates, the quota tree, queues in order, topologies."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench


def test_who_borrows_and_who_is_preempted_is_shown(page: Page) -> None:
    """The newest cycle is open; a bar has what is borrowed, and candidates have their verdicts."""
    Workbench(page).open("/examples/kueue-reclaim/?step=3.3&tab=kueue")
    tab = page.locator(".kueue-tab")
    preempts = tab.locator(".kueue-cycle").filter(has_text="preempts")
    preempts.locator("summary").first.click()
    expect(preempts).to_contain_text("InCohortReclamation")
    preempts.get_by_text("for preemption, in order").click()
    expect(preempts.locator("ol li").first).to_contain_text("preempted: InCohortReclamation")
    expect(tab.locator(".kueue-tree")).to_contain_text("team-b")
    expect(page.get_by_role("list", name="Marks of the timeline")).to_contain_text("Kueue admitted")


def test_fragmented_racks_are_seen(phone: Page) -> None:
    """The queue says what Kueue says, and the topology has the pods of each rack, on a phone too."""
    Workbench(phone).open("/examples/kueue-fragments/?step=end&tab=kueue")
    tab = phone.locator(".kueue-tab")
    expect(tab.locator(".kueue-queue")).to_contain_text("allows to fit only 5 out of 6 pod(s)")
    expect(tab.get_by_role("row").filter(has_text="r1-a")).to_contain_text("3")


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
