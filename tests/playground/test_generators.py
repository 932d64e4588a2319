"""Forms, generated clusters and bulk changes over the socket and over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from django.test import Client

from scheduler_core import load
from scheduler_core.kubernetes.model import Node
from tests.playground.conftest import OWNER, Socket, connected

pytestmark = pytest.mark.django_db(transaction=True)

NODES = "---\n".join(
    f"""# node {name}
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{disk: {disk}}}}}
status: {{allocatable: {{cpu: "2", memory: 8Gi, pods: "10"}}}}
"""
    for name, disk in (("a-1", "ssd"), ("a-2", "ssd"), ("b-1", "hdd"))
)
POD = """---
apiVersion: v1
kind: Pod
metadata: {name: alone}
spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}
"""
CLASS = """---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 100
"""


async def drafted(socket: Socket, text: str, kind: str, step: str = "", **fields: str) -> dict[str, Any]:
    opened = await socket.success("bundle.open", {"text": text})
    payload = {"source": {"draft": opened["draft"]}, "kind": kind, "fields": fields}
    return dict(await socket.success("form.draft", {**payload, **({"step": step} if step else {})}))


def wrong(answer: dict[str, Any]) -> dict[str, str]:
    return {error["field"]: error["message"] for error in answer["errors"]}


async def test_a_sample_recipe_makes_a_cluster() -> None:
    """The recipes that the dialog begins with come over the socket, and each is one that it takes."""
    async with connected(OWNER) as socket:
        samples = (await socket.success("cluster.recipes", {}))["recipes"]
        small = next(one["recipe"] for one in samples if one["name"] == "small")
        made = await socket.success("cluster.generate", {"recipe": small})
    assert len(samples) > 1 and not made["errors"]


async def test_the_forms_say_what_their_fields_are() -> None:
    """Every suggestion that a field names is in what a draft answers."""
    async with connected(OWNER) as socket:
        reported = (await socket.success("forms.list", {}))["forms"]
        answer = await drafted(socket, NODES, "Deployment", name="web")
    assert {form["kind"] for form in reported} >= {
        "NodePool", "Deployment", "StatefulSet", "DaemonSet", "Job", "Pod", "Service", "PriorityClass",
        "PodDisruptionBudget", "PersistentVolume", "PersistentVolumeClaim", "StorageClass",
    }  # fmt: skip
    suggested = {field["suggest"] for form in reported for field in form["fields"]} - {""}
    assert suggested <= set(answer["known"])


async def test_what_a_form_drafts_can_be_added() -> None:
    """The text grows by what the form said, and comments stay."""
    async with connected(OWNER) as socket:
        answer = await drafted(socket, NODES, "Deployment", name="web", apart="preferred-zone")
        assert (answer["errors"], answer["notes"], answer["count"]) == ([], [], 1)
        assert answer["words"] == "add Deployment default/web"
        added = await socket.success("bundle.add", {"text": NODES, "documents": answer["documents"]})
        assert added["text"].startswith("# node a-1\n")
        assert len(load(added["text"]).objects) == 3 + 3 + 2  # a ReplicaSet and the Deployment itself


async def test_a_name_that_is_taken_is_reported_at_once() -> None:
    """At the start and after a cycle, for one document and for a pool's."""
    async with connected(OWNER) as socket:
        answer = await drafted(socket, NODES + POD, "Pod", name="alone")
        assert wrong(answer) == {"name": "Pod default/alone exists already"}
        answer = await drafted(socket, NODES + POD, "NodePool", name="a", count="4")
        assert wrong(answer)["name"] == "Node a-1 exists already, and 1 more"
        answer = await drafted(socket, NODES + POD, "Pod", step="1.1", name="alone")
        assert wrong(answer) == {"name": "Pod default/alone exists already after 1.1"}
        assert answer["words"] == ""


async def test_what_there_is_can_be_chosen_and_what_is_not_is_reported() -> None:
    """Classes, labels, claims; an unknown class is an error, an unknown claim a note."""
    async with connected(OWNER) as socket:
        answer = await drafted(
            socket, NODES + CLASS, "Deployment", name="w", priorityClassName="urgent", claims="data"
        )
        assert answer["errors"] == []
        assert answer["notes"][0].startswith("There is no PersistentVolumeClaim data yet")
        assert answer["known"]["priorityClasses"][0] == ["urgent", 100]
        assert answer["known"]["labels"][0] == "disk=ssd"
        assert answer["known"]["nodes"] == ["a-1", "a-2", "b-1"]
        answer = await drafted(socket, NODES, "Deployment", name="w", priorityClassName="urgent")
        assert wrong(answer)["priorityClassName"].startswith("there is no PriorityClass 'urgent'")


async def test_what_operations_made_is_there_at_their_step_only() -> None:
    """A claim and a node that come after a cycle are known after it, and not at the start."""
    claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n"
    claim += "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: late}\nstatus: {allocatable: {cpu: 1, pods: 9}}\n"
    async with connected(OWNER) as socket:
        payload = {"text": NODES + POD, "documents": f"{claim}---\n{node}", "step": "1.1"}
        text = (await socket.success("bundle.add", payload))["text"]
        start = await drafted(socket, text, "Deployment", name="w", claims="data")
        assert "late" not in start["known"]["nodes"]
        assert start["notes"][0].startswith("There is no PersistentVolumeClaim data yet")
        later = await drafted(socket, text, "Deployment", step="2.0", name="w", claims="data")
        assert later["known"]["nodes"][-1] == "late"
        assert later["notes"] == []


async def test_a_form_that_there_is_not_is_refused() -> None:
    """The error says which there are."""
    async with connected(OWNER) as socket:
        opened = await socket.success("bundle.open", {"text": NODES})
        payload = {"source": {"draft": opened["draft"]}, "kind": "Castle", "fields": {}}
        error = await socket.error("form.draft", payload)
        assert (error["code"], error["field"]) == ("payload.invalid", "kind")
        assert "NodePool" in error["message"]


WRONG_ROW = "recipe.pools[0] must be an object."
RECIPE = {"pools": [{"name": "n", "count": "40"}], "workloads": [{"name": "web", "count": "3"}]}


async def test_a_generated_cluster_is_shown_in_part_and_made_whole() -> None:
    """The preview is the beginning; the draft holds all of it and opens."""
    async with connected(OWNER) as socket:
        part = await socket.success("cluster.generate", {"recipe": {**RECIPE, "pools": [{"count": "400"}]}})
        assert part["shown"] < part["documents"] == 406
        assert part["summary"]["nodes"] == 400
        whole = await socket.success("cluster.generate", {"recipe": RECIPE, "whole": "true"})
        assert len(list(yaml.safe_load_all(whole["bundle"]))) == whole["documents"] == 46
        made = await socket.success("cluster.create", {"recipe": RECIPE, "title": "Forty"})
        opened = await socket.success("scenario.open", {"source": {"draft": made["draft"]}})
        assert len(opened["nodes"]["names"]) == 40
        error = await socket.error("cluster.create", {"recipe": {"pools": [{"cpu": "x"}]}})
        assert (error["code"], error["field"]) == ("payload.invalid", "pools.0.cpu")
        numbers = await socket.success("cluster.generate", {"recipe": {"pools": [{"count": 7}]}})
        assert numbers["summary"]["nodes"] == 7
        error = await socket.error("cluster.generate", {"recipe": {"pools": [None]}})
        assert error == {"code": "payload.invalid", "field": "recipe.pools[0]", "message": WRONG_ROW}


async def test_names_that_meet_are_reported_before_a_draft_is_made() -> None:
    """Two workloads whose numbers lead to the same name cannot both be there."""
    rows = [{"name": "web", "count": "2"}, {"name": "web-1"}]
    async with connected(OWNER) as socket:
        answer = await socket.success(
            "cluster.generate", {"recipe": {"pools": [{}], "workloads": rows}, "whole": "true"}
        )
    assert "web-1" in answer["errors"][0]["message"]


def test_the_api_generates_what_the_page_does(owner: Client) -> None:
    """Numbers may be numbers; errors have the field as path; the bundle can be posted back."""
    fields = owner.get("/api/generate").json()
    assert fields["recipes"][0]["recipe"]["pools"]
    body = {"seed": 1, "pools": [{"name": "n", "count": 5}], "workloads": []}
    answer = owner.post("/api/generate", json.dumps(body), content_type="application/json")
    assert answer.status_code == 200
    assert answer.json()["summary"]["nodes"] == 5
    posted = owner.post(
        "/api/scenarios", {"bundle": answer.json()["bundle"]}, content_type="application/json"
    )
    assert posted.status_code == 201
    bad = owner.post("/api/generate", '{"pools": [{"count": -1}]}', content_type="application/json")
    assert (bad.status_code, bad.json()["errors"][0]["path"]) == (422, "pools.0.count")
    assert owner.post("/api/generate", "[]", content_type="application/json").status_code == 400


# --- many nodes at once


async def previewed(socket: Socket, text: str = NODES + POD, **wish: str) -> dict[str, Any]:
    opened = await socket.success("bundle.open", {"text": text})
    payload = {"source": {"draft": opened["draft"]}, "by": "selector", "which": "", "what": "cordon", **wish}
    return dict(await socket.success("nodes.preview", payload))


@pytest.mark.parametrize(
    ("by", "which", "names"),
    [
        ("selector", "", ["a-1", "a-2", "b-1"]),
        ("selector", "disk=ssd", ["a-1", "a-2"]),
        ("selector", "disk notin (ssd)", ["b-1"]),
        ("selector", "!disk", []),
        ("glob", "a-*", ["a-1", "a-2"]),
        ("glob", "?-1", ["a-1", "b-1"]),
        ("names", "b-1\na-2", ["a-2", "b-1"]),
    ],
)
async def test_nodes_are_chosen_as_people_name_them(by: str, which: str, names: list[str]) -> None:
    """By labels, by patterns of names, or one by one, in the order of the cluster."""
    async with connected(OWNER) as socket:
        answer = await previewed(socket, by=by, which=which)
    assert answer["names"] == names
    assert answer["errors"] == []


async def test_the_preview_shows_what_the_change_does() -> None:
    """Counts, the phrase, and the lines that come; nodes that are so already do not change."""
    async with connected(OWNER) as socket:
        wish = {"which": "disk=ssd", "what": "taint", "key": "gpu=yes:NoSchedule"}
        answer = await previewed(socket, **wish)
        assert (answer["nodes"], answer["chosen"], answer["changed"]) == (3, 2, 2)
        assert answer["words"] == "taint 2 nodes: gpu=yes:NoSchedule"
        lines = answer["difference"][0]["lines"]
        assert ["+", "  taints:"] in lines
        assert not [line for line in lines if line[0] == "-"]
        payload = {"text": NODES + POD, "by": "selector", "key": "gpu=yes:NoSchedule", **wish}
        made = await socket.success("bundle.bulk", payload)
        again = await previewed(socket, made["text"], **wish)
        assert (again["chosen"], again["changed"], again["words"]) == (2, 0, "")


@pytest.mark.parametrize(
    ("what", "key", "value", "check"),
    [
        ("taint", "gpu=yes:NoSchedule", "", lambda node: node.taints[0].key == "gpu"),
        ("label", "team", "web", lambda node: node.meta.labels["team"] == "web"),
        ("unlabel", "disk", "", lambda node: "disk" not in node.meta.labels),
        ("cordon", "", "", lambda node: node.unschedulable),
        ("allocatable", "cpu", "6", lambda node: node.allocatable["cpu"] == 6000),
    ],
)
async def test_a_bulk_change_rewrites_the_manifests_it_is_about(
    what: str, key: str, value: str, check: Any
) -> None:
    """Those of the other nodes and the comments stay as they are."""
    async with connected(OWNER) as socket:
        payload = {
            "text": NODES + POD,
            "by": "glob",
            "which": "a-*",
            "what": what,
            "key": key,
            "value": value,
        }
        made = await socket.success("bundle.bulk", payload)
    assert made["step"] is None
    assert not made["rewritten"]
    assert "# node b-1\n" in made["text"]
    nodes = {obj.meta.name: obj for obj in load(made["text"]).objects if isinstance(obj, Node)}
    assert [check(nodes[name]) for name in ("a-1", "a-2")] == [True, True]
    assert nodes["b-1"] == next(obj for obj in load(NODES).objects if obj.meta.name == "b-1")


async def test_nodes_are_deleted_together() -> None:
    """Only the others are left."""
    async with connected(OWNER) as socket:
        payload = {"text": NODES + POD, "by": "glob", "which": "a-*", "what": "delete"}
        made = await socket.success("bundle.bulk", payload)
    assert made["words"] == "delete 2 nodes"
    assert [obj.meta.name for obj in load(made["text"]).objects if isinstance(obj, Node)] == ["b-1"]


async def test_after_a_cycle_each_node_is_an_operation_of_its_own() -> None:
    """They land together after that cycle, and chosen is what is there then."""
    async with connected(OWNER) as socket:
        payload = {
            "text": NODES + POD, "by": "selector", "which": "disk=ssd", "what": "cordon", "step": "1.1",
        }  # fmt: skip
        made = await socket.success("bundle.bulk", payload)
        assert made["words"] == "cordon 2 nodes"
        operations = list(yaml.safe_load_all(made["text"]))[-1]["spec"]["operations"]
        assert [entry["patchOperation"]["objectMeta"]["name"] for entry in operations] == ["a-1", "a-2"]
        assert len({entry["id"] for entry in operations}) == 2
        changes = load(made["text"]).operations
        assert [(change.key, change.step, change.after) for change in changes] == [
            ("a-1", 1, 1),
            ("a-2", 1, 1),
        ]
        later = await previewed(socket, made["text"], what="uncordon", step="2.0")
        assert later["changed"] == 2
        more = await socket.success(
            "bundle.bulk", {**payload, "text": made["text"], "what": "delete", "which": "disk=hdd"}
        )
        assert len(list(yaml.safe_load_all(more["text"]))[-1]["spec"]["operations"]) == 3


async def test_nodes_that_an_event_deleted_are_left_out_of_a_later_bulk_change() -> None:
    """The others of a list of names change; the preview names those that are gone by then."""
    async with connected(OWNER) as socket:
        wish = {"by": "names", "which": "a-1", "what": "delete", "step": "1.1"}
        text = (await socket.success("bundle.bulk", {"text": NODES + POD, **wish}))["text"]
        later = {"by": "names", "which": "a-1\nb-1", "what": "cordon", "step": "2.1"}
        answer = await previewed(socket, text, **later)
        assert (answer["names"], answer["absent"], answer["errors"]) == (["b-1"], ["a-1"], [])
        made = await socket.success("bundle.bulk", {"text": text, **later})
        assert [change.key for change in load(made["text"]).operations] == ["a-1", "b-1"]
        error = await socket.error("bundle.bulk", {"text": text, **later, "which": "a-1"})
    assert (error["field"], error["message"]) == ("which", "There is no node a-1 at this step.")


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"which": "disk in ssd"}, "which"),
        ({"by": "names", "which": "c-9"}, "which"),
        ({"by": "colour"}, "by"),
        ({"what": "paint"}, "what"),
        ({"what": "taint", "key": "gpu"}, "key"),
        ({"what": "taint", "key": "gpu", "which": "disk=none"}, "key"),
        ({"what": "allocatable", "key": "cpu", "value": "lots"}, "value"),
        ({"what": "label"}, "key"),
    ],
)
async def test_what_cannot_be_done_is_reported_at_its_field(wish: dict[str, str], field: str) -> None:
    """The preview says it while one types, and nothing is changed."""
    async with connected(OWNER) as socket:
        answer = await previewed(socket, **wish)
        assert [error["field"] for error in answer["errors"]] == [field]
        assert answer["words"] == ""
        payload = {"text": NODES + POD, "by": "selector", "which": "", "what": "cordon", **wish}
        error = await socket.error("bundle.bulk", payload)
        assert (error["code"], error["field"]) == ("payload.invalid", field)


async def test_a_change_of_nothing_is_refused() -> None:
    """Nobody is reported that something happened when nothing did."""
    async with connected(OWNER) as socket:
        payload = {"text": NODES, "by": "selector", "which": "disk=none", "what": "cordon"}
        error = await socket.error("bundle.bulk", payload)
    assert "Nothing would change" in error["message"]
