"""A room is one state: scenario, stop, moment, veil, title and colours move together, on every screen."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, ViewportSize, expect

from playground.courseware import key_of, lesson
from tests.browser.conftest import PHONE
from tests.browser.pages import Workbench, becomes
from tests.browser.teacher import comes, onward, teach
from tests.browser.test_rooms import bar, entered, says

LESSON = "first-cycle"
PROJECTOR: ViewportSize = {"width": 1920, "height": 1080}


def at(page: Page, title: str) -> Workbench:
    """Wait until a page shows another scenario of the room, by its title."""
    expect(page.locator("[data-title]")).to_have_text(title)
    return entered(page)


def colour(page: Page) -> str:
    return str(page.evaluate("podstep.view.look.colour"))


def test_a_room_is_one_state(visitor: Callable[..., Page]) -> None:
    """A class leaves its lesson and comes back; a page of it that cannot follow says so."""
    of = lesson(LESSON)
    assert of is not None
    stops = {stop.key: stop for stop in of.stops}
    teacher, ada = visitor(), visitor(size=PHONE)
    link = teach(teacher, f"/learn/{LESSON}/")
    with teacher.expect_popup() as opened:
        teacher.get_by_role("region", name="Room").get_by_role("link", name="Projector").click()
    projector = opened.value
    projector.set_viewport_size(PROJECTOR)
    ada.goto(link)
    pages = (teacher, projector, ada)
    onward(teacher)
    for page in pages:
        comes(page, stops["feasible"].title)
    assert projector.evaluate("[podstep.room.room.leads, podstep.view.shown.present]") == [False, "1"]
    expect(projector.get_by_role("region", name="Room").locator(".room-at b")).to_be_visible()

    teacher.get_by_role("button", name="Ask the question").click()
    panel = teacher.get_by_role("region", name="Prediction")
    expect(panel).to_contain_text("0 of 1 voted")  # the projector is nobody
    for name in ("Vote again", "Reveal", "Dismiss"):
        panel.get_by_role("button", name=name).click()
        if name == "Vote again":
            expect(panel).to_contain_text("second vote")
    expect(panel).to_be_hidden()

    bar(teacher, "Go to")
    teacher.get_by_role("dialog").get_by_role("button", name="Making room", exact=True).click()
    benches = [at(page, "Making room") for page in pages]
    for page in pages:
        expect(page.get_by_role("region", name="Lesson")).not_to_contain_text(stops["feasible"].title)
    expect(teacher.get_by_role("button", name="Ask the question")).to_have_count(0)
    for index in (1, 2, 3):
        benches[0].step()
        for bench in benches:
            bench.at(index)
    says(ada, "You follow")
    other = "workload" if colour(teacher) != "workload" else "priority"
    teacher.evaluate(f"podstep.view.setLook({{ colour: '{other}' }})")
    for page in (projector, ada):
        becomes(lambda page=page: colour(page), other)  # type: ignore[misc]

    teacher.get_by_role("button", name="Back to the lesson").click()
    for page in pages:
        comes(page, stops["feasible"].title)
    onward(teacher)
    for page in pages:
        comes(page, stops["node"].title)
        becomes(lambda page=page: page.evaluate("podstep.playback.phase"), "predicates")  # type: ignore[misc]
    answer = key_of(of, stops["node"]).answer
    for page in (projector, ada):
        assert page.evaluate("podstep.playback.current.node") is None
        expect(page.locator("body")).not_to_contain_text(f"is placed on {answer}")
    assert projector.evaluate("(podstep.playback.goto(0), podstep.playback.index)") == 0
    becomes(lambda: projector.evaluate("podstep.playback.index"), 1)  # it shows the room, whatever is pressed
    a_page_that_cannot_follow_says_so(teacher, ada)


def a_page_that_cannot_follow_says_so(teacher: Page, ada: Page) -> None:
    """To its viewer, and to the leader; once it follows again, neither is reported any more."""
    bar(teacher, "Go to")
    teacher.get_by_role("dialog").get_by_role("button", name="Making room", exact=True).click()
    benches = [at(page, "Making room") for page in (teacher, ada)]
    ada.evaluate("() => { podstep.playback.goto = () => {}; }")  # nothing arrives any more
    benches[0].step(2)
    expect(ada.get_by_role("region", name="Room")).to_contain_text(
        "This page cannot follow the leader: cycle 2"
    )
    expect(teacher.get_by_role("region", name="Room")).to_contain_text("1 cannot follow")
    ada.get_by_role("button", name="Reload").click()
    benches[1].wait().at(2)
    says(ada, "You follow")
    expect(teacher.get_by_role("region", name="Room")).not_to_contain_text("cannot follow")
