"""Stepping, scrubbing and reading every tab: what the screen tells is what the engine decided."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from scheduler_core.record.cycle import Cycle
from tests.browser.pages import (
    Workbench,
    becomes,
    cycles_of,
    cycles_of_example,
    example_text,
    holds,
    share,
    texts,
)
from tests.services.stack import Stack

#: A cycle of the shop's in which seven nodes fail, five are ranked and two of them tie; and one that fails.
RANKED, FAILED = 20, 17


@pytest.fixture(scope="module")
def cycles() -> list[Cycle]:
    """The shop's cycles, as the engine decides them in this process."""
    return cycles_of(example_text("shop"))


@pytest.fixture(scope="module")
def shop(site: Stack) -> str:
    """The address of the shop on twelve nodes."""
    return share(site, example_text("shop"), "A shop on twelve nodes")


def test_an_example_is_picked(page: Page) -> None:
    """One click on an example of the start page opens a scenario that steps as the engine decides."""
    cycles = cycles_of_example("shop")
    page.goto("/?topic=clusters")
    page.get_by_role("link", name="A shop on twelve nodes").click()
    bench = Workbench(page).wait()
    assert "/s/" in page.url
    expect(page.get_by_role("heading", name="A shop on twelve nodes")).to_be_visible()
    expect(bench.stage.get_by_text("Before the first cycle")).to_be_visible()
    expect(bench.timeline).to_have_attribute("aria-valuemax", str(len(cycles)))
    for index in (1, 2, 3):
        bench.step().shows(cycles[index - 1])


def test_a_shop_is_walked_through(page: Page, shop: str, cycles: list[Cycle]) -> None:
    """By address and transport, and through every tab of a cycle that ranked and of one that failed."""
    bench = Workbench(page).open(shop)
    the_address_holds_what_is_on_screen(bench, cycles)
    the_chosen_node_has_the_numbers_after_the_cycle(bench, cycles)
    for claim in (steps_go_forward_and_back, play_moves_until_it_is_paused, the_timeline_is_dragged):
        page.keyboard.press("Home")
        bench.at(0)
        claim(bench, cycles)
    for reads in (
        predicates_tell_order_and_reasons,
        priorities_add_up_to_the_winner,
        the_queue_and_the_events_are_listed,
        the_story_is_reported,
        nodes_are_selected_in_tree_stage_and_table,
    ):
        bench.goto(RANKED)
        reads(bench, cycles)


def the_address_holds_what_is_on_screen(bench: Workbench, cycles: list[Cycle]) -> None:
    """Step, tab and node stand in the address; Back undoes tab and selection and keeps the step."""
    page = bench.page
    bench.step(2)
    expect(page).to_have_url(re.compile(r"\?step=2$"))
    bench.tab("Predicates")
    expect(page).to_have_url(re.compile(r"\?step=2&tab=predicates$"))
    bench.tab("Queue")
    expect(page).to_have_url(re.compile(r"\?step=2&tab=queue$"))
    bench.node("memory-2").click()
    expect(page).to_have_url(re.compile(r"\?step=2&tab=queue&node=memory-2$"))
    sheet = page.get_by_role("region", name="Selected")
    expect(sheet).to_contain_text("memory-2")
    page.go_back()
    expect(sheet).to_be_hidden()
    bench.is_on("Queue")
    page.go_back()
    bench.is_on("Predicates")
    bench.at(2).shows(cycles[1])
    page.go_forward()
    bench.is_on("Queue")
    page.reload()
    bench.wait().at(2).shows(cycles[1])
    bench.is_on("Queue")


def the_chosen_node_has_the_numbers_after_the_cycle(bench: Workbench, cycles: list[Cycle]) -> None:
    """The card of the chosen node, its pod blocks and its sheet all count the pod that was just placed."""
    bench.goto(1)
    card = bench.node(cycles[0].node or "")
    expect(card).to_contain_text("600m / 4")
    expect(card).to_contain_text("2 / 110")
    expect(card.get_by_title("placed by this cycle")).to_have_count(1)
    card.click()
    sheet = bench.page.get_by_role("region", name="Selected")
    expect(sheet).to_contain_text("600m of 4 requested")
    expect(sheet).to_contain_text("2 of 110")
    card.click()
    expect(sheet).to_be_hidden()


def steps_go_forward_and_back(bench: Workbench, cycles: list[Cycle]) -> None:
    """Nodes fill as steps go forward and empty as they go back; both ends stop."""
    page = bench.page
    placed = bench.stage.get_by_text(re.compile(r"12 nodes · \d+ of 42 pods placed"))
    expect(placed).to_contain_text("16 of 42")
    bench.step(3)
    expect(placed).to_contain_text("19 of 42")
    bench.button("Back (←)").click()
    bench.at(2).shows(cycles[1])
    expect(placed).to_contain_text("18 of 42")
    bench.button("To the last cycle (End)").click()
    bench.at(len(cycles)).shows(cycles[-1])
    bench.button("Step").click()
    bench.at(len(cycles))
    page.keyboard.press("Home")
    bench.at(0)
    expect(placed).to_contain_text("16 of 42")
    page.keyboard.press("End")
    bench.at(len(cycles))
    page.keyboard.press("Home")
    page.get_by_role("button", name=re.compile("Next failure")).click()
    bench.at(FAILED).shows(cycles[FAILED - 1])


def play_moves_until_it_is_paused(bench: Workbench, _: list[Cycle]) -> None:
    """Play steps by itself at the chosen speed; after Pause nothing moves."""
    page = bench.page
    page.get_by_label("Speed").select_option("5×")
    bench.button("Play").click()
    page.wait_for_function("() => podstep.playback.index >= 3")
    bench.button("Pause").click()
    expect(bench.button("Play")).to_be_visible()
    paused = bench.index
    # Longer than two steps take at this speed.
    page.evaluate(
        "new Promise(done => { const end = performance.now() + 600;"
        " const wait = () => performance.now() > end ? done() : requestAnimationFrame(wait); wait(); })"
    )
    assert bench.index == paused
    page.get_by_label("Speed").select_option("20×")
    bench.button("Play").click()
    bench.at(26)
    expect(bench.button("Play")).to_be_visible()


def the_timeline_is_dragged(bench: Workbench, cycles: list[Cycle]) -> None:
    """Pressing on the timeline goes there, dragging goes along, and what is shown is that cycle."""
    page = bench.page
    box = bench.timeline.bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2

    def x(index: int) -> float:
        return box["x"] + (index - 0.5) * min(30, box["width"] / len(cycles))

    page.mouse.move(x(5), middle)
    page.mouse.down()
    bench.at(5).shows(cycles[4])
    for index in (9, 17, 12):
        page.mouse.move(x(index), middle, steps=4)
        bench.at(index).shows(cycles[index - 1])
    page.mouse.up()
    page.mouse.move(x(3), middle, steps=3)
    bench.at(12)
    expect(page).to_have_url(re.compile(r"[?&]step=12\b"))


def the_story_is_reported(bench: Workbench, cycles: list[Cycle]) -> None:
    """The Story ends with the event, labelled as simulated; its nouns lead to what they name."""
    page = bench.page
    bench.goto(FAILED).shows(cycles[FAILED - 1])
    story = bench.tab("Story")
    event = " ".join(story.get_by_role("figure").inner_text().split())
    assert cycles[FAILED - 1].message in event
    assert event.startswith("Simulated event of pod ")
    bench.goto(RANKED)
    expect(story.get_by_role("figure")).to_contain_text("Scheduled")
    story.get_by_role("button", name="batch-1", exact=True).first.click()
    expect(page.get_by_role("region", name="Selected").get_by_role("heading")).to_have_text("batch-1")
    story.get_by_role("button", name="nightly-report-vs5b6").first.click()
    sheet = page.get_by_role("region", name="Selected")
    expect(sheet.get_by_role("heading")).to_have_text("nightly-report-vs5b6")
    expect(sheet).to_contain_text("Job nightly-report")


def test_a_clause_of_the_message_lights_its_nodes(page: Page, site: Stack) -> None:
    """Pressing `3 Insufficient cpu` lights up exactly the nodes that gave that reason; again, none."""
    bench = Workbench(page).open(share(site, example_text("reading-the-message")) + "?step=1")
    bench.at(1)
    clause = bench.panel("Story").get_by_role("button", name="3 Insufficient cpu")
    clause.click()
    expect(clause).to_have_attribute("aria-pressed", "true")
    expect(bench.stage.get_by_text("3 nodes: Insufficient cpu")).to_be_visible()
    lit = bench.stage.locator("button.lit")
    becomes(
        lambda: [name.split(",")[0] for name in lit.evaluate_all("all => all.map(e => e.ariaLabel)")],
        [
            "node-c",
            "node-d",
            "node-e",
        ],
    )
    clause.click()
    expect(lit).to_have_count(0)


def predicates_tell_order_and_reasons(bench: Workbench, cycles: list[Cycle]) -> None:
    """The ladder counts nodes in and out; the matrix tells passed, failed with a reason, or not reached."""
    panel = bench.tab("Predicates")
    rung = panel.get_by_role("listitem").filter(
        has=bench.page.get_by_role("button", name="GeneralPredicates")
    )
    expect(rung).to_contain_text("12 → 5")
    grid = panel.get_by_role("grid", name="Node by predicate")
    expect(grid.get_by_role("rowheader")).to_have_count(12)
    failed = grid.get_by_role("gridcell", name="GeneralPredicates: Insufficient cpu")
    expect(failed).to_have_count(7)
    expect(grid.get_by_role("gridcell", name="NoDiskConflict: not reached")).to_have_count(7)
    expect(grid.get_by_role("gridcell", name="MatchInterPodAffinity: passed")).to_have_count(5)
    panel.get_by_role("button", name="Fit", exact=True).click()
    expect(grid.get_by_role("rowheader")).to_have_count(5)
    panel.get_by_role("button", name="Failed", exact=True).click()
    expect(grid.get_by_role("rowheader")).to_have_count(7)
    panel.get_by_role("button", name="All", exact=True).click()
    panel.get_by_label("Filter nodes by name or reason").fill("batch")
    expect(grid.get_by_role("rowheader")).to_have_text(["batch-1", "batch-2"])
    panel.get_by_label("Filter nodes by name or reason").fill("")
    grid.get_by_role("columnheader", name=re.compile("^node")).click()
    expect(grid.get_by_role("rowheader").first).to_have_text("batch-1")
    bench.goto(FAILED)
    affinity = "node(s) didn't match pod affinity/anti-affinity"
    expect(grid.get_by_role("gridcell", name=affinity)).to_have_count(4)
    assert f"4 {affinity}" in cycles[FAILED - 1].message


def priorities_add_up_to_the_winner(bench: Workbench, _cycles: list[Cycle]) -> None:
    """Map, reduced and weighted scores belong together, weighted ones add up to the sum; the tie is shown."""
    panel = bench.tab("Priorities")
    grid = panel.get_by_role("grid", name="Node by priority")
    expect(grid.get_by_role("rowheader")).to_have_count(5)
    expect(grid.get_by_role("gridcell", name="100,036, chosen")).to_have_count(1)
    expect(grid.get_by_role("gridcell", name="100,036, tie")).to_have_count(1)
    summary = " ".join(panel.inner_text().split())
    assert "batch-1 is chosen with 100,036" in summary
    assert "2 nodes share that total" in summary
    counter, place, ordinal = re.search(r"(\d+) mod 2 = (\d), so the (\w+) of them", summary).groups()
    assert (int(counter) % 2, ordinal) == (int(place), {0: "1st", 1: "2nd"}[int(place)])
    ties = texts(panel.get_by_role("list").first.get_by_role("button"))
    assert (len(ties), ties[int(place)]) == (2, "batch-1")
    # The tie's place stands between the sum and the scores, in the order in which the counter goes round.
    _, rank_head, _, place_head, *head = texts(grid.get_by_role("columnheader"))
    cells = [texts(row.get_by_role("gridcell")) for row in grid.get_by_role("row").all()[1:]]
    assert (rank_head, [ranks for ranks, *_ in cells]) == ("rank", ["1", "1", "3", "3", "5"])
    assert (place_head, [places for _, _, places, *_ in cells]) == ("tie", ["0", "1", "", "", ""])
    assert [text.strip("▸ ") for text in texts(grid.get_by_role("rowheader"))[:2]] == ties
    weights = [float(name.partition("×")[2].replace(",", "") or 1) for name in head]
    values = {}
    for mode in ("Map", "Reduced", "Weighted"):
        panel.get_by_role("button", name=mode, exact=True).click()
        rows = [texts(row.get_by_role("gridcell")) for row in grid.get_by_role("row").all()[1:]]
        values[mode] = [[number(total), *map(number, scores)] for _, total, _, *scores in rows]
    for reduced, weighted in zip(values["Reduced"], values["Weighted"], strict=True):
        assert weighted[0] == sum(weighted[1:]) == reduced[0]
        assert weighted[1:] == [score * weight for score, weight in zip(reduced[1:], weights, strict=True)]
    assert all(0 <= score <= 10 for row in values["Reduced"] for score in row[1:])
    assert values["Map"] != values["Reduced"]
    bench.goto(FAILED)
    expect(panel).to_contain_text("There was nothing to rank.")


def number(text: str) -> float:
    """Return a score as it is printed: `100,036`, `100k`, or a dash where there is none."""
    if text == "–":
        return -1
    return float(text.replace(",", "").replace("k", "")) * (1000 if "k" in text else 1)


def the_queue_and_the_events_are_listed(bench: Workbench, cycles: list[Cycle]) -> None:
    """Who waited when the cycle began, in the queue's order; events newest first, whose cycles are links.

    Where the Story ends in the unschedulable queue, the Queue lists the pod there and counts it.
    """
    panel = bench.tab("Queue")
    active = panel.get_by_role("table").first.get_by_role("row")
    expected = [cycle.pod.split("/")[-1] for cycle in cycles[RANKED:]]
    expect(active).to_have_count(len(expected) + 1)
    becomes(lambda: [texts(row.get_by_role("cell"))[1] for row in active.all()[1:]], expected)
    expect(panel.get_by_role("table").last.get_by_role("button").first).to_have_text("search-6")
    table = bench.tab("Events").get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(RANKED + 1)
    newest = texts(table.get_by_role("row").nth(1).get_by_role("cell"))
    pod = cycles[RANKED - 1].pod
    assert [newest[0], *newest[2:5]] == [
        str(RANKED),
        "Normal",
        "Scheduled",
        f"pod/{pod.removeprefix('default/')}",
    ]
    assert newest[5] == f"Successfully assigned {pod} to batch-1"
    warning = table.get_by_role("row").filter(has_text="Warning")
    becomes(
        lambda: texts(warning.get_by_role("cell"))[3:],
        [
            "FailedScheduling",
            f"pod/{cycles[FAILED - 1].pod.removeprefix('default/')}",
            cycles[FAILED - 1].message,
        ],
    )
    warning.get_by_role("button", name=str(FAILED), exact=True).click()
    bench.at(FAILED).shows(cycles[FAILED - 1])
    expect(table.get_by_role("row")).to_have_count(FAILED + 1)
    moved = bench.tab("Queue").get_by_role("table").last.get_by_role("row")
    row = moved.filter(has_text="moved here by this cycle")
    expect(row.get_by_role("button").first).to_have_text(cycles[FAILED - 1].pod.split("/")[-1])
    waiting = cycles[FAILED - 1].queue
    expect(bench.inspect.get_by_role("tab", name="Queue")).to_contain_text(
        str(waiting.active_count + waiting.unschedulable_count + 1)
    )


def nodes_are_selected_in_tree_stage_and_table(bench: Workbench, _: list[Cycle]) -> None:
    """A node picked in the tree, on the stage or in the table is the same selection everywhere."""
    search = bench.build.get_by_label("Find a node or pod")
    search.fill("general-4")
    bench.build.get_by_role("treeitem", name=re.compile("^general-4")).click()
    sheet = bench.page.get_by_role("region", name="Selected")
    expect(sheet.get_by_role("heading")).to_have_text("general-4")
    expect(sheet).to_contain_text("1350m of 4 requested")
    expect(bench.node("general-4")).to_have_attribute("aria-pressed", "true")
    sheet.get_by_role("button", name="Close general-4").click()
    expect(sheet).to_be_hidden()
    bench.stage.get_by_role("button", name=re.compile("table", re.IGNORECASE)).click()
    table = bench.stage.get_by_role("grid", name="Nodes at this step")
    row = table.get_by_role("row").filter(has_text="batch-2")
    expect(row).to_contain_text("fits")
    row.get_by_role("rowheader").click()
    expect(sheet.get_by_role("heading")).to_have_text("batch-2")


def test_a_history_is_played(page: Page, site: Stack) -> None:
    """A Scenario's operations are reported with the cycle they come before; nodes come and go with them."""
    bench = Workbench(page).open(share(site, example_text("a-day")))
    expect(bench.stage.get_by_text(re.compile(r"2 nodes · "))).to_be_visible()
    page.keyboard.press("End")
    bench.at(8)
    expect(bench.stage.get_by_text(re.compile(r"3 nodes · "))).to_be_visible()
    expect(bench.panel("Story")).to_contain_text("Before this cycle")
    expect(bench.panel("Story")).to_contain_text("worker-3")


def test_phones_have_one_region_at_a_time(phone: Page, shop: str, cycles: list[Cycle]) -> None:
    """At 390 px the regions are tabs at the bottom, and the timeline steps by touch."""
    bench = Workbench(phone).open(f"{shop}?step={RANKED}")
    bench.at(RANKED)
    bar = phone.get_by_role("navigation", name="Regions")
    bar.get_by_role("button", name="Stage").tap()
    expect(bench.inspect).to_be_hidden()
    bench.button("Step").tap()
    bench.at(RANKED + 1).shows(cycles[RANKED])
    bar.get_by_role("button", name="Inspect").tap()
    expect(bench.stage.get_by_role("group", name="Nodes by zone")).to_be_hidden()
    bench.tab("Priorities")
    # The transport stays at hand while a tab is read.
    bench.button("Step").tap()
    bench.at(RANKED + 2)
    bar.get_by_role("button", name="Build").tap()
    expect(bench.inspect).to_be_hidden()
    expect(bench.stage.get_by_role("group", name="Nodes by zone")).to_be_hidden()
    expect(bench.build.get_by_role("tree", name="Objects")).to_be_visible()


def test_many_nodes_are_a_heat_map(page: Page, site: Stack) -> None:
    """Five hundred nodes are drawn as a map in which the pointer and the keyboard select a node."""
    bench = Workbench(page).open(share(site, example_text("five-hundred")) + "?step=400&tab=predicates")
    bench.at(400)
    heat = bench.stage.get_by_label(re.compile("^Nodes as a heat map"))
    expect(heat).to_be_visible()
    shades = (
        "canvas => { const { width, height } = canvas; const pixels ="
        " canvas.getContext('2d').getImageData(0, 0, width, height).data; const seen = new Set();"
        " for (let i = 0; i < pixels.length; i += 4) seen.add(pixels[i] << 16 | pixels[i + 1] << 8"
        " | pixels[i + 2]); return seen.size; }"
    )
    holds(lambda: heat.evaluate(shades), lambda drawn: drawn > 10)  # not one colour
    heat.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    sheet = page.get_by_role("region", name="Selected")
    expect(sheet.get_by_role("heading")).to_be_visible()
    grid = bench.panel("Predicates").get_by_role("grid")
    # Only the rows in view are in the document.
    assert int(grid.get_attribute("aria-rowcount") or 0) == 501
    assert grid.get_by_role("rowheader").count() < 120
