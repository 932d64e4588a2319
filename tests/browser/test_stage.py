"""The stage: colours, groups, what is wrong with nodes, what moves, and very many nodes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.clusters import zoned
from tests.browser.conftest import MOTION
from tests.browser.pages import Workbench, becomes, holds, share, texts
from tests.services.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

NODE = """
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{cloud.google.com/gke-nodepool: {pool}, disk: {disk}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "110"{more}}}}}
---"""
GPU = ', nvidia.com/gpu: "4"'
NODES = "".join(
    NODE.format(name=name, pool=pool, disk=disk, more=more)
    for name, pool, disk, more in (
        ("plain-1", "plain", "ssd", ""),
        ("plain-2", "plain", "hdd", ""),
        ("gpu-1", "gpu", "ssd", GPU),
    )
)
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  priority: {priority}
  containers:
  - name: c
    image: c
    resources: {{requests: {{cpu: 500m, memory: 1Gi{more}}}, limits: {{{limits}}}}}
---"""
PODS = "".join(
    POD.format(name=name, namespace=namespace, priority=priority, more=more, limits=more.removeprefix(", "))
    for name, namespace, priority, more in (
        ("train", "ml", 1000, ', nvidia.com/gpu: "3"'),
        ("web-1", "shop", 100, ""),
        ("web-2", "shop", 100, ""),
        ("web-3", "shop", 0, ""),
    )
)
GROWS = """
apiVersion: podstep/v1
kind: Scenario
metadata: {name: grow}
spec:
  operations:
  - step: {major: 1, minor: 2}
    patchOperation:
      typeMeta: {apiVersion: v1, kind: Node}
      objectMeta: {name: plain-1}
      patch: {status: {allocatable: {cpu: "8"}}, spec: {unschedulable: true}}
"""
POOLS = f"{NODES}{PODS}{GROWS}"


def look(bench: Workbench, name: str) -> Locator:
    """Return the choice of a name over the stage."""
    return bench.stage.get_by_label(name, exact=True)


def swatches(bench: Workbench) -> Locator:
    """Return the colours of the legend."""
    return bench.stage.get_by_role("group", name="Colours of pods").get_by_role("button")


def headings(bench: Workbench) -> list[str]:
    """Return the groups of nodes with how many are in each."""
    return [" ".join(text.lower().split()) for text in texts(bench.stage.locator(".zone h3"))]


def test_pods_are_coloured_and_nodes_grouped_by_what_one_chooses(page: Page, site: Stack) -> None:
    """The address keeps both; the colour is kept for later."""
    # The legend names what the colours stand for; the choice is in the address, and kept for later.
    address = share(site, POOLS, "Pools")
    bench = Workbench(page).open(f"{address}?step=4").at(4)
    becomes(lambda: texts(swatches(bench)), ["no controller\n4"])
    look(bench, "Colour").select_option("priority")
    becomes(lambda: [text.replace("\n", " ") for text in texts(swatches(bench))], ["1000 1", "100 2", "0 1"])
    page.wait_for_function("() => location.search.includes('colour=priority')")
    blocks = bench.stage.locator(".node .pod")
    colours = blocks.evaluate_all("all => all.map(one => getComputedStyle(one).backgroundColor)")
    assert len(set(colours)) == 3
    look(bench, "Colour").select_option("namespace")
    becomes(lambda: {text.split("\n")[0] for text in texts(swatches(bench))}, {"ml", "shop"})
    look(bench, "Colour").select_option("age")
    expect(swatches(bench).first).to_contain_text("this cycle")
    bench.open(address).at(0)
    expect(look(bench, "Colour")).to_have_value("age")
    bench.open(f"{address}?step=2").at(2)  # a link looks the same to everybody
    expect(look(bench, "Colour")).to_have_value("workload")
    bench.open(f"{address}?step=4&colour=namespace").at(4)
    expect(look(bench, "Colour")).to_have_value("namespace")
    a_colour_of_the_legend_lights_up_its_pods(bench)
    # By node pool, by any label, or not at all; the address keeps it.
    bench.goto(1)
    extended_resources_and_new_room_fill_a_node(bench)
    becomes(lambda: headings(bench), ["nodes 3"])
    group = look(bench, "Group by")
    becomes(
        lambda: texts(group.locator("option")),
        [
            "zone",
            "node pool (cloud.google.com/gke-nodepool)",
            "disk",
            "nothing",
        ],
    )
    group.select_option("cloud.google.com/gke-nodepool")
    becomes(lambda: headings(bench), ["gke-nodepool gpu 1", "gke-nodepool plain 2"])
    group.select_option("disk")
    becomes(lambda: headings(bench), ["disk hdd 1", "disk ssd 2"])
    page.wait_for_function("() => location.search.includes('group=disk')")
    bench.open(f"{address}?step=1&group=none").at(1)
    becomes(lambda: headings(bench), ["nodes 3"])


def a_colour_of_the_legend_lights_up_its_pods(bench: Workbench) -> None:
    """By keyboard: the others step back, nodes without such pods too, until it is pressed again."""
    page = bench.page
    ml = swatches(bench).filter(has_text="ml")
    ml.focus()
    page.keyboard.press("Enter")
    expect(ml).to_have_attribute("aria-pressed", "true")

    def opacity(pod: str) -> float:
        block = bench.stage.locator(f'.node [title^="{pod}"]')
        return float(block.evaluate("one => getComputedStyle(one).opacity"))

    becomes(lambda: opacity("ml/train"), 1)
    holds(lambda: opacity("shop/web-3"), lambda seen: seen < 0.3)
    expect(bench.node("plain-2")).to_have_class(re.compile("without"))
    expect(bench.node("gpu-1")).not_to_have_class(re.compile("without"))
    page.keyboard.press("Enter")
    becomes(lambda: opacity("shop/web-3"), 1)
    expect(bench.node("plain-2")).not_to_have_class(re.compile("without"))


def extended_resources_and_new_room_fill_a_node(bench: Workbench) -> None:
    """GPUs have a bar where there are any; what an operation gives a node is there from its step on."""
    expect(bench.node("gpu-1")).to_contain_text("gpu3 / 4")
    expect(bench.node("plain-1").locator(".bar-label")).to_have_text(["cpu", "mem", "pods"])
    for index, room in ((2, "4 cpu"), (3, "8 cpu"), (4, "8 cpu"), (3, "8 cpu"), (1, "4 cpu")):
        bench.goto(index)
        expect(bench.node("plain-1")).to_contain_text(room)
        expect(bench.node("plain-1").locator(".badge", has_text="cordoned")).to_have_count(int("8" in room))


BARS = "---".join(
    [
        """
apiVersion: v1
kind: Node
metadata: {name: half}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
""",
        """
apiVersion: v1
kind: Node
metadata: {name: tainted}
spec: {taints: [{key: gpu, effect: NoSchedule}]}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10", nvidia.com/gpu: "4"}}
""",
        *(
            f"""
apiVersion: v1
kind: Pod
metadata: {{name: of-{cpu}}}
spec: {{containers: [{{name: c, image: c, resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}
"""
            for cpu in (1, 2)
        ),
    ]
)
#: How far the bars of a node are filled by what is used, and by what would come, in percent.
FILLED = """card => [...card.querySelectorAll(".rail")].map(rail =>
    getComputedStyle(rail).backgroundSize.split(", ").map(one => Math.round(parseFloat(one))))"""


def test_bars_are_filled_as_far_as_is_used_and_would_be(visitor: Callable[..., Page], site: Stack) -> None:
    """The pod comes on top of what was there, on no node that refuses it; forced colours leave the fill."""
    page = visitor()
    bench = Workbench(page).open(f"{share(site, BARS, 'Bars')}?step=2").at(2)
    becomes(lambda: bench.node("half").evaluate(FILLED), [[25, 75], [0, 0], [10, 20]])
    assert bench.node("tainted").evaluate(FILLED) == [[0, 0]] * 4
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    gradients = re.compile("gradient.*gradient")
    expect(bench.node("half").locator(".rail").first).to_have_css("background-image", gradients)


#: Notes whatever begins to move, from the moment of its beginning: how it ends, and when, plays no part.
MOVES = """() => {
    window.moves = [];
    const stage = document.querySelector("[data-stage]");
    const note = (kind, ms, of) => moves.push({ kind, ms, of });
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (frames, timing) {
        if (stage.contains(this)) note("flight", timing.duration, [...new Set(frames.flatMap(Object.keys))]);
        return animate.call(this, frames, timing);
    };
    stage.addEventListener("transitionrun", event => {
        const name = event.propertyName;
        const running = event.target.getAnimations().find(one => one.transitionProperty === name);
        note("transition", running?.effect.getTiming().duration ?? 0, [name]);
    });
}"""


def moved(page: Page, *steps: int) -> list[dict[str, Any]]:
    """Step as slowly or quickly as given (milliseconds after the step before); return what began to move."""
    page.wait_for_function("() => document.getAnimations().every(one => one.playState !== 'running')")
    found = page.evaluate(
        """async pauses => {
            const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
            moves.length = 0;
            const real = performance.now.bind(performance);
            let now = real() + 10_000;  // long after whatever came before
            for (const pause of pauses) {
                now += pause;
                performance.now = () => now;  // a slow machine is no slow visitor
                dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
                performance.now = real;
                await frame(); await frame(); await frame();
            }
            return moves.slice();
        }""",
        list(steps),
    )
    return list(found)


def test_a_step_moves_the_pod_to_its_node(visitor: Callable[..., Page], site: Stack) -> None:
    """A slow step moves by transform and opacity in 150 to 250 ms; who is quicker sees no motion."""
    page = visitor(**MOTION)
    bench = Workbench(page).open(f"{share(site, zoned(12))}?step=3").at(3)
    page.evaluate(MOVES)
    slow = moved(page, 0)
    assert [one["kind"] for one in slow].count("flight") == 1, slow
    for one in slow:
        assert set(one["of"]) <= {"transform", "opacity"}, one
        assert 150 <= one["ms"] <= 250, one
    bench.at(4)
    quick = moved(page, 0, 50, 50)
    assert [one["kind"] for one in quick].count("flight") == 1, "only the first of them is slow"
    bench.at(7)
    what_moves_is_over_in_300_ms(bench)


def what_moves_is_over_in_300_ms(bench: Workbench) -> None:
    """Every transition of a phase, with its delay; without motion there is none."""
    page = bench.page
    ends = """() => Math.max(...[...document.querySelectorAll(".node :is(.blocks, .meter)")].map(one => {
        const { transitionDuration, transitionDelay } = getComputedStyle(one);
        return (parseFloat(transitionDuration) + parseFloat(transitionDelay)) * 1000; }))"""
    bench.stage.locator("[data-stage]").evaluate("one => one.classList.remove('still')")
    assert 100 <= page.evaluate(ends) <= 300.5
    page.emulate_media(reduced_motion="reduce")
    bench.step()
    becomes(lambda: page.evaluate(ends), 0)


def test_a_held_key_shows_the_newest_step_of_a_frame(page: Page, site: Stack) -> None:
    """Of what is asked for before the last step was painted the newest comes with the next frame.

    With reduced motion a step is there at once. A node that is pointed at is shown everywhere.
    """
    bench = Workbench(page).open(f"{share(site, zoned(12))}?step=3&tab=predicates").at(3)
    pointing_at_a_node_shows_it_everywhere(bench)
    shown = page.evaluate(
        """async () => {
            const shown = [];
            const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
            await frame();
            podstep.playback.store.step.subscribe(({ index }) => shown.push(index));
            shown.length = 0;
            for (let i = 0; i < 5; i += 1) dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
            await frame(); await frame();
            return shown;
        }"""
    )
    assert shown == [4, 8]
    bench.at(8)
    page.evaluate(MOVES)
    assert moved(page, 0) == [], "nothing moves for who wants no motion"
    bench.at(9)


def pointing_at_a_node_shows_it_everywhere(bench: Workbench) -> None:
    """From the matrix to the stage, and from the stage to the matrix."""
    row = bench.panel("Predicates").get_by_role("row").filter(has_text="node-b2")
    row.hover()
    expect(bench.node("node-b2")).to_have_class(re.compile("hovered"))
    bench.node("node-a1").hover()
    expect(bench.node("node-b2")).not_to_have_class(re.compile("hovered"))
    expect(bench.panel("Predicates").get_by_role("row").filter(has_text="node-a1")).to_have_class(
        re.compile("hover")
    )


def drawn(canvas: Locator) -> str:
    """Return what is on a canvas."""
    return str(canvas.evaluate("canvas => canvas.toDataURL()"))


def test_the_overview_zooms_and_has_a_map(page: Page, site: Stack) -> None:
    """By keyboard and wheel; the map in the corner shows where one is and leads elsewhere, 0 shows all."""
    bench = Workbench(page).open(f"{share(site, zoned(300, 0.1))}?step=20").at(20)
    heat = bench.stage.get_by_label(re.compile("^Nodes as a heat map by zone"))
    small = bench.stage.locator(".minimap")
    expect(small).to_be_hidden()
    heat.focus()
    for _ in range(4):
        page.keyboard.press("+")
    expect(small).to_be_visible()
    before = drawn(heat)
    small.click(position={"x": 8, "y": 8})
    page.wait_for_function(
        "before => document.querySelector('.heat canvas[role]').toDataURL() !== before", arg=before
    )
    page.keyboard.press("0")
    expect(small).to_be_hidden()
    heat.hover(position={"x": 30, "y": 45})
    expect(bench.stage.locator(".heat-tip")).to_contain_text(re.compile(r"node-a\d+.*cpu.* of "))
    page.mouse.wheel(0, -600)
    expect(small).to_be_visible()
    look(bench, "Group by").select_option("none")
    expect(bench.stage.get_by_label(re.compile("^Nodes as a heat map. Arrow"))).to_be_visible()
