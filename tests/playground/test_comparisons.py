"""A comparison that is stored: what its link shows, to whom, and what becomes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from playground.celery import app
from playground.comparisons import differences
from playground.models import AuditEntry, Comparison, ComparisonShare, Draft, Run, Scenario
from playground.playback import releases, sources
from playground.storage import bundles, comparisons, quotas, retention, store
from playground.tasks import run_simulation
from playground.visitors import identity
from scheduler_core.authoring.examples import examples
from scheduler_core.kubernetes.problems import BundleError
from tests.playground.conftest import OWNER, STRANGER, connected
from tests.playground.test_two_sources import LEAST, MOST, bundle, shared

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test compared is computed again; runs wait until the test computes them."""
    monkeypatch.setattr(differences, "answers", type(differences.answers)(9, 10**6))
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)


def post(body: Any, status: int = 201, token: str = "") -> dict[str, Any]:
    """Store a comparison over HTTP."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = Client().post("/api/comparisons", json.dumps(body), "application/json", headers=headers)
    assert answer.status_code == status, answer.content
    return dict(answer.json())


def kept(left: str, right: str, **more: str) -> str:
    """Return the id of a stored comparison."""
    return str(post({"left": left, "right": right, **more})["id"])


def draft(text: str, owner: str = OWNER) -> str:
    """Return the id of a draft."""
    return str(store.create_draft(owner, [("", text)], "Mine").pk)


def delete(name: str, token: str) -> int:
    """Send a delete token."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return int(Client().delete(f"/api/comparisons/{name}", headers=headers).status_code)


def test_what_is_stored_is_what_was_compared() -> None:
    """The stored answer is that of the comparison; each side is a source with its release and a page."""
    left, right = shared(bundle(LEAST)), shared(bundle(MOST))
    asked = Client().get("/api/compare", {"left": left, "right": right}).json()
    made = post({"left": left, "right": right})
    name = made["id"]
    assert made["url"].endswith(f"/compare/{name}/") and len(name) >= 11
    found = Client().get(f"/api/comparisons/{name}").json()
    for key in asked.keys() - {"left", "right"}:
        assert found[key] == asked[key], key
    for side in ("left", "right"):
        assert found[side]["source"] == {"side": f"{name}-{side}"}
        assert found[side]["release"] == "v1.11"
        opened = Client().get(found[side]["url"].removeprefix("http://testserver"))
        assert opened.status_code == 200
        assert f'"side": "{name}-{side}"' in opened.content.decode()
    assert Client().get(f"/compare/{name}/left/bundle").content.decode() == bundle(LEAST)
    page = Client().get(f"/compare/{name}/").content.decode()
    assert "First different decision: cycle 1" in page and f'href="/compare/{name}/left/?step=1"' in page
    assert "priority LeastRequestedPriority: weight 1 under A, none under B" in page
    assert f"http://testserver/compare/{name}/" in page
    assert (
        Client().get("/api/compare", {"left": f"/compare/{name}/left/", "right": right}).json()["differing"]
    )


def test_the_same_sides_are_the_same_comparison() -> None:
    """Content addresses it: shared twice it is one, until both shares are deleted."""
    left, right = shared(bundle(LEAST)), shared(bundle(MOST))
    one, two = (post({"left": left, "right": right}) for _ in range(2))
    assert one["id"] == two["id"] and one["delete_token"] != two["delete_token"]
    assert kept(right, left) != one["id"]
    assert delete(one["id"], "") == 401 and delete(one["id"], "guessed") == 403
    assert delete(one["id"], one["delete_token"]) == 204
    assert Client().get(f"/compare/{one['id']}/").status_code == 200
    assert delete(one["id"], two["delete_token"]) == 204
    assert Client().get(f"/compare/{one['id']}/").status_code == 404
    assert not Comparison.objects.filter(short=one["id"]).exists()
    assert AuditEntry.objects.filter(what="delete comparison", subject=one["id"]).count() == 2


def test_a_draft_is_copied() -> None:
    """The owner's draft may change or go: who has the link sees what was compared, and the draft never."""
    mine, text = draft(bundle(LEAST)), bundle(LEAST)
    token = identity.sign(OWNER)
    right = shared(bundle(MOST))
    assert "draft" in post({"left": mine, "right": right}, 404)["errors"][0]["message"]
    post({"left": mine, "right": right}, 404, identity.sign(STRANGER))
    name = post({"left": mine, "right": right}, token=token)["id"]
    row = Draft.objects.get(pk=mine)
    store.save_draft(row, text=bundle(MOST), title="Secret title")
    stranger = Client()
    stranger.cookies[settings.VISITOR_COOKIE] = identity.sign(STRANGER)
    for address in (f"/compare/{name}/", f"/api/comparisons/{name}", f"/compare/{name}/left/"):
        seen = stranger.get(address).content.decode()
        assert mine not in seen and "Secret title" not in seen, address
    assert stranger.get(f"/compare/{name}/left/bundle").content.decode() == text
    assert stranger.get(f"/p/{mine}/").status_code == 404
    store.delete_draft(Draft.objects.get(pk=mine))
    assert stranger.get(f"/api/comparisons/{name}").json()["differing"] == 2
    copied = comparisons.sides_of(Comparison.objects.get(short=name))[0].scenario
    assert stranger.get(f"/s/{copied.short}/").status_code == 404  # by the comparison alone


def test_another_release_is_in_the_text() -> None:
    """A side under v1.37 is a source that v1.37 answers: opened, stepped, forked."""
    left = shared(bundle(MOST))
    name = kept(left, left, rightScheduler="v1.37")
    found = Client().get(f"/api/comparisons/{name}").json()
    assert [found[side]["release"] for side in ("left", "right")] == ["v1.11", "v1.37"]
    assert found["configuration"] == ["kube-scheduler v1.11 under A, v1.37 under B"]
    assert "scheduler: v1.37" in Client().get(f"/compare/{name}/right/bundle").content.decode()
    playback = sources.open_playback(sources.find({"side": f"{name}-right"}, ""))
    while not playback.complete:
        playback.advance(1.0)
    assert playback.scenario.release == "v1.37"
    assert playback.cycle(1).decision.node == found["first"]["right"]["node"]
    assert "under v1.37" in Client().get(f"/compare/{name}/").content.decode()


@pytest.mark.parametrize("release", ["v1.11", "v1.37"])
def test_a_text_that_names_its_release_decides_the_same(release: str) -> None:
    """What is stored for a side under another release is what was compared."""
    for example in examples()[::4]:
        text = example.read()
        scenario = bundles.parse([("", text)])
        try:
            compared = releases.under(scenario, release)
            stored, named = releases.written_under(scenario, text, release)
        except BundleError:  # such a side is stored with the release beside its text
            continue
        assert stored.release == compared.release == release, example.slug
        assert (stored.policy, stored.objects) == (compared.policy, compared.objects), example.slug
        assert bundles.parse([("", named)]).release == release


RESTORED = """\
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler}]
---
apiVersion: podstep/v1
kind: SimulationSettings
time: virtual
scheduler: v1.22
quirks: fixed
until: 60
schedulers:
- {name: default-scheduler, watchDelay: 0.02, bindDelay: 0.01}
---
apiVersion: v1
kind: Node
metadata: {name: worker-1}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: store, namespace: default}
spec:
  replicas: 3
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: store}}
  template:
    metadata: {labels: {app: store}}
    spec: {containers: [{name: store, image: store, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: podstep/v1
kind: Scenario
spec:
  operations:
  - id: once
    time: 30
    deleteOperation: {typeMeta: {kind: Pod}, objectMeta: {name: store-2, namespace: default}}
  - id: again
    time: 50
    deleteOperation: {typeMeta: {kind: Pod}, objectMeta: {name: store-2, namespace: default}}
"""


def test_a_text_that_another_release_cannot_read_is_put_under_it() -> None:
    """Operations on pods of v1.22's controllers: the side is what was compared all the same."""
    left = shared(RESTORED)
    name = kept(left, left, leftScheduler="v1.11", rightScheduler="v1.11")
    source = sources.find({"side": f"{name}-left"}, "")
    assert source.scheduler == "v1.11"
    assert source.load().release == "v1.11"
    assert Client().get(f"/compare/{name}/left/").status_code == 200


def test_runs_are_sides(limits: Callable[..., None]) -> None:
    """A run stays the side's source while it is kept; then its scenario is."""
    names = [shared(bundle(policy)) for policy in (LEAST, MOST)]
    runs = [
        Client().post("/api/runs", {"scenario": name}, content_type="application/json").json()["id"]
        for name in names
    ]
    limits(INTERACTIVE_WORK=1)
    post({"left": runs[0], "right": runs[1]}, 409)
    for run in runs:
        run_simulation(run)
    name = kept(*runs)
    source = sources.find({"side": f"{name}-left"}, "")
    assert isinstance(source.row, Run) and source.row.pk == runs[0]
    Run.objects.all().delete()
    source = sources.find({"side": f"{name}-left"}, "")
    assert isinstance(source.row, Scenario)
    assert Client().get(f"/compare/{name}/").status_code == 200


REFUSED: dict[str, tuple[Any, int, str]] = {
    "nothing": ({}, 400, "left"),
    "a number": ({"left": 3, "right": "x"}, 400, "left must be a text"),
    "unknown fields": ({"left": "x", "right": "y", "title": "t"}, 400, "Unknown fields: title"),
    "what is not there": ({"left": "x" * 11, "right": "y" * 11}, 404, "There is no scenario"),
    "no object": ([], 400, "object"),
}


@pytest.mark.parametrize(("body", "status", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(body: Any, status: int, said: str) -> None:
    """What is wrong is said, and nothing is stored."""
    assert said in post(body, status)["errors"][0]["message"]
    assert not Comparison.objects.exists()


def test_there_are_limits(limits: Callable[..., None]) -> None:
    """Comparisons are counted and weighed for each visitor; one that is shared again is none more."""
    first, second, third = (shared(bundle(*policies)) for policies in ((LEAST,), (MOST,), (LEAST, MOST)))
    limits(COMPARISONS_PER_OWNER=1)
    kept(first, second)
    kept(first, second)
    post({"left": first, "right": second}, token=identity.sign(OWNER))
    assert "delete one first" in post({"left": first, "right": third}, 429)["errors"][0]["message"]
    limits(COMPARISONS_PER_OWNER=9, STORAGE_PER_OWNER=1)
    refused = post({"left": first, "right": third}, 413, token=identity.sign(OWNER))
    assert [row["kind"] for row in refused["storage"]["largest"]] == ["comparison"]


def test_it_counts_as_stored() -> None:
    """Its answer, and the copies of its sides, count for who shares it."""
    mine, right = draft(bundle(LEAST)), shared(bundle(MOST))
    before = quotas.used_by_owner(OWNER)
    name = post({"left": mine, "right": right}, token=identity.sign(OWNER))["id"]
    row = Comparison.objects.get(short=name)
    grown = quotas.used_by_owner(OWNER) - before
    sizes = sum(side.scenario.packed for side in comparisons.sides_of(row))
    assert grown == row.packed + sizes + 4 * quotas.ROW_BYTES


def test_it_is_listed_and_deleted_by_its_owner(owner: Client, stranger: Client) -> None:
    """In what one has stored; nobody else's is deleted, and what nothing refers to goes with it."""
    mine, right = draft(bundle(LEAST)), shared(bundle(MOST))
    name = post({"left": mine, "right": right}, token=identity.sign(OWNER))["id"]
    assert f'href="/compare/{name}/"' in owner.get("/stored/").content.decode()
    assert name not in stranger.get("/stored/").content.decode()
    assert stranger.post(f"/stored/comparison/{name}/delete").status_code == 404
    scenarios = Scenario.objects.count()
    assert owner.post(f"/stored/comparison/{name}/delete").status_code == 302
    assert owner.get(f"/compare/{name}/").status_code == 404
    assert owner.get(f"/compare/{name}/right/").status_code == 404
    assert Scenario.objects.count() == scenarios - 1  # the copy of the draft


def test_it_expires_and_keeps_its_sides() -> None:
    """What it refers to is kept as long as itself, and opening it postpones its date."""
    left, right = shared(bundle(LEAST)), shared(bundle(MOST))
    name = kept(left, right)
    Scenario.objects.update(expires=timezone.now() - timedelta(days=1))
    retention.remove_expired()
    assert Client().get(f"/s/{left}/").status_code == 404
    assert Client().get(f"/compare/{name}/left/").status_code == 200
    Comparison.objects.update(expires=timezone.now() + timedelta(hours=1))
    Client().get(f"/compare/{name}/")
    assert Comparison.objects.get().expires > timezone.now() + timedelta(days=2)
    Comparison.objects.update(expires=timezone.now() - timedelta(days=1))
    assert retention.remove_expired()["comparisons"] == 1
    assert (
        not ComparisonShare.objects.exists() and not Scenario.objects.filter(short__in=[left, right]).exists()
    )


def test_it_is_taken_down() -> None:
    """By its id, or with a scenario of it; it answers 410 with the reason, and again once restored."""
    left, right = shared(bundle(LEAST)), shared(bundle(MOST))
    name = kept(left, right)
    for subject in (name, right):
        call_command("takedown", subject, why="names of real people")
        gone = Client().get(f"/compare/{name}/")
        assert gone.status_code == 410 and "names of real people" in gone.content.decode()
        assert Client().get(f"/api/comparisons/{name}").status_code == 410
        assert Client().get(f"/compare/{name}/right/").status_code == 410
        call_command("takedown", subject, restore=True)
        assert Client().get(f"/compare/{name}/").status_code == 200
    assert AuditEntry.objects.filter(what="restore comparison", subject=name).exists()


async def test_a_side_is_played_over_the_websocket() -> None:
    """Anyone steps through a side, and forks it."""
    from asgiref.sync import sync_to_async

    left = await sync_to_async(shared)(bundle())
    name = await sync_to_async(kept)(left, left, rightScheduler="v1.37")
    async with connected(STRANGER) as socket:
        opened = await socket.success("scenario.open", {"source": {"side": f"{name}-right"}})
        assert (opened["release"], opened["scenario"]) == ("v1.37", None)
        forked = await socket.success("scenario.fork", {"source": {"side": f"{name}-right"}})
        again = await socket.success("scenario.open", {"source": {"draft": forked["draft"]}})
        assert again["release"] == "v1.37"


# --- the pages -----------------------------------------------------------------------------------


def hidden(page: str) -> dict[str, str]:
    """Return the hidden fields of a page's forms, but for the token."""
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page)
    return {name: value for name, value in found if name != "csrfmiddlewaretoken"}


def test_share_and_open_from_the_page(owner: Client, stranger: Client) -> None:
    """Share stores what the page shows; a side under another release opens at the step."""
    mine = draft(bundle(MOST))
    query = {"left": f"draft:{mine}", "right": f"draft:{mine}", "rightScheduler": "v1.37"}
    fields = hidden(owner.get("/compare/", query).content.decode())
    assert fields == {**query, "step": "1"}
    answer = owner.post("/compare/share", {**query, "open": "right", "step": "1"})
    address = answer.headers["Location"]
    assert re.fullmatch(r"/compare/[\w-]{11}/right/\?step=1", address)
    page = stranger.get(address)
    assert page.status_code == 200 and mine not in page.content.decode()
    whole = owner.post("/compare/share", query).headers["Location"]
    assert address.startswith(whole)
    assert stranger.post("/compare/share", query).status_code == 404
    assert hidden(stranger.get(whole).content.decode())["comparison"] == whole.split("/")[2]


@pytest.mark.parametrize("kind", ["html", "markdown"])
def test_a_report_leads_to_what_was_compared(kind: str, owner: Client, stranger: Client) -> None:
    """Its links open for whoever has it, under the release compared, at the first difference."""
    mine = draft(bundle(MOST))
    query = {"left": f"draft:{mine}", "right": f"draft:{mine}", "rightScheduler": "v1.37"}
    body = owner.post("/report", {**query, "format": kind}).content.decode()
    name = Comparison.objects.get().short
    assert mine not in body
    assert "kube-scheduler v1.11 under A, v1.37 under B" in body.replace("\\", "")
    links = set(re.findall(rf"http://testserver(/compare/{name}/[^\")]*)", body))
    assert {f"/compare/{name}/", f"/compare/{name}/right/", f"/compare/{name}/right/?step=1"} <= links
    for link in links:
        assert stranger.get(link).status_code == 200, link
    again = stranger.post("/report", {"comparison": name, "format": kind}).content.decode()
    assert f"/compare/{name}/right/?step=1" in again
    assert Comparison.objects.count() == 1


def test_a_long_comparison_is_waited_for(owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says that it compares, and shows what was computed meanwhile."""
    left, right = shared(bundle(LEAST)), shared(bundle(MOST))
    monkeypatch.setattr("playground.pool.offload.WORK", 0)
    query = {"left": f"scenario:{left}", "right": f"scenario:{right}"}
    page = owner.get("/compare/", query).content.decode()
    assert "data-computing" in page and "ready=1" in page and "First different" not in page
    page = owner.get("/compare/", {**query, "ready": "1"}).content.decode()
    assert "First different decision: cycle 1" in page


def test_what_is_too_large_is_run_and_waited_for(owner: Client, limits: Callable[..., None]) -> None:
    """Both sides become runs; the page shows how far they are, and then compares them."""
    name = shared(bundle(MOST))
    limits(INTERACTIVE_WORK=1)
    query = {"left": f"scenario:{name}", "right": f"scenario:{name}", "rightScheduler": "v1.37"}
    answer = owner.get("/compare/", query)
    assert answer.status_code == 422 and 'action="/compare/runs"' in answer.content.decode()
    address = owner.post("/compare/runs", query).headers["Location"]
    page = owner.get(address).content.decode()
    runs = re.findall(r'data-run="([\w-]+)"', page)
    assert len(runs) == 2 and "both runs are" in page
    for run in runs:
        run_simulation(run)
    page = owner.get(address).content.decode()
    assert "kube-scheduler v1.11 under A, v1.37 under B" in page
    assert "First different decision" in page or "Every decision is the same" in page


def test_the_runs_are_cancelled_by_who_started_them(
    owner: Client, stranger: Client, limits: Callable[..., None]
) -> None:
    """Nobody else's runs are."""
    name = shared(bundle())
    limits(INTERACTIVE_WORK=1)
    address = owner.post("/compare/runs", {"left": name, "right": name}).headers["Location"]
    runs = list(Run.objects.values_list("pk", flat=True))
    stranger.post("/compare/cancel", {"run": runs})
    assert set(Run.objects.values_list("state", flat=True)) == {"queued"}
    owner.post("/compare/cancel", {"run": runs})
    assert set(Run.objects.values_list("state", flat=True)) == {"cancelled"}
    assert owner.get(address).status_code == 409
