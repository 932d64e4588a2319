"""Thousands of nodes, megabytes of text: the rest of what is shown says how far it is, and can be stopped."""

from __future__ import annotations

import re
import secrets

from playwright.sync_api import Page, expect

from tests.browser.editors import editor_in, manifests
from tests.browser.pages import Workbench, drafted, holds, share
from tests.e2e import bundles
from tests.services.stack import Stack

LOADED = 60_000
#: What of a bar's row is not whole within it, and how wide what fills the bar is laid out.
CUT = """row => {
    const outer = row.getBoundingClientRect();
    const whole = ({ top, bottom }) => top >= outer.top - 1 && bottom <= outer.bottom + 1;
    const cut = [...row.children].filter(one => !whole(one.getBoundingClientRect()));
    return [cut.map(one => one.className), row.querySelector(".progress-bar i").offsetWidth];
}"""


#: Breaks the first two answers off that hold the draft's text: one halfway, one before it begins.
BROKEN = """
    window.broken = 0;
    const { fetch } = window;
    window.fetch = async (url, ...more) => {
        if (!String(url).endsWith("/bundle") || window.broken === 2) return fetch(url, ...more);
        window.broken += 1;
        if (window.broken === 2) throw new TypeError("no connection");
        const answer = await fetch(url, ...more);
        const bytes = new Uint8Array(await answer.arrayBuffer());
        let half = bytes.slice(0, bytes.length * 3 / 4);
        return new Response(new ReadableStream({ pull: (stream) => {
            if (half) stream.enqueue(half); else stream.error(new TypeError("it broke off"));
            half = null;
        } }), { headers: answer.headers });
    };
"""


def documents(nodes: int, pods: int) -> str:
    """Return nodes and pending pods as YAML documents, as a script would print them."""
    listed = [
        f"apiVersion: v1\nkind: Node\nmetadata:\n  name: node-{at:04d}\n"
        "status:\n  allocatable:\n    cpu: '8'\n    memory: 32Gi\n    pods: '110'\n"
        for at in range(nodes)
    ]
    listed += [
        f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: pod-{at:05d}\n  namespace: default\n"
        f"  labels:\n    app: app-{at % 50}\n"
        "spec:\n  containers:\n  - name: main\n"
        f"    image: registry.example.com/team/app-{at % 50}:1.0.{at % 7}\n"
        "    resources:\n      requests:\n        cpu: 250m\n        memory: 256Mi\n"
        for at in range(pods)
    ]
    return "---\n".join(listed)


def commented() -> str:
    """Return a text that is long and quickly read: a few documents, and 600 kB of comments after them."""
    return documents(4, 2) + "".join(f"# line {at:06d} of a comment at the end\n" for at in range(16_000))


SOUND = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "cache": "sound"}


def large(site: Stack) -> str:
    """Share more nodes times pods than were computed for somebody who waits, of a name of its own.

    With an equivalence cache, computing takes longer than the page needs to open.
    """
    cluster = [bundles.node(f"node-{at:04d}", cpu="32") for at in range(3_000)]
    pods = bundles.deployment(f"web-{secrets.token_hex(4)}", 15_000, cpu="10m")
    return share(site, bundles.bundle(*cluster, pods, SOUND), "large")


def test_a_large_cluster_opens_with_its_first_cycles(page: Page, site: Stack) -> None:
    """The stage and a first step come while the rest is computed; how far that is can be read.

    A step that is not there yet is waited for with a bar; staying leaves what is shown; going arrives.
    """
    address = large(site)
    page.goto(address)
    first = page.wait_for_function(
        "() => window.podstep?.ready && {complete: podstep.playback.complete}", timeout=LOADED
    )
    assert first.json_value() == {"complete": False}
    bench = Workbench(page)
    expect(bench.stage).to_contain_text("3,000 nodes")
    bench.step()
    far = bench.stage.get_by_role("progressbar", name="Computing the cycles")
    expect(far).to_have_attribute("aria-valuetext", re.compile(r"of about 15,000 cycles computed"))
    expect(bench.stage.get_by_text("cycles computed")).to_be_visible()
    bench.step()
    the_way_to_a_later_step_can_be_given_up(bench, address)


def the_way_to_a_later_step_can_be_given_up(bench: Workbench, large: str) -> None:
    """By a dialog and by an address, which leads there for all."""
    page = bench.page
    known = int(page.evaluate("podstep.playback.cycles"))
    page.keyboard.press("g")
    page.get_by_role("dialog", name="Go to step").get_by_label("Step").fill("15000")
    page.keyboard.press("Enter")
    going = bench.stage.get_by_role("progressbar", name="Going to step 15000")
    expect(going).to_be_visible()
    bench.stage.get_by_role("button", name="Stay here").click()
    expect(going).to_have_count(0)
    expect(bench.stage.locator(".stage-body")).to_be_focused()
    assert bench.index == 2
    nearer = known + 600
    place = "phase=predicates&tab=predicates&only.matrix=failed"
    page.goto(f"{large}?step=15000&{place}")
    expect(going).to_be_visible()
    page.wait_for_timeout(600)  # longer than the address waits before it is written
    assert page.url.endswith(f"?step=15000&{place}")  # a reload and a share lead there too
    bench.stage.get_by_role("button", name="Stay here").click()
    page.wait_for_url(lambda url: "step=" not in url and "phase=" not in url)
    assert not page.locator(".toast", has_text="The address refers to").count()
    page.goto(f"{large}?step={nearer}&{place}")
    bench.at(nearer)
    page.wait_for_timeout(2_500)  # longer than it is waited for lists that nobody draws
    assert page.url.endswith(f"?step={nearer}&{place}")
    assert page.evaluate("podstep.playback.phase") == "predicates"
    assert not page.locator(".toast", has_text="The address refers to").count()
    expect(bench.timeline).to_have_attribute("aria-valuenow", str(nearer))


def test_opening_a_long_paste_is_stopped_and_nothing_is_lost(page: Page) -> None:
    """Three megabytes show how far they are read; Cancel ends it, the text stays, and it opens after all."""
    text = documents(3_000, 8_000)
    assert len(text) > 2_400_000
    page.goto("/")
    box = manifests(page).fill(text)
    checking = page.get_by_role("progressbar", name="Checking the text")
    expect(checking).to_be_in_viewport()  # below the fold nobody would see that anything happens
    cut, shown = page.locator(".progress:visible").first.evaluate(CUT)
    assert cut == []
    assert shown > 0
    expect(checking).to_have_attribute(
        "aria-valuetext", re.compile("Uploading|Reading the text|Checking the objects|Putting")
    )
    page.get_by_role("button", name="Cancel").click()
    expect(checking).to_have_count(0)
    expect(page.get_by_text("Check stopped. The text is checked when you open it.")).to_be_visible()
    page.get_by_role("button", name="Open the workbench").click()
    opening = page.get_by_role("progressbar", name="Opening the cluster")
    expect(opening).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Stopped: nothing was created")).to_be_visible()
    expect(opening).to_have_count(0)
    assert box.text == text
    page.get_by_role("button", name="Open the workbench").click()
    page.wait_for_url(re.compile("/p/"), timeout=LOADED)
    page.wait_for_function("() => window.podstep?.ready", timeout=LOADED)
    expect(Workbench(page).stage).to_contain_text("3,000 nodes")


def test_a_long_text_loads_and_is_not_checked_for_every_key(page: Page) -> None:
    """A part of a text is not shown as the whole, nor typed into or saved; it is loaded again when asked.

    A key in it asks nothing of the server, Apply does.
    """
    text = commented()
    page.add_init_script(BROKEN)
    bench = Workbench(page).open(drafted(page, text, as_is=True))
    bench.build.get_by_role("tab", name="YAML").click()
    yaml = editor_in(bench.build, re.compile("^YAML of this"))
    again, apply = (bench.build.get_by_role("button", name=name) for name in ("Try again", "Apply"))
    for fault in ("it broke off", "no connection"):
        expect(bench.build.get_by_text(f"The YAML could not be loaded: {fault}.")).to_be_visible()
        assert yaml.text == ""
        yaml.field.focus()
        page.keyboard.type("kind: Node")
        page.keyboard.press("Control+Enter")
        assert yaml.text == ""
        expect(apply).to_be_disabled()
        again.click()
    yaml.shows(text)
    path = page.evaluate("`/p/${podstep.playback.source.draft}/bundle`")
    assert page.request.get(path).text() == text
    yaml.field.press("Control+Home")
    page.keyboard.type("# a note\n")
    expect(apply).to_be_enabled()
    page.evaluate("""() => { const { socket } = podstep; const call = socket.call.bind(socket);
        window.asked = [];
        socket.call = (name, ...rest) => { asked.push(name); return call(name, ...rest); }; }""")
    yaml.field.press("Control+End")
    yaml.field.press_sequentially("# a note")
    expect(bench.build.get_by_text("it is checked when you apply it")).to_be_visible()
    page.wait_for_timeout(1_500)
    assert "bundle.check" not in page.evaluate("asked")
    apply.click()
    page.wait_for_function("() => asked.includes('draft.save')", timeout=LOADED)


def test_paste_your_cluster_turns_to_the_box(page: Page) -> None:
    """The editor has the focus, and the heading over it and the box are both in view, on every screen."""
    for width, height in ((1440, 900), (1024, 768), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto("/")
        page.get_by_role("link", name="Paste your cluster").click()
        box = editor_in(page, "Manifests")
        expect(box.field).to_be_focused()
        heading = page.get_by_role("heading", name="Paste your cluster")
        expect(heading).to_be_in_viewport(ratio=1)
        shown = "document.querySelector('.paste .editor').getBoundingClientRect().toJSON()"
        holds(lambda: page.evaluate(shown), lambda at: 0 <= at["top"] < at["bottom"] <= height)  # noqa: B023
        page.keyboard.insert_text("kind: Node")
        expect(heading).to_be_in_viewport(ratio=1)
        box.shows(re.compile("kind: Node")).field.press("Control+a")
        page.keyboard.press("Delete")
