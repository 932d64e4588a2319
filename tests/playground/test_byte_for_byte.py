"""What is shared is given back byte for byte, whatever way it came and went."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.apps import apps
from django.test import Client

from playground.celery import app
from playground.models import Run, Scenario, Share
from playground.runs import service
from playground.storage import bundles, store
from scheduler_core import load
from scheduler_core.authoring import examples
from tests.playground.conftest import OWNER, connected, visitor_client

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = '{"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s"}, "data": {"p": "aHVudGVyMg=="}}'
N1 = '{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}}'
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: %s}\nstatus: {allocatable: {cpu: '4', pods: '10'}}\n"
LESSON = f"# Read me first: why does web wait?\n---\n{NODE % 'n1'}# between\n---\n{NODE % 'n2'}# the end"
TEXTS = {
    "comments": LESSON,
    "crlf": LESSON.replace("\n", "\r\n"),
    "carriage returns": LESSON.replace("\n", "\r"),
    "mixed line ends": LESSON.replace("\n", "\r\n", 3),
    "bom": "\ufeff" + LESSON,
    "trailing blanks": LESSON.replace("\n", "  \n") + "  \n\n \n",
    "no final newline": LESSON,
    "anchors": f"{NODE % 'n1'}".replace("{allocatable:", "{capacity: &all {cpu: 4}, allocatable: ")
    + "---\n# x\n",
    "unicode": f"# 漢字 🚀 café cafe\u0301\n{NODE % 'n1'}",
    "json": json.dumps({"kind": "Node", "metadata": {"name": "n1"}, "apiVersion": "v1"}, indent=3) + "\n\n",
    "list": f"# above\nkind: List\napiVersion: v1\nitems:\n# inside\n{N1}\n".replace("{", "- {", 1),
}


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are stored and not computed."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)


@pytest.fixture
def api() -> Client:
    """A caller without cookies."""
    return Client(enforce_csrf_checks=True)


def create(api: Client, data: bytes | str, kind: str = "application/yaml", query: str = "") -> dict[str, Any]:
    answer = api.post(f"/api/scenarios{query}", data, content_type=kind)
    assert answer.status_code == 201, answer.content
    return json.loads(answer.content)


def bundle(api: Client, name: str) -> bytes:
    answer = api.get(f"/api/scenarios/{name}/bundle")
    assert answer.status_code == 200
    return answer.content


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_api_gives_back_what_was_sent(api: Client, text: str) -> None:
    """A bundle comes back byte for byte, sent as it is, packed, or within JSON."""
    ways = (
        (text.encode(), "application/yaml"),
        (gzip.compress(text.encode()), "application/gzip"),
        (json.dumps({"bundle": text}), "application/json"),
    )
    ids = set()
    for data, kind in ways:
        made = create(api, data, kind)
        assert bundle(api, made["id"]) == text.encode()
        ids.add(made["id"])
    assert len(ids) == 1


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_draft_over_http_is_shared_as_it_is(api: Client, text: str) -> None:
    """What a draft was made of, reads as, is changed to, and is shared as, are the same bytes."""
    made = json.loads(api.post("/api/drafts", text.encode(), content_type="application/yaml").content)
    headers = {"Authorization": f"Bearer {made['token']}"}
    address = f"/api/drafts/{made['id']}"
    assert json.loads(api.get(address, headers=headers).content)["bundle"] == text
    for wanted in (text, text + "\n# more\n"):
        body = json.dumps({"bundle": wanted})
        assert api.patch(address, body, content_type="application/json", headers=headers).status_code == 200
        shared = json.loads(api.post(f"{address}/share", headers=headers).content)
        assert bundle(api, shared["id"]) == wanted.encode()
    assert shared["id"] != create(api, text.encode())["id"]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
async def test_the_workbench_shares_forks_and_branches_the_same_bytes(text: str) -> None:
    """A draft, its share, a fork of that, a branch of that, and the branch's share hold one text."""
    async with connected(OWNER) as socket:
        made = (await socket.ask("bundle.open", {"text": text, "title": "T"}))[2]
        share = (await socket.ask("draft.share", {"draft": made["draft"]}))[2]
        fork = (await socket.ask("scenario.fork", {"source": {"scenario": share["scenario"]}}))[2]
        branch = (
            await socket.ask("branch.create", {"source": {"scenario": share["scenario"]}, "title": "T"})
        )[2]
        again = (await socket.ask("draft.share", {"draft": branch["draft"]}))[2]
    client = visitor_client(OWNER)

    def got(path: str) -> bytes:
        answer = client.get(path)
        assert answer.status_code == 200, path
        return answer.content

    for path in (f"/p/{made['draft']}/bundle", f"/p/{fork['draft']}/bundle", f"/p/{branch['draft']}/bundle"):
        assert await sync_to_async(got)(path) == text.encode()
    assert await sync_to_async(got)(f"/api/scenarios/{share['scenario']}/bundle") == text.encode()
    assert share["scenario"] == again["scenario"]


def test_a_run_keeps_the_text(api: Client) -> None:
    """A run's bundle is that of the scenario, and so is what a fork of the run starts with."""
    made = create(api, TEXTS["crlf"].encode())
    body = json.dumps({"scenario": made["id"]})
    run = json.loads(api.post("/api/runs", body, content_type="application/json").content)
    assert api.get(f"/runs/{run['id']}/bundle").content == TEXTS["crlf"].encode()


def test_a_run_under_another_configuration_keeps_the_comments(api: Client) -> None:
    """Only what is replaced differs in the text of a run with a configuration of its own."""
    settings = "---\nkind: SimulationSettings\napiVersion: podstep/v1\nseed: 3\n"
    made = create(api, (LESSON + "\n" + settings).encode())
    body = json.dumps({"scenario": made["id"], "config": {"settings": {"seed": 4}}})
    run = json.loads(api.post("/api/runs", body, content_type="application/json").content)
    text = api.get(f"/runs/{run['id']}/bundle").content.decode()
    assert text.startswith(LESSON + "\n")
    assert "seed: 4" in text
    assert "seed: 3" not in text


def test_one_text_has_one_link_and_another_text_another(api: Client) -> None:
    """The id is that of the text with its title: a space makes another, who sends it does not."""
    first = create(api, LESSON.encode())["id"]
    assert create(api, LESSON.encode())["id"] == first
    assert create(api, (LESSON + " ").encode())["id"] != first
    assert create(api, LESSON.encode(), query="?title=T")["id"] != first
    row = Scenario.objects.get(short=first)
    assert row.digest == store.address_of("", LESSON)
    assert row.size == len(LESSON.encode())


def test_title_and_text_cannot_be_taken_for_each_other() -> None:
    """The documented form: title, NUL, text; no title holds a NUL."""
    assert store.address_of("ab", "c") != store.address_of("a", "bc")
    assert store.address_of("", "x") == "PH6byTDck_AfppmF7yQtn56GHzxTVaokzl70tLinDMs"
    assert "\0" not in store.clean_title("a\0b")


def test_links_of_the_older_rule_keep_working(api: Client) -> None:
    """A row without a text opens, downloads and forks as before, and does not take the place of a new one."""
    scenario = load(LESSON, title="old")
    content = scenario.canonical()
    row = Scenario.objects.create(
        digest=scenario.id,
        short=scenario.id[:11],
        title="old",
        content=bundles.pack(content),
        size=len(content),
        nodes=2,
        pods=0,
        text=None,
    )
    Share.objects.create(scenario=row, token="t")
    text = bundle(api, row.short).decode()
    assert load(text, title="old").id == scenario.id
    assert api.get(f"/s/{row.short}/").status_code == 200
    body = json.loads(api.get(f"/api/scenarios/{row.short}").content)
    assert [d["metadata"]["name"] for d in body["documents"]] == ["n1", "n2"]
    made = create(api, LESSON.encode(), query="?title=old")
    assert made["id"] != row.short
    assert bundle(api, row.short).decode() == text


def test_a_secret_is_not_published_with_the_rest(api: Client) -> None:
    """Secrets are left out of what is shared, as the warning says; everything else stays as it was."""
    secret = (
        "---\n# mine\nkind: Secret\napiVersion: v1\nmetadata: {name: s}\ndata: {password: aHVudGVyMg==}\n"
    )
    made = create(
        api, (secret.removeprefix("---\n") + LESSON.replace("# Read me", "---\n# Read me", 1)).encode()
    )
    got = bundle(api, made["id"])
    assert b"aHVudGVyMg==" not in got
    assert b"# Read me first: why does web wait?" in got
    assert b"# between" in got
    inside = f"kind: List\napiVersion: v1\nitems:\n- {SECRET}\n# stays\n- {N1}\n"
    got = bundle(api, create(api, inside.encode())["id"])
    assert b"aHVudGVyMg==" not in got
    assert b"# stays" in got
    assert b"aHVudGVyMg==" not in bundle(api, create(api, f"{SECRET}\n{N1}".encode())["id"])
    escaped = f"{SECRET.replace('Secret', 'Secre' + chr(92) + 'u0074')}\n---\n{NODE % 'n1'}"
    assert b"aHVudGVyMg==" not in bundle(api, create(api, escaped.encode())["id"])


@pytest.mark.parametrize("wrong", ["\0", "\ud800"])
def test_what_no_database_keeps_is_refused_with_its_line(api: Client, wrong: str) -> None:
    """A NUL, or half a surrogate pair, is an error that names the line; nothing is stored."""
    text = LESSON.replace("# between", f"# be{wrong}tween")
    data = json.dumps({"bundle": text})
    answer = api.post("/api/scenarios", data, content_type="application/json")
    assert answer.status_code == 422
    [problem] = json.loads(answer.content)["errors"]
    assert "not allowed" in problem["message"] or "surrogate" in problem["message"]
    assert problem["line"] == LESSON[: LESSON.index("# between")].count("\n") + 1
    assert not Scenario.objects.exists()


@pytest.mark.parametrize("slug", [example.slug for example in examples.examples()])
def test_an_example_is_shared_as_it_is_shipped(api: Client, slug: str) -> None:
    """The comments of an example, the only text of its lesson, are in what its address leads to."""
    short = api.get(f"/examples/{slug}/").headers["Location"].split("/")[2]
    found = examples.find(slug)
    assert found is not None
    assert bundle(api, short).decode() == found.read()
    assert found.read().startswith("# ")


def test_several_files_keep_their_comments(owner: Client) -> None:
    """Files that were uploaded together become one text with all that is in them."""
    draft = store.create_draft(
        OWNER, [("a.yaml", f"# a\n{NODE % 'n1'}# end"), ("b.yaml", f"\ufeff# b\n{NODE % 'n2'}")]
    )
    text = owner.get(f"/p/{draft.pk}/bundle").content.decode()
    assert text == f"# a\n{NODE % 'n1'}# end\n---\n# b\n{NODE % 'n2'}"


def test_a_form_gives_its_line_ends_back(owner: Client) -> None:
    """A browser sends a form's text with CRLF whatever was typed; it is kept as it was typed."""
    answer = owner.post("/import/", {"text": LESSON.replace("\n", "\r\n")})
    draft = answer.headers["Location"].split("/")[2]
    assert owner.get(f"/p/{draft}/bundle").content.decode() == LESSON


def test_runs_of_two_texts_are_of_two_scenarios() -> None:
    """A run is of the text that it was started with, not of an earlier one with the same documents."""
    rows = [
        service.start(load(text), OWNER, text=text)[0].scenario
        for text in (LESSON, LESSON.replace("between", "elsewhere"))
    ]
    assert [store.scenario_text(row) for row in rows] == [LESSON, LESSON.replace("between", "elsewhere")]
    assert Run.objects.count() == 2
    assert apps.get_model("playground", "Scenario").objects.count() == 2
