"""What was stored, linked or begun while another release answered silent texts keeps that release."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client

from playground.live.modules import bundle
from playground.live.modules.scenarios import _fork
from playground.models import Draft, Scenario
from playground.playback import sources
from playground.runs import service
from playground.storage import bundles, store
from scheduler_core.run import simulate
from scheduler_core.settings import release
from tests.playground.conftest import OWNER

pytestmark = pytest.mark.django_db(transaction=True)

SILENT = """# Two nodes and a pod.
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}
"""
NAMED = "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.11\n"
POLICY = {"predicates": [{"name": "PodFitsResources"}]}
Switch = Callable[[str], None]


@pytest.fixture
def default(monkeypatch: pytest.MonkeyPatch) -> Switch:
    """Return a function that changes the release of a bundle that says nothing, as an upgrade does."""

    def switch(name: str) -> None:
        monkeypatch.setattr(release, "DEFAULT_RELEASE", name)
        bundles.last_read.clear()

    switch("v1.11")
    return switch


def shared(text: str = SILENT) -> Scenario:
    return store.share(bundles.parse([("", text)]), OWNER, text=text).scenario


def source(row: Scenario) -> sources.Source:
    return sources.find({"scenario": row.short}, OWNER)


def of_draft(draft: Draft) -> sources.Source:
    return sources.find({"draft": draft.pk}, OWNER)


def test_a_link_keeps_its_release_and_its_text(default: Switch, owner: Client) -> None:
    """The text is byte for byte what was sent, though the scenario names the release."""
    row = shared()
    default("v1.37")
    assert bundles.parse([("", SILENT)]).release == "v1.37"
    assert source(row).load().release == "v1.11"
    assert owner.get(f"/api/scenarios/{row.short}/bundle").content.decode() == SILENT
    assert len(owner.get(f"/api/scenarios/{row.short}").json()["documents"]) == 3
    [cycle] = owner.get(f"/api/scenarios/{row.short}/cycles").json()["cycles"]
    assert "release" not in cycle  # only v1.37's have one
    again = shared(SILENT + "\n")
    assert source(again).load().release == "v1.37"


@pytest.mark.parametrize("stored", ["v1.11", "v1.37"])
def test_whoever_copies_it_takes_the_release_along(default: Switch, stored: str) -> None:
    """A fork names it, also after its text is replaced by one that says nothing, and so does its own fork."""
    default(stored)
    row = shared()
    default("v1.37" if stored == "v1.11" else "v1.11")
    draft = _fork(source(row), OWNER)
    assert of_draft(draft).text() == SILENT + NAMED.replace("v1.11", stored)
    store.save_draft(draft, SILENT)
    assert of_draft(draft).load().release == stored
    assert of_draft(_fork(of_draft(draft), OWNER)).load().release == stored
    store.save_draft(draft, SILENT + NAMED.replace("v1.11", "v1.22"))
    assert of_draft(draft).load().release == "v1.22"


def test_a_draft_keeps_the_release_that_answered_it(default: Switch) -> None:
    """Its text names it from then on; one that cannot be read stays as it is."""
    draft = store.create_draft(OWNER, [("", SILENT)])
    broken = store.create_draft(OWNER, [("", "kind: [")])
    several = store.create_draft(OWNER, [("a.yaml", SILENT), ("b.yaml", SILENT.replace("n1", "n9"))])
    default("v1.37")
    assert of_draft(draft).text() == SILENT + NAMED
    assert store.load_draft(draft).release == "v1.11"
    assert store.draft_text(broken) == "kind: ["
    assert store.load_draft(several).release == "v1.11"
    assert {"n1", "n2", "n9"} <= {one.meta.name for one in store.load_draft(several).objects}
    fresh = store.create_draft(OWNER, [("", SILENT)])
    assert (store.load_draft(fresh).release, store.draft_text(fresh)) == ("v1.37", SILENT)


def test_the_same_text_has_the_same_link(default: Switch, client: Client) -> None:
    """It keeps the release that answered it, which is said; what names today's is another text."""
    sent = {"content_type": "application/yaml"}
    first = client.post("/api/scenarios", SILENT, **sent).json()  # type: ignore[arg-type]
    default("v1.37")
    second = client.post("/api/scenarios", SILENT, **sent).json()  # type: ignore[arg-type]
    assert second["id"] == first["id"]
    assert "its link keeps that release" in second["warnings"][-1]["message"]
    draft = store.create_draft(OWNER, [("", SILENT)])
    row = store.share(of_draft(draft).load(), OWNER, text=of_draft(draft).text()).scenario
    assert row.short != first["id"]
    assert store.load_scenario(row).release == "v1.37"
    run, _ = service.start(bundles.parse([("", SILENT)]), OWNER, text=SILENT)
    assert store.load_scenario(run.scenario).release == "v1.37"


@pytest.mark.parametrize(
    ("config", "answers"),
    [
        ({}, "v1.11"),
        ({"settings": {"cache": "off"}}, "v1.11"),
        ({"settings": {"cache": "sound"}}, "v1.11"),
        ({"policy": POLICY}, "v1.11"),
        ({"settings": {"scheduler": "v1.37"}}, "v1.37"),
        ({"settings": {"time": "virtual"}}, "v1.22"),
        ({"policy": {"kind": "KubeSchedulerConfiguration"}}, "v1.37"),
    ],
)
def test_a_run_keeps_the_release_of_its_scenario(default: Switch, config: object, answers: str) -> None:
    """Unless its configuration chooses one; what is stored for it names the release."""
    row = shared()
    named = shared(SILENT + NAMED)
    default("v1.37")
    for one in (row, named):
        scenario = service.configured(store.load_scenario(one), config)
        assert scenario.release == answers
        run, _ = service.start(scenario, OWNER)
        assert store.load_scenario(run.scenario).release == answers
        assert bundles.parse([("", store.scenario_text(run.scenario))]).release == answers


def test_a_link_that_holds_its_scenario_keeps_the_release(default: Switch) -> None:
    """It names the release; those from before it did are of v1.11, as the page that opens it says."""
    default("v1.37")
    opened = bundle._open(SILENT, "", OWNER, "v1.11")
    assert store.load_draft(Draft.objects.get(pk=opened["draft"])).release == "v1.11"
    opened = bundle._open(SILENT, "", OWNER, "v1.37")
    assert store.draft_text(Draft.objects.get(pk=opened["draft"])) == SILENT
    opened = bundle._open(SILENT + NAMED, "", OWNER, "v1.37")
    assert store.load_draft(Draft.objects.get(pk=opened["draft"])).release == "v1.11"


NEWER = SILENT.replace("status: {", "status: {nodeInfo: {kubeletVersion: v1.33.4}, ")
OFF = '---\napiVersion: podstep/v1\nkind: SimulationSettings\ncache: "off"\n'

IN_TIME = OFF.replace('cache: "off"', "time: virtual")


def test_a_link_that_holds_its_scenario_is_not_answered_by_newer_kubelets(default: Switch) -> None:
    """Which chose no release when v1.11 answered it; what its settings or configuration choose stays."""
    default("v1.37")
    for text, answered, answers in (
        (NEWER, "v1.11", "v1.11"),
        (NEWER, "v1.37", "v1.37"),
        (NEWER + OFF, "v1.37", "v1.37"),
        (SILENT + OFF, "v1.37", "v1.37"),
        (NEWER + IN_TIME, "v1.11", "v1.22"),
        (NEWER + IN_TIME, "v1.22", "v1.22"),
        (NEWER + IN_TIME, "v1.37", "v1.37"),
        (SILENT + IN_TIME, "", "v1.37"),
        (NEWER, "", "v1.37"),
    ):
        opened = bundle._open(text, "", OWNER, answered)
        assert store.load_draft(Draft.objects.get(pk=opened["draft"])).release == answers


@pytest.mark.parametrize("text", [NEWER + OFF, SILENT + OFF], ids=["newer kubelets", "silent"])
def test_a_row_keeps_its_release_though_its_settings_choose_another_one_now(
    default: Switch, owner: Client, text: str
) -> None:
    """A default of v1.11 that was written out chose nothing once; page, copy, run and text agree."""
    row = shared(text)
    content = json.loads(bundles.unpack(row.content))
    content["release"] = "v1.37"  # as it was answered then
    Scenario.objects.filter(pk=row.pk).update(
        content=bundles.pack(json.dumps(content, separators=(",", ":")).encode())
    )
    row.refresh_from_db()
    default("v1.37")
    assert bundles.parse([("", text)]).release == "v1.11"
    found = source(row)
    assert found.load().release == "v1.37"
    assert bundles.parse([("", found.text())]).release == "v1.37"
    assert of_draft(_fork(found, OWNER)).load().release == "v1.37"
    run, _ = service.start(found.load(), OWNER)
    assert store.load_scenario(run.scenario).release == "v1.37"
    assert owner.get(f"/api/scenarios/{row.short}/bundle").content.decode() == text


def test_a_row_from_before_releases_were_stored_is_of_v1_11(default: Switch) -> None:
    """Its content is of documents and a title alone."""
    row = shared()
    content = json.loads(bundles.unpack(row.content))
    del content["release"]
    Scenario.objects.filter(pk=row.pk).update(content=bundles.pack(json.dumps(content).encode()))
    default("v1.37")
    found = source(row)
    assert found.load().release == "v1.11"
    assert found.text() == SILENT + NAMED
    assert store.keep_scenario(found.load(), found.text()).pk != row.pk
    Scenario.objects.filter(pk=row.pk).update(text=None)  # from before texts were stored, too
    row.refresh_from_db()
    assert "SimulationSettings" not in store.stored_text(row)
    assert "scheduler: v1.11" in source(row).text()


def test_a_row_in_virtual_time_keeps_the_framework_with_the_rules_of_v1_11(default: Switch) -> None:
    """Which answered it before v1.37 had controllers; page, text and copy have the same decisions."""
    row = shared(SILENT + IN_TIME)
    default("v1.37")
    assert bundles.parse([("", SILENT + IN_TIME)]).release == "v1.37"
    found = source(row)
    fork = _fork(found, OWNER)
    for one in (found.load(), bundles.parse([("", found.text())]), of_draft(fork).load()):
        assert (one.release, one.configuration.framework) == ("v1.22", None)
        assert [cycle.node for cycle in simulate(one)] == ["n2"]
    store.save_draft(fork, SILENT + IN_TIME)
    assert of_draft(fork).load().release == "v1.22"


def test_a_draft_in_virtual_time_keeps_what_answered_it(default: Switch) -> None:
    """The migration finds those whose time alone chose the framework; the others keep what they presume."""
    default("v1.37")
    texts = (
        SILENT + IN_TIME,
        SILENT,
        SILENT + IN_TIME + "scheduler: v1.37\n",
        "time: virtual [",
        SILENT + "# virtual",
    )
    drafts = [store.create_draft(OWNER, [("", text)]) for text in texts]
    import_module("playground.migrations.0019_drafts_in_time").keep_release(apps, connection.schema_editor())
    found = [Draft.objects.get(pk=one.pk) for one in drafts]
    assert [one.presumed for one in found] == ["v1.22", *["v1.37"] * 4]
    scenario = store.load_draft(found[0])
    assert (scenario.release, scenario.configuration.framework) == ("v1.22", None)
    assert "scheduler: v1.22" in store.draft_text(found[0])


GANGS = (
    SILENT.replace("name: web}", "name: web, labels: {scheduling.x-k8s.io/pod-group: g}}")
    + """---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: g}
spec: {minMember: 1}
---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint: {enabled: [{name: Coscheduling}]}
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
"""
)


def test_coscheduling_of_v1_stays_with_the_framework_where_it_was_stored(default: Switch) -> None:
    """Rows, links that hold their scenario, and drafts, which a migration finds; new texts are of v1.37."""
    default("v1.37")
    assert bundles.parse([("", GANGS)]).release == "v1.37"
    row = shared(GANGS)
    content = json.loads(bundles.unpack(row.content))
    assert content["release"] == "v1.37"
    content["release"] = "v1.22"  # as it was answered before v1.37 ran the plugin
    del content["lives"]
    Scenario.objects.filter(pk=row.pk).update(content=bundles.pack(json.dumps(content).encode()))
    row.refresh_from_db()
    found = source(row)
    assert found.load().release == "v1.22"
    assert found.load().configuration.framework is not None
    assert bundles.parse([("", found.text())]).release == "v1.22"
    opened = bundle._open(GANGS, "", OWNER, "v1.22")
    assert store.load_draft(Draft.objects.get(pk=opened["draft"])).release == "v1.22"
    opened = bundle._open(GANGS, "", OWNER, "v1.37")
    assert store.draft_text(Draft.objects.get(pk=opened["draft"])) == GANGS
    drafts = [
        store.create_draft(OWNER, [("", text)])
        for text in (GANGS, SILENT + "# Coscheduling", "[Coscheduling")
    ]
    import_module("playground.migrations.0021_drafts_of_gangs").keep_release(apps, connection.schema_editor())
    kept, silent, broken = (Draft.objects.get(pk=one.pk) for one in drafts)
    assert store.load_draft(kept).release == "v1.22"
    assert store.draft_text(kept).startswith(GANGS[:200])
    assert (store.draft_text(silent), store.draft_text(broken)) == (
        SILENT + "# Coscheduling",
        "[Coscheduling",
    )
