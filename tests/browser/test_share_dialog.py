"""The Share dialog: private links, frames, Markdown, QR codes, and links that hold the scenario."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect

from playground.storage.bundles import pack, unpack
from tests.browser.conftest import Watch, turned
from tests.browser.editors import yaml_of
from tests.browser.pages import Workbench, becomes, cycles_of, example_text, share, wide
from tests.services.stack import Stack

STEP = 17


def dialog(page: Page, tab: str) -> Locator:
    """Press Share and open a tab of the dialog."""
    page.get_by_role("button", name="Share", exact=True).click()
    box = page.get_by_role("dialog", name="Share this view")
    box.get_by_role("tab", name=tab, exact=True).click()
    return box


def shop(page: Page, site: Stack) -> Workbench:
    """Open the shop, shared, at a step and tab."""
    address = share(site, example_text("shop"), "A shop on twelve nodes")
    return Workbench(page).open(f"{address}?step={STEP}&tab=predicates").at(STEP)


def test_the_link_and_the_embed_code(page: Page, site: Stack, accessible: Callable[[Page], None]) -> None:
    """The dialog fits; its link is Markdown and a QR code too; its code frames the view."""
    # Every panel keeps to WCAG, is no wider than the window, and the tabs go by arrow keys.
    shop(page, site)
    box = dialog(page, "Link")
    expect(box.get_by_label("Link to this view", exact=True)).to_be_visible()
    before = box.bounding_box()
    for name in ("Private", "Embed", "Self-contained"):
        box.get_by_role("tab", selected=True).press("ArrowRight")
        expect(box.get_by_role("tab", name=name, exact=True)).to_have_attribute("aria-selected", "true")
        expect(box.get_by_text("Packing…")).to_have_count(0)
        accessible(page)
        for _ in turned(page):
            assert wide(page) == 0
    after = box.bounding_box()
    assert before
    assert after
    assert abs(after["height"] - before["height"]) < 2
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    # Both hold the link to the view; the server draws the code.
    box = dialog(page, "Link")
    link = box.get_by_label("Link to this view", exact=True).input_value()
    assert link.endswith(f"?step={STEP}&tab=predicates")
    expect(box.get_by_label("Markdown", exact=True)).to_have_value(
        f"[A shop on twelve nodes, step {STEP}]({link})"
    )
    code = box.get_by_role("img", name="QR code of the link to this view")
    becomes(lambda: code.evaluate("img => img.complete && img.naturalWidth > 100"), wanted=True)
    split = urlsplit(link)
    src = urlsplit(code.get_attribute("src") or "")
    assert parse_qs(src.query) == {"path": [f"{split.path}?{split.query}"]}
    # The code, put into a page, shows and steps the same, without the menu; the height is the one chosen.
    page.keyboard.press("Escape")
    box = dialog(page, "Embed")
    box.get_by_label("Height").select_option("800 pixels")
    embedded = box.get_by_label("Embed code", exact=True).input_value()
    assert 'height="800"' in embedded
    page.goto("/reference/predicates/")
    page.evaluate("code => { document.body.innerHTML = code; }", embedded)
    frame = page.frame_locator("iframe")
    timeline = frame.get_by_role("slider", name="Cycle")
    expect(timeline).to_have_attribute("aria-valuenow", str(STEP))
    frame.get_by_role("button", name="Step", exact=True).click()
    expect(timeline).to_have_attribute("aria-valuenow", str(STEP + 1))
    expect(frame.get_by_role("navigation", name="Site")).to_have_count(0)


def test_a_self_contained_link_needs_no_row(
    page: Page, visitor: Callable[..., Page], site: Stack, watch: Watch
) -> None:
    """It opens at the same view as a draft of whoever follows it, after the scenario was deleted."""
    answer = site.post("/api/scenarios", {"bundle": example_text("making-room"), "title": "Making room"})
    bench = Workbench(page).open(f"/s/{answer.json['id']}/?step=2&tab=preemption").at(2)
    box = dialog(page, "Self-contained")
    link = box.get_by_label("Self-contained link", exact=True).input_value()
    assert urlsplit(link).path == "/"
    assert len(link) < 16_000
    gone = site.delete(
        f"/api/scenarios/{answer.json['id']}", Authorization=f"Bearer {answer.json['delete_token']}"
    )
    assert gone.status < 300, gone.body

    stranger = visitor()
    stranger.goto(link)
    stranger.wait_for_url("**/p/**")
    other = Workbench(stranger).wait().at(2)
    other.is_on("Preemption")
    other.shows(cycles_of(example_text("making-room"))[1])
    expect(stranger.get_by_label("Title of this draft")).to_have_value("Making room")
    assert bench.index == 2

    watch.allow("404")
    broken = visitor()
    broken.goto(link[:-40])
    expect(broken.get_by_text("This link cannot be opened.")).to_be_visible()
    expect(broken.get_by_role("link", name="To the start page")).to_be_visible()


def test_a_bomb_is_not_inflated(page: Page) -> None:
    """A short link that holds very much is refused, and so is one that holds something else."""
    page.goto("/")
    make = """async text => {
        const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
        const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
        return btoa(bytes.reduce((all, byte) => all + String.fromCharCode(byte), ""))
            .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    }"""
    bomb = page.evaluate(f"async () => ({make})('{{\"text\":\"' + 'a'.repeat(20_000_000) + '\"}}')")
    assert len(bomb) < 60_000
    page.goto(f"/#scenario={bomb}")
    expect(page.get_by_text("The link holds more than a link may hold.")).to_be_visible()
    other = page.evaluate(f"async () => ({make})('[1, 2]')")
    page.goto(f"/#scenario={other}")
    expect(page.get_by_text("The link holds no scenario.")).to_be_visible()


def test_a_private_link_says_what_is_decided_otherwise(
    page: Page, visitor: Callable[..., Page], site: Stack
) -> None:
    """Where the engine decides otherwise than when the link was made, both outcomes are shown."""
    address = share(site, example_text("making-room"), "Making room")
    Workbench(page).open(f"{address}?step=1").at(1)
    box = dialog(page, "Private")
    box.get_by_role("button", name="Create a private link").click()
    url = box.get_by_role("listitem").get_by_role("link").get_attribute("href") or ""
    stranger = visitor()
    Workbench(stranger).open(url).at(1)
    stranger.wait_for_timeout(1_000)
    expect(stranger.get_by_text("decided differently when")).to_have_count(0)

    decides_otherwise(site, url.split("/")[2])
    stranger.reload()
    expect(
        stranger.get_by_text("1 cycle of 3 was decided differently when this link was created.")
    ).to_be_visible()
    stranger.get_by_role("button", name="Show both").click()
    shown = stranger.get_by_role("dialog", name="Then and now")
    now = cycles_of(example_text("making-room"))[1].node or "none"
    expect(shown.get_by_role("row", name=f"Node worker-9 {now}", exact=True)).to_be_visible()
    shown.get_by_role("button", name="Go to cycle 2").click()
    Workbench(stranger).at(2)


def decides_otherwise(site: Stack, link: str) -> None:
    """Store what an older engine would have: the second cycle's pod goes elsewhere."""
    database = Path(site.env["PLAYGROUND_DATA_DIR"]) / "podstep.sqlite3"
    with closing(sqlite3.connect(database, timeout=30)) as connection, connection:
        (stored,) = connection.execute(
            "SELECT decisions FROM playground_link WHERE id = ?", (link,)
        ).fetchone()
        decisions = json.loads(unpack(stored))
        decisions[1][2] = "worker-9"
        packed = pack(json.dumps(decisions).encode())
        connection.execute("UPDATE playground_link SET decisions = ? WHERE id = ?", (packed, link))


#: Notes which commands the page sends.
NOTED = """() => {
    const { call } = podstep.socket;
    window.sent = [];
    podstep.socket.call = (name, ...more) => {
        sent.push(name);
        return call.call(podstep.socket, name, ...more);
    };
}"""
DUMPED = """apiVersion: v1
kind: Node
metadata: {name: node-7, annotations: {example.com/owner: alice}}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: c
    image: web:1
    env: [{name: PASSWORD, value: hunter2}]
"""


#: The text at an address, as the page may read it.
FETCHED = "address => fetch(address).then((answer) => answer.text())"


def test_a_paste_is_stripped_before_it_is_stored_and_again_before_it_is_shared(page: Page) -> None:
    """The page says what was not stored; Share says what a link would contain before it makes one."""
    page.goto("/")
    page.get_by_label("Manifests").fill(DUMPED)
    page.get_by_role("button", name="Open the workbench").click()
    bench = Workbench(page).wait()
    expect(page.get_by_text("Not stored: 1 env value.")).to_be_visible()
    page.evaluate(NOTED)
    page.get_by_role("button", name="Share", exact=True).click()
    box = page.get_by_role("dialog", name="Share this view")
    kept = box.get_by_role("checkbox", name="Leave out 1 annotation")
    expect(kept).to_be_checked()
    expect(box.get_by_role("checkbox", name="env value")).to_have_count(0)
    assert "draft.share" not in page.evaluate("sent")
    box.get_by_role("checkbox", name="Leave out 2 names").check()
    box.get_by_role("button", name="Create the link").click()
    link = box.get_by_label("Link to this view", exact=True).input_value()
    page.keyboard.press("Escape")
    what_is_typed_is_stripped_unless_it_is_kept(bench)
    page.goto(link)
    bench.wait()
    assert page.evaluate("podstep.playback.nodes.names") != ["node-7"]
    address = page.evaluate("`/api/scenarios/${podstep.playback.scenario}/bundle`")
    text = page.evaluate(FETCHED, address)
    assert not any(word in text for word in ("hunter2", "alice", "web:1"))


def what_is_typed_is_stripped_unless_it_is_kept(bench: Workbench) -> None:
    """Applying a text with env values stores it without them and shows that; a click keeps them."""
    page, yaml = bench.page, yaml_of(bench)
    address = f"{page.url.partition('?')[0]}bundle"
    yaml.fill(DUMPED)
    page.get_by_role("button", name="Apply", exact=True).click()
    note = page.locator(".toast", has_text="Not stored: 1 env value.")
    expect(note.get_by_role("button", name="Keep them")).to_be_visible()
    yaml.shows(re.compile("hunter2"), holds=False)
    assert "hunter2" not in page.evaluate(FETCHED, address)
    note.get_by_role("button", name="Keep them").click()
    yaml.shows(re.compile("hunter2"))
    assert "hunter2" in page.evaluate(FETCHED, address)
