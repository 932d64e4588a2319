"""Presentation mode: the stage in large type, its caption, the open tab, and the presenter's remote."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.clusters import zoned
from tests.browser.conftest import PHONE
from tests.browser.pages import Workbench, becomes, cycles_of, example_text, share, wide
from tests.services.stack import Stack

PROJECTOR = (1024, 768)


def presents(page: Page, on: bool = True) -> None:
    """Expect the mode, or that it is over."""
    expect(page.get_by_role("region", name="Caption")).to_be_visible(visible=on)
    expect(page.get_by_role("complementary", name="Build")).to_be_visible(visible=not on)
    expect(page.get_by_role("region", name="Inspect")).to_be_visible(visible=not on)
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_visible(visible=not on)


def test_a_step_is_presented(
    visitor: Callable[..., Page], site: Stack, accessible: Callable[[Page], None]
) -> None:
    """On a projector by keys, by hand and by a link, with a tab beside the stage, alone and in a room."""
    bench = Workbench(visitor(size=PROJECTOR))
    bench.open(f"{share(site, example_text('shop'), 'Shop')}?step=13").at(13)
    one_key_presents_and_escape_leaves(bench)
    the_button_and_the_palette_present(bench)
    bench.goto(13).tab("Story")
    the_mode_is_in_the_address(bench, visitor(size=PROJECTOR))
    what_stands_beside_it_is_chosen_there(bench, accessible)
    bench.page.keyboard.press("Escape")
    presents(bench.page, on=False)
    a_leader_presents_and_viewers_follow(bench, visitor())


def one_key_presents_and_escape_leaves(bench: Workbench) -> None:
    """Large type, one column, panels hidden; the caption says what the story says, and a remote steps."""
    page = bench.page
    page.keyboard.press("p")
    presents(page)
    caption = page.get_by_role("region", name="Caption")
    cycle = cycles_of(example_text("shop"))[12]
    expect(caption).to_contain_text(f"{cycle.pod.split('/')[1]} is placed on {cycle.node}")
    size = caption.locator("p").first.evaluate("one => parseFloat(getComputedStyle(one).fontSize)")
    assert size >= 19
    page.keyboard.press("PageDown")
    bench.at(14)
    expect(caption).to_contain_text("search-3 is placed on general-5")
    room = caption.bounding_box()
    page.keyboard.press("PageUp")
    bench.at(13)
    assert caption.bounding_box() == room, "nothing jumps from step to step"
    page.keyboard.press("Shift+ArrowRight")
    becomes(lambda: page.evaluate("podstep.playback.index"), 14)
    page.keyboard.press("Shift+ArrowRight")
    expect(caption).to_contain_text("rules out")
    page.keyboard.press("Escape")
    presents(page, on=False)
    page.keyboard.press("PageDown")
    assert page.evaluate("podstep.playback.wanted") == 14, "without the mode the key scrolls"


def the_button_and_the_palette_present(bench: Workbench) -> None:
    """By hand: the button in the head, the one beside the caption, and the command palette."""
    page = bench.page
    button = page.get_by_role("button", name="Presentation mode", exact=True)
    button.click()
    presents(page)
    page.get_by_role("button", name="Leave presentation mode").click()
    presents(page, on=False)
    expect(button).to_be_focused()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Command")).to_be_focused()
    page.keyboard.type("presentation")
    page.keyboard.press("Enter")
    presents(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Presentation mode")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    presents(page, on=False)


def the_mode_is_in_the_address(bench: Workbench, other: Page) -> None:
    """A link opens in it; leaving it takes it from the address, and a selection is let go of first."""
    page = bench.page
    page.keyboard.press("p")
    page.wait_for_url(re.compile("present=1"))
    opened = Workbench(other).open(page.url).at(13)
    presents(other)
    opened.stage.locator(".node").first.click()
    expect(other.get_by_role("region", name="Selected")).to_be_visible()
    other.keyboard.press("Escape")
    expect(other.get_by_role("region", name="Selected")).to_be_hidden()
    presents(other)
    other.keyboard.press("Escape")
    presents(other, on=False)
    other.wait_for_function("() => !location.search.includes('present')")


def test_a_projector_shows_it_whole(visitor: Callable[..., Page], site: Stack) -> None:
    """All nodes, the caption and the transport are on 1024 × 768 pixels, and none on another."""
    page = visitor(size=PROJECTOR)
    below = """body => Math.max(0, ...[...document.querySelectorAll(".node")]
        .map(one => one.getBoundingClientRect().bottom - body.getBoundingClientRect().bottom))"""
    for nodes in (4, 24, 300):
        bench = Workbench(page).open(f"{share(site, zoned(nodes, 0.5))}?step=4&present=1").at(4)
        presents(page)
        becomes(lambda: bench.stage.locator(".stage-body").evaluate(below), 0)  # noqa: B023 - asked at once
        expect(bench.button("Step"), f"{nodes} nodes").to_be_in_viewport(ratio=1)
        assert wide(page) <= 0, nodes
        body = bench.stage.locator(".stage-body").bounding_box()
        assert body is not None
        assert body["width"] > 1000, nodes
        assert body["height"] > 768 * 0.6, nodes


EVIDENCE = {
    ("cache-overcommit", 2): {
        "predicates": ".matrix-section .grid",
        "priorities": ".matrix-section .grid",
        "cache": ".cache-tab",
    },
    ("making-room", 1): {"preemption": ".candidates"},
    ("gang-deadlock", 5): {"podgroups": ".podgroups-tab"},
}
#: The size of the smallest text of Inspect, in pixels.
SMALLEST = """selector => {
    const walker = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
    const sizes = [];
    while (walker.nextNode()) {
        const { parentElement: holder, data } = walker.currentNode;
        if (data.trim() && holder.checkVisibility() && !holder.closest(".sr"))
            sizes.push(parseFloat(getComputedStyle(holder).fontSize));
    }
    return Math.min(...sizes);
}"""


def test_the_open_tab_stands_beside_the_stage(visitor: Callable[..., Page]) -> None:
    """What the tab shows is read from the last row: at least 20 pixels high at 1920 × 1080."""
    page = visitor(size=(1920, 1080))
    for (example, step), tabs in EVIDENCE.items():
        first = next(iter(tabs))
        bench = Workbench(page).open(f"/examples/{example}/?step={step}&tab={first}&present=1").at(step)
        for tab, part in tabs.items():
            page.get_by_role("combobox", name="Beside the stage").select_option(tab)
            inspect = page.get_by_role("region", name="Inspect")
            expect(inspect.locator(part).first, tab).to_be_visible()
            box = inspect.bounding_box()
            assert box is not None
            assert box["width"] > 1000, tab
            assert page.evaluate(SMALLEST, "#region-inspect") >= 20, tab
            expect(bench.stage.locator(".node").first, tab).to_be_in_viewport()
            expect(bench.button("Step"), tab).to_be_in_viewport(ratio=1)
            assert wide(page) <= 0, tab


def what_stands_beside_it_is_chosen_there(bench: Workbench, accessible: Callable[[Page], None]) -> None:
    """By the list in the caption or a digit; the stage alone is one of the choices."""
    page = bench.page
    presents(page)
    beside = page.get_by_role("combobox", name="Beside the stage")
    expect(beside).to_have_value("story")
    beside.select_option(label="Predicates")
    expect(page.get_by_role("region", name="Inspect").locator(".matrix-section")).to_be_visible()
    assert wide(page) <= 0
    accessible(page)
    beside.evaluate("one => one.blur()")
    page.keyboard.press("4")
    expect(beside).to_have_value("priorities")
    page.wait_for_url(re.compile("tab=priorities"))
    beside.select_option(label="Stage alone")
    presents(page)


def test_a_phone_follows_in_it(visitor: Callable[..., Page], site: Stack) -> None:
    """The same link on a phone: the stage and its caption, and nothing is wider than the screen."""
    page = visitor(size=PHONE)
    bench = Workbench(page).open(f"{share(site, example_text('shop'), 'Shop')}?step=13&present=1").at(13)
    expect(page.get_by_role("region", name="Caption")).to_be_visible()
    expect(bench.button("Step")).to_be_in_viewport(ratio=1)
    assert wide(page) <= 0
    bench.step()
    last = page.get_by_role("region", name="Caption").locator("p").last
    expect(last).to_contain_text("is placed on")
    expect(last).to_be_in_viewport(ratio=1)


def a_leader_presents_and_viewers_follow(bench: Workbench, viewer: Page) -> None:
    """Controls and tally stay, viewers follow with their panels."""
    leader = bench.page
    leader.get_by_role("button", name="Present", exact=True).click()
    leader.get_by_role("button", name="Open the room").click()
    dialog = leader.get_by_role("dialog", name="Invite")
    address = dialog.get_by_label("Link for viewers").input_value()
    dialog.get_by_role("button", name="Close").click()
    leader.keyboard.press("p")
    presents(leader)
    viewer.goto(address)
    Workbench(viewer).wait().at(13)
    presents(viewer, on=False)
    leader.keyboard.press("PageDown")
    Workbench(viewer).at(14)
    leader.get_by_role("button", name="Ask").click()
    leader.get_by_role("dialog").get_by_role("button").filter(has_text=re.compile("fit")).first.click()
    question = leader.get_by_role("region", name="Prediction")
    start = leader.get_by_role("dialog").get_by_role("button", name=re.compile("Ask|Start"))
    if start.count():
        start.first.click()
    expect(question).to_be_visible()
    box = question.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PROJECTOR[0]
    expect(leader.get_by_role("button", name="Hand over")).to_be_in_viewport(ratio=1)
    leader.keyboard.press("Escape")
    presents(leader, on=False)
    expect(viewer.get_by_role("region", name="Prediction")).to_be_visible()
