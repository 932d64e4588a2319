"""The stage of a lesson: it plays a learner's edit, and an author picks facts from it."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from playground.courseware import lesson
from playground.courseware.edits import merged
from tests.browser.editors import editor_in
from tests.browser.pages import becomes
from tests.browser.test_lesson_pages import add, command, opened
from tests.services.stack import Stack

LESSON = "first-cycle"


def test_the_stage_plays_a_right_edit(visitor: Callable[..., Page]) -> None:
    """After the verdict: the edited cluster, and the one before by a switch."""
    of, page = lesson(LESSON), visitor()
    assert of is not None
    page.goto(f"/learn/{LESSON}/other-node/")
    form = page.locator("[data-task]")
    form.get_by_label("The cluster as YAML").focus()
    edited = merged(of.file("scenario.yaml"), of.file("solution.yaml"))
    editor_in(form, "The cluster as YAML").shows(re.compile("kind")).fill(edited)
    page.keyboard.press("Escape")
    form.get_by_role("button", name="Check my cluster").click()
    after = page.get_by_role("button", name="After your edit")
    expect(after).to_have_attribute("aria-pressed", "true")
    placed = """() => {
        const { playback } = document.querySelector("iframe[data-frame]").contentWindow.podstep ?? {};
        return playback?.index === 1 ? playback.nodes.names[playback.current.node] : "";
    }"""
    becomes(lambda: page.evaluate(placed), "n2")
    page.get_by_role("button", name="Before", exact=True).click()
    becomes(lambda: page.evaluate(placed), "n3")


def test_a_fact_is_picked_from_the_cluster(page: Page, site: Stack) -> None:
    """An empty answer is a problem in words at its field; a click in the cluster offers facts for it."""
    opened(page, site)
    command(page, "Add this view as a stop")
    add(page, "The cluster")
    page.get_by_role("link", name="Open the lesson").last.click()
    page.get_by_role("button", name="Ask a question here").click()
    answer = page.get_by_label("The fact that answers it")
    expect(answer).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".author-problems")).to_contain_text(
        "Stop 1, “The cluster”: the fact that answers it"
    )
    answer.press_sequentially("cyc")
    expect(page.get_by_role("option", name="cycle(")).to_have_count(1)
    page.keyboard.press("Escape")
    answer.fill("")
    stage = page.frame_locator("iframe[title='The cluster to pick from']")
    stage.locator("[data-node]").first.click()
    page.locator(".author-proposals button").first.click()
    expect(answer).to_have_value(re.compile(r"\w\("))
    expect(page.get_by_text("No problems found")).to_be_visible(timeout=90_000)
    expect(
        page.frame_locator("iframe[title='Preview of the stop']").get_by_role("heading", level=1)
    ).to_have_text("The cluster")
