"""What is on screen can be read: from the last row, on a phone on its side, and in forced colours."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import FloatRect, Page, expect

from tests.browser.clusters import zoned
from tests.browser.conftest import DESKTOP, DRAWN, PHONE, in_both_themes
from tests.browser.pages import (
    POLLING,
    Workbench,
    becomes,
    drafted,
    example_text,
    holds,
    share,
    show,
    texts,
    wide,
)
from tests.services.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

LANDSCAPE = (844, 390)
SMALL_PROJECTOR = (1024, 768)
PROJECTOR = (1920, 1080)
#: All text that can be seen, with fields and what style sheets write, that is smaller than so many pixels.
SMALL = """least => {
    const small = new Set();
    const visible = { visibilityProperty: true, opacityProperty: true };
    const fields = "input:not([type=checkbox], [type=range], [type=radio]), select, textarea";
    const named = one => `${one.tagName.toLowerCase()}.${one.className.baseVal ?? one.className}`;
    const note = (one, size, text) => { // whether it is seen is asked of few
        if (size > least - 0.01 || !one.checkVisibility(visible) || one.closest(".sr, .skip, option")) return;
        if (text.nodeType) {
            const range = document.createRange();
            range.selectNodeContents(text);
            if (![...range.getClientRects()].some(({ width, height }) => width && height)) return;
        }
        small.add(`${size}px ${named(one)} "${(text.data ?? text).trim().slice(0, 30)}"`);
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const { parentElement: one, data } = walker.currentNode;
        if (!data.trim() || !one.checkVisibility()) continue;
        const drawn = one.getScreenCTM?.().a ?? 1;
        note(one, parseFloat(getComputedStyle(one).fontSize) * drawn, walker.currentNode);
    }
    for (const one of document.body.querySelectorAll("*")) {
        if (!one.checkVisibility()) continue;
        if (one.matches(fields)) note(one, parseFloat(getComputedStyle(one).fontSize), one.value);
        for (const where of ["::before", "::after"]) {
            const { content, fontSize } = getComputedStyle(one, where);
            if (/^"[^"]*[^" ]/.test(content)) note(one, parseFloat(fontSize), content);
        }
    }
    return [...small];
}"""
#: What sticks out of its region or the window, or lies over another control of its bar.
CLIPPED = """() => {
    const found = [];
    const bars = [".topbar", ".cycle-bar", ".transport", ".phone-tabs", ".stage-tools", ".looks"];
    for (const bar of bars) {
        const controls = [...document.querySelectorAll(`${bar} :is(button, a, select, input)`)]
            .filter(one => one.checkVisibility({ visibilityProperty: true }))
            .map(one => [one.getAttribute("aria-label") ?? one.textContent, one.getBoundingClientRect()])
            .filter(([, box]) => box.width);
        for (const [name, box] of controls) {
            if (Math.min(box.left, box.top, innerWidth - box.right, innerHeight - box.bottom) < -0.5)
                found.push(`${bar}: ${name} is outside`);
            for (const [other, its] of controls) {
                const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
                const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
                if (other !== name && across > 1 && down > 1) found.push(`${bar}: ${name} over ${other}`);
            }
        }
    }
    return found;
}"""


def resized(page: Page, size: tuple[int, int]) -> None:
    """Give a page's window a size, and wait until what follows it has followed."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate(DRAWN)


@dataclass(frozen=True, slots=True)
class Small:
    """What is too small on a page, by where it is."""

    page: Page
    found: dict[str, list[str]] = field(default_factory=dict)

    def look(self, where: str) -> None:
        """Look at what is on screen."""
        self.page.wait_for_function("() => !document.querySelector('.region .waiting')", polling=POLLING)
        if small := self.page.evaluate(SMALL, 13):
            self.found[where] = small


def test_no_text_is_smaller_than_13_pixels(page: Page, site: Stack) -> None:
    """On every tab of Inspect with its views, of Build, in details, dialogs and forms, on every screen.

    Inspect has the same text on two screens each: the narrowest of both layouts is looked at. On a larger
    screen text is larger.
    """
    bench, small = Workbench(page), Small(page)
    for slug, step in (("coscheduling-no-room", 4), ("making-room", 1), ("cache-stale-write", 2)):
        resized(page, PHONE)
        bench.open(f"{share(site, example_text(slug), slug)}?step={step}").at(step)
        for size in (PHONE, SMALL_PROJECTOR):
            resized(page, size)
            every_tab_of_inspect(bench, f"{size[0]}, {slug}", small)
    bench.open(f"{drafted(page, example_text('shop'), 'Shop')}?step=14").at(14)
    for size in (SMALL_PROJECTOR, DESKTOP, PHONE, LANDSCAPE):
        resized(page, size)
        stage_build_and_dialogs(bench, f"{size[0]}", small)
    assert not small.found, "\n".join(
        f"{where}: {'; '.join(text[:6])}" for where, text in small.found.items()
    )
    text_grows_with_the_screen(bench)


def every_tab_of_inspect(bench: Workbench, where: str, small: Small) -> None:
    """Look at the stage, and at each tab with its views and all that opens in it."""
    show(bench.page, "Stage")
    small.look(f"{where}: stage")
    show(bench.page, "Inspect")
    for tab in bench.inspect.get_by_role("tab").all():
        if not tab.is_visible():
            continue
        tab.click()
        name = tab.inner_text().split("\n")[0]
        for view in bench.inspect.locator(".cache-views button, .gang-views button").all():
            if not view.is_visible():
                continue
            view.click()
            small.look(f"{where}: {name}, {view.inner_text()}")
        bench.inspect.locator("details, .weigh-open[aria-expanded=false]").evaluate_all(
            "all => all.forEach(one => one.matches('details') ? (one.open = true) : one.click())"
        )
        small.look(f"{where}: {name}, all of it")


def stage_build_and_dialogs(bench: Workbench, where: str, small: Small) -> None:
    """Look at the stage with details, at Build and what it adds, and at what keys open."""
    page = bench.page
    show(page, "Stage")
    small.look(f"{where}: stage")
    bench.stage.locator(".node").first.click()
    small.look(f"{where}: details")
    page.get_by_role("region", name="Selected").get_by_role("button", name=re.compile("^Close")).click()
    show(page, "Build")
    if not bench.build.is_visible():
        page.keyboard.press("[")
    for name in ("Policy", "YAML", "Objects"):
        bench.build.get_by_role("tab", name=name).click()
        if name == "YAML":
            expect(bench.build.locator(".editor")).to_contain_text("kind")
        small.look(f"{where}, Build: {name}")
    bench.build.get_by_role("button", name="Add").click()
    small.look(f"{where}, Build: Add")
    page.keyboard.press("Escape")
    for keys, dialog in (
        ("Control+k", "Command palette"),
        ("?", "Keys"),
        ("b", "Breakpoints"),
        ("s", "Share"),
    ):
        page.keyboard.press(keys)
        expect(page.get_by_role("dialog", name=dialog)).to_be_visible()
        small.look(f"{where}: {dialog}")
        page.keyboard.press("Escape")


def text_grows_with_the_screen(bench: Workbench) -> None:
    """On 1920 × 1080 pixels, which a projector may have, nothing is as small as on a desk."""
    page = bench.page
    resized(page, PROJECTOR)
    expect(bench.tab("Predicates")).to_contain_text("GeneralPredicates")
    assert page.evaluate(SMALL, 15) == []
    resized(page, DESKTOP)
    becomes(lambda: page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)"), 13)


def test_few_cards_fill_the_stage(page: Page, site: Stack) -> None:
    """Three nodes take the room that there is, text and all, which no step changes; sixty all fit, too."""
    bench = Workbench(page).open(f"{share(site, zoned(3), 'Three nodes')}?step=1").at(1)
    three_cards_fill_the_stage(bench, 17, 14)
    resized(page, PROJECTOR)
    three_cards_fill_the_stage(bench, 24, 1)
    bench.open(f"{share(site, zoned(60), 'Sixty nodes')}?step=1").at(1)
    within = """body => [...body.querySelectorAll(".node")].filter(one => one.getBoundingClientRect().bottom
        > body.getBoundingClientRect().bottom || one.scrollWidth > one.clientWidth).length"""
    for size in (PROJECTOR, DESKTOP):
        resized(page, size)
        expect(bench.stage.locator(".node .room").first).to_be_visible()
        expect(bench.stage.locator(".node")).to_have_count(60)
        becomes(lambda: bench.stage.locator(".stage-body").evaluate(within), 0)


def three_cards_fill_the_stage(bench: Workbench, least: int, step: int) -> None:
    """Expect it in a window, names ``least`` pixels high, and that another ``step`` moves none."""
    body = bench.stage.locator(".stage-body").bounding_box()
    assert body is not None

    def boxes() -> list[FloatRect]:
        return [box for card in bench.stage.locator(".node").all() if (box := card.bounding_box())]

    holds(
        lambda: sum(box["width"] * box["height"] for box in boxes()) / (body["width"] * body["height"]),
        lambda part: part > 0.75,
    )
    name = bench.stage.locator(".node-head b").first
    assert float(name.evaluate("one => parseFloat(getComputedStyle(one).fontSize)")) >= least
    before = boxes()
    bench.goto(step)
    becomes(boxes, before)
    assert all(box["y"] + box["height"] <= body["y"] + body["height"] for box in before)


def have_meaning(bench: Workbench) -> None:
    """Expect letters on pods, and different looks of different cells and tabs."""
    letter = "one => getComputedStyle(one, '::before').content.replaceAll('\"', '')"
    legend = bench.stage.get_by_role("group", name="Colours of pods").get_by_role("button").all()
    letters = {
        button.locator(".pod").get_attribute("class"): button.locator(".pod").evaluate(letter)
        for button in legend
    }
    assert len(set(letters.values())) == len(legend) > 4
    seen = bench.stage.locator(".node .pod:not(.added)").evaluate_all(
        """all => all.map(one => [one.className.replace(/ selected$/, ""),
            getComputedStyle(one, "::before").content.replaceAll('"', ""),
            getComputedStyle(one).borderTopWidth])"""
    )
    assert seen
    for colour, written, border in seen:
        assert written == letters[colour]
        assert border != "0px"
    look = """all => all.map(one => {
        const { backgroundColor, backgroundImage, color } = getComputedStyle(one);
        return [backgroundColor, backgroundImage, color, getComputedStyle(one, "::before").content].join();
    })"""
    matrix = bench.panel("Predicates").locator(".matrix")
    kinds = {
        kind: set(matrix.locator(f"td.cell.{kind}").evaluate_all(look))
        for kind in ("pass", "fail", "not-reached")
    }
    assert all(kinds.values()), kinds
    assert len(set.union(*kinds.values())) == sum(map(len, kinds.values())), kinds
    line = "one => getComputedStyle(one).borderBottomColor"
    chosen = bench.inspect.get_by_role("tab", name="Predicates").evaluate(line)
    other = bench.inspect.get_by_role("tab", name="Queue").evaluate(line)
    assert chosen != other


def test_forced_colours_leave_pods_and_cells_their_meaning(visitor: Callable[..., Page], site: Stack) -> None:
    """A pod has the letter of its swatch; cells that passed, failed and were not reached look different."""
    page = visitor(forced_colors="active")
    bench = Workbench(page).open(
        f"{share(site, example_text('shop'), 'Shop')}?step=14&tab=predicates&node=general-1"
    )
    bench.at(14)
    in_both_themes(page, lambda _: have_meaning(bench))


def test_forced_colours_reach_the_overview(visitor: Callable[..., Page], site: Stack) -> None:
    """The picture of many nodes is drawn in the system's colours, on the system's background."""
    page = visitor(forced_colors="active", color_scheme="dark")
    bench = Workbench(page).open(f"{share(site, zoned(300, 0.5), '300 nodes')}?step=20").at(20)
    corner = """canvas => [...canvas.getContext("2d").getImageData(2, canvas.height - 3, 1, 1).data]
        .slice(0, 3).join()"""
    back = page.evaluate(
        """() => { const pen = document.createElement("canvas").getContext("2d");
        pen.fillStyle = "Canvas"; pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).join(); }"""
    )
    becomes(lambda: bench.stage.locator(".heat canvas[role]").evaluate(corner), back)


def test_a_phone_on_its_side_shows_one_region_whole(
    visitor: Callable[..., Page], site: Stack, accessible: Callable[[Page], None]
) -> None:
    """Regions are chosen at the left edge; the stage has height, and no control is cut or covered."""
    page = visitor(size=PHONE)
    resized(page, LANDSCAPE)
    bench = Workbench(page).open(f"{share(site, example_text('shop'), 'Shop')}?step=12").at(12)
    for size in (LANDSCAPE, (667, 375), (932, 430)):
        resized(page, size)
        bench.goto(12)
        show(page, "Stage")
        shows_one_region_whole(bench, size)
    accessible(page)


def shows_one_region_whole(bench: Workbench, size: tuple[int, int]) -> None:
    """Expect it of the stage at step 12, of Inspect and of Build, in a window of a size."""
    page = bench.page
    assert page.evaluate(CLIPPED) == []
    assert wide(page) <= 0
    for _ in range(3):
        bench.step()
        if bench.stage.locator(".node.chosen").count():
            expect(bench.stage.locator(".node.chosen")).to_be_in_viewport()
    room = bench.stage.locator(".stage-body").bounding_box()
    assert room is not None
    assert room["height"] > 0.4 * size[1]
    assert room["width"] > 0.8 * size[0]
    show(page, "Inspect")
    panel = bench.tab("Predicates")
    assert page.evaluate(CLIPPED) == []
    box = panel.bounding_box()
    assert box is not None
    assert box["height"] > 0.4 * size[1]
    bench.button("Step").click()
    bench.at(16)
    show(page, "Build")
    expect(bench.build.get_by_label("Find a node or pod")).to_be_in_viewport(ratio=1)


def test_the_colouring_fits_the_scenario(page: Page, site: Stack) -> None:
    """By PodGroup for gangs, by priority where one preempts, else by workload, until somebody chooses."""
    wanted = {"gang-deadlock-coscheduled": "podgroup", "shop": "workload", "making-room": "priority"}
    chosen = page.get_by_label("Colour", exact=True)
    addresses = {slug: share(site, example_text(slug), slug) for slug in wanted}
    bench = Workbench(page).open(f"{addresses['making-room']}?colour=namespace")
    expect(chosen).to_have_value("namespace")
    for slug, colour in wanted.items():
        bench.open(addresses[slug])
        expect(chosen).to_have_value(colour)  # what a link asks for is not remembered
        assert "colour" not in page.url
    bench.step()
    expect(chosen).to_have_value("priority")
    swatches = page.get_by_role("group", name="Colours of pods").get_by_role("button")
    assert [text.split()[0] for text in texts(swatches)][:2] == ["2000", "1000"]
    chosen.select_option("workload")
    page.wait_for_function("() => location.search.includes('colour=workload')")
    bench.open(addresses["gang-deadlock-coscheduled"])
    expect(chosen).to_have_value("workload")
