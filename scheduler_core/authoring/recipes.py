"""The fields of the recipe of a generated cluster, and sample recipes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, convert

from scheduler_core.authoring.forms.cluster import MOST_ZONES
from scheduler_core.authoring.forms.fields import FormField
from scheduler_core.authoring.generated_workloads import CLASSES, SHAPES

FieldText = str | int | float
"""A field as it is typed; JSON may have a number in its place."""
Row = Mapping[str, FieldText]


class FittedPods(Struct, frozen=True):
    """Pods that are drawn from a fitted workload."""

    workload: Annotated[str, Meta(description="The text that `podstep fit --save` writes")]
    count: FieldText | UnsetType = UNSET

    @property
    def row(self) -> Row:
        """The fields of :data:`FIT_FIELDS` that are given."""
        return {} if self.count is UNSET else {"count": self.count}


class Recipe(Struct, frozen=True, omit_defaults=True):
    """A recipe of a cluster: fields as listed by GET /api/generate, each a text or a number."""

    seed: FieldText | UnsetType = UNSET
    zones: FieldText | UnsetType = UNSET
    namespace: FieldText | UnsetType = UNSET
    pools: Sequence[Row] = ()
    workloads: Sequence[Row] = ()
    fit: FittedPods | UnsetType = UNSET

    @property
    def row(self) -> Row:
        """The fields of :data:`TOP_FIELDS` that are given."""
        given = {"seed": self.seed, "zones": self.zones, "namespace": self.namespace}
        return {name: value for name, value in given.items() if value is not UNSET}


MOST_POOLS = 20
MOST_WORKLOADS = 40
MOST_NODES = 20_000
MOST_PODS = 150_000  # as Kubernetes supports in one cluster

TOP_FIELDS = (
    FormField(
        "seed", "Seed", "integer", "1", "1", "the same seed generates the same cluster", high=2**31 - 1
    ),
    FormField(
        "zones", "Zones", "integer", "3", "3", "every pool is spread over them", low=0, high=MOST_ZONES
    ),
    FormField("namespace", "Namespace", "name", "default", "default"),
)
POOL_FIELDS = (
    FormField("name", "Pool", "name", "general", "general", required=True),
    FormField("count", "Nodes", "integer", "10", "10", low=1, high=MOST_NODES, required=True),
    FormField("cpu", "cpu", "cpu", "8", "8", required=True, missing="write 8 or 3920m, for example"),
    FormField(
        "memory", "memory", "quantity", "32Gi", "32Gi", required=True, missing=("write 32Gi, for example")
    ),
    FormField("pods", "pods", "integer", "110", "110", low=0, high=10_000, required=True),
    FormField("gpus", "GPUs", "integer", "", "0", high=64),
    FormField("zones", "Zones", "integer", "", "all", "over how many of them", low=0, high=MOST_ZONES),
    FormField("labels", "Labels", "labels", "", "disk=ssd"),
    FormField("taints", "Taints", "taints", "", "gpu=yes:NoSchedule"),
    FormField("cordoned", "Cordoned, %", "integer", "", "0", high=100),
)
WORKLOAD_FIELDS = (
    FormField("name", "Workload", "name", "web", "web", required=True),
    FormField(
        "shape",
        "Shape",
        "choice",
        "web",
        choices=tuple((shape.name, shape.text) for shape in SHAPES.values()),
        required=True,
    ),
    FormField("count", "How many", "integer", "1", "1", low=1, high=1_000, required=True),
    FormField("replicas", "Pods each", "text", "", "2-10"),
    FormField("cpu", "cpu / pod", "text", "", "100m-1"),
    FormField("memory", "memory / pod", "text", "", "128Mi-1Gi"),
    FormField("gpus", "GPUs / pod", "text", "", "0"),
    FormField(
        "team", "Kueue team", "name", "", "", "of Jobs: they wait for this team's share of the cluster"
    ),
    FormField(
        "priority",
        "Priority",
        "choice",
        "",
        choices=(
            ("", "none"),
            *((name, f"{name} ({value})") for name, value in CLASSES.items()),
            ("mixed", "mixed"),
        ),
    ),
    FormField(
        "affinity",
        "Its pods",
        "choice",
        "",
        choices=(
            ("", "as the shape sets it"),
            ("none", "anywhere"),
            ("preferred-hostname", "spread over nodes"),
            ("preferred-zone", "spread over zones"),
            ("required-hostname", "at most one per node"),
            ("together-zone", "in one zone, preferred"),
        ),
    ),
    FormField("nodeSelector", "Node selector", "labels", "", "pool=gpu"),
    FormField("tolerations", "Tolerations", "tolerations", "", "gpu=yes:NoSchedule"),
)

FIT_FIELDS = (
    FormField("count", "Pods of the trace", "integer", "1000", "1000", low=1, high=MOST_PODS, required=True),
)
"""Of a recipe's ``fit``, beside its ``workload``, the JSON that ``podstep fit --save`` writes."""

_SAMPLES: Mapping[str, tuple[str, object]] = {
    "small": (
        "Ten nodes and a shop",
        {
            "seed": "1",
            "zones": "3",
            "pools": [{"name": "general", "count": "10", "cpu": "4", "memory": "16Gi"}],
            "workloads": [
                {
                    "name": "web",
                    "shape": "web",
                    "count": "6",
                    "replicas": "2-8",
                    "cpu": "250m-1500m",
                    "memory": "512Mi-6Gi",
                },
                {"name": "agent", "shape": "daemon", "count": "1"},
            ],
        },
    ),
    "mixed": (
        "A hundred nodes in three pools",
        {
            "seed": "1",
            "zones": "3",
            "pools": [
                {"name": "general", "count": "70"},
                {"name": "memory", "count": "20", "cpu": "16", "memory": "128Gi", "labels": "disk=ssd"},
                {
                    "name": "gpu",
                    "count": "10",
                    "cpu": "32",
                    "memory": "128Gi",
                    "gpus": "4",
                    "taints": "gpu=yes:NoSchedule",
                },
            ],
            "workloads": [
                {
                    "name": "web",
                    "shape": "web",
                    "count": "30",
                    "replicas": "3-24",
                    "cpu": "100m-2",
                    "memory": "256Mi-8Gi",
                },
                {"name": "db", "shape": "stateful", "count": "8", "nodeSelector": "disk=ssd"},
                {"name": "train", "shape": "gpu", "count": "6", "tolerations": "gpu=yes:NoSchedule"},
                {"name": "report", "shape": "batch", "count": "10", "priority": "low"},
                {"name": "agent", "shape": "daemon", "count": "2", "tolerations": "*"},
            ],
        },
    ),
    "thousand": (
        "A thousand nodes",
        {
            "seed": "1",
            "zones": "3",
            "pools": [
                {"name": "general", "count": "800"},
                {"name": "large", "count": "200", "cpu": "32", "memory": "128Gi"},
            ],
            "workloads": [
                {"name": "web", "shape": "web", "count": "60", "replicas": "5-40"},
                {"name": "report", "shape": "batch", "count": "20", "replicas": "10-60", "priority": "mixed"},
            ],
        },
    ),
    "empty": (
        "Nodes alone",
        {
            "seed": "1",
            "zones": "3",
            "pools": [{"name": "node", "count": "3", "cpu": "4", "memory": "16Gi"}],
            "workloads": [],
        },
    ),
}
RECIPES = {name: (title, convert(sample, Recipe)) for name, (title, sample) in _SAMPLES.items()}
"""Sample recipes: their title and content; fields that are left out have their defaults."""
