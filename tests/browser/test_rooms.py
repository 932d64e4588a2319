"""Rooms: one person leads, others follow on their own screens, go their own way, come back, and predict."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, PHONE, looks
from tests.browser.pages import Workbench, becomes, cycles_of, drafted, example_text, share, wide
from tests.services.stack import Stack

SHOP = example_text("shop")
ROOM = example_text("making-room")
BOX = """selector => {
    const { x, y, width, height } = document.querySelector(selector).getBoundingClientRect();
    return [x, y, width, height].map(Math.round);
}"""


def entered(page: Page) -> Workbench:
    """Wait until a page is in its room and shows what the room shows."""
    page.wait_for_function("() => window.podstep?.room?.room.state === 'here'")
    return Workbench(page).wait()


def open_room(page: Page, address: str) -> tuple[Workbench, str]:
    """Present what an address shows; return the leader's workbench, and the link for viewers."""
    Workbench(page).open(address)
    page.get_by_role("button", name="Present", exact=True).click()
    box = page.get_by_role("dialog", name="Present")
    expect(box.get_by_label("Title")).not_to_be_empty()
    box.get_by_role("button", name="Open the room").click()
    page.wait_for_url("**/r/**")
    bench = entered(page)
    invite = page.get_by_role("dialog", name="Invite")
    expect(invite.get_by_role("img", name="QR code of the link for viewers")).to_be_visible()
    link = invite.get_by_label("Link for viewers", exact=True).input_value()
    invite.get_by_role("button", name="Close").click()
    says(page, "You lead")
    return bench, link


def says(page: Page, text: str) -> None:
    """Expect the bar of the room to say where one stands."""
    expect(page.get_by_role("region", name="Room").get_by_role("status")).to_have_text(text)


def bar(page: Page, name: str) -> None:
    """Press a button of the room's bar."""
    page.get_by_role("region", name="Room").get_by_role("button", name=name, exact=True).click()


def test_viewers_follow_go_their_own_way_and_rejoin(visitor: Callable[..., Page], site: Stack) -> None:
    """Step, tab, selection and highlighted cell arrive; who navigates is left alone until one tap."""
    address = share(site, SHOP, "A shop on twelve nodes")
    leader, link = open_room(visitor(), f"{address}?step=3")
    assert "lead=" not in leader.page.url
    desk, phone = visitor(), visitor(size=PHONE)
    viewers = []
    for page in (desk, phone):
        page.goto(link)
        viewers.append(entered(page).at(3))
        says(page, "You follow")
    expect(leader.page.get_by_text("watching")).to_be_visible()
    becomes(lambda: leader.page.evaluate("podstep.room.room.watching"), 2)

    leader.step(2)
    leader.tab("Predicates")
    for viewer in viewers:
        viewer.at(5)
        viewer.is_on("Predicates")
    viewers[0].shows(cycles_of(SHOP)[4])

    grid = leader.inspect.get_by_role("grid")
    grid.locator("tbody tr").nth(1).locator("th").click()
    name = grid.locator("tbody tr").nth(1).locator("th").inner_text().strip()
    cell = desk.locator(".room-cell")
    expect(cell).to_have_text(name)
    becomes(
        lambda: name.endswith(desk.evaluate("podstep.playback.nodes.names[podstep.view.node] ?? '-'")),
        wanted=True,
    )

    # The phone goes its own way; the leader goes on without it.
    phone.get_by_role("navigation", name="Regions").get_by_role("button", name="Stage").click()
    viewers[1].button("Back (←)").click()
    says(phone, "Not following")
    leader.step()
    viewers[0].at(6)
    assert viewers[1].index == 4
    bar(phone, "Rejoin")
    viewers[1].at(6)
    says(phone, "You follow")

    # Who comes late, or again after a lost connection, is where the leader is.
    late = visitor()
    late.goto(link)
    entered(late).at(6).is_on("Predicates")
    desk.evaluate("podstep.socket.drop()")
    expect(desk.get_by_text("Connected again.")).to_be_visible()
    leader.step()
    viewers[0].at(7)
    says(desk, "You follow")


def test_a_spotlight_is_on_every_screen(visitor: Callable[..., Page], site: Stack) -> None:
    """It lights up the node that the leader selected, stays for the next step, and goes out again."""
    leader, link = open_room(visitor(), f"{share(site, SHOP, 'A shop')}?step=4")
    viewer = visitor()
    viewer.goto(link)
    entered(viewer).at(4)
    bar(leader.page, "Spotlight")
    expect(leader.page.get_by_text("Select a node, or click a cell")).to_be_visible()
    leader.node("general-4").click()
    bar(leader.page, "Spotlight")
    lit = "[...(podstep.view.lit?.nodes ?? [])].map(node => podstep.playback.nodes.names[node])"
    becomes(lambda: viewer.evaluate(lit), ["general-4"])
    leader.step()
    Workbench(viewer).at(5)
    becomes(lambda: viewer.evaluate(lit), ["general-4"])
    bar(leader.page, "Spotlight")
    becomes(lambda: viewer.evaluate(lit), [])


def test_a_prediction_is_voted_on_and_revealed(visitor: Callable[..., Page], site: Stack) -> None:
    """Nobody sees an answer before it is revealed; the tally marks the scheduler's."""
    leader, link = open_room(visitor(), f"{share(site, SHOP, 'A shop')}?step=3")
    desk, phone = visitor(), visitor(size=PHONE)
    for page in (desk, phone):
        page.goto(link)
        entered(page).at(3)
    right = cycles_of(SHOP)[3].node
    wrong = next(name for name in desk.evaluate("podstep.playback.nodes.names") if name != right)

    bar(leader.page, "Ask")
    leader.page.get_by_role("dialog").get_by_role("button", name="Which node wins?").click()
    asked = [page.get_by_role("region", name="Prediction") for page in (leader.page, desk, phone)]
    for one in asked:
        expect(one.get_by_role("heading", name="Which node wins?")).to_be_visible()
    desk.get_by_role("searchbox", name="Filter the answers").fill(str(right))
    asked[1].get_by_role("button", name=str(right), exact=True).click()
    asked[2].get_by_role("button", name=str(right), exact=True).click()
    asked[2].get_by_role("button", name=wrong, exact=True).click()
    expect(asked[2].get_by_text(f"You said {wrong}.")).to_be_visible()
    expect(asked[2].get_by_role("button", name=wrong, exact=True)).to_have_attribute("aria-pressed", "true")
    expect(asked[0].get_by_text("2 of 2 voted")).to_be_visible()
    for one in asked:
        expect(one.get_by_text("The scheduler's answer")).to_have_count(0)
    assert asked[2].get_by_role("button", name=wrong, exact=True).bounding_box()["height"] >= 48  # type: ignore[index]

    asked[0].get_by_role("button", name="Reveal").click()
    for one in asked:
        expect(one.get_by_text(f"The scheduler's answer: {right}")).to_be_visible()
        expect(one.locator(".tally .right")).to_contain_text(str(right))
        expect(one.get_by_role("listitem")).to_have_count(2)
    expect(asked[1].get_by_text("You were right.")).to_be_visible()
    expect(asked[2].get_by_text("You were right.")).to_have_count(0)
    asked[0].get_by_role("button", name="Dismiss").click()
    for one in asked:
        expect(one).to_be_hidden()


def test_victims_and_own_questions(visitor: Callable[..., Page], site: Stack) -> None:
    """Several pods can be picked as victims; a question of one's own has one's own answers."""
    leader, link = open_room(visitor(), f"{share(site, ROOM, 'Making room')}?step=0")
    phone = visitor(size=PHONE)
    phone.goto(link)
    entered(phone).at(0)
    victims = sorted(pod.split("/")[-1] for pod in cycles_of(ROOM)[0].decision.victims)
    assert victims
    bar(leader.page, "Ask")
    leader.page.get_by_role("dialog").get_by_role("button", name="Who is evicted?").click()
    asked = phone.get_by_role("region", name="Prediction")
    for pod in victims:
        asked.get_by_role("button", name=pod, exact=True).click()
    asked.get_by_role("button", name=re.compile(r"^Vote for \d+ victims?")).click()
    shown = leader.page.get_by_role("region", name="Prediction")
    expect(shown.get_by_text("1 of 1 voted")).to_be_visible()
    shown.get_by_role("button", name="Reveal").click()
    expect(asked.get_by_text("You were right.")).to_be_visible()
    shown.get_by_role("button", name="Dismiss").click()

    bar(leader.page, "Ask")
    box = leader.page.get_by_role("dialog")
    box.get_by_role("button", name="A question of your own").click()
    box.get_by_label("Question").fill("Was that fair?")
    box.get_by_label("Answers, one per line").fill("Yes\nNo\n<b>Depends</b>")
    box.get_by_role("button", name="Ask", exact=True).click()
    expect(asked.get_by_role("heading", name="Was that fair?")).to_be_visible()
    asked.get_by_role("button", name="<b>Depends</b>", exact=True).click()
    expect(shown.get_by_text("1 of 1 voted")).to_be_visible()
    shown.get_by_role("button", name="Reveal").click()
    expect(asked.get_by_role("listitem")).to_contain_text("<b>Depends</b>")
    expect(asked.get_by_text("The scheduler's answer")).to_have_count(0)


def test_the_lead_is_handed_over_and_survives_its_browser(visitor: Callable[..., Page], site: Stack) -> None:
    """Another person leads; the owner takes it back; a leader whose browser died goes on by the link."""
    leader, link = open_room(visitor(), f"{share(site, SHOP, 'A shop')}?step=3")
    bar(leader.page, "Invite")
    invite = leader.page.get_by_role("dialog", name="Invite")
    invite.get_by_text("Lead from another device").click()
    leading = invite.get_by_label("Leader’s link", exact=True).input_value()
    invite.get_by_role("button", name="Close").click()
    ada, other = visitor(), visitor(size=PHONE)
    for page in (ada, other):
        page.goto(link)
        entered(page).at(3)
    bar(ada, "Your name")
    ada.get_by_role("dialog").get_by_role("textbox").fill("Ada")
    ada.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(ada.get_by_role("dialog")).to_have_count(0)
    bar(leader.page, "Hand over")
    leader.page.get_by_role("button", name="Hand over to Ada").click()
    says(ada, "You lead")
    says(leader.page, "You follow")
    Workbench(ada).step()
    leader.at(4)
    Workbench(other).at(4)
    bar(leader.page, "Lead again")
    says(leader.page, "You lead")
    says(ada, "You follow")
    leader.step()
    Workbench(ada).at(5)

    leader.page.context.close()
    again = visitor()
    again.goto(leading)
    found = entered(again).at(5)
    says(again, "You lead")
    assert "lead=" not in again.url
    found.step()
    Workbench(other).at(6)
    bar(again, "End")
    again.get_by_role("button", name="End it for everyone").click()
    for page in (again, ada, other):
        says(page, "The room has ended.")
        expect(page.get_by_role("link", name="Continue on your own")).to_be_visible()
    Workbench(other).button("Step").click()
    Workbench(other).at(7)
    after = visitor()
    after.goto(link)
    expect(after.get_by_text("The room has ended.")).to_be_visible()
    onward = after.get_by_role("link", name="Continue on your own").get_attribute("href")
    assert onward is not None
    assert "step=6" in onward
    assert "step=7" in str(_followed(other))


def test_a_draft_is_presented_as_it_is(visitor: Callable[..., Page]) -> None:
    """Viewers see an immutable copy; the draft's own address stays the owner's."""
    page = visitor()
    leader, link = open_room(page, drafted(page, ROOM, "Making room"))
    viewer = visitor()
    viewer.goto(link)
    entered(viewer).at(0)
    leader.step()
    Workbench(viewer).at(1).shows(cycles_of(ROOM)[0])
    expect(viewer).to_have_title(re.compile("Making room"))


def _followed(page: Page) -> str:
    """Go on alone from a room that has ended; return the address."""
    page.get_by_role("link", name="Continue on your own").click()
    page.wait_for_url("**/s/**")
    return page.url


@looks
def test_a_room_fits_and_nothing_jumps(
    visitor: Callable[..., Page],
    site: Stack,
    accessible: Callable[[Page], None],
    size: tuple[int, int],
    scheme: str,
) -> None:
    """Bar, question, tally and end keep to WCAG and to the window, and move nothing of the stage."""
    page = visitor(size=size, color_scheme=scheme)
    leader, link = open_room(page, f"{share(site, SHOP, 'A shop on twelve nodes')}?step=3")
    viewer = visitor(size=size, color_scheme=scheme)
    viewer.goto(link)
    entered(viewer).at(3)
    before = viewer.evaluate(BOX, "#main")
    bar(page, "Ask")
    if size == PHONE:
        accessible(page)
    page.get_by_role("dialog").get_by_role("button", name="Does it fit?").click()
    asked = viewer.get_by_role("region", name="Prediction")
    expect(asked).to_be_visible()
    for one in (page, viewer):
        if size == PHONE:
            accessible(one)
        assert wide(one) == 0
    assert viewer.evaluate(BOX, "#main") == before
    asked.get_by_role("button", name="Yes", exact=True).focus()
    viewer.keyboard.press("Enter")
    expect(asked.get_by_text("You said Yes.")).to_be_visible()
    page.get_by_role("region", name="Prediction").get_by_role("button", name="Reveal").click()
    expect(asked.get_by_text("The scheduler's answer")).to_be_visible()
    for one in (page, viewer):
        if size == PHONE:
            accessible(one)
        assert wide(one) == 0
    assert viewer.evaluate(BOX, "#main") == before
    asked.get_by_role("button", name="Collapse the question").click()
    expect(asked.get_by_role("list")).to_be_hidden()
    if size == DESKTOP:
        Workbench(viewer).button("Back (←)").click()
        says(viewer, "Not following")
        accessible(viewer)
        assert viewer.evaluate(BOX, "#main") == before
    assert leader.index == 3


@pytest.mark.parametrize("width", [390, 360])
def test_the_leaders_bar_fits_a_phone(visitor: Callable[..., Page], site: Stack, width: int) -> None:
    """All that a leader can press is in the window, each at least 38 pixels high."""
    page = visitor(size=(width, 780))
    open_room(page, f"{share(site, ROOM, 'Making room')}?step=1")
    for name in ("Ask", "Spotlight", "Go to", "Hand over", "End", "Invite"):
        box = (
            page.get_by_role("region", name="Room")
            .get_by_role("button", name=name, exact=True)
            .bounding_box()
        )
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["height"] >= 38


def test_a_room_travels_to_an_example(visitor: Callable[..., Page], site: Stack) -> None:
    """Under the same address everybody is in the other scenario, and the leader leads on."""
    leader, link = open_room(visitor(), f"{share(site, SHOP, 'A shop')}?step=3")
    viewer = visitor()
    viewer.goto(link)
    entered(viewer).at(3)
    before = viewer.evaluate("podstep.playback.source.scenario")
    bar(leader.page, "Go to")
    box = leader.page.get_by_role("dialog", name="Go to another scenario")
    box.get_by_label("Address of a shared scenario").fill("https://example.org/")
    box.get_by_role("button", name="Go there").click()
    expect(box.get_by_role("alert")).to_contain_text("address of a shared scenario")
    with viewer.expect_navigation(url=link), leader.page.expect_navigation():
        box.get_by_role("button", name=re.compile("[Pp]reempt|[Rr]oom")).first.click()
    entered(viewer).at(0)
    leader = entered(leader.page).at(0)
    says(leader.page, "You lead")
    assert viewer.evaluate("podstep.playback.source.scenario") != before
    leader.step()
    Workbench(viewer).at(1)
