"""The openb GPU-cluster trace (CSV) as documents: Nodes, Pods, and a Scenario if the times are kept.

GPUs become the extended resources ``alibabacloud.com/gpu-count`` and ``alibabacloud.com/gpu-milli``
(1000 per GPU), a node's model its label ``alibabacloud.com/gpu-card-model``, a pod's ``gpu_spec``
required node affinity on that label. A pod that requests a share of one GPU (``gpu_milli`` below
1000) requests only the share: if it requested the whole card too, no card could be shared. A share is
placed on one GPU (:mod:`scheduler_core.kubernetes.shared_devices`).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from scheduler_core.formats.bundle import Bundle, BundleEntry, SourceText
from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.timed_pods import scenario_of_pods
from scheduler_core.kubernetes.names import check_name, check_value
from scheduler_core.kubernetes.shared_devices import COUNT, SHARE

NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
POD_COLUMNS = (
    "name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec",
    "qos", "pod_phase", "creation_time", "deletion_time", "scheduled_time",
)  # fmt: skip
_POD_NEEDS = POD_COLUMNS[:5]
GPU_COUNT, GPU_MILLI = COUNT, SHARE
GPU_MODEL = "alibabacloud.com/gpu-card-model"
_NOTES = {"qos": "qos", "pod_phase": "pod-phase", "scheduled_time": "scheduled-time"}
_PREFIX = "openb.podstep.dev/"
_MAX_PROBLEMS = 50
_CONDITIONS = [{"type": "Ready", "status": "True"}]


def read_tables(bundle: Bundle, limits: Limits, *, keep_times: bool) -> None:
    """Convert the bundle's CSV files to entries, nodes first; add problems to the bundle."""
    if not bundle.tables:
        return
    pods: list[tuple[SourceText, list[str]]] = []
    for source, header in bundle.tables:
        if header[0] == "name":
            pods.append((source, header))
            continue
        for number, row in _rows(source, header, NODE_COLUMNS[:4], bundle, limits):
            _take(bundle, source, number, _node, row)
    timed: list[tuple[float, float | None, BundleEntry]] = []
    untimed = False
    for source, header in pods:
        for number, row in _rows(source, header, _POD_NEEDS, bundle, limits):
            entry = _take(bundle, source, number, _pod, row)
            if entry is None:
                continue
            try:
                created, deleted = _time(row, "creation_time"), _time(row, "deletion_time")
            except FormatError as error:
                _fail(bundle, source, number, error.message)
                continue
            untimed = untimed or created is None
            timed.append((created or 0.0, deleted, entry))
    if keep_times and not untimed and timed:
        taken = {id(entry) for _, _, entry in timed}
        bundle.entries[:] = [e for e in bundle.entries if id(e) not in taken]
        lives = [(created, deleted, entry.value) for created, deleted, entry in timed]
        bundle.entries.append(BundleEntry(scenario_of_pods(lives, "trace"), "Scenario"))
        return
    order = sorted(range(len(timed)), key=lambda i: timed[i][0])
    taken_at = {id(entry) for _, _, entry in timed}
    rest = [e for e in bundle.entries if id(e) not in taken_at]
    bundle.entries[:] = rest + [timed[i][2] for i in order]


def _rows(
    source: SourceText, header: list[str], needed: tuple[str, ...], bundle: Bundle, limits: Limits
) -> Iterator[tuple[int, dict[str, str]]]:
    known = NODE_COLUMNS if header[0] == "sn" else POD_COLUMNS
    missing = [name for name in needed if name not in header]
    unknown = [name for name in header if name not in known]
    if missing:
        _fail(bundle, source, 1, f"the column {missing[0]} is missing: expected {','.join(known)}")
        return
    if unknown:
        bundle.warnings.append(
            (source, f"unknown column {unknown[0][:60]!r}: expected one of {', '.join(known)}")
        )
    import csv

    reader = csv.reader(io.StringIO(source.text), strict=True)
    try:
        for row in reader:
            if not row or (reader.line_num == 1) or row == header:
                continue
            if len(row) != len(header):
                _fail(
                    bundle, source, reader.line_num, f"{len(row)} columns where the header has {len(header)}"
                )
                continue
            yield reader.line_num, dict(zip(header, row))
            if len(bundle.entries) > limits.documents:
                raise FormatError(f"more than {limits.documents:,} rows", reader.line_num)
    except csv.Error as error:
        _fail(bundle, source, reader.line_num, f"not valid CSV: {error}")
    except FormatError as error:
        bundle.errors.append((source, error))


def _fail(bundle: Bundle, source: SourceText, line: int, message: str) -> None:
    if len(bundle.errors) < _MAX_PROBLEMS:
        bundle.errors.append((source, FormatError(message, line)))


def _take(
    bundle: Bundle, source: SourceText, number: int, build: Any, row: dict[str, str]
) -> BundleEntry | None:
    try:
        value = build(row)
    except FormatError as error:
        _fail(bundle, source, number, error.message)
        return None
    entry = BundleEntry(value, value["kind"], source, None)
    bundle.entries.append(entry)
    return entry


def _integer(row: dict[str, str], column: str) -> int:
    text = row.get(column) or "0"
    if text.isdecimal() and len(text) <= 15:
        return int(text)
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1e15:
        raise FormatError(f"{column} must be a number of at least 0, not {text[:40]!r}")
    return int(-(-number // 1))


def _time(row: dict[str, str], column: str) -> float | None:
    text = row.get(column)
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 1e12:
        raise FormatError(f"{column} must be seconds from the start, not {text[:40]!r}")
    return seconds


def _name(row: dict[str, str], column: str) -> str:
    if broken := check_name(row[column]):
        raise FormatError(f"{column} {row[column][:60]!r} {broken}")
    return row[column]


def _model(text: str) -> str:
    if broken := check_value(text):
        raise FormatError(f"the GPU model {text[:60]!r} {broken}")
    return text


def _node(row: dict[str, str]) -> dict[str, Any]:
    name = _name(row, "sn")
    gpus = _integer(row, "gpu")
    labels = {"kubernetes.io/hostname": name}
    if row.get("model"):
        labels[GPU_MODEL] = _model(row["model"])
    amounts = {
        "cpu": f"{_integer(row, 'cpu_milli')}m",
        "memory": f"{_integer(row, 'memory_mib')}Mi",
        "pods": "110",
    }
    if gpus:
        amounts[GPU_COUNT] = str(gpus)
        amounts[GPU_MILLI] = str(gpus * 1000)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": _CONDITIONS},
    }


def _pod(row: dict[str, str]) -> dict[str, Any]:
    name = _name(row, "name")
    gpus, milli = _integer(row, "num_gpu"), _integer(row, "gpu_milli")
    requests = {"cpu": f"{_integer(row, 'cpu_milli')}m", "memory": f"{_integer(row, 'memory_mib')}Mi"}
    if gpus and milli:
        if milli >= 1000:
            requests[GPU_COUNT] = str(gpus)
        requests[GPU_MILLI] = str(gpus * milli)
    spec: dict[str, Any] = {
        "containers": [{"name": "task", "resources": {"requests": requests, "limits": requests}}]
    }
    models = [_model(part) for part in row.get("gpu_spec", "").split("|") if part]
    if models:
        expression = {"key": GPU_MODEL, "operator": "In", "values": models}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    metadata: dict[str, Any] = {"name": name, "namespace": "default"}
    notes = {_PREFIX + note: row[column] for column, note in _NOTES.items() if row.get(column)}
    if notes:
        metadata["annotations"] = notes
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
