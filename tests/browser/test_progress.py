"""Progress in an account: one device goes on where the other is; a browser that is signed out forgets it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.conftest import Watch
from tests.browser.test_accounts import HASHED, PASSWORD, send
from tests.browser.test_learn import FIRST, button, found, submit
from tests.core.lessons.data import right_answer

pytestmark = pytest.mark.timeout(120)

KEPT = "() => Object.keys(localStorage).filter((key) => key.startsWith('podstep.lessons'))"


def learns(visitor: Callable[..., Page]) -> Page:
    """Return a browser whose stages are empty: nothing here looks at one."""
    page = visitor()
    page.route("**/e/**", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    return page


def reported(page: Page) -> Any:
    return page.locator(f"[data-lesson='{FIRST}'] [data-progress]").first


def test_two_devices_of_one_account(visitor: Callable[..., Page], watch: Watch) -> None:
    """What a browser learned before it signs in is on the other one, and the other way; offline it waits."""
    watch.allow("ERR_FAILED", "ERR_INTERNET_DISCONNECTED")
    of, name = found(FIRST), f"grace.{secrets.token_hex(4)}"
    stops = [stop.key for stop in of.stops]
    first, second = learns(visitor), learns(visitor)
    first.goto(f"/learn/{FIRST}/{stops[0]}/")
    expect(first.locator(f"a[data-stop='{stops[0]}'].seen")).to_have_count(1)
    assert first.evaluate(KEPT) == ["podstep.lessons"]
    first.goto("/account/")
    with first.expect_response("**/learn/progress"):
        send(first, "Create an account", "Create an account", Name=name, Password=PASSWORD)
        expect(first.get_by_role("heading", name="Your account")).to_be_visible(timeout=HASHED)
    first.wait_for_function(f"() => ({KEPT})().length === 2")  # its copy, and what it is known to have

    requests: list[Request] = []
    first.on("request", lambda one: requests.append(one) if one.url.endswith("/learn/progress") else None)
    with first.expect_response("**/learn/progress"):
        first.goto(f"/learn/{FIRST}/node/")
    button(first, "n2").click()
    submit(first)
    expect(first.locator(".verdict.wrong")).to_be_visible()
    button(first, str(right_answer(of, of.stops[stops.index("node")]))).click()
    submit(first)
    expect(first.locator(".verdict")).to_have_class(re.compile("right"))
    assert len(requests) == 1, "one as the page opened, and none for a click"
    with first.expect_response("**/learn/progress"):
        first.keyboard.press("n")

    second.goto("/account/?next=/learn/")
    send(second, "Sign in", "Sign in", Name=name, Password=PASSWORD)
    expect(reported(second)).to_contain_text("2 of")
    expect(second.get_by_text("Progress is kept in your account.")).to_be_visible()
    other = second.context.new_page()  # a second tab sees what the first one has
    other.goto("/learn/")
    expect(reported(other)).to_contain_text("2 of")
    second.goto(f"/learn/{FIRST}/")
    expect(second).to_have_url(re.compile(f"/{stops[stops.index('node') + 1]}/$"))
    second.route("**/learn/progress", lambda route: route.abort())
    second.goto(f"/learn/{FIRST}/{stops[-1]}/")
    expect(second.locator(f"a[data-stop='{stops[-1]}'].seen")).to_have_count(1)
    second.unroute("**/learn/progress")
    with second.expect_response("**/learn/progress"):
        second.goto("/learn/")
    first.goto("/learn/")
    seen = f"key => JSON.parse(localStorage.getItem(key)).lessons['{FIRST}'].stops['{stops[-1]}']?.seen"
    copy = first.evaluate(KEPT)[0].removesuffix(".sent")
    first.wait_for_function(seen, arg=copy)

    second.goto("/account/")
    second.get_by_role("button", name="Sign out", exact=True).click()
    expect(second.get_by_text("This browser is signed out.")).to_be_visible()
    second.wait_for_function(f"() => !({KEPT})().length")
    second.goto("/learn/")
    expect(reported(second)).not_to_contain_text(" of ")
    first.goto("/account/")
    first.get_by_text("Delete the account").first.click()
    form = first.locator("details.account-delete")
    form.get_by_label("Password").fill(PASSWORD)
    form.get_by_role("button", name="Delete the account").click()
    expect(first.get_by_text("The account was deleted.")).to_be_visible(timeout=HASHED)
    first.wait_for_function(f"() => ({KEPT})().join() === 'podstep.lessons'")
