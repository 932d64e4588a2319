"""Branches over the socket: a copy that knows its parent, the tree of them, and what each came to."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps

from playground.models import Draft
from scheduler_core import load
from tests.playground.conftest import BY_V1_11, OWNER, STRANGER, Socket, connected

pytestmark = pytest.mark.django_db(transaction=True)

CORDON = """apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {unschedulable: true}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
"""
NODES = "".join(
    f"""---
apiVersion: v1
kind: Node
metadata: {{name: n{n}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
"""
    for n in (1, 2)
)
BUNDLE = (
    NODES
    + """---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}
"""
    + BY_V1_11
)


async def opened(socket: Socket, text: str = BUNDLE, title: str = "mine") -> str:
    return str((await socket.success("bundle.open", {"text": text, "title": title}))["draft"])


async def branched(socket: Socket, draft: str, step: str = "1.2", **more: str) -> str:
    made = await socket.success("branch.create", {"source": {"draft": draft}, "step": step, **more})
    return str(made["draft"])


async def cordoned(socket: Socket, draft: str) -> None:
    """Cordon n1 after the second cycle of a draft."""
    wish = {"text": BUNDLE, "action": "patch", "step": "1.2", "target": "Node n1", "object": CORDON}
    answer = await socket.success("bundle.operate", wish)
    await socket.success("draft.save", {"draft": draft, "text": answer["text"]})


async def tree(socket: Socket, source: dict[str, str]) -> dict[str, Any]:
    return dict(await socket.success("branch.list", {"source": source}))


async def test_a_branch_knows_its_parent_and_its_step_and_is_listed_under_it() -> None:
    """Whichever of the family is open, the tree is the same: a branch, and a branch of that."""
    async with connected() as socket:
        root = await opened(socket)
        first = await branched(socket, root, "1.2")
        second = await branched(socket, first, "1.3", title="Another way")
        listed = await tree(socket, {"draft": root})
        assert listed == await tree(socket, {"draft": second})
    assert listed["root"] is None
    assert [(row["draft"], row["parent"], row["step"], row["title"]) for row in listed["branches"]] == [
        (root, "", "", "mine"),
        (first, f"draft:{root}", "1.2", "mine, from 1.2"),
        (second, f"draft:{first}", "1.3", "Another way"),
    ]


async def test_what_was_made_of_a_share_is_one_family() -> None:
    """A fork and a branch of a shared scenario stand beside each other under it; a stranger has none."""
    async with connected() as socket:
        shared = await socket.success("draft.share", {"draft": await opened(socket)})
        source = {"scenario": shared["scenario"]}
        fork = await socket.success("scenario.fork", {"source": source})
        made = await socket.success("branch.create", {"source": source, "step": "1.1"})
        listed = await tree(socket, source)
    assert listed["root"] == {
        "source": f"scenario:{shared['scenario']}",
        "title": "mine",
        "url": f"/s/{shared['scenario']}/",
    }
    assert [row["draft"] for row in listed["branches"]] == [fork["draft"], made["draft"]]
    async with connected(STRANGER) as socket:
        assert (await tree(socket, source))["branches"] == []
        for name in ("branch.compare", "draft.delete"):
            assert (await socket.error(name, {"draft": made["draft"]}))["code"] == "source.not-found"


async def test_a_branch_is_compared_with_its_parent() -> None:
    """What was changed is shown in words, with the first cycle that ends otherwise and who ends elsewhere."""
    async with connected() as socket:
        root = await opened(socket)
        made = await branched(socket, root)
        same = await socket.success("branch.compare", {"draft": made})
        assert (same["words"], same["first"], same["elsewhere"]) == ([], None, 0)
        standing = {"cycles": 4, "placed": 4, "pending": 0, "terminating": 0, "stopped": False}
        assert same["here"] == same["parent"] == standing
        await cordoned(socket, made)
        found = await socket.success("branch.compare", {"draft": made})
        listed = await tree(socket, {"draft": root})
    assert found["words"] == ["after 1.2: patch Node n1: spec.unschedulable true"]
    assert listed["branches"][1]["words"] == found["words"]
    assert found["elsewhere"] == 1
    first = found["first"]
    assert (first["index"], first["step"]) == (4, "2.2")
    pod = first["words"].split()[0]
    assert first["words"] == f"{pod} goes to n2; in the parent it goes to n1"


async def test_objects_and_operations_that_differ_are_reported_in_words() -> None:
    """Added, changed and taken out, of documents and of the history; a long list is cut."""
    from playground.edits.branches import WORDS_SHOWN, differences

    taint = "  - {id: t, step: 1, deleteOperation: {typeMeta: {kind: Node}, objectMeta: {name: n2}}}\n"
    history = (
        "---\napiVersion: simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1\nkind: Scenario\n"
        "metadata: {name: h}\nspec:\n  operations:\n"
    )
    before = load(BUNDLE + history + taint)
    after = load(BUNDLE.replace("replicas: 4", "replicas: 6") + NODES.replace("name: n", "name: extra"))
    assert differences(before, after) == [
        "Deployment web: spec.replicas 6",
        "Node extra1 added",
        "Node extra2 added",
        "taken out: delete Node n2",
    ]
    moved = load(BUNDLE + history + taint.replace("step: 1", "step: {major: 1, minor: 2}"))
    assert differences(before, moved) == ["delete Node n2: after 1.2, instead of at the end of step 1"]
    many = load(BUNDLE + "".join(NODES.replace("name: n", f"name: x{n}-") for n in range(10)))
    assert differences(load(BUNDLE), many)[WORDS_SHOWN:] == [f"and {20 - WORDS_SHOWN} more"]


async def test_deleting_a_parent_keeps_its_children() -> None:
    """They hang from what it hung from; a root that is deleted leaves them on top."""
    async with connected() as socket:
        root = await opened(socket)
        first = await branched(socket, root)
        second = await branched(socket, first)
        await socket.success("draft.delete", {"draft": first})
        assert (await socket.error("scenario.open", {"source": {"draft": first}}))[
            "code"
        ] == "source.not-found"
        [_, left] = (await tree(socket, {"draft": second}))["branches"]
        assert (left["draft"], left["parent"]) == (second, f"draft:{root}")
        await socket.success("draft.delete", {"draft": root})
        [left] = (await tree(socket, {"draft": second}))["branches"]
        assert (left["draft"], left["parent"]) == (second, "")
        alone = await socket.success("branch.compare", {"draft": second})
    assert (alone["parent"], alone["first"], alone["here"]["placed"]) == (None, None, 4)


async def test_a_family_is_bounded(limits: Any) -> None:
    """One draft more than the limit is refused with what to do; another family has room."""
    limits(BRANCHES_PER_FAMILY=2)
    async with connected() as socket:
        root = await opened(socket)
        for _ in range(2):
            await branched(socket, root)
        error = await socket.error("branch.create", {"source": {"draft": root}})
        assert error["code"] == "branch.full"
        assert error["message"].startswith("There are 2 branches, which is the limit")
        await branched(socket, await opened(socket))


async def test_a_change_that_why_offers_is_reported_of_its_copy() -> None:
    """The copy is a branch: of what, at which step, and what is changed, before anybody compares."""
    async with connected() as socket:
        root = await opened(socket, BUNDLE.replace("cpu: 100m", "cpu: '5'"))
        state = await socket.success("scenario.open", {"source": {"draft": root}})
        ask = {"source": {"draft": root}, "pod": state["pods"]["keys"][0], "step": "1"}
        why = await socket.success("why.ask", ask)
        change = why["changes"][0]["id"]
        made = await socket.success("why.apply", {**ask, "change": change})
        [_, row] = (await tree(socket, {"draft": root}))["branches"]
    assert (row["draft"], row["parent"], row["step"]) == (made["draft"], f"draft:{root}", "1")
    assert row["words"] == [" ".join(text.split()) for text in made["words"]]


def test_drafts_of_before_get_what_they_were_forked_from_as_parent() -> None:
    """The migration gives them the family that a fork made today has."""
    import importlib

    from django.db import connection

    Draft.objects.create(owner=OWNER, files=b"", based_on="scenario:abc")
    Draft.objects.create(owner=OWNER, files=b"")
    migration = importlib.import_module("playground.migrations.0004_draft_branches")
    with connection.schema_editor() as editor:
        migration.know_parents(apps, editor)
    rows = Draft.objects.order_by("created").values_list("parent", "family")
    assert list(rows) == [("scenario:abc", "scenario:abc"), ("", "")]
