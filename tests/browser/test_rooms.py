"""Rooms: one person leads, others follow on their own screens, go their own way, come back, and predict."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack

from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, PHONE, turned
from tests.browser.pages import (
    Workbench,
    becomes,
    cycles_of,
    cycles_of_example,
    drafted,
    example_text,
    share,
    wide,
)
from tests.services.stack import Stack

SHOP = example_text("shop")
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


def test_a_room_is_followed_and_led(visitor: Callable[..., Page], site: Stack) -> None:
    """Three follow, one of them its own way; the lead is handed over, and survives its browser."""
    address = share(site, SHOP, "A shop on twelve nodes")
    leader, link = open_room(visitor(), f"{address}?step=3")
    assert "lead=" not in leader.page.url
    desk, phone = visitor(), visitor(size=PHONE)
    for page in (desk, phone):
        page.goto(link)
        entered(page).at(3)
        says(page, "You follow")
    expect(leader.page.get_by_role("region", name="Room")).to_contain_text(re.compile(r"2\s*watching"))
    a_spotlight_is_on_every_screen(leader, desk, phone)
    viewers_follow(leader, desk, phone)
    who_goes_their_own_way_rejoins(leader, desk, phone)
    who_comes_late_is_where_the_leader_is(leader, link, visitor(), desk)
    the_lead_is_handed_over(leader, desk, phone)
    the_lead_survives_its_browser(leader, link, visitor(), desk, phone)


def a_spotlight_is_on_every_screen(leader: Workbench, *viewers: Page) -> None:
    """It lights up the node that the leader selected, stays for the next step, and goes out again."""
    bar(leader.page, "Spotlight")
    expect(leader.page.get_by_text("Select a node, or click a cell")).to_be_visible()
    leader.node("general-4").click()
    bar(leader.page, "Spotlight")
    lit = "[...(podstep.view.lit?.nodes ?? [])].map(node => podstep.playback.nodes.names[node])"

    def on(nodes: list[str]) -> None:
        for viewer in viewers:
            becomes(lambda: viewer.evaluate(lit), nodes)  # noqa: B023 - asked at once

    on(["general-4"])
    leader.step()
    for viewer in viewers:
        Workbench(viewer).at(4)
    on(["general-4"])
    bar(leader.page, "Spotlight")
    on([])


def viewers_follow(leader: Workbench, desk: Page, phone: Page) -> None:
    """Step, tab, selection and highlighted cell arrive."""
    leader.step()
    leader.tab("Predicates")
    for viewer in (desk, phone):
        Workbench(viewer).at(5).is_on("Predicates")
    Workbench(desk).shows(cycles_of(SHOP)[4])
    head = leader.inspect.get_by_role("grid").locator("tbody tr").nth(1).locator("th")
    head.click()
    name = head.inner_text().strip()
    expect(desk.locator(".room-cell")).to_have_text(name)
    becomes(
        lambda: name.endswith(desk.evaluate("podstep.playback.nodes.names[podstep.view.node] ?? '-'")),
        wanted=True,
    )


def who_goes_their_own_way_rejoins(leader: Workbench, desk: Page, phone: Page) -> None:
    """The leader goes on without the phone, until one tap."""
    alone = Workbench(phone)
    phone.get_by_role("navigation", name="Regions").get_by_role("button", name="Stage").click()
    alone.button("Back (←)").click()
    says(phone, "Not following")
    leader.step()
    Workbench(desk).at(6)
    assert alone.index == 4
    bar(phone, "Rejoin")
    alone.at(6)
    says(phone, "You follow")


def who_comes_late_is_where_the_leader_is(leader: Workbench, link: str, late: Page, desk: Page) -> None:
    """So is who comes again after a lost connection."""
    late.goto(link)
    entered(late).at(6).is_on("Predicates")
    desk.evaluate("podstep.socket.drop()")
    expect(desk.get_by_text("Connected again.")).to_be_visible()
    leader.step()
    Workbench(desk).at(7)
    says(desk, "You follow")


def the_lead_is_handed_over(leader: Workbench, ada: Page, other: Page) -> None:
    """Another person leads; the owner takes it back."""
    bar(ada, "Your name")
    ada.get_by_role("dialog").get_by_role("textbox").fill("Ada")
    ada.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(ada.get_by_role("dialog")).to_have_count(0)
    bar(leader.page, "Hand over")
    leader.page.get_by_role("button", name="Hand over to Ada").click()
    says(ada, "You lead")
    says(leader.page, "You follow")
    Workbench(ada).step()
    for bench in (leader, Workbench(other)):
        bench.at(8)
    bar(leader.page, "Lead again")
    says(leader.page, "You lead")
    says(ada, "You follow")
    leader.step()
    Workbench(ada).at(9)


def the_lead_survives_its_browser(leader: Workbench, link: str, again: Page, ada: Page, other: Page) -> None:
    """A leader whose browser died goes on by the link; who is left goes on alone when the room has ended."""
    bar(leader.page, "Invite")
    invite = leader.page.get_by_role("dialog", name="Invite")
    invite.get_by_text("Lead from another device").click()
    leading = invite.get_by_label("Leader’s link", exact=True).input_value()
    leader.page.context.close()
    again.goto(leading)
    found = entered(again).at(9)
    says(again, "You lead")
    assert "lead=" not in again.url
    found.step()
    Workbench(other).at(10)
    bar(again, "End")
    again.get_by_role("button", name="End it for everyone").click()
    for page in (again, ada, other):
        says(page, "The room has ended.")
        expect(page.get_by_role("link", name="Continue on your own")).to_be_visible()
    Workbench(other).button("Step").click()
    Workbench(other).at(11)
    again.goto(link)
    expect(again.get_by_text("The room has ended.")).to_be_visible()
    onward = again.get_by_role("link", name="Continue on your own").get_attribute("href")
    assert onward is not None
    assert "step=10" in onward
    other.get_by_role("link", name="Continue on your own").click()
    other.wait_for_url("**/s/**step=11**")


def test_a_room_votes_and_travels(visitor: Callable[..., Page]) -> None:
    """A draft is presented as it is, and predicts; the room goes to an example, and predicts there."""
    page = visitor()
    leader, link = open_room(page, f"{drafted(page, SHOP, 'A shop')}?step=2")
    desk, phone = visitor(), visitor(size=PHONE)
    for page in (desk, phone):
        page.goto(link)
        entered(page).at(2)
    expect(desk).to_have_title(re.compile("A shop"))
    leader.step()
    Workbench(phone).at(3)
    Workbench(desk).at(3).shows(cycles_of(SHOP)[2])
    a_prediction_is_voted_on_and_revealed(leader, desk, phone)
    a_room_travels_to_an_example(leader, link, desk, phone)
    victims_are_voted_on(leader, phone)
    questions_of_ones_own_are_voted_on(leader, phone)


def a_prediction_is_voted_on_and_revealed(leader: Workbench, desk: Page, phone: Page) -> None:
    """Nobody sees an answer before it is revealed; the tally marks the scheduler's."""
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


def a_room_travels_to_an_example(leader: Workbench, link: str, *viewers: Page) -> None:
    """Under the same address everybody is in the other scenario, and the leader leads on."""
    before = leader.page.evaluate("podstep.playback.source.scenario")
    bar(leader.page, "Go to")
    box = leader.page.get_by_role("dialog", name="Go to another scenario")
    box.get_by_label("Address of a shared scenario").fill("https://example.org/")
    box.get_by_role("button", name="Go there").click()
    expect(box.get_by_role("alert")).to_contain_text("address of a shared scenario")
    with ExitStack() as moves:
        for page in (leader.page, *viewers):
            moves.enter_context(page.expect_navigation(url=link if page in viewers else None))
        box.get_by_role("button", name="Making room", exact=True).click()
    for page in (leader.page, *viewers):
        entered(page).at(0)
        assert page.evaluate("podstep.playback.source.scenario") != before
    says(leader.page, "You lead")
    leader.step()
    for page in viewers:
        Workbench(page).at(1)


def victims_are_voted_on(leader: Workbench, phone: Page) -> None:
    """Several pods can be picked as victims."""
    leader.page.keyboard.press("Home")
    for bench in (leader, Workbench(phone)):
        bench.at(0)
    victims = sorted(pod.split("/")[-1] for pod in cycles_of_example("making-room")[0].decision.victims)
    assert victims
    bar(leader.page, "Ask")
    leader.page.get_by_role("dialog").get_by_role("button", name="Who is evicted?").click()
    asked = phone.get_by_role("region", name="Prediction")
    for pod in victims:
        asked.get_by_role("button", name=pod, exact=True).click()
    asked.get_by_role("button", name=re.compile(r"^Vote for \d+ victims?")).click()
    shown = leader.page.get_by_role("region", name="Prediction")
    expect(shown.get_by_text("1 of 2 voted")).to_be_visible()
    shown.get_by_role("button", name="Reveal").click()
    expect(asked.get_by_text("You were right.")).to_be_visible()
    shown.get_by_role("button", name="Dismiss").click()


def questions_of_ones_own_are_voted_on(leader: Workbench, phone: Page) -> None:
    """They have answers of one's own."""
    asked, shown = (page.get_by_role("region", name="Prediction") for page in (phone, leader.page))
    bar(leader.page, "Ask")
    box = leader.page.get_by_role("dialog")
    box.get_by_role("button", name="A question of your own").click()
    box.get_by_label("Question").fill("Was that fair?")
    box.get_by_label("Answers, one per line").fill("Yes\nNo\n<b>Depends</b>")
    box.get_by_role("button", name="Ask", exact=True).click()
    expect(asked.get_by_role("heading", name="Was that fair?")).to_be_visible()
    asked.get_by_role("button", name="<b>Depends</b>", exact=True).click()
    expect(shown.get_by_text("1 of 2 voted")).to_be_visible()
    shown.get_by_role("button", name="Reveal").click()
    expect(asked.get_by_role("listitem")).to_contain_text("<b>Depends</b>")
    expect(asked.get_by_text("The scheduler's answer")).to_have_count(0)


def test_a_room_fits_and_nothing_jumps(
    visitor: Callable[..., Page], site: Stack, accessible: Callable[[Page], None]
) -> None:
    """Bar, question, tally and end keep to WCAG and to the window, and move nothing of the stage."""
    page, viewer = visitor(size=PHONE), visitor(size=PHONE)
    leader, link = open_room(page, f"{share(site, SHOP, 'A shop on twelve nodes')}?step=3")
    the_leaders_bar_fits(page)
    viewer.goto(link)
    entered(viewer).at(3)
    before = {size: viewer.evaluate(BOX, "#main") for size in turned(viewer)}

    def sound() -> None:
        for one in (page, viewer):
            for size in turned(one):
                if size == PHONE:
                    accessible(one)
                assert wide(one) == 0
                if one is viewer:
                    assert viewer.evaluate(BOX, "#main") == before[size]

    bar(page, "Ask")
    accessible(page)
    page.get_by_role("dialog").get_by_role("button", name="Does it fit?").click()
    asked = viewer.get_by_role("region", name="Prediction")
    expect(asked).to_be_visible()
    sound()
    asked.get_by_role("button", name="Yes", exact=True).focus()
    viewer.keyboard.press("Enter")
    expect(asked.get_by_text("You said Yes.")).to_be_visible()
    page.get_by_role("region", name="Prediction").get_by_role("button", name="Reveal").click()
    expect(asked.get_by_text("The scheduler's answer")).to_be_visible()
    sound()
    asked.get_by_role("button", name="Collapse the question").click()
    expect(asked.get_by_role("list")).to_be_hidden()
    Workbench(viewer).button("Back (←)").click()
    says(viewer, "Not following")
    accessible(viewer)
    assert viewer.evaluate(BOX, "#main") == before[DESKTOP]
    assert leader.index == 3


def the_leaders_bar_fits(page: Page) -> None:
    """All that a leader can press is in a phone's window, each at least 38 pixels high."""
    buttons = page.get_by_role("region", name="Room").get_by_role("button")
    for width in (360, PHONE[0]):
        page.set_viewport_size({"width": width, "height": PHONE[1]})
        for name in ("Ask", "Spotlight", "Go to", "Hand over", "End", "Invite"):
            box = buttons.and_(page.get_by_role("button", name=name, exact=True)).bounding_box()
            assert box
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert box["height"] >= 38
