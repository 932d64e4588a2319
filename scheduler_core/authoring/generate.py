"""Clusters generated from a recipe: sizes, shapes, labels and a seed, the same on every machine.

A recipe consists of texts, like a form: a seed, node pools and workloads. The result for a pool or a workload
depends only on the seed and its own name, so that changing one leaves the others unchanged.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct, field

from scheduler_core.authoring.fitted_workload import (
    FittedWorkload,
    NodeShape,
    WorkloadFitError,
    drawn,
    nodes_of,
    read_amounts,
    read_fit,
    scenario_of,
)
from scheduler_core.authoring.forms.cluster import node, zone_name
from scheduler_core.authoring.forms.fields import FieldError, FormField, Problems, Values, amount, read
from scheduler_core.authoring.forms.meta import manifest
from scheduler_core.authoring.forms.pods import HOSTNAME, ZONE
from scheduler_core.authoring.forms.queues import GPU, teams
from scheduler_core.authoring.generated_workloads import (
    CLASSES,
    SHAPES,
    Drawn,
    WorkloadShape,
    workload_documents,
)
from scheduler_core.authoring.recipes import (
    FIT_FIELDS,
    MOST_NODES,
    MOST_PODS,
    MOST_POOLS,
    MOST_WORKLOADS,
    POOL_FIELDS,
    TOP_FIELDS,
    WORKLOAD_FIELDS,
    Recipe,
    Row,
)
from scheduler_core.authoring.trace_pods import TracePod
from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.kubernetes.model import Taint, Toleration
from scheduler_core.kubernetes.selectors import tolerates
from scheduler_core.kubernetes.shared_devices import COUNT

_RANGE = re.compile(r"(?P<low>[^-\s]+)\s*(?:-|to|…)\s*(?P<high>[^-\s]+)")


class ClusterTotals(Struct):
    """The totals of a generated cluster, in millicores and bytes, and its pods' requests."""

    nodes: int = 0
    cpu: int = 0
    memory: int = 0
    gpus: int = 0
    pods: int = 0
    wanted_cpu: int = 0
    wanted_memory: int = 0
    wanted_gpus: int = 0
    workloads: int = 0
    rows: list[tuple[str, int]] = field(default_factory=list)  # each workload's name and its number of pods


class GeneratedCluster(Struct, frozen=True):
    """The manifests of a recipe, their totals, and the recipe's errors (then there are no manifests)."""

    documents: tuple[Manifest, ...]
    summary: ClusterTotals
    problems: tuple[tuple[str, str], ...]


def generate(recipe: Recipe) -> GeneratedCluster:
    """Generate the cluster of a recipe: ``seed``, ``zones``, ``namespace``, ``pools`` and ``workloads``.

    With ``fit``, pods of a fitted workload come and go too; its nodes are there if there are no pools.
    Problems name fields as ``pools.0.cpu``. Never raises for any recipe.
    """
    top, problems = read(TOP_FIELDS, recipe.row)
    pools = _rows(recipe.pools, "pools", POOL_FIELDS, MOST_POOLS, problems)
    workloads = _rows(recipe.workloads, "workloads", WORKLOAD_FIELDS, MOST_WORKLOADS, problems)
    shaped = [_shaped(number, row, problems) for number, row in enumerate(workloads)]
    fit, fit_values = _fit(recipe, problems)
    shapes = fit.nodes if fit and not pools else ()
    if not pools and not shapes and not problems:
        problems.append(("pools", "at least one node pool is required"))
    if problems:
        return GeneratedCluster((), ClusterTotals(), tuple(problems))
    summary = ClusterTotals()
    nodes = sum(pool["count"] for pool in pools) + sum(shape.count for shape in shapes)
    if nodes > MOST_NODES:
        return GeneratedCluster(
            (), summary, (("pools", f"must be at most {MOST_NODES:,} nodes, not {nodes:,}"),)
        )
    made = [n for pool in pools for n in _pool(pool, top, summary)]
    made += _fitted_nodes(shapes, summary)
    made += _queues(workloads, top, summary)
    bare = {"name": "", "labels": {}, "taints": (), "count": sum(shape.count for shape in shapes)}
    made += _workloads(workloads, shaped, [*pools, bare], top, summary)
    if fit:
        made += _fitted_pods(drawn(fit, fit_values["count"], top["seed"] or 0), top, summary)
    if summary.pods > MOST_PODS:
        message = f"must be at most {MOST_PODS:,} pods, not {summary.pods:,}"
        return GeneratedCluster((), summary, (("workloads", message),))
    return GeneratedCluster(tuple(made), summary, ())


def _fit(recipe: Recipe, problems: Problems) -> tuple[FittedWorkload | None, Values]:
    """Return the fitted workload of a recipe, None without one, and the values of its fields."""
    if recipe.fit is UNSET or not recipe.fit.workload.strip():
        return None, {}
    values, wrong = read(FIT_FIELDS, recipe.fit.row)
    problems += [(f"fit.{name}", message) for name, message in wrong]
    try:
        return read_fit(recipe.fit.workload), values
    except WorkloadFitError as error:
        problems.append(("fit.workload", str(error)))
        return None, {}


def _fitted_nodes(shapes: Sequence[NodeShape], summary: ClusterTotals) -> list[Manifest]:
    for shape in shapes:
        amounts = {name: shape.count * amount for name, amount in read_amounts(shape.allocatable).items()}
        summary.nodes += shape.count
        summary.cpu += amounts.get("cpu", 0)
        summary.memory += amounts.get("memory", 0)
        summary.gpus += amounts.get(GPU, 0) + amounts.get(COUNT, 0)
    return list(nodes_of(shapes))


def _fitted_pods(pods: Sequence[TracePod], top: Values, summary: ClusterTotals) -> list[Manifest]:
    """Return the Scenario of a fitted workload; what its pods request counts as if all were there at once."""
    for pod in pods:
        summary.wanted_cpu += pod.requests.get("cpu", 0)
        summary.wanted_memory += pod.requests.get("memory", 0)
        summary.wanted_gpus += pod.requests.get(GPU, 0) + pod.requests.get(COUNT, 0)
    summary.pods += len(pods)
    summary.rows.append(("of the trace", len(pods)))
    return [scenario_of(pods, top["namespace"] or "default")] if summary.pods <= MOST_PODS else []


def _queues(workloads: Sequence[Values], top: Values, summary: ClusterTotals) -> list[Manifest]:
    """Return the queues of the teams: each has an equal part of the cluster as its quota."""
    names = {row["team"] for row in workloads if row["team"]}
    whole = {"cpu": summary.cpu // 1000, "memory": summary.memory, GPU: summary.gpus}
    return teams(names, top["namespace"] or "default", whole) if names else []


def _rows(
    rows: Sequence[Row], name: str, fields: Sequence[FormField], most: int, problems: Problems
) -> list[dict[str, Any]]:
    if len(rows) > most:
        problems.append((name, f"must be at most {most}, not {len(rows)}"))
        return []
    found = []
    names: set[str] = set()
    for number, row in enumerate(rows):
        values, wrong = read(fields, row)
        if values["name"] and values["name"] in names:
            wrong.append(("name", f"duplicate {values['name']!r}"))
        names.add(values["name"])
        problems += [(f"{name}.{number}.{what}", message) for what, message in wrong]
        found.append(values)
    return found


# --- node pools


def _pool(pool: Values, top: Values, summary: ClusterTotals) -> list[Manifest]:
    count = pool["count"]
    zones = top["zones"] or 0
    over = min(zones, pool["zones"]) if pool["zones"] is not None else zones
    amounts = {"cpu": pool["cpu"], "memory": pool["memory"], "pods": str(pool["pods"])}
    gpus = pool["gpus"] or 0
    if gpus:
        amounts["nvidia.com/gpu"] = str(gpus)
    cordoned = _drawn(f"{top['seed']}/{pool['name']}", count, count * (pool["cordoned"] or 0) // 100)
    width = max(2, len(str(count)))
    summary.nodes += count
    summary.cpu += count * amount(pool["cpu"], 1000)
    summary.memory += count * amount(pool["memory"])
    summary.gpus += count * gpus
    return [
        node(
            f"{pool['name']}-{number + 1:0{width}d}",
            pool["name"],
            zone_name(number % over) if over else "",
            amounts,
            pool["labels"],
            pool["taints"],
            cordoned=number in cordoned,
        )
        for number in range(count)
    ]


def _drawn(seed: str, among: int, many: int) -> set[int]:
    """Return ``many`` numbers below ``among``; only ``random()`` is stable across Python versions."""
    dice = random.Random(seed)  # noqa: S311 - the same cluster on every machine is the point
    keys = sorted((dice.random(), number) for number in range(among)) if many else []
    return {number for _, number in keys[:many]}


# --- workloads


def _shaped(number: int, row: dict[str, Any], problems: Problems) -> WorkloadShape | None:
    """Return the shape of a workload with the row's overrides. Problems are appended."""
    shape = SHAPES.get(row["shape"] or "")
    if shape is None:
        return None
    if row["team"] and shape.kind != "Job":
        problems.append((f"workloads.{number}.team", f"only Jobs are queued, not a {shape.kind}"))
    ranges: dict[str, tuple[int, int]] = {}
    for name, scale, most in (
        ("replicas", 1, 10_000),
        ("cpu", 1000, 2**40),
        ("memory", 1, 2**50),
        ("gpus", 1, 64),
    ):
        try:
            ranges[name] = _range(row[name], scale, most) if row[name] else getattr(shape, name)
        except FieldError as error:
            problems.append((f"workloads.{number}.{name}", str(error)))
            ranges[name] = getattr(shape, name)
    return WorkloadShape(
        shape.name, shape.text, shape.kind, **ranges, affinity=row["affinity"] or shape.affinity
    )


def _range(text: str, scale: int, most: int) -> tuple[int, int]:
    """Parse ``250m`` or ``100m-2``."""
    match = _RANGE.fullmatch(text)
    low, high = (match["low"], match["high"]) if match else (text, text)
    found = (amount(low, scale), amount(high, scale))
    if not found[0] <= found[1] <= most:
        raise FieldError(f"{text[:40]!r} must be a range from low to high, such as 100m-1")
    return found


def _welcome(pool: Values, row: Values) -> bool:
    """Return whether a DaemonSet runs on a pool's nodes, by their labels and its tolerations."""
    labels = {"pool": pool["name"], **pool["labels"]}
    if any(key in (ZONE, HOSTNAME) for key in row["nodeSelector"]):
        return True  # on some of them; the controller decides
    if not row["nodeSelector"].items() <= labels.items():
        return False
    tolerations = [Toleration(**given) for given in row["tolerations"]]
    return all(
        taint["effect"] == "PreferNoSchedule"
        or tolerates(tolerations, Taint(taint["key"], taint.get("value", ""), taint["effect"]))
        for taint in pool["taints"]
    )


def _workloads(
    rows: Sequence[Values],
    shaped: Sequence[WorkloadShape | None],
    pools: Sequence[Values],
    top: Values,
    summary: ClusterTotals,
) -> list[Manifest]:
    made: list[Manifest] = []
    classes: set[str] = set()
    for row, shape in zip(rows, shaped):
        if shape is None:
            continue
        dice = random.Random(f"{top['seed']}/{row['name']}/{row['shape']}")  # noqa: S311 - see above
        pods = 0
        daemons = sum(pool["count"] for pool in pools if _welcome(pool, row))
        width = len(str(row["count"]))
        for number in range(row["count"]):
            name = row["name"] if row["count"] == 1 else f"{row['name']}-{number + 1:0{width}d}"
            drawn = _draw(name, row, shape, dice)
            many = daemons if shape.kind == "DaemonSet" else drawn.replicas
            pods += many
            summary.wanted_cpu += many * drawn.cpu
            summary.wanted_memory += many * drawn.memory
            summary.wanted_gpus += many * drawn.gpus
            if summary.pods + pods <= MOST_PODS:
                made += workload_documents(drawn, shape, row, top["namespace"] or "default")
            if drawn.priority:
                classes.add(drawn.priority)
        summary.pods += pods
        summary.workloads += row["count"]
        summary.rows.append((row["name"], pods))
    levels = [
        manifest("scheduling.k8s.io/v1", "PriorityClass", {"name": name}, value=value)
        for name, value in CLASSES.items()
        if name in classes
    ]
    return levels + made


def _draw(name: str, row: Values, shape: WorkloadShape, dice: random.Random) -> Drawn:
    """Draw one workload: always the same count of numbers, so that a fixed size does not shift later ones."""
    replicas, cpu, memory, gpus, luck = (dice.random() for _ in range(5))
    levels = list(CLASSES)
    priority = row["priority"]
    if priority == "mixed":
        priority = levels[min(int(luck * len(levels)), len(levels) - 1)]
    return Drawn(
        name,
        _logarithmic(shape.replicas, replicas),
        _nice(_logarithmic(shape.cpu, cpu), shape.cpu, 50),
        _nice(_logarithmic(shape.memory, memory), shape.memory, 2**26),
        _logarithmic(shape.gpus, gpus),
        priority or "",
    )


def _logarithmic(bounds: tuple[int, int], luck: float) -> int:
    """Return a number within bounds, small ones more often, like the requests of real clusters."""
    low, high = bounds
    if low == high:
        return low
    start = max(low, 1)
    value = start * math.exp(luck * math.log((high + 1) / start))
    return min(high, int(value)) if low or luck * (high + 1) >= 1 else 0


def _nice(value: int, bounds: tuple[int, int], step: int) -> int:
    """Round to whole steps, as users write requests, without leaving the bounds."""
    low, high = bounds
    if low == high:
        return value
    return max(low, min(high, value // step * step or value))
