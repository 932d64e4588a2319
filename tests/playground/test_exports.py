"""Exports: a step as SVG or PNG, and a range of steps as a slide deck."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest
from django.test import Client

from playground.pictures import chart, matrices
from playground.pictures.themes import DARK, LIGHT, THEMES
from playground.playback import sources
from playground.playback.playback import Playback
from playground.reports import slides
from playground.storage import store
from playground.views.examples import _loaded
from tests.playground.conftest import OWNER
from tests.playground.test_reports import Fetched
from tests.playground.test_two_sources import LEAST, bundle, shared

pytestmark = pytest.mark.django_db(transaction=True)


def asked(path: str, source: str, **query: str) -> bytes:
    """Return the body of a file."""
    answer = Client().get(path, {"source": source, **query})
    assert answer.status_code == 200, answer.content
    return bytes(answer.content)


def test_a_step_as_svg_and_as_png() -> None:
    """The same picture, well-formed, with every node's name; it is a file of its own."""
    name = shared(bundle(LEAST))
    svg = asked("/picture", name, step="1")
    root = ET.fromstring(svg)
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["a", "b"]
    assert asked("/picture", f"http://x/s/{name}/?step=9", step="1") == svg
    assert svg != asked("/picture", name, step="0")
    assert asked("/picture", name, step="1", format="png").startswith(b"\x89PNG")
    answer = Client().get("/picture", {"source": name, "step": "2", "format": "png"})
    assert answer.headers["Content-Disposition"] == 'attachment; filename="step-2.png"'


def test_a_deck() -> None:
    """A slide a step with what happened; it ends with the run, runs nothing and fetches nothing."""
    page = asked("/deck", shared(bundle(LEAST)), **{"from": "1", "to": "9"}).decode()
    assert page.count("<section") == page.count("<svg") == 2
    assert "Step 1 of 2: default/web-0" in page and "Successfully assigned default/web-1 to a" in page
    seen = Fetched()
    seen.feed(page)
    assert seen.found == [] and "default-src &#x27;none&#x27;" in page


def test_a_deck_has_a_theme() -> None:
    """Light if asked for, else dark: no colour of one is in the other but those that both have."""
    name = shared(bundle(LEAST))
    dark, light = (
        set(re.findall(r"#[0-9a-f]{6}", asked("/deck", name, theme=theme).decode())) for theme in THEMES
    )
    assert asked("/deck", name) == asked("/deck", name, theme="dark")
    assert {DARK.bg, DARK.ink, DARK.panel} <= dark and {LIGHT.bg, LIGHT.ink, LIGHT.panel} <= light
    assert dark & light <= set(DARK.groups) & set(LIGHT.groups)


def test_what_people_wrote_is_text() -> None:
    """A title with markup is shown as it is."""
    title = "<script>alert(1)</script>"
    answer = Client().post(
        "/api/scenarios", {"bundle": bundle(LEAST), "title": title}, content_type="application/json"
    )
    for path in ("/deck", "/picture"):
        assert title not in asked(path, answer.json()["id"]).decode()


def test_a_draft_is_its_owners(owner: Client, stranger: Client) -> None:
    """Nobody else has a picture of it."""
    draft = store.create_draft(OWNER, [("", bundle(LEAST))])
    for path in ("/picture", "/deck"):
        query = {"source": f"draft:{draft.pk}", "step": "1"}
        assert owner.get(path, query).status_code == 200
        assert stranger.get(path, query).status_code == 404


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/picture", {"format": "gif"}, 400),
        ("/picture", {"step": "3"}, 404),
        ("/picture", {"view": "queue"}, 400),
        ("/picture", {"view": "matrix", "step": "3"}, 404),
        ("/deck", {"from": "3", "to": "3"}, 404),
        ("/deck", {"from": "2", "to": "1"}, 400),
        ("/deck", {"theme": "blue"}, 400),
        ("/deck", {"from": "0", "to": str(slides.SLIDES)}, 400),
    ],
)
def test_what_there_is_not(path: str, query: dict[str, str], status: int) -> None:
    """Another format, a step that the run does not have, and more slides than a deck may have."""
    name = shared(bundle(LEAST))
    assert Client().get(path, {"source": name, **query}).status_code == status
    assert Client().get(path, {"source": "AAAAAAAAAAA"}).status_code == 404
    assert Client().get(path).status_code == 400
    assert Client().post(path, {"source": name}).status_code == 405


def test_what_is_too_large_is_not_drawn(limits: Callable[..., None]) -> None:
    """It says what to do instead."""
    name = shared(bundle(LEAST, nodes=("a", "b", "z")))
    limits(INTERACTIVE_WORK=1)
    answer = Client().get("/picture", {"source": name, "step": "1"})
    assert answer.status_code == 422 and re.search("Start a run", answer.content.decode())


SVG = "{http://www.w3.org/2000/svg}"


def drawn(source: str, view: str, step: int) -> tuple[list[str], ET.Element]:
    """Return the texts of a view and its document."""
    root = ET.fromstring(asked("/picture", source, view=view, step=str(step)))
    return [one.text or "" for one in root.iter(f"{SVG}text")], root


def tainted() -> str:
    """Two nodes, one with a taint that the pods do not tolerate, and pods that spread."""
    taint = '"metadata": {"name": "b"}, "spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}'
    fits = '"predicates": [{"name": "GeneralPredicates"}, {"name": "PodToleratesNodeTaints"}]'
    text = bundle(LEAST).replace('"metadata": {"name": "b"}', taint)
    return text.replace('"predicates": [{"name": "GeneralPredicates"}]', fits)


def test_the_matrix_as_a_picture() -> None:
    """A mark for every node and predicate, as the cycle has them, and the reason of what failed."""
    name = shared(tainted())
    texts, root = drawn(name, "matrix", 1)
    assert {"a", "b", "chosen", "CheckNodeCondition", "GeneralPredicates", "PodToleratesNodeTaints"} <= set(
        texts
    )
    assert "node(s) had taints that the pod didn't tolerate" in texts and "Step 1: default/web-0" in texts
    found = sources.open_playback(sources.find({"scenario": name}, "")).cycle(1)
    assert found.matrix is not None
    cells = [int((found.matrix.codes == 0).sum()), int((found.matrix.codes > 0).sum())]
    ticks, crosses = (
        sum(one.attrib["d"].endswith(end) for one in root.iter(f"{SVG}path")) for end in ("-7", "8")
    )
    assert [ticks, crosses] == cells and len(list(root.iter(f"{SVG}line"))) == int(
        (found.matrix.codes < 0).sum()
    )


def test_the_scores_as_a_picture() -> None:
    """Weighted scores, the highest total first, with the chosen node."""
    texts, _ = drawn(shared(bundle(LEAST)), "scores", 1)
    assert "LeastRequestedPriority × 1" in texts and "total" in texts
    rows = texts[texts.index("total") + 1 :]
    assert rows == ["a", "8", "8", "chosen", "b", "5", "5"]


def test_the_ladder_as_a_picture() -> None:
    """How many nodes came to each predicate, and how many it removed."""
    texts, root = drawn(shared(tainted()), "ladder", 1)
    assert texts[-3:] == ["3", "PodToleratesNodeTaints", "2 to 1, 1 removed"]
    wide = [float(one.attrib["width"]) for one in root.iter(f"{SVG}rect")][1:]
    assert wide[-1] == wide[-2] / 2


def test_the_run_as_a_chart() -> None:
    """Placed and pending pods by cycle, with the step marked, and what the cycles came to."""
    name = shared(bundle(LEAST))
    texts, root = drawn(name, "chart", 2)
    assert "2 cycles, step 2 marked" in texts and "placed, 3 at the end" in texts
    assert "pending, 0" in texts and "scheduled: 2" in texts and "no node: 1" not in texts
    placed, pending = (one.attrib["points"].split() for one in root.iter(f"{SVG}polyline"))
    assert [len(placed), len(pending)] == [3, 3]
    heights = [float(point.partition(",")[2]) for point in placed]
    assert heights == sorted(heights, reverse=True) and len(set(heights)) == 3
    playback = sources.open_playback(sources.find({"scenario": name}, ""))
    assert [one.tolist() for one in chart.counts(playback)] == [[1, 2, 3], [2, 1, 0]]


def test_a_chart_follows_preemption_and_deletion() -> None:
    """What is counted is what the placements say, of every example that can be played."""
    for slug in ("making-room", "rolling-update"):
        playback = Playback(_loaded(slug)[0])
        playback.reach(10**6)
        placed, pending = chart.counts(playback)
        for index in range(1, len(playback) + 2):
            at = playback.trail.placement_before(index)
            assert [placed[index - 1], pending[index - 1]] == [(at >= 0).sum(), (at == -1).sum()], index


@pytest.mark.parametrize("view", ["matrix", "scores", "ladder", "chart"])
def test_views_are_pictures_of_bounded_size(view: str) -> None:
    """So many nodes and no more, also as PNG; before the first step they say so; names are text."""
    names = tuple(f"n{n}" for n in range(matrices.ROWS + 5))
    markup = "<script>alert(1)</script>"
    answer = (
        Client()
        .post(
            "/api/scenarios",
            {"bundle": bundle(LEAST, nodes=names, full="n1"), "title": markup},
            content_type="application/json",
        )
        .json()["id"]
    )
    texts, _ = drawn(answer, view, 1)
    assert markup in texts and len(texts) < 6 * matrices.ROWS
    if view in ("matrix", "scores"):
        assert [one for one in texts if one.startswith("and 5 more")]
    png = asked("/picture", answer, view=view, step="1", format="png")
    assert png.startswith(b"\x89PNG") and len(png) < 400_000
    if view != "chart":
        assert any("at this step" in one for one in drawn(answer, view, 0)[0])
    headers = Client().get("/picture", {"source": answer, "view": view, "step": "1"}).headers
    assert headers["Content-Disposition"] == f'attachment; filename="step-1-{view}.svg"'


@pytest.mark.parametrize(
    ("release", "names"),
    [
        ("v1.11", ["Nodes and predicates", "Nodes and priorities", "Nodes by predicate"]),
        ("v1.37", ["Nodes and filter plugins", "Nodes and score plugins", "Nodes by filter plugin"]),
    ],
)
def test_a_view_calls_rules_as_the_release_does(release: str, names: list[str]) -> None:
    """What the picture is called to who cannot see it."""
    settings = f"---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: {release}\n"
    cluster = "\n".join(
        f"---\n{{apiVersion: v1, kind: Node, metadata: {{name: n{n}}}, status: {{allocatable: {{pods: 9}}}}}}"
        for n in range(2)
    )
    pod = "\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}\n"
    answer = Client().post(
        "/api/scenarios",
        {"bundle": cluster + pod + settings, "title": "Words"},
        content_type="application/json",
    )
    shown = answer.json()["id"]
    pictures = [asked("/picture", shown, view=view, step="1") for view in ("matrix", "scores", "ladder")]
    for picture, name in zip(pictures, names, strict=True):
        assert f'aria-label="{name}: Words, '.encode() in picture
