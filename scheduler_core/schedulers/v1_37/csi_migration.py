"""In-tree volumes as their CSI drivers know them: driver, handle and node affinity (csi-translation-lib).

Only what decides where a pod can go is translated; mount options, secrets and access modes are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from scheduler_core.schedulers.v1_37.change import Manifest

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
"""The annotation of a CSINode that lists the in-tree plugins whose volumes the kubelet gives CSI drivers."""

_ZONE, _REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_BETA_ZONE, _BETA_REGION = (
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
)
_BETWEEN_ZONES = "__"

Source = Mapping[str, Any]
"""The volume source of one kind, as in a pod's or a PersistentVolume's specification."""

Labels = Mapping[str, str]
Expression = Mapping[str, Any]


class TranslationError(ValueError):
    """An in-tree volume cannot be expressed as a CSI volume."""


class InTree(Struct, frozen=True):
    """An in-tree plugin and the CSI driver that supersedes it."""

    plugin: str
    driver: str
    handle: Callable[[Source, Labels], str] | None = None
    """Source and the PersistentVolume's labels → volume handle. None: never migrated on a node."""
    topology_key: str = ""
    """Zone label of the driver's nodes; empty if affinities stay as they are."""


def _ebs_handle(source: Source, labels: Labels) -> str:
    """Return ``vol-…`` of ``aws://zone/vol-…``; any other text as it is (KubernetesVolumeIDToEBSVolumeID)."""
    del labels
    text: str = source.get("volumeID") or ""
    if not text.startswith("aws://"):
        return text
    try:
        found = _url_path(text).strip("/")
        if not re.fullmatch(r"vol-[^/]*", found):
            raise TranslationError(f"Invalid format for AWS volume ({text})")
    except TranslationError as error:
        raise TranslationError(f"failed to translate Kubernetes ID to EBS Volume ID {error}") from None
    return found


def _url_path(text: str) -> str:
    """Return the unescaped path of a URL with an authority (net/url.Parse)."""
    authority, slash, path = re.split("[?#]", text.partition("://")[2])[0].partition("/")
    port = re.search(":[^:]*$", authority)
    if re.search("[\x00-\x1f\x7f]", text):
        problem = "net/url: invalid control character in URL"
    elif escape := re.search("%(?![0-9A-Fa-f]{2}).{0,2}", path):
        problem = f'invalid URL escape "{escape[0]}"'
    elif port and not port[0][1:].isdecimal() and port[0] != ":":
        problem = f'invalid port "{port[0]}" after host'
    else:
        return unquote(slash + path)
    shown = re.sub("[\x00-\x1f\x7f]", lambda found: repr(found[0])[1:-1], text)
    raise TranslationError(f'Invalid disk name ({text}): parse "{shown}": {problem}')


def _gce_handle(source: Source, labels: Labels) -> str:
    """Return the path of the disk in its zone, or in its region if the volume has several zones."""
    zones = (labels.get(_BETA_ZONE) or labels.get(_ZONE) or "").split(_BETWEEN_ZONES)
    place = f"zones/{zones[0] or 'UNSPECIFIED'}" if len(zones) == 1 else f"regions/{_gce_region(zones)}"
    return f"projects/UNSPECIFIED/{place}/disks/{source.get('pdName') or ''}"


def _gce_region(zones: Sequence[str]) -> str:
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            raise TranslationError(
                "failed to get region from zones: zone in unexpected format, "
                f"expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"
            )
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        found = " ".join(f"{region}:{{}}" for region in sorted(regions))
        raise TranslationError(
            f"failed to get region from zones: multiple or no regions gotten from zones, got: map[{found}]"
        )
    return regions.pop()


def _azure_disk_handle(source: Source, labels: Labels) -> str:
    del labels
    kind = source.get("kind")
    if kind is not None and kind.lower() != "managed":
        raise TranslationError(f"kind({kind}) is not supported in csi migration")
    return source.get("diskURI") or ""


def _volume_id(source: Source, labels: Labels) -> str:
    del labels
    return source.get("volumeID") or ""


IN_TREE: Mapping[str, InTree] = {
    "awsElasticBlockStore": InTree(
        "kubernetes.io/aws-ebs", "ebs.csi.aws.com", _ebs_handle, "topology.ebs.csi.aws.com/zone"
    ),
    "gcePersistentDisk": InTree(
        "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", _gce_handle, "topology.gke.io/zone"
    ),
    "azureDisk": InTree("kubernetes.io/azure-disk", "disk.csi.azure.com", _azure_disk_handle),
    "cinder": InTree(
        "kubernetes.io/cinder",
        "cinder.csi.openstack.org",
        _volume_id,
        "topology.cinder.csi.openstack.org/zone",
    ),
    "portworxVolume": InTree("kubernetes.io/portworx-volume", "pxd.portworx.com", _volume_id),
    "azureFile": InTree("kubernetes.io/azure-file", "file.csi.azure.com"),
    "vsphereVolume": InTree("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
}
"""By the volume source's field, in pods and PersistentVolumes alike."""

BY_PLUGIN = {row.plugin: row for row in IN_TREE.values()}


def in_tree_source(owner: Mapping[str, Any]) -> tuple[InTree, Source] | None:
    """Return the in-tree source of a pod's volume or a PersistentVolume's specification, if any."""
    for field, row in IN_TREE.items():
        source = owner.get(field)
        if source is not None:
            return row, source
    return None


def is_migrated_on(csi_node: Manifest | None, plugin: str) -> bool:
    """Return whether a CSINode's annotation names the plugin (isPluginMigratedToCSIOnNode)."""
    annotations = ((csi_node or {}).get("metadata") or {}).get("annotations") or {}
    return plugin in (annotations.get(MIGRATED_PLUGINS) or "").split(",")


def is_translated(volume: Manifest, csi_node: Manifest | None) -> bool:
    """Return whether a PersistentVolume counts as its driver's on a node (tryTranslatePVToCSI)."""
    found = in_tree_source(volume["spec"])
    return found is not None and found[0].handle is not None and is_migrated_on(csi_node, found[0].plugin)


def translated_affinity(volume: Manifest) -> Mapping[str, Any] | None:
    """Return the node affinity of an in-tree PersistentVolume as its driver has it (TranslateInTreePVToCSI).

    Raises:
        TranslationError: The volume cannot be expressed as the driver's.
    """
    found = in_tree_source(volume["spec"])
    assert found is not None
    row, source = found
    labels = volume["metadata"].get("labels") or {}
    if row.handle is not None:
        row.handle(source, labels)
    return csi_affinity(volume["spec"].get("nodeAffinity"), labels, row.topology_key)


def csi_affinity(
    affinity: Mapping[str, Any] | None, labels: Labels, topology_key: str
) -> Mapping[str, Any] | None:
    """Return a volume's node affinity with the driver's zone label (translateTopologyFromInTreeToCSI).

    The zones are those of the affinity, else those of the volume's labels. An affinity that names the beta
    zone label gets the stable region label too.
    """
    if not topology_key:
        return affinity
    terms: list[Mapping[str, Any]] = list(
        ((affinity or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    )
    zone, region = _labels_used(terms, labels)
    if _names_values(terms, zone):
        terms = _renamed(terms, zone, topology_key)
    elif zones := sorted({z.strip() for z in labels.get(zone, "").split(_BETWEEN_ZONES)} - {""}):
        terms = _added(terms, {"key": topology_key, "operator": "In", "values": zones})
    if region != _REGION and _names_values(terms, region):
        terms = _renamed(terms, region, _REGION)
    return _with_terms(affinity, terms)


def _with_terms(
    affinity: Mapping[str, Any] | None, terms: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any] | None:
    required = (affinity or {}).get("required")
    if required is None and not terms:
        return affinity
    return {**(affinity or {}), "required": {**(required or {}), "nodeSelectorTerms": list(terms)}}


def _labels_used(terms: Sequence[Mapping[str, Any]], labels: Labels) -> tuple[str, str]:
    """Return which zone and region labels a volume uses, stable or beta (getTopologyLabel)."""
    keys = {expression["key"] for term in terms for expression in _expressions(term)}
    for present in (keys, labels):
        if _ZONE in present:
            return _ZONE, _REGION
        if _BETA_ZONE in present:
            return _BETA_ZONE, _BETA_REGION
    return _ZONE, _REGION


def _expressions(term: Mapping[str, Any]) -> Sequence[Expression]:
    return term.get("matchExpressions") or ()


def _names_values(terms: Sequence[Mapping[str, Any]], key: str) -> bool:
    return any(e["key"] == key and e.get("values") for term in terms for e in _expressions(term))


def _renamed(terms: Sequence[Mapping[str, Any]], key: str, new: str) -> list[Mapping[str, Any]]:
    def renamed(e: Expression) -> Expression:
        return {**e, "key": new} if e["key"] == key else e

    return [{**term, "matchExpressions": list(map(renamed, _expressions(term)))} for term in terms]


def _added(terms: Sequence[Mapping[str, Any]], expression: Expression) -> list[Mapping[str, Any]]:
    return [{**term, "matchExpressions": [*_expressions(term), expression]} for term in terms or ({},)]
