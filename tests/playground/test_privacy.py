"""What a paste and a link tell: env values and Secrets are not stored, and a link can go without the rest."""

from __future__ import annotations

import pytest

from playground.models import Draft, Scenario
from playground.playback.playback import Playback
from playground.storage import bundles, naming, privacy, store
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


def test_a_draft_is_named_by_what_it_holds() -> None:
    """What the nodes' names share comes first."""
    nodes = "---".join(NODE.replace("n1", f"gke-pool-{at}") for at in range(3))
    assert naming.named(bundles.parse([("", nodes)])) == "gke, 3 nodes, 0 pods"
