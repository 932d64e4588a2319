"""What is looked for, and the node of the cycle, are in view; opening details moves nothing on the stage."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.clusters import zoned
from tests.browser.conftest import PHONE
from tests.browser.editors import yaml_of
from tests.browser.pages import Workbench, becomes, cycles_of, drafted, example_text, holds, share
from tests.browser.test_layout import WIDTHS
from tests.browser.test_step_to_paint import note, summary
from tests.e2e import bundles
from tests.services.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

#: The colours of the tokens named on a canvas around its middle: how many pixels of each.
AROUND = """(canvas, [names, reach]) => {
    const ratio = canvas.width / canvas.clientWidth, edge = Math.round(2 * reach * ratio);
    const left = reach ? Math.round(canvas.width / 2 - edge / 2) : 0;
    const top = reach ? Math.round(canvas.height / 2 - edge / 2) : 0;
    const [wide, high] = reach ? [edge, edge] : [canvas.width, canvas.height];
    const { data } = canvas.getContext("2d").getImageData(left, top, wide, high);
    return names.map(name => {
        const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1);
        const [r, g, b] = [0, 2, 4].map(i => parseInt(hex.slice(i, i + 2), 16));
        let found = 0;
        for (let i = 0; i < data.length; i += 4)
            if (data[i] === r && data[i + 1] === g && data[i + 2] === b) found += 1;
        return found;
    });
}"""
#: Where every card is on the page, and how large the stage is.
BOXES = """() => [document.querySelector(".stage-body"), ...document.querySelectorAll(".node")]
    .map(one => one.getBoundingClientRect())
    .map(({ x, y, width, height }) => [x, y, width, height].map(Math.round))"""


def search(page: Page, text: str) -> Locator:
    """Press the key of the search and type; return what is reported over the stage."""
    page.keyboard.press("/")
    page.keyboard.type(text)
    return page.get_by_role("region", name="Found")


def chosen(bench: Workbench) -> Locator:
    """Return the card of the node that the cycle chose."""
    return bench.stage.locator(".node.chosen")


def test_a_search_marks_where_a_pod_is(page: Page, site: Stack) -> None:
    """Its card is marked by name and in view, match by match; of one that waits is said where."""
    text = example_text("shop")
    bench = Workbench(page).open(f"{share(site, text, 'Shop')}?step=12").at(12)
    no_tab_takes_room_and_back_brings_a_search_back(bench)
    cycle = cycles_of(text)[11]
    found = search(page, "search-1")
    expect(found).to_contain_text(f"1 of 1pod search-1 on {cycle.node}")
    assert cycle.node is not None
    card = bench.node(cycle.node)
    expect(card).to_have_class(re.compile(r"\bspot\b"))
    expect(card).to_have_attribute("data-spot", "search-1")
    expect(card.locator(".pod.hit")).to_have_count(1)
    expect(card).to_be_in_viewport(ratio=1)
    page.keyboard.press("Control+a")
    page.keyboard.type("search")
    expect(found).to_contain_text("2 of 7pod search-1")  # one stays where one was
    expect(bench.stage.locator(".pod.hit")).to_have_count(2)
    found.get_by_role("button", name="Next match").click()
    expect(found).to_contain_text("3 of 7")
    expect(found).to_contain_text(re.compile(r"pod search-\d pending, in the active queue, number \d+ of 14"))
    expect(bench.stage.locator(".node.spot")).to_have_count(0)
    found.get_by_role("button", name="Previous match").click()
    expect(found).to_contain_text("2 of 7")
    expect(bench.stage.locator(".node.spot")).to_be_in_viewport(ratio=1)
    found.get_by_role("button", name="End the search").click()
    expect(found).to_be_hidden()
    expect(bench.stage.locator(".node.found")).to_have_count(0)
    expect(bench.build.get_by_label("Find a node or pod")).to_have_value("")
    expect(bench.stage.locator(".stage-body")).to_be_focused()  # the button that had the focus is gone
    enter_selects_what_was_found_and_goes_on(bench.goto(20))


def no_tab_takes_room_and_back_brings_a_search_back(bench: Workbench) -> None:
    """Regions stay as wide as they were; an address with a search is reported and marked."""
    # Build's tabs, the text beside the policy and Inspect's tabs leave the regions as wide as they
    # were.
    page = bench.page
    widths, boxes = page.evaluate(WIDTHS), page.evaluate(BOXES)
    for name in ("Policy", "YAML", "Objects"):
        bench.build.get_by_role("tab", name=name).click()
        assert (name, page.evaluate(WIDTHS)) == (name, widths)
        assert page.evaluate(BOXES) == boxes
    bench.build.get_by_role("tab", name="Policy").click()
    for part in bench.build.locator("summary").all():
        part.click()
    assert page.evaluate(WIDTHS) == widths
    for name in ("Predicates", "Priorities", "Queue", "Events", "Story"):
        bench.tab(name)
        assert (name, page.evaluate(WIDTHS), page.evaluate(BOXES)) == (name, widths, boxes)
    # Build shows the YAML, and Back leads to an address with a search: it is reported and marked.
    found = search(page, "search-1")
    expect(found).to_contain_text("1 of 1")
    page.wait_for_url(re.compile("search=search-1"))
    bench.tab("Queue")
    bench.build.get_by_role("tab", name="YAML").click()
    found.get_by_role("button", name="End the search").click()
    expect(found).to_be_hidden()
    expect(page).not_to_have_url(re.compile("search="))
    page.go_back()
    expect(found).to_contain_text("1 of 1pod search-1")
    expect(bench.stage.locator(".node.spot")).to_have_count(1)
    page.go_forward()
    expect(found).to_be_hidden()
    expect(bench.stage.locator(".node.spot")).to_have_count(0)
    bench.build.get_by_role("tab", name="Objects").click()


def test_a_search_finds_in_the_text_that_was_applied(page: Page) -> None:
    """With the YAML open: a pod that went is not found, others keep their names; no number of old is used."""
    nodes = [bundles.node(f"node-{at}") for at in range(4)]
    cart, shop = (bundles.deployment(name, 6) for name in ("cart", "shop"))
    bench = Workbench(page).open(f"{drafted(page, bundles.bundle(*nodes, cart, shop))}?step=4").at(4)
    found = search(page, "shop")
    found.get_by_role("button", name="Next match").click()
    expect(found).to_contain_text("2 of 6")
    second = found.get_by_role("button", name=re.compile("^shop-")).inner_text()
    yaml = yaml_of(bench).shows(re.compile("kind"))
    apply = bench.build.get_by_role("button", name="Apply", exact=True)
    yaml.fill(bundles.bundle(*nodes, shop))
    apply.click()
    expect(bench.stage.locator(".pod.hit")).to_have_count(4)
    expect(found).to_contain_text(f"2 of 6pod {second}")  # by its name: its number is another one now
    yaml.fill(bundles.bundle(*nodes[:1], cart))
    apply.click()
    expect(found).to_contain_text("No matches for “shop”.")
    expect(bench.stage.locator(".pod.hit, .node.found")).to_have_count(0)


def test_a_search_leaves_the_stage_where_it_was_moved(page: Page, site: Stack) -> None:
    """A branch that opens, other colours or new pods neither scroll to the match nor choose another one."""
    bench = Workbench(page).open(f"{share(site, zoned(60), 'Sixty nodes')}?step=20").at(20)
    details_lie_over_cards(bench, 60)
    a_selected_pod_is_shown_where_it_is(bench)
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1440, "height": 640})  # where not all cards fit
    found = search(page, "node-a1")
    expect(found).to_contain_text("1 of")
    found.get_by_role("button", name="Next match").click()
    expect(found).to_contain_text("2 of")
    body = bench.stage.locator(".stage-body")
    body.evaluate("one => { one.scrollTop = one.scrollHeight; }")
    stays = body.evaluate("one => one.scrollTop")
    assert stays > 0
    bench.build.get_by_role("treeitem").first.click()
    bench.stage.get_by_label("Colour", exact=True).select_option("age")
    # Controllers have made pods.
    page.evaluate("podstep.view.store.pods.value = { ...podstep.view.store.pods.value }")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert body.evaluate("one => one.scrollTop") == stays
    expect(found).to_contain_text("2 of")


def enter_selects_what_was_found_and_goes_on(bench: Workbench) -> None:
    """Enter selects the match, once more the next one, with Shift the one before; Escape ends the search."""
    page = bench.page
    found = search(page, "frontend")
    expect(found).to_contain_text("1 of 6")
    page.keyboard.press("Enter")
    heading = page.get_by_role("region", name="Selected").get_by_role("heading")
    first = heading.inner_text()
    page.keyboard.press("Enter")
    expect(heading).not_to_have_text(first)
    expect(found).to_contain_text("2 of 6")
    expect(bench.stage.locator(".node.spot")).to_be_in_viewport()
    page.keyboard.press("Shift+Enter")
    expect(heading).to_have_text(first)
    page.keyboard.press("Escape")
    expect(found).to_be_hidden()


def a_selected_pod_is_shown_where_it_is(bench: Workbench) -> None:
    """A pod that is selected in the text of the cycle has its card marked and brought into view."""
    bench.stage.locator(".stage-body").evaluate("one => { one.scrollTop = one.scrollHeight; }")
    bench.inspect.get_by_role("button", name=re.compile("^web-")).first.click()
    marked = bench.stage.locator(".node.spot")
    expect(marked).to_have_attribute("data-spot", re.compile("^web-"))
    expect(marked).to_be_in_viewport(ratio=1)


def test_a_search_looks_closer_among_five_thousand_nodes(page: Page, site: Stack) -> None:
    """The cell is ringed in the middle of the picture and on the map; after the search all are shown."""
    bench = Workbench(page).open(f"{share(site, zoned(5_000, 0.01), '5,000 nodes')}?step=5").at(5)
    small = bench.stage.locator(".minimap")
    canvas = page.locator(".heat canvas[role]")
    expect(small).to_be_hidden()
    pod = page.evaluate("podstep.playback.pods.keys[podstep.playback.current.pod].split('/')[1]")
    found = search(page, pod)
    expect(found).to_contain_text(f"pod {pod} on node-")
    expect(small).to_be_visible()
    holds(lambda: canvas.evaluate(AROUND, [["--ink"], 24])[0], lambda ink: ink > 100)
    holds(lambda: small.evaluate(AROUND, [["--ink"], 0])[0], lambda ink: ink > 4)
    found.get_by_role("button", name="End the search").click()
    expect(small).to_be_hidden()
    five_thousand_nodes_are_drawn_at_once(page)


def five_thousand_nodes_are_drawn_at_once(page: Page) -> None:
    """All of them, and those in view of a closer look, are drawn in a frame; a busy machine is given ten."""
    for view, zoom in (("all", 0), ("closer", 4)):
        page.locator(".heat canvas[role]").focus()
        for _ in range(zoom):
            page.keyboard.press("+")
        drawn = page.evaluate(
            """async () => {
                const native = requestAnimationFrame.bind(window);
                let cost = 0;
                window.requestAnimationFrame = act => native(now => {
                    const began = performance.now(); act(now); cost += performance.now() - began; });
                const costs = [];
                for (let i = 0; i < 20; i += 1) {
                    cost = 0;
                    podstep.view.hover(i);
                    await new Promise(resolve => native(() => native(resolve)));
                    costs.push(cost);
                }
                window.requestAnimationFrame = native;
                return costs;
            }"""
        )
        figures = summary(drawn)
        note(f"5,000 nodes drawn, {view}", figures)
        assert min(drawn) < 160, drawn  # what disturbs only slows


def test_on_a_phone_a_search_leads_to_the_stage(phone: Page, site: Stack) -> None:
    """Enter in the search of Build shows the stage with the pod's card, and the way to the next match."""
    bench = Workbench(phone).open(f"{share(site, example_text('shop'), 'Shop')}?step=20").at(20)
    phone.get_by_role("button", name="Build", exact=True).click()
    field = bench.build.get_by_label("Find a node or pod")
    field.fill("cart")
    field.press("Enter")
    expect(bench.stage.locator(".node.spot")).to_be_in_viewport()
    phone.get_by_role("region", name="Found").get_by_role("button", name="Next match").click()
    expect(phone.get_by_role("region", name="Found")).to_contain_text("2 of")
    expect(bench.stage.locator(".node.spot")).to_be_in_viewport()


def test_the_node_of_the_cycle_is_in_view(page: Page, site: Stack) -> None:
    """Step by step its card is; who has scrolled elsewhere stays there, and has a button that leads back."""
    bench = Workbench(page).open(share(site, zoned(60), "Sixty nodes"))
    for width, height in ((1440, 640), PHONE):
        page.set_viewport_size({"width": width, "height": height})
        the_node_is_in_view_step_by_step(bench)


def the_node_is_in_view_step_by_step(bench: Workbench) -> None:
    """Expect it in a window where not all cards fit."""
    page = bench.page
    for _ in range(8):
        bench.step()
        expect(chosen(bench)).to_be_in_viewport(ratio=1)
    body = bench.stage.locator(".stage-body")
    show = bench.stage.get_by_role("button", name=re.compile("^Show node-"))
    expect(show).to_be_hidden()

    def look_elsewhere() -> None:
        body.hover()
        down = body.evaluate("one => one.scrollTop < one.scrollHeight / 2")
        page.mouse.wheel(0, 20_000 if down else -20_000)
        expect(show).to_be_visible()

    look_elsewhere()
    stays = body.evaluate("one => one.scrollTop")
    bench.step()
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert body.evaluate("one => one.scrollTop") == stays
    look_elsewhere()
    show.click()
    expect(chosen(bench)).to_be_in_viewport(ratio=1)
    expect(show).to_be_hidden()
    expect(body).to_be_focused()
    for _ in range(3):
        bench.step()
        expect(chosen(bench)).to_be_in_viewport(ratio=1)


def test_the_overview_follows_the_cycle_until_it_is_moved(page: Page, site: Stack) -> None:
    """Closer up the picture goes where the node is; dragged elsewhere it stays, and a button leads back."""
    bench = Workbench(page).open(f"{share(site, zoned(300, 0.2), '300 nodes')}?step=3").at(3)
    details_lie_over_the_picture(bench)
    canvas = page.locator(".heat canvas[role]")
    canvas.focus()
    for _ in range(5):
        page.keyboard.press("+")
    show = bench.stage.get_by_role("button", name=re.compile("^Show node-"))
    if show.is_visible():
        show.click()
    for _ in range(6):
        bench.step()
        holds(lambda: canvas.evaluate(AROUND, [["--accent"], 0])[0], lambda accent: accent > 60)
        expect(show).to_be_hidden()
    box = canvas.bounding_box()
    assert box is not None
    for way in (1, -1, 1, -1):  # to one corner, or if the node is there to the other
        if show.is_visible():
            break
        for _ in range(12):
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.mouse.down()
            page.mouse.move(
                box["x"] + box["width"] / 2 + way * 300, box["y"] + box["height"] / 2 + way * 250, steps=3
            )
            page.mouse.up()
    expect(show).to_be_visible()
    show.click()
    expect(show).to_be_hidden()
    holds(lambda: canvas.evaluate(AROUND, [["--accent"], 0])[0], lambda accent: accent > 60)


def test_details_lie_over_the_stage(page: Page, site: Stack) -> None:
    """Neither the cards nor the picture move or shrink for them, and what is selected is not under them."""
    bench = Workbench(page).open(f"{share(site, zoned(12, 0.5), 'Nodes')}?step=3").at(3)
    details_lie_over_cards(bench, 12)


def details_lie_over_cards(bench: Workbench, nodes: int) -> None:
    """Of so many nodes in three zones the last of the first is not under them either."""
    page = bench.page
    body = bench.stage.locator(".stage-body")
    body.evaluate("one => { one.scrollTop = 0; }")
    before = page.evaluate(BOXES)
    sheet = page.get_by_role("region", name="Selected")
    cards = bench.stage.locator(".node")
    cards.first.click()
    expect(sheet).to_be_visible()
    assert page.evaluate(BOXES) == before
    sheet.get_by_role("button", name=re.compile("^Close")).click()
    last = cards.nth(nodes // 3 - 1)  # the last of its zone: at the lower end
    last.click()
    expect(sheet).to_be_visible()

    def free() -> bool:
        under, over = last.bounding_box(), sheet.bounding_box()
        assert under is not None
        assert over is not None
        return under["y"] + under["height"] <= over["y"] + 1

    becomes(free, True)
    sheet.get_by_role("button", name=re.compile("^Close")).click()


def details_lie_over_the_picture(bench: Workbench) -> None:
    """Of many nodes it stays where it was."""
    page = bench.page
    before, canvas = page.evaluate(BOXES), page.locator(".heat canvas[role]")
    drawn = canvas.bounding_box()
    canvas.click(position={"x": 30, "y": 45})
    sheet = page.get_by_role("region", name="Selected")
    expect(sheet).to_be_visible()
    assert canvas.bounding_box() == drawn
    assert page.evaluate(BOXES) == before
    sheet.get_by_role("button", name=re.compile("^Close")).click()


def test_beside_a_wide_build_the_node_is_in_view(page: Page, site: Stack) -> None:
    """With 585 pixels of Build zones stand below each other; the cycle's node is in view all the same."""
    page.add_init_script(
        "localStorage.setItem('podstep.layout', JSON.stringify({ build: 585, inspect: 470 }))"
    )
    bench = Workbench(page).open(share(site, example_text("shop"), "Shop"))
    for _ in range(6):
        bench.step()
        expect(chosen(bench)).to_be_in_viewport(ratio=1)
