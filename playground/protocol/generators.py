"""The types of what is sent: making."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from playground.protocol.declarations import row
from playground.protocol.page import FieldProblemWire
from scheduler_core.authoring.recipes import FittedPods, Recipe  # noqa: F401 - FittedPods is a part of Recipe


class ObjectRecordWire(TypedDict):
    kind: str
    name: str
    index: int
    step: str
    yaml: str
    revisions: Sequence[str]
    start: bool


class OperationWire(TypedDict):
    """What happens from outside; `after` is the cycle that it lands after."""

    id: str
    action: Literal["create", "patch", "delete", "done"]
    kind: str
    name: str
    words: str
    during: bool
    pinned: bool
    seconds: float | None
    after: int | None
    step: str | None


class RewrittenWire(TypedDict):
    """The text of a draft with a change to it."""

    text: str
    rewritten: bool
    words: str
    step: str | None


_FieldChoice = Annotated[Sequence[Any], row(value=str, label=str)]


class FieldWire(TypedDict):
    name: str
    label: str
    type: str
    default: str
    placeholder: str
    hint: str
    section: str
    suggest: str
    choices: NotRequired[Sequence[_FieldChoice]]


class FormWire(TypedDict):
    kind: str
    title: str
    text: str
    fields: Sequence[FieldWire]


_PriorityClass = Annotated[Sequence[Any], row(name=str, value=int)]


class KnownWire(TypedDict):
    """What exists, for the fields that suggest it."""

    priorityClasses: Sequence[_PriorityClass]
    nodes: Sequence[str]
    zones: Sequence[str]
    labels: Sequence[str]
    selectors: Sequence[str]
    taints: Sequence[str]
    resources: Sequence[str]
    podLabels: Sequence[str]
    claims: Sequence[str]
    claimKeys: Sequence[str]
    volumes: Sequence[str]
    storageClasses: Sequence[str]
    namespaces: Sequence[str]


class FormDraftWire(TypedDict):
    documents: str
    count: int
    words: str
    errors: Sequence[FieldProblemWire]
    notes: Sequence[str]
    known: KnownWire


_GroupDraftDialect = Annotated[Sequence[Any], row(id=str, apiVersion=str, lacks=Sequence[str])]


class GroupDraftWire(TypedDict):
    documents: str
    words: str
    errors: Sequence[FieldProblemWire]
    doubts: Sequence[FieldProblemWire]
    notes: Sequence[str]
    defaults: Mapping[str, str]
    dialects: Sequence[_GroupDraftDialect]
    priorityClasses: Sequence[_PriorityClass]
    coscheduling: bool
    configuration: Literal["Policy", "KubeSchedulerConfiguration", ""]


class NamedRecipeWire(TypedDict):
    name: str
    title: str
    recipe: Recipe


class RecipesWire(TypedDict):
    top: Sequence[FieldWire]
    pools: Sequence[FieldWire]
    workloads: Sequence[FieldWire]
    fit: Sequence[FieldWire]
    shapes: Mapping[str, Mapping[str, str]]
    recipes: Sequence[NamedRecipeWire]


_ClusterSummaryRow = Annotated[Sequence[Any], row(workload=str, pods=int)]


class ClusterSummaryWire(TypedDict):
    nodes: int
    cpu: int
    memory: int
    gpus: int
    pods: int
    wantedCpu: int
    wantedMemory: int
    wantedGpus: int
    workloads: int
    rows: Sequence[_ClusterSummaryRow]
    interactive: bool


class GeneratedClusterWire(TypedDict):
    bundle: str
    documents: int
    shown: int
    summary: ClusterSummaryWire
    errors: Sequence[FieldProblemWire]


_NodeDifferenceLine = Annotated[Sequence[Any], row(sign=Literal["-", "+", " ", "…"], text=str)]


class NodeDifferenceWire(TypedDict):
    name: str
    lines: Sequence[_NodeDifferenceLine]


class BulkPreviewWire(TypedDict):
    nodes: int
    chosen: int
    names: Sequence[str]
    absent: Sequence[str]
    changed: int
    words: str
    difference: Sequence[NodeDifferenceWire]
    errors: Sequence[FieldProblemWire]
