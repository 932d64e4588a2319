"""The pages: what each shows, to an owner and to a stranger."""

from __future__ import annotations

import gzip
import json
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from playground.celery import app
from playground.models import Draft, Run, Scenario
from playground.storage import bundles, store
from playground.tasks import run_simulation
from scheduler_core.authoring import examples
from tests.playground.conftest import DATA, OWNER

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs wait until the test computes them."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)


def upload(name: str, data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def test_the_start_page(owner: Client) -> None:
    """It offers every example."""
    page = owner.get("/")
    assert page.status_code == 200
    assert [row["slug"] for row in page.context["examples"]] == [row.slug for row in examples.examples()]
    for row in page.context["examples"]:
        assert row["nodes"] and row["pods"] and row["slug"] in page.content.decode()


def test_a_paste_becomes_a_draft(owner: Client, stranger: Client, web: str) -> None:
    """It opens for its owner; to a stranger it is not there, not even its text."""
    answer = owner.post("/import/", {"text": web, "title": "  my\ncluster "})
    draft = Draft.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/p/{draft.pk}/")
    assert (draft.owner, draft.title) == (OWNER, "my cluster")
    page = owner.get(f"/p/{draft.pk}/?step=1.3")
    assert page.status_code == 200
    assert page.context["source"] == {"draft": draft.pk}
    assert (page.context["mine"], page.context["step"], page.context["title"]) == (True, "1.3", "my cluster")
    assert "resources: {requests" not in page.content.decode()
    assert owner.get(page.context["bundle_url"]).content.decode() == web
    for address in (f"/p/{draft.pk}/", f"/p/{draft.pk}/bundle"):
        assert stranger.get(address).status_code == 404
        assert Client().get(address).status_code == 404


def test_an_upload_of_several_files(owner: Client, web: str) -> None:
    """Files, packed or not, are one cluster; the first names it."""
    first, rest = web.split("\n---\n", 1)
    files = [upload("nodes.yaml", first.encode()), upload("rest.yaml.gz", gzip.compress(rest.encode()))]
    owner.post("/import/", {"files": files})
    draft = Draft.objects.get()
    assert draft.title == "nodes"
    assert store.load_draft(draft).id == bundles.parse([("", web)], "nodes").id
    text = owner.get(f"/p/{draft.pk}/bundle").content.decode()
    assert bundles.parse([("", text)], "nodes").id == store.load_draft(draft).id


def test_examples_are_grouped_and_say_what_comes_of_them(owner: Client) -> None:
    """A group has its heading once, and a claim its modes, its numbers and its stale hits."""
    page = owner.get("/")
    text = page.content.decode()
    groups = {row["group"] for row in page.context["examples"]} - {""}
    assert groups
    for group in groups:
        assert text.count(f"<h3>{group}</h3>") == 1
    [row] = [row for row in page.context["examples"] if row["slug"] == "cache-overcommit"]
    [wrong, right] = row["claims"]
    assert wrong == {
        "modes": "v1.11",
        "counts": "5 placed · 6 cpu requested on worker-2 where 4 fit",
        "stale": 3,
    }
    assert right == {"modes": "off, sound, designed", "counts": "4 placed · 1 waits", "stale": 0}
    assert "<em>3 stale hits</em>" in text


def test_every_example_has_its_topic(owner: Client) -> None:
    """Topics hold all examples, each once, in the order of the index."""
    page = owner.get("/")
    shown = [row["slug"] for group in page.context["topics"] for row in group["examples"]]
    assert shown == [row.slug for row in examples.examples()]
    assert len(shown) >= 12
    for group in page.context["topics"]:
        assert f'data-topic="{group["topic"].slug}"' in page.content.decode()


def test_ones_drafts_are_on_the_start_page(owner: Client, stranger: Client, web: str) -> None:
    """The latest first, each with name and age, the rest folded; a stranger sees none, a cache keeps none."""
    titles = [f"cluster {at}" for at in range(8)]
    for at, title in enumerate(titles):
        draft = store.create_draft(OWNER, [("", web)], title)
        updated = timezone.now() - timedelta(minutes=30 * (len(titles) - at))
        Draft.objects.filter(pk=draft.pk).update(updated=updated)
    page = owner.get("/")
    rows = [*page.context["drafts"], *page.context["older"]]
    assert [row["title"] for row in rows] == titles[::-1]
    assert [row["age"] for row in rows][:4] == ["30m", "60m", "90m", "120m"]
    assert len(page.context["older"]) == 2
    text = page.content.decode()
    assert all(f'href="{row["url"]}"' in text and f"<b>{row['title']}</b>" in text for row in rows)
    assert "no-store" in page.headers["Cache-Control"]
    foreign = stranger.get("/")
    assert not foreign.context["drafts"]
    assert titles[0] not in foreign.content.decode()


@pytest.mark.parametrize("slug", [row.slug for row in examples.examples()])
def test_every_example_opens(owner: Client, slug: str) -> None:
    """An example's card is a link to its step and tab, and leads to a shared scenario that can be read."""
    example = examples.find(slug)
    assert example is not None
    view = f"?step={example.step}&amp;tab={example.tab}" if example.step else ""
    view = "?by=phase" if slug == "first-cycle" else view
    assert f'href="/examples/{slug}/{view}"' in owner.get("/").content.decode()
    answer = owner.get(f"/examples/{slug}/", follow=True)
    assert answer.status_code == 200
    [scenario] = answer.context["source"].values()
    assert store.load_scenario(Scenario.objects.get(short=scenario)).objects


@pytest.mark.parametrize(("times", "operations"), [("keep", 4), ("ignore", 0)])
def test_a_trace_with_and_without_its_times(owner: Client, times: str, operations: int) -> None:
    """Two CSV files are one cluster; without times every pod comes at once, also when opened again."""
    files = [
        upload(f"trace-{kind}.csv", (DATA / f"trace-{kind}.csv").read_bytes()) for kind in ("nodes", "pods")
    ]
    owner.post("/import/", {"files": files, "times": times})
    scenario = store.load_draft(Draft.objects.get())
    assert scenario.title == "trace"
    assert len(scenario.operations) == operations
    assert bundles.counts(scenario)[:2] == (2, 2)


@pytest.mark.parametrize(
    ("form", "status", "said"),
    [
        ({"text": ""}, 422, "text is empty"),
        ({"text": "kind: ["}, 422, ""),
        ({"example": "no-such"}, 422, "no-such"),
        ({"text": "&a [*a, *a]"}, 422, ""),
    ],
)
def test_what_cannot_be_read_comes_back(owner: Client, form: dict[str, str], status: int, said: str) -> None:
    """The page shows the errors and the text again."""
    page = owner.post("/import/", form)
    assert page.status_code == status
    assert page.context["errors"] and said in page.context["errors"][0]["message"]
    assert page.context["text"] == form.get("text", "")
    assert not Draft.objects.exists()


def test_hostile_text_is_shown_as_text(owner: Client) -> None:
    """What a visitor wrote is never markup of ours."""
    evil = "</textarea></script><script>alert(1)</script>"
    page = owner.post("/import/", {"text": f"kind: Node\nmetadata: {{name: '{evil}'}}", "title": evil})
    assert page.status_code == 422
    assert "<script>alert(1)" not in page.content.decode()
    owner.post("/import/", {"text": (DATA / "web.yaml").read_text(), "title": evil})
    draft = Draft.objects.get()
    for address in (f"/p/{draft.pk}/", f"/p/{draft.pk}/?step={evil}"):
        assert "<script>alert(1)" not in owner.get(address).content.decode()


def test_imports_are_bounded(owner: Client, limits: Any, web: str) -> None:
    """Size and rate."""
    limits(BUNDLE_BYTES=100, IMPORTS_PER_MINUTE=3)
    assert owner.post("/import/", {"text": web}).status_code == 413
    assert (
        owner.post("/import/", {"files": [upload("b.gz", gzip.compress(b"0" * 10_000))]}).status_code == 413
    )
    assert owner.post("/import/", {"files": [upload("b.yaml", b"0" * 101)]}).status_code == 413
    refused = owner.post("/import/", {"text": web})
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0


def test_forms_of_other_sites_are_refused(web: str) -> None:
    """An import needs the page's token."""
    client = Client(enforce_csrf_checks=True)
    assert client.post("/import/", {"text": web}).status_code == 403
    client.get("/")
    token = client.cookies["csrftoken"].value
    assert client.post("/import/", {"text": web, "csrfmiddlewaretoken": token}).status_code == 302
    assert client.get("/import/").status_code == 405


def test_a_shared_scenario(owner: Client, stranger: Client, web: str) -> None:
    """Everybody sees it, read-only, at the step of the link."""
    shared = store.share(bundles.parse([("", web)], "for all"), OWNER)
    short = shared.scenario.short
    for client in (owner, stranger, Client()):
        page = client.get(f"/s/{short}/?step=2")
        assert page.status_code == 200
        assert (page.context["mine"], page.context["embedded"], page.context["step"]) == (False, False, "2")
        assert page.context["source"] == {"scenario": short}
        assert client.get(page.context["bundle_url"]).status_code == 200
    assert Client().get("/s/AAAAAAAAAAA/").status_code == 404


def test_only_the_embedded_page_may_be_framed(web: str) -> None:
    """Third-party pages can show it; it names no visitor and runs no foreign script."""
    short = store.share(bundles.parse([("", web)])).scenario.short
    page = Client().get(f"/e/{short}/")
    assert page.context["embedded"] is True
    assert "X-Frame-Options" not in page.headers
    assert "frame-ancestors *" in page.headers["Content-Security-Policy"]
    assert settings.VISITOR_COOKIE not in page.cookies
    for address in ("/", f"/s/{short}/", "/runs/", "/reference/predicates/", "/nothing/"):
        framed = Client().get(address)
        assert framed.headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in framed.headers["Content-Security-Policy"]


def test_headers_of_every_page(owner: Client) -> None:
    """No inline script, no other host, no sniffing, and the cookie is out of script's reach."""
    page = Client().get("/")
    policy = page.headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "http" not in policy
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["Referrer-Policy"] == "same-origin"
    cookie = page.cookies[settings.VISITOR_COOKIE]
    assert cookie["httponly"] and cookie["samesite"] == "Lax"
    assert settings.VISITOR_COOKIE not in owner.get("/").cookies


def start_run(client: Client, text: str) -> str:
    answer = client.post("/import/", {"text": text, "title": "long", "run": "1"})
    assert answer.status_code == 302, answer.content
    name = answer.headers["Location"].split("/")[2]
    assert answer.headers["Location"] == f"/runs/{name}/"
    return name


def test_a_run_from_the_page(owner: Client, stranger: Client, web: str) -> None:
    """Whoever has the link sees it; only the starter lists it and may cancel."""
    name = start_run(owner, web)
    for client, mine in ((owner, True), (stranger, False)):
        page = client.get(f"/runs/{name}/")
        assert page.status_code == 200
        assert page.context["run"]["mine"] is mine
        assert page.context["counts"] == {"nodes": 3, "pods": 5, "operations": 0}
    assert [row["run"] for row in owner.get("/runs/").context["runs"]] == [name]
    assert stranger.get("/runs/").context["runs"] == []
    assert stranger.post(f"/runs/{name}/cancel").status_code == 403
    assert Run.objects.get().state == "queued"
    assert owner.get(f"/runs/{name}/cancel").status_code == 405
    assert owner.post(f"/runs/{name}/cancel").status_code == 302
    assert Run.objects.get().state == "cancelled"
    assert Client().get("/runs/AAAAAAAAAAA/").status_code == 404


def test_too_many_runs_from_the_page(owner: Client, web: str, limits: Any) -> None:
    """The page says what to do."""
    limits(RUNS_PER_OWNER=0)
    answer = owner.post("/import/", {"text": web, "run": "1"})
    assert answer.status_code == 429
    assert "Wait for one to end" in answer.content.decode()


def test_the_figures_of_a_run(owner: Client) -> None:
    """Figures and tables show the same numbers, before, during and after."""
    name = start_run(owner, (DATA / "preempt.yaml").read_text())
    empty = owner.get(f"/runs/{name}/figures.json").json()
    assert set(empty["figures"]) == {"pods", "utilisation", "outcomes"}
    run_simulation(name)
    body = owner.get(f"/runs/{name}/figures.json").json()
    assert (body["cycles"], body["state"]) == (5, "done")
    pods = {trace["name"]: trace for trace in body["figures"]["pods"]["data"]}
    assert pods["placed"]["x"] == [0, 1, 2, 3, 4, 5]
    assert pods["placed"]["y"] == [1, 0, 1, 1, 2, 2]
    tables = {table["name"]: table for table in body["tables"]}
    assert tables["pods"]["rows"][-1] == ["5", "0", "2", "0"]
    assert tables["outcomes"]["rows"][0] == ["scheduled", "3"]
    assert tables["utilisation"]["columns"][:2] == ["cycle", "cpu"]
    assert tables["utilisation"]["rows"][0][1] == "80.0%"
    assert len(json.dumps(body)) < 50_000
    page = owner.get(f"/runs/{name}/")
    assert [table["name"] for table in page.context["tables"]] == list(tables)


def test_a_cycle_of_a_run_in_the_workbench(stranger: Client, owner: Client, web: str) -> None:
    """It opens for everybody with the link."""
    name = start_run(owner, web)
    page = stranger.get(f"/runs/{name}/at/1.4/")
    assert page.status_code == 200
    assert (page.context["source"], page.context["step"], page.context["mine"]) == (
        {"run": name},
        "1.4",
        False,
    )
    bundle = stranger.get(page.context["bundle_url"]).content.decode()
    assert bundles.parse([("", bundle)], "long").id == bundles.parse([("", web)], "long").id
    for bad in ("x", "1.2.3", "-1", "9" * 12):
        assert stranger.get(f"/runs/{name}/at/{bad}/").status_code == 404


def test_the_reference_shows_the_engines_tables(owner: Client) -> None:
    """Each predicate in its static order, each priority, each quirk."""
    from scheduler_core.schedulers.v1_11.policy.order import V1_11_ORDER
    from scheduler_core.schedulers.v1_11.priorities import PRIORITIES

    page = owner.get("/reference/predicates/")
    assert [row["key"] for row in page.context["predicates"]] == list(V1_11_ORDER)
    assert {row["name"] for row in page.context["priorities"]} == set(PRIORITIES)
    for row in page.context["predicates"]:
        assert row["key"] in page.content.decode()
        assert (
            row["text"]
            or not row["registered"]
            or row["key"] in ("CheckNodeLabelPresence", "CheckServiceAffinity")
        )
    assert owner.get("/reference/").status_code in (200, 302)


def test_the_reference_shows_how_preemption_chooses(owner: Client) -> None:
    """The criteria in their order, the fixed one in the other's place, and the reasons that nothing mends."""
    from scheduler_core.schedulers.v1_11.preemption.preempt import UNRESOLVABLE_REASONS

    page = owner.get("/reference/predicates/")
    assert [(row["place"], row["fixed"]) for row in page.context["criteria"]] == [
        (1, False), (2, False), (3, False), (3, True), (4, False), (5, False), (6, False),
        (7, False),
    ]  # fmt: skip
    text = page.content.decode()
    assert all(escape(reason) in text for reason in UNRESOLVABLE_REASONS)
    for row in page.context["criteria"]:
        assert escape(row["text"]) in text
        assert not row["quirk"] or f'href="#quirk-{row["quirk"]}"' in text


def test_every_quirk_has_its_place_and_its_sources_on_the_reference_page(owner: Client) -> None:
    """Each row has an anchor and links what is known upstream; where nothing is, it says so."""
    from scheduler_core.schedulers.v1_11.quirks import QUIRKS

    content = owner.get("/reference/predicates/").content.decode()
    section = content[content.index('id="quirks"') :]
    for quirk in QUIRKS:
        row = section[section.index(f'id="quirk-{quirk.id}"') :].split("</li>", 1)[0]
        assert quirk.function in row
        for reference in quirk.upstream:
            assert f'href="{reference.url}"' in row
            assert reference.name in row
        assert ("no issue known" in row) is (not quirk.upstream)


def test_nothing_is_here(owner: Client) -> None:
    """An unknown address has a page of ours."""
    page = owner.get("/no/such/page")
    assert page.status_code == 404
    assert "podstep" in page.content.decode()


def test_files_share_what_a_bundle_may_have(
    owner: Client, limits: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many packed files no more is unpacked than the bundle's limit leaves."""
    limits(BUNDLE_BYTES=1_000)
    left: list[int | None] = []
    decode = bundles.decode

    def noted(name: str, data: bytes, most: int | None = None) -> str:
        left.append(most)
        return decode(name, data, most)

    monkeypatch.setattr(bundles, "decode", noted)
    files = [upload(f"{i}.gz", gzip.compress("é".encode() * 200)) for i in range(5)]
    assert owner.post("/import/", {"files": files}).status_code == 413
    assert left == [1_000, 600, 200]


def test_too_many_files_are_reported(owner: Client, limits: Any, settings: Any) -> None:
    """One file more than may be is answered with how many may be."""
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2
    limits(UPLOAD_FILES=2)
    answer = owner.post("/import/", {"files": [upload(f"{i}.yaml", b"x") for i in range(3)]})
    assert answer.status_code == 413
    assert "at most 2" in answer.content.decode()


def test_a_title_with_nul(owner: Client, web: str) -> None:
    """What no database keeps falls out of it."""
    assert owner.post("/import/", {"text": web, "title": "a\0b"}).status_code == 302
    assert Draft.objects.get().title == "ab"


def test_the_list_of_runs_asks_once_for_all(
    owner: Client, web: str, django_assert_max_num_queries: Any
) -> None:
    """Neither whose scenarios have links nor the place in the queue is asked for each run."""
    for title in ("a", "b", "c", "d"):
        start_run(owner, f"# {title}\n{web}")
        store.share(bundles.parse([("", web)], "long"), text=f"# {title}\n{web}")
    sweeps, queue = 1, 3  # of the latter: what waits, what is under way, and who had a turn
    owner.get("/runs/")  # reloads the lists of bans and ended sessions where they are due
    with django_assert_max_num_queries(1 + sweeps + queue):
        runs = owner.get("/runs/").context["runs"]
    assert len(runs) == 4
    assert all(run["scenario"] for run in runs)
    assert sorted(run["position"] for run in runs) == [1, 2, 3, 4]
