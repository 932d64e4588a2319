"""A run as tables: what each cycle decided, placements, preemptions, and the pods and nodes at the end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.record.cycle import Decision

TABLES: Mapping[str, Mapping[str, str]] = {
    "cycles": {
        "cycle": "INTEGER", "step": "VARCHAR", "time": "DOUBLE", "pod": "VARCHAR", "result": "VARCHAR",
        "node": "VARCHAR", "nominated": "VARCHAR", "victims": "INTEGER", "message": "VARCHAR",
    },
    "placements": {"cycle": "INTEGER", "time": "DOUBLE", "pod": "VARCHAR", "node": "VARCHAR"},
    "preempted": {"cycle": "INTEGER", "time": "DOUBLE", "pod": "VARCHAR", "preemptor": "VARCHAR"},
    "pods": {
        "pod": "VARCHAR", "namespace": "VARCHAR", "workload": "VARCHAR", "priority": "BIGINT",
        "cpu": "BIGINT", "memory": "BIGINT", "node": "VARCHAR", "state": "VARCHAR",
    },
    "nodes": {
        "node": "VARCHAR", "zone": "VARCHAR", "cpu": "BIGINT", "memory": "BIGINT", "pods": "BIGINT",
    },
}  # fmt: skip
"""The columns of each table. cpu is in millicores, memory in bytes, time in virtual seconds."""

ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
RUNNING, PENDING, GONE = "running", "pending", "gone"


class RunTables:
    """The tables of one run, filled cycle by cycle; about 100 bytes a cycle."""

    def __init__(self) -> None:
        self._columns: dict[str, dict[str, list[Any]]] = {
            table: {name: [] for name in columns} for table, columns in TABLES.items()
        }

    def _add(self, table: str, *values: Any) -> None:
        for column, value in zip(self._columns[table].values(), values):
            column.append(value)

    def add_cycle(self, cycle: int, step: str, time: float, decision: Decision, message: str | None) -> None:
        """Add a cycle with its number, its step, its virtual second and the message of a failure."""
        pod = decision.pod
        victims = len(decision.victims)
        self._add(
            "cycles",
            cycle,
            step,
            time,
            pod,
            decision.result,
            decision.node,
            decision.nominated,
            victims,
            message,
        )
        for key, node in decision.placements if decision.result == "scheduled" else ():
            self._add("placements", cycle, time, key, node)
        for victim in decision.victims:
            self._add("preempted", cycle, time, victim, pod)

    def add_pod(self, pod: Pod, node: str | None) -> None:
        """Add a pod as it is at the end: on a node, "" if it waits, None if it is gone."""
        owner = pod.meta.controller
        requests = [container.requests for container in pod.containers]
        self._add(
            "pods",
            pod.meta.key,
            pod.meta.namespace,
            f"{owner.kind}/{owner.name}" if owner else None,
            pod.priority,
            *(sum(one.get(name, 0) for one in requests) for name in ("cpu", "memory")),
            node or None,
            GONE if node is None else RUNNING if node else PENDING,
        )

    def add_node(self, node: Node) -> None:
        """Add a node with what it can allocate."""
        labels, allocatable = node.meta.labels, node.allocatable or {}
        zone = next((labels[name] for name in ZONES if name in labels), None)
        self._add(
            "nodes", node.meta.name, zone, *(allocatable.get(name, 0) for name in ("cpu", "memory", "pods"))
        )

    def write(self, folder: Path) -> None:
        """Write a Parquet file for each table, compressed by zstd."""
        import duckdb  # takes a tenth of a second

        connection = duckdb.connect()
        for table, columns in TABLES.items():
            arrays = {name: _array(self._columns[table][name], kind) for name, kind in columns.items()}
            cast = ", ".join(f'"{name}"::{kind} AS "{name}"' for name, kind in columns.items())
            connection.register("arrays", arrays)
            target = str(folder / f"{table}.parquet").replace("'", "''")
            options = "FORMAT parquet, COMPRESSION zstd"
            connection.execute(f"COPY (SELECT {cast} FROM arrays) TO '{target}' ({options})")  # noqa: S608
            connection.unregister("arrays")
        connection.close()


def in_csv(file: Path) -> bytes:
    """Return a table's Parquet file as CSV with a header."""
    import duckdb  # takes a tenth of a second

    with TemporaryDirectory() as folder, duckdb.connect() as connection:
        target = Path(folder, "table.csv")
        connection.read_parquet(str(file)).write_csv(str(target), header=True)
        return target.read_bytes()


def _array(values: list[Any], kind: str) -> Any:
    if kind == "VARCHAR":
        return np.array([*values, None], object)[:-1]
    return np.array(values, {"INTEGER": np.int32, "BIGINT": np.int64, "DOUBLE": np.float64}[kind])
