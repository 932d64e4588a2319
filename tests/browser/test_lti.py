"""A lesson in a frame of a course's page, from the launch to the score that the platform gets."""

from __future__ import annotations

import json
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Page, expect

from playground.courseware import lesson
from tests.browser.conftest import Watch
from tests.core.lessons.data import right_answer
from tests.playground.lti_platform import CLAIM, CLIENT, running
from tests.services.stack import Stack

LESSON = "map-reduce-weigh"


def test_a_learner_plays_in_the_course_and_the_score_arrives(page: Page, site: Stack, watch: Watch) -> None:
    """Its page frames the lesson; a right answer counts in the head, and a worker sends the score."""
    [registered] = json.loads(Path(site.env["PLAYGROUND_LTI"]).read_text())["platforms"]
    watch.allow(f"request to another host: {registered['issuer']}/")
    of = lesson(LESSON)
    assert of is not None
    first, asks = of.stops[:2]
    with running(urlsplit(registered["issuer"]).port or 0) as school:
        person = token_hex(8)  # who launched it in another run of the test has answers
        school.claims = {f"{CLAIM}custom": {"lesson": LESSON}, "sub": person}
        asked = urlencode({"iss": school.address, "login_hint": "person-1", "client_id": CLIENT})
        login = f"{site.base_url}/lti/login/?{asked}"
        school.page = f'<iframe src="{login}" width="1300" height="800" title="Lesson"></iframe>'
        page.goto(f"{school.address}/course")
        frame = page.frame_locator("iframe")
        expect(frame.get_by_role("heading", name=first.title)).to_be_visible()
        frame.locator("[data-after]").click()
        expect(frame.locator("[data-grade]")).to_have_text("0 of 3 questions right")
        task = frame.locator("[data-task]")
        task.get_by_role("textbox").fill(str(right_answer(of, asks)))
        task.locator("button.primary").click()
        expect(frame.locator("[data-grade]")).to_have_text("1 of 3 questions right")
        frame.locator("[data-grade]").click()
        frame.get_by_role("button", name="Hand it in as it is").click()
        arrived = frame.get_by_role("status").filter(has_text="Test school has this score.")
        expect(arrived).to_be_visible()  # of a worker on a busy machine
    [score] = school.scores
    assert (score["scoreGiven"], score["scoreMaximum"], score["userId"]) == (1, 3, person)
