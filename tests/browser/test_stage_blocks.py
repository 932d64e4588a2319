"""Pods as blocks in their nodes' rooms, as large as their requests: one sees why a pod does not fit."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.clusters import zoned
from tests.browser.conftest import DESKTOP, turned
from tests.browser.pages import Workbench, becomes, example_text, holds, share
from tests.e2e import bundles
from tests.services.stack import Stack

NODE = bundles.node("n1", "4", "8Gi")


def pod(name: str, cpu: str = "", memory: str = "") -> dict[str, Any]:
    """Return a pod that requests so much; nothing where it is empty."""
    requests = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "c", "resources": {"requests": requests}}]},
    }


#: The place of an element in the room of a card as shares of it: left, bottom, width and height, in percent.
PLACE = """one => {
    const room = one.closest(".room").getBoundingClientRect(), box = one.getBoundingClientRect();
    const part = (size, of) => Math.round((100 * size) / of);
    return [part(box.left - room.left, room.width), part(room.bottom - box.bottom, room.height),
        part(box.width, room.width), part(box.height, room.height)];
}"""


def near(found: list[int], wanted: tuple[int, ...]) -> bool:
    """Whether shares are those, but for the border and rounding."""
    return all(abs(one - other) <= 2 for one, other in zip(found, wanted, strict=True))


def placed(block: Locator, *wanted: int) -> None:
    """Expect a block to stand there."""
    holds(lambda: block.evaluate(PLACE), lambda found: near(found, wanted))


def test_blocks_stand_like_stairs(page: Page, site: Stack) -> None:
    """Each begins where the one before ends; who requests nothing is a mark below."""
    text = bundles.bundle(NODE, pod("a", "1", "4Gi"), pod("b", "2", "2Gi"), pod("idle"), pod("wide", "500m"))
    bench = Workbench(page).open(f"{share(site, text)}?step=4").at(4)
    card = bench.node("n1")
    placed(card.locator('.room [title^="a"]'), 0, 0, 25, 50)
    placed(card.locator('.room [title^="b"]'), 25, 50, 50, 25)
    expect(card.locator('.room [title^="idle"]')).to_have_count(0)
    mark = card.locator('[title^="idle"]').bounding_box()
    assert mark is not None
    assert 3 <= mark["height"] <= 8
    wide = card.locator('[title^="wide"]')
    holds(lambda: wide.evaluate(PLACE), lambda found: near(found[:3], (75, 75, 12)))
    assert (wide.bounding_box() or {"height": 0})["height"] >= 3, "a block without memory is still seen"
    expect(bench.stage.locator(".stage-tools")).to_contain_text("Blocks: cpu × memory")
    card.locator('.room [title^="b"]').click()
    expect(page.get_by_role("region", name="Selected")).to_contain_text("b")


def test_the_pod_in_flight_carries_its_shape(page: Page, site: Stack) -> None:
    """Where it would stand; of what does not fit, what is beyond the room at the right and at the top."""
    large = {"cpu": ("3", "4Gi", 1), "memory": ("2", "6Gi", 1), "both": ("3", "6Gi", 2)}
    refused = [pod(name, cpu, memory) for name, (cpu, memory, _) in large.items()]
    text = bundles.bundle(NODE, pod("a", "2", "4Gi"), *refused, pod("fits", "2", "4Gi"))
    bench = Workbench(page).open(f"{share(site, text)}?step=1").at(1)
    card = bench.node("n1")
    shape, over = card.locator(".shape"), card.locator(".beyond")
    for index, beyond in enumerate((*(bars for _, _, bars in large.values()), 0), 2):
        bench.goto(index - 1)
        while (bench.index, page.evaluate("podstep.playback.phase")) != (index, "predicates"):
            page.keyboard.press("Shift+ArrowRight")
            bench.at(index)
        expect(shape).to_have_count(1)
        expect(over).to_have_count(beyond)
        holds(lambda: shape.evaluate(PLACE), lambda found: near(found[:2], (50, 50)))
        lies_beyond(card, over)
    bench.goto(5)
    expect(shape).to_have_count(0)
    placed(card.locator(".added"), 50, 50, 50, 50)


def lies_beyond(card: Locator, over: Locator) -> None:
    """Expect bars to lie beyond the room of a card, and within the card."""
    room, within = card.locator(".room").bounding_box(), card.bounding_box()
    assert room is not None and within is not None
    for bar in over.all():
        box = bar.bounding_box()
        assert box is not None
        right = box["x"] + box["width"] > room["x"] + room["width"] + 2
        top = box["y"] < room["y"] - 2
        assert right or top
        assert box["x"] + box["width"] <= within["x"] + within["width"]
        assert box["y"] >= within["y"]


def test_nodes_drop_out_and_scores_rise(page: Page, site: Stack) -> None:
    """Before the predicates every node may get it; those that reject it lose its shape, others are ranked."""
    bench = Workbench(page).open(f"{share(site, zoned(12))}?step=20&phase=queue")
    stage = bench.stage
    becomes(lambda: stage.locator(".node:has(.shape)").count(), 12)
    page.keyboard.press("Shift+ArrowRight")
    expect(stage.locator(".node.failed")).to_have_count(1)  # its taint is not tolerated
    becomes(lambda: stage.locator(".node.fits:has(.shape)").count(), 11)
    expect(stage.locator(".node.failed .shape")).to_have_count(0)
    page.keyboard.press("Shift+ArrowRight")
    risen = "all => all.map(one => new DOMMatrix(getComputedStyle(one).transform).a)"
    meters = stage.locator(".node.fits .meter")
    holds(lambda: meters.evaluate_all(risen), lambda shares: max(shares) == 1 and 0 < min(shares) < 1)
    best = stage.locator(".node:has(.score.best)")
    assert best.locator(".meter").evaluate_all(risen) == [1] * best.count()


@pytest.mark.parametrize("nodes", [4, 24])
def test_cards_fill_the_stage(page: Page, site: Stack, nodes: int) -> None:
    """All nodes are in view where there is room for them, none is cut, and pods can be made out."""
    bench = Workbench(page).open(f"{share(site, zoned(nodes))}?step={nodes}").at(nodes)
    measure = """body => {
        const { right, bottom } = body.getBoundingClientRect();
        const cards = [...body.querySelectorAll(".node")].map(one => one.getBoundingClientRect());
        const rooms = [...body.querySelectorAll(".room")].map(one => one.getBoundingClientRect());
        return [Math.max(...cards.map(one => one.bottom)) - bottom,
            Math.max(...cards.map(one => one.right)) - right,
            Math.min(...rooms.map(one => Math.min(one.width, one.height)))];
    }"""

    def fill(size: tuple[int, int]) -> None:
        holds(
            lambda: bench.stage.locator(".stage-body").evaluate(measure),
            lambda found: (
                (found[0] <= 0 or (nodes == 24 and size != DESKTOP)) and found[1] <= 0 and found[2] >= 18
            ),
        )

    for size in turned(page):
        fill(size)
    page.set_viewport_size({"width": 1024, "height": 768})
    fill((1024, 768))


def test_blocks_with_room_have_names(page: Page, site: Stack) -> None:
    """A large pod's name is on its block, cut by an ellipsis; a small one has it beside the pointer alone."""
    Workbench(page).open(f"{share(site, example_text('first-cycle'))}?step=1").at(1)
    name = """one => { const { content, textOverflow } = getComputedStyle(one, "::before");
        return [content, textOverflow]; }"""
    large = page.locator('[data-pod][title="database"]')
    becomes(lambda: large.evaluate(name), ['"database"', "ellipsis"])
    small = page.locator('[data-pod][title^="web,"]')
    becomes(lambda: small.evaluate(name)[0], "none")
    assert small.evaluate("one => one.getBoundingClientRect().width") < 40
