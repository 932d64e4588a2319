"""A comparison is shared by clicking, opened by somebody else under the release compared, and reported."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import turned
from tests.browser.pages import Workbench, drafted, holds, share
from tests.browser.test_compare import SPREAD, bundle, ready
from tests.services.stack import Stack


def packed(strategy: str) -> str:
    """Return the nodes and pods of the example with a strategy of scoring under v1.37."""
    arguments = {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": strategy}}}
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [arguments]}],
    }
    return SPREAD.rsplit("\n---\n", 1)[0] + "\n---\n" + json.dumps(configuration)


def test_a_comparison_is_shared_and_reported(
    page: Page, visitor: Callable[..., Page], accessible: Callable[[Page], None], tmp_path: Path
) -> None:
    """A draft against itself under v1.37: the link, the right side and the report open for somebody else.

    Nothing is cut off where it was shared, and it is accessible.
    """
    mine = drafted(page, SPREAD, "My cluster")
    page.goto(f"/compare/?left={mine}&right={mine}&rightScheduler=v1.37")
    ready(page)
    page.get_by_role("button", name="Share", exact=True).click()
    ready(page)
    address = page.get_by_label("Link to this comparison").input_value()
    assert re.fullmatch(r".*/compare/[\w-]{11}/", address)
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    for width, _ in turned(page):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    accessible(page)

    other = visitor()
    other.goto(address)
    ready(other)
    right = other.get_by_role("region", name="Right side")
    expect(right.locator(".pill.release")).to_have_text("v1.37")
    right.get_by_role("link", name="My cluster").click()
    other.wait_for_url(re.compile(r"/compare/[\w-]+/right/\?step=\d+"))
    shown = Workbench(other)
    expect(other.locator("[data-release]")).to_contain_text("v1.37")
    expect(other.get_by_text("right side of a comparison")).to_be_visible()
    holds(lambda: shown.index, lambda index: index >= 1)

    other.goto(address)
    with other.expect_download() as download:
        other.get_by_role("button", name="Download the report (HTML)").click()
    report = tmp_path / "report.html"
    download.value.save_as(report)
    text = report.read_text()
    assert "kube-scheduler v1.11 under A, v1.37 under B" in text
    assert mine.split("/")[2] not in text
    linked = re.findall(r'href="([^"]*/right/\?step=\d+)"', text)
    stranger = visitor()
    stranger.goto(linked[0])
    Workbench(stranger)
    expect(stranger.locator("[data-release]")).to_contain_text("v1.37")


def test_a_side_opens_under_its_release_before_it_is_shared(page: Page, site: Stack) -> None:
    """Its title stores the comparison, and leads to the cycle that is on screen."""
    scenario = share(site, SPREAD, "Spread")
    page.goto(f"/compare/?left={scenario}&right={scenario}&rightScheduler=v1.37")
    ready(page)
    page.get_by_role("button", name="Both one cycle on (→)").click()
    right = page.get_by_role("region", name="Right side")
    index = page.evaluate("podstep.compare.sides[1].playback.index")
    right.get_by_role("button", name="Spread", exact=True).click()
    page.wait_for_url(re.compile(rf"/compare/[\w-]+/right/\?step={index}"))
    expect(page.locator("[data-release]")).to_contain_text("v1.37")


def test_a_change_has_its_name(page: Page, site: Stack) -> None:
    """The strategy of scoring is named, from what to what; metrics stand on one line each."""
    sides = [share(site, packed(one), as_is=True) for one in ("LeastAllocated", "MostAllocated")]
    page.goto(f"/compare/?left={sides[0]}&right={sides[1]}")
    ready(page)
    changes = page.get_by_role("region", name="Changes of the configuration")
    expect(changes).to_contain_text("NodeResourcesFit scoringStrategy LeastAllocated → MostAllocated")
    tall = page.locator(".figures tbody tr").evaluate_all(
        """rows => {
            const least = Math.min(...rows.map((row) => row.clientHeight));
            return rows.filter((row) => row.clientHeight > 1.4 * least).map((row) => row.textContent);
        }"""
    )
    assert tall == []


def test_a_long_comparison_shows_how_far_it_is(page: Page, site: Stack) -> None:
    """It can be given up, and opens by itself when it is done."""
    own = f"\n# {secrets.token_hex(4)}\n"  # of each try, for the answer is kept
    sides = [
        share(site, bundle(name, replicas=3_000) + own, name)
        for name in ("LeastRequestedPriority", "MostRequestedPriority")
    ]
    page.goto(f"/compare/?left={sides[0]}&right={sides[1]}")
    progress = page.get_by_role("region", name="Progress")
    expect(progress.get_by_text(re.compile(r"cycles compared|Reading both sides"))).to_be_visible()
    progress.get_by_role("button", name="Cancel").click()
    progress.get_by_role("button", name="Compare again").click()
    page.wait_for_function("() => window.podstep?.compare?.found", timeout=120_000)
    expect(page.get_by_role("heading", name=re.compile("First different decision"))).to_be_visible()
