"""The forms as one table: a kind, its fields, and the manifests that they define."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.authoring.forms.cluster import (
    BUDGET_FIELDS,
    CLASS_FIELDS,
    POOL_FIELDS,
    SERVICE_FIELDS,
    budget,
    node_pool,
    priority_class,
    service,
)
from scheduler_core.authoring.forms.fields import FormField, Problems, Values
from scheduler_core.authoring.forms.queues import FLAVOR_FIELDS, QUEUE_FIELDS, flavor, team
from scheduler_core.authoring.forms.storage import (
    CLAIM_FIELDS,
    STORAGE_CLASS_FIELDS,
    VOLUME_FIELDS,
    claim,
    storage_class,
    volume,
)
from scheduler_core.authoring.forms.workloads import (
    DAEMON_FIELDS,
    DEPLOYMENT_FIELDS,
    JOB_FIELDS,
    POD_OF_ITS_OWN_FIELDS,
    STATEFUL_FIELDS,
    daemon_set,
    deployment,
    job,
    pods,
    stateful_set,
)
from scheduler_core.kubernetes.manifests import Manifest


class ManifestForm(Struct, frozen=True):
    """One row: the form's title, its purpose, its fields and the function that builds the manifests.

    ``check`` adds checks that involve several fields.
    """

    kind: str
    title: str
    text: str
    fields: tuple[FormField, ...]
    make: Callable[[Values], list[Manifest]]
    check: Callable[[Values], Problems] = lambda _: []

    def field_of(self, path: str) -> str:
        """Return the field that a path of one of the manifests came from, "" if none."""
        places = ((field.place, field.name) for field in self.fields if field.place)
        found = next((name for place, name in places if re.search(place, path)), "")
        if found:
            return found
        return "name" if re.search(r"metadata|selector|containers\[0\]\.image", path) else ""

    def wire(self) -> dict[str, Any]:
        """Return the form as the browser needs it."""
        return {
            "kind": self.kind,
            "title": self.title,
            "text": self.text,
            "fields": [field.wire() for field in self.fields],
        }


def _range(values: Values) -> Problems:
    if bool(values["minAvailable"]) == bool(values["maxUnavailable"]):
        return [("minAvailable", "set either this or maxUnavailable, not both")]
    return []


def _claimed(values: Values) -> Problems:
    if values["claimName"] and not values["storage"]:
        return [("storage", "set the size of each pod's claim, such as 10Gi")]
    if values["storage"] and not values["claimName"]:
        return [("claimName", "set the name of the claim, such as data")]
    return []


FORMS: Mapping[str, ManifestForm] = {
    form.kind: form
    for form in (
        ManifestForm("NodePool", "Node pool", "Nodes of one size, spread over zones", POOL_FIELDS, node_pool),
        ManifestForm(
            "Deployment",
            "Deployment",
            "Pods that are replaced when deleted",
            DEPLOYMENT_FIELDS,
            deployment,
        ),
        ManifestForm(
            "StatefulSet",
            "StatefulSet",
            "Numbered pods, each with a claim of its own",
            STATEFUL_FIELDS,
            stateful_set,
            _claimed,
        ),
        ManifestForm("DaemonSet", "DaemonSet", "One pod on each node", DAEMON_FIELDS, daemon_set),
        ManifestForm("Job", "Job", "Pods that run to completion", JOB_FIELDS, job),
        ManifestForm("Pod", "Pod", "One or more pods without a controller", POD_OF_ITS_OWN_FIELDS, pods),
        ManifestForm("Service", "Service", "Spreads the pods that it selects", SERVICE_FIELDS, service),
        ManifestForm(
            "PriorityClass",
            "PriorityClass",
            "Scheduling order, and which pods may preempt others",
            CLASS_FIELDS,
            priority_class,
        ),
        ManifestForm(
            "PodDisruptionBudget",
            "PodDisruptionBudget",
            "How many pods must remain available under preemption",
            BUDGET_FIELDS,
            budget,
            _range,
        ),
        ManifestForm(
            "PersistentVolume",
            "PersistentVolume",
            "A disk, perhaps in one zone or on one node",
            VOLUME_FIELDS,
            volume,
        ),
        ManifestForm(
            "PersistentVolumeClaim", "PersistentVolumeClaim", "What a pod asks for", CLAIM_FIELDS, claim
        ),
        ManifestForm(
            "StorageClass",
            "StorageClass",
            "When claims are bound, and by which provisioner",
            STORAGE_CLASS_FIELDS,
            storage_class,
        ),
        ManifestForm(
            "ClusterQueue",
            "Kueue: a team's queue",
            "Quota that its Jobs wait for, with a LocalQueue of its name",
            QUEUE_FIELDS,
            team,
        ),
        ManifestForm(
            "ResourceFlavor",
            "Kueue: a flavor",
            "Nodes that quota is of, by their labels",
            FLAVOR_FIELDS,
            flavor,
        ),
    )
}
"""All of them, in the order in which they are offered. The one for a PodGroup is in ``grouping``."""
