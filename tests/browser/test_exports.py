"""Exports from the workbench: the stage as a picture, and steps as a slide deck, by the command palette."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

from playwright.sync_api import Download, Locator, Page, expect

from tests.browser.conftest import turned
from tests.browser.pages import Workbench, example_text, share, wide
from tests.browser.test_runs import FIGURES, ends
from tests.services.stack import Stack

SVG = "{http://www.w3.org/2000/svg}"


def command(page: Page, text: str) -> None:
    """Choose a command in the palette."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Command").fill(text)
    page.keyboard.press("Enter")


def test_the_stage_as_a_picture(page: Page, site: Stack) -> None:
    """Of the step on screen, as SVG and as PNG."""
    Workbench(page).open(f"{share(site, example_text('making-room'), 'Picture')}?step=2").at(2)
    for kind, beginning in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as coming:
            command(page, f"stage as {kind}")
        assert coming.value.suggested_filename == f"step-2.{kind.lower()}"
        assert Path(coming.value.path()).read_bytes().startswith(beginning)


def test_matrices_ladder_and_chart_as_pictures(
    page: Page, site: Stack, accessible: Callable[[Page], None]
) -> None:
    """Of the step on screen; the view that belongs to the open tab is chosen already."""
    bench = (
        Workbench(page)
        .open(f"{share(site, example_text('making-room'), 'Views')}?step=2&tab=priorities")
        .at(2)
    )
    command(page, "ladder or a chart")
    expect(page.get_by_role("dialog", name="Export as a picture")).to_be_visible()
    accessible(page)
    page.keyboard.press("Escape")
    for label, view, kind, beginning in (
        (None, "scores", "SVG", b"<svg"),
        ("Node × predicate matrix", "matrix", "PNG", b"\x89PNG"),
        ("Predicate ladder", "ladder", "SVG", b"<svg"),
        ("Chart of all cycles", "chart", "PNG", b"\x89PNG"),
    ):
        command(page, "ladder or a chart")
        box = page.get_by_role("dialog", name="Export as a picture")
        expect(box).to_contain_text("Step 2 as a file")
        if label:
            box.get_by_label("View").select_option(label=label)
        with page.expect_download() as coming:
            box.get_by_role("button", name=kind).click()
        expect(box).to_have_count(0)
        assert coming.value.suggested_filename == f"step-2-{view}.{kind.lower()}"
        assert Path(coming.value.path()).read_bytes().startswith(beginning)
    assert bench.index == 2


def test_steps_as_a_deck(visitor: Callable[..., Page], site: Stack, tmp_path: Path) -> None:
    """The file shows a slide at a time without a script, and leads on by the keys that scroll."""
    page = visitor()
    bench = Workbench(page).open(f"{share(site, example_text('making-room'), 'Slides')}?step=1").at(1)
    command(page, "slide deck")
    box = page.get_by_role("dialog", name="Slide deck")
    last = int(page.evaluate("podstep.playback.cycles"))
    box.get_by_label("To step").fill(str(last))
    with page.expect_download() as coming:
        box.get_by_role("button", name="Download").click()
    expect(box).to_have_count(0)
    assert bench.index == 1
    coming.value.save_as(tmp_path / "deck.html")
    deck = visitor(size=(1024, 768), java_script_enabled=False)
    deck.set_content((tmp_path / "deck.html").read_text("utf-8"))
    expect(deck.get_by_role("img")).to_have_count(last)
    for number in (1, last):
        slide = deck.locator(f"#slide-{number}")
        slide.scroll_into_view_if_needed()
        expect(slide.get_by_role("heading", name=f"Step {number} of {last}")).to_be_in_viewport()
        expect(slide.locator("p").last).to_be_in_viewport()


def test_the_charts_of_a_run(page: Page, site: Stack) -> None:
    """Each as SVG and PNG, with its title, also while its numbers are shown, and on a phone."""
    shared = site.post("/api/scenarios", {"bundle": example_text("shop")}).json
    run = site.post("/api/runs", {"scenario": shared["id"]}).json["id"]
    page.goto(f"/runs/{run}/")
    ends(page, "done")
    for title, name in zip(FIGURES, ("pods", "utilisation", "outcomes"), strict=True):
        card = page.get_by_role("region", name=title, exact=True)
        file = saved(card, "SVG")
        assert file.suggested_filename == f"{run}-{name}.svg"
        root = ET.fromstring(Path(file.path()).read_bytes())
        texts = ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]
        assert title in texts and len(texts) > 6
        classes = [one.get("class", "").split() for one in root.iter(f"{SVG}g")]
        drawn = card.locator("svg g.trace").count()
        assert sum("trace" in one for one in classes) == drawn > 0
        card.get_by_role("button", name="Show as a table").click()
        file = saved(card, "PNG")
        assert file.suggested_filename == f"{run}-{name}.png"
        data = Path(file.path()).read_bytes()
        assert data.startswith(b"\x89PNG")
        assert [int.from_bytes(data[at : at + 4], "big") for at in (16, 20)] == [1920, 960]
        assert len(data) > 10_000  # an empty one of a colour has less
    for size in turned(page):
        expect(page.get_by_role("button", name="PNG: download")).to_have_count(len(FIGURES))
        assert wide(page) <= 0, size


def test_the_hit_rate_of_a_cache(page: Page, site: Stack) -> None:
    """The chart of the Cache tab has the same buttons."""
    address = share(site, example_text("cache-broken-promise"), "Cache")
    Workbench(page).open(f"{address}?step=4&tab=cache&view=time").at(4)
    file = saved(page.get_by_role("region", name="Inspect"), "SVG")
    assert file.suggested_filename == "cache-over-time.svg"
    root = ET.fromstring(Path(file.path()).read_bytes())
    assert "Hit rate of the equivalence cache" in ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]


def saved(within: Locator, kind: str) -> Download:
    """Press a chart's button, and return the file."""
    with within.page.expect_download() as coming:
        within.get_by_role("button", name=f"{kind}: download").click()
    return coming.value
