"""A review: comments on the timeline and on a page of their own, in branches, and in an exported report."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import turned
from tests.browser.pages import Workbench, example_text, share, wide
from tests.browser.test_comments import comments, write
from tests.browser.test_compare import PACK, SPREAD, opened
from tests.services.stack import Stack

ROOM = example_text("making-room")


def flag(page: Page, text: str) -> Locator:
    """Return what finds a flag over the timeline by its name."""
    return page.get_by_role("group", name="Comments by step").get_by_role("button", name=text, exact=True)


def test_two_people_end_in_a_report(visitor: Callable[..., Page], site: Stack, tmp_path: Path) -> None:
    """Ada asks about a step, Bob answers on the review page and exports the comparison with a verdict."""
    left, right = share(site, SPREAD, "Spread us"), share(site, PACK, "Pack us")
    ada, bob = visitor(), visitor()
    Workbench(ada).open(f"{left}?step=2&node=worker-3").at(2)
    write(comments(ada), "Why **here**? <img src=x onerror=alert(1)>", "Ada")
    expect(ada.locator(".thread")).to_have_count(1)

    bob.goto(f"{left}review/")
    thread = bob.locator(".thread")
    expect(thread.get_by_text("new", exact=True)).to_be_visible()
    thread.get_by_role("button", name="Reply").click()
    thread.get_by_role("textbox", name="Your reply").fill("It has most free cpu.")
    thread.get_by_role("textbox", name="Your name").fill("Bob")
    thread.locator("form").get_by_role("button", name="Reply").click()
    expect(thread.get_by_text("It has most free cpu.")).to_be_visible()
    expect(ada.locator(".thread").get_by_text("It has most free cpu.")).to_be_visible()
    ada.locator(".thread").get_by_role("button", name="Resolve").click()
    expect(bob.locator(".thread")).to_have_count(0)
    bob.get_by_role("link", name="Resolved 1").click()
    expect(thread.get_by_text("resolved", exact=True)).to_be_visible()

    opened(bob, left, right)
    said = bob.get_by_role("region", name="Comments", exact=True)
    said.get_by_role("button", name="About step 2 · worker-3").click()
    expect(bob.get_by_role("region", name="Left side").get_by_text("cycle 2 of")).to_be_visible()
    said.get_by_role("textbox", name="Write a comment on the right side").fill("Packed.")
    said.get_by_role("button", name="Comment", exact=True).last.click()
    expect(said.locator(".thread").get_by_text("Packed.")).to_be_visible()
    verdict = bob.get_by_role("region", name="Verdict and report")
    verdict.get_by_role("radio", name="Needs work").check()
    verdict.get_by_label("Your name").fill("Bob")
    verdict.get_by_label("Summary").fill("Packing is worse.")
    with bob.expect_download() as coming:
        verdict.get_by_role("button", name="Download the report (HTML)").click()
    assert coming.value.suggested_filename == "review-spread-us-and-pack-us.html"
    coming.value.save_as(tmp_path / "report.html")
    with bob.expect_download() as coming:
        verdict.get_by_role("button", name="Markdown for a pull request").click()
    reported = Path(coming.value.path()).read_text("utf-8")
    assert "> Packed." in reported
    assert (
        "**Needs work** by Bob" in reported
        and "> It has most free cpu." in reported
        and "(resolved)" in reported
    )

    paper = visitor(java_script_enabled=False)
    paper.set_content((tmp_path / "report.html").read_text("utf-8"))
    expect(paper.get_by_role("heading", name="Spread us and Pack us")).to_be_visible()
    expect(paper.locator(".verdict")).to_contain_text("Needs work by Bob")
    said = paper.locator(".thread.resolved")
    expect(said.locator("b", has_text="here")).to_be_visible()
    expect(said.get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()
    expect(said).to_contain_text("It has most free cpu.")
    expect(paper.get_by_role("img")).to_have_count(4)


def test_the_timeline_shows_how_many_and_which_are_new(visitor: Callable[..., Page], site: Stack) -> None:
    """A flag at its step, filled until it was seen; pressing it goes there and opens the thread."""
    address = share(site, ROOM, "Flags")
    ada, bob = visitor(), visitor()
    Workbench(ada).open(f"{address}?step=2").at(2)
    other = Workbench(bob).open(address).at(0)
    expect(bob.get_by_role("group", name="Comments by step")).to_be_hidden()
    panel = comments(ada)
    write(panel, "One", "Ada")
    expect(panel.locator(".thread")).to_have_count(1)
    expect(panel.get_by_role("textbox", name="Write a comment")).to_have_value("")
    write(panel, "Two", "Ada")
    expect(flag(ada, "2 comments at step 2")).to_be_visible()
    fresh = flag(bob, "2 comments at step 2, 2 new")
    fresh.click()
    other.at(2)
    expect(bob.locator(".thread")).to_have_count(2)
    bob.get_by_role("button", name="Close the comments").click()
    expect(flag(bob, "2 comments at step 2")).to_be_visible()
    bob.goto(f"{address}review/")
    expect(bob.locator(".thread")).to_have_count(2)
    expect(bob.get_by_text("new", exact=True)).to_have_count(0)


def test_a_branch_says_what_became_of_a_comment(page: Page, site: Stack) -> None:
    """Where the branch decides otherwise the thread says so, goes to its place there, and is only read."""
    address = share(site, SPREAD, "Origin")
    bench = Workbench(page).open(f"{address}?step=2").at(2)
    write(comments(page), "Why there?", "Ada")
    expect(page.locator(".thread")).to_have_count(1)
    page.get_by_role("button", name="Close the comments").click()
    bench.build.get_by_role("button", name="Branch here").click()
    page.wait_for_url("**/p/**")
    bench.wait()
    panel = comments(page)
    thread = panel.locator(".thread")
    expect(thread.get_by_text("Why there?")).to_be_visible()
    expect(thread.locator(".comment-here")).to_have_count(0)
    expect(panel.get_by_role("textbox", name="Write a comment")).to_be_hidden()
    expect(thread.get_by_role("button", name="Resolve")).to_have_count(0)
    draft = page.evaluate("podstep.playback.source.draft")
    page.evaluate("([draft, text]) => podstep.socket.call('draft.save', { draft, text })", [draft, PACK])
    page.reload()
    bench.wait()
    comments(page)
    expect(thread.locator(".comment-here")).to_contain_text("Here cycle 2 is decided otherwise: it goes to")
    page.evaluate(
        "([draft, text]) => podstep.socket.call('draft.save', { draft, text })",
        [draft, SPREAD.replace("web-1", "other-1")],
    )
    page.reload()
    bench.wait()
    comments(page)
    expect(thread.locator(".comment-here")).to_contain_text("Here web-1 is not tried at all.")
    thread.get_by_role("link", name="Answer it in the shared scenario").click()
    page.wait_for_url(re.compile(r"/s/"))


def test_the_review_page_fits(page: Page, site: Stack, accessible: Callable[[Page], None]) -> None:
    """With a thread that is new, at both sizes and in both colours; so does the workbench with its flag."""
    address = share(site, ROOM, "Review fits")
    answer = site.post(
        f"/api/scenarios{address.removeprefix('/s')}comments", {"step": "1", "text": "x" * 200}
    )
    assert answer.status == 201, answer.body
    page.goto(f"{address}review/")
    expect(page.get_by_role("button", name="Mark 1 new as read")).to_be_visible()
    accessible(page)
    for size in turned(page):
        assert wide(page) == 0, size
    page.get_by_role("button", name="Mark 1 new as read").click()
    expect(page.get_by_text("new", exact=True)).to_have_count(0)
    Workbench(page).open(address).at(0)
    expect(flag(page, "1 comment at step 1")).to_be_visible()
    accessible(page)
    for size in turned(page):
        assert wide(page) == 0, size
