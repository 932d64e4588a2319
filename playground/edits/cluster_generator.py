"""A generated cluster for a page or a client: its text, its totals, and the errors of the recipe."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from msgspec import UNSET, to_builtins
from msgspec.structs import replace

from playground.limits import limit
from playground.pool.jobs import pool_job
from playground.protocol.generators import ClusterSummaryWire
from playground.storage import bundles
from scheduler_core import BundleError, load_documents
from scheduler_core.authoring.generate import GeneratedCluster, generate
from scheduler_core.authoring.generated_workloads import SHAPES
from scheduler_core.authoring.recipes import (
    FIT_FIELDS,
    POOL_FIELDS,
    RECIPES,
    TOP_FIELDS,
    WORKLOAD_FIELDS,
    Recipe,
    Row,
)
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.keys import document_key
from scheduler_core.kubernetes.quantity import format_resource
from scheduler_core.scenario.history_entries import SCENARIO_KIND

PREVIEW_DOCUMENTS = 60
LARGE_NUMBERS = 500  # nodes, workloads and replicas, beyond which generating them takes long
_NUMBER = re.compile(r"[0-9]{1,9}")


def generator() -> dict[str, Any]:
    """Return the generator's fields, the sizes of its shapes, and sample recipes."""
    return {
        "top": [field.wire() for field in TOP_FIELDS],
        "pools": [field.wire() for field in POOL_FIELDS],
        "workloads": [field.wire() for field in WORKLOAD_FIELDS],
        "fit": [field.wire() for field in FIT_FIELDS],
        "shapes": {name: _sizes(shape) for name, shape in SHAPES.items()},
        "recipes": [
            {"name": name, "title": title, "recipe": to_builtins(recipe)}
            for name, (title, recipe) in RECIPES.items()
        ],
    }


def _sizes(shape: Any) -> dict[str, str]:
    """Return the defaults of a shape's empty fields, as a user would type them."""
    ranges = {
        "replicas": [str(number) for number in shape.replicas],
        "cpu": [format_resource("cpu", number) for number in shape.cpu],
        "memory": [format_resource("memory", number) for number in shape.memory],
        "gpus": [str(number) for number in shape.gpus],
    }
    sizes = {name: low if low == high else f"{low}-{high}" for name, (low, high) in ranges.items()}
    if shape.kind == "DaemonSet":
        sizes["replicas"] = "one a node"
    return sizes


@pool_job
def generated(recipe: Recipe, *, whole: bool = False) -> dict[str, Any]:
    """Generate a recipe's cluster: ``bundle`` is all of it if ``whole``, otherwise a sample of it.

    Raises TooLargeError if the text is larger than a bundle may be.
    """
    made = _bounded(generate(recipe))
    documents = made.documents if whole else tuple(map(_begun, _sample(made.documents)))
    text = write_yaml(documents).removeprefix("---\n") if documents else ""
    if len(text) > limit("BUNDLE_BYTES"):
        raise bundles.TooLargeError(
            f"The cluster has {len(text):,} bytes of YAML; a bundle may have {limit('BUNDLE_BYTES'):,}."
        )
    problems = made.problems
    if whole and documents and not problems:
        problems = _refused(documents)
    return {
        "bundle": text,
        "documents": len(made.documents),
        "shown": len(documents),
        "summary": _summary(made),
        "errors": [{"field": field, "message": message} for field, message in problems],
    }


def is_large(recipe: Recipe) -> bool:
    """Return whether generating a recipe's cluster takes long, estimated from the numbers in it."""
    fit = () if recipe.fit is UNSET else (recipe.fit.row,)
    return sum(map(_number, (*recipe.pools, *recipe.workloads, *fit))) > LARGE_NUMBERS


def _number(row: Row) -> int:
    """Return the sum of the first whole numbers of a row's count and replicas."""
    counted = (_NUMBER.search(str(row.get(name))) for name in ("count", "replicas"))
    return sum(int(found[0]) for found in counted if found)


def _bounded(made: GeneratedCluster) -> GeneratedCluster:
    exceeded = []
    if made.summary.nodes > limit("NODES"):
        exceeded.append(("pools", f"must be at most {limit('NODES'):,} nodes, not {made.summary.nodes:,}"))
    if made.summary.pods > limit("PODS"):
        exceeded.append(("workloads", f"must be at most {limit('PODS'):,} pods, not {made.summary.pods:,}"))
    return replace(made, documents=(), problems=(*made.problems, *exceeded)) if exceeded else made


def _sample(documents: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    """Return a sample of the documents: the first ones of each kind, in their order."""
    if len(documents) <= PREVIEW_DOCUMENTS:
        return documents
    seen: dict[str, int] = {}
    kept = []
    for document in documents:
        kind = str(document["kind"])
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= PREVIEW_DOCUMENTS // 6:
            kept.append(document)
    return tuple(kept)


def _begun(document: dict[str, Any]) -> dict[str, Any]:
    """Return a Scenario with its first operations, any other document as it is."""
    if document["kind"] != SCENARIO_KIND:
        return document
    operations = document["spec"]["operations"][:PREVIEW_DOCUMENTS]
    return {**document, "spec": {"operations": operations}}


def _refused(documents: tuple[dict[str, Any], ...]) -> tuple[tuple[str, str], ...]:
    """Return the errors of the documents, such as two workloads whose numbered names collide."""
    # The loader would let the later one replace the earlier.
    several = [key for key, count in Counter(map(document_key, documents)).items() if count > 1]
    if several:
        return tuple(("", f"duplicate {kind} {name}: rename one of them") for kind, name in several[:5])
    try:
        load_documents(documents, limits=bundles.core_limits())
    except BundleError as error:
        return tuple(("", problem.message) for problem in error.problems[:5])
    return ()


def _summary(made: GeneratedCluster) -> ClusterSummaryWire:
    summary = made.summary
    return {
        "nodes": summary.nodes,
        "cpu": summary.cpu,
        "memory": summary.memory,
        "gpus": summary.gpus,
        "pods": summary.pods,
        "wantedCpu": summary.wanted_cpu,
        "wantedMemory": summary.wanted_memory,
        "wantedGpus": summary.wanted_gpus,
        "workloads": summary.workloads,
        "rows": [list(row) for row in summary.rows],
        "interactive": summary.nodes * max(summary.pods, 1) <= limit("INTERACTIVE_WORK"),
    }
