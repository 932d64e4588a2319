"""What other sites show of a link: the picture of its step, oEmbed, and the codes that phones read."""

from __future__ import annotations

import html
import json
import re
import struct
import zlib
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from playground.pictures import card, qr
from playground.pictures.scene import Block, NodeBox, Scene, scene_of
from playground.pictures.stage import Area, stage
from playground.pictures.svg import cut, element, text, wrapped
from playground.pictures.themes import Theme
from playground.playback import sources
from playground.playback.playback import Playback
from playground.storage import bundles, store
from playground.views import pictures
from tests.playground.conftest import OWNER, connected

HOSTILE = """"><script>alert('1')</script>&amp;\x07\u202e ]]> <!-- """
SVG = "{http://www.w3.org/2000/svg}"


def scene(**more: Any) -> Scene:
    boxes = (
        NodeBox(
            "n1", (Block("default/a", 0.5, 0.25, 0), Block("default/b", 0.25, 0.5, 1, new=True)), chosen=True
        ),
        NodeBox("n2", (Block("default/c", 0.1, 0.1, 2, victim=True),), fits=False),
    )
    return Scene(**{"title": "A day", "where": "Step 2 of 5", "nodes": boxes, **more})


def pixels(png: bytes) -> tuple[int, int, set[bytes]]:
    """Return width, height and the colors of an RGBA picture without interlacing."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert (depth, kind) == (8, 6)
    data, at = b"", 8
    while at < len(png):
        [length] = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += 12 + length
    raw, step = zlib.decompress(data), 1 + 4 * width
    before, colors = bytearray(4 * width), set()
    for row in range(height):
        filtered, line = raw[row * step], bytearray(raw[row * step + 1 : (row + 1) * step])
        for i in range(4 * width):
            left = line[i - 4] if i >= 4 else 0
            up, corner = before[i], before[i - 4] if i >= 4 else 0
            line[i] = (line[i] + _predicted(filtered, left, up, corner)) & 255
        if row % 7 == 0:
            colors |= {bytes(line[i : i + 3]) for i in range(0, 4 * width, 4)}
        before = line
    return width, height, colors


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:
        near = left + up - corner
        return min((left, up, corner), key=lambda value: abs(near - value))
    return (0, left, up, (left + up) // 2)[kind]


# --- the renderer --------------------------------------------------------------------------------


def test_blocks_are_as_large_as_their_requests() -> None:
    """Width is the share of cpu and height that of memory; they stand like stairs."""
    root = ET.fromstring(f"<g>{stage(scene(), Area(0, 0, 200, 118))}</g>")
    first = [rect.attrib for rect in root[0].iter("rect")]
    panel, a, under, b, edge = first
    width, height = float(panel["width"]), float(panel["height"])
    assert float(a["width"]) == pytest.approx(0.5 * width - 0.5, abs=0.02)
    assert float(a["height"]) == pytest.approx(0.25 * height, abs=0.02)
    assert float(a["y"]) + float(a["height"]) == pytest.approx(float(panel["y"]) + height, abs=0.02)
    assert float(b["x"]) == pytest.approx(0.5 * width, abs=0.02)
    assert float(b["y"]) + float(b["height"]) == pytest.approx(float(a["y"]), abs=0.02)
    assert float(b["height"]) == pytest.approx(0.5 * height, abs=0.02)
    assert (under["x"], under["fill"]) == (b["x"], b["fill"])
    assert float(under["height"]) == pytest.approx(0.25 * height, abs=0.02)
    assert (a["stroke"], b["stroke"]) == ("none", "#e8ecf4")
    assert edge["stroke"] == "#7f8cff"
    assert (root[0].attrib["opacity"], root[1].attrib["opacity"]) == ("1", "0.6")
    assert len(list(root[1].iter("line"))) == 1  # the victim is struck out


@pytest.mark.parametrize(
    ("cpu", "memory", "beyond"), [(0.5, 0.5, 0), (0.75, 0.5, 1), (0.5, 0.6, 1), (0.75, 0.6, 2)]
)
def test_a_pod_that_does_not_fit_sticks_out(cpu: float, memory: float, beyond: int) -> None:
    """At the right where cpu is short, at the top where memory is; drawn within the room up to there."""
    box = NodeBox("n", (Block("a", 0.5, 0.5, 0),), wanted=Block("b", cpu, memory, 1))
    group = ET.fromstring(f"<g>{stage(scene(nodes=(box,)), Area(0, 0, 200, 118))}</g>")[0]
    panel, _, shape, *bars, _ = [rect.attrib for rect in group.iter("rect")]
    assert len(bars) == beyond
    width, right = float(panel["width"]), float(shape["x"]) + float(shape["width"])
    assert float(shape["x"]) == pytest.approx(0.5 * width, abs=0.02)
    assert right <= width + 0.01
    assert float(shape["y"]) >= float(panel["y"]) - 0.01


@pytest.mark.parametrize("count", [0, 1, 3, 12, 60, 200])
def test_boxes_fill_the_area(count: int) -> None:
    """However many there are, none lies outside, and none on another."""
    boxes = tuple(NodeBox(f"n{n}") for n in range(min(count, 60)))
    drawn = stage(scene(nodes=boxes, more=max(0, count - 60)), Area(10, 20, 900, 300))
    root = ET.fromstring(f"<g>{drawn}</g>")
    panels = [group[1].attrib for group in root.findall("g")]
    places = [[float(panel[name]) for name in ("x", "y", "width", "height")] for panel in panels]
    assert len(places) == len(boxes)
    for x, y, width, height in places:
        assert x >= 10 and y >= 20 and x + width <= 910.1 and y + height <= 320.1
    assert len({(x, y) for x, y, *_ in places}) == len(places)
    assert ("and 140 more" in drawn) == (count == 200)


def test_names_are_text() -> None:
    """Nothing that a visitor writes becomes an element, an attribute, or an error of the parser."""
    box = NodeBox(HOSTILE, (Block(HOSTILE, 1, 1, 0),))
    drawn = card.card(Scene(HOSTILE, HOSTILE, (HOSTILE,), (box,), facts=(HOSTILE,)))
    root = ET.fromstring(drawn)
    assert {one.tag.removeprefix(SVG) for one in root.iter()} == {"svg", "rect", "text", "g"}
    assert "<script" not in drawn and "\x07" not in drawn and "\u202e" not in drawn
    assert card.png(drawn).startswith(b"\x89PNG")
    value = element("rect", fill='"><script>')
    assert ET.fromstring(value).attrib == {"fill": '"><script>'}


def test_texts_are_cut() -> None:
    """A title of any length stays on its line."""
    assert cut("x" * 100, 10) == "x" * 9 + "…"
    lines = wrapped("word " * 100, 20, 3)
    assert len(lines) == 3 and all(len(line) <= 20 for line in lines) and lines[-1].endswith("…")
    assert ET.fromstring(text("a < b", 1, 2, 3, "#fff")).text == "a < b"


def test_a_picture_without_fonts_and_files() -> None:
    """The PNG has the size of a card, its colors, and letters although no font of the system is read."""
    with_text = card.png(card.card(scene()))
    width, height, colors = pixels(with_text)
    assert (width, height) == (1200, 630)
    assert {bytes.fromhex(color) for color in ("0d1016", "141922", "4f7fe0", "7f8cff", "e8ecf4")} <= colors
    blank = card.png(re.sub("<text.*?</text>", "", card.card(scene())))
    assert len(with_text) > len(blank) + 5_000
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="/etc/passwd"/></svg>'
    reading = card.png(svg)
    assert pixels(reading)[2] == {b"\0\0\0"}


def test_a_scene_of_a_step(web: str) -> None:
    """The pods that are placed, the one that comes, the node that was chosen, and those that do not fit."""
    playback = Playback(bundles.parse([("", web)], "t"))
    playback.reach(99)
    start, second, last = (scene_of(playback, index, "t") for index in (0, 2, 99))
    assert [box.name for box in start.nodes] == ["n1", "n2", "n3"]
    assert not any(box.blocks for box in start.nodes) and start.where == "Before the first step"
    placed = [block for box in second.nodes for block in box.blocks]
    assert len(placed) == 2 and sum(block.new for block in placed) == 1
    assert [box.chosen for box in second.nodes].count(True) == 1
    assert not second.nodes[2].fits
    [chosen] = [box for box in second.nodes if box.chosen]
    offered = {"n1": 2_000, "n2": 4_000}[chosen.name]
    assert next(block for block in chosen.blocks if block.new).cpu == 1_500 / offered
    assert second.where.startswith("Step 2 of 5: default/web-")
    assert last.facts == ("3 nodes", "3 pods placed", f"kube-scheduler {playback.scenario.release}")
    failed = scene_of(playback, 5, "t")
    assert not any(box.chosen for box in failed.nodes)
    assert [box.wanted.cpu for box in failed.nodes] == [0.75, 0.375, 0.1875]
    assert stage(failed, Area(0, 0, 300, 300)).count("stroke-dasharray") == 3
    assert not any(box.wanted for box in second.nodes)
    assert second.sentences and all(isinstance(one, str) for one in second.sentences)


# --- the addresses -------------------------------------------------------------------------------


@pytest.fixture
def shared(web: str) -> str:
    """The id of the scenario of ``web``."""
    answer = Client().post(
        "/api/scenarios", json.dumps({"bundle": web, "title": "A <day>"}), content_type="application/json"
    )
    return str(answer.json()["id"])


database = pytest.mark.django_db(transaction=True)


@database
def test_the_card(shared: str) -> None:
    """Another step is another picture; an address of none is the start."""
    found = {step: Client().get(f"/s/{shared}/card.png", {"step": step}) for step in ("2", "3", "x", "99")}
    for answer in found.values():
        assert answer.status_code == 200 and answer.headers["Content-Type"] == "image/png"
        assert answer.headers["X-Content-Type-Options"] == "nosniff" and not answer.cookies.get("sessionid")
    assert len({answer.content for answer in found.values()}) == 4
    assert Client().get("/s/AAAAAAAAAAA/card.png").status_code == 404


@database
def test_the_card_of_a_phase_tells_no_outcome(shared: str) -> None:
    """A link into a cycle, as one that asks what happens next, shows the cluster as the cycle finds it."""
    page = Client().get(f"/s/{shared}/?step=2&phase=queue").content.decode()
    assert f"/s/{shared}/card.png?step=2&amp;phase=queue" in page
    inside, whole, moment = (
        Client().get(f"/s/{shared}/card.png?step=2{more}").content for more in ("&phase=queue", "", "&at=1")
    )
    assert inside == moment != whole
    playback = sources.open_playback(sources.find({"scenario": shared}, ""))
    scene = scene_of(playback, 2, "", undecided=True)
    assert playback.cycle(2).pod in scene.where and not scene.sentences
    blocks = [block for node in scene.nodes for block in node.blocks]
    assert playback.cycle(2).pod not in {block.key for block in blocks}
    assert not any(node.chosen or block.victim for node in scene.nodes for block in node.blocks)


@database
def test_a_card_of_what_is_too_large(shared: str, limits: Callable[..., None]) -> None:
    """It has the title and the counts, rather than keeping a crawler waiting."""
    pictures.pictures = pictures.Pictures()
    whole = Client().get(f"/s/{shared}/card.png?step=2").content
    pictures.pictures = pictures.Pictures()
    limits(INTERACTIVE_WORK=1)
    answer = Client().get(f"/s/{shared}/card.png?step=2")
    assert answer.status_code == 200 and answer.content != whole


@database
def test_pictures_are_bounded(
    shared: str, limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In requests of an address, and in what is kept."""
    limits(API_READS_PER_MINUTE=2)
    address = f"/s/{shared}/card.png"
    assert [Client().get(address).status_code for _ in range(3)] == [200, 200, 429]
    kept = pictures.Pictures()
    monkeypatch.setattr(pictures, "PICTURES", 2)
    for name in "abc":
        kept.put(name, name.encode())
    assert [kept.get(name) for name in "abc"] == [None, b"b", b"c"]
    monkeypatch.setattr(pictures, "PICTURE_BYTES", 4)
    kept.put("d", b"dddd")
    assert [kept.get(name) for name in "bcd"] == [None, None, b"dddd"]


@database
async def test_the_card_of_a_private_link(web: str) -> None:
    """Whoever has the link sees it; its scenario has no card of its own."""
    draft = await sync_to_async(lambda: store.create_draft(OWNER, [("", web)], "mine"))()
    async with connected(OWNER) as socket:
        made = await socket.success("link.create", {"source": {"draft": draft.pk}, "query": "step=2"})
        opened = await socket.success("scenario.open", {"source": {"link": made["link"]}})
    get = sync_to_async(Client().get)
    answer = await get(f"/l/{made['link']}/card.png")
    assert answer.status_code == 200 and opened["scenario"] is None
    assert (await get(f"/l/{made['link']}/card.png?step=3")).content != answer.content
    assert (await get("/l/AAAAAAAAAAAAAAAA/card.png")).status_code == 404
    page = (await get(made["url"])).content.decode()
    assert f"/l/{made['link']}/card.png?step=2" in page and "json+oembed" not in page


@database
def test_a_page_tells_of_its_picture(shared: str) -> None:
    """The head of a shared page, at the step of its address; names are escaped."""
    page = Client().get(f"/s/{shared}/?step=2&tab=story").content.decode()
    head = dict(re.findall(r'<meta property="og:(\w+)" content="(.*?)">', page))
    assert re.fullmatch(r"A &lt;day&gt; \(kube-scheduler v1\.[0-9]+\)", head["title"])
    assert head["image"] == f"http://testserver/s/{shared}/card.png?step=2"
    assert html.unescape(head["url"]) == f"http://testserver/s/{shared}/?step=2&tab=story"
    [found] = re.findall(r'type="application/json\+oembed" href="(.*?)"', page)
    answer = Client().get(html.unescape(found).removeprefix("http://testserver"))
    assert answer.json()["title"] == "A <day>"


@database
@pytest.mark.parametrize("release", ["v1.11", "v1.22", "v1.37"])
def test_a_preview_names_the_release(web: str, release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The title and the picture, of a shared page and of a private link."""
    settings = f"---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: {release}\n"
    text = f"{web}\n{settings}"
    answer = Client().post(
        "/api/scenarios", {"bundle": text, "title": "Web"}, content_type="application/json"
    )
    name = answer.json()["id"]
    drawn: list[str] = []
    monkeypatch.setattr(pictures, "pictures", pictures.Pictures())
    monkeypatch.setattr(card, "png", lambda svg: drawn.append(svg) or b"")  # type: ignore[func-returns-value]
    for path in (f"/s/{name}/", f"/s/{name}/?step=1"):
        head = dict(
            re.findall(r'<meta property="og:(\w+)" content="(.*?)">', Client().get(path).content.decode())
        )
        assert head["title"] == f"Web (kube-scheduler {release})"
        assert Client().get(head["image"].removeprefix("http://testserver")).status_code == 200
    assert len(drawn) == 2 and all(f"kube-scheduler {release}" in svg for svg in drawn)


@database
def test_a_release_that_takes_long_to_find_is_not_named(shared: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large bundle is not read for the head of its page; a small one is read once."""
    pictures._release_of.cache_clear()
    monkeypatch.setattr(sources, "is_large", lambda _source: True)
    assert "kube-scheduler v" not in Client().get(f"/s/{shared}/").content.decode().split("</head>")[0]
    pictures._release_of.cache_clear()


@database
def test_oembed(shared: str) -> None:
    """The frame shows the same view, in the size that was asked for; titles are escaped in it."""
    url = f'http://testserver/s/{shared}/?step=2&node=a"><script>'
    answer = Client().get("/oembed", {"url": url, "maxwidth": "500", "maxheight": "1", "format": "json"})
    body = answer.json()
    assert (body["version"], body["type"], body["provider_name"]) == ("1.0", "rich", "podstep")
    assert (body["title"], body["width"], body["height"]) == ("A <day>", 500, 200)
    assert body["html"].startswith(
        f'<iframe src="http://testserver/e/{shared}/?step=2&amp;node=a%22%3E%3Cscript%3E"'
    )
    assert 'title="A &lt;day&gt;"' in body["html"] and "<script" not in body["html"]
    for attribute in (
        'frameborder="0"',
        'loading="lazy"',
        "allowfullscreen",
        'allow="clipboard-write; fullscreen"',
    ):
        assert attribute in body["html"]
    assert (
        'referrerpolicy="strict-origin-when-cross-origin"' in body["html"] and "sandbox" not in body["html"]
    )
    assert body["thumbnail_url"] == f"http://testserver/s/{shared}/card.png?step=2"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    frame = Client().get(f"/e/{shared}/?view=matrix&lock=1")
    assert "X-Frame-Options" not in frame.headers
    assert 'data-embed-view="matrix"' in frame.content.decode() and "data-locked" in frame.content.decode()
    other = Client().get(f'/e/{shared}/?view="><script>').content.decode()
    assert "data-embed-view" not in other and "data-locked" not in other


@database
@pytest.mark.parametrize(
    "url",
    [
        *("", "x", "http://elsewhere.example/s/{}/", "https://testserver/s/{}/", "javascript:/s/{}/"),
        *(
            "http://testserver/p/{}/",
            "http://testserver/s/AAAAAAAAAAA/",
            "http://testserver@evil.example/s/{}/",
        ),
    ],
)
def test_oembed_is_for_shared_scenarios_of_this_server(shared: str, url: str) -> None:
    """An address of another site, of a draft, or of nothing."""
    assert Client().get("/oembed", {"url": url.format(shared)}).status_code == 404
    assert Client().get("/oembed", {"url": "x", "format": "xml"}).status_code == 501


@database
@pytest.mark.parametrize("url", ["http://[", "http://[x]/s/1/", "http://\u2100/", "//[::1"])
def test_oembed_of_a_text_that_is_no_url_is_refused_in_words(url: str) -> None:
    """A bracket that is open, an address that is none, a host that is no name."""
    answer = Client().get("/oembed", {"url": url})
    assert answer.status_code == 400 and "write the address of a shared scenario" in answer.json()["error"]


@database
def test_only_embedded_pages_are_framed(shared: str) -> None:
    """Whatever else there is of a scenario is not shown inside another site."""
    for address in (f"/s/{shared}/", "/", "/stored/", "/runs/"):
        answer = Client().get(address)
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert "frame-ancestors *" in Client().get(f"/e/{shared}/").headers["Content-Security-Policy"]


# --- QR codes ------------------------------------------------------------------------------------


def test_a_code_is_a_path() -> None:
    """It is drawn in black on white with a quiet zone, and has nothing but paths in it."""
    root = ET.fromstring(qr.qr("http://testserver/r/abc/"))
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {"svg", "path", "g"}
    assert qr.qr("http://testserver/r/abc/") != qr.qr("http://testserver/r/abd/")
    for content in ("", "x" * 601):
        with pytest.raises(ValueError, match="600"):
            qr.qr(content)


@database
@pytest.mark.parametrize(
    "path", ["", "r/x/", "//evil.example/", "/\\evil.example/", "/\t/evil.example", "http://x/"]
)
def test_a_code_leads_to_this_server(path: str) -> None:
    """Nobody gets a code of another site from here."""
    assert Client().get("/qr.svg", {"path": path}).status_code == 400
    answer = Client().get("/qr.svg", {"path": "/r/abc/?name=x"})
    assert answer.headers["Content-Type"] == "image/svg+xml"
    assert answer.content == qr.qr("http://testserver/r/abc/?name=x")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("query", "where", "reported"),
    [
        ("step=2", "Step 2", True), ("step=2&phase=queue", "Step 2", False),
        ("step=9&veil=1", "Step 1:", True),
        ("step=2&veil=1&upto=queue", "Step 1:", False), ("step=1&veil=1", "Step 1:", True),
        ("step=2&veil=0", "Before", False),
    ],
)  # fmt: skip
def test_a_card_shows_nothing_behind_a_veil(
    shared: str, query: str, where: str, reported: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever step an address names: the last one that its veil shows, undecided if that is cut within."""
    drawn: list[Scene] = []

    def draw(scene: Scene, _theme: Theme) -> str:
        drawn.append(scene)
        return "<svg/>"

    monkeypatch.setattr(card, "card", draw)
    monkeypatch.setattr(card, "png", lambda _: b"")
    monkeypatch.setattr(pictures, "pictures", pictures.Pictures())
    address = pictures.card_address(f"/s/{shared}/", query)
    assert Client().get(address).status_code == 200
    assert drawn[0].where.startswith(where) and bool(drawn[0].sentences) == reported
    assert "veil" not in query or " of " not in drawn[0].where
