"""A rule reads what it declares: checked field by field, for the registered rules and for an added one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from scheduler_core.explain import explain
from scheduler_core.kubernetes.model import (
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    Service,
    StorageClass,
)
from scheduler_core.run.instant import Simulation
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reads import Reads, UndeclaredFieldError
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.predicate import Predicate, PredicateResult, failing
from scheduler_core.schedulers.profiles.priority import Priority
from scheduler_core.schedulers.v1_11.policy import declared_fields as declared
from scheduler_core.schedulers.v1_11.policy import order
from scheduler_core.schedulers.v1_11.predicates import PREDICATES
from scheduler_core.schedulers.v1_11.predicates import RULES as DECLARED
from scheduler_core.schedulers.v1_11.predicates.rule import OrderPlace, Rule
from scheduler_core.schedulers.v1_11.priorities import PRIORITIES
from scheduler_core.schedulers.v1_11.vectors import VectorStore
from scheduler_core.schedulers.v1_22.configuration.from_policy import from_policy
from scheduler_core.schedulers.v1_22.configuration.profiles import compile_profile
from tests.core.engine.builders import node, operation, pod, scenario, simulate
from tests.core.engine.declared_fields import ASKING, OBJECTS, changes, cluster_of, result_of, untested

KINDS = (Pod, Node, PersistentVolume, PersistentVolumeClaim, StorageClass, Service)
RULES: dict[str, Predicate | Priority] = {**PREDICATES, **PRIORITIES}
NEEDS_ARGUMENT = "RequestedToCapacityRatioPriority"
POD_NAMES = {"owner_references": "controller", "deletion_timestamp": "terminating"}
"""What declarations call a field of a pod that the objects call otherwise."""


class MatchArch:
    """A node's annotation ``arch`` has to be the pod's: the rule that a newcomer might add."""

    scope = Scope.OBJECTS
    reads = Reads(pod=("annotations",), node=("annotations",))
    reason = "node(s) had another architecture"

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:
        """Fail where the annotations differ."""
        wanted = pod.fields.annotations.get("arch")
        nodes = view.columns.nodes
        wrong = np.array([node.meta.annotations.get("arch") != wanted for node in nodes], np.bool_)
        return failing(view.take(wrong), view, self.reason)


class LyingAboutThePod(MatchArch):
    """It does not say that it reads annotations of the pod."""

    reads = Reads(node=("annotations",))


class LyingAboutTheNode(MatchArch):
    """It does not say that it reads annotations of the node."""

    reads = Reads(pod=("annotations",))


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the rule's declaration to what is derived from it."""
    _add(monkeypatch, MatchArch())


def _add(monkeypatch: pytest.MonkeyPatch, rule: Predicate) -> None:
    monkeypatch.setitem(PREDICATES, "MatchArch", rule)
    place = OrderPlace(220, "Annotations are read quickly.")
    monkeypatch.setattr(declared, "RULES", (*DECLARED, Rule(key="MatchArch", check=rule, v1_11=place)))
    rows = (*order.V1_11, order.OrderRow("MatchArch", ("MatchArch",), place.why))
    monkeypatch.setitem(order.ORDERS, "v1.11", rows)
    monkeypatch.setattr(order, "V1_11_ORDER", tuple(row.name for row in rows))


def lies(rule: Predicate | Priority) -> list[str]:
    """Return the fields that a rule's result depends on, though it does not declare them."""
    found = []
    plain = result_of(rule, cluster_of((*OBJECTS, ASKING)))
    for name, changed in changes(ASKING):
        declared = POD_NAMES.get(name, name)
        if declared not in rule.reads.pod and result_of(rule, cluster_of((*OBJECTS, changed))) != plain:
            found.append(f"pod.{declared}")
    for place, obj in enumerate(OBJECTS):
        declared_here = rule.reads.node if isinstance(obj, Node) else ()
        if not isinstance(obj, Node) and type(obj).__name__ in rule.reads.objects:
            continue
        for name, changed in changes(obj):
            if (
                isinstance(obj, Pod)
                and name in {"labels", "deletion_timestamp"}
                and "Workload" in rule.reads.objects
            ):
                continue
            objects = (*OBJECTS[:place], changed, *OBJECTS[place + 1 :], ASKING)
            if name not in declared_here and result_of(rule, cluster_of(objects)) != plain:
                found.append(f"{type(obj).__name__}.{name}")
    return found


@pytest.mark.parametrize("name", RULES)
def test_a_rule_depends_on_nothing_that_it_does_not_declare(name: str) -> None:
    """Every field of the pod, the nodes and the other objects is changed by itself."""
    assert lies(RULES[name]) == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_a_kind_is_changed(kind: type) -> None:
    """A new field of an object has to get its row, or nothing would find a rule that reads it in secret."""
    assert untested(kind) == set()


@pytest.mark.usefixtures("added")
def test_a_rule_that_lies_about_the_node_is_caught() -> None:
    """The check above can fail."""
    assert lies(MatchArch()) == []
    assert "Node.annotations" in lies(LyingAboutTheNode())


def test_a_field_that_no_rule_declares_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the field and where to declare it, before anything is placed wrongly."""
    _add(monkeypatch, LyingAboutThePod())
    with pytest.raises(UndeclaredFieldError, match="annotations: add it to the rule's `reads`"):
        list(simulate(node("a"), pod("p"), policy=_policy()))


def test_a_declaration_names_fields_that_there_are() -> None:
    """A misspelled field is no field without effect."""
    with pytest.raises(ValueError, match="pod: toleration; a rule can read affinity"):
        Reads(pod=("toleration",))


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize("kind", [Pod, Node, PersistentVolume, PersistentVolumeClaim, StorageClass, Service])
def test_what_is_kept_is_what_a_fresh_evaluation_finds(kind: type) -> None:
    """After each change of a field the vectors of the pod's class are those of a cluster made anew."""
    policy = {
        "predicates": [{"name": name} for name in PREDICATES],
        "priorities": [
            {"name": name, "weight": 1} for name in PRIORITIES if name != "RequestedToCapacityRatioPriority"
        ],
    }
    profile = compile_profile(policy)
    for place, obj in enumerate((*OBJECTS, ASKING)):
        if not isinstance(obj, kind):
            continue
        cluster = cluster_of((*OBJECTS, ASKING))
        store = VectorStore(cluster, profile)
        store.of(cluster.pods["default/new"])
        for name, changed in changes(obj):
            cluster.put(changed)
            cluster.refresh()
            every = [*OBJECTS, ASKING]
            every[place] = changed
            fresh = cluster_of(tuple(every))
            kept = store.of(cluster.pods["default/new"])
            again = VectorStore(fresh, profile).of(fresh.pods["default/new"])
            assert _outcomes(kept, cluster) == _outcomes(again, fresh), (type(obj).__name__, name)
            assert kept.base.tolist() == again.base.tolist(), (type(obj).__name__, name)


def _outcomes(vectors: Any, cluster: Any) -> list[Any]:
    found = (
        () if outcome is None or outcome.codes is None else outcome.codes for outcome in vectors.outcomes
    )
    texts = ([cluster.reasons.texts[code] for code in codes] for codes in found)
    return [reasons if any(reasons) else None for reasons in texts]


ARCHS = [
    node("amd", annotations={"arch": "amd64"}),
    node("arm", annotations={"arch": "arm64"}),
]


def _asking(name: str, arch: str) -> dict[str, Any]:
    made = pod(name, {"cpu": "100m"}, labels={"app": "web"})
    made["metadata"]["annotations"] = {"arch": arch}
    made["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u1", "controller": True}
    ]
    return made


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize("reuse", [True, False])
@pytest.mark.parametrize("cache", ["off", "sound"])
def test_replicas_that_differ_in_a_declared_field_are_reported_apart(cache: str, reuse: bool) -> None:
    """Pods of one controller go where their annotation says, whatever is kept between them."""
    settings = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "cache": cache}
    pods = [_asking(f"p{number}", arch) for number, arch in enumerate(("amd64", "arm64", "amd64", "arm64"))]
    ran = simulate(*ARCHS, *pods, settings, policy=_policy(), reuse=reuse)
    list(ran)
    placed = {name: state.node_name for name, state in ran.cluster.pods.items()}
    assert placed == {"default/p0": "amd", "default/p1": "arm", "default/p2": "amd", "default/p3": "arm"}


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize("cache", ["off", "sound"])
def test_a_node_that_changes_is_asked_again(cache: str) -> None:
    """No row of the invalidation table names the rule, and its results go all the same."""
    settings = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "cache": cache}
    start = scenario(ARCHS[0], _asking("p0", "amd64"), settings, policy=_policy())
    change = operation(1, "update", node("amd", annotations={"arch": "arm64"}))
    then = replace(operation(2, "create", _asking("p1", "amd64")), step=1)
    ran = Simulation(replace(start, operations=(change, then)))
    list(ran)
    assert [ran.cluster.pods[f"default/{name}"].node_name for name in ("p0", "p1")] == ["amd", ""]


@pytest.mark.usefixtures("added")
def test_a_configuration_says_that_no_plugin_does_it() -> None:
    """Converting a Policy with the rule loses it, and says so."""
    conversion = from_policy(_policy())
    assert "MatchArch: no plugin does the same" in conversion.lost


@pytest.mark.usefixtures("added")
def test_why_proposes_from_the_declaration() -> None:
    """The facts name what the rule reads; the changes are of annotations, and they are tried."""
    ran = simulate(*ARCHS, _asking("p", "riscv"), policy=_policy())
    list(ran)
    found = explain(ran, "default/p", "amd")
    assert found.changes == ()
    ran = simulate(*ARCHS, _asking("p", "arm64"), pod("full", {"cpu": "4"}, on="arm"), policy=_policy())
    list(ran)
    words = [words for change in explain(ran, "default/p", "amd").changes for words in change.words]
    assert "give node amd the annotations of node arm (arch)" in words


def _policy() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Policy",
        "predicates": [{"name": "MatchArch"}, {"name": "PodFitsResources"}],
        "priorities": [{"name": "LeastRequestedPriority", "weight": 1}],
    }
