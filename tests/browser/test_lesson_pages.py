"""A lesson made by clicks in the workbench, exported, and by others imported, played and taught."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from playground.courseware import Lesson, bundle_of, lesson
from playground.courseware.archives import unpacked
from playground.courseware.catalogue import words
from playground.courseware.reader import read_lesson
from tests.browser.conftest import Watch, turned
from tests.browser.pages import share, wide
from tests.browser.teacher import comes, onward, teach
from tests.browser.test_learn import fill_in, submit
from tests.core.lessons.data import right_answer
from tests.services.stack import Stack

pytestmark = pytest.mark.timeout(600)

TITLES = ["The cluster", "Where web goes", "What refuses n1", "Where api goes"]


def pictured(page: Page, name: str) -> None:
    """Take a picture where somebody wants to look at the page: AUTHORING_PICTURES is a folder."""
    if folder := os.environ.get("AUTHORING_PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def scenario(pod: str = "web") -> str:
    """Return three nodes and a pod that one of them gets."""
    found = lesson("first-cycle")
    assert found is not None
    return bundle_of(found, found.stops[0]).replace("web", pod)


def command(page: Page, typed: str) -> None:
    """Run a command of the palette by a few letters."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Command").fill(typed)
    page.keyboard.press("Enter")


def add(page: Page, title: str = "") -> None:
    """Add what the dialog shows, under another title if one is given."""
    box = page.get_by_role("dialog", name="Add to a lesson")
    if title:
        box.get_by_label("Title of the stop").fill(title)
    box.get_by_role("button", name="Add the stop").click()
    expect(box).to_have_count(0)


def sound(page: Page) -> None:
    expect(page.get_by_text("No problems found")).to_be_visible(timeout=90_000)


def opened(page: Page, site: Stack, pod: str = "web") -> None:
    """Open a scenario before its first cycle."""
    page.goto(share(site, scenario(pod), "Three nodes", as_is=True))
    expect(page.locator("[data-deck]")).to_be_visible()
    page.wait_for_function("() => window.podstep?.ready")
    page.keyboard.press("Home")


def ask_which_node(page: Page) -> None:
    """Go to the first cycle, and add the question which node its pod gets."""
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => podstep.playback.index === 1 && podstep.playback.parts")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("q")
    page.get_by_role("menuitem", name="Which node gets it?").click()
    pictured(page, "dialog")
    add(page)


def authored(page: Page, site: Stack) -> None:
    """Make a lesson of four stops from two scenarios, each by clicks, and open its page."""
    opened(page, site)
    command(page, "Add this view as a stop")
    add(page, "The cluster")
    ask_which_node(page)
    page.get_by_role("tab", name=re.compile("^Filter")).click()
    page.locator("td[data-ask=filter].fail").first.click(button="right")
    pictured(page, "menu")
    page.get_by_role("menuitem", name="Find what refuses n1").click()
    add(page)
    opened(page, site, "api")
    ask_which_node(page)
    page.get_by_role("link", name="Open the lesson").last.click()


def written(page: Page) -> None:
    """Change the lesson on its page: order by keys, a removal undone, a bare numeral found and undone."""
    expect(page.get_by_role("heading", level=1)).to_have_text("Three nodes")
    expect(page.locator(".author-stops ol .author-open-title")).to_have_text(TITLES)
    sound(page)
    page.locator("[data-open-stop=what-refuses-n1]").click()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator(".author-stops ol .author-open-title").nth(1)).to_have_text("What refuses n1")
    page.get_by_role("button", name="Undo").first.click()
    expect(page.locator(".author-stops ol .author-open-title").nth(1)).to_have_text("Where web goes")
    page.locator("[data-open-stop=what-refuses-n1]").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.locator(".author-stops ol li")).to_have_count(len(TITLES) - 1)
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".author-stops ol li")).to_have_count(len(TITLES))
    page.locator("[data-open-stop=the-cluster]").click()
    text = page.get_by_label("Text", exact=True)
    text.fill("There are 3 nodes.")
    text.blur()
    problem = page.locator(".author-problems .problems button")
    expect(problem).to_contain_text("the number 3 is written by hand")
    expect(problem).to_contain_text("Stop 1, “The cluster”: text")
    pictured(page, "problem")
    expect(page.get_by_role("button", name="Publish and get a link")).to_be_disabled()
    text.fill('`n1` has {{ free("n1", "cpu") }} left.')
    text.blur()
    sound(page)


def exported(page: Page, folder: Path) -> tuple[Path, Lesson]:
    """Export the lesson; return the archive, and the lesson as the engine reads it."""
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as .zip").click()
    path = folder / "lesson.zip"
    download.value.save_as(path)
    name, files = unpacked(path.read_bytes())
    return path, read_lesson(name, files, words())


def a_fact_is_picked_from_the_cluster(page: Page) -> None:
    """An empty answer is a problem in words at its field; a click in the cluster offers facts for it."""
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


def played(page: Page, link: str, of: Lesson) -> None:
    """Play a lesson as a learner to its end, by clicks."""
    page.goto(link)
    for place, stop in enumerate(of.stops, 1):
        expect(page.get_by_text(f"{place} of {len(of.stops)}", exact=True)).to_be_visible()
        expect(page.frame_locator("iframe[data-frame]").locator("[data-stage]")).to_be_visible()
        if stop.task is not None and stop.task.form is not None:
            fill_in(page, of, stop, right_answer(of, stop))
            submit(page)
            expect(page.locator(".verdict.right")).to_contain_text("Right")
        pictured(page, f"player-{place}")
        page.locator("[data-after]").click()
    page.get_by_role("button", name="Make the code").click()
    page.goto(page.get_by_label("Link of the code").input_value())
    expect(page.get_by_role("heading", level=1)).to_contain_text("completed")


def taught(teacher: Page, learners: list[Page], address: str, of: Lesson) -> None:
    """Take a lesson in a room at one address through its scenarios; two learners vote at its questions."""
    link, scenarios = teach(teacher, address), set()
    for page in learners:
        page.goto(link)
    for place, stop in enumerate(of.stops):
        if place:
            onward(teacher)
        for page in (teacher, *learners):
            comes(page, stop.title)
            scenarios.add(page.evaluate("podstep.playback.source.scenario"))
        if stop.task is None or stop.task.form != "node":
            continue
        teacher.get_by_role("button", name="Ask the question").click()
        ballots = [page.get_by_role("region", name="Prediction") for page in learners]
        for ballot, answer in zip(ballots, (right_answer(of, stop), "n1"), strict=True):
            ballot.get_by_role("button", name=answer, exact=True).click()
        panel = teacher.get_by_role("region", name="Prediction")
        expect(panel.get_by_text("2 of 2")).to_be_visible()
        panel.get_by_role("button", name="Reveal").click()
        for ballot, verdict in zip(ballots, (". You were right.", "."), strict=True):
            expect(ballot.locator(".question-note").first).to_have_text(
                f"The answer: {right_answer(of, stop)}{verdict}"
            )
    assert len(scenarios) == 2
    assert all(page.url.split("?")[0] == link for page in learners)


def test_a_lesson_travels(
    page: Page, site: Stack, visitor: Callable[..., Page], tmp_path: Path, watch: Watch
) -> None:
    """Made by clicks, exported, imported by somebody else, played to its end, and taken by a class there.

    That the archive has all of it, tests/playground/test_visitor_lessons.py shows with an empty database.
    """
    watch.allow("409")
    authored(page, site)
    written(page)
    path, of = exported(page, tmp_path)
    assert [stop.title for stop in of.stops] == TITLES
    a_fact_is_picked_from_the_cluster(page)
    author, learner, other = (visitor() for _ in range(3))
    author.goto("/learn/author/")
    author.get_by_label("The .zip of a lesson").set_input_files(path)
    author.get_by_role("button", name="Import").click()
    sound(author)
    author.get_by_role("button", name="Publish and get a link").click()
    expect(author.locator(".author-link a")).to_be_visible()
    pictured(author, "published")
    address = str(author.locator(".author-link a").get_attribute("href"))
    played(learner, address, of)
    taught(author, [learner, other], address, of)


def test_two_tabs_lose_nothing(
    page: Page, visitor: Callable[..., Page], accessible: Callable[[Page], None], watch: Watch
) -> None:
    """What both change is asked about, what either alone changes is kept, and their pages are accessible."""
    watch.allow("409")
    page.goto("/learn/author/")
    accessible(page)
    page.get_by_role("button", name="New lesson").click()
    expect(page.get_by_label("Title", exact=True)).to_be_visible()
    for size in turned(page):
        accessible(page)
        assert wide(page) <= 0, size
    other = page.context.new_page()
    other.goto(page.url)
    theirs, mine = other.get_by_label("Title", exact=True), page.get_by_label("Title", exact=True)
    mine.fill("Mine")  # and not left yet
    theirs.fill("Theirs")
    with other.expect_response(lambda answer: answer.request.method != "GET"):
        theirs.blur()
    expect(other.locator(".author-saved")).to_contain_text("Saved")
    page.get_by_label("Minutes").focus()
    conflict = page.get_by_role("alert").filter(has_text="changed elsewhere")
    expect(conflict).to_contain_text("Theirs")
    pictured(page, "conflict")
    expect(mine).to_have_value("Mine")
    conflict.get_by_role("button", name="Keep mine").click()
    expect(conflict).to_have_count(0)
    expect(page.locator(".author-saved")).to_contain_text("Saved")  # a reload does not wait for what is sent
    page.reload()
    expect(page.get_by_label("Title", exact=True)).to_have_value("Mine")
    stranger = visitor()
    watch.allow("404")
    stranger.goto(page.url)
    expect(stranger.get_by_text("Mine")).to_have_count(0)
