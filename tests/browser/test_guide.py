"""docs/adding-an-inspect-tab.md, followed literally: a server file, a browser file and a row each."""

from __future__ import annotations

import json
import shutil
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Watch, returning
from tests.browser.pages import example_text
from tests.guides.guide import ROOT, follow
from tests.services.processes import Process, free_port, listens, wait_until_ready

GUIDE = "adding-an-inspect-tab.md"
ROWS = ["playground/panels/cycle.py", "playground/protocol/tabs.py", "static/js/workbench/inspect/tabs.tsx"]


@pytest.fixture
def base(tmp_path: Path) -> Iterator[str]:
    """The address of a podstep that runs from a copy with the guide's blocks."""
    copied = ("scheduler_core", "playground", "templates", "static", "docs")
    followed = follow(GUIDE, tmp_path, *copied)
    assert followed.new == ["playground/panels/feasible.py", "static/js/workbench/inspect/feasible.tsx"]
    assert followed.changed == [*ROWS, "docs/protocol.md"]
    shutil.copy(ROOT / "manage.py", tmp_path)
    port = free_port()
    env = {
        **followed.environment,
        "PYTHONPATH": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "playground.settings",
        "PLAYGROUND_DATA_DIR": str(tmp_path / "data"),
    }
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--end-with-parent"]
    server = Process("guide", command, log=tmp_path / "log", env=env, cwd=tmp_path)
    try:
        wait_until_ready(server, lambda: listens(port))
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stop()


def test_a_new_tab_shows_its_part(base: str, browser: Browser, watch: Watch) -> None:
    """The part is in the frame of the step, the address opens the tab, and its number key does."""
    body = json.dumps({"bundle": example_text("first-cycle"), "title": ""}).encode()
    request = urllib.request.Request(f"{base}/api/scenarios", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        made = json.load(answer)["id"]
    context = browser.new_context(base_url=base, storage_state=returning(base))
    watch.follow(context, base.partition("//")[2])
    page = context.new_page()
    page.goto(f"/s/{made}/?step=1&tab=feasible")
    tab = page.get_by_role("tab", name="Feasible")
    expect(tab).to_have_attribute("aria-selected", "true")
    part = page.wait_for_function("() => podstep.playback.parts?.feasible").json_value()
    assert part["nodes"] and part["count"] == len(part["nodes"])
    panel = page.locator(".feasible-tab")
    expect(panel.get_by_role("heading")).to_have_text(f"{part['count']} feasible")
    expect(panel.get_by_role("listitem")).to_have_text(part["nodes"])
    page.keyboard.press("1")
    expect(panel).to_have_count(0)
    page.keyboard.press("3")
    expect(panel).to_have_count(1)
    context.close()
