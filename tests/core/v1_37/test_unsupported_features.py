from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.schedulers.v1_37.records import answer

CASES: list[tuple[dict[str, Any], dict[str, bool], str]] = [
    ({"kind": "CompositePodGroup"}, {}, "CompositePodGroup x: the kind is not implemented"),
    (
        {"kind": "PodGroup", "spec": {"resourceClaims": [{"name": "c"}]}},
        {},
        "PodGroup x: spec.resourceClaims is not implemented",
    ),
    (
        {"kind": "ResourceSlice", "spec": {"devices": [{"name": "d", "bindingConditions": ["ready"]}]}},
        {},
        "ResourceSlice x: spec.devices[].bindingConditions is not implemented",
    ),
    (
        {"kind": "Namespace"},
        {"DRADeviceBindingConditions": True},
        "featureGates.DRADeviceBindingConditions is not implemented",
    ),
]


@pytest.mark.parametrize(("manifest", "gates", "text"), CASES)
def test_what_is_not_implemented_is_named(
    manifest: dict[str, Any], gates: dict[str, bool], text: str
) -> None:
    """A record is refused rather than answered as if the feature were not there, in objects and in steps."""
    named = {**manifest, "metadata": {"name": "x"}}
    with pytest.raises(ValueError, match=text.replace("[", r"\[")):
        answer({"id": "r", "objects": [named], "featureGates": gates})
    with pytest.raises(ValueError, match=text.replace("[", r"\[")):
        answer(
            {"id": "r", "objects": [], "steps": [{"do": "create", "object": named}], "featureGates": gates}
        )


def test_a_gate_that_is_off_is_no_matter() -> None:
    """Only what could change a decision is refused."""
    assert answer({"id": "r", "objects": [], "featureGates": {"CompositePodGroup": False}})["id"] == "r"
