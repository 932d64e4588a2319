"""What is pictured of a class: a room on a lesson, as its teacher, a learner and the projector see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from playwright.sync_api import Page, expect

from playground.courseware import lesson
from tests.browser.conftest import PHONE
from tests.browser.teacher import LESSON, comes, onward, teach

LAPTOP = (1366, 768)
PROJECTOR = (1920, 1080)
FIRST = "/learn/first-cycle/node/"


def of_a_class(opened: Callable[[tuple[int, int]], Page]) -> Iterator[tuple[str, Page]]:
    """Teach a lesson to three, yielding each picture's name with its page."""
    of = lesson(LESSON)
    assert of is not None
    stop = next(one for one in of.stops if one.key == "spread")
    teacher, learner, laptop, beamed = (opened(size) for size in ((1440, 900), PHONE, LAPTOP, PROJECTOR))
    link = teach(teacher)
    for page, name in ((learner, "Ada"), (beamed, "Bob"), (laptop, "Eve")):
        page.goto("/learn/")
        page.evaluate(f"localStorage.setItem('podstep.name', '{name}')")
        page.goto(link)
        comes(page, of.stops[0].title)
    onward(teacher)
    for page in (teacher, learner, laptop, beamed):
        comes(page, stop.title)
    teacher.get_by_role("button", name="Ask the question").click()
    ballots = [page.get_by_role("region", name="Prediction") for page in (learner, beamed, laptop)]
    for ballot in ballots:
        expect(ballot.get_by_role("button", name="big", exact=True)).to_be_visible()
    yield "class-question", teacher
    yield "class-ballot", learner
    yield "class-ballot", laptop
    yield "class-projector", beamed
    ballots[0].get_by_role("button", name="big", exact=True).click()
    ballots[0].get_by_role("button", name="Vote for 1 pod").click()
    ballots[1].get_by_role("button", name="Vote for none of them").click()
    panel = teacher.get_by_role("region", name="Prediction")
    expect(panel.get_by_text("2 of")).to_be_visible()
    panel.get_by_role("button", name="Reveal").click()
    expect(ballots[0].get_by_text("You were right.")).to_be_visible()
    yield "class-reveal", learner
    yield "class-reveal", laptop
    yield "class-reveal-projector", beamed
    board = teacher.context.new_page()
    board.goto(f"{link}class/")
    expect(board.get_by_role("region", name=stop.title)).to_contain_text("2 votes")
    yield "class-page", board


def of_a_lesson(page: Page) -> Iterator[str]:
    """Choose a lesson, and answer a question wrongly and rightly, yielding each picture's name."""
    page.goto("/learn/")
    yield "learn"
    page.goto(FIRST)
    yield "lesson"
    task = page.locator("[data-task]")
    for name, verdict in (("n2", "wrong"), ("n3", "right")):
        task.get_by_role("button", name=name, exact=True).click()
        task.locator("button.primary").click()
        expect(page.locator(f".verdict.{verdict}")).to_be_visible()
        yield f"lesson-{verdict}"
