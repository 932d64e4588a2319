"""Two sources side by side: where they part, by which rule, and who may compare what."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.utils.html import escape

from playground.celery import app
from playground.comparisons import differences, rows
from playground.models import Draft, Run, Scenario
from playground.playback import sources
from playground.storage import store
from playground.tasks import run_simulation
from playground.views import comparison as comparing_page
from scheduler_core.authoring.examples import find
from scheduler_core.schedulers.rule_history import history_of
from tests.playground.conftest import OWNER, STRANGER, connected

pytestmark = pytest.mark.django_db(transaction=True)

LEAST = {"name": "LeastRequestedPriority", "weight": 1}
MOST = {"name": "MostRequestedPriority", "weight": 1}


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test compared is computed again; runs wait until the test computes them."""
    monkeypatch.setattr(differences, "answers", type(differences.answers)(9, 10**6))
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)


def bundle(*priorities: dict[str, Any], nodes: tuple[str, ...] = ("a", "b"), full: str = "b") -> str:
    """Two nodes, one of them half full, two pods, and a Policy of these priorities."""
    items: list[dict[str, Any]] = [
        {
            "kind": "Node",
            "metadata": {"name": name},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
        }
        for name in nodes
    ]
    for name, cpu, on in (("there", "2", full), ("web-0", "250m", ""), ("web-1", "250m", "")):
        spec: dict[str, Any] = {
            "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]
        }
        items.append(
            {"kind": "Pod", "metadata": {"name": name}, "spec": {**spec, **({"nodeName": on} if on else {})}}
        )
    documents = [{"apiVersion": "v1", **item} for item in items]
    if priorities:
        fits = [{"name": "GeneralPredicates"}]
        policy = {"kind": "Policy", "predicates": fits, "priorities": list(priorities)}
        documents.append({"apiVersion": "v1", **policy})
    return "\n---\n".join(map(json.dumps, documents))


def shared(text: str) -> str:
    answer = Client().post("/api/scenarios", json.dumps({"bundle": text}), content_type="application/json")
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def compared(left: str, right: str, status: int = 200, token: str = "", **more: str) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = Client().get("/api/compare", {"left": left, "right": right, **more}, headers=headers)
    assert answer.status_code == status, answer.content
    return dict(answer.json())


def test_two_policies() -> None:
    """The first decision that differs, the priority it is owed to, placements and metrics."""
    left, right = shared(bundle(LEAST)), shared(bundle(MOST))
    found = compared(left, right)
    first = found["first"]
    assert first["history"] == list(history_of("LeastRequestedPriority"))
    assert (first["index"], first["pod"], first["rule"]) == (1, "default/web-0", "LeastRequestedPriority")
    assert (first["left"]["node"], first["right"]["node"]) == ("a", "b")
    assert found["placements"] == [{"pod": f"default/web-{n}", "left": "a", "right": "b"} for n in range(2)]
    assert (found["differing"], found["same"]) == (2, False)
    assert [found["metrics"][side]["nodesUsed"] for side in ("left", "right")] == [2, 1]
    assert found["alignment"] == [[1, 1, 2]]
    assert found["differences"] == [[n, n, f"default/web-{n - 1}", "a", "b"] for n in (1, 2)]
    assert found["left"] == {"source": {"scenario": left}, "title": "", "scheduler": None}


def test_the_same_twice() -> None:
    """Nothing differs; the answer is kept."""
    name = shared(bundle(LEAST))
    found = compared(name, f"scenario:{name}")
    assert (found["same"], found["first"], found["difference"], found["placements"]) == (True, None, None, [])
    assert len(differences.answers._kept) == 1
    assert compared(name, name) == found


def test_two_clusters() -> None:
    """Nodes are known by their names, not by their places: neither cluster has the other's."""
    left = shared(bundle(LEAST, nodes=("a", "b")))
    right = shared(bundle(LEAST, nodes=("b", "c", "d"), full="b"))
    found = compared(left, right)
    assert (found["first"]["left"]["node"], found["first"]["right"]["node"]) == ("a", "d")
    details = " ".join(found["first"]["details"])
    assert "a fits under A; under B: there is no such node" in details
    assert "c fits under B; under A: there is no such node" in details


def test_a_predicate_is_named() -> None:
    """Where one side rejects the node that the other takes."""
    text = bundle(LEAST)
    taint = '"metadata": {"name": "a"}, "spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}'
    tainted = text.replace('"metadata": {"name": "a"}', taint)
    open_policy = shared(tainted)
    closed = shared(
        tainted.replace(
            '"predicates": [{"name": "GeneralPredicates"}]',
            '"predicates": [{"name": "GeneralPredicates"}, {"name": "PodToleratesNodeTaints"}]',
        )
    )
    assert compared(open_policy, closed)["first"]["rule"] == "PodToleratesNodeTaints"


def test_another_scheduler() -> None:
    """v1.11 knows no profiles; what is none is refused by the name of its parameter."""
    profiles = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler"}],
    }
    name = shared(f"{bundle()}\n---\n{json.dumps(profiles)}")
    found = compared(name, name, rightScheduler="v1.11")
    assert (found["left"]["scheduler"], found["right"]["scheduler"]) == (None, "v1.11")
    modern = compared(name, name, leftScheduler="v1.11", rightScheduler="v1.37")
    assert modern["configuration"] == ["kube-scheduler v1.11 under A, v1.37 under B"]
    errors = compared(name, name, 400, leftScheduler="v0.1")["errors"]
    assert errors[0]["path"] == "leftScheduler" and "v1.11" in errors[0]["message"]


@pytest.mark.parametrize(
    ("query", "status", "path"),
    [
        ({}, 400, "left"),
        ({"left": "AAAAAAAAAAA"}, 404, ""),
        ({"left": "user:AAAAAAAAAAA", "right": "x"}, 400, "left"),
        ({"left": "../../etc", "right": "x"}, 404, ""),
    ],
)
def test_what_is_not_compared(query: dict[str, str], status: int, path: str) -> None:
    """A parameter that is missing or names nothing."""
    answer = Client().get("/api/compare", query)
    assert answer.status_code == status and answer.json()["errors"][0]["path"] == path


def test_a_draft_is_its_owners() -> None:
    """With the token it is compared; for everybody else it is not there."""
    answer = Client().post("/api/drafts", bundle(MOST), content_type="text/plain").json()
    name = shared(bundle(LEAST))
    assert compared(name, answer["id"], token=answer["token"])["differing"] == 2
    assert "draft" in compared(name, answer["id"], 404)["errors"][0]["message"]
    other = Client().post("/api/drafts", bundle(), content_type="text/plain").json()
    compared(name, answer["id"], 404, token=other["token"])


def test_what_is_too_large_is_compared_by_its_runs(limits: Callable[..., None]) -> None:
    """The worker's decisions are compared, once there are any; they tell the same."""
    names = [shared(bundle(policy)) for policy in (LEAST, MOST)]
    small = compared(names[0], names[1])
    runs = []
    for name in names:
        made = Client().post("/api/runs", {"scenario": name}, content_type="application/json").json()
        runs.append(made["id"])
    limits(INTERACTIVE_WORK=1)
    differences.answers._kept.clear()
    assert "Start a run" in compared(names[0], names[1], 422)["errors"][0]["message"]
    assert "not done" in compared(runs[0], runs[1], 409)["errors"][0]["message"]
    for run in runs:
        run_simulation(run)
    found = compared(runs[0], runs[1])
    first = {name: small["first"][name] for name in ("index", "pod", "left", "right", "rule", "history")}
    assert {name: found["first"][name] for name in first} == first
    for name in ("placements", "alignment", "differences", "workloads"):
        assert found[name] == small[name], name
    for side in ("left", "right"):
        assert found["metrics"][side]["cycles"] == small["metrics"][side]["cycles"] == 2
        assert found["metrics"][side]["placed"] == small["metrics"][side]["placed"] == 3
        assert found["metrics"][side]["nodesUsed"] == small["metrics"][side]["nodesUsed"]
    assert Run.objects.count() == 2


def test_the_page(owner: Client, stranger: Client) -> None:
    """It takes the query of the API, names are text, and a draft is shown to its owner alone."""
    left, right = shared(bundle(LEAST)), shared(bundle(MOST))
    page = Client().get("/compare/", {"left": left, "right": right}).content.decode()
    assert "First different decision: cycle 1" in page and "<code>LeastRequestedPriority</code>" in page
    assert f'href="/s/{left}/?step=1"' in page and "default/web-1" in page
    for sentence in history_of("LeastRequestedPriority"):
        assert sentence in page
    assert (
        "Every decision is the same" in Client().get(f"/compare/?left={left}&right={left}").content.decode()
    )
    assert Client().get("/compare/").status_code == 200
    wrong = Client().get("/compare/", {"left": '"><script>alert(1)</script>', "right": "x"})
    assert wrong.status_code == 404 and "<script>alert" not in wrong.content.decode()
    title = "<script>alert(2)</script>"
    draft = store.create_draft(OWNER, [("", bundle(MOST))], title)
    mine = owner.get("/compare/", {"left": left, "right": f"draft:{draft.pk}"})
    assert mine.status_code == 200 and "<script>alert" not in mine.content.decode()
    assert stranger.get("/compare/", {"left": left, "right": f"draft:{draft.pk}"}).status_code == 404
    broken = store.create_draft(OWNER, [("", "kind: Pod")])
    reported = owner.get("/compare/", {"left": left, "right": broken.pk})
    assert reported.status_code == 422 and 'role="alert"' in reported.content.decode()
    name = shared(bundle(LEAST))
    api = Client().get("/api/compare", {"left": name, "right": draft.pk})
    assert api.status_code == 404
    cookie = owner.get("/api/compare", {"left": name, "right": draft.pk})
    assert cookie.status_code == 404


def test_addresses_are_compared_too() -> None:
    """What is pasted from the address bar, whatever its host, step and tab; and no other kind of page."""
    left, right = shared(bundle(LEAST)), shared(bundle(MOST))
    found = compared(f"https://podstep.example/s/{left}/?step=3&tab=cache#comment-x", f"/e/{right}/")
    assert (found["left"]["source"], found["differing"]) == ({"scenario": left}, 2)
    compared(left, f"/reference/{right}/", 404)
    compared(left, f"https://podstep.example/x/../s/{right}/", 400)


def test_the_form_leads_to_one_address(owner: Client, stranger: Client) -> None:
    """A list counts where nothing was pasted, and an example is stored when it is chosen."""
    left, right = shared(bundle(LEAST)), shared(bundle(MOST))
    sent = {
        "left": f"http://testserver/s/{left}/?step=2",
        "leftFrom": "example:x",
        "right": "",
        "rightFrom": right,
    }
    answer = owner.get("/compare/", sent)
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/compare/?left=scenario%3A{left}&right={right}"
    assert owner.get(answer.headers["Location"]).status_code == 200
    example = owner.get("/compare/", {"leftFrom": "example:first-cycle", "right": "", "rightFrom": ""})
    name = example.headers["Location"].removeprefix("/compare/?left=scenario%3A")
    assert Scenario.objects.filter(short=name).exists()
    assert owner.get("/compare/", {"leftFrom": "example:nothing"}).status_code == 404
    half = owner.get("/compare/", {"left": f"scenario:{left}"})
    assert half.status_code == 200 and f'value="scenario:{left}"' in half.content.decode()


def test_three_comparisons_are_ready(owner: Client) -> None:
    """Each leads from the empty page to a verdict in which something differs."""
    page = owner.get("/compare/").content.decode()
    assert len(comparing_page.READY) == 3
    for one in comparing_page.READY:
        assert escape(one.address) in page
        shown = owner.get(one.address, follow=True)
        context = shown.context
        if context["computing"]:
            shown = owner.get(context["ready"])
        assert shown.status_code == 200, one.title
        assert shown.context["found"].first is not None, one.title
        assert "ready-made" not in shown.content.decode()


def test_one_chooses_among_ones_own(owner: Client, stranger: Client) -> None:
    """Drafts, shares and runs of the visitor, and of nobody else."""
    draft = store.create_draft(OWNER, [("", bundle(MOST))], "Mine alone")
    page = owner.get("/compare/", {"left": f"draft:{draft.pk}"}).content.decode()
    assert f'<option value="draft:{draft.pk}" selected>Mine alone</option>' in page
    assert '<optgroup label="Examples">' in page
    assert "Mine alone" not in stranger.get("/compare/").content.decode()


def test_cycles_are_paired_and_workloads_counted() -> None:
    """One side has a pod more, first in its queue: every other cycle has its partner."""
    text = bundle(LEAST)
    more = json.loads(text.split("\n---\n")[3])
    more["metadata"]["name"] = "early"
    more["spec"]["priority"] = 10
    left, right = shared(text), shared(f"{text}\n---\n{json.dumps(more)}")
    found = compared(left, right)
    assert found["alignment"] == [[0, 1, 1], [1, 2, 2]]
    assert found["differences"][0] == [0, 1, "default/early", "", "a"]
    assert found["moreDifferences"] is False
    [row] = found["workloads"]
    assert (row["workload"], row["left"]["placed"], row["right"]["placed"]) == (
        "pods without a controller",
        3,
        4,
    )
    assert row["differing"] >= 1 and found["workloadCount"] == 1


def test_only_so_much_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bounds cycles of one number are compared, and the rest is counted."""
    monkeypatch.setattr(rows, "RUNS_SHOWN", 0)
    monkeypatch.setattr(rows, "DIFFERENCES_SHOWN", 1)
    monkeypatch.setattr(rows, "WORKLOADS_SHOWN", 0)
    found = compared(shared(bundle(LEAST)), shared(bundle(MOST)))
    assert (found["alignment"], len(found["differences"]), found["moreDifferences"]) == (None, 1, True)
    assert (found["workloads"], found["workloadCount"]) == ([], 1)


async def test_over_the_websocket() -> None:
    """The page compares the visitor's own drafts; a stranger's are not found."""
    drafts = [
        await sync_to_async(lambda text: store.create_draft(OWNER, [("", text)]))(bundle(policy))
        for policy in (LEAST, MOST)
    ]
    sides = {name: {"draft": draft.pk} for name, draft in zip(("left", "right"), drafts)}
    async with connected(OWNER) as owner, connected(STRANGER) as stranger:
        found = await owner.success("compare.get", sides)
        assert found["first"]["rule"] == "LeastRequestedPriority" and found["differing"] == 2
        assert (await stranger.error("compare.get", sides))["code"] == "source.not-found"
        error = await owner.error("compare.get", {**sides, "rightScheduler": "v0.1"})
        assert (error["code"], error["field"]) == ("payload.invalid", "rightScheduler")


async def test_a_source_is_played_under_another_release() -> None:
    """Both sides of an upgrade can be stepped through, also of a draft, whose owner alone may."""
    shared_one = await sync_to_async(shared)(bundle(LEAST))
    draft = await sync_to_async(lambda: store.create_draft(OWNER, [("", bundle(MOST))]))()
    async with connected(OWNER) as owner, connected(STRANGER) as stranger:
        for source in ({"scenario": shared_one}, {"draft": draft.pk}):
            releases = []
            for more in ({}, {"scheduler": "v1.11"}, {"scheduler": "v1.37"}):
                opened = await owner.success("scenario.open", {"source": {**source, **more}})
                releases.append(opened["release"])
                asked = {"source": {**source, **more}, "step": "1", "parts": ["predicates"]}
                parts = await owner.success("cycle.get", asked)
                assert ("NodeResourcesFit" in json.dumps(parts)) is (more.get("scheduler") == "v1.37")
            assert releases == ["v1.11", "v1.11", "v1.37"]
        under = {"source": {"draft": draft.pk, "scheduler": "v1.37"}}
        assert (await stranger.error("scenario.open", under))["code"] == "source.not-found"
        for wrong in ("v0.1", "", 3, None, ["v1.37"]):
            unknown: dict[str, Any] = {"scenario": shared_one, "scheduler": wrong}
            assert (await owner.error("scenario.open", {"source": unknown}))["code"] == "source.not-found"


async def test_beside_a_branch_that_lives_a_plain_scenario_is_played_alike() -> None:
    """Both sides are the same until the drain, also where they are stepped through."""
    shop = find("shop")
    assert shop is not None
    parent = await sync_to_async(shared)(shop.read())
    async with connected(OWNER) as owner, connected(STRANGER) as stranger:
        wish = {"verb": "drain", "targets": "general-1", "seconds": "60"}
        source = {"scenario": parent}
        branch = {"draft": (await owner.success("branch.try", {"source": source, **wish}))["draft"]}
        found = await owner.success("compare.get", {"left": source, "right": branch})
        assert (found["living"], found["configuration"]) == (["left"], [])
        assert found["first"]["index"] > 38
        reported = []
        for side in ({**source, "living": True}, branch):
            await owner.success("scenario.open", {"source": side})
            reported.append(
                await owner.success("cycle.get", {"source": side, "step": "38", "parts": ["predicates"]})
            )
        assert reported[0] == reported[1]
        hidden = {"source": {**branch, "living": True}}
        assert (await stranger.error("scenario.open", hidden))["code"] == "source.not-found"
        same = await owner.success("compare.get", {"left": source, "right": source})
        assert same["living"] == []


def test_a_run_under_another_release_is_its_scenario() -> None:
    """Its stored decisions are of the release that it ran under."""
    name = shared(bundle(LEAST))
    run = Client().post("/api/runs", {"scenario": name}, content_type="application/json").json()["id"]
    own = sources.find({"run": run}, OWNER)
    under = sources.find({"run": run, "scheduler": "v1.37"}, OWNER)
    assert isinstance(own.row, Run) and isinstance(under.row, Scenario)
    assert under.load().release == "v1.37" and own.load().release == "v1.11"
    assert under.key != own.key


def test_a_release_is_chosen_for_each_side(owner: Client) -> None:
    """The form has a list for each side, keeps what was chosen, and both sides are named with it."""
    name = shared(bundle())
    sent = {"left": name, "leftScheduler": "v1.11", "right": name, "rightScheduler": "v1.37"}
    answer = owner.post("/compare/", sent)
    assert answer.status_code == 302
    query = {key: values[0] for key, values in parse_qs(urlsplit(answer.headers["Location"]).query).items()}
    assert query == sent
    page = owner.get(answer.headers["Location"]).content.decode()
    assert "<option selected>v1.11</option>" in page and "<option selected>v1.37</option>" in page
    assert "kube-scheduler v1.11 under A, v1.37 under B" in page
    assert f'href="/s/{name}/?step=' not in page  # its own page plays its own release


def test_a_configuration_for_a_side(owner: Client, stranger: Client) -> None:
    """Its side becomes a branch of what was chosen, which is its maker's alone, with nothing else changed."""
    name = shared(f"# kept as it is\n{bundle(LEAST)}")
    policy = json.dumps({"kind": "Policy", "apiVersion": "v1", "priorities": [MOST]})
    answer = owner.post("/compare/", {"left": name, "rightFrom": name, "rightConfiguration": policy})
    assert answer.status_code == 302, answer.content
    draft = Draft.objects.get(owner=OWNER)
    assert answer.headers["Location"] == f"/compare/?left={name}&right=draft%3A{draft.pk}"
    assert draft.parent == f"scenario:{name}" and draft.title == "Untitled, another Policy"
    text = store.draft_text(draft)
    assert text.startswith("# kept as it is") and "LeastRequestedPriority" not in text
    assert [one.policy for one in (store.load_draft(draft),)] == [json.loads(policy)]
    page = owner.get(answer.headers["Location"]).content.decode()
    assert "<code>LeastRequestedPriority</code>" in page or "<code>MostRequestedPriority</code>" in page
    assert stranger.get(answer.headers["Location"]).status_code == 404


@pytest.mark.parametrize(
    ("text", "more", "status", "reported"),
    [
        ("kind: Policy\npriorities:\n- name: Nope\n  weight: 1\n", {}, 422, "line 3: priorities[0].name"),
        ("kind: Policy\npriorities: [\n", {}, 422, "line 3: not valid YAML"),
        ("apiVersion: v1\nkind: Service\nmetadata: {name: x}\n", {}, 422, "line 2: kind a Service"),
        ("#\n", {}, 422, "the input has no documents"),
        ("x" * 300_000, {}, 413, "A configuration may have 262,144 characters."),
        ("kind: Policy\napiVersion: v1\n", {"rightScheduler": "v1.37"}, 400, "v1.37 reads a Kube"),
        ("kind: Policy\napiVersion: v1\n", {"right": "AAAAAAAAAAA"}, 404, "There is no scenario"),
    ],
)
def test_a_configuration_that_cannot_be_used(
    owner: Client, text: str, more: dict[str, str], status: int, reported: str
) -> None:
    """What is wrong is reported with its line, the form keeps what was typed, and nothing is stored."""
    name = shared(bundle(LEAST))
    answer = owner.post("/compare/", {"left": name, "right": name, "rightConfiguration": text, **more})
    page = answer.content.decode()
    assert answer.status_code == status and f"Right, its configuration: {reported}" in page
    assert text[:20].split("\n", maxsplit=1)[0] in page and not Draft.objects.exists()


def test_branches_of_a_comparison_are_bounded(owner: Client, limits: Callable[..., None]) -> None:
    """As many as of any source; and a form of another site is refused."""
    limits(BRANCHES_PER_FAMILY=1)
    name = shared(bundle(LEAST))
    sent = {"left": name, "right": name, "rightConfiguration": "kind: Policy\napiVersion: v1\n"}
    assert owner.post("/compare/", sent).status_code == 302
    assert owner.post("/compare/", sent).status_code == 422
    assert Draft.objects.count() == 1
    assert Client(enforce_csrf_checks=True).post("/compare/", sent).status_code == 403
