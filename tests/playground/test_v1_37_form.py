"""Edits of the Policy tab's form for v1.37: the text is read back as intended, and decides accordingly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.edits.configuration import configured
from playground.edits.policies import checked, policy_text
from playground.live.errors import CommandError
from playground.live.modules.bundle import BundleConfigure, _configured
from scheduler_core import load, simulate
from scheduler_core.scenario.history import Moment
from scheduler_core.schedulers.v1_37.plugins import table
from scheduler_core.schedulers.v1_37.plugins.declaration import Argument, Declared
from scheduler_core.schedulers.v1_37.plugins.table import DECLARED
from scheduler_core.settings.settings import Settings
from tests.playground.conftest import connected

CLUSTER = """# two nodes, one of them half full
apiVersion: v1
kind: Node
metadata: {name: empty, labels: {zone: a, disk: ssd}}  # the first
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: full, labels: {zone: b}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: there, labels: {app: web}}
spec: {nodeName: full, containers: [{name: c, image: i, resources: {requests: {cpu: "2", memory: 4Gi}}}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}}
---
apiVersion: v1
kind: Pod
metadata: {name: new, labels: {app: web}}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1", memory: 1Gi}}}]}
"""
CONFIGURED = f"""{CLUSTER}---
# how we schedule
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler  # the only one
  pluginConfig:
  - name: NodeResourcesFit
    args:  # of ours
      scoringStrategy: {{type: MostAllocated}}
"""
FIT, SPREAD, AFFINITY = (f"0/{name}" for name in ("NodeResourcesFit", "PodTopologySpread", "NodeAffinity"))
IN_C, IN_B = ({"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]} for zone in "cb")
REQUIRED, REQUIRED_B = (
    {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}} for term in (IN_C, IN_B)
)
PREFERRED = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": IN_B}]}
FULLER = {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}
HARD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


def decided(text: str) -> str | None:
    """The node of the only pod that is scheduled; None without one."""
    (cycle,) = simulate(load(text))
    return cycle.decision.node


@pytest.mark.parametrize(
    ("changes", "node"),
    [
        ([], "empty"),
        ([("arguments", FIT, {"scoringStrategy": {"type": "MostAllocated"}})], "full"),
        (
            [
                (
                    "arguments",
                    FIT,
                    {
                        "scoringStrategy": {
                            "type": "RequestedToCapacityRatio",
                            "resources": [{"name": "cpu", "weight": 1}],
                            "requestedToCapacityRatio": FULLER,
                        }
                    },
                )
            ],
            "full",
        ),
        ([("arguments", AFFINITY, {"addedAffinity": REQUIRED})], None),
        (
            [
                ("arguments", FIT, {"scoringStrategy": {"type": "MostAllocated"}}),
                ("arguments", SPREAD, {"defaultingType": "List", "defaultConstraints": [HARD]}),
            ],
            "empty",
        ),
        (
            [
                ("arguments", FIT, {"scoringStrategy": {"type": "MostAllocated"}}),
                ("plugin", "0/score/NodeResourcesFit", "off"),
                ("plugin", "0/multiPoint/PodTopologySpread", "off"),
                ("plugin", "0/multiPoint/NodeResourcesBalancedAllocation", "off"),
                ("arguments", AFFINITY, {"addedAffinity": REQUIRED_B}),
            ],
            "full",
        ),
        (
            [
                ("plugin", "0/multiPoint/PodTopologySpread", "off"),
                ("weight", FIT, "0"),
                ("weight", "0/NodeResourcesBalancedAllocation", "0"),
                ("arguments", AFFINITY, {"addedAffinity": PREFERRED}),
            ],
            "full",
        ),
    ],
)
def test_the_edited_text_decides_as_intended(changes: list[tuple[str, str, Any]], node: str | None) -> None:
    """Everything else stays byte for byte."""
    text = CLUSTER
    for what, key, value in changes:
        answer = configured(text, what, key, value if isinstance(value, str) else json.dumps(value))
        assert answer["rewritten"] is False
        text = answer["text"]
    assert text.startswith(CLUSTER)
    assert load(text).release == "v1.37"
    assert decided(text) == node


def test_comments_in_the_configuration_stay() -> None:
    """Only the lines of what changed are written; the opposite change leads back to the same text."""
    off = configured(CONFIGURED, "plugin", "0/score/ImageLocality", "off")["text"]
    for line in CONFIGURED.splitlines():
        assert line in off
    assert configured(off, "plugin", "0/score/ImageLocality", "on")["text"] == CONFIGURED
    least = json.dumps({"scoringStrategy": {"type": "LeastAllocated"}})
    changed = configured(CONFIGURED, "arguments", FIT, least)["text"]
    assert [a for a, b in zip(CONFIGURED.splitlines(), changed.splitlines(), strict=True) if a != b] == [
        "      scoringStrategy: {type: MostAllocated}"
    ]


def test_a_gate_is_written_into_the_settings() -> None:
    """And taken out again; another setting stays."""
    text = f"{CLUSTER}---\napiVersion: podstep/v1\nkind: SimulationSettings\nuntil: 60  # a minute\n"
    on = configured(text, "gate", "GenericWorkload", "true")["text"]
    assert load(on).settings.feature_gates == (("GenericWorkload", True),)
    assert "until: 60  # a minute" in on
    assert configured(on, "gate", "GenericWorkload", "")["text"] == text


def test_a_change_at_a_step_restarts_the_scheduler_with_it() -> None:
    """As an operation; what was decided before stays."""
    pod = CLUSTER[CLUSTER.rindex("---") :].replace("name: new", "name: next").replace('"1"', "500m")
    answer = configured(
        CLUSTER + pod, "arguments", AFFINITY, json.dumps({"addedAffinity": REQUIRED}), Moment(1, 1)
    )
    nodes = [cycle.decision.node for cycle in simulate(load(answer["text"]))]
    assert nodes[:2] == ["empty", None]


def test_the_form_shows_what_is_in_force() -> None:
    """A text that is typed too, with the gates beside it."""
    document = load(CONFIGURED).policy
    form = policy_text(document, Settings(), "v1.37")["form"]
    (profile,) = form["profiles"]
    assert profile["arguments"] == {"NodeResourcesFit": {"scoringStrategy": {"type": "MostAllocated"}}}
    assert profile["points"] == form["default"]
    typed = CONFIGURED[CONFIGURED.rindex("---\n") + 4 :]
    gang = typed.replace(
        "  pluginConfig", "  plugins: {permit: {disabled: [{name: GangScheduling}]}}\n  pluginConfig"
    )
    answer = checked(gang, Settings(feature_gates=(("GenericWorkload", True),)))
    assert (answer["errors"], answer["framework"], answer["other"]) == ([], None, None)
    assert "GangScheduling" not in answer["form"]["profiles"][0]["points"]["permit"]
    assert "GangScheduling" in answer["form"]["default"]["permit"]
    assert checked("kind: Policy\napiVersion: v1\n", Settings())["form"] is None


def test_errors_are_answered_with_their_fields() -> None:
    """Relative to the arguments, as the form knows them."""
    wrong = {"scoringStrategy": {"type": "Most", "resources": [{"name": "cpu", "weight": 0}]}}
    payload = BundleConfigure(text=CLUSTER, what="arguments", key=FIT, value=json.dumps(wrong))
    with pytest.raises(CommandError) as error:
        _configured(payload, None)
    assert error.value.payload["code"] == "payload.invalid"
    assert [problem["path"] for problem in error.value.payload["errors"]] == [
        "scoringStrategy.type",
        "scoringStrategy.resources[0].weight",
    ]


@pytest.mark.django_db(transaction=True)
async def test_a_typed_configuration_is_changed_over_the_socket() -> None:
    """With the release and the gates of the settings beside it."""
    typed = CONFIGURED[CONFIGURED.rindex("---\n") + 4 :]
    async with connected() as socket:
        frame = {"text": typed, "what": "plugin", "key": "0/multiPoint/GangScheduling", "value": "on"}
        body = await socket.error("policy.change", frame)
        assert "its feature gate is off" in body["message"]
        gated = {**frame, "value": "off", "gates": "GenericWorkload=true"}
        answer = await socket.success("policy.change", gated)
        assert "GangScheduling" in answer["text"]
        checked = await socket.success("policy.check", {"text": typed, "scheduler": "v1.37"})
        assert checked["form"]["scheduler"] == "v1.37"


@pytest.mark.django_db(transaction=True)
async def test_the_catalogue_has_every_declared_plugin() -> None:
    """So that the form shows a new one, and its arguments, without being touched."""
    async with connected() as socket:
        answer = await socket.success("policy.catalogue", {})
    rows = {row["name"]: row for row in answer["v1_37"]["plugins"]}
    assert list(rows) == [row.key for row in DECLARED]
    for row in DECLARED:
        assert rows[row.key]["points"] == row.points.split()
        assert [one["path"] for one in rows[row.key]["arguments"]] == [one.path for one in row.arguments]


def test_arguments_of_a_new_plugin_are_checked_as_they_are_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row alone says what is right."""
    row = Declared("Spare", "score", arguments=(Argument("share", "integer", 10, most=50),))
    monkeypatch.setitem(table.ROWS, "NodeDeclaredFeatures", row)
    value = json.dumps({"share": 51})
    with pytest.raises(ValueError, match="share: must be at most 50"):
        configured(CLUSTER, "arguments", "0/NodeDeclaredFeatures", value)
