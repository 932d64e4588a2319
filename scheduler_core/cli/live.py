"""``live``: let a v1.37 cluster live with its controllers, and print what happens by the second."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from scheduler_core.authoring.verb_targets import kind_of, split_second
from scheduler_core.cli.reporting import FILES, InputError, read_scenario
from scheduler_core.cluster.v1_37.nodelifecycle import NodeOptions
from scheduler_core.formats.difference import merge_patch
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.run.living.life import Life
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.v1_37.config import read_configuration

PLAYED = frozenset((
    "Node", "Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "PriorityClass",
    "PodDisruptionBudget", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "Namespace",
))  # fmt: skip
"""Kinds that the control plane or the scheduler reads."""
SETTINGS = frozenset(("Scenario", "SimulationSettings", "KubeSchedulerConfiguration"))
_FIELDS: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    ("scale", "replicas", int),
    ("image", "image", str),
)
Step = dict[str, Any]


class Timed(NamedTuple):
    """A step at a virtual second."""

    at: float
    step: Step


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=FILES)
    for verb in ("drain", "cordon", "uncordon", "fail", "recover"):
        parser.add_argument(
            f"--{verb}",
            action="append",
            default=[],
            metavar="NODE[@S]",
            help=f"{verb} a node, or all of zone=NAME, after so many seconds; repeatable",
        )
    parser.add_argument("--force", action="store_true", help="drain evicts pods without a controller, too")
    parser.add_argument("--scale", action="append", default=[], metavar="KIND/NAME=N[@S]")
    parser.add_argument("--image", action="append", default=[], metavar="KIND/NAME=IMAGE[@S]")
    parser.add_argument("--undo", action="append", default=[], metavar="deploy/NAME[@S]")
    parser.add_argument("--seconds", type=float, default=600.0, help="how long it lives; default: 600")
    parser.add_argument("--json", action="store_true", help="print one JSON object: timeline and final")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Live and print.

    Raises:
        InputError: The bundle cannot be read, or asks for what does not live here.
    """
    scenario = read_scenario(options.files, None, "v1.37")
    steps = sorted([*_operations(scenario), *_verbs(options)], key=lambda one: one.at)
    answer = play(scenario, steps, options.seconds)
    print(json.dumps(answer, ensure_ascii=False) if options.json else "\n".join(_lines(answer)))
    return 0


def play(scenario: Scenario, steps: list[Timed], seconds: float) -> dict[str, Any]:
    """Return the timeline and what a bundle ends with.

    Raises:
        InputError: The bundle has objects of a kind, or a configuration, that do not live here.
    """
    documents = [dict(one) for one in scenario.documents if one.get("kind") not in SETTINGS]
    unknown = sorted({str(one.get("kind")) for one in documents} - PLAYED)
    if unknown:
        raise InputError(f"live: {', '.join(unknown)}: no controller of this kind lives here")
    try:
        configuration = read_configuration(scenario.policy)
    except ValueError as error:
        raise InputError(str(error)) from error
    life = Life(configuration, NodeOptions())
    life.start(documents)
    now = 0.0
    for at, step in steps:
        if at > seconds:
            break
        life.take({"do": "advance", "seconds": at - now})
        life.take(step)
        now = at
    life.take({"do": "advance", "seconds": seconds - now})
    return life.answer()


# --- steps


def _operations(scenario: Scenario) -> Iterator[Timed]:
    """Yield the bundle's operations at their times."""
    known = {key_of(obj): obj for obj in scenario.objects}
    for operation in scenario.operations:
        namespace, _, name = operation.key.rpartition("/")
        target = {"kind": operation.kind, "namespace": namespace or None, "name": name}
        yield Timed(
            operation.time, {**target, **_change(operation, known.get((operation.kind, operation.key)))}
        )
        if operation.object is not None:
            known[operation.kind, operation.key] = operation.object


def _change(operation: Operation, previous: Any) -> Step:
    if operation.action == "delete":
        return {"do": "delete"}
    if operation.kind not in PLAYED or operation.object is None:
        raise InputError(f"operation {operation.id}: {operation.kind} does not live here")
    made = to_manifest(operation.object)
    if previous is None or operation.action == "create":
        return {"do": "create", "object": made}
    return {"do": "patch", "patch": operation.patch or merge_patch(to_manifest(previous), made)}


def _verbs(options: argparse.Namespace) -> Iterator[Timed]:
    for verb in ("drain", "cordon", "uncordon", "fail", "recover"):
        for text in getattr(options, verb):
            target, at = _timed(text)
            field, _, value = target.rpartition("=")
            if field not in ("", "zone", "node"):
                raise InputError(f"--{verb} {text}: a node, or zone=NAME")
            yield Timed(at, {"do": verb, field or "node": value, "force": options.force})
    for verb, field, read in _FIELDS:
        for text in getattr(options, verb):
            target, at = _timed(text)
            workload, _, value = target.partition("=")
            yield Timed(at, {"do": verb, **_workload(workload), field: _read(text, value, read)})
    for text in options.undo:
        target, at = _timed(text)
        yield Timed(at, {"do": "rollback", **_workload(target)})


def _timed(text: str) -> tuple[str, float]:
    target, at = split_second(text, "0")
    return target, float(at)


def _read(text: str, value: str, read: Callable[[str], Any]) -> Any:
    try:
        return read(value)
    except ValueError as error:
        raise InputError(f"{text}: {value!r} is no number") from error


def _workload(text: str) -> Step:
    kind, _, name = text.partition("/")
    namespace, _, rest = name.rpartition("/")
    if not name:
        raise InputError(f"{text}: a workload is KIND/NAME, such as deploy/web")
    return {"kind": kind_of(kind), "namespace": namespace or None, "name": rest}


# --- output


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    for entry in answer["timeline"]:
        yield _entry(entry)
    yield ""
    for name, facts in answer["final"]["workloads"].items():
        yield f"{name}: {facts['ready']} of {facts['pods']} pods ready"
        for message, count in facts.get("pending", {}).items():
            yield f"  {count} pending: {message or 'not tried yet'}"
    for drain in answer["final"].get("drains", ()):
        yield f"drain of {drain['node']}: " + ", ".join(
            f"{name} {value}" for name, value in drain.items() if name != "node"
        )
    for name, facts in answer["final"]["nodes"].items():
        taints = f", taints {', '.join(facts['taints'])}" if facts.get("taints") else ""
        yield f"{name}: Ready {facts['ready']}, {facts['pods']} pods{taints}"


_SHOWN = ("revision", "from", "replicas", "node", "by", "reason", "message")


def _entry(entry: Mapping[str, Any]) -> str:
    index = f"[{entry['index']}]" if "index" in entry else ""
    parts = [f"{entry['time']:>6} s", f"{entry['what']:<13}"]
    parts.append(f"{entry.get('workload', '')}{index}")
    parts += [f"{name} {entry[name]}" for name in _SHOWN if name in entry]
    if "count" in entry:
        parts.append(f"× {entry['count']}")
    return " ".join(part for part in parts if part)
