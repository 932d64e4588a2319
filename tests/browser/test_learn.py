"""Lessons: the gallery, and the player from the first stop to the completion code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, WebSocket, expect

from playground.courseware import Lesson, Stop, check, lesson, lessons
from playground.courseware.checks import StopQuestion
from playground.courseware.edits import merged
from tests.browser.conftest import DESKTOP, turned
from tests.browser.editors import editor_in
from tests.browser.pages import wide
from tests.core.lessons.data import right_answer, wrong_answers

pytestmark = pytest.mark.timeout(240)

FIRST = "first-cycle"
#: Lessons that ask in every form, and how many of their questions are answered wrongly at first.
WRONG_FIRST = {
    FIRST: 3,
    "who-answers-first": 2,
    "preemption-101": 3,
    "evicted-yet-pending": 4,
    "the-starving-gang": 3,
}
#: Forms whose wrong answer is audited where it is met: the pages of the first lesson are audited as they are.
AUDITED = ("order", "event", "yesno", "claim")
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
        editor_in(form, "The cluster as YAML").shows(re.compile("kind")).fill(answer)
    elif task.form in ("number", "claim"):
        form.get_by_role("textbox").fill(str(answer))
    elif task.form in ("nodes", "pods"):
        button(page, "None of them" if task.form == "nodes" else "No pod").click()
        for name in answer:
            button(page, name).click()
    elif task.form == "order":
        for place, name in enumerate(answer):
            row = form.locator(f".order-list li[data-key='{name}']")
            for _ in range(len(answer)):
                if form.locator(".order-list li").nth(place).get_attribute("data-key") == name:
                    break
                row.get_by_role("button", name=f"{name} earlier").click()
    elif task.choices:
        place = [choice.key for choice in task.choices].index(answer)
        form.locator(".choice-button").nth(place).click()
    elif task.form == "cell":
        node, _, rule = answer.partition("/")
        form.locator(".cell-pick select").first.select_option(node)
        form.locator(".cell-pick select").last.select_option(rule)
    elif task.form == "event" and form.get_by_role("combobox").count():
        form.get_by_role("combobox").select_option(answer)
    elif task.form == "yesno":
        button(page, WORD[answer]).click()
    else:
        button(page, answer or "No node").click()


def submit(page: Page) -> None:
    page.locator("[data-task]").locator("button.primary").click()


def wrongly(of: Lesson, stop: Stop) -> Any:
    """Return an answer that is not right, None where the lesson has no such edit."""
    assert stop.task is not None
    if stop.task.form == "edit":
        names = stop.marking.wrong
        return merged(of.file(stop.scenario), of.file(names[0])) if names else None
    if stop.task.form == "claim":
        return "1 > 2"
    asked = StopQuestion(of, stop)
    return next(iter(wrong_answers(asked, asked.truth())), None)


def fail(page: Page, of: Lesson, stop: Stop) -> bool:
    """Answer wrongly, and read what the engine says of that; return whether there is a wrong answer."""
    answer = wrongly(of, stop)
    if answer is None:
        return False
    fill_in(page, of, stop, answer)
    submit(page)
    said = check(of, stop, answer).sentence
    expect(page.locator(".verdict.wrong")).to_contain_text(re.sub("[`*]", "", said))
    expect(page.locator(".verdict.right")).to_have_count(0)
    return True


def noticed(page: Page, stop: Stop) -> None:
    """Wait until the page's script has noted that the stop was seen."""
    expect(page.locator(f"a[data-stop='{stop.key}']")).to_have_class(re.compile(r"\bseen\b"))


def play(page: Page, of: Lesson, accessible: Callable[[Page], None]) -> None:
    """Play a lesson from its first stop to its end by clicks; some of them with a wrong answer first."""
    failed = 0
    page.goto(f"/learn/{of.slug}/")
    for place, stop in enumerate(of.stops, 1):
        expect(page.get_by_role("heading", level=1, name=stop.title)).to_be_visible()
        expect(page.get_by_text(f"{place} of {len(of.stops)}", exact=True)).to_be_visible()
        if stop.task is not None and stop.task.form is not None:
            if of.slug in WRONG_FIRST and stop.task.kind in ("predict", "find", "repair", "contract"):
                failed += fail(page, of, stop)
                if stop.task.form in AUDITED:
                    accessible(page)
                    assert wide(page) <= 0, f"{page.url} is {wide(page)} pixels wider than the window"
            fill_in(page, of, stop, right_answer(of, stop))
            submit(page)
            expect(page.locator(".verdict.right")).to_contain_text("Right")
        noticed(page, stop)
        page.locator("[data-after]").click()
    assert failed == WRONG_FIRST.get(of.slug, 0)
    expect(page.get_by_role("heading", name="Completion code")).to_be_visible()


def test_every_form_of_an_answer_is_played() -> None:
    """What is right and wrong in the lessons that are not played, tests/core shows."""
    asked = {
        one.slug: {
            stop.task.form for stop in one.stops if stop.task is not None and stop.task.form is not None
        }
        for one in lessons()
    }
    assert set().union(*asked.values()) == set().union(*(asked[slug] for slug in WRONG_FIRST))


@pytest.mark.parametrize("slug", WRONG_FIRST)
def test_a_lesson_is_played_to_its_end(page: Page, slug: str, accessible: Callable[[Page], None]) -> None:
    """Every question is answered by clicks, some wrongly at first, and the first code verifies."""
    of = found(slug)
    # The stage is looked at in other tests: here it would take most of the time.
    page.route("**/e/**", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    play(page, of, accessible)
    if slug != FIRST:
        return
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
    nothing_tells_the_answer_while_it_is_open(page)
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
    expect(right).to_contain_text("Right, but you were not sure")
    expect(right).to_be_focused()
    expect(stage(page).get_by_text("scheduled", exact=True).first).to_be_visible()
    expect(page.get_by_role("link", name="Open in the workbench")).to_be_visible()
    page.reload()
    expect(stage(page).get_by_text("in flight")).to_be_visible()  # a question that is asked again is open
    page.get_by_role("button", name="You passed this: show it").click()
    expect(stage(page).get_by_text("scheduled", exact=True).first).to_be_visible()


def nothing_tells_the_answer_while_it_is_open(page: Page) -> None:
    """Neither the page, nor its stage, nor any frame that either receives, from its first on."""
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
    reported = re.compile(r'assigned default/web|placed on (<[^>]*>)*n[123]|"result":"scheduled"|is chosen')
    assert received and not [text for text in received if reported.search(text)]
    assert not reported.search(page.content()) and not reported.search(frame.content())
    assert (
        frame.evaluate(
            "() => podstep.playback.cluster.placement[podstep.playback.podIndex.get('default/web')]"
        )
        < 0
    )


def reach(page: Page, wanted: Locator) -> None:
    """Press Tab until something has the focus, as who has no mouse."""
    wanted.wait_for()
    for _ in range(30):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"Tab does not lead to {wanted}")


def test_a_lesson_by_keyboard_alone(page: Page) -> None:
    """From the gallery to the code, answered by Tab, Space and Enter; the focus is where one reads."""
    of = found(FIRST)
    page.route("**/e/**", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto("/learn/")
    reach(page, page.get_by_role("link", name=re.compile("^Start with lesson")))
    page.keyboard.press("Enter")
    form = page.locator("[data-task]")
    check = page.get_by_role("button", name=re.compile("^Check"))
    for place, stop in enumerate(of.stops):
        expect(page.locator(f"a[data-stop='{stop.key}'].seen[aria-current]")).to_be_attached()  # scripts ran
        if stop.task is not None and stop.task.form is not None:
            answer = right_answer(of, stop)
            if stop.task.form == "edit":
                form.get_by_label("The cluster as YAML").focus()
                editor = editor_in(form, "The cluster as YAML").shows(re.compile("kind"))
                page.keyboard.press("Control+a")
                editor.paste(answer)
                page.keyboard.press("Escape")  # and Tab leaves the editor
            elif stop.task.choices:
                reach(
                    page,
                    form.locator(".choice-button").nth([one.key for one in stop.task.choices].index(answer)),
                )
                page.keyboard.press("Space")
            for name in answer if stop.task.form == "nodes" else [answer] if stop.task.form == "node" else []:
                reach(page, button(page, name))
                page.keyboard.press("Space")
                expect(button(page, name)).to_have_attribute("aria-pressed", "true")
            reach(page, check)
            page.keyboard.press("Enter")
            expect(page.locator(".verdict.right")).to_be_focused()
        if place == 1:
            page.keyboard.press("p")
            page.wait_for_url(f"**/{of.stops[0].key}/")
            expect(page.locator("a[data-stop].seen[aria-current]")).to_be_attached()
            page.keyboard.press("n")
            page.wait_for_url(f"**/{stop.key}/")
            expect(page.locator("a[data-stop].seen[aria-current]")).to_be_attached()
        page.keyboard.press("n")
        page.wait_for_url(f"**/{of.stops[place + 1].key}/" if place + 1 < len(of.stops) else "**/done/")
    reach(page, page.get_by_role("button", name="Make the code"))
    page.keyboard.press("Enter")
    expect(page.get_by_label("Link of the code")).to_be_visible()


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
    expect(other.get_by_text("This is not a progress file.")).to_be_visible()
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


def test_the_pages_fit_and_are_accessible(page: Page, accessible: Callable[[Page], None]) -> None:
    """Gallery, player, verdict, edit, end, code and reviews: WCAG 2.2 AA, and no scrolling sideways."""

    def sound(*, both: bool = False) -> None:
        for size in turned(page):
            assert wide(page) <= 0, f"{page.url} is {wide(page)} pixels wider than the window"
            if both or size == DESKTOP:
                accessible(page)

    page.goto("/learn/")
    page.get_by_text("What you learn").first.click()
    sound(both=True)
    page.goto(f"/learn/{FIRST}/node/")
    stage(page).locator("[data-stage]").get_by_text("n1").first.wait_for()
    button(page, "n2").click()
    submit(page)
    page.get_by_role("button", name="Hint: where to look").click()
    expect(page.locator(".hints li")).to_have_count(1)
    sound(both=True)
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


def test_the_stage_plays_a_right_edit(page: Page) -> None:
    """After the verdict: the edited cluster, and the one before by a switch."""
    of = found(FIRST)
    page.goto(f"/learn/{FIRST}/other-node/")
    stop = next(one for one in of.stops if one.key == "other-node")
    fill_in(page, of, stop, right_answer(of, stop))
    submit(page)
    after = page.get_by_role("button", name="After your edit")
    expect(after).to_have_attribute("aria-pressed", "true")
    expect(stage(page).get_by_role("button", name=re.compile("^n2,.* chosen"))).to_be_visible()
    page.get_by_role("button", name="Before", exact=True).click()
    expect(stage(page).get_by_role("button", name=re.compile("^n3,.* chosen"))).to_be_visible()


def test_names_are_put_in_order(page: Page) -> None:
    """By the buttons of a row or by the arrow keys on it; the focus stays on what is moved."""
    of = found("evicted-yet-pending")
    page.route("**/e/**", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto(f"/learn/{of.slug}/order/")
    rows = page.locator(".order-list li")

    def stand(*names: str) -> None:
        expect(rows).to_have_text([re.compile(name) for name in names])

    stand("checkout", "search", "thumbnail")
    submit(page)
    expect(page.locator(".verdict.wrong")).to_contain_text("1 of 3 is in place.")
    search = rows.filter(has_text="search")
    expect(page.get_by_role("button", name="checkout earlier")).to_be_disabled()
    page.get_by_role("button", name="search earlier").click()
    stand("search", "checkout", "thumbnail")
    search.focus()
    page.keyboard.press("ArrowDown")
    stand("checkout", "search", "thumbnail")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")  # it is the first already
    expect(search).to_be_focused()
    stand("search", "checkout", "thumbnail")
    expect(page.locator(".verdict")).to_have_count(0)
    submit(page)
    expect(page.locator(".verdict.right")).to_contain_text("search")


def picked(page: Page, of: str, key: str) -> FrameLocator:
    """Open a find task, and return its stage once answers can be picked there."""
    page.goto(f"/learn/{of}/{key}/")
    page.frame_locator("iframe[data-frame]").locator(".picking .pickable").first.wait_for()
    return stage(page)


def test_a_cell_of_the_matrix_is_the_answer(page: Page) -> None:
    """By pointer or by Enter; the lists beside the stage follow, and it is framed in the matrix."""
    frame = picked(page, "the-selectors-typo", "cell")
    grid = frame.locator("table.grid").first
    column = grid.locator("thead [data-column]").filter(has_text="NodeAffinity")
    number = column.get_attribute("data-column")
    cell = grid.locator("tbody tr").filter(has_text="fast-2").locator(f'[data-column="{number}"]')
    other = grid.locator("tbody tr").filter(has_text="fast-1").locator(f'[data-column="{number}"]')
    other.click()
    nodes, rules = page.locator(".cell-pick select").first, page.locator(".cell-pick select").last
    expect(nodes).to_have_value("fast-1")
    expect(rules).to_have_value("fast-1/NodeAffinity")
    expect(other).to_have_class(re.compile("picked"))
    cell.focus()
    page.keyboard.press("Enter")
    expect(nodes).to_have_value("fast-2")
    expect(cell).to_have_class(re.compile("picked"))
    expect(other).not_to_have_class(re.compile("picked"))
    submit(page)
    expect(page.locator(".verdict.right")).to_be_visible()
    expect(frame.locator(".pickable")).to_have_count(0)  # the question is closed


def test_a_node_of_the_stage_is_the_answer(page: Page) -> None:
    """By pointer or by Enter on its card."""
    of = found("reading-the-message")
    right = right_answer(of, next(stop for stop in of.stops if stop.key == "twice"))
    frame = picked(page, of.slug, "twice")
    card = frame.locator("button.node").filter(has_text=right)
    other = frame.locator("button.node").filter(has_not_text=right).first
    other.click()
    expect(page.locator("[data-task] [aria-pressed='true']")).to_have_count(1)
    expect(button(page, right)).to_have_attribute("aria-pressed", "false")
    card.focus()
    page.keyboard.press("Enter")
    expect(button(page, right)).to_have_attribute("aria-pressed", "true")
    expect(card).to_have_class(re.compile("picked"))
    submit(page)
    expect(page.locator(".verdict.right")).to_be_visible()


def test_an_event_of_the_list_is_the_answer(page: Page) -> None:
    """By pointer or by Enter on its row; what is chosen in the list is framed among the events, too."""
    frame = picked(page, "preemption-101", "next")
    rows = frame.locator("table.events tbody tr")
    failed = rows.filter(has_text="FailedScheduling")
    button(page, "Preempted report").click()
    expect(rows.filter(has_text="Preempted").first).to_have_class(re.compile("picked"))
    failed.focus()
    page.keyboard.press("Enter")
    expect(button(page, "FailedScheduling checkout")).to_have_attribute("aria-pressed", "true")
    rows.filter(has_text="Preempted").first.locator("td.reason").click()
    expect(button(page, "Preempted report")).to_have_attribute("aria-pressed", "true")
    failed.locator("td.reason").click()
    expect(button(page, "FailedScheduling checkout")).to_have_attribute("aria-pressed", "true")
    submit(page)
    expect(page.locator(".verdict.right")).to_be_visible()


def test_an_edit_begins_at_what_it_is_about(page: Page) -> None:
    """The object that the question names is in view, wherever it is in the scenario."""
    page.route("**/e/**", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto(f"/learn/{FIRST}/other-node/")
    page.locator("[data-task] textarea").first.wait_for()
    page.wait_for_function(
        """() => {
        const area = document.querySelector("[data-task] textarea");
        const at = area.value.split("\\n").findIndex((line) => /name: web\\b/.test(line)) * 19;
        return at > 0 && area.scrollTop > 0 && area.scrollTop < at && at < area.scrollTop + area.clientHeight;
    }"""
    )
