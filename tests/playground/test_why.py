"""Why?, asked over the socket and the API, and the copy that a change is applied in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from asgiref.sync import sync_to_async
from django.test import Client

from playground.celery import app
from playground.live import slices
from playground.models import Draft
from playground.panels import why as panel
from playground.storage.store import draft_text
from playground.storage.texts import spliced
from playground.tasks import run_simulation
from scheduler_core import Simulation, load
from scheduler_core.explain import explain
from tests.core.explain.test_reports import REPORTS
from tests.playground.conftest import OWNER, STRANGER, Socket, connected

pytestmark = pytest.mark.django_db(transaction=True)

# Two nodes of v1.11; the first is full, the second tainted.
BUNDLE = """# a comment at the top
apiVersion: v1
kind: Node
metadata: {name: full}
status: {allocatable: {cpu: "1", memory: 1Gi, pods: "10"}, nodeInfo: {kubeletVersion: v1.11.10}}
--- # the second node
apiVersion: v1
kind: Node
metadata: {name: gpu}
spec:
  taints: [{key: gpu, effect: NoSchedule}]  # on purpose
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: small}
spec: {containers: [{name: c, resources: {requests: {cpu: 800m}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: big}
spec:
  containers:
  - name: c  # the only one
    resources: {requests: {cpu: 500m}}
"""


@pytest.fixture(autouse=True)
def nothing_known() -> None:
    """No answer of another test is kept."""
    panel.answers = panel.WhyAnswers()


async def draft(socket: Socket, text: str = BUNDLE) -> dict[str, str]:
    opened = await socket.success("bundle.open", {"text": text, "title": "mine"})
    return {"draft": opened["draft"]}


async def test_a_pending_pod_is_explained_over_all_nodes() -> None:
    """State, sentence, nodes by reason, and changes with their YAML."""
    async with connected() as socket:
        source = await draft(socket)
        why = await socket.success("why.ask", {"source": source, "pod": "default/big", "step": "2"})
    assert (why["state"], why["index"], why["step"], why["before"]) == ("pending", 2, "1.2", True)
    assert "0/2 nodes are available" in why["summary"]
    reasons = {group["nodes"][0]: group["failures"][0]["reasons"] for group in why["groups"]}
    assert reasons == {
        "full": ["Insufficient cpu"],
        "gpu": ["node(s) had taints that the pod didn't tolerate"],
    }
    first = why["changes"][0]
    assert first["words"] == ["tolerate the taint gpu:NoSchedule"]
    assert (first["node"], first["chosen"], first["fits"]) == ("gpu", "gpu", ["gpu"])
    (patch,) = yaml.safe_load_all(first["yaml"])
    assert patch == {"spec": {"tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]}}
    assert first["yaml"].startswith("---\n# strategic merge patch for Pod default/big\n")
    assert why["applicable"] is True


async def test_one_node_is_reported_with_numbers_at_any_step() -> None:
    """Before the first cycle the node is still free; after it what is missing is counted."""
    async with connected() as socket:
        source = await draft(socket)
        ask = {"source": source, "pod": "default/big", "node": "full"}
        early = await socket.success("why.ask", {**ask, "step": "0"})
        late = await socket.success("why.ask", {**ask, "step": "1.2"})
    assert early["nodes"][0]["fits"] is True and early["changes"] == []
    (failure,) = late["nodes"][0]["failures"]
    assert failure["numbers"] == [
        {
            "resource": "cpu",
            "requested": "500m",
            "free": "200m",
            "shortBy": "300m",
            "allocatable": "1",
            "used": "800m",
        }
    ]


async def test_a_cluster_of_today_is_reported_with_numbers_and_changes() -> None:
    """Under kube-scheduler v1.37 a node has numbers too, and a change that it confirms can be applied."""
    modern = BUNDLE.replace("v1.11.10", "v1.33.2")
    async with connected() as socket:
        source = await draft(socket, modern)
        ask = {"source": source, "pod": "default/big", "step": "2"}
        whole = await socket.success("why.ask", ask)
        one = await socket.success("why.ask", {**ask, "node": "full"})
        change = whole["changes"][0]
        made = await socket.success("why.apply", {**ask, "change": change["id"]})
    assert change["words"] == ["tolerate the taint gpu:NoSchedule"]
    assert (change["node"], change["chosen"]) == ("gpu", "gpu")
    assert made["node"] == "gpu"
    (failure,) = one["nodes"][0]["failures"]
    assert failure["predicate"] == "NodeResourcesFit"
    (numbers,) = failure["numbers"]
    assert (numbers["free"], numbers["shortBy"]) == ("200m", "300m")
    assert ["lower the pod's cpu request from 500m to 200m"] in [c["words"] for c in one["changes"]]


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({"pod": "default/bgi", "step": "2"}, "pod.not-found"),
        ({"pod": "default/big", "node": "ful", "step": "2"}, "node.not-found"),
        ({"pod": "default/big", "step": "9"}, "step.out-of-range"),
        ({"pod": "default/big", "step": "soon"}, "payload.invalid"),
        ({"pod": "default/big"}, "payload.invalid"),
    ],
)
async def test_what_is_not_there_is_refused_by_name(payload: dict[str, Any], code: str) -> None:
    """Each error has a code of its own, and a misspelt name is reported with the nearest one."""
    async with connected() as socket:
        source = await draft(socket)
        error = await socket.error("why.ask", {"source": source, **payload})
    assert error["code"] == code
    if code == "pod.not-found":
        assert error["message"] == "There is no pod 'default/bgi': did you mean 'default/big'?"


async def test_asking_is_bounded_in_time(
    limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What takes longer than the limit is refused, with a way on."""
    limits(WHY_SECONDS=-1)
    monkeypatch.setattr(slices, "SLICE_SECONDS", 0.0)  # however quick the machine, one slice is not enough
    async with connected() as socket:
        source = await draft(socket)
        error = await socket.error("why.ask", {"source": source, "pod": "default/big", "step": "0"})
    assert error["code"] == "why.too-large"


async def test_the_page_and_the_command_line_have_one_answer() -> None:
    """What preemption evaluated and what reading warned of are those of the core's record."""
    text = (REPORTS / "preemption-budget.yaml").read_text(encoding="utf-8")
    text += "---\n{apiVersion: podstep/v1, kind: SimulationSettings, metadata: {name: s}, scheduler: v1.37}\n"
    async with connected() as socket:
        source = await draft(socket, text)
        shown = await socket.success("why.ask", {"source": source, "pod": "default/urgent", "step": "2"})
    reported = explain(load(text), "default/urgent", step=2).as_dict()
    assert (shown["summary"], shown["sections"]) == (reported["summary"], reported["sections"])
    (section,) = shown["sections"]
    assert section["title"] == "Preemption in cycle 1"
    assert section["sentences"][-1] == "b is chosen: fewest PDB violations (a 1, b 0)."


async def test_a_warning_of_reading_stands_beside_the_answer() -> None:
    """It has its line, and those about other pods are left out."""
    text = BUNDLE.replace("spec: {containers: [{name: c,", "spec: {hostUserz: true, containers: [{name: c,")
    async with connected() as socket:
        source = await draft(socket, text)
        asked = {"source": source, "step": "1"}
        warned = await socket.success("why.ask", {**asked, "pod": "default/small"})
        other = await socket.success("why.ask", {**asked, "pod": "default/big"})
    (warning,) = warned["warnings"]
    assert "hostUserz" in warning["message"]
    assert text.splitlines()[warning["line"] - 1].startswith("spec: {hostUserz")
    assert other["warnings"] == []


async def test_an_answer_is_bounded_in_size() -> None:
    """A pod that asks for hundreds of resources gets a bounded answer, and so does a long name."""
    asks = ", ".join(f"example.com/r{k}: '1'" for k in range(400))
    text = BUNDLE + (
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: greedy}\n"
        "spec: {containers: [{name: c, image: c, "
        f"resources: {{requests: {{{asks}}}, limits: {{{asks}}}}}}}]}}\n"
    )
    async with connected() as socket:
        source = await draft(socket, text)
        answer = await socket.success("why.ask", {"source": source, "pod": "default/greedy", "step": "1"})
        assert answer["changes"]
        assert len(json.dumps(answer)) < 250_000
        error = await socket.error("why.ask", {"source": source, "pod": "x" * 6000, "step": "1"})
    assert len(error["message"]) < 600


async def test_a_strangers_draft_is_not_explained() -> None:
    """A draft answers its owner only."""
    async with connected(OWNER) as mine, connected(STRANGER) as other:
        source = await draft(mine)
        for name, more in (("why.ask", {}), ("why.apply", {"change": "x"})):
            asked = {"source": source, "pod": "default/big", "step": "2", **more}
            assert (await other.error(name, asked))["code"] == "source.not-found"


@pytest.mark.parametrize("number", [0, 1, 2])
async def test_a_change_is_applied_in_a_copy(number: int) -> None:
    """The draft places the pod at the cycle that is reported; comments and all other documents stay."""
    async with connected() as socket:
        source = await draft(socket)
        ask = {"source": source, "pod": "default/big", "step": "2"}
        change = (await socket.success("why.ask", ask))["changes"][number]
        made = await socket.success("why.apply", {**ask, "change": change["id"]})
        opened = await socket.success(
            "scenario.open", {"source": {"draft": made["draft"]}, "step": str(made["index"])}
        )
        assert opened["index"] == made["index"]
        assert (await socket.success("why.ask", ask))["state"] == "pending"  # the original is as it was
    assert made["node"] is not None and made["url"] == f"/p/{made['draft']}/"
    row = await sync_to_async(Draft.objects.get)(pk=made["draft"])
    assert row.owner == OWNER and row.title == f"mine: {change['words'][0]}"
    text = draft_text(row)
    assert "# a comment at the top" in text and "--- # the second node" in text
    cycles = list(Simulation(load(text)))
    assert (cycles[made["index"] - 1].pod, cycles[made["index"] - 1].node) == (made["pod"], made["node"])


async def test_of_a_shared_scenario_a_copy_is_the_visitors() -> None:
    """Whoever has the link can apply a change; the draft says what it is based on."""
    async with connected(OWNER) as mine:
        shared = await mine.success("draft.share", await draft(mine))
    async with connected(STRANGER) as other:
        ask = {"source": {"scenario": shared["scenario"]}, "pod": "default/big", "step": "2"}
        change = (await other.success("why.ask", ask))["changes"][0]
        made = await other.success("why.apply", {**ask, "change": change["id"]})
    row = await sync_to_async(Draft.objects.get)(pk=made["draft"])
    assert (row.owner, row.based_on) == (STRANGER, f"scenario:{shared['scenario']}")


async def test_a_change_that_was_not_offered_is_refused() -> None:
    """An id of nothing makes no draft."""
    async with connected() as socket:
        source = await draft(socket)
        ask = {"source": source, "pod": "default/big", "step": "2", "change": "0123456789ab"}
        assert (await socket.error("why.apply", ask))["code"] == "change.not-found"
    assert await sync_to_async(Draft.objects.count)() == 1


DEPLOYMENT = """---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}
"""


async def test_a_deployments_template_is_changed_in_the_copy() -> None:
    """The answer says whom the template changes, and the copy shows the pod under its new name."""
    bundle = BUNDLE.split("---", 1)[1] + DEPLOYMENT  # without the node that is not tainted
    async with connected() as socket:
        source = await draft(socket, bundle)
        opened = await socket.success("scenario.open", {"source": source})
        key = next(key for key in opened["pods"]["keys"] if "/web-" in key)
        ask = {"source": source, "pod": key, "step": "5"}
        why = await socket.success("why.ask", ask)
        change = next(c for c in why["changes"] if c["words"] == ["tolerate the taint gpu:NoSchedule"])
        made = await socket.success("why.apply", {**ask, "change": change["id"]})
    assert change["notes"] == [
        "This changes the pod template of Deployment default/web: all its 3 pods are recreated with it."
    ]
    assert change["yaml"].startswith("---\n# strategic merge patch for Deployment default/web\n")
    assert made["pod"] != key and made["pod"].startswith("default/web-") and made["node"] == "gpu"
    row = await sync_to_async(Draft.objects.get)(pk=made["draft"])
    assert "tolerations" in draft_text(row).split("kind: Deployment")[1]


async def test_a_run_is_explained_like_any_other_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a worker computed is asked about by its cycles, and a copy is the visitor's."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)
    async with connected() as socket:
        source = {"run": (await socket.success("run.start", {"source": await draft(socket)}))["run"]}
        await sync_to_async(run_simulation)(source["run"])
        ask = {"source": source, "pod": "default/big", "step": "2"}
        change = (await socket.success("why.ask", ask))["changes"][0]
        made = await socket.success("why.apply", {**ask, "change": change["id"]})
    assert made["node"] == change["chosen"] == "gpu"


def test_the_api_answers_the_same(client: Client) -> None:
    """GET …/cycles/{step}/why gives the socket's answer, and its errors as the API's."""
    made = client.post("/api/scenarios", BUNDLE, content_type="text/plain").json()
    address = f"/api/scenarios/{made['id']}/cycles/2/why"
    why = client.get(address, {"pod": "default/big"})
    assert why.status_code == 200
    assert why.json()["changes"][0]["words"] == ["tolerate the taint gpu:NoSchedule"]
    one = client.get(address, {"pod": "default/big", "node": "full"}).json()
    assert one["asked"] == "full" and one["nodes"][0]["node"] == "full"
    assert client.get(address).status_code == 400
    assert client.get(address, {"pod": "default/nobody"}).status_code == 404
    assert client.get(address, {"pod": "default/big", "node": "none"}).status_code == 404
    assert client.get(f"/api/scenarios/{made['id']}/cycles/77/why?pod=default/big").status_code == 404
    assert client.get(f"/api/scenarios/{made['id']}/cycles/soon/why?pod=default/big").status_code == 400


def test_only_the_changed_document_is_written_anew() -> None:
    """A text is kept letter by letter but for the lines that differ."""
    before = load(BUNDLE).documents
    after = [*before[:1], {**before[1], "spec": {"taints": []}}, *before[2:]]
    text = spliced(BUNDLE, before, after)
    assert text is not None
    chunks, old = text.split("---"), BUNDLE.split("---")
    assert [chunks[0], *chunks[2:]] == [old[0], *old[2:]]
    assert chunks[1].startswith(" # the second node\napiVersion: v1\n") and "on purpose" in chunks[1]
    assert load(text).documents == tuple(after)
    items = "".join(f"- {{apiVersion: v1, kind: Node, metadata: {{name: {name}}}}}\n" for name in "ab")
    listed = f"apiVersion: v1\nkind: List\nitems:\n{items}"
    first, second = load(listed).documents
    changed = {**second, "spec": {"unschedulable": True}}
    text = spliced(f"# kept\n{listed}", (first, second), (first, changed))
    assert text is not None and text.startswith("# kept\n")
    assert load(text).documents == (first, changed)
