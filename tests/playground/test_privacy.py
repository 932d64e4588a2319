"""What a paste and a link tell: env values and Secrets are not stored, and a link can go without the rest."""

from __future__ import annotations

import pytest
from django.test import Client

from playground.models import Draft, Scenario
from playground.playback.playback import Playback
from playground.storage import bundles, draft_names, privacy, store
from tests.playground.conftest import OWNER, connected
from tests.playground.test_triage import NODE

POD = """---
# kept: a comment
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"env": "hunter2"}'
    example.com/owner: alice
    scheduler.alpha.kubernetes.io/critical-pod: ""
spec:
  containers:
  - name: c
    image: registry.internal/web:1
    command: [serve, --password=hunter2]
    env:
    - name: PASSWORD
      value: hunter2
    resources: {requests: {cpu: "1"}}
"""
OTHERS = """---
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: shop}
data: {password: aHVudGVyMg==}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {url: postgres://internal}
"""
CLUSTER = NODE + POD + OTHERS
HIDDEN = ("hunter2", "aHVudGVyMg==")


def test_contents_are_counted() -> None:
    """Each kind of thing that a text tells has its number; annotations that schedulers read do not count."""
    found = privacy.contents(CLUSTER)
    assert (found.env, found.commands, found.annotations, found.data, found.secrets) == (1, 1, 2, 2, 1)
    assert privacy.contents("a: [") == privacy.Contents()


def test_a_text_is_edited_in_place() -> None:
    """What is left out goes with its lines; comments and everything else stay byte for byte."""
    made = privacy.without(CLUSTER, ["env", "annotations", "data"])
    assert not any(word in made for word in ("hunter2", "alice", "postgres"))
    assert "# kept: a comment" in made and "critical-pod" in made and "registry.internal/web:1" in made
    assert [one for one in made.splitlines() if one not in CLUSTER.splitlines()] == []


def decisions(text: str) -> list[tuple[str, str]]:
    """Return result and node of each cycle, nodes by their place."""
    playback = Playback(bundles.parse([("", text)]))
    while playback.advance(1):
        pass
    places = list(playback.tables.node_index)
    return [(one.result, str(places.index(one.node)) if one.node else "") for one in playback.trail.decisions]


NAMED = (
    "".join(NODE.replace(", uid: u-n1", "").replace("n1", name) + "---" for name in ("zebra", "ape", "lion"))
    + """
apiVersion: apps/v1
kind: Deployment
metadata: {name: front, namespace: shop}
spec:
  replicas: 7
  selector: {matchLabels: {app: front}}
  template:
    metadata: {labels: {app: front}}
    spec: {containers: [{name: c, image: "front:1", resources: {requests: {cpu: 300m}}}]}
---
apiVersion: podstep/v1
kind: SimulationSettings
scheduler: RELEASE
"""
)


@pytest.mark.parametrize("release", ["v1.11", "v1.37"])
def test_numbers_for_names_change_no_decision(release: str) -> None:
    """They have the names' order, so that ties are broken as before; no name is left."""
    text = NAMED.replace("RELEASE", release)
    made = privacy.without(text, ["names"])
    assert not any(name in made for name in ("zebra", "ape", "lion", "front", "shop"))
    assert len(decisions(text)) == 7 and decisions(made) == decisions(text)


@pytest.mark.django_db(transaction=True)
async def test_a_paste_stores_no_env_values() -> None:
    """Unless they are kept, they are gone before the first row is written; a link carries what was left."""
    async with connected(OWNER) as socket:
        opened = await socket.success("bundle.open", {"text": CLUSTER, "title": ""})
        assert opened["left"] == {"env": 1, "commands": 1, "secrets": 1}
        row = await Draft.objects.aget(pk=opened["draft"])
        stored = store.draft_text(row)
        assert not any(word in stored for word in HIDDEN) and "alice" in stored
        assert row.title == "1 node, 1 pod"
        found = await socket.success("draft.contents", {"draft": opened["draft"]})
        assert (found["env"], found["annotations"], found["data"], found["secrets"]) == (0, 1, 1, 0)
        assert await Scenario.objects.acount() == 0
        asked = {"draft": opened["draft"], "without": "annotations data names"}
        shared = await socket.success("draft.share", asked)
        text = store.scenario_text(await Scenario.objects.aget(short=shared["scenario"]))
        assert not any(word in text for word in ("alice", "postgres", "shop", "registry.internal"))
        kept = await socket.success("bundle.open", {"text": CLUSTER, "keep": "yes"})
        assert "hunter2" in store.draft_text(await Draft.objects.aget(pk=kept["draft"]))
        error = await socket.error("draft.share", {**asked, "without": "nodes"})
        assert error["field"] == "without"


@pytest.mark.django_db(transaction=True)
async def test_an_edit_stores_no_env_values_either() -> None:
    """A saved text goes without them unless they are kept; a draft that stores some is not stripped later."""
    async with connected(OWNER) as socket:
        opened = await socket.success("bundle.open", {"text": NODE})
        asked = {"draft": opened["draft"], "text": CLUSTER}
        saved = await socket.success("draft.save", asked)
        row = await Draft.objects.aget(pk=opened["draft"])
        stored = store.draft_text(row)
        assert saved["left"] == {"env": 1, "commands": 1, "secrets": 1}
        assert saved["text"] == stored and not any(word in stored for word in HIDDEN)
        kept = await socket.success("draft.save", {**asked, "keep": "yes"})
        assert set(kept) == {"revision"}
        later = await socket.success("draft.save", {**asked, "text": CLUSTER + "# later"})
        assert set(later) == {"revision"}
        await row.arefresh_from_db()
        assert "hunter2" in store.draft_text(row)
        broken = await socket.success("draft.save", {**asked, "text": "a: ["})
        assert set(broken) == {"revision"}


@pytest.mark.django_db
def test_drafts_of_the_api_store_no_env_values(client: Client) -> None:
    """Creating and changing a draft leave them out and count them, unless the caller keeps them."""
    made = client.post("/api/drafts", CLUSTER, content_type="application/yaml").json()
    assert made["left_out"] == {"env": 1, "commands": 1, "secrets": 1}
    owner = {"Authorization": f"Bearer {made['token']}"}
    place = f"/api/drafts/{made['id']}"

    def stored() -> str:
        return str(client.get(place, headers=owner).json()["bundle"])

    assert not any(word in stored() for word in HIDDEN)
    body = {"bundle": CLUSTER}
    changed = client.patch(place, body, content_type="application/json", headers=owner).json()
    assert changed["left_out"]["env"] == 1 and not any(word in stored() for word in HIDDEN)
    client.patch(f"{place}?keep=yes", body, content_type="application/json", headers=owner)
    assert "hunter2" in stored()
    shared = client.post(f"{place}/share?without=env,annotations,data", headers=owner).json()
    text = client.get(f"/api/scenarios/{shared['id']}/bundle").content.decode()
    assert not any(word in text for word in (*HIDDEN, "alice", "postgres"))


@pytest.mark.django_db
def test_a_scenario_of_the_api_is_what_was_sent(client: Client) -> None:
    """It is stored byte for byte, with a warning about env values; the caller may leave parts out."""
    text = NODE + POD
    made = client.post("/api/scenarios", text, content_type="application/yaml").json()
    assert any("1 env value" in one["message"] for one in made["warnings"])
    assert client.get(f"/api/scenarios/{made['id']}/bundle").content.decode() == text
    bare = client.post("/api/scenarios?without=env", text, content_type="application/yaml").json()
    assert not any("env value" in one["message"] for one in bare["warnings"])
    assert "hunter2" not in client.get(f"/api/scenarios/{bare['id']}/bundle").content.decode()
    refused = client.post("/api/scenarios?without=nodes", text, content_type="application/yaml")
    assert refused.status_code == 400 and refused.json()["errors"][0]["path"] == "without"


def test_a_draft_is_named_by_what_it_holds() -> None:
    """What the nodes' names share comes first."""
    nodes = "---".join(NODE.replace("n1", f"gke-pool-{at}") for at in range(3))
    assert draft_names.named(bundles.parse([("", nodes)])) == "gke, 3 nodes, 0 pods"
