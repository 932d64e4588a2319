"""What a page asks again after its connection broke, and what it leaves to the user."""

from __future__ import annotations

import json

from playwright.sync_api import Page, WebSocket

from tests.browser.pages import Workbench, drafted, example_text, share
from tests.services.stack import Stack

#: Send a command, break the connection before an answer can come, and wait for how the call ends.
BROKEN = """async ([command, payload]) => {
  const asked = window.podstep.socket.call(command, payload);
  window.podstep.socket.drop();
  return asked.then(() => "answered", (error) => `${error.code}: ${error.message}`);
}"""
#: The same with a frame that the server does not read: it closes the connection itself.
TOO_LARGE = """() => window.podstep.socket.call("bundle.check", { text: "x".repeat(7 * 2 ** 20) })
  .then(() => "answered", (error) => error.code)"""
HELLO = "window.podstep.socket.call('session.hello', {}).then((answer) => Boolean(answer.version))"


def draft(page: Page) -> Workbench:
    """Open the shop as a draft."""
    return Workbench(page).open(drafted(page, example_text("shop"), "A shop on twelve nodes"))


def test_only_what_is_safe_to_repeat_is_asked_again(page: Page) -> None:
    """A read is answered after the connection is back; what makes something new fails with a sentence.

    On no connection a command is sent twice: the server would do it twice, or supersede one by the other.
    """
    sent: list[list[int]] = []

    def listen(socket: WebSocket) -> None:
        numbers: list[int] = []
        sent.append(numbers)
        socket.on("framesent", lambda payload: numbers.append(json.loads(payload)[1]))

    page.on("websocket", listen)
    draft(page)
    assert page.evaluate(BROKEN, ["session.hello", {}]) == "answered"
    for command in ("run.start", "scenario.fork", "bundle.open", "draft.share"):
        assert page.evaluate(HELLO)  # the connection is back
        ended = page.evaluate(BROKEN, [command, {}])
        assert ended.startswith("connection.lost: The connection was lost before the server answered.")
    assert page.evaluate(HELLO)
    assert len(sent) > 5
    assert [sorted(set(numbers)) for numbers in sent] == [sorted(numbers) for numbers in sent]


def test_a_frame_that_is_not_read_is_not_sent_again(page: Page) -> None:
    """Sent again it would end every connection after the first."""
    draft(page)
    assert page.evaluate(TOO_LARGE) == "frame.too-large"
    assert page.evaluate(HELLO)


def test_a_link_is_asked_for_once_while_its_modules_load(page: Page, site: Stack) -> None:
    """The head's connection is the page's, its question the only one; step and verdicts come at once."""
    sent: list[str] = []
    sockets: list[WebSocket] = []

    def listen(socket: WebSocket) -> None:
        sockets.append(socket)
        socket.on("framesent", lambda payload: sent.append(json.loads(payload)[0]))

    page.on("websocket", listen)
    Workbench(page).open(f"{share(site, example_text('shop'))}?step=17&tab=priorities").at(17)
    assert len(sockets) == 1
    asked = [command for command in sent if command != "comment.watch"]  # which comes at any time
    assert asked[:3] == ["scenario.open", "cycles.window", "cycle.get"]
    assert sent.count("scenario.open") == 1
    page.add_script_tag(url="/static/js/link-early.js")  # as if it had come after the modules
    assert page.evaluate(HELLO)
    assert len(sockets) == 1
