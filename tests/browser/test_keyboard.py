"""The main job without a pointer."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.editors import manifests
from tests.browser.pages import Workbench, cycles_of_example, example_text, share, tab_until
from tests.services.stack import Stack


def test_the_main_job_by_keyboard_alone(page: Page) -> None:
    """From the start page to a shared link of a cycle: Tab, Enter and the keys of the help."""
    cycles = cycles_of_example("shop")
    stuck = next(cycle.index for cycle in cycles if cycle.node is None)
    page.goto("/?topic=clusters")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    tab_until(page, lambda name: name.startswith("A shop on twelve nodes"))
    page.keyboard.press("Enter")
    bench = Workbench(page).wait()
    for index in (1, 2, 3):
        page.keyboard.press("ArrowRight")
        bench.at(index).shows(cycles[index - 1])
    page.keyboard.press("ArrowLeft")
    bench.at(2)
    page.keyboard.press("End")
    bench.at(len(cycles))
    page.keyboard.press("Home")
    bench.at(0)
    page.keyboard.press(".")
    bench.at(stuck).shows(cycles[stuck - 1])
    bench.goto(20).shows(cycles[19])
    page.keyboard.press("2")
    bench.is_on("Predicates")
    page.keyboard.press("4")
    bench.is_on("Priorities")
    page.keyboard.press("1")
    bench.is_on("Story")
    page.keyboard.press("s")
    dialog = page.get_by_role("dialog", name="Share this view")
    link = dialog.get_by_label("Link to this view")
    expect(link).to_be_focused()
    expect(link).to_have_value(re.compile(r"/s/[\w-]+/\?step=20$"))
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    bench.at(20)


def open_example(page: Page) -> None:
    """Choose a topic, then its example."""
    page.goto("/")
    tab_until(page, lambda name: name.startswith("Filtering"))
    page.keyboard.press("Enter")
    expect(page.locator("[data-example]:visible")).to_have_count(4)
    tab_until(page, lambda name: "0/5 nodes are available" in name)
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/**")
    Workbench(page).wait()


def fork_it(page: Page) -> None:
    """Make a copy of one's own by the palette."""
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Command")).to_be_focused()
    page.keyboard.type("fork")
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/**")
    Workbench(page).wait()


def step_there_and_back(page: Page) -> None:
    """Step on by the arrow, back, and to the cycle by its number."""
    bench = Workbench(page)
    page.keyboard.press("ArrowRight")
    bench.at(1)
    page.keyboard.press("ArrowLeft")
    bench.at(0)
    page.keyboard.press("g")
    expect(page.get_by_role("dialog", name="Go to step").get_by_label("Step")).to_be_focused()
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    bench.at(1)


def light_up_a_clause(page: Page) -> None:
    """Of the message in the story, press a clause: the nodes that it counts light up."""
    page.keyboard.press("1")
    tab_until(page, lambda name: name == "2 Insufficient cpu")
    page.keyboard.press("Enter")
    page.wait_for_function("() => podstep.view.lit?.nodes.size === 2")
    page.keyboard.press("Escape")


def read_why(page: Page) -> None:
    """Ask why the pod is pending, and read the first change that would help."""
    page.keyboard.press("w")
    why = page.get_by_role("dialog")
    expect(why.get_by_role("heading", name="Why is report pending?")).to_be_focused()
    expect(why.get_by_text("Uncordon node node-a").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(why).to_have_count(0)


def go_on_with_it(page: Page) -> None:
    """Back on the start page, one's draft is a few tabs away."""
    page.goto("/")
    tab_until(page, lambda name: "0/5 nodes are available" in name and "ago" in name)
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/**")
    Workbench(page).wait()


def share_it(page: Page) -> None:
    """Share, with the link in the focus, ready to be copied; Escape leads back."""
    page.keyboard.press("s")
    dialog = page.get_by_role("dialog", name="Share this view")
    expect(dialog.get_by_label("Link to this view")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


#: What people come for, one after the other; none takes more than the keys of its sentence.
JOBS: tuple[Callable[[Page], None], ...] = (
    open_example,
    step_there_and_back,
    light_up_a_clause,
    read_why,
    share_it,
    fork_it,
    go_on_with_it,
)
#: The focus stands on something that is seen, or on the page itself, never on what is hidden.
SEEN = """() => {
    const e = document.activeElement, box = e.getBoundingClientRect();
    const visible = box.width > 0 && box.height > 0 && getComputedStyle(e).visibility !== "hidden";
    return e === document.body || visible;
}"""


def test_the_jobs_by_keyboard_alone(page: Page) -> None:
    """Each job is done without a pointer, and never leaves the focus on what cannot be seen."""
    for job in JOBS:
        job(page)
        assert page.evaluate(SEEN), (
            f"after {job.__name__} the focus is on {page.evaluate('document.activeElement.outerHTML')}"
        )


def test_the_focus_is_seen_wherever_it_goes(page: Page) -> None:
    """Every stop of Tab on the start page and in the workbench has an outline or another ring."""
    for path in ("/", "/reference/cache/", "/runs/", "/api/"):
        page.goto(path)
        for _ in range(14):
            page.keyboard.press("Tab")
            found = page.evaluate(RING)
            assert found["ring"], f"{path}: no ring around {found['what']}"


#: Whether a ring of at least 2 pixels, or one of another element for it, is drawn around what has the focus.
RING = """() => {
    let e = document.activeElement;
    if (e === document.body) return { what: "the page, after its last stop", ring: true };
    const what = e.outerHTML.slice(0, 160);
    for (let up = 0; e && up < 4; up += 1, e = e.parentElement) {
        const style = getComputedStyle(e);
        if (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) return { what, ring: true };
        if (up > 0 && style.boxShadow.includes("0px 0px 0px")) return { what, ring: true };
    }
    return { what, ring: false };
}"""


def test_a_paste_by_keyboard(page: Page) -> None:
    """The box takes a paste, Escape Tab leaves it, and Ctrl+Enter opens the workbench."""
    page.goto("/")
    tab_until(page, lambda name: name == "Manifests")
    box = manifests(page)
    page.keyboard.insert_text(example_text("first-cycle"))
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(box.field).not_to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(box.field).to_be_focused()
    page.keyboard.press("Control+Enter")
    bench = Workbench(page).wait()
    page.keyboard.press("ArrowRight")
    bench.at(1)


def space_plays_and_pauses(page: Page, bench: Workbench) -> None:
    """Space starts and stops playing wherever the focus is not on a control."""
    page.keyboard.press("Space")
    expect(bench.button("Pause")).to_be_visible()
    page.wait_for_function("() => podstep.playback.index >= 2")
    page.keyboard.press("Space")
    expect(bench.button("Play")).to_be_visible()


def nodes_are_found_and_walked_through(page: Page, bench: Workbench) -> None:
    """`/` finds a node; arrows walk through the tree and the stage, Enter selects, Escape lets go."""
    page.keyboard.press("/")
    expect(bench.build.get_by_label("Find a node or pod")).to_be_focused()
    page.keyboard.insert_text("memory-2")
    leaf = bench.build.get_by_role("treeitem", name=re.compile("^memory-2"))
    expect(leaf).to_be_visible()
    page.keyboard.press("Tab")
    for _ in range(6):
        if leaf.evaluate("e => e === document.activeElement"):
            break
        page.keyboard.press("ArrowDown")
    expect(leaf).to_be_focused()
    page.keyboard.press("Enter")
    sheet = page.get_by_role("region", name="Selected")
    expect(sheet.get_by_role("heading")).to_have_text("memory-2")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    bench.node("general-1").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(sheet.get_by_role("heading")).to_have_text(re.compile("^general-"))


def the_timeline_is_a_slider(page: Page, bench: Workbench) -> None:
    """The timeline has one tab stop, moves by arrows and pages, and says where it is."""
    bench.timeline.focus()
    page.keyboard.press("PageUp")
    bench.at(10)
    page.keyboard.press("ArrowRight")
    bench.at(11)
    expect(bench.timeline).to_have_attribute("aria-valuetext", "cycle 11 of 26, scheduled")
    page.keyboard.press("Home")
    expect(bench.timeline).to_have_attribute("aria-valuetext", "before the first cycle")


def tabs_and_matrices_are_walked_through(page: Page, bench: Workbench) -> None:
    """Arrows move between tabs and, in a matrix with one tab stop, between cells; Enter selects or sorts."""
    bench.goto(20)
    bench.inspect.get_by_role("tab", name="Story").focus()
    page.keyboard.press("ArrowRight")
    bench.is_on("Predicates")
    grid = bench.panel("Predicates").get_by_role("grid")
    expect(grid.get_by_role("rowheader")).to_have_count(12)
    grid.locator("[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    focused = grid.locator(":focus")
    expect(focused).to_have_accessible_name(re.compile("fit"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Selected").get_by_role("heading")).to_have_text("general-2")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(grid.get_by_role("columnheader").first).to_have_attribute("aria-sort", "ascending")


def panels_help_and_table_have_keys(page: Page, bench: Workbench) -> None:
    """`[` and `]` hide the panels, `t` shows the nodes as a table, `?` lists the keys; splitters move."""
    bench.goto(3)
    splitter = page.get_by_role("separator", name="Width of the Inspect panel")
    width = int(splitter.get_attribute("aria-valuenow") or 0)
    splitter.focus()
    page.keyboard.press("ArrowLeft")
    expect(splitter).to_have_attribute("aria-valuenow", str(width + 20))
    page.keyboard.press("[")
    expect(bench.build).to_be_hidden()
    page.keyboard.press("]")
    expect(bench.inspect).to_be_hidden()
    page.keyboard.press("]")
    expect(bench.inspect).to_be_visible()
    page.keyboard.press("t")
    expect(bench.stage.get_by_role("grid", name="Nodes at this step")).to_be_visible()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Next event, second, failure")
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    bench.at(3)


def test_everything_in_the_workbench_has_keys(page: Page, site: Stack) -> None:
    """Timeline, nodes, tabs, matrices, panels and Play, one after the other in the shop on twelve nodes."""
    bench = Workbench(page).open(share(site, example_text("shop"), "A shop on twelve nodes"))
    for claim in (
        the_timeline_is_a_slider,
        nodes_are_found_and_walked_through,
        tabs_and_matrices_are_walked_through,
        panels_help_and_table_have_keys,
        space_plays_and_pauses,
    ):
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("Home")
        claim(page, bench)


def test_reduced_motion_is_respected(visitor: Callable[..., Page]) -> None:
    """Who asks for less motion sees no animation, and the small cluster waits for a click."""
    page = visitor(reduced_motion="reduce")
    page.goto("/")
    small = page.get_by_role("region", name="A small cluster that is being scheduled")
    expect(small.get_by_role("button", name="Play")).to_be_visible()
    assert page.evaluate("document.getAnimations().filter(one => one.playState === 'running').length") == 0
