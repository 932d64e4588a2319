"""What the parts of ``make measure`` share: a new visitor's page, its frames, and how figures are written."""

from __future__ import annotations

from playwright.sync_api import Browser, Page

from tests.browser.conftest import DESKTOP, returning

Row = tuple[str, str, str, str]  # what, measured, allowed by ui.md, more about it

#: Starts to note the time of every frame; what it returns ends that and tells of them.
FRAMES = """() => {
    const times = [];
    let on = true;
    const frame = now => { times.push(now); if (on) requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
    window.framesEnd = () => { on = false; return times; };
}"""


def new_page(browser: Browser, base_url: str) -> Page:
    """Open a page of a new visitor, whose browser has nothing of ours yet."""
    width, height = DESKTOP
    context = browser.new_context(
        base_url=base_url,
        viewport={"width": width, "height": height},
        storage_state=returning(base_url),
    )
    context.set_default_timeout(120_000)
    return context.new_page()


def ms(value: float) -> str:
    """Return milliseconds as people write them."""
    return f"{value:,.0f} ms"


def size(value: float) -> str:
    """Return bytes in KiB."""
    return f"{value / 1024:,.1f} KiB"
