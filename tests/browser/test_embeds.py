"""Pages in other pages' frames: one view, a locked step, and the height that they report."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest
from playwright.sync_api import Frame, Page, expect

from tests.browser.pages import becomes, example_text, holds, share, wide
from tests.services.stack import Stack

STEP = 14
#: Puts a page into a frame that becomes as high as it says, and notes each message with its time.
FRAMES = """([url, width]) => {
    const frame = document.createElement("iframe");
    Object.assign(frame, { src: url, width, height: 150, title: "embedded", frameBorder: "0" });
    window.heights = [];
    addEventListener("message", ({ source, data }) => {
        if (source !== frame.contentWindow || data?.type !== "podstep:height") return;
        heights.push([data.height, performance.now()]);
        frame.height = data.height;
    });
    document.body.replaceChildren(frame);
}"""


def embed(page: Page, address: str, width: int = 900) -> Frame:
    """Show an address in a frame of another page, and wait until its step is there."""
    page.goto("/reference/predicates/")
    page.evaluate(FRAMES, [address, width])
    while len(page.frames) < 2:
        page.wait_for_timeout(10)  # unlike a sleep this lets the event of the frame arrive
    frame = page.frames[1]
    frame.wait_for_function("() => window.podstep?.ready && podstep.playback.parts")
    return frame


@pytest.fixture
def address(site: Stack) -> str:
    """A shop's step, for frames."""
    path = share(site, example_text("shop"), "Shop").replace("/s/", "/e/")
    return f"{path}?step={STEP}"


#: The regions of the workbench that are on screen.
SHOWN = """() => [...document.querySelectorAll(
        "[data-build], [data-stage], [data-inspect], .transport, .timeline")]
    .filter(one => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().width > 1)
    .map(one => Object.keys(one.dataset)[0] ?? one.className.split(" ")[0]).sort()"""


def test_one_view_and_nothing_around_it(page: Page, address: str) -> None:
    """It steps there, and the frame becomes as high as what it shows, whatever it was before."""
    for view, region in (("stage", "stage"), ("matrix", "inspect"), ("story", "inspect")):
        shown = [region, "transport"]
        frame = embed(page, f"{address}&view={view}")
        becomes(partial(frame.evaluate, SHOWN), shown)
        holds(lambda: page.evaluate("heights.at(-1)?.[0] ?? 0"), lambda height: 250 < height < 1200)
        becomes(partial(frame.evaluate, "document.documentElement.scrollHeight - innerHeight <= 1"), True)
        expect(frame.get_by_role("link", name="Open in podstep")).to_have_attribute(
            "href", re.compile(rf"^/s/[^/]+/\?step={STEP}(&tab=predicates)?$")
        )
        if view == "matrix":
            expect(frame.get_by_role("tabpanel")).to_contain_text("GeneralPredicates")
        if view == "story":
            expect(frame.get_by_role("tabpanel")).to_contain_text("is placed on")
        frame.get_by_role("button", name="Step", exact=True).click()
        frame.wait_for_function(f"() => podstep.playback.index === {STEP + 1}")
        frame.wait_for_function(f"() => location.search.includes('view={view}')")
        becomes(partial(frame.evaluate, SHOWN), shown)


def test_the_height_settles(page: Page, address: str) -> None:
    """It is reported at most ten times a second, and no more once nothing changes."""
    frame = embed(page, f"{address}&view=story")
    frame.evaluate("""async () => { for (let i = 0; i < 40; i += 1) {
        document.body.style.paddingBottom = `${i}px`;
        await new Promise(done => setTimeout(done, 20)); } }""")
    page.wait_for_timeout(400)
    reported = page.evaluate("heights")
    # Not from one to the next: a busy page receives two at once that were sent apart.
    seconds = (reported[-1][1] - reported[0][1]) / 1_000
    assert 3 <= len(reported) <= 10 * seconds + 2, reported

    def settled() -> bool:
        before = len(page.evaluate("heights"))
        page.wait_for_timeout(600)
        return len(page.evaluate("heights")) == before

    becomes(settled, True)


def test_a_locked_step_stays(page: Page, address: str) -> None:
    """There is no transport, and no key leads elsewhere; what is selected can still be looked at."""
    frame = embed(page, f"{address}&view=stage&lock=1")
    becomes(lambda: frame.evaluate(SHOWN), ["stage"])
    frame.locator(".node").first.click()
    expect(frame.get_by_role("region", name="Selected")).to_be_visible()
    page.keyboard.press("ArrowRight")
    assert frame.evaluate("podstep.playback.wanted") == STEP
    whole = embed(page, f"{address}&lock=1", width=1300)
    becomes(lambda: whole.evaluate(SHOWN), ["build", "inspect", "stage"])
    whole.locator(".stage-body").focus()
    page.keyboard.press("ArrowRight")
    assert whole.evaluate("podstep.playback.wanted") == STEP


def test_the_dialog_makes_the_frame(page: Page, address: str) -> None:
    """Which view, and whether the step is locked, is chosen there; the code shows it."""
    page.goto(address.replace("/e/", "/s/"))
    page.wait_for_function("() => window.podstep?.ready && podstep.playback.parts")
    page.get_by_role("button", name="Share", exact=True).click()
    box = page.get_by_role("dialog", name="Share this view")
    box.get_by_role("tab", name="Embed").click()
    box.get_by_label("Shows").select_option("the matrix")
    box.get_by_label("Lock the step").check()
    code = box.get_by_label("Embed code", exact=True).input_value()
    assert f"?step={STEP}&amp;view=matrix&amp;lock=1" in code
    page.goto("/reference/predicates/")
    page.evaluate("code => { document.body.innerHTML = code; }", code)
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("tabpanel")).to_contain_text("GeneralPredicates")
    expect(frame.get_by_role("group", name="Transport")).to_be_hidden()


def test_a_view_can_be_read_on_a_phone(phone: Page, address: str, accessible: Callable[[Page], None]) -> None:
    """Nothing is wider than the frame, and axe finds nothing."""
    for view in ("stage", "matrix", "story"):
        phone.goto(f"{address}&view={view}")
        phone.wait_for_function("() => window.podstep?.ready && podstep.playback.parts")
        assert wide(phone) <= 0, view
        accessible(phone)
