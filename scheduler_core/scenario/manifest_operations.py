"""Operations on the kinds that only kube-scheduler v1.37 reads: their manifests are all that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Literal

from msgspec import Struct

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.patch import patched_by
from scheduler_core.kubernetes.device_versions import GROUP, VERSIONS, in_version
from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.kinds import is_manifest_kind
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.readers import At
from scheduler_core.scenario import cron_jobs
from scheduler_core.scenario.kueue import WORKLOAD_LISTS, is_operated
from scheduler_core.schedulers.v1_37.fields import check_manifest

_LISTED = 2000


class Made(Struct, frozen=True):
    """What an operation does to an object; ``manifest`` is the complete one, ``None`` if it is deleted."""

    action: Literal["create", "update", "delete"]
    key: Key
    manifest: Mapping[str, Any] | None


class ManifestOperations:
    """The objects of these kinds, as the operations read so far leave them."""

    def __init__(
        self, initial: Iterable[BundleEntry], crons: Iterable[Mapping[str, Any]] | None = None
    ) -> None:
        """``crons`` are CronJobs that begin Jobs, and Kueue's objects; ``None`` without controllers."""
        known = (entry.value for entry in initial if is_manifest_kind(entry.value))
        self.documents: dict[Key, Mapping[str, Any]] = {
            document_key(one): one for one in chain(known, crons or ())
        }
        self._begins_jobs = crons is not None
        self._queues = any(map(is_operated, self.documents.values()))

    def knows(self, named: Mapping[str, Any], *, checked: bool) -> bool:
        """Return whether a manifest, or a typeMeta, is of a kind without a typed object that is changed.

        ``checked``: v1.37 reads its own kinds.
        """
        return (checked and is_manifest_kind(named)) or (
            self._begins_jobs
            and (named.get("kind") == cron_jobs.KIND or (self._queues and is_operated(named)))
        )

    def take(self, action: str, body: Mapping[str, Any], at: At) -> Made | None:
        """Return what an operation does, ``None`` after an error, which is reported at ``at``."""
        if action == "createOperation":
            return self._create(body["object"], at.child("object"))
        kind = body["type"]["kind"]
        if "meta" not in body:
            at.child("objectMeta").error(f"objectMeta is missing: name the {kind}")
            return None
        key = document_key({"kind": kind, "metadata": body["meta"]})
        if key not in self.documents and self._may_be_made(action, body, key):
            at.child("objectMeta").child("name").warn(
                f"there is no {kind} {key[1]} at the start: it is looked up when the operation takes effect"
            )
            self.documents[key] = {**body["type"], "metadata": dict(body["meta"]), "spec": {}}
        if key not in self.documents:
            known = [name for of, name in self.documents if of == kind][:_LISTED]
            hint = did_you_mean(key[1], known)
            at.child("objectMeta").child("name").error(f"there is no {kind} {key[1]} at this step{hint}")
            return None
        if action == "deleteOperation":
            del self.documents[key]
            return Made("delete", key, None)
        return self._patch(key, body, at)

    def _may_be_made(self, action: str, body: Mapping[str, Any], key: Key) -> bool:
        """Return whether Kueue may have made a Workload of a Job or a pod before its operation lands."""
        is_made = key[1].rpartition("/")[2].startswith(("job-", "pod-"))
        return action == "patchOperation" and key[0] == "Workload" and is_operated(body["type"]) and is_made

    def _create(self, manifest: Mapping[str, Any], at: At) -> Made | None:
        if not _is_named(manifest, at):
            return None
        key = document_key(manifest)
        if key in self.documents:
            at.child("metadata").child("name").error(f"{key[0]} {key[1]} exists already at this step")
            return None
        return self._store("create", key, manifest, at)

    def _patch(self, key: Key, body: Mapping[str, Any], at: At) -> Made | None:
        version = body["type"].get("apiVersion")
        if str(version).startswith(f"{GROUP}/") and version not in VERSIONS:
            at.child("typeMeta").child("apiVersion").error(
                f"{version} is not read: write {', '.join(VERSIONS)}"
            )
            return None
        at = at.child("patch")
        patched = patched_by(body, _patchable(in_version(self.documents[key], version)), at)
        if patched is None or not _is_named(patched, at):
            return None
        if document_key(patched) != key:
            at.error(f"must not change the kind, the name or the namespace of {key[0]} {key[1]}")
            return None
        return self._store("update", key, patched, at)

    def _store(
        self, action: Literal["create", "update"], key: Key, manifest: Mapping[str, Any], at: At
    ) -> Made | None:
        wrong = len(at.report.errors)
        if key[0] == cron_jobs.KIND:
            cron_jobs.check(manifest, at)
        elif is_operated(manifest):
            from scheduler_core.scenario.kueue_objects import check, check_status  # most have no queues

            if key[0] != "Workload" or (check_status(manifest, at) and not _is_part(manifest)):
                check(manifest, at)
        else:
            check_manifest(manifest, at)
        if len(at.report.errors) > wrong:
            return None
        kept = self.documents.get(key, {}).get("status")
        is_updated = action == "update" and key[0] == "Workload"
        self.documents[key] = {**manifest, "status": kept} if is_updated else manifest
        return Made(action, key, manifest)


def _patchable(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a patch applies to: a Workload's status is Kueue's, of which a patch has single rows."""
    if not is_operated(manifest) or manifest["kind"] != "Workload":
        return manifest
    return {**manifest, "status": {name: [] for name in WORKLOAD_LISTS}}


def _is_part(manifest: Mapping[str, Any]) -> bool:
    """Return whether only what a patch has of a Workload is known, as it is one that Kueue makes."""
    return "podSets" not in (manifest.get("spec") or {})


def _is_named(manifest: Any, at: At) -> bool:
    meta = manifest.get("metadata") if isinstance(manifest, Mapping) else None
    if isinstance(meta, Mapping) and isinstance(meta.get("name"), str) and meta["name"]:
        return True
    at.child("metadata").child("name").error("is required")
    return False
