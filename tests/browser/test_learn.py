"""Lessons: the gallery, and the player from the first stop to the completion code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Page, WebSocket, expect

from scheduler_core.authoring.lessons import Lesson, Stop, check, lesson, lessons
from tests.browser.conftest import looks
from tests.browser.editing import editor_in
from tests.browser.pages import wide
from tests.core.lessons.data import right_answer

pytestmark = pytest.mark.timeout(240)

FIRST = "first-cycle"
WORD = {True: "Yes", False: "No"}


def found(slug: str) -> Lesson:
    """Return a lesson that is shipped."""
    one = lesson(slug)
    assert one is not None
    return one


def stage(page: Page) -> FrameLocator:
    return page.frame_locator("iframe[data-frame]")


def button(page: Page, label: str) -> Any:
    """Return an answer's button by its words, without the marks of Markdown."""
    return page.locator("[data-task]").get_by_role("button", name=label.replace("`", ""), exact=True)


def fill_in(page: Page, of: Lesson, stop: Stop, answer: Any) -> None:
    """Give an answer by what its form offers, without checking it."""
    task = stop.task
    assert task is not None
    form = page.locator("[data-task]")
    if task.form == "edit":
        form.get_by_label("The cluster as YAML").focus()
        editor_in(form, "The cluster as YAML").fill(answer)
    elif task.form in ("number", "claim"):
        form.get_by_role("textbox").fill(str(answer))
    elif task.form in ("nodes", "pods"):
        for name in answer or ["None of them" if task.form == "nodes" else "No pod"]:
            button(page, name).click()
    elif task.choices:
        place = [choice.key for choice in task.choices].index(answer)
        form.locator(".choice-button").nth(place).click()
    elif task.form == "cell":
        node, _, rule = answer.partition("/")
        form.get_by_label("Node").select_option(node)
        form.get_by_label("Rule").select_option(rule)
    elif task.form == "event" and form.get_by_role("combobox").count():
        form.get_by_role("combobox").select_option(answer)
    elif task.form == "yesno":
        button(page, WORD[answer]).click()
    else:
        button(page, answer or "No node").click()


def submit(page: Page) -> None:
    page.locator("[data-task]").locator("button.primary").click()


def play(page: Page, of: Lesson) -> None:
    """Play a lesson from its first stop to its end by clicks."""
    page.goto(f"/learn/{of.slug}/")
    for place, stop in enumerate(of.stops, 1):
        expect(page.get_by_role("heading", level=1, name=stop.title)).to_be_visible()
        expect(page.get_by_text(f"{place} of {len(of.stops)}", exact=True)).to_be_visible()
        if stop.task is not None and stop.task.form is not None:
            fill_in(page, of, stop, right_answer(of, stop))
            submit(page)
            expect(page.locator(".verdict.right")).to_contain_text("Right", timeout=60_000)
        page.locator("[data-after]").click()
    expect(page.get_by_role("heading", name="Completion code")).to_be_visible()


@pytest.mark.parametrize("slug", [one.slug for one in lessons()])
def test_a_lesson_is_played_to_its_end(page: Page, slug: str) -> None:
    """Every question is answered by clicks, and the code that the end gives verifies."""
    of = found(slug)
    # The stage is looked at in other tests: here it would take most of the time.
    page.route("**/e/**", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    play(page, of)
    page.get_by_label("Name (optional)").fill("Ada <Lovelace>")
    page.get_by_role("button", name="Make the code").click()
    page.goto(page.get_by_label("Link of the code").input_value())
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Ada <Lovelace> completed “{of.title}”")
    page.goto("/learn/")
    row = page.locator(f"[data-lesson='{slug}']").first
    expect(row.locator("[data-progress]")).to_have_text("done")


def test_a_wrong_answer_is_met_with_the_engines_words(page: Page) -> None:
    """It can be answered again, hints come one by one, and the stage moves on with the right answer alone."""
    of = found(FIRST)
    stop = next(one for one in of.stops if one.key == "node")
    page.goto(f"/learn/{FIRST}/node/")
    expect(stage(page).get_by_text("in flight")).to_be_visible()
    expect(page.get_by_role("link", name="Open in the workbench")).to_be_hidden()
    button(page, "n2").click()
    submit(page)
    said = page.locator(".verdict.wrong")
    expect(said).to_contain_text(check(of, stop, "n2").sentence)
    expect(stage(page).get_by_text("in flight")).to_be_visible()
    page.get_by_role("button", name="Hint: where to look").click()
    page.get_by_role("button", name="Another hint: the rule").click()
    expect(page.locator(".hints li")).to_have_count(2)
    button(page, "n3").click()
    expect(said).to_have_count(0)
    page.get_by_label("I guess").check()
    submit(page)
    right = page.locator(".verdict.right")
    expect(right).to_contain_text("Right, and a guess")
    expect(right).to_be_focused()
    expect(stage(page).get_by_text("scheduled", exact=True).first).to_be_visible()
    expect(page.get_by_role("link", name="Open in the workbench")).to_be_visible()
    page.reload()
    expect(stage(page).get_by_text("in flight")).to_be_visible()  # a question that is asked again is open
    page.get_by_role("button", name="You passed this: show it").click()
    expect(stage(page).get_by_text("scheduled", exact=True).first).to_be_visible()


def test_nothing_tells_the_answer_while_it_is_open(page: Page) -> None:
    """Neither the page, nor its stage, nor any frame that either receives."""
    received: list[str] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda payload: received.append(str(payload)))

    page.on("websocket", listen)
    page.goto(f"/learn/{FIRST}/node/")
    stage(page).get_by_text("in flight").wait_for()
    frame = page.frames[1]
    frame.wait_for_function("() => window.podstep?.ready && podstep.playback.parts")
    frame.evaluate("() => podstep.playback.goto(1)")
    for name in ("Step", "Last", "Play"):
        frame.get_by_role("button", name=name).first.click()
    page.wait_for_timeout(500)
    told = re.compile(r'assigned default/web|placed on (<[^>]*>)*n[123]|"result":"scheduled"|is chosen')
    assert received and not [text for text in received if told.search(text)]
    assert not told.search(page.content()) and not told.search(frame.content())
    assert (
        frame.evaluate(
            "() => podstep.playback.cluster.placement[podstep.playback.podIndex.get('default/web')]"
        )
        < 0
    )


def test_a_lesson_by_keyboard_alone(page: Page) -> None:
    """From the gallery to a checked answer and on to the next stop, with the focus where one reads."""
    page.goto("/learn/")
    page.get_by_role("link", name=re.compile("^Start with lesson")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("n")
    page.wait_for_url("**/feasible/")
    button(page, "n2").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    expect(button(page, "n3")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")  # a button of its own: it is taken back
    expect(button(page, "n3")).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Space")
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Check", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".verdict.right")).to_be_focused()
    page.keyboard.press("n")
    page.wait_for_url("**/node/")
    page.keyboard.press("p")
    page.wait_for_url("**/feasible/")


def test_progress_leaves_as_a_file_and_comes_back(
    page: Page, visitor: Callable[..., Page], tmp_path: Path
) -> None:
    """What was passed is there in another browser; a file of another kind is refused in words."""
    of = found(FIRST)
    page.goto(f"/learn/{FIRST}/feasible/")
    fill_in(page, of, of.stops[1], right_answer(of, of.stops[1]))
    submit(page)
    expect(page.locator(".verdict.right")).to_be_visible()
    page.goto("/learn/")
    expect(page.get_by_role("link", name=f"Continue: {of.title}")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    path = tmp_path / "progress.json"
    download.value.save_as(path)
    assert json.loads(path.read_text())["lessons"][FIRST]["stops"]["feasible"]["right"] is True
    other = visitor()
    other.goto("/learn/")
    row = other.locator(f"[data-lesson='{FIRST}'] [data-progress]").first
    expect(row).to_have_text(f"{len(of.stops)} stops")
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"version": 1, "lessons": 7}')
    other.locator("[data-import]").set_input_files(wrong)
    expect(other.get_by_text("This is no file of progress.")).to_be_visible()
    other.locator("[data-import]").set_input_files(path)
    expect(row).to_have_text(f"1 of {len(of.stops)}")
    other.goto(f"/learn/{FIRST}/")
    other.wait_for_url(f"**/learn/{FIRST}/feasible/")


def test_a_prediction_comes_back_with_other_numbers(page: Page) -> None:
    """It waits for its day; then another variant of it is asked, beside a cluster of its own."""
    of = found(FIRST)
    page.goto("/learn/review/")
    expect(page.get_by_text("Nothing is due.")).to_be_visible()
    page.goto(f"/learn/{FIRST}/node/")
    fill_in(page, of, of.stops[2], right_answer(of, of.stops[2]))
    submit(page)
    expect(page.locator(".verdict.right")).to_be_visible()
    page.goto("/learn/review/")
    expect(page.get_by_text(re.compile("comes back in [0-9]+ day"))).to_be_visible()
    page.evaluate("""() => {
        const kept = JSON.parse(localStorage.getItem("podstep.lessons"));
        kept.cards["first-cycle/node"].due = new Date(Date.now() - 1000).toISOString();
        localStorage.setItem("podstep.lessons", JSON.stringify(kept));
    }""")
    page.goto("/learn/")
    page.get_by_role("link", name="Review 1 prediction").click()
    page.get_by_role("link", name=of.stops[2].title).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Once more, with other numbers")
    expect(stage(page).get_by_text("in flight")).to_be_visible()
    seed = int(page.url.rstrip("/").rpartition("/")[2])
    for name in ("n1", "n2", "n3", ""):
        if check(of, of.stops[2], name, seed=seed).right:
            button(page, name or "No node").click()
    submit(page)
    expect(page.locator(".verdict.right")).to_be_visible()
    page.goto("/learn/review/")
    expect(page.get_by_text("Nothing is due.")).to_be_visible()


@looks
def test_the_pages_fit_and_are_accessible(
    visitor: Callable[..., Page], accessible: Callable[[Page], None], size: tuple[int, int], scheme: str
) -> None:
    """Gallery, player, verdict, edit, end, code and reviews: WCAG 2.2 AA, and no scrolling sideways."""
    page = visitor(size=size, color_scheme=scheme)

    def sound() -> None:
        assert wide(page) <= 0, f"{page.url} is {wide(page)} pixels wider than the window"
        accessible(page)

    page.goto("/learn/")
    page.get_by_text("What you learn").first.click()
    sound()
    page.goto(f"/learn/{FIRST}/node/")
    stage(page).locator("[data-stage]").get_by_text("n1").first.wait_for()
    sound()
    button(page, "n2").click()
    submit(page)
    page.get_by_role("button", name="Hint: where to look").click()
    expect(page.locator(".hints li")).to_have_count(1)
    sound()
    for address in ("why/", "other-node/", "done/"):
        page.goto(f"/learn/{FIRST}/{address}")
        page.wait_for_load_state("networkidle")
        sound()
    page.goto("/learn/review/")
    sound()


def test_without_a_script_it_can_be_read(visitor: Callable[..., Page]) -> None:
    """The lessons, and of a stop its text, its question and what can be answered."""
    page = visitor(java_script_enabled=False)
    page.goto("/learn/")
    expect(page.get_by_role("link", name=re.compile("Your first scheduling cycle"))).to_be_visible()
    page.goto(f"/learn/{FIRST}/node/")
    expect(page.get_by_text("The filter is over:")).to_be_visible()
    expect(page.get_by_role("heading", name="Which node gets web?")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="No node")).to_be_visible()
