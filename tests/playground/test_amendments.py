"""``bundle.amend``: an object is otherwise from the start."""

from __future__ import annotations

import pytest

from scheduler_core import load
from scheduler_core.kubernetes.model import Node
from tests.playground.conftest import Socket, connected
from tests.playground.test_verb_calls import BUNDLE, NODE_A, cordoned

pytestmark = pytest.mark.django_db(transaction=True)


async def amend(socket: Socket, **payload: str) -> dict[str, object]:
    return dict(await socket.success("bundle.amend", {"text": BUNDLE, **payload}))


def nodes(text: str) -> list[Node]:
    """Return the nodes that a text begins with."""
    return [item for item in load(text).objects if isinstance(item, Node)]


async def test_what_differs_is_changed_in_the_manifest() -> None:
    """The rest of the text, its comments too, is as it was, and there is no Scenario document."""
    async with connected() as socket:
        answer = await amend(socket, target="Node a", object=cordoned(), base=NODE_A)
    assert answer["words"] == "patch Node a: spec.unschedulable true, from the start"
    text = str(answer["text"])
    assert text.endswith(BUNDLE[BUNDLE.index("---\napiVersion: v1\nkind: Node\nmetadata: {name: b}") :])
    assert "kind: Scenario" not in text
    assert {node.meta.name for node in nodes(text) if node.unschedulable} == {"a"}


async def test_without_its_manifest_an_object_is_not_there() -> None:
    """A deleted node is no longer in the cluster; all else stays."""
    async with connected() as socket:
        answer = await amend(socket, target="Node a")
    assert answer["words"] == "delete Node a, from the start"
    assert [node.meta.name for node in nodes(str(answer["text"]))] == ["b"]


async def test_what_cannot_be_amended_says_why() -> None:
    """No manifest, another object's name, nothing changed, what could not be loaded then, nothing at all."""
    unusable = NODE_A.replace("cpu: '4'", "cpu: four")
    async with connected() as socket:
        for payload, code, reported in (
            ({"target": "Pod default/web-x"}, "object.not-found", "has no manifest at the start"),
            ({"target": "Node a", "object": NODE_A, "base": NODE_A}, "object.invalid", "No change"),
            (
                {"target": "Node a", "object": NODE_A.replace("name: a", "name: z"), "base": NODE_A},
                "object.invalid",
                "must remain Node a",
            ),
            ({"target": "Node a", "object": unusable, "base": NODE_A}, "object.invalid", "four"),
            ({"target": "Node a", "object": "", "base": NODE_A}, "object.invalid", ""),
        ):
            error = await socket.error("bundle.amend", {"text": BUNDLE, **payload})
            assert error["code"] == code, payload
            assert reported in str(error)
