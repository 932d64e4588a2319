"""A lesson in German: played to its end, read out in the right language, and by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from playground.courseware import check, in_language
from tests.browser.conftest import turned
from tests.browser.editors import editor_in
from tests.browser.pages import wide
from tests.browser.test_learn import FIRST, button, fill_in, found, noticed, submit
from tests.core.lessons.data import right_answer

pytestmark = pytest.mark.timeout(240)


def test_a_lesson_is_played_in_german(page: Page) -> None:
    """From the switch to the code: the page's words are German, the engine's are marked as English."""
    english = found(FIRST)
    of = in_language(english, "de")
    page.route("**/e/**", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto("/learn/")
    page.get_by_role("navigation", name="Language").get_by_role("link", name="Deutsch").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.get_by_role("link", name="Mit Lektion 1 anfangen").click()
    for place, (stop, same) in enumerate(zip(of.stops, english.stops, strict=True), 1):
        expect(page.get_by_role("heading", level=1, name=stop.title)).to_be_visible()
        expect(page.get_by_text(f"{place} von {len(of.stops)}", exact=True)).to_be_visible()
        if stop.key == "node":
            button(page, "n2").click()
            submit(page)
            said = page.locator(".verdict.wrong")
            expect(said).to_contain_text("Der Scheduler sagt etwas anderes")
            expect(said.locator("[lang=en]")).to_have_text(check(english, same, "n2").sentence)
            page.get_by_role("button", name="Tipp: wo man hinsieht").click()
            expect(page.locator(".hints li")).to_have_text(stop.marking.hints[0])
        if stop.task is not None and stop.task.form == "edit":
            form = page.locator("[data-task]")
            form.get_by_label("Der Cluster als YAML").focus()
            editor_in(form, "Der Cluster als YAML").fill(right_answer(english, same))
            submit(page)
        elif stop.task is not None and stop.task.form == "nodes":
            for name in right_answer(english, same):
                button(page, name).click()
            submit(page)
        elif stop.task is not None and stop.task.form is not None:
            fill_in(page, of, stop, right_answer(english, same))
            submit(page)
        if stop.task is not None and stop.task.form is not None:
            expect(page.locator(".verdict.right")).to_contain_text("Richtig")
        noticed(page, stop)
        page.locator("[data-after]").click()
    expect(page.get_by_text("Du hast jede Frage richtig beantwortet.")).to_be_visible()
    page.get_by_role("button", name="Code erstellen").click()
    page.goto(page.get_by_label("Link des Codes").input_value())
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Jemand hat „{of.title}“ abgeschlossen")
    page.goto("/learn/")
    expect(page.locator(f"[data-lesson='{FIRST}'] [data-progress]").first).to_have_text("fertig")
    page.get_by_role("navigation", name="Sprache").get_by_role("link", name="English").click()
    expect(page.locator(f"[data-lesson='{FIRST}'] [data-progress]").first).to_have_text("done")


def test_what_happens_is_read_out(page: Page) -> None:
    """A wrong answer and a hint are in a live region, the right one has the focus; none is read twice."""
    page.goto(f"/learn/{FIRST}/node/?lang=de")
    live = page.locator(".said")
    expect(live).to_have_attribute("aria-live", "polite")
    button(page, "n2").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Prüfen", exact=True).focus()
    page.keyboard.press("Enter")
    expect(live).to_contain_text("n2 is feasible")
    checks = page.get_by_role("button", name="Prüfen", exact=True)
    expect(checks).to_be_focused()
    expect(checks).to_be_disabled()
    hint = page.get_by_role("button", name="Tipp: wo man hinsieht")
    hint.focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-announce]")).to_contain_text("Zwei Nodes kommen infrage")
    expect(page.get_by_role("button", name="Noch ein Tipp: die Regel")).to_be_focused()
    button(page, "n3").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Prüfen", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".verdict.right")).to_be_focused()


def test_the_german_pages_fit_and_are_accessible(page: Page, accessible: Callable[[Page], None]) -> None:
    """Gallery, each form of lessons 1 to 3, the end, the handout: WCAG 2.2 AA, and no scrolling sideways."""
    page.route("**/e/**", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto("/learn/?lang=de")
    for address in (
        "", f"{FIRST}/feasible/", f"{FIRST}/why/", f"{FIRST}/other-node/", "reading-the-message/taint/",
        "idle-or-full/left/", "idle-or-full/three/", f"{FIRST}/done/", f"{FIRST}/handout/",
    ):  # fmt: skip
        page.goto(f"/learn/{address}")
        expect(page.locator("html")).to_have_attribute("lang", "de")
        page.wait_for_load_state("networkidle")
        for _ in turned(page):
            assert wide(page) <= 0, f"{page.url} is {wide(page)} pixels wider than the window"
        if address in ("", f"{FIRST}/handout/"):  # what the others have of their own are words
            accessible(page)
