"""Exports from the workbench: the stage as a picture, and steps as a slide deck, by the command palette."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, example_text, share
from tests.services.stack import Stack


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
    for label, view, kind, beginning in (
        (None, "scores", "SVG", b"<svg"),
        ("Node × predicate matrix", "matrix", "PNG", b"\x89PNG"),
        ("Predicate ladder", "ladder", "SVG", b"<svg"),
        ("Chart of all cycles", "chart", "PNG", b"\x89PNG"),
    ):
        command(page, "ladder or a chart")
        box = page.get_by_role("dialog", name="Export as a picture")
        expect(box).to_contain_text("Of step 2")
        accessible(page)
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
