"""In-tree volumes as their CSI drivers know them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.schedulers.v1_37.csi_migration import (
    MIGRATED_PLUGINS,
    TranslationError,
    in_tree_source,
    is_translated,
    translated_affinity,
)
from tests.rows import each_row

TABLE = json.loads(Path(__file__).with_name("data").joinpath("in_tree_volumes.json").read_text())
"""300 random volumes, each with what csi-translation-lib v0.37.1 answers for it."""

NOT_MIGRATED = ("kubernetes.io/azure-file", "kubernetes.io/vsphere-volume")


def answer(row: dict[str, Any]) -> dict[str, Any]:
    """Return what we make of a volume, in the form of the table."""
    volume = row.get("pv")
    owner = row["inline"] if volume is None else volume["spec"]
    found = in_tree_source(owner)
    if found is None:
        return {"migratable": False}
    kind, source = found
    out: dict[str, Any] = {"migratable": True, "plugin": kind.plugin}
    labels = {} if volume is None else volume["metadata"].get("labels") or {}
    try:
        handle = None if kind.handle is None else kind.handle(source, labels)
    except TranslationError as error:
        return {**out, "error": str(error)}
    out |= {"driver": kind.driver, "handle": handle}
    affinity = None if volume is None else translated_affinity(volume)
    return out if affinity is None else {**out, "nodeAffinity": affinity}


def without_empty(value: Any) -> Any:
    """Return a node affinity without lists that are empty or null, which mean the same."""
    if isinstance(value, dict):
        return {key: without_empty(one) for key, one in value.items() if one not in ([], None)}
    return [without_empty(one) for one in value] if isinstance(value, list) else value


@each_row("row", TABLE)
def test_a_volume_is_translated_as_the_library_does(row: dict[str, Any]) -> None:
    """Handles and topologies of the two plugins that no node migrates are not needed."""
    expected, ours = dict(row["answer"]), answer(row)
    if not expected["migratable"]:
        expected = {"migratable": False}
    elif expected["plugin"] in NOT_MIGRATED:
        expected, ours = ({key: one[key] for key in ("plugin", "driver")} for one in (expected, ours))
    assert without_empty(ours) == without_empty(expected)


@pytest.mark.parametrize(
    ("spec", "annotation", "counts"),
    [
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, "kubernetes.io/aws-ebs", True),
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, "kubernetes.io/gce-pd,kubernetes.io/aws-ebs", True),
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, "kubernetes.io/gce-pd", False),
        ({"portworxVolume": {"volumeID": "1"}}, "kubernetes.io/portworx-volume", True),
        ({"azureFile": {"shareName": "s"}}, "kubernetes.io/azure-file", False),
        ({"vsphereVolume": {"volumePath": "p"}}, "kubernetes.io/vsphere-volume", False),
        ({"csi": {"driver": "ebs.csi.aws.com"}}, "kubernetes.io/aws-ebs", False),
    ],
)
def test_a_volume_counts_as_its_drivers_where_the_node_says_so(
    spec: dict[str, Any], annotation: str, counts: bool
) -> None:
    """VolumeBinding asks the CSINode's annotation, unlike NodeVolumeLimits."""
    volume = {"metadata": {"name": "v"}, "spec": spec}
    csi_node = {"metadata": {"name": "n", "annotations": {MIGRATED_PLUGINS: annotation}}}
    assert is_translated(volume, csi_node) is counts
    assert is_translated(volume, {"metadata": {"name": "n"}}) is False
    assert is_translated(volume, None) is False
