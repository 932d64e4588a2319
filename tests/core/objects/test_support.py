"""The table of supported fields against the readers, Kubernetes' schemas, the document and the warnings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core import load
from scheduler_core.__main__ import main
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.support_workload import REPORTED_KINDS
from scheduler_core.scenario.scenario import Scenario
from tests.core.objects.support_text import OBJECTS, PARTS, SCHEMAS, rendered, shown
from tests.core.objects.unhonored_cases import Case, cases
from tests.rows import each_row

CASES = cases()
MAY_DIFFER = "this result may differ on a cluster that honors "
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def test_every_object_of_the_api_has_a_part() -> None:
    """No reader passes over a field on its own."""
    assert [path for path, outline, _ in OBJECTS if outline.part is None] == []
    assert len({part.type for part, _ in PARTS}) == len(PARTS) > 60
    for path, outline, _ in OBJECTS:
        assert outline.part is not None
        assert outline.unread == outline.part.passed_over, path


def test_a_field_has_one_standing() -> None:
    """No field is irrelevant and implemented, irrelevant and reported, or listed twice."""
    for part, read in PARTS:
        passed = [name for names in part.irrelevant.values() for name in names.split()]
        reported = [row.field for row in part.reported]
        for names in (read, passed, reported):
            assert len(set(names)) == len(names), part.type
        assert not {*read, *reported} & set(passed), part.type


def test_every_field_of_kubernetes_schemas_is_classified() -> None:
    """Of each type that is read, all fields of today's API are implemented, reported or irrelevant."""
    parts = json.loads(SCHEMAS.read_text())["parts"]
    checked = 0
    for path, outline, schema in OBJECTS:
        if schema in parts:
            checked += 1
            known = {*outline.fields, *outline.unread, *outline.reported}
            assert set(parts[schema][1]) <= known, path
    assert checked > 60


def test_the_document_shows_the_table() -> None:
    """The table in docs/formats.md is the one that readers and warnings have."""
    assert shown() == rendered()


# --- warnings


def unhonored(scenario: Scenario) -> list[Problem]:
    """Return the warnings that the answer may differ."""
    return [problem for problem in scenario.warnings if problem.unhonored]


def test_every_reported_field_and_kind_has_a_case() -> None:
    """The cases below are all there is to report."""
    wanted = {(part.type, row.field) for part, _ in PARTS for row in part.reported}
    wanted |= {("", kind) for kind in REPORTED_KINDS}
    assert {(case.type, case.name) for case in CASES} == wanted
    assert len(CASES) == len(wanted)


@each_row("case", CASES, lambda case: case.id)
def test_a_reported_field_is_warned_of_by_name_line_and_effect(case: Case) -> None:
    """One warning names field, objects and effect, at its line; the value that changes nothing has none."""
    effect = case.effect
    found = [problem for problem in unhonored(load(case.text)) if problem.message.endswith(f": {effect}")]
    assert len(found) == 1
    assert found[0].message.startswith(MAY_DIFFER + found[0].unhonored + " (")
    assert found[0].unhonored.rpartition(".")[2] == case.name
    assert found[0].line
    assert case.name in case.text.splitlines()[found[0].line - 1]
    assert not [p for p in unhonored(load(case.quiet)) if p.message.endswith(f": {effect}")]


@each_row("case", CASES, lambda case: case.id)
def test_simulate_prints_the_warning(case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line says it on standard error, with file and line, and ends well."""
    file = tmp_path / "bundle.yaml"
    file.write_text(case.text)
    assert main(["simulate", str(file)]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.endswith(f": {case.effect}")]
    assert len(lines) == 1
    assert lines[0].startswith(f"{file}:")
    assert MAY_DIFFER in lines[0]


def conditions() -> Iterator[tuple[str, Any]]:
    """Yield every condition on a value."""
    for part, _ in PARTS:
        yield from ((f"{part.type}.{row.field}", row.when) for row in part.reported)
    yield from ((row.kind, row.when) for row in REPORTED_KINDS.values())


@settings(max_examples=50)
@given(JSON, JSON)
def test_no_value_is_too_strange_to_be_judged(value: Any, spec: Any) -> None:
    """Conditions see values before anything is checked: none raises, each answers yes or no."""
    manifest = {"kind": "Pod", "metadata": spec, "spec": spec}
    for name, when in conditions():
        assert bool(when(value, manifest)) in (True, False), name


POD = "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{containers: [{{name: c}}], {more}}}\n"
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {pods: 10}}\n"
SPREAD = "topologySpreadConstraints: [{maxSkew: 1}]"
CONFIGURED = "apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n"


def bundle(*documents: str) -> Scenario:
    """Load documents beside a node; v1.11 answers those that say nothing."""
    return load("---\n".join([NODE, *documents]), presumed="v1.11")


def test_objects_are_named_up_to_a_few_and_counted() -> None:
    """Three pods are named, the others counted, each once however many of its containers use the field."""
    pods = [POD.format(name=f"p{number}", more="overhead: {cpu: 1}") for number in range(5)]
    (warning,) = unhonored(bundle(*pods))
    assert "spec.overhead (Pod default/p0, Pod default/p1, Pod default/p2 and 2 more): " in warning.message
    twice = "initContainers: [{name: a, restartPolicy: Always}, {name: b, restartPolicy: Always}]"
    (warning,) = unhonored(bundle(POD.format(name="p", more=twice)))
    assert "spec.initContainers[].restartPolicy (Pod default/p): " in warning.message


def test_a_template_and_an_operation_are_looked_at_like_a_pod() -> None:
    """A Deployment is named with the path that its pods have, and so is a pod that an operation creates."""
    template = f"{{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: c}}], {SPREAD}}}}}"
    deployment = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
        f"spec: {{selector: {{matchLabels: {{a: b}}}}, template: {template}}}\n"
    )
    (warning,) = unhonored(bundle(deployment))
    assert "honors spec.topologySpreadConstraints (Deployment default/web): " in warning.message
    history = (
        "kind: Scenario\napiVersion: simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1\n"
        "spec:\n  operations:\n"
        "  - step: 1\n    createOperation: {object: {apiVersion: v1, kind: Pod, metadata: {name: late}, "
        f"spec: {{containers: [{{name: c}}], {SPREAD}}}}}}}\n"
        "  - step: 1\n"
        "    createOperation: {object: {kind: LimitRange, apiVersion: v1, metadata: {name: x}}}\n"
    )
    found = unhonored(bundle(history))
    assert [problem.unhonored for problem in found] == ["spec.topologySpreadConstraints", "LimitRange"]
    assert "(Pod default/late)" in found[0].message


@pytest.mark.parametrize("state", ["spec: {nodeName: n1}", "status: {phase: Succeeded}"])
def test_a_pod_that_is_placed_or_over_needs_no_warning(state: str) -> None:
    """What decides where a pod goes does not matter once it has a node, and nothing does once it ended."""
    part, _, inner = state.partition(": ")
    more = f"{SPREAD}, {inner[1:-1]}" if part == "spec" else SPREAD
    text = POD.format(name="p", more=more) + ("" if part == "spec" else f"{state}\n")
    assert unhonored(bundle(text)) == []


@pytest.mark.parametrize(("version", "warned"), [("v1beta2", True), ("v1", False)])
def test_what_the_configured_release_honors_is_no_warning(version: str, warned: bool) -> None:
    """Scheduling gates hold a pod in today's framework, and not in that of 1.22 nor in v1.11."""
    gated = POD.format(name="p", more="schedulingGates: [{name: a/b}]")
    assert bool(unhonored(bundle(gated, CONFIGURED.format(version=version)))) is warned
    plain = bundle(gated)
    assert len(unhonored(plain)) == 1
    other = bundle(gated, CONFIGURED.format(version=version))
    assert bool(unhonored(plain.under(other.policy, other.settings))) is warned
    assert len(unhonored(other.under(None, plain.settings))) == 1


def test_a_disk_field_is_silent_where_no_pod_uses_a_disk() -> None:
    """What limits volumes decides nothing for pods without any."""
    node = NODE.replace("pods: 10", "pods: 10, attachable-volumes-aws-ebs: 39").replace("n1", "n2")
    disk = POD.format(name="p", more="volumes: [{name: v, awsElasticBlockStore: {volumeID: d}}]")
    assert unhonored(bundle(node, POD.format(name="p", more=""))) == []
    assert len(unhonored(bundle(node, disk))) == 1
