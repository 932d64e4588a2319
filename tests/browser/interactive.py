"""How long each main page takes, with an empty cache, from navigation to what its main button does."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator

from playwright.sync_api import Browser

from tests.browser.measures import Row, ms, new_page
from tests.browser.pages import example_text, share
from tests.services.stack import Stack

VISITS = 5
SHOP = "shop"

#: Presses what a selector finds, in every frame, until an expression is true.
PRESS = """
(function press() {
    if (%(effect)s) window.interactive = performance.now();
    else { document.querySelector(%(button)s)?.click(); requestAnimationFrame(press); }
})();
"""

#: Of each page its main button, and what is true once that had its effect.
START = ('a[href="#paste"]', "document.activeElement?.closest('[data-editor]')")
PLAYER = (".mini-acts .primary", "document.querySelector('.mini-acts')?.textContent.includes('Play')")
#: Its main button is a link: the buttons beside it are shown by the script that makes them work.
LEARN = ("[data-export]", "document.querySelector('[data-kept]')?.checkVisibility()")
STEP = ("[data-step-forward]", "window.podstep?.playback?.index > 1")
COMPARED = (
    '.both-transport [aria-label^="To the end"]',
    "(track => track && track.ariaValueNow === track.ariaValueMax)(document.querySelector('.both-track'))",
)
RUN = ("[aria-controls=table-pods]", "document.querySelector('#table-pods')?.checkVisibility()")


def interactive(browser: Browser, site: Stack) -> Iterator[Row]:
    """Load each page as a new visitor does, and press its main button as early as it does something."""
    shop = share(site, example_text(SHOP), SHOP)
    pages = (
        ("/, Paste your cluster", "/", START),
        ("/, Step of the small cluster", "/", PLAYER),
        ("/learn/, Export", "/learn/", LEARN),
        ("/s/…/, Step", f"{shop}?step=1", STEP),
        ("/compare/, To the end", f"/compare/?left={shop}&right={shop}", COMPARED),
        ("/runs/…/, Show as a table", run_of(site, shop), RUN),
    )
    for name, address, (button, effect) in pages:
        seen = []
        for _ in range(VISITS):
            page = new_page(browser, site.base_url)
            page.add_init_script(PRESS % {"button": json.dumps(button), "effect": effect})
            page.goto(address, wait_until="commit")
            seen.append(page.wait_for_function("() => window.interactive").json_value())
            page.context.close()
        yield (
            f"interactive: {name}",
            f"median {ms(statistics.median(seen))}",
            "",
            f"{ms(min(seen))} to {ms(max(seen))}, of {len(seen)} cold loads",
        )


def run_of(site: Stack, scenario: str) -> str:
    """Have a worker run a scenario to its end; return the address of the run."""
    run = site.post("/api/runs", {"scenario": scenario.split("/")[2]}).json["id"]
    site.wait_for_run(run, ["done"], 60)
    return f"/runs/{run}/"
