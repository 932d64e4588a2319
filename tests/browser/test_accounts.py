"""An account in two browsers: what the first made without one, the second sees and edits until it leaves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch, turned
from tests.browser.editors import yaml_of
from tests.browser.pages import Workbench, becomes, drafted, share, wide
from tests.browser.test_rooms import entered, says
from tests.browser.test_two_tabs import apply, saved
from tests.services.stack import Stack

PASSWORD = "nine bees in a hive"
HASHED = 120_000  # milliseconds: hashing a password on a busy machine
NODE = """apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "1", memory: 8Gi, pods: "10"}}
"""


def send(page: Page, section: str, button: str, **fields: str) -> None:
    """Fill in a form of the page by its labels, and send it with the keyboard."""
    form = page.get_by_role("region", name=section, exact=True)
    for label, value in fields.items():
        form.get_by_label(label, exact=True).fill(value)
    form.get_by_role("button", name=button, exact=True).press("Enter")


def edit(bench: Workbench, cpu: int) -> None:
    """Type another number of cores into the YAML, and wait until it is saved."""
    editor = yaml_of(bench).shows(re.compile("cpu: "))
    editor.fill(re.sub(r'cpu: "\d"', f'cpu: "{cpu}"', editor.text))
    apply(bench)
    becomes(lambda: f'cpu: "{cpu}"' in saved(bench), True)


def test_two_browsers_of_one_account(visitor: Callable[..., Page], site: Stack, watch: Watch) -> None:
    """A draft, a link and a room; a tab that stays open meanwhile, a second browser, and its end."""
    first = Workbench(visitor())
    draft = drafted(first.page, NODE, "Plan of the racks")
    first.open(draft)
    shared = first.page.evaluate(
        "() => podstep.socket.call('draft.share', { draft: podstep.playback.source.draft })"
    )["url"]
    scenario = share(site, NODE, "Racks").split("/")[2]
    body = json.dumps({"scenario": scenario, "title": "Lecture 7"})
    json_type = {"Content-Type": "application/json"}
    assert first.page.request.post("/api/rooms", data=body, headers=json_type).status == 201

    tab = first.page.context.new_page()
    tab.goto("/account/")
    held = tab.get_by_role("region", name="What this browser holds")
    for words in ("1 draft", "1 link", "1 room"):
        expect(held.get_by_role("link", name=words, exact=True)).to_be_visible()
    send(tab, "Create an account", "Create an account", Name="Grace.H", Password=PASSWORD)
    expect(tab.get_by_role("heading", name="Your account")).to_be_visible(timeout=HASHED)
    expect(tab.get_by_text("grace.h")).to_be_visible()
    edit(first, 2)  # in the tab that was open all the time

    second = visitor()
    watch.allow("404", "403")
    assert second.request.get(draft).status == 404
    second.goto("/account/?next=/")
    send(second, "Sign in", "Sign in", Name="grace.h", Password="not this one")
    expect(second.get_by_role("alert")).to_have_text("The name or the password is wrong.", timeout=HASHED)
    send(second, "Sign in", "Sign in", Name="grace.h", Password=PASSWORD)
    second.get_by_role("link", name="Plan of the racks").first.click(timeout=HASHED)
    bench = Workbench(second).wait()
    edit(bench, 3)
    becomes(lambda: first.page.evaluate("podstep.playback.nodes.cpu[0]"), 3000)
    second.goto("/stored/")
    kept = {link.get_attribute("href") for link in second.get_by_role("table").get_by_role("link").all()}
    assert {draft, shared} <= kept
    second.goto("/account/")
    second.get_by_role("link", name="Lead from this browser Lecture 7").click()
    entered(second)
    says(second, "You lead")

    second.goto("/account/")
    second.get_by_role("button", name="Sign out", exact=True).click()
    expect(second.get_by_role("region", name="What this browser holds")).to_contain_text("Nothing yet")
    second.goto("/stored/")
    expect(second.get_by_text("You have not stored anything yet.")).to_be_visible()
    assert second.request.get(draft).status == 404
    edit(first, 4)


def test_the_page(page: Page, accessible: Callable[[Page], None], watch: Watch) -> None:
    """Signed out, refused and signed in: labelled, nothing wider than the screen, and usable by keyboard."""
    watch.allow("422")

    def sound() -> None:
        accessible(page)
        for _ in turned(page):
            assert not wide(page)

    page.goto("/")
    page.get_by_role("navigation", name="Site").get_by_role("link", name="Account").click()
    expect(page.get_by_role("heading", name="Account", exact=True)).to_be_visible()
    sound()
    send(page, "Create an account", "Create an account", Name="x y", Password=PASSWORD)
    expect(page.get_by_role("alert")).to_be_visible()
    name = page.get_by_role("region", name="Create an account").get_by_label("Name", exact=True)
    expect(name).to_be_focused()
    expect(name).to_have_accessible_description(re.compile("This name is not allowed"))
    sound()
    send(page, "Create an account", "Create an account", Name="ada-of-the-page", Password=PASSWORD)
    expect(page.get_by_role("heading", name="Your account")).to_be_visible(timeout=HASHED)
    page.get_by_text("Delete the account").first.press("Enter")
    sound()
