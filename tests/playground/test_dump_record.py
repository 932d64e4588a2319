"""What a dumped cluster recorded about its pending pods: over the socket, in Why?, and on a run's page."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from playground.runs import service
from playground.storage import bundles
from playground.tasks import run_simulation
from tests.core.explain.test_recorded_answer import insufficient, node, pod, system
from tests.playground.conftest import OWNER, connected

pytestmark = pytest.mark.django_db(transaction=True)

DUMP = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            node(),
            node("n2"),
            system(),
            pod("default", "same", "1900m", insufficient(1, 2).replace("1 Ins", "2 Ins")),
            pod("default", "web", "1500m", insufficient(2, 2)),
        ],
    }
)


async def test_the_recorded_conditions_are_compared_once_all_is_computed() -> None:
    """Pods that the simulation answers otherwise come first; Why? has the comparison of its pod."""
    async with connected(OWNER) as socket:
        opened = await socket.success("bundle.open", {"text": DUMP})
        source = {"draft": opened["draft"]}
        state = await socket.success("scenario.open", {"source": source})
        found = await socket.success("scenario.recorded", {"source": source})
        why = await socket.success("why.ask", {"source": source, "pod": "default/web", "step": "2"})
    assert state["recorded"] == 2
    assert [one["incomplete"] for one in state["warnings"] if "n2" in one["message"]] == [True]
    assert found["more"] == 0
    assert {one["pod"]: one["agrees"] for one in found["answers"]}["default/same"] is False
    web = next(one for one in found["answers"] if one["pod"] == "default/web")
    assert {**why["recorded"], "simulated": web["simulated"]} == web
    assert (web["message"], web["differences"]) == (insufficient(2, 2), [])


def test_a_runs_page_has_the_recorded_conditions_and_what_the_dump_lacks(client: Client) -> None:
    """The worker stores the comparison with the run."""
    started, _ = service.start(bundles.parse([("", DUMP)], "dump"), OWNER)
    assert run_simulation(started.pk) == "done"
    page = client.get(f"/runs/{started.pk}/").content.decode()
    assert "no pod of the dump runs on n2" in page
    assert "0/2 nodes are available: 2 Insufficient cpu." in page
    figures = client.get(f"/runs/{started.pk}/figures.json").json()
    assert {one["pod"] for one in figures["dump"]["answers"]} == {"default/same", "default/web"}
    assert any(one["agrees"] for one in figures["dump"]["answers"])


def test_the_api_warns_of_an_incomplete_dump(client: Client) -> None:
    """Its warning is marked, as those of fields that are not honored are."""
    body = json.dumps({"bundle": DUMP})
    answer = client.post("/api/scenarios", body, content_type="application/json").json()
    assert [one["message"] for one in answer["warnings"] if one.get("incomplete")] == [
        (
            "no pod of the dump runs on n2, where a real node runs at least its agents: use the output of "
            "`kubectl get nodes,pods -A -o yaml`"
        )
    ]
