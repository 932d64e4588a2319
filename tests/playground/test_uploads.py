"""Archives, forms and encodings over HTTP: read as the command line reads them, or answered with a remedy."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from playground.models import Draft, Scenario
from playground.storage import store
from scheduler_core import load
from tests.core.formats.archives import CHART, NODE, POD, VALUES, Files, encrypted_zip, tarred, zipped

pytestmark = pytest.mark.django_db(transaction=True)

FILES: Files = {"shop/node.yaml": f"# The one node\n{NODE}", "shop/pod.yaml": POD}
RELEASE: Files = {
    **FILES,
    "shop/Chart.yaml": CHART,
    "shop/values.yaml": VALUES,
    "shop/charts/db.tgz": tarred(FILES),
}
CALLS = ["/api/scenarios", "/api/drafts"]


@pytest.fixture
def api() -> Client:
    """A caller without cookies, with forgery checks as in production."""
    return Client(enforce_csrf_checks=True)


def upload(name: str, data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def sent(api: Client, address: str, body: bytes, kind: str = "application/octet-stream") -> HttpResponse:
    return api.post(address, body, content_type=kind)  # type: ignore[return-value]


def reported(answer: Any) -> str:
    return " ".join(error["message"] for error in json.loads(answer.content)["errors"])


@pytest.mark.parametrize("address", CALLS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_what_powershell_writes_is_read(api: Client, address: str, encoding: str, packed: bool) -> None:
    """UTF-16 is read over HTTP as on the command line, gzipped too, and in an envelope."""
    data = NODE.encode(encoding)
    answer = sent(api, address, gzip.compress(data) if packed else data)
    assert answer.status_code == 201, answer.content
    assert json.loads(answer.content)["summary"] == {"Node": 1}
    envelope = json.dumps({"bundle": NODE, "title": "mine"}).encode(encoding)
    assert sent(api, address, envelope).status_code == 201


@pytest.mark.parametrize("address", CALLS)
@pytest.mark.parametrize(
    "data", [zipped(RELEASE), tarred(RELEASE), tarred(RELEASE, "w")], ids=["zip", "tgz", "tar"]
)
def test_the_body_may_be_an_archive(api: Client, address: str, data: bytes) -> None:
    """`curl --data-binary @release.tgz` is enough; what is left out is a warning."""
    answer = sent(api, f"{address}?title=shop", data)
    body = json.loads(answer.content)
    assert answer.status_code == 201, body
    assert body["summary"] == {"Node": 1, "Pod": 1}
    messages = [one["message"] for one in body["warnings"]]
    assert any("Chart.yaml, shop/values.yaml) are left out: no manifest found" in one for one in messages)
    assert any("charts/db.tgz is left out: a nested archive" in one for one in messages)


def shared_text(api: Client, body: dict[str, Any]) -> str:
    """Return the text of a shared scenario."""
    return api.get(f"/api/scenarios/{body['id']}/bundle").content.decode()


BROKEN: Files = {
    "shop/values.yaml": "workload:\n  kind: Deployment\n",
    "shop/broken.yaml": "kind: Pod\nmetadata: {name: [}\n",
    "shop/nameless.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {nam: x}\n",
    "shop/go.json": '{"metadata": {"name": "n9"}, "status": {"nodeInfo": {}, "allocatable": {"pods": "9"}}}',
}


@pytest.mark.parametrize("address", CALLS)
def test_an_archive_opens_with_what_can_be_read_and_stays_so(api: Client, address: str) -> None:
    """What is stored of it can be read again, without what was left out."""
    answer = sent(api, address, zipped({**FILES, **BROKEN}))
    body = json.loads(answer.content)
    assert answer.status_code == 201, body
    assert body["summary"] == {"Node": 2, "Pod": 1}
    stored = store.load_draft(Draft.objects.get()) if "drafts" in address else load(shared_text(api, body))
    kinds = sorted(str(document["kind"]) for document in stored.documents)
    assert kinds == ["Node", "Node", "Pod"]


def test_a_large_archive_is_read_once(api: Client) -> None:
    """One that is sent again while its reading is kept gives the same link; another file in it, another."""
    comment = "# a comment\n" * 20_000
    first, other = (
        zipped({"node.yaml": comment + NODE, "pod.yaml": pod}) for pod in (POD, POD + "# or so\n")
    )
    answers = [sent(api, "/api/scenarios", data) for data in (first, first, other)]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    one, again, another = (json.loads(answer.content)["id"] for answer in answers)
    assert one == again != another


@pytest.mark.parametrize("address", CALLS)
def test_a_form_with_files_is_read(api: Client, address: str) -> None:
    """`curl -F file=@…` works, with several files, an archive, and the title as a field."""
    form = {
        "one": upload("node.yaml", NODE.encode("utf-16")),
        "more": [
            upload("pods.zip", zipped({"pod.yaml": POD})),
            upload("x.gz", gzip.compress(b"kind: Namespace\napiVersion: v1\nmetadata: {name: a}\n")),
        ],
        "title": "my shop",
    }
    answer = api.post(address, form)
    body = json.loads(answer.content)
    assert answer.status_code == 201, body
    assert body["summary"] == {"Node": 1, "Pod": 1, "Namespace": 1}
    model = Scenario if address == "/api/scenarios" else Draft
    assert [row["title"] for row in model.objects.values("title")] == ["my shop"]


@pytest.mark.parametrize("address", CALLS)
def test_a_problem_in_a_form_names_its_file(api: Client, address: str) -> None:
    """Errors have the file, or the archive and the path in it, and the line."""
    bad = POD.replace("containers", "containrs")
    answer = api.post(
        address, {"file": [upload("bad.yaml", bad.encode()), upload("b.zip", zipped({"a/b.yaml": bad}))]}
    )
    assert answer.status_code == 422
    found = {(one["file"], one["line"]) for one in json.loads(answer.content)["errors"]}
    assert found == {("bad.yaml", 4), ("b.zip/a/b.yaml", 4)}


@pytest.mark.parametrize("address", CALLS)
def test_a_form_without_a_file_says_what_to_send(api: Client, address: str) -> None:
    """An empty form, an unknown field, and a body that curl has joined to one line are distinguished."""
    assert "curl -F file=@cluster.yaml" in reported(api.post(address, {"title": "x"}))
    assert "Unknown fields: file" in reported(api.post(address, {"file": NODE}))
    joined = sent(api, address, NODE.replace("\n", "").encode(), "application/x-www-form-urlencoded")
    assert joined.status_code == 400
    assert "use --data-binary @FILE" in reported(joined)
    assert api.post(address, {"bundle": NODE}).status_code == 201


def test_a_form_where_an_object_is_wanted(api: Client) -> None:
    """Calls that take JSON say so, and where files are sent."""
    for address in ("/api/runs", "/api/generate"):
        answer = api.post(address, {"file": upload("node.yaml", NODE.encode())})
        assert answer.status_code == 400
        assert "takes a JSON object" in reported(answer) and "POST /api/scenarios" in reported(answer)


@pytest.mark.parametrize("address", CALLS)
@pytest.mark.parametrize(
    ("data", "status", "says"),
    [
        ({"../node.yaml": NODE}, 422, "unsafe path"),
        (encrypted_zip(), 422, "pack it without a password"),
        ({"values.yaml": VALUES}, 422, "it contains no manifest: values.yaml"),
        ({"node.yaml": NODE + "#" * 30_000_000}, 422, "more than 500 times its size"),
        (dict.fromkeys(map("{}.yaml".format, range(20_001)), ""), 422, "more than 20,000 entries"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(20), 422, "a 7z archive: pack it as .zip or .tar.gz"),
        (b"\xff\xfek", 422, "damaged UTF-16 text: save the file in the encoding UTF-8"),
    ],
    ids=["path", "encrypted", "empty", "bomb", "entries", "7z", "utf-16"],
)
def test_hostile_archives_are_refused(
    api: Client, address: str, data: bytes | Files, status: int, says: str
) -> None:
    """What the engine refuses is an answer with its remedy, never a server error, and nothing is stored."""
    data = data if isinstance(data, bytes) else zipped(data)
    for answer in (sent(api, address, data), api.post(address, {"file": upload("a.zip", data)})):
        assert answer.status_code == status
        assert says in reported(answer)
    assert not Scenario.objects.exists() and not Draft.objects.exists()


def test_an_archive_becomes_a_draft(owner: Client) -> None:
    """An uploaded archive is one text with its comments: each file under its path, and what was left out."""
    answer = owner.post("/import/", {"files": [upload("release.tgz", tarred(RELEASE))]})
    assert answer.status_code == 302
    draft = Draft.objects.get()
    assert draft.title == "release"
    text = owner.get(f"/p/{draft.pk}/bundle").content.decode()
    assert "# shop/node.yaml\n# The one node\napiVersion: v1\n" in text
    assert "---\n# shop/pod.yaml\n" in text
    assert (
        "# release.tgz: shop/charts/db.tgz is left out: a nested archive: pass it as a separate file\n"
        in text
    )
    assert [obj.meta.name for obj in store.load_draft(draft).objects] == ["n1", "web"]


def test_what_cannot_follow_in_one_text_stays_a_file(owner: Client) -> None:
    """JSON and YAML of one archive are one cluster, however many files there are."""
    files: Files = {
        f"{n:02}.json": json.dumps(
            {
                "kind": "Pod",
                "apiVersion": "v1",
                "metadata": {"name": f"p{n}"},
                "spec": {"containers": [{"name": "c"}]},
            }
        )
        for n in range(30)
    }
    owner.post("/import/", {"files": [upload("a.zip", zipped({**files, "node.yaml": NODE}))]})
    assert len(store.load_draft(Draft.objects.get()).objects) == 31


def test_a_refused_archive_comes_back_with_its_problems(owner: Client) -> None:
    """The page names archive, path and line."""
    answer = owner.post(
        "/import/", {"files": [upload("a.zip", zipped({"b.yaml": POD.replace("containers", "containrs")}))]}
    )
    assert answer.status_code == 422
    assert "a.zip/b.yaml, line 4" in answer.content.decode()


def test_drafts_of_the_api_keep_the_archives_text(api: Client) -> None:
    """A draft that was made of an archive is read back as one text that loads as the same."""
    body = json.loads(sent(api, "/api/drafts", zipped(RELEASE)).content)
    answer = api.get(f"/api/drafts/{body['id']}", headers={"Authorization": f"Bearer {body['token']}"})
    text = json.loads(answer.content)["bundle"]
    assert "# The one node" in text
    assert load(text).summary == {"Node": 1, "Pod": 1}
