"""A class: a teacher and two learners go through a lesson whose stops are over three scenarios."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect

from playground.courseware import bundle_of, key_of, lesson
from tests.browser.conftest import PHONE
from tests.browser.pages import Workbench
from tests.browser.teacher import LESSON, comes, onward, teach
from tests.browser.test_room_answers import Heard, everything
from tests.browser.test_rooms import bar, says


def test_a_class_goes_through_a_lesson(visitor: Callable[..., Page]) -> None:
    """Vote, discuss, vote again, reveal; over three scenarios at one address; and what the teacher sees."""
    of = lesson(LESSON)
    assert of is not None
    stops = {stop.key: stop for stop in of.stops}
    teacher, ada, bob = visitor(), visitor(), visitor(size=PHONE)
    link = teach(teacher)
    for page, name in ((ada, "Ada"), (bob, "Bob")):
        page.goto("/")
        page.evaluate(f"localStorage.setItem('podstep.name', '{name}')")
    heard = Heard().listen(ada)  # not to the start page, which plays a scenario of its own
    for page in (ada, bob):
        page.goto(link)
        comes(page, of.stops[0].title)
    board = teacher.context.new_page()
    board.goto(f"{link}class/")
    expect(board.get_by_role("heading", name="Notes")).to_be_visible()
    expect(board.get_by_role("row", name="Ada")).to_contain_text("with you")
    scenarios = {ada.evaluate("podstep.playback.source.scenario")}

    onward(teacher)
    for page in (teacher, ada, bob):
        comes(page, stops["spread"].title)
    teacher.get_by_role("button", name="Ask the question").click()
    ballots = [page.get_by_role("region", name="Prediction") for page in (ada, bob)]
    for ballot in ballots:
        expect(ballot.get_by_role("button", name="big", exact=True)).to_be_visible()
    late = visitor()
    late.goto(link)
    comes(late, stops["spread"].title)
    offered = [
        one.locator(".ballot-answer").all_inner_texts()
        for one in (ballots[0], late.get_by_role("region", name="Prediction"))
    ]
    assert offered[0] == offered[1]
    for page in (ada, late):
        for key in ("ArrowRight", "End", "Shift+ArrowRight"):
            page.keyboard.press(key)
        page.wait_for_timeout(200)
        assert Workbench(page).index == 0
    why = key_of(of, stops["spread"]).why.replace("`", "")
    assert not heard.beyond(0)
    assert why not in json.dumps(heard.frames) and why not in everything(ada)

    ballots[0].get_by_role("button", name="big", exact=True).click()
    ballots[0].get_by_role("button", name="Vote for 1 pod").click()
    ballots[1].get_by_role("button", name="Vote for none of them").click()
    question = board.get_by_role("region", name="The scheduler spreads")
    expect(question).to_contain_text("2 votes · 50 % right · open")
    panel = teacher.get_by_role("region", name="Prediction")
    panel.get_by_role("button", name="Vote again").click()
    for ballot in ballots:
        expect(ballot.get_by_text("second vote")).to_be_visible()
    for ballot in ballots:
        ballot.get_by_role("button", name="big", exact=True).click()
        ballot.get_by_role("button", name="Vote for 1 pod").click()
    expect(panel.get_by_text("2 of")).to_be_visible()
    panel.get_by_role("button", name="Reveal").click()
    for page in (ada, bob):
        expect(page.get_by_role("region", name="Prediction").get_by_text("You were right.")).to_be_visible()
        page.wait_for_function("() => podstep.playback.cycles > 1")
        Workbench(page).at(4)  # the end, where the class is now
    assert why in json.dumps(heard.frames)
    expect(question).to_contain_text("2 votes · 100 % right, 50 % before the discussion")
    expect(board.get_by_role("region", name="Misconceptions").get_by_role("row")).to_have_count(2)

    onward(teacher)
    for page in (teacher, ada, bob):
        comes(page, stops["pack"].title)
    scenarios.add(ada.evaluate("podstep.playback.source.scenario"))
    assert ada.url.split("?")[0] == link
    teacher.get_by_role("button", name="Ask the question").click()
    ada.get_by_role("button", name="Only the one that packs").click()
    expect(ada.get_by_text("You said Only the one that packs.").first).to_be_visible()
    teacher.get_by_role("region", name="Prediction").get_by_role("button", name="Reveal").click()
    expect(ada.get_by_text("You were right.")).to_be_visible()
    onward(teacher)
    comes(teacher, stops["why"].title)
    onward(teacher)
    for page in (teacher, ada):
        comes(page, stops["pieces"].title)
    scenarios.add(ada.evaluate("podstep.playback.source.scenario"))
    assert len(scenarios) == len({bundle_of(of, stop) for stop in of.stops}) == 3

    bar(teacher, "End")
    teacher.get_by_role("button", name="End it for everyone").click()
    says(ada, "The room has ended.")
    ada.goto(link)
    expect(ada.get_by_text("You answered in the second vote").first).to_be_visible()
    expect(ada.get_by_role("link", name="the stop of the lesson").first).to_be_visible()
    with board.expect_download() as saved:
        board.get_by_role("button", name="Answers as CSV").click()
    assert b"free-room-is-a-sum" in saved.value.path().read_bytes()
