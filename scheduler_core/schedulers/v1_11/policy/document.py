"""A v1 Policy among the documents of a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.names import nearest
from scheduler_core.kubernetes.readers import At, show

POLICY_VERSION = "v1"
_FIELDS = frozenset(
    "predicates priorities hardPodAffinitySymmetricWeight alwaysCheckAllPredicates extenders".split()
)


def is_policy(value: Mapping[str, Any], at: At) -> bool:
    """Return whether a document is, or is intended as, a scheduler's Policy; report an error on the latter.

    Other systems have a kind Policy too: one of another API group without any of the scheduler's fields
    belongs to them.
    """
    kind, version = value.get("kind"), value.get("apiVersion")
    version = POLICY_VERSION if version is None else version
    if kind == "Policy" and version == POLICY_VERSION:
        return True
    ours = not _FIELDS.isdisjoint(value)
    if kind == "Policy" and (ours or not isinstance(version, str) or "/" not in version):
        at.child("apiVersion").error(
            f"the scheduler's Policy has the apiVersion {POLICY_VERSION}, not {show(version)}"
        )
    elif ours and kind is None:
        at.error("kind is missing: write kind: Policy, apiVersion: v1")
    elif ours and isinstance(kind, str) and nearest(kind, ["Policy"]) and "/" not in str(version):
        at.child("kind").error(f"{show(kind)} is not a kind: did you mean 'Policy'?")
    else:
        return False
    return True
