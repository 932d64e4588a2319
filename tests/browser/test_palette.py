"""The command palette and the keyboard map, which are made of one table."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.modules import served
from tests.browser.pages import Workbench, example_text, press_for, share
from tests.services.stack import Stack


@pytest.fixture
def bench(page: Page, site: Stack) -> Workbench:
    """The shop on twelve nodes, before its first cycle."""
    return Workbench(page).open(share(site, example_text("shop"), "A shop on twelve nodes"))


def opened(page: Page, text: str = "") -> Locator:
    """Open the palette by its key and type."""
    box = page.get_by_role("dialog", name="Command palette")
    press_for(box, "Control+k")
    expect(box.get_by_role("combobox", name="Command")).to_be_focused()
    page.keyboard.insert_text(text)
    return box


def active(box: Locator) -> Locator:
    """Return the option that Enter would take, which the combobox names."""
    expect(box.locator("[aria-selected=true]")).to_have_count(1)
    named = box.get_by_role("combobox").get_attribute("aria-activedescendant")
    expect(box.locator("[aria-selected=true]")).to_have_id(named or "")
    return box.locator("[aria-selected=true]")


def steps_nodes_pods_and_tabs_are_gone_to(page: Page, bench: Workbench) -> None:
    """A number goes to its cycle, major.minor to its step, a few letters to a node, a pod or a tab."""
    box = opened(page, "17")
    expect(active(box)).to_have_text("Go to cycle 17")
    page.keyboard.press("Enter")
    expect(box).to_have_count(0)
    bench.at(17)
    opened(page, "1.3")
    page.keyboard.press("Enter")
    bench.at(3)
    box = opened(page, "gnl4")
    expect(active(box)).to_have_text("general-4")
    page.keyboard.press("Enter")
    selected = page.get_by_role("region", name="Selected").get_by_role("heading")
    expect(selected).to_have_text("general-4")
    opened(page, "search-6")
    page.keyboard.press("Enter")
    expect(selected).to_have_text("search-6")
    opened(page, "tab prio")
    page.keyboard.press("Enter")
    bench.is_on("Priorities")


def test_an_example_is_opened(page: Page, bench: Workbench) -> None:
    """An example is found by its title and opened under an address of its own."""
    box = opened(page, "making room")
    expect(box.get_by_role("option", name="Making room")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/s/[\w-]+/"))
    Workbench(page).wait()
    expect(page.get_by_role("heading", name="Making room")).to_be_visible()


def what_was_used_last_stands_first(page: Page, bench: Workbench) -> None:
    """What was run is offered first when nothing is typed, the last one before the others, over a reload."""
    for text in ("to the end", "nodes as a table"):
        opened(page, text)
        page.keyboard.press("Enter")
    bench.at(26)
    page.reload()
    bench.wait()
    box = opened(page)
    recent = box.get_by_role("group", name="Recent").get_by_role("option")
    expect(recent).to_have_text([re.compile("^Nodes as a table"), re.compile("^To the end")])


def the_list_is_walked_through(page: Page, bench: Workbench) -> None:
    """Arrows wrap around, the mouse chooses, Escape and the key close it, and what is not there is said."""
    box = opened(page, "break")
    options = box.get_by_role("option")
    names = options.all_inner_texts()
    assert len(names) > 2
    page.keyboard.press("ArrowDown")
    expect(active(box)).to_have_text(
        options.nth(1).inner_text().split("\n")[0] + "".join(names[1].split("\n")[1:])
    )
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.keyboard.insert_text("qqqq")
    expect(box.get_by_role("status")).to_have_text("No matches.")
    expect(options).to_have_count(0)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    box = opened(page)
    box.get_by_role("option", name=re.compile("^To the end")).click()
    bench.at(26)
    opened(page)
    page.keyboard.press("Control+k")
    expect(box).to_have_count(0)


def keys_do_nothing_while_typing(page: Page, bench: Workbench) -> None:
    """In a field letters are letters, and the palette's key still works; in a dialog nothing else listens."""
    page.keyboard.press("/")
    field = bench.build.get_by_label("Find a node or pod")
    page.keyboard.type("bnrg 1?")
    expect(field).to_have_value("bnrg 1?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert bench.index == 0
    opened(page)
    page.keyboard.press("Escape")
    expect(field).to_be_focused()
    field.evaluate("field => field.blur()")
    page.keyboard.press("b")
    box = page.get_by_role("dialog", name="Breakpoints")
    page.keyboard.press("n")
    page.keyboard.press("ArrowRight")
    expect(box).to_be_visible()
    assert bench.index == 0


def test_the_editor_keeps_its_keys(page: Page, site: Stack) -> None:
    """In the YAML editor the letters of commands are typed, and arrows move the cursor."""
    bench = Workbench(page).open(share(site, example_text("first-cycle")))
    bench.build.get_by_role("tab", name="YAML").click()
    editor = bench.build.locator(".cm-content")
    editor.click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    page.keyboard.type("bn?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert bench.index == 0


def the_help_has_every_key_of_the_table(page: Page, bench: Workbench) -> None:
    """Keys that work are in the help, in groups, and each that the help lists is a key of the table."""
    keys = page.evaluate(
        "async (module) => (await import(module)).COMMANDS.flatMap(({ keys }) => keys ?? [])",
        served(page, "workbench/commands/commands.ts"),
    )
    assert len(keys) == len(set(keys))
    for wanted in (
        "ArrowRight",
        "ArrowLeft",
        "Shift+ArrowRight",
        " ",
        "Home",
        "End",
        "g",
        "/",
        "b",
        "s",
        "?",
        "n",
        "r",
    ):
        assert wanted in keys
    page.keyboard.press("?")
    box = page.get_by_role("dialog", name="Keys")
    for group in ("Time", "Run to", "Look", "Change", "Help"):
        expect(box.get_by_role("heading", name=group, exact=True)).to_be_visible()
    caps = box.locator("kbd").all_inner_texts()
    tabs = 9
    assert len(caps) == len(keys) - tabs + 2
    for wanted in ("→", "Shift →", "Space", "g", "/", "b", "s", "?", "Ctrl K", "Shift N"):
        assert wanted in caps
    box.get_by_role("button", name="open it").click()
    expect(page.get_by_role("dialog", name="Command palette")).to_be_visible()


def test_everything_is_found_by_its_key_or_a_few_letters(page: Page, bench: Workbench) -> None:
    """The palette, the keys and the help, one after the other on one page."""
    for claim in (
        what_was_used_last_stands_first,
        keys_do_nothing_while_typing,
        the_list_is_walked_through,
        steps_nodes_pods_and_tabs_are_gone_to,
        the_help_has_every_key_of_the_table,
    ):
        page.keyboard.press("Escape")
        page.keyboard.press("Home")
        bench.at(0)
        claim(page, bench)


def test_on_a_phone_a_button_opens_it(phone: Page, site: Stack) -> None:
    """At 390 px a button opens the palette, which keeps within the phone and shows what it goes to."""
    bench = Workbench(phone).open(share(site, example_text("shop")))
    phone.get_by_role("button", name="Command palette").click()
    box = phone.get_by_role("dialog", name="Command palette")
    edges = box.bounding_box()
    assert edges and edges["x"] >= 0 and edges["x"] + edges["width"] <= 390
    box.get_by_role("combobox").fill("queue")
    box.get_by_role("option", name="Tab Queue").click()
    bench.is_on("Queue")
    phone.get_by_role("button", name="Command palette").click()
    box.get_by_role("combobox").fill("general-4")
    box.get_by_role("option", name="general-4").click()
    expect(phone.get_by_role("region", name="Selected").get_by_role("heading")).to_have_text("general-4")


def test_the_palette_and_the_help_are_accessible(
    visitor: Callable[..., Page], site: Stack, accessible: Callable[[Page], None]
) -> None:
    """Both keep to WCAG 2.2 AA, the palette with something typed."""
    page = visitor(color_scheme="light")
    Workbench(page).open(share(site, example_text("shop")))
    box = opened(page)
    page.keyboard.insert_text("gen")
    expect(box.get_by_role("option", name="general-4")).to_be_visible()
    accessible(page)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    accessible(page)
