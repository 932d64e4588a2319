"""Forms of storage: PersistentVolume, PersistentVolumeClaim, StorageClass."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.authoring.forms.fields import FormField, Values
from scheduler_core.authoring.forms.meta import NAMESPACE, manifest, meta, name_field
from scheduler_core.authoring.forms.pods import HOSTNAME, ZONE
from scheduler_core.kubernetes.manifests import Manifest

_MODES = tuple((mode, mode) for mode in ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"))
_MODE = FormField("accessMode", "Access", "choice", "ReadWriteOnce", choices=_MODES, place=r"accessModes")
_CLASS = FormField(
    "storageClass",
    "Storage class",
    "name",
    placeholder="none",
    suggest="storageClasses",
    place=r"storageClassName",
)
_SOURCES = (
    ("local", "local: on one node"),
    ("gcePersistentDisk", "GCE persistent disk"),
    ("awsElasticBlockStore", "AWS EBS"),
    ("nfs", "NFS"),
)

VOLUME_FIELDS = (
    name_field("volume"),
    FormField(
        "storage",
        "Capacity",
        "quantity",
        "10Gi",
        "10Gi",
        required=True,
        missing="write 10Gi, for example",
        place=r"capacity",
    ),
    _MODE,
    _CLASS,
    FormField("source", "Disk", "choice", "gcePersistentDisk", choices=_SOURCES),
    FormField("zone", "In zone", "text", placeholder="any", suggest="zones", place=r"labels"),
    FormField(
        "node",
        "On node",
        "name",
        placeholder="any",
        hint="as the affinity of a local volume",
        suggest="nodes",
        place=r"nodeAffinity",
    ),
)
CLAIM_FIELDS = (
    name_field("data"),
    NAMESPACE,
    FormField(
        "storage",
        "Storage",
        "quantity",
        "10Gi",
        "10Gi",
        required=True,
        missing="write 10Gi, for example",
        place=r"requests",
    ),
    _MODE,
    _CLASS,
    FormField(
        "volumeName",
        "Bound to volume",
        "name",
        placeholder="none: it is matched",
        suggest="volumes",
        place=r"volumeName",
    ),
)
STORAGE_CLASS_FIELDS = (
    name_field("standard"),
    FormField(
        "provisioner",
        "Provisioner",
        "text",
        "kubernetes.io/no-provisioner",
        hint="no-provisioner: only existing volumes",
        required=True,
        place=r"provisioner",
    ),
    FormField(
        "mode",
        "Claims are bound",
        "choice",
        "WaitForFirstConsumer",
        choices=(
            ("WaitForFirstConsumer", "when a pod with one is scheduled"),
            ("Immediate", "at once, before any pod"),
        ),
        place=r"volumeBindingMode",
    ),
    FormField("default", "The default for claims without a storage class", "flag", "false"),
)
_DISKS: Mapping[str, Callable[[str], Manifest]] = {
    "local": lambda name: {"path": f"/mnt/{name}"},
    "gcePersistentDisk": lambda name: {"pdName": name},
    "awsElasticBlockStore": lambda name: {"volumeID": name},
    "nfs": lambda name: {"server": "nfs.example.com", "path": f"/{name}"},
}


def volume(values: Values) -> list[Manifest]:
    """Return a PersistentVolume; a zone becomes its label, a node its node affinity."""
    spec: Manifest = {
        "capacity": {"storage": values["storage"]},
        "accessModes": [values["accessMode"] or "ReadWriteOnce"],
    }
    if values["storageClass"]:
        spec["storageClassName"] = values["storageClass"]
    if values["source"]:
        spec[values["source"]] = _DISKS[values["source"]](values["name"])
    if values["node"]:
        term = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [values["node"]]}]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    metadata = meta(values)
    if values["zone"]:
        metadata["labels"] = {ZONE: values["zone"]}
    return [manifest("v1", "PersistentVolume", metadata, spec=spec)]


def claim(values: Values) -> list[Manifest]:
    """Return a PersistentVolumeClaim."""
    spec: Manifest = {
        "accessModes": [values["accessMode"] or "ReadWriteOnce"],
        "resources": {"requests": {"storage": values["storage"]}},
    }
    if values["storageClass"]:
        spec["storageClassName"] = values["storageClass"]
    if values["volumeName"]:
        spec["volumeName"] = values["volumeName"]
    return [manifest("v1", "PersistentVolumeClaim", meta(values), spec=spec)]


def storage_class(values: Values) -> list[Manifest]:
    """Return a StorageClass; the default one is annotated as in Kubernetes."""
    metadata = meta(values)
    if values["default"]:
        metadata["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    rest = {"provisioner": values["provisioner"], "volumeBindingMode": values["mode"]}
    return [manifest("storage.k8s.io/v1", "StorageClass", metadata, **rest)]
