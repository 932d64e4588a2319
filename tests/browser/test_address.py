"""The address holds what is on screen: set by clicks, copied, opened by somebody else, it shows the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, example_text, share
from tests.services.stack import Stack

#: What a person sees of a view: texts, what is pressed, chosen and typed, by region.
SEEN = """() => {
    const shown = element => element.getClientRects().length > 0;
    const texts = root => [...document.querySelectorAll(root)].flatMap(part => [
        part.innerText.replace(/\\s+/g, ' '),
        ...[...part.querySelectorAll('input, select')].filter(shown).map(field => field.value),
        ...[...part.querySelectorAll('[aria-pressed=true], [aria-selected=true], [aria-sort], .is-selected')]
            .filter(shown).map(one => one.getAttribute('aria-label') || one.innerText),
    ]);
    const { playback } = podstep;
    // A way back to the node is offered by how far the stage is scrolled, which no address holds.
    const stage = texts('[data-stage]').map(text => text.replace(/ Show \\S+(?= \\d+ of|$)/, ''));
    return {
        step: [playback.index, playback.at, playback.phase],
        inspect: texts('#region-inspect'), stage, build: texts('[data-search]'),
        cycle: texts('[data-cycle-bar]'), dialog: texts('dialog[open]'),
        search: document.querySelector('[data-search]').value,
    };
}"""
#: Waits until nothing is written any more, nothing asked, and the address stands.
QUIET = """async () => {
    let same = 0;
    const writing = new MutationObserver(() => { same = 0; });
    writing.observe(document.body, { subtree: true, childList: true, characterData: true });
    for (let last = ''; same < 4; last = location.search) {
        await new Promise(done => setTimeout(done, 80));
        const asking = podstep.socket.unanswered || document.querySelector('.waiting');
        same = asking || location.search !== last ? 0 : same + 1;
    }
    writing.disconnect();
}"""

#: Every answer with the parts of a step comes later than a list is waited for.
SLOW = """
    let ready;
    Object.defineProperty(window, "podstep", { get: () => ready, set: (made) => {
        const call = made.socket.call.bind(made.socket);
        made.socket.call = async (name, ...more) => {
            const answer = await call(name, ...more);
            if (name === "cycle.get") await new Promise((go) => setTimeout(go, 2_500));
            return answer;
        };
        ready = made;
    } });
"""

ROWS, NODES, CLASSES = "Filter nodes by name or reason", "Filter nodes by name", "Filter classes by name"

Act = Callable[[Workbench], Any]


def look(bench: Workbench, label: str, value: str) -> Any:
    bench.page.get_by_label(label, exact=True).select_option(value)


def typed(bench: Workbench, label: str, text: str) -> Any:
    bench.page.get_by_label(label, exact=True).fill(text)


def press(bench: Workbench, name: str, group: str = "") -> Any:
    host = bench.page.get_by_role("group", name=group, exact=True) if group else bench.inspect
    host.get_by_role("button", name=name, exact=True).first.click()


def head(bench: Workbench, text: str) -> Any:
    bench.inspect.locator("th:visible", has_text=re.compile(f"^{text}")).first.click()


def column(bench: Workbench, at: int) -> Any:
    bench.inspect.locator("table.grid thead th").nth(at).click()


def as_table(bench: Workbench) -> Any:
    bench.goto(7)
    bench.page.locator("[data-stage-table]").click()
    bench.stage.locator("table.grid thead th").nth(2).click()


def cached(bench: Workbench, view: str) -> Any:
    bench.goto(5)
    bench.tab("Cache")
    press(bench, view)


def further(bench: Workbench) -> Any:
    bench.goto(30)
    press(bench, "Show as a table")
    press(bench, "Previous page")


def events(bench: Workbench, text: str) -> Any:
    bench.goto(20)
    bench.tab("Events")
    typed(bench, "Filter events", text)
    press(bench, "reason")


def queued(bench: Workbench, text: str) -> Any:
    bench.goto(3)
    bench.tab("Queue")
    typed(bench, "Filter pods: Active", text)


def phased(bench: Workbench) -> Any:
    bench.goto(3)
    bench.page.keyboard.press("Shift+ArrowLeft")
    bench.tab("Queue")


def moment(bench: Workbench) -> Any:
    bench.goto(3)
    bench.page.get_by_role("slider", name="Moment").press("Home")


def selected(bench: Workbench) -> Any:
    bench.goto(7)
    bench.node("general-4").click()


def in_flight(bench: Workbench) -> Any:
    bench.goto(7)
    bench.page.locator("[data-cycle-bar] .link.plain").click()


def lit(bench: Workbench) -> Any:
    bench.goto(7)
    bench.page.locator(".palette .swatch").nth(1).click()


def by_name(bench: Workbench) -> Any:
    bench.goto(9)
    bench.tab("Predicates")
    head(bench, "node")
    head(bench, "node")


def failed(bench: Workbench) -> Any:
    bench.goto(9)
    bench.tab("Predicates")
    typed(bench, ROWS, "general")
    press(bench, "Failed", "Show")


def combined(bench: Workbench) -> Any:
    bench.goto(9)
    bench.tab("Priorities")
    typed(bench, NODES, "general")
    press(bench, "Combine", "Values")


def looked(bench: Workbench) -> Any:
    look(bench, "Colour", "priority")
    look(bench, "Group by", "pool")


def found_by_cell(bench: Workbench) -> Any:
    bench.goto(9)
    typed(bench, "Find a node or pod", "memory")
    bench.tab("Priorities")
    column(bench, -1)


def asked(bench: Workbench) -> Any:
    bench.goto(9)
    bench.inspect.locator("[data-why]").click()


def mapped(bench: Workbench) -> Any:
    cached(bench, "Map")
    typed(bench, "Filter nodes", "1")
    press(bench, "entries")


def classes(bench: Workbench) -> Any:
    cached(bench, "Classes")
    typed(bench, CLASSES, "w")


#: What is set, and how, by the example it is set in.
SCENES: dict[str, list[tuple[str, Act]]] = {
    "shop": [
        ("step tab find.matrix only.matrix colour group", lambda b: (looked(b), failed(b))),
        ("step tab sort.matrix lit pod", lambda b: (lit(b), in_flight(b), by_name(b))),
        ("step tab cell.matrix sort.matrix search", found_by_cell),
        ("step tab view find.matrix node", lambda b: (selected(b), combined(b))),
        ("step tab find.events sort.events stage sort.stage", lambda b: (as_table(b), events(b, "search"))),
        ("step tab find.active", lambda b: queued(b, "a")),
        ("step why", asked),
    ],
    "making-room": [("step tab phase", phased)],
    "node-fails": [("step at", moment)],
    "five-hundred": [("step shade", lambda b: (b.goto(7), look(b, "Shade nodes by", "pods")))],
    "cache-good-day": [
        ("step tab view find.map sort.node/", mapped),
        ("step tab view", lambda b: (cached(b, "Map"), press(b, "Predicates", "Browse by"))),
        ("step tab view find.classes", classes),
        ("step tab view page.cycles", lambda b: (cached(b, "Over time"), further(b))),
    ],
}


def opened(bench: Workbench, site: Stack, slug: str, query: str = "") -> Workbench:
    """Open an example that caches as its own would have it, or as the designed cache does."""
    text = example_text(slug)
    return bench.open(share(site, text) + query)


def same(bench: Workbench, stranger: Page) -> None:
    """Expect that somebody else who opens the address sees the same, under the same address."""
    bench.page.evaluate(QUIET)
    address = bench.page.url
    seen = bench.page.evaluate(SEEN)
    other = Workbench(stranger).open(address)
    stranger.evaluate(QUIET)
    assert stranger.evaluate(SEEN) == seen, address
    assert stranger.url == address
    assert not stranger.locator(".toast").count(), address
    assert other.index == bench.index, address


#: Forget what was chosen, but that all controls are shown.
FORGET = """() => {
    const chosen = Object.keys(localStorage).filter((key) => !key.startsWith("podstep.controls"));
    chosen.forEach((key) => localStorage.removeItem(key));
}"""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("slug", SCENES)
def test_a_link_restores_what_was_set(slug: str, visitor: Callable[..., Page], site: Stack) -> None:
    """Each key of the address, set as people set it, is in the address and shows a stranger the same."""
    bench, stranger = Workbench(visitor()), visitor()
    for keys, act in SCENES[slug]:
        opened(bench, site, slug)
        act(bench)
        same(bench, stranger)
        assert set(parse_qs(urlsplit(bench.page.url).query)) == set(keys.split()), keys
        for page in (bench.page, stranger):  # the next scene is another visitor's
            page.evaluate(FORGET)


def test_combinations_are_restored(visitor: Callable[..., Page], site: Stack) -> None:
    """Whatever is set together is restored together, and Back and Forward lead through it."""
    bench, stranger = opened(Workbench(visitor()), site, "shop"), visitor()
    acts = [act for keys, act in SCENES["shop"] if "why" not in keys]
    addresses = []
    for act in (acts[3], acts[2], acts[1], acts[5], acts[4]):  # none hides what a later one presses
        bench.page.evaluate("document.activeElement.blur()")  # else a key is a letter in a field
        act(bench)
        same(bench, stranger)
        addresses.append((bench.page.url, bench.page.evaluate(SEEN)))
    bench.page.go_back()
    bench.page.evaluate(QUIET)
    before = bench.page.url
    bench.page.go_forward()
    bench.page.evaluate(QUIET)
    assert bench.page.url == addresses[-1][0] != before
    assert bench.page.evaluate(SEEN)["inspect"] == addresses[-1][1]["inspect"]


def test_an_explicit_tab_wins_over_that_of_a_phase(page: Page, site: Stack) -> None:
    """A phase that implies a tab leaves the one that the address names, also when its parts arrive."""
    bench = opened(Workbench(page), site, "making-room", "?step=3&phase=preemption&tab=predicates")
    bench.at(3)
    page.evaluate(QUIET)
    bench.is_on("Predicates")
    assert page.evaluate("podstep.playback.phase") == "preemption"
    page.keyboard.press("Shift+ArrowLeft")
    page.evaluate(QUIET)
    assert page.evaluate("podstep.playback.phase") == "predicates"
    page.keyboard.press("Shift+ArrowRight")
    bench.is_on("Preemption")


#: What an address asks for, and what of it there is not.
WRONG = (
    ("?step=3", "tab=nonsense node=nowhere pod=default/nobody"),
    ("?step=3", "phase=preemption view=map tabb"),
    ("?step=3", "phase=lunch colour=mood group=mood lit=mood"),
    ("?step=3", "at=999"),
    ("?step=3&tab=predicates", "only.matrix=some sort.matrix=taste from.matrix=cached"),
    ("?step=3&tab=events", "sort.events=taste find.nothing page.events=-1"),
    ("?step=3&stage=table&tab=queue&find.active=a", "find.a.stage"),
)


def test_wrong_values_are_reported(page: Page, site: Stack) -> None:
    """What an address asks for and there is not is named, goes from the address, and the rest is shown."""
    for asked, wrong in WRONG:
        values = {key: value or "x" for key, _, value in (one.partition("=") for one in wrong.split())}
        query = "&".join([asked, *(f"{key}={value}" for key, value in values.items())])
        bench = opened(Workbench(page), site, "shop", query)
        for value in wrong.split():
            reported = rf"refers to something that does not exist: .*{re.escape(value)}"
            expect(page.get_by_text(re.compile(reported)), query).to_be_visible()
        page.evaluate(QUIET)
        bench.at(3)
        left = {key: found[0] for key, found in parse_qs(urlsplit(page.url).query).items()}
        assert {key: left.get(key) for key in values}.items().isdisjoint(values.items()), query
        assert set(asked[1:].split("&")) <= {f"{key}={value}" for key, value in left.items()}, query


#: Places whose lists are narrowed by what comes with the parts of the step.
NARROWED = (
    ("shop", "?step=3&tab=queue&find.active=a"),
    ("making-room", "?step=3&tab=preemption&phase=preemption"),
    ("cache-good-day", "?step=5&tab=predicates&from.matrix=cached"),
)


def test_a_link_is_restored_when_the_parts_are_late(page: Page, site: Stack) -> None:
    """What a list is narrowed to waits for the parts of the step, however long the server needs for them."""
    page.add_init_script(SLOW)
    for slug, query in NARROWED:
        bench = opened(Workbench(page), site, slug, query)
        bench.at(int(parse_qs(query[1:])["step"][0]))
        page.wait_for_timeout(2_000)
        assert parse_qs(urlsplit(page.url).query) == parse_qs(query[1:]), slug
        assert not page.locator(".toast").count(), slug


def test_an_example_and_a_frame_keep_the_whole_address(page: Page, site: Stack) -> None:
    """The address of an example leads on with its query; out of a frame one goes on with what it shows."""
    page.goto("/examples/shop/?step=11&tab=queue")
    bench = Workbench(page).wait().at(11)
    bench.is_on("Queue")
    query = "?step=11&tab=predicates&node=general-4&only.matrix=failed"
    page.goto(urlsplit(page.url).path.replace("/s/", "/e/") + query)
    bench.wait().at(11)
    out = page.get_by_role("link", name="Open in podstep")
    expect(out).to_have_attribute("href", re.compile(re.escape(query) + "$"))
    bench.step()
    expect(out).to_have_attribute("href", re.compile(re.escape(query.replace("11", "12")) + "$"))
    with page.context.expect_page() as came:
        out.click()
    there = Workbench(came.value).wait().at(12)
    there.is_on("Predicates")
    assert urlsplit(came.value.url).query == query[1:].replace("11", "12")


def test_what_is_omitted_is_usual_for_everybody(visitor: Callable[..., Page], site: Stack) -> None:
    """Who likes other colours sees a link in those that it was made with."""
    stranger = visitor()
    other = opened(Workbench(stranger), site, "shop")
    look(other, "Colour", "priority")
    opened(other, site, "shop", "?step=3")
    expect(stranger.get_by_label("Colour", exact=True)).to_have_value("workload")
    opened(other, site, "shop")
    expect(stranger.get_by_label("Colour", exact=True)).to_have_value("priority")
