"""Pictures of every page and state, in var/screenshots: ``python -m tests.browser.screenshots``.

Those that documents show are copied to docs/screenshots.

Starts podstep as the tests do, on a free port with an empty data folder, and makes its own data: the
shipped examples and the shipped excerpt of a trace, or the recorded one where it is there.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import TimeoutError as Overdue

from tests.browser.class_pictures import LAPTOP, of_a_class, of_a_lesson
from tests.browser.clusters import zoned
from tests.browser.conftest import ARGUMENTS, DESKTOP, PHONE, returning
from tests.browser.pages import example_text, share
from tests.browser.pictures import pictures
from tests.browser.test_runs import SAMPLE, charts, ends, upload
from tests.parts import REPOSITORY, SHARED, chromium
from tests.services.processes import free_port
from tests.services.stack import Stack, embedded_parts, running

FOLDER = REPOSITORY / "var" / "screenshots"
SHOWN = REPOSITORY / "docs" / "screenshots"
Theme = Literal["dark", "light"]
THEMES: tuple[Theme, ...] = ("dark", "light")
Size = tuple[int, int]
QUIET = 8_000  # milliseconds for what is still asked for


def new_page(browser: Browser, site: Stack, size: Size, theme: Theme) -> Page:
    """Open a page of a new visitor, with everything that moves at rest."""
    phone: dict[str, Any] = {"is_mobile": True, "has_touch": True} if size == PHONE else {}
    context = browser.new_context(
        base_url=site.base_url,
        viewport={"width": size[0], "height": size[1]},
        color_scheme=theme,
        reduced_motion="reduce",
        storage_state=returning(site.base_url),
        **phone,
    )
    context.set_default_timeout(60_000)
    return context.new_page()


def run_trace(page: Page) -> str:
    """Run the recorded trace, or the shipped excerpt where there is no recording; return its address."""
    folder = SHARED / "traces"
    if folder.is_dir():
        files = folder / "openb_node_list_all_node.csv.gz", folder / "openb_pod_list_default.csv.gz"
        upload(page, *files, times="Ignore")
    else:
        upload(page, SAMPLE / "gpu-trace.nodes.csv", SAMPLE / "gpu-trace.pods.csv")
    ends(page, "done", 300)
    charts(page)
    return page.url


def settle(page: Page) -> None:
    """Wait until fonts are there and everything that was asked for is painted."""
    with suppress(Overdue):  # a page whose frame navigated may not report it
        page.wait_for_load_state("networkidle", timeout=QUIET)
    page.evaluate(
        "document.fonts.ready.then(() => new Promise(done =>"
        " requestAnimationFrame(() => requestAnimationFrame(done))))"
    )


def take(browser: Browser, site: Stack) -> list[Path]:
    """Take every picture and return where they are."""
    taken: list[Path] = []
    author = new_page(browser, site, DESKTOP, "dark")
    addresses = {
        "shop": share(site, example_text("shop"), "A shop on twelve nodes"),
        "large": share(site, example_text("five-hundred"), "Five hundred nodes"),
        "room": share(site, example_text("making-room"), "Making room"),
        "promise": share(site, example_text("cache-broken-promise"), "The broken promise"),
        "quirks": share(site, example_text("quirks"), "Three quirks of v1.11"),
        "gang": share(site, example_text("coscheduling-room"), "A group with room"),
        "fails": share(site, example_text("node-fails"), "A node fails"),
        "lost": share(site, example_text("zone-lost"), "A zone is lost"),
        "huge": share(site, zoned(5_000, 0.02), "Five thousand nodes"),
        "run": run_trace(author),
    }
    author.context.close()
    for size in (DESKTOP, PHONE):
        for theme in THEMES:
            page = new_page(browser, site, size, theme)
            taken.extend(pictured(page, name, theme) for name in pictures(page, addresses, size == PHONE))
            page.context.close()
    for theme in THEMES:
        page = new_page(browser, site, LAPTOP, theme)
        taken.extend(pictured(page, name, theme) for name in of_a_lesson(page))
        page.context.close()
    for theme in THEMES:
        found: list[Page] = []

        def opened(size: Size, theme: Theme = theme, found: list[Page] = found) -> Page:
            found.append(new_page(browser, site, size, theme))
            return found[-1]

        taken.extend(pictured(page, name, theme) for name, page in of_a_class(opened))
        for page in found:
            page.context.close()
    return taken


def pictured(page: Page, name: str, theme: Theme) -> Path:
    """Take a picture of a page; return where it is."""
    settle(page)
    assert page.viewport_size is not None
    path = FOLDER / f"{name}-{page.viewport_size['width']}-{theme}.png"
    page.screenshot(path=path)
    return path


def main() -> None:
    """Start what is needed, take the pictures, and remove those of before that are no more."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        home, port = Path(folder), free_port()
        with running("embedded", embedded_parts(home, port), home, port) as site, sync_playwright() as found:
            browser = found.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
            taken = take(browser, site)
            browser.close()
    for stale in set(FOLDER.glob("*.png")) - set(taken):
        stale.unlink()
    size = sum(path.stat().st_size for path in taken)
    shown = {path.name for path in SHOWN.glob("*.png")}
    for path in taken:
        if path.name in shown:
            shutil.copyfile(path, SHOWN / path.name)
    print(f"{len(taken)} pictures in {FOLDER}, {size / 2**20:.1f} MiB; {len(shown)} of them are in {SHOWN}")


if __name__ == "__main__":
    main()
