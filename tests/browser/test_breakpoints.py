"""Breakpoints, running to them, and the next cycle worth a look."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench, becomes, cycles_of, example_text, share
from tests.services.stack import Stack

SHOP = "shop"
SELECTOR = """apiVersion: v1
kind: Node
metadata: {{name: n{n}, labels: {{disk: {disk}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "90"}}}}
"""
POD = """apiVersion: v1
kind: Pod
metadata: {{name: p{n}}}
spec: {{nodeSelector: {{{selector}}}, containers: [{{name: c, image: c}}]}}
"""


def picky() -> str:
    """Three nodes and eighty pods; the seventieth alone wants an SSD, which n2 alone has."""
    nodes = [SELECTOR.format(n=n, disk="ssd" if n == 2 else "hdd") for n in (1, 2, 3)]
    pods = [POD.format(n=n, selector="disk: ssd" if n == 70 else "") for n in range(1, 81)]
    return "---\n".join([*nodes, *pods])


@pytest.fixture
def bench(page: Page, site: Stack) -> Workbench:
    """The shop on twelve nodes, before its first cycle; cycles 17 and 26 fail."""
    return Workbench(page).open(share(site, example_text(SHOP), "A shop on twelve nodes"))


def panel(page: Page) -> Locator:
    """Open the panel of breakpoints by its key."""
    page.keyboard.press("b")
    found = page.get_by_role("dialog", name="Breakpoints")
    expect(found).to_be_visible()
    return found


def set_by_form(page: Page, kind: str, about: str = "", within: str = "") -> None:
    """Set a breakpoint by the form of the panel, and close it."""
    box = panel(page)
    box.get_by_role("combobox", name="Stop when").select_option(kind)
    fields = box.locator("input.field:visible")
    for place, text in enumerate((about, within)):
        if text:
            fields.nth(place).fill(text)
    box.get_by_role("button", name="Set this breakpoint").click()
    expect(box.get_by_role("checkbox")).not_to_have_count(0)
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)


def note(page: Page) -> Locator:
    """Return what says why it stopped."""
    return page.locator(".stop-note")


def test_play_stops_at_a_breakpoint(page: Page, site: Stack) -> None:
    """Playing ends at the first cycle that breaks, and says why; playing again goes on from there."""
    bench = Workbench(page).open(share(site, picky()) + "?step=66")
    set_by_form(page, "predicate", "MatchNodeSelector")
    page.get_by_label("Speed").select_option("20")
    bench.button("Play").click()
    bench.at(70)
    expect(bench.button("Play")).to_be_visible()
    expect(note(page)).to_contain_text("stopped: MatchNodeSelector failed on n1 and n3")
    bench.button("Play").click()
    bench.at(80)


def test_breakpoints_are_kept_switched_off_and_removed(page: Page, bench: Workbench) -> None:
    """A reload keeps them with whether they are on; what is off does not stop; a removed one is gone."""
    set_by_form(page, "preemption")
    set_by_form(page, "unschedulable")
    box = panel(page)
    box.get_by_role("checkbox", name="any pod is unschedulable").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    bench.wait()
    expect(page.get_by_role("button", name="Breakpoints: 1")).to_be_visible()
    page.keyboard.press("r")
    expect(page.get_by_text("No later cycle breaks.")).to_be_visible()
    box = panel(page)
    expect(box.get_by_role("checkbox", name="any pod is unschedulable")).not_to_be_checked()
    box.get_by_role("button", name="Remove: any preemption").click()
    expect(box.get_by_role("checkbox")).to_have_count(1)


def test_a_search_can_be_cancelled(page: Page, site: Stack) -> None:
    """While it is searched the note says how far it is; Cancel ends it, and one stands where one stood."""
    bench = Workbench(page).open(share(site, picky()))
    page.evaluate(
        """() => {
          const { socket } = podstep;
          const call = socket.call.bind(socket);
          const never = new Promise(() => {});
          socket.call = (name, payload) => (name === "cycle.find" ? never : call(name, payload));
        }"""
    )
    set_by_form(page, "predicate", "MatchNodeSelector")
    page.keyboard.press("r")
    expect(note(page)).to_contain_text("searching on")
    note(page).get_by_role("button", name="Cancel").click()
    expect(note(page)).to_be_hidden()
    bench.at(0)


def test_the_next_cycle_worth_a_look(page: Page, bench: Workbench) -> None:
    """`n` stops where something new happens and says what: failures, a quirk when it is first met."""
    cycles = cycles_of(example_text(SHOP))
    met: list[int] = []
    said: dict[int, str] = {}
    for _ in cycles:
        before = bench.index
        page.keyboard.press("n")
        page.wait_for_function(
            "before => !podstep.view.walking && podstep.playback.index === podstep.playback.wanted",
            arg=before,
        )
        if bench.index == before:
            break
        bench.at(bench.index)
        met.append(bench.index)
        said[bench.index] = note(page).inner_text()
    quirks: dict[str, int] = {}
    for cycle in cycles:
        for quirk in cycle.quirks:
            quirks.setdefault(quirk.id, cycle.index)
    failed = {cycle.index for cycle in cycles if cycle.node is None}
    assert failed | set(quirks.values()) <= set(met) and len(met) < len(cycles) / 2
    assert met == sorted(met)
    assert all("is unschedulable" in said[index] for index in failed)
    for cycle in cycles:
        if cycle.index in quirks.values():
            assert cycle.quirks[0].text.rstrip(".") in said[cycle.index]
    expect(page.get_by_text("No later cycle is interesting")).to_be_visible()
    page.keyboard.press("Shift+N")
    bench.at(met[-2])
    for index in met[-3::-1]:  # back by the same way, with the same reasons
        page.keyboard.press("Shift+N")
        bench.at(index)
        becomes(lambda: note(page).inner_text(), said[index])
    assert "first pod of" in said[met[0]]


def test_storage_that_is_broken_does_no_harm(page: Page, bench: Workbench) -> None:
    """What somebody else left in the browser's storage is not taken for breakpoints."""
    scenario = page.evaluate("podstep.playback.source.scenario")
    for kept in (
        "{",
        "[]",
        json.dumps({f"scenario:{scenario}": [["nonsense", True], 7, ["preemption", True]]}),
    ):
        page.evaluate("kept => localStorage.setItem('podstep.breaks', kept)", kept)
        page.reload()
        bench.wait()
    expect(page.get_by_role("button", name="Breakpoints: 1")).to_be_visible()
