"""Warnings for fields and kinds in a bundle that other clusters honor but a simulation does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.problems import problems_of, shape_text
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.model import KubernetesObject, Pod, Workload
from scheduler_core.kubernetes.problems import Owner, PolicyError, Problem
from scheduler_core.kubernetes.readers import At, Report, owner_of
from scheduler_core.kubernetes.support import CONFIGURED, COSCHEDULING, INSTANT, KUBE_BATCH
from scheduler_core.kubernetes.support_workload import REPORTED_KINDS
from scheduler_core.schedulers.kube_batch.document import BATCH_SCHEDULER
from scheduler_core.schedulers.table import SUPPORT
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.settings.release import DEFAULT_SCHEDULER, row_of

NAMED = 3  # objects named in a warning; the others are counted


class Unhonored(Struct, frozen=True):
    """A warning of a field or kind that another cluster may honor, and the abilities that honor it here.

    Any one of ``honored_by`` suffices. ``schedulers`` are the schedulerNames of the pods that it concerns.
    """

    problem: Problem
    honored_by: frozenset[str] = frozenset()
    schedulers: frozenset[str] = frozenset()


class _Found(Struct, frozen=True):
    at: At
    name: str
    owners: Sequence[Owner]
    effect: str
    honored_by: frozenset[str] = frozenset()


def found_in(
    report: Report, ignored: Iterable[BundleEntry], objects: Iterable[KubernetesObject]
) -> tuple[Unhonored, ...]:
    """Return the reported fields and kinds that a bundle uses, regardless of the simulation.

    ``ignored`` are the manifests of kinds without a reader.
    """
    listed = list(objects)
    disks = any(map(_uses_disks, listed))
    absent = frozenset() if any(map(_names_batch, listed)) else frozenset({KUBE_BATCH})
    found = [
        _Found(use.at, _field(use.shape), list(use.owners), use.row.effect, use.row.honored_by - absent)
        for use in report.uses.values()
        if disks or not use.row.disks
    ]
    kinds: dict[str, list[BundleEntry]] = {}
    for entry in ignored:
        if is_reported(entry) and (disks or not REPORTED_KINDS[entry.kind].disks):
            kinds.setdefault(entry.kind, []).append(entry)
    for kind, entries in kinds.items():
        owners = list(dict.fromkeys(owner_of(entry.value) for entry in entries))
        place = At(report, None, entries[0]).child("kind")
        found.append(_Found(place, kind, owners, REPORTED_KINDS[kind].effect))
    problems = problems_of((one.at, _text(one)) for one in found)
    names = _scheduler_names(listed) if found else {}
    everybody = frozenset(names.values())
    return tuple(
        Unhonored(
            replace(problem, unhonored=one.name, about=tuple(map(_in_namespace, one.owners))),
            one.honored_by,
            frozenset(names[owner] for owner in map(_in_namespace, one.owners) if owner in names)
            or everybody,
        )
        for problem, one in zip(problems, found, strict=True)
    )


def _scheduler_names(objects: Iterable[KubernetesObject]) -> dict[Owner, str]:
    """Return the schedulerName of each pod, and of the pods of each controller, by its manifest's owner."""
    pods = ((obj, obj.template if isinstance(obj, Workload) else obj) for obj in objects)
    return {
        (obj.kind if isinstance(obj, Workload) else "Pod", obj.meta.namespace, obj.meta.name): (
            pod.scheduler_name or DEFAULT_SCHEDULER
        )
        for obj, pod in pods
        if isinstance(pod, Pod)
    }


def is_reported(entry: BundleEntry) -> bool:
    """Return whether other clusters honor a manifest without a reader, by its kind and contents."""
    row = REPORTED_KINDS.get(entry.kind)
    if row is None:
        return False
    group, slash, _ = str(entry.value.get("apiVersion") or "").partition("/")
    return (group if slash else "") == row.group and row.when(entry.value, entry.value)


def abilities(configuration: Configuration, release: str) -> frozenset[str]:
    """Return the abilities by which a scheduler and its simulation may honor a field."""
    try:
        framework = configuration.framework
    except PolicyError:  # it is rejected where it is used
        framework = None
    names = {
        INSTANT: framework is None and not configuration.settings.is_virtual,
        CONFIGURED: configuration.policy is not None,
        KUBE_BATCH: row_of(release).is_timed,
    }
    if framework is not None:
        names[f"framework {framework.version.edition.kubernetes}"] = True
        names[COSCHEDULING] = any(profile.coscheduling for profile in framework.profiles)
    return frozenset(name for name, able in names.items() if able)


def warnings_under(
    found: Iterable[Unhonored], configurations: Iterable[Configuration], release: str
) -> tuple[Problem, ...]:
    """Return the warnings of fields and kinds that at least one of a run's configurations does not honor."""
    listed = list(configurations)
    able = [abilities(configuration, release) for configuration in listed]
    honored = _honored(listed, release)
    return tuple(
        one.problem
        for one in found
        if not all(one.honored_by & names for names in able)
        and one.problem.unhonored.rpartition(".")[2].removesuffix("[]") not in honored(one)
    )


def _honored(configurations: Iterable[Configuration], release: str) -> Callable[[Unhonored], frozenset[str]]:
    """Return what all schedulers of the pods that a warning concerns honor, alone or next to others."""
    listed = [one.settings for one in configurations]
    alone = SUPPORT[release].honors(listed)
    if alone:
        return lambda _: alone
    served = [
        {one.name: SUPPORT[one.runs].honors(listed) for one in of.schedulers if one.runs in SUPPORT}
        for of in listed
    ]

    def by_all(found: Unhonored) -> frozenset[str]:
        honored = [names.get(name, _NOTHING) for names in served for name in found.schedulers]
        return frozenset.intersection(*honored) if honored else _NOTHING

    return by_all


_NOTHING = frozenset[str]()


def _field(shape: tuple[str, ...]) -> str:
    path = shape[1:]
    return shape_text(path[2:] if path[:2] == ("spec", "template") else path)


def _text(found: _Found) -> str:
    named = ", ".join(map(_named, found.owners[:NAMED]))
    more = len(found.owners) - NAMED
    whose = f"{named} and {more:,} more" if more > 0 else named
    return f"this result may differ on a cluster that honors {found.name} ({whose}): {found.effect}"


def _in_namespace(owner: Owner) -> Owner:
    kind, namespace, name = owner
    return (kind, namespace or "default", name) if kind in KINDS and KINDS[kind].namespaced else owner


def _named(owner: Owner) -> str:
    kind, namespace, name = _in_namespace(owner)
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def _names_batch(obj: KubernetesObject) -> bool:
    """Return whether a pod, or the pods of a controller, are left to kube-batch."""
    if isinstance(obj, Pod):
        return obj.scheduler_name == BATCH_SCHEDULER
    return isinstance(obj, Workload) and obj.template is not None and _names_batch(obj.template)


def _uses_disks(obj: KubernetesObject) -> bool:
    if isinstance(obj, Workload):
        return bool(obj.claim_templates) or (obj.template is not None and _uses_disks(obj.template))
    return (
        isinstance(obj, Pod)
        and bool(obj.volumes)
        and any(
            source is not None
            for volume in obj.volumes
            for source in (volume.claim, volume.gce_pd, volume.aws_ebs, volume.azure_disk)
        )
    )
