"""What the YAML editor completes from: Kubernetes' schemas, marked by the readers, and our own documents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from playground.schemas import document
from playground.schemas.reduce import LONGEST, reduced, shortened
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.settings.feature_gates import DEFAULTS

POD_SPEC = "io.k8s.api.core.v1.PodSpec"


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    """The whole document, as set-up made its parts."""
    return document.build()


def fields(schemas: dict[str, Any], kind: str, *path: str) -> dict[str, Any]:
    """Return the fields at a path below a kind's newest version."""
    part = next(iter(schemas["kinds"][kind].values()))
    for name in path:
        part = schemas["parts"][part]["f"][name]["p"]
    found: dict[str, Any] = schemas["parts"][part]["f"]
    return found


def test_every_kind_that_is_read_can_be_written(schemas: dict[str, Any]) -> None:
    """Each kind of the readers, and each of podstep's own documents, has versions and fields."""
    own = {"SimulationSettings", "Policy", "KubeSchedulerConfiguration", "Scenario", "List"}
    assert own | set(KINDS) <= set(schemas["kinds"])
    for kind, versions in schemas["kinds"].items():
        for part in versions.values():
            assert {"apiVersion", "kind"} <= set(schemas["parts"][part]["f"]), kind


def test_every_part_that_a_field_names_is_there(schemas: dict[str, Any]) -> None:
    """No completion ends at a part that was left out."""
    for part, body in schemas["parts"].items():
        for name, field in body["f"].items():
            named = [field["p"]] if "p" in field else list(field["by"][1].values()) if "by" in field else []
            assert set(named) <= set(schemas["parts"]), f"{part}.{name}"


def test_fields_are_marked_by_what_the_readers_do(schemas: dict[str, Any]) -> None:
    """What is read has no mark; what is not, or only on other clusters, says so."""
    marks = {name: field.get("x") for name, field in fields(schemas, "Pod", "spec").items()}
    assert {marks[name] for name in ("tolerations", "affinity", "nodeSelector", "containers")} == {None}
    assert marks["terminationGracePeriodSeconds"] == "ignored"
    assert marks["topologySpreadConstraints"] == "reported"
    assert fields(schemas, "Deployment", "spec", "template", "spec") is fields(schemas, "Pod", "spec")
    assert "x" not in fields(schemas, "Deployment")["metadata"]


def test_words_are_those_that_the_readers_take(schemas: dict[str, Any]) -> None:
    """Enumerations come from the tables of the readers, Kubernetes' and our own alike."""
    taint = fields(schemas, "Node", "spec", "taints")["effect"]
    assert set(taint["e"]) == {"NoSchedule", "PreferNoSchedule", "NoExecute"}
    assert taint["r"] == 1
    ours = fields(schemas, "SimulationSettings")
    assert list(ours["cache"]["e"]) == ["off", "designed", "v1.11", "sound", "batching"]
    assert "PodToleratesNodeTaints" in fields(schemas, "Policy", "predicates")["name"]["e"]
    plugins = fields(schemas, "KubeSchedulerConfiguration", "profiles", "plugins", "filter", "enabled")
    assert "TaintToleration" in plugins["name"]["e"]
    assert "PrioritySort" not in plugins["name"]["e"]


def test_each_dialect_of_a_pod_group_has_its_own_fields(schemas: dict[str, Any]) -> None:
    """A field is offered where its dialect has it, and nowhere else."""
    versions = schemas["kinds"]["PodGroup"]

    def spec(version: str) -> set[str]:
        top = schemas["parts"][versions[version]]["f"]
        return set(schemas["parts"][top["spec"]["p"]]["f"])

    assert "scheduleTimeoutSeconds" in spec("scheduling.x-k8s.io/v1alpha1")
    assert "scheduleTimeoutSeconds" not in spec("scheduling.volcano.sh/v1beta1")
    assert "queue" in spec("scheduling.volcano.sh/v1beta1")
    assert "schedulingPolicy" in spec("scheduling.k8s.io/v1alpha2")


def test_everything_of_our_own_is_explained(schemas: dict[str, Any]) -> None:
    """Each field of podstep's own documents that counts for something has a sentence."""
    own = ("SimulationSettings", "Policy", "Scenario", "KubeSchedulerConfiguration", "List")
    waiting = [part for kind in own for part in schemas["kinds"][kind].values()]
    waiting += [part for version, part in schemas["kinds"]["PodGroup"].items() if "x-k8s" in version]
    seen: set[str] = set()
    while waiting:
        part = waiting.pop()
        if part in seen or part.startswith("io.k8s."):
            continue
        seen.add(part)
        for name, field in schemas["parts"][part]["f"].items():
            assert field["d"] or field.get("x"), f"{part}.{name}"
            waiting += [field["p"]] if "p" in field else []
            waiting += field["by"][1].values() if "by" in field else []
    assert len(seen) > 60


def test_every_feature_gate_is_completed(schemas: dict[str, Any]) -> None:
    """The editor offers the gates of kube-scheduler v1.37 by name, each with what it does here."""
    gates = schemas["parts"][schemas["parts"]["SimulationSettings"]["f"]["featureGates"]["p"]]["f"]
    assert gates.keys() == DEFAULTS.keys()
    assert {gate["t"] for gate in gates.values()} == {"boolean"}
    assert "scheduled as a whole" in gates["GenericWorkload"]["d"]


def test_the_document_is_small_and_kept(db: None) -> None:
    """It comes gzipped below its bound, once; after that the browser is reported that nothing changed."""
    answer = Client().get("/schemas.json", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert len(answer.content) < 150_000
    assert "Pod" in json.loads(gzip.decompress(answer.content))["kinds"]
    plain = Client().get("/schemas.json")
    assert plain.content == gzip.decompress(answer.content)
    again = Client().get("/schemas.json", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_without_kubernetes_schemas_our_own_documents_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where set-up could not fetch the schemas, the document is made of the readers alone."""
    monkeypatch.setattr(document, "kubernetes", lambda: {"kinds": {}, "parts": {}})
    kinds = document.build()["kinds"]
    assert "Pod" not in kinds
    assert {"SimulationSettings", "Policy", "Scenario", "PodGroup"} <= set(kinds)


def test_schemas_are_reduced_to_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Types are words, references parts; links go, and parts that nothing names."""
    monkeypatch.setattr("playground.schemas.reduce.KINDS", {"Toy": {"v1": "a.Toy"}})
    text = {"type": ["string", "null"]}
    definitions = {
        "a.Toy": {
            "description": "A toy. More info: https://example.com/toys",
            "required": ["size"],
            "properties": {
                "size": {"$ref": "#/$defs/b.Quantity", "description": "How large."},
                "tags": {"type": ["object", "null"], "additionalProperties": text},
                "parts": {"type": ["array", "null"], "items": {"$ref": "#/$defs/a.Part"}},
            },
        },
        "a.Part": {"properties": {"name": text, "$schema": text}},
        "a.Unnamed": {"properties": {}},
    }
    assert reduced(definitions)["parts"] == {
        "a.Toy": [
            "A toy.",
            {
                "size": ["Quantity", "", "How large.", 1],
                "tags": ["string{}", "", ""],
                "parts": ["object[]", "a.Part", ""],
            },
        ],
        "a.Part": ["", {"name": ["string", "", ""]}],
    }


def test_long_descriptions_end_with_a_sentence() -> None:
    """They are cut where a sentence ends, else with an ellipsis."""
    assert shortened("One sentence here. " * 100).endswith("here.")
    assert len(shortened("word " * 1000)) <= LONGEST
    assert shortened("word " * 1000).endswith("…")


def test_the_bundle_that_pages_load_was_made() -> None:
    """Set-up has made what the editor and films import, and the server sends it from here."""
    folder = Path(settings.BASE_DIR) / "static" / "vendor"
    for name in ("codemirror.js", "mediabunny.js"):
        assert (folder / name).stat().st_size > 100_000
        assert Client().get(f"/static/vendor/{name}").status_code == 200


def test_a_bundle_comes_with_its_licence() -> None:
    """Mediabunny's says where its source can be had, as the MPL asks of who passes it on."""
    answer = Client().get("/static/vendor/mediabunny.js.LEGAL.txt")
    assert b"Mozilla Public" in b"".join(answer.streaming_content)  # type: ignore[attr-defined]
