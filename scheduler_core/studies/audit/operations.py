"""The operations of a case: a verb as on the command line, also on workloads that a dump lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.authoring.verb_targets import Targets, VerbError, VerbTarget, targets_of
from scheduler_core.authoring.verbs import Asked, entries, verb_of
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.scenario.history import landed_at

GROUPS = {"Job": "batch/v1", "ReplicationController": "v1"}
"""The apiVersion of workloads; of the others it is ``apps/v1``."""


def operations(
    documents: Sequence[Document], verb: str, targets: Sequence[str], value: str, second: float
) -> list[dict[str, Any]]:
    """Return the entries of a Scenario document that a verb is at a virtual second.

    Workloads are written as ``Kind/namespace/name``; one that the documents lack is assumed from its pods.

    Raises:
        VerbError: A node does not exist, or the value is none.
    """
    asked = Asked(verb, tuple(targets), value)
    row = verb_of(asked)
    try:
        found = targets_of(row.kinds, asked.targets, documents, landed_at(documents, second))
    except VerbError:
        assumed = [_assumed(one) for one in targets if one.partition("/")[0] in row.kinds]
        if not assumed:
            raise
        found = Targets(assumed, "")
    made = entries(asked, found, f"{second:g}")
    return [{"time": round(second + delay, 6), **entry} for delay, entry in made]


def _assumed(written: str) -> VerbTarget:
    kind, _, key = written.partition("/")
    return VerbTarget((kind, key), [{"kind": kind, "apiVersion": GROUPS.get(kind, "apps/v1")}])


def written(key: Key) -> str:
    """Return how a verb names an object: ``Deployment/default/web``, a node by its name."""
    return key[1] if key[0] == "Node" else f"{key[0]}/{key[1]}"
