"""Moments inside a cycle: what is on screen, said or pointed at tells nothing that is decided later."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from scheduler_core import load
from scheduler_core.record.cycle import Cycle
from scheduler_core.run import simulate
from tests.browser.conftest import turned
from tests.browser.pages import Workbench, example_text, share, show
from tests.browser.test_time import settled
from tests.services.stack import Stack

#: Opens every tab of Inspect, one after the other; returns by the tab all that somebody then reads, hears or
#: gets by pointing, but for the scenario's own words, which no step changes.
ON_EVERY_TAB = """async () => {
  const about = document.querySelector(".about");
  if (about) about.style.display = "none";
  const names = ["title", "aria-label", "aria-valuetext", "aria-description", "alt"];
  const frame = () => new Promise(requestAnimationFrame);
  const found = {};
  const tabs = [...document.querySelectorAll("#region-inspect [role=tab]")];
  for (const tab of tabs.filter((one) => one.checkVisibility())) {
    tab.click();
    do await frame(); while (document.querySelector("[data-inspect] > .waiting"));
    if (tab.ariaSelected !== "true") throw new Error(`${tab.textContent} is not open`);
    const said = [document.title, document.body.innerText];
    for (const one of document.body.querySelectorAll(names.map((name) => `[${name}]`).join())) {
      if (one.closest("#region-build, .about")) continue;
      for (const name of names) said.push(one.getAttribute(name) ?? "");
    }
    const live = document.querySelectorAll("[aria-live], [role=status], .sr");
    said.push(...[...live].map((one) => one.textContent));
    found[tab.textContent] = said.join("\\n");
  }
  if (about) about.style.display = "";
  return found;
}"""


def secrets(cycle: Cycle, coming: set[str]) -> list[str]:
    """Return patterns of what is decided in the phases of a cycle that are still to come."""
    found = []
    if coming:
        name = re.escape(cycle.pod.removeprefix("default/"))
        found += [
            r"nodes are available",
            rf"assigned \S*{name}",
            rf"{name} is placed",
            r"unschedulable for now",
        ]
        found += [r"Consequences of this cycle", r"rejected as a whole", r"is rejected"]
    if {"select", "assume"} & coming and "select" not in cycle.phases[: len(cycle.phases) - len(coming)]:
        found += [r"\bchosen\b", r"placed by this cycle"]
    if "priorities" in coming and cycle.totals is not None:
        found += [f"{int(cycle.totals.max()):,}", "Best nodes", r"score \d"]
    if "preemption" in coming:
        found += [r"nominated for", r"\bvictim", r"Candidate nodes", "Where it cannot help"]
    if "predicates" in coming:
        found += [r"rules out", r"does not fit", r"Insufficient", r"nodes fit", r"pass every predicate"]
    return found


def test_moments_of_a_cycle_that_preempts(page: Page, site: Stack) -> None:
    """Tabs, a stop's reason and Why are cut at a moment, and what is drawn is of one."""
    bench = Workbench(page).open(share(site, example_text("making-room")))
    no_tab_tells_what_a_later_phase_decides(bench, "making-room", 1)
    bench.goto(0)
    a_stop_and_its_reason_are_taken_away_by_a_step_into_its_phases(bench)
    bench.goto(0)
    tabs_say_that_a_moment_is_too_early_for_them(bench)
    bench.goto(0)
    why_at_a_phase_tells_what_is_known_by_then(bench)
    nodes_lack_what_they_are_said_to_lack(bench)


def test_moments_of_a_group_that_has_no_room(page: Page, site: Stack) -> None:
    """Its nodes, its parts and its end are cut at a moment, and what is drawn is of one."""
    bench = Workbench(page).open(f"{share(site, example_text('coscheduling-no-room'))}?step=3").at(3)
    no_tab_tells_what_a_later_phase_decides(bench, "coscheduling-no-room", 4)
    bench.goto(3)
    what_a_node_was_found_to_be_is_past_once_it_has_changed(bench)
    moments_cut_groups_events_and_the_end(bench)
    nodes_lack_what_they_are_said_to_lack(bench)


def test_nodes_that_failed_lack_what_they_are_said_to_lack(page: Page, site: Stack) -> None:
    """Nor is anything said of them that they had before."""
    nodes_lack_what_they_are_said_to_lack(Workbench(page).open(share(site, example_text("node-fails"))))


def into(bench: Workbench, phase: str) -> None:
    """Go on by Shift and the arrow to a phase of the next cycle."""
    reached: object = ""
    while reached != phase:
        bench.page.get_by_role("main", name="Stage").focus()
        bench.page.keyboard.press("Shift+ArrowRight")
        reached = settled(bench.page)[2]
        assert bench.index, phase


def no_tab_tells_what_a_later_phase_decides(bench: Workbench, slug: str, index: int) -> None:
    """By Shift and the arrow from phase to phase, over every tab: no text, title, label or announcement."""
    simulation = simulate(load(example_text(slug)), trace=True)
    cycle = [simulation.step() for _ in range(index)][-1]
    assert cycle is not None
    page = bench.page
    settled(page)
    stage = page.get_by_role("main", name="Stage")
    drawn = page.evaluate("podstep.playback.timed ? ['preBind', 'assume', 'reserve', 'postBind'] : []")
    phases = [
        phase for phase in cycle.phases if phase not in drawn and (not cycle.moves or phase != "select")
    ]
    for at, phase in enumerate(phases):
        stage.focus()
        page.keyboard.press("Shift+ArrowRight")
        assert settled(page)[:3] == [index, 0, phase]
        patterns = secrets(cycle, set(phases[at + 1 :]))
        on_tabs = page.evaluate(ON_EVERY_TAB)
        assert len(on_tabs) >= 7
        for name, said in on_tabs.items():
            for pattern in patterns:
                found = re.search(f".*{pattern}.*", said)
                assert found is None, (phase, name, pattern, found and found[0][:300])
        bench.tab("Story")
    stage.focus()
    page.keyboard.press("Shift+ArrowLeft")
    assert settled(page)[2] == phases[-2]
    page.keyboard.press("ArrowRight")


def tabs_say_that_a_moment_is_too_early_for_them(bench: Workbench) -> None:
    """Each tab whose matter is decided later says so, and what leads on; no later phase is named."""
    page = bench.page
    into(bench, "queue")
    for name, words in (
        ("Predicates", "No predicate has run at this moment."),
        ("Priorities", "No node is ranked at this moment."),
        ("Preemption", "Preemption is not tried at this moment."),
    ):
        expect(bench.tab(name)).to_contain_text(words)
    phases = bench.stage.get_by_label("Phases of this cycle").locator("li")
    expect(phases).to_have_count(2)
    expect(phases.last).to_contain_text("later phases are open")
    expect(bench.stage.get_by_text("in flight")).to_have_count(1)
    for _ in range(2):
        page.get_by_role("main", name="Stage").focus()
        page.keyboard.press("Shift+ArrowRight")
        settled(page)
    expect(bench.tab("Preemption")).to_contain_text("report-4 is deleted from worker-4")
    # its victim is drawn once, where it still is
    nominated = bench.stage.get_by_role("button", name=re.compile("^worker-4, .*1 victim to be deleted"))
    expect(nominated.locator(".pod.victim")).to_have_count(1)
    expect(nominated.locator(".pod:not(.ghost)")).to_have_count(3)


#: Goes through all that a cycle shows, moments, phases and the whole; returns the nodes that are said to lack
#: what they have in the cluster that is drawn, and how many were looked at.
CONTRADICTIONS = """async () => {
  const { playback, view } = podstep;
  const frame = () => new Promise(requestAnimationFrame);
  const wrong = [];
  let looked = 0;
  for (let index = 1; index <= playback.cycles; index += 1) {
    playback.goto(index);
    const start = performance.now();
    while (playback.index !== index || !playback.heavy(index)) {
      if (performance.now() - start > 60_000) throw new Error(`no cycle ${index}`);
      await frame();
    }
    const light = playback.light(index);
    const moments = playback.moments.map((_, i) => ({ at: i + 1 }));
    const wishes = [{}, ...moments, ...light.phases.map((phase) => ({ phase }))];
    for (const wish of wishes) {
      await frame();
      playback.goto(index, performance.now(), { at: 0, phase: "", ...wish });
      await frame();
      await frame();
      const { nodes, pods, cluster } = playback;
      for (const card of document.querySelectorAll(".node[data-node]")) {
        const said = `${card.textContent} ${card.getAttribute("aria-label")}`;
        const node = Number(card.dataset.node);
        for (const resource of ["cpu", "memory"]) {
          const free = nodes[resource][node] - cluster[resource][node];
          const asked = pods[resource][light.pod];
          if (!said.includes(`Insufficient ${resource}`)) continue;
          looked += 1;
          if (free >= asked) wrong.push([index, wish, nodes.names[node], resource, free, asked]);
        }
      }
    }
  }
  return [wrong, looked];
}"""


def nodes_lack_what_they_are_said_to_lack(bench: Workbench) -> None:
    """Verdicts and bars are of one moment: at every moment and phase of every cycle, and of whole cycles."""
    wrong, looked = bench.page.evaluate(CONTRADICTIONS)
    assert wrong == []
    assert looked > 0


def what_a_node_was_found_to_be_is_past_once_it_has_changed(bench: Workbench) -> None:
    """Of a group that gives its nodes back: at PostFilter they are full, after it empty, and say so."""
    page = bench.page
    into(bench, "postFilter")
    full = bench.stage.get_by_role(
        "button", name=re.compile(r"^worker-\d, cpu 3 of 3, .*does not fit: Insuff")
    )
    expect(full).to_have_count(3)
    expect(bench.stage.locator(".node .pod.waiting")).to_have_count(3)
    page.get_by_role("main", name="Stage").focus()
    page.keyboard.press("ArrowRight")
    assert settled(page)[:3] == [4, 0, ""]
    empty = bench.stage.get_by_role(
        "button", name=re.compile(r"^worker-\d, cpu 0 of 3, .*did not fit when tried; 1 pod left since$")
    )
    expect(empty).to_have_count(3)
    expect(bench.stage.locator(".node.failed")).to_have_count(0)


def moments_cut_groups_events_and_the_end(bench: Workbench) -> None:
    """Before the attempt no pod is named; after it groups and events are there as far as they have come."""
    page = bench.page
    moment = page.get_by_role("slider", name="Moment")
    moment.press("Home")
    assert settled(page)[:2] == [4, 1]
    panel = bench.tab("PodGroups")
    expect(panel).to_contain_text("3 / 4")
    expect(panel).not_to_contain_text("Consequences of this cycle")
    failed = bench.tab("Events").get_by_role("row", name=re.compile("FailedScheduling"))
    expect(failed).to_have_count(0)
    moment.press("ArrowRight")
    settled(page)
    expect(failed).not_to_have_count(0)
    expect(bench.tab("PodGroups")).to_contain_text("Consequences of this cycle")
    bench.goto(7)
    moment.press("Home")
    settled(page)
    if page.evaluate("podstep.playback.moments[0].kind") == "event":
        expect(bench.stage.get_by_text("Before the attempt")).to_be_visible()
        expect(bench.tab("Queue")).to_contain_text("No pod is taken from the queue at this moment.")


def why_at_a_phase_tells_what_is_known_by_then(bench: Workbench) -> None:
    """At the predicates it has their reasons and no node that is nominated; the rest is one press away."""
    page = bench.page
    into(bench, "predicates")
    bench.tab("Story")
    bench.inspect.get_by_role("button", name="Why?", exact=True).click()
    dialog = page.get_by_role("dialog", name=re.compile("^Why checkout"))
    expect(dialog).to_contain_text("0 of 8 nodes pass every predicate")
    expect(dialog).to_contain_text("Insufficient cpu")
    assert not re.search(r"nominated|victim|verified", dialog.inner_text())
    dialog.get_by_role("button", name="Show the whole cycle, and what would help").click()
    assert settled(page)[:3] == [1, 0, ""]
    expect(page.get_by_role("dialog")).to_contain_text("checkout")
    page.keyboard.press("Escape")


#: The colours of the timeline's marks, at the foot of each.
COLOURS = """() => {
  const canvas = document.querySelector(".timeline .track canvas");
  const { playback } = podstep;
  const ratio = canvas.width / canvas.clientWidth;
  const scale = Math.min(30, canvas.clientWidth / playback.last);
  const pen = canvas.getContext("2d");
  const at = (i) => pen.getImageData(Math.round((i + 0.3) * scale * ratio), canvas.height - 4, 1, 1);
  return Array.from({ length: playback.cycles }, (_, i) => [...at(i).data].join());
}"""


def colours(page: Page) -> list[str]:
    """Return the colour of every cycle's mark once it is painted."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    found: list[str] = page.evaluate(COLOURS)
    return found


def test_moments_of_a_shop(page: Page, site: Stack) -> None:
    """The timeline, every tab and the way to a preemption tell nothing of what was not visited."""
    bench = Workbench(page).open(share(site, example_text("shop")))
    the_timeline_says_nothing_of_cycles_that_were_not_visited(bench)
    bench.goto(1)
    the_preemption_tab_names_no_later_cycle_that_was_not_visited(bench)
    for index in (9, 17):
        bench.goto(index - 1)
        no_tab_tells_what_a_later_phase_decides(bench, "shop", index)


def the_timeline_says_nothing_of_cycles_that_were_not_visited(bench: Workbench) -> None:
    """No colour, text by pointing, value or legend; a switch shows them, and the browser remembers it."""
    page = bench.page
    fresh = colours(page)
    assert len(set(fresh)) == 1
    bench.step(2)
    assert len(set(colours(page)[2:])) == 1
    assert colours(page)[0] != fresh[0]
    track = bench.timeline
    box = track.bounding_box()
    assert box
    scale = min(30, box["width"] / 26)
    tip = page.locator(".track-tip")
    page.mouse.move(box["x"] + 16.5 * scale, box["y"] + 20)
    expect(tip).to_have_text("cycle 17 · not visited yet")
    page.mouse.move(box["x"] + 1.5 * scale, box["y"] + 20)
    expect(tip).to_contain_text("scheduled")
    legend = page.get_by_role("list", name="Marks of the timeline")
    expect(legend.get_by_text("quirk of v1.11")).to_be_hidden()
    page.get_by_role("main", name="Stage").focus()
    page.keyboard.press("Shift+ArrowRight")
    settled(page)
    expect(track).to_have_attribute("aria-valuetext", "cycle 3 of 26, not visited yet")
    assert len(set(colours(page)[2:])) == 1
    switch = legend.get_by_role("button", name="Show outcomes ahead")
    expect(switch).to_have_attribute("aria-pressed", "false")
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    assert len(set(colours(page))) > 1
    expect(legend.get_by_text("quirk of v1.11")).to_be_visible()
    page.mouse.move(box["x"] + 16.5 * scale, box["y"] + 20)
    expect(tip).to_contain_text("unschedulable")
    page.reload()
    Workbench(page).wait()
    assert len(set(colours(page))) > 1
    page.get_by_role("main", name="Stage").focus()
    page.keyboard.press("o")
    assert len(set(colours(page)[2:])) == 1


def test_visited_cycles_stay_known_over_a_reload_and_for_their_scenario_alone(
    page: Page, site: Stack
) -> None:
    """A link to a cycle makes those before it known; another scenario begins anew; all is bounded."""
    address = share(site, example_text("shop"))
    other = share(site, example_text("spread-over-zones"))
    page.goto(address + "?step=9")
    bench = Workbench(page).wait().at(9)
    assert len(set(colours(page)[9:])) == 1
    assert colours(page)[0] != colours(page)[-1]
    bench.goto(3)
    page.goto(address)
    Workbench(page).wait()
    marks = colours(page)
    assert (marks[8] == marks[0], marks[9] == marks[0]) == (True, False)
    page.goto(other)
    Workbench(page).wait()
    assert len(set(colours(page))) == 1
    kept = """() => {
      for (let i = 0; i < 200; i += 1) {
        const rows = JSON.parse(localStorage.getItem("podstep.seen"));
        localStorage.setItem("podstep.seen", JSON.stringify([...rows, [`{"share":"s${i}"}`, 3]]));
      }
    }"""
    page.evaluate(kept)
    Workbench(page).step()
    page.wait_for_function("() => JSON.parse(localStorage.getItem('podstep.seen')).length === 60")
    page.evaluate("localStorage.setItem('podstep.seen', '{\"no\": [')")
    page.reload()
    Workbench(page).wait().step()
    assert len(set(colours(page)[2:])) == 1


def the_preemption_tab_names_no_later_cycle_that_was_not_visited(bench: Workbench) -> None:
    """It offers to go to the next one; where there is none it says so when asked."""
    page = bench.page
    bench.tab("Preemption")
    settled(page)
    panel = bench.inspect.get_by_role("tabpanel")
    expect(panel).to_contain_text("No preemption in this cycle.")
    assert "#" not in panel.inner_text()
    panel.get_by_role("button", name="Go to the next cycle with one").click()
    page.wait_for_function("() => podstep.playback.index > 1 || document.querySelector('.toast')")


def a_stop_and_its_reason_are_taken_away_by_a_step_into_its_phases(bench: Workbench) -> None:
    """The note says what the cycle is worth a look for; at a phase of it that would be the answer."""
    page = bench.page
    page.get_by_role("main", name="Stage").focus()
    page.keyboard.press("n")
    note = page.locator(".stop-note")
    expect(note).to_contain_text("preemption for checkout")
    settled(page)
    for _ in range(2):
        page.keyboard.press("Shift+ArrowLeft")
        settled(page)
    expect(note).to_be_hidden()
    assert bench.index == 1


def test_moments_inside_on_every_screen(page: Page, accessible: Callable[[Page], None], site: Stack) -> None:
    """Early tabs and the switch pass axe, and do not scroll sideways."""
    address = share(site, example_text("coscheduling-room"))
    bench = Workbench(page).open(f"{address}?step=4&phase=preFilter&tab=story")
    settled(page)
    for tab in ("Story", "Priorities", "Queue", "PodGroups"):
        bench.tab(tab)
        accessible(page)
        for size in turned(page):
            show(page, "Inspect")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (tab, size)
