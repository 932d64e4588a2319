"""Where an answer came from: the Predicates tab's marks when a cache is on, and that all of it fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from scheduler_core.record.cache_record import CacheRecord, ResultSource
from scheduler_core.record.cycle import Cycle
from tests.browser.pages import ASTRAY, Workbench, becomes, cycles_of, example_text, share, wide
from tests.services.stack import Stack

SETTINGS = "kind: SimulationSettings\n"
AT = 17  # a cycle with stale hits, an evaluation and an entry that its own pod invalidates


@pytest.fixture(scope="module")
def text() -> str:
    """A shop under the rows of v1.11, audited."""
    return example_text("shop").replace(SETTINGS, f"{SETTINGS}cache: v1.11\naudit: true\n")


@pytest.fixture(scope="module")
def audited(site: Stack, text: str) -> str:
    """The address of that shop."""
    return share(site, text, "Audited shop")


@pytest.fixture(scope="module")
def cycle(text: str) -> Cycle:
    """The cycle as the engine decides it in this process."""
    return cycles_of(text)[AT - 1]


def record(cycle: Cycle) -> CacheRecord:
    """Return what the cache did in a cycle."""
    assert cycle.cache is not None
    return cycle.cache


def matrix(page: Page, address: str) -> Locator:
    """Open the matrix of the cycle."""
    bench = Workbench(page).open(f"{address}?step={AT}&tab=predicates").at(AT)
    return bench.panel("Predicates")


def test_every_answer_shows_where_it_came_from(page: Page, audited: str, cycle: Cycle) -> None:
    """In the matrix, on the ladder and by a filter, which narrows it to nodes; and nothing is cut."""
    # As many cells are marked, and say so, as the engine counts hits, evaluations and stale hits.
    panel = matrix(page, audited)
    sources = record(cycle).sources
    assert sources is not None
    found = Counter(sources.ravel().tolist())
    stale = len(record(cycle).stale)
    assert stale
    cells = panel.locator("tbody td.cell")
    expect(cells.locator(".from.hit, .from.wrong")).to_have_count(found[ResultSource.HIT])
    expect(cells.locator(".from.miss")).to_have_count(found[ResultSource.MISS])
    expect(panel.locator("tbody td.stale")).to_have_count(stale)
    first = record(cycle).stale[0]
    cell = panel.get_by_role("gridcell", name=f"{first.predicate}: passed; from the cache; stale").first
    expect(cell).to_have_accessible_name(
        f"{first.predicate}: passed; from the cache; stale: the cache says that it fits, "
        f"true is {', '.join(first.true)}"
    )
    expect(panel.locator("tbody td.cleared")).to_have_count(1)
    expect(panel.locator("tbody td.cleared")).to_have_accessible_name(
        "GeneralPredicates: passed; from the cache; invalidated since, by an event of this cycle"
    )
    # Above it the sum, and on each rung its own; words stand behind the numbers.
    counts = record(cycle).counts
    ladder = panel.locator(".ladder")
    expect(ladder).to_contain_text(f"{counts.hits} of {counts.hits + counts.evaluations} from the cache")
    expect(ladder.get_by_role("listitem").nth(1)).to_contain_text("11 from the cache, 1 evaluated")
    # All from the cache, some evaluated, stale: each leaves the nodes that the engine names.
    choice = panel.get_by_label("Nodes by where their answers came from")
    rows = panel.get_by_role("rowheader")
    sources = record(cycle).sources
    assert sources is not None
    evaluated = [node for node, column in zip(cycle.nodes, sources.T) if ResultSource.MISS in column.tolist()]
    choice.select_option("some evaluated")
    becomes(lambda: sorted(rows.all_inner_texts()), sorted(evaluated))
    choice.select_option("all from the cache")
    expect(rows).to_have_count(len(cycle.nodes) - len(evaluated))
    choice.select_option("stale")
    becomes(lambda: set(rows.all_inner_texts()), {hit.node for hit in record(cycle).stale})
    choice.select_option("invalidated since")
    becomes(rows.all_inner_texts, [cycle.node])


def test_without_a_cache_the_matrix_is_as_it_was(page: Page, site: Stack) -> None:
    """No mark, no legend of marks, no filter."""
    panel = matrix(page, share(site, example_text("shop"), "Shop"))
    expect(panel.locator("tbody td.cell").first).to_be_visible()
    expect(panel.locator(".from")).to_have_count(0)
    expect(panel.get_by_label("Nodes by where their answers came from")).to_be_hidden()
    expect(panel.locator(".key")).not_to_contain_text("cache")


def test_tabs_and_matrix_fit_the_usual_width(
    page: Page, phone: Page, accessible: Callable[[Page], None], audited: str
) -> None:
    """With every number shown no column is cut at 1440 pixels, and tabs are one row there as on a phone."""
    panel = matrix(page, audited)
    accessible(page)
    becomes(lambda: page.evaluate(ASTRAY), [])
    assert panel.locator(".grid-scroll").evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    matrix(phone, audited)
    tabs = Workbench(phone).inspect.get_by_role("tablist")
    tops = {round(tab.bounding_box()["y"]) for tab in tabs.get_by_role("tab").all()}  # type: ignore[index]
    assert len(tops) == 1
    assert wide(phone) == 0
