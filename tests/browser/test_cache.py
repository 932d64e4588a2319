"""The Cache tab: what came from the cache, what was invalidated and what was stale, and ways around in it."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

from scheduler_core.record.cache_record import CacheRecord, ResultSource
from scheduler_core.record.cycle import Cycle
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.editors import yaml_of
from tests.browser.pages import (
    COMPUTED,
    Workbench,
    becomes,
    cycles_of,
    example_text,
    share,
    texts,
    wide,
)
from tests.e2e import bundles
from tests.services.stack import Stack

TAINTED = 51  # the cycle of the good day before which a node is tainted
LAST = 4  # the cycle of the broken promise in which all three nodes are stale
#: Puts 100,000 cycles of marks in the place of those of the server, and takes the time until they are drawn.
LONG_RUN = """() => {
  const { playback } = podstep;
  const n = 100_000, of = (make) => Array.from({ length: n }, (_, i) => make(i));
  const cache = {
    hits: of((i) => (i % 9 ? 90 : 0)),
    evaluations: of((i) => (i % 9 ? 10 : 100)),
    invalidated: of((i) => i % 3),
    stale: of((i) => (i === 70_000 ? 2 : 0)),
  };
  playback.cycles = n;
  podstep.view.seen.reveal(true);
  playback.marks.put(1, { result: "s".repeat(n), pod: of(() => 0), node: of(() => 0), cache });
  const began = performance.now();
  const chart = document.querySelector(".cache-chart");
  window.took = new Promise((done) => {
    chart.once("plotly_afterplot", () => done(performance.now() - began));
  });
  playback.know();
}"""
VIEWS = ("This step", "Map", "Classes", "Over time", "Worth it?")


@pytest.fixture(scope="module")
def promise(site: Stack) -> str:
    """The address of the broken promise: v1.11's rows, audited."""
    return share(site, example_text("cache-broken-promise"), "The broken promise")


@pytest.fixture(scope="module")
def good_day(site: Stack) -> str:
    """The address of the good day: 100 replicas on 20 nodes, every row, audited."""
    return share(site, example_text("cache-good-day"), "The good day")


def opened(page: Page, address: str, index: int, view: str = "") -> Locator:
    """Open the tab at a cycle, on a view of its own, and return its panel."""
    query = f"?step={index}&tab=cache" + (f"&view={view}" if view else "")
    return Workbench(page).open(address + query).at(index).panel("Cache")


def record(cycle: Cycle) -> CacheRecord:
    """Return what the cache did in a cycle."""
    assert cycle.cache is not None
    return cycle.cache


def view(panel: Locator, name: str) -> Locator:
    """Return the button of a view of the tab."""
    return panel.get_by_role("group", name="Views of the cache").get_by_role("button", name=name, exact=True)


def plain(text: str) -> str:
    """Return a text with single spaces."""
    return re.sub(r"\s+", " ", text).strip()


def numbers(panel: Locator) -> dict[str, list[str]]:
    """Return the rows of the table of numbers by their heading."""
    rows = panel.get_by_role("table", name="The cache in numbers").locator("tbody tr").all()
    return {plain(row.get_by_role("rowheader").inner_text()): texts(row.locator("td")) for row in rows}


def test_the_head_says_what_the_engine_counted(page: Page, promise: str) -> None:
    """Mode, class and numbers are the record's; the tab's label warns of stale hits, whose nodes light up."""
    found = record(cycles_of(example_text("cache-broken-promise"))[LAST - 1])
    panel = opened(page, promise, LAST)
    expect(panel).to_contain_text("cache v1.11")
    expect(panel).to_contain_text("audit on")
    expect(panel).to_contain_text(f"is of class {found.name} of {found.members} pods.")
    shown = numbers(panel)
    for row, counts in (("this cycle", found.counts), ("run so far", found.totals)):
        hits, evaluated, rate, invalidated, stale = shown[row]
        assert [int(text) for text in (hits, evaluated, invalidated, stale)] == [
            counts.hits,
            counts.evaluations,
            counts.invalidated,
            counts.stale,
        ]
        assert rate == f"{round(100 * counts.hits / (counts.hits + counts.evaluations))} %"
    bench = Workbench(page)
    expect(bench.inspect.get_by_role("tab", name="Cache")).to_contain_text(f"{found.counts.stale} stale")
    # The number of nodes lights them while the pointer is there, and for good after a click.
    lights, lit = panel.get_by_role("button", name="3 nodes"), re.compile(r"\blit\b")
    lights.hover()
    expect(bench.node("worker-1")).to_have_class(lit)
    panel.get_by_role("heading", name="Answers").hover()
    expect(bench.node("worker-1")).not_to_have_class(lit)
    lights.click()
    panel.get_by_role("heading", name="Answers").hover()
    expect(bench.node("worker-1")).to_have_class(lit)
    one_goes_from_stale_hit_to_stale_hit(bench, panel)


def test_this_step_says_what_the_engine_counted(page: Page, good_day: str) -> None:
    """The head's numbers, each predicate's; an invalidation leads to its row and node, the map to each."""
    # Hits, misses and nodes not reached stand beside each predicate as the engine recorded them.
    cycle = cycles_of(example_text("cache-good-day"))[TAINTED - 1]
    found = record(cycle).sources
    assert found is not None
    assert cycle.matrix is not None
    panel = opened(page, good_day, TAINTED)
    table = panel.get_by_role("table", name="Where each predicate's answers came from, in nodes")
    becomes(lambda: texts(table.get_by_role("columnheader")), ["predicate", "hits", "misses", "not reached"])
    rows = table.locator("tbody tr").all()
    assert len(rows) == len(cycle.matrix.order)
    for row, name, sources in zip(rows, cycle.matrix.order, found, strict=True):
        assert row.get_by_role("rowheader").inner_text() == name
        counted = [
            int((sources == kind).sum())
            for kind in (ResultSource.HIT, ResultSource.MISS, ResultSource.NOT_REACHED)
        ]
        assert [int(text) for text in texts(row.locator("td.num"))] == counted
    # The taint's row leads to the reference page's row; its node lights up and is selected from here.
    item = panel.locator(".invalidations li").filter(has_text="Node/UPDATE worker-07 (taints)")
    expect(item).to_contain_text("1 entry cleared of PodToleratesNodeTaints on worker-07")
    link = item.get_by_role("link")
    expect(link).to_have_attribute("href", "/reference/cache/#node-update-taints")
    assert page.request.get("/reference/cache/").text().count('id="node-update-taints"') == 1
    node = item.get_by_role("button", name="worker-07").last
    node.hover()
    expect(Workbench(page).node("worker-07")).to_have_class(re.compile(r"\bhovered\b"))
    node.click()
    expect(page.get_by_role("region", name="Selected")).to_contain_text("worker-07")
    panel.get_by_text("Over the run, by row").click()
    rules = panel.get_by_role("table", name="Entries that each row of the invalidation table cleared")
    expect(rules.get_by_role("rowheader").first).to_contain_text("pod-add-general")
    the_map_is_walked_down_three_levels_and_back(page, panel)


CAUGHT = [
    ("cache-broken-promise", 4, "not invalidated by Pod/ADD", ["pod-add-affinity"]),
    ("cache-overcommit", 5, "not invalidated by Pod/ADD", ["pod-add-general"]),
    ("cache-volume-count", 3, "not invalidated by Pod/ADD", ["pod-add-volume-count"]),
    ("cache-stale-write", 2, "written after Pod/DELETE", ["pod-delete-general"]),
]


def test_stale_hits_are_reported_with_both_answers(page: Page, site: Stack) -> None:
    """Each of the four bugs: what was cached, what is true, the event that was missed, and the row for it."""
    for slug, index, cause, rules in CAUGHT:
        stale_hits_are_reported(page, site, slug, index, cause, rules)


def stale_hits_are_reported(
    page: Page, site: Stack, slug: str, index: int, cause: str, rules: list[str]
) -> None:
    """Expect what the Cache tab tells of the stale hits of an example's cycle."""
    text = example_text(slug)
    found = record(cycles_of(text)[index - 1])
    assert found.stale
    panel = opened(page, share(site, text, slug), index)
    expect(
        panel.get_by_role("heading", name=re.compile(rf"^{found.counts.stale} stale hits?$"))
    ).to_be_visible()
    cards = panel.locator(".stale-hits > ol > li")
    said = {hit.predicate for hit in found.stale}
    becomes(lambda: set(texts(cards.locator(".stale-title b"))), said)
    first = found.stale[0]
    card = cards.filter(has_text=first.predicate).first
    expect(card.locator("dd").nth(0)).to_have_text(", ".join(first.cached) or "fits")
    expect(card.locator("dd").nth(1)).to_have_text(", ".join(first.true) or "fits")
    expect(card.locator("dd").nth(2)).to_contain_text(cause)
    for rule in rules:
        expect(card.get_by_role("link", name=re.compile(rf"^{rule} ?,"))).to_be_visible()
    row = card.get_by_role("row").filter(has_text=first.node)
    expect(row).to_contain_text(first.event.replace(f" on {first.node}", ""))
    expect(row.get_by_role("button", name=f"cycle {first.written}", exact=True)).to_be_visible()


def one_goes_from_stale_hit_to_stale_hit(bench: Workbench, panel: Locator) -> None:
    """Its cycle is a click away; buttons, timeline and the key of failures know the cycles with such hits."""
    counted = [record(cycle).counts.stale for cycle in cycles_of(example_text("cache-broken-promise"))]
    stale = [i for i, n in enumerate(counted, 1) if n]
    page = bench.goto(stale[-1]).page
    expect(bench.timeline).to_have_attribute(
        "aria-valuetext", re.compile(rf", {counted[stale[-1] - 1]} stale hits$")
    )
    expect(page.get_by_role("list", name="Marks of the timeline")).to_contain_text("stale cache hit")
    expect(panel.get_by_role("button", name="Next stale hit")).to_be_disabled()
    for later, earlier in pairwise(reversed(stale)):
        becomes(lambda: bench.index, later)
        panel.get_by_role("button", name=f"Previous stale hit, cycle {earlier}").click()
        bench.at(earlier)
    panel.get_by_role("button", name="cycle 1", exact=True).first.click()
    bench.at(1)
    expect(panel).to_contain_text("No stale hit in this cycle")
    page.keyboard.press(".")
    bench.at(stale[0])


def the_map_is_walked_down_three_levels_and_back(page: Page, panel: Locator) -> None:
    """From all nodes to one, to one predicate there, to its answer; the address and Back follow."""
    view(panel, "Map").click()
    groups = panel.get_by_role("table", name="Valid entries of the cache by node")
    row = groups.get_by_role("row").filter(has_text="worker-07")
    expect(row.locator("td.num")).to_have_text(["12", "1", "13"])
    row.get_by_role("button", name="worker-07").click()
    crumbs = panel.get_by_role("navigation", name="Where in the map")
    expect(crumbs).to_have_text("all nodes › worker-07")
    entries = panel.get_by_role("table", name="Valid entries of the cache", exact=True)
    tainted = entries.get_by_role("row").filter(has_text="PodToleratesNodeTaints")
    expect(tainted).to_contain_text("node(s) had taints that the pod didn't tolerate")
    expect(tainted.get_by_role("button", name=f"cycle {TAINTED}")).to_be_visible()
    tainted.get_by_role("button", name="PodToleratesNodeTaints").click()
    expect(crumbs).to_have_text("all nodes › worker-07 › PodToleratesNodeTaints")
    expect(entries.locator("tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile("view=map/node/worker-07/PodToleratesNodeTaints"))
    page.go_back()
    expect(crumbs).to_have_text("all nodes › worker-07")
    panel.get_by_label("Filter by predicate or class").fill("volume")
    expect(entries.locator("tbody tr")).to_have_count(5)
    panel.get_by_role("button", name="Predicates", exact=True).click()
    groups = panel.get_by_role("table", name="Valid entries of the cache by predicate")
    groups.get_by_role("button", name="GeneralPredicates").click()
    expect(entries.locator("tbody tr")).to_have_count(19)  # the chosen node's entry was cleared
    panel.get_by_role("group", name="Browse by").get_by_role("button", name="Classes").click()
    expect(panel.get_by_role("table", name="Valid entries of the cache by class")).to_contain_text(
        "ReplicaSet default/web"
    )


def test_pages_of_the_map_are_turned(page: Page, good_day: str) -> None:
    """More entries than a page holds are turned through, the focus staying on the button."""
    panel = opened(
        page, good_day, TAINTED, "map/class/" + f"{record(cycle_of('cache-good-day', TAINTED)).hash:016x}"
    )
    pages = panel.get_by_role("group", name="Page of the map")
    expect(pages).to_contain_text("1 to 50 of 259")
    pages.get_by_role("button", name="Next page").focus()
    page.keyboard.press("Enter")
    expect(pages).to_contain_text("51 to 100 of 259")
    expect(pages.get_by_role("button", name="Next page")).to_be_focused()


def cycle_of(slug: str, index: int) -> Cycle:
    """Return a cycle of an example."""
    return cycles_of(example_text(slug))[index - 1]


def two_templates() -> str:
    """Two ReplicaSets of one template but for the image, and a pod of its own."""
    web, api = bundles.deployment("web", 3), bundles.deployment("api", 2)
    api["spec"]["template"]["spec"]["containers"][0]["image"] = "app:2"
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "alone", "namespace": "default"},
        "spec": {"containers": [{"name": "main", "image": "app:1"}]},
    }
    settings = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "cache": "sound"}
    return bundles.bundle(*(bundles.node(f"n{i}") for i in range(3)), web, api, pod, settings)


def test_classes_open_to_their_members(page: Page, site: Stack) -> None:
    """Classes stand with most members first; one opens to its pods, which are links, and to the map."""
    panel = opened(page, share(site, two_templates(), "Two templates"), 5)
    view(panel, "Classes").click()
    expect(panel.get_by_role("heading", name="Classes")).to_contain_text("2 classes, and 1 pod without one")
    table = panel.get_by_role("table", name="Equivalence classes, most members first")
    opener = table.get_by_role("button", name=re.compile("^Members of .*web")).first
    opener.focus()
    page.keyboard.press("Enter")
    expect(opener).to_have_attribute("aria-expanded", "true")
    members = table.locator(".members li")
    expect(members).to_have_count(3)
    expect(opener).to_be_focused()
    members.get_by_role("button", name=re.compile("^web-")).first.click()
    expect(page.get_by_role("region", name="Selected")).to_contain_text("web-")
    expect(page).to_have_url(re.compile(r"view=classes/[0-9a-f]{16}"))


def test_two_pods_are_compared_field_by_field(page: Page, site: Stack) -> None:
    """The cycle's pod stands first; pods of one class are equivalent, others differ in a shown field."""
    panel = opened(page, share(site, two_templates(), "Two templates"), 5, "classes")
    first, second = panel.get_by_label("First pod"), panel.get_by_label("Second pod")
    keys = page.evaluate("podstep.playback.pods.keys")
    expect(first).to_have_value(page.evaluate("podstep.playback.pods.keys[podstep.playback.current.pod]"))
    web, api = ([key for key in keys if f"/{name}-" in key] for name in ("web", "api"))
    first.fill(web[0])
    second.fill(web[1])
    panel.get_by_role("button", name="Compare").click()
    result = panel.locator(".equal-result")
    expect(result).to_contain_text("Yes.")
    expect(result).to_contain_text("by controller: equivalent")
    second.fill(api[0].removeprefix("default/"))
    second.press("Enter")
    expect(result).to_contain_text("No.")
    table = panel.get_by_role("table", name="Fields in which they differ")
    expect(table.get_by_role("row").nth(1)).to_be_visible()
    second.fill("nobody")
    second.press("Enter")
    expect(result).to_have_text("There is no pod default/nobody.")
    bench = Workbench(page)
    bench.tab("Story")
    bench.tab("Cache")
    expect(second).to_have_value("nobody")
    expect(result).to_have_text("There is no pod default/nobody.")


def test_what_is_compared_and_the_table_are_in_the_address(page: Page, promise: str) -> None:
    """Loading the address anew shows the same answer, with the class that is open, and the same table."""
    panel = opened(page, promise, LAST, "classes")
    panel.get_by_role("button", name=re.compile("^Members of ")).click()
    first, second = panel.get_by_label("First pod"), panel.get_by_label("Second pod")
    pods = [first.input_value(), second.input_value()]
    second.press("Enter")
    expect(panel.locator(".equal-answer")).to_contain_text("Yes.")
    page.wait_for_function(
        "() => location.search.split('%2F').length > 1 || location.search.includes('lock')"
    )
    page.reload()
    Workbench(page).wait().at(LAST)
    expect(panel.locator(".equal-answer")).to_contain_text("Yes.")
    expect(first).to_have_value(pods[0])
    expect(second).to_have_value(pods[1])
    expect(panel.get_by_role("button", name=re.compile("^Members of "))).to_have_attribute(
        "aria-expanded", "true"
    )
    view(panel, "Over time").click()
    panel.get_by_role("button", name="Show as a table").click()
    expect(panel.get_by_role("table", name="The cache's work, cycle by cycle")).to_be_visible()
    page.reload()
    Workbench(page).wait().at(LAST)
    expect(panel.get_by_role("table", name="The cache's work, cycle by cycle")).to_be_visible()
    expect(panel.get_by_role("status").first).to_contain_text("73 % of all answers")
    page.go_back()
    expect(panel.get_by_role("button", name="Show as a table")).to_be_visible()


def test_nothing_is_measured_where_no_pod_waits(page: Page, site: Stack) -> None:
    """Every view says what to do instead of counting nothing."""
    bundle = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 1, pods: 1}}\n"
    Workbench(page).open(f"{share(site, bundle, 'No pod')}?tab=cache&view=worth")
    panel = Workbench(page).panel("Cache")
    expect(panel).to_contain_text("No pod is waiting to be scheduled.")
    expect(panel.get_by_role("button", name="Measure")).to_have_count(0)


def test_measures_over_time(page: Page, promise: str) -> None:
    """The chart leads to cycles, and a hundred thousand of them are drawn at once."""
    # The chart is of our own Plotly, with one tick a cycle, which a click leads to; so does the table.
    panel = opened(page, promise, LAST, "time")
    chart = panel.get_by_role(
        "img", name=re.compile("^Hit rate over 4 cycles, a chart: 73 % .* 6 hits in 3 cycles were stale")
    )
    # A busy machine takes long to read Plotly.
    expect(chart.locator("svg.main-svg").first).to_be_visible(timeout=COMPUTED)
    ticks = panel.locator(".xaxislayer-above .xtick text, .xaxislayer-below .xtick text")
    becomes(ticks.all_text_contents, ["1", "2", "3", "4"])
    marks = chart.locator(".scatterlayer .point")
    expect(marks).to_have_count(3)
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.get_by_role("button", name="Inspect").click()
    becomes(lambda: wide(page), 0)
    becomes(lambda: chart.evaluate("(it) => it.querySelector('svg').clientWidth - it.clientWidth"), 0)
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    becomes(lambda: chart.evaluate("(it) => it.querySelector('svg').clientWidth - it.clientWidth"), 0)

    def pressed() -> int:
        mark = marks.first.bounding_box()
        if mark is not None:  # Plotly may be drawing it again
            page.mouse.click(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
        page.wait_for_timeout(200)
        return int(page.evaluate("podstep.playback.index"))

    becomes(pressed, 2)
    bench = Workbench(page).at(2)
    panel.get_by_role("button", name="Show as a table").click()
    table = panel.get_by_role("table", name="The cache's work, cycle by cycle")
    expect(table.locator("tbody tr")).to_have_count(4)
    shown = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
    expected = [record(cycle).counts for cycle in cycles_of(example_text("cache-broken-promise"))]
    assert [[int(row[at]) for at in (0, 1, 4, 5)] for row in shown] == [
        [counts.hits, counts.evaluations, counts.invalidated, counts.stale] for counts in expected
    ]
    table.get_by_role("button", name="cycle 3", exact=True).click()
    bench.at(3)
    # A long run is summed up to the chart's width at once, and its table is turned page by page.
    panel = opened(page, promise, LAST, "time")
    expect(panel.locator("svg.main-svg").first).to_be_visible()
    page.evaluate(LONG_RUN)
    took = page.evaluate("took")
    print(f"100,000 cycles drawn in {took:.0f} ms")
    assert took < 10_000  # of a quiet machine a quarter of a second, in which it waits for further marks
    expect(panel.get_by_role("status").filter(has_text="a point is")).to_contain_text(
        "2 hits in 1 cycle were stale"
    )
    assert page.evaluate("document.querySelector('.cache-chart').data[0].x.length") <= DESKTOP[0] / 2
    panel.get_by_role("button", name="Show as a table").click()
    pages = panel.get_by_role("group", name="Page of cycles")
    expect(pages).to_contain_text("1 to 25 of 100,000")
    pages.get_by_role("button", name="Next page").click()
    expect(pages).to_contain_text("26 to 50 of 100,000")


def test_a_shared_scenario_without_cache_is_forked_and_switched_on(page: Page, site: Stack) -> None:
    """The empty tab says what a cache is; one's own copy switches it on with one click, at the same step."""
    panel = opened(page, share(site, example_text("shop"), "Shop"), 3)
    expect(panel).to_contain_text("The equivalence cache is off.")
    expect(view(panel, "Map")).to_be_hidden()
    panel.get_by_role("button", name="Fork to switch it on").click()
    page.wait_for_url("**/p/**")
    bench = Workbench(page).wait().at(3)
    panel = bench.panel("Cache")
    panel.get_by_role("button", name="As in v1.11, with the audit").click()
    expect(panel).to_contain_text("cache v1.11")
    expect(panel).to_contain_text("audit on")
    bench.at(3)
    yaml_of(bench).shows(
        re.compile(r"kind: SimulationSettings\n(scheduler: v1.11\n)?cache: v1.11\naudit: true\n$")
    )
    becomes(lambda: page.evaluate("podstep.playback.policy.cache"), "v1.11")


def test_the_audit_is_switched_on_where_it_is_missed(page: Page, site: Stack) -> None:
    """Without the audit nothing claims that there is no stale hit; on a draft a click switches it on."""
    text = example_text("cache-broken-promise").replace("audit: true\n", "")
    bench = Workbench(page).open(share(site, text, "Unaudited") + "?step=4&tab=cache").at(4)
    panel = bench.panel("Cache")
    expect(panel).to_contain_text("The audit is off.")
    assert numbers(panel)["this cycle"][-1] == "–"
    page.get_by_role("button", name="Fork", exact=True).click()
    page.wait_for_url("**/p/**")
    bench.wait().at(4)
    panel.get_by_role("button", name="Switch the audit on").click()
    expect(panel.get_by_role("heading", name="3 stale hits")).to_be_visible()


def test_batching_says_whether_the_ranking_was_used(page: Page, site: Stack) -> None:
    """The node that was offered, or why none was, as the engine recorded it."""
    pods = bundles.deployment("fill", 6, cpu="1500m")
    policy = {
        "apiVersion": "v1",
        "kind": "Policy",
        "predicates": [{"name": "GeneralPredicates"}],
        "priorities": [{"name": "LeastRequestedPriority", "weight": 1}],
    }
    settings = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "cache": "batching"}
    nodes = (bundles.node(f"n{i}", cpu="2") for i in range(6))
    text = bundles.bundle(*nodes, pods, policy, settings)
    cycles = cycles_of(text)
    used = next(cycle for cycle in cycles if record(cycle).hint and record(cycle).hint == cycle.node)
    address = share(site, text, "Batching")
    panel = opened(page, address, used.index)
    expect(panel.get_by_role("heading", name="Ranking of the pods before")).to_contain_text("used")
    expect(panel).to_contain_text(f"{used.node}, the next best of the ranking kept from an earlier pod")
    Workbench(page).goto(1)
    expect(panel).to_contain_text(f"No node was offered: {record(cycles[0]).bypass}.")


def test_the_tab_works_by_keyboard(page: Page, promise: str) -> None:
    """A digit opens the tab; its views are buttons in turn, kept in the address with the step."""
    Workbench(page).open(f"{promise}?step=4").at(4)
    page.keyboard.press("3")
    bench = Workbench(page)
    bench.is_on("Cache")
    views = bench.panel("Cache").get_by_role("group", name="Views of the cache")
    becomes(lambda: tuple(texts(views.get_by_role("button"))), VIEWS)
    views.get_by_role("button", name="This step").focus()
    for name, kept in (("Map", "map"), ("Classes", "classes"), ("Over time", "time"), ("Worth it?", "worth")):
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(views.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")
        expect(page).to_have_url(re.compile(rf"\?step=4&tab=cache&view={kept}$"))
    page.reload()
    bench.wait().at(4)
    expect(views.get_by_role("button", name="Worth it?")).to_have_attribute("aria-pressed", "true")
