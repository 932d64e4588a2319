"""kube-scheduler-simulator's snapshot: one object with lists of manifests without kind and apiVersion.

Objects that the simulator skips when it loads a snapshot are left out: the PriorityClasses and namespaces
that every cluster has. A volume is linked to its claim by name, because the claim's uid differs each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.formats.limits import FormatError
from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.readers import Steps, kind_of, path_text

Item = tuple[Manifest, Steps]

CONFIG = "schedulerConfig"
LISTS: Mapping[str, tuple[str, str]] = {
    "namespaces": ("v1", "Namespace"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "pvs": ("v1", "PersistentVolume"),
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
}
"""The lists of a snapshot, in the order in which the simulator applies them, with their items' kinds."""

CONFIG_VERSION, CONFIG_KIND = "kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration"
_NOT_OF_IT = frozenset(("kind", "apiVersion", "metadata", "spec", "items", "event"))
_WRAPPED = "Wrapped"


def is_snapshot(value: Any) -> bool:
    """Return whether a document is a snapshot: it has at least one of the lists, and is not a manifest."""
    if not isinstance(value, dict) or not _NOT_OF_IT.isdisjoint(value):
        return False
    return any(name in value and isinstance(value[name], (list, type(None))) for name in LISTS)


def is_own(kind: str, name: str) -> bool:
    """Return whether an object exists by default in every cluster, so that a snapshot leaves it out."""
    if kind == "PriorityClass":
        return name.startswith("system-")
    return kind == "Namespace" and (name == "default" or name.startswith("kube-"))


def read_snapshot(value: Mapping[str, Any]) -> tuple[list[Item], list[str]]:
    """Return a snapshot's manifests, each with its path, and notes about what is left out or changed.

    Raises FormatError for an entry that is not a list of objects.
    """
    notes = []
    for key in value:
        if key not in LISTS and key != CONFIG:
            hint = did_you_mean(str(key), (*LISTS, CONFIG))
            notes.append(f"{str(key)[:60]!r} is ignored: it is not part of a snapshot{hint}")
    uids = _uids(value.get("pvcs"))
    items: list[Item] = []
    own = relinked = 0
    for name, (version, kind) in LISTS.items():
        for item, place in _items(value, name):
            manifest = {"apiVersion": version, "kind": kind, **item}
            if is_own(kind, _name(item)):
                own += 1
                continue
            if kind == "PersistentVolume":
                manifest, linked = _relinked(manifest, uids)
                relinked += linked
            items.append((manifest, place))
    if own:
        notes.append(f"{own} left out that every cluster has: PriorityClasses system-*, default and kube-*")
    if relinked:
        notes.append(f"{relinked} of the PersistentVolumes linked again with their claims, by name")
    config = value.get(CONFIG)
    if config is not None:
        if not isinstance(config, dict):
            raise FormatError(f"must be an object, not {kind_of(config)}", path=CONFIG)
        items.append((_configuration(config), (CONFIG,)))
    return items, notes


def _items(value: Mapping[str, Any], name: str) -> Iterator[tuple[Manifest, Steps]]:
    listed = value.get(name)
    if listed is None:
        return
    if not isinstance(listed, list):
        raise FormatError(f"must be a list, not {kind_of(listed)}", path=name)
    for index, item in enumerate(listed):
        place = (name, index)
        if not isinstance(item, dict):
            raise FormatError(f"must be an object, not {kind_of(item)}", path=path_text(place))
        yield item, place


def _meta(item: Any) -> Mapping[str, Any]:
    metadata = item.get("metadata") if isinstance(item, Mapping) else None
    return metadata if isinstance(metadata, Mapping) else {}


def _name(item: Any) -> str:
    return str(_meta(item).get("name") or "")


def _uids(claims: Any) -> dict[tuple[str, str], Any]:
    """Return the uids of the claims, by namespace and name."""
    listed = claims if isinstance(claims, list) else []
    return {(str(_meta(c).get("namespace") or "default"), _name(c)): _meta(c).get("uid") for c in listed}


def _relinked(volume: Manifest, uids: Mapping[tuple[str, str], Any]) -> tuple[Manifest, bool]:
    spec = volume.get("spec")
    ref = spec.get("claimRef") if isinstance(spec, Mapping) else None
    if not isinstance(spec, Mapping) or not isinstance(ref, Mapping):
        return volume, False
    uid = uids.get((str(ref.get("namespace") or "default"), str(ref.get("name"))))
    if ref.get("uid") == uid:
        return volume, False
    changed = {key: part for key, part in ref.items() if key != "uid"}
    if uid is not None:
        changed["uid"] = uid
    return {**volume, "spec": {**spec, "claimRef": changed}}, True


def _configuration(config: Manifest) -> Manifest:
    """Return the configuration with the plugins' own names: the simulator wraps each plugin."""
    named: Manifest = {"apiVersion": CONFIG_VERSION, "kind": CONFIG_KIND, **config}
    profiles = named.get("profiles")
    if isinstance(profiles, list):
        named["profiles"] = [_unwrapped(profile) for profile in profiles]
    return named


def _unwrapped(value: Any) -> Any:
    """Copy a profile with every plugin's ``name`` unwrapped; arguments are not changed."""
    if isinstance(value, list):
        return [_unwrapped(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    out = {key: part if key == "args" else _unwrapped(part) for key, part in value.items()}
    if isinstance(out.get("name"), str):
        out["name"] = out["name"].removesuffix(_WRAPPED)
    return out
