"""Kueue's objects of a bundle: what its controllers start with, and what of it is not simulated."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from scheduler_core.cluster.kueue.acceptance import WRONG, check_configuration, refusals
from scheduler_core.cluster.kueue.actor import KINDS
from scheduler_core.cluster.kueue.configuration import left_out
from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.kubernetes.admission import uid_for
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.readers import At, Report, show
from scheduler_core.kubernetes.support import part_of
from scheduler_core.scenario.kueue import GROUP, WORKLOAD_LISTS, KueueSetup, is_of_kueue

CONFIGURATION = "Configuration"
_CLUSTERS = frozenset(KINDS) - {"LimitRange", "LocalQueue", "Workload"}


def taken(
    ignored: dict[str, list[BundleEntry]], namespaces: Iterable[BundleEntry], report: Report
) -> KueueSetup:
    """Take Kueue's objects from the ignored documents; warn of those that the API server would refuse."""
    listed = [one for kind in KINDS for one in ignored.get(kind, ()) if _is_read(one)]
    configured = [one for one in ignored.get(CONFIGURATION, ()) if is_of_kueue(one.value.get("apiVersion"))]
    for entries in (listed, configured):
        _remove(ignored, [one for one in entries if is_of_kueue(one.value.get("apiVersion"))])
    documents = [
        stored(one.value) for one in chain(namespaces, listed) if _is_sound(one, At(report, None, one))
    ]
    configuration = next((_configuration(one, At(report, None, one)) for one in configured), None)
    _warn_of_checks(listed, report)
    return KueueSetup(tuple(documents), configuration)


def _is_read(entry: BundleEntry) -> bool:
    group = str(entry.value.get("apiVersion")).partition("/")[0]
    return group == GROUP or entry.kind in ("LimitRange", "RuntimeClass")


def _remove(ignored: dict[str, list[BundleEntry]], taken_: Iterable[BundleEntry]) -> None:
    for entry in taken_:
        ignored[entry.kind].remove(entry)
        if not ignored[entry.kind]:
            del ignored[entry.kind]


def _is_sound(entry: BundleEntry, at: At) -> bool:
    """Return whether an object can be read; a warning says why not."""
    found = refusals(dict(entry.value))
    for text in found[:1]:
        at.child("spec").warn(f"Kueue's API refuses this {entry.kind}, which is left out: {text}")
    return not found


def check(manifest: Document, at: At) -> None:
    """Report what is wrong with an object that an operation creates or changes."""
    for text in refusals(dict(manifest))[:1]:
        at.child("spec").error(f"Kueue's API refuses this {manifest['kind']}: {text}")


def check_status(manifest: Document, at: At) -> bool:
    """Report rows of a Workload's status that an operation may not write; return whether there are none."""
    status = part_of(manifest, "status")
    wrong = [name for name, by in WORKLOAD_LISTS.items() if not _names_rows(part_of(status, name), by)]
    for name in wrong:
        at.child("status").child(name).error(f"must be a list of rows with {WORKLOAD_LISTS[name]}")
    checks = () if wrong else part_of(status, "admissionChecks") or ()
    states = [one.get("state") for one in checks if one.get("state") not in STATES]
    for state in states[:1]:
        at.child("status").child("admissionChecks").error(
            f"{show(state)} is no state of an admission check: write {', '.join(STATES)}"
        )
    return not wrong and not states


STATES = ("Pending", "Ready", "Retry", "Rejected")


def _names_rows(rows: Any, by: str) -> bool:
    listed = isinstance(rows, list) and all(isinstance(part_of(one, by), str) for one in rows)
    return rows is None or listed


def stored(manifest: Document) -> Document:
    """Return a manifest as the API server stores it."""
    meta = dict(manifest["metadata"])
    namespace = "" if manifest["kind"] in _CLUSTERS else meta.get("namespace") or "default"
    made = {"uid": uid_for(manifest["kind"], namespace, meta["name"]), **meta}
    return {**manifest, "metadata": {**made, "namespace": namespace} if namespace else made}


def _configuration(entry: BundleEntry, at: At) -> Document | None:
    try:
        check_configuration(entry.value)
        gaps = list(left_out(entry.value))
    except WRONG as error:
        at.warn(f"Kueue's Configuration cannot be read, its defaults are used: {error}")
        return None
    for gap in gaps:
        at.warn(f"of Kueue's Configuration {gap} is not simulated")
    return entry.value


def _warn_of_checks(entries: Iterable[BundleEntry], report: Report) -> None:
    checks = [one for one in entries if one.kind == "AdmissionCheck"]
    if checks:
        names = ", ".join(sorted(str(part_of(one.value, "metadata", "name")) for one in checks)[:3])
        more = f" and {len(checks) - 3:,} more" if len(checks) > 3 else ""
        At(report, None, checks[0]).child("spec").warn(
            "no controller answers admission checks here: Workloads wait until an operation patches their "
            f"status.admissionChecks ({names}{more})"
        )
