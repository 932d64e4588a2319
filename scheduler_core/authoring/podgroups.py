"""A PodGroup and the workload whose pods are its members as manifests, from the few fields of a form.

The texts are copied into the manifests as they are, so that the loader reports errors in its own messages;
:func:`field_of` maps a problem's path to its field. Only constraints that no manifest expresses are checked
here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.controllers.annotations import RUN, seconds
from scheduler_core.kubernetes.fields_pod import GROUP_ANNOTATION
from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.schedulers.coscheduling.editions import CLASSIC, CURRENT, Edition

Fields = Mapping[str, str]

PLAIN_PODS = 100  # per group; each is a separate document
MOST_REPLICAS = 10_000

_INTEGER = re.compile(r"[+-]?\d{1,18}")


class PodGroupSpelling(Struct, frozen=True):
    """One spelling of a PodGroup, how a pod names its group in it, and the corresponding edition.

    ``lacks`` are fields of the form that its PodGroup does not have. ``version`` is that of the configuration
    which enables Coscheduling for it, "" for the usual one: today's plugin does not read native PodGroups.
    """

    id: str
    api_version: str
    edition: Edition
    label: str = ""
    annotation: str = ""
    lacks: tuple[str, ...] = ()
    version: str = ""


DIALECTS: Mapping[str, PodGroupSpelling] = {
    row.id: row
    for row in (
        PodGroupSpelling("current", f"{CURRENT.api_group}/v1alpha1", CURRENT, label=CURRENT.pod_label),
        PodGroupSpelling("classic", f"{CLASSIC.api_group}/v1alpha1", CLASSIC, label=CLASSIC.pod_label),
        PodGroupSpelling(
            "native",
            "scheduling.k8s.io/v1alpha2",
            CURRENT,
            lacks=("scheduleTimeoutSeconds", "minCpu", "minMemory"),
            version="v1beta3",
        ),
        PodGroupSpelling(
            "kube-batch",
            "scheduling.incubator.k8s.io/v1alpha1",
            CLASSIC,
            annotation=GROUP_ANNOTATION,
            lacks=("scheduleTimeoutSeconds",),
        ),
    )
}
"""The dialects that the form writes. The native one is named by ``spec.schedulingGroup`` of a pod."""

DEFAULTS: Fields = {
    "name": "",
    "namespace": "default",
    "minMember": "4",
    "minCpu": "",
    "minMemory": "",
    "scheduleTimeoutSeconds": "",
    "workload": "Job",
    "replicas": "4",
    "cpu": "1",
    "memory": "",
    "priorityClassName": "",
    "runSeconds": "",
    "dialect": "current",
}
"""Every field, all of them texts, with its default."""

_PLACES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), field)
    for pattern, field in (
        (r"minResources\.cpu", "minCpu"),
        (r"minResources\.memory", "minMemory"),
        (r"requests\.cpu", "cpu"),
        (r"requests\.memory", "memory"),
        (r"minMember|minCount", "minMember"),
        (r"scheduleTimeoutSeconds", "scheduleTimeoutSeconds"),
        (r"replicas|parallelism|completions", "replicas"),
        (r"priorityClassName", "priorityClassName"),
        (r"run-seconds", "runSeconds"),
        (r"namespace", "namespace"),
        (r"metadata|selector|schedulingGroup|containers", "name"),
    )
)


def field_of(path: str) -> str:
    """Return the field that a path of one of the manifests came from, "" if none."""
    return next((field for pattern, field in _PLACES if pattern.search(path)), "")


def complete(given: Mapping[str, Any]) -> dict[str, str]:
    """Return every field as trimmed text; unknown fields are dropped."""
    return {
        name: given[name].strip() if isinstance(given.get(name), str) else default
        for name, default in DEFAULTS.items()
    }


def wrong(fields: Fields) -> list[tuple[str, str]]:
    """Return the errors that the loader would not report: (field, what would be right)."""
    found: list[tuple[str, str]] = []
    if not fields["name"]:
        found.append(("name", "write a name, such as train"))
    if fields["dialect"] not in DIALECTS:
        found.append(("dialect", f"must be one of {', '.join(DIALECTS)}"))
        return found
    if fields["workload"] not in WORKLOADS:
        found.append(("workload", f"must be one of {', '.join(WORKLOADS)}"))
    if _is_integer(fields["minMember"]) and int(fields["minMember"]) < 1:
        found.append(("minMember", "must be at least 1, as the PodGroup's CRD says"))
    elif not fields["minMember"]:
        found.append(("minMember", "set how many pods must be placed together"))
    most = PLAIN_PODS if fields["workload"] == "Pods" else MOST_REPLICAS
    if not _is_integer(fields["replicas"]) or not 1 <= int(fields["replicas"]) <= most:
        found.append(("replicas", f"must be a whole number from 1 to {most:,}"))
    if fields["runSeconds"] and seconds(fields["runSeconds"]) is None:
        found.append(("runSeconds", "must be a number of seconds, at least 0"))
    dialect = DIALECTS[fields["dialect"]]
    message = f"a PodGroup of {dialect.api_version} has no such field"
    found.extend((field, message) for field in dialect.lacks if fields[field])
    return found


def manifests(fields: Fields) -> list[Manifest]:
    """Return the PodGroup, then its workload. ``fields`` are complete and :func:`wrong` finds no errors."""
    dialect = DIALECTS[fields["dialect"]]
    return [_group(fields, dialect), *WORKLOADS[fields["workload"]](fields, dialect)]


def hints(fields: Fields) -> list[str]:
    """Return warnings about valid but surprising input: a group that never starts, an endless run."""
    found = [text for _, text in doubts(fields)]
    if fields["runSeconds"] and fields["workload"] == "Deployment":
        found.append("A Deployment's pods start again when they end; a Job's do not.")
    return found


def doubts(fields: Fields) -> list[tuple[str, str]]:
    """Return warnings about what is valid but probably unintended, each with the field it is shown at."""
    least, replicas = fields["minMember"], fields["replicas"]
    if not (_is_integer(least) and _is_integer(replicas) and int(replicas) < int(least)):
        return []
    return [
        (
            "minMember",
            (
                f"The workload has {int(replicas)} of the {int(least)} pods that the group waits for: "
                "with Coscheduling none of them starts."
            ),
        )
    ]


def _group(fields: Fields, dialect: PodGroupSpelling) -> Manifest:
    spec: Manifest
    if dialect.id == "native":
        spec = {"schedulingPolicy": {"gang": {"minCount": _number(fields["minMember"])}}}
    else:
        spec = {"minMember": _number(fields["minMember"])}
        least = {name: fields[f] for name, f in (("cpu", "minCpu"), ("memory", "minMemory")) if fields[f]}
        if least:
            spec["minResources"] = least
        if fields["scheduleTimeoutSeconds"]:
            spec["scheduleTimeoutSeconds"] = _number(fields["scheduleTimeoutSeconds"])
    return {
        "apiVersion": dialect.api_version,
        "kind": "PodGroup",
        "metadata": _meta(fields, fields["name"]),
        "spec": spec,
    }


def _meta(fields: Fields, name: str) -> Manifest:
    return {"name": name, **({"namespace": fields["namespace"]} if fields["namespace"] else {})}


def _template(fields: Fields, dialect: PodGroupSpelling, restart: str) -> tuple[Manifest, Manifest]:
    """Return a member's metadata, without a name, and its spec."""
    name = fields["name"]
    labels = {"app": name, **({dialect.label: name} if dialect.label else {})}
    annotations = {dialect.annotation: name} if dialect.annotation else {}
    if fields["runSeconds"]:
        annotations[RUN] = fields["runSeconds"]
    requests = {resource: fields[resource] for resource in ("cpu", "memory") if fields[resource]}
    container = {"name": "main", "image": name, **({"resources": {"requests": requests}} if requests else {})}
    spec: Manifest = {"restartPolicy": restart} if restart else {}
    if dialect.id == "native":
        spec["schedulingGroup"] = {"podGroupName": name}
    if fields["priorityClassName"]:
        spec["priorityClassName"] = fields["priorityClassName"]
    spec["containers"] = [container]
    return {"labels": labels, **({"annotations": annotations} if annotations else {})}, spec


def _job(fields: Fields, dialect: PodGroupSpelling) -> list[Manifest]:
    meta, spec = _template(fields, dialect, "Never")
    count = _number(fields["replicas"])
    return [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": _meta(fields, fields["name"]),
            "spec": {
                "parallelism": count,
                "completions": count,
                "template": {"metadata": meta, "spec": spec},
            },
        }
    ]


def _deployment(fields: Fields, dialect: PodGroupSpelling) -> list[Manifest]:
    meta, spec = _template(fields, dialect, "")
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": _meta(fields, fields["name"]),
            "spec": {
                "replicas": _number(fields["replicas"]),
                "selector": {"matchLabels": {"app": fields["name"]}},
                "template": {"metadata": meta, "spec": spec},
            },
        }
    ]


def _pods(fields: Fields, dialect: PodGroupSpelling) -> list[Manifest]:
    made = []
    for number in range(int(fields["replicas"])):
        meta, spec = _template(fields, dialect, "Never")
        named = _meta(fields, f"{fields['name']}-{number}")
        made.append({"apiVersion": "v1", "kind": "Pod", "metadata": {**named, **meta}, "spec": spec})
    return made


WORKLOADS: Mapping[str, Callable[[Fields, PodGroupSpelling], list[Manifest]]] = {
    "Job": _job,
    "Deployment": _deployment,
    "Pods": _pods,
}
"""The kinds of workload of the members."""


def _is_integer(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None


def _number(text: str) -> int | str:
    """Return a whole number, or an invalid text unchanged, for the loader to report."""
    return int(text) if _is_integer(text) else text
