"""What is on screen can be read: from the last row, on a phone on its side, and in forced colours."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FloatRect, Page, expect

from tests.browser.clusters import zoned
from tests.browser.conftest import DESKTOP, PHONE, in_both_themes
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
    const seen = one => one.checkVisibility(visible) && !one.closest(".sr, .skip, option");
    const named = one => `${one.tagName.toLowerCase()}.${one.className.baseVal ?? one.className}`;
    const note = (one, size, text) => {
        if (size < least - 0.01) small.add(`${size}px ${named(one)} "${text.trim().slice(0, 30)}"`);
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const { parentElement: one, data } = walker.currentNode;
        if (!data.trim() || !seen(one)) continue;
        const range = document.createRange();
        range.selectNodeContents(walker.currentNode);
        if (![...range.getClientRects()].some(({ width, height }) => width && height)) continue;
        note(one, parseFloat(getComputedStyle(one).fontSize) * (one.getScreenCTM?.().a ?? 1), data);
    }
    for (const one of document.body.querySelectorAll("*")) {
        if (!seen(one)) continue;
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


@pytest.mark.parametrize("size", [PHONE, LANDSCAPE, DESKTOP, SMALL_PROJECTOR], ids=lambda size: f"{size[0]}")
def test_no_text_is_smaller_than_13_pixels(
    visitor: Callable[..., Page], site: Stack, size: tuple[int, int]
) -> None:
    """On every tab of Inspect with its views, of Build, in details, dialogs and forms, on every screen.

    Inspect has the same text on two screens each: the narrowest of both layouts is looked at. On a larger
    screen text is larger: the next test.
    """
    page = visitor(size=size)
    found: dict[str, list[str]] = {}

    def look(where: str) -> None:
        page.wait_for_function("() => !document.querySelector('.region .waiting')", polling=POLLING)
        if small := page.evaluate(SMALL, 13):
            found[where] = small

    bench = Workbench(page)
    examples = (("coscheduling-no-room", 4), ("making-room", 1), ("cache-stale-write", 2))
    for slug, step in examples if size in (PHONE, SMALL_PROJECTOR) else ():
        bench.open(f"{share(site, example_text(slug), slug)}?step={step}").at(step)
        look(f"{slug}: stage")
        show(page, "Inspect")
        for tab in bench.inspect.get_by_role("tab").all():
            if not tab.is_visible():
                continue
            tab.click()
            name = tab.inner_text().split("\n")[0]
            for view in bench.inspect.locator(".cache-views button, .gang-views button").all():
                if not view.is_visible():
                    continue
                view.click()
                look(f"{slug}: {name}, {view.inner_text()}")
            bench.inspect.locator("details, .weigh-open").evaluate_all(
                "all => all.forEach(one => one.matches('details') ? (one.open = true) : one.click())"
            )
            look(f"{slug}: {name}, all of it")
    bench.open(f"{drafted(page, example_text('shop'), 'Shop')}?step=14").at(14)
    look("shop: stage")
    bench.stage.locator(".node").first.click()
    look("shop: details")
    page.get_by_role("region", name="Selected").get_by_role("button", name=re.compile("^Close")).click()
    show(page, "Build")
    if not bench.build.is_visible():
        page.keyboard.press("[")
    for name in ("Policy", "YAML", "Objects"):
        bench.build.get_by_role("tab", name=name).click()
        if name == "YAML":
            expect(bench.build.locator(".editor")).to_contain_text("kind")
        look(f"Build: {name}")
    bench.build.get_by_role("button", name="Add").click()
    look("Build: Add")
    page.keyboard.press("Escape")
    for keys, dialog in (
        ("Control+k", "Command palette"),
        ("?", "Keys"),
        ("b", "Breakpoints"),
        ("s", "Share"),
    ):
        page.keyboard.press(keys)
        expect(page.get_by_role("dialog", name=dialog)).to_be_visible()
        look(dialog)
        page.keyboard.press("Escape")
    assert not found, "\n".join(f"{where}: {'; '.join(small[:6])}" for where, small in found.items())


def test_text_grows_with_the_screen(visitor: Callable[..., Page], site: Stack) -> None:
    """On 1920 × 1080 pixels, which a projector may have, nothing is as small as on a desk."""
    address = f"{share(site, example_text('shop'), 'Shop')}?step=12&tab=predicates"
    page = visitor(size=PROJECTOR)
    bench = Workbench(page).open(address).at(12)
    expect(bench.panel("Predicates")).to_contain_text("GeneralPredicates")
    assert page.evaluate(SMALL, 15) == []
    page.set_viewport_size({"width": 1440, "height": 900})
    becomes(lambda: page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)"), 13)


@pytest.mark.parametrize(("size", "least"), [(DESKTOP, 17), (PROJECTOR, 24)], ids=["1440", "1920"])
def test_few_cards_fill_the_stage(
    visitor: Callable[..., Page], site: Stack, size: tuple[int, int], least: int
) -> None:
    """Three nodes take the room that there is, text and all, which no step changes; sixty all fit, too."""
    page = visitor(size=size)
    bench = Workbench(page).open(f"{share(site, zoned(3), 'Three nodes')}?step=1").at(1)
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
    bench.goto(14)
    becomes(boxes, before)
    assert all(box["y"] + box["height"] <= body["y"] + body["height"] for box in before)
    bench.open(f"{share(site, zoned(60), 'Sixty nodes')}?step=1").at(1)
    expect(bench.stage.locator(".node .room").first).to_be_visible()
    expect(bench.stage.locator(".node")).to_have_count(60)
    within = """body => [...body.querySelectorAll(".node")].filter(one => one.getBoundingClientRect().bottom
        > body.getBoundingClientRect().bottom || one.scrollWidth > one.clientWidth).length"""
    becomes(lambda: bench.stage.locator(".stage-body").evaluate(within), 0)


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
    page = visitor(size=LANDSCAPE, has_touch=True, is_mobile=True)
    bench = Workbench(page).open(f"{share(site, example_text('shop'), 'Shop')}?step=12").at(12)
    for width, height in (LANDSCAPE, (667, 375), (932, 430)):
        page.set_viewport_size({"width": width, "height": height})
        bench.goto(12)
        show(page, "Stage")
        shows_one_region_whole(bench, (width, height))
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
    wanted = {"gang-deadlock-coscheduled": "podgroup", "making-room": "priority", "shop": "workload"}
    field = page.get_by_label("Colour", exact=True)
    addresses = {slug: share(site, example_text(slug), slug) for slug in wanted}
    bench = Workbench(page)
    for slug, colour in wanted.items():
        bench.open(addresses[slug])
        expect(field).to_have_value(colour)
        assert "colour" not in page.url
    bench.open(f"{addresses['making-room']}?colour=namespace")
    expect(field).to_have_value("namespace")
    bench.open(addresses["making-room"]).step()
    expect(field).to_have_value("priority")  # what a link asks for is not remembered
    swatches = page.get_by_role("group", name="Colours of pods").get_by_role("button")
    assert [text.split()[0] for text in texts(swatches)][:2] == ["2000", "1000"]
    field.select_option("workload")
    page.wait_for_function("() => location.search.includes('colour=workload')")
    bench.open(addresses["gang-deadlock-coscheduled"])
    expect(field).to_have_value("workload")
